"""The base class of all kernels."""

from __future__ import annotations

import sys
import warnings
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kernelwood import _native
from kernelwood.arrays import as_batch
from kernelwood.compute import Progress, Runner, check_budget, uses_executor
from kernelwood.errors import KernelInputError, StructureError
from kernelwood.kernels import gaussian_process, on_executor
from kernelwood.parameters import Parameterized, check_int

if TYPE_CHECKING:
    from kernelwood.kernels.combined import Product, Scaled, Sum

Matrix = NDArray[np.floating[Any]]
# Structures compared at once. Values do not depend on it, only the memory beside the result. A
# multiple of the windows in which the native core sorts sequences: the order affects the last bit.
TILE = 4096
FEW = 64  # structures that are compared with many others at once, whatever the number of these
PART_OF_BUDGET = 1 / 16  # of memory, at most, for what is kept with a batch
_PAIRS_AT_ONCE = 16  # by kernels without pairs of their own
_COST_IN_PYTHON = 10**5  # of a pair of structures, in pairs of nodes of a native kernel
# Queries and searched structures compared at once: 64 MB of double similarities.
_QUERIES = 1024
_SEARCHED = 8192


class Kernel(Parameterized):
    """Base class of all kernels.

    A kernel holds only its parameters. ``X`` and ``Y`` are lists of structures or batches
    (:func:`kernelwood.batch`). scikit-learn takes these kernels wherever it takes its own:
    ``SVC(kernel=k)``, ``GaussianProcessClassifier(kernel=k)``, a grid over ``kernel__decay``.

    A subclass defines ``accepts`` (the batch it reads), a constructor that only stores its
    arguments, and ``reference(a, b)``; everything else is inherited.

    Examples
    --------
    >>> import kernelwood as kw
    >>> class LeafOverlapKernel(kw.Kernel):
    ...     accepts = kw.arrays.TreeBatch
    ...     def __init__(self, *, weight=1.0):
    ...         self.weight = weight
    ...     def reference(self, a, b):
    ...         shared = {x.label for x in a.leaves()} & {x.label for x in b.leaves()}
    ...         return self.weight * len(shared)
    >>> trees = [kw.Tree.from_brackets(t) for t in ("(NP (DT the) (NN cat))", "(NP (NN cat))")]
    >>> LeafOverlapKernel().gram(trees)
    array([[2., 1.],
           [1., 1.]])
    """

    accepts: ClassVar[type[Any]]
    n_jobs: int | None = None
    dtype: DTypeLike = "float64"

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make an object that scikit-learn accepts as a kernel, whenever it is imported."""
        gaussian_process.register_when_imported(Kernel)
        return super().__new__(cls)

    # Methods that subclasses define.

    def reference(self, a: Any, b: Any) -> float:
        """Return the raw (not normalized) value by the textbook definition, in plain Python."""
        raise NotImplementedError(f"{type(self).__name__} does not define reference")

    def _check_params(self) -> None:
        """Raise KernelInputError if a parameter is out of range."""

    def _fill_gram(self, X: Any, out: Matrix, runner: Runner) -> None:
        structures = list(X)
        for i, a in enumerate(structures):
            for j, b in enumerate(structures[: i + 1]):
                out[i, j] = out[j, i] = self._reference_value(a, b)
        runner.advance(len(X) * (len(X) + 1) // 2)

    def _fill_cross(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        right = list(Y)
        for i, a in enumerate(X):
            out[i] = [self._reference_value(a, b) for b in right]
        runner.advance(len(X) * len(Y))

    def _fill_below(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        """Fill a block of a Gram matrix below its diagonal; ``X`` comes after ``Y``.

        The roles of two structures can change the last bit of their value.
        """
        self._fill_cross(X, Y, out, runner)

    def _fill_pairs(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        for begin in range(0, len(X), _PAIRS_AT_ONCE):
            some = slice(begin, min(begin + _PAIRS_AT_ONCE, len(X)))
            block = np.empty((some.stop - begin,) * 2, dtype=out.dtype)
            self._fill_cross(X[some], Y[some], block, runner.quiet())
            out[some] = block.diagonal()
            runner.advance(some.stop - begin)

    def _fill_value(self, both: Any, out: Matrix, runner: Runner) -> None:
        """Fill ``out``, of shape (1,), with the value of two structures in one batch."""
        self._fill_pairs(both[:1], both[1:], out, runner)

    def _fill_diag(self, X: Any, out: Matrix, runner: Runner) -> None:
        out[:] = [self._reference_value(a, a) for a in X]
        runner.advance(len(X))

    def _reference_value(self, a: Any, b: Any) -> float:
        value = self.reference(a, b)
        if not isinstance(value, (Real, np.bool_)) or not np.isfinite(value):
            raise KernelInputError(
                f"{type(self).__name__}.reference gave {value!r} for {a!r} and {b!r}; kernel "
                "values must be finite numbers"
            )
        return value

    # Methods of every kernel.

    def value(self, a: Any, b: Any) -> float:
        """Return the similarity of two structures."""
        both = self._batch([a, b])
        out = np.empty(1, dtype=self._dtype(None))
        runner = Runner(self.n_jobs, 1)
        self._fill_value(both, out, runner)
        runner.finish()
        return float(out[0])

    def gram(
        self,
        X: Any,
        *,
        dtype: DTypeLike | None = None,
        out: Matrix | None = None,
        progress: Progress | None = None,
    ) -> Matrix:
        """Return the symmetric matrix of similarities of ``X`` with itself.

        Parameters
        ----------
        X : list of structures or batch, length n
            The structures.
        dtype : {"float64", "float32"}, optional
            Number type of the result, by default the kernel's; float32 is up to twice as fast.
        out : ndarray, shape (n, n), optional
            Array for the result; may be a memory map. The memory budget does not apply to it.
        progress : callable, optional
            Called as ``progress(done, total)`` with kernel evaluations.

        Returns
        -------
        ndarray, shape (n, n)
        """
        X = self._batch(X)
        n = len(X)
        out = self._allocate((n, n), dtype, out, f"the Gram matrix of {n:,} structures")
        runner = Runner(self.n_jobs, n * (n + 1) // 2, progress)
        if n > 1 and uses_executor(lambda: self._cost(X, X) // 2):
            on_executor.fill_gram(self, X, out, runner)
        else:
            self._fill_gram_by_tiles(X, out, runner)
        runner.finish()
        return out

    def _fill_gram_by_tiles(self, X: Any, out: Matrix, runner: Runner) -> None:
        n = len(X)
        for begin in range(0, n, TILE):
            end = min(begin + TILE, n)
            columns = X[begin:end]
            self._fill_gram(columns, out[begin:end, begin:end], runner)
            for lower in range(end, n, TILE):
                rows = slice(lower, min(lower + TILE, n))
                self._fill_below(X[rows], columns, out[rows, begin:end], runner)
                out[begin:end, rows] = out[rows, begin:end].T

    def cross(
        self,
        X: Any,
        Y: Any,
        *,
        dtype: DTypeLike | None = None,
        out: Matrix | None = None,
        progress: Progress | None = None,
    ) -> Matrix:
        """Return the similarities of all structures of ``X`` with all of ``Y``.

        Parameters are those of :meth:`gram`.

        Returns
        -------
        ndarray, shape (len(X), len(Y))
        """
        X, Y = self._batch(X), self._as_batch(Y)
        what = f"the matrix of {len(X):,} by {len(Y):,} similarities"
        out = self._allocate((len(X), len(Y)), dtype, out, what)
        runner = Runner(self.n_jobs, len(X) * len(Y), progress)
        if out.size > 1 and uses_executor(lambda: self._cost(X, Y)):
            on_executor.fill_cross(self, X, Y, out, runner)
        else:
            self._fill_whole(self._fill_cross, X, Y, out, runner)
        runner.finish()
        return out

    def _fill_whole(self, fill: Any, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        if min(len(X), len(Y)) <= FEW:  # the whole of the other side may be prepared already
            fill(X, Y, out, runner)
        else:
            self._fill_by_tiles(fill, X, Y, out, runner)

    def _fill_by_tiles(self, fill: Any, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        for top in range(0, len(X), TILE):
            for left in range(0, len(Y), TILE):
                rows, columns = slice(top, top + TILE), slice(left, left + TILE)
                fill(X[rows], Y[columns], out[rows, columns], runner)

    def _below(self, X: Any, Y: Any, out: Matrix, progress: Progress | None = None) -> Matrix:
        """Return ``out``, filled with a block of a Gram matrix; ``X`` comes after ``Y``."""
        runner = Runner(self.n_jobs, len(X) * len(Y), progress)
        self._fill_whole(self._fill_below, X, Y, out, runner)
        runner.finish()
        return out

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        """Return :meth:`gram` of ``X``, or :meth:`cross` with ``Y``; called by scikit-learn."""
        matrix = self.gram(X) if Y is None or Y is X else self.cross(X, Y)
        if eval_gradient:  # a Gaussian process tunes no parameter of these kernels
            return matrix, np.empty((*matrix.shape, 0))
        return matrix

    def diag(self, X: Any, *, dtype: DTypeLike | None = None) -> Matrix:
        """Return the similarity of each structure with itself, shape (n,)."""
        X = self._batch(X)
        out = np.empty(len(X), dtype=self._dtype(dtype))
        runner = Runner(self.n_jobs, len(X))
        self._fill_diag(X, out, runner)
        runner.finish()
        return out

    def pairs(self, X: Any, Y: Any, *, dtype: DTypeLike | None = None) -> Matrix:
        """Return the similarity of ``X[i]`` with ``Y[i]`` for every i, shape (n,)."""
        X, Y = self._batch(X), self._as_batch(Y)
        if len(X) != len(Y):
            raise KernelInputError(
                f"pairs need two lists of the same length, got {len(X)} and {len(Y)}"
            )
        out = np.empty(len(X), dtype=self._dtype(dtype))
        runner = Runner(self.n_jobs, len(X))
        self._fill_pairs(X, Y, out, runner)
        runner.finish()
        return out

    def neighbors(
        self,
        X: Any,
        Y: Any,
        k: int,
        *,
        exclude_self: bool = False,
        dtype: DTypeLike | None = None,
        progress: Progress | None = None,
    ) -> tuple[NDArray[np.int64], Matrix]:
        """Return the ``k`` most similar structures of ``Y`` for every one of ``X``.

        The full matrix is never held in memory. Ties are broken by the smaller index.

        Parameters
        ----------
        X, Y : lists of structures or batches
            Queries, and the structures searched.
        k : int
            Number of neighbors per query.
        exclude_self : bool
            Exclude ``Y[i]`` for query i, for a neighbor graph of one set.
        dtype, progress : optional
            As for :meth:`gram`.

        Returns
        -------
        indices : ndarray of int64, shape (len(X), k)
        similarities : ndarray, shape (len(X), k)
            In descending order.
        """
        X, Y = self._batch(X), self._as_batch(Y)
        number = self._dtype(dtype)
        available = len(Y) - 1 if exclude_self else len(Y)
        check_int("k", k, 1, available)
        if exclude_self and len(X) != len(Y):
            raise KernelInputError("exclude_self needs X and Y to be the same structures")
        runner = Runner(self.n_jobs, len(X) * len(Y), progress)
        if len(X) and uses_executor(lambda: self._cost(X, Y)):
            found = on_executor.find_neighbors(self, X, Y, k, exclude_self, number, runner)
        else:
            found = self._find_neighbors(X, Y, k, 0 if exclude_self else None, number, runner)
        runner.finish()
        return found

    def _find_neighbors(
        self, X: Any, Y: Any, k: int, own: int | None, number: Any, runner: Runner
    ) -> tuple[NDArray[np.int64], Matrix]:
        """Return the neighbors; query i is not compared with ``Y[own + i]``."""
        indices = np.full((len(X), k), -1, dtype=np.int64)
        values = np.full((len(X), k), -np.inf, dtype=number)
        for top in range(0, len(X), _QUERIES):
            queries = X[top : top + _QUERIES]
            asked = slice(top, top + len(queries))
            excluded = None if own is None else np.arange(own + asked.start, own + asked.stop)
            few = len(queries) <= FEW
            width = max(len(Y), 1) if few else _SEARCHED
            for left in range(0, len(Y), width):
                searched = Y[left : left + width]
                shape = (len(searched), len(queries))
                block = np.empty(shape, dtype=number, order="F" if few else "C")
                self._fill_below(searched, queries, block, runner)
                _native.keep_best(block, left, excluded, indices[asked], values[asked])
        return indices, values

    def smallest_eigenvalue(self, X: Any) -> float:
        """Return the smallest eigenvalue of the Gram matrix of a sample, relative to the largest.

        A kernel is positive semidefinite if this is never below 0, except for rounding (about
        1e-14). Support vector machines, Gaussian processes and embeddings assume it. Kernels with
        exact matching are; those with a similarity that cuts off low values may not be
        (:attr:`kernelwood.similarity.Similarity.positive_semidefinite`).

        Parameters
        ----------
        X : list of structures or batch
            A sample, a few thousand at most: the cost is cubic.
        """
        values = np.linalg.eigvalsh(self.gram(X, dtype="float64"))
        if len(values) == 0:
            raise KernelInputError("smallest_eigenvalue: give at least one structure")
        return float(values[0] / max(abs(values[0]), abs(values[-1]), np.finfo(float).tiny))

    # Algebra.

    def __add__(self, other: Any) -> Sum:
        from kernelwood.kernels.combined import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Product | Scaled:
        from kernelwood.kernels.combined import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        if isinstance(other, (int, float)) and not isinstance(other, bool):
            return Scaled(self, other)
        return NotImplemented

    __rmul__ = __mul__

    def __pow__(self, exponent: Any) -> Any:
        from kernelwood.kernels.combined import Power

        return Power(self, exponent)

    # Interface to scikit-learn's Gaussian processes, which tune no parameter of these kernels.

    requires_vector_input = False
    n_dims = 0
    hyperparameters: ClassVar[tuple[Any, ...]] = ()

    @property
    def theta(self) -> NDArray[np.float64]:
        """Hyperparameters that a Gaussian process may tune: none."""
        return np.empty(0)

    @theta.setter
    def theta(self, theta: Any) -> None:
        if len(theta):
            raise KernelInputError("kernelwood kernels have no hyperparameters to set as theta")

    @property
    def bounds(self) -> NDArray[np.float64]:
        """Bounds of :attr:`theta`: none."""
        return np.empty((0, 2))

    def clone_with_theta(self, theta: Any) -> Any:
        """Return a clone; ``theta`` is empty."""
        return self.clone()

    def is_stationary(self) -> bool:
        """Return False: the kernel is not a function of a difference of vectors."""
        return False

    # Helpers.

    def _cost(self, X: Any, Y: Any) -> int:
        """Return the cost of comparing all of ``X`` with all of ``Y``, in pairs of nodes."""
        return _COST_IN_PYTHON * len(X) * len(Y)

    def _batch(self, X: Any) -> Any:
        self._check_params()
        return self._as_batch(X)

    def _as_batch(self, X: Any) -> Any:
        """Return structures as a batch of the kind that the kernel, already checked, accepts."""
        try:
            batch = as_batch(X, self._accepts())
        except StructureError as error:
            raise KernelInputError(f"{type(self).__name__}: {error}") from None
        self._warm(batch)
        return batch

    def _warm(self, X: Any) -> None:
        """Make a batch prepare before it is sliced what each slice would prepare again."""

    def _accepts(self) -> type[Any]:
        if getattr(self, "accepts", None) is None:
            raise KernelInputError(
                f"{type(self).__name__} does not define accepts; set it to the kind of batch that "
                "the kernel compares, such as kw.arrays.TreeBatch"
            )
        return self.accepts

    def _is_definite(self) -> bool:
        """Whether the kernel is known to be positive semidefinite.

        If so, normalized values are from -1 to 1, and beyond only by rounding.
        """
        return False

    def _dtype(self, dtype: DTypeLike | None) -> np.dtype[Any]:
        try:
            chosen = np.dtype(self.dtype if dtype is None else dtype)
        except TypeError:
            chosen = np.dtype(object)
        if chosen not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise KernelInputError(
                f"dtype must be float64 or float32, got {self.dtype if dtype is None else dtype!r}"
            )
        return chosen

    def _allocate(
        self, shape: tuple[int, int], dtype: DTypeLike | None, out: Matrix | None, what: str
    ) -> Matrix:
        if out is None:
            number = self._dtype(dtype)
            check_budget(
                shape[0] * shape[1] * number.itemsize,
                what,
                "Use kernel.neighbors(X, Y, k) for the most similar ones, dtype='float32', or "
                "write into a file with out=np.memmap(...).",
            )
            return np.empty(shape, dtype=number)
        if not isinstance(out, np.ndarray):
            raise KernelInputError(f"out must be an array, got {type(out).__name__}")
        if out.shape != shape or out.dtype != self._dtype(dtype or out.dtype):
            raise KernelInputError(
                f"out must have shape {shape} and dtype {self._dtype(dtype or 'float64')}, "
                f"got {out.shape} and {out.dtype}"
            )
        if not out.flags.c_contiguous or not out.flags.writeable:
            raise KernelInputError("out must be a writeable C-ordered array")
        return out


def warn_of_zeros(count: int, kernel: object) -> None:
    """Warn that ``count`` structures have self-similarity 0 and therefore similarity 0."""
    if count:
        warnings.warn(
            f"{type(kernel).__name__}: {count} structure(s) have self-similarity 0 (empty, or "
            "without anything the kernel counts); their normalized similarities are set to 0",
            RuntimeWarning,
            stacklevel=_caller_level(),
        )


def _caller_level() -> int:
    """Return the stack level of the first caller outside the package, for ``warnings.warn``."""
    level, frame = 1, sys._getframe(1)
    package = __name__.partition(".")[0]
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level
