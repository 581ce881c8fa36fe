from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

from numpy.typing import DTypeLike

from kernelwood.kernels.tree import TreeEngineKernel
from kernelwood.similarity import Similarity
from kernelwood.structures import Tree


class RootedTreeKernel(TreeEngineKernel):
    r"""Compares two trees from their roots down, through child subsequences that match.

    .. math::

        K(T, T') = k(r, r') \Bigl(k(r, r') + \sum_{i, j} \lambda^{l}
        \bigl(\sum_s K(T[i_s], T'[j_s])\bigr) \prod_s k(T[i_s].r, T'[j_s].r)\Bigr)

    where i and j run over child subsequences of equal length :math:`l`, :math:`T[i]` is the tree
    below child i, :math:`r` its root, and :math:`k` compares two nodes by their labels as in
    :class:`SubsequenceKernel`: with exact matching and no gates, it is 1 if edge and node label
    are equal and 0 otherwise. Only nodes reached through matching ancestors count, which makes
    the kernel right for trees that start at what they are about (an interaction, a predicate).

    Cost: the pairs of children of the pairs of matching nodes.

    Parameters
    ----------
    decay : float in (0, 1]
        :math:`\lambda`, the weight of each child in a subsequence.
    contiguous : bool
        Count only child subsequences without gaps.
    similarity, gates, gate_on, normalize, n_jobs, dtype
        As for :class:`SubsequenceKernel`.

    Notes
    -----
    The match of two nodes enters twice, once by itself and once as a factor of what is below:
    two single nodes compare as :math:`k^2`. A node with the gate 0 matches nothing, so that
    neither it nor anything below it counts; for a root that is the whole tree.

    References
    ----------
    .. [1] D. Zelenko, C. Aone, A. Richardella, "Kernel methods for relation extraction",
       JMLR 2003.

    Examples
    --------
    >>> import kernelwood as kw
    >>> tree = kw.Tree.from_brackets("(bind (protein) (protein))")
    >>> kw.RootedTreeKernel(decay=0.5, normalize=False).value(tree, tree)
    3.5
    """

    _kind = "rooted"
    _matches_in_unit = 2

    def __init__(
        self,
        *,
        decay: float = 0.8,
        contiguous: bool = False,
        similarity: Similarity | None = None,
        gates: Mapping[str, float] | None = None,
        gate_on: str = "edge",
        normalize: bool = True,
        n_jobs: int | None = None,
        dtype: DTypeLike = "float64",
    ) -> None:
        self.decay = decay
        self.contiguous = contiguous
        self.similarity = similarity
        self.gates = gates
        self.gate_on = gate_on
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.dtype = dtype

    def reference(self, a: Tree, b: Tree) -> float:
        """Return the raw value by enumerating all pairs of child subsequences."""

        def subsequences(n: int, length: int) -> list[tuple[int, ...]]:
            chosen = combinations(range(n), length)
            return [i for i in chosen if not self.contiguous or i[-1] - i[0] == length - 1]

        def value(m: Tree, n: Tree) -> float:
            match = self._node_match(m, n)
            if match == 0:
                return 0.0
            total = match
            for length in range(1, min(len(m.children), len(n.children)) + 1):
                for i in subsequences(len(m.children), length):
                    for j in subsequences(len(n.children), length):
                        paired = [(m.children[p], n.children[q]) for p, q in zip(i, j, strict=True)]
                        product = math.prod(self._node_match(c, d) for c, d in paired)
                        if product:
                            below = sum(value(c, d) for c, d in paired)
                            total += self.decay**length * below * product
            return match * total

        return value(a, b)

    def _check_params(self) -> None:
        super()._check_params()
        self._check_choice("contiguous", (False, True))

    def _unit(self) -> float:
        return 1.0

    def _parameters(self) -> Any:
        parameters = super()._parameters()
        parameters.contiguous = bool(self.contiguous)
        return parameters
