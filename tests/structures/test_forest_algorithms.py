"""Sums, pruning, single trees, k best and subforests, compared with slow definitions."""

import itertools
import math
import random
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import derivations, forests, tree_distribution

from kernelwood import Forest, Tree
from kernelwood.errors import StructureError
from kernelwood.structures.forest_algorithms import count_trees


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


def test_n_trees_is_refused_where_it_would_not_fit_into_memory():
    with pytest.raises(StructureError, match="too many trees to count"):
        count_trees(squaring(60, 0.5, 0.5))


def test_a_node_used_2_to_the_60_times_is_counted_so():
    assert squaring(60, 0.5, 0.5).node_marginals()[60] == 2.0**60


@pytest.mark.parametrize("method", ["inside", "outside", "node_marginals", "edge_marginals"])
def test_counts_beyond_the_range_of_a_float_are_never_nan(method):
    assert not any(math.isnan(value) for value in getattr(squaring(3000, 0.5, 0.5), method)())


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
    with pytest.raises(StructureError, match="threshold must be a number of at least 0"):
        two_words(0.9, 0.1).prune(threshold)


def ranked(forest):
    """Return the probability of every tree in its best derivation, in falling order."""
    listed = derivations(forest)
    total = math.fsum(product for _, product, _ in listed)
    best = {}
    for tree, product, _ in listed:
        best[tree] = max(product / total, best.get(tree, 0.0))
    return dict(sorted(best.items(), key=lambda item: -item[1]))


def choice(*probabilities):
    """A root with one word per probability: a, b, c, ..."""
    labels = ["S", *"abcdefgh"[: len(probabilities)]]
    return Forest(labels, [(0, (i + 1,), p) for i, p in enumerate(probabilities)], 0)


def squaring(levels, *probabilities):
    edges = [(node, (node + 1, node + 1), 1.0) for node in range(levels)]
    edges += [(levels, (levels + 1 + i,), p) for i, p in enumerate(probabilities)]
    words = [f"w{i}" for i in range(len(probabilities))]
    return Forest(["n"] * (levels + 1) + words, edges, 0)


@given(forests())
def test_best_tree_has_the_highest_product(forest):
    expected = ranked(forest)
    assert expected[forest.best_tree()] == pytest.approx(next(iter(expected.values())))


def test_of_equal_trees_the_best_is_that_of_the_earlier_edges():
    assert choice(0.1, 0.5, 0.5).best_tree() == Tree("S", [Tree("b")])


def test_the_best_tree_shares_subtrees_of_shared_nodes():
    tree = squaring(60, 1.0).best_tree()
    assert tree.n_nodes == 3 * 2**60 - 1
    assert tree.children[0] is tree.children[1]


@given(forests())
def test_k_best_lists_every_tree_once(forest):
    assert Counter(tree for tree, _ in forest.k_best(400)) == Counter(list(ranked(forest)))


@given(forests(), st.integers(1, 12))
def test_k_best_has_the_highest_probabilities_in_falling_order(forest, k):
    expected = itertools.islice(ranked(forest).values(), k)
    assert [p for _, p in forest.k_best(k)] == pytest.approx(list(expected))


@given(forests())
def test_k_best_gives_each_tree_its_own_probability(forest):
    expected = ranked(forest)
    listed = forest.k_best(20)
    assert [p for _, p in listed] == pytest.approx([expected[tree] for tree, _ in listed])


@given(forests())
def test_the_first_of_the_k_best_is_the_best_tree(forest):
    assert forest.k_best(1)[0][0] == forest.best_tree()


@given(forests(), st.integers(1, 6))
def test_a_larger_k_only_adds_trees(forest, k):
    assert forest.k_best(k + 3)[:k] == forest.k_best(k)


def test_k_best_of_a_certain_tree():
    assert choice(0.5).k_best(10) == [(Tree("S", [Tree("a")]), 1.0)]


def test_probabilities_are_relative_to_all_trees_not_to_those_listed():
    assert choice(0.2, 0.1, 0.1).k_best(1)[0][1] == pytest.approx(0.5)


def twins(n_words):
    """Every word below either of two nodes of the same label: 2**n derivations of one tree.

    Only the last word has a second reading.
    """
    labels, edges, pairs = ["S"], [], []
    for _ in range(n_words):
        first = len(labels)
        labels += ["X", "T", "T", "w"]
        pairs.append(first)
        edges += [(first, (first + 1,), 0.5), (first, (first + 2,), 0.5)]
        edges += [(first + 1, (first + 3,), 1.0), (first + 2, (first + 3,), 1.0)]
    labels.append("other")
    edges.append((pairs[-1], (len(labels) - 1,), 0.001))
    return Forest(labels, [(0, tuple(pairs), 1.0), *edges], 0)


