"""One thread of BLAS where bits must not depend on threads."""

import numpy  # noqa: F401  (loads its library)
from threadpoolctl import threadpool_info, threadpool_limits

from kernelwood.compute import one_blas_thread


def threads():
    return [
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    ]


def test_all_libraries_have_one_thread_inside_and_as_many_as_before_afterwards():
    with threadpool_limits(2, user_api="blas"):
        with one_blas_thread():
            assert set(threads()) == {1}
        assert set(threads()) == {2}


def test_a_library_that_is_loaded_later_has_one_thread(run_python):
    assert (
        run_python(
            "import sys, numpy",
            "from threadpoolctl import threadpool_info",
            "from kernelwood.compute import one_blas_thread",
            "with one_blas_thread(): pass",
            "assert 'scipy.linalg' not in sys.modules",
            "import scipy.linalg",
            "with one_blas_thread(): print({l['num_threads'] for l in threadpool_info()})",
            env={"OPENBLAS_NUM_THREADS": "2"},
        )
        == "{1}"
    )
