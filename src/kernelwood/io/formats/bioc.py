r"""BioC: documents of passages with annotations and relations, as XML or JSON.

Both forms have the same parts, described here; see `bioc_xml` and `bioc_json` for the files.

========================  =========================================================================
part                      read as
========================  =========================================================================
passage, sentence         Text at its offset. A gap between passages is filled by line ends and
                          blanks, one between sentences by blanks, so that offsets stay true. A
                          passage is an entry of the metadata: ``("section", "0 19\ttitle")``
infon of a document       Entry of the metadata
annotation                Entity; several locations if it is discontinuous
infon ``type``            Type of an entity, relation or event
infon of a database       Attribute ``Reference``: ``identifier``, ``MESH``, ``NCBI Gene``, ...
other infon               Attribute with the key as its type
relation with nodes       Relation between annotations, or event if a node has the role ``Trigger``
relation between ids      Relations between mentions, see `kernelwood.io.formats.concepts`
========================  =========================================================================

A relation is between ids if its infons are ``entity1`` and ``entity2`` (BioRED), ``role1`` and
``role2`` (PubTator3), if its nodes refer to ids, or if it has no nodes but two infons that are ids
of annotations (CDR). Ids that are repeated or missing are replaced, with a remark. Infons of
passages other than their type, and infons of collections, are left out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, pairwise
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from kernelwood.errors import StructureError
from kernelwood.io.alignment import compare_mention, mention_problem
from kernelwood.io.formats.concepts import (
    CONCEPTS,
    REFERENCES,
    ConceptRelation,
    database_ids,
    find_concept,
    ground_relations,
    new_tuple,
    several_concepts,
    split_ids,
)
from kernelwood.io.source import Remark
from kernelwood.structures import describe, shorten
from kernelwood.text import (
    Argument,
    Attribute,
    Document,
    Entity,
    Event,
    Relation,
    Sentence,
    Span,
)

# A part of a document, as decoded from JSON; the reader of XML makes the same.
Part: TypeAlias = "dict[Any, Any]"

PLACE = object()  # key of the line and the column of a part, where they are known
_MAX_GAP = 1 << 20  # characters of a document that no passage fills
_MAX_INFONS = 300_000  # of relations between mentions in a document
_TRIGGER = "Trigger"
_NEGATIVE = "negative"
_SECTION = re.compile(r"([0-9]{1,9}) ([0-9]{1,9})\t(.*)", re.DOTALL)
_TYPES = ("type", "relation", "relation type")  # infons that are the type of a relation
_PAIRS = (("entity1", "entity2"), ("role1", "role2"))  # infons that are ids of a relation
# Infons of annotations that are ids, in lower case without blanks and hyphens -> database.
_DATABASES = {
    "identifier": "", "conceptid": "", "mesh": "MESH", "ncbigene": "NCBIGene", "geneid": "NCBIGene",
    "entrezgene": "NCBIGene", "omim": "OMIM", "umls": "UMLS", "cui": "UMLS", "chebi": "CHEBI",
    "uniprot": "UniProt", "ncbitaxonomy": "NCBITaxon", "taxonomyid": "NCBITaxon",
    "dbsnp": "dbSNP", "hgnc": "HGNC", "drugbank": "DrugBank", "cellosaurus": "Cellosaurus",
}  # fmt: skip
_EMPTY = Document("")
_WORD_BREAKS = str.maketrans("", "", " -_")
_NAME = "name"
_REPEATED_ID = Remark("repeated or missing id of an annotation or relation; replaced")
_NO_LENGTH = Remark("location of an annotation without characters; left out")
_NESTED = Remark("relation of relations left out")
_NO_ARGUMENTS = Remark("relation without arguments left out")
_OTHER_BLANKS = Remark("blanks or joints in the text of an annotation differ from the passage")


def document_of(part: Part) -> tuple[Document, list[Remark]]:
    r"""Return the document of a BioC document, and remarks on it.

    Raises
    ------
    StructureError
        If a part is malformed, with its place if the part has one.

    Examples
    --------
    >>> title = {"offset": 0, "text": "Raf", "infons": {"type": "title"}}
    >>> document, remarks = document_of({"passages": [title, {"offset": 4, "text": "It binds."}]})
    >>> document.text, document.metadata
    ('Raf\nIt binds.', (('section', '0 3\ttitle'), ('section', '4 13\t')))
    """
    draft = _Draft(part)
    return draft.document(), draft.remarks


def document_id(part: Part) -> str:
    """Return the id of a document; raise StructureError if it has none."""
    for key in ("id", "pmid", "_id"):
        found = part.get(key)
        if type(found) is int:
            return _plain(found, part)
        if found and type(found) is str and found.strip():
            return found.strip()
    raise _problem("the id of the document is missing", part, "every document needs an id")


A = TypeVar("A", bound=Document | Sentence)
_Nodes: TypeAlias = "list[tuple[str, str]]"  # roles and ids


@dataclass(slots=True)
class _Item:
    """A relation: ``pair`` are its concepts, or ``trigger`` the number of the node of an event."""

    part: Part
    own: dict[str, str]
    name: str
    type: str
    infons: dict[str, str]
    nodes: _Nodes
    trigger: int | None = None
    holds: bool = True
    pair: tuple[str, str] | None = None


class _Scope(NamedTuple):
    """Relations, and the annotations of the same passage by id."""

    relations: list[Part]
    own: dict[str, str]


class _Draft:
    """The parts of a document."""

    def __init__(self, part: Part) -> None:
        self.remarks: list[Remark] = []
        self._metadata: list[tuple[str, str | None]] = [*_infons(part).items()]
        passages = _list(part, "passages")
        self._text = self._lay_out(passages)
        if len(passages) == 1 and self._metadata[-1:] == [("section", f"0 {len(self._text)}\t")]:
            del self._metadata[-1]  # the passage is the document
        self._entities: list[Entity] = []
        self._attributes: list[Attribute] = []
        self._mentions: dict[str, list[str]] = {}  # by concept
        self._ids: dict[str, Sequence[str]] = {}  # concepts by mention
        self._names: dict[str, str] = {}  # entities by the ids of the file
        self._shared: set[str] = set()  # ids that several annotations have
        self._used: set[str] = set()
        self._new = {letter: map(f"{letter}{{}}".format, count(1)) for letter in "TR"}
        self._scopes: list[_Scope] = []
        for passage in passages:
            for sentence in _list(passage, "sentences"):
                self._add_annotations(sentence)
            self._add_annotations(passage)
        self._add_annotations(part)

    def _lay_out(self, passages: list[Part]) -> str:
        """Return the text, with every passage and sentence at its offset."""
        pieces: list[str] = []
        place = 0
        for passage in passages:
            begun = -1
            for block in [passage] if passage.get("text") else _list(passage, "sentences"):
                text = _string(block, "text")
                start = _number(block, "offset")
                if not text:
                    continue
                if not place <= start <= place + _MAX_GAP:
                    raise _misplaced(block, start, place)
                pieces.append(_filler(start - place) if begun < 0 else " " * (start - place))
                pieces.append(text)
                begun = start if begun < 0 else begun
                place = start + len(text)
            if begun >= 0:
                self._metadata.append(("section", f"{begun} {place}\t{_section(passage)}"))
        return "".join(pieces)

    def _add_annotations(self, owner: Part) -> None:
        own: dict[str, str] = {}
        for annotation in _list(owner, "annotations"):
            given = annotation.get("id")
            if type(given) is not str:
                given = _name(annotation)
            if given and given not in self._used:
                name = self._names[given] = own[given] = given
                self._used.add(given)
            else:
                name = self._unused(given, "T")
                own.setdefault(given, name)
                if given in self._names:
                    self._shared.add(given)
                self._names.setdefault(given, name)
            self._add_annotation(name, annotation)
        relations = _list(owner, "relations")
        if relations:
            self._scopes.append(_Scope(relations, own))

    def _unused(self, given: str, letter: str) -> str:
        """Return the id of the file, or another one if it is empty or used before."""
        name = given
        if not given or given in self._used:
            self.remarks.append(_REPEATED_ID)
            name = next(new for new in self._new[letter] if new not in self._used)
        self._used.add(name)
        return name

    def _add_annotation(self, name: str, annotation: Part) -> None:
        infons = _infons(annotation)
        spans = self._spans(annotation)
        written = annotation.get("text")
        if type(written) is not str:
            written = _string(annotation, "text")
        if len(spans) != 1 or not (
            spans[0][0] + len(written) == spans[0][1]
            and self._text.startswith(written, spans[0][0])
        ):
            written = self._checked(annotation, written, spans)
        self._entities.append(new_tuple(Entity, (name, infons.pop("type", ""), spans, written)))
        if infons:
            self._add_infons(name, infons)

    def _spans(self, annotation: Part) -> tuple[Span, ...]:
        spans = []
        for location in _list(annotation, "locations"):
            start, length = _number(location, "offset"), _number(location, "length")
            if length:
                spans.append((start, start + length))
            else:
                self.remarks.append(_NO_LENGTH)
        if len(spans) > 1:
            spans.sort()
            for (_, end), (start, _) in pairwise(spans):
                if start < end:
                    raise _problem("locations of the annotation overlap", annotation)
        return tuple(spans)

    def _checked(self, annotation: Part, written: str, spans: tuple[Span, ...]) -> str:
        """Return the text of an annotation; raise if it is not at its place."""
        text = self._text
        if not spans:
            return written
        if spans[-1][1] <= len(text):
            if not written:
                return ""
            differ = compare_mention(written, text, spans)
            if differ is not None:
                self.remarks += [_OTHER_BLANKS] * differ
                return written
        problem, hint = mention_problem("the annotation", written, text, spans)
        raise _problem(problem, annotation, hint)

    def _add_infons(self, name: str, infons: dict[str, str]) -> None:
        """Add the ids of an annotation as references, and other infons as attributes."""
        mentions, attributes = self._mentions, self._attributes
        found: dict[str, None] = {}
        others = []
        for key, written in infons.items():
            database = _DATABASES.get(key)
            if database is None and (database := _database(key)) is None:
                others.append((key, written))
                continue
            ids = split_ids(written)
            for one in ids:
                full = one
                if database and ":" not in one:
                    full = f"{database}:{one}"
                    mentions.setdefault(full, []).append(name)
                found[full] = None
                mentions.setdefault(one, []).append(name)
            if len(ids) > 1:
                mentions.setdefault(written, []).append(name)
        values: Iterable[str] = found
        if found and _NAME in infons:
            terms = infons[_NAME].split("|")
            if len(terms) == len(found):
                values = [f"{one}\t{term}" for one, term in zip(found, terms, strict=True)]
                others.remove((_NAME, infons[_NAME]))
        for value in values:
            number = len(attributes) + 1
            attributes.append(new_tuple(Attribute, (f"N{number}", "Reference", name, value)))
        for key, value in others:
            number = len(attributes) + 1
            attributes.append(new_tuple(Attribute, (f"A{number}", key, name, value)))
        if len(found) > 1:
            self._ids[name] = tuple(found)

    def _add_attribute(self, kind: str, target: str, value: str) -> None:
        self._attributes.append(Attribute(f"A{len(self._attributes) + 1}", kind, target, value))

    def document(self) -> Document:
        """Return the document; add remarks on its relations."""
        relations: list[Relation] = []
        events: list[Event] = []
        if self._scopes:
            self._add_relations(relations, events)
        # Spans, ids and references were checked when they were read.
        return _EMPTY._with(
            text=self._text,
            entities=tuple(self._entities),
            relations=tuple(relations),
            events=tuple(events),
            attributes=tuple(self._attributes),
            metadata=tuple(self._metadata),
        )

    def _add_relations(self, relations: list[Relation], events: list[Event]) -> None:
        given = {_name(part) for scope in self._scopes for part in scope.relations} - {""}
        items = [
            self._item(part, scope.own, given) for scope in self._scopes for part in scope.relations
        ]
        for item, arguments in self._resolved([item for item in items if item.pair is None]):
            for key, value in item.infons.items():
                self._add_attribute(key, item.name, value)
            if item.trigger is None:
                relations.append(Relation(item.name, item.type, arguments, item.holds))
            else:
                trigger = arguments[item.trigger].target
                rest = arguments[: item.trigger] + arguments[item.trigger + 1 :]
                events.append(Event(item.name, item.type, trigger, rest))
        relations += self._grounded([item for item in items if item.pair is not None])

    def _item(self, part: Part, own: dict[str, str], given: set[str]) -> _Item:
        infons, nodes = _infons(part), _nodes(part)
        pair = self._concepts(infons, nodes, own, given)
        kind = next((infons.pop(key) for key in _TYPES if key in infons), "")
        if pair is not None:
            return _Item(part, own, "", kind, infons, nodes, pair=pair)
        by_id = infons.pop("trigger_id", None)
        triggers = [
            number
            for number, (role, refid) in enumerate(nodes)
            if (role == _TRIGGER if by_id is None else refid == by_id)
        ]
        trigger = next(iter(triggers), None)
        name = _name(part)
        if name != "*" or trigger is not None:  # relations without an id may share this one
            name = self._unused(name, "R")
        holds = infons.pop(_NEGATIVE, "") != "true"
        return _Item(part, own, name, kind, infons, nodes, trigger, holds)

    def _concepts(
        self, infons: dict[str, str], nodes: _Nodes, own: dict[str, str], given: set[str]
    ) -> tuple[str, str] | None:
        """Return the two concepts of a relation between concepts, None for other relations."""
        mentions = self._mentions
        for one, other in _PAIRS:
            if one in infons and other in infons:
                pair = infons.pop(one), infons.pop(other)
                return find_concept(pair[0], mentions), find_concept(pair[1], mentions)
        if not nodes:
            keys = [key for key, value in infons.items() if value in mentions]
            return (infons.pop(keys[0]), infons.pop(keys[1])) if len(keys) == 2 else None
        ids = [refid for _, refid in nodes]
        if len(ids) != 2 or any(one in own or one in self._names or one in given for one in ids):
            return None
        first, second = (find_concept(one, mentions) for one in ids)
        return (first, second) if first in mentions and second in mentions else None

    def _resolved(self, items: list[_Item]) -> Iterator[tuple[_Item, tuple[Argument, ...]]]:
        """Yield relations and events with their arguments; leave out relations of relations."""
        names: dict[str, str] = {}
        for item in items:
            names.setdefault(_name(item.part), item.name)
        events = {item.name for item in items if item.trigger is not None}
        resolved: list[tuple[Argument, ...]] = []
        users: defaultdict[str, list[int]] = defaultdict(list)
        lost: dict[int, Remark] = {}
        entities = {entity.id for entity in self._entities}
        for index, item in enumerate(items):
            found = tuple(
                [Argument(role, self._target(refid, item, names)) for role, refid in item.nodes]
            )
            resolved.append(found)
            for _, target in found:
                users[target].append(index)
            if not found:
                lost[index] = _NO_ARGUMENTS
            elif not all(target in entities or target in events for _, target in found) or (
                item.trigger is not None and found[item.trigger].target not in entities
            ):
                lost[index] = _NESTED
        waiting = list(lost)
        while waiting:
            for user in users[items[waiting.pop()].name]:
                if user not in lost:
                    lost[user] = _NESTED
                    waiting.append(user)
        self.remarks += lost.values()
        for index, item in enumerate(items):
            if index not in lost:
                yield item, resolved[index]

    def _target(self, refid: str, item: _Item, names: Mapping[str, str]) -> str:
        """Return the id of the annotation, relation or event that a node refers to."""
        if refid in item.own:
            return item.own[refid]
        if refid in self._names:
            if refid in self._shared:
                raise _problem(
                    f"the id {shorten(repr(refid))} belongs to several annotations",
                    item.part,
                    "ids of annotations that a relation refers to must be unique in the document",
                )
            return self._names[refid]
        if refid not in names:
            raise _problem(
                f"there is no annotation {shorten(repr(refid))}",
                item.part,
                "the refid of a node is the id of an annotation or relation, or a database id",
            )
        return names[refid]

    def _grounded(self, items: list[_Item]) -> tuple[Relation, ...]:
        """Return the relations between mentions that relations between concepts stand for."""
        asked = [
            ConceptRelation(item.type, *item.pair, item.infons.pop(_NEGATIVE, "") != "true")
            for item in items
            if item.pair is not None
        ]
        grounded = ground_relations(
            self._text, self._entities, self._mentions, asked, taken=self._used
        )
        self.remarks += grounded.remarks
        n_infons = sum(len(items[source].infons) for source in grounded.sources)
        if n_infons > _MAX_INFONS:
            raise StructureError(
                f"the infons of relations between ids stand for more than {_MAX_INFONS:,} "
                "attributes of mentions",
                hint="leave out infons, or cut the document",
            )
        for relation, source in zip(grounded.relations, grounded.sources, strict=True):
            for key, value in items[source].infons.items():
                self._add_attribute(key, relation.id, value)
        for name, value in several_concepts(grounded, asked, self._ids):
            self._add_attribute(CONCEPTS, name, value)
        return grounded.relations


def check_id(name: str) -> None:
    """Raise StructureError if an id of a document would not read back."""
    if not name or name != name.strip():
        raise StructureError(
            f"the id {shorten(repr(name))} cannot be the id of a document",
            hint="use an id without blanks around it",
        )


def part_of(name: str, document: Document | Sentence, *, adapt: bool = False) -> Part:
    """Return the BioC document of a document, as it is written in JSON.

    Parameters
    ----------
    name : str
        The id of the document.
    document : Document or Sentence
        Its sections become passages; without sections the text is one passage.
    adapt : bool
        Leave out attributes that the format cannot hold, which are an error otherwise.

    Raises
    ------
    StructureError
        If an attribute has the key of another infon, or a relation the role of a trigger.

    Examples
    --------
    >>> part = part_of("7", Document("Raf binds.", [Entity("T1", "Gene", ((0, 3),), "Raf")]))
    >>> [annotation] = part["passages"][0]["annotations"]
    >>> annotation["infons"], annotation["locations"]
    ({'type': 'Gene'}, [{'offset': 0, 'length': 3}])
    """
    if adapt:
        document = fit_to_bioc(document)
    spans = _sections_of(document)
    kept = {f"{start} {end}\t{kind}" for start, end, kind in spans}
    metadata: dict[str, str] = {}
    for key, value in document.metadata:
        if key == "section" and value in kept:
            continue
        if key in metadata and not adapt:
            raise _repeated(key)
        metadata.setdefault(key, value or "")
    infons = _Infons(document)
    passages: list[Part] = [
        {
            "offset": start,
            "infons": {"type": kind} if kind else {},
            "text": document.text[start:end],
            "sentences": [],
            "annotations": [],
            "relations": [],
        }
        for start, end, kind in spans
    ]
    starts = [start for start, _, _ in spans]
    for entity in document.entities:
        home = max(bisect_right(starts, entity.start) - 1, 0)
        passages[home]["annotations"].append(
            {
                "id": entity.id,
                "infons": infons.of(entity),
                "text": entity.text or " ".join(document.text[a:b] for a, b in entity.spans),
                "locations": [{"offset": a, "length": b - a} for a, b in entity.spans],
            }
        )
    return {
        "id": name,
        "infons": metadata,
        "passages": passages,
        "annotations": [],
        "relations": [
            *(_relation_part(item, infons) for item in document.relations),
            *(_event_part(item, infons) for item in document.events),
        ],
    }


def _sections_of(document: Document | Sentence) -> list[tuple[int, int, str]]:
    """Return the passages of a document; the whole text unless its sections are all of it."""
    text, spans, place = document.text, [], 0
    for key, value in document.metadata:
        match = _SECTION.fullmatch(value or "") if key == "section" else None
        if match is not None:
            start, end = int(match[1]), int(match[2])
            if not place <= start < end <= len(text) or text[place:start] != _filler(start - place):
                return [(0, len(text), "")]
            spans.append((start, end, match[3]))
            place = end
    return spans if spans and place == len(text) else [(0, len(text), "")]


def _relation_part(relation: Relation, infons: _Infons) -> Part:
    nodes = [{"refid": target, "role": role} for role, target in relation.arguments]
    if any(role == _TRIGGER for role, _ in relation.arguments):
        raise StructureError(
            f"relation {shorten(repr(relation.id))} would be read as an event",
            hint=f"in BioC the role {_TRIGGER!r} is that of the trigger of an event; rename it",
        )
    found = infons.of(relation)
    if not relation.holds:
        found[_NEGATIVE] = "true"
    return {"id": relation.id, "infons": found, "nodes": nodes}


def _event_part(event: Event, infons: _Infons) -> Part:
    nodes = [
        {"refid": target, "role": role}
        for role, target in ((_TRIGGER, event.trigger), *event.arguments)
    ]
    return {"id": event.id, "infons": infons.of(event), "nodes": nodes}


class _Infons:
    """The attributes of a document as infons of the annotations they belong to."""

    def __init__(self, document: Document | Sentence) -> None:
        self._references = database_ids(document.attributes)
        self._values: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for _, kind, target, value in document.attributes:
            if kind not in REFERENCES:
                if kind in self._values[target]:
                    raise _repeated(kind)
                self._values[target][kind] = value

    def of(self, item: Entity | Relation | Event) -> dict[str, str]:
        made = {"type": item.type} if item.type else {}
        given = self._values.get(item.id, {})
        ids = _writable_ids(self._references.get(item.id, ()))
        if ids:
            made["identifier"] = ";".join(name for name, _ in ids)
        if ids and _NAME not in given and all(term and "|" not in term for _, term in ids):
            made[_NAME] = "|".join(term for _, term in ids)
        for key in given:
            if _would_change(key, given, item, len(ids)):
                raise StructureError(
                    f"the attribute {shorten(repr(key))} of {shorten(repr(item.id))} would be read "
                    "as something else",
                    hint="rename it; adapt=True leaves it out",
                )
        return made | given


def _writable_ids(references: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(name, term) for name, term in references if split_ids(name) == (name,)]


def fit_to_bioc(document: A) -> A:
    """Return a document without attributes and metadata that the format cannot hold.

    Examples
    --------
    >>> entity, note = Entity("T1", "Gene", ((0, 3),)), Attribute("A1", "type", "T1", "protein")
    >>> fit_to_bioc(Document("Raf", [entity], attributes=[note])).attributes
    ()
    """
    items: dict[str, Entity | Relation | Event] = {}
    for part in (document.entities, document.relations, document.events):
        items.update((item.id, item) for item in part)
    references = database_ids(document.attributes)
    infons: defaultdict[str, dict[str, str]] = defaultdict(dict)
    attributes: list[Attribute] = []
    for attribute in document.attributes:
        if attribute.type in REFERENCES:
            attributes.append(attribute)
        elif attribute.type not in infons[attribute.target]:
            infons[attribute.target][attribute.type] = attribute.value
            attributes.append(attribute)
    n_ids = {name: len(_writable_ids(found)) for name, found in references.items()}
    kept = tuple(
        item
        for item in attributes
        if item.type in REFERENCES
        or not _would_change(
            item.type, infons[item.target], items[item.target], n_ids.get(item.target, 0)
        )
    )
    keys: set[str] = set()
    metadata = []
    for key, value in document.metadata:
        if key == "section" or key not in keys:
            keys.add(key)
            metadata.append((key, value))
    return cast(A, document._with(attributes=kept, metadata=tuple(metadata)))


def left_out_of_bioc(document: Document | Sentence) -> Iterator[str]:
    """Yield the parts of a document that the format cannot hold."""
    fitting = fit_to_bioc(document)
    if len(fitting.attributes) < len(document.attributes):
        yield "attributes with the key of another infon"
    if len(fitting.metadata) < len(document.metadata):
        yield "metadata with repeated keys"
    found = database_ids(document.attributes).values()
    if any(len(_writable_ids(references)) < len(references) for references in found):
        yield "database ids with separators"


def _would_change(
    key: str, infons: Mapping[str, str], item: Entity | Relation | Event, n_ids: int
) -> bool:
    """Return whether an infon would be read as something else than an attribute."""
    if isinstance(item, Entity):
        name = key == _NAME and n_ids == infons[key].count("|") + 1
        return name or key == "type" or _database(key) is not None
    pair = any(key in pair and all(one in infons for one in pair) for pair in _PAIRS)
    return pair or key in ("type", _NEGATIVE, "trigger_id") or (key in _TYPES and not item.type)


def _database(key: str) -> str | None:
    """Return the database whose ids an infon has; None if it has none."""
    return _spelled(key) if len(key) < 100 else None


@lru_cache(maxsize=1000)
def _spelled(key: str) -> str | None:
    return _DATABASES.get(key.lower().translate(_WORD_BREAKS))


def _repeated(key: str) -> StructureError:
    return StructureError(
        f"the key {shorten(repr(key))} appears twice",
        hint="infons of a part have different keys; adapt=True keeps the first",
    )


def _filler(length: int) -> str:
    r"""Return the text between two passages, which ends a sentence.

    Examples
    --------
    >>> _filler(1), _filler(4)
    ('\n', '\n  \n')
    """
    return "\n" * length if length < 3 else f"\n{' ' * (length - 2)}\n"


def _section(passage: Part) -> str:
    infons = _infons(passage)
    kind, section = infons.get("type", ""), infons.get("section_type", "")
    if not kind or not section or kind.lower() == section.lower():
        return kind or section
    return f"{section}/{kind}"


def _list(part: Part, key: str) -> list[Part]:
    """Return a list of parts; empty if it is missing."""
    found = part.get(key)
    if not found:
        return []
    if type(found) is list:
        for one in found:
            if type(one) is not dict:
                break
        else:
            return found
    raise _problem(f"{key!r} must be a list of objects, got {describe(found)}", part)


def _infons(part: Part) -> dict[str, str]:
    """Return the infons whose values are text or numbers; of objects, the identifier is kept.

    The result may be changed: every part is read once.
    """
    found = part.get("infons")
    if not found:
        return {}
    if type(found) is not dict:
        raise _problem(f"'infons' must be an object, got {describe(found)}", part)
    for value in found.values():
        if type(value) is not str:
            break
    else:
        return found
    made = {}
    for key, value in found.items():
        plain = value.get("identifier") if type(value) is dict else value
        if type(plain) is bool:
            made[key] = "true" if plain else "false"
        elif isinstance(plain, (str, int, float)):
            made[key] = _plain(plain, part)
    return made


def _plain(value: str | float, part: Part) -> str:
    try:
        return str(value)
    except ValueError:  # an integer of thousands of digits
        raise _problem("a number has too many digits", part) from None


def _name(part: Part) -> str:
    """Return the id of an annotation or relation; empty if it has none."""
    found = part.get("id")
    if type(found) is str:
        return found
    if found is None or found == "":
        return ""
    if type(found) is int:
        return _plain(found, part)
    raise _problem(f"'id' must be a string, got {describe(found)}", part)


def _string(part: Part, key: str) -> str:
    """Return a string; empty if it is missing."""
    found = part.get(key)
    if found is None:
        return ""
    if type(found) is not str:
        raise _problem(f"{key!r} must be a string, got {describe(found)}", part)
    return found


def _number(part: Part, key: str) -> int:
    """Return a number of characters, which may be written as a string."""
    found = part.get(key)
    if type(found) is str and len(found) < 10 and found.isdecimal() and found.isascii():
        return int(found)
    if type(found) is not int or not 0 <= found < 10**9:
        raise _problem(
            f"{key!r} must be a number of characters, got {describe(found)}",
            part,
            "offsets count characters from the beginning of the document",
        )
    return found


def _nodes(part: Part) -> _Nodes:
    return [(_string(node, "role"), _refid(node)) for node in _list(part, "nodes")]


def _refid(node: Part) -> str:
    found = node.get("refid")
    return _plain(found, node) if type(found) is int else _string(node, "refid")


def _misplaced(block: Part, start: int, place: int) -> StructureError:
    if start < place:
        return _problem(
            f"this text begins at offset {start}, but the text before it ends at {place}",
            block,
            "offsets count characters from the beginning of the document; perhaps they count "
            "bytes, or begin again at 0 in each passage",
        )
    return _problem(
        f"this text begins at offset {start}, {start - place:,} characters after the one before it",
        block,
        f"a gap of at most {_MAX_GAP:,} characters is filled with blanks",
    )


def _problem(problem: str, part: Part, hint: str | None = None) -> StructureError:
    line, column = part.get(PLACE, (None, None))
    return StructureError(problem, line=line, column=column, hint=hint)
