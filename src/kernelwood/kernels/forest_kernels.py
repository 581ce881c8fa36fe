"""The kernel of packed forests."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kernelwood import _native
from kernelwood.arrays import ForestBatch
from kernelwood.compute import budget
from kernelwood.kernels.engine import EngineKernel
from kernelwood.structures import Forest

_PAIR = 4  # steps of a pair of nodes in a pair of hyper-edges with equal productions


class ForestKernel(EngineKernel):
    r"""Compares packed forests by the fragments of all their trees.

    .. math::

        K(F_1, F_2) = \frac{1}{\beta(r_1) \beta(r_2)} \sum_{v_1, v_2}
        \alpha(v_1) \alpha(v_2) \Delta(v_1, v_2), \qquad
        \Delta(v_1, v_2) = \lambda \sum_{e_1 \equiv e_2} P(e_1) P(e_2)
        \prod_j \bigl(\beta(c_{1j}) \beta(c_{2j}) + \Delta(c_{1j}, c_{2j})\bigr)

    where :math:`e_1 \equiv e_2` are hyper-edges of one production (the labels of head and
    children), and :math:`\beta` and :math:`\alpha` inside and outside probabilities. It is the
    dot product of the expected counts of all fragments, over the trees of each forest; a fragment
    of n hyper-edges has the weight :math:`\lambda^n`. For forests of a single tree it is
    :class:`SubsetTreeKernel`.

    Cost: the pairs of hyper-edges with equal productions.

    Parameters
    ----------
    decay : float in (0, 1]
        :math:`\lambda`, the weight of each hyper-edge in a fragment.
    sharpness : float in [0, 1000]
        Power to which all probabilities are raised: above 1 the best trees count more, below 1
        less; with 0 all trees of a forest count the same.
    normalize, n_jobs, dtype
        As for :class:`SubsequenceKernel`.

    Notes
    -----
    Prefer it to a tree kernel on the best parse if parses are uncertain: fragments that several
    likely parses share count fully, and a wrong best parse does not hide the right one. For
    correct parses a tree kernel is cheaper.

    Values do not underflow for long sentences: the recursion uses probabilities given the head of
    a hyper-edge, and expected counts of nodes.

    References
    ----------
    .. [1] \M. Zhang, H. Zhang, H. Li, "Convolution kernel over packed parse forest", ACL 2010.

    Examples
    --------
    >>> import kernelwood as kw
    >>> tree = kw.Tree.from_brackets("(PP (IN in) (DT the) (NN bank))")
    >>> forest = kw.Forest.from_trees([tree])
    >>> kw.ForestKernel(decay=1.0, normalize=False).value(forest, forest)
    11.0
    """

    accepts = ForestBatch
    _prepares = False

    def _streams_columns(self) -> bool:
        return False

    def __init__(
        self,
        *,
        decay: float = 0.4,
        sharpness: float = 1.0,
        normalize: bool = True,
        n_jobs: int | None = None,
        dtype: DTypeLike = "float64",
    ) -> None:
        self.decay = decay
        self.sharpness = sharpness
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.dtype = dtype

    def reference(self, a: Forest, b: Forest) -> float:
        """Return the raw value by the definition: inside, outside, and all pairs of nodes."""
        sides = [_Sharpened(forest, self.sharpness) for forest in (a, b)]
        left, right = sides
        delta: dict[tuple[int, int], float] = {}
        for v in left.order:
            for w in right.order:
                delta[v, w] = self.decay * sum(
                    left.p[e] * right.p[f] * _extended(a.edges[e][1], b.edges[f][1], sides, delta)
                    for e in a.edges_of(v)
                    for f in b.edges_of(w)
                    if _production(a, e) == _production(b, f)
                )
        total = sum(left.outside[v] * right.outside[w] * delta[v, w] for v, w in delta)
        return total / (left.inside[a.root] * right.inside[b.root])

    def _check_params(self) -> None:
        super()._check_params()
        self._check_number("decay", 0, 1, "(0, 1]")
        self._check_number("sharpness", 0, 1000, "[0, 1000]")

    def _unit(self) -> float:
        return float(self.decay)

    def _advice(self) -> str:
        return "Split or prune such forests: most of their hyper-edges have equal productions"

    def _largest(self, X: Any) -> int:
        return int(self._sizes(X).max(initial=0))

    def _sizes(self, X: Any) -> NDArray[Any]:
        # Hyper-edges and their children.
        sizes: NDArray[Any] = np.diff(X.parts[1].offsets) + np.diff(X.parts[2].offsets)
        return sizes

    def _most_steps(self, n: Any, m: Any) -> Any:
        return _PAIR * n * m

    def _work(self, X: Any, index: int) -> _DistinctEdges:
        return _DistinctEdges(X[index])

    def _parameters(self) -> Any:
        parameters = _native.ForestParameters()
        parameters.decay = float(self.decay)
        parameters.sharpness = float(self.sharpness)
        parameters.max_bytes = budget()
        return parameters


class _DistinctEdges:
    """Number of distinct hyper-edges, and of those of ambiguous nodes, by production."""

    def __init__(self, forest: Forest) -> None:
        self.productions: Counter[tuple[str, ...]] = Counter()
        self.alternatives: Counter[tuple[str, ...]] = Counter()
        numbers: dict[Any, int] = {}
        node_of = [0] * forest.n_nodes
        for v in forest.bottom_up():
            below = []
            for e in forest.edges_of(v):
                production = _production(forest, e)
                key = (production, tuple(node_of[child] for child in forest.edges[e][1]))
                if key not in numbers:
                    self.productions[production] += 1
                number = numbers.setdefault(key, len(numbers))
                below.append((number, forest.edges[e][2]))
            node: Any = (forest.labels[v], *below)
            if node not in numbers and len(below) > 1:
                self.alternatives.update(_production(forest, e) for e in forest.edges_of(v))
            node_of[v] = numbers.setdefault(node, len(numbers))

    def steps(self, other: _DistinctEdges) -> int:
        """Return the number of steps of a comparison."""
        pairs = 0
        for production, n in self.productions.items():
            m = other.productions[production]
            pairs += n * m * len(production)
            pairs += n * other.alternatives[production] + self.alternatives[production] * m
        return _PAIR * pairs


class _Sharpened:
    """Inside and outside probabilities of a small forest by the textbook definition."""

    def __init__(self, forest: Forest, sharpness: float) -> None:
        self.order = forest.bottom_up()
        self.p = [p**sharpness for _, _, p in forest.edges]
        self.inside = [1.0] * forest.n_nodes
        for v in self.order:
            if forest.edges_of(v):
                self.inside[v] = sum(
                    self.p[e] * self._product(forest.edges[e][1]) for e in forest.edges_of(v)
                )
        self.outside = [0.0] * forest.n_nodes
        self.outside[forest.root] = 1.0
        for v in reversed(self.order):
            for e in forest.edges_of(v):
                children = forest.edges[e][1]
                for j, child in enumerate(children):
                    others = self._product((*children[:j], *children[j + 1 :]))
                    self.outside[child] += self.outside[v] * self.p[e] * others

    def _product(self, nodes: tuple[int, ...]) -> float:
        product = 1.0
        for node in nodes:
            product *= self.inside[node]
        return product


def _production(forest: Forest, edge: int) -> tuple[str, ...]:
    head, children, _ = forest.edges[edge]
    return (forest.labels[head], *(forest.labels[child] for child in children))


def _extended(
    left: tuple[int, ...],
    right: tuple[int, ...],
    sides: list[_Sharpened],
    delta: dict[tuple[int, int], float],
) -> float:
    product = 1.0
    for c, d in zip(left, right, strict=True):
        product *= sides[0].inside[c] * sides[1].inside[d] + delta[c, d]
    return product
