"""Predictions as dictionaries for the visualizer displaCy of spaCy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kernelwood.relations.predictions import Participant, Prediction
from kernelwood.structures import escape
from kernelwood.text import (
    Attribute,
    DisplacyStyle,
    Entity,
    Sentence,
    Span,
    check_displacy_style,
    displacy_arc,
    displacy_object,
    displacy_words,
    tokenize,
)


def displacy_objects(
    predictions: Iterable[Prediction], style: DisplacyStyle
) -> list[dict[str, Any]]:
    """Return a dictionary for each sentence with a prediction, in order."""
    check_displacy_style(style)
    groups: dict[tuple[str, Span, str], list[Prediction]] = {}
    for one in predictions:
        groups.setdefault((one.document, one.sentence, one.text), []).append(one)
    return [
        {**_drawn(text, start, ones, style), "title": escape(document)}
        for (document, (start, _), text), ones in groups.items()
    ]


def _drawn(
    text: str, start: int, predictions: list[Prediction], style: DisplacyStyle
) -> dict[str, Any]:
    sentence = predictions[0].candidate.sentence
    tokens = sentence.tokens or tuple(tokenize(text))
    found = list(_entities(predictions, start))
    references = tuple(
        Attribute(f"N{number}", "Reference", entity.id, reference)
        for number, (entity, reference) in enumerate(found, start=1)
        if reference
    )
    entities = tuple(entity for entity, _ in found)
    marked = Sentence(text, tokens, entities=entities, attributes=references)
    if style != "dep":
        return displacy_object(marked, style)
    find = marked.token_finder()
    places = {entity.spans: find(entity) for entity in marked.entities}
    words = displacy_words(tokens)
    for entity in marked.entities:
        for place in places[entity.spans]:
            words[place]["tag"] = escape(entity.type)
    arcs = []
    for first, second, label in (link for one in predictions for link in _links(one)):
        ends = [places[_moved(one, start)] for one in (first, second)]
        if all(ends) and ends[0][-1] != ends[1][-1]:
            arcs.append(displacy_arc(ends[0][-1], ends[1][-1], label))
    return {"words": words, "arcs": arcs}


def _entities(predictions: Iterable[Prediction], start: int) -> Iterator[tuple[Entity, str]]:
    """Yield the participants and triggers, once each, with their database ids."""
    seen: dict[tuple[Span, ...], Participant] = {}
    for one in predictions:
        for part in (*one.participants, *((one.trigger,) if one.trigger else ())):
            seen.setdefault(_moved(part, start), part)
    for number, (spans, part) in enumerate(seen.items(), start=1):
        yield Entity(f"T{number}", part.type, spans, part.text), part.reference


def _moved(part: Participant, start: int) -> tuple[Span, ...]:
    return tuple((left - start, right - start) for left, right in part.spans)


def _links(prediction: Prediction) -> Iterator[tuple[Participant, Participant, str]]:
    parts = prediction.participants
    if prediction.trigger is not None:
        yield from ((prediction.trigger, one, one.role) for one in parts)
    elif len(parts) == 2:
        yield parts[0], parts[1], prediction.type
