"""HTML report on predicted relations: one file without scripts that loads nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from kernelwood.errors import KernelInputError
from kernelwood.io import write_text
from kernelwood.relations.candidates import NONE
from kernelwood.relations.card import card_of
from kernelwood.relations.predictions import Evidence, Participant, Prediction, Predictions
from kernelwood.relations.wording import MarkedText
from kernelwood.structures import one_line, text_width
from kernelwood.text import Entity, Span

if TYPE_CHECKING:
    from jinja2 import Environment

    from kernelwood.relations.extractor import RelationExtractor
    from kernelwood.relations.scores import RelationScores
    from kernelwood.tuning import GateLearner, GateReport

# Not allowed in HTML, even escaped: most control characters, surrogates, two non-characters.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# A no-break space keeps the arrow on the line of the name.
_DIRECTIONS = {"(e1,e2)": "\N{NO-BREAK SPACE}→", "(e2,e1)": "\N{NO-BREAK SPACE}←"}

# Pictures of relations, in pixels.
_TEXT_SIZE, _SMALL_SIZE = 13.0, 11.0
_ENTITY_HEIGHT, _LEVEL_HEIGHT = 24.0, 28.0
_GAP, _MARGIN = 10.0, 8.0
_ARC_INSET = 7.0  # distance of the end of an arc from the middle of its entity
_MAX_NAME, _MAX_WORDS = 24, 26  # characters of an entity, and of the words between two
_MAX_ARCS = 60
_MAX_ROWS = 20  # predictions in a notebook


def write_report(path: str | os.PathLike[str], **contents: Any) -> None:
    """Write a report on predicted relations to a file, completely or not at all.

    Parameters
    ----------
    path : str or PathLike
        Output file, by convention ending in ``.html``.
    **contents
        Arguments of :func:`report_html`.
    """
    write_text(path, [report_html(**contents)])


def report_html(
    *,
    title: str,
    predictions: Iterable[Prediction],
    documents: Mapping[str, str] | None = None,
    scores: RelationScores | None = None,
    extractor: RelationExtractor | None = None,
    gates: GateReport | GateLearner | None = None,
    timings: Mapping[str, float] | None = None,
    n_explained: int = 100,
) -> str:
    """Return a report that shows relations in their texts, with evidence, as HTML.

    The page has no scripts and loads nothing. The same input gives the same page.

    Parameters
    ----------
    title : str
        Title of the page.
    predictions : iterable of Prediction
        Predictions; candidates below the decision threshold are listed below their sentence.
    documents : mapping of str to str, optional
        The text of each document by its id. Without it, only the sentences of the predictions are
        shown.
    scores : RelationScores, optional
        Scores of the extractor on annotated documents.
    extractor : RelationExtractor, optional
        The extractor that made the predictions. It computes the evidence of all relations at
        once, and its model card is shown.
    gates : GateReport or GateLearner, optional
        Learned gates of labels.
    timings : mapping of str to float, optional
        Wall-clock seconds of each step.
    n_explained : int
        Number of relations with evidence, those with the highest probability.

    Returns
    -------
    str
        A complete HTML document.

    Raises
    ------
    KernelInputError
        If `n_explained` is negative or a text is not a string.

    Examples
    --------
    >>> made = report_html(title="Empty", predictions=[], documents={"a": "Raf <is> here."})
    >>> "Raf &lt;is&gt; here." in made
    True
    """
    if n_explained < 0:
        raise KernelInputError(f"n_explained must be 0 or more, got {n_explained}")
    for name, text in (documents or {}).items():
        if not isinstance(text, str):
            raise KernelInputError(
                f"the text of document {name!r} must be a string, got {type(text).__name__}; "
                "pass the .text of a kw.Document"
            )
    listed = _without_missing_labels(predictions)
    passages = passages_of(listed, documents or {})
    every = [passage for each in passages.values() for passage in each]
    types = sorted({entity.type for passage in every for entity in passage.entities})
    evidence = _evidence(listed, extractor, n_explained)
    shown = (one for passage in every for one in passage.predictions)
    page = (
        _environment()
        .get_template("report.html")
        .render(
            title=title,
            n_relations=sum(one.positive for one in listed),
            documents=passages,
            colors={name: f"k{number % 6}" for number, name in enumerate(types)},  # of report.css
            evidence=evidence,
            # The evidence of the first relation is open, so that readers see there is some.
            opened=next((one for one in shown if one in evidence), None),
            scores=scores,
            gates=getattr(gates, "report", lambda: gates)(),
            card=None if extractor is None else card_facts(card_of(extractor)),
            timings=timings,
        )
    )
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", page)


def prediction_html(prediction: Prediction) -> str:
    """Return a prediction with its evidence as part of a page, for notebooks."""
    made = _macros().notebook_prediction(prediction, prediction.evidence, _marked(prediction))
    return _in_notebook(made)


def predictions_html(predictions: Predictions) -> str:
    """Return the first predictions as a table, without evidence, for notebooks."""
    shown = [(one, _marked(one)) for one in predictions[:_MAX_ROWS]]
    title = repr(predictions).strip("<>")
    made = _macros().notebook_predictions(title, shown, len(predictions) - len(shown))
    return _in_notebook(made)


def _marked(prediction: Prediction) -> MarkedText:
    """Return the sentence of a prediction with its participants."""
    candidate = prediction.candidate
    trigger = candidate.trigger.spans if candidate.trigger else ()
    entities = tuple(span for entity in candidate.entities for span in entity.spans)
    return MarkedText(prediction.text, entities, trigger)


def _in_notebook(made: str) -> str:
    style = _environment().get_template("evidence.css").render()
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", f"<style>\n{style}\n</style>{made}")


def _macros() -> Any:
    return _environment().get_template("macros.html").module


@cache
def _environment() -> Environment:
    """Return the environment of the templates; every value they insert is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("kernelwood.relations"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(
        px=lambda length: f"{length:.1f}",
        unit=lambda share: min(max(0.0, share), 1.0),  # not a number becomes 0
        relation_name=relation_name,
        signed=lambda value: f"{value:+.3f}".replace("-", "\N{MINUS SIGN}"),
        steps=lambda path: [text for text, kind in path if kind == "step"],
    )
    environment.globals.update(
        NONE=NONE,
        counted=lambda n, what: f"{n:,} {what}{'s' * (n != 1)}",
        describe=describe,
        draw_relations=draw_relations,
        ranking=_ranking,
        segments=segments,
    )
    return environment


def _without_missing_labels(predictions: Iterable[Prediction]) -> list[Prediction]:
    """Return the predictions, without labels if no relation is annotated in any document."""
    listed = list(predictions)
    for one in listed:
        sentence = one.candidate.sentence
        if one.label not in (None, NONE) or sentence.relations or sentence.events:
            return listed
    return [replace(one, label=None) for one in listed]


def _evidence(
    predictions: Iterable[Prediction], extractor: RelationExtractor | None, n: int
) -> dict[Prediction, Evidence]:
    """Return the training cases for the `n` relations with the highest probability."""
    positive = [one for one in predictions if one.positive]
    best = sorted(positive, key=lambda one: -one.probability)[:n]
    if extractor is None:
        return {one: one.evidence for one in best}
    return dict(zip(best, extractor.explain(best), strict=True))  # faster than one by one


# Texts with marked entities.


class Passage(NamedTuple):
    """Part of a document: a sentence with predictions, or the text between two of them."""

    text: str
    entities: Sequence[Entity] = ()
    predictions: Sequence[Prediction] = ()


def passages_of(
    predictions: Iterable[Prediction], documents: Mapping[str, str]
) -> dict[str, list[Passage]]:
    """Return the passages of each document, in the order of documents, then of predictions.

    A sentence that is not found at its offsets, because the document has another text or none,
    is a passage of its own.
    """
    found: dict[str, dict[tuple[Span, str], list[Prediction]]] = {name: {} for name in documents}
    for one in predictions:
        sentences = found.setdefault(one.document, {})
        sentences.setdefault((one.sentence, one.text), []).append(one)
    passages: dict[str, list[Passage]] = {name: [] for name in found}
    for name, sentences in found.items():
        text, done = documents.get(name, ""), 0
        for (start, end), sentence in sorted(sentences):
            if done <= start and text[start:end] == sentence:
                if text[done:start].strip():
                    passages[name].append(Passage(text[done:start].strip()))
                done = end
            here = sentences[(start, end), sentence]
            passages[name].append(Passage(sentence, _entities(here), here))
        # A text that contains none of the sentences is not the text of the predictions.
        if text[done:].strip() and (done or not sentences):
            passages[name].append(Passage(text[done:].strip()))
    return passages


def _entities(predictions: Iterable[Prediction]) -> list[Entity]:
    """Return all entities of a sentence in order, with the triggers of its candidates."""
    found: dict[tuple[tuple[Span, ...], str], Entity] = {}
    for candidate in (one.candidate for one in predictions):
        trigger = [candidate.trigger] if candidate.trigger else []
        for entity in (*candidate.entities, *trigger, *candidate.sentence.entities):
            found.setdefault((entity.spans, entity.id), entity)
    return [found[key] for key in sorted(found)]


def segments(passage: Passage, colors: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the text of a passage in segments: text, color, and types of entities that end there.

    Entities may overlap: the color is that of the shortest. Text outside of entities has no color.

    Examples
    --------
    >>> raf = Entity("T1", "Protein", ((0, 3),))
    >>> list(segments(Passage("Raf is", [raf]), {"Protein": "k0"}))
    [('Raf', 'k0', 'Protein'), (' is', '', '')]
    """
    length = len(passage.text)
    starting: dict[int, list[tuple[int, int, str, bool]]] = {}
    places = {0, length}
    for entity in passage.entities:
        for start, stop in entity.spans:
            end, is_last = min(stop, length), stop == entity.spans[-1][1]
            if start < end:
                starting.setdefault(start, []).append((end, end - start, entity.type, is_last))
                places |= {start, end}
    inside: list[tuple[int, int, str, bool]] = []
    for left, right in pairwise(sorted(places)):
        inside = [span for span in inside if span[0] > left] + starting.get(left, [])
        types = [type for end, _, type, is_last in inside if is_last and end == right and type]
        color = colors[min(inside, key=lambda span: span[1])[2]] if inside else ""
        yield passage.text[left:right], color, ", ".join(types)


def describe(prediction: Prediction) -> str:
    """Return the participants in one line, with an arrow if the relation is directed."""
    parts = prediction.participants
    if prediction.trigger is None and len(parts) == 2:
        return f"{parts[0].text} {'→' if prediction.directed else '–'} {parts[1].text}"
    return ", ".join(f"{one.role} {one.text}" for one in parts)


# Pictures of relations: entities in a row, an arc for each relation above them.


@dataclass(slots=True)
class _Box:
    """An entity of a picture, or the words between two entities, which have no color."""

    text: str
    color: str
    width: float
    x: float = 0.0  # of the middle


def draw_relations(passage: Passage, colors: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the picture of the predicted relations of a sentence; None if there are none.

    Its keys are ``name`` (a description), ``width``, ``height``, ``baseline`` (the top of the
    entities), ``boxes`` and ``arcs`` (path, path of the arrowhead or "", label, x and y).
    """
    positive = [one for one in passage.predictions if one.positive]
    links = [link for one in positive for link in _links(one)][:_MAX_ARCS]
    if not links:
        return None
    # An entity has one box, whatever its roles.
    entities = {(one.spans, one.id): one for link in links for one in link[:2]}
    index = {key: 2 * number for number, key in enumerate(sorted(entities))}
    row = _row(passage.text, [entities[key] for key in index], positive[0].sentence[0], colors)
    arcs = [(index[a.spans, a.id], index[b.spans, b.id], label, way) for a, b, label, way in links]
    levels = [0] * len(row)  # the highest arc between a box and the next
    placed = []
    for first, second, label, directed in sorted(arcs, key=lambda arc: abs(arc[0] - arc[1])):
        low, high = sorted((first, second))
        if low == high:
            continue
        level = max(levels[low:high]) + 1
        levels[low:high] = [level] * (high - low)
        if high - low == 2:  # neighbors, whose distance must fit the label
            width = text_width(label, _SMALL_SIZE) + _GAP - (row[low].width + row[high].width) / 2
            row[low + 1].width = max(row[low + 1].width, width)
        placed.append((row[first], row[second], label, directed, level))
    x = _MARGIN
    for box in row:
        box.x = x + box.width / 2
        x += box.width + _GAP
    baseline = _MARGIN + _SMALL_SIZE + max(levels) * _LEVEL_HEIGHT
    return {
        "name": "; ".join(f"{one.type}: {describe(one)}" for one in positive[:_MAX_ARCS]),
        "width": x - _GAP + _MARGIN,
        "height": baseline + _ENTITY_HEIGHT + _MARGIN,
        "baseline": baseline,
        "boxes": row,
        "arcs": [_arc(baseline, *arc) for arc in placed],
    }


def _links(prediction: Prediction) -> list[tuple[Participant, Participant, str, bool]]:
    """Return the arcs of a relation: two participants, a label, and whether it is directed."""
    parts, probability = prediction.participants, f"{prediction.probability:.2f}"
    if prediction.trigger is not None:
        return [(prediction.trigger, one, _cut(one.role), True) for one in parts]
    if len(parts) == 2:
        return [(*parts, _cut(f"{prediction.type} {probability}"), prediction.directed)]
    return [(parts[0], one, _cut(f"{one.role} {probability}"), True) for one in parts[1:]]


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
            row.append(_Box(words, "", text_width(words, _SMALL_SIZE)))
        name = _cut(one.text or one.id)
        width = max(_ENTITY_HEIGHT, text_width(name, _TEXT_SIZE) + 16)
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
    low: float, first: _Box, second: _Box, label: str, directed: bool, level: int
) -> tuple[str, str, str, float, float]:
    """Return the path of an arc, that of its arrowhead, its label, and the place of the label."""
    sign, y = (1 if first.x < second.x else -1), low - level * _LEVEL_HEIGHT
    start, end = first.x + sign * _ARC_INSET, second.x - sign * _ARC_INSET
    bend = sign * min(_LEVEL_HEIGHT / 2, abs(end - start) / 2)
    path = (
        f"M{start:.1f} {low:.1f}C{start:.1f} {y:.1f} {start:.1f} {y:.1f} {start + bend:.1f} {y:.1f}"
        f"H{end - bend:.1f}C{end:.1f} {y:.1f} {end:.1f} {y:.1f} {end:.1f} {low:.1f}"
    )
    head = f"M{end - 4:.1f} {low - 7:.1f}h8l-4 7z" if directed else ""
    return path, head, label, (first.x + second.x) / 2, y


# Tables.


def relation_name(name: object) -> str:
    r"""Return the name of a relation class, with an arrow for its direction in the text.

    Examples
    --------
    >>> relation_name("Activates(e2,e1)"), relation_name("Binds")
    ('Activates\xa0←', 'Binds')
    """
    text = str(name)
    arrow = _DIRECTIONS.get(text[-7:])
    return text[:-7] + arrow if arrow else text


def _ranking(scores: RelationScores) -> Iterator[tuple[str, str]]:
    """Yield names and values of measures that are not of one class."""
    measures = {"ROC AUC": scores.auc, "average precision": scores.average_precision}
    for name, value in measures.items():
        yield name, "–" if value is None or value != value else f"{value:.3f}"
    if scores.reliability is not None and scores.reliability.bins:
        yield "expected calibration error", f"{scores.reliability.error:.3f}"
    yield "candidates", f"{scores.n_candidates:,}"
    yield "annotated relations", f"{scores.n_relations:,}"
    missing = {"without prediction": scores.unreachable, "types not in training": scores.unknown}
    for name, counts in missing.items():
        if counts:
            yield name, ", ".join(f"{one_line(key)}: {n:,}" for key, n in counts.items())


def card_facts(card: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the entries of a model card as text; names of nested entries are joined.

    Examples
    --------
    >>> card_facts({"seed": 7, "held_out": {"f1": 0.5}})
    [('seed', '7'), ('held out: f1', '0.500')]
    """
    facts: list[tuple[str, str]] = []
    waiting = [(str(key), value) for key, value in reversed(list(card.items()))]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Mapping) and value:
            waiting += [(f"{name}: {key}", inner) for key, inner in reversed(list(value.items()))]
        else:
            facts.append((name.replace("_", " "), _card_value(value)))
    return facts


def _card_value(value: Any) -> str:
    if value is None or value == "" or value == {}:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**7 else str(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_card_value, value)) or "–"
    return str(value)
