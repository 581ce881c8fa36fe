"""Threads of the linear algebra behind NumPy and SciPy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache, partial
from typing import Any

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
    with ExitStack() as stack:
        for of_scipy in (False, True) if "scipy.linalg" in sys.modules else (False,):
            stack.enter_context(_LIMITED[of_scipy].held())
            if (own := _libraries(of_scipy)[1]).lib_controllers:
                stack.enter_context(own.limit(limits=1))
        yield


def one_native_thread() -> AbstractContextManager[object]:
    """Return a context in which BLAS, LAPACK and OpenMP use one thread."""
    stack = ExitStack()
    stack.enter_context(one_blas_thread())
    # OpenMP keeps the number of each calling thread apart.
    stack.enter_context(threadpool_limits(1, user_api="openmp"))
    return stack


@cache
def _libraries(of_scipy: bool) -> tuple[ThreadpoolController, ThreadpoolController]:
    """Return the libraries that NumPy or SciPy has loaded; to find them takes milliseconds.

    First those whose number of threads is that of the process, then those that use OpenMP, where
    each calling thread has its own.
    """
    loaded = ThreadpoolController().select(user_api="blas")
    if of_scipy:
        known = {library.filepath for part in _libraries(False) for library in part.lib_controllers}
        paths = {library.filepath for library in loaded.lib_controllers}
        loaded = loaded.select(filepath=list(paths - known))
    own = loaded.select(threading_layer="openmp")
    paths = {one.filepath for one in loaded.lib_controllers}
    paths -= {one.filepath for one in own.lib_controllers}
    return loaded.select(filepath=list(paths)), own


def _limit(of_scipy: bool) -> Callable[[], object]:
    libraries = _libraries(of_scipy)[0].lib_controllers
    before = [library.num_threads for library in libraries]
    for library in libraries:
        _set_threads(library, 1)

    def restore() -> None:
        for library, n in zip(libraries, before, strict=True):
            _set_threads(library, n)

    return restore


def _set_threads(library: Any, n: int) -> None:
    # Since 3.8, threadpoolctl ignores all threads but the first that has set the number, which may
    # not be the last that leaves.
    getattr(library, "_real_set_num_threads", library.set_num_threads)(n)


_LIMITED = {of_scipy: ProcessState(partial(_limit, of_scipy)) for of_scipy in (False, True)}
