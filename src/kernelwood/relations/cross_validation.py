"""Cross-validation of relation extractors on sentences that are parsed once."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kernelwood.compute import (
    TaskResult,
    count_evaluations,
    get_config,
    run_tasks,
    uses_executor,
    warn_again,
)
from kernelwood.errors import KernelInputError
from kernelwood.evaluate import group_splits
from kernelwood.relations.candidates import NONE
from kernelwood.relations.corpus import (
    SentenceTable,
    check_sentences,
    documents_from,
    example_entries,
)
from kernelwood.relations.end_to_end import EndToEnd, score_end_to_end
from kernelwood.relations.guards import corpus_remarks
from kernelwood.relations.predictions import Predictions
from kernelwood.relations.relation_classes import RelationClasses, type_of
from kernelwood.relations.scores import RelationScores, RelationValidation, score_predictions
from kernelwood.relations.shared_sentences import SharedSentences
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
        Name of the parser of the sentences.
    groups : list of str
        The document of each sentence.
    splits : list of (ndarray, ndarray)
        Training and test sentences of each fold.
    dropped : mapping of str to int
        Annotation that was lost, by reason.
    examples : sequence of Example
        The documents, if relations with found entities are evaluated, too.
    """

    extractor: Any
    sentences: SentenceTable
    classes: RelationClasses
    parser: str
    groups: list[str]
    splits: Sequence[tuple[Any, Any]]
    dropped: Mapping[str, int]
    examples: Sequence[Example] = ()

    @classmethod
    def of(
        cls,
        extractor: Any,
        documents: Iterable[Example],
        n_splits: int,
        *,
        end_to_end: bool = False,
    ) -> Folds:
        """Return folds of documents; warn if there is only one."""
        from sklearn.base import clone

        dropped: Counter[str] = Counter()
        if end_to_end:
            documents = list(documents_from(documents, "cross_validate"))
        with extractor._threads():
            entries = example_entries(documents, owner="cross_validate")
            sentences, used = extractor._sentences(entries, extractor.parser, dropped)
        check_sentences(sentences)
        groups = sentences.groups()
        if len(set(groups)) == 1 < len(sentences):
            if end_to_end:
                raise KernelInputError("end to end: cross-validation needs several documents")
            warnings.warn(
                "as far as ids and files tell, all sentences are from one document, so folds "
                "consist of sentences; if they are from several documents, figures are too high: "
                "give sentences ids such as d1.s1 and d2.s1",
                UserWarning,
                stacklevel=3,
            )
            groups = [str(number) for number in range(len(sentences))]
        seed = resolve_seed(extractor.random_state)
        entities = (extractor.entities or "learn") if end_to_end else None
        return cls(
            clone(extractor).set_params(random_state=seed, entities=entities),
            sentences,
            extractor._learn_classes(sentences),
            used,
            groups,
            group_splits(groups, n_splits=n_splits, random_state=seed),
            dropped,
            list(documents) if end_to_end else (),
        )

    def training_documents(self, fold: int) -> list[str]:
        """Return the training documents of a fold in random order."""
        names = sorted({self.groups[row] for row in self.splits[fold][0]})
        rng = np.random.default_rng([self.extractor.random_state, fold])
        return [names[place] for place in rng.permutation(len(names))]

    def validate(
        self, fraction: float = 1.0, *, n_bootstrap: int, predictions: bool = False
    ) -> RelationValidation:
        """Return measures of extractors trained on a fraction of the training documents."""
        results = self._results(fraction, predictions)
        found = [result.predictions for result in results]
        seen = [result.seen for result in results]
        parts = [result.scores for result in results]
        known = {name for result in results for name in result.names}
        found_too = sum((r.end_to_end for r in results), EndToEnd()) if self.examples else None
        pooled = Predictions.concatenate(found)
        dropped = Counter(self.dropped)
        dropped.update(pooled.tally.reasons)
        # All candidates, then the events that none of them stands for.
        both = [row[: len(part)] for row, part in zip(seen, found, strict=True)]
        both += [row[len(part) :] for row, part in zip(seen, found, strict=True)]
        n_relations, n_candidates = (
            sum(sizes) for sizes in zip(*(r[-2:] for r in results), strict=True)
        )
        scores = score_predictions(
            pooled,
            sorted(known),
            dropped,
            n_bootstrap=n_bootstrap,
            seen=np.concatenate(both),
            training_rate=n_relations / n_candidates,
            shared=sum((result.shared for result in results), SharedSentences()),
        )
        kept = tuple(found) if predictions else ()
        scores = replace(scores, end_to_end=found_too)
        return RelationValidation(scores, tuple(parts), tuple(_remarks(scores)), kept)

    def _results(self, fraction: float, models: bool) -> list[FoldResult]:
        """Return the results of all folds, on the executor of the settings if there is one."""
        everything = range(len(self.splits))
        if not uses_executor(lambda: sys.maxsize):
            return [_run_fold(self, fraction, models, fold) for fold in everything]
        results: dict[int, FoldResult] = {}
        progress = get_config().progress or (lambda done, total: None)

        def receive(result: TaskResult) -> None:
            results[result.position] = result.value
            count_evaluations(result.kernel_evaluations, result.seconds, result.blocks)
            progress(len(results), len(everything))

        warn_again(run_tasks(_run_fold, (self, fraction, models), everything, receive))
        return [results[fold] for fold in everything]

    def size(self, fraction: float) -> int:
        """Return the mean number of training documents."""
        sizes = [
            self._count(self.training_documents(fold), fraction) for fold in range(len(self.splits))
        ]
        return round(float(np.mean(sizes)))

    @staticmethod
    def _count(names: Sequence[str], fraction: float) -> int:
        return min(len(names), max(2, round(fraction * len(names))))


