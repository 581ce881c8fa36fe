"""Structures to test with: hypothesis strategies, seeded samples, hostile shapes."""

import random

from hypothesis import strategies as st

from kernelwood.structures import Sequence, Tree

# Few labels, so that much matches; some that a careless program would trip over.
LABELS = ["a", "b", "c", "", "né", "名 詞", "(", "0"]
EDGES = ["", "", "e", "é"]

labels = st.sampled_from(LABELS)
edges = st.sampled_from(EDGES)


@st.composite
def _trees(draw, below, max_children, of):
    """Trees over subtrees drawn from a small pool, so that subtrees repeat."""
    pool = draw(st.lists(below, min_size=1, max_size=3))
    children = draw(st.lists(st.sampled_from(pool), max_size=max_children))
    return Tree(draw(of), children, draw(edges))


def trees(*, max_children=3, depth=3, of=labels):
    """Small trees with labels from ``of``: an inner node here may be labeled like a leaf there."""
    strategy = st.builds(Tree, of, edge=edges)
    for level in range(depth - 1):
        strategy = st.one_of(strategy, _trees(strategy, max_children if level else 4, of))
    return strategy


def sequences(*, max_size=6, of=labels):
    """Short sequences with labels from ``of``, the empty one among them."""
    return st.builds(Sequence, st.lists(st.tuples(edges, of), max_size=max_size))


def random_tree(rng, n_nodes, alphabet=("a", "b", "c"), max_children=4):
    """Return a tree of ``n_nodes`` nodes."""
    if n_nodes == 1:
        return Tree(rng.choice(alphabet), (), rng.choice(("", "", "e")))
    n_children = rng.randint(1, min(max_children, n_nodes - 1))
    cuts = sorted(rng.sample(range(1, n_nodes - 1), n_children - 1)) if n_children > 1 else []
    sizes = [stop - start for start, stop in zip([0, *cuts], [*cuts, n_nodes - 1], strict=True)]
    children = [random_tree(rng, size, alphabet, max_children) for size in sizes]
    return Tree(rng.choice(alphabet), children, rng.choice(("", "", "e")))


def sample_trees(n, *, seed=0, max_nodes=12, alphabet=("a", "b", "c"), max_children=4):
    """Return ``n`` random trees of 2 to ``max_nodes`` nodes, always the same ones."""
    rng = random.Random(seed)
    return [random_tree(rng, rng.randint(2, max_nodes), alphabet, max_children) for _ in range(n)]


def sample_sequences(n, *, seed=0, max_length=7, alphabet=("a", "b", "c")):
    """Return ``n`` random sequences of 1 to ``max_length`` elements, always the same ones."""
    rng = random.Random(seed)
    return [
        Sequence([(rng.choice(("", "", "e")), rng.choice(alphabet)) for _ in range(length)])
        for length in (rng.randint(1, max_length) for _ in range(n))
    ]


def chain(depth, label=lambda level: "n"):
    """Return a tree that is one path of ``depth`` nodes, labeled by ``label(level)``."""
    tree = Tree(label(depth - 1))
    for level in range(depth - 2, -1, -1):
        tree = Tree(label(level), (tree,))
    return tree


def star(width, label=lambda position: "x"):
    """Return a root with ``width`` leaves, labeled by ``label(position)``."""
    return Tree("n", [Tree(label(position)) for position in range(width)])


def preterminals(width):
    """Return a root with ``width`` equal pre-terminals: exponentially many fragments."""
    return Tree("S", [Tree("A", [Tree("x")])] * width)
