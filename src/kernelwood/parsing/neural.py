"""Code shared by the spaCy and Stanza backends: parsed text becomes parsed sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence as Listing
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from kernelwood.errors import KernelInputError
from kernelwood.parsing.backends import replace_parse
from kernelwood.structures import Tree
from kernelwood.text import (
    ROOT,
    Dependency,
    Document,
    Entity,
    Multiword,
    Sentence,
    Span,
    Token,
    find_sentences,
)

MOST_CHARACTERS = 100_000  # of a text that is parsed at once


class Word(NamedTuple):
    """A word with its place in the text, and its head as an index of all words, or ``ROOT``."""

    token: Token
    head: int
    relation: str


class ParsedText(NamedTuple):
    """A parsed text.

    Attributes
    ----------
    words : list of Word
        All words in order, none of them blank.
    ends : list of int
        The number of words up to the end of each sentence.
    entities : list of (str, int, int)
        Type, start and end of what was recognized.
    trees : list of Tree or None
        The tree of each sentence; may be empty.
    multiwords : list of Multiword
        Words that are written as one.
    """

    words: list[Word]
    ends: list[int]
    entities: list[tuple[str, int, int]] = []  # noqa: RUF012
    trees: list[Tree | None] = []  # noqa: RUF012
    multiwords: list[Multiword] = []  # noqa: RUF012


class _Parse(Protocol):
    def __call__(self, texts: list[str]) -> Iterable[ParsedText]: ...


def parse_sentences(
    sentences: Listing[Sentence], parse: _Parse, *, entities: bool
) -> list[Sentence]:
    """Return sentences with the parses that ``parse`` makes of their texts.

    A sentence of more than 100,000 characters is parsed in parts. Where the parser ends a
    sentence inside of one, it stays one, with two roots.
    """
    cuts = [cut_text(sentence.text, _spans_of(sentence), MOST_CHARACTERS) for sentence in sentences]
    parsed = iter(
        parse(
            [
                sentence.text[start:end]
                for sentence, spans in zip(sentences, cuts, strict=True)
                for start, end in spans
            ]
        )
    )
    made = []
    for sentence, spans in zip(sentences, cuts, strict=True):
        parts = [(start, next(parsed)) for start, _ in spans]
        found = _join(0, [piece for shift, part in parts for piece in _pieces(part, shift)])
        if entities and not sentence.entities:
            found["entities"] = _recognized(sentence.text, parts, sentence.start)
        made.append(replace_parse(sentence, **found))
    return made


def sentences_of(
    document: Document, parts: list[tuple[int, ParsedText]], *, entities: bool
) -> list[Sentence]:
    """Return the sentences of a document whose text was parsed in parts, each with its start."""
    if entities and not document.entities:
        document = Document(
            document.text, _recognized(document.text, parts, 0), metadata=document.metadata
        )
    pieces = [piece for shift, part in parts for piece in _pieces(part, shift)]
    spans = join_across([piece.span for piece in pieces], document)
    bare = []
    at = 0
    for start, end in spans:
        group = []
        while at < len(pieces) and pieces[at].span[1] <= end:
            group.append(pieces[at])
            at += 1
        bare.append(Sentence(document.text[start:end], **_join(start, group)))
    return list(document.annotate(bare).sentences)


def _recognized(text: str, parts: list[tuple[int, ParsedText]], origin: int) -> tuple[Entity, ...]:
    """Return recognized entities, named by their place in the document.

    So sentences of one document have different ids, whichever of them are parsed together.
    """
    found = sorted(
        (a + shift, b + shift, kind) for shift, part in parts for kind, a, b in part.entities
    )
    entities = []
    number = -1
    for start, end, kind in found:
        number = max(number + 1, origin + start)
        entities.append(Entity(f"T{number}", kind, ((start, end),), text[start:end]))
    return tuple(entities)


def _spans_of(annotated: Document | Sentence) -> list[Span]:
    return [(entity.start, entity.end) for entity in annotated.entities if entity.spans]


class _Piece(NamedTuple):
    """A sentence the parser found; heads and multiwords count from its own first word."""

    span: Span
    words: list[Word]
    tree: Tree | None
    multiwords: list[Multiword]


def _pieces(part: ParsedText, shift: int) -> Iterable[_Piece]:
    begin = 0
    for number, end in enumerate(part.ends):
        words = [
            word._replace(
                token=word.token._replace(
                    start=word.token.start + shift, end=word.token.end + shift
                ),
                head=word.head - begin if word.head != ROOT else ROOT,
            )
            for word in part.words[begin:end]
        ]
        inside = [m for m in part.multiwords if begin <= m.first < end]
        own = [m._replace(first=m.first - begin, end=m.end - begin) for m in inside]
        tree = part.trees[number] if part.trees else None
        if words:
            span = (words[0].token.start, max(word.token.end for word in words))
            yield _Piece(span, words, tree, own)
        begin = end


def _join(start: int, group: list[_Piece]) -> dict[str, Any]:
    """Return the parse of a sentence that begins at ``start``, of the pieces the parser found."""
    tokens: list[Token] = []
    edges: list[Dependency] = []
    multiwords: list[Multiword] = []
    for piece in group:
        first = len(tokens)
        for place, (token, head, relation) in enumerate(piece.words):
            tokens.append(token._replace(start=token.start - start, end=token.end - start))
            if relation:
                target = ROOT if head == ROOT else first + head
                edges.append(Dependency(target, relation, first + place))
        multiwords += [
            m._replace(first=m.first + first, end=m.end + first) for m in piece.multiwords
        ]
    return {
        "tokens": tuple(tokens),
        "dependencies": tuple(edges),
        "tree": group[0].tree if len(group) == 1 else None,
        "multiwords": tuple(multiwords),
    }


def climb(head: int, kept: Callable[[int], bool], head_of: Callable[[int], int]) -> int:
    """Return the nearest head that is kept, ``ROOT`` if there is none."""
    seen = 0
    while head != ROOT and not kept(head):
        head = head_of(head)
        seen += 1
        if seen > MOST_CHARACTERS:
            raise KernelInputError("the heads of the words go round in a circle")
    return head


def cut_text(text: str, protected: Iterable[Span], most: int) -> list[Span]:
    """Return spans of a text that are not longer than ``most``, cut between sentences.

    Parsers of neural networks hold all of a text in memory. A sentence that is longer than that
    is cut at blanks, and if it has none, anywhere; never inside of entities that are shorter.

    Examples
    --------
    >>> cut_text("Raf binds Ras. It is active.", [], 20)
    [(0, 15), (15, 28)]
    """
    length = len(text)
    if length <= most:
        return [(0, length)] if length else []
    barred = sorted(protected)
    starts = [start for start, _ in find_sentences(text, barred)]
    cuts = [0]
    for start, end in pairwise(sorted({0, *starts, length})):
        if end - cuts[-1] > most and start > cuts[-1]:
            cuts.append(start)
        while end - cuts[-1] > most:
            cuts.append(_cut_inside(text, cuts[-1], most, barred))
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
