"""Layers of a network as plain arrays: what they answer, and what an answer rests on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from kernelwood.features import check_array, product

__all__ = ["ACTIVATIONS", "LARGEST", "Layers", "layer_shapes", "softmax"]

Floats = NDArray[np.float64]

LARGEST = 1e100  # so that no product of two such numbers, and no sum of products, overflows


@dataclass(frozen=True)
class _Activation:
    """What a neuron makes of its input, and the slope there, from its input and its output."""

    value: Callable[[Floats], Floats]
    slope: Callable[[Floats, Floats], Floats]


ACTIVATIONS = {
    "relu": _Activation(lambda z: np.maximum(z, 0.0), lambda z, out: (z > 0).astype(np.float64)),
    "tanh": _Activation(np.tanh, lambda z, out: 1.0 - out * out),
    "logistic": _Activation(expit, lambda z, out: out * (1.0 - out)),
    "identity": _Activation(lambda z: z, lambda z, out: np.ones_like(z)),
}


@dataclass(frozen=True)
class Layers:
    """A network: each layer has weights, shape (n_in, n_out), and intercepts, shape (n_out,).

    Between layers stands the activation; the last layer gives one score for each class.

    Examples
    --------
    >>> relu = Layers((np.array([[1.0, -1.0]]), np.eye(2)), (np.zeros(2), np.ones(2)), "relu")
    >>> relu.scores(np.array([[3.0]]))
    array([[4., 1.]])
    """

    weights: Sequence[Floats]
    intercepts: Sequence[Floats]
    activation: str

    def scores(self, vectors: Floats) -> Floats:
        """Return the scores of classes, shape (n, n_classes); a row does not depend on others."""
        return self._inputs(vectors)[-1]

    def slopes(self, vector: Floats, direction: Floats) -> Floats:
        """Return how fast a sum of scores grows with each dimension of one vector.

        Parameters
        ----------
        vector : ndarray, shape (n_in,)
        direction : ndarray, shape (n_classes,)
            Factors of the scores in the sum.
        """
        activation = ACTIVATIONS[self.activation]
        found: Floats = direction[None]
        inputs = self._inputs(vector[None])
        for number in range(len(self.weights) - 1, -1, -1):
            found = product(found, self.weights[number].T)
            if number:
                z = inputs[number - 1]
                found = found * activation.slope(z, activation.value(z))
        slopes: Floats = found[0]
        return slopes

    def check(self, shapes: Sequence[tuple[int, int]]) -> None:
        """Raise ValueError unless there are layers of these shapes, with numbers in range."""
        columns = [(n_out,) for _, n_out in shapes]
        for name, arrays, expected in (
            ("weights_", self.weights, shapes),
            ("intercepts_", self.intercepts, columns),
        ):
            if not isinstance(arrays, tuple) or len(arrays) != len(shapes):
                raise ValueError(f"{name} must be those of {len(shapes)} layers")
            for array, shape in zip(arrays, expected, strict=True):
                check_array(name, array, np.float64, shape)
                if (np.abs(array) > LARGEST).any():
                    raise ValueError(f"{name} must not exceed {LARGEST}")

    def _inputs(self, vectors: Floats) -> list[Floats]:
        """Return what the neurons of each layer get, before their activation."""
        activation, values = ACTIVATIONS[self.activation], vectors
        inputs: list[Floats] = []
        for weights, intercepts in zip(self.weights, self.intercepts, strict=True):
            if inputs:
                values = activation.value(inputs[-1])
            inputs.append(product(_bounded(values), weights) + intercepts)
        return inputs


def layer_shapes(n_in: int, hidden: Sequence[int], n_classes: int) -> list[tuple[int, int]]:
    """Return the shapes of the weights of each layer.

    Examples
    --------
    >>> layer_shapes(300, (200,), 6)
    [(300, 200), (200, 6)]
    """
    sizes = [n_in, *hidden, n_classes]
    return list(pairwise(sizes))


def softmax(scores: Floats) -> Floats:
    """Return probabilities that are proportional to the exponentials of scores.

    Examples
    --------
    >>> softmax(np.array([[0.0, 0.0], [1e300, 0.0]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    shares: Floats = np.exp(scores - scores.max(axis=1, keepdims=True))
    # In order, so that a row is the same in any company.
    shares /= np.add.accumulate(shares, axis=1)[:, -1:]
    return shares


def _bounded(values: Floats) -> Floats:
    return np.clip(np.nan_to_num(values), -LARGEST, LARGEST)
