"""Bits as functions of the similarities to a reference set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.compute import Runner
from kernelwood.features.codes import Codes, n_words, unpack
from kernelwood.features.products import product
from kernelwood.seeds import child_generator

__all__ = ["METHODS", "BitBlock", "constant_bits", "draw_bits", "make_bits"]

Subsets = NDArray[np.int32]
Floats = NDArray[np.float64]

_SUBSETS = 1  # what the random numbers of a child generator are for
_ATTEMPTS = 10  # draws of a bit that does not tell any two references apart
_SMALLEST = 1e-10  # eigenvalues below this share of the largest are taken for 0


@dataclass(frozen=True)
class BitBlock:
    """Bits drawn together, from the same references.

    With similarities ``k`` to the references, a bit is 1 iff

    * rknn: the largest of ``k`` in its first subset is less than that in its second;
    * rmm, kulis: the sum of ``weights`` times ``k`` (rmm) or ``k @ projection`` (kulis) over both
      subsets exceeds its threshold.

    Parameters
    ----------
    method : {"rknn", "rmm", "kulis"}
    n_references : int
        So many references are used, the first ones.
    subsets : ndarray of int32, shape (n_bits, 2, subset_size)
        Numbers of references.
    weights : ndarray of float64, shape (n_bits, 2 * subset_size)
        Without rows for rknn, as ``thresholds``.
    thresholds : ndarray of float64, shape (n_bits,)
    projection : ndarray of float64, shape (n_references, n_references)
        Without rows unless the method is kulis.
    """

    method: str
    n_references: int
    subsets: Subsets
    weights: Floats
    thresholds: Floats
    projection: Floats

    @property
    def n_bits(self) -> int:
        """Number of bits."""
        return len(self.subsets)

    def fill(self, similarities: NDArray[Any], first_bit: int, codes: Codes) -> None:
        """Set the bits from ``first_bit`` on in codes, one for each row of ``similarities``."""
        used = np.ascontiguousarray(similarities[:, : self.n_references])
        if self.method == "rknn":

            def work(begin: int, end: int, stop: NDArray[np.int32]) -> None:
                _native.fill_nearest_bits(used, self.subsets, first_bit, begin, end, codes)

        else:
            values = product(used, self.projection) if self.method == "kulis" else used
            columns = self.subsets.reshape(self.n_bits, -1)

            def work(begin: int, end: int, stop: NDArray[np.int32]) -> None:
                _native.fill_linear_bits(
                    values, columns, self.weights, self.thresholds, first_bit, begin, end, codes
                )

        cost = 4 * len(used) * self.subsets.size
        Runner(None, 0).quiet().run(work, len(used), evaluations=0, cost=cost)

    def starting_at(self, bit: int) -> BitBlock:
        """Return the bits from one on."""
        if bit == 0:
            return self
        linear = 0 if self.method == "rknn" else bit
        return replace(
            self,
            subsets=self.subsets[bit:],
            weights=self.weights[linear:],
            thresholds=self.thresholds[linear:],
        )

    def check(self) -> None:
        """Raise ValueError unless the arrays fit each other, and hold numbers that can be used."""
        bits, sides, size = self.subsets.shape
        linear = 0 if self.method == "rknn" else bits
        projected = self.n_references if self.method == "kulis" else 0
        shapes = {
            "weights": (linear, 2 * size),
            "thresholds": (linear,),
            "projection": (projected, projected),
        }
        if self.method not in METHODS or self.subsets.dtype != np.int32 or sides != 2 or size < 1:
            raise ValueError("subsets must be two for each bit of a known method")
        if ((self.subsets < 0) | (self.subsets >= self.n_references)).any():
            raise ValueError("a subset holds a reference that is not there")
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape or array.dtype != np.float64 or not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite numbers of shape {shape}")

    def _to_saved(self) -> tuple[dict[str, Any], dict[str, list[str]], dict[str, NDArray[Any]]]:
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        return {"method": self.method, "n_references": self.n_references}, {}, arrays

    @classmethod
    def _from_saved(
        cls, parameters: dict[str, Any], texts: dict[str, list[str]], arrays: dict[str, Any]
    ) -> BitBlock:
        if set(parameters) != {"method", "n_references"} or texts or set(arrays) != set(_ARRAYS):
            raise ValueError("a block of bits has other parts")
        if type(parameters["n_references"]) is not int or arrays["subsets"].ndim != 3:
            raise ValueError("a block of bits has other parts")
        block = cls(**parameters, **arrays)
        block.check()
        return block


_ARRAYS = ("subsets", "weights", "thresholds", "projection")
_NONE = np.empty((0, 0))


def _nearest(gram: Floats, subsets: Subsets) -> dict[str, Floats]:
    return {
        "weights": np.empty((0, subsets[0].size)),
        "thresholds": np.empty(0),
        "projection": _NONE,
    }


def _margins(gram: Floats, subsets: Subsets) -> dict[str, Floats]:
    weights, thresholds = np.empty((len(subsets), subsets[0].size)), np.empty(len(subsets))
    _native.margin_boundaries(gram, subsets, weights, thresholds)
    return {"weights": weights, "thresholds": thresholds, "projection": _NONE}


def _hyperplanes(gram: Floats, subsets: Subsets) -> dict[str, Floats]:
    r"""Return random hyperplanes through the mean of the references, in their whitened space.

    With the centered Gram matrix :math:`K`, a point with similarities k lies on the side of
    :math:`(k - \bar k) K^{-1/2} e_S`, where :math:`e_S` marks the sampled references.
    """
    projection = inverse_root(gram)
    thresholds = product(gram.mean(axis=0)[None], projection)[0][subsets.reshape(len(subsets), -1)]
    return {
        "weights": np.ones((len(subsets), subsets[0].size)),
        # In order, as the sum that is compared with it.
        "thresholds": np.add.accumulate(thresholds, axis=1)[:, -1].copy(),
        "projection": projection,
    }


METHODS: dict[str, Callable[[Floats, Subsets], dict[str, Floats]]] = {
    "rknn": _nearest,
    "rmm": _margins,
    "kulis": _hyperplanes,
}


def inverse_root(gram: Floats) -> Floats:
    """Return :math:`K^{-1/2}` of a centered Gram matrix; directions without extent become 0.

    Centering makes the matrix singular, similar references nearly so, and a similarity that is no
    inner product can make eigenvalues negative: all these are left out.

    Examples
    --------
    >>> inverse_root(np.ones((2, 2)))
    array([[0., 0.],
           [0., 0.]])
    """
    means = gram.mean(axis=0)
    values, vectors = np.linalg.eigh(gram - means[:, None] - means[None, :] + means.mean())
    # Equal references leave nothing but rounding, which must not pass for extent.
    extent = max(float(np.abs(gram).max()), np.finfo(float).tiny)
    kept = values > _SMALLEST * max(values[-1], extent * _SMALLEST)
    root: Floats = (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T
    return root


def draw_bits(
    method: str, gram: Floats, *, seed: int, first_bit: int, n_bits: int, subset_size: int
) -> BitBlock:
    """Draw the bits ``first_bit``, ``first_bit + 1``, ... from the references of a Gram matrix.

    A bit depends on the seed, its number and the references. One that is equal for all references
    would tell nothing, and is drawn again a few times.
    """
    subsets = np.empty((n_bits, 2, subset_size), dtype=np.int32)
    wanted = np.arange(n_bits)
    for attempt in range(_ATTEMPTS):
        for bit in wanted.tolist():
            random = child_generator(seed, _SUBSETS, first_bit + bit, attempt)
            drawn = random.choice(len(gram), 2 * subset_size, replace=False)
            subsets[bit] = drawn.reshape(2, subset_size)
        wanted = wanted[constant_bits(make_bits(method, gram, subsets[wanted]), gram)]
        if len(wanted) == 0:
            break
    return make_bits(method, gram, subsets)


def make_bits(method: str, gram: Floats, subsets: Subsets) -> BitBlock:
    """Return the bits of given subsets of the references of a Gram matrix.

    Examples
    --------
    >>> subsets = np.array([[[0], [1]]], dtype=np.int32)
    >>> make_bits("rmm", np.eye(2), subsets).weights
    array([[-1.,  1.]])
    """
    return BitBlock(method, len(gram), subsets, **METHODS[method](gram, subsets))


def constant_bits(block: BitBlock, gram: Floats) -> NDArray[np.bool_]:
    """Return which bits of a block are equal for all references."""
    codes = np.zeros((len(gram), n_words(block.n_bits)), dtype=np.uint64)
    block.fill(gram, 0, codes)
    ones = unpack(codes, block.n_bits).sum(axis=0, dtype=np.int64)
    return np.asarray((ones == 0) | (ones == len(gram)))
