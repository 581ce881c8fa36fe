"""Batches of vectors: every form in, the same numbers out, and clear errors."""

import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

import kernelwood as kw
from kernelwood.arrays import ExampleBatch, VectorBatch, Vocabulary
from kernelwood.errors import StructureError

NUMBERS = np.array([[1.0, 0.0, 2.5], [0.0, 0.0, 0.0], [0.0, -3.0, 1e-3]])
NAMED = [{"b": 2.0, "a": 1.0}, {}, {"c": -0.5}]
finite = st.floats(allow_nan=False, allow_infinity=False)
names = st.text(max_size=3)
FORMS = {
    "dense": (kw.batch(NUMBERS), NUMBERS.tolist()),
    "sparse": (kw.batch(sparse.csr_matrix(NUMBERS)), [{"0": 1.0, "2": 2.5}, {},
                                                     {"1": -3.0, "2": 1e-3}]),
    "named": (kw.batch(NAMED), NAMED),
}  # fmt: skip
every_form = pytest.mark.parametrize("form", FORMS)


def plain(rows):
    return [dict(row) if not isinstance(row, tuple) else list(row) for row in rows]


@pytest.mark.parametrize(
    "rows",
    [
        NUMBERS,
        NUMBERS.astype("f4"),
        np.asfortranarray(NUMBERS),
        NUMBERS.tolist(),
        [tuple(row) for row in NUMBERS],
        list(NUMBERS),
    ],
)
def test_dense_rows_come_in_many_forms(rows):
    batch = kw.batch(rows)
    assert type(batch) is VectorBatch and batch.is_dense and batch.width == 3
    np.testing.assert_array_equal(batch.matrix(), np.asarray(rows, dtype=float))


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_rows_come_in_many_forms(form, make):
    matrix = make(NUMBERS).asformat(form)
    for batch in (kw.batch(matrix), kw.batch([make(NUMBERS[i : i + 1]) for i in range(3)])):
        assert not batch.is_dense and batch.width == 3
        np.testing.assert_array_equal(batch.csr(3).toarray(), NUMBERS)


def test_columns_that_occur_twice_are_added_up_and_the_matrix_stays_as_it_was():
    matrix = sparse.csr_matrix(([1.0, 2.0, 4.0], [2, 0, 2], [0, 3]), (1, 3))
    assert dict(kw.batch(matrix)[0]) == {"0": 2.0, "2": 5.0}
    assert matrix.indices.tolist() == [2, 0, 2]


@every_form
def test_rows_are_what_they_were(form):
    batch, expected = FORMS[form]
    assert plain(batch) == expected


@every_form
@pytest.mark.parametrize(
    "key", [slice(None), slice(1, None), slice(3, 3), [2, 0, 2], np.array([True, False, True])]
)
def test_slices_and_rows(form, key):
    batch, expected = FORMS[form]
    rows = np.arange(3)[key]
    cut = batch[key]
    assert cut.width == batch.width and cut.is_dense == batch.is_dense
    assert plain(cut) == [expected[i] for i in rows]


@every_form
def test_a_slice_travels_alone(form):
    batch, expected = FORMS[form]
    again = pickle.loads(pickle.dumps(batch[1:]))
    assert plain(again) == expected[1:] and again.width == batch.width
    assert len(again.arrays[-1]) == again.n_elements


@given(st.lists(st.dictionaries(names, finite, max_size=4), max_size=5))
def test_any_features_come_back(rows):
    assert plain(kw.batch(rows, kind=VectorBatch)) == rows


@given(st.integers(1, 4).flatmap(
    lambda n: st.lists(st.lists(finite, min_size=n, max_size=n), min_size=1, max_size=5)
))  # fmt: skip
def test_any_numbers_come_back(rows):
    assert plain(kw.batch(rows)) == rows


def test_features_of_a_row_are_in_alphabetical_order_whatever_the_vocabulary():
    batch = kw.batch(NAMED, vocabulary=Vocabulary(["c", "b", "a"]))
    assert list(batch[0]) == ["a", "b"] and batch.arrays[0].tolist() == [3, 2, 1]


def test_a_batch_is_a_copy():
    numbers = NUMBERS.copy()
    batch = kw.batch(numbers)
    numbers[:] = 7
    assert batch[0] == (1.0, 0.0, 2.5)
    with pytest.raises(ValueError, match="read-only"):
        batch.matrix()[0, 0] = 1


# Layouts.


@pytest.mark.parametrize(("one", "other"), [("dense", "sparse"), ("sparse", "dense")])
def test_dense_and_sparse_rows_turn_into_each_other(one, other):
    turned = FORMS[one][0].in_layout_of(FORMS[other][0])
    assert turned.is_dense == (other == "dense")
    found = turned.matrix() if turned.is_dense else turned.csr(3).toarray()
    np.testing.assert_array_equal(found, NUMBERS)


def test_numbered_columns_become_names():
    turned = FORMS["sparse"][0].in_layout_of(FORMS["named"][0])
    assert turned.width is None and plain(turned) == FORMS["sparse"][1]


@pytest.mark.parametrize(
    ("one", "other", "complaint"),
    [
        (kw.batch(NUMBERS), kw.batch(NUMBERS[:, :2]), "dense vectors of width 3 .* width 2"),
        (kw.batch(NUMBERS), kw.batch(NAMED), "dense vectors of width 3 .* features with names"),
        (kw.batch(NAMED), kw.batch(NUMBERS), "features with names .* dense vectors of width 3"),
    ],
)
def test_layouts_that_do_not_fit_are_named(one, other, complaint):
    with pytest.raises(StructureError, match=complaint):
        one.in_layout_of(other)


# Examples.


