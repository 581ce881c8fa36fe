"""Candidates: what a sentence may say, to be judged by a learner."""

from __future__ import annotations

from dataclasses import dataclass

from kernelwood.errors import StructureError
from kernelwood.structures.annotation import Entity
from kernelwood.structures.example import Label, Origin
from kernelwood.structures.labels import check_label, shorten
from kernelwood.structures.sentence import Sentence

__all__ = ["Candidate"]


@dataclass(frozen=True, slots=True, repr=False)
class Candidate:
    """A hypothesis about entities of a sentence.

    Parameters
    ----------
    id : str
        A name, unique in its collection.
    sentence : Sentence
        Where the entities stand.
    participants : iterable of (role, Entity)
        The entities in the order views use them; at least one.
    trigger : Entity, optional
        The word or AMR node that stands for the interaction.
    type : str
        The relation or interaction type, "" if it is not known or does not matter.
    label : str, number, tuple of these, or None
        What the annotation says; None if unknown.
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
        shown = f"candidate {shorten(repr(self.id))}"
        if not isinstance(self.sentence, Sentence):
            found = type(self.sentence).__name__
            raise StructureError(f"{shown} needs a Sentence, got {found}")
        self._check_participants(shown)
        if self.trigger is not None:
            self._check_entity(self.trigger, f"trigger of {shown}")
        if type(self.type) is not str:
            object.__setattr__(self, "type", check_label(self.type, f"type of {shown}"))
        if self.origin is not None and not isinstance(self.origin, Origin):
            found = type(self.origin).__name__
            raise StructureError(f"origin of {shown} must be an Origin, got {found}")
        try:
            hash(self.label)
        except TypeError:
            raise StructureError(
                f"label of {shown} must be hashable, got a {type(self.label).__name__}",
                hint="use a string, a number, or a tuple of these",
            ) from None

    def _check_participants(self, owner: str) -> None:
        try:
            pairs = tuple([(role, entity) for role, entity in self.participants])
        except (TypeError, ValueError):
            raise StructureError(
                f"participants of {owner} must be (role, Entity) pairs",
                hint='write [("first", entity), ("second", entity)]',
            ) from None
        if not pairs:
            raise StructureError(f"{owner} has no participants")
        for role, entity in pairs:
            self._check_entity(entity, f"participant {shorten(repr(role))} of {owner}")
        named = tuple([(check_label(role, f"a role of {owner}"), entity) for role, entity in pairs])
        object.__setattr__(self, "participants", named)

    def _check_entity(self, entity: object, what: str) -> None:
        if not isinstance(entity, Entity):
            raise StructureError(f"{what} must be an Entity, got a {type(entity).__name__}")
        if entity.end > len(self.sentence.text):
            raise StructureError(
                f"{what} ends at {entity.end}, the text has {len(self.sentence.text)} characters",
                hint="take the entity from the sentence, not from its document",
            )

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
