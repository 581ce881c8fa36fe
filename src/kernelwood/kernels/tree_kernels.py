"""Kernels of trees."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from typing import Any, Literal

from numpy.typing import DTypeLike

from kernelwood import _native
from kernelwood.arrays import TreeBatch
from kernelwood.compute import budget
from kernelwood.kernels.engine import EngineKernel
from kernelwood.similarity import Compositional, Lexical, Similarity
from kernelwood.structures import Tree
from kernelwood.vectors import Vectors

# Steps of a pair of distinct subtrees that match, of a pair of their children, and of such a pair
# with equal labels in addition.
_PAIR, _CHILDREN, _MATCH = 5, 1, 4


class TreeEngineKernel(EngineKernel):
    """Base class of the tree kernels, with their batch and engine."""

    accepts = TreeBatch
    _kind: str
    decay: float

    def _advice(self) -> str:
        linear = "" if self._matches_softly() else ", or use SubtreeKernel, which takes linear time"
        return f"Split or prune such trees: most of their nodes have equal labels{linear}"

    def _most_steps(self, n: Any, m: Any) -> Any:
        if self._kind == "subtree" and not self._matches_softly():
            return 0
        return (_PAIR + _CHILDREN + _MATCH) * n * m

    def _work(self, X: Any, index: int) -> _DistinctSubtrees:
        groups = X.vocabulary.groups if self._matches_softly() else None
        return _DistinctSubtrees(X, index, groups, self._kind in ("subtree", "subset"))

    def _check_params(self) -> None:
        super()._check_params()
        self._check_number("decay", 0, 1, "(0, 1]")

    def _unit(self) -> float:
        return float(self.decay)

    def _parameters(self) -> Any:
        parameters = _native.TreeParameters()
        parameters.kind = getattr(_native.TreeKernel, self._kind)
        parameters.decay = float(self.decay)
        parameters.max_bytes = budget()
        return parameters


class _DistinctSubtrees:
    """Number of distinct subtrees with inner roots, and of their children, by what they match.

    Parameters
    ----------
    X : TreeBatch
        Trees.
    index : int
        The tree.
    groups : ndarray or None
        Of each label, the group of labels that may match it; None if only equal labels match.
    by_production : bool
        Whether only subtrees with equal productions match, as in subset trees, or all with equal
        root labels.
    """

    def __init__(self, X: Any, index: int, groups: Any, by_production: bool) -> None:
        self.by_production = by_production
        self.roots: Counter[Any] = Counter()
        self.children: Counter[Any] = Counter()
        self.alike: Counter[Any] = Counter()
        numbers: dict[Any, int] = {}
        symbols: list[tuple[int, int]] = []
        open_subtrees: list[int] = []
        piece = X.parts[0].piece(index)
        labels, edges, sizes = (array[piece] for array in X.arrays)
        matched = labels if groups is None else groups[labels]
        columns = (labels, matched, edges, sizes)
        for label, group, edge, n in zip(*(c.tolist() for c in columns), strict=True):
            below = tuple(open_subtrees[len(open_subtrees) - n :])
            del open_subtrees[len(open_subtrees) - n :]
            number = numbers.setdefault((label, edge, below), len(numbers))
            open_subtrees.append(number)
            if number < len(symbols):
                continue
            symbols.append((group, edge))
            if n:
                production = tuple(symbols[child] for child in below) if by_production else ()
                root = (group, edge, production)
                self.roots[root] += 1
                self.children[root] += n
                if not by_production:
                    self.alike.update((root, symbols[child]) for child in below)

    def steps(self, other: _DistinctSubtrees) -> int:
        """Return the number of steps of a comparison."""
        pairs = sum(n * other.roots[key] for key, n in self.roots.items())
        if self.by_production:
            return _PAIR * pairs
        children = sum(n * other.children[key] for key, n in self.children.items())
        alike = sum(n * other.alike[key] for key, n in self.alike.items())
        return _PAIR * pairs + _CHILDREN * children + _MATCH * alike


class SubtreeKernel(TreeEngineKernel):
    r"""Compares trees by their common complete subtrees (ST).

    .. math::

        K(T_1, T_2) = \sum_{n_1, n_2} \Delta(n_1, n_2), \qquad
        \Delta(n_1, n_2) = \lambda \, k(n_1, n_2) \prod_j \Delta(c_j(n_1), c_j(n_2))

    over the inner nodes of both trees, for nodes with as many children; two leaves compare as
    :math:`\sigma`, a leaf and an inner node as 0. :math:`\sigma` and :math:`k = g g' \sigma` are
    those of :class:`SubsequenceKernel`. With exact matching and no gates, equal trees below
    two nodes add :math:`\lambda^p`, p being the number of productions (inner nodes) in them.

    Cost: linear in the nodes of both trees; with a similarity, the pairs of nodes that match.

    Parameters
    ----------
    decay : float in (0, 1]
        :math:`\lambda`, the weight of each production.
    similarity, gates, gate_on, normalize, n_jobs, dtype
        As for :class:`SubsequenceKernel`.

    Notes
    -----
    The strictest tree kernel: one different word makes every subtree above it different. Prefer
    :class:`SubsetTreeKernel` unless exact repetition matters. KeLP's subtree kernel has another
    definition, with Gram matrices that are not positive semidefinite.

    Gates apply to inner nodes only: a subtree with an inner node of gate 0 does not count.

    References
    ----------
    .. [1] \S. Vishwanathan, A. Smola, "Fast kernels for string and tree matching", NIPS 2002.

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
        similarity: Similarity | None = None,
        gates: Mapping[str, float] | None = None,
        gate_on: str = "edge",
        normalize: bool = True,
        n_jobs: int | None = None,
        dtype: DTypeLike = "float64",
    ) -> None:
        self.decay = decay
        self.similarity = similarity
        self.gates = gates
        self.gate_on = gate_on
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.dtype = dtype

    def reference(self, a: Tree, b: Tree) -> float:
        """Return the raw value by the recursion over all pairs of inner nodes."""

        def delta(m: Tree, n: Tree) -> float:
            if m.is_leaf and n.is_leaf:
                return self._node_similarity(m, n)
            if len(m.children) != len(n.children):
                return 0.0
            value = self.decay * self._node_match(m, n)
            for c, d in zip(m.children, n.children, strict=True):
                value *= delta(c, d)
            return value

        inner = ([node for node in tree.preorder() if not node.is_leaf] for tree in (a, b))
        left, right = inner
        return sum(delta(m, n) for m in left for n in right)


