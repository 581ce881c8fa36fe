"""Roles from any number of predicates: least squares on landmarks, batch by batch.

Every sentence of the training part is parsed by a parser that has not seen its document, so that
all of them can teach roles.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from roles.corpus import document
from roles.experiment import (
    Advance,
    Instance,
    Settings,
    Task,
    instances,
    label,
    role_kernel,
)
from roles.learning import NONE, Matrix
from roles.scoring import score

import kernelwood as kw
from kernelwood.views import Readings

__all__ = [
    "RARE",
    "LandmarkRoles",
    "choose_labels",
    "frequent_roles",
    "learn_stream",
    "margins_of",
    "turns",
]

RARE = "RARE"  # the label of roles that are too rare to be proposed
MIN_EXAMPLES = 5
TASKS_AT_ONCE = 500  # predicates whose views are in memory
BIASES = (-0.6, -0.4, -0.2, 0.0, 0.2)
PRIORS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)

Prepare = Callable[[kw.Forest], kw.Forest]  # prunes a forest, or takes its best tree


@dataclass(frozen=True)
class LandmarkRoles:
    """A fitted classifier of candidates and the roles it may propose."""

    model: kw.LandmarkRidgeClassifier
    roles: tuple[str, ...]

    def margins(self, found: Sequence[Instance]) -> Matrix:
        """Return the scores of all roles, shape (candidates, roles)."""
        scores = self.model.decision_function([instance.example for instance in found])
        if scores.ndim == 1:
            scores = np.stack([-scores, scores], axis=1)
        columns = [list(self.model.classes_).index(role) for role in self.roles]
        return scores[:, columns]


def turns(
    sentences: Sequence[kw.Sentence], n_turns: int
) -> Iterator[tuple[list[kw.Sentence], list[kw.Sentence]]]:
    """Yield the sentences to learn a parser from, and those of other documents to parse with it.

    Examples
    --------
    >>> texts = [kw.Sentence.from_words(["yes"], metadata=[("doc", name)]) for name in "aab"]
    >>> [(len(known), len(new)) for known, new in turns(texts, 2)]
    [(1, 2), (2, 1)]
    """
    number: dict[str, int] = {}
    for sentence in sentences:
        number.setdefault(document(sentence), len(number) % n_turns)
    for turn in range(n_turns):
        new = [one for one in sentences if number[document(one)] == turn]
        yield [one for one in sentences if number[document(one)] != turn], new


def frequent_roles(tasks: Sequence[Task]) -> frozenset[str]:
    """Return the roles that are frequent enough to be proposed."""
    counts = Counter(argument.role for task in tasks for argument in task.gold)
    return frozenset(role for role, count in counts.items() if count >= MIN_EXAMPLES)


def candidates_of(
    tasks: Sequence[Task],
    forests: Mapping[kw.Sentence, kw.Forest],
    prepare: Prepare,
    settings: Settings,
    advance: Advance,
) -> list[Instance]:
    """Return the candidates of some tasks."""
    made = {sentence: Readings(prepare(forests[sentence])) for sentence in _sentences(tasks)}
    return instances(tasks, [made[task.sentence] for task in tasks], settings, advance)


def learn_stream(
    tasks: Sequence[Task],
    forests: Mapping[kw.Sentence, kw.Forest],
    prepare: Prepare,
    settings: Settings,
    *,
    n_landmarks: int,
    seed: int = 0,
    n_jobs: int = 1,
    advance: Advance = lambda n: None,
) -> LandmarkRoles:
    """Learn roles from tasks in random order, with the views of some of them in memory.

    Landmarks are chosen among the candidates of the first tasks. Negative examples all count
    alike, whatever ``settings.weigh_negatives``.
    """
    shuffled = list(tasks)
    random.Random(seed).shuffle(shuffled)
    roles = frequent_roles(tasks)

    def batches() -> Iterator[tuple[Any, list[str]]]:
        for begin in range(0, len(shuffled), TASKS_AT_ONCE):
            some = shuffled[begin : begin + TASKS_AT_ONCE]
            found = candidates_of(some, forests, prepare, settings, advance)
            if found:
                labels = [i.role if i.role in roles | {NONE} else RARE for i in found]
                yield [instance.example for instance in found], labels

    model = kw.LandmarkRidgeClassifier(
        role_kernel(settings), n_landmarks=n_landmarks, random_state=seed, n_jobs=n_jobs
    )
    model.fit_batches(batches())
    return LandmarkRoles(model, tuple(role for role in model.classes_.tolist() if role != RARE))


def margins_of(
    machines: LandmarkRoles,
    tasks: Sequence[Task],
    forests: Mapping[kw.Sentence, kw.Forest],
    prepare: Prepare,
    settings: Settings,
    advance: Advance = lambda n: None,
) -> tuple[list[Instance], Matrix]:
    """Return the candidates of all tasks, and their margins."""
    found: list[Instance] = []
    rows = [np.empty((0, len(machines.roles)))]
    for begin in range(0, len(tasks), TASKS_AT_ONCE):
        some = tasks[begin : begin + TASKS_AT_ONCE]
        new = candidates_of(some, forests, prepare, settings, advance)
        if new:
            rows.append(machines.margins(new))
        found += [replace(instance, task=begin + instance.task) for instance in new]
    return found, np.concatenate(rows)


def choose_labels(
    tasks: Sequence[Task],
    found: Sequence[Instance],
    values: Matrix,
    roles: Sequence[str],
    settings: Settings,
) -> tuple[Settings, list[dict[str, float]]]:
    """Return the best bias and prior on held-out tasks, and all that were tried."""
    gold = [task.gold for task in tasks]
    tried: list[dict[str, float]] = []
    for bias, prior in product(BIASES, PRIORS):
        one = replace(settings, none_bias=bias, prior=prior)
        f1 = score(gold, label(len(tasks), found, values, roles, one)).f1
        tried.append({"none_bias": bias, "prior": prior, "f1": f1})
    best = max(tried, key=lambda row: row["f1"])
    return replace(settings, none_bias=best["none_bias"], prior=best["prior"]), tried


def _sentences(tasks: Sequence[Task]) -> list[kw.Sentence]:
    return list(dict.fromkeys(task.sentence for task in tasks))
