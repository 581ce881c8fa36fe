"""Packed forests: weighted trees over one sentence that share their common parts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence as Listing
from numbers import Real
from typing import Any, Protocol, TypeAlias, final

from kernelwood.errors import StructureError
from kernelwood.structures.forest_algorithms import (
    as_floats,
    best_tree,
    count_trees,
    divide,
    k_best,
    prune,
    sample_tree,
    scaled_inside,
    scaled_marginals,
    subforest,
    times,
)
from kernelwood.structures.structure_base import Frozen, check_integer, check_label, shorten, show
from kernelwood.structures.tree import Tree

HyperEdge: TypeAlias = tuple[int, tuple[int, ...], float]
Span: TypeAlias = tuple[int, int]


class RandomSource(Protocol):
    """A source of random numbers: `random.Random` or `numpy.random.Generator`."""

    def random(self) -> float:
        """Return a number in [0, 1)."""


@final
class Forest(Frozen):
    r"""A packed forest: a distribution over trees with shared subtrees.

    A forest is a hypergraph. A hyper-edge joins a head to its children and carries a probability.
    A node may head several hyper-edges, one per way to build it; a node without hyper-edges is a
    word. A tree of the forest chooses one hyper-edge at the root and at every node below. Its
    probability is the product over the chosen hyper-edges, divided by the sum over all trees, so
    the probabilities at a head need not add up to one.

    Forests are immutable and hashable. No operation recurses or lists all trees.

    Parameters
    ----------
    labels : iterable of str
        Label of each node.
    edges : iterable of (int, tuple of int, float)
        The hyper-edges: head, children from left to right, probability in (0, 1].
    root : int
        Root of every tree; all other nodes must be below it.
    spans : iterable of (int, int), optional
        Position of the first word of each node, and the position after its last word.
    fallback : bool, default False
        Whether the forest is a substitute because the grammar does not cover the sentence.

    Attributes
    ----------
    labels, edges, root, spans, fallback
        As given and in the order given, as tuples; ``spans`` may be None.

    Raises
    ------
    StructureError
        If a part is malformed, there is a cycle, or the root does not reach a node.

    Examples
    --------
    Two readings of one noun phrase, "old men and women":

    >>> forest = Forest(
    ...     ["NP", "NP", "NP", "old", "men", "and", "women"],
    ...     [(0, (1, 5, 6), 0.2), (0, (3, 2), 0.8), (1, (3, 4), 1.0), (2, (4, 5, 6), 1.0)],
    ...     root=0,
    ... )
    >>> forest
    Forest(7 nodes, 4 hyper-edges, root='NP')
    >>> forest.n_trees
    2
    >>> forest.best_tree()
    Tree('(NP old (NP men and women))')
    """

    __slots__ = ("_by_head", "_hash", "_order", "edges", "fallback", "labels", "root", "spans")

    labels: tuple[str, ...]
    edges: tuple[HyperEdge, ...]
    root: int
    spans: tuple[Span, ...] | None
    fallback: bool
    _by_head: tuple[tuple[int, ...], ...]
    _order: tuple[int, ...]
    _hash: int

    def __new__(
        cls,
        labels: Iterable[str],
        edges: Iterable[tuple[int, Iterable[int], float]],
        root: int,
        spans: Iterable[tuple[int, int]] | None = None,
        *,
        fallback: bool = False,
    ) -> Forest:
        """Check the parts and make the forest."""
        node_labels = _check_labels(labels)
        hyper_edges = _check_edges(edges, node_labels)
        top = _check_node(root, len(node_labels), "root")
        order = _order_nodes(node_labels, hyper_edges, top)
        positions = _check_spans(spans, node_labels, hyper_edges)
        self = super().__new__(cls)
        self._fill(
            labels=node_labels,
            edges=hyper_edges,
            root=top,
            spans=positions,
            fallback=bool(fallback),
            _by_head=_edges_by_head(len(node_labels), hyper_edges),
            _order=tuple(order),
            _hash=hash((node_labels, hyper_edges, top, positions, bool(fallback))),
        )
        return self

    @classmethod
    def from_trees(cls, trees: Iterable[Tree | tuple[Tree, float]]) -> Forest:
        r"""Pack trees over one sentence, such as the n best of a parser.

        Nodes with the same label over the same words are merged, so the forest also contains
        trees that mix parts of the given ones. If a unary chain repeats a label (S over VP over
        S), nodes of that span are distinguished by their height in the chain. If the roots
        differ, a node labeled ``*`` joins them.

        The probability of a hyper-edge is its fraction of the weight of its head. Hence every
        hyper-edge has the same expected count as among the trees, and no packed distribution is
        closer to them; where choices depend on each other, the probability of a whole tree may
        differ from its weight.

        Parameters
        ----------
        trees : iterable of Tree or (Tree, float)
            Trees with the same leaves and without edge labels. Weights are positive, on any
            scale; the default is 1.

        Raises
        ------
        StructureError
            If there are no trees, their leaves differ, or a weight is not positive.

        Examples
        --------
        >>> trees = [
        ...     (Tree.from_brackets("(VP saw (NP girls (PP with hats)))"), 3),
        ...     (Tree.from_brackets("(VP saw (NP girls) (PP with hats))"), 1),
        ... ]
        >>> forest = Forest.from_trees(trees)
        >>> forest.n_trees, forest.spans[forest.root]
        (2, (0, 4))
        >>> forest.k_best(2)[1]
        (Tree('(VP saw (NP girls) (PP with hats))'), 0.25)
        """
        from kernelwood.structures.forest_packing import pack_trees

        return pack_trees(trees)

    @classmethod
    def from_json(cls, text: str) -> Forest:
        """Read a forest from the JSON object that `to_json` writes."""
        from kernelwood.structures.structure_json import decode_json, forest_from_object

        return forest_from_object(decode_json(text))

    def to_json(self) -> str:
        """Return the forest as a JSON object on one line, with all digits of floats.

        Examples
        --------
        >>> forest = Forest(["N", "x"], [(0, (1,), 0.1)], 0)
        >>> Forest.from_json(forest.to_json()) == forest
        True
        """
        from kernelwood.structures.structure_json import encode_json, forest_object

        return encode_json(forest_object(self))

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.labels)

    @property
    def n_edges(self) -> int:
        """Number of hyper-edges."""
        return len(self.edges)

    @property
    def n_trees(self) -> int:
        """Exact number of trees; choices between nodes with equal labels count separately."""
        return count_trees(self)

    def bottom_up(self) -> tuple[int, ...]:
        """Return all nodes, children before heads.

        Examples
        --------
        >>> Forest(["NP", "Ann"], [(0, (1,), 1.0)], 0).bottom_up()
        (1, 0)
        """
        return self._order

    def edges_of(self, node: int) -> tuple[int, ...]:
        """Return the positions in `edges` of the hyper-edges that ``node`` heads.

        Examples
        --------
        >>> Forest(["NP", "Ann"], [(0, (1,), 1.0)], 0).edges_of(0)
        (0,)
        """
        return self._by_head[_check_node(node, self.n_nodes, "node")]

    def inside(self, log: bool = False) -> tuple[float, ...]:
        r"""Return the inside sum of every node.

        .. math:: \beta(v) = \sum_e P(e) \prod_{c \in e} \beta(c)

        over the hyper-edges :math:`e` of :math:`v` with children :math:`c`; 1 for words.

        The sums of long sentences may leave the range of a float and become 0.0 or infinite;
        their natural logarithms (``log=True``) are exact for any length.

        Examples
        --------
        >>> Forest(["S", "x", "y"], [(0, (1,), 0.5), (0, (2,), 0.25)], 0).inside()
        (0.75, 1.0, 1.0)
        """
        return as_floats(scaled_inside(self)[0], log)

    def outside(self, log: bool = False) -> tuple[float, ...]:
        r"""Return the outside sum of every node.

        .. math:: \alpha(c) = \sum_e \alpha(h) P(e) \prod_{c' \ne c} \beta(c')

        over the hyper-edges :math:`e` with :math:`c` among their children, head :math:`h` and
        other children :math:`c'`; 1 for the root. With ``log=True``, natural logarithms.

        Examples
        --------
        >>> Forest(["S", "x", "y"], [(0, (1,), 0.5), (0, (2,), 0.25)], 0).outside()
        (1.0, 0.5, 0.25)
        """
        nodes, edges = scaled_inside(self)
        counts, _ = scaled_marginals(self, nodes, edges)
        whole = nodes[self.root]
        pairs = zip(counts, nodes, strict=True)
        return as_floats([divide(times(count, whole), below) for count, below in pairs], log)

    def node_marginals(self) -> tuple[float, ...]:
        r"""Return the expected number of occurrences of every node in a tree of the forest.

        .. math:: m(v) = \alpha(v) \beta(v) / \beta(\mathrm{root})

        Examples
        --------
        >>> Forest(["S", "x", "y"], [(0, (1,), 0.75), (0, (2,), 0.25)], 0).node_marginals()
        (1.0, 0.75, 0.25)
        """
        return as_floats(scaled_marginals(self, *scaled_inside(self))[0])

    def edge_marginals(self) -> tuple[float, ...]:
        """Return the expected number of occurrences of every hyper-edge.

        Examples
        --------
        >>> Forest(["S", "x", "y"], [(0, (1,), 0.75), (0, (2,), 0.25)], 0).edge_marginals()
        (0.75, 0.25)
        """
        return as_floats(scaled_marginals(self, *scaled_inside(self))[1])

    def prune(self, threshold: float = 8.0) -> Forest:
        """Return the forest without hyper-edges whose best tree costs too much.

        The cost of a tree is the negative logarithm of its product of probabilities. A
        hyper-edge is kept, with its probability, if some tree with it costs at most
        ``threshold`` more than the best tree; so every tree within the threshold is kept.

        Parameters
        ----------
        threshold : float, default 8.0
            Largest difference of costs, from 0 (ties with the best tree) to infinity (all).
            If nothing is dropped, the same object is returned.

        Examples
        --------
        >>> forest = Forest(["S", "x", "y"], [(0, (1,), 0.9), (0, (2,), 0.1)], 0)
        >>> forest.prune(2.0)
        Forest(2 nodes, 1 hyper-edge, root='S')
        """
        return prune(self, threshold)

    def best_tree(self) -> Tree:
        """Return the most probable tree; ties go to the earlier hyper-edges.

        Examples
        --------
        >>> Forest(["S", "x", "y"], [(0, (1,), 0.4), (0, (2,), 0.6)], 0).best_tree()
        Tree('(S y)')
        """
        return best_tree(self)

    def k_best(self, k: int) -> list[tuple[Tree, float]]:
        """Return the ``k`` most probable trees with their probabilities, the best first.

        Computed lazily (Huang and Chiang, 2005, algorithm 3). The trees are distinct; a tree with
        several derivations, because nodes over the same words have the same label, has the
        probability of its best derivation. Fewer than ``k`` if the forest has fewer.

        Examples
        --------
        >>> Forest(["S", "x", "y"], [(0, (1,), 0.25), (0, (2,), 0.75)], 0).k_best(5)
        [(Tree('(S y)'), 0.75), (Tree('(S x)'), 0.25)]
        """
        return k_best(self, k)

    def sample(self, rng: RandomSource) -> Tree:
        """Return a random tree, drawn by a `random.Random` or `numpy.random.Generator`.

        Examples
        --------
        >>> import random
        >>> Forest(["S", "x"], [(0, (1,), 0.5)], 0).sample(random.Random(0))
        Tree('(S x)')
        """
        return sample_tree(self, rng)

    def subforest(self, start: int, end: int) -> Forest:
        """Return the forest of the smallest constituent over the words from start to end.

        From every tree of the forest, take the subtree at the node with the smallest span that
        covers the words, the topmost such node of a unary chain. The result holds exactly these
        subtrees with their probabilities. If their roots differ, a node labeled ``*`` joins
        them. Probabilities at each head add up to one. The forest must have spans; ``end`` is
        the position after the last word.

        Examples
        --------
        >>> tree = Tree.from_brackets("(S (NP Ann) (VP (V saw) (NP Bo)))")
        >>> Forest.from_trees([tree]).subforest(1, 3).best_tree()
        Tree('(VP (V saw) (NP Bo))')
        """
        return subforest(self, start, end)

    def _repr_svg_(self) -> str:
        from kernelwood.structures.pictures import forest_svg

        return forest_svg(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Forest):
            return NotImplemented
        return self is other or (
            self._hash == other._hash
            and self.root == other.root
            and self.fallback == other.fallback
            and self.labels == other.labels
            and self.edges == other.edges
            and self.spans == other.spans
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        parts = [
            f"{self.n_nodes} node{'s' * (self.n_nodes != 1)}",
            f"{self.n_edges} hyper-edge{'s' * (self.n_edges != 1)}",
            f"root={shorten(repr(self.labels[self.root]))}",
        ]
        if self.fallback:
            parts.append("fallback")
        return f"Forest({', '.join(parts)})"

    def __reduce__(self) -> tuple[object, ...]:
        return (_remake, (self.fallback, self.labels, self.edges, self.root, self.spans))


def _remake(fallback: bool, *fields: Any) -> Forest:
    """Make a forest from positional fields, for unpickling."""
    return Forest(*fields, fallback=fallback)


def _check_labels(labels: object) -> tuple[str, ...]:
    """Return the labels as a tuple of plain strings."""
    listed = _listed(labels, "labels", "one string per node")
    if not listed:
        raise StructureError(
            "a forest has at least one node, got no labels",
            hint='the smallest forest is a single word: Forest(["word"], [], 0)',
        )
    return tuple(
        label if type(label) is str else check_label(label, f"label of node {node}")
        for node, label in enumerate(listed)
    )


def _check_edges(edges: object, labels: tuple[str, ...]) -> tuple[HyperEdge, ...]:
    """Return the hyper-edges as plain triples, each (head, children) pair once."""
    shape = "(head, children, probability) triples"
    checked = []
    known: dict[tuple[int, tuple[int, ...]], int] = {}
    for position, edge in enumerate(_listed(edges, "hyper-edges", shape)):
        if not isinstance(edge, (tuple, list)) or len(edge) != 3:
            raise StructureError(
                f"hyper-edge {position} must be (head, children, probability), got {show(edge)}"
            )
        head = _check_node(edge[0], len(labels), f"head of hyper-edge {position}")
        children = _check_children(edge[1], position, len(labels))
        probability = _check_probability(edge[2], position)
        first = known.setdefault((head, children), position)
        if first != position:
            raise StructureError(
                f"hyper-edges {first} and {position} are the same; add their probabilities",
                hint=f"both join {_name(labels, head)} to the same children",
            )
        checked.append((head, children, probability))
    return tuple(checked)


def _check_spans(
    spans: object, labels: tuple[str, ...], edges: tuple[HyperEdge, ...]
) -> tuple[Span, ...] | None:
    """Return the spans as pairs of plain integers, children inside their heads."""
    if spans is None:
        return None
    listed = _listed(spans, "spans", "one (start, end) pair per node")
    if len(listed) != len(labels):
        raise StructureError(
            f"spans must be one per node, got {len(listed)} for {len(labels)} nodes",
            hint="give every node a (start, end) pair, or leave spans out",
        )
    checked = tuple(_check_span(span, node, labels) for node, span in enumerate(listed))
    for position, (head, children, _) in enumerate(edges):
        start, end = checked[head]
        for child in children:
            if checked[child][0] < start:
                raise _wrong_place(position, head, child, labels, checked)
            start = checked[child][1]
        if start > end:
            raise _wrong_place(position, head, children[-1], labels, checked)
    return checked


def _edges_by_head(n_nodes: int, edges: tuple[HyperEdge, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the positions of the hyper-edges of every node."""
    listed: list[list[int]] = [[] for _ in range(n_nodes)]
    for position, (head, _, _) in enumerate(edges):
        listed[head].append(position)
    return tuple(map(tuple, listed))


