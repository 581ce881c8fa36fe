"""Forests on packed bits: what they say, in any blocks, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from learners.bit_trees import correlated_bits, grown_tree, same, small_forest

from kernelwood.features import pack
from kernelwood.learners import bit_forest
from kernelwood.learners.bit_forest import BitForest
from kernelwood.learners.bit_growth import grow_forest, out_of_bag


@pytest.mark.parametrize("bits_per_tree", [3, 31, 32, 33, 64, 65, 130, None])
def test_any_number_of_bits_predicts_what_its_trees_say(bits_per_tree):
    bits, y = correlated_bits(300, 130, n_classes=3)
    forest = grow_forest(pack(bits), y, n_bits=130, n_trees=4, bits_per_tree=bits_per_tree)
    forest.check(130, 3)
    expected = np.zeros((300, 3))
    for tree in range(4):
        grown = grown_tree(forest, tree)
        for i, row in enumerate(bits):
            node = grown
            while isinstance(node, tuple):
                node = node[1 + row[node[0]]]
            expected[i] += node
    assert np.array_equal(forest.predict_proba(pack(bits)), expected / 4)


@pytest.mark.parametrize("block", [64, 192])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_predicting_ignores_blocks_and_threads(block, n_jobs, force_threads, monkeypatch):
    bits, y = correlated_bits(1000, n_classes=3)
    codes = pack(bits)
    forest = grow_forest(codes, y, n_bits=200, n_trees=12, min_samples_leaf=3, bootstrap=True)
    expected = forest.predict_proba(codes), forest.apply(codes), *out_of_bag(forest, codes, seed=0)
    monkeypatch.setattr(bit_forest, "_BLOCK", block)
    found = (
        forest.predict_proba(codes, n_jobs=n_jobs),
        forest.apply(codes, n_jobs=n_jobs),
        *out_of_bag(forest, codes, seed=0, n_jobs=n_jobs),
    )
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_examples_one_by_one_get_what_they_get_together():
    bits, y = correlated_bits(150, n_classes=3)
    codes = pack(bits)
    forest = grow_forest(codes, y, n_bits=200, n_trees=12, min_samples_leaf=3)
    alone = np.concatenate([forest.predict_proba(codes[i : i + 1]) for i in range(150)])
    assert np.array_equal(alone, forest.predict_proba(codes))


def test_apply_finds_leaves_that_lead_to_the_prediction():
    bits, y = correlated_bits(200)
    codes = pack(bits)
    forest = grow_forest(codes, y, n_bits=200, n_trees=5, bits_per_tree=None)  # pure leaves
    nodes = forest.nodes[forest.apply(codes) + forest.offsets[:-1]]
    assert (nodes[..., 0] == -1).all()
    ones = (nodes[..., 1] == 1).sum(axis=1)
    assert np.array_equal(forest.predict_proba(codes)[:, 1], ones / 5)


def test_importances_sum_to_one_and_name_the_bit_that_decides():
    bits, y = correlated_bits(300)
    bits[:, 7] = y
    forest = grow_forest(pack(bits), y, n_bits=200, n_trees=50, bits_per_tree=100)
    assert forest.importances().sum() == pytest.approx(1.0)
    assert forest.importances().argmax() == 7


def test_a_chain_of_a_hundred_thousand_questions_is_followed():
    n = 100_001
    nodes = np.empty((2 * n - 1, 2), dtype=np.int32)
    nodes[0::2] = [0, 0]
    nodes[0::2, 1] = np.arange(1, 2 * n, 2)  # the way on is the second child
    nodes[1::2] = [-1, 0]
    nodes[-1] = [-1, 1]
    forest = replace(
        small_forest(), offsets=np.array([0, len(nodes)]), nodes=nodes, bits=np.zeros((1, 1), "i4"),
        gains=np.zeros((1, 1)),
    )  # fmt: skip
    forest.check(4, 2)
    assert forest.predict_proba(pack(np.array([[1, 0, 0, 0]]))).tolist() == [[0.0, 1.0]]


def test_no_examples_get_no_predictions():
    assert small_forest().predict_proba(np.empty((0, 1), dtype=np.uint64)).shape == (0, 2)


def test_read_only_codes_are_accepted():
    bits, y = correlated_bits(20)
    codes = pack(bits)
    codes.flags.writeable = y.flags.writeable = False
    forest = grow_forest(codes, y, n_bits=200, n_trees=2)
    assert forest.predict_proba(codes).shape == (20, 2)


def test_the_arrays_of_a_forest_cannot_be_written_to():
    forest = small_forest()
    for name in bit_forest._ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(forest, name)[...] = 0


def changed(name, index, value):
    """Return a small forest with one number of an array replaced."""
    forest = small_forest()
    array = getattr(forest, name).copy()
    array[index] = value
    return replace(forest, **{name: array})


def test_a_grown_forest_passes_its_own_check():
    small_forest().check(4, 2)


@pytest.mark.parametrize(
    ("name", "index", "value"),
    [
        ("nodes", (0, 0), 4),
        ("nodes", (0, 0), -2),
        ("nodes", (0, 1), 0),
        ("nodes", (0, 1), -1),
        ("nodes", (0, 1), 10**6),
        ("nodes", (0, 1), 2**31 - 1),
        ("nodes", (-1, 1), -1),
        ("nodes", (-1, 1), 10**6),
        ("offsets", 0, 1),
        ("offsets", 1, 0),
        ("offsets", 1, -5),
        ("offsets", 1, 2**62),
        ("offsets", -1, 10**6),
        ("leaf_offsets", 0, 1),
        ("leaf_offsets", 1, -(2**63)),
        ("leaf_offsets", -1, 10**6),
        ("leaf_class", 0, 2),
        ("leaf_class", 0, -1),
        ("leaf_share", 0, np.nan),
        ("leaf_share", 0, -0.5),
        ("leaf_share", 0, 0.1),
        ("bits", (0, 0), 4),
        ("bits", (0, 0), -1),
        ("gains", (0, 0), np.inf),
        ("gains", (0, 0), -1.0),
    ],
)
def test_hostile_numbers_are_refused(name, index, value):
    with pytest.raises(ValueError, match=r"must|node|leaf"):
        changed(name, index, value).check(4, 2)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_every_node_is_checked_however_many_at_a_time(size, monkeypatch):
    monkeypatch.setattr(bit_forest, "_CHECKED", size)
    forest = small_forest()
    forest.check(4, 2)
    for node in range(len(forest.nodes)):
        with pytest.raises(ValueError, match=r"node|leaf"):
            changed("nodes", (node, 1), 10**6).check(4, 2)


def test_leaf_offsets_whose_differences_overflow_are_refused():
    forest = small_forest()
    n = len(forest.leaf_class)
    starts = np.array([0, 2**62, 2**63 - 1, -(2**63) + 5, -(2**62), -1, n])
    with pytest.raises(ValueError, match="leaf_offsets"):
        replace(forest, leaf_offsets=starts).check(4, 2)


@pytest.mark.parametrize("name", bit_forest._ARRAYS)
@pytest.mark.parametrize(
    "value", [None, "text", np.zeros(3, dtype=np.float32), np.zeros((0, 0, 0))]
)
def test_arrays_of_another_kind_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} must be an array"):
        replace(small_forest(), **{name: value}).check(4, 2)


@pytest.mark.parametrize("name", bit_forest._ARRAYS)
def test_empty_arrays_are_refused(name):
    forest = small_forest()
    with pytest.raises(ValueError, match=r"must|node|leaf"):
        replace(forest, **{name: getattr(forest, name)[:0]}).check(4, 2)


@pytest.mark.parametrize("sizes", [(5, 2), (4, 3), (4, 1)])
def test_a_forest_of_other_sizes_is_refused(sizes):
    with pytest.raises(ValueError, match="the forest must be one of"):
        small_forest().check(*sizes)


@given(st.data())
def test_whatever_passes_the_check_can_be_asked(data):
    forest = small_forest()
    for name in ("nodes", "offsets", "leaf_offsets", "leaf_class"):
        array = getattr(forest, name).copy()
        for _ in range(data.draw(st.integers(0, 2))):
            array.flat[data.draw(st.integers(0, array.size - 1))] = data.draw(st.integers(-2, 12))
        forest = replace(forest, **{name: array})
    try:
        forest.check(4, 2)
    except ValueError:
        return
    shares = forest.predict_proba(np.arange(16, dtype=np.uint64)[:, None])
    assert shares.sum(axis=1) == pytest.approx(1.0)


def test_a_forest_is_taken_apart_and_put_together():
    forest = small_forest()
    assert same(BitForest._from_saved(*forest._to_saved()), forest)


def test_a_forest_with_a_part_missing_is_not_put_together():
    parameters, texts, arrays = small_forest()._to_saved()
    del arrays["gains"]
    with pytest.raises(ValueError, match="other parts"):
        BitForest._from_saved(parameters, texts, arrays)
