"""Tables of a report: scores, gates, time, and what the model is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kernelwood.pages import Markup, bar, diverging_bar, element, facts, interval, joined, table
from kernelwood.structures import one_line

if TYPE_CHECKING:
    from kernelwood.evaluate import Estimate, Scores
    from kernelwood.tuning import GateReport

__all__ = ["card_facts", "gates_table", "relation_name", "scores_table", "timings_table"]

_MOST_GATES = 40
_MOST_FACTS = 200
# A blank at which no line ends.
_DIRECTIONS = {"(e1,e2)": "\N{NO-BREAK SPACE}→", "(e2,e1)": "\N{NO-BREAK SPACE}←"}


def relation_name(name: str) -> str:
    r"""Return the name of a relation, its direction in the text as an arrow.

    Examples
    --------
    >>> relation_name("Activates(e2,e1)"), relation_name("Binds")
    ('Activates\xa0←', 'Binds')
    """
    for ending, arrow in _DIRECTIONS.items():
        if name.endswith(ending):
            return name.removesuffix(ending) + arrow
    return name


def scores_table(scores: Any) -> Markup:
    """Return precision, recall and F1 of each relation with intervals, and the rest of scores.

    Parameters
    ----------
    scores : RelationScores
        What evaluation gave.
    """
    found: Scores = scores.scores
    rows = [
        _score_row(
            relation_name(str(row.label)),
            (row.precision, row.recall, row.f1),
            row.support,
            row.predicted,
        )
        for row in found.classes
        if row.label in found.positive
    ]
    if len(rows) > 1:
        micro = found.micro
        rows.append(_score_row("all relations", (micro.precision, micro.recall, micro.f1)))
    notes = []
    if found.n_bootstrap:
        notes.append(f"In brackets and as bars: {100 * found.confidence:g} % intervals.")
    if any(row[0].endswith(tuple(_DIRECTIONS.values())) for row in rows):
        notes.append("→ and ←: the first argument stands first, or second, in the text.")
    note = " ".join(notes)
    header = ("relation", ">precision", ">recall", ">F1", "F1, from 0 to 1", ">annotated", ">found")
    return joined([table(header, rows, note), facts(_ranking(scores))])


def _score_row(
    name: str, measures: tuple[Estimate, Estimate, Estimate], *counts: int
) -> tuple[str, ...]:
    f1 = measures[2]
    low, high = (f1 if end is None else end for end in (f1.low, f1.high))
    picture = interval(float(low), float(f1), float(high), f"F1 {f1}")
    shown = [f"{count:,}" for count in counts] or ["", ""]
    return (name, *map(str, measures), picture, *shown)


def _ranking(scores: Any) -> dict[str, str]:
    """Return what tables of classes do not say."""
    made = {
        "area under the ROC curve": _figure(scores.auc),
        "average precision": _figure(scores.average_precision),
        "candidates": f"{scores.n_candidates:,}",
        "annotated relations": f"{scores.n_relations:,}",
    }
    if scores.unreachable:
        made["relations that are no candidates"] = _counts(scores.unreachable)
    if scores.unknown:
        made["relations that were not learned"] = _counts(scores.unknown)
    return made


def _figure(value: Any) -> str:
    """Return a number, or a dash where it cannot be measured."""
    return "–" if value is None or value != value else f"{value:.3f}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{one_line(name)}: {count:,}" for name, count in counts.items())


def gates_table(report: GateReport) -> Markup:
    """Return labels with what closing their gates gains, the ignored ones first."""
    shown = report.labels[:_MOST_GATES]
    largest = max((abs(row.gain) for row in shown), default=0.0) or 1.0
    rows = [
        (
            element("code", row.label or "(empty)"),
            "ignored" if row.ignored else f"{row.gate:g}",
            f"{row.structures:,}",
            f"{row.gain:+.4f}",
            diverging_bar(row.gain / largest, f"gain of closing {row.gain:+.4f}"),
        )
        for row in shown
    ]
    note = report.note()
    if len(report.labels) > len(shown):
        note += f"\n{len(report.labels) - len(shown):,} more labels are not shown"
    header = ("label", "gate", ">structures", ">gain of closing", "loss ← → gain")
    return joined([table(header, rows), element("p", note, class_="text soft")])


def timings_table(timings: Mapping[str, float]) -> Markup:
    """Return how long each step took, and all of them together."""
    total = sum(timings.values())
    rows = [
        (name, f"{seconds:.2f}", bar(seconds / total if total > 0 else 0.0, f"{seconds:.2f} s"))
        for name, seconds in timings.items()
    ]
    return table(("step", ">seconds", "share"), [*rows, ("all", f"{total:.2f}", Markup(""))])


def card_facts(card: Mapping[str, Any]) -> Markup:
    """Return what a model is: names and values, those of inner tables with both names.

    Examples
    --------
    >>> card_facts({"seed": 7, "held out": {"f1": 0.5}})
    '<dl><dt>seed</dt><dd>7</dd><dt>held out: f1</dt><dd>0.500</dd></dl>'
    """
    return facts(dict(list(_flat(card))[:_MOST_FACTS]))


def _flat(card: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    todo = [(str(key), value) for key, value in reversed(list(card.items()))]
    while todo:
        name, value = todo.pop()
        if isinstance(value, Mapping) and value:
            todo += [(f"{name}: {key}", inner) for key, inner in reversed(list(value.items()))]
        else:
            yield name.replace("_", " "), _value(value)


def _value(value: Any) -> str:
    if value is None or value == "" or value == {}:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**7 else str(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_value, value)) or "–"
    return str(value)