def _order_nodes(labels: tuple[str, ...], edges: tuple[HyperEdge, ...], root: int) -> list[int]:
    """Return all nodes, children before heads; raise for cycles and unreachable nodes."""
    below: list[list[int]] = [[] for _ in labels]
    for head, children, _ in edges:
        below[head].extend(children)
    new, opened, closed = 0, 1, 2
    state = [new] * len(labels)
    state[root] = opened
    order: list[int] = []
    path = [(root, iter(below[root]))]
    while path:
        node, rest = path[-1]
        for child in rest:
            if state[child] == new:
                state[child] = opened
                path.append((child, iter(below[child])))
                break
            if state[child] == opened:
                raise _cyclic([step for step, _ in path], child, labels)
        else:
            state[node] = closed
            order.append(node)
            path.pop()
    if len(order) < len(labels):
        lost = state.index(new)
        raise StructureError(
            f"node {_name(labels, lost)} cannot be reached from the root {_name(labels, root)}",
            hint="leave it out, or add the hyper-edge that leads to it",
        )
    return order


def _listed(values: object, what: str, shape: str) -> Listing[object]:
    if isinstance(values, (tuple, list)):
        return values
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise StructureError(
            f"{what} of a forest must be {shape}, "
            f"got {show(values)} of type {type(values).__name__}",
            hint="put them in a list",
        )
    return list(values)


