"""Evaluation of predicted relations on annotated documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.evaluate import Reliability, Scores, reliability, score
from kernelwood.io import reason_lines
from kernelwood.relations.audit import Audit, operating_points
from kernelwood.relations.calibration import ranking
from kernelwood.relations.candidates import NONE
from kernelwood.relations.end_to_end import EndToEnd
from kernelwood.relations.predictions import Predictions
from kernelwood.relations.relation_classes import ARROWS, is_directed, type_of
from kernelwood.relations.shared_sentences import SharedSentences
from kernelwood.structures import escape


@dataclass(frozen=True, eq=False)
class Overlap:
    """Evaluated documents that the extractor was trained on.

    Texts are compared without case and whitespace, sentence by sentence and document by document.

    Attributes
    ----------
    n_documents : int
        Documents with sentences of the training corpus.
    n_candidates : int
        Candidates in these sentences.
    n_same_id : int
        Documents that have the id of a training document, but none of its sentences.
    rest : RelationScores or None
        Measures without these candidates; None if none remain.
    """

    n_documents: int
    n_candidates: int
    n_same_id: int
    rest: RelationScores | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "documents": self.n_documents,
            "candidates": self.n_candidates,
            "same_id": self.n_same_id,
            "rest": None if self.rest is None else self.rest.to_dict(),
        }


@dataclass(frozen=True, eq=False, repr=False)
class RelationScores:
    """Measures of predicted relations.

    Attributes
    ----------
    scores : kernelwood.evaluate.Scores
        Precision, recall and F1 of each class, averages over relations, confusions, and intervals
        from resamples of documents.
    auc, average_precision : float or None
        Ranking of relations (of any type) above the other candidates: area under the ROC curve
        and under the precision-recall curve. None if all candidates are relations, or none is.
    n_documents, n_candidates : int
        Size of the evaluated corpus.
    unreachable : mapping of str to int
        Relations and candidates without predictions, by reason. They are not in ``scores``, except
        events without a candidate, which count as missed.
    unknown : mapping of str to int
        Annotated relations of types that were not in the training corpus; they count as missed.
    reliability : Reliability or None
        Fractions of predicted relations that are right, by probability.
    overlap : Overlap or None
        Evaluated documents that are also in the training corpus; None if there are none.
    end_to_end : EndToEnd or None
        Measures of relations with found entities, if requested; all others are with annotated
        entities.
    audit : Audit or None
        Measures at other thresholds, rates, and sentences shared with the training corpus.
    """

    scores: Scores
    auc: float | None
    average_precision: float | None
    n_documents: int
    n_candidates: int
    unreachable: Mapping[str, int] = field(default_factory=dict)
    unknown: Mapping[str, int] = field(default_factory=dict)
    reliability: Reliability | None = None
    overlap: Overlap | None = None
    end_to_end: EndToEnd | None = None
    audit: Audit | None = None

    @property
    def precision(self) -> float:
        """Fraction of the predicted relations that are right, all types together."""
        return float(self.scores.micro.precision)

    @property
    def recall(self) -> float:
        """Fraction of the annotated relations that were found."""
        return float(self.scores.micro.recall)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return float(self.scores.micro.f1)

    @property
    def n_relations(self) -> int:
        """Number of annotated relations among the candidates, and of events without a candidate."""
        return sum(one.support for one in self.scores.classes if one.label != NONE)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "auc": self.auc,
            "average_precision": self.average_precision,
            "reliability": None if self.reliability is None else self.reliability.to_dict(),
            "documents": self.n_documents,
            "candidates": self.n_candidates,
            "relations": self.n_relations,
            "unreachable": dict(self.unreachable),
            "unknown": dict(self.unknown),
            "overlap": None if self.overlap is None else self.overlap.to_dict(),
            "end_to_end": None if self.end_to_end is None else self.end_to_end.to_dict(),
            "audit": None if self.audit is None else self.audit.to_dict(),
            "scores": self.scores.to_dict(),
        }

    def __str__(self) -> str:
        n = self.scores.n_groups
        table = str(_with_arrows(self.scores)).replace(f"{n} groups", f"{n} documents")
        return "\n".join([table, "", *self._remarks()])

    def _repr_html_(self) -> str:
        table = _with_arrows(self.scores)._repr_html_()
        return f'<div style="overflow-x: auto">{table}{_html_lines(self._remarks())}</div>'

    def _remarks(self) -> list[str]:
        """Return the lines below the table."""
        lines = self.unknown_lines()
        if any(is_directed(str(one.label)) for one in self.scores.classes):
            lines.append(ARROWS)
        if self.auc is not None:
            lines.append(
                f"AUC {self.auc:.3f}, average precision {self.average_precision:.3f} "
                "(relations of any type against the rest)"
            )
        if self.reliability is not None and self.reliability.bins:
            n = sum(one.n for one in self.reliability.bins)
            lines.append(
                f"expected calibration error {self.reliability.error:.3f} "
                f"(probabilities of {n:,} predicted relations)"
            )
        lines += reason_lines(self.unreachable, "dropped")
        lines += self.overlap_lines()
        if self.audit is not None:
            lines += ["", self.audit.summary()]
        if self.end_to_end is not None:
            lines += ["", str(self.end_to_end)]
        return lines

    def unknown_lines(self) -> list[str]:
        """Return a line about annotated relations of types that were not in training."""
        if not self.unknown:
            return []
        listed = ", ".join(f"{name} ({n:,})" for name, n in self.unknown.items())
        return [
            f"{sum(self.unknown.values()):,} of {self.n_relations:,} relations count as missed, "
            f"because the model was not trained on their types: {listed}"
        ]

    def overlap_lines(self) -> list[str]:
        """Return lines about sentences that were used for training."""
        if self.overlap is None or not self.overlap.n_candidates:
            return []
        rest = self.overlap.rest
        lines = [
            f"{self.overlap.n_documents:,} of {self.n_documents:,} documents have sentences that "
            f"were used for training ({self.overlap.n_candidates:,} of {self.n_candidates:,} "
            "candidates), so the figures are too high"
        ]
        if rest is not None:
            micro = rest.scores.micro
            lines.append(
                f"without these sentences: precision {micro.precision}, recall {micro.recall}, "
                f"F1 {micro.f1}"
            )
        return lines

    def __repr__(self) -> str:
        return (
            f"<RelationScores: precision {self.precision:.3f}, recall {self.recall:.3f}, "
            f"F1 {self.f1:.3f}, {self.n_candidates} candidates>"
        )


@dataclass(frozen=True, eq=False, repr=False)
class RelationValidation:
    """Cross-validated measures.

    Attributes
    ----------
    pooled : RelationScores
        Measures of all candidates, each scored by an extractor that has not seen its document.
    parts : tuple of RelationScores
        Measures of each fold.
    warnings : tuple of str
        Warnings about a small corpus, and relation types that were never found.
    predictions : tuple of Predictions
        Predictions of all candidates of each fold, with evidence, if requested.
    """

    pooled: RelationScores
    parts: tuple[RelationScores, ...]
    warnings: tuple[str, ...] = ()
    predictions: tuple[Predictions, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "pooled": self.pooled.to_dict(),
            "parts": [part.to_dict() for part in self.parts],
            "warnings": list(self.warnings),
        }

    def _folds(self) -> list[str]:
        return [
            f"fold {i + 1}: precision {part.precision:.3f}, recall {part.recall:.3f}, "
            f"F1 {part.f1:.3f}"
            for i, part in enumerate(self.parts)
        ]

    def __str__(self) -> str:
        return "\n".join([str(self.pooled), "", *self._folds()])

    def _repr_html_(self) -> str:
        return f"<div>{self.pooled._repr_html_()}{_html_lines(self._folds())}</div>"

    def __repr__(self) -> str:
        return f"<RelationValidation: F1 {self.pooled.f1:.3f}, {len(self.parts)} folds>"


def _html_lines(lines: Sequence[str]) -> str:
    text = "\n".join(escape(line) for some in lines for line in some.split("\n"))
    return f"<pre>{text}</pre>"


def _with_arrows(scores: Scores) -> Scores:
    """Return scores whose classes have arrows for directions."""
    from kernelwood.relations.report import relation_name

    return replace(
        scores,
        classes=tuple(replace(one, label=relation_name(one.label)) for one in scores.classes),
        positive=tuple(map(relation_name, scores.positive)),
    )


def score_predictions(
    predictions: Predictions,
    known: Sequence[str],
    unreachable: Mapping[str, int],
    *,
    n_bootstrap: int = 1000,
    seen: NDArray[np.bool_] | None = None,
    same_id: Collection[str] = (),
    training_rate: float | None = None,
    shared: SharedSentences | None = None,
) -> RelationScores:
    """Return the measures of predictions that have labels.

    Parameters
    ----------
    predictions : Predictions
        Of all candidates, with labels.
    known : sequence of str
        The relations that were learned, with directions; ``"none"`` may be among them.
    unreachable : mapping
        What has no prediction, by reason.
    n_bootstrap : int
        Resamples for intervals.
    seen : ndarray of bool, optional
        Which of ``predictions.candidates.with_missed()`` are in sentences of the training corpus.
    same_id : collection of str
        Other documents with the id of a training document.
    training_rate : float, optional
        Fraction of the training candidates that are relations.
    shared : SharedSentences, optional
        Sentences that are in the training corpus.
    """
    annotated, n_predicted = predictions.candidates.with_missed(), len(predictions)
    n_missed = len(annotated) - n_predicted
    true = [str(label) for label in annotated.labels]
    decided = zip(predictions.classes, predictions.positive.tolist(), strict=True)
    given = [name if positive else NONE for name, positive in decided]
    given += [NONE] * n_missed
    right = np.array([name == label for name, label in zip(given, true, strict=True)], dtype=bool)
    relations = sorted({*known, *true} - {NONE})
    groups = annotated.groups()
    unknown = Counter(type_of(name) for name in true if name not in {NONE, *known})
    related = np.append(predictions.related, np.zeros(n_missed))
    is_relation = np.array([label != NONE for label in true])
    auc, precision = ranking(is_relation, related)
    scores = score(
        true,
        given,
        classes=[*relations, NONE],
        positive=relations,
        groups=groups if len(set(groups)) > 1 else None,
        n_bootstrap=n_bootstrap,
    )
    audit = None
    if n_predicted:
        best = zip(predictions.classes, true[:n_predicted], strict=True)
        rate = float(is_relation[:n_predicted].mean())
        points = operating_points(
            predictions.probability,
            predictions.thresholds,
            np.array([name == label for name, label in best], dtype=bool),
            int(is_relation.sum()),
            rate,
            training_rate,
        )
        audit = Audit(
            points,
            rate,
            training_rate,
            float(scores.macro.f1),
            float(scores.accuracy),
            shared or SharedSentences(),
        )
    return RelationScores(
        scores,
        auc,
        precision,
        len(set(groups)),
        n_predicted,
        dict(unreachable),
        dict(sorted(unknown.items())),
        reliability(
            predictions.probability[predictions.positive], right[:n_predicted][predictions.positive]
        ),
        _overlap(predictions, known, groups, seen, same_id, training_rate, shared, n_bootstrap),
        audit=audit,
    )


def _overlap(
    predictions: Predictions,
    known: Sequence[str],
    groups: Sequence[str],
    seen: NDArray[np.bool_] | None,
    same_id: Collection[str],
    training_rate: float | None,
    shared: SharedSentences | None,
    n_bootstrap: int,
) -> Overlap | None:
    if seen is None or not (seen.any() or same_id):
        return None
    rest = None
    n, missed = len(predictions), predictions.candidates.missed
    if seen[:n].any() and not seen[:n].all():
        others = predictions.take(np.flatnonzero(~seen[:n]).tolist())
        if missed:
            others.candidates.missed = missed.take(np.flatnonzero(~seen[n:]).tolist())
        rest = score_predictions(
            others,
            known,
            {},
            n_bootstrap=n_bootstrap,
            training_rate=training_rate,
            shared=None if shared is None else shared.rest(),
        )
    documents = {group for group, is_seen in zip(groups, seen.tolist(), strict=True) if is_seen}
    return Overlap(len(documents), int(seen[:n].sum()), len(same_id), rest)
