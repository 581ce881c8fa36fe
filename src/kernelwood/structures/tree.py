"""Ordered labeled trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import final

from kernelwood.errors import StructureError
from kernelwood.structures.structure_base import Frozen, check_label, shorten

_EMPTY_ELEMENT = "-NONE-"


class _Draft:
    """A mutable node, before its class is changed to `Tree`, which has the same layout.

    Assigning a plain slot is several times faster than bypassing the ``__setattr__`` of a frozen
    class, and every reader spends most of its time making nodes.
    """

    __slots__ = ("_hash", "children", "edge", "label", "n_nodes")

    label: str
    children: tuple[Tree, ...]
    edge: str
    n_nodes: int
    _hash: int


@final
class Tree(_Draft, Frozen):
    """An ordered tree with node labels and labels of the edges to the parents.

    Trees are immutable and hashable; every node is itself a tree. No operation recurses, so depth
    is limited by memory only.

    Parameters
    ----------
    label : str
        Label of the root.
    children : iterable of Tree, optional
        The children from left to right.
    edge : str, optional
        Label of the edge to the parent, "" for none.

    Attributes
    ----------
    label, children, edge
        As given; ``children`` is a tuple.
    n_nodes : int
        Number of nodes.

    Raises
    ------
    StructureError
        If a label is not a string or a child is not a `Tree`.

    Examples
    --------
    >>> tree = Tree("NP", [Tree("the", edge="det"), Tree("bank")])
    >>> tree
    Tree('(NP "det":the bank)')
    >>> tree.n_nodes, tree.depth
    (3, 2)
    >>> [node.label for node in tree.postorder()]
    ['the', 'bank', 'NP']
    """

    __slots__ = ()
    __match_args__ = ("label", "children", "edge")

    def __new__(cls, label: str, children: Iterable[Tree] = (), edge: str = "") -> Tree:
        """Check the parts and make the node."""
        if type(label) is not str:
            label = check_label(label, "tree label")
        if type(edge) is not str:
            edge = check_label(edge, f"edge label of tree {shorten(repr(label))}")
        return make_node(label, _check_children(label, children), edge)

    @classmethod
    def from_brackets(cls, text: str) -> Tree:
        """Return the tree in bracket notation, described in `kernelwood.structures.brackets`.

        An empty root around a tree, as in files of the Penn Treebank, stays, so that every tree is
        read back as it was written; `kernelwood.read` takes it off.

        Raises
        ------
        StructureError
            If ``text`` is not exactly one tree; carries line and column.

        Examples
        --------
        >>> Tree.from_brackets("(S (NP x) (VP y))").children[1].label
        'VP'
        >>> Tree.from_brackets("( (S (NP x) (VP y)) )").label
        ''
        """
        from kernelwood.structures.brackets import read_brackets

        return read_brackets(text)

    def to_brackets(self) -> str:
        r"""Return the tree in bracket notation; `from_brackets` reads back an equal tree.

        Examples
        --------
        >>> Tree("NP", [Tree("New York"), Tree("(")]).to_brackets()
        '(NP "New York" "\\(")'
        """
        from kernelwood.structures.brackets import write_brackets

        return write_brackets(self)

    @classmethod
    def from_postorder(
        cls, labels: Iterable[str], edges: Iterable[str], n_children: Iterable[int]
    ) -> Tree:
        """Return the tree with these nodes in post-order, the inverse of `flatten`.

        Parameters
        ----------
        labels, edges : iterable of str
            Label and edge label of each node.
        n_children : iterable of int
            Number of children of each node.

        Raises
        ------
        StructureError
            If the three differ in length or do not describe exactly one tree.

        Examples
        --------
        >>> Tree.from_postorder(["x", "y", "S"], ["", "", ""], [0, 0, 2])
        Tree('(S x y)')
        """
        node_labels = _check_labels(labels, "label")
        edge_labels = _check_labels(edges, "edge label")
        counts = list(n_children)
        _check_postorder(len(node_labels), len(edge_labels), counts)
        return assemble(node_labels, edge_labels, counts)

    def flatten(self) -> tuple[list[str], list[str], list[int]]:
        """Return labels, edge labels and child counts of all nodes in post-order.

        Examples
        --------
        >>> Tree.from_brackets("(S (NP x) y)").flatten()
        (['x', 'NP', 'y', 'S'], ['', '', '', ''], [0, 1, 0, 2])
        """
        nodes = self._reversed_postorder()
        nodes.reverse()
        return (
            [node.label for node in nodes],
            [node.edge for node in nodes],
            [len(node.children) for node in nodes],
        )

    def preorder(self) -> Iterator[Tree]:
        """Iterate over all nodes, parents before children, left to right."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            if node.children:
                waiting += node.children[::-1]

    def postorder(self) -> Iterator[Tree]:
        """Iterate over all nodes, children before parents, left to right."""
        return reversed(self._reversed_postorder())

    def leaves(self) -> Iterator[Tree]:
        """Iterate over the nodes without children, left to right.

        Examples
        --------
        >>> tree = Tree.from_brackets("(S (NP trees) (VP grow))")
        >>> " ".join(leaf.label for leaf in tree.leaves())
        'trees grow'
        """
        return (node for node in self.preorder() if not node.children)

    @property
    def is_leaf(self) -> bool:
        """Whether the node has no children."""
        return not self.children

    @property
    def depth(self) -> int:
        """Number of nodes on the longest path from the root to a leaf."""
        depth, level = 0, [self]
        while level:
            depth += 1
            level = [child for node in level for child in node.children]
        return depth

    def _reversed_postorder(self) -> list[Tree]:
        """Return the nodes in reversed post-order: root, then subtrees from right to left."""
        nodes: list[Tree] = []
        waiting = [self]
        pop, append = waiting.pop, nodes.append
        while waiting:
            node = pop()
            append(node)
            if node.children:
                waiting += node.children
        return nodes

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Tree):
            return NotImplemented
        return self._hash == other._hash and _same_nodes(self, other)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        from kernelwood.structures.brackets import preview_brackets

        return f"Tree({preview_brackets(self, 70)!r})"

    def _repr_svg_(self) -> str:
        from kernelwood.structures.pictures import tree_svg

        return tree_svg(self)

    def __reduce__(self) -> tuple[object, ...]:
        # Flat lists: the default recurses once per level.
        return (assemble, self.flatten())


