"""Evidence of the live model: the decided candidates that contribute most to a prediction."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.relations import Candidates, Case, Evidence, MarkedText, TrainingCases
from kernelwood.text import Candidate
from kernelwood.web.presenting import evidence_object
from kernelwood.web.session import Session, Snapshot
from kernelwood.web.teaching import TeachingModel

_N_CASES = 3  # supporting, and opposing, cases that are shown


class CaseSentences(NamedTuple):
    """The sentences of all candidates as `TrainingCases` reads them, decoded when needed."""

    session: Session

    @property
    def sentence_of(self) -> NDArray[np.int32]:
        """The number of the sentence of each candidate."""
        return self.session.project.candidates.sentence

    def marked(self, row: int) -> MarkedText:
        """Return the sentence of a candidate with its entities."""
        candidate = self.session.project.candidate(row)
        spans = tuple(span for entity in candidate.entities for span in entity.spans)
        return MarkedText(candidate.sentence.text, spans)


class _LiveLearner:
    """The live model as `TrainingCases` reads a classifier."""

    def __init__(self, model: TeachingModel) -> None:
        self._model, self.kernel_ = model, model.kernel

    def contributions(self, examples: Any, labels: Sequence[str], **options: Any) -> Any:
        return self._model.contributions(examples, labels)


class LiveEvidence:
    """Explains predictions of a session by its decided candidates.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        self.session, self.project = session, session.project
        self._lock = threading.Lock()
        self._cases: tuple[Snapshot, TrainingCases] | None = None

    def of(self, row: int) -> dict[str, Any]:
        """Return the decided candidates with the largest contributions to a prediction."""
        self.session.check_row(row)
        snapshot = self.session.snapshot
        if snapshot.live is None:
            reason = "the model is being trained"
            if snapshot.model is None:
                reason = "there is no model yet; decide candidates of two classes"
            return {"empty": reason}
        label, _ = snapshot.live.best(row)
        candidate = self.project.candidate(row)
        [found] = self.explain(snapshot, [candidate], [label])
        return evidence_object(found, label, candidate, self.case)

    def case(self, name: str) -> tuple[int, str, Candidate]:
        """Return number, document and candidate of a case, given its id."""
        row = self.session.rows[name]
        document = self.session.document_names[int(self.project.candidates.document[row])]
        return row, document, self.project.candidate(row)

    def explain(
        self, snapshot: Snapshot, candidates: Sequence[Candidate], labels: Sequence[str]
    ) -> list[Evidence]:
        """Return the evidence for classes of candidates by the model of a snapshot.

        Similarities are normalized: 1 for equal candidates.
        """
        live = snapshot.live
        assert live is not None
        cases = self._training_cases(snapshot)
        # A given model may compare other views than the live one.
        table = self.project.views()
        given = Candidates.of_rows(candidates)
        found = cases.find(given, table.views, labels, _N_CASES)
        own = live.kernel.diag(given.viewed(*table.views).table)
        rows = [self.session.rows[case.id] for evidence in found for case in evidence]
        norms = iter(live.kernel.diag(table[rows]).tolist() if rows else ())

        def normalized(cases: Sequence[Case], norm: float) -> tuple[Case, ...]:
            return tuple(
                replace(case, similarity=case.similarity / math.sqrt(norm * next(norms)))
                for case in cases
            )

        return [
            replace(
                evidence,
                supporting=normalized(evidence.supporting, norm),
                opposing=normalized(evidence.opposing, norm),
            )
            for evidence, norm in zip(found, own.tolist(), strict=True)
        ]

    def _training_cases(self, snapshot: Snapshot) -> TrainingCases:
        """Return all candidates as possible cases, with the labels of a snapshot."""
        with self._lock:
            if self._cases is None or self._cases[0] is not snapshot:
                assert snapshot.live is not None
                table = self.project.views().only(snapshot.live.views)
                table = table.with_labels(self.session.labels_of_all())
                texts: Any = CaseSentences(self.session)
                self._cases = snapshot, TrainingCases(table, texts, _LiveLearner(snapshot.live))
            return self._cases[1]
