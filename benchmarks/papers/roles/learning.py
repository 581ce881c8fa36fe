"""From kernel values to roles: one support vector machine per role, the largest margin wins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kernelwood as kw
from kernelwood.text import Span

__all__ = ["NONE", "Machines", "Proposal", "resolve", "train"]

NONE = "NONE"  # the role of candidates that are no arguments
Matrix = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Machines:
    """One linear function of kernel values for each role."""

    roles: tuple[str, ...]
    weights: Matrix  # training examples × roles
    offsets: Matrix

    def margins(self, similarities: Matrix) -> Matrix:
        """Return the signed margins, shape (examples, roles), from similarities to training."""
        return similarities @ self.weights + self.offsets


@dataclass(frozen=True)
class Proposal:
    """A candidate of a predicate with the margin of every role."""

    span: Span
    probability: float
    margins: Matrix


def train(
    gram: Matrix,
    roles: Sequence[str],
    *,
    C: float,
    weights: Sequence[float] | None = None,
    min_examples: int = 5,
    n_jobs: int = 1,
    done: Callable[[], None] = lambda: None,
) -> Machines:
    """Train one machine against the rest for every role that is frequent enough.

    Parameters
    ----------
    gram : ndarray, shape (n, n)
        Kernel values of the training examples.
    roles : sequence of str
        Their roles, `NONE` included.
    C : float
        Cost of an example on the wrong side.
    weights : sequence of float, optional
        How much each example counts, 1 by default.
    min_examples : int
        Rarer roles are never proposed; their examples stay, as examples of no other role.
    n_jobs : int
        Threads.
    done : callable
        Called after every machine.
    """
    from sklearn.svm import SVC

    wanted = np.array(roles)
    chosen = sorted(role for role, count in Counter(roles).items() if count >= min_examples)

    def machine(role: str) -> tuple[Matrix, float]:
        svm = SVC(C=C, kernel="precomputed", cache_size=500)
        svm.fit(gram, wanted == role, sample_weight=weights)
        function = np.zeros(len(gram))
        function[svm.support_] = svm.dual_coef_[0]
        done()
        return function, float(svm.intercept_[0])

    with ThreadPoolExecutor(n_jobs) as pool:
        made = list(pool.map(machine, chosen))
    functions = np.stack([function for function, _ in made], axis=1)
    return Machines(tuple(chosen), functions, np.array([offset for _, offset in made]))


def resolve(
    proposals: Sequence[Proposal],
    roles: Sequence[str],
    *,
    none_bias: float = 0.0,
    prior: float = 0.0,
) -> frozenset[kw.text.RoleSpan]:
    """Choose the arguments of one predicate: the largest margin wins, overlaps lose.

    Parameters
    ----------
    proposals : sequence of Proposal
        The candidates of the predicate.
    roles : sequence of str
        What the columns of the margins stand for.
    none_bias : float
        Added to the margin of `NONE`: more than zero for precision, less for recall.
    prior : float
        Weight of the logarithm of a candidate's probability, added to the margins of roles. Of a
        single tree all candidates are certain, so it changes nothing there.
    """
    names = list(roles)
    none = names.index(NONE)
    others = [column for column in range(len(names)) if column != none]
    ranked = []
    for proposal in proposals:
        best = others[int(np.argmax(proposal.margins[others]))]
        margin = float(proposal.margins[best]) + prior * float(np.log(proposal.probability))
        if margin > proposal.margins[none] + none_bias:
            ranked.append((-margin, proposal.span, names[best]))
    chosen: list[kw.text.RoleSpan] = []
    for _, (start, end), role in sorted(ranked):
        if all(end <= other.start or other.end <= start for other in chosen):
            chosen.append(kw.text.RoleSpan(role, start, end))
    return frozenset(chosen)
