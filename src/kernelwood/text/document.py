"""Documents: texts with standoff annotation, and how they are split into sentences."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from kernelwood.errors import StructureError
from kernelwood.structures import shorten
from kernelwood.text.annotation import (
    Attribute,
    Entity,
    Event,
    Metadata,
    Relation,
    Span,
    Token,
    check_standoff,
    convert_parts,
    counted,
    replace_unchecked,
)
from kernelwood.text.joining import join_across, join_parses
from kernelwood.text.sentence import Sentence
from kernelwood.text.splitter import find_sentences
from kernelwood.text.tokenizer import tokenize as default_tokenize

if TYPE_CHECKING:
    from kernelwood.text.displacy import DisplacyStyle

Tokenizer: TypeAlias = Callable[[str, Iterable[int]], Iterable[Token]]

_STANDOFF = ("entities", "relations", "events", "attributes")
_BLANKS = re.compile(r"\s*")


class Cut(NamedTuple):
    """The sentences of a document, and counts of the annotation that no sentence contains.

    Attributes
    ----------
    sentences : tuple of Sentence
        In order; ``start`` is the offset of each in the document.
    lost : Counter
        Number of annotations that are in no sentence, by reason.
    """

    sentences: tuple[Sentence, ...]
    lost: Counter[str]


@dataclass(frozen=True, slots=True, repr=False)
class Document:
    """A text with standoff annotation.

    Parameters
    ----------
    text : str
        The characters, line ends included.
    entities : iterable of Entity
        Mentions and triggers of events.
    relations, events, attributes : iterables
        Annotations that refer to entities by id.
    metadata : iterable of (str, str or None)
        Keys and values.
    parse : iterable of Sentence
        The sentences with their parses, in order, if the text is parsed. They have no entities or
        other annotation, and ``start`` is their offset in the text.

    Raises
    ------
    StructureError
        If a span lies outside the text, an id is used twice, a target does not exist, or the
        parsed sentences are not parts of the text.

    Examples
    --------
    >>> Document("Raf binds Ras.", [Entity("T1", "Protein", ((0, 3),), "Raf")])
    Document('Raf binds Ras.', 1 entity)
    """

    text: str
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    events: tuple[Event, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    metadata: Metadata = ()
    parse: tuple[Sentence, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise StructureError(f"the text must be a string, got {type(self.text).__name__}")
        convert_parts(self, (*_STANDOFF, "metadata"))
        check_standoff(self.text, self.entities, self.relations, self.events, self.attributes)
        if self.parse != ():
            object.__setattr__(self, "parse", _checked_parse(self.parse, self.text))

    def sentences(
        self, spans: Iterable[Span] | None = None, *, tokenize: Tokenizer | None = None
    ) -> tuple[Sentence, ...]:
        """Return the sentences of the document; `split` also counts the annotation that is lost.

        Examples
        --------
        >>> document = Document("Raf binds Ras. It is active.")
        >>> [(sentence.text, sentence.start) for sentence in document.sentences()]
        [('Raf binds Ras.', 0), ('It is active.', 15)]
        """
        return self.split(spans, tokenize=tokenize).sentences

    def split(
        self, spans: Iterable[Span] | None = None, *, tokenize: Tokenizer | None = None
    ) -> Cut:
        """Split the document into sentences, and count annotation that crosses boundaries.

        A sentence gets the entities inside it, and the relations, events and attributes whose
        parts are all inside it, nested events included.

        Parameters
        ----------
        spans : iterable of (start, end), optional
            Sentence spans, in order. By default those of ``parse``, with sentences joined that
            share an entity; without a parse they are found by rules for scientific English, never
            ending inside an entity; see `kernelwood.text.find_sentences`.
        tokenize : callable, optional
            ``tokenize(text, boundaries)`` returns the tokens of a sentence; tokens should end at
            the boundaries, which are the starts and ends of entities. By default the tokens of
            ``parse``, or those of `kernelwood.text.tokenize`.

        Returns
        -------
        Cut
            ``sentences`` without surrounding blanks, and ``lost``, the number of annotations that
            are in no sentence, by reason.

        Raises
        ------
        StructureError
            If spans are out of order, overlap or lie outside the text.

        Examples
        --------
        >>> from kernelwood.text import Argument
        >>> raf, ras = Entity("T1", "Protein", ((0, 3),)), Entity("T2", "Protein", ((12, 15),))
        >>> pair = Relation("R1", "Pair", (Argument("a", "T1"), Argument("b", "T2")))
        >>> sentences, lost = Document("Raf is new. Ras is not.", [raf, ras], [pair]).split()
        >>> [sentence.entities[0].spans for sentence in sentences]
        [((0, 3),), ((0, 3),)]
        >>> dict(lost)
        {'relation spans sentences': 1}
        """
        if self.parse and spans is None and tokenize is None:
            return self._split_parse()
        cut_words = default_tokenize if tokenize is None else tokenize
        if spans is None:
            protected = [(item.start, item.end) for item in self.entities if item.spans]
            found = find_sentences(self.text, protected)
        else:
            found = _checked_spans(spans, self.text)
        shares = _Shares(self, found)
        sentences = []
        for number, (start, end) in enumerate(shares.spans):
            text = self.text[start:end]
            parts = shares.parts(number)
            entities = parts.get("entities", ())
            edges = {place for entity in entities for span in entity.spans for place in span}
            tokens = tuple(cut_words(text, sorted(edges)))
            sentences.append(Sentence(text, tokens, start=start, **parts))
        return Cut(tuple(sentences), shares.lost)

    def annotate(self, sentences: Iterable[Sentence]) -> Cut:
        r"""Return sentences from another source, such as a parser, with annotation of this text.

        Sentences are searched from left to right; blanks are ignored, so that wrapped or tokenized
        text is found too. The sentences get the text of the document, and the offsets of their
        tokens are adjusted.

        Parameters
        ----------
        sentences : iterable of Sentence
            In the order of the document, without entities; some may be missing.

        Returns
        -------
        Cut
            As from `split`.

        Raises
        ------
        StructureError
            If a sentence is not found, is blank, or already has annotation.

        Examples
        --------
        >>> document = Document("Raf\nbinds Ras.", [Entity("T1", "Protein", ((10, 13),), "Ras")])
        >>> parsed = Sentence.from_words(["Raf", "binds", "Ras", "."])
        >>> [sentence] = document.annotate([parsed]).sentences
        >>> sentence.tokens_of(sentence.entities[0])
        (2,)
        """
        text = self.text
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
                    hint="sentences must be in the order of the document and may differ only in "
                    f"blanks; the search began at character {begun}",
                )
            position = found + len(sought)
            placed.append((sentence, _moved_tokens(sentence, text, places[found:position])))
            spans.append((places[found], places[position - 1] + 1))
        shares = _Shares(self, spans)
        filled = []
        for number, (sentence, tokens) in enumerate(placed):
            start, end = shares.spans[number]
            parts = dict.fromkeys(_STANDOFF, ()) | shares.parts(number)
            filled.append(sentence._with(text=text[start:end], tokens=tokens, start=start, **parts))
        return Cut(tuple(filled), shares.lost)

    def _split_parse(self) -> Cut:
        """Return the parsed sentences with their annotation."""
        ends = [sentence.start + len(sentence.text) for sentence in self.parse]
        spans = [(one.start, end) for one, end in zip(self.parse, ends, strict=True)]
        joined = join_across(spans, self.entities)
        shares = _Shares(self, joined)
        sentences: list[Sentence] = []
        at = 0
        for number, (start, reach) in enumerate(joined):
            first, at = at, bisect_right(ends, reach, at)
            begin, end = shares.spans[number]
            parts = dict.fromkeys(_STANDOFF, ()) | shares.parts(number)
            if at > first + 1:
                parts |= join_parses(self.parse[first:at], start)
                made = Sentence(self.text[begin:end], start=start, **parts)
            else:
                made = self.parse[first]._with(text=self.text[begin:end], **parts)
            sentences.append(made)
        return Cut(tuple(sentences), shares.lost)

    def _with(self, **parts: Any) -> Document:
        """Return a copy with valid parts replaced, without checks."""
        return replace_unchecked(self, parts)

    def __repr__(self) -> str:
        parts = [
            counted(getattr(self, name), name)
            for name in ("entities", "relations", "events")
            if getattr(self, name)
        ]
        if self.parse:
            parts.append(counted(self.parse, "sentences"))
        return f"Document({', '.join([shorten(repr(self.text)), *parts])})"

    def to_displacy(self, style: DisplacyStyle = "ent") -> dict[str, Any]:
        """Return a dictionary for ``spacy.displacy.render(..., style=style, manual=True)``.

        Parameters
        ----------
        style : {"ent", "span"}
            Entities that do not overlap, or all entities by tokens.

        Examples
        --------
        >>> Document("Raf binds.", [("T1", "Protein", [(0, 3)])]).to_displacy("span")["tokens"]
        ['Raf', 'binds', '.']
        """
        from kernelwood.text.displacy import displacy_object

        return displacy_object(self, style)

    def _repr_html_(self) -> str:
        from kernelwood.text.document_display import document_html

        return document_html(self)


def _checked_spans(spans: Iterable[Span], text: str) -> list[Span]:
    """Return the spans of sentences without surrounding blanks; blank ones are left out."""
    found: list[Span] = []
    before = 0
    for start, end in spans:
        if not before <= start <= end <= len(text):
            raise StructureError(
                f"[{start}, {end}) cannot be a sentence of a text with {len(text)} characters",
                hint="sentences must be in order, must not overlap, and must lie in the text",
            )
        before = end
        piece = text[start:end]
        if piece.strip():
            first = start + len(piece) - len(piece.lstrip())
            found.append((first, first + len(piece.strip())))
    return found


def _checked_parse(parse: Any, text: str) -> tuple[Sentence, ...]:
    """Return the parsed sentences of a text."""
    if isinstance(parse, (str, Sentence)) or not isinstance(parse, Iterable):
        raise StructureError(
            f"the parse of a document must be a list of sentences, got {type(parse).__name__}"
        )
    sentences = tuple(parse)
    before = 0
    for number, sentence in enumerate(sentences):
        if not isinstance(sentence, Sentence):
            raise StructureError(
                f"parse {number} of the document must be a Sentence, got {type(sentence).__name__}"
            )
        _check_bare(sentence, number, sentence.text.strip())
        if sentence.start < before or not text.startswith(sentence.text, sentence.start):
            raise StructureError(
                f"sentence {number} of the parse, {shorten(repr(sentence.text))}, is not in the "
                f"document at character {sentence.start}",
                hint="sentences must be in order and must not overlap; `start` is their offset, "
                "and document.annotate(sentences) finds it",
            )
        before = sentence.start + len(sentence.text)
    return sentences


def _check_bare(sentence: Sentence, number: int, sought: str) -> None:
    if not sought:
        raise StructureError(f"sentence {number} is blank", hint="leave it out")
    for name in _STANDOFF:
        if getattr(sentence, name):
            raise StructureError(
                f"sentence {number} already has {name}: {shorten(repr(sentence.text))}",
                hint=f"remove them with sentence.with_parts({name}=())",
            )


def _moved_tokens(sentence: Sentence, text: str, places: Sequence[int]) -> tuple[Token, ...]:
    """Return the tokens of a sentence with offsets for its text in the document.

    The blanks may differ; ``places`` are the offsets of all other characters in the document.
    """
    start, end = places[0], places[-1] + 1
    if text[start:end] == sentence.text:
        return sentence.tokens
    # The number of characters before each position of the sentence that are not blank.
    before = [0, *accumulate(not mark.isspace() for mark in sentence.text)]

    def moved(token: Token) -> Token:
        first, last = before[token.start], before[token.end]
        begin = places[first] - start if first < len(places) else end - start
        return token._replace(
            start=begin, end=places[last - 1] + 1 - start if last > first else begin
        )

    return tuple(moved(token) for token in sentence.tokens)


class _Shares:
    """The annotation of a document, divided among its sentences."""

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
                self.lost["attribute of a lost annotation"] += 1
            else:
                self._attributes[home].append(attribute)

    def parts(self, number: int) -> dict[str, Any]:
        """Return the annotation of a sentence, with offsets in its text; empty if it has none."""
        if number not in self._entities:
            return {}
        shift = self.spans[number][0]
        return {
            "entities": tuple(
                entity._replace(spans=tuple((a - shift, b - shift) for a, b in entity.spans))
                for entity in self._entities[number]
            ),
            "relations": tuple(self._relations.get(number, ())),
            "events": tuple(self._events.get(number, ())),
            "attributes": tuple(self._attributes.get(number, ())),
        }

    def _share_entities(self, document: Document) -> None:
        starts = [start for start, _ in self.spans]
        # An entity may end in blanks, which are not part of the span of its sentence.
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
        # Count sentences that begin inside the entity, and the one before if it overlaps.
        touched = bisect_left(starts, entity.end) - first - 1
        touched += first >= 0 and entity.start < self.spans[first][1]
        return "entity spans sentences" if touched > 1 else "entity is not in a sentence"

    def _share_events(self, events: Sequence[Event]) -> None:
        """Keep the events whose parts are all in the sentence of their trigger.

        Events may refer to each other in cycles: an event is lost if one of its parts is in
        another sentence or lost, and then so are the events that refer to it.
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
    """Return the reason why parts in these sentences are lost, "" if they are in one sentence."""
    different = set(homes)
    if None in different:
        return f"{what} has a part that was lost"
    return f"{what} spans sentences" if len(different) > 1 else ""


def _blanks_end(text: str, start: int) -> int:
    match = _BLANKS.match(text, start)
    return start if match is None else match.end()
