"""Pairs of entities in sentences, from the corpora that the experiment knows."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import kernelwood as kw
from kernelwood.parsing.units import escape
from kernelwood.text import Span
from kernelwood.views import entity_span

__all__ = [
    "NEGATIVE",
    "Pair",
    "divide",
    "documents",
    "read_interactions",
    "read_nominals",
    "sample",
]

NEGATIVE = {"SemEval": "Other", "AIMed": "none"}  # the class that is no relation


@dataclass(frozen=True)
class Pair:
    """Two entities of a sentence and their relation.

    Attributes
    ----------
    words : tuple of str
        The sentence, in the notation of treebanks.
    first, second : (int, int)
        Words of the entities, in the order of the corpus.
    others : tuple of (int, int)
        Words of the other entities of the sentence.
    label : str
        Relation, with its direction if it has one.
    document : str
        Document of the sentence; of sentences without document, the sentence itself.
    """

    words: tuple[str, ...]
    first: Span
    second: Span
    others: tuple[Span, ...]
    label: str
    document: str


def read_nominals(path: str | Path) -> list[Pair]:
    """Return the pairs of nominals of SemEval-2010 task 8; each sentence has one."""
    pairs = []
    for example in kw.read(path):
        sentence = example.view("sentence")
        assert isinstance(sentence, kw.Sentence)
        first, second = (entity_span(sentence, entity) for entity in sentence.entities)
        pairs.append(Pair(_words(sentence), first, second, (), str(example.label), example.id))
    return pairs


def read_interactions(path: str | Path) -> list[Pair]:
    """Return the pairs of proteins of a corpus in the unified format of interactions."""
    candidates = kw.relations.pair_candidates(kw.read(path))
    pairs = []
    for candidate, document in zip(candidates, kw.evaluate.documents(candidates), strict=True):
        sentence = candidate.sentence
        members = [entity for _, entity in candidate.participants]
        first, second = (entity_span(sentence, entity) for entity in members)
        known = {entity.id for entity in members}
        others = tuple(entity_span(sentence, e) for e in sentence.entities if e.id not in known)
        label = "interaction" if candidate.label == 1 else NEGATIVE["AIMed"]
        pairs.append(Pair(_words(sentence), first, second, others, label, document))
    return pairs


def documents(pairs: Iterable[Pair]) -> list[str]:
    """Return the document of each pair."""
    return [pair.document for pair in pairs]


def divide(pairs: Sequence[Pair], seed: int, share: int = 4) -> tuple[list[Pair], list[Pair]]:
    """Return a part of the documents, for the choice of settings, and the rest."""
    names = sorted(set(documents(pairs)))
    random.Random(seed).shuffle(names)
    chosen = set(names[: len(names) // share])
    return (
        [pair for pair in pairs if pair.document in chosen],
        [pair for pair in pairs if pair.document not in chosen],
    )


def sample(pairs: Sequence[Pair], n: int | None, seed: int) -> list[Pair]:
    """Return the pairs of randomly chosen documents, about ``n`` of them; all if n is None."""
    if n is None or n >= len(pairs):
        return list(pairs)
    sizes: dict[str, int] = {}
    for pair in pairs:
        sizes[pair.document] = sizes.get(pair.document, 0) + 1
    names = sorted(sizes)
    random.Random(seed).shuffle(names)
    chosen, total = set(), 0
    for name in names:
        if total >= n:
            break
        chosen.add(name)
        total += sizes[name]
    return [pair for pair in pairs if pair.document in chosen]


def _words(sentence: kw.Sentence) -> tuple[str, ...]:
    return tuple(escape(word) for word in sentence.words)
