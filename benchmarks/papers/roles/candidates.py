"""Which spans may be arguments: the pruning of Xue and Palmer, over all readings at once.

In a tree: go up from the predicate to the root; the sisters of every node on the way are
candidates, unless they are coordinated with it; of a sister that is a PP also the children. In a
forest: the same over all hyper-edges, which gives every span the probability that it is a
candidate in a tree drawn from the forest. Spans of very small probability are dropped, and so are
those that cross many more probable ones.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernelwood.text import Span
from kernelwood.views import Readings

__all__ = ["Candidate", "find_candidates", "thin_out"]

PUNCTUATION = frozenset([",", ".", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP"])
CONJUNCTIONS = frozenset(["CC", "CONJP"])


@dataclass(frozen=True)
class Candidate:
    """A span and the probability that it is a candidate."""

    span: Span
    probability: float


def find_candidates(readings: Readings, predicate: int) -> list[Candidate]:
    """Return all candidates of the predicate at a position, from left to right."""
    found: dict[Span, float] = {}
    for number, (head, children) in enumerate(readings.edges):
        start, end = readings.spans[head]
        if start <= predicate < end:
            current = readings.child_at(children, predicate)
            for sister in _free_sisters(readings, current, children):
                _add(readings, found, sister, readings.marginals[number])
    # Sums of marginals may exceed one by rounding.
    return [Candidate(span, min(1.0, weight)) for span, weight in sorted(found.items())]


def thin_out(
    candidates: list[Candidate], *, min_probability: float, max_crossing: int
) -> list[Candidate]:
    """Drop improbable candidates, and those that cross more probable ones too often.

    Of a single tree nothing is dropped: its candidates are certain and never cross.
    """
    kept: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda c: (-c.probability, c.span)):
        if candidate.probability < min_probability:
            break
        if sum(_cross(candidate.span, other.span) for other in kept) <= max_crossing:
            kept.append(candidate)
    return sorted(kept, key=lambda c: c.span)


def _free_sisters(readings: Readings, current: int, children: tuple[int, ...]) -> list[int]:
    """Return the sisters that are neither punctuation nor coordinated with the current node."""
    labels = readings.labels
    coordinators = {
        child
        for child in children[1:-1]  # a conjunction that opens a sentence joins nothing in it
        if labels[child] in CONJUNCTIONS
    }
    return [
        child
        for child in children
        if child != current
        and labels[child] not in PUNCTUATION
        and child not in coordinators
        and not (coordinators and labels[child] == labels[current])
    ]


def _add(readings: Readings, found: dict[Span, float], sister: int, weight: float) -> None:
    span = readings.spans[sister]
    found[span] = found.get(span, 0.0) + weight
    if readings.labels[sister] != "PP":
        return
    for number in readings.edges_of[sister]:
        for child in readings.edges[number][1]:
            part = readings.spans[child]
            if part != span and readings.labels[child] not in PUNCTUATION:
                found[part] = found.get(part, 0.0) + weight * readings.choices[number]


def _cross(a: Span, b: Span) -> bool:
    return a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]
