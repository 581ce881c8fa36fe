"""What all classifiers of structures share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from kernelwood.errors import KernelInputError
from kernelwood.features import StructureEstimator, encode_labels

__all__ = ["StructureClassifier", "weights_of_classes"]


class StructureClassifier(ClassifierMixin, StructureEstimator):  # type: ignore[misc]
    """Base class of classifiers: labels as numbers, and back."""

    classes_: NDArray[Any]

    def _encode_labels(self, X: Any, y: Any) -> NDArray[np.int32]:
        """Set ``classes_`` and return the number of the class of each structure of ``X``.

        ``y=None`` stands for the labels of examples.
        """
        self.classes_, numbers = encode_labels(type(self).__name__, X, y)
        return numbers

    def _check_restored(self) -> None:
        super()._check_restored()
        classes = self.classes_
        if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) == 0:
            raise ValueError("classes_ must be labels")
        if classes.dtype.kind not in "Ubiuf" or len(np.unique(classes)) < len(classes):
            raise ValueError("classes_ must be distinct labels")


def weights_of_classes(
    owner: str, class_weight: Any, classes: NDArray[Any], numbers: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Return the weight of each class.

    Parameters
    ----------
    owner : str
        For messages.
    class_weight : None, "balanced" or dict from label to weight
        "balanced": inversely proportional to how often a class occurs, 1 on average over the
        examples. Classes that are not in the dictionary weigh 1.
    classes, numbers : ndarrays
        The labels, and the number of the label of each example.
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        counts = np.bincount(numbers, minlength=len(classes))
        return np.asarray(len(numbers) / (len(classes) * counts), dtype=np.float64)
    if not isinstance(class_weight, dict):
        raise KernelInputError(
            f"{owner}: class_weight must be None, 'balanced' or a dictionary from label to "
            f"weight, got {class_weight!r}"
        )
    known = classes.tolist()
    for label, weight in class_weight.items():
        if label not in known:
            raise KernelInputError(
                f"{owner}: class_weight names {label!r}, but the labels are {known[:20]}"
            )
        if not isinstance(weight, (int, float)) or not 0 < weight < float("inf"):
            raise KernelInputError(
                f"{owner}: the weight of {label!r} must be a number above 0, got {weight!r}"
            )
    return np.array([float(class_weight.get(label, 1.0)) for label in known])
