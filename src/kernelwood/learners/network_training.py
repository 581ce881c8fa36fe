"""Training of networks on vectors, epoch by epoch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.neural_network import MLPClassifier
from threadpoolctl import threadpool_limits

from kernelwood.errors import KernelInputError
from kernelwood.features import product
from kernelwood.learners.network_layers import layer_shapes
from kernelwood.seeds import child_generator

__all__ = ["TrainedNetwork", "Trainer", "held_out_part"]

Floats = NDArray[np.float64]
Numbers = NDArray[np.int32]

# So that a few epochs are many steps also for few examples.
_STEPS, _SMALLEST_BATCH, _LARGEST_BATCH = 25, 10, 200
_UNCHECKED = {"assume_finite": True, "skip_parameter_validation": True}  # epoch by epoch
_LEAST_SPREAD, _TINY = 1e-6, 1e-90  # of vectors, as a part of their length, and at all


@dataclass(frozen=True)
class TrainedNetwork:
    """Layers that take vectors as they are, and the mean loss of each epoch."""

    weights: tuple[Floats, ...]
    intercepts: tuple[Floats, ...]
    losses: Floats


@dataclass(frozen=True)
class Trainer:
    """How networks are trained.

    Attributes
    ----------
    hidden : tuple of int
        Neurons of each hidden layer.
    activation : str
    alpha : float
        Penalty of half the squared weights, beside the mean loss.
    learning_rate : float
    batch_size : int or None
        None: a twenty-fifth of the examples, but 10 to 200.
    max_iter : int
        Epochs.
    validation_fraction : float or None
        Share of the examples to hold out; the epoch that is best on them counts. None: the last.
    patience : int
        Epochs without a better one after which to stop.
    n_classes : int
    """

    hidden: tuple[int, ...]
    activation: str
    alpha: float
    learning_rate: float
    batch_size: int | None
    max_iter: int
    validation_fraction: float | None
    patience: int
    n_classes: int

    def train(
        self, vectors: Floats, numbers: Numbers, seed: int, report: Callable[[int], object]
    ) -> TrainedNetwork:
        """Learn the classes of vectors.

        Parameters
        ----------
        vectors : ndarray, shape (n, n_dimensions)
        numbers : ndarray of int32, shape (n,)
            Classes, from 0 to ``n_classes - 1``, each at least once.
        seed : int
        report : callable
            Called with the number of epochs after each of them.
        """
        if self.n_classes == 1:
            return self._undecided(vectors.shape[1])
        center = vectors.mean(axis=0)
        scale = _scale(vectors, center)
        # Half the precision is plenty for steps that are random, and takes half the time.
        scaled = ((vectors - center) / scale).astype(np.float32)
        held = np.zeros(len(numbers), dtype=bool)
        if self.validation_fraction is not None:
            held = held_out_part(numbers, self.validation_fraction, seed)
        # BLAS gives other bits with other numbers of threads.
        with threadpool_limits(1), config_context(**_UNCHECKED):
            weights, intercepts, losses = self._epochs(scaled, numbers, held, seed, report)
        first = weights[0] / scale
        intercepts[0] = intercepts[0] - product(center[None], first)[0]
        return TrainedNetwork((first, *weights[1:]), tuple(intercepts), np.array(losses))

    def _epochs(
        self,
        vectors: NDArray[np.float32],
        numbers: Numbers,
        held: NDArray[np.bool_],
        seed: int,
        report: Callable[[int], object],
    ) -> tuple[list[Floats], list[Floats], list[float]]:
        """Return the weights and intercepts of the epoch that counts, and all losses."""
        X, y = vectors[~held], numbers[~held]
        model, classes = self._model(len(X), seed), np.arange(self.n_classes)
        best, best_score, since = None, -1.0, 0
        for epoch in range(self.max_iter):
            _one_epoch(model, X, y, classes)
            report(epoch + 1)
            if not held.any():
                continue
            score, since = float(model.score(vectors[held], numbers[held])), since + 1
            if score > best_score:
                best, best_score, since = self._copy(model), score, 0
            if since >= self.patience:
                break
        return *(best or self._copy(model)), [float(loss) for loss in model.loss_curve_]

    def _model(self, n: int, seed: int) -> Any:
        wanted = self.batch_size or max(_SMALLEST_BATCH, min(n // _STEPS, _LARGEST_BATCH))
        batch_size = min(wanted, n)
        return MLPClassifier(
            self.hidden,
            activation=self.activation,
            alpha=self.alpha * batch_size,  # which is divided by it
            batch_size=batch_size,
            learning_rate_init=self.learning_rate,
            random_state=int(child_generator(seed, 0).integers(2**31)),
        )

    def _copy(self, model: Any) -> tuple[list[Floats], list[Floats]]:
        """Return the layers of a model, with one output for each class also if there are two."""
        weights = [np.array(array, dtype=np.float64) for array in model.coefs_]
        intercepts = [np.array(array, dtype=np.float64) for array in model.intercepts_]
        if self.n_classes == 2:
            # The logistic function of one score is the softmax of 0 and this score.
            weights[-1] = np.column_stack([np.zeros(len(weights[-1])), weights[-1]])
            intercepts[-1] = np.append(0.0, intercepts[-1])
        return weights, intercepts

    def _undecided(self, n_dimensions: int) -> TrainedNetwork:
        """Return a network for which there is nothing to decide."""
        shapes = layer_shapes(n_dimensions, self.hidden, self.n_classes)
        weights = tuple(np.zeros(shape) for shape in shapes)
        return TrainedNetwork(weights, tuple(np.zeros(n) for _, n in shapes), np.zeros(0))


def held_out_part(numbers: Numbers, fraction: float, seed: int) -> NDArray[np.bool_]:
    """Return which examples to hold out: a fraction of each class, rounded down.

    Examples
    --------
    >>> held = held_out_part(np.array([0] * 20 + [1] * 5, dtype=np.int32), 0.1, seed=0)
    >>> int(held[:20].sum()), int(held[20:].sum())
    (2, 0)
    """
    shuffled = child_generator(seed, 1).permutation(len(numbers))
    held = np.zeros(len(numbers), dtype=bool)
    for number in range(int(numbers.max()) + 1):
        members = shuffled[numbers[shuffled] == number]
        held[members[: int(fraction * len(members))]] = True
    return held


def _scale(vectors: Floats, center: Floats) -> float:
    """Return the root of the mean squared distance to the center, in any dimension.

    One scale for all dimensions: they keep the importance that their variance gives them. What
    differs by rounding errors alone is not blown up.
    """
    spread = float(np.sqrt(np.square(vectors - center).mean()))
    return max(spread, _LEAST_SPREAD * float(np.sqrt(np.square(vectors).mean())), _TINY)


def _one_epoch(model: Any, X: NDArray[Any], y: Numbers, classes: NDArray[Any]) -> None:
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            model.partial_fit(X, y, classes=classes)
    except ValueError as failure:
        raise KernelInputError(
            f"KernelNetworkClassifier: training did not work: {failure}; normalize the kernel, "
            "or choose a smaller learning_rate"
        ) from failure
