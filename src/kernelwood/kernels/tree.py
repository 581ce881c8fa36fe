from __future__ import annotations

from itertools import combinations
from typing import Any

from numpy.typing import DTypeLike

from kernelwood import _native
from kernelwood.arrays import TreeBatch
from kernelwood.compute.memory import budget
from kernelwood.kernels.engine import EngineKernel
from kernelwood.structures import Tree


class TreeEngineKernel(EngineKernel):
    """What the tree kernels share: the batch they read and the engine they use."""

    accepts = TreeBatch
    _kind: str
    decay: float

    def _check_params(self) -> None:
        super()._check_params()
        self._check_number("decay", 0, 1)

    def _unit(self) -> float:
        return float(self.decay)

    def _parameters(self) -> Any:
        parameters = _native.TreeParameters()
        parameters.kind = getattr(_native.TreeKernel, self._kind)
        parameters.decay = float(self.decay)
        parameters.max_bytes = budget()
        return parameters


class SubtreeKernel(TreeEngineKernel):
    r"""Compares trees by the complete subtrees they share (ST).

    .. math::

        K(T_1, T_2) = \sum_{n_1, n_2} [T(n_1) = T(n_2)] \; \lambda^{p(n_1)}

    over the inner nodes of both trees, where :math:`T(n)` is the whole tree below n and
    :math:`p(n)` the number of productions (inner nodes) in it.

    Cost: linear in the nodes of both trees.

    Parameters
    ----------
    decay : float in (0, 1]
        :math:`\lambda`, the weight of each production.
    normalize, n_jobs, dtype
        As for :class:`SubsequenceKernel`.

    Notes
    -----
    The strictest tree kernel: one different word makes every subtree above it different. Prefer
    :class:`SubsetTreeKernel` unless exact repetition is what matters. KeLP's subtree kernel
    computes something else, whose Gram matrix is not positive semidefinite.

    References
    ----------
    .. [1] S. Vishwanathan, A. Smola, "Fast kernels for string and tree matching", NIPS 2002.

    Examples
    --------
    >>> import kernelwood as kw
    >>> a = kw.Tree.from_brackets("(S (NP (DT the) (NN cat)) (VP (VB sat)))")
    >>> b = kw.Tree.from_brackets("(S (NP (DT the) (NN cat)) (VP (VB ran)))")
    >>> kw.SubtreeKernel(decay=0.5, normalize=False).value(a, b)
    1.125
    """

    _kind = "subtree"

    def __init__(
        self,
        *,
        decay: float = 0.4,
        normalize: bool = True,
        n_jobs: int | None = None,
        dtype: DTypeLike = "float64",
    ) -> None:
        self.decay = decay
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.dtype = dtype

    def reference(self, a: Tree, b: Tree) -> float:
        """Return the raw value by comparing all pairs of inner nodes."""

        def productions(tree: Tree) -> int:
            return sum(not node.is_leaf for node in tree.preorder())

        return sum(
            self.decay ** productions(m)
            for m in a.preorder()
            for n in b.preorder()
            if not m.is_leaf and m == n
        )


class SubsetTreeKernel(TreeEngineKernel):
    r"""Compares trees by the subset trees they share (SST): whole productions, cut anywhere.

    .. math::

        K(T_1, T_2) = \sum_{n_1, n_2} \Delta(n_1, n_2), \qquad
        \Delta(n_1, n_2) = \lambda \prod_j \bigl(1 + \Delta(c_j(n_1), c_j(n_2))\bigr)

    if the productions at both nodes are equal (a node and its children's labels, in order), and
    0 otherwise. A leaf has no production and contributes the factor 1. With ``decay=1`` this
    counts common fragments.

    Cost: the pairs of nodes with equal productions.

    Parameters
    ----------
    decay : float in (0, 1]
        :math:`\lambda`, the weight of each production in a fragment.
    count_leaves : bool
        Also add :math:`\lambda` for every pair of equal leaves, as KeLP and SVM-light-TK can.
    normalize, n_jobs, dtype
        As for :class:`SubsequenceKernel`.

    Notes
    -----
    The kernel of choice for constituency trees. For dependency trees, whose nodes rarely have the
    same children, prefer :class:`PartialTreeKernel`.

    References
    ----------
    .. [1] M. Collins, N. Duffy, "Convolution kernels for natural language", NIPS 2001.

    Examples
    --------
    >>> import kernelwood as kw
    >>> tree = kw.Tree.from_brackets("(PP (IN in) (DT the) (NN bank))")
    >>> kw.SubsetTreeKernel(decay=1.0, normalize=False).value(tree, tree)
    11.0
    """

    _kind = "subset"

    def __init__(
        self,
        *,
        decay: float = 0.4,
        count_leaves: bool = False,
        normalize: bool = True,
        n_jobs: int | None = None,
        dtype: DTypeLike = "float64",
    ) -> None:
        self.decay = decay
        self.count_leaves = count_leaves
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.dtype = dtype

    def reference(self, a: Tree, b: Tree) -> float:
        """Return the raw value by the recursion over all pairs of nodes."""

        def production(node: Tree) -> list[tuple[str, str]]:
            return [(n.edge, n.label) for n in (node, *node.children)]

        def delta(m: Tree, n: Tree) -> float:
            if m.is_leaf or n.is_leaf or production(m) != production(n):
                return 0.0
            value = self.decay
            for c, d in zip(m.children, n.children, strict=True):
                value *= 1 + delta(c, d)
            return value

        total = sum(delta(m, n) for m in a.preorder() for n in b.preorder())
        if self.count_leaves:
            equal = sum(m == n for m in a.leaves() for n in b.leaves())
            total += self.decay * equal
        return total

    def _check_params(self) -> None:
        super()._check_params()
        self._check_choice("count_leaves", (False, True))

    def _parameters(self) -> Any:
        parameters = super()._parameters()
        parameters.count_leaves = bool(self.count_leaves)
        return parameters