def _check_node(node: object, n_nodes: int, what: str) -> int:
    """Return the number of a node as a plain integer."""
    number = node if type(node) is int else check_integer(node, what)
    if not 0 <= number < n_nodes:
        raise StructureError(
            f"{what} is {show(number)}, but the nodes are 0 to {n_nodes - 1}",
            hint="nodes are counted from 0, in the order of labels",
        )
    return number


def _check_children(children: object, position: int, n_nodes: int) -> tuple[int, ...]:
    if isinstance(children, (str, bytes)) or not isinstance(children, Iterable):
        raise StructureError(
            f"children of hyper-edge {position} must be node numbers, "
            f"got {show(children)} of type {type(children).__name__}",
            hint="put even a single child in a tuple: (child,)",
        )
    what = f"child of hyper-edge {position}"
    members = tuple([_check_node(child, n_nodes, what) for child in children])
    if not members:
        raise StructureError(
            f"hyper-edge {position} has no children",
            hint="leave it out: a node without hyper-edges is a word",
        )
    return members


def _check_probability(value: object, position: int) -> float:
    number = value if type(value) is float else _check_real(value, position)
    if not 0.0 < number <= 1.0:
        raise StructureError(
            f"probability of hyper-edge {position} must be above 0 and at most 1, "
            f"got {show(value)}",
            hint="leave out impossible hyper-edges; divide weights by the total of their head",
        )
    return number