class SubsetTreeKernel(TreeEngineKernel):
    r"""Compares trees by their common subset trees (SST), which consist of whole productions.

    .. math::

        K(T_1, T_2) = \sum_{n_1, n_2} \Delta(n_1, n_2), \qquad
        \Delta(n_1, n_2) = \lambda \, k(n_1, n_2)
        \prod_j \bigl(\sigma(c_j(n_1), c_j(n_2)) + \Delta(c_j(n_1), c_j(n_2))\bigr)

    for inner nodes with as many children, and 0 otherwise; :math:`\sigma` and
    :math:`k = g g' \sigma` are those of :class:`SubsequenceKernel`. With exact matching and no
    gates this is the classic :math:`\lambda \prod_j (1 + \Delta)` for nodes of one production (a
    node and its children's labels, in order), which counts common fragments if ``decay=1``.

    Cost: the pairs of nodes with equal productions, or with productions that match.

    Parameters
    ----------
    decay : float in (0, 1]
        :math:`\lambda`, the weight of each production in a fragment.
    count_leaves : bool
        Also add :math:`\lambda k` for every pair of leaves, as KeLP and SVM-light-TK can.
    similarity, gates, gate_on, normalize, n_jobs, dtype
        As for :class:`SubsequenceKernel`.

    Notes
    -----
    The kernel of choice for constituency trees. For dependency trees, whose nodes rarely have the
    same children, prefer :class:`PartialTreeKernel`.

    A node with gate 0 is never the root or an expanded node of a fragment, as if the tree ended
    there; it may still be the end of a fragment from above. The gates of leaves count only with
    ``count_leaves``.

    References
    ----------
    .. [1] \M. Collins, N. Duffy, "Convolution kernels for natural language", NIPS 2001.

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
        similarity: Similarity | None = None,
        gates: Mapping[str, float] | None = None,
        gate_on: str = "edge",
        normalize: bool = True,
        n_jobs: int | None = None,
        dtype: DTypeLike = "float64",
    ) -> None:
        self.decay = decay
        self.count_leaves = count_leaves
        self.similarity = similarity
        self.gates = gates
        self.gate_on = gate_on
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.dtype = dtype

    def reference(self, a: Tree, b: Tree) -> float:
        """Return the raw value by the recursion over all pairs of nodes."""

        def delta(m: Tree, n: Tree) -> float:
            if m.is_leaf or n.is_leaf or len(m.children) != len(n.children):
                return 0.0
            value = self.decay * self._node_match(m, n)
            for c, d in zip(m.children, n.children, strict=True):
                value *= self._node_similarity(c, d) + delta(c, d)
            return value

        total = sum(delta(m, n) for m in a.preorder() for n in b.preorder())
        if self.count_leaves:
            matches = sum(self._node_match(m, n) for m in a.leaves() for n in b.leaves())
            total += self.decay * matches
        return total

    def _check_params(self) -> None:
        super()._check_params()
        self._check_choice("count_leaves", (False, True))

    def _pairs_interned(self) -> bool:
        return not self.count_leaves

    def _parameters(self) -> Any:
        parameters = super()._parameters()
        parameters.count_leaves = bool(self.count_leaves)
        return parameters


class PartialTreeKernel(TreeEngineKernel):
    r"""Compares trees by their common partial trees (PTK), which may leave out children.

    .. math::

        K(T_1, T_2) = \sum_{n_1, n_2} \Delta(n_1, n_2), \qquad
        \Delta = k \mu \Bigl(\lambda^2 + \sum_{|J_1| = |J_2|} \lambda^{d(J_1) + d(J_2)}
        \prod_s \Delta(c_{J_1^s}, c_{J_2^s})\Bigr)

    where k of two nodes is that of :class:`SubsequenceKernel`: 1 for equal labels and 0 otherwise
    with exact matching and no gates. :math:`J` runs over subsequences of children, and
    :math:`d(J)` is the number of children that the subsequence skips. Two leaves compare as
    :math:`k\mu\lambda^p`, a leaf and an inner node as :math:`k\mu\lambda^2`; both times
    ``terminal_factor``.

    Cost: the pairs of children of the pairs of nodes that match.

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
        Factor of the value of a pair of nodes if one is a leaf.
    decay_over : {"gaps", "span"}
        Definition of :math:`d(J)`: the number of children skipped inside J, 0 for adjacent children
        (the published figures), or the whole span, last minus first plus one.
    similarity, gates, gate_on, normalize, n_jobs, dtype
        As for :class:`SubsequenceKernel`.

    Notes
    -----
    The kernel of choice for dependency trees. On constituency trees :class:`SubsetTreeKernel`
    is faster and usually as good. A node with gate 0 matches nothing.

    With word vectors it is the smoothed (SPTK, :meth:`sptk`) or compositionally smoothed kernel
    (CSPTK, :meth:`csptk`). KeLP has the defaults of ``sptk``: ``floor=0.01`` is its threshold,
    ``leaf_power=2`` its exponent; its terminal factor is ``terminal_factor``. Its CSPTK is
    ``csptk(vectors, same_relation=False, lexical=False)``.

    With ``terminal_factor`` above 1 or ``leaf_power`` above 2, a leaf has a larger value with an
    inner node than with itself: the Gram matrix need not be positive semidefinite then, and
    normalized values may exceed 1 if a label occurs both as a leaf and as an inner node.

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
        similarity: Similarity | None = None,
        gates: Mapping[str, float] | None = None,
        gate_on: str = "edge",
        normalize: bool = True,
        n_jobs: int | None = None,
        dtype: DTypeLike = "float64",
    ) -> None:
        self.decay = decay
        self.depth_decay = depth_decay
        self.leaf_power = leaf_power
        self.terminal_factor = terminal_factor
        self.decay_over = decay_over
        self.similarity = similarity
        self.gates = gates
        self.gate_on = gate_on
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.dtype = dtype

    @classmethod
    def sptk(
        cls, vectors: Vectors, *, weight: float = 1.0, floor: float = 0.01, **parameters: Any
    ) -> PartialTreeKernel:
        """Return the smoothed partial tree kernel (SPTK), which compares words by their vectors.

        Parameters
        ----------
        vectors : Vectors
            Word vectors.
        weight, floor : float
            As for :class:`kernelwood.similarity.Lexical`.
        **parameters
            Everything else the kernel takes.
        """
        return cls(similarity=Lexical(vectors, weight=weight, floor=floor), **parameters)

    @classmethod
    def csptk(
        cls,
        vectors: Vectors,
        *,
        operation: Literal["sum", "product", "dilation"] = "sum",
        same_relation: bool = True,
        lexical: bool = True,
        **parameters: Any,
    ) -> PartialTreeKernel:
        """Return the compositionally smoothed partial tree kernel (CSPTK).

        Parameters
        ----------
        vectors : Vectors
            Word vectors.
        operation, same_relation, lexical
            As for :class:`kernelwood.similarity.Compositional`, which has more parameters.
        **parameters
            Everything else the kernel takes.
        """
        similarity = Compositional(
            vectors, operation=operation, same_relation=same_relation, lexical=lexical
        )
        return cls(similarity=similarity, **parameters)

    def reference(self, a: Tree, b: Tree) -> float:
        """Return the raw value by enumerating all pairs of child subsequences."""
        decay, depth_decay, factor = self.decay, self.depth_decay, self.terminal_factor

        def skipped(chosen: tuple[int, ...]) -> int:
            span = chosen[-1] - chosen[0] + 1
            return span if self.decay_over == "span" else span - len(chosen)

        def delta(m: Tree, n: Tree) -> float:
            match = self._node_match(m, n)
            if match == 0:
                return 0.0
            if m.is_leaf and n.is_leaf:
                return float(match * depth_decay * decay**self.leaf_power * factor)
            if m.is_leaf or n.is_leaf:
                return match * depth_decay * decay**2 * factor
            total = decay**2
            values = [[delta(c, d) for d in n.children] for c in m.children]
            for length in range(1, min(len(m.children), len(n.children)) + 1):
                for i in combinations(range(len(m.children)), length):
                    for j in combinations(range(len(n.children)), length):
                        product = decay ** (skipped(i) + skipped(j))
                        for p, q in zip(i, j, strict=True):
                            product *= values[p][q]
                        total += product
            return match * depth_decay * total

        return sum(delta(m, n) for m in a.preorder() for n in b.preorder())

    def _pairs_interned(self) -> bool:
        return True

    def _check_params(self) -> None:
        super()._check_params()
        self._check_number("depth_decay", 0, 1, "(0, 1]")
        self._check_number("leaf_power", 0, 100, "[0, 100]")
        self._check_number("terminal_factor", 0, 1e6, "(0, 1e6]")
        self._check_choice("decay_over", ("gaps", "span"))

    def _is_definite(self) -> bool:
        # Otherwise a leaf resembles an inner node more than itself.
        return super()._is_definite() and self.terminal_factor <= 1 and self.leaf_power <= 2

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


class RootedTreeKernel(TreeEngineKernel):
    r"""Compares two trees from their roots down, by matching subsequences of children.

    .. math::

        K(T, T') = k(r, r') \Bigl(k(r, r') + \sum_{i, j} \lambda^{l}
        \bigl(\sum_s K(T[i_s], T'[j_s])\bigr) \prod_s k(T[i_s].r, T'[j_s].r)\Bigr)

    where i and j run over child subsequences of equal length :math:`l`, :math:`T[i]` is the tree
    below child i, :math:`r` its root, and :math:`k` compares two nodes by their labels as in
    :class:`SubsequenceKernel`: with exact matching and no gates, it is 1 if edge and node label
    are equal and 0 otherwise. Only nodes reached through matching ancestors count: prefer the
    kernel for trees whose root is their topic (an interaction, a predicate).

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
    The match of two nodes enters twice, once by itself and once as a factor of the subtrees below:
    two single nodes compare as :math:`k^2`. A node with gate 0 matches nothing, so that neither it
    nor the nodes below it count; for a root that is the whole tree.

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
