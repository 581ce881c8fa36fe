"""The kernel on vectors: linear, polynomial, radial and cosine."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kernelwood import _native
from kernelwood.arrays import Ragged, SequenceBatch, VectorBatch, Vocabulary, is_sparse
from kernelwood.compute import Runner, StopFlag, budget
from kernelwood.errors import KernelInputError, KernelOverflowError, StructureError
from kernelwood.kernels.kernel import PART_OF_BUDGET, Kernel, Matrix
from kernelwood.similarity import Gaussian
from kernelwood.vectors import Vectors

Floats = NDArray[np.float64]

_KINDS = ("linear", "polynomial", "rbf", "cosine")
_LANES = 16  # columns of the native product come in such groups, see ordered_product.hpp
_ROWS, _COLUMNS = 256, 512  # of a block of products, which stays in the cache


class VectorKernel(Kernel):
    r"""Compares vectors: flat features, or the vectors of any encoder.

    .. math::

        \langle x, y \rangle, \quad (\gamma \langle x, y \rangle + c)^d, \quad
        \exp(-\gamma \lVert x - y \rVert^2), \quad
        \frac{\langle x, y \rangle}{\lVert x \rVert \lVert y \rVert}

    for the kinds linear, polynomial, rbf and cosine. With ``vectors``, it compares sequences: each
    stands for the mean of the unit vectors of its words.

    Cost: the width of dense vectors; for sparse vectors, the number of columns that both have.

    Parameters
    ----------
    kind : {"linear", "polynomial", "rbf", "cosine"}
        The function.
    degree : int
        :math:`d`, the degree of the polynomial.
    gamma : float, optional
        :math:`\gamma` of polynomial and rbf; None is 1 / width, which vectors of named features do
        not have.
    coef0 : float
        :math:`c`, the constant of the polynomial, 0 or more.
    vectors : Vectors, optional
        Word vectors. Words without a vector do not count; a sequence without any known word is the
        zero vector. Labels are looked up as in :class:`kernelwood.similarity.Gaussian`.
    n_jobs : int, optional
        Number of threads; None for the setting of :func:`kernelwood.config_context`, -1 for all
        cores.
    dtype : {"float64", "float32"}
        Number type of results. Sums are always computed in float64.

    Notes
    -----
    The values are those of ``sklearn.metrics.pairwise``. The cosine of a zero vector is 0. Products
    are summed in the order of columns (for features, of their names), so that a value depends on
    its two vectors only, and dense and sparse rows give the same bits.

    All kinds are positive semidefinite. Use :class:`Normalized` to normalize the polynomial.

    Examples
    --------
    >>> import kernelwood as kw
    >>> kw.VectorKernel("rbf", gamma=0.5).gram([[0.0, 1.0], [1.0, 1.0]]).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    >>> kw.VectorKernel().value({"w=bind": 1.0, "w=to": 2.0}, {"w=to": 0.5})
    1.0

    The mean word vectors of two sequences:

    >>> vectors = kw.Vectors(["cat", "dog", "car"], [[3, 4], [4, 3], [-4, 3]])
    >>> kernel = kw.VectorKernel("cosine", vectors=vectors)
    >>> round(kernel.value(kw.Sequence(["the", "cat"]), kw.Sequence(["a", "dog"])), 2)
    0.96
    """

    accepts = VectorBatch

    def __init__(
        self,
        kind: str = "linear",
        *,
        degree: int = 2,
        gamma: float | None = None,
        coef0: float = 1.0,
        vectors: Vectors | None = None,
        n_jobs: int | None = None,
        dtype: DTypeLike = "float64",
    ) -> None:
        self.kind = kind
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.vectors = vectors
        self.n_jobs = n_jobs
        self.dtype = dtype

    def reference(self, a: Any, b: Any) -> float:
        """Return the value by the formula, in plain Python."""
        (x, width), (y, other_width) = (self._coordinates(vector) for vector in (a, b))
        if width != other_width:
            raise KernelInputError(f"vectors have widths {width} and {other_width}")
        product = math.fsum(value * y[key] for key, value in x.items() if key in y)
        if self.kind == "linear":
            return product
        if self.kind == "cosine":
            lengths = math.prod(math.hypot(*vector.values()) for vector in (x, y))
            return max(-1.0, min(product / lengths, 1.0)) if lengths > 0 else 0.0
        if self.kind == "polynomial":
            try:
                return float((self._gamma(width) * product + self.coef0) ** self.degree)
            except OverflowError as failure:
                raise KernelOverflowError(
                    f"{self!r}: a value is beyond the range of float64; use a smaller degree"
                ) from failure
        squares = ((x.get(key, 0.0) - y.get(key, 0.0)) ** 2 for key in x.keys() | y.keys())
        return math.exp(-self._gamma(width) * math.fsum(squares))

    def _coordinates(self, vector: Any) -> tuple[dict[Any, float], int | None]:
        """Return the coordinates of a vector by name or column, and its width."""
        if self.vectors is not None:
            known = [row for row in map(self._word, vector.nodes) if row is not None]
            columns = [math.fsum(column) / len(known) for column in zip(*known, strict=True)]
            return dict(enumerate(columns)), self.vectors.dim
        if isinstance(vector, Mapping):
            return dict(vector), None
        values = vector.toarray().ravel() if is_sparse(vector) else vector
        return dict(enumerate(map(float, values))), len(values)

    def _word(self, label: str) -> list[float] | None:
        """Return the unit vector of a label, None if it has no vector."""
        found = Gaussian(cast(Any, self.vectors)).resolve([label])
        if found.vectors is None or found.rows[0] < 0:
            return None
        numbers = [float(number) for number in found.vectors[found.rows[0]]]
        return [number / math.hypot(*numbers) for number in numbers]

    def _check_params(self) -> None:
        self._check_choice("kind", _KINDS)
        self._check_count("degree", 1)
        self._check_number("coef0", 0, math.inf, "[0, inf)")
        if self.gamma is not None:
            self._check_number("gamma", 0, math.inf, "(0, inf)")
        if self.vectors is not None and not isinstance(self.vectors, Vectors):
            raise KernelInputError(
                f"VectorKernel: vectors must be None or word vectors, got {self.vectors!r}; read "
                "them with kw.Vectors.load(path)"
            )

    def _accepts(self) -> type[Any]:
        return VectorBatch if self.vectors is None else SequenceBatch

    def _is_definite(self) -> bool:
        return True

    def _gamma(self, width: int | None) -> float:
        if self.gamma is not None:
            return float(self.gamma)
        if width is None:
            raise KernelInputError(
                f"{self!r}: features with names have no width, so that gamma has no default; "
                "give one, such as gamma=1.0"
            )
        return 1 / width

    # Filling matrices.

    def _fill_gram(self, X: Any, out: Matrix, runner: Runner) -> None:
        n = len(X)
        if n:
            rows = self._rows(X)
            self._fill(rows, _Prepared.of(rows), out, runner, triangle=True)
            _native.mirror(out, 0, n, None, math.inf)

    def _fill_cross(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        if len(X) and len(Y):
            prepared = self._prepare(Y)
            left, right = _aligned(self._rows(X), prepared.rows)
            if right is not prepared.rows:
                prepared = _Prepared.of(right)
            self._fill(left, prepared, out, runner)

    def _prepare(self, X: Any) -> _Prepared:
        """Return the right side of products, which stays with the batch."""
        key = ("prepared vectors", self.kind == "cosine", self.vectors)
        room = int(budget() * PART_OF_BUDGET)
        prepared: _Prepared = X.remember(key, lambda: _Prepared.of(self._rows(X)), room=room)
        return prepared

    def _fill_diag(self, X: Any, out: Matrix, runner: Runner) -> None:
        if len(X):
            rows = self._rows(X)
            squares = _squares(rows)
            with np.errstate(over="ignore", invalid="ignore"):
                out[:] = self._function(rows)(squares, squares, squares)
            self._check_finite(out)
        runner.advance(len(X))

    def _rows(self, X: Any) -> VectorBatch:
        """Return the vectors of a batch; for cosines, scaled by powers of 2 to a safe range."""
        rows: VectorBatch = X if self.vectors is None else mean_vectors(X, self.vectors)
        return _scaled(rows) if self.kind == "cosine" else rows

    def _fill(
        self, X: VectorBatch, Y: _Prepared, out: Matrix, runner: Runner, *, triangle: bool = False
    ) -> None:
        """Fill ``out``, or the lower triangle and the blocks on the diagonal of X by X."""
        function = self._function(X)
        x_squares, y_squares = _squares(X), Y.squares
        multiply = (_dense_product if X.is_dense else _sparse_product)(X, Y)
        n, n_columns = len(X), len(Y.rows)
        evaluations = n * (n + 1) // 2 if triangle else n * n_columns

        def block(begin: int, end: int, stop: StopFlag) -> None:
            for first in range(begin, end, _ROWS):
                rows = slice(first, min(first + _ROWS, end))
                for left in range(0, rows.stop if triangle else n_columns, _COLUMNS):
                    if stop[0]:
                        return
                    columns = slice(left, min(left + _COLUMNS, n_columns))
                    products = multiply(rows, columns)
                    with np.errstate(over="ignore", invalid="ignore"):
                        values = function(products, x_squares[rows, None], y_squares[columns])
                        out[rows, columns] = values
                    self._check_finite(out[rows, columns])

        cost = _pair_cost(X) * evaluations
        runner.run(block, len(X), evaluations=evaluations, cost=cost)

    def _cost(self, X: Any, Y: Any) -> int:
        width = 0 if self.vectors is None else self.vectors.dim
        return _pair_cost(X, width) * len(X) * len(Y)

    def _function(self, X: VectorBatch) -> Callable[[Floats, Floats, Floats], Floats]:
        """Return the kernel as a function of products and squared lengths; may overwrite them."""
        if self.kind == "linear":
            return lambda products, x, y: products
        if self.kind == "cosine":
            return _cosines
        gamma = self._gamma(X.width)
        if self.kind == "polynomial":
            constant, degree = float(self.coef0), int(self.degree)
            return lambda products, x, y: _power(gamma * products + constant, degree)
        return lambda products, x, y: np.exp(-gamma * np.maximum(x + y - 2 * products, 0.0))

    def _check_finite(self, values: Matrix) -> None:
        if not np.isfinite(values).all():
            raise KernelOverflowError(
                f"{self!r}: a value exceeds the range of {values.dtype}; scale the vectors, or "
                "use kind='cosine'"
            )


def _pair_cost(X: Any, width: int = 0) -> int:
    """Return the cost of a pair, in pairs of nodes; of a width, or the mean number of values."""
    return 4 * (1 + (width or X.n_elements // max(len(X), 1)))


def _aligned(X: VectorBatch, Y: VectorBatch) -> tuple[VectorBatch, VectorBatch]:
    """Return both with the same columns: by name if one has names, else dense if one is dense.

    Names are numbered as in ``Y``. Products are added in the order of the columns of ``X``, which
    is alphabetical.
    """
    layout = Y if Y.width is None or Y.is_dense else X
    try:
        left, right = X.in_layout_of(layout), Y.in_layout_of(layout)
    except StructureError as error:
        raise KernelInputError(f"VectorKernel: {error}") from None
    return left.in_vocabulary(right.vocabulary), right


def _squares(rows: VectorBatch) -> Floats:
    """Return squared lengths, summed in the order of the products: equal rows, equal bits."""
    values: Any = rows.arrays[-1][rows.parts[0].window]
    numbers = np.repeat(np.arange(len(rows)), rows.sizes)
    with np.errstate(over="ignore"):
        squares = np.bincount(numbers, weights=values * values, minlength=len(rows))
    return squares.astype(np.float64, copy=False)


def _scaled(rows: VectorBatch) -> VectorBatch:
    """Return rows times powers of 2, which are exact, so that their largest values are near 1."""
    part = rows.parts[0].alone()
    values = part.arrays[-1]
    largest = np.zeros(len(rows))
    filled = rows.sizes > 0
    if filled.any():
        largest[filled] = np.maximum.reduceat(np.abs(values), part.offsets[:-1][filled])
    exponents = np.repeat(np.frexp(largest)[1], rows.sizes)
    scaled = np.ldexp(values, -exponents)
    return rows._like((Ragged(part.offsets, (*part.arrays[:-1], scaled)),))


def _cosines(products: Floats, x: Floats, y: Floats) -> Floats:
    lengths = np.sqrt(x * y)
    lengths[lengths == 0] = np.inf
    return np.clip(products / lengths, -1.0, 1.0)


def _power(base: Floats, exponent: int) -> Floats:
    """Return a power by products alone: libraries differ in the last bit."""
    result = None
    while True:
        if exponent & 1:
            result = base if result is None else result * base
        exponent >>= 1
        if exponent == 0:
            assert result is not None
            return result
        base = base * base


class _Prepared(NamedTuple):
    """The right side of products.

    Attributes
    ----------
    rows : VectorBatch
    squares : ndarray
        Squared lengths.
    width : int
        Number of columns.
    panels : list
        The matrix turned, so many rows at a time.
    nbytes : int
        Memory.
    """

    rows: VectorBatch
    squares: Floats
    width: int
    panels: list[Any]
    nbytes: int

    @classmethod
    def of(cls, rows: VectorBatch) -> _Prepared:
        """Return vectors as the right side of products."""
        squares = _squares(rows)
        if rows.is_dense:
            width, panels = rows.n_columns, _dense_panels(rows)
            n_bytes = sum(panel.nbytes for panel in panels)
        else:
            width = 1 + int(rows.arrays[0][rows.parts[0].window].max(initial=0))
            panels = _sparse_panels(rows, width)
            arrays = [(one.data, one.indices, one.indptr) for one in panels]
            n_bytes = sum(array.nbytes for three in arrays for array in three)
        return cls(rows, squares, width, panels, n_bytes + squares.nbytes + rows.nbytes)


def _sparse_panels(rows: VectorBatch, width: int) -> list[Any]:
    matrix = rows.csr(width)
    firsts = range(0, len(rows), _COLUMNS)
    return [matrix[first : first + _COLUMNS].T.tocsr() for first in firsts]


def _dense_panels(rows: VectorBatch) -> list[Any]:
    matrix = rows.matrix()
    panels = []
    for first in range(0, len(rows), _COLUMNS):
        some = matrix[first : first + _COLUMNS]
        panel = np.zeros((some.shape[1], -(-len(some) // _LANES) * _LANES))
        panel[:, : len(some)] = some.T
        panels.append(panel)
    return panels


def _dense_product(X: VectorBatch, Y: _Prepared) -> Callable[[slice, slice], Floats]:
    """Return a function that gives products of some rows of ``X`` with some of ``Y``."""
    left = X.matrix()

    def multiply(rows: slice, columns: slice) -> Floats:
        some, panel = left[rows], Y.panels[columns.start // _COLUMNS]
        out = np.empty((len(some), panel.shape[1]))
        _native.ordered_product(some, panel, 0, len(some), out)
        return np.ascontiguousarray(out[:, : columns.stop - columns.start])

    return multiply


def _sparse_product(X: VectorBatch, Y: _Prepared) -> Callable[[slice, slice], Floats]:
    """Return the same for sparse rows; scipy adds in the order of the columns of a row."""
    left = _in_width(X, Y.width).csr(Y.width)

    def multiply(rows: slice, columns: slice) -> Floats:
        products: Floats = (left[rows] @ Y.panels[columns.start // _COLUMNS]).toarray()
        return products

    return multiply


def _in_width(X: VectorBatch, width: int) -> VectorBatch:
    """Return sparse vectors without columns beyond a width, which the other side does not have."""
    part = X.parts[0].alone()
    kept = part.arrays[0] < width
    if kept.all():
        return X
    counts = np.concatenate([[0], np.cumsum(kept)])[part.offsets]
    return X._like((Ragged(counts, tuple(array[kept] for array in part.arrays)),))


# The row of each label in word vectors (-1: none), for as many labels as were looked up.
_KNOWN: WeakKeyDictionary[Vocabulary, tuple[Vectors, NDArray[np.int64]]] = WeakKeyDictionary()


def _label_rows(vocabulary: Vocabulary, vectors: Vectors) -> NDArray[np.int64]:
    """Return the row of the vector of each label of a vocabulary, -1 for labels without one."""
    known, rows = _KNOWN.get(vocabulary, (vectors, np.empty(0, dtype=np.int64)))
    if known is not vectors:
        rows = np.empty(0, dtype=np.int64)
    if len(rows) < len(vocabulary):
        new = list(vocabulary)[len(rows) :]
        rows = np.concatenate([rows, Gaussian(cast(Any, vectors)).resolve(new).rows])
        _KNOWN[vocabulary] = vectors, rows
    return rows


def mean_vectors(sequences: SequenceBatch, vectors: Vectors) -> VectorBatch:
    """Return the mean of the unit vectors of the words of each sequence.

    Labels without a vector do not count; the mean of none is the zero vector. The vector of a
    sequence does not depend on other sequences.

    Examples
    --------
    >>> import kernelwood as kw
    >>> words = kw.batch([kw.Sequence(["cat", "the", "dog"]), kw.Sequence(["the"])])
    >>> mean_vectors(words, kw.Vectors(["cat", "dog"], [[1, 0], [0, 2]])).matrix()
    array([[0.5, 0.5],
           [0. , 0. ]])
    """
    from scipy.sparse import csr_matrix

    part = sequences.parts[0].alone()
    rows = _label_rows(sequences.vocabulary, vectors)[part.arrays[0]]
    known = rows >= 0
    used, places = np.unique(rows[known], return_inverse=True)
    units = vectors.matrix[used].astype(np.float64)
    units /= np.sqrt(np.cumsum(units * units, axis=1)[:, -1:])
    counts = np.concatenate([[0], np.cumsum(known)])[part.offsets]
    sizes = np.diff(counts)
    # Ones in the order of the words: the product adds their vectors in this order.
    table = csr_matrix((np.ones(len(places)), places, counts), (len(sequences), len(used)))
    return VectorBatch.from_matrix(table @ units / np.maximum(sizes, 1)[:, None])
