"""What an extractor does behind its methods: from sentences to candidates to decisions."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from kernelwood.arrays import batch
from kernelwood.compute import config_context, resolve_jobs
from kernelwood.errors import KernelInputError
from kernelwood.kernels import Kernel, drop_unread_views, needed_views
from kernelwood.parameters import ChecksParameters
from kernelwood.relations.analysis import GIVEN, analyze, needs_parse, warn_of_parser
from kernelwood.relations.candidate_lists import names_of
from kernelwood.relations.evidence import Memory, marked_text
from kernelwood.relations.hypotheses import (
    EVENT,
    MAX_EVENT_ENTITIES,
    Classes,
    Hypotheses,
    Located,
    describe,
    documents_or,
    hypotheses,
    learn_classes,
    type_of,
)
from kernelwood.relations.judgeable import Judgeable, why, with_views
from kernelwood.relations.learning import (
    class_scores,
    deal_documents,
    detect,
    fit_and_hold_out,
    gives_probabilities,
)
from kernelwood.relations.predictions import NONE, Prediction, Predictions
from kernelwood.relations.recipes import (
    EVENT_VIEWS,
    PAIR_VIEWS,
    SOFT_PAIR_VIEWS,
    TYPES,
    check_options,
    find_recipe,
    kernel_on,
    make_learner,
)
from kernelwood.relations.restoring import check_fitted
from kernelwood.relations.thresholds import (
    THRESHOLDS,
    Judged,
    Line,
    draw_line,
    probability,
    ranking,
    rates,
)
from kernelwood.relations.triggers import find_triggers, learn_triggers
from kernelwood.seeds import resolve_seed
from kernelwood.text import Candidate, Example
from kernelwood.vectors import Vectors
from kernelwood.views import find_view, several

__all__ = ["ExtractorBase"]

_LOG = logging.getLogger(__name__)

_LABELS = ("auto", "binary", "type", "directed")


class ExtractorBase(ChecksParameters, BaseEstimator):  # type: ignore[misc]
    """Parameters and fitted attributes are those of `RelationExtractor`."""

    def _analyzed(
        self, documents: Iterable[Example], parser: Any, dropped: Counter[str]
    ) -> tuple[list[Located], str]:
        needed = needs_parse(self._views())
        located, used = analyze(
            documents,
            parser,
            dropped,
            needed=needed,
            least=1 if self.candidates == "events" else 2,
            most=self._most_entities(),
            n_jobs=self.n_jobs,
        )
        return located, used if needed else GIVEN

    def _most_entities(self) -> int:
        # Triggers are entities, too, and do not count.
        return 10 * MAX_EVENT_ENTITIES if self.candidates == "events" else int(self.max_entities)

    def _views(self) -> tuple[str, ...]:
        if hasattr(self, "views_"):
            return tuple(self.views_)
        if self.views is not None:
            return several(self.views)
        if self.kernel is not None:
            return needed_views(self.kernel) or ()
        if self.candidates == "events":
            return EVENT_VIEWS
        return PAIR_VIEWS if self.vectors is None else SOFT_PAIR_VIEWS

    # Learning.

    def _learn(self, located: list[Located], parser: str, dropped: Counter[str]) -> None:
        seed = resolve_seed(self.random_state)
        views = self._views()
        events = self.candidates == "events"
        classes = self._learn_classes(located)
        if views in (PAIR_VIEWS, SOFT_PAIR_VIEWS) and self.views is None and self.kernel is None:
            # Several relations are told apart by what they are between, too. Whether there is one
            # at all is not: types are often a matter of how a corpus was annotated.
            views += (TYPES,) if classes.labels != "binary" and len(classes.roles) > 1 else ()
        found = self._hypotheses(located, classes, None)
        dropped.update(found.dropped)
        _LOG.info("making views of %d candidates", len(found.candidates))
        ready = with_views(found, views, dropped)
        y = self._targets(ready, dropped)
        kernel = self.kernel or kernel_on(views, self.vectors)
        # Where a corpus lies is nobody's business, and must not be in the file of a model.
        bare = [Example(example.id, example.label, example.views) for example in ready.examples]
        X = drop_unread_views(batch(bare), kernel)
        learner = make_learner(find_recipe(self.recipe), kernel, self.options or {}, len(y), seed)
        line, held_out = self._fit_learner(learner, X, y, ready, located, seed)
        self.learner_, self.seed_, self.views_, self.parser_ = learner, seed, list(views), parser
        self.labels_, self.undirected_ = classes.labels, list(classes.undirected)
        self.roles_ = classes.roles
        self.triggers_ = learn_triggers(located) if events else []
        self.slope_, self.offset_, self.threshold_ = line
        self.held_out_, self.dropped_ = held_out, dict(dropped)
        self.cases_, self.case_types_ = X, y.astype(object)
        texts = [marked_text(candidate) for candidate in ready.candidates]
        self.case_texts_ = np.array([*texts, None], dtype=object)[:-1]
        names = [place.document for place in located]
        self.n_documents_ = len(set(documents_or([place.example for place in located], names)))
        self.n_sentences_, self.n_candidates_ = len(located), len(y)
        self.n_relations_ = int((y != NONE).sum())

    def _learn_classes(self, located: Iterable[Located]) -> Classes:
        symmetric = several(self.symmetric or ())
        return learn_classes(located, self.labels, symmetric, names_of(self.relations))

    def _targets(self, ready: Judgeable, dropped: Mapping[str, int]) -> NDArray[Any]:
        """Return the class of each candidate, or raise an error if there is nothing to learn."""
        if not ready.candidates:
            raise KernelInputError(f"there are no candidates to learn from: {why(dropped)}")
        y = np.array([str(candidate.label) for candidate in ready.candidates])
        if (y == NONE).all():
            raise KernelInputError(
                f"none of the {len(y):,} candidates is a relation"
                f"{f' ({why(dropped)})' if dropped else ''}; annotate relations between entities "
                "of one sentence, or check the types of entities and relations that are asked for"
            )
        if (y != NONE).all():
            raise KernelInputError(
                f"all {len(y):,} candidates are relations, so there is nothing to tell them from; "
                "add sentences with entities that are not related"
            )
        return y

    def _fit_learner(
        self,
        learner: Any,
        X: Any,
        y: NDArray[Any],
        ready: Judgeable,
        located: Sequence[Located],
        seed: int,
    ) -> tuple[Line, dict[str, float | None]]:
        """Fit the classifier; return what held-out documents say about its scores."""
        places = documents_or(ready.candidates, [located[i].document for i in ready.sentences])
        folds = deal_documents(places, ready.sentences, y.tolist(), self.n_splits, seed)
        _LOG.info("learning from %d candidates", len(y))
        scores = fit_and_hold_out(learner, X, y, folds)
        detected, best = detect(
            scores, learner.classes_, probabilities=gives_probabilities(learner)
        )
        judged = Judged(detected, y != NONE, learner.classes_[best] == y)
        line = draw_line(judged, places, self.threshold, seed=seed)
        measured = rates(judged, probability(detected, line) >= line.threshold)._asdict()
        auc, precision = ranking(judged.positive, detected)
        return line, {**measured, "auc": auc, "average_precision": precision}

    # Judging.

    def _predicted(
        self,
        located: list[Located],
        used: str,
        dropped: Counter[str],
        *,
        all: bool,
        labeled: bool = True,
    ) -> Predictions:
        if self.candidates == "events":
            located = find_triggers(located, self.triggers_)
        classes = self._classes()
        found = self._hypotheses(located, classes, self._trigger_types())
        dropped.update(found.dropped)
        ready = with_views(found, self.views_, dropped)
        if not ready.candidates:
            return Predictions([], dropped)
        warn_of_parser(self.parser_, used)
        scores = class_scores(self.learner_, batch(ready.examples))
        names = self.learner_.classes_
        detected, best = detect(scores, names, probabilities=gives_probabilities(self.learner_))
        chances = probability(detected, self._line()).tolist()
        rows = zip(ready.candidates, ready.sentences, names[best].tolist(), chances, strict=True)
        made = [
            self._prediction(candidate, located[number].document, name, chance, labeled)
            for candidate, number, name, chance in rows
            if all or chance >= self.threshold_
        ]
        return Predictions(made, dropped)

    def _prediction(
        self, candidate: Candidate, document: str, name: str, chance: float, labeled: bool
    ) -> Prediction:
        sentence = candidate.sentence
        kind, participants, trigger = describe(candidate, name, self._classes(), sentence.start)
        label = str(candidate.label) if labeled else None
        if trigger is not None:
            name, label = kind, kind if label == EVENT else label
        return Prediction(
            candidate.id,
            document,
            kind,
            name,
            chance >= self.threshold_,
            chance,
            self.threshold_,
            participants,
            trigger,
            (sentence.start, sentence.start + len(sentence.text)),
            sentence.text,
            label,
            candidate,
            self.explain,
        )

    def _hypotheses(
        self, located: list[Located], classes: Classes, triggers: list[str] | None
    ) -> Hypotheses:
        return hypotheses(
            located,
            classes,
            events=self.candidates == "events",
            triggers=triggers,
            types=self.types,
            relations=self.relations,
            max_distance=self.max_distance,
            max_entities=self.max_entities,
        )

    def _trigger_types(self) -> list[str] | None:
        return sorted({kind for _, kind in self.triggers_}) or None

    def _classes(self) -> Classes:
        return Classes(self.labels_, tuple(self.undirected_), self.roles_)

    def _line(self) -> Line:
        return Line(self.slope_, self.offset_, self.threshold_)

    def _memory(self) -> Memory:
        return Memory(
            self.learner_.kernel_, self.cases_, self.case_types_, self.case_texts_, self.learner_
        )

    def _names(self) -> list[str]:
        """Return the relations that predictions may have, with directions, and ``"none"``."""
        if self.candidates == "events":
            return [*(self._trigger_types() or ()), NONE]
        return [str(name) for name in self.learner_.classes_.tolist()]

    @property
    def classes_(self) -> NDArray[Any]:
        """``"none"`` and the relations, with directions."""
        self._check_is_fitted()
        return np.array(self._names())

    @property
    def relations_(self) -> tuple[str, ...]:
        """The types of relations, or of events."""
        self._check_is_fitted()
        return tuple(sorted({type_of(name) for name in self._names()} - {NONE}))

    @property
    def positive_rate_(self) -> float:
        """How many of the candidates of the training documents are relations, from 0 to 1."""
        self._check_is_fitted()
        return self.n_relations_ / self.n_candidates_

    # Checks.

    @contextmanager
    def _threads(self) -> Iterator[None]:
        with nullcontext() if self.n_jobs is None else config_context(n_jobs=self.n_jobs):
            yield

    def _check_parameters(self) -> None:
        find_recipe(self.recipe)
        self._check_choice("candidates", ("pairs", "events"))
        self._check_choice("labels", _LABELS)
        self._check_count("max_distance", 0, none=True)
        self._check_count("max_entities", 2)
        self._check_count("n_splits", 2)
        self._check_count("n_evidence", 0)
        if isinstance(self.threshold, str):
            self._check_choice("threshold", THRESHOLDS)
        else:
            self._check_number("threshold", 0, 1, "(0, 1)")
        for name, kind in (("kernel", Kernel), ("vectors", Vectors), ("options", Mapping)):
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                raise KernelInputError(
                    f"RelationExtractor: {name} must be a {kind.__name__} or None, got {value!r}"
                )
        check_options(find_recipe(self.recipe), self.options or {})
        for name in ("license", "description", "parser"):
            if not isinstance(getattr(self, name), str):
                raise KernelInputError(f"RelationExtractor: {name} must be a string")
        self._check_views()
        if self.n_jobs is not None:
            resolve_jobs(self.n_jobs)

    def _check_views(self) -> None:
        views = self._views()
        if not views:
            raise KernelInputError(
                "RelationExtractor: the kernel does not say which view it compares; give it one, "
                "such as kw.OnView('path', kernel)"
            )
        needed = () if self.kernel is None else needed_views(self.kernel) or ()
        if missing := sorted(set(needed) - set(views)):
            raise KernelInputError(
                f"RelationExtractor: the kernel compares the view {missing[0]!r}, which is not in "
                f"views={list(views)}"
            )
        for name in views:
            try:
                find_view(name)
            except ValueError as failure:
                raise KernelInputError(f"RelationExtractor: {failure}") from failure

    def _check_restored(self) -> None:
        check_fitted(self)

    def _check_is_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                "this RelationExtractor is not fitted yet; call fit(documents) first, or load one"
            )

    def __sklearn_is_fitted__(self) -> bool:
        return all(hasattr(self, name) for name in self._fitted)
