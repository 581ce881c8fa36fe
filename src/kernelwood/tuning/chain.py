"""Gates by information: a chain over gates that seeks hashcodes which tell the classes."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from itertools import count, product
from typing import Any

import numpy as np

from kernelwood.errors import KernelInputError
from kernelwood.seeds import child_generator
from kernelwood.tuning.objective import CodeSettings, InformationObjective
from kernelwood.tuning.outcome import Outcome
from kernelwood.tuning.problem import Decision, Earlier, GateProblem, plain_value

__all__ = ["ChainSettings", "search_by_information"]

_STEPS, _POLISH = 10, 11  # what the random numbers of a child generator are for
_POLISHING_SWEEPS = 3
_ROUNDING = 1e-6

Steps = Generator[tuple[Decision, bool], None, None]


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
    """Gates, and of each parameter the number of its value."""

    is_open: tuple[bool, ...]
    choices: tuple[int, ...]

    def with_gate(self, t: int, is_open: bool) -> _State:
        return _State((*self.is_open[:t], is_open, *self.is_open[t + 1 :]), self.choices)

    def with_choice(self, i: int, choice: int) -> _State:
        return _State(self.is_open, (*self.choices[:i], choice, *self.choices[i + 1 :]))


def search_by_information(
    problem: GateProblem, settings: ChainSettings, unlabelled: Any, earlier: Earlier
) -> Generator[tuple[Decision, bool], None, Outcome]:
    """Walk over gates, and kernel parameters, and return the best sample.

    Yields decisions, and whether they are new. There are up to three phases; the last two share
    ``n_steps``:

    ``"grid"``
        With ``search="grid"``, all combinations of parameters are tried, and the best is kept for
        good.
    ``"chain"``
        The Metropolis-Hastings chain. A step flips a random gate, or moves a random parameter to
        another of its values. It ends early when ``patience`` runs out.
    ``"polish"``
        From the best sample on, only better steps are taken, until there is none. A chain that is
        hot enough to get away from where it starts never stands quite at the top.
    """
    walk = _Walk(problem, settings, unlabelled, earlier)
    if settings.search == "grid":
        yield from walk.try_grid()
    yield from walk.run_chain()
    yield from walk.polish()
    return walk.conclude()


class _Walk:
    """A search on its way: where it is, and the best it has seen."""

    def __init__(
        self, problem: GateProblem, settings: ChainSettings, unlabelled: Any, earlier: Earlier
    ) -> None:
        self._problem, self._settings, self._earlier = problem, settings, earlier
        self._objective = InformationObjective(problem, settings, unlabelled)
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
        """Try all combinations of parameters with the gates as they are."""
        if self._names:
            for choices in product(*(range(len(v)) for v in self._settings.parameters.values())):
                tried = _State(self._state.is_open, choices)
                yield self._decide("grid", {"parameters": self._plain_parameters(tried)}, tried)
        self._end += self._step

    def run_chain(self) -> Steps:
        """Take random steps, better ones always, and worse ones the less often the worse."""
        polishing = min(_POLISHING_SWEEPS * self._n_moves, self._settings.n_steps // 2)
        since_best = 0
        while self._step < self._end - polishing and since_best != self._settings.patience:
            random = self._generator(_STEPS, self._step)
            chance = 1.0 - float(random.random())  # above 0
            best, move = self._best, int(random.integers(self._n_moves))
            yield self._move("chain", move, random, self._settings.temperature * math.log(chance))
            since_best = since_best + 1 if self._best == best else 0

    def polish(self) -> Steps:
        """Take better steps from the best sample on, until a sweep finds none."""
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
        """Return the best sample, and how much each of its gates matters."""
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
        """Propose to flip a gate, or another value of a parameter, all as likely."""
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
        """Go to a proposed state if it is better by more than a margin, which may be negative."""
        key = {"run": self._problem.run, "step": self._step, "phase": phase, **about}
        known = self._earlier.take(**key)
        before, current = self._state, self._value(self._state)
        if known is not None:
            self._values[proposed] = _number(known, "objective", self._step)
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
        """Return what was, and what is now, of what a step is about."""
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


def _number(decision: Decision, name: str, step: int) -> float:
    value = decision.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise KernelInputError(
            f"decision {step} to resume from has {name}={value!r}, where a number is needed; was "
            "the file changed?"
        )
    return float(value)


def _check_replayed(known: Decision, decision: Decision) -> None:
    """Raise KernelInputError unless a search that begins like this one made a decision."""
    for name, value in decision.items():
        found = known.get(name)
        # Values computed elsewhere may differ in the last bits, and only in these.
        if isinstance(value, float) and isinstance(found, float):
            same = math.isclose(found, value, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
        else:
            same = found == value
        if not same:
            raise KernelInputError(
                f"decision {decision['step']} to resume from has {name}={found!r}, where this "
                f"search has {value!r}; resume with the same data, parameters and random_state"
            )
