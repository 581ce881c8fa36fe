"""Every instruction set of the native core gives the same bits.

The core chooses its instructions when it is loaded, so each set needs a process: one that computes
everything below.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import strategies
from parsing.test_chart import ambiguous, parse
from processes import run_python

import kernelwood as kw
from kernelwood import _native
from kernelwood.features.codes import nearest_codes
from kernelwood.features.vector_search import nearest_vectors, quantize
from kernelwood.information import explain
from kernelwood.kernels import KERNELS
from kernelwood.learners.bit_forest import grow_forest

TESTS = Path(__file__).parent
CHOSEN = _native.instruction_set()


def kernels():
    sys.path.append(str(TESTS / "kernels"))
    from cases import CASES, sample

    for name, parameters in CASES:
        for dtype in ("float64", "float32"):
            kernel = KERNELS[name](**parameters, dtype=dtype)
            X = sample(kernel, 35, seed=9)  # two groups of 16 lanes and a rest
            yield from (kernel.gram(X), kernel.cross(X, X[:9]), *kernel.neighbors(X[:9], X, 3))


def long_sequences():
    random = np.random.default_rng(0)
    words = [f"w{i}" for i in range(30)]
    lengths = [3, 129, 400, 64, 150, 33, 700, 200, 140]
    X = [kw.Sequence([words[i] for i in random.integers(30, size=n)]) for n in lengths]
    vectors = kw.Vectors(words, random.normal(size=(30, 9)))
    near, full = kw.similarity.Gaussian(vectors), kw.similarity.Threshold(vectors, floor=0.3)
    for similarity in (None, near, full):
        for dtype in ("float64", "float32"):
            for max_length in (None, 5):
                options = {"similarity": similarity, "max_length": max_length, "dtype": dtype}
                yield kw.SubsequenceKernel(**options).gram(X)


def codes():
    trees = strategies.sample_trees(120, seed=1, max_nodes=15)
    for method in ("rknn", "rmm", "kulis"):
        for dtype in ("float32", "float64"):
            kernel = kw.PartialTreeKernel(dtype=dtype)
            options = {"n_references": 30, "n_bits": 300, "random_state": 1}
            made = kw.KernelHasher(kernel, method=method, **options).fit(trees).codes(trees)
            yield made
    yield from nearest_codes(made, made, 9)
    random = np.random.default_rng(0).integers(2**64, size=(2000, 19), dtype=np.uint64)
    for n_queries in (2, 9):  # codes are turned for the second
        yield from nearest_codes(random[:n_queries], random, 50)


def vectors():
    random = np.random.default_rng(0)
    rows, scales = quantize(random.normal(size=(3000, 77)))
    yield from nearest_vectors(random.normal(size=(20, 77)), rows, scales, 50)
    for kind in ("linear", "polynomial", "rbf", "cosine"):
        yield kw.VectorKernel(kind).gram(random.normal(size=(70, 33)))


def forests():
    random = np.random.default_rng(0)
    codes = random.integers(2**63, size=(700, 2), dtype=np.uint64)
    options = {"class_weights": np.array([1.0, 0.3, 0.7]), "bootstrap": True}
    labels = random.integers(3, size=700)
    found = grow_forest(codes, labels, n_bits=128, n_trees=5, bits_per_tree=40, **options)
    yield from (found.nodes, found.gains)


def information():
    codes = np.random.default_rng(0).integers(2, size=(230, 40))
    for n_latent in (3, 12):
        found = explain(codes, n_latent=n_latent, n_restarts=1)
        yield from (np.float64(found.entropy), found.responsibilities)


def machines():
    random = np.random.default_rng(0)
    points = random.normal(size=(401, 5))
    targets = np.where(random.random(401) < 0.4, 1, -1).astype(np.int8)
    rows = np.flatnonzero(random.random(401) < 0.9)
    for dtype in (np.float32, np.float64):
        gram = np.exp(points @ points.T / 20).astype(dtype)
        for some in (np.arange(401), rows):
            found = np.empty(len(some))
            data = (gram, some, targets[some], np.full(len(some), 5.0))
            yield np.array(_native.solve_svm(*data, 1e-3, 10**6, found))
            yield found


def charts():
    forest = parse(*ambiguous(), coarse_threshold=30.0, threshold=3.0)
    yield from (np.float64(forest.log_likelihood), forest.edge_p)


COMPUTED = (kernels, long_sequences, codes, vectors, forests, information, machines, charts)


def digests():
    """Return the instruction set, and for all that is computed a digest of every array."""
    return _native.instruction_set(), {
        compute.__name__: [hashlib.sha256(array.tobytes()).hexdigest() for array in compute()]
        for compute in COMPUTED
    }


@pytest.fixture(scope="module")
def expected():
    return digests()[1]


@pytest.fixture(scope="module", params=["baseline", "avx2", "avx512"])
def found(request):
    """Return the digests that another instruction set gives."""
    if request.param == CHOSEN:
        pytest.skip("what the others are compared with")
    lines = [
        f"import sys; sys.path.insert(0, {str(TESTS)!r})",
        "import json, test_instruction_sets",
        "print(json.dumps(test_instruction_sets.digests()))",
    ]
    variables = {**os.environ, "KERNELWOOD_ISA": request.param}
    done = run_python("-W", "ignore", "-c", "\n".join(lines), env=variables)
    assert done.returncode == 0, done.stderr
    name, digests = json.loads(done.stdout)
    if name != request.param:
        assert request.param != "baseline"
        pytest.skip("this machine does not have it")
    return digests


@pytest.mark.filterwarnings("ignore:.*self-similarity 0:RuntimeWarning")
@pytest.mark.parametrize("what", [compute.__name__ for compute in COMPUTED])
def test_instruction_sets_give_the_same_bits(what, found, expected):
    assert found[what] == expected[what]
    assert len(found[what]) > 1
