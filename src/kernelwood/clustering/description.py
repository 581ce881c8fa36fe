"""Readable descriptions of clusters: typical structures, shared fragments, class counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelwood.errors import KernelInputError, KernelOverflowError
from kernelwood.explain import Fragment, sequence_text, shared_fragments
from kernelwood.features import encode_labels
from kernelwood.kernels import Kernel
from kernelwood.parameters import check_int
from kernelwood.structures import Forest, Sequence, Tree, one_line, shorten
from kernelwood.text import Example
from kernelwood.threads import ignored_warnings

if TYPE_CHECKING:
    from kernelwood.clustering.kernel_kmeans import KernelKMeans

Part = Tree | Sequence
Label = str | float

MOST_REPRESENTATIVES = 12  # structures nearest to the center that are stored for each cluster

_FRAGMENTS = 8  # largest fragments of each pair
_STEPS = 50_000  # for each pair, about 0.1 s
_PAIRS_OF_NODES = 250_000  # above which trees are only compared for equality
_WIDTH = 88
_CLASSES = 6


@dataclass(frozen=True, slots=True)
class CommonFragment:
    """A fragment that the medoid of a cluster shares with other structures near the center.

    Attributes
    ----------
    text : str
        The fragment as text, as it occurs in the medoid.
    structure : Tree or Sequence
        The fragment.
    count, n_compared : int
        Number of structures that share the fragment, and number of structures compared.
    view : str
        View of the fragment, "" for a kernel of plain structures.
    """

    text: str
    structure: Part
    count: int
    n_compared: int
    view: str = ""

    @property
    def size(self) -> int:
        """Number of nodes of a tree, or of elements of a sequence."""
        structure = self.structure
        return structure.n_nodes if isinstance(structure, Tree) else len(structure)

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
    """Return the fragments that a structure shares with most others.

    A structure counts for a fragment if it shares a fragment that contains it. Fragments shared by
    at least half of the structures are listed, or any if there are none, in descending order of
    size times count. Fragments that are part of a listed one are omitted.

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
    found: dict[tuple[str, Part], CommonFragment] = {}
    for fragment in (fragment for fragments in shared for fragment in fragments):
        structure = fragment.structure
        if structure is not None and (fragment.view, structure) not in found:  # None: of vectors
            text = _text(fragment, structure, medoid)
            count = sum(any(_within(fragment, other) for other in each) for each in shared)
            found[fragment.view, structure] = CommonFragment(
                text, structure, count, len(shared), fragment.view
            )
    candidates = [each for each in found.values() if 2 * each.count >= each.n_compared]
    listed: list[CommonFragment] = []
    for candidate in sorted(candidates or found.values(), key=_rank):
        if len(listed) == top:
            break
        if not any(_within(candidate, other) for other in listed):
            listed.append(candidate)
    return listed


def is_part(part: Part, whole: Part) -> bool:
    """Return whether a structure results from another by removing nodes or elements.

    A child of a tree node is removed with everything below it.

    Examples
    --------
    >>> whole = Tree.from_brackets("(S (NP (DT the) (NN cat)) (VP sat))")
    >>> is_part(Tree.from_brackets("(NP (NN cat))"), whole)
    True
    >>> is_part(Tree.from_brackets("(S cat)"), whole)
    False
    >>> is_part(Sequence(["a", "c"]), Sequence(["a", "b", "c"]))
    True
    """
    if isinstance(part, Tree) and isinstance(whole, Tree):
        return _is_tree_part(part, whole)
    if isinstance(part, Tree) or isinstance(whole, Tree):
        return False
    rest = iter(whole)
    return all(element in rest for element in part)


def _is_tree_part(part: Tree, whole: Tree) -> bool:
    if part == whole:
        return True
    if part.n_nodes * whole.n_nodes > _PAIRS_OF_NODES or _labels(part) - _labels(whole):
        return False
    wholes, below = _numbered(whole)
    matches: list[set[int]] = []  # for each node of the part, the nodes it can be mapped to
    nodes, children = _numbered(part)
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
    with ignored_warnings(category=RuntimeWarning):  # an incomplete list is enough
        return shared_fragments(kernel, medoid, other, _FRAGMENTS, max_steps=_STEPS)


def _within(fragment: Fragment | CommonFragment, other: Fragment | CommonFragment) -> bool:
    part, whole = fragment.structure, other.structure
    if fragment.view != other.view or part is None or whole is None:
        return False
    return is_part(part, whole)


def _rank(fragment: CommonFragment) -> tuple[int, int, str, str]:
    weight = fragment.size * fragment.count
    return -weight, -fragment.count, fragment.view, fragment.text


