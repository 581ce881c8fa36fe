"""Sequences of labeled nodes joined by labeled edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import final

from kernelwood.errors import StructureError
from kernelwood.structures.structure_base import Frozen, check_label, shorten


@final
class Sequence(Frozen):
    """A sequence of (edge, node) label pairs, such as a sentence or a dependency path.

    The edge label names the relation of an element to the one before and may be empty. Sequences
    are immutable and hashable, and may be empty.

    Parameters
    ----------
    elements : iterable of (str, str) or of str
        Pairs of edge label and node label; a plain string is a node with the empty edge "".

    Attributes
    ----------
    edges, nodes : tuple of str
        Edge labels and node labels, equally long.

    Raises
    ------
    StructureError
        If an element is neither a string nor a pair of strings; names its position.

    Examples
    --------
    >>> path = Sequence(["PROTEIN", ("nsubj", "binds"), ("obj", "PROTEIN")])
    >>> path.edges
    ('', 'nsubj', 'obj')
    >>> len(path)
    3
    >>> Sequence("the cat sleeps".split())
    Sequence(['the', 'cat', 'sleeps'])
    """

    # No __getitem__: numpy would make a matrix of a list of equally long sequences.
    __slots__ = ("edges", "nodes")

    edges: tuple[str, ...]
    nodes: tuple[str, ...]

    def __new__(cls, elements: Iterable[tuple[str, str] | str] = ()) -> Sequence:
        """Check the elements and make the sequence."""
        if isinstance(elements, str):
            text = shorten(repr(elements))
            raise StructureError(
                f"elements must be an iterable of labels, got the single string {text}",
                hint=f"split it into words first: Sequence({text}.split())",
            )
        try:
            listed = list(elements)
        except TypeError:
            raise StructureError(
                "elements must be an iterable of strings or (edge, node) pairs, "
                f"got {type(elements).__name__}"
            ) from None
        if set(map(type, listed)) <= {str}:
            return cls._of([""] * len(listed), listed)  # type: ignore[arg-type]
        pairs = [_check_element(element, position) for position, element in enumerate(listed)]
        return cls._of([edge for edge, _ in pairs], [node for _, node in pairs])

    @classmethod
    def from_labels(cls, edges: Iterable[str], nodes: Iterable[str]) -> Sequence:
        """Return the sequence with these edge labels and node labels, equally many of both.

        Examples
        --------
        >>> Sequence.from_labels(["", "nsubj"], ["sleeps", "cat"])
        Sequence([('', 'sleeps'), ('nsubj', 'cat')])
        """
        left, right = list(edges), list(nodes)
        if len(left) == len(right) and set(map(type, [*left, *right])) <= {str}:
            return cls._of(left, right)
        try:
            return cls(zip(left, right, strict=True))
        except ValueError as failure:
            if isinstance(failure, StructureError):
                raise
            raise StructureError(
                f"got {len(left)} edges and {len(right)} nodes", hint="pass equally many"
            ) from None

    @classmethod
    def _of(cls, edges: list[str], nodes: list[str]) -> Sequence:
        """Return the sequence of labels that are known to be plain strings."""
        self = object.__new__(cls)
        _SET_EDGES(self, tuple(edges))
        _SET_NODES(self, tuple(nodes))
        return self

    @property
    def elements(self) -> tuple[tuple[str, str], ...]:
        """The (edge, node) pairs."""
        return tuple(self)

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return zip(self.edges, self.nodes, strict=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return self is other or (self.nodes == other.nodes and self.edges == other.edges)

    def __hash__(self) -> int:
        return hash((self.edges, self.nodes))

    def __repr__(self) -> str:
        plain = not any(self.edges)
        shown: list[str] = []
        width = len("Sequence([])")
        for edge, node in self:
            shown.append(repr(node) if plain else repr((edge, node)))
            width += len(shown[-1]) + 2
            if width > 80 and len(shown) < len(self):
                shown[-1] = f"... {len(self) - len(shown) + 1} more"
                break
        return f"Sequence([{', '.join(shown)}])"

    def _repr_html_(self) -> str:
        from kernelwood.structures.pictures import sequence_html

        return sequence_html(self)

    def __reduce__(self) -> tuple[object, ...]:
        return (Sequence, (self.elements,))


# Slots are set many times: their descriptors are faster than `Frozen._fill`.
_SET_EDGES = Sequence.__dict__["edges"].__set__
_SET_NODES = Sequence.__dict__["nodes"].__set__


def _check_element(element: object, position: int) -> tuple[str, str]:
    if type(element) is str:
        return "", element
    if not isinstance(element, (tuple, list)):
        return "", check_label(element, f"element {position}")
    if len(element) != 2:
        raise StructureError(
            f"element {position} must be a string or an (edge, node) pair, "
            f"got {shorten(repr(element))} with {len(element)} parts"
        )
    edge, node = element
    if type(edge) is str and type(node) is str:  # fast path: f-strings cost time
        return edge, node
    return (
        check_label(edge, f"edge label of element {position}"),
        check_label(node, f"node label of element {position}"),
    )
