"""Tables of results for notebooks: HTML without scripts, in colors for light and dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kernelwood.relations.wording import MarkedText
from kernelwood.structures import escape

if TYPE_CHECKING:
    from kernelwood.relations.candidates import Candidates
    from kernelwood.relations.facts import Fact, Facts
    from kernelwood.relations.predictions import Evidence
    from kernelwood.relations.verification import Verdict, Verdicts

_MAX_ROWS = 20
_WIDTH = 80  # characters of a name
_CELL = "text-align: left; vertical-align: top; padding: .25rem .8rem .25rem 0"
_MARKS = {
    "entity": "background: rgba(64, 128, 255, .22); color: inherit; border-radius: 4px",
    "trigger": "background: rgba(230, 160, 0, .28); color: inherit; border-radius: 4px",
    "shared": "background: none; color: inherit; text-decoration: underline",
}


def facts_html(facts: Facts) -> str:
    """Return the first facts as a table."""
    rows = [
        [
            _name(fact, 0),
            escape(fact.type, _WIDTH),
            ("→ " if fact.directed else "") + _name(fact, 1),
            _bar(fact.combined),
            f"{fact.count:,}",
            f"{fact.n_documents:,}",
            _marked(fact.sentences[0].marked) if fact.sentences else "",
        ]
        for fact in facts[:_MAX_ROWS]
    ]
    header = ["first", "type", "second", "probability", "count", "documents", "best sentence"]
    return _table(repr(facts), header, rows, len(facts), "fact")


def _name(fact: Fact, place: int) -> str:
    if place >= len(fact.entities):
        return ""
    entity = fact.entities[place]
    reference = f" <small>{escape(entity.reference, _WIDTH)}</small>" if entity.reference else ""
    return f"{escape(entity.name, _WIDTH)}{reference}"


def candidates_html(candidates: Candidates) -> str:
    """Return the first candidates as a table."""
    rows = []
    for candidate in candidates[:_MAX_ROWS]:
        spans = tuple(span for entity in candidate.entities for span in entity.spans)
        trigger = candidate.trigger.spans if candidate.trigger else ()
        marked = MarkedText(candidate.sentence.text, spans, trigger)
        label = "" if candidate.label is None else str(candidate.label)
        rows.append([escape(candidate.id, _WIDTH), escape(label, _WIDTH), _marked(marked)])
    return _table(repr(candidates), ["id", "label", "sentence"], rows, len(candidates), "candidate")


def evidence_html(evidence: Evidence) -> str:
    """Return the training cases with bars for their contributions."""
    largest = max((abs(case.contribution) for case in evidence), default=0.0) or 1.0
    rows = [
        [
            "for" if case.supports else "against",
            _bar(abs(case.contribution) / largest, f"{case.contribution:+.3f}", case.supports),
            escape(case.type, _WIDTH),
            _marked(case.sentence),
            f"<small>{escape(case.id, _WIDTH)}</small>",
        ]
        for case in evidence
    ]
    title = (
        f"score {evidence.score:+.3f} = {sum(case.contribution for case in evidence):+.3f} (cases "
        f"shown) {evidence.others:+.3f} (other cases) {evidence.intercept:+.3f} (intercept)"
    )
    return _table(title, ["", "contribution", "type", "training case", "id"], rows, len(rows), "")


def verdicts_html(verdicts: Verdicts) -> str:
    """Return claims with their verdicts, probabilities and reasons."""
    rows = []
    for verdict in verdicts[:_MAX_ROWS]:
        probability = "" if verdict.probability is None else _bar(verdict.probability)
        cells = [verdict.claim.id, _claimed(verdict), verdict.opinion]
        made = [escape(cell, _WIDTH) for cell in cells]
        rows.append([*made, probability, escape(_remark(verdict), 2 * _WIDTH)])
    header = ["claim", "relation", "verdict", "probability", "note"]
    return _table(repr(verdicts), header, rows, len(verdicts), "claim")


def _claimed(verdict: Verdict) -> str:
    """Return the claim with the names of its entities, which are ids unless it has a problem."""
    claim = verdict.claim
    names = {
        entity.id: " ".join(claim.annotated.text[start:end] for start, end in entity.spans)
        for entity in claim.annotated.entities
    }
    first, second = (names.get(end, end) for end in (claim.first, claim.second))
    return f"{first} —{claim.type}→ {second}"


def _remark(verdict: Verdict) -> str:
    """Return the relation that is predicted instead of the claimed one, and the reason."""
    notes = [verdict.reason] if verdict.reason else []
    if verdict.opinion == "other" and verdict.prediction is not None:
        first, second = (one.text for one in verdict.prediction.participants)
        notes.insert(0, f"{first} —{verdict.prediction.type}→ {second}")
    return "; ".join(notes)


def _table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[str]], n: int, what: str
) -> str:
    """Return a table; the cells of rows are HTML, title and header are text."""
    lines = ["".join(f'<th scope="col" style="{_CELL}">{escape(name)}</th>' for name in header)]
    lines += ["".join(f'<td style="{_CELL}">{cell}</td>' for cell in row) for row in rows]
    more = n - (len(lines) - 1)
    note = f"<p>{more:,} more {what}{'s' * (more != 1)} not shown.</p>" if more else ""
    body = "".join(f"<tr>{line}</tr>" for line in lines) if len(lines) > 1 else ""
    return (
        f'<div style="overflow-x: auto"><p>{escape(title.strip("<>"))}</p>'
        f"{f'<table>{body}</table>' if body else ''}{note}</div>"
    )


def _bar(share: float, text: str = "", good: bool = True) -> str:
    width = 100 * min(max(share, 0.0), 1.0)
    color = "#2e8b57" if good else "#c8553d"
    return (
        '<span style="white-space: nowrap">'
        '<span style="display: inline-block; width: 60px; height: .6em; '
        'background: rgba(128, 128, 128, .25)"><span style="display: block; height: 100%; '
        f'width: {width:.0f}%; background: {color}"></span></span> {text or f"{share:.2f}"}</span>'
    )


def _marked(text: MarkedText) -> str:
    return "".join(
        f'<mark style="{_MARKS[kind]}">{escape(part)}</mark>' if kind else escape(part)
        for part, kind in text.clipped().pieces()
    )
