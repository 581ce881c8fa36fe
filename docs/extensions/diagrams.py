"""Diagrams as inline SVG, drawn when the documentation is built; directive ``{diagram} name``.

Everything a diagram shows is computed by the library: fragments, kernel values, bits, predictions.
Lines and text have the color of the surrounding text (``currentColor``) or a color of the theme, so
that diagrams follow the light and the dark theme. Each has a title and a description.
"""

from __future__ import annotations

import html
import logging
import re
from collections.abc import Callable, Sequence as Items
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from docutils import nodes
from docutils.parsers.rst import Directive

import kernelwood as kw
from kernelwood.datasets import load_interactions, load_questions

FONT_SIZE = 14.0
WIDTH = 720.0  # of the widest diagram, in pixels
_MARGIN = 8.0
_LEVEL = 44.0  # height of a level of a tree
_GAP = 14.0
_ACCENT = "var(--color-brand-content, currentColor)"


# Drawing.


@dataclass
class Drawing:
    """Markup with its size."""

    width: float = 0.0
    height: float = 0.0
    parts: list[str] = field(default_factory=list)

    def text(
        self, x: float, y: float, text: str, *, anchor: str = "start", style: str = ""
    ) -> None:
        """Add a line of text at a baseline."""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{_styles(style)}>'
            f"{html.escape(text)}</text>"
        )
        right = {"start": 1.0, "middle": 0.5, "end": 0.0}[anchor] * text_width(text)
        self._grow(x + right, y + 4)

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str = "") -> None:
        """Add a straight line."""
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"{_styles(style)}/>'
        )
        self._grow(max(x1, x2), max(y1, y2))

    def box(self, x: float, y: float, width: float, height: float, style: str = "") -> None:
        """Add a rounded box with its upper left corner."""
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'rx="5"{_styles(style)}/>'
        )
        self._grow(x + width, y + height)

    def arrow(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """Add a line with a head, downward or to the right."""
        self.line(x1, y1, x2, y2)
        down = x1 == x2
        ends = [(-4, -6), (4, -6)] if down else [(-6, -4), (-6, 4)]
        for dx, dy in ends:
            self.line(x2, y2, x2 + dx, y2 + dy)

    def add(self, other: Drawing, x: float, y: float) -> None:
        """Add another drawing at a place."""
        inside = "".join(other.parts)
        self.parts.append(f'<g transform="translate({x:.1f} {y:.1f})">{inside}</g>')
        self._grow(x + other.width, y + other.height)

    def _grow(self, width: float, height: float) -> None:
        self.width, self.height = max(self.width, width), max(self.height, height)


def _styles(names: str) -> str:
    return f' class="{names}"' if names else ""


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Return an estimate of the drawn width of a text."""
    narrow, wide = set("iljtfrI.,:;'|!()[] "), set("mwMW@%—…")
    units = (0.34 if c in narrow else 0.86 if c in wide or c.isupper() else 0.57 for c in text)
    return size * sum(units)


def svg(name: str, title: str, description: str, drawing: Drawing) -> str:
    """Return a complete element with title and description, which screen readers speak."""
    width, height = drawing.width + 2 * _MARGIN, drawing.height + 2 * _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="diagram" role="img" '
        f'aria-labelledby="diagram-{name}-title diagram-{name}-desc" '
        f'viewBox="{-_MARGIN:g} {-_MARGIN:g} {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}">'
        f'<title id="diagram-{name}-title">{html.escape(title)}</title>'
        f'<desc id="diagram-{name}-desc">{html.escape(description)}</desc>'
        f"{''.join(drawing.parts)}</svg>"
    )


def draw_tree(tree: kw.Tree) -> Drawing:
    """Return a tree: parents above the middle of their children, leaves in italics."""
    drawing = Drawing()
    _place(drawing, tree, 0.0, 0.0)
    return drawing


def _place(drawing: Drawing, tree: kw.Tree, left: float, top: float) -> tuple[float, float]:
    """Draw a subtree; return the position of its root and the width of its strip."""
    own, cursor, centers = text_width(tree.label), left, []
    inner = sum(_strip(child) for child in tree.children) + _GAP * (len(tree.children) - 1)
    cursor += max(0.0, (own - inner) / 2)
    for child in tree.children:
        center, width = _place(drawing, child, cursor, top + _LEVEL)
        centers.append(center)
        cursor += width + _GAP
    width = max(own, inner)
    x = (centers[0] + centers[-1]) / 2 if centers else left + own / 2
    for center in centers:
        drawing.line(x, top + 19, center, top + _LEVEL + 1)
    drawing.text(x, top + 14, tree.label, anchor="middle", style="" if centers else "leaf")
    return x, width


def _strip(tree: kw.Tree) -> float:
    inner = sum(_strip(child) for child in tree.children) + _GAP * (len(tree.children) - 1)
    return max(text_width(tree.label), inner)


def draw_sequence(words: Items[str]) -> Drawing:
    """Return words in boxes; ``…`` stands for a gap."""
    drawing, x = Drawing(height=28.0), 0.0
    for word in words:
        width = text_width(word) + 16
        if word != "…":
            drawing.box(x, 0, width, 28)
        drawing.text(x + width / 2, 19, word, anchor="middle")
        x += width + 6
    return drawing


def beside(drawings: Items[Drawing], gap: float) -> Drawing:
    """Return drawings in a row."""
    row = Drawing()
    for one in drawings:
        row.add(one, row.width + (gap if row.parts else 0.0), 0.0)
    return row


def in_rows(drawings: Items[Drawing], gap: float, width: float) -> Drawing:
    """Return drawings in rows that are not wider than a width."""
    rows: list[list[Drawing]] = [[]]
    used = 0.0
    for one in drawings:
        if rows[-1] and used + gap + one.width > width:
            rows.append([])
            used = 0.0
        used += (gap if rows[-1] else 0.0) + one.width
        rows[-1].append(one)
    whole = Drawing()
    for row in rows:
        whole.add(beside(row, gap), 0.0, whole.height + (22.0 if whole.parts else 0.0))
    return whole


# Kernels: two structures, and below them the fragments that both have.


def _fragments(kernel: kw.Kernel, a: Any, b: Any) -> list[Any]:
    return kw.shared_fragments(kernel, a, b, None, order="weight")


def _number(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _shared(
    kernel: kw.Kernel, a: Any, b: Any, draw: Callable[[Any], Drawing], note: str
) -> Drawing:
    found = _fragments(kernel, a, b)
    drawing = Drawing()
    pair = beside([_captioned(draw(a), "structure a"), _captioned(draw(b), "structure b")], 70.0)
    drawing.add(pair, 0.0, 0.0)
    y = drawing.height + 18
    drawing.line(0.0, y, WIDTH - 2 * _MARGIN, y, "rule")
    drawing.text(0.0, y + 24, f"{len(found)} shared fragments, with their weights", style="strong")
    pieces = [_captioned(draw(_shape(one)), _number(one.weight), "accent") for one in found]
    drawing.add(in_rows(pieces, 44.0, WIDTH - 2 * _MARGIN), 0.0, y + 44)
    total = f"kernel value {_number(kernel.value(a, b))}, the sum of the weights{note}"
    drawing.text(0.0, drawing.height + 28, total, style="strong")
    return drawing


def _shape(fragment: Any) -> Any:
    """Return the structure of a fragment; for sequences the words, with gaps."""
    shape = fragment.structure
    return fragment.text.split() if isinstance(shape, kw.Sequence) else shape


def _captioned(drawing: Drawing, text: str, style: str = "quiet") -> Drawing:
    """Return a drawing with a line of text below."""
    whole = Drawing()
    width = max(drawing.width, text_width(text))
    whole.add(drawing, (width - drawing.width) / 2, 0.0)
    whole.text(width / 2, drawing.height + 20, text, anchor="middle", style=style)
    whole.width = width
    return whole


def _told(kernel: kw.Kernel, a: Any, b: Any, texts: tuple[str, str]) -> str:
    """Return the content of a diagram of shared fragments in words."""
    found = [f"{one.text} with weight {_number(one.weight)}" for one in _fragments(kernel, a, b)]
    return (
        f"{texts[0]} and {texts[1]} share {len(found)} fragments: {'; '.join(found)}. "
        f"Their sum is the kernel value, {_number(kernel.value(a, b))}."
    )


def subsequence() -> str:
    """Return what a subsequence kernel counts."""
    kernel = kw.SubsequenceKernel(decay=0.5, normalize=False)
    texts = ("the cat sat", "the dog sat")
    a, b = (kw.Sequence(text.split()) for text in texts)

    def draw(one: Any) -> Drawing:
        return draw_sequence(one.nodes if isinstance(one, kw.Sequence) else one)

    return svg(
        "subsequence",
        "Fragments that a subsequence kernel counts",
        _told(kernel, a, b, texts),
        _shared(kernel, a, b, draw, " (decay 0.5)"),
    )


def _tree_diagram(
    name: str, title: str, kernel: kw.Kernel, texts: tuple[str, str], note: str
) -> str:
    a, b = map(kw.Tree.from_brackets, texts)
    return svg(name, title, _told(kernel, a, b, texts), _shared(kernel, a, b, draw_tree, note))


def subset_tree() -> str:
    """Return what a subset tree kernel counts."""
    return _tree_diagram(
        "subset-tree",
        "Fragments that a subset tree kernel counts",
        kw.SubsetTreeKernel(decay=1.0, normalize=False),
        ("(PP (IN in) (DT the) (NN bank))", "(PP (IN in) (DT the) (NN river))"),
        " (decay 1)",
    )


def partial_tree() -> str:
    """Return what a partial tree kernel counts."""
    return _tree_diagram(
        "partial-tree",
        "Fragments that a partial tree kernel counts",
        kw.PartialTreeKernel(normalize=False),
        ("(binds (nsubj Raf) (obj Ras))", "(binds (nsubj Raf) (advmod strongly) (obj Ras))"),
        " (decay and depth decay 0.4)",
    )


# Packed forests: the picture of notebooks in the colors of the theme, with title and description.

_LINK = re.compile(
    r'<g stroke="(?P<color>[^"]*)"(?P<style>[^>]*)>'
    r"(?P<title><title>[^<]* P (?P<p>[\d.]+) [^<]*</title>)(?P<path><path [^>]*>)"
    r'<circle cx="(?P<x>[\d.]+)" cy="(?P<y>[\d.]+)" r="[\d.]+" fill="[^"]*"/></g>'
)
_COLORS = re.compile(r' (fill|stroke|stroke-opacity)="[^"]*"')


def _themed(picture: str) -> str:
    """Return the content of a picture without colors, with the probabilities at the dots."""
    best = max((link["color"] for link in _LINK.finditer(picture)), key=picture.count)

    def link(found: re.Match[str]) -> str:
        x, y = float(found["x"]), float(found["y"])
        is_best = found["color"] == best
        side, anchor = (7, "start") if is_best else (-7, "end")
        p = ""
        if float(found["p"]) < 1:
            place = f'x="{x + side:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}"'
            p = f"<text {place}>{found['p']}</text>"
        return (
            f'<g class="{"best" if is_best else "other"}"{found["style"]}>{found["title"]}'
            f'{found["path"]}<circle cx="{x}" cy="{y}" r="2.8"/></g>{p}'
        )

    return _COLORS.sub("", _LINK.sub(link, picture))


def packed_forest() -> str:
    """Return a forest of two trees."""
    trees = [
        (kw.Tree.from_brackets("(VP (V saw) (NP her) (PP (P with) (N telescopes)))"), 0.6),
        (kw.Tree.from_brackets("(VP (V saw) (NP (NP her) (PP (P with) (N telescopes))))"), 0.4),
    ]
    forest = kw.Forest.from_trees(trees)
    picture = forest._repr_svg_()
    found = re.fullmatch(r'<svg [^>]*?width="(\d+)" height="(\d+)"[^>]*>(.*)</svg>', picture, re.S)
    assert found is not None
    readings = "; ".join(f"{tree.to_brackets()} with probability {p:g}" for tree, p in trees)
    drawing = Drawing(float(found[1]), float(found[2]))
    drawing.parts.append(
        f'<g font-size="13" text-anchor="middle" class="plates">{_themed(found[3])}</g>'
    )
    return svg(
        "packed-forest",
        "A packed forest of two trees",
        f"{forest.n_trees} trees in {forest.n_nodes} nodes and {forest.n_edges} hyper-edges, which "
        f"are dots below their heads: {readings}. A number beside a dot is the probability of a "
        f"hyper-edge, if it is not 1. The more probable tree is blue.",
        drawing,
    )


# Hashcodes.

_SHORT = 40  # characters of a question


def hashcode() -> str:
    """Return how bits are made from similarities to references."""
    questions = load_questions()
    trees = [question.view("tree") for question in questions]
    kernel = kw.SubsetTreeKernel()
    hasher = kw.KernelHasher(
        kernel, method="rknn", n_references=6, n_bits=5, subset_size=2, random_state=0
    ).fit(trees[:60])
    number = 63  # not among those that references are drawn from
    similarities = hasher.similarities([trees[number]])[0]
    bits = hasher.transform([trees[number]])[0]
    references = [_question(questions[row]) for row in hasher.reference_indices_]
    drawing = Drawing()
    drawing.text(0, 14, "structure:", style="quiet")
    drawing.text(72, 14, _question(questions[number]), style="strong")
    y = 48.0
    drawing.text(0, y, "references", style="quiet")
    drawing.text(400, y, "similarity", style="quiet")
    top = max(float(similarities.max()), 1e-9)
    for row, (text, value) in enumerate(zip(references, similarities, strict=True)):
        y += 26
        drawing.text(0, y, f"r{row + 1}", style="accent")
        drawing.text(30, y, text)
        drawing.box(400, y - 12, max(2.0, 180 * float(value) / top), 14, "bar")
        drawing.text(590, y, f"{value:.2f}")
    y += 34
    drawing.line(0, y - 18, WIDTH - 2 * _MARGIN, y - 18, "rule")
    for x, title in (
        (0, "bit"),
        (60, "nearest of subset 1"),
        (290, "nearest of subset 2"),
        (530, "value"),
    ):
        drawing.text(x, y + 4, title, style="quiet")
    told = []
    for place, (first, second) in enumerate(np.sort(hasher.subsets_, axis=2)):
        y += 30
        largest = [max(subset, key=lambda one: similarities[one]) for subset in (first, second)]
        sides = [
            f"max of {' and '.join(f'r{one + 1}' for one in subset)}: {similarities[best]:.2f}"
            for subset, best in zip((first, second), largest, strict=True)
        ]
        drawing.text(0, y + 4, str(place), style="accent")
        drawing.text(60, y + 4, sides[0])
        drawing.text(260, y + 4, "<" if bits[place] else "≥", anchor="middle")
        drawing.text(290, y + 4, sides[1])
        drawing.arrow(488, y, 516, y)
        drawing.box(530, y - 13, 26, 26, "filled" if bits[place] else "")
        drawing.text(543, y + 5, str(bits[place]), anchor="middle", style="strong")
        told.append(f"bit {place} is {bits[place]}: {sides[0]}, {sides[1]}")
    listed = "; ".join(
        f"r{row + 1}, {text}, {value:.2f}"
        for row, (text, value) in enumerate(zip(references, similarities, strict=True))
    )
    return svg(
        "hashcode",
        "How a hashcode is made from references",
        f"Similarities of the question {_question(questions[number])} to six references: {listed}. "
        f"A bit is 1 if the second of two subsets has the nearest reference. {'; '.join(told)}.",
        drawing,
    )


def _question(question: Any) -> str:
    text = " ".join(question.view("words").nodes)
    return text if len(text) <= _SHORT else text[: _SHORT - 1].rstrip() + "…"


# The data flow of relation extraction, with an example of each stage.


def _stages() -> list[tuple[str, str, str]]:
    """Return the name of each stage, the class that holds its result, and an example."""
    documents = load_interactions("test")[:8]
    extractor = kw.RelationExtractor(random_state=0).fit(load_interactions("train"))
    right = [one for one in extractor.predict(documents) if one.label == one.relation]
    one = min(right, key=lambda prediction: len(prediction.text))
    start = one.id.partition(".")[0] + "."  # ids are document.sentence.entities
    text = " ".join(
        example.view("sentence").text for example in documents if example.id.startswith(start)
    )
    candidates = kw.relations.pair_candidates(documents)
    row = [candidate.id for candidate in candidates].index(one.candidate.id)
    names = " and ".join(entity.text for entity in one.candidate.entities)
    path = candidates.examples("path")[row].view("path")
    steps = " ".join(f"‹{edge}› {node}" if edge else node for edge, node in path)
    case = next(case for case in one.evidence if case.supports)
    return [
        ("text", "str", _cut(text)),
        ("sentences", "Sentence", one.text),
        ("candidates", "Candidate", names),
        ("views", "Sequence, Tree, …", steps),
        (
            "kernel, learner",
            "Kernel, classifier",
            f"similarity {case.similarity:.2f} to the case below",
        ),
        (
            "predictions",
            "Prediction",
            f"{one.type}, probability {one.probability:.2f}, "
            f"decision threshold {one.threshold:.2f}",
        ),
        ("evidence", "Case", f"{kw.relations.path_text(case.path)}: {case.type}"),
    ]


def _cut(text: str, width: int = 60) -> str:
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def data_flow() -> str:
    """Return the stages from a text to evidence, with an example."""
    stages = _stages()
    drawing = Drawing()
    for row, (name, holder, example) in enumerate(stages):
        y = row * 68.0
        drawing.box(0, y, 150, 44, "stage")
        drawing.text(75, y + 19, name, anchor="middle", style="strong")
        drawing.text(75, y + 36, holder, anchor="middle", style="quiet")
        drawing.text(172, y + 27, example)
        if row + 1 < len(stages):
            drawing.arrow(75, y + 46, 75, y + 66)
    listed = "; ".join(f"{name}: {example}" for name, _, example in stages)
    return svg(
        "data-flow",
        "Data flow from text to evidence",
        f"Seven stages, each made from the one before, with an example. {listed}.",
        drawing,
    )


DIAGRAMS: dict[str, Callable[[], str]] = {
    "data-flow": data_flow,
    "hashcode": hashcode,
    "packed-forest": packed_forest,
    "partial-tree": partial_tree,
    "subsequence": subsequence,
    "subset-tree": subset_tree,
}


@cache
def draw(name: str) -> str:
    """Return the markup of a diagram."""
    return DIAGRAMS[name]()


class DiagramDirective(Directive):
    """Insert a diagram by its name."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the markup as a node."""
        name = self.arguments[0]
        if name not in DIAGRAMS:
            raise self.error(f"unknown diagram {name!r}; one of {', '.join(DIAGRAMS)}")
        markup = f'<div class="diagram-frame">{draw(name)}</div>'
        return [nodes.raw("", markup, format="html")]


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    logging.getLogger("kernelwood").setLevel(logging.WARNING)  # no phases of training
    app.add_directive("diagram", DiagramDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
