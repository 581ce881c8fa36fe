"""Candidates that have all views, ready to be judged."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kernelwood.relations.candidate_lists import Candidates
from kernelwood.relations.hypotheses import Hypotheses
from kernelwood.text import Candidate, Example

__all__ = ["Judgeable", "why", "with_views"]


class Judgeable(NamedTuple):
    """Candidates that have all views, as examples, with the number of their sentence."""

    candidates: list[Candidate]
    examples: list[Example]
    sentences: list[int]


def with_views(found: Hypotheses, views: Sequence[str], dropped: Counter[str]) -> Judgeable:
    """Return the candidates that have all views; the others are counted."""
    examples = Candidates(found.candidates).examples(*views)
    dropped.update(examples.tally.reasons)
    _warn_of_fallbacks(examples.tally.remarks, len(examples))
    if len(examples) == len(found.candidates):
        return Judgeable(found.candidates, list(examples), found.sentences)
    made = iter(examples)
    kept: list[tuple[Candidate, Example, int]] = []
    following = next(made, None)
    for candidate, number in zip(found.candidates, found.sentences, strict=True):
        if following is not None and following.id == candidate.id:
            kept.append((candidate, following, number))
            following = next(made, None)
    return Judgeable(*(list(column) for column in zip(*kept, strict=True))) if kept else _NOTHING


_NOTHING = Judgeable([], [], [])


def _warn_of_fallbacks(remarks: Mapping[str, int], n: int) -> None:
    """Warn if most candidates lack what a view is made from."""
    reason, count = max(remarks.items(), key=lambda row: row[1], default=("", 0))
    if count > n / 2:
        warnings.warn(
            f"{count:,} of {n:,} candidates have only the next best of a view ({reason}); if "
            "sentences have no parses, choose a parser, such as parser='biomedical'",
            UserWarning,
            stacklevel=5,
        )


def why(reasons: Mapping[str, int]) -> str:
    """Return why there is nothing, in words.

    Examples
    --------
    >>> why({"relation spans sentences": 2})
    '2 × relation spans sentences'
    """
    if not reasons:
        return "no sentence has two entities"
    return ", ".join(f"{n:,} × {reason}" for reason, n in reasons.items())
