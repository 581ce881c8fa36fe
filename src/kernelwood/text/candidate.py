"""Candidates: pairs of entities or events that may be relations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kernelwood.errors import StructureError
from kernelwood.structures import check_label, shorten
from kernelwood.text.annotation import Entity
from kernelwood.text.example import Label, Origin
from kernelwood.text.sentence import Sentence


@dataclass(frozen=True, slots=True, repr=False)
class Candidate:
    """A pair of entities, or an event, that may be a relation.

    Parameters
    ----------
    id : str
        Unique in its collection.
    sentence : Sentence
        The sentence that contains the entities.
    participants : iterable of (role, Entity)
        The entities, in the order that views use; at least one.
    trigger : Entity, optional
        The word or AMR node that expresses the interaction.
    type : str
        Relation or interaction type, "" if unknown.
    label : str, number, tuple of these, or None
        Annotated class; None if unknown.
    origin : Origin, optional
        File, line and characters.

    Raises
    ------
    StructureError
        If a part has the wrong type, there are no participants, or an entity lies outside the
        sentence.

    Examples
    --------
    >>> sentence = Sentence.from_words(["Raf", "binds", "Ras"])
    >>> raf, ras = Entity("a", "protein", ((0, 3),)), Entity("b", "protein", ((10, 13),))
    >>> candidate = Candidate("s1.p1", sentence, [("first", raf), ("second", ras)], label=1)
    >>> candidate
    Candidate('s1.p1', 1, first='a', second='b')
    >>> candidate.entities == (raf, ras)
    True
    """

    id: str
    sentence: Sentence
    participants: tuple[tuple[str, Entity], ...]
    trigger: Entity | None = None
    type: str = ""
    label: Label = None
    origin: Origin | None = None

    def __post_init__(self) -> None:
        if type(self.id) is not str:
            object.__setattr__(self, "id", check_label(self.id, "candidate id"))
        if not isinstance(self.sentence, Sentence):
            found = type(self.sentence).__name__
            raise StructureError(f"{self._shown()} needs a Sentence, got {found}")
        self._check_participants()
        if self.trigger is not None:
            self._check_entity(self.trigger)
        if type(self.type) is not str:
            object.__setattr__(self, "type", check_label(self.type, f"type of {self._shown()}"))
        if self.origin is not None and not isinstance(self.origin, Origin):
            found = type(self.origin).__name__
            raise StructureError(f"origin of {self._shown()} must be an Origin, got {found}")
        try:
            hash(self.label)
        except TypeError:
            raise StructureError(
                f"label of {self._shown()} must be hashable, got a {type(self.label).__name__}",
                hint="use a string, a number, or a tuple of these",
            ) from None

    def _check_participants(self) -> None:
        try:
            pairs = tuple(self.participants)
            if {*map(type, pairs)} != {tuple} or {*map(len, pairs)} != {2}:
                pairs = tuple([(role, entity) for role, entity in pairs])
        except (TypeError, ValueError):
            raise StructureError(
                f"participants of {self._shown()} must be (role, Entity) pairs",
                hint='write [("first", entity), ("second", entity)]',
            ) from None
        if not pairs:
            raise StructureError(f"{self._shown()} has no participants")
        for role, entity in pairs:
            self._check_entity(entity, role)
        if any(type(role) is not str for role, _ in pairs):
            what = f"a role of {self._shown()}"
            pairs = tuple([(check_label(role, what), entity) for role, entity in pairs])
        object.__setattr__(self, "participants", pairs)

    def _check_entity(self, entity: object, role: str | None = None) -> None:
        """Raise StructureError unless this is an entity in the sentence; None: the trigger."""
        if not isinstance(entity, Entity):
            found = type(entity).__name__
            raise StructureError(f"{self._part(role)} must be an Entity, got a {found}")
        length = len(self.sentence.text)
        for start, end in entity.spans:
            if not 0 <= start < end <= length:
                raise StructureError(
                    f"{self._part(role)} has the span [{start}, {end}), "
                    f"the text has {length} characters",
                    hint="take the entity from the sentence, not from its document",
                )

    def _part(self, role: str | None) -> str:
        part = "trigger" if role is None else f"participant {shorten(repr(role))}"
        return f"{part} of {self._shown()}"

    def _shown(self) -> str:
        return f"candidate {shorten(repr(self.id))}"

    @classmethod
    def _trusted(cls, *fields: Any) -> Candidate:
        """Return a candidate of valid fields, in the order of the class, without checks."""
        made = object.__new__(cls)
        for setter, value in zip(_SETTERS, fields, strict=True):
            setter(made, value)
        return made

    @property
    def entities(self) -> tuple[Entity, ...]:
        """The participants without their roles."""
        return tuple(entity for _, entity in self.participants)

    def __repr__(self) -> str:
        parts = [shorten(repr(self.id)), shorten(repr(self.label))]
        if self.trigger is not None:
            parts.append(f"trigger={self.trigger.id!r}")
        parts += [f"{role}={entity.id!r}" for role, entity in self.participants]
        return f"Candidate({', '.join(parts)})"


# The descriptors of slots set them without asking a frozen class.
_SETTERS = tuple(getattr(Candidate, name).__set__ for name in Candidate.__slots__)
