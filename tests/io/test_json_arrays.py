"""Objects of JSON arrays and JSON lines, read one at a time."""

from __future__ import annotations

import io
import json
import tracemalloc

import pytest
from hypothesis import given, strategies as st

from kernelwood.errors import ReadError
from kernelwood.io import FORMATS, Limits, Source, read
from kernelwood.io.containers.compression import CHUNK
from kernelwood.io.containers.limits import Meter
from kernelwood.io.formats.json_arrays import iter_objects, read_objects
from kernelwood.text import Example

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
objects = st.lists(st.dictionaries(st.text(max_size=5), values, max_size=4), max_size=6)


def parse(data: str | bytes):
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return list(iter_objects(Source(io.BytesIO(raw))))


def split(parts):
    return (
        [part.value for part in parts if not isinstance(part, ReadError)],
        [(part.line, part.column) for part in parts if isinstance(part, ReadError)],
    )


@given(objects, st.sampled_from([None, 0, 2]), st.booleans())
def test_elements_are_those_of_the_json_module(written, indent, ascii_only):
    text = json.dumps(written, indent=indent, ensure_ascii=ascii_only)
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    assert [part.value for part in parse(text)] == json.loads(text)


@given(objects)
def test_lines_give_the_same_objects_as_an_array(written):
    lines = "".join(f"{json.dumps(one)}\n" for one in written)
    assert split(parse(lines)) == (written, [])


def test_an_object_in_several_lines_is_read():
    assert split(parse('{\n  "a": [\n    1\n  ]\n}\n{\n "b": 2\n}')) == ([{"a": [1]}, {"b": 2}], [])


def test_places_count_characters_of_lines():
    parts = parse('[\n {"ä": "é"}, {"b": 1},\r\n{}]')
    assert [(part.line, part.column, part.number) for part in parts] == [
        (2, 2, 1),
        (2, 14, 2),
        (3, 1, 3),
    ]


@pytest.mark.parametrize(
    ("text", "kept", "places"),
    [
        ('[{"a": 1}, {"b" 2}, {"c": 3}]', ["a", "c"], [(1, 17)]),
        ('[{"a": 1},\n {"b": "x\n }, {"c": 3}]', ["a", "c"], [(2, 10)]),
        ('[{"a": 1}\n {"c": 3}]', ["a", "c"], [(2, 2)]),
        ('[{"a": 1}, 7, {"c": 3}]', ["a", "c"], [(1, 12)]),
        ('[{"a": 1}, {"c": 3},]', ["a", "c"], [(1, 21)]),
        ('[{"a": 1}, {"c": 3}', ["a", "c"], [(1, 20)]),
        ('[{"a": 1}, {"c": [3}', ["a"], [(1, 12)]),
        ('[{"a": 1}] {"c": 3}', ["a"], [(1, 12)]),
        ('[{"a": 1}, {"b": NaN}, {"c": 1}]', ["a", "c"], [(1, 18)]),
        ('[{"a": 1}, {"b": 1, "b": 2}, {"c": 1}]', ["a", "c"], [(1, 12)]),
        ('{"a": 1}\n{"b" 2}\n{"c": 3}', ["a", "c"], [(2, 6)]),
    ],
)
def test_a_broken_element_costs_only_itself(text, kept, places):
    found, errors = split(parse(text))
    assert ([next(iter(value)) for value in found], errors) == (kept, places)


def test_bytes_that_are_not_utf8_are_located():
    (first, problem, last) = parse(b'[{"a": 1}, {"b": "\xc3\xa4\xff"}, {"c": 1}]')
    assert (first.value, last.value) == ({"a": 1}, {"c": 1})
    assert (problem.line, problem.column) == (1, 20)
    assert "byte 0xff at byte offset 20" in problem.problem


def test_bytes_that_are_not_utf8_are_located_in_later_lines():
    (problem,) = parse(b'[{"a":\n"\xc3\xa4\xff"}]')
    assert (problem.line, problem.column) == (2, 3)
    assert "byte offset 10 " in problem.problem


