"""Objects of a JSON array, of JSON lines, or of a single JSON text, one at a time.

A corpus may be one array of a gigabyte in a single line, so only the bytes of one element are in
memory. The end of an element is found by its brackets, outside of strings; the element is then
decoded on its own. A broken element is therefore reported with its place and costs no other one,
unless its brackets do not match.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.containers.compression import CHUNK
from kernelwood.io.ids import UsedIds
from kernelwood.io.lines import Scan, scan_lines
from kernelwood.io.source import Item, Source
from kernelwood.structures import check_object, decode_json, decode_json_at
from kernelwood.text import Example

# A bracket, some strings, or the beginning of a string that is not complete in memory. A string
# ends with its line: JSON has no line ends in strings, and a quotation mark may be missing.
_MARK = re.compile(rb'[\[\]{}]|(?:"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*(?:"|\\?\n)[^"\[\]{}]*){1,200}|"')
_STRING = re.compile(rb'"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*["\n]')
_PLAIN = re.compile(rb"[^,\[\]{}\n]*")
_SPACE = re.compile(rb"[ \t\r\n]*")
_BLANKS = b" \t\r\n"
_OPEN, _CLOSE = b"[{", b"]}"
_MAX_STEP = 16 << 20  # bytes
_PRETTY = ("{", "[", ",")  # ends of the first line of an object that is written in several lines
_FIRST = re.compile(r"\s*(?:\[\s*)?\{")
_TOKEN = re.compile(r'[\[\]{}:]|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|"')
_GLIMPSE, _VALUE = 100, 10  # characters looked at of the value of a key, and kept
_SHOWN = 1000  # characters of a line before an element that are kept for messages


class JsonObject(NamedTuple):
    """A decoded object of a file, its number from 1, and the place where it begins."""

    number: int
    line: int
    column: int
    value: dict[str, Any]


def read_objects(source: Source, parse: Callable[[JsonObject], Iterable[Item]]) -> Iterator[Item]:
    """Yield the items that ``parse`` makes of each object of a file.

    Parameters
    ----------
    source : Source
        A JSON array of objects, JSON lines, or objects written in several lines each.
    parse : callable
        Yields the examples and remarks of an object, or raises ``StructureError``; nothing of a
        broken object is passed on. Ids of examples must not repeat.

    Examples
    --------
    >>> import io
    >>> source = Source(io.BytesIO(b'[{"id": "a"}, {"id": "b"}]'))
    >>> [example.id for example in read_objects(source, lambda part: [Example(part.value["id"])])]
    ['a', 'b']
    """
    used = UsedIds()
    for part in iter_objects(source):
        if isinstance(part, ReadError):
            yield part
            continue
        try:
            items = list(parse(part))
        except StructureError as failure:
            yield source.error(
                failure.problem, line=part.line, column=part.column, hint=failure.hint
            )
            continue
        except RecursionError:  # in a message that shows hundreds of nested lists
            problem = "lists or objects are nested too deeply"
            yield source.error(problem, line=part.line, column=part.column)
            continue
        for item in items:
            repeated = None
            if isinstance(item, Example):
                repeated = used.check(item.id, part.line, source)
            yield repeated or item


def iter_objects(
    source: Source, keys: Container[str] | None = None
) -> Iterator[JsonObject | ReadError]:
    r"""Yield the objects of a file, and an error for each that is broken.

    Parameters
    ----------
    source : Source
        A JSON array of objects, JSON lines, or objects written in several lines each.
    keys : container of str, optional
        Yield the objects in arrays with these keys instead, as in ``{"documents": [...]}``.

    Examples
    --------
    >>> import io
    >>> source = Source(io.BytesIO(b'[{"a": 1},\n {"a": }]'))
    >>> first, second = iter_objects(source)
    >>> first
    JsonObject(number=1, line=1, column=2, value={'a': 1})
    >>> print(second)
    <stream>:2:8: not valid JSON: expecting value
         {"a": }
               ^
    """
    if keys:
        elements = _Scanner(source).nested(keys)
    elif _is_array(source.head):
        elements = _Scanner(source).array()
    else:
        elements = _Scanner(source).values() if _is_pretty(source.head) else _lines(source)
    for number, element in enumerate(elements, start=source.extent.records + 1):
        yield element if isinstance(element, ReadError) else _decoded(element, number, source)


def scan_objects(source: Source, **options: object) -> Scan | None:
    """Return the function that finds objects if they are lines, for files that are cut."""
    is_lines = not _is_array(source.head) and not _is_pretty(source.head)
    return scan_lines(source) if is_lines else None


def _is_array(head: bytes) -> bool:
    return head.lstrip(_BLANKS).startswith(b"[")


def _is_pretty(head: bytes) -> bool:
    """Return whether objects are written in several lines each."""
    first, line_end, _ = head.lstrip(_BLANKS).partition(b"\n")
    return bool(line_end) and first.decode("utf-8", "replace").rstrip().endswith(_PRETTY)


class _Element(NamedTuple):
    """The text of an element and its place; ``before`` is the part of the line before it.

    An element that was decoded already has its ``value``, and no text.
    """

    line: int
    column: int
    text: str
    before: str | None
    value: dict[str, Any] | None = None


def _lines(source: Source) -> Iterator[_Element | ReadError]:
    room = source.meter.json_room
    for number, text, problem in source.lines():
        if problem is not None:
            yield problem
        elif text.strip(" \t\r"):
            large = source.large_json(text, number) if len(text) > room else None
            yield large or _Element(number, 1, text, "")


def _decoded(element: _Element, number: int, source: Source) -> JsonObject | ReadError:
    if element.value is not None:
        return JsonObject(number, element.line, element.column, element.value)
    try:
        value = check_object(decode_json(element.text), f"element {number}", optional=None)
        return JsonObject(number, element.line, element.column, value)
    except StructureError as failure:
        if failure.column is None:
            return source.error(
                failure.problem, line=element.line, column=element.column, hint=failure.hint
            )
        snippet, column = failure.snippet, failure.column
        if failure.line in (None, 1):
            column += element.column - 1
            known = element.before is not None and snippet is not None
            snippet = f"{element.before}{snippet}" if known else None
        return source.error(
            failure.problem,
            line=element.line + (failure.line or 1) - 1,
            column=column,
            snippet=snippet,
            hint=failure.hint,
        )


class _Scanner:
    """Cuts a stream of bytes into the elements of an array, or into top-level values.

    ``_data`` holds the bytes in memory, of which those before ``_at`` are done with.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._room = max(source.meter.json_room, CHUNK)
        self._data, self._at, self._offset = b"", 0, 0
        self._line, self._column = 1, 1
        self._before: str | None = ""
        self._cut = False  # whether the file ends inside an element
        # The text of ``_text_of`` from some byte on; ``_decoded_to`` is the byte of ``_text_at``.
        self._text, self._text_of, self._text_at, self._decoded_to = "", b"", 0, 0

    def array(self) -> Iterator[_Element | ReadError]:
        """Yield the elements of the array that is the file."""
        self._skip_blanks()
        yield from self._members()
        if self._skip_blanks():
            yield self._error("the array ends before this", "a file holds one array")

    def nested(self, keys: Container[str]) -> Iterator[_Element | ReadError]:
        """Yield the elements of arrays with one of these keys in top-level objects."""
        in_array = self._skip_blanks() == b"["
        if in_array:
            self._advance(1)
        while sign := self._skip_blanks():
            if sign == b"{":
                self._advance(1)
                yield from self._fields(keys)
                if in_array and self._skip_blanks() == b",":
                    self._advance(1)
            elif in_array and sign == b"]":
                self._advance(1)
                in_array = False
            else:
                raise self._error("expected an object", "a file holds objects, or an array of them")
            if self._cut:
                return
        if in_array:
            raise self._error("the array is never closed", "the file seems to be cut off")

    def _fields(self, keys: Container[str]) -> Iterator[_Element | ReadError]:
        """Yield the elements of arrays with one of these keys, up to the end of the object."""
        sign = self._skip_blanks()
        while sign != b"}" and not self._cut:
            if not sign:
                raise self._error("the object is never closed", "the file seems to be cut off")
            key = self._element(sign)
            if isinstance(key, ReadError):
                raise key
            if self._skip_blanks() != b":":
                raise self._error("expected a key and a colon", "the rest cannot be read")
            self._advance(1)
            sign = self._skip_blanks()
            if sign == b"[" and key.text.strip('"') in keys:
                yield from self._members()
            elif sign and isinstance(problem := self._element(sign), ReadError):
                raise problem
            sign = self._skip_blanks()
            if sign == b",":
                self._advance(1)
                sign = self._skip_blanks()
            elif sign not in (b"", b"}"):
                raise self._error("expected a comma, or the end of the object")
        self._advance(len(sign))

    def _members(self) -> Iterator[_Element | ReadError]:
        """Yield the elements of the array that begins here."""
        self._advance(1)  # the bracket
        first = True
        while sign := self._skip_blanks():
            if sign == b"]":
                self._advance(1)
                return
            if not first and sign == b",":
                self._advance(1)
                sign = self._skip_blanks()
                if sign == b"]":
                    yield self._error("expected an element after the comma", "remove the comma")
                    continue
            elif not first:
                yield self._error("expected a comma between two elements")
            first = False
            yield self._element(sign)
        if not self._cut:
            yield self._error("the array is never closed", "the file seems to be cut off")
            self._cut = True

    def values(self) -> Iterator[_Element | ReadError]:
        """Yield values that follow each other."""
        while sign := self._skip_blanks():
            yield self._element(sign)

    def _element(self, sign: bytes) -> _Element | ReadError:
        if sign == b"{" and (whole := self._whole_object()) is not None:
            return whole
        if sign == b'"':
            length = self._string_length()
        else:
            length = self._length() if sign in (b"[", b"{") else self._junk_length()
        if length is None:
            problem = self._error(
                "the object that begins here is never closed",
                "a bracket or a quotation mark is missing, or the file is cut off",
            )
            self._advance(len(self._data) - self._at)
            self._cut = True
            return problem
        line, column, before = self._line, self._column, self._before
        raw, start = self._data[self._at : self._at + length], self._offset + self._at
        self._advance(length)
        try:
            text = raw.decode("utf-8")
            large = self._source.large_json(text, line) if len(text) > self._room else None
            return large or _Element(line, column, text, before)
        except UnicodeDecodeError as failure:
            return self._undecodable(raw, failure.start, (line, column, start))

    def _whole_object(self) -> _Element | None:
        """Return the object that begins here, if it is in memory and nothing is wrong with it."""
        if len(self._data) - self._at > self._room:
            return None  # it may be too large to be decoded
        if self._text_of is not self._data:
            self._text_of, self._text, self._text_at = self._data, "", 0
            with suppress(UnicodeDecodeError):  # reported when the element is scanned
                self._text, _ = codecs.utf_8_decode(self._data[self._at :], "strict", False)
        else:
            self._text_at += len(self._data[self._decoded_to : self._at].decode("utf-8", "replace"))
        self._decoded_to = self._at
        found = decode_json_at(self._text, self._text_at)
        if found is None:
            return None
        value, end = found
        line, column = self._line, self._column
        self._advance(len(self._text[self._text_at : end].encode()))
        self._text_at, self._decoded_to = end, self._at
        return _Element(line, column, "", None, value)

    def _length(self) -> int | None:
        """Return the length of the value that begins with a bracket; None if it has no end."""
        depth = place = 0
        while True:
            shift = self._at
            for mark in _MARK.finditer(self._data, shift + place):
                sign = self._data[mark.start()]
                if sign in _OPEN:
                    depth += 1
                elif sign in _CLOSE:
                    depth -= 1
                    if not depth:
                        return mark.end() - shift
                elif mark.end() == mark.start() + 1:  # a string that is not complete
                    place = mark.start() - shift
                    break
            else:
                place = len(self._data) - shift
            if not self._read_more():
                return None

    def _string_length(self) -> int | None:
        """Return the length of the string that begins here; None if it has no end."""
        while True:
            found = _STRING.match(self._data, self._at)
            if found is not None:
                return found.end() - self._at
            if not self._read_more():
                return None

    def _junk_length(self) -> int:
        """Return the length of a number or the like, which no corpus has as an element."""
        while True:
            end = _PLAIN.match(self._data, self._at).end()  # type: ignore[union-attr]
            if end < len(self._data) or not self._read_more():
                return max(end - self._at, 1)

    def _skip_blanks(self) -> bytes:
        """Move to the next byte that is not blank and return it; empty at the end."""
        while True:
            end = _SPACE.match(self._data, self._at).end()  # type: ignore[union-attr]
            self._advance(end - self._at)
            if end < len(self._data):
                return self._data[end : end + 1]
            if not self._read_more():
                return b""

    def _read_more(self) -> bool:
        kept = len(self._data) - self._at
        if kept > self._source.meter.limits.line:
            raise self._source.too_long(self._line, "object")
        # Steps grow with the element, so that a long string is not scanned again and again.
        chunk = self._source.stream.read(min(max(CHUNK, kept), _MAX_STEP))
        self._offset += self._at
        self._data, self._at = self._data[self._at :] + chunk, 0
        return bool(chunk)

    def _advance(self, length: int) -> None:
        end = self._at + length
        n_lines = self._data.count(b"\n", self._at, end)
        if n_lines:
            self._line += n_lines
            self._column, self._before = 1, ""
            self._at = self._data.rindex(b"\n", self._at, end) + 1
        passed = self._data[self._at : end].decode("utf-8", "replace")
        self._column += len(passed)
        short = self._before is not None and self._column <= _SHOWN
        self._before = f"{self._before}{passed}" if short else None
        self._at = end

    def _undecodable(self, raw: bytes, place: int, begun: tuple[int, int, int]) -> ReadError:
        line, column, offset = begun
        start = raw.rfind(b"\n", 0, place) + 1
        bare = raw[start:].partition(b"\n")[0].removesuffix(b"\r")
        if start:
            line, column = line + raw.count(b"\n", 0, start), 1
        problem = self._source.undecodable(line, bare, place - start, offset + start)
        return self._source.error(
            problem.problem,
            line=line,
            column=(problem.column or 1) + column - 1,
            snippet=problem.snippet if column == 1 else None,
            hint=problem.hint,
        )

    def _error(self, problem: str, hint: str | None = None) -> ReadError:
        rest = (
            self._data[self._at : self._at + _SHOWN].partition(b"\n")[0].decode("utf-8", "replace")
        )
        return self._source.error(
            problem,
            line=self._line,
            column=self._column,
            snippet=None if self._before is None else f"{self._before}{rest}".rstrip("\r"),
            hint=hint,
        )


