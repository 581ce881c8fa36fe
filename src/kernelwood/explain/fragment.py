"""What two structures have in common, as an object and as text."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from kernelwood.structures import Sequence, Tree

__all__ = ["Fragment", "Steps", "first_occurrence", "label_text", "sequence_text"]

Element = tuple[str, str]  # edge and node of a sequence


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece that two structures share, and what it adds to their similarity.

    Attributes
    ----------
    text : str
        The piece, readable: bracket notation for trees, where a node that is cut off is a bare
        label, ``(NP (DT the) NN)``; words for sequences, with ``…`` where others lie between.
        Different labels that match are written with their similarity, ``dog~cat (0.80)``.
    weight : float
        What it adds to the raw value of the kernel.
    share : float
        ``weight`` divided by the raw value.
    count_a, count_b : int or float
        How often it occurs in each structure; in a forest, how often on average over its trees.
    structure : Tree or Sequence
        The piece itself, as it stands in the first structure.
    covers : float or None
        Share of the raw value owed to the piece together with all its parts in the same places;
        None if pieces are ordered by weight, where the parts are listed on their own.
    view : str
        The view it was found in, "" if the kernel names none.
    kernel : str
        The kernel that counts it.
    counterpart : Tree, Sequence or None
        The piece as it stands in the second structure, if labels differ; None if it is the same.
    similarity : float
        The similarities of all its labels, multiplied; 1 where only equal labels match.
    """

    text: str
    weight: float
    share: float
    count_a: float
    count_b: float
    structure: Tree | Sequence
    covers: float | None = None
    view: str = ""
    kernel: str = ""
    counterpart: Tree | Sequence | None = None
    similarity: float = 1.0

    @property
    def size(self) -> int:
        """Number of nodes of a tree, or of elements of a sequence."""
        return self.structure.n_nodes if isinstance(self.structure, Tree) else len(self.structure)


class Steps:
    """A budget of elementary steps, so that no explanation runs away.

    Examples
    --------
    >>> steps = Steps(10)
    >>> steps.take(8), steps.take(8), steps.exceeded
    (True, False, True)
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.left = limit
        self.exceeded = False

    def take(self, n: int) -> bool:
        """Spend ``n`` steps if they are left; otherwise remember that something was left out."""
        if n > self.left:
            self.exceeded = True
            return False
        self.left -= n
        return True

    def warn(self) -> None:
        """Tell the user if something was left out."""
        if self.exceeded:
            warnings.warn(
                f"shared_fragments: the search stopped after {self.limit:,} steps, so that "
                "larger or heavier fragments may exist; raise max_steps to search on",
                RuntimeWarning,
                stacklevel=3,
            )


def label_text(left: str, right: str, similarity: float) -> str:
    """Write two different labels that match.

    Examples
    --------
    >>> label_text("dog", "cat", 0.8)
    'dog~cat (0.80)'
    >>> label_text("dog", "idea", 0.0007)
    'dog~idea (7e-04)'
    """
    number = f"{similarity:.2f}" if similarity >= 0.005 else f"{similarity:.0e}"
    return f"{left}~{right} ({number})"


def sequence_text(
    left: list[Element],
    right: list[Element],
    similarities: list[float],
    wholes: tuple[Sequence, Sequence],
) -> str:
    """Write a subsequence, with ``…`` where it is not contiguous in both sequences.

    Parameters
    ----------
    left, right : list of (str, str)
        Its elements (edge, node) in the first and in the second sequence.
    similarities : list of float
        How similar they are.
    wholes : pair of Sequence
        The two sequences.

    Examples
    --------
    >>> wholes = Sequence("the old dog sat".split()), Sequence("the cat sat".split())
    >>> left, right = ([("", "the"), ("", noun), ("", "sat")] for noun in ("dog", "cat"))
    >>> sequence_text(left, right, [1.0, 0.8, 1.0], wholes)
    'the … dog~cat (0.80) sat'
    """
    gaps = [False] * len(left)
    for chosen, whole in zip((left, right), wholes, strict=True):
        places = _tightest(chosen, whole.elements)
        for k in range(1, len(places)):
            gaps[k] = gaps[k] or places[k] - places[k - 1] > 1
    text = ""
    for k, ((edge, node), (_, other)) in enumerate(zip(left, right, strict=True)):
        word = f"{edge}:{node}" if edge else node
        word = word if node == other else label_text(word, other, similarities[k])
        text += word if k == 0 else f" … {word}" if gaps[k] else f" {word}"
    return text


def _tightest(chosen: list[Element], whole: tuple[Element, ...]) -> list[int]:
    """Return where a subsequence stands in a whole, over the shortest stretch."""
    starts: list[int | None] = [None] * len(chosen)  # of the latest match of chosen[: k + 1]
    best: tuple[int, int] | None = None
    for position, element in enumerate(whole):
        for k in range(len(chosen) - 1, -1, -1):
            if element == chosen[k]:
                starts[k] = position if k == 0 else starts[k - 1]
        start = starts[-1] if chosen and element == chosen[-1] else None
        if start is not None and (best is None or position - start < best[1] - best[0]):
            best = (start, position)
    if best is None:
        return []
    places = [best[1]]
    for element in reversed(chosen[:-1]):
        # From the end backwards, every element as late as it can be: gaps move to the front.
        places.append(next(p for p in range(places[-1] - 1, -1, -1) if whole[p] == element))
    return places[::-1]


def first_occurrence(fragment: Tree, tree: Tree) -> frozenset[int]:
    """Return which nodes of a tree its first occurrence of a fragment takes.

    Whole productions are compared, as :class:`~kernelwood.SubsetTreeKernel` does: a node of the
    fragment without children matches a node of the tree whatever stands below it.

    Parameters
    ----------
    fragment : Tree
        The piece, such as ``Fragment.structure``.
    tree : Tree
        Where to look.

    Returns
    -------
    frozenset of int
        Positions in pre-order, empty if the fragment does not occur.

    Examples
    --------
    >>> tree = Tree.from_brackets("(S (NP (DT the) (NN cat)) (VP sat))")
    >>> sorted(first_occurrence(Tree.from_brackets("(NP (DT the) NN)"), tree))
    [1, 2, 3, 4]
    """
    for position, node in enumerate(tree.preorder()):
        if node.n_nodes >= fragment.n_nodes:
            taken = _match(fragment, node, position)
            if taken:
                return taken
    return frozenset()


def _match(fragment: Tree, node: Tree, position: int) -> frozenset[int]:
    taken = []
    todo = [(fragment, node, position)]
    while todo:
        part, found, place = todo.pop()
        if (part.label, part.edge) != (found.label, found.edge):
            return frozenset()
        taken.append(place)
        if not part.children:
            continue
        if len(part.children) != len(found.children):
            return frozenset()
        place += 1
        for piece, child in zip(part.children, found.children, strict=True):
            todo.append((piece, child, place))
            place += child.n_nodes
    return frozenset(taken)
