"""Parameters of every row of ``KERNELS``: reading, changing, copying, comparing."""

import copy
import pickle

import numpy as np
import pytest
from cases import (
    NearLetters,
    every_kernel,
    every_variant,
    every_variant_without_vectors,
    number_of,
    sample,
)

from kernelwood.errors import KernelInputError


@every_variant
def test_get_params_gives_back_what_the_constructor_took(kernel):
    assert type(kernel)(**kernel.get_params(deep=False)) == kernel


@every_variant
def test_set_params_takes_all_that_get_params_gives(kernel):
    assert kernel.clone().set_params(**kernel.get_params()) == kernel


@every_variant
def test_duplicates_are_equal_and_independent(kernel):
    check_duplicate(kernel, kernel.clone())
    check_duplicate(kernel, copy.copy(kernel))
    check_duplicate(kernel, copy.deepcopy(kernel))
    check_duplicate(kernel, pickle.loads(pickle.dumps(kernel)))


@every_variant_without_vectors
def test_repr_evaluates_to_an_equal_kernel(kernel):
    names = {cls.__name__: cls for cls in (type(kernel), NearLetters)}
    check_duplicate(kernel, eval(repr(kernel), names))


def check_duplicate(kernel, other):
    assert other == kernel and hash(other) == hash(kernel) and other is not kernel
    other.set_params(**{number_of(kernel): 0.123})
    assert other != kernel


@every_kernel
def test_equal_kernels_have_equal_hashes(kernel):
    name = number_of(kernel)
    one, other = (kernel.clone().set_params(**{name: value}) for value in (1, 1.0))
    assert one == other and hash(one) == hash(other)


@every_kernel
def test_repr_shows_only_what_was_changed(kernel):
    name, number = type(kernel).__name__, number_of(kernel)
    assert repr(type(kernel)()) == f"{name}()"
    assert repr(type(kernel)(**{number: 0.25})) == f"{name}({number}=0.25)"


@every_kernel
def test_set_params_returns_the_kernel(kernel):
    kernel, name = kernel.clone(), number_of(kernel)
    assert kernel.set_params(**{name: 0.3}) is kernel and getattr(kernel, name) == 0.3


@every_kernel
def test_a_mistyped_parameter_is_guessed(kernel):
    name = number_of(kernel)
    with pytest.raises(KernelInputError, match=f"no parameter '{name}x'; did you mean '{name}'"):
        kernel.clone().set_params(**{f"{name}x": 0.3})


@every_kernel
def test_an_unknown_parameter_lists_the_known_ones(kernel):
    with pytest.raises(KernelInputError, match=rf"'xyz'; it has {number_of(kernel)}.*n_jobs"):
        kernel.clone().set_params(xyz=0.3)


@every_kernel
def test_a_parameter_of_a_parameter_is_refused_clearly(kernel):
    name = number_of(kernel)
    with pytest.raises(KernelInputError, match=name):
        kernel.clone().set_params(**{f"{name}__inner": 0.3})


@every_kernel
@pytest.mark.parametrize("number", [np.float32(0.5), np.float64(0.5), np.int64(1), 1])
def test_numbers_from_numpy_are_numbers(kernel, number):
    X, name = sample(kernel, 4), number_of(kernel)
    if name == "n_iterations" and number != 1:
        pytest.skip("this kernel has whole numbers only")
    same = int(number) if name == "n_iterations" else 0.25 * float(number)
    number = number if name == "n_iterations" else number * 0.25
    expected = kernel.clone().set_params(**{name: same}).gram(X)
    np.testing.assert_array_equal(kernel.clone().set_params(**{name: number}).gram(X), expected)


@every_kernel
def test_a_thread_count_from_numpy_is_a_thread_count(kernel):
    X = sample(kernel, 4)
    expected = kernel.gram(X)
    np.testing.assert_array_equal(kernel.clone().set_params(n_jobs=np.int64(2)).gram(X), expected)
