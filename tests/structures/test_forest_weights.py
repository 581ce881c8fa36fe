"""Sums over all trees, against sums over the trees one by one."""

import math

import pytest
from hypothesis import given, strategies as st
from strategies import derivations, forests, tree_distribution

from kernelwood import Forest
from kernelwood.errors import StructureError
from kernelwood.structures.forest_weights import count_trees


def two_words(first, second):
    return Forest(["S", "x", "y"], [(0, (1,), first), (0, (2,), second)], 0)


def approx(values):
    return pytest.approx(list(values), rel=1e-9)


def naive_outside(forest):
    """Return what all trees would sum to, were each node's inside worth 1 at one place."""
    inside = [math.fsum(p for _, p, _ in derivations(forest, n)) for n in range(forest.n_nodes)]
    sums = [0.0] * forest.n_nodes
    sums[forest.root] = 1.0
    for head in reversed(forest._order):
        for position in forest.edges_of(head):
            _, children, probability = forest.edges[position]
            for place, child in enumerate(children):
                others = [inside[c] for c in (*children[:place], *children[place + 1 :])]
                sums[child] += sums[head] * probability * math.prod(others)
    return sums


@given(forests())
def test_n_trees_counts_derivations(forest):
    assert forest.n_trees == len(derivations(forest))


@given(forests())
def test_inside_sums_the_products_of_all_trees(forest):
    expected = [math.fsum(p for _, p, _ in derivations(forest, n)) for n in range(forest.n_nodes)]
    assert list(forest.inside()) == approx(expected)


@given(forests())
def test_outside_sums_all_that_surrounds_a_node(forest):
    assert list(forest.outside()) == approx(naive_outside(forest))


@given(forests())
def test_logarithms_are_those_of_the_sums(forest):
    assert [math.exp(v) for v in forest.inside(log=True)] == approx(forest.inside())
    assert [math.exp(v) for v in forest.outside(log=True)] == approx(forest.outside())


@given(forests())
def test_edge_marginals_are_expected_counts(forest):
    listed = derivations(forest)
    total = math.fsum(product for _, product, _ in listed)
    expected = [
        math.fsum(product * used.count(position) for _, product, used in listed) / total
        for position in range(forest.n_edges)
    ]
    assert list(forest.edge_marginals()) == approx(expected)


@given(forests())
def test_node_marginals_are_outside_times_inside(forest):
    inside, outside = forest.inside(), forest.outside()
    expected = [a * b / inside[forest.root] for a, b in zip(outside, inside, strict=True)]
    assert list(forest.node_marginals()) == approx(expected)


@given(forests())
def test_marginals_at_a_head_add_up_to_its_own(forest):
    nodes, edges = forest.node_marginals(), forest.edge_marginals()
    heads = [node for node in range(forest.n_nodes) if forest.edges_of(node)]
    sums = [math.fsum(edges[position] for position in forest.edges_of(node)) for node in heads]
    assert sums == approx(nodes[node] for node in heads)


def test_a_certain_tree_has_sums_of_exactly_one():
    forest = Forest(["S", "x"], [(0, (1,), 1.0)], 0)
    assert forest.inside() == forest.outside() == forest.node_marginals() == (1.0, 1.0)
    assert forest.inside(log=True) == (0.0, 0.0)


def test_tiny_probabilities_keep_their_ratio():
    assert two_words(3e-300, 1e-300).edge_marginals() == pytest.approx((0.75, 0.25))


def long_ambiguous(n_words):
    """A binary-branching forest with all bracketings, of small probabilities."""
    labels, spans, number = [], [], {}
    for width in range(1, n_words + 1):
        for start in range(n_words - width + 1):
            number[start, start + width] = len(labels)
            labels.append("w" if width == 1 else "X")
            spans.append((start, start + width))
    edges = [
        (number[i, j], (number[i, k], number[k, j]), 1e-5)
        for (i, j) in number
        for k in range(i + 1, j)
    ]
    return Forest(labels, edges, number[0, n_words], spans)


def test_n_trees_of_all_bracketings_is_a_catalan_number():
    assert long_ambiguous(30).n_trees == math.comb(58, 29) // 30


