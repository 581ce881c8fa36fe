"""Kernels of directed graphs."""

from __future__ import annotations

import math
import operator
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kernelwood import _native
from kernelwood.arrays import GraphBatch, Vocabulary
from kernelwood.compute import Runner, StopFlag, budget, format_bytes
from kernelwood.errors import KernelInputError, KernelOverflowError, MemoryBudgetError
from kernelwood.kernels.kernel import PART_OF_BUDGET, Kernel, Matrix, warn_of_zeros
from kernelwood.kernels.label_matching import check_gates
from kernelwood.structures import Graph, NodeId

Floats = NDArray[np.float64]

_COST_OF_ROW = 10**4  # of the features of a node or an edge, in pairs of nodes
_LANES = 16  # structures of a panel of the native comparison, see panel_product.hpp
_MOST_STEPS = 3 * 10**9  # of summing the paths of a graph, some ten seconds
_LARGEST_WEIGHT = 1e100
_MOST_TERMS = 100_000  # of a series in plain Python
# Weights of the edges of the graph of Airola et al., as the view "all-paths-graph" labels them.
_WEIGHTS_OF_VIEW = {"path": 0.9, "next": 0.9}


class _Side(NamedTuple):
    """Graphs as sparse vectors of features.

    Attributes
    ----------
    features : native features
    vocabulary : Vocabulary
        Numbers of their labels.
    selves : ndarray
        Self-similarities.
    scale : ndarray or None
        Their inverse roots, 0 for a self-similarity of 0; None if values are not normalized.
    nbytes : int
        Memory.
    """

    features: Any
    vocabulary: Vocabulary
    selves: Floats
    scale: Floats | None
    nbytes: int

    def __len__(self) -> int:
        return len(self.selves)


