"""Packed forests: many trees over one sentence, shared and weighted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, final

from kernelwood.structures.forest_checks import (
    HyperEdge,
    Span,
    check_edges,
    check_labels,
    check_node,
    check_spans,
    edges_by_head,
    order_nodes,
)
from kernelwood.structures.frozen import Frozen
from kernelwood.structures.labels import shorten
from kernelwood.structures.tree import Tree

if TYPE_CHECKING:
    from kernelwood.structures.forest_trees import RandomSource

__all__ = ["Forest"]


@final
class Forest(Frozen):
    r"""A packed forest: a distribution over trees that share what they have in common.

    A forest is a hypergraph. A hyper-edge joins a head to its children and carries a probability;
    a node may head several, one for each way to build it, and a node without any is a word. A
    tree of the forest chooses one hyper-edge at the root, and again at every node below. Its
    probability is the product of the chosen hyper-edges, divided by the sum over all trees, so
    the probabilities at a head need not add up to one.

    Forests are immutable and hashable. No operation recurses or lists all trees.

    Parameters
    ----------
    labels : iterable of str
        Label of each node.
    edges : iterable of (int, tuple of int, float)
        The hyper-edges: head, children from left to right, probability in (0, 1].
    root : int
        The node where every tree starts; all others must be below it.
    spans : iterable of (int, int), optional
        First word of each node, and the one after its last, counted from 0.
    fallback : bool, default False
        Whether a parser made the forest up because its grammar does not cover the sentence.

    Attributes
    ----------
    labels, edges, root, spans, fallback
        As given and in the order given, as tuples; ``spans`` may be None.

    Raises
    ------
    StructureError
        If a part is malformed, the hyper-edges run in a circle, or a node is out of reach.

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
        node_labels = check_labels(labels)
        hyper_edges = check_edges(edges, node_labels)
        top = check_node(root, len(node_labels), "root")
        order = order_nodes(node_labels, hyper_edges, top)
        positions = check_spans(spans, node_labels, hyper_edges)
        self = super().__new__(cls)
        self._fill(
            labels=node_labels,
            edges=hyper_edges,
            root=top,
            spans=positions,
            fallback=bool(fallback),
            _by_head=edges_by_head(len(node_labels), hyper_edges),
            _order=tuple(order),
            _hash=hash((node_labels, hyper_edges, top, positions, bool(fallback))),
        )
        return self

    @classmethod
    def from_trees(cls, trees: Iterable[Tree | tuple[Tree, float]]) -> Forest:
        r"""Pack trees over one sentence, such as the n best of a parser.

        Nodes of the same label over the same words become one, so that the forest also has trees
        that mix parts of those given. Where unary chains come back to a label (S over VP over S),
        nodes of that span are told apart by their height in the chain. If the trees differ in
        their root, a node labeled ``*`` joins the roots.

        The probability of a hyper-edge is its share in the weight of its head. Hence every
        hyper-edge has the same expected count as among the trees, and no packed distribution is
        closer to them; but where choices depend on each other, the probability of a whole tree
        may differ from its weight. A single tree is certain.

        Parameters
        ----------
        trees : iterable of Tree or (Tree, float)
            The trees, with weights above 0 on any scale; 1 if not given. All have the same
            leaves, and no edge labels.

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
        from kernelwood.structures.forest_json import read_json

        return read_json(text)

    def to_json(self) -> str:
        """Write the forest as a JSON object on one line; floats keep all their digits.

        Examples
        --------
        >>> forest = Forest(["N", "x"], [(0, (1,), 0.1)], 0)
        >>> Forest.from_json(forest.to_json()) == forest
        True
        """
        from kernelwood.structures.forest_json import write_json

        return write_json(self)

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
        """Number of trees, exactly; two nodes make two trees even if their labels are equal."""
        from kernelwood.structures.forest_weights import count_trees

        return count_trees(self)

    def bottom_up(self) -> tuple[int, ...]:
        """Return all nodes, children before the heads above them.

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
        return self._by_head[check_node(node, self.n_nodes, "node")]

    def inside(self, log: bool = False) -> tuple[float, ...]:
        r"""Return the inside sum of every node.

        .. math:: \beta(v) = \sum_e P(e) \prod_{c \in e} \beta(c)

        over the hyper-edges :math:`e` of :math:`v` with children :math:`c`; 1 for words.

        The sums of long sentences are outside the range of a float and become 0.0 or infinite;
        their natural logarithms, with ``log=True``, are exact for any length.

        Examples
        --------
        >>> Forest(["S", "x", "y"], [(0, (1,), 0.5), (0, (2,), 0.25)], 0).inside()
        (0.75, 1.0, 1.0)
        """
        from kernelwood.structures.forest_weights import inside

        return inside(self, log=log)

    def outside(self, log: bool = False) -> tuple[float, ...]:
        r"""Return the outside sum of every node.

        .. math:: \alpha(c) = \sum_e \alpha(h) P(e) \prod_{c' \ne c} \beta(c')

        over the hyper-edges :math:`e` that :math:`c` is a child of, with head :math:`h` and
        other children :math:`c'`; 1 for the root. With ``log=True``, natural logarithms.

        Examples
        --------
        >>> Forest(["S", "x", "y"], [(0, (1,), 0.5), (0, (2,), 0.25)], 0).outside()
        (1.0, 0.5, 0.25)
        """
        from kernelwood.structures.forest_weights import outside

        return outside(self, log=log)

    def node_marginals(self) -> tuple[float, ...]:
        r"""Return the expected number of occurrences of every node in a tree of the forest.

        .. math:: m(v) = \alpha(v) \beta(v) / \beta(\mathrm{root})

        Examples
        --------
        >>> Forest(["S", "x", "y"], [(0, (1,), 0.75), (0, (2,), 0.25)], 0).node_marginals()
        (1.0, 0.75, 0.25)
        """
        from kernelwood.structures.forest_weights import node_marginals

        return node_marginals(self)

    def edge_marginals(self) -> tuple[float, ...]:
        """Return the expected number of occurrences of every hyper-edge.

        Examples
        --------
        >>> Forest(["S", "x", "y"], [(0, (1,), 0.75), (0, (2,), 0.25)], 0).edge_marginals()
        (0.75, 0.25)
        """
        from kernelwood.structures.forest_weights import edge_marginals

        return edge_marginals(self)

    def prune(self, threshold: float = 8.0) -> Forest:
        """Drop hyper-edges whose best tree is much worse than the best of all.

        The cost of a tree is the negative logarithm of its product of probabilities. A
        hyper-edge stays if some tree with it costs at most ``threshold`` more than the best
        tree; so the best tree always stays, and so does every tree within the threshold. The
        probabilities of what stays are untouched.

        Parameters
        ----------
        threshold : float, default 8.0
            Largest difference of costs, from 0 (ties with the best tree) to infinity (all).
            If nothing is dropped, the result is this very forest.

        Examples
        --------
        >>> forest = Forest(["S", "x", "y"], [(0, (1,), 0.9), (0, (2,), 0.1)], 0)
        >>> forest.prune(2.0)
        Forest(2 nodes, 1 hyper-edge, root='S')
        """
        from kernelwood.structures.forest_weights import prune

        return prune(self, threshold)

    def best_tree(self) -> Tree:
        """Return the most probable tree; of equals, that of the earlier hyper-edges.

        Examples
        --------
        >>> Forest(["S", "x", "y"], [(0, (1,), 0.4), (0, (2,), 0.6)], 0).best_tree()
        Tree('(S y)')
        """
        from kernelwood.structures.forest_trees import best_tree

        return best_tree(self)

    def k_best(self, k: int) -> list[tuple[Tree, float]]:
        """Return the ``k`` most probable trees with their probabilities, the best first.

        Found lazily (Huang and Chiang, 2005, algorithm 3), not by listing trees. The trees are
        different; one that can be derived in several ways, because nodes of the same label stand
        over the same words, comes with the probability of the best way. There are fewer than
        ``k`` if the forest has fewer.

        Examples
        --------
        >>> Forest(["S", "x", "y"], [(0, (1,), 0.25), (0, (2,), 0.75)], 0).k_best(5)
        [(Tree('(S y)'), 0.75), (Tree('(S x)'), 0.25)]
        """
        from kernelwood.structures.forest_best import k_best

        return k_best(self, k)

    def sample(self, rng: RandomSource) -> Tree:
        """Draw a tree with its probability, by a `random.Random` or `numpy.random.Generator`.

        Examples
        --------
        >>> import random
        >>> Forest(["S", "x"], [(0, (1,), 0.5)], 0).sample(random.Random(0))
        Tree('(S x)')
        """
        from kernelwood.structures.forest_trees import sample_tree

        return sample_tree(self, rng)

    def subforest(self, start: int, end: int) -> Forest:
        """Return the forest of the smallest constituent over the words from start to end.

        Take from every tree of the forest the subtree of the node with the smallest span that
        covers the words; of a unary chain, the topmost such node. The result has exactly these
        subtrees, with the probability that they are what one takes. If they differ in their
        root, a node labeled ``*`` joins the roots. Probabilities at each head add up to one.
        The forest must have spans, and ``end`` is the position after the last word.

        Examples
        --------
        >>> tree = Tree.from_brackets("(S (NP Ann) (VP (V saw) (NP Bo)))")
        >>> Forest.from_trees([tree]).subforest(1, 3).best_tree()
        Tree('(VP (V saw) (NP Bo))')
        """
        from kernelwood.structures.forest_parts import subforest

        return subforest(self, start, end)

    def _repr_svg_(self) -> str:
        from kernelwood.structures.forest_display import forest_svg

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
    """Make a forest from its fields, as unpickling calls it: without keywords."""
    return Forest(*fields, fallback=fallback)
