from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays.batches import Batch
from kernelwood.arrays.ragged import Offsets, Ragged, checked
from kernelwood.arrays.vocabulary import Vocabulary
from kernelwood.errors import StructureError
from kernelwood.structures import shorten

_NUMBERS = "fiub"  # kinds of number types that are converted to float64
_WIDEST = 2**31 - 1


class VectorBatch(Batch):
    """A batch of vectors, dense or sparse, each a row of a matrix.

    Dense rows are their ``values``, one after the other. Sparse rows are ``columns`` and
    ``values``; columns are numbers, or features with names, which are the labels of the
    vocabulary. In a row, columns rise and names are in alphabetical order, so that sums over a row
    have one order.

    Attributes
    ----------
    width : int or None
        Number of columns; None if features have names.

    Examples
    --------
    >>> import kernelwood as kw
    >>> rows = kw.batch([[1.0, 0.0, 2.0], [0.5, 0.5, 0.0]])
    >>> rows, rows.width, rows[1]
    (VectorBatch(2 vectors, 6 numbers), 3, (0.5, 0.5, 0.0))
    >>> features = kw.batch([{"w=bind": 1.0, "w=to": 1.0}, {}])
    >>> features, dict(features[0])
    (VectorBatch(2 vectors, 2 numbers), {'w=bind': 1.0, 'w=to': 1.0})
    """

    kind = "vector"
    unit = "numbers"

    width: int | None

    @classmethod
    def _of(cls, rows: Ragged, width: int | None, vocabulary: Vocabulary) -> VectorBatch:
        batch = cls._wrap((rows,), vocabulary)
        batch.width = width
        batch.fields = ("columns", "values")[-len(rows.arrays) :]
        batch.n_label_fields = 1 if width is None else 0
        return batch

    @classmethod
    def from_matrix(cls, matrix: Any) -> VectorBatch:
        """Return the rows of a matrix, copied.

        Parameters
        ----------
        matrix : ndarray of numbers, shape (n, width), or scipy sparse matrix
            Dense rows come from an array, sparse rows with numbered columns from a sparse matrix.
        """
        if matrix.ndim != 2 or matrix.shape[1] == 0 or matrix.dtype.kind not in _NUMBERS:
            raise StructureError(
                f"vectors must be a matrix of numbers, got {matrix.dtype} of shape {matrix.shape}"
            )
        width = int(matrix.shape[1])
        _check_width(width)
        if isinstance(matrix, np.ndarray):
            values = np.array(matrix, dtype=np.float64, order="C").reshape(-1)
            rows = Ragged(_dense_offsets(len(matrix), width), (values,))
        else:
            csr = matrix.tocsr().astype(np.float64, copy=True)
            csr.sum_duplicates()
            offsets, columns = csr.indptr.astype(np.int64), csr.indices.astype(np.int32)
            rows = Ragged(offsets, (columns, csr.data))
        return cls._checked(rows, width, Vocabulary())

    @classmethod
    def from_arrays(
        cls,
        offsets: Offsets,
        columns: NDArray[np.int32],
        values: NDArray[np.float64],
        *,
        width: int | None = None,
        vocabulary: Vocabulary | None = None,
    ) -> VectorBatch:
        """Wrap the arrays of sparse rows, which may be read-only or memory-mapped.

        Parameters
        ----------
        offsets : ndarray of int64, shape (n + 1,)
            Row ``i`` owns the columns and values ``offsets[i]`` to ``offsets[i + 1]``.
        columns : ndarray of int32
            Rising in each row; with names, ids in the vocabulary, in alphabetical order.
        values : ndarray of float64
            The value of each column.
        width : int, optional
            Number of columns, if they are numbered.
        vocabulary : Vocabulary, optional
            Names of features, if they have names.
        """
        if (width is None) == (vocabulary is None):
            raise StructureError("columns have either a width or a vocabulary of names")
        arrays = (checked(columns, np.int32, "columns"), checked(values, np.float64, "values"))
        rows = Ragged(checked(offsets, np.int64, "offsets"), arrays)
        return cls._checked(rows, width, Vocabulary() if vocabulary is None else vocabulary)

    @classmethod
    def _checked(cls, rows: Ragged, width: int | None, vocabulary: Vocabulary) -> VectorBatch:
        """Return a batch of arrays from outside, after all checks."""
        batch = cls._of(rows, width, vocabulary)
        batch._check()  # offsets, and the ids of names
        _check_width(width)
        _check_finite(rows)
        if not batch.is_dense:
            batch._check_columns()
        return batch

    def _check_columns(self) -> None:
        rows = self.parts[0].alone()
        order: Any = rows.arrays[0]
        if self.width is None:
            rank = np.empty(len(self.vocabulary), dtype=np.int32)
            names = list(self.vocabulary)
            rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
            order = rank[order]
        elif order.size and (order.min() < 0 or order.max() >= self.width):
            raise StructureError(f"columns must be from 0 to {self.width - 1}")
        first = np.zeros(len(order) + 1, dtype=np.bool_)
        first[rows.offsets] = True  # of a row: nothing to compare it with
        if not (first[1:-1] | (order[1:] > order[:-1])).all():
            raise StructureError("columns of a row must rise, names be in alphabetical order")

    @property
    def is_dense(self) -> bool:
        """Whether rows have a value for every column."""
        return len(self.arrays) == 1

    @property
    def n_columns(self) -> int:
        """The width, or the number of labels of the vocabulary."""
        return len(self.vocabulary) if self.width is None else self.width

    def _like(self, parts: tuple[Ragged, ...], vocabulary: Vocabulary | None = None) -> VectorBatch:
        return self._of(parts[0], self.width, self.vocabulary if vocabulary is None else vocabulary)

    def in_vocabulary(self, vocabulary: Vocabulary) -> VectorBatch:
        """Return the same vectors with names numbered as in another vocabulary."""
        return super().in_vocabulary(vocabulary) if self.width is None else self

    def in_layout_of(self, other: VectorBatch) -> VectorBatch:
        """Return the same vectors, dense or sparse, with numbers or names, as another batch has.

        Column 3 of a sparse matrix is the feature ``"3"``.

        Raises
        ------
        StructureError
            If the widths differ, or only one of the batches has names and the other is dense.
        """
        if len(self) == 0 or other.width == 0:  # an empty list has no width
            return other[:0] if len(self) == 0 else self
        if other.width is None and self.width is not None and not self.is_dense:
            return self._with_names()
        if self.width != other.width:
            raise StructureError(
                f"{_described(self)} cannot be compared with {_described(other)}",
                hint="use the same encoder or vectorizer for both",
            )
        if self.is_dense == other.is_dense:
            return self
        assert self.width is not None
        if other.is_dense:
            values = self.csr(self.width).toarray().reshape(-1)
            return self._like((Ragged(_dense_offsets(len(self), self.width), (values,)),))
        columns = np.tile(np.arange(self.width, dtype=np.int32), len(self))
        rows = self.parts[0].alone()
        return self._like((Ragged(rows.offsets, (columns, *rows.arrays)),))

    def _with_names(self) -> VectorBatch:
        return flatten_vectors(list(self), Vocabulary())

    def matrix(self) -> NDArray[np.float64]:
        """Return dense vectors as a matrix, without copying."""
        values: Any = self.arrays[0][self.parts[0].window]
        matrix: NDArray[np.float64] = values.reshape(len(self), self.width)
        return matrix

    def csr(self, width: int) -> Any:
        """Return sparse vectors as a scipy matrix with this number of columns."""
        from scipy.sparse import csr_matrix

        rows = self.parts[0].alone()
        return csr_matrix((rows.arrays[1], rows.arrays[0], rows.offsets), (len(self), width))

    def _decode(self, index: int) -> tuple[float, ...] | Mapping[str, float]:
        *columns, values = (array[self.parts[0].piece(index)] for array in self.arrays)
        if not columns:
            return tuple(values.tolist())
        numbered = self.width is not None
        names = map(str, columns[0].tolist()) if numbered else self.vocabulary.labels(columns[0])
        return MappingProxyType(dict(zip(names, values.tolist(), strict=True)))

    def __reduce__(self) -> tuple[object, ...]:
        rows = self.parts[0].alone()
        arrays = tuple(np.array(array) for array in rows.arrays)
        return (_rebuild, (rows.offsets, arrays, self.width, self.vocabulary))


