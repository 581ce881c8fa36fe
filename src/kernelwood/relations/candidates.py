"""Candidates: the pairs of entities, or events, of each sentence that may be relations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from math import comb, inf
from typing import Any, Literal, NamedTuple, TypeAlias, overload

from kernelwood.arrays import ExampleBatch
from kernelwood.errors import StructureError
from kernelwood.io import Examples, Tally, general_reason
from kernelwood.relations.corpus import SentenceTable, example_entries
from kernelwood.relations.interactions import CATALYST, PARTICIPANT, ROLES, flatten_events
from kernelwood.structures import NodeId
from kernelwood.text import (
    ROOT,
    Candidate,
    Entity,
    Example,
    Label,
    Origin,
    Relation,
    Sentence,
    View,
    dependencies_of,
)
from kernelwood.views import entity_nodes, find_view, interaction_nodes, several

# A view by its name in the table, or a function of a candidate.
ViewMaker: TypeAlias = Callable[[Candidate], View]
PairLabels: TypeAlias = Literal["binary", "type", "directed", "example"]

MAX_EVENT_ENTITIES = 12  # combined with a trigger: 870 ways to fill its event
NONE = "none"  # the class of candidates that are not relations

_PAIR_LABELS = ("binary", "type", "directed", "example")
# Standoff annotation writes this for two names of one thing: not a relation unless asked for.
_EQUIVALENCE = "*"
_Participants: TypeAlias = tuple[tuple[str, Entity], ...]
# Participants and catalyst; with the trigger before them, an annotated interaction.
_Filled: TypeAlias = "tuple[frozenset[str], str | None]"
_Key: TypeAlias = "tuple[str, _Filled]"
# Number of participants of an event, and whether it has a catalyst.
EventForm: TypeAlias = tuple[int, bool]


class Viewed(NamedTuple):
    """Candidates with views: a table, the rows of the candidates in it, and dropped candidates."""

    table: ExampleBatch
    rows: list[int]
    reasons: Counter[str]
    remarks: Counter[str]


class Candidates(Sequence[Candidate]):
    """Candidates as columns; an index returns a `Candidate`.

    Attributes
    ----------
    sentences : SentenceTable
        The sentences that the candidates are in.
    ids : list of str
    sentence_of : list of int
        The row of each candidate's sentence.
    participants : list of tuples of (role, Entity)
        Pairs have the roles ``first`` and ``second``, events ``participant`` and ``catalyst``.
    triggers : list of Entity or None
        The word that stands for the event.
    labels : list
        Annotated classes; None where the class is unknown.
    missed : Candidates or None
        Annotated relations or events without a candidate, in sentences of the same table.
    tally : Tally
        Number of candidates, and of dropped candidates and annotations, by reason.
    """

    def __init__(self, sentences: SentenceTable | None = None) -> None:
        self.sentences = SentenceTable() if sentences is None else sentences
        self.ids: list[str] = []
        self.sentence_of: list[int] = []
        self.participants: list[_Participants] = []
        self.triggers: list[Entity | None] = []
        self.labels: list[Any] = []
        self.missed: Candidates | None = None
        self.dropped: Counter[str] = Counter()

    @classmethod
    def of_rows(cls, candidates: Iterable[Candidate]) -> Candidates:
        """Return the columns of candidates made one by one."""
        made = cls()
        rows: dict[int, tuple[int, Sentence]] = {}  # the sentence is kept, so that its id is
        for candidate in candidates:
            sentence = candidate.sentence
            if id(sentence) not in rows:
                rows[id(sentence)] = len(made.sentences), sentence
                made.sentences._append(candidate.id, "", sentence, None, candidate.origin)
            made.add(
                rows[id(sentence)][0],
                candidate.id,
                candidate.participants,
                candidate.label,
                candidate.trigger,
            )
        return made

    def add(
        self,
        sentence: int,
        id: str,
        participants: _Participants,
        label: Label,
        trigger: Entity | None = None,
    ) -> None:
        """Append a candidate of a sentence."""
        self.ids.append(id)
        self.sentence_of.append(sentence)
        self.participants.append(participants)
        self.triggers.append(trigger)
        self.labels.append(label)

    @property
    def tally(self) -> Tally:
        """Number of candidates, and of dropped candidates and annotations, by reason."""
        reasons = dict(self.dropped)
        return Tally(read=len(self), skipped=sum(reasons.values()), reasons=reasons)

    def sentence(self, row: int) -> Sentence:
        """Return the sentence of a candidate."""
        return self.sentences.sentences[self.sentence_of[row]]

    def text(self, row: int) -> str:
        """Return the text of a candidate's sentence."""
        return self.sentences.sentences.text(self.sentence_of[row])

    def document(self, row: int) -> str:
        """Return the id of the document or example that a candidate is in."""
        return self.sentences.documents[self.sentence_of[row]]

    def groups(self) -> list[str]:
        """Return the document of each candidate, to be used as groups."""
        found = self.sentences.groups()
        return [found[row] for row in self.sentence_of]

    def take(self, rows: Iterable[int]) -> Candidates:
        """Return some of the candidates, in that order."""
        made = Candidates(self.sentences)
        made.missed = self.missed
        for row in rows:
            made.add(
                self.sentence_of[row],
                self.ids[row],
                self.participants[row],
                self.labels[row],
                self.triggers[row],
            )
        return made

    def with_missed(self) -> Candidates:
        """Return the candidates, followed by the annotated relations without a candidate."""
        if not self.missed:
            return self
        made = Candidates(self.sentences)
        made._extend(self, 0)
        made._extend(self.missed, 0)
        return made

    def _extend(self, other: Candidates, shift: int) -> None:
        """Append candidates whose sentences have moved by some rows."""
        self.ids += other.ids
        self.sentence_of += [shift + row for row in other.sentence_of]
        self.participants += other.participants
        self.triggers += other.triggers
        self.labels += other.labels

    @staticmethod
    def concatenate(parts: Iterable[Candidates]) -> Candidates:
        """Return all candidates of several tables."""
        made = Candidates()
        made.missed = Candidates(made.sentences)
        for part in parts:
            shift = len(made.sentences)
            made.sentences.extend(part.sentences)
            made._extend(part, shift)
            if part.missed:
                made.missed._extend(part.missed, shift)
            made.dropped.update(part.dropped)
        return made

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, row: int) -> Candidate: ...
    @overload
    def __getitem__(self, row: slice) -> Candidates: ...
    def __getitem__(self, row: int | slice) -> Candidate | Candidates:
        if isinstance(row, slice):
            return self.take(range(len(self))[row])
        return self._row(row, self._origin(row))

    def _row(self, row: int, origin: Origin | None) -> Candidate:
        trigger = self.triggers[row]
        return Candidate._trusted(
            self.ids[row],
            self.sentences.sentences[self.sentence_of[row]],
            self.participants[row],
            trigger,
            "" if trigger is None else trigger.type,
            self.labels[row],
            origin,
        )

    def _origin(self, row: int) -> Origin | None:
        """Return file, line, and the characters from the first to the last entity."""
        origin = self.sentences.origins[self.sentence_of[row]]
        if origin is None:
            return None
        trigger = self.triggers[row]
        mentions = [entity for _, entity in self.participants[row]]
        spans = [s for entity in (*mentions, *([trigger] if trigger else [])) for s in entity.spans]
        if not spans:
            return origin
        shift = self.sentence(row).start
        starts, ends = zip(*spans, strict=True)
        return Origin(origin.path, origin.line, shift + min(starts), shift + max(ends))

    def __repr__(self) -> str:
        return f"<Candidates: {len(self)}, {self.tally.skipped} dropped>"

    def _repr_html_(self) -> str:
        from kernelwood.relations.notebook import candidates_html

        return candidates_html(self)

    def viewed(self, *names: str, **makers: ViewMaker) -> Viewed:
        """Return the table of the candidates' views, labels and documents.

        Arguments are those of `examples`. Origins are left out.
        """
        names = tuple(name for name in dict.fromkeys(names) if name not in makers)
        columns: dict[str, list[Any]] = {name: [] for name in (*names, *makers)}
        prepares = [(name, find_view(name).prepare) for name in names]
        named: list[tuple[str, Any]] = []
        latest = -1
        appends = [column.append for column in columns.values()]
        rows: list[int] = []
        reasons: Counter[str] = Counter()
        remarks: Counter[str] = Counter()
        for row in range(len(self)):
            candidate = self._row(row, None)
            views: list[Any] = []
            fallbacks = []
            try:
                if self.sentence_of[row] != latest:  # what candidates of a sentence share
                    named, latest = [], -1
                    for name, prepare in prepares:
                        named.append((name, prepare(candidate.sentence)))
                    latest = self.sentence_of[row]
                for name, make in named:
                    view, fallback = make(candidate)
                    views.append(view)
                    if fallback:
                        fallbacks.append(f"{name}: {fallback}")
                for name in makers:
                    views.append(makers[name](self[row]))
            except StructureError as failure:
                reasons[f"{name}: {general_reason(failure)}"] += 1
                continue
            if fallbacks:
                remarks.update(fallbacks)
            rows.append(row)
            for append, view in zip(appends, views, strict=True):
                append(view)
        table = ExampleBatch(
            [self.ids[row] for row in rows], [self.labels[row] for row in rows], columns
        )
        return Viewed(table, rows, reasons, remarks)

    def examples(self, *names: str, **makers: ViewMaker) -> Examples:
        """Return an example for each candidate, with the views that kernels compare.

        Parameters
        ----------
        *names : str
            Names in `kernelwood.views.VIEWS`, for example ``"path"``.
        **makers : callable
            Further views by name, each a function of a `Candidate`.

        Returns
        -------
        kernelwood.io.Examples
            In the order of the candidates. A candidate without one of the views is left out and
            counted in ``tally.reasons``; one whose view is a fallback (for example because there
            is no path between the entities) is kept and counted in ``tally.remarks``.
        """
        found = self.viewed(*names, **makers)
        found.table.origins = [self._origin(row) for row in found.rows]
        tally = Tally(
            read=len(found.rows),
            skipped=sum(found.reasons.values()),
            reasons=dict(found.reasons),
            remarks=dict(found.remarks),
        )
        return Examples(
            (
                Example(one.id, one.label, one.views, one.origin) if makers else one
                for one in found.table
            ),
            tally,
        )


