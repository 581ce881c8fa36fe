"""Resolution: what an engine is given."""

import math

import numpy as np
import pytest

from kernelwood.similarity import Resolution


def resolution(groups, rows, **fields):
    return Resolution(groups=np.array(groups, np.int32), rows=np.array(rows, np.int64), **fields)


VECTORS = np.array([[2.0, 0.0], [3.0, 4.0], [-1.0, 0.0]])  # cosines 1, 0.6, -1 with the first
ALL = np.arange(3)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, [1, 0.6, -1]),
        ({"weight": 0.5, "floor": 0.3}, [0.5, 0.3, 0]),
        ({"weight": 0.5, "floor": 0.31}, [0.5, 0, 0]),
        ({"function": "gaussian"}, [1, math.exp(-0.8), math.exp(-4)]),
        ({"function": "sigmoid"}, [(1 + math.tanh(c)) / 2 for c in (1, 0.6, -1)]),
        ({"function": "exponential"}, [1, math.exp(-0.4), math.exp(-2)]),
        ({"function": "exponential", "floor": 0.5}, [1, math.exp(-0.4) * 0.2, 0]),
    ],
)
def test_functions_by_hand(fields, expected):
    made = resolution([0, 0, 0], ALL, vectors=VECTORS, **fields)
    assert made.values(ALL[:1], ALL)[0] == pytest.approx(expected, rel=1e-12)


def test_labels_of_different_groups_have_value_0_whatever_the_table_says():
    made = resolution([0, 1, 0], [-1, -1, -1], table=lambda a, b: np.ones((len(a), len(b))))
    assert made.values(ALL, ALL).tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]


def test_labels_of_different_groups_have_value_0_whatever_their_vectors():
    made = resolution([0, 1, 2], [0, 0, -1], vectors=VECTORS)
    assert made.values(ALL, ALL).tolist() == np.eye(3).tolist()


def test_rows_without_vectors_are_refused():
    with pytest.raises(ValueError, match="needs vectors"):
        resolution([0, 0, 0], ALL).values(ALL, ALL)


def test_it_counts_its_groups():
    assert resolution([0, 2, 1, 2], [-1] * 4).n_groups == 3
    assert resolution([], []).n_groups == 0


def test_it_cannot_be_changed():
    with pytest.raises(AttributeError):
        resolution([0], [-1]).weight = 2.0
