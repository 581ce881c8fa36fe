r"""CoNLL-U, the format of Universal Dependencies: one line per word, blank lines after sentences.

::

    # sent_id = letter-1
    # text = Dámelo ya
    1-2  Dámelo  _    _     _  _  _  _       _  _
    1    Dame    dar  VERB  _  _  0  root    _  _
    2    lo      él   PRON  _  _  1  obj     _  _
    3    ya      ya   ADV   _  _  1  advmod  _  _

The columns ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS and MISC are separated by tabs.
They become the view ``"sentence"``:

====================  ============================================================================
in the file           in the ``Sentence``
====================  ============================================================================
word ``3``            a token; UPOS is its ``pos``, XPOS its ``tag``, FEATS and MISC as written
HEAD and DEPREL       ``dependencies``; a tree or several, several roots are allowed
DEPS                  ``enhanced``, any graph
range ``1-2``         ``multiwords``; the words inside share the characters of the range
empty node ``8.1``    ``empty``
``# sent_id = x``     the id of the example
``# text = x``        the text, which words must follow exactly with only blanks between; without
                      it words are joined by blanks, except after ``SpaceAfter=No``
other comments        ``metadata``: ``("key", "value")``, or ``("all of it", None)`` without ``=``
====================  ============================================================================

``_`` means unknown and becomes ``""``, except in the form of a word, which is always known: there
it is an underscore, and so is the lemma ``_`` of that word.
"""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from typing import IO, NamedTuple

import lazy_loader

from kernelwood.errors import StructureError
from kernelwood.io.alignment import MisfitError, place_words
from kernelwood.io.atomic import write_text
from kernelwood.io.lines import (
    Block,
    Parsed,
    Row,
    Scan,
    comment_line,
    cut_at_blank_lines,
    read_blocks,
    scan_blocks,
    split_comment,
)
from kernelwood.io.selection import view_to_write, write_each
from kernelwood.io.source import Item, Line, Source
from kernelwood.structures import shorten
from kernelwood.text import (
    ROOT,
    Dependency,
    EmptyNode,
    Example,
    Multiword,
    Sentence,
    Span,
    Token,
)

# The grammar of ids and heads is that of the conllu package, imported when a file is read. All
# else is taken from the columns as written: the package splits at double blanks, strips lines, and
# turns features and comments into dictionaries, which lose order and repetition.
conllu = lazy_loader.load("conllu")

_COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_ID, _FORM, _LEMMA, _UPOS, _XPOS, _FEATS, _HEAD, _DEPREL, _DEPS, _MISC = range(10)
_LONGEST_NUMBER = 40  # digits; ids are short, and longer numbers only cost time
_NUMBERING = (
    "words are numbered 1, 2, 3, ...; 1-2 stands before words 1 and 2 that are written as one, "
    "2.1 after word 2 for a word that is not in the text"
)
_FIRST_WORD = re.compile(
    r"(?:1|1-[1-9][0-9]*|0\.1)\t(?:[^\t\n]+\t){5}(?:_|[0-9]+)\t[^\t\n]+\t(?:_|[0-9][^\t\n]*)\t[^\t\n]+"
)
_TEXT = re.compile(r"#\s*text\s*=")


def looks_like_conllu(head: str) -> bool:
    r"""Return whether a file that begins with ``head`` may be CoNLL-U.

    Examples
    --------
    >>> looks_like_conllu("# text = go\n1\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n")
    True
    >>> looks_like_conllu("1 go go VERB")
    False
    """
    has_text = False
    for line in head.split("\n"):
        if line.startswith("#"):
            has_text = has_text or bool(_TEXT.match(line))
        elif line.strip():
            return bool(_FIRST_WORD.fullmatch(line.removesuffix("\r")))
    return has_text


