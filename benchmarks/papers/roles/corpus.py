"""Sentences with constituency trees and the arguments of their predicates.

The columns of a line, separated by tabs: index, word, part of speech, parse bit, lemma, roleset,
then one column of bracketed roles for each predicate. An empty line ends a sentence, ``#`` starts
a comment; ``# doc = ...`` names the document.

Roles are kept as they are written. A reference keeps its ``R-``; a continuation keeps its ``C-``
and counts as an argument of its own, so a discontinuous argument has to be found piece by piece.
The verb itself (``V``, ``C-V``) is no argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import kernelwood as kw
from kernelwood.io.source import Readable, Source

__all__ = ["Argument", "Predicate", "Sentence", "read_sentences"]

FIXED_COLUMNS = 6
NOT_ARGUMENTS = ("V", "C-V")

_PARSE_BIT = re.compile(r"(?P<opened>(?:\([^()*]+)*)\*(?P<closed>\)*)")
_ROLE_BIT = re.compile(r"(?:\((?P<role>[^()*]+))?\*(?P<closed>\)?)")


@dataclass(frozen=True)
class Argument:
    """A role and the words ``start`` to ``end - 1`` that fill it."""

    role: str
    start: int
    end: int


@dataclass(frozen=True)
class Predicate:
    """A word that has arguments."""

    position: int
    lemma: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Sentence:
    """The words, the gold tree without its outermost bracket, and the predicates."""

    document: str
    words: tuple[str, ...]
    tree: kw.Tree
    predicates: tuple[Predicate, ...]


@dataclass(frozen=True)
class _Row:
    number: int
    fields: list[str]


def read_sentences(origin: Readable) -> Iterator[Sentence]:
    """Yield the sentences of a file, plain or gzip.

    Raises
    ------
    ReadError
        At the first line that does not follow the format; carries its number.
    """
    with Source(origin) as source:
        document, rows = "", list[_Row]()
        for line in source.lines():
            if line.problem is not None:
                raise line.problem
            if line.text.startswith("#") and "\t" not in line.text:
                name, _, value = line.text.lstrip("# ").partition("=")
                document = value.strip() if name.strip() == "doc" else document
            elif line.text.strip():
                rows.append(_Row(line.number, line.text.split("\t")))
            elif rows:
                yield _sentence(source, document, rows)
                rows = []
        if rows:
            yield _sentence(source, document, rows)


def _sentence(source: Source, document: str, rows: list[_Row]) -> Sentence:
    width = len(rows[0].fields)
    for row in rows:
        if len(row.fields) != width or width < FIXED_COLUMNS:
            raise source.error(
                f"{len(row.fields)} columns, but the sentence started with {width}",
                line=row.number,
                hint=f"{FIXED_COLUMNS} columns and one for each predicate, separated by tabs",
            )
    words = tuple(row.fields[1] for row in rows)
    return Sentence(document, words, _tree(source, rows), _predicates(source, rows))


def _tree(source: Source, rows: list[_Row]) -> kw.Tree:
    """Build the tree from its parse bits; the outermost bracket of one child is left out."""
    opened: list[tuple[str, list[kw.Tree]]] = [("", [])]
    for row in rows:
        word, tag, bit = row.fields[1:4]
        found = _PARSE_BIT.fullmatch(bit)
        if found is None:
            raise source.error(
                f"{bit!r} is not a parse bit",
                line=row.number,
                hint="brackets around one star, for example (S(NP*)",
            )
        opened += [(label, []) for label in found["opened"].split("(")[1:]]
        opened[-1][1].append(kw.Tree(tag, [kw.Tree(word)]))
        for _ in found["closed"]:
            label, children = opened.pop()
            if not opened:
                raise source.error("a bracket is closed that was never opened", line=row.number)
            opened[-1][1].append(kw.Tree(label, children))
    if len(opened) > 1 or len(opened[0][1]) != 1:
        raise source.error(
            f"the parse bits end with {len(opened) - 1} open brackets and "
            f"{len(opened[0][1])} trees instead of one tree",
            line=rows[-1].number,
        )
    [top] = opened[0][1]
    return top.children[0] if top.label == "TOP" and len(top.children) == 1 else top


def _predicates(source: Source, rows: list[_Row]) -> tuple[Predicate, ...]:
    heads = [(position, row) for position, row in enumerate(rows) if row.fields[5] != "-"]
    n_columns = len(rows[0].fields) - FIXED_COLUMNS
    if len(heads) != n_columns:
        raise source.error(
            f"{len(heads)} rolesets, but {n_columns} columns of roles",
            line=rows[0].number,
            hint="one column of roles for each predicate of the sentence",
        )
    return tuple(
        Predicate(position, row.fields[4], _arguments(source, rows, FIXED_COLUMNS + column))
        for column, (position, row) in enumerate(heads)
    )


def _arguments(source: Source, rows: list[_Row], column: int) -> tuple[Argument, ...]:
    found: list[Argument] = []
    role, start = "", 0
    for position, row in enumerate(rows):
        bit = _ROLE_BIT.fullmatch(row.fields[column])
        if bit is None or (bit["role"] and role) or (bit["closed"] and not (role or bit["role"])):
            raise source.error(
                f"{row.fields[column]!r} in column {column + 1} does not continue the roles",
                line=row.number,
                hint="(ROLE* opens, * continues, *) closes; roles do not nest",
            )
        if bit["role"]:
            role, start = bit["role"], position
        if bit["closed"]:
            if role not in NOT_ARGUMENTS:
                found.append(Argument(role, start, position + 1))
            role = ""
    if role:
        raise source.error(
            f"role {role!r} in column {column + 1} is never closed", line=rows[-1].number
        )
    return tuple(found)
