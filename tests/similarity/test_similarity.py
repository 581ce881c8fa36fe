"""The base class of similarities and resolutions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kernelwood.errors import KernelInputError
from kernelwood.similarity import Resolution, Similarity


class SharedLetters(Similarity):
    """How many of four letters two labels share, times a factor."""

    def __init__(self, *, factor=1.0):
        self.factor = factor

    def check(self):
        if self.factor < 0:
            raise KernelInputError("SharedLetters: factor must not be negative")

    def table(self, left, right):
        return [[self.factor * len(set(a) & set(b)) / 4 for b in right] for a in left]


class Fixed(Similarity):
    """Returns what it was told."""

    def __init__(self, result):
        self.result = result

    def table(self, left, right):
        return self.result


def test_a_value_is_an_entry_of_the_table():
    value = SharedLetters(factor=0.5).value("abc", "bcd")
    assert value == 0.25 and type(value) is float


def test_it_resolves_to_its_table_with_all_labels_in_one_group():
    resolution = SharedLetters().resolve(["ab", "bc", "d"])
    assert resolution.groups.tolist() == [0, 0, 0] and resolution.vectors is None
    block = resolution.table(np.array([0, 2]), np.array([1, 0, 2]))
    assert block.dtype == np.float64 and block.tolist() == [[0.25, 0.5, 0], [0, 0, 0.25]]


def test_the_resolution_gives_the_same_values():
    resolution = SharedLetters().resolve(["ab", "bc", "d"])
    assert resolution.values(np.array([1]), np.array([0, 1])).tolist() == [[0.25, 0.5]]


def test_no_labels_are_no_trouble():
    nothing = np.array([], dtype=np.int64)
    assert SharedLetters().resolve([]).values(nothing, nothing).shape == (0, 0)


def test_parameters_work_as_for_kernels():
    similarity = SharedLetters(factor=2.0)
    assert similarity.get_params() == {"factor": 2.0}
    assert similarity.clone() == similarity != SharedLetters()
    assert repr(similarity) == "SharedLetters(factor=2.0)"


def test_whether_it_is_positive_semidefinite_is_unknown():
    assert SharedLetters().positive_semidefinite is None


def test_the_smallest_eigenvalue_tells():
    assert SharedLetters().smallest_eigenvalue(["ab", "bc", "ab"]) == pytest.approx(0.25)
    assert Fixed([[0, 1], [1, 0]]).smallest_eigenvalue(["a", "b"]) == pytest.approx(-1.0)


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x.value("a", "b"),
        lambda x: x.resolve(["a"]),
        lambda x: x.smallest_eigenvalue(["a"]),
    ],
)
def test_its_own_check_is_called(use):
    with pytest.raises(KernelInputError, match="factor must not be negative"):
        use(SharedLetters(factor=-1))


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ([[1, 2]], r"shape \(1, 2\) for 2 and 2 labels; it must be \(2, 2\)"),
        ([1, 0, 0, 1], r"shape \(4,\)"),
        ([], r"shape \(0,\)"),
        ([[1, 0], [-0.5, 1]], "gave -0.5 for 'b' and 'a'; similarities must lie between 0 and 1"),
        ([[1, 1.5], [1.5, 1]], "gave 1.5 for 'a' and 'b'; similarities must lie between 0 and 1"),
        ([[1, 0], [0, 1 + 1e-9]], "gave 1.000000001 for 'b' and 'b'"),
        ([[1, np.nan], [0, 1]], "gave nan for 'a' and 'b'"),
        ([[1, 0], [0, np.inf]], "gave inf for 'b' and 'b'"),
        ([[1, 0.5], [0.25, 1]], "not symmetric: 0.5 for 'a' and 'b', 0.25 in reverse order"),
    ],
)
def test_a_wrong_table_is_refused(result, message):
    with pytest.raises(KernelInputError, match=f"Fixed.table .*{message}"):
        Fixed(result).smallest_eigenvalue(["a", "b"])


def test_a_wrong_block_is_refused_where_it_is_used():
    block = Fixed([[-1.0]]).resolve(["a", "b"]).table
    with pytest.raises(KernelInputError, match=r"gave -1\.0 for 'b' and 'a'"):
        block(np.array([1]), np.array([0]))


def test_an_eigenvalue_needs_labels():
    with pytest.raises(KernelInputError, match="give at least one label"):
        SharedLetters().smallest_eigenvalue([])


def test_a_class_without_a_table_says_so():
    with pytest.raises(NotImplementedError, match="Similarity does not define table"):
        Similarity().value("a", "b")


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
        ({"function": "threshold", "floor": 0.6}, [1, 1, 0]),
        ({"function": "threshold", "floor": 0.61}, [1, 0, 0]),
        ({"function": "threshold", "floor": -1.0}, [1, 1, 1]),
        ({"function": "threshold"}, [1, 1, 0]),
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
    with pytest.raises(ValueError, match="no vectors"):
        resolution([0, 0, 0], ALL).values(ALL, ALL)


def test_it_counts_its_groups():
    assert resolution([0, 2, 1, 2], [-1] * 4).n_groups == 3
    assert resolution([], []).n_groups == 0


def test_it_cannot_be_changed():
    with pytest.raises(AttributeError):
        resolution([0], [-1]).weight = 2.0
