from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from kernelwood import _native
from kernelwood.arrays import SequenceBatch
from kernelwood.errors import KernelInputError
from kernelwood.kernels.engine import EngineKernel
from kernelwood.structures import Sequence


class SubsequenceKernel(EngineKernel):
    r"""Compares sequences by the subsequences they share, gaps allowed.

    .. math::

        K(s, t) = \sum_{|i| = |j|} \prod_k [s_{i_k} = t_{j_k}] \; \lambda^{l(i) + l(j)}

    over all pairs of equally long index tuples, where :math:`l` is the last index minus the
    first, so that a single element costs nothing. Two elements match if both their edge and
    their node label are equal.

    Cost: :math:`O(|s||t|)` for all lengths, times ``max_length`` if it is given.

    Parameters
    ----------
    decay : float in (0, 1]
        :math:`\lambda`, the price of every step a subsequence spans.
    max_length : int, optional
        Longest subsequences to count; None counts all lengths.
    normalize : bool
        Divide by the self-similarities, so that :math:`K(s, s) = 1`.
    n_jobs : int, optional
        Threads; None takes the setting of :func:`kernelwood.config_context`, -1 all cores.
    dtype : {"float64", "float32"}
        Number type of results.

    Notes
    -----
    KeLP's sequence kernel counts the span as last minus first plus one on both sides: its raw
    values are ours times :math:`\lambda^2`, its normalised ones are the same.

    References
    ----------
    .. [1] R. Mooney, R. Bunescu, "Subsequence kernels for relation extraction", NIPS 2005.

    Examples
    --------
    >>> import kernelwood as kw
    >>> kernel = kw.SubsequenceKernel(decay=0.5, normalize=False)
    >>> kernel.value(kw.Sequence("the cat sat".split()), kw.Sequence("the dog sat".split()))
    2.0625
    """

    accepts = SequenceBatch

    def __init__(
        self,
        *,
        decay: float = 0.8,
        max_length: int | None = None,
        normalize: bool = True,
        n_jobs: int | None = None,
        dtype: DTypeLike = "float64",
    ) -> None:
        self.decay = decay
        self.max_length = max_length
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.dtype = dtype

    def reference(self, a: Sequence, b: Sequence) -> float:
        """Return the raw value by enumerating all pairs of subsequences."""
        left, right = a.elements, b.elements
        longest = min(len(left), len(right), self.max_length or len(left))
        total = 0.0
        for length in range(1, longest + 1):
            for i in combinations(range(len(left)), length):
                for j in combinations(range(len(right)), length):
                    if all(left[p] == right[q] for p, q in zip(i, j, strict=True)):
                        total += self.decay ** (i[-1] - i[0] + j[-1] - j[0])
        return total

    def _check_params(self) -> None:
        super()._check_params()
        self._check_number("decay", 0, 1)
        length = self.max_length
        if length is None:
            return
        if (
            isinstance(length, bool)
            or not isinstance(length, (int, np.integer))
            or not 1 <= length < 2**31
        ):
            raise KernelInputError(
                f"SubsequenceKernel: max_length must be a positive int or None, got {length!r}"
            )

    def _parameters(self) -> Any:
        parameters = _native.SequenceParameters()
        parameters.decay = float(self.decay)
        parameters.max_length = int(self.max_length or 0)
        return parameters
