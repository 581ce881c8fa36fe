"""Threads of the linear algebra behind NumPy and SciPy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial

from threadpoolctl import ThreadpoolController, threadpool_limits

from kernelwood.threads import ProcessState


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Return a context in which BLAS and LAPACK use one thread.

    The last bits of their results depend on the number of threads. For matrices of a few rows,
    threads also take many times the time that they save. The number of threads is a state of the
    process: it is restored when the last thread leaves such a context.

    Examples
    --------
    >>> import numpy as np
    >>> with one_blas_thread():
    ...     values = np.linalg.eigvalsh(np.eye(2))
    """
    with _LIMITED[False].held():
        if "scipy.linalg" in sys.modules:
            with _LIMITED[True].held():
                yield
        else:
            yield


@contextmanager
def one_native_thread() -> Iterator[None]:
    """Return a context in which BLAS, LAPACK and OpenMP use one thread."""
    # OpenMP keeps the number of each calling thread apart.
    with one_blas_thread(), threadpool_limits(1, user_api="openmp"):
        yield


@cache
def _libraries(of_scipy: bool) -> ThreadpoolController:
    """Return the libraries that NumPy or SciPy has loaded; to find them takes milliseconds."""
    loaded = ThreadpoolController().select(user_api="blas")
    if of_scipy:
        known = {one["filepath"] for one in _libraries(False).info()}
        others = [one["filepath"] for one in loaded.info() if one["filepath"] not in known]
        loaded = loaded.select(filepath=others)
    return loaded


def _limit(of_scipy: bool) -> Callable[[], object]:
    limited = _libraries(of_scipy).limit(limits=1)
    restore: Callable[[], object] = limited.restore_original_limits
    return restore


_LIMITED = {of_scipy: ProcessState(partial(_limit, of_scipy)) for of_scipy in (False, True)}
