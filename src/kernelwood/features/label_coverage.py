"""References that cover the labels which tell classes apart, chosen without kernel evaluations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from kernelwood.arrays import Batch, ExampleBatch
from kernelwood.errors import KernelInputError
from kernelwood.kernels import Kernel, needed_views

__all__ = ["cover", "label_information", "label_table", "labels_read"]

FADING = 0.5  # what the weight of a label is multiplied by each time a reference covers it

_POSSIBLE = 1e-12  # a probability below is one of 0, but for rounding

Floats = NDArray[np.float64]


def label_table(batch: Batch) -> csr_matrix:
    """Return which labels occur in each structure, 0 or 1.

    Parameters
    ----------
    batch : Batch
        Sequences, trees or forests, length n.

    Returns
    -------
    csr_matrix of float64, shape (n, number of labels, or twice as many)
        A column for each label of the vocabulary, as that of a node; if there are labels of edges,
        as many again for these. Edges without a label do not count.

    Examples
    --------
    >>> import kernelwood as kw
    >>> batch = kw.batch([kw.Sequence(["we", "go"]), kw.Sequence(["we", "we"])])
    >>> list(batch.vocabulary), label_table(batch).toarray().tolist()
    (['', 'we', 'go'], [[0.0, 1.0, 1.0], [0.0, 1.0, 0.0]])
    """
    window = batch.parts[0].window
    rows = np.repeat(np.arange(len(batch)), batch.sizes)
    labels = np.asarray(batch.arrays[0])[window]
    n_labels = len(batch.vocabulary)
    shape = (len(batch), n_labels)
    if batch.n_label_fields > 1:
        edges = np.asarray(batch.arrays[1])[window]
        named = edges > 0  # the empty label is always number 0
        if named.any():
            rows = np.concatenate([rows, rows[named]])
            labels = np.concatenate([labels, n_labels + edges[named]])
            shape = (len(batch), 2 * n_labels)
    table = csr_matrix((np.ones(len(labels)), (rows, labels)), shape=shape)
    table.sum_duplicates()
    table.data[:] = 1.0
    return table


def labels_read(batch: Any, kernel: Kernel) -> csr_matrix:
    """Return which labels occur in what a kernel reads of each structure, 0 or 1.

    Of examples, the views that the kernel reads, side by side.
    """
    if not isinstance(batch, ExampleBatch):
        return label_table(batch)
    names = needed_views(kernel)
    if names is None:
        raise KernelInputError(
            "labels cannot be covered, because a kernel inside compares whole examples, of which "
            "it may read any view; choose references by 'information'"
        )
    return csr_matrix(hstack([label_table(batch.view(name)) for name in names]))


def label_information(table: csr_matrix, classes: NDArray[np.int32]) -> Floats:
    r"""Return the mutual information, in nats, of the class and of whether a label occurs.

    .. math:: I = \sum_{c} \sum_{o \in \{0, 1\}} p(o, c) \log \frac{p(o, c)}{p(o) p(c)}

    Parameters
    ----------
    table : csr_matrix, shape (n, n_labels)
        As :func:`label_table` makes it.
    classes : ndarray of int, shape (n,)

    Examples
    --------
    >>> table = csr_matrix(np.array([[1.0, 1.0], [1.0, 0.0]]))
    >>> label_information(table, np.array([0, 1])).round(3)
    array([0.   , 0.693])
    """
    n = table.shape[0]
    occurring = np.asarray(table.sum(axis=0)).ravel() / n
    information = np.zeros(table.shape[1])
    for number in np.unique(classes):
        chosen = classes == number
        share = float(chosen.mean())
        both = np.asarray(table[chosen].sum(axis=0)).ravel() / n
        for joint, single in ((both, occurring), (share - both, 1 - occurring)):
            possible = joint > _POSSIBLE
            ratio = joint[possible] / (single[possible] * share)
            information[possible] += joint[possible] * np.log(ratio)
    return np.maximum(information, 0.0)


def cover(
    table: csr_matrix, weights: Floats, n: int, *, fading: float = FADING
) -> NDArray[np.int64]:
    """Return the numbers of n rows whose labels have the greatest weights.

    One after the other the row with the greatest mean weight is taken, the first of several; the
    weights of its labels then fade, so that the next ones cover other labels.

    Parameters
    ----------
    table : csr_matrix, shape (n_rows, n_labels)
    weights : ndarray of float64, shape (n_labels,)
    n : int
        How many rows to take; all if there are fewer.
    fading : float
        What the weight of a label is multiplied by each time it is covered.

    Examples
    --------
    >>> table = csr_matrix(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    >>> cover(table, np.array([1.0, 0.9]), 2)
    array([0, 2])
    """
    left, sizes = weights.copy(), np.maximum(np.diff(table.indptr), 1)
    free = np.ones(table.shape[0], dtype=bool)
    chosen = []
    for _ in range(min(n, table.shape[0])):
        means = np.where(free, (table @ left) / sizes, -1.0)
        best = int(means.argmax())
        chosen.append(best)
        free[best] = False
        left[table[best].indices] *= fading
    return np.array(chosen, dtype=np.int64)
