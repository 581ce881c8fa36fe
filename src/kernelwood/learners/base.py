"""Base class of classifiers, class weights, and evidence for a prediction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import LARGE, ArrayOf, Batch, Labels, Whole
from kernelwood.errors import KernelInputError
from kernelwood.features import Classifier, StructureEstimator, encode_labels
from kernelwood.parameters import is_number
from kernelwood.structures import Forest, Graph, Sequence, Tree, escape, shorten
from kernelwood.text import Candidate, Example

Floats = NDArray[np.float64]

_STRUCTURES = (Sequence, Tree, Graph, Forest, Example, Candidate)


class Contributions(NamedTuple):
    """Contributions of training structures to scores; with the intercepts, they sum to the scores.

    Attributes
    ----------
    indices : ndarray of int64, shape (m,)
        Positions of the contributing structures among the training structures, ascending.
    values : ndarray of float64, shape (n, m)
        Contribution of each to the score of each query; positive if it supports the class.
    intercepts : ndarray of float64, shape (n,)
        Rest of each score, which no training structure accounts for.
    """

    indices: NDArray[np.int64]
    values: Floats
    intercepts: Floats

    @property
    def scores(self) -> Floats:
        """The explained scores, shape (n,)."""
        return np.asarray(self.values.sum(axis=1) + self.intercepts)


# Of fitted attributes that many classifiers have.
CLASSES = Labels()
TWO_CLASSES = Labels(2)
CLASS_WEIGHTS = ArrayOf("float64", "classes_", above=0, most=LARGE)
EVALUATIONS = Whole()


class StructureClassifier(Classifier, StructureEstimator):
    """Base class of classifiers; converts labels to class numbers and back."""

    class_weight: Any = None
    classes_: NDArray[Any]

    def _encode_labels(self, X: Any, y: Any) -> NDArray[np.int32]:
        """Set ``classes_`` and return class numbers; ``y=None`` takes the labels of examples."""
        self.classes_, numbers = encode_labels(type(self).__name__, X, y)
        return numbers

    def _weigh_classes(self, numbers: NDArray[np.int32]) -> Floats:
        """Return the weight of each class by ``class_weight``, given class numbers of examples."""
        return self._weigh_counts(np.bincount(numbers, minlength=len(self.classes_)))

    def _weigh_counts(self, counts: NDArray[np.int64]) -> Floats:
        """Return the weight of each class by ``class_weight``, given class frequencies.

        "balanced" weights are inversely proportional to class frequencies, and 1 on average over
        the examples. Classes missing in a dictionary have weight 1.
        """
        labels, class_weight = self.classes_.tolist(), self.class_weight
        if class_weight is None:
            return np.ones(len(labels))
        if class_weight == "balanced":
            return np.asarray(counts.sum() / (len(labels) * counts), dtype=np.float64)
        for label in class_weight:
            self._class_number("class_weight", label)
        return np.array([float(class_weight.get(label, 1.0)) for label in labels])

    def _check_parameters(self) -> None:
        super()._check_parameters()
        owner, class_weight = type(self).__name__, self.class_weight
        if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
            return
        if not isinstance(class_weight, dict):
            raise KernelInputError(
                f"{owner}: class_weight must be None, 'balanced' or a dictionary from label to "
                f"weight, got {class_weight!r}"
            )
        for label, weight in class_weight.items():
            if not is_number(weight) or not weight > 0:
                raise KernelInputError(
                    f"{owner}: the weight of {label!r} must be a number above 0, got {weight!r}"
                )

    def _class_number(self, name: str, label: Any) -> int:
        """Return the number of a class that the argument ``name`` refers to."""
        labels: list[Any] = self.classes_.tolist()
        if label not in labels:
            raise KernelInputError(
                f"{type(self).__name__}: {name} names {label!r}, but the labels are {labels[:20]}"
            )
        return labels.index(label)

    def _prepare_one(self, x: Any) -> Any:
        """Return a structure as a batch of one; raise KernelInputError for several."""
        several = isinstance(x, Batch) or (
            isinstance(x, (list, tuple)) and any(isinstance(one, _STRUCTURES) for one in x)
        )
        if several:
            raise KernelInputError(
                f"{type(self).__name__}.evidence: give one structure, not a {type(x).__name__} of "
                f"{len(x):,}; call it for each"
            )
        return self._prepare([x])

    def _signs(self, n: int, label: Any, against: Any) -> Floats:
        """Return the weights of the classes in the explained scores, shape (n, n_classes).

        The weight of ``label`` is 1, that of ``against`` -1. A list has a label for each of the
        ``n`` structures.
        """
        each = label if isinstance(label, (list, tuple, np.ndarray)) else [label] * n
        if len(each) != n:
            raise KernelInputError(
                f"{type(self).__name__}: label must be one label, or one for each of the {n} "
                f"structures; got {len(each)}"
            )
        signs = np.zeros((n, len(self.classes_)))
        if against is not None:
            signs[:, self._class_number("against", against)] = -1.0
        numbers = {one: self._class_number("label", one) for one in dict.fromkeys(each)}
        signs[np.arange(n), [numbers[one] for one in each]] += 1.0
        return signs

    def _check_folds(self, folds: Any, numbers: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return folds as an array, or raise KernelInputError if they cannot be trained on."""
        owner = type(self).__name__
        if folds is None:
            raise KernelInputError(f"{owner}.fit_held_out: give the fold of each structure")
        array = np.asarray(folds)
        if array.shape != numbers.shape or array.dtype.kind not in "iu" or array.min(initial=0) < 0:
            raise KernelInputError(
                f"{owner}: folds must be {len(numbers)} whole numbers from 0, one for each "
                f"structure; got {array.dtype} of shape {array.shape}"
            )
        if len(np.unique(array)) < 2:
            raise KernelInputError(f"{owner}: folds must have at least two different numbers")
        return array.astype(np.int64)

    def _n_training(self) -> int:
        """Return how many training structures there must have been, by the indices of some."""
        return 0


