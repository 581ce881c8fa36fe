"""Relations between concepts, as pairs of mentions.

Several corpora annotate relations of a whole document between concepts, such as database ids
(BioRED, CDR) or clusters of mentions (DocRED). Candidates are pairs of mentions in a sentence, so
a relation between two concepts becomes one relation for each pair of their mentions in a sentence.
If the two concepts never share a sentence, there is none, with a remark.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, count, product
from typing import NamedTuple

from kernelwood.errors import StructureError
from kernelwood.io.source import Remark
from kernelwood.structures import shorten
from kernelwood.text import Argument, Attribute, Entity, Relation, Span, find_sentences

ROLES = ("Arg1", "Arg2")
APART = Remark("relation between concepts that share no sentence")
UNMENTIONED = Remark("relation of a concept without a mention")
REPEATED = Remark("relation between concepts that was given before")
REFERENCES = ("Reference", "Normalization")  # types of attributes that hold a database id
CONCEPTS = "Concepts"  # attribute of a relation: which of several concepts its arguments are
_NO_IDS = frozenset(["", "-", "-1", "None", "null"])
_PLAIN_ID = re.compile(r"[\w.:#*-]{0,100}[0-9][\w.:*-]{0,100}", re.ASCII)
_LONG_ID = 200
_SEPARATOR = re.compile("[;,|+]")
_BLANKS = re.compile(r"\s*")
# Makes a named tuple of all its fields, in a third of the time that its constructor takes.
new_tuple = tuple.__new__
_MAX_RELATIONS = 100_000  # of a document; mentions of two concepts can be many in one sentence


class ConceptRelation(NamedTuple):
    """A relation of a document between two concepts."""

    type: str
    first: str
    second: str
    holds: bool = True


class Grounded(NamedTuple):
    """Relations between mentions.

    Attributes
    ----------
    relations : tuple of Relation
        With the ids ``R1``, ``R2``, ... and the roles ``Arg1`` and ``Arg2``.
    sources : tuple of int
        For each relation, the index of the relation between concepts that it comes from.
    remarks : tuple of Remark
        On relations between concepts that gave none.
    """

    relations: tuple[Relation, ...]
    sources: tuple[int, ...]
    remarks: tuple[Remark, ...]


def ground_relations(
    text: str,
    entities: Sequence[Entity],
    mentions: Mapping[str, Iterable[str]],
    relations: Iterable[ConceptRelation],
    *,
    sentences: Iterable[Span] | None = None,
    taken: Iterable[str] = (),
) -> Grounded:
    """Return the relations between mentions that relations between concepts stand for.

    Parameters
    ----------
    text : str
        The text of the document.
    entities : sequence of Entity
        Its mentions.
    mentions : mapping of str to iterable of str
        The ids of the entities that mention a concept; an entity may mention several.
    relations : iterable of ConceptRelation
        Relations between concepts; the order of the two is kept.
    sentences : iterable of (start, end), optional
        Sentence spans, in order; by default they are found as in `Document.split`.
    taken : iterable of str
        Ids that the new relations must not have.

    Raises
    ------
    StructureError
        If there would be more than 100,000 relations.

    Examples
    --------
    >>> text = "Raf binds Ras. Ras is small, and Raf is not. Raf and MEK bind."
    >>> places = {"T1": (0, 3), "T2": (10, 13), "T3": (15, 18), "T4": (33, 36), "T5": (53, 56)}
    >>> entities = [Entity(name, "gene", (span,)) for name, span in places.items()]
    >>> mentions = {"5894": ["T1", "T4"], "3265": ["T2", "T3"], "5604": ["T5"]}
    >>> asked = [ConceptRelation("Bind", "5894", "3265"), ConceptRelation("Bind", "3265", "5604")]
    >>> grounded = ground_relations(text, entities, mentions, asked)
    >>> [[argument.target for argument in made.arguments] for made in grounded.relations]
    [['T1', 'T2'], ['T4', 'T3']]
    >>> grounded.remarks
    (Remark(reason='relation between concepts that share no sentence'),)
    """
    asked = list(relations)
    if not asked:
        return Grounded((), (), ())
    asked_for = {name for relation in asked for name in relation[1:3] if name in mentions}
    members = {name: dict.fromkeys(mentions[name]) for name in asked_for}
    homes = _homes(text, entities, sentences, {one for found in members.values() for one in found})
    places = {name: _by_sentence(found, homes) for name, found in members.items()}
    unused = _unused_ids(frozenset(taken))
    pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
    made: list[Relation] = []
    sources: list[int] = []
    remarks: list[Remark] = []
    seen: set[ConceptRelation] = set()
    for index, relation in enumerate(asked):
        kind, first, second, holds = relation
        if relation in seen:
            remarks.append(REPEATED)
            continue
        seen.add(relation)
        if not places.get(first) or not places.get(second):
            remarks.append(UNMENTIONED)
            continue
        if (first, second) not in pairs:
            room = _MAX_RELATIONS - len(made)
            pairs[first, second] = _pairs(places[first], places[second], room, relation)
        found = pairs[first, second]
        if not found:
            remarks.append(APART)
        if len(made) + len(found) > _MAX_RELATIONS:
            raise _too_many(relation)
        for one, other in found:
            arguments = new_tuple(Argument, (ROLES[0], one)), new_tuple(Argument, (ROLES[1], other))
            made.append(new_tuple(Relation, (next(unused), kind, arguments, holds)))
            sources.append(index)
    return Grounded(tuple(made), tuple(sources), tuple(remarks))


def _unused_ids(taken: frozenset[str]) -> Iterator[str]:
    return (name for name in map("R{}".format, count(1)) if name not in taken)


def _homes(
    text: str,
    entities: Sequence[Entity],
    sentences: Iterable[Span] | None,
    wanted: Container[str],
) -> dict[str, int]:
    """Return the sentence of each wanted entity that is inside one, by id."""
    if sentences is None:
        spans = find_sentences(
            text, [(spans[0][0], spans[-1][1]) for _, _, spans, _ in entities if spans]
        )
    else:
        spans = list(sentences)
    starts = [start for start, _ in spans]
    # An entity may end in blanks, which are not part of a sentence.
    limits = [_blanks_end(text, end) for _, end in spans]
    homes = {}
    for entity in entities:
        if entity.id in wanted:
            home = bisect_right(starts, entity.start) - 1
            if home >= 0 and entity.end <= limits[home]:
                homes[entity.id] = home
    return homes


def _blanks_end(text: str, position: int) -> int:
    found = _BLANKS.match(text, position)
    return position if found is None else found.end()


def _by_sentence(members: Iterable[str], homes: Mapping[str, int]) -> dict[int, list[str]]:
    placed: defaultdict[int, list[str]] = defaultdict(list)
    for name in members:
        if name in homes:
            placed[homes[name]].append(name)
    return dict(placed)


def _pairs(
    first: Mapping[int, list[str]],
    second: Mapping[int, list[str]],
    room: int,
    relation: ConceptRelation,
) -> list[tuple[str, str]]:
    """Return the pairs of different mentions in a sentence; for one concept, each pair once."""
    found: list[tuple[str, str]] = []
    for home in sorted(first.keys() & second.keys()):
        ones, others = first[home], second[home]
        if len(ones) * len(others) // 2 > room + len(ones):
            raise _too_many(relation)
        pairs = combinations(ones, 2) if first is second else product(ones, others)
        found += [(one, other) for one, other in pairs if one != other]
        if len(found) > room:
            raise _too_many(relation)
    return found


def _too_many(relation: ConceptRelation) -> StructureError:
    return StructureError(
        f"relations between concepts stand for more than {_MAX_RELATIONS:,} pairs of mentions, "
        f"with the one of {shorten(repr(relation.first))} and {shorten(repr(relation.second))}",
        hint="cut the document, or leave out concepts that are mentioned very often",
    )


def split_ids(written: str) -> tuple[str, ...]:
    """Return the database ids of a mention, which files separate by ``;``, ``,``, ``|`` or ``+``.

    Ids that hold such a character themselves, such as those of variants, are separated by ``;``
    only. Marks for a missing id, such as ``-1``, are left out.

    Examples
    --------
    >>> split_ids("MESH:D008687|MESH:D011374"), split_ids("-1")
    (('MESH:D008687', 'MESH:D011374'), ())
    >>> split_ids("tmVar:p|SUB|V|600|E;CorrespondingGene:673")
    ('tmVar:p|SUB|V|600|E', 'CorrespondingGene:673')
    """
    # The same ids appear again and again; only short ones are kept, to bound the memory.
    return _cached_ids(written) if len(written) < _LONG_ID else _split_ids(written)


def _split_ids(written: str) -> tuple[str, ...]:
    parts = _SEPARATOR.split(written)
    if not all(_PLAIN_ID.fullmatch(part) or part in _NO_IDS for part in parts):
        parts = written.split(";")
    found = (part.strip() for part in parts)
    return tuple(dict.fromkeys(part for part in found if part not in _NO_IDS))


_cached_ids = lru_cache(maxsize=1 << 14)(_split_ids)


def find_concept(written: str, mentions: Container[str]) -> str:
    """Return the concept that a relation names, which may follow its type: ``Chemical|D000068``.

    Examples
    --------
    >>> find_concept("Gene|5894", {"5894": ["T1"]}), find_concept("-1", {})
    ('5894', '-1')
    """
    if written in mentions:
        return written
    shorter = (written.partition(mark)[2].strip() for mark in "|,:")
    return next((name for name in shorter if name in mentions), written)


def several_concepts(
    grounded: Grounded, asked: Sequence[ConceptRelation], ids: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str]]:
    """Yield relation and value of the attribute `CONCEPTS`, where an argument has several ids.

    Parameters
    ----------
    grounded : Grounded
        The result of `ground_relations`.
    asked : sequence of ConceptRelation
        The relations between concepts that were grounded.
    ids : mapping of str to sequence of str
        The concepts of each entity that has several.
    """
    if not ids:
        return
    values: dict[int, str] = {}  # one string for all mentions, since ids may be long
    for relation, source in zip(grounded.relations, grounded.sources, strict=True):
        if any(len(ids.get(target, ())) > 1 for _, target in relation.arguments):
            value = values.get(source) or concept_pair(asked[source].first, asked[source].second)
            yield relation.id, values.setdefault(source, value)


def database_ids(attributes: Iterable[Attribute]) -> dict[str, list[tuple[str, str]]]:
    r"""Return id and name of all database references, by the annotation they belong to.

    Examples
    --------
    >>> database_ids([Attribute("N1", "Reference", "T1", "NCBIGene:5894\tRAF1")])
    {'T1': [('NCBIGene:5894', 'RAF1')]}
    """
    found: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for attribute in attributes:
        if attribute.type in REFERENCES:
            name, _, term = attribute.value.partition("\t")
            found[attribute.target].append((name, term))
    return dict(found)


def concepts_of(
    relation: Relation,
    references: Mapping[str, Sequence[tuple[str, str]]],
    chosen: str | None,
) -> tuple[str, str] | None:
    """Return the concepts of the two arguments of a relation; None if one has no database id.

    Parameters
    ----------
    relation : Relation
        With two arguments.
    references : mapping
        The result of `database_ids`.
    chosen : str, optional
        The value of the attribute `CONCEPTS`, for mentions of several concepts.
    """
    first, second = (
        [name for name, _ in references.get(target, ())] for _, target in relation.arguments
    )
    for pair in product(first, second):
        if chosen is None or concept_pair(*pair) == chosen:
            return pair
    return None


def concept_pair(first: str, second: str) -> str:
    """Return the value of the attribute `CONCEPTS`."""
    return f"{first} {second}"
