"""Forests far deeper and larger than any sentence: nothing may recurse, crash, or crawl."""

import copy
import math
import pickle
import random

import pytest
from sizes import DEPTH
from strategies import chain

from kernelwood import Forest


@pytest.fixture(scope="module")
def deep():
    """A chain with two ways down at every step: 2**DEPTH trees."""
    edges = []
    for node in range(DEPTH):
        edges += [(node, (node + 1,), 0.5), (node, (node + 1, DEPTH + 1), 0.25)]
    spans = [(0, 1)] * (DEPTH + 1) + [(1, 1)]
    return Forest(["n"] * (DEPTH + 1) + ["empty"], edges, 0, spans)


def test_trees_are_counted(deep):
    assert deep.n_trees == 2**DEPTH


def test_inside_is_finite(deep):
    assert deep.inside(log=True)[0] == pytest.approx(DEPTH * math.log(0.75))


def test_outside_is_finite(deep):
    assert deep.outside(log=True)[DEPTH] == pytest.approx(DEPTH * math.log(0.75))


def test_marginals_keep_their_digits(deep):
    assert deep.edge_marginals()[-1] == pytest.approx(1 / 3)
    assert deep.node_marginals()[DEPTH] == pytest.approx(1.0)


def test_pruning(deep):
    assert deep.prune(0.5).n_edges == DEPTH


def test_best_tree(deep):
    assert deep.best_tree().n_nodes == DEPTH + 1


def test_k_best(deep):
    assert [tree.n_nodes - DEPTH for tree, _ in deep.k_best(2)] == [1, 2]


def test_sampling(deep):
    assert deep.sample(random.Random(0)).n_nodes == pytest.approx(DEPTH * 4 / 3, rel=0.02)


def test_subforest(deep):
    assert deep.subforest(0, 1).n_nodes == deep.n_nodes


def test_equality_hash_pickle_and_copy(deep):
    twin = pickle.loads(pickle.dumps(deep))
    assert twin == deep
    assert hash(twin) == hash(deep)
    assert copy.deepcopy(deep) is deep


def test_a_deep_tree_is_packed_and_comes_back():
    tree = chain(DEPTH, label=lambda level: f"n{level % 7}")
    assert Forest.from_trees([tree]).best_tree() == tree


def test_a_deep_tree_of_many_labels_is_packed_and_comes_back():
    tree = chain(DEPTH, label=lambda level: f"n{level}")
    assert Forest.from_trees([tree]).best_tree() == tree


def test_a_wide_hyper_edge():
    width = 50_000
    forest = Forest(["S"] + ["w"] * width, [(0, range(1, width + 1), 0.5)], 0)
    assert forest.best_tree().n_nodes == width + 1
    assert forest.k_best(2) == [(forest.best_tree(), 1.0)]