def test_k_best_steps_over_any_number_of_equal_trees():
    forest = twins(60)
    assert forest.n_trees == 2**59 * 3
    listed = forest.k_best(5)
    assert len(listed) == 2
    assert listed[1][0].children[-1] == Tree("X", [Tree("other")])


def test_k_best_does_not_list_all_trees():
    labels, edges = ["S"], []
    for _ in range(100):
        first = len(labels)
        labels += ["T", "x", "y"]
        edges += [(first, (first + 1,), 0.9), (first, (first + 2,), 0.1)]
    tops = tuple(range(1, len(labels), 3))
    listed = Forest(labels, [(0, tops, 1.0), *edges], 0).k_best(102)
    changed = [[leaf.label for leaf in tree.leaves()].count("y") for tree, _ in listed]
    assert changed == [0] + [1] * 100 + [2]


def test_k_best_of_a_tree_of_2_to_the_60_nodes():
    listed = squaring(60, 0.75, 0.25).k_best(3)
    assert len({tree for tree, _ in listed}) == 3


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_is_refused(k):
    with pytest.raises(StructureError, match="k must be at least 1"):
        choice(1.0).k_best(k)


@pytest.mark.parametrize("k", [None, 1.5, "3", True])
def test_k_that_is_no_integer_is_refused(k):
    with pytest.raises(StructureError, match="k must be an integer"):
        choice(1.0).k_best(k)


@settings(max_examples=10)
@given(forests(max_trees=20), st.integers(0, 2**32))
def test_samples_are_distributed_like_the_trees(forest, seed):
    rng, n = random.Random(seed), 1500
    drawn = Counter(forest.sample(rng) for _ in range(n))
    expected = tree_distribution(forest)
    assert set(drawn) <= set(expected)
    # Six standard deviations: a correct sampler fails once in a billion trees.
    for tree, probability in expected.items():
        allowed = 6 * math.sqrt(n * probability * (1 - probability)) + 3
        assert abs(drawn[tree] - n * probability) <= allowed


def test_each_occurrence_of_a_node_is_drawn_anew():
    rng = random.Random(3)
    drawn = Counter(
        "".join(leaf.label for leaf in squaring(1, 0.5, 0.5).sample(rng).leaves())
        for _ in range(400)
    )
    assert all(60 < drawn[words] < 140 for words in ("w0w0", "w0w1", "w1w0", "w1w1"))


def test_the_same_seed_draws_the_same_tree():
    forest = choice(0.2, 0.3, 0.5)
    draws = [[forest.sample(random.Random(seed)) for seed in range(20)] for _ in range(2)]
    assert draws[0] == draws[1]
    assert len(set(draws[0])) == 3


def test_numpy_generators_draw_too():
    forest, rng = choice(0.3, 0.1), np.random.default_rng(0)
    drawn = Counter(forest.sample(rng).children[0].label for _ in range(1000))
    assert 690 < drawn["a"] < 810


class Constant:
    def __init__(self, number):
        self.number = number

    def random(self):
        return self.number


@pytest.mark.parametrize(("number", "word"), [(0.0, "a"), (0.2, "b"), (math.nextafter(1, 0), "c")])
def test_the_ends_of_the_interval_draw_the_ends_of_the_list(number, word):
    assert choice(0.1, 0.2, 0.7).sample(Constant(number)) == Tree("S", [Tree(word)])


@pytest.mark.parametrize("rng", [None, 0, "random"])
def test_what_draws_no_numbers_is_refused(rng):
    with pytest.raises(StructureError, match="rng must draw numbers"):
        choice(1.0).sample(rng)


def test_sampling_a_tree_beyond_memory_is_refused():
    with pytest.raises(StructureError, match="more than 1,000,000 nodes"):
        squaring(60, 0.5, 0.5).sample(random.Random(0))


def test_sampling_shares_what_leaves_no_choice():
    assert squaring(60, 1.0).sample(random.Random(0)).n_nodes == 3 * 2**60 - 1


def smallest(node, start, end):
    """Return the topmost node of the smallest span that covers the words."""
    place, found, best = 0, node, None
    while True:
        width = sum(1 for _ in node.leaves())
        if best is None or width < best:
            found, best = node, width
        below = place
        for child in node.children:
            after = below + sum(1 for _ in child.leaves())
            if below <= start and end <= after:
                node, place = child, below
                break
            below = after
        else:
            return found


def looked_up(forest, start, end):
    expected = defaultdict(float)
    for node, probability in tree_distribution(forest).items():
        expected[smallest(node, start, end)] += probability
    return dict(expected)


