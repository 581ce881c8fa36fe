"""Arguments and results of the search for shared fragments, the same for all kernels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.structures import Sequence, Tree

Part = Tree | Sequence | None  # a fragment with the labels of one structure, None for vectors


@dataclass(frozen=True)
class Request:
    """Options of a search.

    Attributes
    ----------
    top : int or None
        Maximum number of fragments of a pair.
    largest : bool
        Whether to return the largest fragments, or every fragment with its own weight.
    max_steps : int
        Limit on the number of comparisons for a pair.
    """

    top: int | None
    largest: bool
    max_steps: int

    def warn(self) -> None:
        """Warn that the limit was reached."""
        warnings.warn(
            f"shared_fragments: the search stopped after {self.max_steps:,} steps, so "
            "larger or heavier fragments may exist; increase max_steps to continue",
            RuntimeWarning,
            stacklevel=3,
        )


class Shared(NamedTuple):
    """A fragment that two structures share; the first attributes are those of `Fragment`.

    Attributes
    ----------
    number : int
        The fragment in what was found, for its structures.
    """

    text: str
    weight: float
    count_a: float
    count_b: float
    covers: float | None
    size: int
    similarity: float
    number: int


class Found(NamedTuple):
    """The fragments that each of some pairs of structures shares.

    Attributes
    ----------
    fragments : list of list of Shared
        Those of each pair.
    exceeded : ndarray of bool
        Whether the limit of steps was reached, for each pair.
    structures : callable
        From the number of a fragment to the fragment with the labels of the first structure and of
        the second.
    """

    fragments: list[list[Shared]]
    exceeded: NDArray[np.bool_]
    structures: Callable[[int], tuple[Part, Part]]


def one_by_one(
    explain: Callable[..., tuple[list[tuple[Shared, tuple[Part, Part]]], bool]],
) -> Callable[..., Found]:
    """Return the search of all pairs for a function that searches one pair.

    The function takes a kernel, two structures and a request; it returns fragments with their
    structures, and whether the limit of steps was reached.
    """

    def explain_all(kernel: Any, X: Any, Y: Any, request: Request) -> Found:
        fragments: list[list[Shared]] = []
        structures: list[tuple[Part, Part]] = []
        exceeded: list[bool] = []
        for a, b in zip(X, Y, strict=True):
            found, more = explain(kernel, a, b, request)
            numbered = enumerate(found, start=len(structures))
            fragments.append([shared._replace(number=number) for number, (shared, _) in numbered])
            structures += [both for _, both in found]
            exceeded.append(more)
        return Found(fragments, np.array(exceeded, dtype=np.bool_), structures.__getitem__)

    return explain_all
