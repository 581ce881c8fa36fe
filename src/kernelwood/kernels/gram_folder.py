"""Gram matrices in folders: each file has some of the rows, and files are computed in any order."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kernelwood.arrays import Batch, ExampleBatch
from kernelwood.compute import map_matrix
from kernelwood.errors import KernelInputError, ReadError
from kernelwood.io import replacing
from kernelwood.kernels.combined import needed_views
from kernelwood.kernels.kernel import Kernel, Matrix
from kernelwood.parameters import check_int

_MANIFEST = "gram.json"
_FORMAT = "kernelwood-gram-1"
GRAM_WINDOW = 256  # as in ``kernels/engine.py``: Gram matrices are cut only between such windows
_PROBE = 16  # structures whose similarities tell one kernel from another
_OPEN = 64  # files kept open
_MOST = 2**40  # structures
_MOST_FILES = 10**6  # of a folder; missing() looks for each


def write_gram(
    kernel: Kernel,
    X: Any,
    folder: str | os.PathLike[str],
    *,
    n_rows: int = 1024,
    dtype: DTypeLike | None = None,
    panels: Iterable[int] | None = None,
) -> GramFolder:
    r"""Write a Gram matrix into a folder of ``.npy`` files, each with some of its rows.

    A file appears when it is complete; files that exist are not computed again, so that a call
    that was interrupted is resumed by the same call. Several processes, or machines with a common
    file system, can write different ``panels`` at once. The values are those of
    :meth:`Kernel.gram`. As each file has whole rows, a pair is compared twice, once for each row:
    :math:`n^2` kernel evaluations instead of :math:`n (n + 1) / 2`.

    Parameters
    ----------
    kernel : Kernel
    X : list of structures or batch, length n
    folder : str or path
        A new folder, or one with a part of the same matrix.
    n_rows : int
        Rows of a file, a multiple of 256.
    dtype : {"float64", "float32"}, optional
        Number type, by default the kernel's.
    panels : iterable of int, optional
        Numbers of the files to write; number p has the rows from ``p * n_rows``. By default all.

    Raises
    ------
    KernelInputError
        If the folder has another matrix: of another kernel, other structures or options.

    Examples
    --------
    >>> import kernelwood as kw, tempfile
    >>> texts = [kw.Sequence(f"number {i} of {i % 7}".split()) for i in range(600)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     half = write_gram(kw.SubsequenceKernel(), texts, folder, n_rows=256, panels=[0, 2])
    ...     whole = write_gram(kw.SubsequenceKernel(), texts, folder, n_rows=256)
    ...     half.missing(), whole.missing(), whole.row(599).shape
    ([], [], (600,))
    """
    check_int("write_gram: n_rows", n_rows, GRAM_WINDOW)
    if n_rows % GRAM_WINDOW:
        raise KernelInputError(
            f"write_gram: n_rows must be a multiple of {GRAM_WINDOW}, got {n_rows}"
        )
    X = kernel._batch(X)
    number = kernel._dtype(dtype)
    manifest = {
        "format": _FORMAT,
        "n": len(X),
        "n_rows": int(n_rows),
        "dtype": number.name,
        "kernel": repr(kernel),
        "digest": _digest(kernel, X),
    }
    gram = _start(Path(folder), manifest)
    for panel in range(gram.n_panels) if panels is None else panels:
        check_int("write_gram: panels", panel, 0, gram.n_panels - 1)
        if not gram._file(panel).exists():
            rows = gram._slice(panel)
            block = gram_rows(kernel, X, rows.start, rows.stop, dtype=number)
            with replacing(gram._file(panel)) as file:
                np.save(file, block, allow_pickle=False)
    return gram


def gram_rows(
    kernel: Kernel, X: Any, start: int, stop: int, *, dtype: DTypeLike | None = None
) -> Matrix:
    """Return some rows of a Gram matrix, with the values of `Kernel.gram`.

    Parameters
    ----------
    kernel : Kernel
    X : list of structures or batch, length n
    start, stop : int
        The rows; ``start`` is a multiple of `GRAM_WINDOW`, and so is ``stop`` unless it is n.
    dtype : {"float64", "float32"}, optional
        Number type, by default the kernel's.

    Returns
    -------
    ndarray, shape (stop - start, n)

    Examples
    --------
    >>> import kernelwood as kw
    >>> texts = [kw.Sequence(f"number {i} of {i % 7}".split()) for i in range(600)]
    >>> rows = gram_rows(kw.SubsequenceKernel(), texts, 256, 512)
    >>> bool((rows == kw.SubsequenceKernel().gram(texts)[256:512]).all())
    True
    """
    X, number = kernel._batch(X), kernel._dtype(dtype)
    check_int("gram_rows: start", start, 0, len(X))
    check_int("gram_rows: stop", stop, start, len(X))
    if start % GRAM_WINDOW or (stop % GRAM_WINDOW and stop != len(X)):
        raise KernelInputError(
            f"gram_rows: start and stop must be multiples of {GRAM_WINDOW}, got {start} and {stop}"
        )
    # Of each pair, the structure with the larger index comes first.
    some = X[start:stop]
    block = np.empty((len(some), len(X)), dtype=number)
    kernel._below(some, X[:start], block[:, :start])
    block[:, start:stop] = kernel.gram(some, dtype=number)
    later = np.empty((len(X) - stop, len(some)), dtype=number)
    block[:, stop:] = kernel._below(X[stop:], some, later).T
    return block


def _start(folder: Path, manifest: dict[str, Any]) -> GramFolder:
    if (folder / _MANIFEST).exists():
        gram = open_gram(folder)
        for name, value in manifest.items():
            if gram._manifest[name] != value:
                raise KernelInputError(
                    f"write_gram: {folder} has another matrix ({name} is "
                    f"{gram._manifest[name]!r}, not {value!r}); choose another folder"
                )
        return gram
    folder.mkdir(exist_ok=True)
    with replacing(folder / _MANIFEST) as file:
        file.write(json.dumps(manifest, indent=1).encode())
    return open_gram(folder)


def _digest(kernel: Kernel, X: Any) -> str:
    """Return a hash of structures and of a few values of a kernel."""
    digest = sha256(kernel.gram(X[:_PROBE], dtype="float64").tobytes())
    batches = [X]
    if isinstance(X, ExampleBatch):
        digest.update(json.dumps(X.ids).encode())
        batches = [X.view(name) for name in needed_views(kernel) or ()] if len(X) else []
    for batch in batches:
        for array in _arrays(batch):
            digest.update(f"{array.dtype} {array.shape} ".encode() + array.tobytes())
    return digest.hexdigest()


def _arrays(batch: Batch) -> Iterator[NDArray[Any]]:
    """Yield the arrays of a batch, with labels numbered as they first occur, and the labels."""
    for number, part in enumerate(part.alone() for part in batch.parts):
        yield part.offsets
        n_labels = batch.n_label_fields if number == 0 else 0
        for array in part.arrays[:n_labels]:
            used, first, places = np.unique(array, return_index=True, return_inverse=True)
            order = np.argsort(first)
            yield np.argsort(order)[places.reshape(-1)]
            yield np.array(json.dumps(batch.vocabulary.labels(used[order])))
        yield from part.arrays[n_labels:]


def open_gram(folder: str | os.PathLike[str]) -> GramFolder:
    """Return the Gram matrix in a folder that :func:`write_gram` has written.

    Raises
    ------
    ReadError
        If the folder has no valid manifest.
    """
    path = Path(folder) / _MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror}", path=str(path)) from None
    except (ValueError, RecursionError) as error:
        raise ReadError(f"not valid JSON: {error}", path=str(path)) from None
    kinds = {"format": str, "n": int, "n_rows": int, "dtype": str, "kernel": str, "digest": str}
    if (
        not isinstance(manifest, dict)
        or any(type(manifest.get(name)) is not kind for name, kind in kinds.items())
        or manifest["format"] != _FORMAT
        or manifest["dtype"] not in ("float32", "float64")
        or not 0 <= manifest["n"] <= _MOST
        or not 1 <= manifest["n_rows"] <= _MOST
        or manifest["n"] > _MOST_FILES * manifest["n_rows"]
    ):
        raise ReadError(
            "does not describe a Gram matrix", path=str(path), hint="write it with write_gram"
        )
    return GramFolder(Path(folder), manifest)


class GramFolder:
    """A Gram matrix in a folder; rows are read when they are used.

    Made by :func:`write_gram` and :func:`open_gram`. Up to 64 files are mapped into memory at a
    time.

    Attributes
    ----------
    shape : (int, int)
    dtype : dtype
    n_rows : int
        Rows of a file.
    n_panels : int
        Number of files of the whole matrix.
    """

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        self._folder, self._manifest = folder, manifest
        n: int = manifest["n"]
        self.shape, self.dtype = (n, n), np.dtype(manifest["dtype"])
        self.n_rows: int = manifest["n_rows"]
        self.n_panels = -(-n // self.n_rows)
        self._panel = lru_cache(_OPEN)(self._open)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"GramFolder({str(self._folder)!r}, {self.shape[0]:,} structures, {self.dtype})"

    def missing(self) -> list[int]:
        """Return the numbers of the files that are not written yet."""
        present = {entry.name for entry in os.scandir(self._folder)}
        return [panel for panel in range(self.n_panels) if self._file(panel).name not in present]

    def panel(self, number: int) -> NDArray[Any]:
        """Return the rows from ``number * n_rows``, a read-only view of a file."""
        if not 0 <= number < self.n_panels:
            raise IndexError(f"panel {number} is out of range for {self.n_panels} files")
        return self._panel(int(number))

    def row(self, i: int) -> NDArray[Any]:
        """Return a row of the matrix, a read-only view of a file."""
        if not 0 <= i < len(self):
            raise IndexError(f"row {i} is out of range for {len(self)} structures")
        panel, place = divmod(int(i), self.n_rows)
        row: NDArray[Any] = self.panel(panel)[place]
        return row

    def _slice(self, panel: int) -> slice:
        begin = panel * self.n_rows
        return slice(begin, min(begin + self.n_rows, len(self)))

    def _file(self, panel: int) -> Path:
        return self._folder / f"rows-{panel * self.n_rows:012}.npy"

    def _open(self, panel: int) -> NDArray[Any]:
        """Return the rows of a file, a read-only memory map."""
        path, rows = self._file(panel), self._slice(panel)
        try:
            block = map_matrix(path)
        except OSError as error:
            hint = "write_gram with the same arguments writes what is missing"
            raise ReadError(f"cannot be read ({error})", path=str(path), hint=hint) from None
        except ValueError as error:
            raise ReadError(str(error), path=str(path)) from None
        shape = (rows.stop - rows.start, len(self))
        if block.shape != shape or block.dtype != self.dtype:
            raise ReadError(
                f"must have shape {shape} and numbers of {self.dtype}",
                path=str(path),
                hint="delete it; write_gram with the same arguments writes it again",
            )
        return block
