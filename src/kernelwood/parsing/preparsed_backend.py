"""Parses by other tools, aligned with the documents they belong to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from kernelwood.errors import KernelInputError, StructureError
from kernelwood.parsing.backends import replace_parse
from kernelwood.structures import shorten
from kernelwood.text import Document, Example, Sentence, join_parses

_NEW_DOCUMENT = "newdoc id"


def preparsed(
    documents: Iterable[Document | Sentence | Example], parses: Iterable[Sentence | Example]
) -> list[list[Sentence]]:
    r"""Return the parsed sentences of each document, with its annotation.

    If the parses name their documents (``# newdoc id = ...``) and the documents have ids, they are
    aligned by id. Otherwise the parses must be in the order of the documents: a sentence that is
    not found in the rest of a document is searched in the next one. Sentences may differ from the
    text of the document in blanks. A document that is a sentence is not split, even if it has
    several parses.

    Parameters
    ----------
    documents : iterable of Document, Sentence or Example
        Examples have an id and a view ``document`` or ``sentence``.
    parses : iterable of Sentence or Example
        Examples have a view ``sentence``, such as those read from CoNLL-U.

    Raises
    ------
    StructureError
        If a parse is not found in a document.

    Examples
    --------
    >>> parses = [Sentence.from_words(words.split()) for words in ("Raf binds .", "Ras too .")]
    >>> found = preparsed([Document("Raf\nbinds."), Document("Ras too.")], parses)
    >>> [[sentence.text for sentence in sentences] for sentences in found]
    [['Raf\nbinds.'], ['Ras too.']]
    """
    items = list(documents)
    texts = [_as_text(item, place) for place, item in enumerate(items)]
    sentences = list(_as_sentences(parses))
    ids = [item.id for item in items if isinstance(item, Example)]
    named = _by_name(sentences)
    if named is not None and len(ids) == len(items) and set(named) <= set(ids):
        groups = [named.get(name, []) for name in ids]
    else:
        groups = _by_order(texts, sentences)
    return [
        list(_annotate(text, number, group))
        for number, (text, group) in enumerate(zip(texts, groups, strict=True))
    ]


class PreparsedBackend:
    """Existing parses, found by the text of sentences.

    Parameters
    ----------
    parses : iterable of Sentence or Example
        As in `preparsed`.
    name, version : str
        Name and version of the parser, if known.

    Examples
    --------
    >>> backend = PreparsedBackend([Sentence.from_words(["Raf", "binds"])])
    >>> backend.sentences([Document("Raf binds")])[0][0].start
    0
    """

    def __init__(
        self, parses: Iterable[Sentence | Example], *, name: str = "preparsed", version: str = ""
    ) -> None:
        self.name = name
        self.version = version
        self._parses = list(parses)

    def __repr__(self) -> str:
        return f"PreparsedBackend({self.name!r}, {len(self._parses)} sentences)"

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> PreparsedBackend:
        """Return the backend of the parses in a CoNLL-U file."""
        from kernelwood.io import read

        return cls(read(path, format="conllu"), name=f"conllu:{Path(path).name}")

    def sentences(self, documents: Iterable[Document | Sentence | Example]) -> list[list[Sentence]]:
        """Return the sentences of each document; see `preparsed`."""
        return preparsed(documents, self._parses)

    def parse(self, sentences: Iterable[Sentence]) -> list[Sentence]:
        """Return the sentences with the first parse that has the text of each.

        Texts may differ in blanks.

        Raises
        ------
        StructureError
            If a sentence has no parse.
        """
        known: dict[str, Sentence] = {}
        for given in _as_sentences(self._parses):
            known.setdefault("".join(given.text.split()), given)
        parsed = []
        for number, sentence in enumerate(sentences):
            parse = known.get("".join(sentence.text.split()))
            if parse is None:
                raise StructureError(
                    f"there is no parse of sentence {number}, {shorten(repr(sentence.text))}",
                    hint="give documents instead: the parses have their own sentence boundaries",
                )
            parsed.append(_with_parses(sentence, [parse]))
        return parsed


def _with_parses(sentence: Sentence, parses: list[Sentence]) -> Sentence:
    """Return a sentence with its parse, or with those of its parts one after the other."""
    parts = Document(sentence.text).annotate(parses).sentences
    if not parts:  # such as a sentence of blanks
        return sentence
    if len(parts) == 1:
        [part] = parts
        metadata = (*sentence.metadata, *part.metadata)
        return replace_parse(sentence, **join_parses(parts), metadata=metadata)
    return replace_parse(sentence, **join_parses(parts))


def _as_text(item: object, place: int) -> Document | Sentence:
    found = item
    if isinstance(item, Example):
        found = item.view("document" if "document" in item.views else "sentence")
    if not isinstance(found, (Document, Sentence)):
        raise KernelInputError(
            f"document {place} is {shorten(repr(found))} of type {type(found).__name__}, "
            "not a Document or a Sentence"
        )
    return found


def _as_sentences(parses: Iterable[object]) -> Iterator[Sentence]:
    for place, item in enumerate(parses):
        found = item.view("sentence") if isinstance(item, Example) else item
        if not isinstance(found, Sentence):
            raise KernelInputError(
                f"parse {place} is {shorten(repr(found))} of type {type(found).__name__}, "
                "not a Sentence"
            )
        yield found


def _by_name(sentences: list[Sentence]) -> dict[str, list[Sentence]] | None:
    """Return the sentences of each named document, None if the first names none."""
    groups: dict[str, list[Sentence]] = {}
    current: list[Sentence] | None = None
    for sentence in sentences:
        name = dict(sentence.metadata).get(_NEW_DOCUMENT)
        if name is not None:
            current = groups.setdefault(name, [])
        if current is None:
            return None
        current.append(sentence)
    return groups or None


def _by_order(
    documents: list[Document | Sentence], sentences: list[Sentence]
) -> list[list[Sentence]]:
    groups: list[list[Sentence]] = [[] for _ in documents]
    solid = ["".join(document.text.split()) for document in documents]
    at = position = 0
    for number, sentence in enumerate(sentences):
        sought = "".join(sentence.text.split())
        while at < len(documents):
            found = solid[at].find(sought, position)
            if found >= 0:
                break
            at, position = at + 1, 0
        else:
            raise StructureError(
                f"parse {number} is in none of the {len(documents)} documents: "
                f"{shorten(repr(sentence.text))}",
                hint="parses must be in the order of the documents and may differ in blanks only; "
                "or name the documents: # newdoc id = ...",
            )
        groups[at].append(sentence)
        position = found + len(sought)
    return groups


def _annotate(
    text: Document | Sentence, number: int, group: list[Sentence]
) -> tuple[Sentence, ...]:
    try:
        if isinstance(text, Sentence):
            return (_with_parses(text, group),)
        return text.annotate(group).sentences
    except StructureError as failure:
        raise StructureError(f"document {number}: {failure.problem}", hint=failure.hint) from None
