"""Matrices of similarities computed in blocks on the executor of the settings.

A Gram matrix is cut into tiles: every worker gets all structures, once, and then numbers of rows
and columns. Other matrices are cut along the longer side: every worker gets the shorter side, once,
and each task its part of the longer side. Values do not depend on these cuts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import ExampleBatch
from kernelwood.compute import (
    TASKS_A_WORKER,
    Runner,
    TaskResult,
    count_workers,
    run_tasks,
    warn_again,
)

if TYPE_CHECKING:
    from kernelwood.kernels.kernel import Kernel, Matrix

Neighbors: TypeAlias = "tuple[NDArray[np.int64], Matrix]"

_WINDOW = 256  # as in ``kernels/engine.py``: Gram matrices are cut only between such windows
_LARGEST_BLOCK = 2**24  # values of a block: 128 MB in double
_ZEROS = "self-similarity 0"  # in the warning of ``warn_of_zeros``


def fill_gram(kernel: Kernel, X: Any, out: Matrix, runner: Runner) -> None:
    """Fill a Gram matrix by tasks that compute a tile each."""
    X = _needed(kernel, X)
    tiles = list(_tiles(len(X), TASKS_A_WORKER * count_workers()))

    def receive(result: TaskResult) -> None:
        rows, columns = tiles[result.position]
        out[rows, columns] = result.value
        if rows != columns:
            out[columns, rows] = result.value.T
        _count(runner, result)

    items = ((rows, columns, out.dtype.name) for rows, columns in tiles)
    _run(_gram_tile, (kernel, X), items, receive, (X,), runner)


def _gram_tile(kernel: Kernel, X: Any, item: tuple[slice, slice, str]) -> Matrix:
    rows, columns, number = item
    structures = X[rows]
    if rows != columns:
        others = X[columns]
        return kernel._below(
            structures, others, np.empty((len(structures), len(others)), dtype=number)
        )
    return kernel.gram(structures, out=np.empty((len(structures),) * 2, dtype=number))


def _cross(kernel: Kernel, X: Any, Y: Any, number: str) -> Matrix:
    return kernel.cross(X, Y, out=np.empty((len(X), len(Y)), dtype=number))  # beside any budget


def _tiles(n: int, n_tasks: int) -> Iterator[tuple[slice, slice]]:
    """Yield the tiles of the lower triangle of a matrix, large ones first."""
    side = min((n * n / (2 * n_tasks)) ** 0.5, _LARGEST_BLOCK**0.5)
    side = max(1, math.ceil(side / _WINDOW)) * _WINDOW
    cuts = [slice(begin, min(begin + side, n)) for begin in range(0, n, side)]
    for distance in reversed(range(len(cuts))):
        for columns, rows in zip(cuts, cuts[distance:], strict=False):
            yield rows, columns


def fill_cross(kernel: Kernel, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
    """Fill a matrix by tasks that compute some rows, or some columns, each."""
    X, Y = _needed(kernel, X), _needed(kernel, Y)
    by_rows = len(X) >= len(Y)
    cut, whole = (X, Y) if by_rows else (Y, X)
    parts = list(_parts(len(cut), len(whole)))

    def receive(result: TaskResult) -> None:
        some = parts[result.position]
        out[some if by_rows else (slice(None), some)] = result.value
        _count(runner, result)

    items = ((cut[some], by_rows, out.dtype.name) for some in parts)
    _run(_cross_part, (kernel, whole), items, receive, (X, Y), runner)


def _cross_part(kernel: Kernel, whole: Any, item: tuple[Any, bool, str]) -> Matrix:
    part, by_rows, number = item
    return _cross(kernel, *((part, whole) if by_rows else (whole, part)), number)


def _parts(n_cut: int, n_whole: int) -> Iterator[slice]:
    size = -(-n_cut // (TASKS_A_WORKER * count_workers()))
    size = max(1, min(size, _LARGEST_BLOCK // max(n_whole, 1)))
    for begin in range(0, n_cut, size):
        yield slice(begin, min(begin + size, n_cut))


def find_neighbors(
    kernel: Kernel, X: Any, Y: Any, k: int, exclude_self: bool, number: Any, runner: Runner
) -> Neighbors:
    """Return the neighbors of ``X`` in ``Y`` by tasks that have some of the longer side each."""
    X, Y = _needed(kernel, X), _needed(kernel, Y)
    by_query = len(X) >= len(Y)
    cut, whole = (X, Y) if by_query else (Y, X)
    parts = list(_parts(len(cut), k))
    found: list[Any] = [None] * len(parts)

    def receive(result: TaskResult) -> None:
        found[result.position] = result.value
        _count(runner, result)

    items = ((cut[some], by_query, k, some.start if exclude_self else None) for some in parts)
    _run(_neighbors_part, (kernel, whole, number), items, receive, (X, Y), runner)
    if by_query:
        indices, values = (np.concatenate(some) for some in zip(*found, strict=True))
        return indices, values
    shifted = [(i + some.start, v) for (i, v), some in zip(found, parts, strict=True)]
    indices, values = (np.concatenate(some, axis=1) for some in zip(*shifted, strict=True))
    best = np.lexsort((indices, -values), axis=1)[:, :k]  # of equal ones the smaller index
    return np.take_along_axis(indices, best, axis=1), np.take_along_axis(values, best, axis=1)


def _neighbors_part(kernel: Kernel, whole: Any, number: Any, item: Any) -> Neighbors:
    part, by_query, k, own = item
    X, Y = (part, whole) if by_query else (whole, part)
    runner = Runner(kernel.n_jobs, 0)
    found = kernel._find_neighbors(X, Y, min(k, len(Y)), own, number, runner)
    runner.finish()
    return found


def _needed(kernel: Kernel, X: Any) -> Any:
    """Return structures to send; examples without the views that the kernel does not read."""
    from kernelwood.kernels.combined import drop_unread_views

    return drop_unread_views(X, kernel) if isinstance(X, ExampleBatch) else X


def _count(runner: Runner, result: TaskResult) -> None:
    runner.blocks += result.blocks
    runner.advance(result.kernel_evaluations)


def _run(
    work: Any, shared: Any, items: Any, receive: Any, sides: tuple[Any, ...], runner: Runner
) -> None:
    kernel = shared[0]
    warned = run_tasks(work, shared, items, receive)
    warn_again(one for one in warned if _ZEROS not in str(one.message))
    if any(_ZEROS in str(one.message) for one in warned):  # of blocks; here of all structures
        for side in sides:
            kernel._fill_diag(side, np.empty(len(side)), runner.quiet())