def names_of(wanted: Iterable[str] | None) -> frozenset[str] | None:
    """Return the names that are asked for, None for all; a single string is one name.

    Examples
    --------
    >>> names_of("protein")
    frozenset({'protein'})
    """
    return None if wanted is None else frozenset(several(wanted))


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
    together, the one that ends first; then the one listed first). Triggers of events are not
    paired.

    Parameters
    ----------
    examples : iterable of Example
        Examples with a sentence or a document each.
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
        Name of the view with the sentence; by default ``"document"`` or ``"sentence"``.

    Returns
    -------
    Candidates
        Rows are `Candidate` objects with roles ``first`` and ``second``; ``tally`` counts dropped
        candidates and annotations, such as relations that are not between two entities.

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
    dropped: Counter[str] = Counter()
    table = SentenceTable.read(example_entries(examples, view, owner="pair_candidates"), dropped)
    found = pairs_in(
        table,
        types=types,
        relations=relations,
        labels=labels,
        max_distance=max_distance,
        max_entities=max_entities,
    )
    found.dropped = dropped + found.dropped
    return found


def pairs_in(
    sentences: SentenceTable,
    *,
    types: Iterable[str] | None = None,
    relations: Iterable[str] | None = None,
    labels: PairLabels | None = "binary",
    max_distance: int | None = None,
    max_entities: int | None = None,
) -> Candidates:
    """Return the pairs of entities of each sentence of a table; see `pair_candidates`."""
    if labels is not None and labels not in _PAIR_LABELS:
        raise ValueError(f"labels must be one of {', '.join(_PAIR_LABELS)} or None; got {labels!r}")
    wanted, kinds = names_of(types), names_of(relations)
    made = Candidates(sentences)
    for row, sentence in enumerate(sentences.sentences):
        related = _related(sentence, kinds, made.dropped)
        name, prefix = sentences.ids[row], f"{sentences.ids[row]}."
        for first, second in _pairs(sentence, wanted, max_distance, max_entities, made.dropped):
            found = related.get(frozenset((first.id, second.id)), ()) if related else ()
            # The id of the relation if it is one of the whole corpus, else a new one.
            if found and found[0].id.startswith(name):
                id = found[0].id
            else:
                id = f"{prefix}{first.id.removeprefix(prefix)}-{second.id.removeprefix(prefix)}"
            label = (
                sentences.labels[row]
                if labels == "example"
                else _label(labels, first, [r for r in found if r.holds])
            )
            made.add(row, id, (("first", first), ("second", second)), label)
    return made