def make_node(label: str, children: tuple[Tree, ...], edge: str) -> Tree:
    """Return a tree of parts known to be valid, without checks.

    Examples
    --------
    >>> make_node("NP", (Tree("x"),), "")
    Tree('(NP x)')
    """
    node = _Draft()
    node.label = label
    node.children = children
    node.edge = edge
    n_nodes = 1
    digest = hash((label, edge))
    for child in children:
        n_nodes += child.n_nodes
        digest = hash((digest, child._hash))
    node.n_nodes = n_nodes
    node._hash = digest
    node.__class__ = Tree
    return node  # type: ignore[return-value]


def assemble(labels: list[str], edges: list[str], n_children: list[int]) -> Tree:
    """Return a tree of post-order lists known to be valid.

    Examples
    --------
    >>> assemble(["x", "NP"], ["", ""], [0, 1])
    Tree('(NP x)')
    """
    ready: list[Tree] = []
    for label, edge, count in zip(labels, edges, n_children, strict=True):
        if count:
            children = tuple(ready[-count:])
            del ready[-count:]
            ready.append(make_node(label, children, edge))
        else:
            ready.append(make_node(label, (), edge))
    return ready.pop()


def count_leaves(tree: Tree) -> int:
    """Return the number of leaves.

    Examples
    --------
    >>> count_leaves(Tree.from_brackets("(S (NP we) (VP go))"))
    2
    """
    return sum(1 for node in tree.postorder() if not node.children)


def words_and_tags(tree: Tree) -> tuple[list[str], list[str]]:
    """Return the leaves and, for each, its parent's label if it is an only child, else "".

    Examples
    --------
    >>> words_and_tags(Tree.from_brackets("(S (NP (DT the) (NN cat)) sleeps)"))
    (['the', 'cat', 'sleeps'], ['DT', 'NN', ''])
    """
    words: list[str] = []
    tags: list[str] = []
    pending = [(tree, "")]
    while pending:
        node, above = pending.pop()
        if not node.children:
            words.append(node.label)
            tags.append(above)
            continue
        tag = node.label if len(node.children) == 1 else ""
        pending += [(child, tag) for child in reversed(node.children)]
    return words, tags


