"""Texts with annotated entities, from which taggers and lists of terms are made."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from kernelwood.entities.mentions import REFERENCE, Mention
from kernelwood.errors import KernelInputError, StructureError
from kernelwood.structures import shorten
from kernelwood.text import Document, Entity, Example, Sentence, Span


class AnnotatedText(NamedTuple):
    """A text and its entities, without the triggers of events.

    Attributes
    ----------
    text : str
    spans : list of (start, end) or None
        Its sentences, if they are known.
    entities : tuple of Entity
    references : dict of str to str
        Ids in databases, by the id of the entity; the first if there are several.
    """

    text: str
    spans: list[Span] | None
    entities: tuple[Entity, ...]
    references: dict[str, str]

    def mentions(self) -> Iterator[Mention]:
        """Yield the entities that have one span."""
        for entity in self.entities:
            if len(entity.spans) == 1:
                yield Mention(entity.start, entity.end, entity.type)


def read_texts(documents: Iterable[Any], types: Any = None) -> list[AnnotatedText]:
    """Return the texts of examples, documents or sentences, with entities of some types.

    Raises
    ------
    KernelInputError
        If an item is none of these.
    """
    if isinstance(documents, (str, os.PathLike)):
        raise KernelInputError(
            f"got {shorten(repr(documents))} in place of documents; if it is a path, give "
            "kernelwood.read(path)"
        )
    if not isinstance(documents, (Example, Document, Sentence, Iterable)):
        kind = type(documents).__name__
        raise KernelInputError(
            f"got {shorten(repr(documents))} of type {kind} in place of documents"
        )
    wanted = None if types is None else {types} if isinstance(types, str) else set(types)
    listed = [documents] if isinstance(documents, (Example, Document, Sentence)) else documents
    return [_read(one, number, wanted) for number, one in enumerate(listed)]


def annotated_mentions(
    documents: Iterable[Any], types: Any = None
) -> list[set[tuple[tuple[Span, ...], str]]]:
    """Return the spans and types of the entities of each document, without triggers of events.

    Examples
    --------
    >>> document = Document("Raf binds.", [Entity("T1", "protein", ((0, 3),))])
    >>> annotated_mentions([document])
    [{(((0, 3),), 'protein')}]
    """
    return [
        {(entity.spans, entity.type) for entity in text.entities}
        for text in read_texts(documents, types)
    ]


def _read(given: Any, number: int, types: set[str] | None) -> AnnotatedText:
    one = given
    if isinstance(given, Example):
        one = given.views.get("document", given.views.get("sentence"))
    if not isinstance(one, (Document, Sentence)):
        if isinstance(given, Example):
            raise StructureError(
                f"example {shorten(repr(given.id))} has neither a document nor a sentence",
                hint="entities are annotated in documents and sentences",
            )
        raise KernelInputError(
            f"document {number} is {shorten(repr(given))} of type {type(given).__name__}; give "
            "examples as kernelwood.read returns them, documents or sentences"
        )
    triggers = {event.trigger for event in one.events}
    references: dict[str, str] = {}
    for attribute in one.attributes:
        if attribute.type == REFERENCE:
            references.setdefault(attribute.target, attribute.value.partition("\t")[0])
    return AnnotatedText(
        one.text,
        [(0, len(one.text))] if isinstance(one, Sentence) else None,
        tuple(
            entity
            for entity in one.entities
            if entity.id not in triggers and (types is None or entity.type in types)
        ),
        references,
    )
