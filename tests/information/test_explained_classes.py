from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from information import oracles

from kernelwood.errors import KernelInputError
from kernelwood.information import explain, explain_classes, mutual_information

LOG2 = float(np.log(2))


def labeled_codes(n=120, n_bits=60, seed=0):
    """Return codes of which the first third of the bits knows the class."""
    random = np.random.default_rng(seed)
    y = random.integers(2, size=n)
    codes = random.integers(2, size=(n, n_bits), dtype=np.uint8)
    told = n_bits // 3
    codes[:, :told] = y[:, None] ^ (random.random((n, told)) < 0.3)
    return codes, y


def swaps_of(codes, k, n_swaps, seed=1):
    random = np.random.default_rng(seed)
    columns = random.permutation(codes.shape[1])[:k]
    return columns, random.integers(2, size=(n_swaps, len(codes), k), dtype=np.uint8)


def swapped(codes, columns, replacement):
    changed = codes.copy()
    changed[:, columns] = replacement
    return changed


def test_neither_bit_knows_what_both_together_know():
    first, second = np.repeat([0, 1], 30), np.tile([0, 1], 30)
    codes = np.stack([first, second], axis=1)
    assert mutual_information(codes, first ^ second) == pytest.approx(LOG2, abs=1e-4)
    assert mutual_information(codes[:, :1], first ^ second) == pytest.approx(0, abs=1e-12)


def test_a_copy_of_the_class_knows_it():
    y = np.tile([0, 1, 2, 1], 20)
    codes = np.stack([y == 0, y == 1, y == 0], axis=1)
    expected = oracles.exact_mutual_information(codes, y)
    assert mutual_information(codes, y) == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("noise", [0.02, 0.1])
def test_few_bits_know_about_what_counting_says(noise):
    y = np.random.default_rng(0).integers(2, size=2000)
    flips = np.random.default_rng(1).random((2000, 6)) < noise
    codes = (y[:, None] ^ flips).astype(np.uint8)
    exact = oracles.exact_mutual_information(codes, y)
    assert mutual_information(codes, y) == pytest.approx(exact, abs=0.12)


def test_labels_that_have_nothing_to_do_with_codes_are_hardly_known():
    random = np.random.default_rng(0)
    codes, y = random.integers(2, size=(3000, 12)), random.integers(2, size=3000)
    assert abs(mutual_information(codes, y)) < 0.05


def test_bits_that_know_the_class_know_more_than_noise():
    codes, y = labeled_codes()
    assert mutual_information(codes[:, :20], y) > mutual_information(codes[:, 20:40], y) + 0.5


def test_labels_may_be_of_any_kind():
    codes, y = labeled_codes(n=40)
    value = mutual_information(codes, y)
    assert mutual_information(codes, np.where(y, "yes", "no")) != 0
    assert mutual_information(codes, [("b" if label else "a") for label in y]) == value
    assert mutual_information(codes, y.astype(bool)) == value
    assert mutual_information(codes, y * 7 - 3) == value


def test_the_parts_add_up():
    codes, y = labeled_codes()
    fit = explain_classes(codes, y)
    np.testing.assert_array_equal(fit.priors, [np.mean(y == 0), np.mean(y == 1)])
    within = sum(p * part.entropy for p, part in zip(fit.priors, fit.classes, strict=True))
    assert fit.mutual_information == pytest.approx(fit.whole.entropy - within)
    assert fit.whole.entropy == explain(codes).entropy
    assert fit.classes[1].entropy == explain(codes[y == 1]).entropy


def test_examples_without_a_label_count_for_the_whole_alone():
    codes, y = labeled_codes()
    fit = explain_classes(codes[:80], y[:80], codes[80:])
    assert fit.whole.entropy == explain(codes).entropy
    assert fit.classes[0].entropy == explain(codes[:80][y[:80] == 0]).entropy
    assert fit.mutual_information == mutual_information(codes[:80], y[:80], codes[80:])


def test_a_class_of_one_example_has_no_entropy():
    codes, y = labeled_codes(n=30)
    y = np.r_[np.zeros(29, dtype=int), 5]
    fit = explain_classes(codes, y)
    assert fit.classes[1].entropy == 0
    assert np.isfinite(fit.mutual_information)
    assert np.isfinite(fit.after_swaps(*swaps_of(codes, 3, 4))).all()


def test_one_class_has_no_information():
    codes, _ = labeled_codes(n=30)
    assert mutual_information(codes, np.zeros(30)) == 0


