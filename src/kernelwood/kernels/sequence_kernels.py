"""The subsequence kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from kernelwood import _native
from kernelwood.arrays import SequenceBatch
from kernelwood.compute import Runner, StopFlag
from kernelwood.kernels.engine import _NEXT, EngineKernel
from kernelwood.kernels.kernel import Matrix
from kernelwood.parameters import check_int
from kernelwood.similarity import Similarity
from kernelwood.structures import Sequence

_LONG = 64  # elements of a sequence whose self-similarity may leave the range of float32
_PAIR = 4  # steps of a pair of elements, for each length


class SubsequenceKernel(EngineKernel):
    r"""Compares sequences by their common subsequences, with gaps allowed.

    .. math::

        K(s, t) = \sum_{|i| = |j|} \lambda^{l(i) + l(j)} \prod_p k(s_{i_p}, t_{j_p}), \qquad
        k(x, y) = g(x) \, g(y) \, \sigma(x, y)

    over all pairs of equally long index tuples, where :math:`l` is the last index minus the
    first, so that a single element has weight 1. :math:`\sigma` is the similarity of the node
    labels of two elements if their edge labels are equal and 0 otherwise; :math:`g` are gates. By
    default :math:`\sigma` is 1 for equal node labels and 0 for others, and all gates are 1.

    Cost: :math:`O(|s||t|)` for all lengths, times ``max_length`` if it is given.

    Parameters
    ----------
    decay : float in (0, 1]
        :math:`\lambda`, the factor for every step that a subsequence spans.
    max_length : int, optional
        Length of the longest subsequences to count; None counts all lengths.
    similarity : Similarity, optional
        :math:`\sigma`, the similarity of node labels, one of :mod:`kernelwood.similarity`; None is
        :class:`kernelwood.similarity.Exact`. Edge labels always match exactly.
    gates : mapping from str to float, optional
        :math:`g`, weights of labels, 0 or positive. A label with gate 0 matches nothing, not even
        itself. Labels that are not named have gate 1.
    gate_on : {"edge", "node"}
        Whether ``gates`` names edge labels or node labels.
    normalize : bool
        Divide by the self-similarities, so that :math:`K(s, s) = 1`.
    n_jobs : int, optional
        Number of threads; None for the setting of :func:`kernelwood.config_context`, -1 for all
        cores.
    dtype : {"float64", "float32"}
        Number type of results.

    Notes
    -----
    KeLP's sequence kernel counts the span as last minus first plus one on both sides: its raw
    values are ours times :math:`\lambda^2`, its normalized ones are the same.

    An element with gate 0 keeps its place: a subsequence that skips it has a gap.

    The kernel is positive semidefinite if the similarity is, for any gates;
    :meth:`Kernel.smallest_eigenvalue` checks a sample.

    References
    ----------
    .. [1] \R. Mooney, R. Bunescu, "Subsequence kernels for relation extraction", NIPS 2005.

    Examples
    --------
    >>> import kernelwood as kw
    >>> kernel = kw.SubsequenceKernel(decay=0.5, normalize=False)
    >>> kernel.value(kw.Sequence("the cat sat".split()), kw.Sequence("the dog sat".split()))
    2.0625

    Soft matching of words, and a word with gate 0:

    >>> near = kw.similarity.Table.from_pairs({("cat", "dog"): 0.5})
    >>> soft = kw.SubsequenceKernel(
    ...     decay=0.5, similarity=near, gates={"the": 0.0}, gate_on="node", normalize=False
    ... )
    >>> soft.value(kw.Sequence("the cat sat".split()), kw.Sequence("the dog sat".split()))
    1.625
    """

    accepts = SequenceBatch
    _similarity_plan = "blocks"

    def __init__(
        self,
        *,
        decay: float = 0.8,
        max_length: int | None = None,
        similarity: Similarity | None = None,
        gates: Mapping[str, float] | None = None,
        gate_on: str = "edge",
        normalize: bool = True,
        n_jobs: int | None = None,
        dtype: DTypeLike = "float64",
    ) -> None:
        self.decay = decay
        self.max_length = max_length
        self.similarity = similarity
        self.gates = gates
        self.gate_on = gate_on
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.dtype = dtype

    def reference(self, a: Sequence, b: Sequence) -> float:
        """Return the raw value by enumerating all pairs of subsequences."""
        left, right = a.elements, b.elements
        match = [[self._element_match(x, y) for y in right] for x in left]
        longest = min(len(left), len(right), self.max_length or len(left))
        total = 0.0
        for length in range(1, longest + 1):
            for i in combinations(range(len(left)), length):
                for j in combinations(range(len(right)), length):
                    product = math.prod(match[p][q] for p, q in zip(i, j, strict=True))
                    total += self.decay ** (i[-1] - i[0] + j[-1] - j[0]) * product
        return total

    def _element_match(self, a: tuple[str, str], b: tuple[str, str]) -> float:
        (edge, label), (other_edge, other_label) = a, b
        if edge != other_edge:
            return 0.0
        gates = self._gate(edge, label) * self._gate(other_edge, other_label)
        return gates * self._label_similarity(label, other_label)

    def _check_params(self) -> None:
        super()._check_params()
        self._check_number("decay", 0, 1, "(0, 1]")
        check_int("SubsequenceKernel: max_length", self.max_length, 1, 2**31 - 1, none=True)

    def _advice(self) -> str:
        return "Split such sequences" + (", or use a smaller max_length" if self.max_length else "")

    def _most_steps(self, n: Any, m: Any) -> Any:
        return _PAIR * (self.max_length or 1) * n * m

    def _work(self, X: Any, index: int) -> _Length:
        return _Length(int(X.sizes[index]), self.max_length)

    # Long sequences leave the range of a number type together. Values that all would be computed
    # again in the next type are computed in that type at once, to the same bits.

    def _holding(self, number: str, runner: Runner, *sides: Any) -> str:
        """Return the first number type that holds a self-similarity of each side."""
        if max(side.largest for side in sides) <= _LONG or not all(map(len, sides)):
            return number
        while number != "log2" and any(self._all_leave(side, number, runner) for side in sides):
            number = _NEXT[number]
        return number

    def _all_leave(self, side: Any, number: str, runner: Runner) -> bool:
        """Whether no self-similarity is in range; mostly one sequence, a shortest, tells."""
        shortest = int(np.argmin(side.sizes))
        return all(
            bool(self._own(some, number, runner)[1].all())
            for some in (side[shortest : shortest + 1], side)
        )

    def _fill_gram_at_once(self, X: Any, out: Matrix, runner: Runner, number: str) -> None:
        holding = self._holding(number, runner, X)
        if holding == number:
            return super()._fill_gram_at_once(X, out, runner, number)
        values = out if out.dtype == np.float64 else np.empty(out.shape)
        if holding == "log2":
            self._fill_log2_gram(X, values, runner)
        else:
            super()._fill_gram_at_once(X, values, runner, holding)
        if values is not out:
            out[...] = self._fit(values, out.dtype)
        self._check_finite(out)

    def _fill_log2_gram(self, X: Any, out: Matrix, runner: Runner) -> None:
        self._check_work(X, X, "log2")
        self._check_work(X, None, "log2")
        engine, _ = self._engine("log2", runner, X)

        def block(begin: int, end: int, stop: StopFlag) -> None:
            engine.gram(begin, end, out, stop)

        n = len(X)
        self._run(runner, block, engine.n_panels, n * (n + 1) // 2, X, X)
        _native.mirror(out, 0, n, None, math.inf)
        self._finish_log2(X, X, out, runner)
        if self.normalize:
            np.fill_diagonal(out, np.diagonal(out) != 0)

    def _fill_cross_in(self, X: Any, Y: Any, out: Matrix, runner: Runner, number: str) -> None:
        holding = self._holding(number, runner, X, Y)
        if out.dtype == np.float64:
            return super()._fill_cross_in(X, Y, out, runner, holding)
        if holding == number:
            return super()._fill_cross_in(X, Y, out, runner, number)
        values = np.empty(out.shape)
        super()._fill_cross_in(X, Y, values, runner, holding)
        out[...] = self._fit(values, out.dtype)

    def _parameters(self) -> Any:
        parameters = _native.SequenceParameters()
        parameters.decay = float(self.decay)
        parameters.max_length = int(self.max_length or 0)
        parameters.heaviest = (
            max([1.0, *(float(gate) for gate in (self.gates or {}).values())]) ** 2
        )
        return parameters


@dataclass(frozen=True)
class _Length:
    """What comparing a sequence takes: all pairs of elements, for each length."""

    size: int
    max_length: int | None

    def steps(self, other: _Length) -> int:
        """Return the number of steps of a comparison."""
        lengths = min(self.max_length or 1, self.size, other.size)
        return _PAIR * lengths * self.size * other.size
