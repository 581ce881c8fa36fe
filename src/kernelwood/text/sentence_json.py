"""Annotated sentences and documents as JSON.

::

    {"text": "Raf binds Ras", "tokens": [["Raf", 0, 3], ["binds", 4, 9, "bind"], ["Ras", 10, 13]],
     "dependencies": [[1, "nsubj", 0], [-1, "root", 1], [1, "obj", 2]],
     "entities": [["T1", "protein", [[0, 3]], "Raf"]]}

The keys are the parameters of `Sentence` and `Document`; empty parts are omitted. A row of a part
is a list of the fields of its class (``Token``, ``Dependency``, ``Entity``, ...) in order, without
trailing fields that have their default. The tree is written in brackets, the AMR as an object (see
`kernelwood.structures.structure_json`), alignments as ``[node, [token, ...]]``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernelwood.structures import (
    check_list,
    check_object,
    graph_from_object,
    graph_object,
    tree_from_object,
)
from kernelwood.text.document import Document
from kernelwood.text.sentence import Sentence

_STANDOFF = ("entities", "relations", "events", "attributes")
_DOCUMENT = (*_STANDOFF, "metadata")
_SENTENCE = (
    "tokens",
    "dependencies",
    "alignments",
    *_STANDOFF,
    "predicates",
    "enhanced",
    "empty",
    "multiwords",
    "metadata",
)


def sentence_object(sentence: Sentence) -> dict[str, object]:
    """Return a sentence as an object that JSON can encode.

    Examples
    --------
    >>> sentence_object(Sentence.from_words(["we", "go"], tags=["PRP", "VBP"]))["tokens"]
    [['we', 0, 2, '', '', 'PRP'], ['go', 3, 5, '', '', 'VBP']]
    """
    made: dict[str, object] = {"text": sentence.text}
    if sentence.tree is not None:
        made["tree"] = sentence.tree.to_brackets()
    if sentence.amr is not None:
        made["amr"] = graph_object(sentence.amr)
    made |= _written_parts(sentence, _SENTENCE)
    if sentence.start:
        made["start"] = sentence.start
    return made


def sentence_from_object(value: object) -> Sentence:
    """Return the sentence of a decoded JSON object, the inverse of `sentence_object`.

    Raises
    ------
    StructureError
        If a key is missing or unknown, a value has the wrong type, or parts are inconsistent.

    Examples
    --------
    >>> sentence_from_object({"text": "we go", "tokens": [["we", 0, 2], ["go", 3, 5]]})
    Sentence('we go', 2 tokens)
    >>> sentence_from_object({"text": "we go", "tokens": [["we", 0]]})
    Traceback (most recent call last):
    ...
    kernelwood.errors.StructureError: token 0 has 2 fields instead of 3 to 8
        the fields are text, start, end, lemma, pos, tag, features, misc
    """
    known = check_object(value, "the sentence", ("text",), ("tree", "amr", *_SENTENCE, "start"))
    parts: dict[str, Any] = _read_parts(known, _SENTENCE, "the sentence")
    if "tree" in known:
        parts["tree"] = tree_from_object(known["tree"])
    if "amr" in known:
        parts["amr"] = graph_from_object(known["amr"], "the AMR")
    return Sentence(known["text"], **parts, start=known.get("start", 0))


def document_object(document: Document) -> dict[str, object]:
    """Return a document as an object that JSON can encode.

    Examples
    --------
    >>> from kernelwood.text import Entity
    >>> document_object(Document("Raf", [Entity("T1", "Protein", ((0, 3),), "Raf")]))
    {'text': 'Raf', 'entities': [['T1', 'Protein', [[0, 3]], 'Raf']]}
    """
    made = {"text": document.text, **_written_parts(document, _DOCUMENT)}
    if document.parse:
        made["parse"] = [sentence_object(sentence) for sentence in document.parse]
    return made


def document_from_object(value: object) -> Document:
    """Return the document of a decoded JSON object, the inverse of `document_object`.

    Raises
    ------
    StructureError
        If a key is missing or unknown, a value has the wrong type, or parts are inconsistent.

    Examples
    --------
    >>> document_from_object({"text": "Raf", "entities": [["T1", "Protein", [[0, 3]]]]}).entities
    (Entity(id='T1', type='Protein', spans=((0, 3),), text=''),)
    """
    known = check_object(value, "the document", ("text",), (*_DOCUMENT, "parse"))
    parts = _read_parts(known, (*_DOCUMENT, "parse"), "the document")
    if "parse" in parts:
        parts["parse"] = [sentence_from_object(sentence) for sentence in parts["parse"]]
    return Document(known["text"], **parts)


def _written_parts(owner: Sentence | Document, names: Iterable[str]) -> dict[str, object]:
    return {
        name: [_written_row(row) for row in rows]
        for name in names
        if (rows := getattr(owner, name))
    }


def _written_row(row: tuple[Any, ...]) -> list[object]:
    """Return a row as a list, without trailing fields that have their default."""
    length = len(row)
    defaults: dict[str, object] = getattr(row, "_field_defaults", {})
    for default in reversed(defaults.values()):
        if row[length - 1] != default:
            break
        length -= 1
    return [_written_field(field) if type(field) is tuple else field for field in row[:length]]


def _written_field(field: tuple[Any, ...]) -> list[object]:
    """Return spans, arguments or token indices as a list."""
    return [list(member) if isinstance(member, tuple) else member for member in field]


def _read_parts(known: dict[str, Any], names: Iterable[str], owner: str) -> dict[str, Any]:
    return {
        name: check_list(known[name], f"{name!r} of {owner}") for name in names if name in known
    }
