"""Single trees of a forest: the best, the k best, random ones."""

import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import derivations, forests, tree_distribution

from kernelwood import Forest, Tree
from kernelwood.errors import StructureError


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
    with pytest.raises(StructureError, match="k must be 1 or more"):
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