class PartialTreeKernel(TreeEngineKernel):
    r"""Compares trees by the partial trees they share (PTK): any part of a production counts.

    .. math::

        K(T_1, T_2) = \sum_{n_1, n_2} \Delta(n_1, n_2), \qquad
        \Delta = \mu \Bigl(\lambda^2 + \sum_{|J_1| = |J_2|} \lambda^{g(J_1) + g(J_2)}
        \prod_s \Delta(c_{J_1^s}, c_{J_2^s})\Bigr)

    for nodes with equal labels, and 0 otherwise. :math:`J` runs over subsequences of children,
    and :math:`g(J)` is what the subsequence skips. Two leaves compare as
    :math:`\mu\lambda^p`, a leaf and an inner node of the same label as :math:`\mu\lambda^2`; both
    are multiplied by ``terminal_factor``.

    Cost: the pairs of children of the pairs of nodes with equal labels.

    Parameters
    ----------
    decay : float in (0, 1]
        :math:`\lambda`, the horizontal decay.
    depth_decay : float in (0, 1]
        :math:`\mu`, the vertical decay.
    leaf_power : float
        The exponent p of :math:`\lambda` for two leaves: 2 as in SVM-light-TK and KeLP, 1 as the
        recursion is printed in some papers.
    terminal_factor : float > 0
        Multiplies the value of any pair of nodes of which one is a leaf.
    decay_over : {"gaps", "span"}
        What :math:`g(J)` counts: the children skipped inside J, so that adjacent children cost
        nothing (the published figures), or the whole span, last minus first plus one.
    normalize, n_jobs, dtype
        As for :class:`SubsequenceKernel`.

    Notes
    -----
    The kernel of choice for dependency trees. On constituency trees :class:`SubsetTreeKernel`
    is faster and usually as good.

    With ``terminal_factor`` above 1 or ``leaf_power`` above 2, a leaf is worth more against an
    inner node than against itself: the Gram matrix need not be positive semidefinite then, and
    normalised values may exceed 1 where one label is a leaf here and an inner node there.

    References
    ----------
    .. [1] A. Moschitti, "Efficient convolution kernels for dependency and constituent syntactic
       trees", ECML 2006.

    Examples
    --------
    >>> import kernelwood as kw
    >>> a, b = (kw.Tree.from_brackets(t) for t in ("(A (b) (c))", "(A (b) (d) (c))"))
    >>> round(kw.PartialTreeKernel(normalize=False).value(a, b), 8)
    0.24385536
    """

    _kind = "partial"

    def __init__(
        self,
        *,
        decay: float = 0.4,
        depth_decay: float = 0.4,
        leaf_power: float = 2,
        terminal_factor: float = 1.0,
        decay_over: str = "gaps",
        normalize: bool = True,
        n_jobs: int | None = None,
        dtype: DTypeLike = "float64",
    ) -> None:
        self.decay = decay
        self.depth_decay = depth_decay
        self.leaf_power = leaf_power
        self.terminal_factor = terminal_factor
        self.decay_over = decay_over
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.dtype = dtype

    def reference(self, a: Tree, b: Tree) -> float:
        """Return the raw value by enumerating all pairs of child subsequences."""
        decay, depth_decay, factor = self.decay, self.depth_decay, self.terminal_factor

        def skipped(chosen: tuple[int, ...]) -> int:
            span = chosen[-1] - chosen[0] + 1
            return span if self.decay_over == "span" else span - len(chosen)

        def delta(m: Tree, n: Tree) -> float:
            if (m.edge, m.label) != (n.edge, n.label):
                return 0.0
            if m.is_leaf and n.is_leaf:
                return float(depth_decay * decay**self.leaf_power * factor)
            if m.is_leaf or n.is_leaf:
                return depth_decay * decay**2 * factor
            total = decay**2
            values = [[delta(c, d) for d in n.children] for c in m.children]
            for length in range(1, min(len(m.children), len(n.children)) + 1):
                for i in combinations(range(len(m.children)), length):
                    for j in combinations(range(len(n.children)), length):
                        product = decay ** (skipped(i) + skipped(j))
                        for p, q in zip(i, j, strict=True):
                            product *= values[p][q]
                        total += product
            return depth_decay * total

        return sum(delta(m, n) for m in a.preorder() for n in b.preorder())

    def _check_params(self) -> None:
        super()._check_params()
        self._check_number("depth_decay", 0, 1)
        self._check_number("leaf_power", 0, 100, closed_low=True)
        self._check_number("terminal_factor", 0, 1e6)
        self._check_choice("decay_over", ("gaps", "span"))

    def _unit(self) -> float:
        decay, power = float(self.decay), max(2.0, float(self.leaf_power))
        return float(self.depth_decay * decay**power * min(1.0, self.terminal_factor))

    def _parameters(self) -> Any:
        parameters = super()._parameters()
        parameters.depth_decay = float(self.depth_decay)
        parameters.leaf_power = float(self.leaf_power)
        parameters.terminal_factor = float(self.terminal_factor)
        parameters.span_decay = self.decay_over == "span"
        return parameters
