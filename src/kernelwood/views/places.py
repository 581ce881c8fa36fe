"""Where the nodes of a constituency tree stand, and which words are meant."""

from __future__ import annotations

from collections.abc import Iterator

from kernelwood.errors import StructureError
from kernelwood.structures import Tree, check_integer, make_node, show
from kernelwood.text import Span

__all__ = ["ARGUMENT_SUFFIX", "Places", "check_predicate", "check_range", "hull"]

# What is added to the label of an argument that is cut off its path.
ARGUMENT_SUFFIX = "-ARG"


def hull(first: Span, second: Span) -> Span:
    """Return the smallest span that holds two spans, in whatever order they stand.

    Examples
    --------
    >>> hull((4, 6), (1, 2))
    (1, 6)
    """
    return min(first[0], second[0]), max(first[1], second[1])


def check_range(span: object, whole: Span) -> Span:
    """Return a span as plain integers, or say why it is none of a sentence.

    Examples
    --------
    >>> check_range((1, 2), (0, 3))
    (1, 2)
    """
    if not isinstance(span, (tuple, list)) or len(span) != 2:
        raise StructureError(f"a span must be (start, end), got {show(span)}")
    start, end = check_integer(span[0], "start"), check_integer(span[1], "end")
    if not whole[0] <= start < end <= whole[1]:
        raise StructureError(
            f"[{show(start)}, {show(end)}) is no span of the words [{whole[0]}, {whole[1]})",
            hint="words are counted from 0; the end is the position after the last",
        )
    return start, end


def check_predicate(predicate: object, argument: Span, whole: Span) -> int:
    """Return the position of a predicate, which must be a word outside its argument.

    Examples
    --------
    >>> check_predicate(2, (0, 1), (0, 3))
    2
    """
    position = check_integer(predicate, "predicate")
    if not whole[0] <= position < whole[1]:
        raise StructureError(
            f"the predicate is word {show(position)} of the words [{whole[0]}, {whole[1]})",
            hint="words are counted from 0",
        )
    if argument[0] <= position < argument[1]:
        raise StructureError(
            f"the argument [{argument[0]}, {argument[1]}) contains its predicate, word {position}",
            hint="there is no path between them; leave the pair out",
        )
    return position


class Places:
    """The nodes of a tree in pre-order: a place is a position in that order.

    A node may be part of a tree several times, so nodes are told apart by their places.

    Examples
    --------
    >>> places = Places(Tree.from_brackets("(S (NP we) (VP go))"))
    >>> [(node.label, places.span(place)) for place, node in enumerate(places.nodes)]
    [('S', (0, 2)), ('NP', (0, 1)), ('we', (0, 1)), ('VP', (1, 2)), ('go', (1, 2))]
    """

    def __init__(self, tree: Tree) -> None:
        self.nodes = list(tree.preorder())
        self._leaves_before = [0]
        for node in self.nodes:
            self._leaves_before.append(self._leaves_before[-1] + (not node.children))

    def span(self, place: int) -> Span:
        """Return the leaves below a node."""
        after = place + self.nodes[place].n_nodes
        return self._leaves_before[place], self._leaves_before[after]

    def children(self, place: int) -> Iterator[int]:
        """Iterate over the places of the children."""
        below = place + 1
        for child in self.nodes[place].children:
            yield below
            below += child.n_nodes

    def way(self, start: int, end: int) -> list[int]:
        """Return the nodes that cover some leaves, from the root down."""
        found: list[int] = []
        below: int | None = 0
        while below is not None:
            found.append(below)
            below = next((c for c in self.children(below) if self._covers(c, start, end)), None)
        return found

    def smallest(self, start: int, end: int) -> list[int]:
        """Return the way from the root to the topmost node on the smallest span."""
        way = self.way(start, end)
        span = self.span(way[-1])
        while len(way) > 1 and self.span(way[-2]) == span:
            way.pop()
        return way

    def branch(self, places: list[int], end: str) -> Tree:
        """Return the nodes at some places as a chain whose last node is relabeled."""
        chain = Tree(end, (), self.nodes[places[-1]].edge)
        for place in places[-2::-1]:
            node = self.nodes[place]
            chain = make_node(node.label, (chain,), node.edge)
        return chain

    def _covers(self, place: int, start: int, end: int) -> bool:
        low, high = self.span(place)
        return low <= start and end <= high
