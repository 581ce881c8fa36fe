"""Outputs of other tools as claims: triples of language models, REBEL, GLiREL, INDRA.

A record is a text with relations. Mentions that are quoted without offsets are found in the text.
If a mention is not in the text, the claim cannot be checked, and :attr:`Claim.problem` has the
reason.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

from kernelwood.errors import StructureError
from kernelwood.io.alignment import MisfitError, place_words
from kernelwood.io.formats.claims import Claim
from kernelwood.io.mentions import MentionFinder
from kernelwood.structures import check_integer, check_list, check_object, describe, shorten
from kernelwood.text import Document, Entity, Origin, Span

_TEXTS = ("text", "sentence", "input", "context")
_ROWS = ("relations", "triples", "triplets", "output", "generated_text")
_FIRST = ("subject", "subj", "head", "source")
_SECOND = ("object", "obj", "tail", "target")
_TYPE = ("predicate", "relation", "type", "label")
_SCORES = ("score", "confidence", "probability")
_MARK = re.compile(r"\s*<(triplet|subj|obj|s|/s|pad)>\s*")
_FEW_PAIRS, _PAIR_TEXT = 45, 5  # of a statement; more need so many characters of evidence each
# Keys of the two participants of INDRA Statements.
_AGENTS = (("enz", "sub"), ("subj", "obj"), ("gef", "ras"), ("gap", "ras"))


class Mention(NamedTuple):
    """A participant of a relation: its text, its type if known, and its place if known."""

    text: str
    type: str = ""
    span: Span | None = None


class Triple(NamedTuple):
    """A relation between two mentions; further fields of the record are passed on."""

    type: str
    first: Mention
    second: Mention
    metadata: Mapping[str, Any]


class Record(NamedTuple):
    """A text with the relations that a tool has found in it, and the errors in some of them."""

    text: str
    triples: list[Triple | StructureError]
    id: str | None = None


_Adapter: TypeAlias = Callable[[object], list[Record]]


def record_claims(
    record: Record, id: str, origin: Origin | None = None, entity_type: str = ""
) -> Iterator[Claim | StructureError]:
    """Yield the relations of a record as claims, or as errors.

    Claims of a text share one document with all mentions, so that it is parsed once, unless their
    mentions overlap.

    Parameters
    ----------
    record : Record
    id : str
        Id of a record without one; claims add their number.
    origin : Origin, optional
        Where the record was read.
    entity_type : str
        Type of mentions without one.
    """
    finder = MentionFinder(record.text)
    located = [
        one if isinstance(one, StructureError) else _locate(finder, one) for one in record.triples
    ]
    shared = _Entities(record.text, entity_type)
    for one, found in zip(record.triples, located, strict=True):
        if isinstance(one, Triple) and isinstance(found, tuple):
            shared.add(one, found)
    document, bare = shared.document(), Document(record.text)
    for number, (one, found) in enumerate(zip(record.triples, located, strict=True), 1):
        if isinstance(one, StructureError):
            yield one
            continue
        name = f"{record.id or id}.r{number}"
        if isinstance(found, str):
            yield _without_place(name, bare, one, found, origin)
        elif isinstance(found, tuple):
            ends = shared.find(one, found)
            if ends is None:  # they overlap with other mentions, or have other types
                alone = _Entities(record.text, entity_type)
                alone.add(one, found)
                ends = alone.find(one, found)
            if ends is not None:
                same = ends[0] is shared.entities.get(found[0])
                yield _claim(name, document if same else alone.document(), one, ends, origin)


class _Entities:
    """Mentions of a text that do not overlap."""

    def __init__(self, text: str, default: str) -> None:
        self.entities: dict[Span, Entity] = {}
        self._text, self._default = text, default
        self._spans: list[Span] = []  # in order

    def add(self, one: Triple, spans: tuple[Span, Span]) -> None:
        """Add the participants of a relation, unless one of them overlaps with another mention."""
        new = [
            (span, mention.type or self._default)
            for span, mention in zip(spans, one[1:3], strict=True)
            if span not in self.entities
        ]
        if any(self._overlaps(span) for span, _ in new):
            return
        for (start, end), kind in new:
            insort(self._spans, (start, end))
            name = f"T{len(self._spans)}"
            self.entities[start, end] = Entity(name, kind, ((start, end),), self._text[start:end])

    def _overlaps(self, span: Span) -> bool:
        place = bisect_left(self._spans, span)
        near = self._spans[max(place - 1, 0) : place + 1]
        return any(start < span[1] and span[0] < end for start, end in near)

    def find(self, one: Triple, spans: tuple[Span, Span]) -> tuple[Entity, Entity] | None:
        """Return the participants of a relation, None if they are not here with their types."""
        first, second = (self.entities.get(span) for span in spans)
        if first is None or second is None:
            return None
        kinds = tuple(mention.type or self._default for mention in one[1:3])
        return (first, second) if (first.type, second.type) == kinds else None

    def document(self) -> Document:
        """Return the text with the mentions."""
        # They are as a document needs them, by the checks of their spans.
        return Document(self._text)._with(
            entities=tuple(self.entities[span] for span in self._spans)
        )


def _locate(finder: MentionFinder, triple: Triple) -> tuple[Span, Span] | str:
    """Return the places of the participants, or why there are none."""
    places = []
    for mention in (triple.first, triple.second):
        if mention.span is not None:
            start, end = mention.span
            if not 0 <= start < end <= len(finder.text):
                return (
                    f"the mention {shorten(repr(mention.text))} stands at [{start}, {end}), the "
                    f"text has {len(finder.text)} characters"
                )
        found = finder.find(mention.text) if mention.span is None else [mention.span]
        if not found:
            return f"mention not in the text: {shorten(repr(mention.text))}"
        places.append(found)
    pair = finder.find_pair(*places)
    if pair is None:
        return "the two mentions overlap"
    return pair


def _claim(
    id: str, annotated: Document, one: Triple, ends: tuple[Entity, Entity], origin: Origin | None
) -> Claim:
    first, second = ends
    given: dict[str, Any] = {
        "id": id,
        "text": annotated.text,
        "entities": [
            {"id": e.id, "start": e.start, "end": e.end, "type": e.type, "text": e.text}
            for e in ends
        ],
        "relation": {"type": one.type, "first": first.id, "second": second.id},
    }
    if one.metadata:
        given["metadata"] = dict(one.metadata)
    return Claim(id, one.type, first.id, second.id, annotated, given, origin)


def _without_place(
    id: str, bare: Document, one: Triple, problem: str, origin: Origin | None
) -> Claim:
    relation = {"type": one.type, "first": one.first.text, "second": one.second.text}
    given: dict[str, Any] = {"id": id, "text": bare.text, "entities": [], "relation": relation}
    if one.metadata:
        given["metadata"] = dict(one.metadata)
    first, second = one.first.text, one.second.text
    return Claim(id, one.type, first, second, bare, given, origin, problem)


# Language models: quoted triples.


def triples(value: object) -> list[Record]:
    """Return the record of a text with triples, as language models write them.

    A relation is an object with ``subject``, ``predicate`` (or ``relation``) and ``object``, an
    array of these three, or, as in spaCy-LLM, an object with the numbers ``dep`` and ``dest`` of
    ``ents``.

    Examples
    --------
    >>> line = {"text": "Raf binds Ras.", "relations": [["Raf", "binds", "Ras"]]}
    >>> triples(line)[0].triples[0].second
    Mention(text='Ras', type='', span=None)
    """
    known, text = _text_of(value)
    rows = check_list(_one_of(known, _ROWS, "the record"), "the list of relations")
    entities = known.get("ents", known.get("entities", []))
    return [Record(text, _each(rows, lambda row: _triple(row, entities, text)), _id_of(known))]


def _triple(row: object, entities: object, text: str) -> Triple:
    if isinstance(row, list):
        if len(row) != 3 or not all(isinstance(part, str) for part in row):
            raise StructureError(
                "a triple is an array of three strings: mention, relation, mention"
            )
        first, kind, second = row
        return Triple(kind, Mention(first), Mention(second), {})
    known = check_object(row, "a relation", (), None)
    kind = _string(_one_of(known, _TYPE, "a relation"), "the relation type")
    if "dep" in known and "dest" in known:
        ends = [_numbered(entities, known[key], key, text) for key in ("dep", "dest")]
    else:
        ends = [
            _mention(_one_of(known, keys, "a relation"), known.get(f"{keys[0]}_type", ""))
            for keys in (_FIRST, _SECOND)
        ]
    scores = {name: known[name] for name in _SCORES if isinstance(known.get(name), (int, float))}
    return Triple(kind, ends[0], ends[1], scores)


def _mention(value: object, kind: object) -> Mention:
    if isinstance(value, dict):
        text = _string(_one_of(value, ("text", "name", "mention"), "a mention"), "a mention")
        named = value.get("type", value.get("label", kind))
        span = _span(value.get("start"), value.get("end")) if "start" in value else None
        return Mention(text, _string(named, "the type of a mention"), span)
    return Mention(_string(value, "a mention"), _string(kind, "the type of a mention"))


def _numbered(entities: object, number: object, key: str, text: str) -> Mention:
    rows = check_list(entities, "'ents'")
    place = check_integer(number, repr(key))
    if not 0 <= place < len(rows):
        raise StructureError(f"{key!r} is {place}, but there are {len(rows)} entities in 'ents'")
    known = check_object(rows[place], f"entity {place}", (), None)
    start, end = (known.get(f"{end}_char", known.get(end)) for end in ("start", "end"))
    span = _span(start, end)
    return Mention(text[slice(*span)], _string(known.get("label", ""), "'label'"), span)


def _span(start: object, end: object) -> Span:
    return check_integer(start, "'start'"), check_integer(end, "'end'")


# REBEL.


def rebel(value: object) -> list[Record]:
    """Return the record of a text with the output of REBEL: linearized, or head, type and tail.

    Examples
    --------
    >>> line = {"text": "Raf binds Ras.", "output": "<triplet> Raf <subj> Ras <obj> binds"}
    >>> [(one.first.text, one.type, one.second.text) for one in rebel(line)[0].triples]
    [('Raf', 'binds', 'Ras')]
    """
    known, text = _text_of(value)
    found = _one_of(known, _ROWS, "the record")
    rows: list[Any] = []
    for row in found if isinstance(found, list) else [found]:
        rows += _linearized(row) if isinstance(row, str) else [row]
    return [Record(text, _each(rows, lambda row: _triple(row, [], text)), _id_of(known))]


def _linearized(text: str) -> Iterator[list[str]]:
    """Yield the triples of ``<triplet> head <subj> tail <obj> relation <subj> ...``."""
    head = tail = ""
    parts = _MARK.split(text)
    for mark, content in zip(parts[1::2], parts[2::2], strict=True):
        if mark == "triplet":
            head, tail = content, ""
        elif mark == "subj":
            tail = content
        elif mark == "obj" and head and tail and content:
            yield [head, content, tail]


# GLiREL.


def glirel(value: object) -> list[Record]:
    """Return the record of tokens with the output of GLiREL.

    Examples
    --------
    >>> found = {"head_pos": [0, 1], "tail_pos": [2, 3], "head_text": ["Raf"],
    ...          "tail_text": ["Ras"], "label": "binds", "score": 0.9}
    >>> line = {"tokens": ["Raf", "binds", "Ras", "."], "relations": [found]}
    >>> glirel(line)[0].triples[0].second
    Mention(text='Ras', type='', span=(10, 13))
    """
    known = check_object(value, "the record", ("relations",), None)
    words = check_list(_one_of(known, ("tokens", "tokenized_text"), "the record"), "'tokens'")
    tokens = [_string(word, "a token") for word in words]
    text = _string(known.get("text", " ".join(tokens)), "'text'")
    try:
        spans = place_words(text, tokens)
    except MisfitError as failure:
        raise StructureError(
            "the tokens are not those of the text", hint="leave out 'text', or tokenize it again"
        ) from failure
    rows = check_list(known["relations"], "'relations'")

    def parse(row: object) -> Triple:
        one = check_object(row, "a relation", ("head_pos", "tail_pos", "label"), None)
        ends = [_tokens(one, end, tokens, spans, text) for end in ("head", "tail")]
        scores = {name: one[name] for name in _SCORES if isinstance(one.get(name), (int, float))}
        return Triple(_string(one["label"], "'label'"), ends[0], ends[1], scores)

    return [Record(text, _each(rows, parse), _id_of(known))]


def _tokens(
    row: Mapping[str, Any], end: str, tokens: list[str], spans: list[Span], text: str
) -> Mention:
    """Return the mention at some tokens; the last one may be included, as in the input."""
    place = check_list(row[f"{end}_pos"], f"'{end}_pos'")
    if len(place) != 2:
        raise StructureError(f"'{end}_pos' must be two numbers of tokens, got {describe(place)}")
    first, last = (check_integer(number, f"'{end}_pos'") for number in place)
    words = row.get(f"{end}_text")
    if isinstance(words, list) and words == tokens[first : last + 1]:
        last += 1
    if not 0 <= first < last <= len(tokens):
        raise StructureError(f"'{end}_pos' is {place}, but there are {len(tokens)} tokens")
    if isinstance(words, list) and words != tokens[first:last]:
        raise StructureError(
            f"'{end}_text' is {shorten(repr(words))}, but these tokens are "
            f"{shorten(repr(tokens[first:last]))}"
        )
    span = spans[first][0], spans[last - 1][1]
    return Mention(text[slice(*span)], "", span)


# INDRA.


def indra(value: object) -> list[Record]:
    """Return a record for each evidence of an INDRA Statement that has a text.

    Participants are quoted as in the annotations of the evidence, or else by the text in the
    references of the agent, or by its name.

    Examples
    --------
    >>> raf, mek = ({"name": name, "db_refs": {"TEXT": name}} for name in ("Raf", "MEK"))
    >>> evidence = [{"text": "Raf phosphorylates MEK."}]
    >>> line = {"type": "Phosphorylation", "enz": raf, "sub": mek, "evidence": evidence}
    >>> indra(line)[0].triples[0][:2]
    ('Phosphorylation', Mention(text='Raf', type='', span=None))
    """
    known = check_object(value, "the statement", ("type",), None)
    kind = _string(known["type"], "'type'")
    agents = _agents(known, kind)
    records = []
    name = known.get("id", known.get("matches_hash"))
    given = check_list(known.get("evidence", []), "'evidence'")
    _check_pairs(len(agents), given)
    for number, one in enumerate(given, 1):
        evidence = check_object(one, f"evidence {number}", (), None)
        text = evidence.get("text")
        if not isinstance(text, str) or not text:
            continue
        quoted, places = _quoted(evidence)
        mentions = [_agent(agent, place, quoted, places) for place, agent in enumerate(agents)]
        metadata = {"source_api": evidence["source_api"]} if "source_api" in evidence else {}
        pairs = [Triple(kind, *ends, metadata) for ends in combinations(mentions, 2)]
        id = f"{name}.e{number}" if isinstance(name, (str, int)) else None
        records.append(Record(text, list(pairs), id))
    if not records:
        raise StructureError("the statement has no evidence with a text, so it cannot be checked")
    return records


def _check_pairs(n_agents: int, evidence: list[Any]) -> None:
    """Raise if a short statement stands for very many pairs of participants."""
    texts = [one.get("text") for one in evidence if isinstance(one, dict)]
    sizes = [len(text) for text in texts if isinstance(text, str)]
    n_pairs = len(sizes) * n_agents * (n_agents - 1) // 2
    if n_agents > 2 and n_pairs > max(_FEW_PAIRS, sum(sizes) // _PAIR_TEXT):
        raise StructureError(
            f"the statement stands for {n_pairs:,} pairs of participants",
            hint="leave out participants that the evidence does not mention",
        )


def _agents(known: Mapping[str, Any], kind: str) -> list[object]:
    if "members" in known:
        found = check_list(known["members"], "'members'")
    else:
        keys = next((keys for keys in _AGENTS if all(known.get(key) for key in keys)), ())
        found = [known[key] for key in keys]
    if len(found) < 2:
        raise StructureError(f"the statement of type {shorten(repr(kind))} has no two participants")
    return found


def _quoted(evidence: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return the texts and the places of the agents in an evidence."""
    annotations = evidence.get("annotations")
    agents = annotations.get("agents") if isinstance(annotations, dict) else None
    known = agents if isinstance(agents, dict) else {}
    lists = (known.get(key) for key in ("raw_text", "coords"))
    texts, places = (one if isinstance(one, list) else [] for one in lists)
    return texts, places


