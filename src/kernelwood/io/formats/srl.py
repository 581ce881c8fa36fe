"""Semantic roles in columns, one line per word: the layout of CoNLL-2012, and a short form.

The short layout has tabs between index, word, part of speech, parse bit, lemma, roleset and one
column of roles for each predicate; ``-`` means none::

    # sent_id = s1
    0   She      PRP   (TOP(S(NP*)   -      -         (ARG0*)
    1   reads    VBZ   (VP*          read   read.01   (V*)
    2   novels   NNS   (NP*)))       -      -         (ARG1*)

A blank line ends a sentence. Comments become metadata, except ``# sent_id = ...``, the id. The
layout of CoNLL-2012, separated by blanks or tabs, has document, part, word number, word, part of
speech, parse bit, lemma, roleset, word sense, speaker, named entities, roles and coreference;
`_find_layout` tells the layouts apart, sentence by sentence.

==================  ==============================================================================
column              in the sentence
==================  ==============================================================================
word                tokens; the text is the words joined by blanks
part of speech      ``tag`` of the token, and the node above the word in the tree
parse bit           ``tree`` without its outermost bracket ``TOP`` or ``ROOT``, if that holds one
                    constituent; None if there are no brackets at all
lemma, roleset      ``lemma`` of the token; ``lemma`` and ``sense`` of the predicate
roles               ``arguments`` of the predicate in the order in which they open, with ``R-``
                    (reference) and ``C-`` (continuation) as written
named entities      ``entities``
document, part,     ``metadata``; the speaker if there is one
speaker
word sense,         left out with a remark in the tally
coreference
==================  ==============================================================================

A single ``V`` on the word of the predicate is left out. A ``V`` of several words or on another
word, and every ``C-V``, is kept among the arguments; skip the roles in :data:`VERB_ROLES` to count
arguments proper.

A cell such as ``(S(NP*)`` opens two brackets before its word and closes one after it; the star
stands for the word. No function recurses, so brackets may nest to any depth.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

from kernelwood.errors import StructureError
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
    split_row,
)
from kernelwood.io.selection import view_to_write, write_each
from kernelwood.io.source import Item, Line, Source
from kernelwood.structures import Tree, make_node, shorten
from kernelwood.text import Entity, Example, Predicate, RoleSpan, Sentence, Token

VERB_ROLES = ("V", "C-V")

_TOPS = ("TOP", "ROOT")
_DOCUMENT_MARK = re.compile(r"#[ \t]*(?:begin|end) document\b")  # belongs to no sentence
_CELL = re.compile(r"((?:\([^()*]+)*)\*(\)*)")
_ONE_WORD = re.compile(r"\([^()*]+\)")
_MAX_NESTED_NAMES = 50
_NUMBER = re.compile(r"[0-9]{1,9}")
_CELL_WORD = re.compile(r"[^\t\n\r]+")
_BRACKET_LABEL = re.compile(r"[^\t\n\r()*]+")


def looks_like_srl(head: str) -> bool:
    r"""Return whether a file that begins with ``head`` may hold columns of semantic roles.

    Examples
    --------
    >>> looks_like_srl("# sent_id = 1\n0\twe\tPRP\t(S*)\t-\t-\n"), looks_like_srl("(S (NP we))")
    (True, False)
    """
    if _DOCUMENT_MARK.match(head.lstrip()):
        return True
    lines = (line.rstrip("\r") for line in head.split("\n"))
    first = next((line for line in lines if line.strip(" \t") and line[0] != "#"), "")
    return _find_layout(split_row(Line(1, first)).fields) is not None


def read_srl(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example with the view ``"sentence"`` for each block of lines.

    The id is that of ``# sent_id``, else the stem of the file and the number of the sentence,
    broken ones counted. A block of comments only is ignored, unless it has a ``sent_id``: then it
    is a sentence without words, which is an error.
    """
    return read_blocks(source, _blocks(source), _parse, views)


def scan_srl(source: Source) -> Scan:
    """Return the function that finds sentences."""
    return scan_blocks(source, _blocks)


def _blocks(source: Source) -> Iterator[Block]:
    """Yield the lines of each sentence, comments included."""
    for lines in cut_at_blank_lines(source.lines(), source):
        block = [line for line in lines if line.problem or not _DOCUMENT_MARK.match(line.text)]
        if any(line.problem or not _is_comment(line) or _names(line) for line in block):
            yield block


def _is_comment(line: Line) -> bool:
    return line.text.startswith("#")


def _names(line: Line) -> bool:
    return split_comment(line.text)[0] == "sent_id"