def test_an_error_shows_its_line():
    (_, problem) = parse('[{"a": 1}, {"b" 2}]')
    assert '    [{"a": 1}, {"b" 2}\n                    ^' in str(problem)


def test_an_error_far_right_has_no_snippet():
    text = f'[{{"a": "{"x" * 3000}"}}, {{"b" 2}}]'
    assert parse(text)[1].snippet is None


@pytest.mark.parametrize("mark", ["[", '[{"a":', '{"a":[', "[{", '["', "{"])
def test_deep_nesting_is_an_error(mark):
    assert all(isinstance(part, ReadError) for part in parse(mark * 1_000_000))


def test_closed_deep_nesting_is_an_error():
    depth = 100_000
    found, errors = split(parse(f'[{{"a": {"[" * depth}{"]" * depth}}}, {{"b": 1}}]'))
    assert (found, errors) == ([{"b": 1}], [(1, 2)])


@pytest.mark.parametrize("size", [CHUNK - 9, CHUNK, 5 * CHUNK + 1])
def test_elements_may_be_longer_than_a_chunk(size):
    written = [{"a": 'x\\"{' * (size // 4)}, {"b": "ä" * size}, {"c": []}]
    assert split(parse(json.dumps(written, ensure_ascii=False))) == (written, [])


def test_an_array_in_one_line_needs_little_memory():
    element = json.dumps({"text": "word " * 200}).encode()

    class Array(io.RawIOBase):
        left = 5000
        rest = b"["

        def readable(self):
            return True

        def readinto(self, buffer):
            while len(self.rest) < len(buffer) and self.left:
                self.left -= 1
                self.rest += element + (b"," if self.left else b"]")
            taken = self.rest[: len(buffer)]
            self.rest = self.rest[len(buffer) :]
            buffer[: len(taken)] = taken
            return len(taken)

    tracemalloc.start()
    try:
        count = sum(1 for _ in iter_objects(Source(io.BufferedReader(Array()))))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (count, peak < 2 << 20) == (5000, True)


def test_a_limit_on_lines_applies_to_elements():
    source = Source(io.BytesIO(b'[{"a": "' + b"x" * 300_000), meter=Meter(Limits(line=1000)))
    with pytest.raises(ReadError, match="object is longer than 1,000 bytes"):
        list(iter_objects(source))


def test_repeated_ids_are_errors():
    source = Source(io.BytesIO(b'{"id": "a"}\n{"id": "b"}\n{"id": "a"}'))
    items = list(read_objects(source, lambda part: [Example(part.value["id"])]))
    assert [getattr(item, "id", item) for item in items[:2]] == ["a", "b"]
    assert (items[2].line, "used before, on line 1" in items[2].problem) == (3, True)


# Formats whose readers take objects from this module.
OBJECTS = ["spert", "tacred", "scierc", "docred", "labelstudio", "doccano", "prodigy"]
every_reader = pytest.mark.parametrize("name", OBJECTS)


@every_reader
@pytest.mark.parametrize(
    "text", ["[" * 10**6, '{"a":' * 10**6, '[{"text":' + "[" * 10**6, "[{}" * 9]
)
def test_deep_nesting_is_an_error_of_every_reader(name, text):
    with pytest.raises(ReadError):
        read(io.StringIO(text), format=name)


@every_reader
@pytest.mark.parametrize("depth", [1, 500, 900])
def test_values_of_any_depth_are_errors_of_every_reader(name, depth):
    keys = ["text", "tokens", "entities", "token", "subj_start", "sentences", "sents", "vertexSet"]
    keys += ["data", "annotations", "label", "spans", "relations", "labels", "ner", "id", "answer"]
    deep = "[" * depth + "]" * depth
    for first in (deep, f'{{"a": {deep}}}', '"a"', "7"):
        line = ", ".join(
            f'"{key}": {first if place % 2 else deep}' for place, key in enumerate(keys)
        )
        assert read(io.StringIO(f"[{{{line}}}]"), format=name, errors="skip").tally.read <= 1


def test_every_reader_of_objects_is_a_format():
    assert {row.name for row in FORMATS} >= {*OBJECTS}
