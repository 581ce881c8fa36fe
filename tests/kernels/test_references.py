"""Every kernel computes what its reference defines, whichever way it is asked."""

import numpy as np
import pytest
from cases import CASES, IDS, matches_exactly, sample, strategy
from hypothesis import given, settings, strategies as st
from oracles import exact_value, reference_matrix

from kernelwood.kernels import KERNELS

pytestmark = pytest.mark.filterwarnings("ignore:.*self-similarity 0:RuntimeWarning")

TOLERANCE = {"float64": {"rtol": 1e-9, "atol": 0}, "float32": {"rtol": 2e-5, "atol": 1e-30}}
VERBS = {
    "value": lambda k, X, Y: [[k.value(a, b) for b in Y] for a in X],
    "cross": lambda k, X, Y: k.cross(X, Y),
    "call": lambda k, X, Y: k(X, Y),
    "pairs": lambda k, X, Y: k.pairs([a for a in X for _ in Y], [*Y] * len(X)).reshape(len(X), -1),
    "gram": lambda k, X, Y: k.gram([*X, *Y])[: len(X), len(X) :],
    "call on one side": lambda k, X, Y: k([*X, *Y])[: len(X), len(X) :],
    "neighbors": lambda k, X, Y: _spread(*k.neighbors(X, Y, len(Y))),
}


def _spread(indices, similarities):
    out = np.full(indices.shape, np.nan)
    np.put_along_axis(out, indices, similarities, axis=1)
    return out


@pytest.fixture(scope="module", params=CASES, ids=IDS)
def known(request):
    """Return a kernel, two sets of structures, and the right matrices: normalised and raw."""
    name, parameters = request.param
    kernel = KERNELS[name](**parameters)
    n_left, n_right = (9, 12) if matches_exactly(kernel) else (4, 7)  # soft ones take longer
    structures = sample(kernel, n_left + n_right)
    X, Y = structures[:n_left], structures[n_left:]
    right = {n: reference_matrix(kernel, X, Y, normalize=n) for n in (True, False)}
    return kernel, X, Y, right


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("verb", VERBS)
def test_verb_agrees_with_the_reference(known, verb, dtype, normalize):
    kernel, X, Y, right = known
    kernel = kernel.clone().set_params(normalize=normalize, dtype=dtype)
    np.testing.assert_allclose(VERBS[verb](kernel, X, Y), right[normalize], **TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_diag_agrees_with_the_reference(known, dtype):
    kernel, X, _, _ = known
    found = kernel.clone().set_params(normalize=False, dtype=dtype).diag(X)
    np.testing.assert_allclose(found, [kernel.reference(a, a) for a in X], **TOLERANCE[dtype])


def test_oracle_of_the_other_tests_agrees_with_the_reference(known):
    kernel, X, Y, right = known
    found = [[float(exact_value(kernel, a, b)) for b in Y] for a in X]
    np.testing.assert_allclose(found, right[False], rtol=1e-12)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("name", "parameters"), CASES, ids=IDS)
def test_any_structures_agree_with_the_reference(name, parameters, dtype):
    kernel = KERNELS[name](**parameters, normalize=False, dtype=dtype)

    @settings(max_examples=25 if matches_exactly(kernel) else 12)
    @given(st.lists(strategy(kernel), min_size=1, max_size=4))
    def check(structures):
        right = reference_matrix(kernel, structures, structures)
        np.testing.assert_allclose(kernel.gram(structures), right, **TOLERANCE[dtype])
        np.testing.assert_allclose(
            kernel.cross(structures, structures[::-1]), right[:, ::-1], **TOLERANCE[dtype]
        )

    check()
