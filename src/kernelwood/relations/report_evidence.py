"""Why a relation holds, in a report: the score against the threshold, and labeled cases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kernelwood.pages import Markup, bar, element, joined, table
from kernelwood.relations.candidates import NONE
from kernelwood.relations.predictions import Case, CaseFragment, Prediction
from kernelwood.relations.report_arcs import said
from kernelwood.relations.report_tables import relation_name

__all__ = ["relation_details", "score_bar"]

_CASES = ("labeled", ">similarity", ">adds", "case", "shared with it")
_LONGEST = 400  # characters of a sentence or piece that a cell takes


def relation_details(
    prediction: Prediction, cases: Sequence[Case] | None, *, opened: bool
) -> Markup:
    """Return a relation as a line that opens to show its evidence.

    Parameters
    ----------
    prediction : Prediction
        The relation.
    cases : sequence of Case or None
        Its evidence; None if it was not looked up.
    opened : bool
        Whether the evidence is seen at first.
    """
    summary = element(
        "summary",
        element("strong", prediction.type),
        f"{said(prediction)} ",
        score_bar(prediction),
        f" {prediction.score:.2f}",
        *_agreement(prediction),
    )
    inside = _cases_table(cases) if cases else element("p", _no_cases(cases), class_="soft")
    return element("details", summary, inside, open="" if opened else None)


def score_bar(prediction: Prediction) -> Markup:
    """Draw the score of a prediction, with a tick at the threshold."""
    name = f"score {prediction.score:.2f}, threshold {prediction.threshold:.2f}"
    return bar(prediction.score, name, tick=prediction.threshold)


def _agreement(prediction: Prediction) -> list[Markup]:
    """Return whether the annotation says the same, if there is any."""
    if prediction.label is None:
        return []
    right = prediction.label == (prediction.relation if prediction.positive else NONE)
    text = " ✓ as annotated" if right else f" ✗ annotated: {relation_name(prediction.label)}"
    return [element("small", text, class_="yes" if right else "no")]


def _no_cases(cases: Sequence[Case] | None) -> str:
    if cases is None:
        return "Evidence is shown for the most certain relations alone."
    return "No labeled case is at hand to compare with."


def _cases_table(cases: Iterable[Case]) -> Markup:
    rows = [
        (
            element("span", relation_name(case.type), class_="no" if case.type == NONE else "yes"),
            f"{case.similarity:.2f}",
            "" if case.contribution is None else f"{case.contribution:+.3f}",
            joined([_short(case.text), " ", element("small", case.id)]),
            _pieces(case.fragments),
        )
        for case in cases
    ]
    if all(not row[2] for row in rows):
        return table(
            [title for title in _CASES if title != ">adds"], [(*row[:2], *row[3:]) for row in rows]
        )
    return table(_CASES, rows)


def _pieces(pieces: Iterable[CaseFragment]) -> Markup:
    lines = (
        element(
            "li",
            element("code", _short(piece.text)),
            " ",
            element("small", f"{piece.view}, {piece.weight:.0%}"),
        )
        for piece in pieces
    )
    return element("ul", *lines, class_="plain")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
