"""Folders of predictions for brat: texts, annotation and configuration.

`annotation.conf` lists the types of entities, relations, events and attributes that occur, with
the types of their arguments; `visual.conf` their labels and colors. Names of types and roles have
only letters, digits, hyphens and underscores, as brat requires; the labels are the original names.
"""

from __future__ import annotations

import colorsys
import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import count
from typing import NamedTuple

from kernelwood.io import standoff_files
from kernelwood.structures import one_line
from kernelwood.text import Argument, Attribute, Document, Event, Example, Relation

PROBABILITY = "probability"  # type of the attributes with the probability of a relation
NOTE = "AnnotatorNotes"
_REFERENCES = ("Reference", "Normalization")
_NAME = re.compile("[^A-Za-z0-9_-]+")
_VALUE = re.compile(r"[^\s,:|]+")  # of an attribute that the configuration can list
_DIGITS = re.compile(r"(?<=\D)\d+$")  # of repeated roles: Theme, Theme2
_RESERVED = {
    "ANY",
    "ENTITY",
    "RELATION",
    "EVENT",
    "NONE",
    "SEPARATOR",
    "SPAN_DEFAULT",
    "ARC_DEFAULT",
}
_GOLDEN = 0.618  # of the circle of colors, so that neighbors in the list differ


class BratNames:
    """Names of brat for any names; different names stay different.

    Examples
    --------
    >>> names = BratNames()
    >>> names("small molecule"), names("small-molecule"), names("small:molecule"), names("β")
    ('small_molecule', 'small-molecule', 'small_molecule_2', '_')
    >>> names("small molecule")
    'small_molecule'
    """

    def __init__(self) -> None:
        self.made: dict[str, str] = {}
        self._used = set(_RESERVED)

    def __call__(self, name: str) -> str:
        """Return the name for a name, the same each time."""
        if name not in self.made:
            plain = unicodedata.normalize("NFKD", name)
            plain = "".join(c for c in plain if not unicodedata.combining(c))
            word = _NAME.sub("_", plain).lstrip("-") or "_"
            numbered = (word if n == 1 else f"{word}_{n}" for n in count(1))
            self.made[name] = next(one for one in numbered if one not in self._used)
            self._used.add(self.made[name])
        return self.made[name]


class _Signature(NamedTuple):
    """The arguments of a relation or event type: role -> types of entities."""

    roles: dict[str, set[str]]
    directed: list[bool]


