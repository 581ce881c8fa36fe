"""Data of a session for the pages: candidates, documents, similar sentences, exports."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood import __version__
from kernelwood.arrays import ExampleBatch
from kernelwood.relations import NONE, Candidates, spell_path, type_of
from kernelwood.text import Candidate
from kernelwood.web.exports import EXPORTS, Download, export_bytes
from kernelwood.web.live_evidence import CaseSentences, LiveEvidence
from kernelwood.web.orders import ORDERS, Pick
from kernelwood.web.presenting import (
    candidate_marks,
    check_choice,
    entity_object,
    path_object,
    prediction_object,
    relation_object,
    text_parts,
    type_objects,
)
from kernelwood.web.session import NotFoundError, Session
from kernelwood.web.teaching import agree
from kernelwood.web.text_trial import TextTrial

_EXCERPT = 120  # characters of a document in a list
_REASONS = {
    "informative": "The model is uncertain about this candidate, and it differs from decided ones.",
    "check": "Drawn at random, to estimate the quality of the model.",
    "diverse": "Typical of a group of candidates, to begin with.",
    "probable": "Among the most probable relations.",
    "doubtful": "Accepted, although its probability is low.",
    "disagreement": "The model contradicts the existing annotation.",
    "document": "Next in the order of the text.",
    "random": "Drawn at random.",
}
# Filters of candidates by the label of their decision.
_WANTED: dict[str, Callable[[str | None], bool]] = {
    "accepted": lambda label: label not in (None, NONE),
    "rejected": lambda label: label == NONE,
    "skipped": lambda label: label is None,
}
_DECISIONS = ("any", "undecided", "disagreement", *_WANTED)
_SORTS = ("text", "probability", "-probability")


class Explorer:
    """Candidates and documents of a session; methods return JSON values.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        self.session, self.project = session, session.project
        self.evidence = LiveEvidence(session)
        self.trial = TextTrial(session, self.evidence)
        self._lock = threading.Lock()
        self._texts: list[str] | None = None

    # Candidates.

    def project_object(self) -> dict[str, Any]:
        """Return what all pages need to know of the project."""
        return {
            "name": self.project.path.name,
            "path": str(self.project.path),
            "author": self.session.author,
            "version": __version__,
            "read_only": self.project.read_only,
            "types": type_objects(self.session),
            "orders": [
                {"id": row.id, "title": row.title, "description": row.description}
                for row in ORDERS.values()
            ],
            "order": self.session.order,
            "entity_types": self.project.entity_types(),
            "has_annotation": self.session.has_annotation,
            "status": self.session.status(),
        }

    def candidate(self, row: int, pick: Pick | None = None) -> dict[str, Any]:
        """Return a candidate with its prediction and decision."""
        self.session.check_row(row)
        candidate = self.project.candidate(row)
        sentence, columns = candidate.sentence, self.project.candidates
        reason = None if pick is None else pick.reason
        # The view of the path is made from the sentence again: it is only one.
        viewed = Candidates.of_rows([candidate]).viewed("stem-steps").table
        marked = CaseSentences(self.session).marked(row)
        return {
            **self._short(row, candidate),
            "name": columns.names[row],
            "sentence": {
                "number": int(columns.sentence[row]),
                "text": sentence.text,
                "start": sentence.start,
            },
            "path": path_object(spell_path(viewed[0], marked)) if len(viewed) else [],
            "similar": self._similar_counts(row),
            "reason": reason,
            "reason_text": _REASONS.get(reason or "", ""),
        }

    def _short(self, row: int, candidate: Candidate | None = None) -> dict[str, Any]:
        candidate = candidate or self.project.candidate(row)
        sentence, (first, second) = candidate.sentence, candidate.entities
        number = int(self.project.candidates.document[row])
        annotation = self.project.candidates.annotation[row]
        return {
            "id": row,
            "document": {"number": number, "name": self.session.document_names[number]},
            "parts": text_parts(sentence.text, candidate_marks(candidate)),
            "first": entity_object(sentence, first),
            "second": entity_object(sentence, second),
            "prediction": self._prediction(row),
            "decision": self._decision(row),
            "annotation": None if annotation is None else relation_object(annotation),
        }

    def _prediction(self, row: int) -> dict[str, Any] | None:
        model = self.session.snapshot.model
        if model is None:
            return None
        return prediction_object(
            model.classes, model.probabilities[row], self.session.threshold, model.number
        )

    def _decision(self, row: int) -> dict[str, Any] | None:
        one = self.session.decision(row)
        if one is None:
            comment = self.project.comments().get(row)
            if comment is None:
                return None
            return {
                "id": None,
                "relation": None,
                "author": comment.author,
                "time": comment.time,
                "comment": comment.text,
            }
        return {
            "id": one.id,
            "relation": None if one.label is None else relation_object(one.label),
            "author": one.author,
            "time": one.time,
            "comment": one.comment,
        }

    def _similar_rows(self, row: int) -> list[int]:
        """Return the candidates with the same path and entity types, without held-out ones."""
        group = int(self.project.candidates.group[row])
        if group < 0:
            return [row]
        same = (self.project.candidates.group == group) & self.session.eligible
        rows: list[int] = np.flatnonzero(same).tolist()
        return rows

    def _similar_counts(self, row: int) -> dict[str, int]:
        rows, decided = self._similar_rows(row), self.session.decided
        return {
            "group": int(self.project.candidates.group[row]),
            "undecided": sum(one not in decided for one in rows),
            "total": len(rows),
        }

    def group(self, row: int, limit: int) -> dict[str, Any]:
        """Return the undecided candidates with the same path and entity types."""
        self.session.check_row(row)
        decided = self.session.decided
        rows = [one for one in self._similar_rows(row) if one not in decided]
        return {"group": [self._short(one) for one in rows[:limit]], "total": len(rows)}

    def browse(
        self,
        *,
        type: str = "",
        decision: str = "any",
        document: int | None = None,
        low: float = 0.0,
        high: float = 1.0,
        words: str = "",
        sort: str = "text",
        offset: int = 0,
        limit: int = 50,
    ) -> dict[str, Any]:
        """Return the candidates that filters select."""
        check_choice("decision", decision, _DECISIONS)
        check_choice("sort", sort, _SORTS)
        rows = self._selected(type, decision, document, low, high, words)
        if sort != "text" and self.session.snapshot.model is not None:
            _, best = self.session.snapshot.model.relations()
            sign = 1.0 if sort == "probability" else -1.0
            rows = rows[np.argsort(sign * best[rows], kind="stable")]
        shown = rows[offset : offset + limit].tolist()
        return {"total": len(rows), "rows": [self._short(row) for row in shown]}

    def _selected(
        self,
        type: str,
        decision: str,
        document: int | None,
        low: float,
        high: float,
        words: str,
    ) -> NDArray[np.int64]:
        columns, decided = self.project.candidates, self.session.decided
        n = len(columns)
        keep = np.ones(n, dtype=bool)
        if document is not None:
            keep &= columns.document == document
        labels: list[Any] = [NONE] * n  # decided or predicted class
        if self.session.snapshot.model is not None:
            numbers, best = self.session.snapshot.model.relations()
            keep &= (best >= low) & (best <= high)
            names = self.session.snapshot.model.classes
            positive = best >= self.session.threshold
            labels = [
                names[number] if yes else NONE
                for number, yes in zip(numbers.tolist(), positive.tolist(), strict=True)
            ]
        predicted = list(labels)
        for row, one in decided.items():
            labels[row] = one.label if one.label is not None else labels[row]
        if type:
            keep &= np.array([type_of(str(label)) == type for label in labels], dtype=bool)
        if words:
            keep &= self._containing(words)
        if decision != "any":
            found = np.zeros(n, dtype=bool)
            if decision == "undecided":
                found[:] = True
                found[list(decided)] = False
            elif decision == "disagreement":
                for row, label in enumerate(columns.annotation):
                    given = decided[row].label if row in decided else label
                    found[row] = given is not None and not agree(given, predicted[row])
            else:
                wanted = _WANTED[decision]
                found[[row for row, one in decided.items() if wanted(one.label)]] = True
            keep &= found
        return np.flatnonzero(keep)

    def _containing(self, words: str) -> NDArray[np.bool_]:
        """Return which candidates are in sentences with all of some words."""
        wanted = words.casefold().split()
        with self._lock:
            if self._texts is None:
                self._texts = [text.casefold() for text in self.project.sentence_texts()]
            texts = self._texts
        has = np.array([all(word in text for word in wanted) for text in texts], dtype=bool)
        found: NDArray[np.bool_] = has[self.project.candidates.sentence]
        return found

    # Documents.

    def documents(self, *, words: str = "", offset: int = 0, limit: int = 50) -> dict[str, Any]:
        """Return documents with counts, those that contain some words."""
        rows = self.project.documents()
        if words:
            wanted = words.casefold().split()
            rows = [
                row
                for row in rows
                if all(
                    word in row.name.casefold()
                    or word in self.project.document_text(row.number).casefold()
                    for word in wanted
                )
            ]
        of = self.project.candidates.document
        decided = Counter(int(of[row]) for row in self.session.decided)
        relations = Counter(
            int(of[row])
            for row, one in self.session.decided.items()
            if one.label not in (None, NONE)
        )
        return {
            "total": len(rows),
            "rows": [
                {
                    "number": row.number,
                    "name": row.name,
                    "n_sentences": row.n_sentences,
                    "n_candidates": row.n_candidates,
                    "n_decided": decided[row.number],
                    "n_relations": relations[row.number],
                    "held_out": row.held_out,
                    "start": _beginning(self.project.document_text(row.number)),
                }
                for row in rows[offset : offset + limit]
            ],
        }

    def document(self, number: int) -> dict[str, Any]:
        """Return a document with its entities and candidates."""
        rows = self.project.documents()
        if not 0 <= number < len(rows):
            raise NotFoundError(f"there is no document {number}")
        columns = self.project.candidates
        entities, keys = [], {}
        for place in self.project.sentence_numbers(number):
            _, sentence = self.project.sentence(place)
            for position, entity in enumerate(sentence.entities):
                key = f"{place}.{position}"
                keys[place, position] = key
                entities.append(
                    {
                        "key": key,
                        **entity_object(sentence, entity),
                        "spans": _moved(entity.spans, sentence.start),
                    }
                )
        candidates = []
        for row in np.flatnonzero(columns.document == number).tolist():
            place = int(columns.sentence[row])
            _, sentence = self.project.sentence(place)
            annotation = columns.annotation[row]
            candidates.append(
                {
                    "id": row,
                    "first": keys[place, int(columns.first[row])],
                    "second": keys[place, int(columns.second[row])],
                    "prediction": self._prediction(row),
                    "decision": self._decision(row),
                    "annotation": None if annotation is None else relation_object(annotation),
                    "sentence": [sentence.start, sentence.start + len(sentence.text)],
                }
            )
        return {
            "number": number,
            "name": rows[number].name,
            "held_out": rows[number].held_out,
            "text": self.project.document_text(number),
            "previous": number - 1 if number else None,
            "next": number + 1 if number + 1 < len(rows) else None,
            "entities": entities,
            "candidates": candidates,
        }

    # Search.

    def similar(self, row: int, limit: int) -> dict[str, Any]:
        """Return the candidates that are most similar to one, of other sentences."""
        self.session.check_row(row)
        values = self.session.teacher().rows([row])[0].copy()
        values[self.project.candidates.sentence == self.project.candidates.sentence[row]] = -1.0
        return self._nearest(values, self.project.views()[[row]], limit)

    def similar_to_text(self, text: str, limit: int) -> dict[str, Any]:
        """Return the candidates that are most similar to the first two entities of a text."""
        table, candidates, note = self.trial.candidates(text)
        if not len(candidates):
            return {"rows": [], "note": note}
        teacher = self.session.teacher()
        return self._nearest(teacher.similarities(table[:1])[0], table[:1], limit)

    def _nearest(self, values: NDArray[Any], own: ExampleBatch, limit: int) -> dict[str, Any]:
        """Return the candidates of the largest values, with similarities from 0 to 1."""
        rows = np.argsort(-values, kind="stable")[:limit]
        rows = rows[values[rows] > 0]
        if len(rows):
            teacher = self.session.teacher()
            norms = teacher.norms(own) * teacher.norms(self.project.views()[rows])
            values = np.minimum(values[rows] / norms, 1.0)  # the views may have changed meanwhile
        order = np.argsort(-values[: len(rows)], kind="stable").tolist()
        return {
            "rows": [
                {**self._short(int(rows[place])), "similarity": float(values[place])}
                for place in order
            ],
            "note": "",
        }

    # Exports.

    def exports(self) -> dict[str, Any]:
        """Return what can be downloaded."""
        return {
            "rows": [
                {"name": row.name, "title": row.title, "description": row.description}
                for row in EXPORTS.values()
            ]
        }

    def export(self, name: str, *, predicted: bool = False) -> Download:
        """Return the contents of an export.

        Relations are those that were decided; if the model learns from the annotation of the
        corpus, candidates without a decision keep it.
        """
        if name not in EXPORTS:
            raise NotFoundError(f"there is no export {name!r}; exports: {', '.join(EXPORTS)}")
        model = self.session.snapshot.model
        if model is not None:
            model = replace(model, threshold=self.session.threshold)
        return export_bytes(
            self.project,
            name,
            predicted=predicted,
            annotation=self.session.learns_annotation,
            model=model,
        )


def _moved(spans: Iterable[tuple[int, int]], shift: int) -> list[list[int]]:
    return [[start + shift, end + shift] for start, end in spans]


def _beginning(text: str) -> str:
    """Return the beginning of a text, cut between words.

    Examples
    --------
    >>> _beginning("Raf binds MEK1."), len(_beginning("a" * 500))
    ('Raf binds MEK1.', 121)
    >>> _beginning("kinases " * 20)[-17:]
    'kinases kinases …'
    """
    if len(text) <= _EXCERPT:
        return text
    words = text[: _EXCERPT + 1].rsplit(maxsplit=1)
    return f"{words[0]} …" if len(words) == 2 else f"{text[:_EXCERPT]}…"
