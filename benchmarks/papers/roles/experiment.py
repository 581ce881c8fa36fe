"""The steps of the experiment: parts of the corpus, parses, candidates, kernel, labels."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from roles.candidates import Candidate, find_candidates, thin_out
from roles.corpus import arguments, document
from roles.facts import facts
from roles.learning import NONE, Machines, Matrix, Proposal, resolve, train

import kernelwood as kw
from kernelwood.text import Span
from kernelwood.views import Readings, argument_forest, argument_path_forest

__all__ = [
    "Coverage",
    "Instance",
    "Parts",
    "Settings",
    "Task",
    "constituents",
    "coverage",
    "instances",
    "label",
    "learn",
    "margins",
    "role_kernel",
    "role_views",
    "sample_tasks",
    "single_best",
    "split",
]

# A hyper-edge expected less often costs time and hardly changes a kernel value.
NEGLIGIBLE = 0.05
ROWS_AT_ONCE = 4096  # of similarities of test candidates to training candidates

Advance = Callable[[int], None]


@dataclass(frozen=True)
class Settings:
    """Everything that is chosen on held-out sentences; one choice for trees and forests.

    Attributes
    ----------
    theta : float
        Share of the path kernel; the rest is the argument kernel's.
    decay, sharpness : float
        Of the forest kernels.
    C : float
        Cost of errors of the support vector machines.
    none_bias, prior : float
        Of `roles.learning.resolve`.
    min_probability, max_crossing
        Of `roles.candidates.thin_out`.
    pruning : float
        Nats by which a reading may be worse than the best.
    weigh_negatives : bool
        Whether candidates that are no arguments count by their probability in training.
    """

    theta: float = 0.6
    decay: float = 0.4
    sharpness: float = 1.0
    C: float = 4.0
    none_bias: float = -0.4
    prior: float = 1.6
    min_probability: float = 0.05
    max_crossing: int = 4
    pruning: float = 4.0
    weigh_negatives: bool = True

    @property
    def uses_probability(self) -> bool:
        """Whether the learner knows how probable a candidate is."""
        return self.prior != 0 or self.weigh_negatives


@dataclass(frozen=True)
class Parts:
    """The training corpus, cut by documents: nobody is trained on what he must parse or label."""

    parser: list[kw.Sentence] = field(default_factory=list)
    learner: list[kw.Sentence] = field(default_factory=list)
    held_out: list[kw.Sentence] = field(default_factory=list)


@dataclass(frozen=True)
class Task:
    """One predicate of a sentence whose arguments are to be found."""

    sentence: kw.Sentence
    predicate: kw.text.Predicate

    @property
    def gold(self) -> frozenset[kw.text.RoleSpan]:
        """The arguments it has."""
        return arguments(self.predicate)


@dataclass(frozen=True)
class Instance:
    """One candidate of a task, as the kernel sees it, and its role if the gold standard has one."""

    task: int
    candidate: Candidate
    role: str
    example: kw.Example

    @property
    def weight(self) -> float:
        """How much it counts in training, if negative examples are weighed.

        A span that is no argument, and in most readings no candidate either, speaks against spans
        that look like it only as often as it is there.
        """
        return self.candidate.probability if self.role == NONE else 1.0


@dataclass
class Coverage:
    """How many gold arguments can be found at all, and among how many candidates."""

    arguments: int = 0
    no_constituent: int = 0
    no_candidate: int = 0
    constituents: int = 0
    candidates: int = 0


def split(sentences: Iterable[kw.Sentence], every: int = 5) -> Parts:
    """Cut a corpus by documents: four of five for the parser, of the rest one in five held out."""
    parts = Parts()
    documents: dict[str, int] = {}
    for sentence in sentences:
        number = documents.setdefault(document(sentence), len(documents))
        part, turn = number % every, number // every
        if part != every - 1:
            parts.parser.append(sentence)
        elif turn % every != every - 1:
            parts.learner.append(sentence)
        else:
            parts.held_out.append(sentence)
    return parts


def sample_tasks(sentences: Sequence[kw.Sentence], n: int, seed: int) -> list[Task]:
    """Return ``n`` predicates, or all if there are not as many, in the order of the corpus."""
    tasks = [
        Task(sentence, predicate) for sentence in sentences for predicate in sentence.predicates
    ]
    chosen = random.Random(seed).sample(range(len(tasks)), min(n, len(tasks)))
    return [tasks[number] for number in sorted(chosen)]


def instances(
    tasks: Sequence[Task],
    parses: Sequence[Readings],
    settings: Settings,
    advance: Advance = lambda n: None,
) -> list[Instance]:
    """Return the candidates of all tasks with their views; ``parses`` is one for each task."""
    found: list[Instance] = []
    for number, (task, readings) in enumerate(zip(tasks, parses, strict=True)):
        gold = {(argument.start, argument.end): argument.role for argument in task.gold}
        candidates = thin_out(
            find_candidates(readings, task.predicate.token),
            min_probability=settings.min_probability,
            max_crossing=settings.max_crossing,
        )
        for candidate in candidates:
            role = gold.get(candidate.span, NONE)
            example = _example(task, readings, candidate, str(len(found)))
            found.append(Instance(number, candidate, role, example))
        advance(1)
    return found


def _example(task: Task, readings: Readings, candidate: Candidate, name: str) -> kw.Example:
    place, lemma = task.predicate.token, task.predicate.lemma
    context = facts(task.sentence.words, place, lemma)
    return kw.Example(name, views=role_views(readings, place, candidate.span, lemma, context))


def role_views(
    readings: Readings,
    predicate: int,
    span: Span,
    lemma: str,
    context: Iterable[tuple[str, str]] = (),
) -> dict[str, kw.Forest]:
    """Return what the kernel sees of a candidate: its inside, and its path to the predicate.

    Both are the distribution of a structure over the readings in which the candidate is a
    constituent. Facts about the predicate are preterminals under the root of the path.
    """
    path = argument_path_forest(
        readings,
        predicate,
        *span,
        lemma=lemma,
        root="*PATH*",
        facts=context,
        negligible=NEGLIGIBLE,
    )
    argument = argument_forest(readings, *span, root="*ARGUMENT*", negligible=NEGLIGIBLE)
    return {"path": path, "argument": argument}


def single_best(forest: kw.Forest) -> kw.Forest:
    """Return the most probable tree of a forest as a forest of one tree."""
    return kw.Forest.from_trees([(forest.best_tree(), 1.0)])


def constituents(forest: kw.Forest) -> set[Span]:
    """Return the spans of all nodes above words."""
    spans = forest.spans or ()
    return {spans[head] for head, _, _ in forest.edges}


def coverage(
    tasks: Sequence[Task], forests: Sequence[kw.Forest], found: Sequence[Instance]
) -> Coverage:
    """Count the gold arguments that no constituent, and no candidate, matches."""
    candidates: list[set[Span]] = [set() for _ in tasks]
    for instance in found:
        candidates[instance.task].add(instance.candidate.span)
    total = Coverage(candidates=len(found))
    for task, forest, possible in zip(tasks, forests, candidates, strict=True):
        spans = [(argument.start, argument.end) for argument in task.gold]
        everything = constituents(forest)
        total.arguments += len(spans)
        total.no_constituent += sum(span not in everything for span in spans)
        total.no_candidate += sum(span not in possible for span in spans)
        total.constituents += len(everything)
    return total


def role_kernel(settings: Settings, n_jobs: int | None = None) -> kw.Kernel:
    """Return the kernel of Che et al. over forests: path and argument, each normalized."""
    part = kw.ForestKernel(decay=settings.decay, sharpness=settings.sharpness, n_jobs=n_jobs)
    path, argument = kw.OnView("path", part), kw.OnView("argument", part)
    return settings.theta * path + (1 - settings.theta) * argument


def learn(training: Sequence[Instance], settings: Settings, n_jobs: int) -> Machines:
    """Train the machines of all roles."""
    examples = [instance.example for instance in training]
    gram = role_kernel(settings, n_jobs).gram(examples)
    roles = [instance.role for instance in training]
    weights = [instance.weight for instance in training] if settings.weigh_negatives else None
    return train(gram, roles, C=settings.C, weights=weights, n_jobs=n_jobs)


def margins(
    machines: Machines,
    training: Sequence[Instance],
    found: Sequence[Instance],
    settings: Settings,
    n_jobs: int,
    advance: Advance = lambda n: None,
) -> Matrix:
    """Return the margins of all roles for the candidates found."""
    kernel = role_kernel(settings, n_jobs)
    known = kw.batch([instance.example for instance in training])
    rows = []
    for begin in range(0, len(found), ROWS_AT_ONCE):
        some = [instance.example for instance in found[begin : begin + ROWS_AT_ONCE]]
        rows.append(machines.margins(kernel.cross(some, known)))
        advance(len(some))
    return np.concatenate(rows)


def label(
    n_tasks: int,
    found: Sequence[Instance],
    values: Matrix,
    roles: Sequence[str],
    settings: Settings,
) -> list[frozenset[kw.text.RoleSpan]]:
    """Return the arguments of each task by the margins of its candidates."""
    proposals: list[list[Proposal]] = [[] for _ in range(n_tasks)]
    for instance, row in zip(found, values, strict=True):
        candidate = instance.candidate
        proposals[instance.task].append(Proposal(candidate.span, candidate.probability, row))
    return [
        resolve(some, roles, none_bias=settings.none_bias, prior=settings.prior)
        for some in proposals
    ]
