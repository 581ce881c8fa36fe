"""Table: similarities that were written down."""

import numpy as np
import pytest

from kernelwood.errors import KernelInputError
from kernelwood.similarity import Table


def test_values_come_from_the_matrix():
    table = Table(["a", "b"], [[1, 0.5], [0.5, 0.75]])
    found = table.table(["a", "b", "c"], ["b", "a", "c"])
    assert found.tolist() == [[0.5, 1, 0], [0.75, 0.5, 0], [0, 0, 1]]


def test_pairs_count_in_both_directions():
    table = Table.from_pairs({("a", "b"): 0.5})
    assert table.value("b", "a") == table.value("a", "b") == 0.5


def test_a_label_matches_itself_by_1_unless_told_otherwise():
    table = Table.from_pairs({("a", "b"): 0.5, ("b", "b"): 0.25})
    assert (table.value("a", "a"), table.value("b", "b")) == (1.0, 0.25)


def test_the_same_pair_may_be_given_twice():
    assert Table.from_pairs({("a", "b"): 0.5, ("b", "a"): 0.5}).value("a", "b") == 0.5


def test_contradictory_pairs_are_refused():
    with pytest.raises(KernelInputError, match=r"\('a', 'b'\) is 0.5 but \('b', 'a'\) is 0.6"):
        Table.from_pairs({("a", "b"): 0.5, ("b", "a"): 0.6})


def test_no_pairs_are_exact_matching():
    table = Table.from_pairs({})
    assert table.table(["a", "b"], ["a"]).tolist() == [[1], [0]]
    assert table.positive_semidefinite is True


def test_labels_that_a_chain_of_matches_connects_are_one_group():
    pairs = {("a", "b"): 1, ("c", "b"): 1, ("d", "e"): 1, ("f", "f"): 0, ("a", "d"): 0}
    groups = Table.from_pairs(pairs).resolve(["c", "f", "a", "x", "e", "b", "d"]).groups
    assert groups.tolist() == [0, 1, 0, 2, 3, 0, 3]


def test_a_chain_counts_only_through_labels_that_are_there():
    groups = Table.from_pairs({("a", "b"): 1, ("b", "c"): 1}).resolve(["a", "c"]).groups
    assert groups.tolist() == [0, 1]


def test_positive_semidefinite_says_what_the_eigenvalues_say():
    assert Table(["a", "b"], [[1, 0.9], [0.9, 1]]).positive_semidefinite is True
    assert Table(["a", "b"], [[1, 1], [1, 1]]).positive_semidefinite is True
    assert Table(["a", "b"], [[0.9, 1], [1, 0.9]]).positive_semidefinite is False
    assert Table(["a", "b"], [[0, 1], [1, 0]]).positive_semidefinite is False


def test_rounding_does_not_spoil_symmetry():
    table = Table(["a", "b"], [[1, 0.1 + 0.2], [0.3, 1]])
    assert table.value("a", "b") == table.value("b", "a") == pytest.approx(0.3)
    found = table.table(["a", "b"], ["a", "b"])
    assert (found == found.T).all()


@pytest.mark.parametrize(
    ("labels", "matrix", "message"),
    [
        ("ab", np.eye(2), "labels must be a list of strings, got 'ab'"),
        (["a", 1], np.eye(2), "labels must be a list of strings"),
        (["a", "b", "a"], np.eye(3), "the label 'a' occurs twice"),
        (["a", "b"], np.eye(3), r"2 labels need a matrix of shape \(2, 2\), got \(3, 3\)"),
        (["a", "b"], [1, 0, 0, 1], r"shape \(2, 2\), got \(4,\)"),
        (["a", "b"], [[1, 0], [0]], "matrix must hold numbers"),
        (["a", "b"], [[1, "x"], ["x", 1]], "matrix must hold numbers"),
        (["a", "b"], [[1, -1], [-1, 1]], "similarity of 'a' and 'b' is -1.0"),
        (["a"], [[np.nan]], "similarity of 'a' and 'a' is nan"),
        (["a"], [[np.inf]], "is inf; similarities must lie between 0 and 1"),
        (["a", "b"], [[1, 1.5], [1.5, 1]], "similarity of 'a' and 'b' is 1.5"),
        (["a", "b"], [[1, 0.5], [0.4, 1]], r"\('a', 'b'\) is 0.5 but 0.4 in reverse order"),
    ],
)
def test_a_table_that_is_none_is_refused(labels, matrix, message):
    table = Table(labels, matrix)
    for use in (table.check, lambda: table.value("a", "b"), lambda: table.resolve(["a"])):
        with pytest.raises(KernelInputError, match=f"Table: .*{message}"):
            use()


def test_tables_are_equal_if_their_contents_are():
    table = Table(["a", "b"], np.eye(2))
    assert table == Table(("a", "b"), [[1, 0], [0, 1]])
    assert table != Table(["a", "b"], np.ones((2, 2)))
    assert table != Table(["a", "c"], np.eye(2))
    assert table != "table"


def test_set_params_changes_the_table():
    table = Table(["a"], [[1]]).set_params(matrix=[[0.5]])
    assert table.value("a", "a") == 0.5


@pytest.mark.parametrize(("given", "counts"), [(1e-11, 1e-11), (1e-13, 0.0), (1e-50, 0.0)])
def test_what_is_almost_nothing_counts_as_nothing(given, counts):
    table = Table(["a", "b"], [[given, 0], [0, 1]])
    assert table.value("a", "a") == table.table(["a"], ["a"])[0, 0] == counts
