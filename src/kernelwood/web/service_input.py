"""Bodies of requests to the service: checks, limits, and conversion to documents and claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from kernelwood.errors import StructureError
from kernelwood.io import Claim
from kernelwood.structures import describe, shorten
from kernelwood.text import Document, Entity
from kernelwood.web.security import ApiError

_EXTRACT = (
    "text", "entities", "documents", "model", "all", "evidence", "threshold", "find_entities",
    "terms",
)  # fmt: skip
_DOCUMENT = ("id", "text", "entities")
_ENTITY = ("id", "type", "start", "end", "spans", "text")
_VERIFY = ("claims", "model", "evidence", "map")
_DEFAULT_ID = "text1"  # of a request with one text


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a request.

    Attributes
    ----------
    body : int
        Bytes.
    documents, claims, entities, terms : int
        Numbers in a request.
    characters, document_characters : int
        Characters of all documents, and of one.
    claim_characters : int
        Characters of the text of a claim.
    sentence_characters : int
        Longer sentences are left out.
    candidates : int
        Pairs of entities of a sentence, in all documents or claims.
    name : int
        Characters of an id or type.
    evidence : int
        Training cases for and against a relation.
    seconds : float
        Time limit, including the time in the queue.
    queue : int
        Requests for a model that wait or are computed.
    """

    body: int = 2_000_000
    documents: int = 200
    characters: int = 200_000
    document_characters: int = 50_000
    entities: int = 10_000
    terms: int = 10_000
    claims: int = 256
    claim_characters: int = 10_000
    sentence_characters: int = 5_000
    candidates: int = 5_000
    name: int = 300
    evidence: int = 10
    seconds: float = 30.0
    queue: int = 64


@dataclass(frozen=True, slots=True)
class ExtractInput:
    """A request for relations.

    Attributes
    ----------
    documents : tuple of (id, Document)
    all : bool
        Whether to answer with negative predictions too.
    evidence : int
        Number of training cases for and against each relation.
    threshold : float or None
        Decision threshold instead of that of the model.
    find_entities : bool
        Whether the model finds entities in documents without them.
    terms : tuple of (term, type, id)
        Terms that are entities.
    """

    documents: tuple[tuple[str, Document], ...]
    all: bool = False
    evidence: int = 0
    threshold: float | None = None
    find_entities: bool = True
    terms: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class VerifyInput:
    """A request for verdicts on claims; ``mapping`` has relation types by other names."""

    claims: tuple[Claim, ...]
    evidence: int
    mapping: Mapping[str, str]


def extract_input(body: Mapping[str, Any], limits: Limits) -> ExtractInput:
    """Return the request that a body describes.

    Raises
    ------
    ApiError
        422 with the name of the field if a value is wrong, 413 if a limit is exceeded.

    Examples
    --------
    >>> extract_input({"text": "Raf binds Ras."}, Limits()).documents
    (('text1', Document('Raf binds Ras.')),)
    >>> extract_input({"texts": ["Raf binds Ras."]}, Limits())
    Traceback (most recent call last):
    ...
    kernelwood.web.security.ApiError: the body has an unknown field 'texts'; did you mean 'text'?
    """
    _check_fields(body, _EXTRACT, "")
    if ("text" in body) == ("documents" in body):
        raise _invalid("", "the body must have either 'text' or 'documents'")
    if "documents" in body and "entities" in body:
        raise _invalid("entities", "with 'documents', entities belong to each document")
    rows = _list(body, "documents") if "documents" in body else [_single(body)]
    _check_size(len(rows), limits.documents, "documents")
    inside = "documents" in body
    documents = []
    n_characters = n_entities = 0
    for place, row in enumerate(rows):
        where = f"documents[{place}]" if inside else ""
        made = _document(row, where, f"text{place + 1}", limits)
        n_characters += len(made[1].text)
        n_entities += len(made[1].entities)
        documents.append(made)
    _check_size(n_characters, limits.characters, "characters")
    _check_size(n_entities, limits.entities, "entities")
    _check_unique((name for name, _ in documents), "documents")
    return ExtractInput(
        tuple(documents),
        all=_flag(body, "all", False),
        evidence=_evidence(body, limits),
        threshold=_threshold(body),
        find_entities=_flag(body, "find_entities", True),
        terms=_terms(body, limits),
    )