def _check_real(value: object, position: int) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise StructureError(
            f"probability of hyper-edge {position} must be a number, "
            f"got {show(value)} of type {type(value).__name__}"
        )
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _check_span(span: object, node: int, labels: tuple[str, ...]) -> Span:
    if not isinstance(span, (tuple, list)) or len(span) != 2:
        raise StructureError(
            f"span of node {_name(labels, node)} must be (start, end), got {show(span)}"
        )
    start, end = span
    if type(start) is not int:
        start = check_integer(start, f"start of the span of node {_name(labels, node)}")
    if type(end) is not int:
        end = check_integer(end, f"end of the span of node {_name(labels, node)}")
    if not 0 <= start <= end:
        raise StructureError(
            f"span of node {_name(labels, node)} is ({show(start)}, {show(end)}), "
            "which is not a range of words",
            hint="0 <= start <= end must hold; end is the position after the last word",
        )
    return start, end


def _wrong_place(
    position: int, head: int, child: int, labels: tuple[str, ...], spans: tuple[Span, ...]
) -> StructureError:
    return StructureError(
        f"span {spans[child]} of {_name(labels, child)} does not fit into hyper-edge {position} "
        f"of {_name(labels, head)} over {spans[head]}",
        hint="children lie inside their head, from left to right, without overlap",
    )


def _cyclic(path: list[int], again: int, labels: tuple[str, ...]) -> StructureError:
    cycle = [*path[path.index(again) :], again]
    shown = [shorten(labels[node], 20) for node in cycle]
    if len(shown) > 8:
        shown[4:-3] = ["..."]
    return StructureError(
        f"the hyper-edges form a cycle: {' -> '.join(shown)} (node {again} is below itself)",
        hint="a forest has no cycles; give the lower node of a unary chain a number of its own",
    )


def _name(labels: tuple[str, ...], node: int) -> str:
    return f"{node} ({shorten(repr(labels[node]), 30)})"
