"""Eigenvectors of Gram matrices, the same ones on every machine but for rounding."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from kernelwood.errors import KernelInputError

__all__ = ["Spectrum", "decompose"]

_NEGATIVE = 1e-3  # relative to the largest eigenvalue: below minus this, it is no rounding
_SAME = 1e-9  # eigenvalues as close as this have eigenvectors that rounding decides
_TIE = 1e-6


@dataclass(frozen=True)
class Spectrum:
    r"""The eigenvalues :math:`S` that were kept, falling, and :math:`U S^{-1/2}`."""

    eigenvalues: NDArray[np.float64]
    projection: NDArray[np.float64]


def decompose(
    owner: str,
    kernel: Any,
    gram: NDArray[np.float64],
    *,
    cut: float,
    n_components: int | None = None,
    largest: float | None = None,
) -> Spectrum:
    """Return the eigenvalues of a Gram matrix above a relative cut, and what projects on them.

    Parameters
    ----------
    owner : str
        For messages.
    kernel : Kernel
        For messages, too.
    gram : ndarray of float64, shape (n, n)
    cut : float
        Eigenvalues up to this multiple of the largest one are dropped.
    n_components : int, optional
        How many to keep at most.
    largest : float, optional
        What the cut is relative to, if not to the largest eigenvalue of this matrix.

    Examples
    --------
    >>> gram = np.array([[1.0, 0.6], [0.6, 1.0]])
    >>> spectrum = decompose("Example", None, gram, cut=1e-12)
    >>> spectrum.eigenvalues.round(3)
    array([1.6, 0.4])
    >>> vectors = gram @ spectrum.projection
    >>> (vectors @ vectors.T).round(3)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """
    with threadpool_limits(1):  # the bits of LAPACK depend on the number of threads
        rising, vectors = np.linalg.eigh((gram + gram.T) / 2)
        values, vectors = rising[::-1], vectors[:, ::-1]
        top = max(float(values[0]), 0.0) if largest is None else largest
        if values[-1] < -_NEGATIVE * top:
            raise KernelInputError(_not_semidefinite(owner, kernel, float(values[-1]) / top))
        kept = values > cut * top
        values, vectors = values[kept], vectors[:, kept]
        projection = vectors / np.sqrt(values)
        for begin, end in _runs_of_equal(values, _SAME * top):
            rotation = _canonical_rotation(vectors[:, begin:end])
            projection[:, begin:end] = projection[:, begin:end] @ rotation
    return Spectrum(
        np.ascontiguousarray(values[:n_components]),
        np.ascontiguousarray(projection[:, :n_components]),
    )


def _runs_of_equal(values: NDArray[np.float64], gap: float) -> list[tuple[int, int]]:
    """Return where runs of falling values begin and end that are no further apart than a gap."""
    if len(values) == 0:
        return []
    steps = np.flatnonzero(values[:-1] - values[1:] > gap) + 1
    return list(pairwise([0, *steps.tolist(), len(values)]))


def _canonical_rotation(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a rotation of orthonormal columns after which they depend on their span alone.

    Each axis is the projection of a unit vector, chosen where it is longest, on what the axes
    before have left. For a single column that makes its largest entry positive.
    """
    rest = vectors.copy()
    axes = np.empty((rest.shape[1], rest.shape[1]))
    for number in range(len(axes)):
        lengths = np.einsum("ij,ij->i", rest, rest)
        # The first of about equal ones: rounding must not choose.
        axis = rest[np.argmax(lengths >= (1 - _TIE) * lengths.max())]
        axis = axis - axes[:number].T @ (axes[:number] @ axis)
        axes[number] = axis / np.linalg.norm(axis)
        rest -= np.outer(rest @ axes[number], axes[number])
    return axes.T


def _not_semidefinite(owner: str, kernel: Any, smallest: float) -> str:
    return (
        f"{owner}: {kernel!r} is not positive semidefinite on these structures (eigenvalue "
        f"{smallest:.2g} relative to the largest), so that no vectors can have its similarities; "
        "take exact matching, or a similarity whose positive_semidefinite is True"
    )