def _related(
    sentence: Sentence, kinds: frozenset[str] | None, dropped: Counter[str]
) -> Mapping[frozenset[str], list[Relation]]:
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
    tokens_of = sentence.token_finder()
    tokens = {entity.id: tokens_of(entity) for entity in entities}
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


def _label(labels: PairLabels | None, first: Entity, holding: list[Relation]) -> Label:
    match labels:
        case None:
            return None
        case "binary":
            return int(bool(holding))
    if not holding:
        return NONE
    relation = holding[0]
    if labels == "type":
        return relation.type
    forward = relation.arguments[0].target == first.id
    return f"{relation.type}({'e1,e2' if forward else 'e2,e1'})"


class _Cast(NamedTuple):
    """Who may play in the interactions of a sentence."""

    triggers: list[Entity]
    entities: list[Entity]


class _Shape(NamedTuple):
    """Who takes part in a candidate, whatever its trigger is."""

    participants: tuple[tuple[str, Entity], ...]
    filled: _Filled
    name: str

    @classmethod
    def of(cls, participants: tuple[tuple[str, Entity], ...]) -> _Shape:
        role, first = participants[0]
        catalyst = first.id if role == CATALYST else None
        others = frozenset(entity.id for role, entity in participants if role == PARTICIPANT)
        ids = "+".join(entity.id for _, entity in participants)
        name = ids if catalyst is None else f"*{ids}"
        return cls(participants, (others, catalyst), name)