class BratFolder:
    """Documents with predictions as files of a brat folder, one document after another."""

    def __init__(self) -> None:
        self._types, self._roles = BratNames(), BratNames()
        self._entities: set[str] = set()
        self._relations: dict[str, _Signature] = {}
        self._events: dict[str, _Signature] = {}
        self._attributes: dict[str, set[str]] = {}

    def files(
        self, documents: Iterable[tuple[str, Document, frozenset[str]]]
    ) -> Iterator[tuple[str, str]]:
        """Yield file names and contents; the configuration comes last.

        Parameters
        ----------
        documents : iterable of (id, Document, set of str)
            Each document with the ids of its relations that have a direction.
        """
        examples = (
            Example(name, views={"document": self._adapted(document, directed)})
            for name, document, directed in documents
        )
        yield from standoff_files(examples, adapt=True)
        yield "annotation.conf", self._annotation_conf()
        yield "visual.conf", self._visual_conf()

    def _adapted(self, document: Document, directed: frozenset[str]) -> Document:
        """Return a document with names of brat, and note which types occur."""
        made = Document(
            document.text,
            tuple(item._replace(type=self._types(item.type)) for item in document.entities),
            tuple(
                item._replace(type=self._types(item.type), arguments=self._named(item.arguments))
                for item in document.relations
            ),
            tuple(
                item._replace(type=self._types(item.type), arguments=self._named(item.arguments))
                for item in document.events
            ),
            tuple(self._adapted_attributes(document.attributes)),
        )
        types = {item.id: item.type for item in made.entities}
        triggers = {item.trigger for item in made.events}
        self._entities.update(item.type for item in made.entities if item.id not in triggers)
        found: list[Relation | Event] = [*made.relations, *made.events]
        for item in found:
            kinds = self._events if isinstance(item, Event) else self._relations
            signature = kinds.setdefault(item.type, _Signature({}, []))
            signature.directed[:] = [any(signature.directed) or item.id in directed]
            for role, target in item.arguments:
                signature.roles.setdefault(role, set()).add(types[target])
        return made

    def _named(self, arguments: Iterable[Argument]) -> tuple[Argument, ...]:
        return tuple(Argument(self._roles(role), target) for role, target in arguments)

    def _adapted_attributes(self, attributes: tuple[Attribute, ...]) -> Iterator[Attribute]:
        """Yield attributes; those that brat cannot list, and probabilities, as notes."""
        used = {item.id for item in attributes}
        free = (name for name in map("#{}".format, count(1)) if name not in used)
        for item in attributes:
            if item.type in _REFERENCES or item.id.startswith("#"):
                yield item
            elif item.type == NOTE:
                yield item._replace(id=next(free))
            elif item.type == PROBABILITY:
                words = one_line(f"{PROBABILITY} {item.value}")
                yield Attribute(next(free), NOTE, item.target, words)
            elif item.value and not _VALUE.fullmatch(item.value):
                yield Attribute(
                    next(free), NOTE, item.target, one_line(f"{item.type}: {item.value}")
                )
            else:
                kind = self._types(item.type)
                self._attributes.setdefault(kind, set()).update(filter(None, [item.value]))
                yield item._replace(type=kind)

    def _annotation_conf(self) -> str:
        sections = {
            "entities": sorted(self._entities),
            "relations": [_relation(*item) for item in sorted(self._relations.items())],
            "events": [_event(*item) for item in sorted(self._events.items())],
            "attributes": [_attribute(*item) for item in sorted(self._attributes.items())],
        }
        return _sections(sections)

    def _visual_conf(self) -> str:
        names = {**self._roles.made, **self._types.made}
        labels = sorted(f"{name} | {_label(shown)}" for shown, name in names.items())
        spans = sorted({*self._entities, *self._events})
        drawing = [
            "SPAN_DEFAULT\tfgColor:black, bgColor:lightgreen, borderColor:darken",
            "ARC_DEFAULT\tcolor:black, arrowHead:triangle-5",
            *(f"{name}\tbgColor:{_color(place)}" for place, name in enumerate(spans)),
            *(
                f"{name}\tcolor:black, arrowHead:none"
                for name, signature in sorted(self._relations.items())
                if not any(signature.directed) and name not in spans
            ),
        ]
        return _sections({"labels": labels, "drawing": drawing})


def _relation(name: str, signature: _Signature) -> str:
    roles = signature.roles
    if any(signature.directed):
        return f"{name}\t{_arguments(roles)}"
    # Either entity may come first.
    both = set().union(*roles.values())
    return f"{name}\t{_arguments(dict.fromkeys(roles, both))}, <REL-TYPE>:symmetric"


def _event(name: str, signature: _Signature) -> str:
    roles: dict[str, set[str]] = {}
    for role, types in signature.roles.items():
        roles.setdefault(f"{_DIGITS.sub('', role)}*", set()).update(types)
    return f"{name}\t{_arguments(roles)}" if roles else name


def _arguments(roles: dict[str, set[str]]) -> str:
    return ", ".join(f"{role}:{'|'.join(sorted(types))}" for role, types in sorted(roles.items()))


def _attribute(name: str, values: set[str]) -> str:
    listed = f", Value:{'|'.join(sorted(values))}" if values else ""
    return f"{name}\tArg:<ANY>{listed}"


def _label(name: str) -> str:
    words = " ".join(re.sub(r"[|_]+", " ", one_line(name)).split())
    return words or "-"


def _color(place: int) -> str:
    """Return a light color, so that black text is readable on it."""
    parts = colorsys.hls_to_rgb(place * _GOLDEN % 1, 0.82, 0.7)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def _sections(sections: dict[str, list[str]]) -> str:
    parts = ("\n".join([f"[{name}]", *lines]) for name, lines in sections.items())
    return "\n\n".join(parts) + "\n"