@lru_cache(maxsize=8)
def first_object(head: str) -> Mapping[str, str]:
    """Return the keys of the first object of a file, each with the beginning of its value.

    Parameters
    ----------
    head : str
        The beginning of the file, which may be cut anywhere. Keys after the cut are missing.

    Returns
    -------
    mapping of str to str
        A few characters from the beginning of the value on, without blanks. Empty if the file
        does not begin with an object, or with an array of objects.

    Examples
    --------
    >>> dict(first_object('[{"id": 7, "label": [ [0, 3, "drug"] ], "te'))
    {'id': '7,"label":', 'label': '[[0,3,"dru'}
    """
    begun = _FIRST.match(head)
    found: dict[str, str] = {}
    if begun is None:
        return found
    depth, key = 1, None
    for mark in _TOKEN.finditer(head, begun.end()):
        sign = mark[0]
        if sign == '"':  # never closed, so that no later quote can be either
            break
        if sign in "[{":
            depth += 1
        elif sign in "]}":
            depth -= 1
            if not depth:
                break
        elif depth == 1 and sign == ":" and key is not None:
            start = mark.end()
            found[key] = "".join(head[start : start + _GLIMPSE].split())[:_VALUE]
        key = sign[1:-1] if depth == 1 and len(sign) > 1 else None
    return found
