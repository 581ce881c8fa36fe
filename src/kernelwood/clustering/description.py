"""Clusters that can be read: typical structures, what they share, and their classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelwood.clustering.common import CommonFragment, common_fragments
from kernelwood.clustering.representatives import MOST_REPRESENTATIVES
from kernelwood.errors import KernelInputError, KernelOverflowError
from kernelwood.features import encode_labels
from kernelwood.structures import Forest, Sequence, Tree, one_line, shorten
from kernelwood.text import Example

if TYPE_CHECKING:
    from kernelwood.clustering.kernel_kmeans import KernelKMeans

__all__ = ["ClusterDescription", "CommonFragment", "describe_clusters", "structure_text"]

Label = str | float

_WIDTH = 88
_CLASSES = 6


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    """What a cluster is about; ``print`` shows it.

    Attributes
    ----------
    number, size : int
        Number of the cluster, and of its structures.
    medoid_indices : tuple of int
        The structures nearest to the center, by their places in what the clusters were fitted on.
    medoids : tuple of structures
        These structures.
    classes : dict from label to int, or None
        How many structures of each class there are, the most frequent first; None if classes were
        not given.
    fragments : tuple of CommonFragment
        What the first medoid shares with the others nearest to the center.
    note : str
        Why there are no fragments, or "".
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
                "  the first one shares, with so many of the others nearest to the center:"
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
    _check_count("n_medoids", n_medoids, most=MOST_REPRESENTATIVES)
    _check_count("n_fragments", n_fragments)
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
        # Words first: they are what people read most easily.
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
    """Return what the first structure shares with the others, or why that cannot be told."""
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


def _check_count(name: str, value: Any, most: int | None = None) -> None:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 0
    if not whole or (most is not None and value > most):
        allowed = "an int of at least 0" if most is None else f"an int from 0 to {most}"
        raise KernelInputError(f"KernelKMeans.describe: {name} must be {allowed}, got {value!r}")


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def _folded(text: str) -> str:
    return shorten(" ".join(one_line(text).split()), _WIDTH)
