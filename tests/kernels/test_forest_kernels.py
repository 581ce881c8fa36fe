"""The forest kernel: expected counts of the fragments of all trees."""

import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest
import strategies
from hypothesis import given, settings, strategies as st
from oracles import exact_value

import kernelwood as kw
from kernelwood.errors import KernelInputError, MemoryBudgetError
from kernelwood.kernels import ForestKernel, SubsetTreeKernel
from kernelwood.structures import Forest, Tree

pytestmark = pytest.mark.filterwarnings("ignore:.*self-similarity 0:RuntimeWarning")

RAW = ForestKernel(normalize=False)
TREE = Tree.from_brackets("(PP (IN in) (DT the) (NN bank))")


def chart(rng, n_words, labels="AB", spread=1.0):
    """Return a forest with all ways to split each span, as a parser's chart has them."""
    number, edges = {}, []
    for i in range(n_words):
        number[i, i + 1, ""] = len(number)
    for length in range(1, n_words + 1):
        for start in range(n_words - length + 1):
            end = start + length
            for label in labels if length < n_words else labels[:1]:
                head = number.setdefault((start, end, label), len(number))
                if length == 1:
                    edges.append((head, (number[start, end, ""],), 1.0))
                for middle in range(start + 1, end):
                    for left, right in itertools.product(labels, repeat=2):
                        below = (number[start, middle, left], number[middle, end, right])
                        edges.append((head, below, rng.uniform(1 - spread, 1) or 1.0))
    words = iter([rng.choice("xyz") for _ in range(n_words)])
    names = [label or next(words) for _, _, label in number]
    spans = [(start, end) for start, end, _ in number]
    return Forest(names, edges, number[0, n_words, labels[0]], spans)


def all_trees(forest):
    """Return the weight of every tree: (label, subtrees) to the product of probabilities."""
    trees = {}
    for v in forest.bottom_up():
        found = Counter() if forest.edges_of(v) else Counter({(forest.labels[v], ()): 1.0})
        for e in forest.edges_of(v):
            _, children, probability = forest.edges[e]
            for choice in itertools.product(*(trees[c].items() for c in children)):
                weight = probability * math.prod(w for _, w in choice)
                found[forest.labels[v], tuple(tree for tree, _ in choice)] += weight
        trees[v] = found
    total = sum(trees[forest.root].values())
    return {tree: weight / total for tree, weight in trees[forest.root].items()}


def fragments(tree, rooted=False):
    """Return how often each fragment occurs in a tree, or at its root alone."""
    label, below = tree
    if not below:
        return Counter()
    grown = Counter()
    options = [[(child[0], ()), *fragments(child, rooted=True)] for child in below]
    for choice in itertools.product(*options):
        grown[label, tuple(choice)] += 1
    if not rooted:
        for child in below:
            grown.update(fragments(child))
    return grown


def n_productions(fragment):
    return (len(fragment[1]) > 0) + sum(n_productions(child) for child in fragment[1])


def by_brute_force(a, b, decay):
    """Enumerate the trees, count the fragments, multiply."""
    sides = []
    for forest in (a, b):
        expected = Counter()
        for tree, probability in all_trees(forest).items():
            for fragment, count in fragments(tree).items():
                expected[fragment] += probability * count
        sides.append(expected)
    return sum(
        decay ** n_productions(fragment) * count * sides[1][fragment]
        for fragment, count in sides[0].items()
    )


@pytest.mark.parametrize("decay", [0.3, 1.0])
@pytest.mark.parametrize("n_words", [1, 2, 3])
def test_value_is_the_product_of_expected_fragment_counts(n_words, decay):
    rng = random.Random(n_words)
    a, b = chart(rng, n_words), chart(rng, 3)
    found = RAW.clone().set_params(decay=decay).value(a, b)
    assert found == pytest.approx(by_brute_force(a, b, decay), rel=1e-9)


@given(*[strategies.small_forests(max_inner=3)] * 2, st.sampled_from([0.25, 0.8, 1.0]))
def test_value_of_any_forests_is_the_product_of_expected_fragment_counts(a, b, decay):
    found = RAW.clone().set_params(decay=decay).value(a, b)
    assert found == pytest.approx(by_brute_force(a, b, decay), rel=1e-9)


