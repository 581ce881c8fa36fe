"""The model of a session: card, gates, calibration, thresholds and history."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelwood.evaluate import reliability
from kernelwood.relations import GIVEN, card_of, relation_name
from kernelwood.web.presenting import type_objects
from kernelwood.web.project_file import damaged
from kernelwood.web.quality import threshold_table
from kernelwood.web.session import Session, Snapshot
from kernelwood.web.teaching import agree


class ModelPage:
    """The model of a session; methods return JSON values.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        self.session, self.project = session, session.project

    def page(self) -> dict[str, Any]:
        """Return the model card, calibration, thresholds and history."""
        session, snapshot = self.session, self.session.snapshot
        status = session.status()
        made: dict[str, Any] = {
            "model": status["model"],
            "card": self._card(snapshot),
            "types": type_objects(session),
            "gates": self._gates(),
            "calibration": self._calibration(snapshot),
            "thresholds": [],
            "n_undecided": session.left(),
            "threshold": session.threshold,
            "given_threshold": self.project.settings().get("threshold"),
            "history": [
                {
                    "number": row["number"],
                    "labels": row["facts"].get("labels", row["n_decisions"]),
                    **self._f1(row["facts"].get("f1")),
                    "time": row["time"],
                }
                for row in self.project.model_history()
            ],
        }
        if snapshot.model is not None:
            open_rows = session.eligible.copy()
            open_rows[list(session.decided)] = False
            if open_rows.any():
                table = threshold_table(snapshot.model, np.flatnonzero(open_rows))
                made["thresholds"] = [row._asdict() for row in table]
        return made

    def _f1(self, stored: Any) -> dict[str, float | None]:
        """Return F1 and its interval, as stored with a model."""
        values = stored or [None, None, None]
        known = {float, int, type(None)}
        if type(values) is not list or len(values) != 3 or not known.issuperset(map(type, values)):
            raise damaged(self.project.path, "F1 of a model and its interval are not numbers")
        return dict(zip(("f1", "low", "high"), values, strict=True))

    def _card(self, snapshot: Snapshot) -> list[list[Any]]:
        settings, columns = self.project.settings(), self.project.candidates
        rows: list[list[Any]] = [
            ["documents", f"{len(self.session.document_names):,}"],
            ["candidates", f"{len(columns):,}"],
            ["parser", settings.get("building", {}).get("parser", GIVEN)],
        ]
        if snapshot.model is not None:
            rows += [
                ["labels", f"{snapshot.n_labels:,}"],
                ["classes", ", ".join(map(relation_name, snapshot.model.classes))],
                ["threshold", f"{self.session.threshold:.2f}"],
            ]
        if snapshot.live is not None:
            words = "not compared" if snapshot.live.blind else "compared"
            rows += [
                ["views", ", ".join(snapshot.live.views)],
                ["words of the entities", f"{words}, by held-out labels"],
                ["learning algorithm", "kernel ridge regression"],
            ]
        prior = self.project.prior_model()
        if prior is not None:
            card = card_of(prior)
            rows.append(["given model", f"{card['recipe']}, {card['documents']:,} documents"])
        return rows

    def _gates(self) -> list[list[Any]]:
        """Return the learned gates of the kernel of a given model, those below 1 first."""
        prior = self.project.prior_model()
        if prior is None:
            return []
        parameters = prior.learner_.kernel_.get_params(deep=True)
        found = {
            str(label): float(weight)
            for name, gates in parameters.items()
            if name.rpartition("__")[2] == "gates" and gates
            for label, weight in dict(gates).items()
        }
        return [
            [label, weight] for label, weight in sorted(found.items(), key=lambda one: one[::-1])
        ]

    def _calibration(self, snapshot: Snapshot) -> dict[str, Any] | None:
        """Return how probabilities of decided candidates agree with decisions.

        The probabilities are those of models that have not seen the document.
        """
        model = snapshot.live
        rows = [
            (row, one.label)
            for row, one in self.session.decided.items()
            if one.label is not None and self.session.eligible[row]
        ]
        if model is None or len(rows) < 20:
            return None
        best = [model.best(row) for row, _ in rows]
        right = [agree(label, name) for (_, label), (name, _) in zip(rows, best, strict=True)]
        made = reliability(np.array([p for _, p in best]), np.array(right))
        return {
            "bins": [
                {
                    "low": one.low,
                    "high": one.high,
                    "mean": one.probability,
                    "rate": one.right,
                    "count": one.n,
                }
                for one in made.bins
            ],
            "error": made.error,
        }
