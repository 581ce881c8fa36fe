"""Forests on packed bits: what they say, in any blocks, and what is refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from learners.bit_trees import (
    correlated_bits,
    gini,
    grown_tree,
    same,
    samples,
    small_forest,
    small_sample,
    textbook_tree,
)
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from kernelwood.errors import KernelInputError
from kernelwood.features import pack
from kernelwood.learners import bit_forest
from kernelwood.learners.bit_forest import (
    BitForest,
    _times_drawn,
    grow_forest,
    leaf_members,
    out_of_bag,
)
from kernelwood.persist import State
from kernelwood.persist.checks import check_state


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
    with pytest.raises(ValueError, match="the forest must have"):
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
    with pytest.raises(ValueError, match="gains is missing"):
        check_state(BitForest, State(parameters, texts, arrays))


@settings(max_examples=200)
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


@pytest.mark.parametrize("isa", ["baseline", "avx2"])
def test_every_instruction_set_grows_the_same_trees(isa, run_python):
    lines = (
        "import numpy as np, zlib",
        "from kernelwood.learners.bit_forest import grow_forest",
        "random = np.random.default_rng(0)",
        "codes = random.integers(2**63, size=(700, 2), dtype=np.uint64)",
        "weights = np.array([1.0, 0.3, 0.7])",
        "forest = grow_forest(codes, random.integers(3, size=700), n_bits=128, n_trees=5,",
        "                     bits_per_tree=40, class_weights=weights, bootstrap=True)",
        "print(zlib.crc32(forest.nodes), zlib.crc32(forest.gains))",
    )
    assert run_python(*lines, env={"KERNELWOOD_ISA": isa}) == run_python(*lines)


@given(samples(), st.booleans(), st.integers(1, 4), st.integers(0, 5))
def test_members_of_a_leaf_share_it_by_their_weights(sample, bootstrap, min_leaf, seed):
    bits, y, n_classes = sample
    codes, n_trees = pack(bits), 3
    weights = np.arange(1.0, n_classes + 1)
    forest = grow_forest(
        codes, y, n_bits=bits.shape[1], n_classes=n_classes, n_trees=n_trees, bits_per_tree=None,
        bootstrap=bootstrap, class_weights=weights, min_samples_leaf=min_leaf, seed=seed,
    )  # fmt: skip
    members = leaf_members(forest, codes, weights[y], seed=seed if bootstrap else None).toarray()
    for tree, leaves in enumerate(forest.apply(codes).T):
        times = _times_drawn(len(y), seed, tree) if bootstrap else np.ones(len(y))
        for leaf in range(forest.offsets[tree + 1] - forest.offsets[tree]):
            inside = [i for i in range(len(y)) if leaves[i] == leaf]
            total = sum(times[i] * weights[y[i]] for i in inside)
            row = members[forest.offsets[tree] + leaf]
            for i in range(len(y)):
                share = times[i] * weights[y[i]] / total if i in inside and times[i] else 0.0
                assert row[i] == pytest.approx(share)


@given(samples(), st.booleans(), st.integers(0, 5))
def test_members_of_each_class_add_up_to_its_probability(sample, bootstrap, seed):
    bits, y, n_classes = sample
    codes, weights = pack(bits), np.arange(1.0, n_classes + 1)
    forest = grow_forest(
        codes, y, n_bits=bits.shape[1], n_classes=n_classes, n_trees=4, bits_per_tree=1,
        bootstrap=bootstrap, class_weights=weights, seed=seed,
    )  # fmt: skip
    members = leaf_members(forest, codes, weights[y], seed=seed if bootstrap else None).toarray()
    by_class = members @ np.eye(n_classes)[y]
    leaves = forest.apply(codes) + forest.offsets[:-1]
    assert by_class[leaves].mean(axis=1) == pytest.approx(forest.predict_proba(codes))
