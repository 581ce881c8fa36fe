"""Gate learning by information: the objective on hashcodes, and a chain over gates.

A few latent variables cannot explain hundreds of bits, and a sample of a few hundred codes looks
more regular than its distribution. Both errors of entropies exceed the effect of one gate. Three
measures make them cancel:

- The codes of a class are compared with those of *groups*: random structures, as many as the class
  has. Errors of both entropies are alike.
- The same latent variables explain the codes of all classes and groups. Optima of separate
  searches would differ by more than the effect.
- For the same reason the latent variables are not searched for. Each is an indicator of the nearer
  one of two fixed structures. The explained part is a lower bound, and so is the mean over several
  sets of latent variables, which varies less.

All random numbers are drawn once, so that the objective is a function of the state.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from itertools import count, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.features import draw_bits, draw_sample, make_bits, n_words, unpack
from kernelwood.information import Search, random_start
from kernelwood.kernels import Kernel
from kernelwood.parameters import Parameterized
from kernelwood.seeds import child_generator, resolve_seed
from kernelwood.tuning.problem import (
    Decision,
    Earlier,
    GateProblem,
    Open,
    Outcome,
    plain_value,
    resumed_number,
)

Bits = NDArray[np.uint8]
Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Steps = Generator[tuple[Decision, bool], None, None]

# Purposes of child generators.
_SAMPLE, _REFERENCES, _SUBSETS, _GROUPS, _LATENT, _STEPS, _POLISH = range(5, 12)
# Sets of latent variables, each with groups of its own. One set alone favors kernels that
# distinguish fewer structures.
_SETS, _SET_SIZE = 8, 8
_POLISHING_SWEEPS = 3
_ROUNDING = 1e-6


@dataclass(frozen=True)
class CodeSettings:
    """Parameters of the hashcodes and their sample; see :class:`GateLearner`."""

    n_samples: int
    hash_method: str
    n_references: int
    n_bits: int
    subset_size: int


class InformationObjective:
    r"""Mutual information of hashcodes and classes above chance, in nats.

    .. math:: \sum_y p(y) \left(\bar H(c \mid g_y) - \bar H(c \mid y)\right)

    with classes :math:`y` and random groups :math:`g_y` of the same sizes, drawn from structures
    with and without a class.

    Parameters
    ----------
    problem : GateProblem
    settings : CodeSettings
        Codes of ``n_samples`` structures with a class are used, at least one of every class, and of
        as many without.
    unlabeled : batch, optional
        Structures without a class.
    """

    def __init__(self, problem: GateProblem, settings: CodeSettings, unlabeled: Any) -> None:
        self._problem, self._method = problem, settings.hash_method
        self._unlabeled: Any = None
        n = len(problem.X)
        sample = draw_sample(self._generator(_SAMPLE), problem.classes, min(settings.n_samples, n))
        self._sample, self._classes = problem.X[sample], problem.classes[sample]
        if unlabeled is not None:
            drawn = self._generator(_SAMPLE, 1).permutation(len(unlabeled))
            self._unlabeled = unlabeled[np.sort(drawn[: settings.n_samples])]
        n_more = 0 if self._unlabeled is None else len(self._unlabeled)
        self._groups = [
            draw_groups(self._generator(_GROUPS, i), self._classes, n_more) for i in range(_SETS)
        ]
        n_references = min(settings.n_references, n)
        if n_references < 2 * settings.subset_size:
            raise KernelInputError(
                f"GateLearner: two subsets of subset_size={settings.subset_size} need "
                f"{2 * settings.subset_size} references, there are {n_references}"
            )
        references = self._generator(_REFERENCES).permutation(n)[:n_references]
        self._references = problem.X[np.sort(references)]
        self._subsets = self._draw_subsets(settings)
        self._latent = self._seed(_LATENT)

    def value(self, is_open: Open, parameters: Mapping[str, Any]) -> float:
        """Return the objective of gates and kernel parameters."""
        bits = self.bits(is_open, parameters)
        questions = random_start(bits, _SETS * _SET_SIZE, self._latent, 0)
        sets = np.split(questions, _SETS, axis=1)
        return information_above_chance(bits, self._classes, self._groups, sets)

    def bits(self, is_open: Open, parameters: Mapping[str, Any]) -> Bits:
        """Return codes, one byte per bit: of structures with a class, then of those without."""
        # Copies, because parameters inside a listed value can be set, too.
        own = {
            name: value.clone() if isinstance(value, Parameterized) else value
            for name, value in parameters.items()
        }
        kernel = self._problem.kernel.clone().set_params(**own)
        kernel = self._problem.kernel_with(is_open, kernel)
        block = make_bits(self._method, self._gram(kernel), self._subsets)
        codes = []
        for batch in (self._sample, self._unlabeled):
            if batch is not None:
                similarities = kernel.cross(batch, self._references, dtype="float64")
                packed = np.zeros((len(batch), n_words(block.n_bits)), dtype=np.uint64)
                block.fill(similarities, 0, packed)
                codes.append(unpack(packed, block.n_bits))
        return np.concatenate(codes)

    def _draw_subsets(self, settings: CodeSettings) -> NDArray[np.int32]:
        """Draw the references of each bit, without constant bits for the initial kernel."""
        return draw_bits(
            self._method,
            self._gram(self._problem.kernel_with(self._problem.start())),
            seed=self._seed(_SUBSETS),
            first_bit=0,
            n_bits=settings.n_bits,
            subset_size=settings.subset_size,
        ).subsets

    def _gram(self, kernel: Kernel) -> Floats:
        return np.asarray(kernel.gram(self._references, dtype="float64"))

    def _seed(self, purpose: int) -> int:
        return resolve_seed(self._generator(purpose))

    def _generator(self, *path: int) -> np.random.Generator:
        return child_generator(self._problem.seed, self._problem.run, *path)


def draw_groups(random: np.random.Generator, classes: NDArray[Any], n_more: int) -> list[Numbers]:
    """Draw random groups of the same sizes as the classes.

    Parameters
    ----------
    random : Generator
    classes : ndarray of int, shape (n,)
    n_more : int
        Number of structures without a class, which follow those with one.

    Returns
    -------
    list of ndarrays of int64
        A group for each class that occurs, by rising class number; groups are disjoint.

    Examples
    --------
    >>> draw_groups(np.random.default_rng(0), np.array([0, 0, 1]), n_more=1)
    [array([0, 2]), array([1])]
    """
    ends = np.cumsum(np.unique(classes, return_counts=True)[1])
    order = random.permutation(len(classes) + n_more)
    return [np.sort(group) for group in np.split(order, ends)[: len(ends)]]


def information_above_chance(
    bits: Bits, classes: NDArray[Any], groups: list[list[Numbers]], latent: list[Floats]
) -> float:
    """Return the mean excess of the entropy of groups over that of classes, in nats.

    Parameters
    ----------
    bits : ndarray of uint8, shape (n, n_bits)
        Codes of structures with a class, then of those without.
    classes : ndarray of int
        Class numbers.
    groups : list of lists of ndarrays of int64
        Groups of :func:`draw_groups` for each set of latent variables.
    latent : list of ndarrays of float64, shape (n, n_latent)
        Sets of latent variables, as probabilities of 1. The result is the mean over the sets.

    Examples
    --------
    >>> classes = np.tile([0, 1], 50)
    >>> bits = classes[:, None].astype(np.uint8)
    >>> groups = draw_groups(np.random.default_rng(0), classes, 0)
    >>> round(information_above_chance(bits, classes, [groups], [np.full((100, 1), 0.5)]), 1)
    0.7
    """
    present, sizes = np.unique(classes, return_counts=True)
    members = [np.flatnonzero(classes == number) for number in present]
    parts = [(each, some) for each, own in zip(latent, groups, strict=True) for some in own]
    parts += [(each, some) for each in latent for some in members]
    found = Search(1, 1, 0, 0.0, 0, None).run(
        [bits[some] for _, some in parts], [each[some] for each, some in parts]
    )
    entropies = np.array([part.sum_of_entropies - part.total_correlation for part in found])
    of_groups, of_classes = entropies.reshape(2, len(latent), len(present))
    gains = (of_groups - of_classes).mean(axis=0)
    return float((gains * sizes).sum() / len(classes))


@dataclass(frozen=True)
class ChainSettings(CodeSettings):
    """Parameters of :func:`search_by_information`; see :class:`GateLearner`."""

    n_steps: int
    patience: int | None
    temperature: float
    parameters: dict[str, list[Any]]
    search: str


@dataclass(frozen=True)
class _State:
    """Gates, and the index of the value of each parameter."""

    is_open: tuple[bool, ...]
    choices: tuple[int, ...]

    def with_gate(self, t: int, is_open: bool) -> _State:
        return _State((*self.is_open[:t], is_open, *self.is_open[t + 1 :]), self.choices)

    def with_choice(self, i: int, choice: int) -> _State:
        return _State(self.is_open, (*self.choices[:i], choice, *self.choices[i + 1 :]))


def search_by_information(
    problem: GateProblem, settings: ChainSettings, unlabeled: Any, earlier: Earlier
) -> Generator[tuple[Decision, bool], None, Outcome]:
    """Search over gates and kernel parameters, and return the best sample.

    Yields decisions, and whether they are new. There are up to three phases; the last two share
    ``n_steps``:

    ``"grid"``
        With ``search="grid"``, all combinations of parameters are tried, and the best is kept.
    ``"chain"``
        The Metropolis-Hastings chain. A step flips a random gate, or changes a random parameter. It
        ends early when ``patience`` is exhausted.
    ``"polish"``
        From the best sample, only improving steps are taken, until there is none. A chain hot
        enough to leave its start does not end exactly at an optimum.
    """
    walk = _Walk(problem, settings, unlabeled, earlier)
    if settings.search == "grid":
        yield from walk.try_grid()
    yield from walk.run_chain()
    yield from walk.polish()
    return walk.conclude()


class _Walk:
    """State of a search, and the best state so far."""

    def __init__(
        self, problem: GateProblem, settings: ChainSettings, unlabeled: Any, earlier: Earlier
    ) -> None:
        self._problem, self._settings, self._earlier = problem, settings, earlier
        self._objective = InformationObjective(problem, settings, unlabeled)
        self._values: dict[_State, float] = {}
        self._names = list(settings.parameters)
        self._state = self._best = self._start()
        self._step, self._end = 0, settings.n_steps

    def _start(self) -> _State:
        """Return the gates of the kernel, and its own parameters where they are listed."""
        given = self._problem.kernel.get_params()
        choices = [
            next((i for i, value in enumerate(values) if value == given.get(name)), 0)
            for name, values in self._settings.parameters.items()
        ]
        return _State(tuple(self._problem.start().tolist()), tuple(choices))

    # The phases.

    def try_grid(self) -> Steps:
        """Try all combinations of parameters with the initial gates."""
        if self._names:
            for choices in product(*(range(len(v)) for v in self._settings.parameters.values())):
                tried = _State(self._state.is_open, choices)
                yield self._decide("grid", {"parameters": self._plain_parameters(tried)}, tried)
        self._end += self._step

    def run_chain(self) -> Steps:
        """Take random steps; accept better ones always, worse ones with falling probability."""
        polishing = min(_POLISHING_SWEEPS * self._n_moves, self._settings.n_steps // 2)
        since_best = 0
        while self._step < self._end - polishing and since_best != self._settings.patience:
            random = self._generator(_STEPS, self._step)
            chance = 1.0 - float(random.random())  # above 0
            best, move = self._best, int(random.integers(self._n_moves))
            yield self._move("chain", move, random, self._settings.temperature * math.log(chance))
            since_best = since_best + 1 if self._best == best else 0

    def polish(self) -> Steps:
        """Take improving steps from the best sample, until a sweep finds none."""
        self._state = self._best
        for sweep in count():
            before = self._state
            random = self._generator(_POLISH, sweep)
            for move in random.permutation(self._n_moves).tolist():
                if self._step == self._end:
                    return
                yield self._move("polish", move, random)
            if self._state == before:
                return

    def conclude(self) -> Outcome:
        """Return the best sample, with the objective for each gate open and closed."""
        best, n = self._best, len(self._best.is_open)
        losses = np.empty((2, n))
        for t in range(n):
            for row, is_open in enumerate((True, False)):
                losses[row, t] = -self._value(best.with_gate(t, is_open))
        parameters = self._parameters(best)
        return Outcome(np.array(best.is_open), losses[0], losses[1], parameters, -self._value(best))

    # Steps.

    @property
    def _n_moves(self) -> int:
        """Number of gates, and of parameters that the chain may change."""
        return len(self._state.is_open) + len(self._movable)

    @property
    def _movable(self) -> list[int]:
        if self._settings.search == "grid":
            return []
        values = self._settings.parameters.values()
        return [i for i, some in enumerate(values) if len(some) > 1]

    def _move(
        self, phase: str, move: int, random: np.random.Generator, margin: float = 0.0
    ) -> tuple[Decision, bool]:
        """Propose to flip a gate, or to change a parameter to another value, uniformly."""
        state, n = self._state, len(self._state.is_open)
        if move < n:
            proposed = state.with_gate(move, not state.is_open[move])
            return self._decide(
                phase, {"label": self._problem.table.labels[move]}, proposed, margin
            )
        i = self._movable[move - n]
        name = self._names[i]
        others = [c for c in range(len(self._settings.parameters[name])) if c != state.choices[i]]
        proposed = state.with_choice(i, others[int(random.integers(len(others)))])
        about = {"parameter": name, "proposed": self._plain_parameters(proposed)[name]}
        return self._decide(phase, about, proposed, margin)

    def _decide(
        self, phase: str, about: Decision, proposed: _State, margin: float = 0.0
    ) -> tuple[Decision, bool]:
        """Accept a proposed state if it is better by more than a margin, which can be negative."""
        key = {"run": self._problem.run, "step": self._step, "phase": phase, **about}
        known = self._earlier.take(**key)
        before, current = self._state, self._value(self._state)
        if known is not None:
            self._values[proposed] = resumed_number(known, "objective", self._step)
        value = self._value(proposed)
        accepted = value - current > margin
        if accepted:
            self._state = proposed
            if value > self._value(self._best):
                self._best = proposed
        self._step += 1
        decision: Decision = {
            **key,
            **self._change(about, before),
            "current": current,
            "objective": value,
            "accepted": accepted,
            "best": self._value(self._best),
        }
        if known is not None:
            _check_replayed(known, decision)
            return known, False
        return decision, True

    def _change(self, about: Decision, before: _State) -> Decision:
        """Return the state before and after a step, of the gate or parameter it is about."""
        if "label" in about:
            t = self._problem.table.labels.index(about["label"])
            return {"before": before.is_open[t], "open": self._state.is_open[t]}
        then, now = self._plain_parameters(before), self._plain_parameters(self._state)
        if "parameter" in about:
            return {"before": then[about["parameter"]], "value": now[about["parameter"]]}
        return {"before": then, "value": now}

    # Values.

    def _value(self, state: _State) -> float:
        if state not in self._values:
            is_open = np.array(state.is_open)
            self._values[state] = self._objective.value(is_open, self._parameters(state))
        return self._values[state]

    def _parameters(self, state: _State) -> dict[str, Any]:
        listed = self._settings.parameters
        return {
            name: listed[name][choice]
            for name, choice in zip(self._names, state.choices, strict=True)
        }

    def _plain_parameters(self, state: _State) -> dict[str, Any]:
        return {name: plain_value(value) for name, value in self._parameters(state).items()}

    def _generator(self, *path: int) -> np.random.Generator:
        return child_generator(self._problem.seed, self._problem.run, *path)


def _check_replayed(known: Decision, decision: Decision) -> None:
    """Raise KernelInputError unless a resumed decision is the one this search makes."""
    for name, value in decision.items():
        found = known.get(name)
        # Values computed on another machine can differ in the last bits.
        if isinstance(value, float) and isinstance(found, float):
            same = math.isclose(found, value, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
        else:
            same = found == value
        if not same:
            raise KernelInputError(
                f"decision {decision['step']} to resume from has {name}={found!r}, where this "
                f"search has {value!r}; resume with the same data, parameters and random_state"
            )