class GraphKernel(Kernel):
    """Base class of the graph kernels, which compare graphs as sparse vectors of features."""

    accepts = GraphBatch
    gates: Mapping[str, float] | None
    normalize: bool
    similarity = None  # labels match if they are equal
    gate_on = "node"
    _intersects = False  # whether features add the smaller of two values instead of their product

    _native_features: Any  # class of the native core

    def _parameters(self) -> Any:
        """Return the parameters of native features."""
        raise NotImplementedError

    def _check_features(self, features: Any, X: Any) -> None:
        """Raise KernelInputError if no features can be made of one of the graphs."""

    def _check_params(self) -> None:
        self._check_choice("normalize", (False, True))
        check_gates(type(self).__name__, self.gates)

    def _is_definite(self) -> bool:
        return True

    def _settings(self) -> Hashable:
        """Return what features depend on, as it is now: parameters may change later."""
        values = (
            frozenset(value.items()) if isinstance(value, Mapping) else value
            for name in self._parameter_names()
            if name not in ("n_jobs", "dtype")
            for value in (getattr(self, name),)
        )
        return (type(self), *values)

    def _gate(self, label: str) -> float:
        return float((self.gates or {}).get(label, 1.0))

    def _visible(self, graph: Graph) -> dict[NodeId, float]:
        """Return the gates of the nodes that count."""
        gates = {node: self._gate(label) for node, label in graph.nodes.items()}
        return {node: gate for node, gate in gates.items() if gate > 0}

    # Features.

    def _weights(self, X: GraphBatch) -> Floats:
        """Return the gates of nodes and the weights of edges, in the order of the rows."""
        labels, edges = (array[X.parts[0].window] for array in X.arrays[:2])
        gates = _by_label(X.vocabulary, self.gates or {}, 1.0)
        return np.where(X.is_node, gates[labels], self._edge_weights_of(X.vocabulary)[edges])

    def _edge_weights_of(self, vocabulary: Vocabulary) -> Floats:
        """Return the weight of each edge label."""
        return np.ones(len(vocabulary))

    def _whole(self, X: Any, runner: Runner) -> _Side:
        """Return the features of graphs, which stay with their batch."""
        key = ("graph features", self._settings())
        room = int(budget() * PART_OF_BUDGET)
        side: _Side = X.remember(key, lambda: self._side(X, None, runner), room=room)
        return side

    def _side(self, X: Any, base: _Side | None, runner: Runner) -> _Side:
        """Return the features of graphs, numbered as those of ``base`` and beyond."""
        weights = self._weights(X)
        vocabulary = X.vocabulary if base is None else base.vocabulary
        part = X.in_vocabulary(vocabulary).parts[0].alone()
        labels, edges, sources, targets = part.arrays
        graphs = _native.Graphs(part.offsets, labels, edges, sources, targets, weights)
        parameters, other = self._parameters(), None if base is None else base.features
        with self._budget_errors():
            features = runner.call(
                lambda stop: self._native_features(parameters, graphs, other, stop),
                cost=_COST_OF_ROW * X.n_elements,
            )
        self._check_features(features, X)
        selves = np.empty(len(X))
        features.selves(self._intersects, selves)
        if not np.isfinite(selves).all():
            raise self._overflow("float64")
        scale = None
        if self.normalize:
            some = selves > 0
            scale = np.where(some, 1 / np.sqrt(np.where(some, selves, 1)), 0)
        return _Side(features, vocabulary, selves, scale, features.nbytes + 16 * len(X))

    def _to_unit_range(self) -> bool:
        return bool(self.normalize) and not self._intersects

    @contextmanager
    def _budget_errors(self) -> Iterator[None]:
        """Raise MemoryBudgetError, with advice, where native code exceeds the memory budget."""
        try:
            yield
        except _native.BudgetExceeded as error:
            raise MemoryBudgetError(
                f"{type(self).__name__}: the features of these graphs need more than "
                f"{format_bytes(int(str(error)))}, but the memory budget is "
                f"{format_bytes(budget())}.\n    Compare fewer or smaller graphs at once, or raise "
                "the budget with kw.config_context(memory=...)"
            ) from None

    # Filling matrices.

    def _fill_gram(self, X: Any, out: Matrix, runner: Runner) -> None:
        if len(X) == 0:
            return
        side = self._whole(X, runner)
        self._compare(side, side, out, runner, lower=True)
        _native.mirror(out, 0, len(X), None, math.inf)
        if self.normalize:
            np.fill_diagonal(out, side.selves > 0)
            self._warn(side)

    def _fill_cross(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        self._fill_stream(Y, X, out.T, runner)

    def _fill_below(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        self._fill_stream(X, Y, out, runner)

    def _fill_stream(self, stream: Any, panel: Any, out: Matrix, runner: Runner) -> None:
        """Fill a matrix with the graphs of the stream, whose features are kept, in rows."""
        if len(stream) and len(panel):
            kept = self._whole(stream, runner)
            other = kept if panel is stream else self._side(panel, kept, runner)
            self._compare(other, kept, out, runner)
            if self.normalize:
                self._warn(kept, other)

    def _compare(
        self, panel: _Side, stream: _Side, out: Matrix, runner: Runner, *, lower: bool = False
    ) -> None:
        n, m = len(panel), len(stream)

        def block(begin: int, end: int, stop: StopFlag) -> None:
            _native.compare_features(
                panel.features,
                stream.features,
                self._intersects,
                begin * _LANES,
                min(end * _LANES, n),
                lower,
                out,
                panel.scale,
                stream.scale,
                1.0,
                stop,
            )

        evaluations = n * (n + 1) // 2 if lower else n * m
        cost = n * stream.nbytes // (2 if lower else 1)
        runner.run(block, -(-n // _LANES), evaluations=evaluations, cost=cost)
        if not self.normalize and not np.isfinite(np.tril(out) if lower else out).all():
            raise self._overflow(out.dtype.name)

    def _fill_pairs(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        if len(X) == 0:
            return
        stream = self._whole(Y, runner)
        panel = self._side(X, stream, runner)
        values = np.empty(len(X))
        _native.compare_feature_pairs(
            panel.features, stream.features, self._intersects, values, None
        )
        if panel.scale is not None and stream.scale is not None:
            values = np.minimum(values * (panel.scale * stream.scale), 1.0)
            self._warn(panel, stream)
        with np.errstate(over="ignore"):
            out[:] = values
        if not np.isfinite(out).all():
            raise self._overflow(out.dtype.name)
        runner.advance(len(X))

    def _fill_diag(self, X: Any, out: Matrix, runner: Runner) -> None:
        if len(X):
            side = self._whole(X, runner)
            with np.errstate(over="ignore"):
                out[:] = side.selves > 0 if self.normalize else side.selves
            if not np.isfinite(out).all():
                raise self._overflow(out.dtype.name)
            if self.normalize:
                self._warn(side)
        runner.advance(len(X))

    def _warn(self, *sides: _Side) -> None:
        warn_of_zeros(sum(int(np.count_nonzero(side.selves == 0)) for side in sides), self)

    def _cost(self, X: Any, Y: Any) -> int:
        return int(X.n_elements) * int(Y.n_elements)

    def _overflow(self, number: str) -> KernelOverflowError:
        return KernelOverflowError(
            f"{self!r}: a value exceeds the range of {number}; use smaller weights or gates"
        )


def _by_label(vocabulary: Vocabulary, values: Mapping[str, float], default: float) -> Floats:
    """Return the value of each label of a vocabulary."""
    found = np.full(len(vocabulary), default)
    for label, value in values.items():
        known = vocabulary.get(label)
        if known is not None and known < len(found):  # labels may be added meanwhile
            found[known] = float(value)
    return found


class AllPathsGraphKernel(GraphKernel):
    r"""Compares directed graphs by the weights of all paths between labels.

    .. math::

        K(G, H) = \sum_{i, j} G_{ij} H_{ij}, \qquad
        G_{ij} = \sum_{\ell(u) = i, \; \ell(v) = j} g_u W_{uv}, \qquad
        W = \sum_{n \geq 1} A^n = (I - A)^{-1} - I

    where i and j are node labels, :math:`\ell(u)` is the label of node u and :math:`g_u` its gate,
    and :math:`A_{uv}` is the weight of the edges from u to v times :math:`g_v`. The weight of a
    path is thus the product of the weights of its edges and the gates of its nodes, and
    :math:`G_{ij}` sums all paths (more precisely walks, which may visit a node again) of one edge
    or more from a node labeled i to one labeled j. With ``variant="max"``, :math:`W_{uv}` is the
    weight of the best path instead of the sum.

    Cost: for each graph once, its nodes times the nodes and edges that each reaches, and the cube
    of the size of its strongly connected components; for a pair, the pairs of labels that a path
    of the second graph joins.

    Parameters
    ----------
    edge_weight : float in [0, 1e100]
        Weight of an edge.
    edge_weights : mapping of str to float, optional
        Weights of edges with these labels, from 0 to 1e100; None for 0.9 for ``path`` and
        ``next``, the weights of the graph of [1]_ as the view ``all-paths-graph`` makes it. Edges
        of weight 0 are ignored. Labels of edges are not compared.
    variant : {"sum", "max"}
        Whether the weights of all paths between two nodes are added, or the best is taken.
    gates : mapping of str to float, optional
        Weights of node labels, 1 by default. A node with gate 0 is invisible: paths neither begin
        nor end there nor go through it.
    normalize, n_jobs, dtype
        As for :class:`SubsequenceKernel`. Sums are always computed in float64.

    Raises
    ------
    KernelInputError
        On comparison, if the sum over the paths of a graph diverges: it has cycles, and the
        spectral radius of A is 1 or more (more than :math:`1 - 10^{-9}`). For ``variant="max"``,
        if the product of weights and gates around a cycle exceeds 1. Graphs without cycles, and all
        graphs in which the weights of the edges that leave each node (or enter it) sum to less than
        1, are always accepted. Also raised if a graph is so large that comparing it takes minutes.

    Notes
    -----
    The kernel accepts any directed graph. For relations between two entities, use it on the view
    ``all-paths-graph``. Labels match only if they are equal: there is no parameter ``similarity``.
    A graph without edges has the self-similarity 0.

    References
    ----------
    .. [1] A. Airola, S. Pyysalo, J. Björne, T. Pahikkala, F. Ginter, T. Salakoski, "All-paths graph
       kernel for protein-protein interaction extraction with evaluation of cross-corpus learning",
       BMC Bioinformatics 9 (Suppl 11), 2008.

    Examples
    --------
    >>> import kernelwood as kw
    >>> a = kw.Graph(["cat", "sees", "dog"], [(1, "subj", 0), (1, "obj", 2)])
    >>> b = kw.Graph(["cat", "sees", "big", "dog"], [(1, "subj", 0), (1, "obj", 2), (2, "of", 3)])
    >>> kernel = kw.AllPathsGraphKernel(edge_weight=0.5, normalize=False)
    >>> kernel.value(a, a), kernel.value(a, b)  # "sees" reaches "dog" by two edges in b
    (0.5, 0.375)
    """

    def __init__(
        self,
        *,
        edge_weight: float = 0.3,
        edge_weights: Mapping[str, float] | None = None,
        variant: str = "sum",
        gates: Mapping[str, float] | None = None,
        normalize: bool = True,
        n_jobs: int | None = None,
        dtype: DTypeLike = "float64",
    ) -> None:
        self.edge_weight = edge_weight
        self.edge_weights = edge_weights
        self.variant = variant
        self.gates = gates
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.dtype = dtype

    def reference(self, a: Graph, b: Graph) -> float:
        """Return the raw value by the series over the lengths of paths."""
        left, right = self._label_pairs(a), self._label_pairs(b)
        return math.fsum(weight * right.get(pair, 0.0) for pair, weight in left.items())

    def _label_pairs(self, graph: Graph) -> dict[tuple[str, str], float]:
        """Return the weight of all paths between each pair of labels."""
        gates = self._visible(graph)
        edges: dict[NodeId, list[tuple[NodeId, float]]] = {node: [] for node in gates}
        for source, label, target in graph.edges:
            if source in gates and target in gates:
                edges[source].append((target, self._edge_weight_of(label) * gates[target]))
        found: dict[tuple[str, str], float] = defaultdict(float)
        for node, gate in gates.items():
            for target, weight in self._paths_from(node, edges).items():
                found[graph.nodes[node], graph.nodes[target]] += gate * weight
        return found

    def _paths_from(
        self, node: NodeId, edges: Mapping[NodeId, list[tuple[NodeId, float]]]
    ) -> dict[NodeId, float]:
        """Return the weight of all paths from a node to each other, longer paths after shorter."""
        best = self.variant == "max"
        total: dict[NodeId, float] = {}
        walks: dict[NodeId, float] = {node: 1.0}
        for _ in range(len(edges) if best else _MOST_TERMS):
            longer: dict[NodeId, float] = defaultdict(float)
            for source, so_far in walks.items():
                for target, weight in edges[source]:
                    step = so_far * weight
                    longer[target] = max(longer[target], step) if best else longer[target] + step
            for target, weight in longer.items():
                known = total.get(target, 0.0)
                total[target] = max(known, weight) if best else known + weight
            walks = {one: w for one, w in longer.items() if w > 1e-20 * total[one]}
            if not walks:
                break
        return total

    def _edge_weight_of(self, label: str) -> float:
        return float(self._listed_weights().get(label, self.edge_weight))

    def _listed_weights(self) -> Mapping[str, float]:
        return _WEIGHTS_OF_VIEW if self.edge_weights is None else self.edge_weights

    def _check_params(self) -> None:
        super()._check_params()
        self._check_number("edge_weight", 0, _LARGEST_WEIGHT, "[0, 1e100]")
        self._check_choice("variant", ("sum", "max"))
        weights = self._listed_weights()
        if not isinstance(weights, Mapping):
            raise KernelInputError(
                "AllPathsGraphKernel: edge_weights must be a mapping from edge labels to weights, "
                f"such as {{'path': 0.9}}, got {type(weights).__name__}"
            )
        for label, weight in weights.items():
            number = isinstance(weight, (int, float, np.integer, np.floating))
            if not (isinstance(label, str) and number and 0 <= float(weight) <= _LARGEST_WEIGHT):
                raise KernelInputError(
                    "AllPathsGraphKernel: edge_weights must map labels (strings) to numbers from 0 "
                    f"to {_LARGEST_WEIGHT:g}, got {label!r}: {weight!r}"
                )

    def _edge_weights_of(self, vocabulary: Vocabulary) -> Floats:
        return _by_label(vocabulary, self._listed_weights(), float(self.edge_weight))

    _native_features = _native.PathFeatures

    def _parameters(self) -> Any:
        parameters = _native.PathParameters()
        parameters.best = self.variant == "max"
        parameters.to_unit_range = self._to_unit_range()
        parameters.max_bytes = budget()
        parameters.max_steps = _MOST_STEPS
        return parameters

    def _check_features(self, features: Any, X: Any) -> None:
        if features.problem == _native.PathProblem.none:
            return
        index = features.problem_graph
        size = f"graph {index} ({X.sizes[index]:,} {X.unit})"
        if features.problem == _native.PathProblem.too_many_steps:
            raise KernelInputError(
                f"AllPathsGraphKernel: the paths of {size} take more than {_MOST_STEPS:,} steps; "
                "split the graph, or remove edges"
            )
        if self.variant == "max":
            raise KernelInputError(
                f"AllPathsGraphKernel: {size} has a cycle whose weights and gates multiply to more "
                "than 1, so that there is no best path; use weights and gates of 1 or less"
            )
        raise KernelInputError(
            f"AllPathsGraphKernel: the weights of all paths of {size} have no finite sum, because "
            "of its cycles: use a smaller edge_weight, smaller edge_weights or gates, or "
            "variant='max' with weights of 1 or less"
        )


class WeisfeilerLehmanKernel(GraphKernel):
    r"""Compares directed graphs by the labels of their nodes and those of their neighborhoods.

    .. math::

        K(G, H) = \sum_{i=0}^{h} \sum_c \phi_{i,c}(G) \, \phi_{i,c}(H)
        \quad \text{or} \quad
        \sum_{i=0}^{h} \sum_c \min\bigl(\phi_{i,c}(G), \phi_{i,c}(H)\bigr), \qquad
        \phi_{i,c} = \sum_{v: \, c_i(v) = c} g_v

    for the bases histogram and assignment. The color :math:`c_0(v)` of a node is its label;
    :math:`c_{i+1}(v)` stands for :math:`c_i(v)` and the multiset of (direction, edge label,
    :math:`c_i(w)`) over the edges between v and its neighbors w. :math:`g_v` is the gate of a node,
    so that without gates :math:`\phi_{i,c}` counts the nodes of a color. The histogram kernel
    counts pairs of nodes with equal neighborhoods up to each radius; the assignment kernel is the
    value of the best one-to-one assignment of nodes, each pair counting the iterations in which its
    colors are equal.

    Cost: for each graph once, h times its edges; for a pair, the colors of the second graph.

    Parameters
    ----------
    n_iterations : int
        h, the number of refinements, 0 or more; 0 compares node labels only.
    base : {"histogram", "assignment"}
        Whether the counts of a color are multiplied, or the smaller one is taken.
    gates : mapping of str to float, optional
        Weights of node labels, 1 by default. A node with gate 0 is invisible, also to its
        neighbors.
    normalize, n_jobs, dtype
        As for :class:`SubsequenceKernel`. Sums are always computed in float64.

    Notes
    -----
    Colors are compared exactly, without hashing: equal colors stand for equal neighborhoods. Labels
    match only if they are equal; refinement is not defined for soft matching, so there is no
    parameter ``similarity``. Both bases are positive semidefinite. The assignment kernel is less
    dominated by frequent labels.

    References
    ----------
    .. [1] N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn, K. Borgwardt,
       "Weisfeiler-Lehman graph kernels", JMLR 2011.
    .. [2] N. Kriege, P.-L. Giscard, R. Wilson, "On valid optimal assignment kernels and
       applications to graph classification", NIPS 2016.

    Examples
    --------
    >>> import kernelwood as kw
    >>> a = kw.Graph(["cat", "sees", "dog"], [(1, "subj", 0), (1, "obj", 2)])
    >>> b = kw.Graph(["cat", "sees", "dog"], [(1, "obj", 0), (1, "obj", 2)])
    >>> kernel = kw.WeisfeilerLehmanKernel(n_iterations=1, normalize=False)
    >>> kernel.value(a, a), kernel.value(a, b)  # in b only "dog" has the same neighborhood
    (6.0, 4.0)
    """

    def __init__(
        self,
        *,
        n_iterations: int = 3,
        base: str = "histogram",
        gates: Mapping[str, float] | None = None,
        normalize: bool = True,
        n_jobs: int | None = None,
        dtype: DTypeLike = "float64",
    ) -> None:
        self.n_iterations = n_iterations
        self.base = base
        self.gates = gates
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.dtype = dtype

    @property
    def _intersects(self) -> bool:  # type: ignore[override]
        return self.base == "assignment"

    def reference(self, a: Graph, b: Graph) -> float:
        """Return the raw value by refining colors, which are written out as nested tuples."""
        combine: Any = min if self.base == "assignment" else operator.mul
        left, right = self._colors(a), self._colors(b)
        return math.fsum(combine(left[c], right[c]) for c in left if c in right)

    def _colors(self, graph: Graph) -> dict[Any, float]:
        """Return the sum of gates for each iteration and color."""
        gates = self._visible(graph)
        colors: dict[NodeId, Any] = {node: graph.nodes[node] for node in gates}
        found: Counter[Any] = Counter()
        for i in range(self.n_iterations + 1):
            for node, gate in gates.items():
                found[i, colors[node]] += gate  # type: ignore[assignment]
            around: dict[NodeId, list[Any]] = {node: [] for node in gates}
            for source, label, target in graph.edges:
                if source in gates and target in gates:
                    around[source].append(("to", label, colors[target]))
                    around[target].append(("from", label, colors[source]))
            colors = {node: (colors[node], tuple(sorted(around[node], key=repr))) for node in gates}
        return dict(found)

    def _check_params(self) -> None:
        super()._check_params()
        self._check_count("n_iterations", 0)
        self._check_choice("base", ("histogram", "assignment"))

    _native_features = _native.ColorFeatures

    def _parameters(self) -> Any:
        parameters = _native.ColorParameters()
        parameters.n_iterations = int(self.n_iterations)
        parameters.to_unit_range = self._to_unit_range()
        parameters.max_bytes = budget()
        return parameters
