"""Shared parts of formats made of lines.

An example is one line (`read_lines`) or a block of lines (`read_blocks`); blocks may have comments
such as ``# key = value`` and rows of columns.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.ids import UsedIds
from kernelwood.io.source import LINE_ROOM, Extent, Item, Line, Remark, Source
from kernelwood.structures import shorten
from kernelwood.text import Example, Sentence

BLANKS = " \t"  # other white space is text

_FIELD = re.compile(r"[^ \t]+")
_BLANK_LINE = re.compile(rb"\n[ \t\r]*(?=\n)")
_GAP = re.compile(rb"\n(?:[ \t]*\r?\n)+")

# Given bytes from the beginning of a record on, returns how many of them are complete records that
# can be read without the rest, and their number; None if the rest of the file must not be cut.
Scan: TypeAlias = "Callable[[bytes], tuple[int, int] | None]"


class _Named(Protocol):
    @property
    def id(self) -> str: ...


Block: TypeAlias = list[Line]
N = TypeVar("N", bound=_Named)


def read_lines(
    source: Source,
    parse: Callable[[int, str], N],
    *,
    unique_ids: bool = True,
    json: bool = True,
) -> Iterator[N | ReadError]:
    """Yield the result of ``parse`` for each line that is not blank.

    Parameters
    ----------
    source : Source
        The file.
    parse : callable
        Takes number and text of a line; raises ``StructureError`` if the line is broken.
    unique_ids : bool
        Whether a repeated id is an error.
    json : bool
        Whether a line is a JSON text; the memory of others is estimated by their length.
    """
    used = UsedIds()
    room = source.meter.json_room if json else source.room
    for number, text, problem in source.lines():
        if problem is not None:
            yield problem
        elif text.strip(" \t\r"):
            if len(text) > room:
                large = (
                    source.large_json(text, number) if json else source.too_large(number, "line")
                )
                if large is not None:
                    yield large
                    continue
            try:
                made = parse(number, text)
            except StructureError as failure:
                yield source.error(
                    failure.problem,
                    line=number,
                    column=failure.column,
                    snippet=text,
                    hint=failure.hint,
                )
            else:
                repeated = used.check(made.id, number, source) if unique_ids else None
                yield repeated or made


def scan_lines(source: Source) -> Scan:
    r"""Return the function that finds lines; those that are not blank are records.

    Examples
    --------
    >>> import io
    >>> scan_lines(Source(io.BytesIO()))(b"{}\n \n{}\n{")
    (8, 2)
    """

    def scan(data: bytes) -> tuple[int, int] | None:
        if _has_long_line(data, source):
            return None
        end = data.rfind(b"\n") + 1
        return end, data.count(b"\n", 0, end) - len(_BLANK_LINE.findall(b"\n" + data[:end]))

    return scan


def scan_blocks(source: Source, blocks: Callable[[Source], Iterable[object]] | None = None) -> Scan:
    r"""Return the function that finds blocks of lines that end with a blank line.

    Parameters
    ----------
    source : Source
        The file.
    blocks : callable, optional
        Yields the records of a source; by default all blocks are records.

    Examples
    --------
    >>> import io
    >>> scan_blocks(Source(io.BytesIO()))(b"\na\nb\n\nc\n\n\nd\n")
    (10, 2)
    """

    def scan(data: bytes) -> tuple[int, int] | None:
        if _has_long_line(data, source):
            return None
        gaps = [match.span() for match in _GAP.finditer(b"\n" + data)]
        if not gaps:
            return 0, 0
        end = gaps[-1][1] - 1
        if blocks is None:
            return end, len(gaps) - (gaps[0][0] == 0)
        return end, sum(1 for _ in blocks(source.part(iter([data[:end]]), Extent())))

    return scan


def _has_long_line(data: bytes, source: Source) -> bool:
    limit = source.meter.limits.line
    return len(data) > limit and max(map(len, data.split(b"\n"))) > limit


class Parsed(NamedTuple):
    """The content of a block; a sentence without a name is named by its number."""

    name: str | None
    sentence: Sentence
    remarks: tuple[str, ...] = ()
    label: str | None = None


def read_blocks(
    source: Source,
    blocks: Iterable[Block],
    parse: Callable[[Block], Parsed],
    views: tuple[str, ...] | None = None,
) -> Iterator[Item]:
    """Yield an example with the view ``"sentence"`` for each block.

    Parameters
    ----------
    source : Source
        The file. The id of a sentence without a name is the stem of the file and the number of
        the block, broken ones counted. Ids must not repeat.
    blocks : iterable of list of Line
        Non-empty blocks. A block with a line that has a problem is not parsed.
    parse : callable
        Raises ``StructureError`` if the block is broken, with a line unless it is the first, and
        ``ReadError`` if the rest of the file cannot be read either.
    views : tuple of str, optional
        The examples have no views unless "sentence" is among them.
    """
    wanted = views is None or "sentence" in views
    used = UsedIds()
    for number, block in enumerate(blocks, start=source.extent.records + 1):
        first = block[0].number
        parsed = _parse(source, block, parse)
        if isinstance(parsed, ReadError):
            yield parsed
            continue
        name = parsed.name or f"{source.stem}:{number}"
        repeated = used.check(name, first, source)
        if repeated is not None:
            yield repeated
            continue
        if parsed.remarks:
            yield from map(Remark, parsed.remarks)
        parts = {"sentence": parsed.sentence} if wanted else {}
        yield Example._trusted(name, parsed.label, parts, source.origin(first))


def _parse(source: Source, block: Block, parse: Callable[[Block], Parsed]) -> Parsed | ReadError:
    for line in block:
        if line.problem is not None:
            return line.problem
    try:
        return parse(block)
    except ReadError:
        raise
    except StructureError as failure:
        return source.locate(failure, block[0].number)


def cut_at_blank_lines(lines: Iterable[Line], source: Source | None = None) -> Iterator[Block]:
    """Yield the blocks of lines between blank lines.

    A block that would take more memory than the limits of ``source`` allow becomes one line with
    the problem.

    Examples
    --------
    >>> lines = [Line(1, "a"), Line(2, "b"), Line(3, ""), Line(4, " "), Line(5, "c")]
    >>> [[line.text for line in block] for block in cut_at_blank_lines(lines)]
    [['a', 'b'], ['c']]
    """
    block: Block = []
    full = room = sys.maxsize if source is None else source.room
    for line in lines:
        if line.text.strip(BLANKS):
            # A block with an unreadable line is not parsed, so the rest of it is not kept.
            if not (block and block[-1].problem):
                block.append(line)
                room -= len(line.text) + LINE_ROOM
                if room < 0 and source is not None:
                    block = [large_block(block, source)]
        elif block:
            yield block
            block, room = [], full
    if block:
        yield block


def large_block(block: Block, source: Source) -> Line:
    """Return a line in place of a block that would take too much memory."""
    first = block[0]
    return Line(first.number, "", source.too_large(first.number, "part"))


class Row(NamedTuple):
    """A line and its fields."""

    line: Line
    fields: list[str]

    def position(self, field: int) -> int:
        """Return the column, from 1, at which a field begins; the end if there are too few."""
        text = self.line.text
        if "\t" in text or self.fields == [text]:
            return min(sum(map(len, self.fields[:field])) + field, len(text)) + 1
        starts = [match.start() for match in _FIELD.finditer(text)]
        return (starts[field] if field < len(starts) else len(text)) + 1

    def error(
        self, field: int, problem: str, hint: str | None = None, *, offset: int = 0
    ) -> StructureError:
        """Return (not raise) an error ``offset`` characters after the beginning of a field."""
        return self.line.error(self.position(field) - 1 + offset, problem, hint)


def split_row(line: Line) -> Row:
    r"""Split a line at its tabs or, if it has none, at its blanks.

    Examples
    --------
    >>> split_row(Line(1, "0\tNew York\tNNP")).fields, split_row(Line(2, "0   we  PRP")).fields
    (['0', 'New York', 'NNP'], ['0', 'we', 'PRP'])
    """
    return Row(line, line.text.split("\t") if "\t" in line.text else _FIELD.findall(line.text))


def split_comment(line: str) -> tuple[str, str | None]:
    """Return key and value of a comment, or its text and None.

    One blank after ``#`` and after ``=``, and those around the key, are not part of the content.

    Examples
    --------
    >>> split_comment("# source = a letter"), split_comment("# newpar")
    (('source', 'a letter'), ('newpar', None))
    """
    key, equals, value = line[1:].partition("=")
    if equals:
        return key.strip(), value.removeprefix(" ")
    return key.removeprefix(" "), None


def comment_line(key: str, value: str | None) -> str:
    """Return the line from which :func:`split_comment` gives this key and value.

    Examples
    --------
    >>> comment_line("source", "a letter"), comment_line("newpar", None)
    ('# source = a letter', '# newpar')
    """
    line = f"# {key}" if value is None else f"# {key} = {value}"
    if "\n" in line or "\r" in line or split_comment(line) != (key, value):
        raise StructureError(
            f"the comment {shorten(repr((key, value)))} would not read back",
            hint="a comment is one line without line breaks; a key has no '=' and no blanks "
            "around it, a text without a value no '='",
        )
    return line