def _agent(agent: object, place: int, quoted: list[Any], places: list[Any]) -> Mention:
    known = check_object(agent, f"participant {place + 1}", (), None)
    references = known.get("db_refs")
    text = quoted[place] if place < len(quoted) else None
    if not isinstance(text, str) and isinstance(references, dict):
        text = references.get("TEXT")
    if not isinstance(text, str):
        text = known.get("name")
    span = places[place] if place < len(places) else None
    if not (isinstance(span, list) and len(span) == 2 and all(type(one) is int for one in span)):
        return Mention(_string(text, "the name of a participant"))
    return Mention(_string(text, "the name of a participant"), "", (span[0], span[1]))


# Parts of records.


def _text_of(value: object) -> tuple[dict[str, Any], str]:
    known = check_object(value, "the record", (), None)
    return known, _string(_one_of(known, _TEXTS, "the record"), "the text")


def _id_of(known: Mapping[str, Any]) -> str | None:
    id = known.get("id")
    return str(id) if isinstance(id, (str, int)) else None


def _one_of(known: Mapping[str, Any], keys: tuple[str, ...], what: str) -> Any:
    for key in keys:
        if key in known:
            return known[key]
    raise StructureError(f"{what} has none of the keys {', '.join(map(repr, keys))}")


def _string(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise StructureError(f"{what} must be a string, got {describe(value)}")
    return value


def _each(rows: list[Any], parse: Callable[[object], Triple]) -> list[Triple | StructureError]:
    """Return the relations of a record; those that are broken are errors."""
    found: list[Triple | StructureError] = []
    for row in rows:
        try:
            found.append(parse(row))
        except StructureError as failure:
            found.append(failure)
    return found


# Name of a source -> function from a decoded record to texts with relations.
CLAIM_SOURCES: dict[str, _Adapter] = {
    "triples": triples,
    "rebel": rebel,
    "glirel": glirel,
    "indra": indra,
}