def verify_input(body: Mapping[str, Any], relations: Iterable[str], limits: Limits) -> VerifyInput:
    """Return the request that a body describes; ``relations`` are the types of the model."""
    _check_fields(body, _VERIFY, "")
    if "claims" not in body:
        raise _invalid("claims", "the body has no field 'claims'")
    rows = _list(body, "claims")
    _check_size(len(rows), limits.claims, "claims")
    claims = []
    n_candidates = 0
    for place, row in enumerate(rows):
        where = f"claims[{place}]"
        text = row.get("text") if isinstance(row, dict) else None
        if isinstance(text, str) and len(text) > limits.claim_characters:
            raise _too_large(len(text), limits.claim_characters, f"characters in {where}.text")
        try:
            claim = Claim.from_object(row, f"claim{place + 1}")
        except StructureError as failure:
            raise _invalid(where, f"{where}: {failure.problem}") from None
        n_candidates += n_pairs(len(claim.annotated.entities))
        claims.append(claim)
    _check_size(n_candidates, limits.candidates, "pairs of entities")
    return VerifyInput(tuple(claims), _evidence(body, limits), _mapping(body, tuple(relations)))


def model_name(body: Mapping[str, Any]) -> str | None:
    """Return the name of the model that a request asks for, None for the default."""
    name = body.get("model")
    if name is not None and not isinstance(name, str):
        raise _invalid("model", f"model must be a string, got {describe(name)}")
    return name


def n_pairs(n_entities: int) -> int:
    """Return the number of pairs of some entities."""
    return n_entities * (n_entities - 1) // 2


# Documents.


