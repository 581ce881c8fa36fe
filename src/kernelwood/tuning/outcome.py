"""What a search for gates found, and what several searches found together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Outcome", "Settled", "settle"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Outcome:
    """What one search found.

    Parameters
    ----------
    is_open : ndarray of bool, shape (n_labels,)
    loss_open, loss_closed : ndarrays of float64, shape (n_labels,)
        What is to be small, with the gate open and closed.
    parameters : dict
        Learned parameters of the kernel.
    objective : float
        What is to be small, of what was found; by it runs with different parameters compete.
    """

    is_open: NDArray[np.bool_]
    loss_open: Floats
    loss_closed: Floats
    parameters: dict[str, Any] = field(default_factory=dict)
    objective: float = 0.0


@dataclass(frozen=True)
class Settled:
    """What several searches found together."""

    is_open: NDArray[np.bool_]
    loss_open: Floats
    loss_closed: Floats
    ignored: Floats
    parameters: dict[str, Any]


def settle(outcomes: list[Outcome]) -> Settled:
    """Return what most runs found; parameters are those of the run with the best objective.

    Examples
    --------
    >>> zeros = np.zeros(2)
    >>> runs = [Outcome(np.array([True, v]), zeros, zeros) for v in (True, False, False)]
    >>> settle(runs).is_open.tolist(), settle(runs).ignored.round(2).tolist()
    ([True, False], [0.0, 0.67])
    """
    ignored = np.mean([~outcome.is_open for outcome in outcomes], axis=0)
    best = min(outcomes, key=lambda outcome: outcome.objective)
    return Settled(
        is_open=ignored <= 0.5,
        loss_open=np.mean([outcome.loss_open for outcome in outcomes], axis=0),
        loss_closed=np.mean([outcome.loss_closed for outcome in outcomes], axis=0),
        ignored=ignored,
        parameters=best.parameters,
    )