def event_candidates(
    examples: Iterable[Example],
    *,
    source: str = "annotation",
    triggers: Iterable[str] | None = None,
    types: Iterable[str] | None = None,
    max_participants: int = 2,
    catalysts: bool = True,
    max_entities: int = MAX_EVENT_ENTITIES,
    forms: Mapping[str, Collection[Sequence[int]]] | None = None,
    roles: Mapping[str, str] = ROLES,
    view: str | None = None,
) -> Candidates:
    r"""Return the possible interactions of each sentence, labeled by the annotation.

    A candidate is a trigger with one to ``max_participants`` participants and, if ``catalysts``,
    with none or one catalyst. As :math:`n` entities give :math:`O(n^3)` candidates, only the
    nearest entities are used. The label is 1 if the candidate is an event of the sentence,
    flattened by `flatten_events`, else 0.

    Parameters
    ----------
    examples : iterable of Example
        Examples with a sentence or a document each.
    source : {"annotation", "amr"}
        Take triggers and participants from the events and entities, or from the nodes of the AMR
        that stand for interactions and for entities (`kernelwood.views.interaction_nodes` and
        `entity_nodes`). Candidates of AMR have no labels.
    triggers, types : iterable of str, optional
        Use triggers, and participants, of these types (concepts in AMR) only.
    max_participants : int
        1 or 2.
    catalysts : bool
        Whether candidates may have a catalyst.
    max_entities : int
        Number of entities that are combined with a trigger: those nearest to it, by steps over
        dependencies or edges of the AMR, then by characters between them.
    forms : mapping of str to collection of (int, int), optional
        The numbers of participants and of catalysts (0 or 1) that events of a type may have.
        Default, and for other types: all.
    roles : mapping of str to str
        Roles in the interaction by role of the event; see `flatten_events`.
    view : str, optional
        Name of the view with the sentence; by default ``"document"`` or ``"sentence"``.

    Returns
    -------
    Candidates
        Roles are ``participant`` and ``catalyst``; ``tally`` counts dropped candidates, and
        annotated events that no candidate represents. Those of the requested types are in
        ``missed``.
    """
    dropped: Counter[str] = Counter()
    table = SentenceTable.read(example_entries(examples, view, owner="event_candidates"), dropped)
    found = events_in(
        table,
        source=source,
        triggers=triggers,
        types=types,
        max_participants=max_participants,
        catalysts=catalysts,
        max_entities=max_entities,
        forms=forms,
        roles=roles,
    )
    found.dropped = +(dropped + found.dropped)
    return found


