"""From the lines of one CoNLL-U sentence to a ``Sentence``.

The grammar of ids and heads is that of the ``conllu`` package. Everything else is taken from the
columns as they are written, because the package splits at double blanks, strips lines, and turns
features and comments into dictionaries, which forget order and repetition.

Problems are raised as ``StructureError`` with line and column; the reader adds the file.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from conllu.exceptions import ParseException
from conllu.parser import parse_id_value, parse_int_value

from kernelwood.errors import StructureError
from kernelwood.io.alignment import MisfitError, place_words
from kernelwood.io.blocks import Parsed
from kernelwood.io.conllu_checks import COLUMNS, find_circle, written_units
from kernelwood.io.conllu_comments import Comments, read_comments
from kernelwood.io.rows import Row
from kernelwood.io.source import Line
from kernelwood.structures import shorten
from kernelwood.text import ROOT, Dependency, EmptyNode, Multiword, Sentence, Span, Token

__all__ = ["parse_sentence"]

_ID, _FORM, _LEMMA, _UPOS, _XPOS, _FEATS, _HEAD, _DEPREL, _DEPS, _MISC = range(10)
_LONGEST_NUMBER = 40  # ids are short; longer digits would only make work


class _Range(NamedTuple):
    row: Row
    first: int
    end: int


@dataclass
class _Layout:
    """The lines of a sentence sorted by kind; ``indices`` maps parsed ids to indices."""

    words: list[Row] = field(default_factory=list)
    ranges: list[_Range] = field(default_factory=list)
    empty: list[tuple[Row, int]] = field(default_factory=list)
    indices: dict[Hashable, int] = field(default_factory=dict)


def parse_sentence(block: Sequence[Line]) -> Parsed:
    r"""Return the sentence that the lines of a block describe.

    Examples
    --------
    >>> lines = ["1\tWe\twe\tPRON\t_\t_\t2\tnsubj\t_\t_", "2\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_"]
    >>> parse_sentence([Line(1, lines[0]), Line(2, lines[1])]).sentence
    Sentence('We go', 2 tokens, 2 dependencies)
    """
    for line in block:
        if "\r" in line.text:
            raise _carriage_return(line)
    comments = read_comments(block)
    rows = [_split(line) for line in block[comments.n_lines :]]
    layout = _sort(rows)
    if not layout.words:
        raise StructureError(
            "the sentence has no words",
            line=block[0].number,
            hint="a blank line ends a sentence; comments stand directly above the first word",
        )
    units = _units(layout)
    text = _join(units) if comments.text is None else comments.text
    spans = _place(text, units, comments)
    sentence = Sentence(
        text,
        _tokens(layout, units, spans),
        _dependencies(layout),
        enhanced=tuple(_enhanced(rows, layout)),
        empty=tuple(_empty_node(row, after) for row, after in layout.empty),
        multiwords=tuple(_multiword(range_) for range_ in layout.ranges),
        metadata=tuple(comments.others),
    )
    return Parsed(comments.name, sentence, tuple(_remarks(layout)))


def _carriage_return(line: Line) -> StructureError:
    return StructureError(
        "there is a stray carriage return",
        line=line.number,
        column=line.text.index("\r") + 1,
        snippet=line.text.replace("\r", " "),
        hint="lines end in a line feed, with one carriage return before it or none",
    )


def _split(line: Line) -> Row:
    columns = line.text.split("\t")
    row = Row(line, columns)
    if len(columns) == 10 and all(columns):
        return row
    if line.text.startswith("#"):
        raise row.error(0, "a comment stands within a sentence", "move it above the first word")
    if len(columns) == 10:
        place = columns.index("")
        raise row.error(place, f"the column {COLUMNS[place]} is empty", "'_' says: not known")
    if "\t" not in line.text and len(line.text.split()) > 1:
        hint = "columns are separated by tabs, here there are only blanks"
    else:
        hint = "every word has " + ", ".join(COLUMNS) + "; '_' says: not known"
    found = f"{len(columns)} column{'s' * (len(columns) != 1)}"
    raise row.error(min(len(columns), 10), f"the line has {found} instead of 10", hint)


def _sort(rows: list[Row]) -> _Layout:
    layout = _Layout(indices={0: ROOT})
    words, ranges, empty, indices = layout.words, layout.ranges, layout.empty, layout.indices
    covered = 0  # the last word of a range
    n_after = 0  # the empty nodes since the last word
    for row in rows:
        count = len(words)
        match _parse_id(row.fields[_ID]):
            case int(number) if number == count + 1:
                indices[number] = count
                words.append(row)
                n_after = 0
            case (first, "-", last) if first == count + 1 and covered <= count:
                ranges.append(_Range(row, count, last))
                covered = last
            case (word, ".", number) if (
                word == count
                and number == n_after + 1
                and not (ranges and ranges[-1].first == count)
            ):
                empty.append((row, count - 1))
                n_after = number
            case _:
                raise _misnumbered(row, count, n_after)
    if covered > len(words):
        raise ranges[-1].row.error(
            _ID, f"the range leads to word {covered} of {len(words)}", _NUMBERING
        )
    for number, (row, _) in enumerate(empty):
        indices[_parse_id(row.fields[_ID])] = len(words) + number
    return layout


_NUMBERING = (
    "words are numbered 1, 2, 3, ...; 1-2 stands before words 1 and 2 that are written as one, "
    "2.1 after word 2 for a word that is not in the text"
)


def _misnumbered(row: Row, n_words: int, n_after: int) -> StructureError:
    wanted = [str(n_words + 1), f"{n_words}.{n_after + 1}"]
    return row.error(
        _ID,
        f"the id is {shorten(repr(row.fields[_ID]))} where {' or '.join(wanted)} is expected",
        _NUMBERING,
    )


def _parse_id(written: str) -> int | tuple[int, str, int] | None:
    """Return the id in the form of the package: 3, (1, "-", 2) or (8, ".", 1); None if broken."""
    if len(written) > _LONGEST_NUMBER:
        return None
    try:
        value: int | tuple[int, str, int] | None = parse_id_value(written)
    except ParseException:
        return None
    # The package takes 08.1 for 8.1.
    return None if written.startswith("0") and written[1:2].isdigit() else value


def _units(layout: _Layout) -> list[_Range]:
    rows = {first: row for row, first, _ in layout.ranges}
    return [
        _Range(rows.get(first, layout.words[first]), first, end)
        for first, end in written_units(
            len(layout.words), [(first, end) for _, first, end in layout.ranges]
        )
    ]


def _join(units: list[_Range]) -> str:
    pieces: list[str] = []
    for unit in units:
        pieces.append(unit.row.fields[_FORM])
        misc = unit.row.fields[_MISC]
        glued = misc != "_" and "SpaceAfter=No" in misc.split("|")
        pieces.append("" if glued else " ")
    return "".join(pieces[:-1])


def _place(text: str, units: list[_Range], comments: Comments) -> list[Span]:
    try:
        return place_words(text, [unit.row.fields[_FORM] for unit in units])
    except MisfitError as failure:
        index, position = failure.index, failure.position
    rest = shorten(repr(text[position : position + 60]), 40)
    if index < len(units):
        row = units[index].row
        name, form = row.fields[:2]
        goes_on = f"there it goes on with {rest}" if position < len(text) else "there it ends"
        raise row.error(
            _FORM,
            f"word {name} {shorten(repr(form))} does not continue the text "
            f"at character {position + 1}",
            f"{goes_on}; correct the word, or the comment 'text'",
        )
    line = comments.text_line or units[-1].row.line
    raise StructureError(
        f"the text goes on after the last word, at character {position + 1}: {rest}",
        line=line.number,
        column=len(line.text) - len(text) + position + 1,
        snippet=line.text,
        hint="add the missing words, or correct the text",
    )


def _tokens(layout: _Layout, units: list[_Range], spans: list[Span]) -> tuple[Token, ...]:
    tokens: list[Token] = []
    for unit, (start, end) in zip(units, spans, strict=True):
        for row in layout.words[unit.first : unit.end]:
            _, form, lemma, upos, xpos, features, _, _, _, misc = row.fields
            tokens.append(
                Token(
                    form,
                    start,
                    end,
                    # A form is always known, so this underscore is one, and its lemma as well.
                    "" if lemma == "_" != form else lemma,
                    _known(upos),
                    _known(xpos),
                    _known(features),
                    _known(misc),
                )
            )
    return tuple(tokens)


def _known(written: str) -> str:
    return "" if written == "_" else written


def _dependencies(layout: _Layout) -> tuple[Dependency, ...]:
    heads: list[int] = []
    edges: list[Dependency] = []
    for index, row in enumerate(layout.words):
        head = _parse_head(row, layout)
        heads.append(ROOT if head is None else head)
        if head is not None:
            edges.append(Dependency(head, _known(row.fields[_DEPREL]), index))
        elif row.fields[_DEPREL] != "_":
            raise row.error(
                _DEPREL,
                f"the word has a relation, {shorten(repr(row.fields[_DEPREL]))}, but no head",
                "write its head, or '_' for both",
            )
    circle = find_circle(heads)
    if circle:
        raise _circular(layout, circle)
    return tuple(edges)


def _parse_head(row: Row, layout: _Layout) -> int | None:
    written = row.fields[_HEAD]
    if written == "_":
        return None
    try:
        number = parse_int_value(written) if len(written) <= _LONGEST_NUMBER else None
    except ParseException:
        number = None
    head = layout.indices.get(number)
    if head is None:
        raise row.error(
            _HEAD,
            f"the head {shorten(repr(written))} is none of the {len(layout.words)} words",
            "a head is the id of a word; 0 marks a root, '_' a word without a head",
        )
    return head


def _circular(layout: _Layout, circle: list[int]) -> StructureError:
    named = [
        f"{index + 1} {shorten(repr(layout.words[index].fields[_FORM]), 20)}" for index in circle
    ]
    if len(circle) == 1:
        problem = f"word {named[0]} is its own head"
    else:
        shown = ", ".join(named[:5]) + (", ..." if len(named) > 5 else "")
        problem = f"the heads of {len(circle)} words run in a circle: {shown}"
    row = layout.words[min(circle)]
    return row.error(_HEAD, problem, "every word hangs from a root; 0 marks one")


def _enhanced(rows: list[Row], layout: _Layout) -> Iterator[Dependency]:
    for row in rows:
        written = row.fields[_DEPS]
        if written == "_" or "-" in row.fields[_ID]:
            continue
        dependent = layout.indices[_parse_id(row.fields[_ID])]
        offset = 0
        for part in written.split("|"):
            head, _, relation = part.partition(":")
            index = layout.indices.get(_parse_id(head))
            if index is None or not relation:
                raise row.error(
                    _DEPS,
                    f"the enhanced dependency {shorten(repr(part))} has no head or no relation"
                    if not head or not relation
                    else f"the enhanced head {shorten(repr(head))} is no word of the sentence",
                    "write head:relation, several with | between; empty nodes have heads like 8.1",
                    offset=offset,
                )
            yield Dependency(index, _known(relation), dependent)
            offset += len(part) + 1


def _empty_node(row: Row, after: int) -> EmptyNode:
    columns = row.fields
    known = [_known(columns[i]) for i in (_FORM, _LEMMA, _UPOS, _XPOS, _FEATS, _MISC)]
    return EmptyNode(after, *known)


def _multiword(range_: _Range) -> Multiword:
    columns = range_.row.fields
    return Multiword(range_.first, range_.end, columns[_FORM], _known(columns[_MISC]))


def _remarks(layout: _Layout) -> Iterator[str]:
    """Say what the sentence has no place for."""
    for range_ in layout.ranges:
        for column in range(_LEMMA, _MISC):
            if range_.row.fields[column] != "_":
                yield f"{COLUMNS[column]} of a multiword token is left out"
    for row, _ in layout.empty:
        for column in (_HEAD, _DEPREL):
            if row.fields[column] != "_":
                yield f"{COLUMNS[column]} of an empty node is left out"
