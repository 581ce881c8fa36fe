"""Relations of texts that are typed in, by the live model."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

from kernelwood.entities import Dictionary, EntityFinder, folded_name
from kernelwood.parsing import load_backend
from kernelwood.relations import GIVEN, Candidates, pairs_in, read_sentences, text_entries
from kernelwood.text import Candidate, Document
from kernelwood.web.live_evidence import LiveEvidence
from kernelwood.web.presenting import (
    candidate_marks,
    evidence_object,
    prediction_object,
    text_parts,
)
from kernelwood.web.session import Session, Snapshot

_MAX_RELATIONS = 12  # relations of a text, with evidence for the first ones
_MAX_ENTITIES = 60  # of a sentence


class TextTrial:
    """Predicts the relations of new texts, whose names the project knows.

    Parameters
    ----------
    session : Session
    evidence : LiveEvidence
    """

    def __init__(self, session: Session, evidence: LiveEvidence) -> None:
        self.session, self.project, self.evidence = session, session.project, evidence
        self._lock = threading.Lock()
        self._finder: EntityFinder | None = None
        self._backend: Any = None

    def predict(self, text: str) -> dict[str, Any]:
        """Return the relations of a text with evidence."""
        started = time.perf_counter()
        snapshot = self.session.snapshot
        found = self._find_entities(text)
        made: dict[str, Any] = {
            "text": text,
            "entities": [
                {
                    "key": entity.id,
                    "text": text[entity.start : entity.end],
                    "type": entity.type,
                    "spans": [list(span) for span in entity.spans],
                }
                for entity in found.entities
            ],
            "relations": [],
            "note": "",
        }
        if snapshot.live is None:
            made["note"] = "there is no model yet; decide candidates of two classes"
        else:
            table, candidates, made["note"] = self.candidates(text, found)
            if len(candidates):
                made["relations"] = self._tried(snapshot, table, candidates)
        made["milliseconds"] = round(1000 * (time.perf_counter() - started), 1)
        return made

    def _tried(
        self, snapshot: Snapshot, table: Any, candidates: Candidates
    ) -> list[dict[str, Any]]:
        live = snapshot.live
        assert live is not None
        predictions = [
            prediction_object(live.classes, row, self.session.threshold, live.number)
            for row in live.score(table)
        ]
        order = sorted(range(len(candidates)), key=lambda row: -predictions[row]["probability"])
        chosen = order[:_MAX_RELATIONS]
        explained = [row for row in chosen if predictions[row]["positive"]][:3] or chosen[:1]
        labels = [predictions[row]["relation"]["label"] for row in explained]
        evidence = dict(
            zip(
                explained,
                self.evidence.explain(snapshot, [candidates[row] for row in explained], labels),
                strict=True,
            )
        )
        return [
            self._tried_object(row, candidates[row], predictions[row], evidence.get(row))
            for row in chosen
        ]

    def _tried_object(
        self, row: int, candidate: Candidate, prediction: dict[str, Any], evidence: Any
    ) -> dict[str, Any]:
        first, second = candidate.entities
        label = prediction["relation"]["label"]
        made = {
            "first": first.id,
            "second": second.id,
            "relation": prediction["relation"],
            "probability": prediction["probability"],
            "positive": prediction["positive"],
            "parts": text_parts(candidate.sentence.text, candidate_marks(candidate)),
            "path": [],
            "evidence": None,
        }
        if evidence is not None:
            made["evidence"] = evidence_object(evidence, label, candidate, self.evidence.case)
            made["path"] = made["evidence"]["path"]
        return made

    def _find_entities(self, text: str) -> Document:
        """Return a text with the names that the project knows, and those that its model finds."""
        with self._lock:
            if self._finder is None:
                counts: Counter[tuple[str, str]] = Counter(
                    (one.text, one.type) for one in self.project.mentions().values()
                )
                types: dict[str, tuple[str, str]] = {}
                for (name, kind), _ in counts.most_common():
                    types.setdefault(folded_name(name), (name, kind))
                prior = self.project.prior_model()
                tagger = None if prior is None else prior.tagger_
                self._finder = EntityFinder(tagger, Dictionary(types.values()))
            finder = self._finder
        return finder.annotate(Document(text))

    def candidates(self, text: str, found: Document | None = None) -> tuple[Any, Candidates, str]:
        """Return views and candidates of a text, and a remark if there are none."""
        document = found or self._find_entities(text)
        names = self.project.views().views
        sentences, _ = read_sentences(
            text_entries([document]),
            self._parser(),
            Counter(),
            views=names,
            least=2,
            most=_MAX_ENTITIES,
        )
        candidates = pairs_in(sentences, labels=None, max_entities=_MAX_ENTITIES)
        viewed = candidates.viewed(*names)
        kept = candidates.take(viewed.rows)
        note = "" if len(kept) else "no sentence of the text has two names that the project knows"
        return viewed.table, kept, note

    def _parser(self) -> Any:
        with self._lock:
            if self._backend is None:
                name = self.project.settings().get("building", {}).get("parser", GIVEN)
                self._backend = load_backend("biomedical-dependencies" if name == GIVEN else name)
            return self._backend
