"""The columns of one sentence: constituents, roles and names, written as brackets around stars.

A cell such as ``(S(NP*)`` opens two brackets before its word and closes one after it; the star
stands for the word. No function here recurses, so brackets may nest as deep as memory allows.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kernelwood.errors import StructureError
from kernelwood.io.rows import Row
from kernelwood.structures import Tree, make_node, shorten
from kernelwood.text import Entity, Predicate, RoleSpan

__all__ = [
    "CONLL_2012",
    "SHORT",
    "TOPS",
    "Layout",
    "check_rows",
    "find_layout",
    "given",
    "read_entities",
    "read_predicates",
    "read_tree",
]

TOPS = ("TOP", "ROOT")

_CELL = re.compile(r"((?:\([^()*]+)*)\*(\)*)")
_ONE_WORD = re.compile(r"\([^()*]+\)")
_MAX_NESTED_NAMES = 50
_NUMBER = re.compile(r"[0-9]{1,9}")


class Layout(NamedTuple):
    """Which field holds what; roles stand from field ``roles`` to ``n_after`` before the last."""

    place: int
    word: int
    tag: int
    parse: int
    lemma: int
    sense: int
    roles: int
    n_after: int
    hint: str


SHORT = Layout(0, 1, 2, 3, 4, 5, 6, 0, "index, word, tag, parse bit, lemma, roleset, then roles")
CONLL_2012 = Layout(
    2, 3, 4, 5, 6, 7, 11, 1,
    "document, part, index, word, tag, parse bit, lemma, roleset, word sense, speaker, name, "
    "then roles and coreference",
)  # fmt: skip


def find_layout(fields: list[str]) -> Layout | None:
    """Tell the layout of a sentence from the fields of its first row.

    It is that of CoNLL-2012 if there are at least 12 fields, the second and third are numbers and
    the sixth is a parse bit. Else it is the short one if there are at least 6 fields, the first
    is a number and the fourth a parse bit. A row of the short layout has a part of speech for its
    third field and a roleset for its sixth, so it never passes for the other.

    Examples
    --------
    >>> find_layout("0 we PRP (S* - -".split()) is SHORT
    True
    """
    if (
        len(fields) > CONLL_2012.roles
        and _NUMBER.fullmatch(fields[1])
        and _NUMBER.fullmatch(fields[2])
        and _is_parse_bit(fields[5])
    ):
        return CONLL_2012
    if len(fields) >= SHORT.roles and _NUMBER.fullmatch(fields[0]) and _is_parse_bit(fields[3]):
        return SHORT
    return None


def _is_parse_bit(cell: str) -> bool:
    return cell == "-" or _CELL.fullmatch(cell) is not None


def check_rows(rows: list[Row], layout: Layout) -> None:
    """Refuse rows of different widths, words out of order, and fields without content."""
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
                row.fields.index(""), "a column is empty", 'write "-" where there is nothing'
            )


def read_tree(rows: list[Row], layout: Layout) -> Tree | None:
    """Build the tree from its parse bits; None if no bit has a bracket.

    An outermost bracket ``TOP`` or ``ROOT`` around one constituent is no part of the tree.
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
        tag = given(row.fields[layout.tag])
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
    return tree.children[0] if tree.label in TOPS and len(tree.children) == 1 else tree


def read_predicates(rows: list[Row], layout: Layout) -> tuple[tuple[Predicate, ...], int]:
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
            given(rows[head].fields[layout.lemma]),
            given(rows[head].fields[layout.sense]),
            _without_own_verb(head, spans),
        )
        for head, spans in zip(heads, roles, strict=True)
    ]
    n_without = sum(all(span.role != "V" for span in spans) for spans in roles)
    return tuple(found), n_without


def given(field: str) -> str:
    """Return a field, "" for the ``-`` that stands for nothing."""
    return "" if field == "-" else field


def _without_own_verb(head: int, spans: list[RoleSpan]) -> tuple[RoleSpan, ...]:
    """Leave out the ``V`` that says no more than that the predicate is where it is."""
    verbs = [span for span in spans if span.role == "V"]
    if verbs == [RoleSpan("V", head, head + 1)]:
        return tuple(span for span in spans if span.role != "V")
    return tuple(spans)


def read_entities(rows: list[Row], column: int, words: list[str]) -> list[Entity]:
    """Return the names in a column as entities in a text of words joined by blanks."""
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
    """Return what the brackets of a column hold, in the order in which they open."""
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