def taken(part):
    """Return the distribution over the trees of a part, without the node that joins roots."""
    distribution = tree_distribution(part)
    if part.labels[part.root] != "*":
        return distribution
    return {node.children[0]: probability for node, probability in distribution.items()}


@st.composite
def forests_with_words(draw):
    forest = draw(forests(spans=True))
    end = draw(st.integers(1, forest.spans[forest.root][1]))
    return forest, draw(st.integers(0, end - 1)), end


@given(forests_with_words())
def test_distribution_is_that_of_the_smallest_constituents(drawn):
    forest, start, end = drawn
    assert taken(forest.subforest(start, end)) == pytest.approx(looked_up(forest, start, end))


@given(forests_with_words())
def test_probabilities_at_a_head_add_up_to_one(drawn):
    part = Forest.subforest(*drawn)
    assert part.inside() == pytest.approx([1.0] * part.n_nodes)


@given(forests_with_words())
def test_fallback_is_kept(drawn):
    assert Forest.subforest(*drawn).fallback == drawn[0].fallback


@given(forests_with_words())
def test_the_part_covers_the_words(drawn):
    forest, start, end = drawn
    part = forest.subforest(start, end)
    low, high = part.spans[part.root]
    assert low <= start
    assert end <= high


ATTACHMENT = Forest.from_trees(
    [
        (Tree.from_brackets("(S Ann (VP (V saw) (NP Bo (PP with (NP hats)))))"), 3),
        (Tree.from_brackets("(S Ann (VP (V saw) (NP Bo) (PP with (NP hats))))"), 1),
    ]
)


def test_one_root_needs_no_joint():
    part = ATTACHMENT.subforest(3, 5)
    assert part.best_tree() == Tree.from_brackets("(PP with (NP hats))")
    assert part.spans[part.root] == (3, 5)


def test_several_roots_are_joined_over_all_of_them():
    part = ATTACHMENT.subforest(2, 4)
    assert part.labels[part.root] == "*"
    assert part.spans[part.root] == (1, 5)
    assert [(t.children[0].label, p) for t, p in part.k_best(3)] == [
        ("NP", pytest.approx(0.75)),
        ("VP", pytest.approx(0.25)),
    ]


def test_of_a_unary_chain_the_topmost_node_is_taken():
    forest = Forest.from_trees([Tree.from_brackets("(S (A (B (C x))) y)")])
    assert forest.subforest(0, 1).best_tree() == Tree.from_brackets("(A (B (C x)))")


def test_a_word_alone_is_a_part():
    forest = Forest.from_trees([Tree.from_brackets("(S x y)")])
    assert forest.subforest(1, 2) == Forest(["y"], [], 0, [(1, 2)])


def test_a_part_has_parts():
    assert ATTACHMENT.subforest(3, 5).subforest(4, 5).best_tree() == Tree("NP", [Tree("hats")])


def test_a_long_and_a_short_root_stay_in_proportion():
    # The first word is a T alone, or the start of an L over 201 words: products 1 and 1e-1000.
    labels, spans = ["S", "T", "L", "w"], [(0, 201), (0, 1), (0, 201), (0, 1)]
    tags = range(4, 404, 2)
    edges = [(0, (1, *tags), 0.75), (0, (2,), 0.25), (1, (3,), 1.0), (2, (3, *tags), 1.0)]
    for place, tag in enumerate(tags, start=1):
        labels += ["t", "w"]
        spans += [(place, place + 1)] * 2
        edges.append((tag, (tag + 1,), 1e-5))
    part = Forest(labels, edges, 0, spans).subforest(0, 1)
    assert [(t.n_nodes, p) for t, p in part.k_best(2)] == [
        (3, pytest.approx(0.75)),
        (2, pytest.approx(0.25)),
    ]


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 2), (0, 6), (9, 10)])
def test_words_that_are_not_there(start, end):
    with pytest.raises(StructureError, match=r"the forest covers the words \[0, 5\)"):
        ATTACHMENT.subforest(start, end)


def test_ranges_are_those_of_the_part():
    with pytest.raises(StructureError, match=r"covers the words \[3, 5\)"):
        ATTACHMENT.subforest(3, 5).subforest(0, 1)


@pytest.mark.parametrize("start", [0.0, "0", None])
def test_positions_that_are_no_integers(start):
    with pytest.raises(StructureError, match="start must be an integer"):
        ATTACHMENT.subforest(start, 2)


def test_a_forest_without_spans_has_no_parts():
    with pytest.raises(StructureError, match="has no spans"):
        Forest(["S", "x"], [(0, (1,), 1.0)], 0).subforest(0, 1)
