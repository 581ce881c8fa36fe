"""Cross-validation of relation extractors on sentences that are parsed once."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from kernelwood.evaluate import group_splits
from kernelwood.relations.candidates import NONE
from kernelwood.relations.corpus import SentenceTable, check_sentences, example_entries
from kernelwood.relations.guards import corpus_remarks
from kernelwood.relations.predictions import Predictions
from kernelwood.relations.relation_classes import RelationClasses, type_of
from kernelwood.relations.scores import RelationScores, RelationValidation, score_predictions
from kernelwood.seeds import resolve_seed
from kernelwood.text import Example


@dataclass(frozen=True, eq=False)
class Folds:
    """Folds of whole documents, and an extractor that is trained on each.

    Attributes
    ----------
    extractor : RelationExtractor
        Not fitted; its parameters are those of all folds.
    sentences : SentenceTable
        The parsed sentences of all documents.
    classes : RelationClasses
        Those of all folds.
    parser : str
        Name of what parsed them.
    groups : list of str
        The document of each sentence.
    splits : list of (ndarray, ndarray)
        Training and test sentences of each fold.
    dropped : mapping of str to int
        Annotation that was lost, by reason.
    """

    extractor: Any
    sentences: SentenceTable
    classes: RelationClasses
    parser: str
    groups: list[str]
    splits: Sequence[tuple[Any, Any]]
    dropped: Mapping[str, int]

    @classmethod
    def of(cls, extractor: Any, documents: Iterable[Example], n_splits: int) -> Folds:
        """Return folds of documents; warn if there is only one."""
        dropped: Counter[str] = Counter()
        with extractor._threads():
            entries = example_entries(documents, owner="cross_validate")
            sentences, used = extractor._sentences(entries, extractor.parser, dropped)
        check_sentences(sentences)
        groups = sentences.groups()
        if len(set(groups)) == 1 < len(sentences):
            warnings.warn(
                "as far as ids and files tell, all sentences are from one document, so folds "
                "consist of sentences; if they are from several documents, figures are too high: "
                "give sentences ids such as d1.s1 and d2.s1",
                UserWarning,
                stacklevel=3,
            )
            groups = [str(number) for number in range(len(sentences))]
        seed = resolve_seed(extractor.random_state)
        return cls(
            clone(extractor).set_params(random_state=seed),
            sentences,
            extractor._learn_classes(sentences),
            used,
            groups,
            group_splits(groups, n_splits=n_splits, random_state=seed),
            dropped,
        )

    def training_documents(self, fold: int) -> list[str]:
        """Return the training documents of a fold in random order."""
        names = sorted({self.groups[row] for row in self.splits[fold][0]})
        rng = np.random.default_rng([self.extractor.random_state, fold])
        return [names[place] for place in rng.permutation(len(names))]

    def validate(self, fraction: float = 1.0, *, n_bootstrap: int) -> RelationValidation:
        """Return measures of extractors trained on a fraction of the training documents."""
        found: list[Predictions] = []
        parts: list[RelationScores] = []
        seen: list[Any] = []
        known: set[str] = set()
        for fold, (train, test) in enumerate(self.splits):
            names = self.training_documents(fold)
            chosen = set(names[: self._count(names, fraction)])
            part = clone(self.extractor)
            with part._threads():
                rows = [row for row in train if self.groups[row] in chosen]
                part._learn(self.sentences.take(rows), self.parser, Counter(), self.classes)
                found.append(
                    part._predicted(
                        self.sentences.take(test), self.parser, Counter(), all=True, labeled=True
                    )
                )
            seen.append(part._text_hashes().find(found[-1].candidates.with_missed())[0])
            reasons = found[-1].tally.reasons
            parts.append(
                score_predictions(found[-1], part._names(), reasons, n_bootstrap=0, seen=seen[-1])
            )
            known.update(part._names())
        pooled = Predictions.concatenate(found)
        dropped = Counter(self.dropped)
        dropped.update(pooled.tally.reasons)
        # All candidates, then the events that none of them stands for.
        both = [row[: len(part)] for row, part in zip(seen, found, strict=True)]
        both += [row[len(part) :] for row, part in zip(seen, found, strict=True)]
        scores = score_predictions(
            pooled, sorted(known), dropped, n_bootstrap=n_bootstrap, seen=np.concatenate(both)
        )
        return RelationValidation(scores, tuple(parts), tuple(_remarks(scores)))

    def size(self, fraction: float) -> int:
        """Return the mean number of training documents."""
        sizes = [
            self._count(self.training_documents(fold), fraction) for fold in range(len(self.splits))
        ]
        return round(float(np.mean(sizes)))

    @staticmethod
    def _count(names: Sequence[str], fraction: float) -> int:
        return min(len(names), max(2, round(fraction * len(names))))


def _remarks(scores: RelationScores) -> list[str]:
    examples: Counter[str] = Counter()
    best: dict[str, float] = {}
    for one in scores.scores.classes:
        name = type_of(str(one.label))
        if name != NONE and one.support:
            examples[name] += one.support
            best[name] = max(best.get(name, 0.0), float(one.f1))
    return corpus_remarks(scores.n_documents, scores.n_candidates, examples, best)