def events_in(
    sentences: SentenceTable,
    *,
    source: str = "annotation",
    triggers: Iterable[str] | None = None,
    types: Iterable[str] | None = None,
    max_participants: int = 2,
    catalysts: bool = True,
    max_entities: int = MAX_EVENT_ENTITIES,
    forms: Mapping[str, Collection[Sequence[int]]] | None = None,
    roles: Mapping[str, str] = ROLES,
) -> Candidates:
    """Return the event candidates of each sentence of a table; see `event_candidates`."""
    if source not in ("annotation", "amr"):
        raise ValueError(f"source must be 'annotation' or 'amr'; got {source!r}")
    if max_participants not in (1, 2):
        raise ValueError(f"max_participants must be 1 or 2; got {max_participants!r}")
    wanted = _Wanted(triggers, types)
    possible = [
        (size, catalyst)
        for size in range(1, max_participants + 1)
        for catalyst in ((False, True) if catalysts else (False,))
    ]
    allowed = {
        kind: tuple(form for form in possible if form in set(map(tuple, known)))
        for kind, known in (forms or {}).items()
    }
    everything = tuple(possible)
    made, missed = Candidates(sentences), Candidates(sentences)
    made.missed = missed
    for row, sentence in enumerate(sentences.sentences):
        cast = wanted.cast_amr(sentence) if source == "amr" else wanted.cast(sentence)
        gold = None if source == "amr" else _gold(sentence, max_participants, roles, made.dropped)
        distances = None
        if len(cast.entities) > max_entities:
            distances = _Distances.amr(sentence) if source == "amr" else _Distances.of(sentence)
        shapes: dict[Hashable, list[_Shape]] = {}
        found: set[_Key] = set()
        for trigger in cast.triggers:
            form = allowed.get(trigger.type, everything)
            near = cast.entities
            if distances is not None:
                near = distances.nearest(trigger, near, max_entities)
                made.dropped[
                    f"candidate with an entity beyond the {max_entities} nearest to its trigger"
                ] += _count(len(cast.entities), form) - _count(max_entities, form)
            if form != everything:
                made.dropped["candidate of a form that its event type rarely has"] += _count(
                    len(near), everything
                ) - _count(len(near), form)
            key = (form, *(entity.id for entity in near)) if distances is not None else form
            if key not in shapes:
                shapes[key] = [_Shape.of(shape) for shape in _shapes(near, form)]
            for participants, filled, name in shapes[key]:
                label = None
                if gold is not None:
                    label = int((trigger.id, filled) in gold)
                    if label:
                        found.add((trigger.id, filled))
                id = f"{sentences.ids[row]}.{trigger.id}({name})"
                made.add(row, id, participants, label, trigger)
        if gold is not None and (lost := gold - found):
            made.dropped["interaction that no candidate stands for"] += len(lost)
            wanted.add_missed(missed, row, lost, catalysts)
    made.dropped = +made.dropped
    return made


class _Wanted:
    """Which triggers and entities may take part."""

    def __init__(self, triggers: Iterable[str] | None, types: Iterable[str] | None) -> None:
        self.triggers, self.types = names_of(triggers), names_of(types)

    def cast(self, sentence: Sentence) -> _Cast:
        """Return the triggers and entities of the annotation, in the order of the text."""
        named = {event.trigger for event in sentence.events}
        cast = _Cast([], [])
        for entity in sorted(sentence.entities, key=lambda entity: (entity.start, entity.end)):
            if self._is_trigger(entity, named):
                cast.triggers.append(entity)
            elif entity.id not in named and (self.types is None or entity.type in self.types):
                cast.entities.append(entity)
        return cast

    def _is_trigger(self, entity: Entity, named: set[str]) -> bool:
        # With types given, triggers need no event: that is how unlabeled text is searched.
        return entity.id in named if self.triggers is None else entity.type in self.triggers

    def add_missed(
        self, missed: Candidates, row: int, lost: Iterable[_Key], catalysts: bool
    ) -> None:
        """Add the events that would be candidates if all triggers and entities were combined."""
        entities = missed.sentences.sentences[row].entities
        known = {entity.id: entity for entity in sorted(entities, key=lambda e: (e.start, e.end))}
        for trigger, (others, catalyst) in sorted(lost, key=_key_order):
            ends = [(CATALYST, catalyst)] if catalyst is not None else []
            ends += [(PARTICIPANT, id) for id in known if id in others]
            participants = tuple((role, known[id]) for role, id in ends)
            if (catalysts or catalyst is None) and (
                self.types is None or all(one.type in self.types for _, one in participants)
            ):
                name = _Shape.of(participants).name
                id = f"{missed.sentences.ids[row]}.{trigger}({name})"
                missed.add(row, id, participants, 1, known[trigger])

    def cast_amr(self, sentence: Sentence) -> _Cast:
        """Return the nodes of the meaning representation, as entities whose ids they are."""
        if sentence.amr is None:
            return _Cast([], [])
        graph, aligned = sentence.amr, dict(sentence.alignments)

        def mention(node: NodeId) -> Entity:
            tokens = [sentence.tokens[index] for index in aligned.get(node, ())]
            # Tokens that are written as one word stand at one place.
            spans = {(token.start, token.end) for token in tokens if token.start < token.end}
            return Entity(str(node), graph.nodes[node], tuple(sorted(spans)))

        return _Cast(
            [mention(node) for node in interaction_nodes(graph, self.triggers)],
            [
                mention(node)
                for node in entity_nodes(graph)
                if self.types is None or graph.nodes[node] in self.types
            ],
        )


