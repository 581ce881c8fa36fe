"""Annotated texts and examples for notebooks: HTML without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from kernelwood.structures import FONT, escape, shorten
from kernelwood.text.annotation import Entity, Event, Relation

if TYPE_CHECKING:
    from kernelwood.text.document import Document
    from kernelwood.text.example import Example
    from kernelwood.text.sentence import Sentence

_MAX_TEXT, _MAX_ENTITIES, _MAX_RELATIONS = 20_000, 1_000, 50
_WIDTH = 60  # characters of a name in a table
# Colors that suit light and dark pages, by entity type.
_COLORS = (
    "64, 128, 255",
    "46, 160, 90",
    "230, 160, 0",
    "200, 85, 200",
    "0, 170, 180",
    "220, 80, 60",
)
_MARK = "background: rgba({}, .25); color: inherit; border-radius: 4px; padding: 0 .15em"
_CELL = "text-align: left; padding: .15rem .8rem .15rem 0"


def document_html(document: Document) -> str:
    """Return a text with its entities in colors, and a table of relations and events.

    Examples
    --------
    >>> from kernelwood.text import Document
    >>> made = document_html(Document("Raf < Ras", [("T1", "Protein", [(0, 3)])]))
    >>> "<small>Protein</small>" in made, "&lt; Ras" in made
    (True, True)
    """
    shown = document.text[:_MAX_TEXT]
    kinds = sorted({entity.type for entity in document.entities})
    colors = {kind: _COLORS[place % len(_COLORS)] for place, kind in enumerate(kinds)}
    marked = "".join(_colored(shown, document.entities[:_MAX_ENTITIES], colors))
    rest = len(document.text) - len(shown)
    note = f"<p>{rest:,} more characters not shown.</p>" if rest else ""
    table = relations_html(document)
    return (
        f'<div style="font-family: {escape(FONT)}; line-height: 1.7"><p style="white-space: '
        f'pre-wrap">{marked}</p>{note}{table}</div>'
    )


def _colored(text: str, entities: Iterable[Entity], colors: dict[str, str]) -> Iterator[str]:
    """Yield the text in parts; where entities overlap, the color is that of the shortest."""
    spans = sorted(
        (start, min(end, len(text)), entity.type)
        for entity in entities
        for start, end in entity.spans
        if start < len(text)
    )
    cuts = sorted({0, len(text), *(place for start, end, _ in spans for place in (start, end))})
    waiting, inside = list(reversed(spans)), list[tuple[int, int, str]]()
    for left, right in pairwise(cuts):
        inside = [span for span in inside if span[1] > left]
        while waiting and waiting[-1][0] == left:
            inside.append(waiting.pop())
        part = escape(text[left:right]).replace("⏎", "\n")
        if not inside:
            yield part
            continue
        ending = ", ".join(escape(kind, _WIDTH) for _, end, kind in inside if end == right)
        label = f" <small>{ending}</small>" if ending else ""
        kind = min(inside, key=lambda span: span[1] - span[0])[2]
        yield f'<mark style="{_MARK.format(colors[kind])}">{part}{label}</mark>'


def relations_html(annotated: Document | Sentence) -> str:
    """Return a table of relations and events with their arguments; "" if there are none."""
    names = {
        entity.id: entity.text or _words(entity, annotated.text) for entity in annotated.entities
    }
    names |= {event.id: event.id for event in annotated.events}
    found: Sequence[Relation | Event] = [*annotated.relations, *annotated.events]
    rows = []
    for item in islice(found, _MAX_RELATIONS):
        ends = [(argument.role, names.get(argument.target, "")) for argument in item.arguments]
        if isinstance(item, Event):
            ends.insert(0, ("trigger", names.get(item.trigger, "")))
        listed = ", ".join(
            f"<small>{escape(role, _WIDTH)}</small> {escape(shorten(name), _WIDTH)}"
            for role, name in ends
        )
        cells = (escape(item.id, _WIDTH), escape(item.type, _WIDTH), listed)
        rows.append("".join(f'<td style="{_CELL}">{cell}</td>' for cell in cells))
    if not rows:
        return ""
    more = len(found) - len(rows)
    note = f"<p>{more:,} more relations not shown.</p>" if more else ""
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>{note}"


def _words(entity: Entity, text: str) -> str:
    return " ".join(text[start:end] for start, end in entity.spans)


def example_html(example: Example) -> str:
    """Return the id, the label and the views of an example.

    Examples
    --------
    >>> from kernelwood.text import Example
    >>> "label yes" in example_html(Example("a", "yes"))
    True
    """
    label = "" if example.label is None else f", label {escape(str(example.label), _WIDTH)}"
    parts = [f"<p>Example <b>{escape(example.id, _WIDTH)}</b>{label}</p>"]
    for name, view in example.views.items():
        shown = getattr(view, "_repr_html_", None) or getattr(view, "_repr_svg_", None)
        inner = escape(shorten(repr(view)), 2000) if shown is None else shown()
        parts.append(f"<div><small>{escape(name, _WIDTH)}</small>{inner}</div>")
    return f'<div style="overflow-x: auto">{"".join(parts)}</div>'
