"""Semantic roles in columns, one line a word: the layout of CoNLL-2012 and a short form of it.

The short layout has tabs between index, word, part of speech, parse bit, lemma, roleset and one
column of roles for each predicate; ``-`` stands for what is missing::

    # sent_id = s1
    0   She      PRP   (TOP(S(NP*)   -      -         (ARG0*)
    1   reads    VBZ   (VP*          read   read.01   (V*)
    2   novels   NNS   (NP*)))       -      -         (ARG1*)

A blank line ends a sentence. Comments are kept as metadata; ``# sent_id = ...`` is the identifier
and not repeated there. The layout of CoNLL-2012, separated by blanks or tabs, has document, part,
word number, word, part of speech, parse bit, lemma, roleset, word sense, speaker, named entities,
roles and coreference; `find_layout` says how the two are told apart, sentence by sentence.

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

The ``V`` on the predicate's own word is left out, since it says nothing new. What differs is kept
among the arguments: a ``V`` of several words or on another word, and every ``C-V``. Skip the roles
in :data:`VERB_ROLES` to count arguments proper.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import IO

from kernelwood.errors import StructureError
from kernelwood.io.atomic import write_text
from kernelwood.io.blocks import Block, Parsed, cut_at_blank_lines, read_blocks
from kernelwood.io.comments import split_comment
from kernelwood.io.rows import Row, split_row
from kernelwood.io.source import Item, Line, Source
from kernelwood.io.srl_columns import (
    CONLL_2012,
    Layout,
    check_rows,
    find_layout,
    given,
    read_entities,
    read_predicates,
    read_tree,
)
from kernelwood.io.srl_writer import VERB_ROLES, is_document_mark, srl_text
from kernelwood.text import Example, Sentence

__all__ = ["VERB_ROLES", "looks_like_srl", "read_srl", "srl_text", "write_srl"]


def looks_like_srl(head: str) -> bool:
    r"""Say whether a file that begins with ``head`` may hold columns of semantic roles.

    Examples
    --------
    >>> looks_like_srl("# sent_id = 1\n0\twe\tPRP\t(S*)\t-\t-\n"), looks_like_srl("(S (NP we))")
    (True, False)
    """
    if is_document_mark(head.lstrip()):
        return True
    lines = (line.rstrip("\r") for line in head.split("\n"))
    first = next((line for line in lines if line.strip(" \t") and line[0] != "#"), "")
    return find_layout(split_row(Line(1, first)).fields) is not None


def read_srl(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example with the view ``"sentence"`` for each block of lines.

    The identifier is that of ``# sent_id``, else the stem of the file and the number of the
    sentence, broken ones counted. Comments that no word follows before the next blank line belong
    to no sentence; with a ``sent_id`` they are a sentence without words, which is an error.
    """
    return read_blocks(source, _blocks(source), _parse, views)


def _blocks(source: Source) -> Iterator[Block]:
    """Yield the lines of each sentence, comments included."""
    for lines in cut_at_blank_lines(source.lines()):
        block = [line for line in lines if line.problem or not is_document_mark(line.text)]
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
    layout = find_layout(rows[0].fields)
    if layout is None:
        raise rows[0].error(0, "not a row of semantic roles", _expected(rows[0]))
    check_rows(rows, layout)
    metadata = [pair for pair in comments if pair[0] != "sent_id"]
    sentence, remarks = _read_rows(rows, layout, metadata)
    return Parsed(next(iter(names), None), sentence, tuple(remarks))


def _expected(row: Row) -> str:
    wish = "the columns are index, word, tag, parse bit, lemma, roleset and one for each predicate"
    return wish if "\t" in row.line.text else f"{wish}, with tabs between them"


def _read_rows(
    rows: list[Row], layout: Layout, metadata: list[tuple[str, str | None]]
) -> tuple[Sentence, list[str]]:
    words = [row.fields[layout.word] for row in rows]
    tree = read_tree(rows, layout)
    predicates, n_without = read_predicates(rows, layout)
    remarks = ["a predicate without V among its roles"] * n_without
    entities = []
    if layout is CONLL_2012:
        entities = read_entities(rows, 10, words)
        metadata = metadata + _document(rows[0])
        if any(row.fields[-1] != "-" for row in rows):
            remarks.append("coreference is not read")
        if any(row.fields[8] != "-" for row in rows):
            remarks.append("word senses are not read")
    sentence = Sentence.from_words(
        words,
        lemmas=[given(row.fields[layout.lemma]) for row in rows],
        tags=[given(row.fields[layout.tag]) for row in rows],
        tree=tree,
        predicates=predicates,
        entities=entities,
        metadata=metadata,
    )
    return sentence, remarks


def _document(row: Row) -> list[tuple[str, str | None]]:
    pairs = {"document": row.fields[0], "part": row.fields[1], "speaker": row.fields[9]}
    return [(key, value) for key, value in pairs.items() if value != "-"]


def write_srl(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    view: str = "sentence",
) -> None:
    r"""Write sentences with their trees and roles in the short layout.

    Parameters
    ----------
    examples : iterable of Example
        Each must have a `Sentence` with words in ``view``; :func:`srl_text` says what of it is
        written and what the columns cannot hold.
    path : str, PathLike or text stream
        Replaced only when everything is written; see :func:`kernelwood.io.write`.
    view : str
        Which sentence to write.

    Examples
    --------
    >>> import io
    >>> out = io.StringIO()
    >>> write_srl([Example("a", views={"sentence": Sentence.from_words(["we"])})], out)
    >>> out.getvalue()
    '# sent_id = a\n0\twe\t-\t*\t-\t-\n\n'
    """
    write_text(path, srl_text(examples, view=view))