def test_fragments_of_the_published_example():
    forest = Forest.from_trees([TREE])
    assert ForestKernel(decay=1.0, normalize=False).value(forest, forest) == 11


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("normalize", [True, False])
def test_forests_of_one_tree_are_compared_like_trees(normalize, dtype):
    trees = [without_edges(tree) for tree in strategies.sample_trees(60, max_nodes=30)]
    forests = [Forest.from_trees([tree]) for tree in trees]
    expected = SubsetTreeKernel(normalize=normalize).gram(trees)
    found = ForestKernel(normalize=normalize, dtype=dtype).gram(forests)
    np.testing.assert_allclose(found, expected, rtol=1e-12 if dtype == "float64" else 2e-5)


def without_edges(tree):
    labels, edges, n_children = tree.flatten()
    return Tree.from_postorder(labels, [""] * len(edges), n_children)


def test_probabilities_of_a_single_tree_do_not_matter():
    forest = Forest(["S", "A", "x"], [(0, (1,), 0.2), (1, (2,), 0.1)], 0)
    sure = Forest(["S", "A", "x"], [(0, (1,), 1.0), (1, (2,), 1.0)], 0)
    assert RAW.value(forest, forest) == RAW.value(sure, sure)


def test_order_of_nodes_does_not_matter():
    forest = chart(random.Random(3), 4)
    shuffled = [*range(forest.n_nodes)]
    random.Random(4).shuffle(shuffled)
    number = {node: position for position, node in enumerate(shuffled)}
    edges = [(number[h], [number[c] for c in cs], p) for h, cs, p in forest.edges]
    other = Forest([forest.labels[node] for node in shuffled], edges, number[forest.root])
    assert RAW.value(other, forest) == pytest.approx(RAW.value(forest, forest), rel=1e-14)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_forest_that_occurs_again_changes_no_bit(dtype):
    forests = [chart(random.Random(seed), 4, spread=0.9) for seed in range(5)]
    few = ForestKernel(dtype=dtype).gram(forests)
    many = ForestKernel(dtype=dtype).gram([*forests, *forests[::-1], *forests])
    np.testing.assert_array_equal(many[:5, :5], few)


# Sharpness.


def two_readings(p):
    labels = ["S", "A", "B", "x"]
    return Forest(labels, [(0, (1,), p), (0, (2,), 1 - p), (1, (3,), 1.0), (2, (3,), 1.0)], 0)


def test_sharpness_raises_probabilities_to_a_power():
    sharpened = ForestKernel(sharpness=2.0, normalize=False).value(*[two_readings(0.25)] * 2)
    assert sharpened == pytest.approx(RAW.value(*[two_readings(0.1)] * 2), rel=1e-14)


def test_sharpness_zero_counts_all_trees_alike():
    flat = ForestKernel(sharpness=0, normalize=False).value(*[two_readings(0.001)] * 2)
    assert flat == pytest.approx(RAW.value(*[two_readings(0.5)] * 2), rel=1e-14)


def test_great_sharpness_leaves_the_best_tree():
    forest = chart(random.Random(0), 6)
    best = Forest.from_trees([forest.best_tree()])
    sharp = ForestKernel(sharpness=1000, normalize=False)
    assert sharp.value(forest, forest) == pytest.approx(sharp.value(best, best), rel=1e-9)


@pytest.mark.parametrize("sharpness", [-0.1, 1001, math.nan, "1"])
def test_sharpness_outside_its_range_is_refused(sharpness):
    forest = Forest.from_trees([TREE])
    with pytest.raises(KernelInputError, match="sharpness"):
        ForestKernel(sharpness=sharpness).value(forest, forest)


# Extremes.


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("p", [1e-5, 1e-300])
def test_long_unlikely_sentences_do_not_underflow(p, dtype):
    # 200 words: the inside probability is far below the smallest double.
    likely = [sausage(200, 0.6, 0.4), sausage(200, 0.5, 0.25)]
    unlikely = [
        Forest(forest.labels, [(h, c, p * q) for h, c, q in forest.edges], forest.root)
        for forest in likely
    ]
    assert unlikely[0].inside()[0] == 0
    assert unlikely[0].n_trees == 2**200
    kernel = ForestKernel(dtype=dtype)
    precision = 1e-12 if dtype == "float64" else 2e-6
    np.testing.assert_allclose(kernel.gram(unlikely), kernel.gram(likely), rtol=precision)