def _parse(block: Block) -> Parsed:
    comments = [split_comment(line.text) for line in block if _is_comment(line)]
    rows = [split_row(line) for line in block if not _is_comment(line)]
    named = [(value or "").strip() for key, value in comments if key == "sent_id"]
    names = list(filter(None, named))
    if not rows:
        raise StructureError("a sentence without words", hint="add its words, or remove its id")
    if len(names) > 1:
        raise StructureError("a sentence with two ids", hint="a blank line ends a sentence")
    layout = _find_layout(rows[0].fields)
    if layout is None:
        raise rows[0].error(0, "not a row of semantic roles", _expected(rows[0]))
    _check_rows(rows, layout)
    metadata = [pair for pair in comments if pair[0] != "sent_id"]
    sentence, remarks = _read_rows(rows, layout, metadata)
    return Parsed(next(iter(names), None), sentence, tuple(remarks))


def _expected(row: Row) -> str:
    wish = "the columns are index, word, tag, parse bit, lemma, roleset and one for each predicate"
    return wish if "\t" in row.line.text else f"{wish}, with tabs between them"


def _read_rows(
    rows: list[Row], layout: _Layout, metadata: list[tuple[str, str | None]]
) -> tuple[Sentence, list[str]]:
    words = [row.fields[layout.word] for row in rows]
    tree = _read_tree(rows, layout)
    predicates, n_without = _read_predicates(rows, layout)
    remarks = ["a predicate without V among its roles"] * n_without
    entities = []
    if layout is _CONLL_2012:
        entities = _read_entities(rows, 10, words)
        metadata = metadata + _document(rows[0])
        if any(row.fields[-1] != "-" for row in rows):
            remarks.append("coreference is not read")
        if any(row.fields[8] != "-" for row in rows):
            remarks.append("word senses are not read")
    sentence = Sentence.from_words(
        words,
        lemmas=[_given(row.fields[layout.lemma]) for row in rows],
        tags=[_given(row.fields[layout.tag]) for row in rows],
        tree=tree,
        predicates=predicates,
        entities=entities,
        metadata=metadata,
    )
    return sentence, remarks


def _document(row: Row) -> list[tuple[str, str | None]]:
    pairs = {"document": row.fields[0], "part": row.fields[1], "speaker": row.fields[9]}
    return [(key, value) for key, value in pairs.items() if value != "-"]


class _Layout(NamedTuple):
    """Indices of fields; roles begin at ``roles`` and ``n_after`` other fields follow them."""

    place: int
    word: int
    tag: int
    parse: int
    lemma: int
    sense: int
    roles: int
    n_after: int
    hint: str


_SHORT = _Layout(0, 1, 2, 3, 4, 5, 6, 0, "index, word, tag, parse bit, lemma, roleset, then roles")
_CONLL_2012 = _Layout(
    2, 3, 4, 5, 6, 7, 11, 1,
    "document, part, index, word, tag, parse bit, lemma, roleset, word sense, speaker, name, "
    "then roles and coreference",
)  # fmt: skip


def _find_layout(fields: list[str]) -> _Layout | None:
    """Return the layout of a sentence from the fields of its first row; None if unknown.

    CoNLL-2012 has at least 12 fields, the second and third are numbers and the sixth is a parse
    bit. The short layout has at least 6 fields, the first is a number and the fourth a parse bit;
    its third field is a part of speech, so it cannot be taken for CoNLL-2012.

    Examples
    --------
    >>> _find_layout("0 we PRP (S* - -".split()) is _SHORT
    True
    """
    if (
        len(fields) > _CONLL_2012.roles
        and _NUMBER.fullmatch(fields[1])
        and _NUMBER.fullmatch(fields[2])
        and _is_parse_bit(fields[5])
    ):
        return _CONLL_2012
    if len(fields) >= _SHORT.roles and _NUMBER.fullmatch(fields[0]) and _is_parse_bit(fields[3]):
        return _SHORT
    return None


def _is_parse_bit(cell: str) -> bool:
    return cell == "-" or _CELL.fullmatch(cell) is not None


def _check_rows(rows: list[Row], layout: _Layout) -> None:
    """Raise if rows differ in width, words are out of order, or a field is empty."""
    width = len(rows[0].fields)
    for position, row in enumerate(rows):
        if len(row.fields) != width:
            raise row.error(
                min(width, len(row.fields)),
                f"{len(row.fields)} columns, but the sentence began with {width}",
                f"each word of a sentence has the same columns: {layout.hint}",
            )
        if row.fields[layout.place] != str(position):
            raise row.error(
                layout.place,
                f"the index is {shorten(repr(row.fields[layout.place]))}, expected {position}",
                "words are counted from 0, and a blank line ends a sentence",
            )
        if "" in row.fields:
            raise row.error(
                row.fields.index(""), "a column is empty", 'write "-" for an empty column'
            )