def test_views_of_examples():
    example = kw.Example(
        "1",
        views={
            "list": [1, 2.5],
            "array": np.array([1.0, 2.0]),
            "features": {"w=bind": 1.0},
            "row": sparse.csr_matrix([[0, 3.0, 0]]),
            "coo": sparse.coo_matrix(([1.0, 2.0], ([0, 0], [1, 1])), (1, 3)),
        },
    )
    assert {name: example.view(name) for name in ("list", "array", "row", "coo")} == {
        "list": (1, 2.5), "array": (1.0, 2.0), "row": {"1": 3.0}, "coo": {"1": 3.0},
    }  # fmt: skip
    table = kw.batch([example, example])
    assert table.view("array").width == 2 and table.view("row").width is None
    assert table[0] == example and table[1:][0] == example


def test_a_matrix_is_a_view_of_a_table():
    table = ExampleBatch(["a", "b", "c"], views={"x": NUMBERS, "y": sparse.csr_matrix(NUMBERS)})
    assert table.view("x").is_dense and not table.view("y").is_dense
    assert table[2].view("x") == (0.0, -3.0, 1e-3) and table[2].view("y") == FORMS["sparse"][1][2]


@pytest.mark.parametrize("view", [[1.0, "a"], np.eye(2), sparse.eye(2).tocsr(), [[1.0]]])
def test_what_is_no_vector_is_no_view(view):
    with pytest.raises(StructureError, match="view 'x' of example '1' cannot be"):
        kw.Example("1", views={"x": view})


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ((1.0, 2.0, 3.0), "has width 3, the first has width 2"),
        ((), "is empty"),
        ((1.0, np.nan), "has the value nan"),
        ({"a": 1.0}, "is a mapping, the first is a list of numbers"),
    ],
)
def test_errors_name_the_example(wrong, complaint):
    views = [{"v": (1.0, 2.0)}, {}, {"v": wrong}]
    table = kw.batch([kw.Example(f"id{i}", views=view) for i, view in enumerate(views)])
    with pytest.raises(StructureError, match=f"view 'v' of example 'id2' {complaint}"):
        table.column("v")


# Inputs that are not vectors.


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([[1.0], [np.inf]], "vector 1 has the value inf"),
        ([[1.0], ["2"]], "structure 1 should be a vector, got list"),
        ([[1.0, "2"]], "vector 0 has the value '2'"),
        ([[1.0, 2**5000]], "vector 0 has the value 1"),
        ([{"a": 1.0}, {"a": None}], "vector 1 has the value None"),
        ([{"a": np.nan}], "vector 0 has the value nan"),
        ([{1: 1.0}], "vector 0 has the feature 1"),
        ([sparse.eye(2).tocsr()], r"vector 0 has shape \(2, 2\)"),
        ([sparse.csr_matrix([[1.0]]), sparse.csr_matrix([[1.0, 2.0]])], "vector 1 has shape"),
        ([1.0, 2.0], "structure 0 should be .*vector, got float\n.*list"),
        (np.zeros((2, 0)), r"float64 of shape \(2, 0\)"),
        (sparse.csr_matrix([[1j]]), "complex128"),
        (sparse.csr_matrix([[np.nan], [1.0]]), "vector 0 has the value nan"),
        ({"a": 1.0}, "expected a list of structures, got a single dict"),
    ],
)
def test_what_is_no_vector_is_named(rows, complaint):
    with pytest.raises(StructureError, match=complaint):
        kw.batch(rows, kind=VectorBatch)


@pytest.mark.parametrize(
    ("offsets", "columns", "values", "options"),
    [
        ([0, 2], [1, 0], [1.0, 2.0], {"width": 2}),
        ([0, 2], [1, 1], [1.0, 2.0], {"width": 2}),
        ([0, 2], [0, 2], [1.0, 2.0], {"width": 2}),
        ([0, 2], [-1, 1], [1.0, 2.0], {"width": 2}),
        ([0, 3], [0, 1], [1.0, 2.0], {"width": 2}),
        ([0, 2], [0, 1], [1.0, np.nan], {"width": 2}),
        ([0, 1, 0], [0, 1], [1.0, 2.0], {"width": 2}),
        ([0, 2], [0, 1], [1.0, 2.0], {"width": 0}),
        ([0, 2], [0, 1], [1.0, 2.0], {"width": 2**31}),
        ([0, 2], [0, 1], [1.0, 2.0], {}),
        ([0, 2], [0, 1], [1.0], {"width": 2}),
        ([0, 2], [1, 2], [1.0, 2.0], {"vocabulary": Vocabulary(["b", "a"])}),
        ([0, 2], [1, 3], [1.0, 2.0], {"vocabulary": Vocabulary(["b", "a"])}),
        ([0, 2], [1, 2], [1.0, 2.0], {"vocabulary": Vocabulary(["a", "b"]), "width": 3}),
    ],
)  # fmt: skip
def test_arrays_that_stand_for_nothing_are_refused(offsets, columns, values, options):
    with pytest.raises(StructureError):
        VectorBatch.from_arrays(
            np.array(offsets), np.array(columns, "i4"), np.array(values, "f8"), **options
        )


def test_rows_may_begin_with_any_column():
    arrays = (np.array([1, 3, 3, 5]), np.array([-7, 1, 2, 0, 1], "i4"), np.arange(5.0))
    batch = VectorBatch.from_arrays(*arrays, width=3)
    assert plain(batch) == [{"1": 1.0, "2": 2.0}, {}, {"0": 3.0, "1": 4.0}]


@every_form
def test_no_vectors_have_any_layout(form):
    batch, _ = FORMS[form]
    none = kw.batch([], kind=VectorBatch)
    empty = none.in_layout_of(batch)
    assert (len(empty), empty.width, empty.is_dense) == (0, batch.width, batch.is_dense)
    assert batch.in_layout_of(none) is batch
