"""Candidates, predictions and evidence as JSON values that pages show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.relations import NONE, Case, Evidence, is_backward, type_of
from kernelwood.text import Candidate, Sentence, Span
from kernelwood.views import shortest_path

if TYPE_CHECKING:
    from kernelwood.web.session import Session

Parts = list[list[Any]]  # [text, [kind, ...]]
_KEYS = 9  # relation types that have a key


def relation_object(label: str) -> dict[str, Any]:
    """Return a class as type and direction.

    Examples
    --------
    >>> relation_object("Activates(e2,e1)")
    {'label': 'Activates(e2,e1)', 'type': 'Activates', 'direction': 'backward'}
    >>> relation_object("Binds")["direction"] is None
    True
    """
    kind = type_of(label)
    direction = None
    if kind != label:
        direction = "backward" if is_backward(label) else "forward"
    return {"label": label, "type": kind, "direction": direction}


def text_parts(text: str, marks: Mapping[str, Iterable[Span]]) -> Parts:
    """Return a text in parts, each with the kinds of the marks that cover it.

    Parameters
    ----------
    text : str
    marks : mapping of str to spans
        Spans by kind; they may overlap.

    Examples
    --------
    >>> text_parts("Raf binds Ras", {"first": [(0, 3)], "path": [(4, 9)], "second": [(10, 13)]})
    [['Raf', ['first']], [' ', []], ['binds', ['path']], [' ', []], ['Ras', ['second']]]
    """
    listed = [(start, end, kind) for kind, spans in marks.items() for start, end in spans]
    cuts = {0, len(text), *(place for start, end, _ in listed for place in (start, end))}
    parts: Parts = []
    for left, right in pairwise(sorted(place for place in cuts if 0 <= place <= len(text))):
        kinds = list(
            dict.fromkeys(kind for start, end, kind in listed if start <= left and right <= end)
        )
        if parts and parts[-1][1] == kinds:
            parts[-1][0] += text[left:right]
        else:
            parts.append([text[left:right], kinds])
    return parts


def candidate_marks(candidate: Candidate) -> dict[str, list[Span]]:
    """Return the spans of the two entities, of others, and of the words on the path."""
    sentence = candidate.sentence
    first, second = candidate.entities
    own = {first.id, second.id}
    return {
        "first": list(first.spans),
        "second": list(second.spans),
        "path": path_spans(candidate),
        "entity": [
            span for entity in sentence.entities if entity.id not in own for span in entity.spans
        ],
    }


def path_spans(candidate: Candidate) -> list[Span]:
    """Return the spans of the words on the dependency path between the entities."""
    sentence, (first, second) = candidate.sentence, candidate.entities
    if not sentence.tokens:
        return []
    path = shortest_path(sentence, first, second)
    if path.fallback is not None:
        return []
    inside = (*first.spans, *second.spans)
    tokens = [sentence.tokens[place] for place in path.tokens]
    return [
        (token.start, token.end)
        for token in tokens
        if not any(start < token.end and token.start < end for start, end in inside)
    ]


def entity_object(sentence: Sentence, entity: Any) -> dict[str, str]:
    """Return the text and the type of an entity."""
    words = " ".join(sentence.text[start:end] for start, end in entity.spans)
    return {"text": words or entity.text, "type": entity.type}


def prediction_object(
    classes: Sequence[str],
    probabilities: NDArray[Any],
    threshold: float,
    number: int | None,
) -> dict[str, Any]:
    """Return the prediction for a candidate.

    Parameters
    ----------
    classes : sequence of str
        Classes, ``"none"`` among them.
    probabilities : ndarray, shape (n_classes,)
    threshold : float
        Decision threshold on the most probable relation.
    number : int or None
        Number of the model.

    Examples
    --------
    >>> import numpy as np
    >>> made = prediction_object(("Binds", "none"), np.array([0.25, 0.75]), 0.5, 3)
    >>> made["relation"]["type"], made["probability"], made["positive"]
    ('Binds', 0.25, False)
    >>> made["runner_up"]["relation"]["label"]
    'none'
    """
    values = [round(float(value), 4) for value in probabilities]
    order = sorted(range(len(classes)), key=lambda column: (-probabilities[column], column))
    best = next(column for column in order if classes[column] != NONE)
    other = next((column for column in order if column != best), best)
    return {
        "relation": relation_object(classes[best]),
        "probability": values[best],
        "positive": bool(probabilities[best] >= threshold),
        "runner_up": {"relation": relation_object(classes[other]), "probability": values[other]},
        "probabilities": [[classes[column], values[column]] for column in order],
        "model": number,
    }


def evidence_object(
    evidence: Evidence,
    label: str,
    candidate: Candidate,
    find: Callable[[str], tuple[int, str, Candidate]],
) -> dict[str, Any]:
    """Return the evidence for a prediction.

    Parameters
    ----------
    evidence : Evidence
    label : str
        The class that it compares with ``"none"``.
    candidate : Candidate
        The candidate that is predicted.
    find : callable
        Returns number, document and candidate of a training case, given its id.
    """

    def cases(some: Iterable[Case]) -> list[dict[str, Any]]:
        return [_case_object(case, candidate, find) for case in some]

    return {
        "relation": relation_object(label),
        "score": evidence.score,
        "intercept": evidence.intercept,
        "others": evidence.others,
        "path": path_object(evidence.path),
        "supporting": cases(evidence.supporting),
        "opposing": cases(evidence.opposing),
    }


def path_object(path: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return a dependency path in words as lists."""
    return [[text, kind] for text, kind in path]


def _case_object(
    case: Case, candidate: Candidate, find: Callable[[str], tuple[int, str, Candidate]]
) -> dict[str, Any]:
    number, document, labeled = find(case.id)
    return {
        "candidate": number,
        "document": document,
        "relation": relation_object(case.type),
        "contribution": case.contribution,
        "similarity": case.similarity,
        "parts": _shared_parts(labeled, case.sentence.shared),
        "here": _shared_parts(candidate, case.predicted.shared),
        "path": path_object(case.path),
        "words": list(case.words),
    }


def _shared_parts(candidate: Candidate, shared: Iterable[Span]) -> Parts:
    """Return the sentence of a candidate with its entities and the words it shares."""
    first, second = candidate.entities
    marks = {"first": first.spans, "second": second.spans, "shared": shared}
    return text_parts(candidate.sentence.text, marks)


def type_objects(session: Session) -> list[dict[str, Any]]:
    """Return the relation types, the first nine with their keys."""
    counts = Counter(
        type_of(one.label) for one in session.decided.values() if one.label not in (None, NONE)
    )
    return [
        {
            "name": row.name,
            "symmetric": row.symmetric,
            "description": row.description,
            "key": number if number <= _KEYS else None,
            "roles": list(row.roles),
            "count": counts[row.name],
        }
        for number, row in enumerate(session.project.types(), start=1)
    ]


def check_choice(name: str, value: str, known: tuple[str, ...]) -> None:
    """Raise KernelInputError unless a value is one of those that are known."""
    if value not in known:
        raise KernelInputError(f"{name} must be one of {', '.join(known)}; got {value!r}")
