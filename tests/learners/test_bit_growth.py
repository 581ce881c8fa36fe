"""Forests grown on packed bits: the textbook's trees, on any number of threads."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learners.bit_trees import (
    correlated_bits,
    gini,
    grown_tree,
    same,
    samples,
    small_sample,
    textbook_tree,
)
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from kernelwood.errors import KernelInputError
from kernelwood.features.codes import pack
from kernelwood.learners.bit_growth import _times_drawn, grow_forest, out_of_bag


@given(
    samples(),
    st.sampled_from([None, 1, 2, 3]),
    st.integers(1, 4),
    st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.0]), min_size=4, max_size=4),
    st.booleans(),
)
def test_trees_are_those_of_the_textbook(sample, max_depth, min_leaf, weights, bootstrap):
    bits, y, n_classes = sample
    forest = grow_forest(
        pack(bits),
        y,
        n_bits=bits.shape[1],
        n_classes=n_classes,
        n_trees=3,
        bits_per_tree=max(1, bits.shape[1] - 2),
        bootstrap=bootstrap,
        class_weights=np.array(weights[:n_classes]),
        max_depth=max_depth,
        min_samples_leaf=min_leaf,
        seed=5,
    )
    for tree in range(3):
        times = _times_drawn(len(y), 5, tree) if bootstrap else np.ones(len(y), dtype=int)
        chosen = np.repeat(np.arange(len(y)), times)
        rows = [(bits[i].tolist(), int(y[i])) for i in chosen]
        drawn = forest.bits[tree].tolist()
        expected = textbook_tree(rows, drawn, weights[:n_classes], max_depth, min_leaf)
        assert grown_tree(forest, tree) == expected


@settings(max_examples=25)
@given(samples(most_bits=150))
def test_more_bits_than_a_word_make_the_same_trees(sample):
    bits, y, n_classes = sample
    forest = grow_forest(
        pack(bits), y, n_bits=bits.shape[1], n_classes=n_classes, n_trees=1, bits_per_tree=None
    )
    rows = [(row.tolist(), int(label)) for row, label in zip(bits, y, strict=True)]
    drawn = forest.bits[0].tolist()
    assert grown_tree(forest, 0) == textbook_tree(rows, drawn, [1.0] * n_classes)


def test_large_nodes_are_counted_in_full():
    # More examples of one class than a counter of a byte holds, many times over.
    bits, y = correlated_bits(5000, 40)
    forest = grow_forest(pack(bits), y, n_bits=40, n_trees=1, bits_per_tree=None, max_depth=1)
    sides = [[y[bits[:, b] == value] for value in (0, 1)] for b in range(40)]
    counts = [[np.bincount(side, minlength=2) for side in each] for each in sides]
    left = [sum(gini([Fraction(int(n)) for n in side]) for side in each) for each in counts]
    assert forest.nodes[0, 0] == left.index(min(left))


def test_equally_good_bits_go_by_the_order_in_which_they_were_drawn():
    bits = np.repeat([[0, 1, 0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0, 1, 0]], 3, axis=0)
    forest = grow_forest(pack(bits), np.repeat([0, 1], 3), n_bits=8, n_trees=20, bits_per_tree=3)
    assert forest.nodes[forest.offsets[:-1], 0].tolist() == forest.bits[:, 0].tolist()


def test_trees_draw_different_bits_without_repeats():
    bits, y = correlated_bits(50)
    forest = grow_forest(pack(bits), y, n_bits=200, n_trees=5, bits_per_tree=30)
    assert all(len(set(row)) == 30 for row in forest.bits.tolist())
    assert len({tuple(row) for row in forest.bits.tolist()}) == 5


def test_more_trees_begin_with_the_same_ones():
    bits, y = correlated_bits(200)
    few, many = (
        grow_forest(pack(bits), y, n_bits=200, n_trees=n, bootstrap=True, seed=3) for n in (3, 6)
    )
    assert np.array_equal(many.nodes[: len(few.nodes), 0], few.nodes[:, 0])


@pytest.mark.parametrize("options", [{}, {"bootstrap": True}, {"bits_per_tree": None}])
def test_growing_ignores_threads(options, force_threads):
    bits, y = correlated_bits(1500, n_classes=3)
    one, more = (
        grow_forest(pack(bits), y, n_bits=200, n_trees=12, n_jobs=n_jobs, **options)
        for n_jobs in (1, 3)
    )
    assert same(one, more)


def test_out_of_bag_sums_leave_out_the_trees_an_example_was_drawn_for():
    bits, y = correlated_bits(130, n_classes=3)
    codes = pack(bits)
    forest = grow_forest(
        codes, y, n_bits=200, n_trees=7, bootstrap=True, min_samples_leaf=2, seed=9
    )
    sums, n_trees = out_of_bag(forest, codes, seed=9)
    expected, counted = np.zeros((130, 3)), np.zeros(130, dtype=int)
    for tree in range(7):
        grown, times = grown_tree(forest, tree), _times_drawn(130, 9, tree)
        for i in np.flatnonzero(times == 0):
            node = grown
            while isinstance(node, tuple):
                node = node[1 + bits[i, node[0]]]
            expected[i] += node
            counted[i] += 1
    assert np.array_equal(sums, expected)
    assert np.array_equal(n_trees, counted)


@pytest.mark.parametrize("criterion", [{}, {"min_samples_leaf": 7}, {"max_depth": 6}])
def test_a_tree_is_as_accurate_as_that_of_scikit_learn(criterion):
    bits, y = correlated_bits(4000, 60, n_classes=3)
    ours = grow_forest(
        pack(bits[:2000]), y[:2000], n_bits=60, n_trees=1, bits_per_tree=None, **criterion
    )
    theirs = DecisionTreeClassifier(random_state=0, **criterion).fit(bits[:2000], y[:2000])
    found = ours.predict_proba(pack(bits[2000:])).argmax(axis=1)
    accuracy = (found == y[2000:]).mean()
    assert accuracy == pytest.approx(theirs.score(bits[2000:], y[2000:]), abs=0.03)


def test_a_forest_is_as_accurate_as_that_of_scikit_learn():
    bits, y = correlated_bits(4000, 60, n_classes=3)
    ours = grow_forest(
        pack(bits[:2000]), y[:2000], n_bits=60, n_trees=60, bits_per_tree=None, bootstrap=True
    )
    theirs = RandomForestClassifier(60, max_features=None, random_state=0)
    theirs.fit(bits[:2000], y[:2000])
    found = ours.predict_proba(pack(bits[2000:])).argmax(axis=1)
    accuracy = (found == y[2000:]).mean()
    assert accuracy == pytest.approx(theirs.score(bits[2000:], y[2000:]), abs=0.02)


def test_importances_are_those_of_scikit_learn():
    # One tree without ties: what a bit removes is then no matter of taste.
    bits, y = correlated_bits(3000, 20)
    options = {"max_depth": 4}
    ours = grow_forest(pack(bits), y, n_bits=20, n_trees=1, bits_per_tree=None, **options)
    theirs = DecisionTreeClassifier(random_state=0, **options).fit(bits, y)
    assert ours.importances() == pytest.approx(theirs.feature_importances_, abs=1e-9)


def test_heavier_classes_win_mixed_leaves():
    codes, y = pack(np.zeros((4, 3), dtype=np.uint8)), np.array([0, 0, 0, 1])
    forest = grow_forest(
        codes, y, n_bits=3, n_trees=2, bits_per_tree=2, class_weights=np.array([1.0, 9.0])
    )
    assert forest.predict_proba(codes[:1]).tolist() == [[0.25, 0.75]]


def test_constant_bits_make_one_leaf():
    codes, y = pack(np.ones((4, 70), dtype=np.uint8)), np.array([0, 1, 1, 1])
    forest = grow_forest(codes, y, n_bits=70, n_trees=2, bits_per_tree=None)
    assert forest.nodes.tolist() == [[-1, 2], [-1, 3]]
    assert forest.importances().tolist() == [0.0] * 70


def test_one_class_makes_one_leaf():
    bits, _ = correlated_bits(20)
    forest = grow_forest(pack(bits), np.zeros(20, dtype=np.int32), n_bits=200, n_trees=3)
    assert forest.nodes.tolist() == [[-1, 0]] * 3


def test_one_example_is_enough():
    codes = pack(np.ones((1, 5), dtype=np.uint8))
    forest = grow_forest(codes, np.array([1]), n_bits=5, n_trees=2, bits_per_tree=2, bootstrap=True)
    assert forest.predict_proba(codes).tolist() == [[0.0, 1.0]]
    sums, n_trees = out_of_bag(forest, codes, seed=0)
    assert sums.tolist() == [[0.0, 0.0]] and n_trees.tolist() == [0]


def test_two_hundred_classes_are_told_apart():
    y = np.repeat(np.arange(200, dtype=np.int32), 3)
    bits = (y[:, None] >> np.arange(8)) & 1
    forest = grow_forest(pack(bits), y, n_bits=8, n_trees=2, bits_per_tree=None)
    assert np.array_equal(forest.predict_proba(pack(bits)).argmax(axis=1), y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bits_per_tree": 5}, "bits_per_tree must be from 1 to 4"),
        ({"y": np.array([0, 1])}, "a class number for each"),
        ({"y": np.array([0.0] * 6)}, "a class number for each"),
        ({"y": np.array([0, 1, 2, 0, 1, -1])}, "from 0 to 2"),
        ({"n_classes": 1}, "from 0 to 0"),
        ({"class_weights": np.array([1.0, 0.0])}, "from 1e-9 to 1e9"),
        ({"class_weights": np.array([1.0, np.nan])}, "from 1e-9 to 1e9"),
        ({"class_weights": np.ones(3)}, "must be 2 numbers"),
        ({"n_bits": 65}, "65 bits have 2 words"),
    ],
)
def test_what_cannot_be_grown_is_refused(options, message):
    codes, y = small_sample()
    arguments = {"codes": codes, "y": y, "n_bits": 4, "n_trees": 1, "bits_per_tree": 2, **options}
    with pytest.raises(KernelInputError, match=message):
        grow_forest(**arguments)
