"""Threads of the linear algebra behind NumPy and SciPy."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[object]:
    """Return a context in which BLAS and LAPACK use one thread.

    The last bits of their results depend on the number of threads. For matrices of a few rows,
    threads also take many times the time that they save.

    Examples
    --------
    >>> import numpy as np
    >>> with one_blas_thread():
    ...     values = np.linalg.eigvalsh(np.eye(2))
    """
    loaded = _libraries("scipy.linalg" in sys.modules)
    limited: AbstractContextManager[object] = loaded.limit(limits=1, user_api="blas")
    return limited


@cache
def _libraries(with_scipy: bool) -> ThreadpoolController:
    """Return the libraries that are loaded; to find them takes milliseconds."""
    return ThreadpoolController()
