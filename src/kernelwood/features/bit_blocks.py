"""Bits of hashcodes as functions of the similarities to references."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.arrays import ArrayOf, Schema, Text, Whole
from kernelwood.compute import Runner, check_budget, one_blas_thread
from kernelwood.errors import KernelInputError
from kernelwood.features.codes import Codes, n_words, unpack
from kernelwood.features.estimator import StructureEstimator
from kernelwood.features.rowwise import product
from kernelwood.seeds import child_generator

Subsets = NDArray[np.int32]
Floats = NDArray[np.float64]

_SUBSETS = 1  # purpose of a child generator
_ATTEMPTS = 10  # draws of a bit that is the same for all references
_SMALLEST = 1e-10  # eigenvalues below this fraction of the largest count as 0


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
        Number of references used, the first ones.
    subsets : ndarray of int32, shape (n_bits, 2, subset_size)
        Reference numbers.
    weights : ndarray of float64, shape (n_bits, 2 * subset_size)
        Empty for rknn, as ``thresholds``.
    thresholds : ndarray of float64, shape (n_bits,)
    projection : ndarray of float64, shape (n_references, n_references)
        Empty unless the method is kulis.
    """

    _saved: ClassVar[Schema] = {
        "method": Text("rknn", "rmm", "kulis"),
        "n_references": Whole(1),
        "subsets": ArrayOf("int32", "bits", 2, "size", least=0, below="n_references"),
        "weights": ArrayOf("float64", "linear", None),
        "thresholds": ArrayOf("float64", "linear"),
        "projection": ArrayOf("float64", "projected", "projected"),
    }

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
        """Set the bits from ``first_bit`` in codes, one row for each row of ``similarities``."""
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
        """Return the block of the bits from number ``bit`` on."""
        if bit == 0:
            return self
        linear = 0 if self.method == "rknn" else bit
        return replace(
            self,
            subsets=self.subsets[bit:],
            weights=self.weights[linear:],
            thresholds=self.thresholds[linear:],
        )

    def replace_bits(self, numbers: NDArray[np.int64], others: BitBlock) -> None:
        """Replace the bits with these numbers by others of the same method and references."""
        self.subsets[numbers] = others.subsets
        if self.method != "rknn":
            self.weights[numbers] = others.weights
            self.thresholds[numbers] = others.thresholds

    def check(self) -> None:
        """Raise ValueError unless the arrays have the shapes of the method."""
        bits, _, size = self.subsets.shape
        linear = 0 if self.method == "rknn" else bits
        projected = self.n_references if self.method == "kulis" else 0
        shapes = {
            "weights": (linear, 2 * size),
            "thresholds": (linear,),
            "projection": (projected, projected),
        }
        if bits == 0 or size == 0:
            raise ValueError("subsets must be two for each bit")
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} must be of shape {shape}")

    def _to_saved(self) -> tuple[dict[str, Any], dict[str, list[str]], dict[str, NDArray[Any]]]:
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        return {"method": self.method, "n_references": self.n_references}, {}, arrays

    @classmethod
    def _from_saved(
        cls, parameters: dict[str, Any], texts: dict[str, list[str]], arrays: dict[str, Any]
    ) -> BitBlock:
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

    With the centered Gram matrix :math:`K`, the side of a point with similarities :math:`k` is the
    sign of :math:`(k - \bar k) K^{-1/2} e_S`, where :math:`e_S` marks the sampled references.
    """
    projection = inverse_root(gram)
    thresholds = product(gram.mean(axis=0)[None], projection)[0][subsets.reshape(len(subsets), -1)]
    return {
        "weights": np.ones((len(subsets), subsets[0].size)),
        # Summed in order, as the values compared with it.
        "thresholds": np.add.accumulate(thresholds, axis=1)[:, -1].copy(),
        "projection": projection,
    }


METHODS: dict[str, Callable[[Floats, Subsets], dict[str, Floats]]] = {
    "rknn": _nearest,
    "rmm": _margins,
    "kulis": _hyperplanes,
}


def inverse_root(gram: Floats) -> Floats:
    """Return :math:`K^{-1/2}` of a centered Gram matrix, on the span of its positive eigenvalues.

    Centering makes the matrix singular, similar references nearly so, and an indefinite kernel can
    make eigenvalues negative: these directions become 0.

    Examples
    --------
    >>> inverse_root(np.ones((2, 2)))
    array([[0., 0.],
           [0., 0.]])
    """
    means = gram.mean(axis=0)
    with one_blas_thread():  # the bits of LAPACK depend on the number of threads
        values, vectors = np.linalg.eigh(gram - means[:, None] - means[None, :] + means.mean())
        # Equal references leave only rounding errors, which must not count.
        extent = max(float(np.abs(gram).max()), np.finfo(float).tiny)
        kept = values > _SMALLEST * max(values[-1], extent * _SMALLEST)
        root: Floats = (vectors[:, kept] / np.sqrt(values[kept])) @ vectors[:, kept].T
    return root


def draw_bits(
    method: str, gram: Floats, *, seed: int, first_bit: int, n_bits: int, subset_size: int
) -> BitBlock:
    """Draw the bits ``first_bit``, ``first_bit + 1``, ... from the references of a Gram matrix.

    A bit depends on the seed, its number and the references. Bits that are equal for all references
    carry no information and are drawn again, up to ten times.
    """
    check_budget(8 * n_bits * subset_size, f"a hasher of {n_bits:,} bits", "Use fewer bits.")
    subsets = np.empty((n_bits, 2, subset_size), dtype=np.int32)
    wanted = np.arange(n_bits)
    for attempt in range(_ATTEMPTS):
        for bit in wanted.tolist():
            random = child_generator(seed, _SUBSETS, first_bit + bit, attempt)
            chosen = random.choice(len(gram), 2 * subset_size, replace=False)
            subsets[bit] = chosen.reshape(2, subset_size)
        drawn = make_bits(method, gram, subsets[wanted])
        if attempt == 0:
            block = drawn
        else:
            block.replace_bits(wanted, drawn)
        wanted = wanted[constant_bits(drawn, gram)]
        if len(wanted) == 0:
            break
    return block


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
    """Return a mask of the bits that are equal for all references."""
    codes = np.zeros((len(gram), n_words(block.n_bits)), dtype=np.uint64)
    block.fill(gram, 0, codes)
    ones = unpack(codes, block.n_bits).sum(axis=0, dtype=np.int64)
    return np.asarray((ones == 0) | (ones == len(gram)))


class HashParameters(StructureEstimator):
    """Base class of estimators with parameters of hashcodes; see :class:`KernelHasher`."""

    method: str
    n_references: int
    n_bits: int
    subset_size: int

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_choice("method", tuple(METHODS))
        self._check_count("n_references", 2)
        self._check_count("n_bits", 1)
        self._check_count("subset_size", 1)

    def _check_subsets(self, n_references: int) -> None:
        if 2 * self.subset_size > n_references:
            raise KernelInputError(
                f"{type(self).__name__}: two subsets of subset_size={self.subset_size} need "
                f"{2 * self.subset_size} references, there are {n_references}"
            )