def test_long_sentences_have_finite_logarithms():
    forest = long_ambiguous(60)
    expected = math.log(math.comb(118, 59) // 60) + 59 * math.log(1e-5)
    assert forest.inside(log=True)[forest.root] == pytest.approx(expected, rel=1e-12)
    assert all(math.isfinite(value) for value in forest.outside(log=True))


def sausage(n_words, probability):
    """A word sequence with two tags for every word, of 2**n_words trees."""
    labels = ["S"]
    edges = []
    tops = []
    for _ in range(n_words):
        tops.append(len(labels))
        labels += ["T", "x", "y"]
        edges += [
            (tops[-1], (tops[-1] + 1,), probability),
            (tops[-1], (tops[-1] + 2,), probability),
        ]
    return Forest(labels, [(0, tuple(tops), 1.0), *edges], 0)


def test_200_words_underflow_to_zero_but_not_in_logarithms():
    forest = sausage(200, 1e-4)
    assert forest.inside()[0] == 0.0
    assert forest.inside(log=True)[0] == pytest.approx(200 * math.log(2e-4))


def test_marginals_do_not_underflow_with_the_sentence():
    assert sausage(200, 1e-4).edge_marginals()[1:] == (0.5,) * 400


def test_sums_beyond_the_range_of_a_float_are_infinite():
    forest = sausage(2000, 1.0)
    assert forest.inside()[0] == math.inf
    assert forest.inside(log=True)[0] == pytest.approx(2000 * math.log(2))
    assert forest.edge_marginals()[1] == 0.5


def test_n_trees_beyond_all_bounds_is_instant():
    assert sausage(1000, 1.0).n_trees == 2**1000


def squaring(levels):
    """A forest where each node stands twice below the one above."""
    edges = [(node, (node + 1, node + 1), 1.0) for node in range(levels)]
    edges += [(levels, (levels + 1,), 0.5), (levels, (levels + 2,), 0.5)]
    return Forest(["n"] * (levels + 1) + ["x", "y"], edges, 0)


def test_n_trees_is_refused_where_it_would_not_fit_into_memory():
    with pytest.raises(StructureError, match="too many to count"):
        count_trees(squaring(60))


def test_a_node_used_2_to_the_60_times_is_counted_so():
    assert squaring(60).node_marginals()[60] == 2.0**60


@pytest.mark.parametrize("method", ["inside", "outside", "node_marginals", "edge_marginals"])
def test_counts_beyond_the_range_of_a_float_are_never_nan(method):
    assert not any(math.isnan(value) for value in getattr(squaring(3000), method)())


THRESHOLDS = st.sampled_from([0.0, 0.1, 0.7, 2.0, 8.0, math.inf])


def costs(forest):
    """Return the cost of every derivation, and of the best one with each edge."""
    listed = [(-math.log(product), used) for _, product, used in derivations(forest)]
    through = {}
    for cost, used in listed:
        for position in used:
            through[position] = min(cost, through.get(position, math.inf))
    return min(cost for cost, _ in listed), through


@given(forests(), THRESHOLDS)
def test_pruning_keeps_exactly_the_edges_within_the_threshold(forest, threshold):
    best, through = costs(forest)
    expected = sorted(
        (forest.labels[head], probability)
        for position, (head, _, probability) in enumerate(forest.edges)
        if through[position] <= best + threshold + 1e-9
    )
    pruned = forest.prune(threshold)
    assert sorted((pruned.labels[h], p) for h, _, p in pruned.edges) == expected


@given(forests(), THRESHOLDS)
def test_trees_within_the_threshold_survive(forest, threshold):
    listed = derivations(forest)
    best = max(product for _, product, _ in listed)
    near = {t for t, p, _ in listed if math.log(best / p) <= threshold}
    assert near <= set(tree_distribution(forest.prune(threshold)))


@given(forests(), THRESHOLDS)
def test_pruning_keeps_the_best_tree(forest, threshold):
    assert forest.prune(threshold).best_tree() == forest.best_tree()


@given(forests(), THRESHOLDS)
def test_pruning_keeps_spans_and_fallback(forest, threshold):
    pruned = forest.prune(threshold)
    assert pruned.fallback == forest.fallback
    if forest.spans is not None:
        assert pruned.spans[pruned.root] == forest.spans[forest.root]


def test_pruning_nothing_returns_the_forest_itself():
    forest = two_words(0.9, 0.1)
    assert forest.prune(math.inf) is forest


def test_pruning_by_nothing_keeps_ties_that_differ_by_rounding():
    assert 0.3 * (0.2 * 0.1) != 0.1 * (0.2 * 0.3)
    left = [(0, (1,), 0.3), (1, (2,), 0.2), (2, (5,), 0.1)]
    right = [(0, (3,), 0.1), (3, (4,), 0.2), (4, (5,), 0.3)]
    forest = Forest(["S", "a", "b", "c", "d", "x"], left + right, 0)
    assert forest.prune(0) is forest


def test_pruning_drops_nodes_out_of_reach():
    assert two_words(0.9, 0.1).prune(1.0).labels == ("S", "x")


def test_pruning_defaults_to_8():
    assert two_words(1.0, math.exp(-7.9)).prune().n_edges == 2
    assert two_words(1.0, math.exp(-8.1)).prune().n_edges == 1


@pytest.mark.parametrize("threshold", [-1.0, math.nan, "8", None])
def test_pruning_refuses_thresholds_that_are_none(threshold):
    with pytest.raises(StructureError, match="threshold must be a number from 0 up"):
        two_words(0.9, 0.1).prune(threshold)
