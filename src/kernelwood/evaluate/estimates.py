"""Numbers with what is known of their precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Estimate", "Spread"]


class Estimate(float):
    """A number with the interval it lies in; calculates and compares like the number.

    Parameters
    ----------
    value : float
        What was measured.
    low, high : float, optional
        The ends of the interval; None where none was computed.

    Examples
    --------
    >>> accuracy = Estimate(0.9, 0.85, 0.94)
    >>> accuracy
    0.900 [0.850, 0.940]
    >>> accuracy > 0.8, accuracy.low, f"{accuracy:.1f}"
    (True, 0.85, '0.9')
    """

    __slots__ = ("_high", "_low")

    _low: float | None
    _high: float | None

    def __new__(cls, value: float, low: float | None = None, high: float | None = None) -> Estimate:
        """Make a float and remember the interval."""
        self = super().__new__(cls, value)
        self._low, self._high = low, high
        return self

    @property
    def low(self) -> float | None:
        """Lower end of the interval."""
        return self._low

    @property
    def high(self) -> float | None:
        """Upper end of the interval."""
        return self._high

    def to_dict(self) -> dict[str, float | None]:
        """Return plain JSON values."""
        return {"value": float(self), "low": self.low, "high": self.high}

    def __repr__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self:.3f}"
        return f"{self:.3f} [{self.low:.3f}, {self.high:.3f}]"

    __str__ = __repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return (Estimate, (float(self), self.low, self.high))


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation of a number over several runs.

    Attributes
    ----------
    mean : float
        The mean.
    deviation : float
        The standard deviation of a sample (divided by n - 1); 0 of a single run.
    n_runs : int
        Number of runs.

    Examples
    --------
    >>> Spread.of([0.5, 1.5])
    Spread(mean=1.0, deviation=0.7071067811865476, n_runs=2)
    >>> str(Spread.of([0.5, 0.7]))
    '0.600 ± 0.141'
    """

    mean: float
    deviation: float
    n_runs: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return mean and deviation of one or more numbers."""
        deviation = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        return cls(float(np.mean(values)), deviation, len(values))

    def to_dict(self) -> dict[str, float]:
        """Return plain JSON values."""
        return {"mean": self.mean, "deviation": self.deviation, "n_runs": self.n_runs}

    def __str__(self) -> str:
        if self.n_runs == 1:
            return f"{self.mean:,.3f}"
        return f"{self.mean:,.3f} ± {self.deviation:,.3f}"
