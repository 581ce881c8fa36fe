"""Relations of a sentence as a picture: entities in a row, an arc for each relation above them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kernelwood.pages import Markup, element
from kernelwood.relations.predictions import Participant, Prediction
from kernelwood.relations.report_passages import Colors, Passage
from kernelwood.structures import one_line, text_width

__all__ = ["draw_relations", "said"]

_SIZE, _SMALL = 13.0, 11.0
_PLATE, _LABEL, _LEVEL = 24.0, 17.0, 28.0
_GAP, _MARGIN, _FOOT = 10.0, 8.0, 7.0
_LONGEST, _BETWEEN = 24, 26  # characters of a name, and of what stands between two
_MOST_ARCS = 60  # more would be no picture
_NUMBER = re.compile(r"\d+$")  # Arg1 and Arg2 are the same part


@dataclass(slots=True)
class _Place:
    """Something in the row: an entity, or the words between two; ``x`` is its middle."""

    text: str
    kind: str  # color of an entity, "" for words
    width: float
    x: float = 0.0


@dataclass(slots=True)
class _Arc:
    """A relation from one place of the row to another; an arrow leads there if it is directed."""

    first: int
    second: int
    label: str
    directed: bool
    level: int = 0


def said(prediction: Prediction) -> str:
    """Return who takes part, in a line of text: with an arrow, if it matters who comes first."""
    parts = prediction.participants
    if prediction.trigger is None and len(parts) == 2:
        return f"{parts[0].text} {'→' if _is_directed(prediction) else '–'} {parts[1].text}"
    return ", ".join(f"{one.role} {one.text}" for one in parts)


def _is_directed(prediction: Prediction) -> bool:
    """Return whether the two participants of a pair have different parts in it."""
    if prediction.relation != prediction.type:
        return True
    roles = {_NUMBER.sub("", one.role) for one in prediction.participants}
    return len(roles) == 2 and roles != {"first", "second"}


def draw_relations(passage: Passage, colors: Colors) -> Markup:
    """Draw the relations that hold in a sentence; "" if there are none to draw."""
    holding = [prediction for prediction in passage.predictions if prediction.positive]
    wanted = [link for prediction in holding for link in _links(prediction)][:_MOST_ARCS]
    people = {one for first, second, *_ in wanted for one in (first, second)}
    ordered = sorted(people, key=lambda one: (one.spans, one.id, one.type, one.text))
    if not wanted:
        return Markup("")
    # What a role is called does not make a participant another one.
    keys = list(dict.fromkeys((one.spans, one.id) for one in ordered))
    start = holding[0].sentence[0]
    row = _row(passage.text, ordered, start, colors)
    places = {key: 2 * number for number, key in enumerate(keys)}
    arcs = [
        _Arc(places[(first.spans, first.id)], places[(second.spans, second.id)], label, directed)
        for first, second, label, directed in wanted
    ]
    arcs = [arc for arc in arcs if arc.first != arc.second]
    _raise_arcs(arcs, len(row))
    _set_in_row(row, arcs)
    name = "; ".join(f"{one.type}: {said(one)}" for one in holding[:_MOST_ARCS])
    return _picture(row, arcs, name)


def _links(prediction: Prediction) -> list[tuple[Participant, Participant, str, bool]]:
    """Return who is joined to whom, by what, and whether it matters which comes first."""
    parts = prediction.participants
    score = f"{prediction.type} {prediction.score:.2f}"
    if prediction.trigger is not None:
        return [(prediction.trigger, one, one.role, True) for one in parts]
    if len(parts) == 2:
        return [(parts[0], parts[1], score, _is_directed(prediction))]
    return [(parts[0], one, f"{one.role} {prediction.score:.2f}", True) for one in parts[1:]]


def _row(text: str, people: Iterable[Participant], start: int, colors: Colors) -> list[_Place]:
    """Return entities and between them the words, so that entities have even numbers."""
    row: list[_Place] = []
    done, seen = 0, set()
    for one in people:
        if (one.spans, one.id) in seen:
            continue
        seen.add((one.spans, one.id))
        if row:
            first = one.spans[0][0] - start if one.spans else done
            words = _between(text[done:first]) if first > done else ""
            row.append(_Place(words, "", text_width(words, _SMALL) if words else 0.0))
        name = _short(one.text or one.id)
        row.append(_Place(name, colors[one.type], max(_PLATE, text_width(name, _SIZE) + 16)))
        done = max(done, one.spans[-1][1] - start) if one.spans else done
    return row


def _short(text: str, width: int = _LONGEST) -> str:
    line = one_line(text)
    return line if len(line) <= width else line[: width - 1] + "…"


def _between(text: str) -> str:
    """Return words with the middle left out if there are many."""
    words = one_line(" ".join(text.split()))
    if len(words) <= _BETWEEN:
        return words
    half = _BETWEEN // 2 - 1
    # Whole words, unless one is too long.
    left, right = words[:half].rpartition(" "), words[-half:].partition(" ")
    return f"{left[0] or words[:half]} … {right[2] or words[-half:]}"


def _raise_arcs(arcs: list[_Arc], n_places: int) -> None:
    """Give every arc the lowest level above the shorter ones it spans."""
    levels = [0] * max(n_places, 1)  # the highest arc between a place and the next
    for arc in sorted(arcs, key=lambda arc: abs(arc.first - arc.second)):
        first, last = sorted((arc.first, arc.second))
        arc.level = max(levels[first:last]) + 1
        levels[first:last] = [arc.level] * (last - first)


def _set_in_row(row: list[_Place], arcs: Iterable[_Arc]) -> None:
    """Place everything side by side, neighbors far enough apart for the labels between them."""
    for arc in arcs:
        if abs(arc.first - arc.second) == 2:
            middle = (arc.first + arc.second) // 2
            sides = (row[arc.first].width + row[arc.second].width) / 2 + 2 * _GAP
            room = text_width(_short(arc.label), _SMALL) + 3 * _GAP
            row[middle].width = max(row[middle].width, room - sides)
    x = _MARGIN
    for place in row:
        place.x = x + place.width / 2
        x += place.width + _GAP


def _picture(row: Sequence[_Place], arcs: Sequence[_Arc], name: str) -> Markup:
    top = max((arc.level for arc in arcs), default=0) * _LEVEL
    baseline = _MARGIN + _LABEL / 2 + top
    width = max(row[-1].x + row[-1].width / 2 + _MARGIN, 40.0)
    height = baseline + _PLATE + _MARGIN
    inside = [
        *(_draw_arc(arc, row, baseline) for arc in arcs),
        *(_draw_label(arc, row, baseline) for arc in arcs),
        *(_draw_place(place, baseline + _PLATE / 2) for place in row if place.text),
    ]
    return element(
        "svg", *inside, role="img", aria_label=name, width=f"{width:.0f}",
        height=f"{height:.0f}", viewBox=f"0 0 {width:.1f} {height:.1f}", text_anchor="middle",
        font_size=f"{_SIZE:g}",
    )  # fmt: skip


def _draw_arc(arc: _Arc, row: Sequence[_Place], baseline: float) -> Markup:
    side = _FOOT if arc.first < arc.second else -_FOOT
    start, end = row[arc.first].x + side, row[arc.second].x - side
    high = baseline - arc.level * _LEVEL
    bend = min(_LEVEL / 2, abs(end - start) / 2) * (1 if end > start else -1)
    line = (
        f"M{start:.1f} {baseline:.1f}C{start:.1f} {high:.1f} {start:.1f} {high:.1f} "
        f"{start + bend:.1f} {high:.1f}H{end - bend:.1f}C{end:.1f} {high:.1f} "
        f"{end:.1f} {high:.1f} {end:.1f} {baseline:.1f}"
    )
    drawn = element("path", d=line, class_="arc")
    if not arc.directed:
        return drawn
    arrow = f"M{end - 4:.1f} {baseline - 7:.1f}h8l-4 7z"
    return Markup(drawn + element("path", d=arrow, class_="head"))


def _draw_label(arc: _Arc, row: Sequence[_Place], baseline: float) -> Markup:
    label = _short(arc.label)
    x = (row[arc.first].x + row[arc.second].x) / 2
    y = baseline - arc.level * _LEVEL
    width = text_width(label, _SMALL) + 10
    return Markup(_plate("plate", x, y, width, _LABEL) + _words(label, x, y + 4, width - 10))


def _draw_place(place: _Place, y: float) -> Markup:
    if not place.kind:
        room = text_width(place.text, _SMALL)
        return _words(place.text, place.x, y + 4, room, class_="soft")
    plate = _plate(place.kind, place.x, y, place.width, _PLATE)
    room = text_width(place.text, _SIZE)
    return Markup(plate + _words(place.text, place.x, y + 4.5, room, size=_SIZE))


def _plate(kind: str, x: float, y: float, width: float, height: float) -> Markup:
    return element(
        "rect", class_=kind, x=f"{x - width / 2:.1f}", y=f"{y - height / 2:.1f}",
        width=f"{width:.1f}", height=f"{height:g}", rx=f"{height / 4:g}",
    )  # fmt: skip


def _words(
    text: str, x: float, y: float, room: float, *, size: float = _SMALL, class_: str | None = None
) -> Markup:
    """Write words in exactly the room that was reckoned for them, whatever the font."""
    return element(
        "text", text, x=f"{x:.1f}", y=f"{y:.1f}", font_size=f"{size:g}", textLength=f"{room:.1f}",
        lengthAdjust="spacingAndGlyphs", class_=class_,
    )  # fmt: skip
