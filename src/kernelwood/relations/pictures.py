"""Pictures of the relations of a sentence: entities in a row, an arc for each relation above."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kernelwood.relations.predictions import Participant, Prediction
from kernelwood.relations.report_contents import Passage
from kernelwood.structures import one_line, shorten, text_width

SENTENCE_WIDTH = 60  # of a sentence in a table

# In pixels.
_TEXT_SIZE, _SMALL_SIZE = 13.0, 11.0
_ENTITY_HEIGHT, _LEVEL_HEIGHT = 24, 28
_GAP, _MARGIN = 10.0, 8.0
_ARC_INSET = 7  # distance of the end of an arc from the middle of its entity
_MAX_NAME, _MAX_WORDS = 24, 20  # characters of an entity, and of the words between two
_MAX_ARCS = 12  # more cannot be followed


@dataclass(slots=True)
class _Box:
    """An entity of a picture, or the words between two entities, which have no color."""

    text: str
    color: str
    width: int
    x: int = 0  # of the left end

    @property
    def middle(self) -> int:
        """The middle of the box."""
        return self.x + self.width // 2


def describe(prediction: Prediction) -> str:
    """Return the participants in one line, with an arrow if the relation is directed."""
    parts = prediction.participants
    if prediction.trigger is None and len(parts) == 2:
        return f"{parts[0].text} {'→' if prediction.directed else '–'} {parts[1].text}"
    return ", ".join(f"{one.role} {one.text}" for one in parts)


def table_row(prediction: Prediction) -> list[str]:
    """Return a prediction as cells: place in the document, type, probability, who, sentence."""
    spans = [span for one in prediction.participants for span in one.spans]
    place = f"{min(start for start, _ in spans)}-{max(end for _, end in spans)}"
    kind = prediction.type if prediction.positive else f"not {prediction.type}"
    text = shorten(" ".join(one_line(prediction.text).split()), SENTENCE_WIDTH)
    probability = f"{prediction.probability:.3f}"
    who = one_line(describe(prediction))
    return [f"{prediction.document}:{place}", kind, probability, who, text]


def draw_relations(
    passage: Passage, colors: Mapping[str, str], relations: Mapping[str, str], least: int = 1
) -> dict[str, Any] | None:
    """Return the picture of the predicted relations of a sentence; None if there are too few.

    Its keys are ``width``, ``height``, ``baseline`` (the top of the entities), ``boxes`` and
    ``arcs`` (path, path of the arrowhead or "", label, x and y, color). All places are whole
    pixels; those of arcs are relative to the baseline.

    Parameters
    ----------
    passage : Passage
    colors, relations : mapping of str to str
        Classes of the style sheet for entity types and for relation types.
    least : int
        Number of arcs from which on a picture is made.
    """
    positive = sorted(
        (one for one in passage.predictions if one.positive), key=lambda one: -one.probability
    )
    links = [link for one in positive for link in _links(one, relations)][:_MAX_ARCS]
    if len(links) < max(least, 1):
        return None
    # An entity has one box, whatever its roles.
    entities = {(one.spans, one.id): one for link in links for one in link[:2]}
    index = {key: 2 * number for number, key in enumerate(sorted(entities))}
    row = _row(passage.text, [entities[key] for key in index], positive[0].sentence[0], colors)
    arcs = [
        (index[a.spans, a.id], index[b.spans, b.id], label, directed, color)
        for a, b, label, directed, color in links
    ]
    levels = [0] * len(row)  # the highest arc between a box and the next
    placed = []
    for first, second, label, directed, color in sorted(arcs, key=lambda arc: abs(arc[0] - arc[1])):
        low, high = sorted((first, second))
        if low == high:
            continue
        level = max(levels[low:high]) + 1
        levels[low:high] = [level] * (high - low)
        if high - low == 2:  # neighbors, whose distance must fit the label
            width = text_width(label, _SMALL_SIZE) + _GAP - (row[low].width + row[high].width) / 2
            row[low + 1].width = max(row[low + 1].width, round(width))
        placed.append((row[first], row[second], label, directed, level, color))
    x = _MARGIN
    for box in row:
        box.x = round(x)
        x += box.width + _GAP
    baseline = round(_MARGIN + _SMALL_SIZE) + max(levels) * _LEVEL_HEIGHT
    return {
        "width": round(x - _GAP + _MARGIN),
        "height": round(baseline + _ENTITY_HEIGHT + _MARGIN),
        "baseline": baseline,
        "boxes": row,
        "arcs": [_arc(*arc) for arc in placed],
    }


def _links(
    prediction: Prediction, colors: Mapping[str, str]
) -> list[tuple[Participant, Participant, str, bool, str]]:
    """Return the arcs of a relation: two participants, label, whether directed, and color."""
    parts, probability = prediction.participants, f"{prediction.probability:.2f}"
    color = colors.get(prediction.type, "r0")
    if prediction.trigger is not None:
        return [(prediction.trigger, one, _cut(one.role), True, color) for one in parts]
    if len(parts) == 2:
        label = _cut(f"{prediction.type} {probability}")
        return [(*parts, label, prediction.directed, color)]
    return [(parts[0], one, _cut(f"{one.role} {probability}"), True, color) for one in parts[1:]]


def _row(
    text: str, entities: Iterable[Participant], shift: int, colors: Mapping[str, str]
) -> list[_Box]:
    """Return boxes of entities, at even indices, and of the words between them."""
    row: list[_Box] = []
    done = 0
    for one in entities:
        start, end = (one.spans[0][0] - shift, one.spans[-1][1] - shift) if one.spans else (0, 0)
        if row:
            words = _cut_middle(text[done : max(start, done)])
            row.append(_Box(words, "", round(text_width(words, _SMALL_SIZE))))
        name = _cut(one.text or one.id)
        width = max(_ENTITY_HEIGHT, round(text_width(name, _TEXT_SIZE) + 16))
        row.append(_Box(name, colors.get(one.type, "k0"), width))
        done = max(done, end)
    return row


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _MAX_NAME else line[: _MAX_NAME - 1] + "…"


def _cut_middle(text: str) -> str:
    """Return the words, without those in the middle if there are many."""
    words = one_line(" ".join(text.split()))
    if len(words) <= _MAX_WORDS:
        return words
    half = _MAX_WORDS // 2 - 1
    # Whole words, unless one is too long.
    left, right = words[:half].rpartition(" "), words[-half:].partition(" ")
    return f"{left[0] or words[:half]} … {right[2] or words[-half:]}"


def _arc(
    first: _Box, second: _Box, label: str, directed: bool, level: int, color: str
) -> tuple[str, str, str, int, int, str]:
    """Return the path of an arc and of its arrowhead, its label with its place, and its color."""
    sign, y = (1 if first.x < second.x else -1), -level * _LEVEL_HEIGHT
    start, end = first.middle + sign * _ARC_INSET, second.middle - sign * _ARC_INSET
    bend = sign * min(_LEVEL_HEIGHT // 2, abs(end - start) // 2)
    path = f"M{start} 0q0 {y} {bend} {y}H{end - bend}q{bend} 0 {bend} {-y}"
    head = f"M{end - 4}-7h8l-4 7z" if directed else ""
    return path, head, label, (first.middle + second.middle) // 2, y, color
