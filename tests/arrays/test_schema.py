"""Schemas of saved state: each check takes what it declares and names what it refuses."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from kernelwood.arrays import (
    Anything,
    ArrayOf,
    Fields,
    Figure,
    Flag,
    Instance,
    Items,
    Labels,
    Maybe,
    Named,
    Offsets,
    OneOf,
    Plain,
    Real,
    SchemaError,
    Strings,
    Text,
    Whole,
    check_values,
)

LARGEST = np.iinfo(np.int64).max


def fault(check, value, **others):
    """Return what a schema says about a value beside others, None if it is right."""
    try:
        check_values({"x": check, **dict.fromkeys(others, Anything())}, {"x": value, **others})
    except SchemaError as error:
        assert error.name == "x" and isinstance(error, ValueError)
        return error.fault
    return None


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (ArrayOf("int32", None), np.zeros(0, np.int32)),
        (ArrayOf("int32", 2, None), np.zeros((2, 5), np.int32)),
        (ArrayOf("float32 float64", None), np.zeros(3, np.float32)),
        (ArrayOf("int64", None, least=-1, below=3), np.array([-1, 2])),
        (ArrayOf("float64", None, above=0, most=1), np.array([1e-300, 1.0])),
        (ArrayOf("int64", None, rising=True), np.array([-(2**63), 0, LARGEST])),
        (ArrayOf("bool", None), np.array([True])),
        (ArrayOf("float32", None, least=-1e100, most=1e100), np.array([1e38], np.float32)),
        (ArrayOf("uint64", None, rising=True, below=2**64), np.array([0, 2**64 - 1], np.uint64)),
        (Offsets(None, 4), np.array([0, 0, 4])),
        (Offsets(2, 4, filled=True), np.array([0, 1, 4])),
        (Strings(), ["a", ""]),
        (Strings(), np.array(["a"])),
        (Strings(2, filled=True, different=True, rising=True), ("a", "b")),
        (Labels(), np.array([1.5, 2.0])),
        (Labels(2), np.array(["a", "b"])),
        (Whole(), np.int32(3)),
        (Whole(None), -5),
        (Real(0, 1), np.float32(1)),
        (Text(), "x"),
        (Text("a", "b"), "b"),
        (Flag(), False),
        (Figure(), float("nan")),
        (Plain(), None),
        (Maybe(Whole()), None),
        (OneOf(Whole(), Text()), "x"),
        (Items(Whole(), 2), [1, 2]),
        (Items(Text(), kind=tuple), ()),
        (Named(Whole()), {"a": 1}),
        (Fields({"a": Whole()}), {"a": 1}),
        (Instance(int), True),
        (Instance(int, exact=True), 1),
    ],
    ids=repr,
)
def test_values_as_declared_pass(check, value):
    assert fault(check, value) is None


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        (ArrayOf("int32", None), [1], "an array of int32"),
        (ArrayOf("int32", None), np.zeros(1), "an array of int32"),
        (ArrayOf("float32 float64", None), np.zeros(1, int), "float32 or float64"),
        (ArrayOf("int32", None), np.zeros((1, 1), np.int32), "1 dimensions, got 2"),
        (ArrayOf("int32", None), np.zeros((), np.int32), "1 dimensions, got 0"),
        (ArrayOf("int32", 2, None), np.zeros((3, 5), np.int32), r"shape \(2, 5\)"),
        (ArrayOf("float64", None), np.array([0, np.nan]), "finite"),
        (ArrayOf("float64", None), np.array([np.inf, 0]), "finite"),
        (ArrayOf("float64", None, least=0), np.array([0, -1e-300]), "at least 0"),
        (ArrayOf("float64", None, above=0), np.array([1.0, 0.0]), "above 0"),
        (ArrayOf("float64", None, most=1), np.array([1.0, 1.1]), "at most 1"),
        (ArrayOf("int64", None, below=3), np.array([3]), "below 3"),
        (ArrayOf("int64", None, rising=True), np.array([1, 1]), "rising order"),
        # Their differences are positive numbers of 64 bits.
        (ArrayOf("int64", None, rising=True), np.array([0, LARGEST, -2, 12]), "rising"),
        (Offsets(None, 12), np.array([0, LARGEST, -2, 12]), "rise from 0 to the 12"),
        (Offsets(None, 12), np.array([0, LARGEST]), "rise from 0 to the 12"),
        (Offsets(None, 12), np.array([1, 12]), "rise from 0"),
        (Offsets(None, 12), np.zeros(0, np.int64), "rise from 0"),
        (Offsets(None, 12), np.array([0, 12], np.int32), "array of int64"),
        (Offsets(None, 12, filled=True), np.array([0, 12, 12]), "rise from 0"),
        (Offsets(2, 12), np.array([0, 12]), "2 offsets and their end"),
        (Strings(), [1], "strings"),
        (Strings(), "abc", "strings"),
        (Strings(), np.array([1]), "strings"),
        (Strings(2), ["a"], "2 strings"),
        (Strings(filled=True), ["a", ""], "empty"),
        (Strings(different=True), ["a", "a"], "different"),
        (Strings(rising=True), ["b", "a"], "sorted"),
        (Labels(), ["a"], "labels"),
        (Labels(), np.array(["a", "a"]), "distinct"),
        (Labels(), np.array([np.nan]), "finite"),
        (Labels(2), np.array(["a"]), "at least 2"),
        (Whole(), True, "whole"),
        (Whole(), 1.0, "whole"),
        (Whole(), -1, "at least 0"),
        (Whole(0, 3), 4, "at most 3"),
        (Real(), 1, "finite number"),
        (Real(), float("inf"), "finite number"),
        (Real(0, 1), 1.5, "from 0 to 1"),
        (Text(), ["x"], "string"),
        (Text("a"), "b", "one of a"),
        (Flag(), 1, "True or False"),
        (Figure(), "x", "number"),
        (Figure(), True, "number"),
        (Plain(), [1], "string or a number"),
        (Maybe(Whole()), "x", "or None"),
        (OneOf(Whole(), Text()), 0.5, "whole number, or must be a string"),
        (Items(Whole()), (1,), "must be a list"),
        (Items(Whole()), [1, "x"], "at 1 must be a whole number"),
        (Items(Whole(), 2), [1], "2 items, got 1"),
        (Named(Whole()), {1: 1}, "names"),
        (Named(Whole()), {"a": "b"}, "at 'a' must be"),
        (Fields({"a": Whole()}), {"b": 1}, "dictionary of a"),
        (Fields({"a": Whole()}), {"a": "b"}, "at a must be"),
        (Instance(int), "x", "must be a int, got str"),
        (Instance(int, exact=True), True, "got bool"),
    ],
    ids=repr,
)
def test_other_values_are_refused(check, value, message):
    found = fault(check, value)
    assert found is not None
    with pytest.raises(SchemaError, match=message):
        raise SchemaError("x", found)


def test_a_size_is_the_length_of_another_value():
    check = ArrayOf("int64", "names", least=0, below="names")
    assert fault(check, np.array([1, 0]), names=["a", "b"]) is None
    assert fault(check, np.array([1, 0]), names=["a"]) is not None
    assert fault(check, np.array([0, 2]), names=["a", "b"]) is not None


def test_a_size_is_another_whole_number():
    assert fault(ArrayOf("int64", "n"), np.array([1, 0]), n=2) is None
    assert fault(ArrayOf("int64", "n"), np.array([1, 0]), n=3) is not None


def test_a_size_is_that_of_an_attribute():
    holder = SimpleNamespace(rank=2)
    assert fault(ArrayOf("int64", "holder.rank"), np.array([1, 0]), holder=holder) is None
    assert fault(ArrayOf("int64", "holder.rank"), np.array([1]), holder=holder) is not None
    assert fault(ArrayOf("int64", "holder.other"), np.array([1]), holder=holder) is not None


@pytest.mark.parametrize("other", [None, "text", 0.5, np.zeros(())], ids=repr)
def test_values_without_a_size_bound_nothing(other):
    assert fault(ArrayOf("int64", None, below="other"), np.array([0]), other=other) is not None
    assert fault(Offsets(None, "other"), np.array([0]), other=other) is not None


def test_other_names_stand_for_their_first_size():
    schema = {"a": ArrayOf("int64", "n"), "b": ArrayOf("int64", "n")}
    check_values(schema, {"a": np.zeros(2, int), "b": np.zeros(2, int)})
    with pytest.raises(SchemaError, match=r"b must be an array of shape \(2,\)"):
        check_values(schema, {"a": np.zeros(2, int), "b": np.zeros(3, int)})


def test_what_is_not_declared_is_refused():
    with pytest.raises(SchemaError, match="'y' is unknown"):
        check_values({"x": Whole()}, {"x": 1, "y": 2})


def test_what_is_missing_is_refused():
    with pytest.raises(SchemaError, match="y is missing"):
        check_values({"x": Whole(), "y": Whole()}, {"x": 1})


def test_errors_can_be_sent_to_other_processes():
    again = pickle.loads(pickle.dumps(SchemaError("x", "must rise")))
    assert (again.name, again.fault, str(again)) == ("x", "must rise", "x must rise")
