"""Every kernel computes what its reference defines, whichever way it is asked."""

import numpy as np
import pytest
from cases import CASES, IDS, every_kernel, matches_exactly, sample, strategy
from hypothesis import given, settings, strategies as st
from oracles import exact_value, reference_matrix

from kernelwood.kernels import KERNELS

pytestmark = pytest.mark.filterwarnings("ignore:.*self-similarity 0:RuntimeWarning")

TOLERANCE = {"float64": {"rtol": 1e-9, "atol": 0}, "float32": {"rtol": 2e-5, "atol": 1e-30}}
VERBS = {
    "cross": lambda k, X, Y: k.cross(X, Y),
    "pairs": lambda k, X, Y: k.pairs([a for a in X for _ in Y], [*Y] * len(X)).reshape(len(X), -1),
    "gram": lambda k, X, Y: k.gram([*X, *Y])[: len(X), len(X) :],
    "neighbors": lambda k, X, Y: _spread(*k.neighbors(X, Y, len(Y))),
}


def _spread(indices, similarities):
    out = np.full(indices.shape, np.nan)
    np.put_along_axis(out, indices, similarities, axis=1)
    return out


@pytest.fixture(scope="module", params=CASES, ids=IDS)
def known(request):
    """Return a kernel, two sets of structures, and the right matrices: normalized and raw."""
    name, parameters = request.param
    kernel = KERNELS[name](**parameters)
    n_left, n_right = (9, 12) if matches_exactly(kernel) else (4, 7)  # soft ones take longer
    structures = sample(kernel, n_left + n_right)
    X, Y = structures[:n_left], structures[n_left:]
    right = {n: reference_matrix(kernel, X, Y, normalize=n) for n in (True, False)}
    return kernel, X, Y, right


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_every_verb_agrees_with_the_reference(known, dtype, normalize):
    kernel, X, Y, right = known
    kernel = kernel.clone().set_params(normalize=normalize, dtype=dtype)
    for verb, ask in VERBS.items():
        found = ask(kernel, X, Y)
        np.testing.assert_allclose(found, right[normalize], **TOLERANCE[dtype], err_msg=verb)
    values = [[kernel.value(a, b) for b in Y[:3]] for a in X[:3]]
    np.testing.assert_allclose(values, right[normalize][:3, :3], **TOLERANCE[dtype])


@every_kernel
def test_a_call_is_a_gram_or_a_cross(kernel):
    X, Y = sample(kernel, 5), sample(kernel, 4, seed=1)
    np.testing.assert_array_equal(kernel(X), kernel.gram(X))
    np.testing.assert_array_equal(kernel(X, Y), kernel.cross(X, Y))


def test_diag_agrees_with_the_reference(known):
    kernel, X, _, _ = known
    right = [kernel.reference(a, a) for a in X]
    for dtype, tolerance in TOLERANCE.items():
        found = kernel.clone().set_params(normalize=False, dtype=dtype).diag(X)
        np.testing.assert_allclose(found, right, **tolerance)


def test_oracle_of_the_other_tests_agrees_with_the_reference(known):
    kernel, X, Y, right = known
    found = [[float(exact_value(kernel, a, b)) for b in Y] for a in X]
    np.testing.assert_allclose(found, right[False], rtol=1e-12)


@pytest.mark.parametrize(("name", "parameters"), CASES, ids=IDS)
def test_any_structures_agree_with_the_reference(name, parameters):
    kernel = KERNELS[name](**parameters, normalize=False)

    @settings(max_examples=20 if matches_exactly(kernel) else 10)
    @given(st.lists(strategy(kernel), min_size=1, max_size=4))
    def check(structures):
        right = reference_matrix(kernel, structures, structures)
        for dtype, tolerance in TOLERANCE.items():
            np.testing.assert_allclose(kernel.gram(structures, dtype=dtype), right, **tolerance)
            crossed = kernel.cross(structures, structures[::-1], dtype=dtype)
            np.testing.assert_allclose(crossed, right[:, ::-1], **tolerance)

    check()