@given(
    n=st.integers(1, 60),
    n_bits=st.integers(1, 40),
    n_latent=st.sampled_from([1, 4, 8, 9]),
    n_classes=st.integers(1, 4),
    n_more=st.integers(0, 10),
    n_iterations=st.integers(0, 5),
    seed=st.integers(0, 1000),
)
def test_swaps_are_what_a_plain_start_makes_of_changed_codes(
    n, n_bits, n_latent, n_classes, n_more, n_iterations, seed
):
    random = np.random.default_rng(seed)
    codes = random.integers(2, size=(n + n_more, n_bits), dtype=np.uint8)
    y = random.integers(n_classes, size=n)
    more = codes[n:] if n_more else None
    fit = explain_classes(codes[:n], y, more, n_latent=n_latent, n_restarts=1)
    columns, replacements = swaps_of(codes, 1 + n_bits // 3, 3, seed)
    values = fit.after_swaps(columns, replacements, n_iterations=n_iterations)
    for value, replacement in zip(values, replacements, strict=True):
        changed = swapped(codes, columns, replacement)
        more = changed[n:] if n_more else None
        plain = explain_classes(
            changed[:n], y, more, start=fit, max_iterations=n_iterations, tolerance=0
        )
        assert value == plain.mutual_information


def test_a_swap_of_bits_for_themselves_loses_nothing():
    codes, y = labeled_codes()
    fit = explain_classes(codes, y)
    columns = [3, 40, 7]
    value = fit.after_swaps(columns, codes[np.newaxis][:, :, columns], n_iterations=0)
    assert value == [fit.mutual_information]


def test_better_bits_are_told_from_worse():
    random = np.random.default_rng(5)
    codes, y = random.integers(2, size=(200, 30)), random.integers(2, size=200)
    good = [y[:, None] ^ (random.random((200, 6)) < 0.25) for _ in range(5)]
    bad = random.integers(2, size=(5, 200, 6))
    values = explain_classes(codes, y).after_swaps(np.arange(10, 16), [*good, *bad])
    assert values[:5].min() > values[5:].max() + 0.2


def test_threads_change_no_bit_of_swaps():
    codes, y = labeled_codes(n=300, n_bits=400)
    fit = explain_classes(codes, y, n_restarts=1)
    columns, replacements = swaps_of(codes, 20, 60)
    one, three = (fit.after_swaps(columns, replacements, n_jobs=n_jobs) for n_jobs in (1, 3))
    np.testing.assert_array_equal(one, three)


def test_progress_is_told_up_to_the_last_swap():
    codes, y = labeled_codes()
    told = []
    fit = explain_classes(codes, y, n_restarts=1)
    fit.after_swaps(*swaps_of(codes, 5, 9), progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (9, 9)
    assert told == sorted(told)


def test_no_swaps_have_no_values():
    codes, y = labeled_codes()
    assert explain_classes(codes, y, n_restarts=1).after_swaps(*swaps_of(codes, 5, 0)).shape == (0,)


@pytest.mark.parametrize(
    ("columns", "shape", "message"),
    [
        ([0, 0], (2, 40, 2), "must not repeat a bit"),
        ([0, 60], (2, 40, 2), "from 0 to 59, got 0 to 60"),
        ([-1], (2, 40, 1), "from 0 to 59, got -1"),
        ([], (2, 40, 0), "one or more bit numbers"),
        ([0.5], (2, 40, 1), "one or more bit numbers, got float64"),
        ([1, 2], (2, 40, 3), r"shape \(n_swaps, 40, 2\), got int64 of shape \(2, 40, 3\)"),
        ([1], (40, 1), r"shape \(n_swaps, 40, 1\)"),
    ],
)
def test_swaps_that_do_not_fit_are_refused(columns, shape, message):
    codes, y = labeled_codes(n=40)
    fit = explain_classes(codes, y, n_restarts=1)
    with pytest.raises(KernelInputError, match=message):
        fit.after_swaps(columns, np.zeros(shape, dtype=np.int64))


def test_swaps_of_other_numbers_than_bits_are_refused():
    codes, y = labeled_codes(n=40)
    with pytest.raises(KernelInputError, match="replacements must be 0 or 1"):
        explain_classes(codes, y, n_restarts=1).after_swaps([0], np.full((1, 40, 1), 2))


def test_a_start_of_other_classes_is_refused():
    codes, y = labeled_codes(n=40)
    fit = explain_classes(codes, y, n_restarts=1)
    with pytest.raises(
        KernelInputError, match="start must explain examples with the same class numbers"
    ):
        explain_classes(codes, 1 - y, start=fit)
    with pytest.raises(KernelInputError, match="as many unlabeled ones"):
        explain_classes(codes, y, codes, start=fit)


def test_it_says_what_it_is():
    codes, y = labeled_codes(n=40)
    text = repr(explain_classes(codes, y))
    assert text.startswith("ExplainedClasses(40 examples, 2 classes, mutual_information=")
