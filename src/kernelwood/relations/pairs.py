"""Pairs of entities within a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from math import comb
from typing import Literal, TypeAlias

from kernelwood.relations.candidate_lists import (
    Candidates,
    Place,
    names_of,
    origin_of,
    sentences_of,
)
from kernelwood.text import Candidate, Entity, Example, Label, Relation, Sentence

__all__ = ["PairLabels", "pair_candidates"]

PairLabels: TypeAlias = Literal["binary", "type", "directed", "example"]

_LABELS = ("binary", "type", "directed", "example")
# What standoff writes for two names of one thing: no relation between things, unless asked for.
_EQUIVALENCE = "*"
_Related: TypeAlias = Mapping[frozenset[str], list[Relation]]


def pair_candidates(
    examples: Iterable[Example],
    *,
    types: Iterable[str] | None = None,
    relations: Iterable[str] | None = None,
    labels: PairLabels | None = "binary",
    max_distance: int | None = None,
    max_entities: int | None = None,
    view: str | None = None,
) -> Candidates:
    """Return the pairs of entities of each sentence, labeled by the annotation.

    The first entity of a pair is the one that begins first in the text (of two that begin
    together, the one that ends first; then the one listed first). Triggers of events are no
    entities here.

    Parameters
    ----------
    examples : iterable of Example
        With a sentence or a document each.
    types : iterable of str, optional
        Pair entities of these types only.
    relations : iterable of str, optional
        Relations of other types count as none. By default all types but equivalences of standoff
        annotation (two names of one thing) count.
    labels : {"binary", "type", "directed", "example"} or None
        1 or 0; the type of the relation or ``"none"``; the type with its direction, such as
        ``"Cause-Effect(e2,e1)"`` where the first argument is the second entity of the pair; the
        label of the example; or no labels.
    max_distance : int, optional
        Drop pairs with more tokens than this between them.
    max_entities : int, optional
        Leave out sentences with more entities, whose pairs would be too many.
    view : str, optional
        Which view holds the sentence; by default ``"document"`` or ``"sentence"``.

    Returns
    -------
    Candidates
        A list of `Candidate` with roles ``first`` and ``second`` and a ``tally`` of what was
        dropped, relations that hold but not between two entities among it.

    Examples
    --------
    >>> from kernelwood.text import Argument
    >>> raf, ras = Entity("e1", "protein", ((0, 3),)), Entity("e2", "protein", ((10, 13),))
    >>> bound = Relation("r1", "binds", (Argument("", "e1"), Argument("", "e2")))
    >>> sentence = Sentence.from_words(
    ...     ["Raf", "binds", "Ras"], entities=[raf, ras], relations=[bound]
    ... )
    >>> pair_candidates([Example("s1", views={"sentence": sentence})])
    <Candidates: 1, 0 dropped>
    """
    if labels is not None and labels not in _LABELS:
        raise ValueError(f"labels must be one of {', '.join(_LABELS)} or None; got {labels!r}")
    wanted, kinds = names_of(types), names_of(relations)
    dropped: Counter[str] = Counter()
    made: list[Candidate] = []
    for place in sentences_of(examples, view, dropped):
        related = _related(place.sentence, kinds, dropped)
        for first, second in _pairs(place.sentence, wanted, max_distance, max_entities, dropped):
            found = related.get(frozenset((first.id, second.id)), [])
            candidate = Candidate(
                _name(place, first, second, found),
                place.sentence,
                (("first", first), ("second", second)),
                label=_label(labels, place, first, [r for r in found if r.holds]),
                origin=origin_of(place, (first, second)),
            )
            made.append(candidate)
    return Candidates(made, dropped)


def _name(place: Place, first: Entity, second: Entity, found: list[Relation]) -> str:
    """Return the id of the relation if it is one of the whole corpus, else a new one."""
    if found and found[0].id.startswith(place.id):
        return found[0].id
    ends = (entity.id.removeprefix(f"{place.id}.") for entity in (first, second))
    return f"{place.id}.{'-'.join(ends)}"


def _related(sentence: Sentence, kinds: frozenset[str] | None, dropped: Counter[str]) -> _Related:
    """Return the relations by the entities they join, and count those that join no two."""
    paired = {entity.id for entity in sentence.entities}
    paired -= {event.trigger for event in sentence.events}
    related: dict[frozenset[str], list[Relation]] = {}
    for relation in sentence.relations:
        if kinds is None:
            if relation.id == _EQUIVALENCE:
                continue
        elif relation.type not in kinds:
            continue
        ends = frozenset(argument.target for argument in relation.arguments)
        if len(relation.arguments) == len(ends) == 2 and ends <= paired:
            related.setdefault(ends, []).append(relation)
        elif relation.holds:
            dropped["relation that is not between two entities"] += 1
    return related


def _pairs(
    sentence: Sentence,
    wanted: frozenset[str] | None,
    max_distance: int | None,
    max_entities: int | None,
    dropped: Counter[str],
) -> Iterator[tuple[Entity, Entity]]:
    triggers = {event.trigger for event in sentence.events}
    entities = [
        entity
        for entity in sentence.entities
        if entity.id not in triggers and (wanted is None or entity.type in wanted)
    ]
    if max_entities is not None and len(entities) > max_entities:
        reason = f"pair of a sentence with more than {max_entities} entities"
        dropped[reason] += comb(len(entities), 2)
        return
    entities.sort(key=lambda entity: (entity.start, entity.end))
    tokens = {entity.id: sentence.tokens_of(entity) for entity in entities}
    for first, second in combinations(entities, 2):
        left, right = tokens[first.id], tokens[second.id]
        if sentence.tokens and not (left and right):
            dropped["an entity covers no token"] += 1
        elif max_distance is not None and _distance(left, right) > max_distance:
            dropped[f"more than {max_distance} tokens apart"] += 1
        else:
            yield first, second


def _distance(left: tuple[int, ...], right: tuple[int, ...]) -> int:
    return max(0, right[0] - left[-1] - 1) if left and right else 0


def _label(
    labels: PairLabels | None, place: Place, first: Entity, holding: list[Relation]
) -> Label:
    match labels:
        case None:
            return None
        case "example":
            return place.example.label
        case "binary":
            return int(bool(holding))
    if not holding:
        return "none"
    relation = holding[0]
    if labels == "type":
        return relation.type
    forward = relation.arguments[0].target == first.id
    return f"{relation.type}({'e1,e2' if forward else 'e2,e1'})"
