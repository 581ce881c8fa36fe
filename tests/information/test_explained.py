from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from information import oracles

from kernelwood.errors import KernelInputError
from kernelwood.information import (
    entropy,
    explain,
    explain_classes,
    mutual_information,
    total_correlation,
)

LOG2 = float(np.log(2))


@st.composite
def small_codes(draw, max_bits=12, max_examples=40):
    """Bits of any kind: repeated, constant, few examples, many equal ones."""
    shape = draw(st.tuples(st.integers(1, max_examples), st.integers(1, max_bits)))
    codes = draw(arrays(np.uint8, shape, elements=st.integers(0, 1)))
    copied = draw(st.lists(st.integers(0, shape[1] - 1), max_size=max_bits - shape[1]))
    return np.concatenate([codes, codes[:, copied] ^ draw(st.integers(0, 1))], axis=1)


def with_responsibilities(found, responsibilities):
    return dataclasses.replace(found, responsibilities=responsibilities)


def hidden_codes(n=200, noise=0.15, seed=0):
    return oracles.planted(3, 8, noise, n, seed)


@given(small_codes(), st.integers(1, 10), st.integers(0, 3))
def test_what_is_explained_never_exceeds_the_total_correlation(codes, n_latent, seed):
    value = total_correlation(codes, n_latent=n_latent, n_restarts=2, random_state=seed)
    assert 0 <= value <= oracles.exact_total_correlation(codes) + 1e-9


@given(small_codes())
def test_the_entropy_lies_between_that_of_the_sample_and_that_of_the_bits(codes):
    value = entropy(codes, n_restarts=1)
    assert oracles.exact_entropy(codes) - 1e-9 <= value <= oracles.entropy_of_bits(codes) + 1e-9


@given(small_codes(), st.data())
def test_any_responsibilities_give_a_lower_bound(codes, data):
    first = explain(codes, n_restarts=1, n_latent=4)
    start = data.draw(arrays(float, (len(codes), 4), elements=st.floats(0, 1)))
    moved = with_responsibilities(first, start)
    value = explain(codes, start=moved, max_iterations=0).total_correlation
    assert 0 <= value <= oracles.exact_total_correlation(codes) + 1e-9


@given(small_codes(), st.randoms(use_true_random=False))
def test_the_order_of_the_bits_changes_nothing(codes, random):
    order = random.sample(range(codes.shape[1]), codes.shape[1])
    assert entropy(codes[:, order], n_restarts=2) == entropy(codes, n_restarts=2)


@given(small_codes(), st.data())
def test_which_value_of_a_bit_is_called_one_changes_nothing(codes, data):
    flipped = data.draw(arrays(np.uint8, codes.shape[1], elements=st.integers(0, 1)))
    assert entropy(codes ^ flipped, n_restarts=2) == entropy(codes, n_restarts=2)


@given(small_codes(max_bits=8), st.integers(0, 1), st.integers(1, 20))
def test_constant_bits_add_nothing(codes, value, n_more):
    constant = np.full((len(codes), n_more), value, dtype=np.uint8)
    more = np.concatenate([codes, constant], axis=1)
    assert entropy(more, n_restarts=2) == entropy(codes, n_restarts=2)


def test_the_order_of_the_examples_matters_no_more_than_the_restarts():
    codes = hidden_codes()
    order = np.random.default_rng(1).permutation(len(codes))
    assert total_correlation(codes[order]) == pytest.approx(total_correlation(codes), rel=1e-4)


def test_the_order_of_the_examples_is_of_no_account_to_a_start():
    codes = hidden_codes()
    order = np.random.default_rng(1).permutation(len(codes))
    found = explain(codes, max_iterations=2)
    moved = with_responsibilities(found, found.responsibilities[order])
    again = explain(codes[order], start=moved, max_iterations=3)
    assert again.entropy == explain(codes, start=found, max_iterations=3).entropy


@pytest.mark.parametrize("k", [2, 3, 7, 50])
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_copies_of_a_bit_are_explained_entirely(k, share):
    bit = (np.arange(60) < 60 * share).astype(np.uint8)
    codes = np.tile(bit[:, None], k) ^ (np.arange(k) % 2).astype(np.uint8)
    expected = (k - 1) * oracles.entropy_of_bits(bit[:, None])
    assert total_correlation(codes) == pytest.approx(expected, abs=1e-4)


def test_one_bit_has_no_total_correlation():
    codes = np.array([[0], [1], [1]])
    assert total_correlation(codes) == pytest.approx(0, abs=1e-9)
    assert entropy(codes) == pytest.approx(oracles.exact_entropy(codes))


def test_one_example_has_no_entropy():
    found = explain(np.array([[0, 1, 1, 0]]))
    assert (found.entropy, found.total_correlation) == (0, 0)


def test_equal_examples_have_no_entropy():
    assert entropy(np.tile([[1, 0, 1]], (7, 1))) == 0


