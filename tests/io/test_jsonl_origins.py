"""Ids and origins of examples in JSON lines."""

from __future__ import annotations

import io
import json

import pytest

from kernelwood.errors import ReadError, StructureError
from kernelwood.io import read, write, write_jsonl
from kernelwood.text import Example, Origin


def parse(text, errors="raise"):
    return read(io.BytesIO(text.encode()), format="jsonl", errors=errors)


def line(view, **others):
    return json.dumps({**others, "views": {"v": view}}) + "\n"


def refusal(text):
    with pytest.raises(ReadError) as caught:
        parse(text)
    return caught.value


def written(*examples):
    out = io.StringIO()
    write_jsonl(examples, out)
    return out.getvalue()


# Ids that are used twice


def test_an_id_that_is_used_twice_is_an_error_with_both_lines():
    text = line("x", id="a") + line("y", id="b") + line("z", id="a")
    with pytest.raises(ReadError, match="the id 'a' was used before, on line 1") as caught:
        parse(text)
    assert caught.value.line == 3


def test_an_id_made_from_the_line_clashes_with_one_that_is_given():
    examples = parse(line("x", id="stream:2") + line("y"), errors="collect")
    assert [problem.line for problem in examples.tally.problems] == [2]


def test_reading_goes_on_after_an_id_that_is_used_twice():
    text = line("x", id="a") + line("y", id="a") + line("z", id="b")
    examples = parse(text, errors="skip")
    assert [example.view("v") for example in examples] == ["x", "z"]


def test_an_id_that_is_used_twice_is_not_written():
    with pytest.raises(StructureError, match="its id was used before, by example number 1"):
        written(Example("a"), Example("b"), Example("a"))


# Origins


def test_a_line_without_an_origin_has_its_place_as_origin(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(line("x") + line("y"))
    assert [example.origin for example in read(path)] == [
        Origin(str(path), 1),
        Origin(str(path), 2),
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"path": "a.mrg"}, Origin("a.mrg")),
        ({"path": "a.mrg", "line": None}, Origin("a.mrg")),
        ({"path": "a.xml", "line": 7, "start": 0, "end": 9}, Origin("a.xml", 7, 0, 9)),
    ],
)
def test_origins(value, expected):
    assert parse(line("x", origin=value))[0].origin == expected


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "'origin' must be an object, got null"),
        ("a.mrg", "'origin' must be an object, got the string"),
        ({}, "'origin' has no key 'path'"),
        ({"path": "a", "lines": 3}, "'origin' has an unknown key 'lines'"),
        ({"path": 3}, "the path of an origin must be a string, got the number 3"),
        ({"path": "a", "line": 0}, "the line of an origin must be a whole number from 1"),
        ({"path": "a", "line": True}, "the line of an origin must be a whole number from 1"),
        ({"path": "a", "start": -1}, "the start of an origin must be a whole number from 0"),
        ({"path": "a", "end": 1.0}, "the end of an origin must be a whole number from 0"),
    ],
)
def test_wrong_origins_are_named(value, problem):
    assert problem in refusal(line("x", origin=value)).problem


def test_a_file_that_is_written_again_says_where_its_lines_were_first(tmp_path):
    first, second, third = (tmp_path / name for name in ("a.jsonl", "b.jsonl", "c.jsonl"))
    first.write_text("\n" + line("x"))
    write(read(first), second)
    write(read(second), third)
    assert read(third)[0].origin == Origin(str(first), 2)


def test_what_is_unknown_of_an_origin_is_not_written():
    assert written(Example("a", origin=Origin("a.mrg", 3))) == (
        '{"id":"a","views":{},"origin":{"path":"a.mrg","line":3}}\n'
    )
