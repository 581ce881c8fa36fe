"""Parameters as JSON, and back."""

import json
import math
import re
from collections import OrderedDict
from enum import IntEnum
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernelwood.errors import ModelFormatError
from kernelwood.persist.state import Decoder, Encoder, inner_values


def encode(value, number_of=lambda value: None):
    encoder = Encoder("Owner", number_of)
    return encoder.parameters({"name": value})["name"], encoder.arrays


def again(value):
    """Return a value that was JSON in between."""
    encoded, arrays = encode(value)
    return Decoder([], arrays).decode(json.loads(json.dumps(encoded, allow_nan=False)))


_keys = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=3)
)
_plain = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.one_of(st.text(), st.just("kind")), inner, max_size=4),
        st.dictionaries(_keys, inner, max_size=4),
    ),
)


@given(_plain)
def test_plain_values_come_back_as_they_were(value):
    assert repr(again(value)) == repr(value)


def test_keys_keep_their_types():
    again_keys = list(again({0: 1.0, 1.5: 5.0, None: 2.0, "0": 3.0}))
    assert [(key, type(key)) for key in again_keys] == [
        (0, int), (1.5, float), (None, type(None)), ("0", str),
    ]  # fmt: skip


def test_a_dictionary_of_strings_is_written_as_an_object():
    assert encode({"a": 1})[0] == {"kind": "mapping", "values": {"a": 1}}


def test_models_in_a_dictionary_with_numbers_as_keys_are_found():
    model = object()
    encoded, _ = encode({7: model}, lambda value: 0 if value is model else None)
    assert Decoder([model], {}).decode(encoded) == {7: model} and model in inner_values({7: model})


@pytest.mark.parametrize("value", [math.inf, -math.inf, -0.0, 5e-324, 2**1000, -(10**40)])
def test_extreme_numbers_survive(value):
    assert repr(again(value)) == repr(value)


def test_what_is_no_number_survives():
    assert math.isnan(again(math.nan)) and again([math.inf]) == [math.inf]


class Level(IntEnum):
    HIGH = 3


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float64(0.1), 0.1),
        (np.float32(0.1), 0.10000000149011612),
        (np.float16(0.5), 0.5),
        (np.int64(-3), -3),
        (np.uint8(200), 200),
        (np.bool_(True), True),
        (np.str_("né"), "né"),
        (Level.HIGH, 3),
        (np.array(["a", "bc"]), ["a", "bc"]),
        (OrderedDict(a=1), {"a": 1}),
        (MappingProxyType({"a": np.int8(1)}), {"a": 1}),
        ({np.int64(1): 2, np.str_("a"): np.float32(0.5)}, {1: 2, "a": 0.5}),
    ],
    ids=repr,
)
def test_other_numbers_and_strings_become_plain_ones(value, plain):
    result = again(value)
    assert result == plain and type(result) is type(plain)


@pytest.mark.parametrize(
    "value", ["float32", np.float32, np.dtype("float64"), np.dtype(np.int8), float], ids=repr
)
def test_number_types_come_back(value):
    assert again(value) == value


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.zeros((0, 4), dtype=np.int32),
        np.array(True),
        np.arange(3, dtype=">f8"),
        np.asfortranarray(np.eye(3)),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_arrays_are_handed_on_by_name(array):
    encoded, arrays = encode([array, {"x": array}])
    assert len(arrays) == 2
    left, right = Decoder([], arrays).decode(encoded)
    assert left is array and right["x"] is array and arrays == {}


@pytest.mark.parametrize(
    "value",
    [
        object(), {1, 2}, b"bytes", 1j, Fraction(1, 3), len, {(1,): "a"}, {"a": {b"": 1}}, int.real,
        np.array([None]), np.array([1j]), np.array(["a"], dtype="S1"), np.dtype(object), str,
        np.dtype(">f4"), 2**1024, np.datetime64("2020-01-01"), [0, {"a": (1, object())}],
    ],
    ids=lambda value: re.sub(r"0x[0-9a-f]+", "", repr(value))[:40],  # the same in every process
)  # fmt: skip
def test_other_values_are_refused(value):
    with pytest.raises(ModelFormatError, match=r"Owner: name is or contains .* cannot be saved"):
        encode(value)


def test_a_number_that_64_bits_cannot_hold_is_refused():
    longer = np.nextafter(np.longdouble(1), np.longdouble(2))
    if longer == np.float64(longer):
        pytest.skip("long doubles are doubles here")
    with pytest.raises(ModelFormatError, match="64 bits"):
        encode(longer)


def test_models_are_referred_to_by_number():
    model = object()
    encoded, _ = encode({"inner": [model]}, lambda value: 1 if value is model else None)
    assert Decoder([None, model], {}).decode(encoded) == {"inner": [model]}


def test_values_nested_too_deeply_are_refused():
    value = []
    value.append(value)
    with pytest.raises(ModelFormatError, match="nested more than 32"):
        list(inner_values(value))


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"kind": "mapping"},
        {"kind": "mapping", "values": []},
        {"kind": "mapping", "values": {}, "more": 1},
        {"kind": "tuple", "values": {}},
        {"kind": "pairs", "values": {}},
        {"kind": "pairs", "values": ["ab"]},
        {"kind": "pairs", "values": [[1]]},
        {"kind": "pairs", "values": [[1, 2, 3]]},
        {"kind": "pairs", "values": [[[], 2]]},
        {"kind": "pairs", "values": [[{"kind": "tuple", "values": [1]}, 2]]},
        {"kind": "pairs", "values": [[1, 2], [True, 3]]},
        {"kind": "pairs", "values": [[{"kind": "part", "number": 0}, 2]]},
        {"kind": "number", "value": "1"},
        {"kind": "number", "value": 1},
        {"kind": "dtype", "name": "object"},
        {"kind": "dtype", "name": "O"},
        {"kind": "array", "name": "missing"},
        {"kind": "part", "number": 1},
        {"kind": "part", "number": -1},
        {"kind": "part", "number": True},
        {"kind": "part", "number": 0.0},
        {"kind": "kernel", "name": "sum"},
        {"kind": ["part"], "number": 0},
        [[{"kind": None}]],
    ],
    ids=json.dumps,
)
def test_json_that_stands_for_nothing_is_refused(value):
    with pytest.raises((ValueError, KeyError)):
        Decoder([object()], {}).decode(value)


def test_an_array_is_used_once():
    decoder = Decoder([], {"a": np.zeros(2)})
    with pytest.raises(KeyError):
        decoder.decode([{"kind": "array", "name": "a"}] * 2)