class FoldResult(NamedTuple):
    """Predictions and scores of the extractor of a fold on its test sentences."""

    predictions: Predictions
    seen: Any  # of each candidate: whether its text is among the training texts
    scores: RelationScores
    names: list[str]
    end_to_end: EndToEnd
    shared: SharedSentences
    n_relations: int  # among the training candidates
    n_candidates: int  # for training


def _run_fold(folds: Folds, fraction: float, model: bool, fold: int) -> FoldResult:
    """Return the result of a fold; its predictions refer to the model only if asked for."""
    from sklearn.base import clone

    train, test = folds.splits[fold]
    names = folds.training_documents(fold)
    chosen = set(names[: folds._count(names, fraction)])
    part = clone(folds.extractor)
    with part._threads():
        rows = [row for row in train if folds.groups[row] in chosen]
        part._learn(folds.sentences.take(rows), folds.parser, Counter(), folds.classes)
        found = part._predicted(folds.sentences.take(test), folds.parser, Counter(), labeled=True)
        found_too = EndToEnd()
        if folds.examples:
            tested = {folds.sentences.documents[row] for row in test}
            examples = [one for one in folds.examples if one.id in tested]
            found_too = score_end_to_end(part, examples, found)
    candidates = found.candidates.with_missed()
    seen = part._text_hashes().find(candidates)[0]
    shared = SharedSentences.of(candidates, seen, part.case_sentences_)
    scores = score_predictions(
        found,
        part._names(),
        found.tally.reasons,
        n_bootstrap=0,
        seen=seen,
        training_rate=part.positive_rate_,
        shared=shared,
    )
    if not model:
        found._explain = None
    sizes = part.n_relations_, part.n_candidates_
    return FoldResult(found, seen, scores, part._names(), found_too, shared, *sizes)


def _remarks(scores: RelationScores) -> list[str]:
    examples: Counter[str] = Counter()
    best: dict[str, float] = {}
    for one in scores.scores.classes:
        name = type_of(str(one.label))
        if name != NONE and one.support:
            examples[name] += one.support
            best[name] = max(best.get(name, 0.0), float(one.f1))
    return corpus_remarks(scores.n_documents, scores.n_candidates, examples, best)
