"""How well a kernel's nearest neighbors agree with classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelwood.errors import KernelInputError
from kernelwood.features import encode_labels
from kernelwood.kernels import Kernel
from kernelwood.seeds import child_generator, resolve_seed
from kernelwood.tuning.losses import LOSSES, NeighborLoss
from kernelwood.tuning.neighbors import find_graph
from kernelwood.tuning.problem import quiet_zeros

__all__ = ["neighbor_loss"]

_NAME = "neighbor_loss"


def neighbor_loss(
    kernel: Kernel,
    X: Any,
    y: Any = None,
    *,
    n_samples: int | None = None,
    n_neighbors: int = 4,
    sampling: str = "neighbors",
    loss: str = "votes",
    n_votes: int = 8,
    negative_label: Any = "auto",
    random_state: Any = None,
) -> float:
    r"""Return the mean loss of a structure, which :class:`GateLearner` lowers by neighbors.

    All structures cost n² / 2 kernel evaluations. A sample costs fewer, but for the graph that its
    neighborhoods are found in.

    Parameters
    ----------
    kernel : Kernel
        What compares structures.
    X : list of structures or batch, length n
    y : array of labels, shape (n,), optional
        By default the labels of examples.
    n_samples : int, optional
        Structures to draw, :math:`\beta`; None, or n and more, for all.
    n_neighbors : int
        Neighbors in the graph from which neighborhoods are drawn.
    sampling : {"neighbors", "random"}
        Whether the neighborhoods of drawn structures are added. Without, a drawn structure is
        compared with the other drawn ones only.
    loss, n_votes, negative_label
        As in :class:`GateLearner`.
    random_state : None, int, Generator or RandomState
        Seed of what is drawn.

    Returns
    -------
    float

    Examples
    --------
    >>> import kernelwood as kw
    >>> paths, classes, signal, noise = kw.tuning.planted_paths(300)
    >>> ignoring = kw.SubsequenceKernel(gates=dict.fromkeys(noise, 0.0))
    >>> plain = neighbor_loss(kw.SubsequenceKernel(), paths, classes)
    >>> neighbor_loss(ignoring, paths, classes) < plain
    True
    """
    X = kernel._batch(X)
    _check(X, n_samples, n_neighbors, n_votes, sampling, loss)
    classes, numbers = encode_labels(_NAME, X, y)
    measure = NeighborLoss.of(
        _NAME, loss, classes, numbers, n_votes=n_votes, negative_label=negative_label
    )
    with quiet_zeros():
        some = np.arange(len(X))
        if n_samples is not None and n_samples < len(X):
            seed = resolve_seed(random_state)
            some = np.sort(child_generator(seed).choice(len(X), n_samples, replace=False))
            if sampling == "neighbors":
                graph = find_graph(kernel, X, n_neighbors, hashed=False, seed=seed)
                some = graph.around(some)
        return float(measure(kernel, X[some], numbers[some]).mean())


def _check(
    X: Any, n_samples: Any, n_neighbors: Any, n_votes: Any, sampling: str, loss: str
) -> None:
    if len(X) < 2:
        raise KernelInputError(f"{_NAME}: give at least two structures, got {len(X)}")
    for name, value, least in (
        ("n_samples", n_samples, 2),
        ("n_neighbors", n_neighbors, 1),
        ("n_votes", n_votes, 1),
    ):
        if name == "n_samples" and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise KernelInputError(f"{_NAME}: {name} must be an int from {least}, got {value!r}")
    for name, value, known in (
        ("sampling", sampling, ("neighbors", "random")),
        ("loss", loss, LOSSES),
    ):
        if value not in known:
            raise KernelInputError(f"{_NAME}: {name} must be one of {known}, got {value!r}")