@pytest.mark.parametrize(
    ("n", "n_bits", "largest"), [(5000, 10, 0.01), (2000, 50, 0.06), (300, 1000, 10.0)]
)
def test_independent_bits_seem_to_repeat_little(n, n_bits, largest):
    # A latent variable that divides the examples at random seems to know 1 / 2n nats of a bit, of
    # all bits 0.001, 0.0125 and 1.7; the best divisions that are found seem to know several times
    # that.
    codes = np.random.default_rng(3).integers(2, size=(n, n_bits))
    assert total_correlation(codes) <= largest


@pytest.mark.parametrize(
    ("n_groups", "bits_each", "noise", "n"),
    [(1, 6, 0.1, 300), (2, 5, 0.05, 1000), (3, 4, 0.02, 2000)],
)
def test_hidden_structure_is_explained_to_nine_tenths(n_groups, bits_each, noise, n):
    codes = oracles.planted(n_groups, bits_each, noise, n, seed=5)
    exact = oracles.exact_total_correlation(codes)
    assert 0.9 * exact <= total_correlation(codes) <= exact


def test_hidden_groups_are_found():
    shares = explain(hidden_codes(noise=0.1)).shares
    together = shares @ shares.T
    np.testing.assert_array_equal(together, np.kron(np.eye(3), np.ones((8, 8))))


def test_one_binary_variable_explains_a_part_of_exclusive_or():
    first, second = np.repeat([0, 1], 50), np.tile([0, 1], 50)
    codes = np.stack([first, second, first ^ second], axis=1)
    assert oracles.exact_total_correlation(codes) == pytest.approx(LOG2)
    assert 0 <= total_correlation(codes) <= LOG2


def test_the_value_is_that_of_the_responsibilities():
    codes = hidden_codes()
    found = explain(codes)
    expected = oracles.explained(codes, found.responsibilities)
    assert found.total_correlation == pytest.approx(expected, abs=1e-8)
    each, own = oracles.relations(codes, found.responsibilities)
    used = found.shares.any(axis=0)
    by_shares = (found.shares * each).sum() - own[used].sum()
    assert found.total_correlation == pytest.approx(by_shares, abs=1e-8)


@pytest.mark.parametrize("n_latent", [1, 3, 8, 11, 16, 20])
@pytest.mark.parametrize("n", [17, 200, 450])
def test_iterations_are_those_of_the_textbook(n_latent, n):
    codes = hidden_codes(n=n, noise=0.3)
    q = np.random.default_rng(0).uniform(0.05, 0.95, size=(n, n_latent))
    found = with_responsibilities(explain(codes, n_restarts=1), q)
    best = oracles.explained(codes, q)
    for k in range(1, 5):
        q = oracles.respond(codes, q)
        best = max(best, oracles.explained(codes, q))
        value = explain(codes, start=found, max_iterations=k, tolerance=0).total_correlation
        assert value == pytest.approx(best, rel=1e-5)


@given(small_codes(), st.integers(0, 4))
def test_a_start_is_never_made_worse(codes, n_iterations):
    found = explain(codes, n_restarts=1, max_iterations=n_iterations)
    again = explain(codes, start=found)
    assert again.total_correlation >= found.total_correlation


def test_a_start_serves_other_codes_of_the_same_examples():
    codes, random = hidden_codes(noise=0.1), np.random.default_rng(9)
    other = np.roll(codes, 5, axis=1) ^ (random.random(codes.shape) < 0.05)
    warm = explain(other, start=explain(codes), max_iterations=2, tolerance=0)
    assert warm.total_correlation == pytest.approx(total_correlation(other), rel=1e-3)


def test_more_restarts_are_never_worse():
    codes = hidden_codes(noise=0.35)
    values = [total_correlation(codes, n_restarts=k) for k in (1, 2, 4, 8)]
    assert values == sorted(values)


def test_iterations_end_at_the_limit():
    codes = hidden_codes(noise=0.3)
    assert explain(codes, max_iterations=3, tolerance=0).n_iterations == 3


def test_the_seed_decides():
    codes = np.random.default_rng(0).integers(2, size=(80, 60))
    same = [entropy(codes, random_state=4, n_restarts=1) for _ in range(2)]
    assert same[0] == same[1]
    assert same[0] != entropy(codes, random_state=5, n_restarts=1)


def test_threads_change_no_bit():
    codes = oracles.planted(5, 60, 0.3, 700, seed=2)
    one, three = (explain(codes, n_restarts=5, n_jobs=n_jobs) for n_jobs in (1, 3))
    assert one.entropy == three.entropy
    np.testing.assert_array_equal(one.responsibilities, three.responsibilities)


def test_the_arrays_have_their_shapes_and_cannot_be_changed():
    codes = hidden_codes(n=30)
    found = explain(codes, n_latent=5)
    assert found.responsibilities.shape == (30, 5)
    assert found.shares.shape == (24, 5)
    np.testing.assert_array_equal(found.bits, codes)
    assert set(found.shares.sum(axis=1)) <= {0.0, 1.0}
    for array in (found.responsibilities, found.shares, found.bits):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