def without_empty_elements(tree: Tree) -> Tree:
    """Return a tree without ``-NONE-`` nodes and their ancestors without other leaves.

    Raises
    ------
    StructureError
        If no node is left.

    Examples
    --------
    >>> tree = Tree.from_brackets("(S (NP (-NONE- *)) (VP (VB go)))")
    >>> without_empty_elements(tree)
    Tree('(S (VP (VB go)))')
    """
    if all(node.label != _EMPTY_ELEMENT for node in tree.postorder()):
        return tree
    done: list[Tree | None] = []
    for node in tree.postorder():
        count = len(node.children)
        kept = tuple(child for child in done[len(done) - count :] if child is not None)
        del done[len(done) - count :]
        if node.label == _EMPTY_ELEMENT or (count and not kept):
            done.append(None)
        else:
            done.append(make_node(node.label, kept, node.edge))
    [left] = done
    if left is None:
        raise StructureError("the tree has only empty elements")
    return left


def _same_nodes(left: Tree, right: Tree) -> bool:
    """Compare node by node; a pair of shared inner nodes is compared once."""
    opened: set[tuple[int, int]] = set()
    waiting = [(left, right)]
    while waiting:
        a, b = waiting.pop()
        if a is b:
            continue
        if a._hash != b._hash or a.label != b.label or a.edge != b.edge:
            return False
        if len(a.children) != len(b.children):
            return False
        if a.children and (id(a), id(b)) not in opened:
            opened.add((id(a), id(b)))
            waiting.extend(zip(a.children, b.children, strict=True))
    return True


def _check_labels(values: Iterable[str], what: str) -> list[str]:
    return [
        value if type(value) is str else check_label(value, f"{what} of node {position}")
        for position, value in enumerate(values)
    ]


def _check_children(label: str, children: Iterable[Tree]) -> tuple[Tree, ...]:
    if isinstance(children, (str, Tree)):
        one = f"Tree({shorten(repr(children))})" if isinstance(children, str) else "child"
        raise StructureError(
            f"children of {shorten(repr(label))} must be an iterable of Trees, "
            f"got one {type(children).__name__}",
            hint=f"put it in a list: Tree({shorten(repr(label))}, [{one}])",
        )
    try:
        members = tuple(children)
    except TypeError:
        raise StructureError(
            f"children of {shorten(repr(label))} must be an iterable of Trees, "
            f"got {shorten(repr(children))} of type {type(children).__name__}",
            hint="leave children out to make a leaf",
        ) from None
    for position, child in enumerate(members):
        if type(child) is not Tree:
            raise _wrong_child(label, position, child)
    return members


def _wrong_child(label: str, position: int, child: object) -> StructureError:
    shown = shorten(repr(child))
    return StructureError(
        f"child {position} of {shorten(repr(label))} must be a Tree, "
        f"got {shown} of type {type(child).__name__}",
        hint=f"wrap it: Tree({shown})" if isinstance(child, str) else "make it a Tree first",
    )


def _check_postorder(n_labels: int, n_edges: int, n_children: list[int]) -> None:
    if not n_labels == n_edges == len(n_children):
        raise StructureError(
            "labels, edges and n_children must be equally long, "
            f"got {n_labels}, {n_edges} and {len(n_children)}"
        )
    if not n_labels:
        raise StructureError("a tree has at least one node, got empty lists")
    ready = 0
    for position, count in enumerate(n_children):
        if not hasattr(count, "__index__"):
            raise StructureError(
                f"number of children of node {position} must be an integer, got {count!r}"
            )
        if not 0 <= count <= ready:
            raise StructureError(
                f"node {position} claims {count} children, but {ready} subtrees precede it",
                hint="list the nodes in post-order: children before their parent",
            )
        ready += 1 - count
    if ready != 1:
        raise StructureError(
            f"the lists describe {ready} trees, not one",
            hint="the last node must be the root, with all remaining subtrees as its children",
        )
