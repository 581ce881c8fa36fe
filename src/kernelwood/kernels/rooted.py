from __future__ import annotations

from itertools import combinations
from typing import Any

from numpy.typing import DTypeLike

from kernelwood.kernels.tree import TreeEngineKernel
from kernelwood.structures import Tree


class RootedTreeKernel(TreeEngineKernel):
    r"""Compares two trees from their roots down, through child subsequences that match.

    .. math::

        K(T, T') = k(r, r') \Bigl(k(r, r') + \sum_{i, j} \lambda^{l}
        \bigl(\sum_s K(T[i_s], T'[j_s])\bigr) \prod_s k(T[i_s].r, T'[j_s].r)\Bigr)

    where i and j run over child subsequences of equal length :math:`l`, :math:`T[i]` is the tree
    below child i, :math:`r` its root, and :math:`k` is 1 if edge and label of two nodes are equal
    and 0 otherwise. Only nodes reached through matching ancestors count, which makes the kernel
    right for trees that start at what they are about (an interaction, a predicate).

    Cost: the pairs of children of the pairs of matching nodes.

    Parameters
    ----------
    decay : float in (0, 1]
        :math:`\lambda`, the weight of each child in a subsequence.
    contiguous : bool
        Count only child subsequences without gaps.
    normalize, n_jobs, dtype
        As for :class:`SubsequenceKernel`.

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

    def __init__(
        self,
        *,
        decay: float = 0.8,
        contiguous: bool = False,
        normalize: bool = True,
        n_jobs: int | None = None,
        dtype: DTypeLike = "float64",
    ) -> None:
        self.decay = decay
        self.contiguous = contiguous
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.dtype = dtype

    def reference(self, a: Tree, b: Tree) -> float:
        """Return the raw value by enumerating all pairs of child subsequences."""

        def match(m: Tree, n: Tree) -> bool:
            return (m.edge, m.label) == (n.edge, n.label)

        def subsequences(n: int, length: int) -> list[tuple[int, ...]]:
            chosen = combinations(range(n), length)
            return [i for i in chosen if not self.contiguous or i[-1] - i[0] == length - 1]

        def value(m: Tree, n: Tree) -> float:
            if not match(m, n):
                return 0.0
            total = 1.0
            for length in range(1, min(len(m.children), len(n.children)) + 1):
                for i in subsequences(len(m.children), length):
                    for j in subsequences(len(n.children), length):
                        paired = [(m.children[p], n.children[q]) for p, q in zip(i, j, strict=True)]
                        if all(match(c, d) for c, d in paired):
                            total += self.decay**length * sum(value(c, d) for c, d in paired)
            return total

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
