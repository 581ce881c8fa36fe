"""What backends take and give: documents, and what every backend does with them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from kernelwood.errors import KernelInputError
from kernelwood.structures import shorten
from kernelwood.text import Document, Example, Span, find_sentences

__all__ = ["as_documents", "cut_text", "join_across"]


def as_documents(documents: Iterable[object]) -> list[Document]:
    """Return documents as a list; plain texts and examples with a view ``document`` do as well.

    Examples
    --------
    >>> as_documents(["Raf binds Ras."])
    [Document('Raf binds Ras.')]
    """
    if isinstance(documents, (str, Document, Example)):
        raise KernelInputError(
            f"documents must be several, got one {type(documents).__name__}\n"
            "    put it in a list: analyze([document])"
        )
    found = []
    for place, item in enumerate(documents):
        if isinstance(item, str):
            item = Document(item)
        elif isinstance(item, Example):
            item = item.view("document")
        if not isinstance(item, Document):
            raise KernelInputError(
                f"document {place} is {shorten(repr(item))} of type {type(item).__name__}, "
                "not a Document"
            )
        found.append(item)
    return found


def cut_text(document: Document, most: int) -> list[Span]:
    """Return spans of a text that are not longer than ``most``, cut between sentences.

    Parsers of neural networks hold all of a text in memory. A sentence that is longer than that
    is cut at blanks, and if it has none, anywhere; never inside of entities that are shorter.

    Examples
    --------
    >>> cut_text(Document("Raf binds Ras. It is active."), 20)
    [(0, 15), (15, 28)]
    """
    length = len(document.text)
    if length <= most:
        return [(0, length)] if length else []
    protected = [(entity.start, entity.end) for entity in document.entities if entity.spans]
    starts = [start for start, _ in find_sentences(document.text, protected)]
    barred = sorted(protected)
    cuts = [0]
    for start, end in pairwise(sorted({0, *starts, length})):
        if end - cuts[-1] > most and start > cuts[-1]:
            cuts.append(start)
        while end - cuts[-1] > most:
            cuts.append(_cut_inside(document.text, cuts[-1], most, barred))
    return list(pairwise([*cuts, length]))


def _cut_inside(text: str, start: int, most: int, barred: list[Span]) -> int:
    """Return the place of the last blank that fits, before an entity it stands in."""
    place = max(text.rfind(" ", start + 1, start + most), text.rfind("\n", start + 1, start + most))
    place = place + 1 if place > 0 else start + most
    around = [begin for begin, end in barred if begin < place < end]
    return min(around) if around and min(around) > start else place


def join_across(spans: Iterable[Span], document: Document) -> list[Span]:
    """Return the spans of sentences with those joined that an entity stands across.

    Examples
    --------
    >>> from kernelwood.text import Entity
    >>> document = Document("Fig. 2 shows", [Entity("T1", "Figure", ((0, 6),))])
    >>> join_across([(0, 4), (5, 12)], document)
    [(0, 12)]
    """
    entities = sorted((entity.start, entity.end) for entity in document.entities if entity.spans)
    joined: list[Span] = []
    reach = at = 0  # where the entities end that began so far
    for start, end in spans:
        if joined and reach > start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
        while at < len(entities) and entities[at][0] < end:
            reach = max(reach, entities[at][1])
            at += 1
    return joined