def _read_tree(rows: list[Row], layout: _Layout) -> Tree | None:
    """Return the tree given by parse bits; None if no bit has a bracket.

    An outermost bracket ``TOP`` or ``ROOT`` around one constituent is not part of the tree.
    """
    if all(row.fields[layout.parse] in ("*", "-") for row in rows):
        return None
    trees: list[Tree] = []
    opened: list[tuple[str, list[Tree], Row]] = []
    for row in rows:
        labels, n_closed = _brackets(row, layout.parse, "(S(NP*)")
        if trees or not (opened or labels):
            raise row.error(
                layout.parse,
                f"the word {shorten(repr(row.fields[layout.word]))} stands outside the tree",
                "one bracket holds all the words of a sentence",
            )
        opened += [(label, [], row) for label in labels]
        word = make_node(row.fields[layout.word], (), "")
        tag = _given(row.fields[layout.tag])
        opened[-1][1].append(make_node(tag, (word,), ""))
        if n_closed > len(opened):
            raise _excess(row, layout.parse)
        for _ in range(n_closed):
            label, children, _ = opened.pop()
            siblings = opened[-1][1] if opened else trees
            siblings.append(make_node(label, tuple(children), ""))
    if opened:
        label, _, row = opened[-1]
        raise _unclosed("constituent", label, row, layout.parse)
    [tree] = trees
    return tree.children[0] if tree.label in _TOPS and len(tree.children) == 1 else tree


def _read_predicates(rows: list[Row], layout: _Layout) -> tuple[tuple[Predicate, ...], int]:
    """Return the predicates in order, and how many of them have no ``V`` among their roles.

    The columns of roles belong to the words with a roleset, from left to right. If there are
    more or fewer of these than columns, the word on which a ``V`` begins tells the predicate.
    """
    columns = range(layout.roles, len(rows[0].fields) - layout.n_after)
    roles = [_read_spans(rows, column) for column in columns]
    heads = [index for index, row in enumerate(rows) if row.fields[layout.sense] != "-"]
    if len(heads) != len(columns):
        verbs = [next((span.start for span in spans if span.role == "V"), -1) for spans in roles]
        if -1 in verbs or sorted(set(verbs)) != verbs or not set(heads) <= set(verbs):
            raise rows[0].error(
                layout.roles,
                f"columns of roles: {len(columns)}, rolesets: {len(heads)}",
                "there is one column of roles for each predicate, in the order of the words",
            )
        heads = verbs
    found = [
        Predicate(
            head,
            _given(rows[head].fields[layout.lemma]),
            _given(rows[head].fields[layout.sense]),
            _without_own_verb(head, spans),
        )
        for head, spans in zip(heads, roles, strict=True)
    ]
    n_without = sum(all(span.role != "V" for span in spans) for spans in roles)
    return tuple(found), n_without


def _given(field: str) -> str:
    """Return a field, "" for ``-``."""
    return "" if field == "-" else field


def _without_own_verb(head: int, spans: list[RoleSpan]) -> tuple[RoleSpan, ...]:
    """Return the roles without a single ``V`` on the word of the predicate, which is redundant."""
    verbs = [span for span in spans if span.role == "V"]
    if verbs == [RoleSpan("V", head, head + 1)]:
        return tuple(span for span in spans if span.role != "V")
    return tuple(spans)


def _read_entities(rows: list[Row], column: int, words: list[str]) -> list[Entity]:
    """Return the named entities in a column; the text is the words joined by blanks."""
    starts, position = [], 0
    for word in words:
        starts.append(position)
        position += len(word) + 1
    spans = _read_spans(rows, column)
    if sum(end - first for _, first, end in spans) > _MAX_NESTED_NAMES * len(words):
        raise rows[0].error(
            column,
            f"names are nested more than {_MAX_NESTED_NAMES} deep on average",
            "each name is kept with its text; close a name before the next begins",
        )
    found = []
    for number, (kind, first, end) in enumerate(spans, start=1):
        span = starts[first], starts[end - 1] + len(words[end - 1])
        found.append(Entity(f"T{number}", kind, (span,), " ".join(words[first:end])))
    return found