class StreamLabels:
    """Numbers the labels of batches in the order in which they first occur.

    Parameters
    ----------
    owner : str
        For messages.

    Examples
    --------
    >>> seen = StreamLabels("Example")
    >>> seen.encode("xy", ["b", "a"]).tolist(), seen.encode("xy", ["c", "b"]).tolist()
    ([1, 0], [2, 1])
    >>> seen.labels
    ['a', 'b', 'c']
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._numbers: dict[Any, int] = {}

    @property
    def labels(self) -> list[Any]:
        """The labels, in the order of their numbers."""
        return list(self._numbers)

    def encode(self, X: Any, y: Any) -> NDArray[np.int32]:
        """Return the number of each label; ``y=None`` takes the labels of examples."""
        labels, own = encode_labels(self._owner, X, y)
        numbers = [self._numbers.setdefault(one, len(self._numbers)) for one in labels.tolist()]
        return np.array(numbers, dtype=np.int32)[own]

    def classes(self) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """Return the sorted labels, and the place of each number among them."""
        return encode_labels(self._owner, self.labels, self.labels)


def checked_batches(owner: str, batches: Any) -> Iterator[tuple[Any, Any]]:
    """Yield pairs of structures and labels that are not empty; raise KernelInputError otherwise."""
    for number, pair in enumerate(batches):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise KernelInputError(
                f"{owner}: batch {number} must be a pair of structures and labels, "
                f"got {type(pair).__name__}; labels can be None for examples with labels"
            )
        if not hasattr(pair[0], "__len__") or len(pair[0]):
            yield pair[0], pair[1]


def gives_probabilities(model: Any) -> bool:
    """Return True if a classifier was made with ``probability=True``, or raise AttributeError."""
    if not model.probability:
        raise AttributeError(
            f"this {type(model).__name__} gives no probabilities; make it with probability=True "
            "and fit it"
        )
    return True


@dataclass(frozen=True, slots=True)
class Support:
    """A training structure and its contribution to a score.

    Attributes
    ----------
    structure : structure
    label : label
        Its class.
    index : int
        Its position among the training structures.
    similarity : float
        Its similarity to the predicted structure.
    contribution : float
        Its weight times the similarity; positive if it supports the class.
    """

    structure: Any
    label: Any
    index: int
    similarity: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """Training structures that support or oppose a class.

    The score is the sum of the intercept and of the contributions of all training structures; the
    largest contributions are listed. ``print`` shows them as a table.

    Attributes
    ----------
    label : label
        The class.
    score : float
        Positive if the evidence supports the class.
    intercept : float
        Part of the score that is the same for every structure.
    supporting, opposing : tuples of Support
        The largest contributions of either sign, largest first.
    """

    label: Any
    score: float
    intercept: float
    supporting: tuple[Support, ...]
    opposing: tuple[Support, ...]

    def __str__(self) -> str:
        rows = [
            f"  {side:<8}{contribution}  similarity {similarity}  {label}  {structure}"
            for side, contribution, similarity, label, structure in self._rows()
        ]
        return "\n".join([self._head(), *rows])

    def _repr_html_(self) -> str:
        header = ("", "contribution", "similarity", "class", "training structure")
        rows = [f"<tr>{_cells('th', header)}</tr>"]
        rows += [f"<tr>{_cells('td', row)}</tr>" for row in self._rows()]
        return f"<div>{escape(self._head())}</div><table>{''.join(rows)}</table>"

    def _head(self) -> str:
        return f"{self.label}: score {self.score:+.3f}, intercept {self.intercept:+.3f}"

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for side, supports in (("for", self.supporting), ("against", self.opposing)):
            for one in supports:
                numbers = f"{one.contribution:+.3f}", f"{one.similarity:.3f}"
                yield side, *numbers, str(one.label), _shown(one.structure)


def strongest(contributions: Floats, k: int) -> tuple[list[int], list[int]]:
    """Return the positions of the k largest positive and of the k largest negative values.

    Examples
    --------
    >>> strongest(np.array([0.5, -1.0, 0.0, 2.0]), 3)
    ([3, 0], [1])
    """
    falling, rising = (np.argsort(sign * contributions, kind="stable")[:k] for sign in (-1, 1))
    positive, negative = falling[contributions[falling] > 0], rising[contributions[rising] < 0]
    return positive.tolist(), negative.tolist()


def _cells(tag: str, texts: tuple[str, ...]) -> str:
    return "".join(f'<{tag} style="text-align: left">{escape(text)}</{tag}>' for text in texts)


def _shown(structure: Any) -> str:
    text = structure.to_brackets() if isinstance(structure, Tree) else str(structure)
    return shorten(" ".join(text.split()))