def _single(body: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": _DEFAULT_ID} | {key: body[key] for key in ("text", "entities") if key in body}


def _document(row: object, where: str, name: str, limits: Limits) -> tuple[str, Document]:
    if not isinstance(row, dict):
        raise _invalid(where, f"{where} must be an object, got {describe(row)}")
    inside = f"{where}." if where else ""
    _check_fields(row, _DOCUMENT, where)
    text = _string(row, "text", inside, limits.document_characters)
    id = _string(row, "id", inside, limits.name) if "id" in row else name
    listed = _list(row, "entities", inside) if "entities" in row else []
    _check_size(len(listed), limits.entities, "entities")
    entities = [
        _entity(one, f"{inside}entities[{number}]", number, text, limits)
        for number, one in enumerate(listed)
    ]
    try:
        return id, Document(text, tuple(entities))
    except StructureError as failure:
        raise _invalid(f"{inside}entities", f"{inside}entities: {failure.problem}") from None


def _entity(row: object, where: str, number: int, text: str, limits: Limits) -> Entity:
    if not isinstance(row, dict):
        raise _invalid(where, f"{where} must be an object, got {describe(row)}")
    inside = f"{where}."
    _check_fields(row, _ENTITY, where)
    kind = _string(row, "type", inside, limits.name)
    id = _string(row, "id", inside, limits.name) if "id" in row else f"T{number + 1}"
    if ("spans" in row) == ("start" in row and "end" in row):
        raise _invalid(where, f"{where} must have either 'start' and 'end', or 'spans'")
    given = row["spans"] if "spans" in row else [[row["start"], row["end"]]]
    spans = _spans(given, f"{inside}spans" if "spans" in row else where, len(text))
    mention = " ".join(text[start:end] for start, end in spans)
    if "text" in row and _string(row, "text", inside, limits.document_characters) != mention:
        raise _invalid(
            f"{inside}text",
            f"{inside}text is {shorten(repr(row['text']))}, but the offsets have "
            f"{shorten(repr(mention))}; offsets count characters, not bytes",
        )
    return Entity(id, kind, spans, mention)


def _spans(value: object, where: str, length: int) -> tuple[tuple[int, int], ...]:
    rows = value if isinstance(value, list) else None
    if not rows or not all(
        isinstance(row, list) and len(row) == 2 and all(type(one) is int for one in row)
        for row in rows
    ):
        raise _invalid(where, f"{where} must have pairs of whole numbers, start and end")
    before = 0
    for start, end in rows:
        if not before <= start < end <= length:
            raise _invalid(
                where,
                f"{where}: [{start}, {end}) is not a part of the text, which has {length:,} "
                "characters; offsets count characters from 0, and spans are in order",
            )
        before = end
    return tuple((start, end) for start, end in rows)


def _terms(body: Mapping[str, Any], limits: Limits) -> tuple[tuple[str, ...], ...]:
    if "terms" not in body:
        return ()
    rows = _list(body, "terms")
    _check_size(len(rows), limits.terms, "terms")
    for place, row in enumerate(rows):
        if not (
            isinstance(row, list)
            and len(row) in (2, 3)
            and all(isinstance(one, str) and one.strip() for one in row)
        ):
            raise _invalid(
                f"terms[{place}]",
                f"terms[{place}] must be a list of a term, its type and optionally its id",
            )
        if max(map(len, row)) > limits.name:
            raise _too_large(max(map(len, row)), limits.name, f"characters in terms[{place}]")
    return tuple(tuple(row) for row in rows)


def _mapping(body: Mapping[str, Any], relations: tuple[str, ...]) -> dict[str, str]:
    given = body.get("map", {})
    if not isinstance(given, dict):
        raise _invalid("map", f"map must be an object, got {describe(given)}")
    for name, kind in given.items():
        if kind not in relations:
            raise _invalid(
                "map",
                f"map: {shorten(repr(name))} must be a relation type of the model "
                f"({shorten(', '.join(relations), 200)}), got {describe(kind)}",
            )
    return given


# Fields.


def _invalid(field: str, message: str) -> ApiError:
    fields: dict[str, Any] = {"field": field} if field else {}
    return ApiError(422, "invalid", message, **fields)


def _too_large(count: int, limit: int, noun: str) -> ApiError:
    return ApiError(
        413,
        "too-large",
        f"the request has {count:,} {noun}, the limit is {limit:,}; send several requests",
    )


def _check_size(count: int, limit: int, noun: str) -> None:
    if count > limit:
        raise _too_large(count, limit, noun)


def _check_unique(names: Iterable[str], what: str) -> None:
    seen: set[str] = set()
    for place, name in enumerate(names):
        if name in seen:
            raise _invalid(
                f"{what}[{place}].id", f"{what}[{place}].id is used twice: {shorten(repr(name))}"
            )
        seen.add(name)


def _check_fields(row: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in row:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            guess = f"did you mean {near[0]!r}?" if near else f"known fields: {', '.join(known)}"
            field = f"{where}.{shorten(key)}" if where else shorten(key)
            raise _invalid(
                field, f"{where or 'the body'} has an unknown field {shorten(repr(key))}; {guess}"
            )


def _string(row: Mapping[str, Any], key: str, inside: str, limit: int) -> str:
    if key not in row:
        raise _invalid(f"{inside}{key}", f"{inside}{key} is missing")
    value = row[key]
    if not isinstance(value, str):
        raise _invalid(f"{inside}{key}", f"{inside}{key} must be a string, got {describe(value)}")
    if len(value) > limit:
        raise _too_large(len(value), limit, f"characters in {inside}{key}")
    return value


def _list(row: Mapping[str, Any], key: str, inside: str = "") -> list[Any]:
    value = row[key]
    if not isinstance(value, list):
        raise _invalid(f"{inside}{key}", f"{inside}{key} must be a list, got {describe(value)}")
    return value


def _flag(body: Mapping[str, Any], key: str, default: bool) -> bool:
    value = body.get(key, default)
    if not isinstance(value, bool):
        raise _invalid(key, f"{key} must be true or false, got {describe(value)}")
    return value


def _evidence(body: Mapping[str, Any], limits: Limits) -> int:
    value = body.get("evidence", 0)
    if type(value) is not int or not 0 <= value <= limits.evidence:
        raise _invalid(
            "evidence",
            f"evidence must be a whole number from 0 to {limits.evidence}, got {describe(value)}",
        )
    return value


def _threshold(body: Mapping[str, Any]) -> float | None:
    value = body.get("threshold")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise _invalid("threshold", f"threshold must be from 0 to 1, got {describe(value)}")
    return float(value)