def _rebuild(
    offsets: Offsets, arrays: tuple[Any, ...], width: int | None, vocabulary: Vocabulary
) -> VectorBatch:
    return VectorBatch._of(Ragged(offsets, arrays), width, vocabulary)


class RowError(StructureError):
    """One vector among others is not valid.

    Attributes
    ----------
    row : int
        Its position.
    fault : str
        What is wrong with it.
    """

    def __init__(self, row: int, fault: str, hint: str | None = None) -> None:
        super().__init__(f"vector {row} {fault}", hint=hint)
        self.row, self.fault = row, fault


_FINITE = "replace missing and infinite values by numbers"


def is_vector(value: object) -> bool:
    """Return whether a value has the form of one vector, without a check of its contents.

    Examples
    --------
    >>> is_vector((0.5, 1)), is_vector({"w=bind": 1.0}), is_vector(["a", "b"]), is_vector(1.0)
    (True, True, False, False)
    """
    if isinstance(value, (tuple, list)):
        return not value or isinstance(value[0], Real)
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.kind in _NUMBERS
    return isinstance(value, Mapping) or is_sparse(value)


def is_sparse(value: object) -> bool:
    """Return whether a value is a sparse matrix or sparse row of scipy."""
    return hasattr(value, "tocsr")  # without importing scipy