def read_conllu(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example with the view ``"sentence"`` for each sentence.

    The id is the sent_id, else the stem of the file and the number of the sentence, broken ones
    counted; the origin is the first line of the sentence, comments included. Columns of multiword
    tokens and empty nodes that a `Sentence` cannot hold are left out with a remark.
    """

    def parse(block: Block) -> Parsed:
        _check_columns(source, block)
        return _parse_sentence(block)

    return read_blocks(source, cut_at_blank_lines(source.lines(), source), parse, views)


def scan_conllu(source: Source) -> Scan:
    """Return the function that finds sentences, up to a comment that declares other columns."""
    find = scan_blocks(source)

    def scan(data: bytes) -> tuple[int, int] | None:
        if b"global.columns" in data:
            lines = data.decode("utf-8", "replace").split("\n")
            comments = (line.removesuffix("\r") for line in lines if line.startswith("#"))
            if any(_names_other_columns(*split_comment(line)) for line in comments):
                return None
        return find(data)

    return scan


def _check_columns(source: Source, block: Block) -> None:
    for line in takewhile(lambda line: line.text.startswith("#"), block):
        if _names_other_columns(*split_comment(line.text)):
            raise source.error(
                "this is CoNLL-U Plus, which declares other columns",
                line=line.number,
                column=line.text.index("=") + 1 if "=" in line.text else 1,
                snippet=line.text,
                hint="keep the ten columns of CoNLL-U, in their order, and drop this comment",
            )


@dataclass
class _Comments:
    """The comments above the words; ``text_line`` is the line of the text."""

    n_lines: int = 0
    name: str | None = None
    text: str | None = None
    text_line: Line | None = None
    others: list[tuple[str, str | None]] = field(default_factory=list)


def _names_other_columns(key: str, value: str | None) -> bool:
    """Return whether a comment declares other columns than CoNLL-U has, as in CoNLL-U Plus.

    Examples
    --------
    >>> _names_other_columns("global.columns", "ID FORM UPOS"), _names_other_columns("newpar", None)
    (True, False)
    """
    return key == "global.columns" and tuple((value or "").split()) != _COLUMNS


def _read_comments(block: Iterable[Line]) -> _Comments:
    """Return the comments at the beginning of a block."""
    found = _Comments()
    for line in takewhile(lambda line: line.text.startswith("#"), block):
        found.n_lines += 1
        key, value = split_comment(line.text)
        if value is None or key not in ("sent_id", "text"):
            found.others.append((key, value))
        elif key == "sent_id":
            found.name = _check_name(value, line, found.name)
        elif found.text is not None:
            raise _twice(key, line)
        else:
            found.text, found.text_line = value, line
    return found


def _check_name(value: str, line: Line, before: str | None) -> str:
    if before is not None:
        raise _twice("sent_id", line)
    name = value.strip()
    if not name:
        hint = "give the sentence a name, or leave the comment out"
        raise line.error(len(line.text), "the sent_id is empty", hint)
    return name


def _twice(key: str, line: Line) -> StructureError:
    return line.error(
        line.text.index(key),
        f"the sentence has a second comment '{key}'",
        "leave one of them out; a blank line is missing if two sentences were joined",
    )


class _Range(NamedTuple):
    row: Row
    first: int
    end: int


@dataclass
class _Layout:
    """The lines of a sentence by kind; ``indices`` maps parsed ids to indices."""

    words: list[Row] = field(default_factory=list)
    ranges: list[_Range] = field(default_factory=list)
    empty: list[tuple[Row, int]] = field(default_factory=list)
    indices: dict[Hashable, int] = field(default_factory=dict)


def _parse_sentence(block: Sequence[Line]) -> Parsed:
    r"""Return the sentence that the lines of a block describe.

    Examples
    --------
    >>> lines = ["1\tWe\twe\tPRON\t_\t_\t2\tnsubj\t_\t_", "2\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_"]
    >>> _parse_sentence([Line(1, lines[0]), Line(2, lines[1])]).sentence
    Sentence('We go', 2 tokens, 2 dependencies)
    """
    for line in block:
        if "\r" in line.text:
            raise _carriage_return(line)
    comments = _read_comments(block)
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
        raise row.error(place, f"the column {_COLUMNS[place]} is empty", "'_' says: not known")
    if "\t" not in line.text and len(line.text.split()) > 1:
        hint = "columns are separated by tabs, here there are only blanks"
    else:
        hint = "every word has " + ", ".join(_COLUMNS) + "; '_' says: not known"
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
        value: int | tuple[int, str, int] | None = conllu.parser.parse_id_value(written)
    except conllu.exceptions.ParseException:
        return None
    # The package takes 08.1 for 8.1.
    return None if written.startswith("0") and written[1:2].isdigit() else value


def _units(layout: _Layout) -> list[_Range]:
    rows = {first: row for row, first, _ in layout.ranges}
    return [
        _Range(rows.get(first, layout.words[first]), first, end)
        for first, end in _written_units(
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


def _place(text: str, units: list[_Range], comments: _Comments) -> list[Span]:
    try:
        return place_words(text, [unit.row.fields[_FORM] for unit in units])
    except MisfitError as failure:
        index, position = failure.index, failure.position
    rest = shorten(repr(text[position : position + 60]), 40)
    if index < len(units):
        row = units[index].row
        name, form = row.fields[:2]
        follows = f"there it continues with {rest}" if position < len(text) else "there it ends"
        raise row.error(
            _FORM,
            f"word {name} {shorten(repr(form))} does not continue the text "
            f"at character {position + 1}",
            f"{follows}; correct the word, or the comment 'text'",
        )
    line = comments.text_line or units[-1].row.line
    raise line.error(
        len(line.text) - len(text) + position,
        f"the text continues after the last word, at character {position + 1}: {rest}",
        "add the missing words, or correct the text",
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
                    # The form is always known, so here "_" is an underscore, and so is its lemma.
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
    cycle = find_cycle(heads)
    if cycle:
        raise _cyclic(layout, cycle)
    return tuple(edges)


def _parse_head(row: Row, layout: _Layout) -> int | None:
    written = row.fields[_HEAD]
    if written == "_":
        return None
    try:
        number = conllu.parser.parse_int_value(written) if len(written) <= _LONGEST_NUMBER else None
    except conllu.exceptions.ParseException:
        number = None
    head = layout.indices.get(number)
    if head is None:
        raise row.error(
            _HEAD,
            f"the head {shorten(repr(written))} is none of the {len(layout.words)} words",
            "a head is the id of a word; 0 marks a root, '_' a word without a head",
        )
    return head


def _cyclic(layout: _Layout, cycle: list[int]) -> StructureError:
    named = [
        f"{index + 1} {shorten(repr(layout.words[index].fields[_FORM]), 20)}" for index in cycle
    ]
    if len(cycle) == 1:
        problem = f"word {named[0]} is its own head"
    else:
        shown = ", ".join(named[:5]) + (", ..." if len(named) > 5 else "")
        problem = f"the heads of {len(cycle)} words form a cycle: {shown}"
    row = layout.words[min(cycle)]
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
                    else f"the enhanced head {shorten(repr(head))} is not a word of the sentence",
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
    """Yield a remark for each column that a `Sentence` cannot hold."""
    for range_ in layout.ranges:
        for column in range(_LEMMA, _MISC):
            if range_.row.fields[column] != "_":
                yield f"{_COLUMNS[column]} of a multiword token is left out"
    for row, _ in layout.empty:
        for column in (_HEAD, _DEPREL):
            if row.fields[column] != "_":
                yield f"{_COLUMNS[column]} of an empty node is left out"


def _written_units(n_words: int, ranges: Iterable[Span]) -> list[Span]:
    """Return the units of the text: the ranges, and each word outside of them.

    Parameters
    ----------
    n_words : int
        The number of words.
    ranges : iterable of (first, end)
        The words of each multiword token, in order and without overlap.

    Examples
    --------
    >>> _written_units(4, [(1, 3)])
    [(0, 1), (1, 3), (3, 4)]
    """
    units: list[Span] = []
    position = 0
    for first, end in ranges:
        units += [(index, index + 1) for index in range(position, first)]
        units.append((first, end))
        position = end
    return units + [(index, index + 1) for index in range(position, n_words)]


def find_cycle(heads: Sequence[int]) -> list[int]:
    """Return the indices of words whose heads form a cycle; an empty list if there is none.

    Parameters
    ----------
    heads : sequence of int
        The index of the head of each word, negative for a root and for a word without a head.

    Examples
    --------
    >>> find_cycle([1, -1, 1]), find_cycle([2, -1, 0])
    ([], [0, 2])
    """
    seen = [0] * len(heads)
    for number in range(1, len(heads) + 1):
        word = number - 1
        while word >= 0 and not seen[word]:
            seen[word] = number
            word = heads[word]
        if word >= 0 and seen[word] == number:
            cycle = [word]
            while heads[cycle[-1]] != word:
                cycle.append(heads[cycle[-1]])
            return cycle
    return []


def conllu_text(examples: Iterable[Example], *, view: str = "sentence") -> Iterator[str]:
    r"""Yield the lines of each example and a blank line; parameters are those of `write_conllu`.

    Examples
    --------
    >>> sentence = Sentence.from_words(["go"], dependencies=[(-1, "root", 0)])
    >>> next(conllu_text([Example("a", views={"sentence": sentence})]))
    '# sent_id = a\n# text = go\n1\tgo\t_\t_\t_\t_\t0\troot\t_\t_\n\n'
    """
    return write_each(examples, lambda example: _written(example, view))


def _written(example: Example, view: str) -> str:
    sentence = view_to_write(example, view, Sentence)
    if not sentence.tokens:
        raise StructureError(
            "the sentence has no tokens", hint="the format has a line for every word"
        )
    lines = _comments(example.id, sentence) + _word_lines(sentence)
    for line in lines:
        _check_line(line)
    return "\n".join(lines) + "\n\n"


def _comments(name: str, sentence: Sentence) -> list[str]:
    if not name or name != name.strip():
        raise StructureError("the id is empty or has blanks around it", hint="rename the example")
    lines = []
    for key, value in sentence.metadata:
        if value is not None and key in ("sent_id", "text"):
            raise StructureError(
                f"its metadata has the key '{key}', which is written by itself",
                hint="sent_id is the id of the example, text that of the sentence",
            )
        if _names_other_columns(key, value):
            raise StructureError(
                "its metadata declares other columns than those of CoNLL-U",
                hint="leave 'global.columns' out",
            )
        lines.append(comment_line(key, value))
    return [*lines, f"# sent_id = {name}", f"# text = {sentence.text}"]


def _check_line(line: str) -> None:
    if "\n" in line or "\r" in line:
        raise StructureError(
            f"there is a line break in {shorten(repr(line))}",
            hint="replace line breaks in text and annotation by blanks",
        )


def _word_lines(sentence: Sentence) -> list[str]:
    _check_multiwords(sentence.multiwords)
    _check_places(sentence)
    names = _names(sentence)
    heads = _head_columns(sentence)
    enhanced = _enhanced_columns(sentence, names)
    ranges = {word.first: word for word in sentence.multiwords}
    n_tokens = len(sentence.tokens)
    hidden = [
        (node.after, _empty_line(node, names[n_tokens + k], enhanced[n_tokens + k]))
        for k, node in enumerate(sentence.empty)
    ]
    hidden.reverse()
    lines: list[str] = []
    for index in range(-1, n_tokens):
        if index in ranges:
            lines.append(_range_line(ranges[index]))
        if index >= 0:
            token = sentence.tokens[index]
            lines.append(_token_line(token, names[index], heads[index], enhanced[index]))
        while hidden and hidden[-1][0] == index:
            lines.append(hidden.pop()[1])
    return lines


def _check_multiwords(multiwords: tuple[Multiword, ...]) -> None:
    for before, after in pairwise(multiwords):
        if after.first < before.end:
            raise StructureError(
                f"the multiword tokens {shorten(repr(before.text))} and "
                f"{shorten(repr(after.text))} overlap or stand in the wrong order",
                hint="sort them, and let each word be part of one",
            )


def _check_places(sentence: Sentence) -> None:
    """Raise unless the reader would find the words at their offsets in the sentence."""
    tokens = sentence.tokens
    units = _written_units(len(tokens), [(word.first, word.end) for word in sentence.multiwords])
    joined = {word.first: word.text for word in sentence.multiwords}
    forms = [_form(joined.get(first, tokens[first].text)) for first, _ in units]
    try:
        spans = place_words(sentence.text, forms)
    except MisfitError as failure:
        rest = shorten(repr(sentence.text[failure.position : failure.position + 60]), 40)
        what = "the text continues after the last word"
        if failure.index < len(units):
            name, form = units[failure.index][0] + 1, shorten(repr(forms[failure.index]))
            what = f"word {name} {form} does not continue the text"
        raise StructureError(
            f"{what} at character {failure.position + 1}, {rest}",
            hint="only blanks may stand between words; Sentence.from_words makes a text of words",
        ) from None
    for (first, end), form, (start, stop) in zip(units, forms, spans, strict=True):
        for token in tokens[first:end]:
            if (token.start, token.end) != (start, stop):
                raise StructureError(
                    f"word {first + 1} {shorten(repr(form))} stands at [{token.start}, "
                    f"{token.end}), and would be read back at [{start}, {stop})",
                    hint="words stand in the order of the text; "
                    "those of a multiword token share its characters",
                )


def _names(sentence: Sentence) -> list[str]:
    names = [str(number) for number in range(1, len(sentence.tokens) + 1)]
    before, minor = ROOT, 0
    for node in sentence.empty:
        if node.after < before:
            raise StructureError(
                f"the empty node after token {node.after} stands behind one after token {before}",
                hint="sort the empty nodes by their place, and renumber the enhanced dependencies",
            )
        minor = minor + 1 if node.after == before else 1
        before = node.after
        names.append(f"{node.after + 1}.{minor}")
    return [*names, "0"]  # so that names[ROOT] is the id of the root


def _head_columns(sentence: Sentence) -> list[tuple[str, str]]:
    columns = [("_", "_")] * len(sentence.tokens)
    heads = [ROOT] * len(sentence.tokens)
    for head, relation, dependent in sentence.dependencies:
        if columns[dependent] != ("_", "_"):
            raise StructureError(
                f"word {dependent + 1} has two heads",
                hint="dependencies with several heads belong into 'enhanced'",
            )
        heads[dependent] = head
        columns[dependent] = str(head + 1), _column(relation, "DEPREL")
    cycle = find_cycle(heads)
    if cycle:
        raise StructureError(
            f"the heads of {len(cycle)} words form a cycle, that of word {min(cycle) + 1} "
            "among them",
            hint="put dependencies that do not form a tree into 'enhanced'",
        )
    return columns


def _enhanced_columns(sentence: Sentence, names: list[str]) -> list[str]:
    parts: list[list[str]] = [[] for _ in names]
    for edge in sentence.enhanced:
        parts[edge.dependent].append(_enhanced_part(edge, names[edge.head]))
    return ["|".join(written) or "_" for written in parts]


def _enhanced_part(edge: Dependency, head: str) -> str:
    relation = _column(edge.relation, "DEPS")
    if "|" in relation:
        raise StructureError(
            f"the enhanced relation {shorten(repr(relation))} has a '|', which separates relations",
            hint="rename the relation",
        )
    return f"{head}:{relation}"


def _column(value: str, name: str) -> str:
    if value == "_":
        raise StructureError(f"{name} is '_', which says: not known", hint='write ""')
    if "\t" in value:
        raise StructureError(
            f"there is a tab in {name}, {shorten(repr(value))}", hint="tabs separate columns"
        )
    return value or "_"


def _form(value: str) -> str:
    if not value:
        raise StructureError("a word is empty", hint="leave it out")
    return value if value == "_" else _column(value, "FORM")


def _lemma(token: Token) -> str:
    if token.text != "_":
        return _column(token.lemma, "LEMMA")
    if not token.lemma:
        raise StructureError(
            "a word '_' has no lemma, and would be read back with the lemma '_'",
            hint="give it the lemma '_'",
        )
    return token.lemma if token.lemma == "_" else _column(token.lemma, "LEMMA")


def _token_line(token: Token, name: str, head: tuple[str, str], enhanced: str) -> str:
    columns = [
        name,
        _form(token.text),
        _lemma(token),
        _column(token.pos, "UPOS"),
        _column(token.tag, "XPOS"),
        _column(token.features, "FEATS"),
        *head,
        enhanced,
        _column(token.misc, "MISC"),
    ]
    return "\t".join(columns)


def _range_line(word: Multiword) -> str:
    misc = _column(word.misc, "MISC")
    blank = ["_"] * 7
    return "\t".join([f"{word.first + 1}-{word.end}", _form(word.text), *blank, misc])


def _empty_line(node: EmptyNode, name: str, enhanced: str) -> str:
    described = (node.text, node.lemma, node.pos, node.tag, node.features)
    columns = [_column(value, _COLUMNS[i]) for i, value in enumerate(described, start=1)]
    return "\t".join([name, *columns, "_", "_", enhanced, _column(node.misc, "MISC")])


def write_conllu(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    view: str = "sentence",
) -> None:
    r"""Write sentences as CoNLL-U; reading them gives the same ids and sentences.

    Tokens, dependencies (basic and enhanced), empty nodes, multiword tokens and metadata are
    written, dependencies in the order of the words. Labels, origins, constituency trees, AMR
    graphs, entities, relations, events, attributes, predicates, and the place of the sentence in
    its document are not.

    Parameters
    ----------
    examples : iterable of Example
        Each has a sentence with tokens in ``view``, and an id of its own.
    path : str, PathLike or text stream
        Replaced only when everything is written; see :func:`kernelwood.io.write`.
    view : str
        Name of the sentence.

    Raises
    ------
    StructureError
        If the file would not read back the same: words that do not follow one another in the
        text, a line break or tab, a word with two heads, a cycle of heads.

    Examples
    --------
    >>> import io
    >>> from kernelwood.text import Sentence
    >>> out = io.StringIO()
    >>> sentence = Sentence.from_words(["we", "go"], dependencies=[(1, "nsubj", 0)])
    >>> write_conllu([Example("a", views={"sentence": sentence})], out)
    >>> out.getvalue().splitlines()[2]
    '1\twe\t_\t_\t_\t_\t2\tnsubj\t_\t_'
    """
    write_text(path, conllu_text(examples, view=view))
