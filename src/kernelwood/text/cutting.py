"""Documents cut into sentences: which annotation belongs to which sentence, and what is lost."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kernelwood.errors import StructureError
from kernelwood.structures import shorten
from kernelwood.text.annotation import Attribute, Entity, Event, Relation, Span, Token
from kernelwood.text.sentence import Sentence
from kernelwood.text.splitter import find_sentences

if TYPE_CHECKING:
    from kernelwood.text.document import Document

__all__ = ["Cut", "Tokenizer", "annotate_sentences", "cut_document"]

Tokenizer: TypeAlias = Callable[[str, Iterable[int]], Iterable[Token]]

_BLANKS = re.compile(r"\s*")


class Cut(NamedTuple):
    """The sentences of a document, and what no sentence could hold.

    Attributes
    ----------
    sentences : tuple of Sentence
        In order; ``start`` is the place of each in the document.
    lost : Counter
        How many annotations are in no sentence, by reason.
    """

    sentences: tuple[Sentence, ...]
    lost: Counter[str]


class _Parts(NamedTuple):
    """What a sentence gets of a document; the names are those of `Sentence`."""

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    events: tuple[Event, ...] = ()
    attributes: tuple[Attribute, ...] = ()


def cut_document(
    document: Document, spans: Iterable[Span] | None, tokenize: Tokenizer | None
) -> Cut:
    """Return the sentences of a document; see `Document.split`."""
    from kernelwood.text.tokenizer import tokenize as default_tokenize

    cut_words = default_tokenize if tokenize is None else tokenize
    text = document.text
    if spans is None:
        protected = [(item.start, item.end) for item in document.entities if item.spans]
        found = find_sentences(text, protected)
    else:
        found = [_trimmed(text, start, end) for start, end in _checked(spans, text)]
        found = [(start, end) for start, end in found if start < end]
    shares = _Shares(document, found)
    sentences = []
    for number, (start, end) in enumerate(shares.spans):
        piece = text[start:end]
        parts = shares.parts(number)
        edges = {place for entity in parts.entities for span in entity.spans for place in span}
        tokens = tuple(cut_words(piece, sorted(edges)))
        sentences.append(Sentence(piece, tokens, start=start, **parts._asdict()))
    return Cut(tuple(sentences), shares.lost)


def annotate_sentences(document: Document, sentences: Iterable[Sentence]) -> Cut:
    """Return sentences with the annotation of a document; see `Document.annotate`."""
    text = document.text
    places = array("q", (index for index, mark in enumerate(text) if not mark.isspace()))
    solid = "".join(text.split())
    placed: list[tuple[Sentence, tuple[Token, ...]]] = []
    spans: list[Span] = []
    position = 0
    for number, sentence in enumerate(sentences):
        sought = "".join(sentence.text.split())
        _check_bare(sentence, number, sought)
        found = solid.find(sought, position)
        if found < 0:
            begun = places[position] if position < len(places) else len(text)
            raise StructureError(
                f"sentence {number} is not in the document: {shorten(repr(sentence.text))}",
                hint="sentences stand in the order of the document, and only blanks may differ; "
                f"the search began at character {begun}",
            )
        position = found + len(sought)
        placed.append((sentence, _moved_tokens(sentence, text, places[found:position])))
        spans.append((places[found], places[position - 1] + 1))
    shares = _Shares(document, spans)
    filled = []
    for number, (sentence, tokens) in enumerate(placed):
        start, end = shares.spans[number]
        parts = shares.parts(number)._asdict()
        filled.append(sentence._with(text=text[start:end], tokens=tokens, start=start, **parts))
    return Cut(tuple(filled), shares.lost)


def _checked(spans: Iterable[Span], text: str) -> list[Span]:
    listed = [(start, end) for start, end in spans]
    before = 0
    for start, end in listed:
        if not before <= start <= end <= len(text):
            raise StructureError(
                f"[{start}, {end}) cannot be a sentence of a text with {len(text)} characters",
                hint="sentences stand in order, do not overlap and lie in the text",
            )
        before = end
    return listed


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    first = start + len(piece) - len(piece.lstrip())
    return (first, first + len(piece.strip()))


def _check_bare(sentence: Sentence, number: int, sought: str) -> None:
    if not sought:
        raise StructureError(f"sentence {number} is blank", hint="leave it out")
    for name in ("entities", "relations", "events", "attributes"):
        if getattr(sentence, name):
            raise StructureError(
                f"sentence {number} has {name} already: {shorten(repr(sentence.text))}",
                hint=f"take them off with sentence.with_parts({name}=())",
            )


def _moved_tokens(sentence: Sentence, text: str, places: Sequence[int]) -> tuple[Token, ...]:
    """Return tokens with offsets in the text of the document instead of their sentence's.

    The blanks may be others; ``places`` are those of the other characters in the document.
    """
    start, end = places[0], places[-1] + 1
    if text[start:end] == sentence.text:
        return sentence.tokens
    # How many characters that are not blank stand before each position of the sentence.
    before = [0, *accumulate(not mark.isspace() for mark in sentence.text)]

    def moved(token: Token) -> Token:
        first, last = before[token.start], before[token.end]
        begin = places[first] - start if first < len(places) else end - start
        return token._replace(
            start=begin, end=places[last - 1] + 1 - start if last > first else begin
        )

    return tuple(moved(token) for token in sentence.tokens)


class _Shares:
    """The share of each sentence in the annotation of a document."""

    def __init__(self, document: Document, spans: Sequence[Span]) -> None:
        self.lost: Counter[str] = Counter()
        self.spans = list(spans)
        self._home: dict[str, int] = {}
        self._entities: defaultdict[int, list[Entity]] = defaultdict(list)
        self._events: defaultdict[int, list[Event]] = defaultdict(list)
        self._relations: defaultdict[int, list[Relation]] = defaultdict(list)
        self._attributes: defaultdict[int, list[Attribute]] = defaultdict(list)
        self._share_entities(document)
        self._share_events(document.events)
        self._share_relations(document.relations)
        for attribute in document.attributes:
            home = self._home.get(attribute.target)
            if home is None:
                self.lost["attribute of what was lost"] += 1
            else:
                self._attributes[home].append(attribute)

    def parts(self, number: int) -> _Parts:
        """Return the share of a sentence, with offsets in its text."""
        if number not in self._entities:
            return _Parts()
        shift = self.spans[number][0]
        return _Parts(
            tuple(
                entity._replace(spans=tuple((a - shift, b - shift) for a, b in entity.spans))
                for entity in self._entities[number]
            ),
            tuple(self._relations.get(number, ())),
            tuple(self._events.get(number, ())),
            tuple(self._attributes.get(number, ())),
        )

    def _share_entities(self, document: Document) -> None:
        starts = [start for start, _ in self.spans]
        # An entity may end in blanks, which trimming took off its sentence.
        limits = [_blanks_end(document.text, end) for _, end in self.spans]
        for entity in document.entities:
            home = bisect_right(starts, entity.start) - 1
            if home >= 0 and entity.end <= limits[home]:
                self._home[entity.id] = home
                self._entities[home].append(entity)
                start, end = self.spans[home]
                self.spans[home] = (start, max(end, entity.end))
            else:
                self.lost[self._why_lost(entity, starts)] += 1

    def _why_lost(self, entity: Entity, starts: Sequence[int]) -> str:
        if not entity.spans:
            return "entity is not in the text"
        first = bisect_right(starts, entity.start) - 1
        # The sentences that begin inside count, and the one before if it reaches that far.
        touched = bisect_left(starts, entity.end) - first - 1
        touched += first >= 0 and entity.start < self.spans[first][1]
        return "entity spans sentences" if touched > 1 else "entity is not in a sentence"

    def _share_events(self, events: Sequence[Event]) -> None:
        """Keep the events whose parts are all in the sentence of their trigger.

        Events may refer to each other in circles: all are kept until something is missing, and
        what is lost takes those with it that refer to it.
        """
        homes = {event.id: self._home.get(event.trigger) for event in events}
        users: defaultdict[str, list[str]] = defaultdict(list)
        gone: dict[str, str] = {}
        for event in events:
            targets = [argument.target for argument in event.arguments]
            for target in targets:
                users[target].append(event.id)
            places = [homes[name] if name in homes else self._home.get(name) for name in targets]
            reason = _why_apart([homes[event.id], *places], "event")
            if reason:
                gone[event.id] = reason
        waiting = list(gone)
        while waiting:
            for user in users.get(waiting.pop(), ()):
                if user not in gone:
                    gone[user] = "event has a part that was lost"
                    waiting.append(user)
        self.lost.update(gone.values())
        for event in events:
            home = homes[event.id]
            if event.id not in gone and home is not None:
                self._home[event.id] = home
                self._events[home].append(event)

    def _share_relations(self, relations: Sequence[Relation]) -> None:
        for relation in relations:
            places = [self._home.get(argument.target) for argument in relation.arguments]
            reason = _why_apart(places, "relation")
            home = places[0] if places else None
            if reason or home is None:
                self.lost[reason or "relation has no arguments"] += 1
            else:
                self._relations[home].append(relation)
                if relation.id != "*":
                    self._home[relation.id] = home


def _why_apart(homes: Iterable[int | None], what: str) -> str:
    """Return why things in these sentences cannot be together, "" if they can."""
    different = set(homes)
    if None in different:
        return f"{what} has a part that was lost"
    return f"{what} spans sentences" if len(different) > 1 else ""


def _blanks_end(text: str, start: int) -> int:
    match = _BLANKS.match(text, start)
    return start if match is None else match.end()