def is_matrix(value: object) -> bool:
    """Return whether the rows of a value are vectors."""
    return is_sparse(value) or (
        isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in _NUMBERS
    )


def flatten_vectors(vectors: list[Any], vocabulary: Vocabulary) -> VectorBatch:
    """Lay vectors out as flat arrays: mappings and sparse rows as sparse, others as dense rows."""
    if not vectors:
        return VectorBatch._of(Ragged(np.zeros(1, np.int64), (np.empty(0),)), 0, vocabulary)
    form = _form(vectors[0])
    for row, vector in enumerate(vectors):
        if _form(vector) != form:
            raise RowError(row, f"is {_form(vector)}, the first is {form}", "give all the same way")
    if form == "a mapping":
        return _flatten_mappings(vectors, vocabulary)
    return _flatten_sparse(vectors) if form == "a sparse row" else _flatten_dense(vectors)


def _form(vector: object) -> str:
    if isinstance(vector, Mapping):
        return "a mapping"
    return "a sparse row" if is_sparse(vector) else "a list of numbers"


def _flatten_dense(vectors: list[Any]) -> VectorBatch:
    width = len(vectors[0])
    for row, vector in enumerate(vectors):
        if len(vector) != width or width == 0:
            fault = "is empty" if len(vector) == 0 else f"has width {len(vector)}"
            raise RowError(row, fault + (f", the first has width {width}" if width else ""))
    matrix = np.asarray(vectors)
    if matrix.ndim != 2 or matrix.dtype.kind not in _NUMBERS:
        for row, vector in enumerate(vectors):
            _check_numbers(row, vector)
        matrix = matrix.astype(np.float64)
    return VectorBatch.from_matrix(matrix)


def _flatten_sparse(vectors: list[Any]) -> VectorBatch:
    from scipy.sparse import vstack

    shape = vectors[0].shape
    for row, vector in enumerate(vectors):
        if vector.shape != shape or len(shape) != 2 or shape[0] != 1:
            raise RowError(
                row, f"has shape {vector.shape}", f"give sparse rows of shape (1, {shape[-1]})"
            )
    return VectorBatch.from_matrix(vstack(vectors, format="csr"))


def _flatten_mappings(vectors: list[Any], vocabulary: Vocabulary) -> VectorBatch:
    for row, vector in enumerate(vectors):
        for name in vector:
            if not isinstance(name, str):
                raise RowError(row, f"has the feature {shorten(repr(name))}", "names are strings")
    items = [sorted(vector.items(), key=lambda item: item[0]) for vector in vectors]
    names = [name for name, _ in chain.from_iterable(items)]
    values = np.asarray([value for _, value in chain.from_iterable(items)])
    if len(values) and (values.ndim != 1 or values.dtype.kind not in _NUMBERS):
        for row, vector in enumerate(vectors):
            _check_numbers(row, vector.values())
    ids = np.array(vocabulary.add_all(names), dtype=np.int32)
    rows = Ragged.from_sizes(map(len, items), ids, values.astype(np.float64))
    _check_finite(rows)
    return VectorBatch._of(rows, None, vocabulary)


def _check_width(width: int | None) -> None:
    if width is not None and not 0 < width <= _WIDEST:
        raise StructureError(f"vectors must have a width from 1 to {_WIDEST}, got {width}")


def _check_finite(rows: Ragged) -> None:
    values = rows.arrays[-1][rows.window]
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        place = int(wrong[0]) + int(rows.offsets[0])
        row = int(np.searchsorted(rows.offsets, place, side="right")) - 1
        raise RowError(row, f"has the value {values[wrong[0]]}", _FINITE)


def _check_numbers(row: int, values: Any) -> None:
    for value in values:
        if not isinstance(value, Real):
            raise RowError(row, f"has the value {shorten(repr(value))}", "give numbers only")
        try:
            float(value)
        except OverflowError:
            raise RowError(row, f"has the value {shorten(repr(value))}", _FINITE) from None


def _dense_offsets(n: int, width: int) -> Offsets:
    return np.arange(n + 1, dtype=np.int64) * width


def _described(batch: VectorBatch) -> str:
    if batch.width is None:
        return "features with names"
    return f"{'dense' if batch.is_dense else 'sparse'} vectors of width {batch.width}"