def _read_spans(rows: list[Row], column: int) -> list[RoleSpan]:
    """Return the labeled spans of a column, in the order in which they open."""
    found: list[tuple[str, int]] = []
    ends: list[int] = []
    opened: list[int] = []
    for index, row in enumerate(rows):
        if row.fields[column] == "*":
            continue
        labels, n_closed = _brackets(row, column, "(ARG0*)")
        for label in labels:
            opened.append(len(found))
            found.append((label, index))
            ends.append(index)
        if n_closed > len(opened):
            raise _excess(row, column)
        for _ in range(n_closed):
            ends[opened.pop()] = index + 1
    if opened:
        role, start = found[opened[-1]]
        raise _unclosed("role", role, rows[start], column)
    return [RoleSpan(role, start, end) for (role, start), end in zip(found, ends, strict=True)]


def _brackets(row: Row, column: int, model: str) -> tuple[list[str], int]:
    """Return the labels a cell opens and the number of brackets it closes."""
    cell = row.fields[column]
    match = _CELL.fullmatch(cell)
    if match is not None:
        return match[1].split("(")[1:], len(match[2])
    if _ONE_WORD.fullmatch(cell):  # how CoNLL-2012 writes a name of one word
        return [cell[1:-1]], 1
    raise row.error(
        column,
        f"{shorten(repr(cell))} is not brackets around a star",
        f"write * or, with brackets, for example {model}",
    )


def _excess(row: Row, column: int) -> StructureError:
    return row.error(
        column, "a bracket is closed that was never opened", "remove it, or open it before"
    )


def _unclosed(kind: str, label: str, row: Row, column: int) -> StructureError:
    return row.error(
        column,
        f"the {kind} {shorten(repr(label))} is never closed",
        "close it with ) after the star of its last word",
    )


def srl_text(examples: Iterable[Example], *, view: str = "sentence") -> Iterator[str]:
    """Yield the lines of each sentence and a blank one.

    Words, tags, lemmas, tree, predicates, metadata and the id, as ``sent_id``, are written and
    read back; the text becomes the words joined by blanks. Roles are written in the order of their
    words, with a ``V`` on the predicate unless there is one. Labels of examples, coarse parts of
    speech, features, dependencies, entities, relations, events and AMR graphs are not written.

    Raises
    ------
    StructureError
        If a sentence has no words, a word or label holds a tab or a line end, the tree does not
        have each word below its tag, roles overlap without nesting, a predicate has no sense, two
        predicates share a word, or a comment would not read back.
    """
    return write_each(examples, lambda example: _written(example, view))


def _written(example: Example, view: str) -> str:
    sentence = view_to_write(example, view, Sentence)
    return "\n".join([*_comments(example.id, sentence), *_rows(sentence)]) + "\n\n"


def _comments(name: str, sentence: Sentence) -> Iterator[str]:
    if not name or name != name.strip():
        raise StructureError("the id is empty or has blanks around it", hint="rename the example")
    yield comment_line("sent_id", name)
    for key, value in sentence.metadata:
        line = comment_line(key, value)
        if key == "sent_id" or _DOCUMENT_MARK.match(line):
            raise StructureError(
                f"the comment {shorten(repr((key, value)))} would not read back as metadata",
                hint="sent_id is the id of the example; 'begin document' and 'end document' "
                "belong to no sentence",
            )
        yield line


def _rows(sentence: Sentence) -> Iterator[str]:
    tokens = sentence.tokens
    if not tokens:
        raise StructureError("it has no words", hint="give the sentence tokens")
    bits = _parse_bits(sentence.tree, tokens)
    predicates = {predicate.token: predicate for predicate in sentence.predicates}
    if len(predicates) < len(sentence.predicates):
        raise StructureError("two predicates share a word", hint="a word has one roleset")
    columns = [_role_cells(predicates[index], len(tokens)) for index in sorted(predicates)]
    for index, (token, bit) in enumerate(zip(tokens, bits, strict=True)):
        lemma, sense = _lemma_and_sense(token, predicates.get(index))
        cells = [_cell(token.text, "word"), _optional(token.tag, "tag"), bit, lemma, sense]
        yield "\t".join([str(index), *cells, *(column[index] for column in columns)])


def _lemma_and_sense(token: Token, predicate: Predicate | None) -> tuple[str, str]:
    if predicate is None:
        return _optional(token.lemma, "lemma"), "-"
    if token.lemma and predicate.lemma and token.lemma != predicate.lemma:
        raise StructureError(
            f"the lemma is {token.lemma!r} as a word and {predicate.lemma!r} as a predicate",
            hint="the format has one lemma for both",
        )
    if predicate.sense in ("", "-"):
        raise StructureError(
            f"the predicate {shorten(repr(token.text))} has no sense",
            hint="the roleset is what marks a predicate",
        )
    return _optional(token.lemma or predicate.lemma, "lemma"), _cell(predicate.sense, "sense")


