"""Evaluation of predicted relations on annotated documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernelwood.evaluate import Scores, score
from kernelwood.relations.calibration import ranking
from kernelwood.relations.candidates import NONE
from kernelwood.relations.predictions import Predictions
from kernelwood.relations.relation_classes import type_of


@dataclass(frozen=True, eq=False, repr=False)
class RelationScores:
    """Measures of predicted relations.

    Attributes
    ----------
    scores : kernelwood.evaluate.Scores
        Precision, recall and F1 of each class, averages over relations, confusions, intervals by
        a bootstrap over documents.
    auc, average_precision : float or None
        Ranking of relations (of any type) above the other candidates: area under the ROC curve
        and under the precision-recall curve. None if all candidates are relations, or none is.
    n_documents, n_candidates : int
        Size of the evaluated corpus.
    unreachable : mapping of str to int
        Relations and candidates without predictions, by reason; they are not in ``scores``.
    unknown : mapping of str to int
        Annotated relations of types that were not in the training corpus; they count as missed.
    """

    scores: Scores
    auc: float | None
    average_precision: float | None
    n_documents: int
    n_candidates: int
    unreachable: Mapping[str, int] = field(default_factory=dict)
    unknown: Mapping[str, int] = field(default_factory=dict)

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
        """Annotated relations among the candidates."""
        return sum(one.support for one in self.scores.classes if one.label != NONE)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "auc": self.auc,
            "average_precision": self.average_precision,
            "documents": self.n_documents,
            "candidates": self.n_candidates,
            "relations": self.n_relations,
            "unreachable": dict(self.unreachable),
            "unknown": dict(self.unknown),
            "scores": self.scores.to_dict(),
        }

    def __str__(self) -> str:
        lines = [str(self.scores), ""]
        if self.auc is not None:
            lines.append(
                f"AUC {self.auc:.3f}, average precision {self.average_precision:.3f} "
                "(relations of any type against the rest)"
            )
        lines += [
            f"{n} relations of a type not seen in training: {name}"
            for name, n in self.unknown.items()
        ]
        lines += [f"{n} without prediction: {reason}" for reason, n in self.unreachable.items()]
        return "\n".join(lines)

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
        Of all candidates, each scored by an extractor that has not seen its document.
    parts : tuple of RelationScores
        Of each fold.
    """

    pooled: RelationScores
    parts: tuple[RelationScores, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "pooled": self.pooled.to_dict(),
            "parts": [part.to_dict() for part in self.parts],
        }

    def __str__(self) -> str:
        rows = [
            f"fold {i + 1}: precision {part.precision:.3f}, recall {part.recall:.3f}, "
            f"F1 {part.f1:.3f}"
            for i, part in enumerate(self.parts)
        ]
        return "\n".join([str(self.pooled), "", *rows])

    def __repr__(self) -> str:
        return f"<RelationValidation: F1 {self.pooled.f1:.3f}, {len(self.parts)} folds>"


def score_predictions(
    predictions: Predictions,
    known: Sequence[str],
    unreachable: Mapping[str, int],
    *,
    n_bootstrap: int = 1000,
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
    """
    true = [str(label) for label in predictions.candidates.labels]
    decided = zip(predictions.classes, predictions.positive.tolist(), strict=True)
    given = [name if positive else NONE for name, positive in decided]
    relations = sorted({*known, *true} - {NONE})
    groups = predictions.candidates.groups()
    unknown = Counter(type_of(name) for name in true if name not in {NONE, *known})
    auc, precision = ranking(np.array([label != NONE for label in true]), predictions.related)
    return RelationScores(
        score(
            true,
            given,
            classes=[*relations, NONE],
            positive=relations,
            groups=groups if len(set(groups)) > 1 else None,
            n_bootstrap=n_bootstrap,
        ),
        auc,
        precision,
        len(set(groups)),
        len(predictions),
        dict(unreachable),
        dict(sorted(unknown.items())),
    )