def test_codes_that_change_later_are_kept_as_they_were():
    codes = hidden_codes(n=30)
    found = explain(codes)
    before = codes.copy()
    codes[:] = 0
    np.testing.assert_array_equal(found.bits, before)


@pytest.mark.parametrize(
    ("n_groups", "bits_each", "noise", "n"),
    [(2, 10, 0.05, 300), (3, 6, 0.1, 500), (4, 20, 0.2, 400)],
)
def test_another_implementation_explains_as_much(n_groups, bits_each, noise, n):
    corex = pytest.importorskip("corextopic.corextopic")
    sparse = pytest.importorskip("scipy.sparse")
    codes = oracles.planted(n_groups, bits_each, noise, n, seed=7)
    peers = [
        corex.Corex(n_hidden=n_groups, seed=seed).fit(sparse.csr_matrix(codes.astype(float)))
        for seed in range(4)
    ]
    # Several of its variables may explain the same bits; what they explain together is compared.
    theirs = max(oracles.explained(codes, peer.p_y_given_x) for peer in peers)
    assert total_correlation(codes) == pytest.approx(theirs, rel=1e-3)


def test_a_start_of_other_examples_is_refused():
    with pytest.raises(KernelInputError, match="30 examples, one for each code, got 20"):
        explain(hidden_codes(n=30), start=explain(hidden_codes(n=20)))


def test_it_says_what_it_is():
    text = repr(explain(hidden_codes(n=20)))
    assert text.startswith("Explained(20 examples, 24 bits, 8 latent variables, entropy=")


CODES = np.array([[0, 1, 1], [1, 0, 1], [0, 0, 1], [1, 1, 0]])


@pytest.mark.parametrize(
    "codes",
    [
        CODES.astype(bool),
        CODES.astype(np.uint8),
        CODES.astype(np.int64),
        CODES.astype(np.uint64),
        CODES.astype(float),
        CODES.tolist(),
        np.asfortranarray(CODES),
        np.repeat(CODES, 2, axis=0)[::2],
    ],
)
def test_bits_may_come_as_numbers_of_any_type(codes):
    assert entropy(codes) == entropy(CODES)


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([0, 1], r"a row of bits for each example, got shape \(2,\)"),
        (np.zeros((2, 3, 4)), r"got shape \(2, 3, 4\)"),
        (np.zeros((0, 4)), r"must not be empty, got shape \(0, 4\)"),
        (np.zeros((4, 0)), r"must not be empty, got shape \(4, 0\)"),
        ([[0, 1], [2, 1]], "must be 0 or 1, got 2 as bit 0 of example 1"),
        ([[0, -1]], "must be 0 or 1, got -1 as bit 1 of example 0"),
        ([[0, np.nan]], "must be 0 or 1, got nan as bit 1 of example 0"),
        ([[0.5]], "must be 0 or 1, got 0.5"),
        (np.array([[7]], dtype=np.uint64), "unpack codes of words first"),
        ([["a", "b"]], "must be numbers 0 and 1, got <U1"),
        ([[0, 1], [0]], "the same number of bits in every row"),
    ],
)
def test_what_is_no_code_is_refused(codes, message):
    with pytest.raises(KernelInputError, match=message):
        entropy(codes)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 0], r"a label for each of 4 examples, got shape \(3,\)"),
        ([[0], [1], [0], [1]], "a label for each of 4 examples"),
        ([0, 1, None, 1], "missing labels"),
        ([0.0, np.nan, 0.0, 1.0], "missing labels"),
        (np.array(["a", 1, "b", 2], dtype=object), "labels of one type"),
    ],
)
def test_what_are_no_labels_is_refused(y, message):
    with pytest.raises(KernelInputError, match=message):
        mutual_information(CODES, y)


def test_classes_must_be_numbers():
    with pytest.raises(KernelInputError, match="a class number for each of 4 examples"):
        explain_classes(CODES, ["a", "b", "a", "b"])


def test_examples_without_a_label_must_have_as_many_bits():
    with pytest.raises(KernelInputError, match="unlabeled have 2 bits, the codes 3"):
        mutual_information(CODES, [0, 1, 0, 1], CODES[:, :2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_latent": 0}, "n_latent must be an int of at least 1, got 0"),
        ({"n_latent": 2.0}, "n_latent must be an int"),
        ({"n_restarts": 0}, "n_restarts must be an int of at least 1"),
        ({"n_restarts": True}, "n_restarts must be an int"),
        ({"max_iterations": -1}, "max_iterations must be an int of at least 0"),
        ({"tolerance": -1.0}, "tolerance must be a number of at least 0"),
        ({"tolerance": float("nan")}, "tolerance must be a number"),
        ({"tolerance": "small"}, "tolerance must be a number"),
        ({"random_state": "x"}, "random_state must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_parameters_out_of_range_are_refused(options, message):
    with pytest.raises(KernelInputError, match=message):
        explain(CODES, **options)