def _gold(
    sentence: Sentence, max_participants: int, roles: Mapping[str, str], dropped: Counter[str]
) -> set[_Key]:
    interactions, lost = flatten_events(
        sentence.events, sentence.entities, max_participants=max_participants, roles=roles
    )
    dropped.update(lost)
    return {
        (found.trigger, (frozenset(found.participants), found.catalyst)) for found in interactions
    }


def _shapes(
    entities: list[Entity], forms: Sequence[EventForm]
) -> Iterator[tuple[tuple[str, Entity], ...]]:
    """Yield every choice of participants and catalyst that has one of the forms."""
    for size in sorted({size for size, _ in forms}):
        for group in combinations(entities, size):
            participants = tuple((PARTICIPANT, entity) for entity in group)
            if (size, False) in forms:
                yield participants
            if (size, True) in forms:
                for entity in entities:
                    if entity not in group:
                        yield ((CATALYST, entity), *participants)


@lru_cache(maxsize=1000)
def _count(n: int, forms: tuple[EventForm, ...]) -> int:
    """Return the number of choices among ``n`` entities."""
    return sum(comb(n, size) * (n - size if catalyst else 1) for size, catalyst in forms)


class _Distances:
    """Steps between triggers and entities of a sentence, over edges in either direction."""

    def __init__(
        self,
        edges: Iterable[tuple[Hashable, Hashable]],
        places: Callable[[Entity], Iterable[Hashable]],
    ) -> None:
        self._neighbors: dict[Hashable, list[Hashable]] = {}
        for one, other in edges:
            self._neighbors.setdefault(one, []).append(other)
            self._neighbors.setdefault(other, []).append(one)
        self._places = places

    @classmethod
    def of(cls, sentence: Sentence) -> _Distances:
        arcs = dependencies_of(sentence)
        edges = [(head, dependent) for head, _, dependent in arcs if head != ROOT]
        return cls(edges, sentence.token_finder())

    @classmethod
    def amr(cls, sentence: Sentence) -> _Distances:
        edges = sentence.amr.edges if sentence.amr is not None else ()
        return cls([(str(one), str(other)) for one, _, other in edges], lambda node: (node.id,))

    def nearest(self, trigger: Entity, entities: Sequence[Entity], n: int) -> list[Entity]:
        """Return the ``n`` entities nearest to a trigger, in the given order.

        Ties go to the fewest characters between trigger and entity, then to the first entity.
        """
        level = list(self._places(trigger))
        steps: dict[Hashable, float] = dict.fromkeys(level, 0)
        while level:
            reached = {node for at in level for node in self._neighbors.get(at, ())} - steps.keys()
            steps.update(dict.fromkeys(reached, steps[level[0]] + 1))
            level = list(reached)

        def distance(at: int) -> tuple[float, float]:
            far = min((steps.get(place, inf) for place in self._places(entities[at])), default=inf)
            return far, _gap(trigger, entities[at])

        chosen = sorted(range(len(entities)), key=distance)[:n]
        return [entities[at] for at in sorted(chosen)]


def _gap(one: Entity, other: Entity) -> float:
    """Return the number of characters between two entities; infinite if one has no place."""
    if not (one.spans and other.spans):
        return inf
    return max(one.start - other.end, other.start - one.end, 0)


def _key_order(key: _Key) -> tuple[str, list[str], str]:
    trigger, (others, catalyst) = key
    return trigger, sorted(others), catalyst or ""
