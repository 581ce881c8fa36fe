"""What speaks for and against a decision, for people to read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.structures import Tree

__all__ = ["Evidence", "Support", "strongest"]

_WIDTH = 60  # characters of a structure


@dataclass(frozen=True, slots=True)
class Support:
    """A training structure, and what it adds to a score.

    Attributes
    ----------
    structure : structure
    label : label
        The class it was trained as.
    index : int
        Where it was in the training structures.
    similarity : float
        Of the structure that is decided on.
    contribution : float
        Its weight times the similarity; positive if it speaks for the class.
    """

    structure: Any
    label: Any
    index: int
    similarity: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for and against a class.

    The score is the intercept and the contributions of all supports, of which the largest are
    listed. ``print`` shows them as a table.

    Attributes
    ----------
    label : label
        The class.
    score : float
        Positive if more speaks for the class than against it.
    intercept : float
        What every structure gets.
    supporting, opposing : tuples of Support
        The largest contributions of either sign, largest first.
    """

    label: Any
    score: float
    intercept: float
    supporting: tuple[Support, ...]
    opposing: tuple[Support, ...]

    def __str__(self) -> str:
        rows = [self._row("for", support) for support in self.supporting]
        rows += [self._row("against", support) for support in self.opposing]
        head = f"{self.label}: score {self.score:+.3f}, of which {self.intercept:+.3f} for any"
        return "\n".join([head, *rows])

    def _row(self, side: str, support: Support) -> str:
        return (
            f"  {side:<8}{support.contribution:+.3f}  similarity {support.similarity:.3f}  "
            f"{support.label}  {_shown(support.structure)}"
        )


def strongest(contributions: NDArray[np.float64], k: int) -> tuple[list[int], list[int]]:
    """Return the positions of the k largest positive and of the k largest negative values.

    Examples
    --------
    >>> strongest(np.array([0.5, -1.0, 0.0, 2.0]), 3)
    ([3, 0], [1])
    """
    falling, rising = (np.argsort(sign * contributions, kind="stable")[:k] for sign in (-1, 1))
    positive, negative = falling[contributions[falling] > 0], rising[contributions[rising] < 0]
    return positive.tolist(), negative.tolist()


def _shown(structure: Any) -> str:
    text = structure.to_brackets() if isinstance(structure, Tree) else str(structure)
    text = " ".join(text.split())
    return text if len(text) <= _WIDTH else text[: _WIDTH - 3] + "..."