def sausage(n_words, *chances):
    """Return a right-branching forest in which each word has several tags."""
    labels, edges = ["S"] * n_words, []
    for i in range(n_words):
        word = len(labels)
        tags = range(word + 1, word + 1 + len(chances))
        labels += [f"w{i % 7}", *"ABCD"[: len(chances)]]
        edges += [(tag, (word,), 1.0) for tag in tags]
        rest = (i + 1,) if i + 1 < n_words else ()
        edges += [(i, (tag, *rest), chance) for tag, chance in zip(tags, chances, strict=True)]
    return Forest(labels, edges, 0)


def test_a_long_sentence_agrees_with_the_reference():
    forest, other = sausage(60, 0.75, 0.25), sausage(60, 0.5, 0.5)  # inside probability 1
    found = RAW.value(forest, other)
    assert found == pytest.approx(RAW.reference(forest, other), rel=1e-9)


def test_raw_values_beyond_a_double_are_normalized():
    tree = without_edges(strategies.preterminals(3000))
    forest = Forest.from_trees([tree])
    other = Forest.from_trees([without_edges(strategies.preterminals(2999))])
    kernel = ForestKernel(decay=1.0)
    np.testing.assert_allclose(
        kernel.gram([forest, other]),
        SubsetTreeKernel(decay=1.0).gram([tree, without_edges(strategies.preterminals(2999))]),
        rtol=1e-12,
    )


def test_forests_of_more_trees_than_atoms_are_compared():
    forest, other = sausage(400, 0.5, 0.3), sausage(400, 0.25, 0.3)
    assert forest.n_trees > 10**100
    assert 0 < ForestKernel().value(forest, other) < 1


def test_a_deep_forest_is_compared():
    depth = 20_000
    labels = [*(f"n{level}" for level in range(depth)), "x"]
    edges = [(level, (level + 1,), 0.9) for level in range(depth)]
    forest = Forest(labels, edges, 0)
    assert ForestKernel().value(forest, forest) == pytest.approx(1, abs=1e-11)


def test_forests_too_large_for_the_budget_are_refused():
    forest = Forest([*["n"] * 3000, "x"], [(i, (i + 1,), 1.0) for i in range(3000)], 0)
    with (
        kw.config_context(memory="1MB"),
        pytest.raises(MemoryBudgetError, match=r"(?s)largest structures.*config_context"),
    ):
        ForestKernel().value(forest, forest)


def test_many_forests_are_compared_in_parts_that_fit_the_budget():
    forests = [
        Forest([*["n"] * 60, f"x{k}"], [(i, (i + 1,), 1.0) for i in range(60)], 0)
        for k in range(60)
    ]
    kernel = ForestKernel()
    gram, cross = kernel.gram(forests), kernel.cross(forests, forests[:3])
    with kw.config_context(memory="1MB"):
        np.testing.assert_array_equal(kernel.gram(forests), gram)
        np.testing.assert_array_equal(kernel.cross(forests, forests[:3]), cross)


@settings(max_examples=20)
@given(st.lists(strategies.small_forests(max_inner=12), min_size=1, max_size=3))
def test_values_are_exact_to_the_last_digits(forests):
    expected = [[float(exact_value(RAW, a, b)) for b in forests] for a in forests]
    np.testing.assert_allclose(RAW.gram(forests), expected, rtol=1e-12)


# Input.


def test_a_tree_is_refused_with_a_hint():
    with pytest.raises(KernelInputError, match=r"kw\.Forest\.from_trees"):
        ForestKernel().gram([TREE])


def test_a_forest_is_refused_by_a_tree_kernel_with_a_hint():
    with pytest.raises(KernelInputError, match=r"best_tree"):
        SubsetTreeKernel().gram([Forest.from_trees([TREE])])


def test_a_view_of_forests_is_compared():
    views = [{"forest": chart(random.Random(seed), 3)} for seed in range(3)]
    examples = [kw.Example(str(i), views=view) for i, view in enumerate(views)]
    kernel = ForestKernel()
    expected = kernel.gram([view["forest"] for view in views])
    np.testing.assert_array_equal(kw.OnView("forest", kernel).gram(examples), expected)
