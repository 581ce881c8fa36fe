"""What kernels say about similarities they cannot use."""

import numpy as np
import pytest
from cases import sample
from matching_cases import VECTORS, constant, every_name, tree_names

import kernelwood as kw
from kernelwood.errors import KernelInputError, MemoryBudgetError
from kernelwood.kernels import KERNELS, SubsequenceKernel
from kernelwood.similarity import Exponential, Gaussian, Similarity
from kernelwood.structures import Sequence, Tree


class Fixed(Similarity):
    """Returns what it was told, or raises it."""

    def __init__(self, result):
        self.result = result

    def table(self, left, right):
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@every_name
@pytest.mark.parametrize("wrong", ["gaussian", 0.5, VECTORS, Gaussian, {"a": 1.0}])
def test_what_is_no_similarity_is_refused(name, wrong):
    kernel = KERNELS[name](similarity=wrong)
    with pytest.raises(
        KernelInputError, match=f"{type(kernel).__name__}: similarity must be None or an object"
    ):
        kernel.gram(sample(kernel, 2))


@every_name
def test_a_similarity_that_is_set_up_wrong_is_refused(name):
    kernel = KERNELS[name](similarity=Exponential(VECTORS, floor=2.0))
    with pytest.raises(KernelInputError, match=r"Exponential: floor must be .*got 2\.0"):
        kernel.gram(sample(kernel, 2))


@every_name
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("result", "message"),
    [
        ([[1, 0]], r"Fixed.table returned shape \(1, 2\)"),
        (1.0, r"Fixed.table returned shape \(\)"),
        (np.full((2, 2), np.nan), "Fixed.table gave nan for '.' and '.'"),
        (np.full((2, 2), -0.5), "Fixed.table gave -0.5 for"),
        (np.full((2, 2), 1.5), "Fixed.table gave 1.5 for"),
        (np.full((2, 2), np.inf), "Fixed.table gave inf for"),
    ],
    ids=["shape", "scalar", "nan", "negative", "above 1", "inf"],
)
def test_a_wrong_table_is_refused(name, result, message, n_jobs, force_threads):
    kernel = KERNELS[name](similarity=Fixed(result), n_jobs=n_jobs)
    make = (lambda x: Tree(x, [Tree(x)])) if name in tree_names else (lambda x: Sequence([x]))
    with pytest.raises(KernelInputError, match=message):
        kernel.gram([make("x"), make("y")])


@every_name
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_of_a_similarity_comes_through(name, n_jobs, force_threads):
    kernel = KERNELS[name](similarity=Fixed(LookupError("no such word")), n_jobs=n_jobs)
    X = sample(kernel, 8)
    for verb in (
        lambda: kernel.gram(X),
        lambda: kernel.cross(X, X[:3]),
        lambda: kernel.diag(X),
        lambda: kernel.neighbors(X[:2], X, 2),
    ):
        with pytest.raises(LookupError, match="no such word"):
            verb()


def test_a_table_for_a_single_pair_is_held_to_the_budget():
    words = [f"w{i}" for i in range(400)]
    kernel = SubsequenceKernel(similarity=constant(words, 0.5))
    with (
        kw.config_context(memory="1MB"),
        pytest.raises(MemoryBudgetError, match=r"(?s)label similarities needs 1\.3 MB.*smaller"),
    ):
        kernel.value(Sequence(words), Sequence(words))


class Alphabetical(Similarity):
    """1 for labels in order, 0 otherwise: not symmetric."""

    def table(self, left, right):
        return [[float(a <= b) for b in right] for a in left]


@every_name
def test_a_similarity_that_depends_on_the_order_is_refused(name):
    kernel = KERNELS[name](similarity=Alphabetical())
    message = "Alphabetical.table is not symmetric: [01] for .*, [01] in reverse order"
    with pytest.raises(KernelInputError, match=message):
        kernel.gram(sample(kernel, 10))
