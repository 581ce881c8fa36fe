"""Structures to test with: hypothesis strategies, seeded samples, hostile shapes."""

import collections
import itertools
import math
import random
from functools import cache, wraps

from hypothesis import assume, strategies as st

from kernelwood.structures import Forest, Graph, Sequence, Tree

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


def _drawn_once(sample):
    """Keep the samples of a function: structures cannot be changed, and drawing them takes long."""
    drawn = cache(sample)

    @wraps(sample)
    def draw(n, *, alphabet=("a", "b", "c"), **options):
        return list(drawn(n, alphabet=tuple(alphabet), **options))

    return draw


def random_tree(rng, n_nodes, alphabet=("a", "b", "c"), max_children=4):
    """Return a tree of ``n_nodes`` nodes."""
    if n_nodes == 1:
        return Tree(rng.choice(alphabet), (), rng.choice(("", "", "e")))
    n_children = rng.randint(1, min(max_children, n_nodes - 1))
    cuts = sorted(rng.sample(range(1, n_nodes - 1), n_children - 1)) if n_children > 1 else []
    sizes = [stop - start for start, stop in zip([0, *cuts], [*cuts, n_nodes - 1], strict=True)]
    children = [random_tree(rng, size, alphabet, max_children) for size in sizes]
    return Tree(rng.choice(alphabet), children, rng.choice(("", "", "e")))


@_drawn_once
def sample_trees(n, *, seed=0, max_nodes=12, alphabet=("a", "b", "c"), max_children=4):
    """Return ``n`` random trees of 2 to ``max_nodes`` nodes, always the same ones."""
    rng = random.Random(seed)
    return [random_tree(rng, rng.randint(2, max_nodes), alphabet, max_children) for _ in range(n)]


@_drawn_once
def sample_sequences(n, *, seed=0, max_length=7, alphabet=("a", "b", "c")):
    """Return ``n`` random sequences of 1 to ``max_length`` elements, always the same ones."""
    rng = random.Random(seed)
    return [
        Sequence([(rng.choice(("", "", "e")), rng.choice(alphabet)) for _ in range(length)])
        for length in (rng.randint(1, max_length) for _ in range(n))
    ]


def random_forest(rng, n_inner, alphabet=("a", "b", "c"), max_children=3):
    """Return a forest whose inner nodes have one to three hyper-edges to any nodes below.

    Nodes are shared across the sentence, occur several times in a tree, and resemble each other:
    more than a parser would make.
    """
    labels = [rng.choice(alphabet) for _ in range(3)]
    edges = {}
    for head in range(len(labels), len(labels) + n_inner):
        labels.append(rng.choice(alphabet))
        for _ in range(rng.choice((1, 1, 2, 3))):
            # Mostly the nodes made last, so that forests grow deep.
            lowest = rng.choice((0, max(0, head - 3)))
            children = rng.choices(range(lowest, head), k=rng.randint(1, max_children))
            edges[head, tuple(children)] = rng.choice((1.0, 0.5, rng.uniform(1e-4, 1)))
    kept = {len(labels) - 1}
    for head in reversed(range(len(labels))):
        if head in kept:
            kept |= {child for above, children in edges if above == head for child in children}
    number = {node: position for position, node in enumerate(sorted(kept))}
    return Forest(
        [labels[node] for node in number],
        [(number[h], [number[c] for c in cs], p) for (h, cs), p in edges.items() if h in kept],
        len(number) - 1,
    )


def small_forests(*, max_inner=6, of=labels):
    """Small forests with labels from ``of``, single words among them."""
    return st.builds(
        random_forest,
        st.randoms(use_true_random=False),
        st.integers(0, max_inner),
        st.lists(of, min_size=1, max_size=3),
    )


@_drawn_once
def sample_forests(n, *, seed=0, max_inner=8, alphabet=("a", "b", "c"), max_children=3):
    """Return ``n`` random forests of 1 to ``max_inner`` inner nodes, always the same ones."""
    rng = random.Random(seed)
    return [random_forest(rng, rng.randint(1, max_inner), alphabet, max_children) for _ in range(n)]


def random_graph(rng, n_nodes, alphabet=("a", "b", "c"), max_edges=3):
    """Return a graph with at least one edge, and at most so many that leave a node.

    Loops, cycles and several edges between two nodes are frequent.
    """
    counts = [rng.choice((0, 1, 1, 2, max_edges)) for _ in range(n_nodes)]
    counts[0] = max(counts[0], 1)
    edges = [
        (source, rng.choice(("", "", "e")), rng.randrange(n_nodes))
        for source, count in enumerate(counts)
        for _ in range(count)
    ]
    root = rng.choice((None, 0))
    return Graph([rng.choice(alphabet) for _ in range(n_nodes)], edges, root)


def small_graphs(*, max_nodes=6, of=labels):
    """Small graphs with labels from ``of``."""
    return st.builds(
        random_graph,
        st.randoms(use_true_random=False),
        st.integers(1, max_nodes),
        st.lists(of, min_size=1, max_size=3),
    )


