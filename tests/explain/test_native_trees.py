"""The native search for fragments of trees equals the one in plain Python."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood import _native
from kernelwood.explain import fragments, fragments_of_pairs
from kernelwood.explain.found import Request
from kernelwood.similarity import Exponential, Gaussian, Lexical
from kernelwood.vectors import Vectors

_LABELS = ["x", "y", "z", "A", "B"]
_edges = st.sampled_from(["", "", "e"])
_leaves = st.builds(kw.Tree, st.sampled_from("xyA"), st.just(()), _edges)
_trees = st.recursive(
    _leaves,
    lambda below: st.builds(
        kw.Tree, st.sampled_from("AB"), st.lists(below, min_size=1, max_size=3), _edges
    ),
    max_leaves=8,
)
_vectors = st.lists(st.floats(0, math.pi), min_size=5, max_size=5).map(
    lambda angles: Vectors(_LABELS, [[math.cos(x), math.sin(x)] for x in angles])
)
_similarities = st.one_of(
    st.none(),
    st.builds(Gaussian, _vectors),
    st.builds(lambda v, weight: Lexical(v, weight=weight), _vectors, st.sampled_from([0.9, 1.0])),
)
_matching = st.fixed_dictionaries(
    {
        "decay": st.sampled_from([0.4, 0.7, 1.0]),
        "similarity": _similarities,
        "gates": st.dictionaries(
            st.sampled_from(["", "e", "x", "A", "B"]), st.sampled_from([0, 0.5, 3.0]), max_size=3
        ),
        "gate_on": st.sampled_from(["edge", "node"]),
        "normalize": st.just(False),
    }
)
_kernels = st.one_of(
    st.builds(
        lambda leaves, rest: kw.SubsetTreeKernel(count_leaves=leaves, **rest),
        st.booleans(),
        _matching,
    ),
    st.builds(lambda rest: kw.SubtreeKernel(**rest), _matching),
    st.builds(
        lambda over, power, rest: kw.PartialTreeKernel(
            decay_over=over, leaf_power=power, terminal_factor=0.7, depth_decay=0.8, **rest
        ),
        st.sampled_from(["gaps", "span"]),
        st.sampled_from([1, 2]),
        _matching,
    ),
    st.builds(
        lambda contiguous, rest: kw.RootedTreeKernel(contiguous=contiguous, **rest),
        st.booleans(),
        _matching,
    ),
)
_BY_DEFINITION = {
    kw.SubtreeKernel: fragments._explain_subtrees,
    kw.SubsetTreeKernel: fragments._explain_subset_trees,
    kw.PartialTreeKernel: fragments._explain_partial_trees,
    kw.RootedTreeKernel: fragments._explain_rooted_trees,
}


def by_definition(kernel, a, b, top, max_steps):
    """Return what plain Python finds in one pair, without numbers, and whether steps ran out."""
    request = Request(top, True, max_steps)
    found, exceeded = _BY_DEFINITION[type(kernel)](kernel, a, b, request)
    return [(shared[:-1], structures) for shared, structures in found], exceeded


def natively(kernel, pairs, top, max_steps):
    left, right = (kw.batch([pair[side] for pair in pairs]) for side in (0, 1))
    found = fragments.largest_trees(kernel, left, right, Request(top, True, max_steps))
    rows = [
        [(shared[:-1], found.structures(shared.number)) for shared in some]
        for some in found.fragments
    ]
    return list(zip(rows, found.exceeded.tolist(), strict=True))


def check(kernel, pairs, top=None, max_steps=500_000):
    for (a, b), (found, exceeded) in zip(
        pairs, natively(kernel, pairs, top, max_steps), strict=True
    ):
        expected, expected_exceeded = by_definition(kernel, a, b, top, max_steps)
        assert exceeded == expected_exceeded
        assert [row[0][0] for row in found] == [row[0][0] for row in expected]
        for (mine, trees), (other, twins) in zip(found, expected, strict=True):
            assert mine[1:] == pytest.approx(other[1:], rel=1e-12)
            assert trees == twins


@given(_kernels, st.lists(st.tuples(_trees, _trees), min_size=1, max_size=3))
def test_all_fragments_are_those_of_the_definition(kernel, pairs):
    check(kernel, pairs)


@given(_kernels, _trees, _trees, st.integers(1, 3))
def test_the_first_fragments_are_those_of_the_definition(kernel, a, b, top):
    check(kernel, [(a, b)], top)


@given(_kernels, _trees, _trees, st.integers(1, 250))
def test_a_search_with_few_steps_is_that_of_the_definition(kernel, a, b, max_steps):
    check(kernel, [(a, b)], None, max_steps)


def _random_tree(chooser, n, n_labels, width):
    """Return a tree of n nodes; a small width makes it deep."""
    children = [[] for _ in range(n)]
    for node in range(1, n):
        children[chooser.randrange(max(0, node - width), node)].append(node)
    made = {}
    for node in range(n - 1, -1, -1):
        label = f"{'N' if children[node] else 'w'}{chooser.randrange(n_labels)}"
        made[node] = kw.Tree(label, [made[below] for below in children[node]])
    return made[0]


@pytest.mark.parametrize("width", [2, 40])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize(
    "kind", [kw.SubsetTreeKernel, kw.SubtreeKernel, kw.PartialTreeKernel, kw.RootedTreeKernel]
)
def test_large_trees_are_searched_as_by_the_definition(kind, soft, width):
    chooser = random.Random(width)
    labels = [f"{kind}{i}" for kind in "Nw" for i in range(4)]
    vectors = Vectors(labels, np.random.default_rng(0).normal(size=(8, 3)))
    similarity = Exponential(vectors, floor=0.5) if soft else None
    kernel = kind(decay=0.5, similarity=similarity, normalize=False)
    pairs = [tuple(_random_tree(chooser, 60, 4, width) for _ in "ab") for _ in range(2)]
    check(kernel, pairs, 5)
    check(kernel, pairs, 5, 3_000)


@pytest.mark.parametrize("kind", list(_BY_DEFINITION))
def test_deep_trees_do_not_need_recursion(kind):
    deep = kw.Tree.from_postorder(["x"] + ["A"] * 20_000, [""] * 20_001, [0] + [1] * 20_000)
    [(found, exceeded)] = natively(kind(), [(deep, deep)], 1, 100_000)
    assert len(found) == 1 and exceeded == (kind in (kw.SubsetTreeKernel, kw.PartialTreeKernel))


def test_a_whole_deep_tree_is_one_fragment():
    deep = kw.Tree.from_postorder(["x"] + ["A"] * 20_000, [""] * 20_001, [0] + [1] * 20_000)
    [[found]] = fragments_of_pairs(kw.SubtreeKernel(), [deep], [deep], 1)
    assert found.structure == deep and found.text == deep.to_brackets()


@given(_kernels, st.lists(st.tuples(_trees, _trees), max_size=5))
def test_fragments_do_not_depend_on_the_other_pairs_of_a_call(kernel, pairs):
    if pairs:
        together = natively(kernel, pairs, 3, 10_000)
        assert together == [natively(kernel, [pair], 3, 10_000)[0] for pair in pairs]


def test_all_pairs_are_searched_by_one_call_of_the_native_core(monkeypatch):
    calls = []
    native = _native.largest_trees
    monkeypatch.setattr(
        _native, "largest_trees", lambda *a, **k: calls.append(1) or native(*a, **k)
    )
    trees = [kw.Tree.from_brackets("(S (A a) (B b))")] * 40
    found = fragments_of_pairs(kw.SubsetTreeKernel() + kw.SubtreeKernel(), trees, trees)
    assert len(found) == 40 and calls == [1, 1]  # one for each kernel


@pytest.mark.parametrize("n_children", [(0, 0), (1, 0), (0, 2), (0, -1), (0,), ()])
def test_numbers_of_children_that_are_no_tree_are_refused(n_children):
    labels = np.zeros(2, np.int32)
    with pytest.raises(ValueError):
        _native.PairSide(
            np.array([0, 2]), labels, labels, n_children=np.array(n_children, np.int32)
        )


def test_an_empty_tree_is_refused():
    nothing = np.zeros(0, np.int32)
    with pytest.raises(ValueError):
        _native.PairSide(np.array([0, 0]), nothing, nothing, n_children=nothing)


def test_sequences_are_not_searched_as_trees():
    labels = np.zeros(1, np.int32)
    sides = [_native.PairSide(np.array([0, 1]), labels, labels) for _ in "ab"]
    with pytest.raises(ValueError):
        _native.largest_trees(*sides, None, _native.TreeParameters(), 3, 100)
