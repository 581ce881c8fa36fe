"""A session of teaching: decisions on a project, the model that learns from them, the queue.

Requests read an immutable `Snapshot`; a thread of its own learns, so that no answer waits for
training. A decision is stored before it counts, and the model, the queue and the estimates follow.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import config_context
from kernelwood.errors import KernelInputError, KernelwoodError
from kernelwood.evaluate import Estimate, score
from kernelwood.relations import NONE, type_of
from kernelwood.web.given_model import GivenModel
from kernelwood.web.orders import ORDERS, Pick, make_queue
from kernelwood.web.project import Decision, Predicted, Project
from kernelwood.web.quality import CurvePoint, Quality, changes, curve, estimate, outlook
from kernelwood.web.teaching import Prior, Teacher, TeachingModel

_LOG = logging.getLogger(__name__)

RETRAIN_AFTER = 5  # decisions; fewer if training is quick, or the reviewer pauses
_PAUSE = 1.0  # seconds without a decision after which waiting decisions are learned from
_QUICK = 0.5  # seconds of a training that is repeated after every decision
_QUEUE = 40  # candidates that are ordered in advance
_PREPARED = 12  # candidates whose similarities are computed in advance
_MOST_ANNOTATED = 2000  # annotated candidates to learn from
_MORE = 200  # labels whose gain is estimated, or all that are left
_LOOK = 1.0  # seconds between two looks at a file that another process writes
_SAVE_EVERY = 30.0  # seconds between two copies of all probabilities in the file
_AGAIN = ("doubtful", "disagreement")  # orders, and reasons, of candidates that are decided


class NotFoundError(KernelwoodError, LookupError):
    """A candidate, document or type that the project does not have."""


@dataclass(frozen=True)
class Snapshot:
    """What requests show: the latest model and the estimates that belong to it.

    Attributes
    ----------
    model : TeachingModel or None
    live : TeachingModel or None
        The same, unless it was made by an earlier session: then None, and it cannot be explained.
    quality : Quality or None
    held_out : dict or None
        Scores on held-out documents.
    curve : list of CurvePoint
    changes : dict or None
    time : float
        When it was made, in seconds since the epoch.
    """

    model: TeachingModel | None = None
    live: TeachingModel | None = None
    quality: Quality | None = None
    held_out: dict[str, Any] | None = None
    curve: Sequence[CurvePoint] = ()
    changes: dict[str, int] | None = None
    time: float = 0.0
    seconds: float = 0.0
    n_labels: int = 0


class Session:
    """A project that is being reviewed.

    Parameters
    ----------
    project : Project
    author : str
        Name that is stored with decisions.
    retrain_after : int, default 5
        Number of decisions after which the model is trained again at the latest.
    """

    def __init__(
        self, project: Project, *, author: str = "", retrain_after: int = RETRAIN_AFTER
    ) -> None:
        self.project = project
        self.author = author or str(project.settings().get("author", "")) or "reviewer"
        self.retrain_after = retrain_after
        self._building: dict[str, Any] = project.settings().get("building", {})
        self.rows = {name: row for row, name in enumerate(project.candidates.names)}
        self.document_names = [row.name for row in project.documents()]
        self.eligible: NDArray[np.bool_] = ~project.candidates.held_out
        self._lock = threading.RLock()
        self._wake = threading.Condition(self._lock)
        self._decided: dict[int, Decision] = project.current()
        self._log: list[Decision] = list(project.log())
        self._queues: dict[str, list[Pick]] = {}  # of the model of the snapshot
        self._served: dict[int, Pick] = {}
        self._reviewed: set[int] = set()  # decided in this session
        self._waiting = 0
        self._asked = True  # the first model is made at once
        self._last = 0.0  # monotonic time of the last decision
        self._training = False
        self._error: str | None = None
        self._closed = False
        self._listeners: list[Callable[[], None]] = []
        self._saved_at = 0.0
        self._teacher: Teacher | None = None
        self._ready = threading.Event()  # the teacher exists, or failed
        self.snapshot = self._restored()
        self._thread = threading.Thread(target=self._run, name="kernelwood-teacher", daemon=True)

    def start(self) -> Session:
        """Start training in the background."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Request the end of training and of event streams; returns at once."""
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        self._changed()

    def close(self) -> None:
        """End training, and store the last model in the project."""
        self.stop()
        if self._thread.is_alive():
            self._thread.join()
        if not self.project.read_only and self.snapshot.live is not None:
            self._save(self.snapshot, whole=True)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    # Listeners.

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a function, in any thread, after each change; return a function that ends this."""
        with self._lock:
            self._listeners.append(listener)

        def end() -> None:
            with self._lock:
                if listener in self._listeners:
                    self._listeners.remove(listener)

        return end

    def _changed(self) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener()

    # Decisions.

    @property
    def decided(self) -> dict[int, Decision]:
        """The decision of each candidate that has one; skipped candidates have the label None."""
        with self._lock:
            return dict(self._decided)

    def decision(self, row: int) -> Decision | None:
        """Return the decision of a candidate."""
        with self._lock:
            return self._decided.get(row)

    def decide(
        self,
        rows: Sequence[int],
        label: str | None,
        *,
        comment: str = "",
        token: str = "",
        expected: Sequence[int | None] | None = None,
    ) -> list[Decision]:
        """Store a label for some candidates; it is durable when this returns.

        Parameters
        ----------
        rows : sequence of int
            Candidates, which are decided, and undone, at once.
        label : str or None
            A class; None to skip.
        comment : str
        token : str
            Name of the request: the same one is stored only once.
        expected : sequence of int or None, optional
            Id of the decision that each candidate has, None if it has none; a `ConflictError` is
            raised if another decision was made meanwhile.
        """
        for row in rows:
            self.check_row(row)
        with self._lock:
            predictions = [self._predicted(row) for row in rows]
            weights = [self._check_weight(row, label) for row in rows]
            made = self.project.decide(
                rows,
                label,
                author=self.author,
                comment=comment,
                predictions=predictions,
                weights=weights,
                token=token,
                expected=expected,
            )
            for one in made:
                self._reviewed.add(one.candidate)
                self._served.pop(one.candidate, None)
            self._note(len(made))
        self._changed()
        return made

    def undo(self, *, token: str = "") -> list[Decision]:
        """Undo the last decision, or the last decisions that were made at once."""
        with self._lock:
            undone = self.project.undo(author=self.author, token=token)
            if undone:
                self._reviewed -= {one.candidate for one in undone}
                self._note(len(undone))
        self._changed()
        return undone

    def comment(self, row: int, text: str) -> None:
        """Store a comment on a candidate."""
        self.project.comment(self.check_row(row), text, author=self.author)
        with self._lock:
            self._decided = self.project.current()
        self._changed()

    # Settings.

    @property
    def closed(self) -> bool:
        """Whether the session has ended."""
        return self._closed

    def add_type(self, name: str, *, symmetric: bool = False, description: str = "") -> None:
        """Add a relation type."""
        self.project.add_type(name.strip(), symmetric=symmetric, description=description)
        self._changed()

    def set_order(self, order: str) -> None:
        """Choose the order of the queue."""
        if order not in ORDERS:
            raise KernelInputError(f"unknown order {order!r}; orders: {', '.join(ORDERS)}")
        self.project.set("order", order)
        self._changed()

    def set_author(self, author: str) -> None:
        """Choose the name that is stored with decisions."""
        name = author.strip()
        if not name:
            raise KernelInputError("the name of the reviewer is empty")
        self.project.set("author", name)
        self.author = name
        self._changed()

    def set_threshold(self, threshold: float | None) -> None:
        """Choose the decision threshold; None for that of the model."""
        if threshold is not None and not 0.0 < threshold < 1.0:
            raise KernelInputError(f"the threshold must be between 0 and 1, got {threshold!r}")
        self.project.set("threshold", None if threshold is None else float(threshold))
        self._changed()

    def _note(self, n: int) -> None:
        """Read changed decisions, and let the learner know of them."""
        self._log, self._decided = list(self.project.log()), self.project.current()
        self._waiting += n
        self._last = time.monotonic()
        self._wake.notify_all()

    def labels_of_all(self) -> list[str | None]:
        """Return the label of each candidate that the model learns from, None for others."""
        labels = self.training_labels()
        return [labels.get(row) for row in range(len(self.project.candidates))]

    def _predicted(self, row: int) -> Predicted | None:
        """Return the prediction for a candidate before a decision."""
        model = self.snapshot.model
        if model is None:
            return None
        name, probability = model.best(row)
        positive = probability >= self.threshold
        return Predicted(name if positive else NONE, probability, model.number)

    def _check_weight(self, row: int, label: str | None) -> float | None:
        """Return the weight of a candidate that was drawn at random and is decided first."""
        pick = self._served.get(row)
        if label is None or pick is None or row in self._decided:
            return None
        return pick.weight

    def check_row(self, row: Any) -> int:
        """Return the number of a candidate, or raise `NotFoundError`."""
        n = len(self.project.candidates.names)
        if isinstance(row, bool) or not isinstance(row, int) or not 0 <= row < n:
            raise NotFoundError(f"there is no candidate {row!r}; numbers are from 0 to {n - 1}")
        return row

    # The queue.

    @property
    def order(self) -> str:
        """The order of the queue."""
        settings = self.project.settings()
        if settings.get("order") in ORDERS:
            return str(settings["order"])
        return "disagreement" if self.learns_annotation else "informative"

    @property
    def has_annotation(self) -> bool:
        """Whether the corpus has annotated relations."""
        return any(one is not None for one in self.project.candidates.annotation)

    @property
    def learns_annotation(self) -> bool:
        """Whether the model also learns from the annotation of the corpus."""
        return bool(self.project.settings().get("learn_annotation", True)) and self.has_annotation

    def next(self, order: str | None = None, skip: Collection[int] = ()) -> Pick | None:
        """Return the next candidate in an order; None if there are no more.

        Parameters
        ----------
        order : str, optional
        skip : collection of int
            Candidates that the page already has.
        """
        name = order or self.order
        if name not in ORDERS:
            raise KernelInputError(f"unknown order {name!r}; orders: {', '.join(ORDERS)}")
        with self._lock:
            queue = self._queues.get(name)
        pick = None if queue is None else self._first(queue, skip)
        if pick is None:
            pick = self._first(self._make_queue(name, _QUEUE + len(skip)), skip)
        if pick is not None:
            with self._lock:
                self._served[pick.candidate] = pick
        return pick

    def left(self) -> int:
        """Return the number of candidates without a decision."""
        with self._lock:
            decided = np.fromiter(self._decided, dtype=np.int64, count=len(self._decided))
        return int(self.eligible.sum()) - int(self.eligible[decided].sum())

    def _first(self, picks: Iterable[Pick], skip: Collection[int]) -> Pick | None:
        with self._lock:
            for pick in picks:
                asked = self._reviewed if pick.reason in _AGAIN else self._decided
                if pick.candidate not in asked and pick.candidate not in skip:
                    return pick
        return None

    def _make_queue(self, order: str, n: int) -> list[Pick]:
        teacher = self.teacher()
        with self._lock:
            snapshot = self.snapshot
            decided = {row: one.label for row, one in self._decided.items()}
            n_decisions = len(self._log)
            # Candidates of this session are not asked again.
            eligible = self.eligible.copy()
            if order in _AGAIN and self._reviewed:
                eligible[list(self._reviewed)] = False
        picks = make_queue(
            order,
            teacher,
            snapshot.model,
            decided=decided,
            annotation=self.project.candidates.annotation,
            eligible=eligible,
            n=n,
            seed=self.seed,
            n_decisions=n_decisions,
        )
        with self._lock:
            if self.snapshot is snapshot:
                self._queues[order] = picks
        return picks

    # Predictions.

    @property
    def threshold(self) -> float:
        """The decision threshold: that of the settings, or that of the model."""
        given = self.project.settings().get("threshold")
        if isinstance(given, float):
            return given
        model = self.snapshot.model
        return 0.5 if model is None else float(model.threshold)

    def _with_threshold(self, model: TeachingModel) -> TeachingModel:
        """Return a model with the threshold of the settings, if there is one."""
        given = self.project.settings().get("threshold")
        return replace(model, threshold=given) if isinstance(given, float) else model

    # Learning.

    def teacher(self) -> Teacher:
        """Return the teacher; in the first seconds of a session, wait for it.

        Raises
        ------
        KernelwoodError
            If it could not be made.
        """
        self._ready.wait()
        if self._teacher is None:
            raise KernelwoodError(f"the model cannot be trained: {self._error}")
        return self._teacher

    @property
    def seed(self) -> int:
        """Seed of the project."""
        return int(self._building.get("seed", 0))

    def train(self) -> None:
        """Train the model on all decisions now."""
        with self._wake:
            self._asked = True
            self._wake.notify_all()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the model is trained on all decisions; return whether it is."""
        with self._wake:
            return self._wake.wait_for(
                lambda: self._closed or not (self._asked or self._waiting or self._training),
                timeout,
            )

    def training_labels(self) -> dict[int, str]:
        """Return the labels that the model learns from: decisions and, if set, annotation."""
        labels = dict(self._annotated_labels()) if self.learns_annotation else {}
        with self._lock:
            for row, one in self._decided.items():
                if one.label is not None and self.eligible[row]:
                    labels[row] = one.label
        return labels

    def _annotated_labels(self) -> Mapping[int, str]:
        """Return the annotated classes of candidates, of large corpora those of a sample."""
        annotation = self.project.candidates.annotation
        rows = [
            row for row, label in enumerate(annotation) if label is not None and self.eligible[row]
        ]
        if len(rows) > _MOST_ANNOTATED:
            chosen = np.random.default_rng(self.seed).permutation(len(rows))[:_MOST_ANNOTATED]
            rows = [rows[place] for place in np.sort(chosen).tolist()]
        return {row: str(annotation[row]) for row in rows}

    def _run(self) -> None:
        """Learn whenever there are decisions to learn from, until the session is closed."""
        try:
            teacher = self._make_teacher()
        except Exception as failure:
            _LOG.exception("the teacher could not be made")
            with self._wake:
                self._error, self._asked = str(failure), False
                self._wake.notify_all()
            self._ready.set()
            self._changed()
            return
        self._teacher = teacher
        self._ready.set()
        while True:
            with self._wake:
                while not self._closed and (delay := self._delay()) != 0.0:
                    self._wake.wait(delay)
                    self._follow()
                if self._closed:
                    return
                self._training, self._asked, self._waiting = True, False, 0
            self._changed()
            try:
                self._learn(teacher)
                error = None
            except Exception as failure:
                _LOG.exception("training failed")
                error = str(failure)
            with self._wake:
                self._training, self._error = False, error
                self._wake.notify_all()
            self._changed()

    def _delay(self) -> float | None:
        """Return the seconds until the next training, None if there is no reason for one."""
        if self._asked or self._waiting >= self.retrain_after:
            return 0.0
        if not self._waiting:
            return _LOOK if self.project.read_only else None
        if self.snapshot.seconds < _QUICK:
            return 0.0
        return max(0.0, self._last + _PAUSE - time.monotonic())

    def _follow(self) -> None:
        """Take over what another process has decided, if the project is open for reading."""
        if not self.project.read_only:
            return
        log = list(self.project.log())
        if log != self._log:
            self._waiting += max(1, abs(len(log) - len(self._log)))
            self._last = time.monotonic()
            self._log, self._decided = log, self.project.current()

    def _make_teacher(self) -> Teacher:
        columns, views = self.project.candidates, self.project.views()
        given, prior = GivenModel.of(self.project), None
        if given is not None:
            prior = Prior(given.classes, given.predict(views), given.predict)
        symmetric = [row.name for row in self.project.types() if row.symmetric]
        return Teacher(
            views,
            columns.document,
            seed=self.seed,
            prior=prior,
            symmetric=symmetric,
            first_picks=self._building.get("first_picks", ()),
        )

    def _learn(self, teacher: Teacher) -> None:
        started = time.perf_counter()
        labels = self.training_labels()
        with self._lock:
            log, before = list(self._log), self.snapshot
        with config_context(n_jobs=1):
            live = teacher.learn(labels)
        if live is None:
            made = Snapshot(time=time.time(), n_labels=len(labels))
        else:
            made = Snapshot(
                model=live,
                live=live,
                quality=estimate(log, self._with_threshold(live)),
                held_out=self._held_out(self._with_threshold(live)),
                curve=curve(log),
                changes=_changes(before.model, live),
                time=time.time(),
                seconds=time.perf_counter() - started,
                n_labels=len(labels),
            )
        with self._lock:
            self.snapshot = made
            self._queues = {}
        picks = self._make_queue(self.order, _QUEUE)
        self._save(made)
        with config_context(n_jobs=1):
            teacher.prepare([pick.candidate for pick in picks[:_PREPARED]])

    def _held_out(self, model: TeachingModel) -> dict[str, Any] | None:
        """Return the scores of a model on held-out documents, which are annotated."""
        columns = self.project.candidates
        rows = np.flatnonzero(columns.held_out)
        rows = rows[[columns.annotation[row] is not None for row in rows.tolist()]]
        if not len(rows):
            return None
        predicted = [model.classes[column] for column in model.predicted()[rows].tolist()]
        true = [str(columns.annotation[row]) for row in rows.tolist()]
        documents = columns.document[rows].tolist()
        undirected = {name for name in model.classes if type_of(name) == name}
        true = [type_of(name) if type_of(name) in undirected else name for name in true]
        names = sorted({*true, *predicted, NONE})
        positive = [name for name in names if name != NONE]
        if not positive:
            return None
        several = len(set(documents)) > 1
        scores = score(
            true,
            predicted,
            classes=names,
            positive=positive,
            groups=documents if several else None,
        ).micro
        return {
            "f1": interval(scores.f1),
            "precision": interval(scores.precision),
            "recall": interval(scores.recall),
            "n_documents": len(set(documents)),
        }

    def _restored(self) -> Snapshot:
        """Return the snapshot that the project keeps from an earlier session."""
        stored = self.project.latest_model()
        if stored is None:
            return Snapshot()
        log = list(self._log)
        n_labels = int(stored.facts.get("labels", stored.n_decisions))
        model = TeachingModel(
            stored.number, n_labels, stored.classes, stored.probabilities, stored.threshold
        )
        return Snapshot(
            model=model,
            quality=estimate(log, self._with_threshold(model)),
            held_out=stored.facts.get("held_out"),
            curve=curve(log),
            time=stored.time,
            n_labels=n_labels,
        )

    def _save(self, snapshot: Snapshot, *, whole: bool = False) -> None:
        """Keep the figures of a model in the project, and its probabilities now and then."""
        model = snapshot.live
        if self.project.read_only or model is None:
            return
        now = time.monotonic()
        whole = whole or now - self._saved_at > _SAVE_EVERY
        self._saved_at = now if whole else self._saved_at
        quality = snapshot.quality
        number = self.project.save_model(
            n_decisions=len(self._log),
            classes=model.classes,
            probabilities=model.probabilities if whole else None,
            threshold=model.threshold,
            facts={
                "labels": snapshot.n_labels,
                "f1": None if quality is None or quality.f1 is None else interval(quality.f1),
                "held_out": snapshot.held_out,
                "seconds": round(snapshot.seconds, 3),
            },
        )
        with self._lock:
            if self.snapshot is snapshot:
                self.snapshot = replace(snapshot, model=replace(model, number=number))

    # Status.

    def status(self) -> dict[str, Any]:
        """Return the state of the session as JSON values."""
        with self._lock:
            decided = dict(self._decided)
            snapshot, training, waiting = self.snapshot, self._training, self._waiting
            error = self._error
        labels = [one.label for one in decided.values()]
        types = Counter(type_of(label) for label in labels if label not in (None, NONE))
        columns, left = self.project.candidates, self.left()
        more = 0 if snapshot.model is None else min(_MORE, left)
        return {
            "project": self.project.path.name,
            "read_only": self.project.read_only,
            "order": self.order,
            "counts": {
                "documents": len(self.project.documents()),
                "sentences": self.project.n_sentences,
                "candidates": len(columns.names),
                "held_out": int(columns.held_out.sum()),
                "decided": sum(label is not None for label in labels),
                "relations": types.total(),
                "skipped": sum(label is None for label in labels),
                "left": left,
            },
            "by_type": [[name, n] for name, n in types.most_common()],
            "model": self._model_status(snapshot),
            "training": training,
            "waiting": waiting,
            "retrain_after": self.retrain_after,
            "error": error,
            "quality": _quality_object(snapshot.quality),
            "held_out": snapshot.held_out,
            "curve": [
                {"labels": one.n_decisions, "f1": one.f1, "low": one.low, "high": one.high}
                for one in snapshot.curve
            ],
            "changes": snapshot.changes,
            "outlook": outlook(snapshot.curve, more=more).text,
        }

    def _model_status(self, snapshot: Snapshot) -> dict[str, Any] | None:
        if snapshot.model is None:
            return None
        return {
            "number": snapshot.model.number,
            "labels": snapshot.n_labels,
            "learns_annotation": self.learns_annotation,
            "threshold": self.threshold,
            "seconds": round(snapshot.seconds, 3),
            "time": snapshot.time,
        }


def _changes(before: TeachingModel | None, after: TeachingModel) -> dict[str, int] | None:
    """Return how predictions changed, and since which model."""
    return None if before is None else {**changes(before, after), "since": before.number}


def interval(value: Estimate) -> list[float | None]:
    """Return an estimate as its value and the ends of its interval.

    Examples
    --------
    >>> interval(Estimate(0.5, 0.25, 0.75))
    [0.5, 0.25, 0.75]
    """
    return [float(value), value.low, value.high]


def _quality_object(quality: Quality | None) -> dict[str, Any] | None:
    if quality is None or quality.f1 is None:
        return None
    return {
        "f1": interval(quality.f1),
        "precision": None if quality.precision is None else interval(quality.precision),
        "recall": None if quality.recall is None else interval(quality.recall),
        "n_checks": quality.n_checks,
        "n_relations": quality.n_relations,
        "note": (
            f"F1 of the current model on {quality.n_checks} decided candidates that were drawn at "
            "random, each predicted from the labels of other documents"
        ),
    }
