"""What a structure has in common with most of several others."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kernelwood import structures
from kernelwood.explain import Fragment, sequence_text, shared_fragments
from kernelwood.kernels import Kernel
from kernelwood.structures import Tree
from kernelwood.text import Example

__all__ = ["CommonFragment", "common_fragments", "is_part"]

Piece = Tree | structures.Sequence

_FRAGMENTS = 8  # of each pair, the largest
_STEPS = 50_000  # for each pair, a tenth of a second
_PAIRS_OF_NODES = 250_000  # beyond which a tree is only part of an equal one


@dataclass(frozen=True, slots=True)
class CommonFragment:
    """A piece that the medoid of a cluster shares with others near the center.

    Attributes
    ----------
    text : str
        The piece, readable, as it stands in the medoid.
    structure : Tree or Sequence
        The piece itself.
    count, n_compared : int
        How many of how many structures share it.
    view : str
        The view it was found in, "" if the kernel names none.
    """

    text: str
    structure: Piece
    count: int
    n_compared: int
    view: str = ""

    @property
    def size(self) -> int:
        """Number of nodes of a tree, or of elements of a sequence."""
        return _size(self.structure)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "text": self.text,
            "count": self.count,
            "n_compared": self.n_compared,
            "view": self.view,
        }


def common_fragments(
    kernel: Kernel, medoid: Any, others: Iterable[Any], top: int
) -> list[CommonFragment]:
    """Return the pieces that a structure shares with most others.

    A piece counts for a structure if it is part of something the two share. Pieces that at least
    half of the structures share are listed, or any if there are none; the largest and most frequent
    first, by the product of size and count. What is part of a piece that is listed is left out.

    Raises
    ------
    KernelInputError
        If the kernel cannot be explained.

    Examples
    --------
    >>> import kernelwood as kw
    >>> first, *others = [kw.Sequence(t.split()) for t in ("who is it", "who was it", "it is she")]
    >>> [(f.text, f.count) for f in common_fragments(kw.SubsequenceKernel(), first, others, 3)]
    [('it', 2), ('who … it', 1), ('is', 1)]
    """
    shared = [_shared(kernel, medoid, other) for other in others]
    found: dict[tuple[str, Piece], CommonFragment] = {}
    for fragment in (fragment for fragments in shared for fragment in fragments):
        key = fragment.view, fragment.structure
        if key not in found:
            text = _text(fragment, medoid)
            count = sum(_occurs(fragment, fragments) for fragments in shared)
            found[key] = CommonFragment(text, fragment.structure, count, len(shared), fragment.view)
    candidates = [each for each in found.values() if 2 * each.count >= each.n_compared]
    listed: list[CommonFragment] = []
    for candidate in sorted(candidates or found.values(), key=_rank):
        if len(listed) == top:
            break
        if not any(_part_of(candidate, other) for other in listed):
            listed.append(candidate)
    return listed


def is_part(piece: Piece, whole: Piece) -> bool:
    """Return whether a piece can be got by leaving out nodes of a tree, or of a sequence.

    Below a node of a tree, some children may be left out, with everything below them.

    Examples
    --------
    >>> whole = Tree.from_brackets("(S (NP (DT the) (NN cat)) (VP sat))")
    >>> is_part(Tree.from_brackets("(NP (NN cat))"), whole)
    True
    >>> is_part(Tree.from_brackets("(S cat)"), whole)
    False
    >>> is_part(structures.Sequence(["a", "c"]), structures.Sequence(["a", "b", "c"]))
    True
    """
    if isinstance(piece, Tree) and isinstance(whole, Tree):
        return _is_tree_part(piece, whole)
    if isinstance(piece, Tree) or isinstance(whole, Tree):
        return False
    rest = iter(whole)
    return all(element in rest for element in piece)


def _is_tree_part(piece: Tree, whole: Tree) -> bool:
    if piece == whole:
        return True
    if piece.n_nodes * whole.n_nodes > _PAIRS_OF_NODES or _labels(piece) - _labels(whole):
        return False
    wholes, below = _numbered(whole)
    matches: list[set[int]] = []  # for each node of the piece, the nodes it can stand for
    nodes, children = _numbered(piece)
    for node, inner in zip(nodes, children, strict=True):
        found = set()
        for number, other in enumerate(wholes):
            if (node.label, node.edge) == (other.label, other.edge):
                rest = iter(below[number])
                if all(any(place in matches[child] for place in rest) for child in inner):
                    found.add(number)
        matches.append(found)
    return bool(matches[-1])


def _numbered(tree: Tree) -> tuple[list[Tree], list[list[int]]]:
    """Return the nodes in post-order, and the numbers of the children of each."""
    nodes, children, roots = [], [], list[int]()
    for number, node in enumerate(tree.postorder()):
        n = len(node.children)
        nodes.append(node)
        children.append(roots[len(roots) - n :])
        del roots[len(roots) - n :]
        roots.append(number)
    return nodes, children


def _labels(tree: Tree) -> Counter[tuple[str, str]]:
    return Counter((node.label, node.edge) for node in tree.postorder())


def _shared(kernel: Kernel, medoid: Any, other: Any) -> list[Fragment]:
    with warnings.catch_warnings():
        # Of what fills no screen, a part is enough.
        warnings.simplefilter("ignore", RuntimeWarning)
        return shared_fragments(kernel, medoid, other, _FRAGMENTS, max_steps=_STEPS)


def _occurs(fragment: Fragment, fragments: Sequence[Fragment]) -> bool:
    return any(
        fragment.view == other.view and is_part(fragment.structure, other.structure)
        for other in fragments
    )


def _part_of(fragment: CommonFragment, other: CommonFragment) -> bool:
    return fragment.view == other.view and is_part(fragment.structure, other.structure)


def _rank(fragment: CommonFragment) -> tuple[int, int, str, str]:
    weight = fragment.size * fragment.count
    return -weight, -fragment.count, fragment.view, fragment.text


def _size(structure: Piece) -> int:
    return structure.n_nodes if isinstance(structure, Tree) else len(structure)


def _text(fragment: Fragment, medoid: Any) -> str:
    """Return a fragment as it stands in the medoid, whatever it is matched with elsewhere."""
    piece = fragment.structure
    if isinstance(piece, Tree):
        return fragment.text if fragment.counterpart is None else piece.to_brackets()
    whole: Any = medoid.view(fragment.view) if isinstance(medoid, Example) else medoid
    elements = list(piece)
    return sequence_text(elements, elements, [1.0] * len(elements), (whole, whole))