def _text(fragment: Fragment, structure: Part, medoid: Any) -> str:
    """Return the text of a fragment as it occurs in the medoid."""
    if isinstance(structure, Tree):
        return fragment.text if fragment.counterpart is None else structure.to_brackets()
    whole: Any = medoid.view(fragment.view) if isinstance(medoid, Example) else medoid
    elements = list(structure)
    return sequence_text(elements, elements, [1.0] * len(elements), (whole, whole))


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    """Description of a cluster; ``print`` shows it.

    Attributes
    ----------
    number, size : int
        Number of the cluster, and number of its structures.
    medoid_indices : tuple of int
        Indices of the structures nearest to the center, in the data the clusters were fitted on.
    medoids : tuple of structures
        These structures.
    classes : dict from label to int, or None
        Number of structures of each class, in descending order; None if classes were not given.
    fragments : tuple of CommonFragment
        Fragments that the first medoid shares with the other structures near the center.
    note : str
        Reason why there are no fragments, or "".
    """

    number: int
    size: int
    medoid_indices: tuple[int, ...]
    medoids: tuple[Any, ...]
    classes: dict[Label, int] | None
    fragments: tuple[CommonFragment, ...]
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; structures as text, and classes as a list of pairs."""
        classes = None if self.classes is None else [list(pair) for pair in self.classes.items()]
        return {
            "number": self.number,
            "size": self.size,
            "medoid_indices": list(self.medoid_indices),
            "medoids": [structure_text(medoid) for medoid in self.medoids],
            "classes": classes,
            "fragments": [fragment.to_dict() for fragment in self.fragments],
            "note": self.note,
        }

    def __str__(self) -> str:
        lines = [f"cluster {self.number}: {_counted(self.size, 'structure')}{self._class_text()}"]
        for index, medoid in zip(self.medoid_indices, self.medoids, strict=True):
            lines.append(f"  [{index}] {_folded(structure_text(medoid))}")
        if self.fragments:
            lines.append(
                "  fragments of the first, with the number of structures near the center that "
                "share them:"
            )
        for fragment in self.fragments:
            view = f"{fragment.view}: " if fragment.view else ""
            shared = f"{fragment.count} of {fragment.n_compared}"
            lines.append(f"  {shared:>8}  {_folded(view + fragment.text)}")
        if self.note:
            lines.append(f"  {self.note}")
        return "\n".join(lines)

    def _class_text(self) -> str:
        if self.classes is None:
            return ""
        counts = [f"{count:,} {_folded(str(label))}" for label, count in self.classes.items()]
        more = f", {len(counts) - _CLASSES} classes more" if len(counts) > _CLASSES else ""
        return f" ({', '.join(counts[:_CLASSES])}{more})"


def describe_clusters(
    model: KernelKMeans, y: Any, *, n_medoids: int, n_fragments: int
) -> list[ClusterDescription]:
    """Return the descriptions of all clusters of a fitted model."""
    check_int("KernelKMeans.describe: n_medoids", n_medoids, 0, MOST_REPRESENTATIVES)
    check_int("KernelKMeans.describe: n_fragments", n_fragments, 0)
    classes = None if y is None else encode_labels("KernelKMeans.describe", model.labels_, y)
    structures = iter(model.representatives_)
    found = []
    for number, row in enumerate(model.representative_indices_):
        indices = row[row >= 0].tolist()
        near = [next(structures) for _ in indices]
        counts = None
        if classes is not None:
            names, numbers = classes
            counts = _count(names.tolist(), numbers[model.labels_ == number])
        fragments, note = _fragments(model.kernel_, near, n_fragments)
        found.append(
            ClusterDescription(
                number=number,
                size=int(model.cluster_sizes_[number]),
                medoid_indices=tuple(indices[:n_medoids]),
                medoids=tuple(near[:n_medoids]),
                classes=counts,
                fragments=fragments,
                note=note,
            )
        )
    return found


def structure_text(structure: Any) -> str:
    """Return the words of a structure: elements of a sequence, leaves of a tree.

    Examples
    --------
    >>> structure_text(Example("7", views={"words": Sequence(["we", "go"])}))
    '7: we go'
    >>> structure_text(Tree.from_brackets("(S (NP we) (VP go))"))
    'we go'
    """
    if isinstance(structure, Example):
        # Sequences of words first, because they are the most readable.
        views = sorted(structure.views.values(), key=lambda view: not isinstance(view, Sequence))
        return ": ".join([structure.id, *map(structure_text, views[:1])])
    if isinstance(structure, Sequence):
        return " ".join(node for _, node in structure)
    if isinstance(structure, Forest):
        return structure_text(structure.best_tree())
    if isinstance(structure, Tree):
        return " ".join(leaf.label for leaf in structure.leaves())
    return str(structure)


def _fragments(kernel: Any, near: list[Any], top: int) -> tuple[tuple[CommonFragment, ...], str]:
    """Return the fragments that the first structure shares with the others, and a note."""
    if top == 0 or len(near) == 1:
        return (), ""
    try:
        found = common_fragments(kernel, near[0], near[1:], top)
    except (KernelInputError, KernelOverflowError) as failure:
        return (), f"no shared fragments: {failure}"
    return tuple(found), "" if found else "no shared fragments"


def _count(names: list[Label], numbers: Any) -> dict[Label, int]:
    counts = np.bincount(numbers, minlength=len(names)).tolist()
    order = sorted(range(len(names)), key=lambda place: -counts[place])
    return {names[place]: counts[place] for place in order if counts[place]}


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def _folded(text: str) -> str:
    return shorten(" ".join(one_line(text).split()), _WIDTH)
