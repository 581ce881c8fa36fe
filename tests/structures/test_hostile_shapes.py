"""Depth and width far beyond what language offers: nothing may recurse, crash, or crawl."""

import copy
import pickle

import pytest
from processes import run_python

from kernelwood.structures import Sequence, Tree

DEPTH, WIDTH = 100_000, 50_000


def chain(depth):
    tree = Tree("x")
    for _ in range(depth - 1):
        tree = Tree("n", (tree,), "e")
    return tree


def star(width):
    return Tree("n", [Tree("x") for _ in range(width)])


def comb(depth):
    """A chain whose every node also has a leaf, so that stacks and levels grow."""
    tree = Tree("x")
    for _ in range(depth - 1):
        tree = Tree("n", (Tree("y"), tree, Tree("z")))
    return tree


SHAPES = {"chain": (chain, DEPTH), "star": (star, WIDTH), "comb": (comb, DEPTH // 2)}


@pytest.fixture(scope="module", params=SHAPES)
def pair(request):
    """Return two equal trees that share no node."""
    make, size = SHAPES[request.param]
    return make(size), make(size)


def test_construction_counts_nodes(pair):
    assert pair[0].n_nodes == len(pair[0].flatten()[0])


def test_hashes_agree(pair):
    assert hash(pair[0]) == hash(pair[1])


def test_equality_holds(pair):
    assert pair[0] == pair[1]


def test_equality_finds_a_difference_at_the_bottom(pair):
    labels, edges, counts = pair[0].flatten()
    assert Tree.from_postorder(["other", *labels[1:]], edges, counts) != pair[0]


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickle_gives_an_equal_tree(pair, protocol):
    assert pickle.loads(pickle.dumps(pair[0], protocol)) == pair[0]


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_copies_are_equal(pair, duplicate):
    assert duplicate([pair[0]]) == [pair[1]]


def test_repr_stays_short(pair):
    assert len(repr(pair[0])) < 90


def test_brackets_round_trip(pair):
    assert Tree.from_brackets(pair[0].to_brackets()) == pair[0]


def test_postorder_round_trip(pair):
    assert Tree.from_postorder(*pair[0].flatten()) == pair[0]


def test_orders_visit_every_node(pair):
    assert sum(1 for _ in pair[0].preorder()) == sum(1 for _ in pair[0].postorder())


def test_picture_is_small(pair):
    assert len(pair[0]._repr_svg_()) < 200_000


@pytest.mark.parametrize(("make", "depth"), [(chain, DEPTH), (comb, DEPTH), (star, 2)])
def test_depth_is_counted(make, depth):
    assert make(depth).depth == depth


def test_long_sequence_works_throughout():
    sequence = Sequence(["word"] * 200_000)
    assert pickle.loads(pickle.dumps(sequence)) == sequence and len(repr(sequence)) < 120


@pytest.mark.parametrize(
    ("depth", "make"),
    [
        (10 * DEPTH, "tree = Tree('x')\nfor _ in range(depth): tree = Tree('n', (tree,))"),
        (DEPTH, "tree = Tree.from_brackets('(n ' * depth + 'x' + ')' * depth)"),
        (DEPTH, "tree = Tree.from_postorder(['x'] * depth, [''] * depth, [0] + [1] * (depth - 1))"),
    ],
)
def test_releasing_a_deep_tree_does_not_crash(depth, make):
    lines = [
        "from kernelwood.structures import Tree",
        f"depth = {depth}",
        make,
        "assert tree.n_nodes >= depth",
        "del tree",
        "print('alive')",
    ]
    done = run_python("-c", "\n".join(lines))
    assert (done.returncode, done.stdout.strip()) == (0, "alive"), done.stderr[-500:]
