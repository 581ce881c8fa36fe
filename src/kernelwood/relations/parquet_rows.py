"""Columns and rows of Parquet tables of predictions and facts.

Their names and values are those of JSON lines (`Prediction.to_dict`, `Fact.to_dict`), except that
pairs of offsets are records of ``start`` and ``end``, class probabilities are a list of records,
and parts that JSON leaves out are missing values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernelwood.io import Kind
from kernelwood.relations.facts import Fact, FactEntity
from kernelwood.relations.predictions import Case, Evidence, Participant, Prediction
from kernelwood.relations.wording import path_text
from kernelwood.text import Span

_SPAN: dict[str, Kind] = {"start": int, "end": int}
_SPANS: list[Kind] = [_SPAN]
PARTICIPANT: dict[str, Kind] = {
    "role": str,
    "id": str,
    "type": str,
    "text": str,
    "spans": _SPANS,
    "reference": str,
}
PREDICTION: dict[str, Kind] = {
    "document": str,
    "id": str,
    "type": str,
    "relation": str,
    "positive": bool,
    "probability": float,
    "threshold": float,
    "probabilities": [{"name": str, "probability": float}],
    "sentence": _SPAN,
    "text": str,
    "participants": [PARTICIPANT],
    "trigger": PARTICIPANT,
    "label": str,
}
_CASE: dict[str, Kind] = {
    "id": str,
    "type": str,
    "similarity": float,
    "contribution": float,
    "supports": bool,
    "text": str,
    "entities": _SPANS,
    "trigger": _SPANS,
    "shared": {"words": [str], "case": _SPANS, "prediction": _SPANS},
    "path": str,
    "fragments": [{"text": str, "view": str, "weight": float}],
}
EVIDENCE: dict[str, Kind] = {
    "score": float,
    "intercept": float,
    "others": float,
    "path": str,
    "cases": [_CASE],
}
_ENTITY: dict[str, Kind] = {"name": str, "type": str, "reference": str, "spellings": [str]}
FACT: dict[str, Kind] = {
    "first": _ENTITY,
    "type": str,
    "second": _ENTITY,
    "directed": bool,
    "count": int,
    "n_documents": int,
    "documents": [str],
    "probability": float,
    "combined": float,
    "sentences": [
        {
            "document": str,
            "id": str,
            "probability": float,
            "sentence": _SPAN,
            "text": str,
            "first": _SPANS,
            "second": _SPANS,
            "trigger": _SPANS,
        }
    ],
}


def prediction_values(prediction: Prediction) -> tuple[Any, ...]:
    """Return the values of the columns `PREDICTION`."""
    trigger = prediction.trigger
    return (
        prediction.document,
        prediction.id,
        prediction.type,
        prediction.relation,
        prediction.positive,
        prediction.probability,
        prediction.threshold,
        list(prediction.probabilities.items()),
        tuple(prediction.sentence),
        prediction.text,
        [_participant(one) for one in prediction.participants],
        None if trigger is None else _participant(trigger),
        prediction.label,
    )


def _participant(one: Participant) -> tuple[Any, ...]:
    return one.role, one.id, one.type, one.text, _spans(one.spans), one.reference or None


def _spans(spans: Iterable[Span]) -> list[tuple[int, ...]]:
    return [tuple(span) for span in spans]


def evidence_values(evidence: Evidence) -> tuple[Any, ...]:
    """Return the values of the record `EVIDENCE`."""
    cases = [_case(one) for one in evidence]
    path = path_text(evidence.path)
    return evidence.score, evidence.intercept, evidence.others, path, cases


def _case(case: Case) -> tuple[Any, ...]:
    shared = list(case.words), _spans(case.sentence.shared), _spans(case.predicted.shared)
    return (
        case.id,
        case.type,
        case.similarity,
        case.contribution,
        case.supports,
        case.sentence.text,
        _spans(case.sentence.entities),
        _spans(case.sentence.trigger) or None,
        shared,
        path_text(case.path),
        [(one.text, one.view, one.weight) for one in case.fragments],
    )


def fact_values(fact: Fact) -> tuple[Any, ...]:
    """Return the values of the columns `FACT`."""
    sentences = [
        (
            one.document,
            one.id,
            one.probability,
            tuple(one.sentence),
            one.text,
            *(_spans(spans) or None for spans in (one.first, one.second, one.trigger)),
        )
        for one in fact.sentences
    ]
    return (
        _entity(fact.first),
        fact.type,
        None if fact.second is None else _entity(fact.second),
        fact.directed,
        fact.count,
        fact.n_documents,
        list(fact.documents),
        fact.probability,
        fact.combined,
        sentences,
    )


def _entity(entity: FactEntity) -> tuple[Any, ...]:
    return entity.name, entity.type, entity.reference or None, list(entity.spellings)