def _optional(value: str, what: str) -> str:
    if value == "-":
        raise StructureError(f'the {what} is "-", which stands for none', hint="leave it empty")
    return _cell(value, what) if value else "-"


def _cell(value: str, what: str) -> str:
    return _fitting(_CELL_WORD, value, what, "column", "tab or line end")


def _label(value: str, what: str) -> str:
    return _fitting(_BRACKET_LABEL, value, what, "bracket", "bracket, star, tab or line end")


def _fitting(pattern: re.Pattern[str], value: str, what: str, place: str, never: str) -> str:
    if not pattern.fullmatch(value):
        raise StructureError(
            f"the {what} {shorten(repr(value))} does not fit in a {place}",
            hint=f"it must not be empty or hold a {never}",
        )
    return value


def _parse_bits(tree: Tree | None, tokens: tuple[Token, ...]) -> list[str]:
    """Return a cell for each word; the tree gets an outer bracket, which the reader removes."""
    if tree is None:
        return ["*"] * len(tokens)
    kept = tree.label in _TOPS and len(tree.children) > 1  # the reader keeps this bracket
    before: list[list[str]] = [[] for _ in tokens]
    n_after = [0] * len(tokens)
    if not kept:
        before[0].append("(TOP")
        n_after[-1] = 1
    position = 0
    pending: list[Tree | None] = [tree]  # None closes a bracket
    while pending:
        node = pending.pop()
        if node is None:
            n_after[position - 1] += 1
        elif len(node.children) == 1 and node.children[0].is_leaf:
            _check_word(node, tokens[position])
            position += 1
        elif node.is_leaf or node.edge:
            raise _wrong_tree(node)
        else:
            before[position].append("(" + _label(node.label, "constituent"))
            pending.append(None)
            pending += reversed(node.children)
    return _join_cells(before, n_after)


def _check_word(node: Tree, token: Token) -> None:
    [word] = node.children
    if node.edge or word.edge:
        raise _wrong_tree(node)
    if (node.label, word.label) != (token.tag, token.text):
        raise StructureError(
            f"the tree has {shorten(repr(word.label))} below {shorten(repr(node.label))} where "
            f"the word is {shorten(repr(token.text))} and its tag {shorten(repr(token.tag))}",
            hint="make the sentence with Sentence.from_tree",
        )


def _wrong_tree(node: Tree) -> StructureError:
    return StructureError(
        f"the node {shorten(repr(node.label))} of the tree is not a constituent",
        hint="each word is the only child of its tag, and edges have no labels",
    )


def _role_cells(predicate: Predicate, n_tokens: int) -> list[str]:
    spans = list(predicate.arguments)
    if all(span.role != "V" for span in spans):
        spans.append(RoleSpan("V", predicate.token, predicate.token + 1))
    spans.sort(key=lambda span: (span.start, -span.end))
    before: list[list[str]] = [[] for _ in range(n_tokens)]
    n_after = [0] * n_tokens
    ends: list[int] = []
    for role, start, end in spans:
        while ends and ends[-1] <= start:
            ends.pop()
        if ends and ends[-1] < end:
            raise StructureError(
                f"the role {shorten(repr(role))} of the predicate on word {predicate.token} "
                "overlaps another",
                hint="a role that shares words with another must contain it or lie inside it",
            )
        ends.append(end)
        before[start].append("(" + _label(role, "role"))
        n_after[end - 1] += 1
    return _join_cells(before, n_after)


def _join_cells(before: list[list[str]], n_after: list[int]) -> list[str]:
    return [
        f"{''.join(opened)}*{')' * n_closed}"
        for opened, n_closed in zip(before, n_after, strict=True)
    ]


def write_srl(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    view: str = "sentence",
) -> None:
    r"""Write sentences with their trees and roles in the short layout.

    Parameters
    ----------
    examples : iterable of Example
        Each has a `Sentence` with words in ``view``; :func:`srl_text` lists the columns.
    path : str, PathLike or text stream
        Replaced only when everything is written; see :func:`kernelwood.io.write`.
    view : str
        Name of the sentence.

    Examples
    --------
    >>> import io
    >>> out = io.StringIO()
    >>> write_srl([Example("a", views={"sentence": Sentence.from_words(["we"])})], out)
    >>> out.getvalue()
    '# sent_id = a\n0\twe\t-\t*\t-\t-\n\n'
    """
    write_text(path, srl_text(examples, view=view))
