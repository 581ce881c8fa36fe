"""A report on relations that were found: one HTML file that needs nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from kernelwood.errors import KernelInputError
from kernelwood.io import write_text
from kernelwood.pages import Markup, Section, element, joined, page, scrolling, table
from kernelwood.relations.candidates import NONE
from kernelwood.relations.predictions import Case, Prediction
from kernelwood.relations.report_arcs import draw_relations, said
from kernelwood.relations.report_evidence import relation_details, score_bar
from kernelwood.relations.report_passages import Colors, Passage, marked, passages_of
from kernelwood.relations.report_tables import (
    card_facts,
    gates_table,
    relation_name,
    scores_table,
    timings_table,
)

if TYPE_CHECKING:
    from kernelwood.relations.extractor import RelationExtractor
    from kernelwood.relations.scores import RelationScores
    from kernelwood.tuning import GateLearner, GateReport

__all__ = ["report_html", "write_report"]

_Evidence: TypeAlias = Mapping[int, Sequence[Case]]


def write_report(
    path: str | os.PathLike[str],
    *,
    title: str,
    predictions: Iterable[Prediction],
    documents: Mapping[str, str] | None = None,
    scores: RelationScores | None = None,
    extractor: RelationExtractor | None = None,
    gates: GateReport | GateLearner | None = None,
    timings: Mapping[str, float] | None = None,
    n_explained: int = 100,
) -> None:
    """Write a report on relations to a file, which is either complete or not there.

    Parameters
    ----------
    path : str or PathLike
        The file, by custom ending in ``.html``.
    title, predictions, documents, scores, extractor, gates, timings, n_explained
        What to report; see :func:`report_html`.

    See Also
    --------
    report_html : The page as text.
    """
    made = report_html(
        title=title,
        predictions=predictions,
        documents=documents,
        scores=scores,
        extractor=extractor,
        gates=gates,
        timings=timings,
        n_explained=n_explained,
    )
    write_text(path, [made])


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
    """Return a page that shows relations in their texts, and why they are thought to hold.

    The page has no scripts and loads nothing. All but the timings is the same every time.

    Parameters
    ----------
    title : str
        What the page is about.
    predictions : iterable of Prediction
        What was found; those that do not hold are listed below their sentences.
    documents : mapping of str to str, optional
        The text of each document by its id. Without it, the sentences of predictions are shown.
    scores : RelationScores, optional
        How good such predictions are.
    extractor : RelationExtractor, optional
        What made them; it looks up evidence for all at once, and its card is shown.
    gates : GateReport or GateLearner, optional
        What was learned about labels.
    timings : mapping of str to float, optional
        Seconds that each step took.
    n_explained : int
        For so many relations, the most certain ones, evidence is looked up.

    Returns
    -------
    str
        A complete HTML document.

    Raises
    ------
    KernelInputError
        If `n_explained` is negative, or a text is no string.

    Examples
    --------
    >>> made = report_html(title="None", predictions=[], documents={"a": "Raf <is> here."})
    >>> "Raf &lt;is&gt; here." in made
    True
    """
    judged = _with_true_labels(predictions)
    texts = _checked(documents or {}, n_explained)
    passages = passages_of(judged, texts)
    evidence = _evidence(judged, extractor, n_explained)
    sections = [Section("relations", "Relations", _relations(passages, evidence))]
    if scores is not None:
        sections.append(Section("scores", "How good it is", scores_table(scores)))
    if gates is not None:
        sections.append(Section("gates", "What the kernel ignores", gates_table(_report(gates))))
    if extractor is not None:
        sections.append(Section("model", "The model", card_facts(_card(extractor))))
    if timings:
        sections.append(Section("time", "Time", timings_table(timings)))
    n_holding = sum(prediction.positive for prediction in judged)
    summary = f"{_counted(n_holding, 'relation')} in {_counted(len(passages), 'text')}"
    return page(title, sections, summary=summary, footer="Made by kernelwood.")


def _checked(documents: Mapping[str, str], n_explained: int) -> Mapping[str, str]:
    if n_explained < 0:
        raise KernelInputError(f"n_explained must be 0 or more, got {n_explained}")
    for name, text in documents.items():
        if not isinstance(text, str):
            raise KernelInputError(
                f"the text of document {name!r} must be a string, got {type(text).__name__}; "
                "of a kw.Document, give its .text"
            )
    return documents


def _with_true_labels(predictions: Iterable[Prediction]) -> list[Prediction]:
    """Return predictions; if no relation is annotated anywhere, nothing was meant to be."""
    listed = list(predictions)
    if any(one.label not in (None, NONE) or _is_annotated(one) for one in listed):
        return listed
    return [replace(one, label=None) for one in listed]


def _is_annotated(prediction: Prediction) -> bool:
    sentence = prediction.candidate.sentence
    return bool(sentence.relations or sentence.events)


def _report(gates: GateReport | GateLearner) -> GateReport:
    from kernelwood.tuning import GateReport

    return gates if isinstance(gates, GateReport) else gates.report()


def _card(extractor: RelationExtractor) -> Mapping[str, Any]:
    from kernelwood.relations.card import card_of

    return card_of(extractor)


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def _relations(passages: Mapping[str, list[Passage]], evidence: _Evidence) -> Markup:
    types = {
        mention.type
        for each in passages.values()
        for passage in each
        for mention in passage.mentions
    }
    colors = Colors(types)
    parts = [element("p", "Entities: ", colors.legend())] if types else []
    if not passages:
        parts.append(element("p", "There are no texts to show."))
    seen = (one for each in passages.values() for passage in each for one in passage.predictions)
    # The evidence of the relation that comes first is open, to show that there is some.
    opened = next((id(one) for one in seen if id(one) in evidence), None)
    for name, each in passages.items():
        inside = [piece for one in each for piece in _passage(one, colors, evidence, opened)]
        parts.append(element("article", element("h3", name), *inside))
    return joined(parts)


def _evidence(
    judged: Iterable[Prediction], extractor: RelationExtractor | None, n: int
) -> _Evidence:
    """Return the cases for the most certain relations, by the identity of these."""
    holding = [prediction for prediction in judged if prediction.positive]
    # Sorting is stable: of equal scores, the first come first.
    certain = sorted(holding, key=lambda prediction: -prediction.score)[:n]
    if extractor is None:
        return {id(one): one.evidence for one in certain}
    # All at once is faster than one after the other.
    return {id(one): cases for one, cases in zip(certain, extractor.explain(certain), strict=True)}


def _passage(
    passage: Passage, colors: Colors, evidence: _Evidence, opened: int | None
) -> Iterator[Markup]:
    yield element("p", marked(passage, colors), class_="text")
    picture = draw_relations(passage, colors)
    if picture:
        yield scrolling(picture, "relations of the sentence above")
    for one in passage.predictions:
        if one.positive:
            yield relation_details(one, evidence.get(id(one)), opened=id(one) == opened)
    denied = [one for one in passage.predictions if not one.positive]
    if denied:
        yield _denied(denied)


def _denied(predictions: list[Prediction]) -> Markup:
    """Return what was considered and does not hold, as a line that opens to show it."""
    header = ["candidate", "likeliest", "score", ">", "annotated"]
    rows = [
        [said(one), one.type, score_bar(one), f"{one.score:.2f}", relation_name(one.label or "–")]
        for one in predictions
    ]
    if all(one.label is None for one in predictions):
        header, rows = header[:-1], [row[:-1] for row in rows]
    title = f"{_counted(len(predictions), 'candidate')} below the threshold"
    return element("details", element("summary", title), table(header, rows))
