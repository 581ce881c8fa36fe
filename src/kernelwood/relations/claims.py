r"""Claims: relations that something else found, to be judged by an extractor.

A file of claims has one on each line, in JSON:

::

    {"text": "Raf binds Ras.",
     "entities": [{"id": "T1", "start": 0, "end": 3, "type": "protein"},
                  {"id": "T2", "start": 10, "end": 13, "type": "protein"}],
     "relation": {"type": "binds", "first": "T1", "second": "T2"}}

Offsets count characters. There may be an ``id``; ``tokens``, ``dependencies`` and a ``tree`` of
the text, which is a single sentence then, as in `kernelwood.text.sentence_json`; and
``metadata``, which is passed on. An entity may have its ``text``, which must stand at its offsets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from kernelwood.errors import ReadError, StructureError
from kernelwood.io import (
    Closing,
    ErrorPolicy,
    Readable,
    Source,
    Tally,
    UsedIds,
    general_reason,
    guess_unit,
)
from kernelwood.structures import check_list, check_object, decode_json, describe, shorten
from kernelwood.text import Document, Entity, Origin, Sentence, check_number, sentence_from_object

__all__ = [
    "Claim",
    "ClaimStream",
    "Claims",
    "iter_claims",
    "read_claims",
]

_POLICIES = ("raise", "skip", "collect")
_PARSES = ("tokens", "dependencies", "tree")
_PROBLEMS = 1000  # that are kept


@dataclass(frozen=True, slots=True)
class Claim:
    """A relation between two entities of a text, found by something else.

    Attributes
    ----------
    id : str
        Of the claim.
    type : str
        What is claimed.
    first, second : str
        Ids of the entities, in the order of the arguments of the relation.
    annotated : Document or Sentence
        The text with its entities; a sentence if it came with an analysis.
    given : mapping
        The line of the file.
    origin : Origin, optional
        Where it was read.
    """

    id: str
    type: str
    first: str
    second: str
    annotated: Document | Sentence
    given: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    origin: Origin | None = None

    @classmethod
    def from_object(cls, value: object, id: str = "claim", origin: Origin | None = None) -> Claim:
        """Return the claim that a decoded line of JSON is.

        Parameters
        ----------
        value : dict
            As described at the top of this module.
        id : str
            If it has none of its own.
        origin : Origin, optional
            Where it was read.

        Raises
        ------
        StructureError
            If a part is missing or of the wrong kind, entities overlap or lie outside the text, or
            the relation is not between two of them.

        Examples
        --------
        >>> raf, ras = {"id": "a", "start": 0, "end": 3}, {"id": "b", "start": 10, "end": 13}
        >>> relation = {"type": "binds", "first": "a", "second": "b"}
        >>> line = {"text": "Raf binds Ras.", "entities": [raf, ras], "relation": relation}
        >>> Claim.from_object(line).annotated
        Document('Raf binds Ras.', 2 entities)
        """
        known = check_object(
            value,
            "the claim",
            ("text", "entities", "relation"),
            ("id", *_PARSES, "metadata"),
        )
        parts = check_object(known["relation"], "'relation'", ("type", "first", "second"))
        for owner, key in ((known, "text"), (known, "id"), *((parts, name) for name in parts)):
            if not isinstance(owner.get(key, ""), str):
                raise StructureError(f"{key!r} must be a string, got {describe(owner[key])}")
        annotated = _annotated(known)
        _check_ends(parts, annotated)
        return cls(
            known.get("id", id), parts["type"], parts["first"], parts["second"],
            annotated, known, origin,
        )  # fmt: skip


def _annotated(known: dict[str, Any]) -> Document | Sentence:
    rows = check_list(known["entities"], "'entities'")
    entities = [_entity(row, place, known["text"]) for place, row in enumerate(rows)]
    ordered = sorted(entities, key=lambda entity: (entity.start, entity.end))
    for one, other in pairwise(ordered):
        if other.start < one.end:
            raise StructureError(
                f"the entities {shorten(repr(one.id))} and {shorten(repr(other.id))} overlap",
                hint="give the one that is meant; other entities of the text may be left out",
            )
    parses = {name: known[name] for name in _PARSES if name in known}
    if not parses:
        return Document(known["text"], tuple(entities))
    if "tokens" not in parses:
        raise StructureError(
            f"there is {' and '.join(map(repr, parses))}, but no 'tokens'",
            hint='give the words with their offsets: "tokens": [["Raf", 0, 3], ...]',
        )
    sentence = sentence_from_object({"text": known["text"], **parses})
    return sentence.with_parts(entities=tuple(entities))


def _entity(row: object, place: int, text: str) -> Entity:
    known = check_object(row, f"entity {place}", ("id", "start", "end"), ("type", "text"))
    for key in ("id", "type", "text"):
        if not isinstance(known.get(key, ""), str):
            raise StructureError(
                f"{key!r} of entity {place} must be a string, got {describe(known[key])}"
            )
    start, end = (
        check_number(known[key], f"{key!r} of entity {place}") for key in ("start", "end")
    )
    if not 0 <= start < end <= len(text):
        raise StructureError(
            f"entity {shorten(repr(known['id']))} stands at [{start}, {end}), the text has "
            f"{len(text)} characters",
            hint="offsets count characters from 0; an end is the position after the last one",
        )
    found, mention = text[start:end], known.get("text", "")
    if mention and mention != found:
        raise StructureError(
            f"entity {shorten(repr(known['id']))} reads {shorten(repr(mention))}, but at its "
            f"offsets stands {shorten(repr(found))}",
            hint=guess_unit(mention, text, [(start, end)]) or "correct the offsets, or the text",
        )
    return Entity(known["id"], known.get("type", ""), ((start, end),), found)


def _check_ends(relation: dict[str, Any], annotated: Document | Sentence) -> None:
    ids = [entity.id for entity in annotated.entities]
    for key in ("first", "second"):
        if relation[key] not in ids:
            raise StructureError(
                f"the relation has {key} {shorten(repr(relation[key]))}, which is no entity",
                hint=f"entities: {shorten(', '.join(map(repr, ids)), 200) or 'none'}",
            )
    if relation["first"] == relation["second"]:
        raise StructureError("the relation is between an entity and itself")


class Claims(list[Claim]):
    """A list of claims that remembers how the reading went in :attr:`tally`."""

    tally: Tally

    def __init__(self, claims: Iterable[Claim] = (), tally: Tally | None = None) -> None:
        super().__init__(claims)
        self.tally = Tally(read=len(self)) if tally is None else tally

    def __repr__(self) -> str:
        return f"<Claims: {len(self)}, {self.tally.skipped} skipped>"


class ClaimStream(Closing, Iterator[Claim]):
    """Claims one at a time; made by :func:`iter_claims`."""

    def __init__(self, path: Readable, errors: ErrorPolicy) -> None:
        if errors not in _POLICIES:
            raise ValueError(f"errors must be one of {', '.join(_POLICIES)}; got {errors!r}")
        self._errors = errors
        self._read = 0
        self._reasons: Counter[str] = Counter()
        self._problems: list[ReadError] = []
        self._source = Source(path)
        self._items = self._parse()

    @property
    def tally(self) -> Tally:
        """The count so far; final when the stream is exhausted."""
        return Tally(
            self._read,
            sum(self._reasons.values()),
            dict(self._reasons),
            tuple(self._problems),
            files=1,
        )

    @property
    def position(self) -> int:
        """How many bytes were read so far."""
        return self._source.position

    @property
    def size(self) -> int | None:
        """How many there are; None for streams."""
        return self._source.size

    def __next__(self) -> Claim:
        for item in self._items:
            if isinstance(item, Claim):
                self._read += 1
                return item
            self._refuse(item)
        self.close()
        raise StopIteration

    def _refuse(self, problem: ReadError) -> None:
        if self._errors == "raise":
            self.close()
            raise problem
        self._reasons[general_reason(problem)] += 1
        if self._errors == "collect" and len(self._problems) < _PROBLEMS:
            self._problems.append(problem)

    def _parse(self) -> Iterator[Claim | ReadError]:
        source, used = self._source, UsedIds()
        for number, text, problem in source.lines():
            if problem is not None:
                yield problem
            elif text.strip(" \t\r"):
                try:
                    value = decode_json(text)
                    name = f"{source.stem}:{number}"
                    claim = Claim.from_object(value, name, source.origin(number))
                except StructureError as failure:
                    yield source.error(
                        failure.problem,
                        line=number,
                        column=failure.column,
                        snippet=text if failure.column else None,
                        hint=failure.hint,
                    )
                else:
                    yield used.check(claim.id, number, source) or claim

    def close(self) -> None:
        """End the stream and close its file, if it was opened here."""
        self._items = iter(())
        self._source.close()


def iter_claims(path: Readable, errors: ErrorPolicy = "raise") -> ClaimStream:
    """Read claims one at a time; takes what :func:`read_claims` takes."""
    return ClaimStream(path, errors)


def read_claims(path: Readable, errors: ErrorPolicy = "raise") -> Claims:
    """Read a file of claims.

    Parameters
    ----------
    path : str, PathLike or stream
        A file, which may be compressed, ``"-"`` for standard input, or an open stream.
    errors : {"raise", "skip", "collect"}
        What to do with a bad line: raise a ``ReadError`` with its number, leave it out and count
        it, or keep the error in ``tally.problems`` as well.

    Returns
    -------
    Claims
        A list with a ``tally``.

    Examples
    --------
    >>> import io
    >>> read_claims(io.StringIO('{"text": "Raf"}'), errors="skip").tally
    <Tally: 0 read, 1 skipped (1 × the claim has no key …)>
    """
    with iter_claims(path, errors) as stream:
        return Claims(list(stream), stream.tally)
