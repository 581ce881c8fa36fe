"""Facts of a session: decided and predicted relations, each pair of entities and type once."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from kernelwood.relations import (
    FactCounter,
    Facts,
    Participant,
    Prediction,
    draw_network,
    is_backward,
    type_of,
)
from kernelwood.web.exports import relations_of
from kernelwood.web.presenting import candidate_marks, check_choice, text_parts
from kernelwood.web.session import Session, Snapshot

_EVERY = 10**9  # sentences of a fact: all of them


class FactTable:
    """The facts of a session; methods return JSON values.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        self.session, self.project = session, session.project
        self._lock = threading.Lock()
        self._facts: tuple[Any, Facts] | None = None

    def all(self) -> Facts:
        """Return the facts of decided and predicted relations.

        Their sentences have the numbers of candidates as ids.
        """
        snapshot, decided = self.session.snapshot, self.session.decided
        key = (snapshot, self.session.threshold, len(decided), max(
            (one.id for one in decided.values()), default=0
        ))  # fmt: skip
        with self._lock:
            if self._facts is None or self._facts[0] != key:
                counter = FactCounter(n_sentences=_EVERY)
                counter.add(self._relations(snapshot))
                self._facts = key, counter.facts()
            return self._facts[1]

    def _relations(self, snapshot: Snapshot) -> Iterable[Prediction]:
        """Yield decided relations, and predicted ones of candidates that are not decided."""
        model = snapshot.model
        if model is not None:
            model = replace(model, threshold=self.session.threshold)
        columns, mentions = self.project.candidates, self.project.mentions()
        types = {row.name: row for row in self.project.types()}
        for row, label, _, probability, _ in relations_of(
            self.project, predicted=model is not None, model=model
        ):
            kind, sentence = type_of(label), int(columns.sentence[row])
            ends = [
                mentions[sentence, int(place[row])] for place in (columns.first, columns.second)
            ]
            if is_backward(label):
                ends.reverse()
            declared = types.get(kind)
            symmetric = declared is None or declared.symmetric
            roles = ("first", "second") if symmetric else ("from", "to")
            parts = tuple(
                Participant(role, "", one.type, one.text, one.spans)
                for role, one in zip(roles, ends, strict=True)
            )
            yield Prediction(
                str(row),
                self.session.document_names[int(columns.document[row])],
                kind,
                kind,
                True,
                probability,
                0.0,
                parts,
                None,
                (sentence, sentence + 1),
                "",
                None,
                None,  # type: ignore[arg-type]  # facts do not read the candidate
            )

    def _chosen(
        self, type: str, words: str, low: float, high: float, decided: str
    ) -> list[tuple[int, Any, int]]:
        """Return number, fact and number of decided mentions of the facts that filters select."""
        check_choice("decided", decided, ("all", "decided", "predicted"))
        wanted, labels = words.casefold().split(), self.session.decided
        found = []
        for number, fact in enumerate(self.all()):
            n_decided = sum(int(one.id) in labels for one in fact.sentences)
            names = " ".join(entity.name for entity in fact.entities).casefold()
            if (
                (not type or fact.type == type)
                and low <= fact.combined <= high
                and all(word in names for word in wanted)
                and (decided != "decided" or n_decided)
                and (decided != "predicted" or not n_decided)
            ):
                found.append((number, fact, n_decided))
        return found

    def table(
        self,
        *,
        type: str = "",
        words: str = "",
        low: float = 0.0,
        high: float = 1.0,
        decided: str = "all",
        sort: str = "probability",
        offset: int = 0,
        limit: int = 50,
    ) -> dict[str, Any]:
        """Return the facts that filters select, sorted."""
        keys = {
            "probability": lambda row: (-row[1].combined, -row[1].count),
            "count": lambda row: -row[1].count,
            "first": lambda row: row[1].first.name.casefold(),
            "second": lambda row: row[1].second.name.casefold() if row[1].second else "",
            "type": lambda row: row[1].type,
        }
        check_choice("sort", sort, tuple(keys))
        rows = sorted(self._chosen(type, words, low, high, decided), key=keys[sort])
        return {
            "total": len(rows),
            "rows": [self._object(*row) for row in rows[offset : offset + limit]],
        }

    def _object(self, number: int, fact: Any, n_decided: int) -> dict[str, Any]:
        return {
            "number": number,
            "first": fact.first.name,
            "first_type": fact.first.type,
            "type": fact.type,
            "second": fact.second.name,
            "second_type": fact.second.type,
            "directed": fact.directed,
            "count": fact.count,
            "n_documents": fact.n_documents,
            "n_decided": n_decided,
            "probability": fact.combined,
            "sentences": [self._sentence(one) for one in fact.sentences[:3]],
        }

    def _sentence(self, one: Any) -> dict[str, Any]:
        row = int(one.id)
        candidate = self.project.candidate(row)
        return {
            "candidate": row,
            "parts": text_parts(candidate.sentence.text, candidate_marks(candidate)),
            "probability": one.probability,
            "decided": self.session.decision(row) is not None,
            "document": one.document,
        }

    def network(self, *, type: str = "", low: float = 0.0, n: int = 60) -> dict[str, Any]:
        """Return a drawing of the strongest facts."""
        facts = [fact for _, fact, _ in self._chosen(type, "", low, 1.0, "all")]
        drawing = draw_network(facts, n)
        if drawing is None:
            return {"empty": "there are no facts yet; decide candidates, or lower the probability"}
        return {
            "width": drawing.width,
            "height": drawing.height,
            "nodes": [node._asdict() for node in drawing.nodes],
            "edges": [
                {
                    "path": edge.path,
                    "head": edge.head,
                    "thickness": edge.thickness,
                    "type": facts[edge.fact].type,
                    "first": facts[edge.fact].first.name,
                    "second": facts[edge.fact].second.name,
                    "count": facts[edge.fact].count,
                    "probability": facts[edge.fact].combined,
                }
                for edge in drawing.edges
            ],
        }
