from __future__ import annotations

import numpy as np
import pytest

from kernelwood.errors import KernelInputError
from kernelwood.information import entropy, explain, explain_classes, mutual_information

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
        ([[0, 1], [0]], "as many bits in every row"),
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
        (np.array(["a", 1, "b", 2], dtype=object), "labels of one kind"),
    ],
)
def test_what_are_no_labels_is_refused(y, message):
    with pytest.raises(KernelInputError, match=message):
        mutual_information(CODES, y)


def test_classes_must_be_numbers():
    with pytest.raises(KernelInputError, match="a class number for each of 4 examples"):
        explain_classes(CODES, ["a", "b", "a", "b"])


def test_examples_without_a_label_must_have_as_many_bits():
    with pytest.raises(KernelInputError, match="unlabelled have 2 bits, the codes 3"):
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