@_drawn_once
def sample_graphs(n, *, seed=0, max_nodes=9, alphabet=("a", "b", "c"), max_edges=3):
    """Return ``n`` random graphs of 1 to ``max_nodes`` nodes, always the same ones."""
    rng = random.Random(seed)
    return [random_graph(rng, rng.randint(1, max_nodes), alphabet, max_edges) for _ in range(n)]


def sample_features(n, *, seed=0, max_features=5, alphabet=("a", "b", "c")):
    """Return ``n`` vectors of named features, at least one each, always the same ones."""
    rng = random.Random(seed)
    return [
        {rng.choice(alphabet) + rng.choice("12"): round(rng.uniform(-3, 3), 2)
         for _ in range(rng.randint(1, max_features))}
        for _ in range(n)
    ]  # fmt: skip


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


PROBABILITIES = [1.0, 0.5, 0.5, 0.3, 0.25, 0.1, 0.001]


@st.composite
def forests(draw, *, spans=None, max_trees=300):
    """Small forests in any order of nodes and edges, some with several nodes of one label.

    ``spans`` says whether they have spans; None: some do. Without spans, a tree may use the same
    node twice.
    """
    with_spans = draw(st.booleans()) if spans is None else spans
    nodes, edges = draw(_charts() if with_spans else _hypergraphs())
    used = _below(len(nodes) - 1, edges)
    order = draw(st.permutations(used))
    number = {node: place for place, node in enumerate(order)}
    kept = [(number[h], [number[c] for c in cs], p) for h, cs, p in edges if h in number]
    forest = Forest(
        [nodes[node][0] for node in order],
        draw(st.permutations(kept)),
        number[len(nodes) - 1],
        [nodes[node][1] for node in order] if with_spans else None,
        fallback=draw(st.booleans()),
    )
    assume(forest.n_trees <= max_trees)
    return forest


@st.composite
def _hypergraphs(draw):
    """Nodes and hyper-edges without order in the sentence; the root comes last."""
    words = draw(st.integers(1, 3))
    nodes = [(draw(labels), None) for _ in range(words)]
    edges = []
    for node in range(words, words + draw(st.integers(0, 4))):
        nodes.append((draw(labels), None))
        below = st.lists(st.integers(0, node - 1), min_size=1, max_size=2).map(tuple)
        for children in draw(st.lists(below, min_size=1, max_size=3, unique=True)):
            edges.append((node, children, draw(st.sampled_from(PROBABILITIES))))
    return nodes, edges


@st.composite
def _charts(draw):
    """Nodes and hyper-edges as a parser makes them, over 1 to 4 words; the root comes last."""
    n_words = draw(st.integers(1, 4))
    nodes = [(draw(labels), (place, place + 1)) for place in range(n_words)]
    edges = []
    for width in range(1, n_words + 1):
        for start in range(n_words - width + 1):
            span = (start, start + width)
            for _ in range(draw(st.integers(1 if width > 1 else 0, 2))):
                options = _coverings(nodes, span)
                chosen = draw(
                    st.lists(st.sampled_from(options), min_size=1, max_size=3, unique=True)
                )
                edges += [(len(nodes), c, draw(st.sampled_from(PROBABILITIES))) for c in chosen]
                nodes.append((draw(labels), span))
    return nodes, edges


def _coverings(nodes, span):
    """Return the ways to cover a span with 1 to 3 of the nodes, left to right."""
    ways = [((), span[0])]
    done = []
    for _ in range(3):
        ways = [
            ((*way, node), nodes[node][1][1])
            for way, place in ways
            for node in range(len(nodes))
            if nodes[node][1][0] == place and nodes[node][1][1] <= span[1]
        ]
        done += [way for way, place in ways if place == span[1]]
        ways = [(way, place) for way, place in ways if place < span[1]]
    return done


def _below(root, edges):
    found, waiting = {root}, [root]
    while waiting:
        head = waiting.pop()
        new = {c for h, children, _ in edges if h == head for c in children} - found
        found |= new
        waiting += new
    return sorted(found)


def derivations(forest, node=None):
    """Return (tree, product, edges used) for every tree of a small forest, one by one."""
    node = forest.root if node is None else node
    if not forest.edges_of(node):
        return [(Tree(forest.labels[node]), 1.0, ())]
    listed = []
    for position in forest.edges_of(node):
        _, children, probability = forest.edges[position]
        for parts in itertools.product(*[derivations(forest, child) for child in children]):
            used = sum((edges for _, _, edges in parts), (position,))
            product = math.prod([p for _, p, _ in parts], start=probability)
            listed.append((Tree(forest.labels[node], [t for t, _, _ in parts]), product, used))
    return listed


def tree_distribution(forest):
    """Return the probability of every different tree of a small forest."""
    listed = derivations(forest)
    total = math.fsum(product for _, product, _ in listed)
    distribution = collections.defaultdict(float)
    for tree, product, _ in listed:
        distribution[tree] += product / total
    return dict(distribution)
