"""Filters: rules that remove pairs before training, and predict no interaction for test pairs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from interactions.corpora import Corpus
from numpy.typing import NDArray

from kernelwood import views
from kernelwood.entities import find_abbreviations
from kernelwood.text import Candidate, Entity, Sentence

__all__ = ["RULES", "counts", "kept_pairs", "removed_pairs"]

_SEPARATORS = re.compile(r"(?:and/or|and|or|as well as|[,;/&()]|\s)+", re.IGNORECASE)
_JOINING = re.compile(r"\bbetween\s+$", re.IGNORECASE)


def same_name(candidate: Candidate) -> bool:
    """Return whether both proteins have the same name, but for case and signs."""
    return views.names(candidate.sentence, *candidate.entities).nodes[1] == "names:same"


def abbreviation(candidate: Candidate) -> bool:
    """Return whether one protein is the long form of the other, as in "long form (ABBR)"."""
    first, second = candidate.entities
    return any(
        (_overlaps(one, short) and _overlaps(other, long) and not _overlaps(one, long))
        for short, long in find_abbreviations(candidate.sentence.text)
        for one, other in ((first, second), (second, first))
    )


def coordination(candidate: Candidate) -> bool:
    """Return whether only a coordination joins the proteins, as in "A and B", "A, B and C".

    Between the two are no words but conjunctions, punctuation and other proteins. "between A and
    B" is not meant.
    """
    first, second = sorted(candidate.entities, key=lambda one: one.start)
    begin, end = first.end, second.start
    if begin >= end:
        return False
    sentence = candidate.sentence
    between = _without(sentence, begin, end)
    enumerated = between.strip(" ()") != "" and _SEPARATORS.fullmatch(between) is not None
    start = _start_of_enumeration(sentence, first)
    return enumerated and _JOINING.search(sentence.text[:start]) is None


def negation(candidate: Candidate) -> bool:
    """Return whether a word that negates is on the path between the proteins, or near it."""
    return views.negation(candidate.sentence, *candidate.entities).nodes[1] == "denied"


RULES: dict[str, Callable[[Candidate], bool]] = {
    "same name": same_name,
    "abbreviation": abbreviation,
    "coordination": coordination,
    "negation": negation,
}


def removed_pairs(corpora: Iterable[Corpus]) -> dict[str, NDArray[np.bool_]]:
    """Return which pairs each rule removes, of all corpora in turn."""
    found: dict[str, list[bool]] = {name: [] for name in RULES}
    for corpus in corpora:
        for candidate in corpus.candidates:
            for name, rule in RULES.items():
                found[name].append(rule(candidate))
    return {name: np.array(column, dtype=bool) for name, column in found.items()}


def kept_pairs(removed: dict[str, Any], filters: Iterable[str], n: int) -> NDArray[np.bool_]:
    """Return which of n pairs no filter removes."""
    kept = np.ones(n, dtype=bool)
    for name in filters:
        kept &= ~removed[name]
    return kept


def counts(removed: dict[str, Any], y: NDArray[Any]) -> dict[str, dict[str, int]]:
    """Return how many pairs that interact, and that do not, each rule removes.

    Parameters
    ----------
    removed : dict of str to ndarray of bool
    y : ndarray
        Classes of the first pairs, those of the training corpus.
    """
    return {
        name: {
            "interactions": int((mask[: len(y)] & (y == 1)).sum()),
            "others": int((mask[: len(y)] & (y == 0)).sum()),
        }
        for name, mask in removed.items()
    }


def _overlaps(entity: Entity, span: tuple[int, int]) -> bool:
    return any(begin < span[1] and end > span[0] for begin, end in entity.spans)


def _without(sentence: Sentence, begin: int, end: int) -> str:
    """Return a part of the text without the proteins inside it."""
    text = list(sentence.text)
    for entity in sentence.entities:
        for first, last in entity.spans:
            if first >= begin and last <= end:
                text[first:last] = " " * (last - first)
    return "".join(text[begin:end])


def _start_of_enumeration(sentence: Sentence, entity: Entity) -> int:
    """Return where the enumeration that an entity is part of begins."""
    start = entity.start
    while True:
        before = [one for one in sentence.entities if one.end <= start and one.spans]
        nearest = max(before, key=lambda one: one.end, default=None)
        if nearest is None or not _SEPARATORS.fullmatch(sentence.text[nearest.end : start]):
            return start
        start = nearest.start
