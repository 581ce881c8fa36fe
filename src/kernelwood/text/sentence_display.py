"""Pictures of annotated sentences for notebooks.

Dependencies are arcs above the words, with an arrow at the dependent; entities are lines below,
triggers in another color. Longer arcs are drawn above the shorter ones they span.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from kernelwood.structures import (
    FONT,
    GAP,
    LEAF,
    LINE,
    MARGIN,
    MAX_LABEL,
    PLATE_HEIGHT,
    draw_box,
    draw_picture,
    escape,
    text_width,
)
from kernelwood.text.annotation import ROOT, Dependency, Entity

if TYPE_CHECKING:
    from kernelwood.text.sentence import Sentence

_RELATION = ("#fdf3dc", "#8a5a00")
_ENTITY_INK, _TRIGGER_INK = "#2f9e5b", "#c77d0a"
_SMALL, _LABEL_HEIGHT = 10.5, 15.0
_LEVEL_HEIGHT, _TAG_HEIGHT, _ENTITY_HEIGHT = 24.0, 17.0, 24.0
_FOOT = 8.0  # how far from the middle of its word an arc begins
_ARCS_PER_TOKEN, _MAX_ENTITIES = 3, 60  # limits of what is drawn


def sentence_html(sentence: Sentence, max_tokens: int = 80) -> str:
    """Return a scrollable picture of a sentence, or its text if it has no tokens.

    Examples
    --------
    >>> from kernelwood.text import Sentence
    >>> "a &lt; b" in sentence_html(Sentence("a < b"))
    True
    """
    inside = sentence_svg(sentence, max_tokens) if sentence.tokens else escape(sentence.text, 2000)
    return f'<div style="overflow-x:auto;font-family:{escape(FONT)}">{inside}</div>'


def sentence_svg(sentence: Sentence, max_tokens: int = 80) -> str:
    """Return an SVG picture of tokens, dependencies and entities.

    Parameters
    ----------
    sentence : Sentence
        A sentence with tokens.
    max_tokens : int, optional
        Number of tokens drawn, from the beginning.

    Returns
    -------
    str
        A complete ``<svg>`` element.

    Examples
    --------
    >>> from kernelwood.text import Sentence
    >>> sentence = Sentence.from_words(["we", "go"], dependencies=[(1, "nsubj", 0)])
    >>> "nsubj" in sentence_svg(sentence)
    True
    """
    n_shown = min(len(sentence.tokens), max(1, max_tokens))
    within = (edge for edge in sentence.dependencies if max(edge.head, edge.dependent) < n_shown)
    edges = list(islice(within, _ARCS_PER_TOKEN * n_shown))
    words = _place_words(sentence, n_shown, edges)
    arcs = _place_arcs(edges, words)
    n_levels = max((arc.level for arc in arcs), default=0)
    baseline = MARGIN + n_levels * _LEVEL_HEIGHT + (_LABEL_HEIGHT if arcs else 0.0)
    bottom = baseline + PLATE_HEIGHT + (_TAG_HEIGHT if any(word.tag for word in words) else 0.0)
    lines = _place_entities(sentence, words)
    height = bottom + _ENTITY_HEIGHT * max((line.row + 1 for line in lines), default=0) + MARGIN
    width = max([words[-1].right if words else 0.0, *(line.right for line in lines)]) + MARGIN
    note = ""
    if n_shown < len(sentence.tokens):
        height, width = height + 22, max(width, 240.0)
        note = f"{n_shown:,} of {len(sentence.tokens):,} tokens shown"
    inside = (
        f"{''.join(_draw_arc(arc, baseline) for arc in arcs)}"
        f"{''.join(_draw_relation(arc, baseline) for arc in arcs)}"
        f"{''.join(_draw_word(word, baseline + PLATE_HEIGHT / 2) for word in words)}"
        f"{''.join(_draw_entity(line, bottom) for line in lines)}"
    )
    return draw_picture("sentence", width, height, inside, note)


@dataclass(slots=True)
class _Word:
    """A token; ``x`` is its center."""

    text: str
    tag: str
    width: float
    x: float = 0.0

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        return self.x + self.width / 2


@dataclass(slots=True)
class _Arc:
    """A dependency with its ends and its height, from 1; a root has no start."""

    relation: str
    start: float | None
    end: float
    level: int


@dataclass(slots=True)
class _Line:
    """An entity: extents of its words, of its line and label, and its row."""

    entity: Entity
    ink: str
    pieces: list[tuple[float, float]]
    left: float
    right: float
    row: int = 0


def _place_words(sentence: Sentence, n_shown: int, edges: Iterable[Dependency]) -> list[_Word]:
    """Return words side by side, with space for labels of roots and of arcs between neighbors."""
    words = []
    for token in sentence.tokens[:n_shown]:
        tag = token.tag or token.pos
        room = max(text_width(token.text, 13.0) + 16, text_width(tag, _SMALL) + 4, PLATE_HEIGHT)
        words.append(_Word(token.text, tag, room))
    labels = [0.0] * n_shown  # the widest label between a word and the next
    for head, relation, dependent in edges:
        room = text_width(relation, _SMALL) + 8
        if head in (ROOT, dependent):
            words[dependent].width = max(words[dependent].width, room)
        elif abs(head - dependent) == 1:
            first = min(head, dependent)
            labels[first] = max(labels[first], room + GAP)
    x = MARGIN
    for place, word in enumerate(words):
        word.x = x + word.width / 2
        if place + 1 < n_shown:
            halves = (word.width + words[place + 1].width) / 2
            x += word.width + max(GAP, labels[place] - halves)
    return words


def _place_arcs(edges: list[Dependency], words: list[_Word]) -> list[_Arc]:
    """Return arcs, each above the shorter ones it spans, and roots above all."""
    levels = [0] * max(len(words), 1)  # the highest arc between a word and the next
    arcs = []
    for edge in sorted(edges, key=lambda edge: abs(edge.head - edge.dependent)):
        if edge.head != ROOT:
            first, last = sorted((edge.head, edge.dependent))
            spanned = slice(first, max(last, first + 1))
            level = max(levels[spanned]) + 1
            levels[spanned] = [level] * len(levels[spanned])
            foot = _FOOT if edge.dependent >= edge.head else -_FOOT
            end = words[edge.dependent].x - (_FOOT if first == last else 0.0)
            arcs.append(_Arc(edge.relation, words[edge.head].x + foot, end, level))
    top = max(levels) + 1
    roots = [edge for edge in edges if edge.head == ROOT]
    return arcs + [_Arc(edge.relation, None, words[edge.dependent].x, top) for edge in roots]


def _place_entities(sentence: Sentence, words: list[_Word]) -> list[_Line]:
    """Return entities, each in the first row with free space."""
    triggers = {event.trigger for event in sentence.events}
    lines: list[_Line] = []
    for entity in islice(sentence.entities, _MAX_ENTITIES):
        pieces = _pieces([i for i in sentence.tokens_of(entity) if i < len(words)], words)
        if not pieces:
            continue
        half = (text_width(entity.type, _SMALL) + 8) / 2
        middle = max((pieces[0][0] + pieces[-1][1]) / 2, MARGIN + half)
        ink = _TRIGGER_INK if entity.id in triggers else _ENTITY_INK
        line = _Line(entity, ink, pieces, middle - half, middle + half)
        line.left, line.right = min(line.left, pieces[0][0]), max(line.right, pieces[-1][1])
        taken = {
            other.row for other in lines if other.left < line.right and line.left < other.right
        }
        line.row = next(row for row in range(len(lines) + 1) if row not in taken)
        lines.append(line)
    return lines


def _pieces(indices: list[int], words: list[_Word]) -> list[tuple[float, float]]:
    """Return the extents of runs of adjacent words."""
    pieces: list[tuple[float, float]] = []
    for place, index in enumerate(indices):
        if place and index == indices[place - 1] + 1:
            pieces[-1] = pieces[-1][0], words[index].right
        else:
            pieces.append((words[index].left, words[index].right))
    return pieces


def _draw_arc(arc: _Arc, baseline: float) -> str:
    start, end = arc.start, arc.end
    if start is None:
        path = f"M{end:.1f} {baseline - arc.level * _LEVEL_HEIGHT:.1f}V{baseline:.1f}"
    else:
        control = baseline - arc.level * _LEVEL_HEIGHT * 4 / 3  # the curve goes 3/4 of the way
        path = (
            f"M{start:.1f} {baseline:.1f}C{start:.1f} {control:.1f} "
            f"{end:.1f} {control:.1f} {end:.1f} {baseline:.1f}"
        )
    return (
        f'<path d="{path}" fill="none" stroke="{LINE}" stroke-width="1.4"/>'
        f'<path d="M{end - 3:.1f} {baseline - 6:.1f}h6l-3 6z" fill="{LINE}"/>'
    )


def _draw_relation(arc: _Arc, baseline: float) -> str:
    if not arc.relation:
        return ""
    fill, ink = _RELATION
    x = arc.end if arc.start is None else (arc.start + arc.end) / 2
    y = baseline - arc.level * _LEVEL_HEIGHT
    width = text_width(arc.relation, _SMALL) + 8
    title = f"<title>{escape(arc.relation, 500)}</title>" if len(arc.relation) > MAX_LABEL else ""
    return (
        f"<g>{title}{draw_box(x, y, width, _LABEL_HEIGHT, fill, ink)}"
        f'<text x="{x:.1f}" y="{y + 3.6:.1f}" font-size="{_SMALL:g}" fill="{ink}">'
        f"{escape(arc.relation, MAX_LABEL)}</text></g>"
    )


def _draw_word(word: _Word, y: float) -> str:
    fill, ink = LEAF
    title = f"<title>{escape(word.text, 500)}</title>" if len(word.text) > MAX_LABEL else ""
    drawn = (
        f"<g>{title}{draw_box(word.x, y, word.width, PLATE_HEIGHT, fill, ink)}"
        f'<text x="{word.x:.1f}" y="{y + 4.5:.1f}" fill="{ink}">'
        f"{escape(word.text, MAX_LABEL)}</text></g>"
    )
    if word.tag:
        drawn += (
            f'<text x="{word.x:.1f}" y="{y + PLATE_HEIGHT / 2 + 13:.1f}" font-size="{_SMALL:g}" '
            f'fill="{LINE}">{escape(word.tag, MAX_LABEL)}</text>'
        )
    return drawn


def _draw_entity(line: _Line, bottom: float) -> str:
    y = bottom + line.row * _ENTITY_HEIGHT + 7
    first, last = line.pieces[0][0], line.pieces[-1][1]
    solid = "".join(f"M{left:.1f} {y:.1f}H{right:.1f}" for left, right in line.pieces)
    gaps = (
        f'<path d="M{first:.1f} {y:.1f}H{last:.1f}" stroke="{line.ink}" stroke-dasharray="2 4"/>'
        if len(line.pieces) > 1
        else ""
    )
    return (
        f"<g><title>{escape(f'{line.entity.id} {line.entity.type}', 500)}</title>{gaps}"
        f'<path d="{solid}" stroke="{line.ink}" stroke-width="3"/>'
        f'<text x="{(line.left + line.right) / 2:.1f}" y="{y + 12:.1f}" font-size="{_SMALL:g}" '
        f'fill="{line.ink}">{escape(line.entity.type, MAX_LABEL)}</text></g>'
    )
