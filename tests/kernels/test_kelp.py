"""Values computed by KeLP on public questions, when they are on this machine."""

import gzip
import json
from functools import lru_cache
from io import StringIO
from itertools import islice

import numpy as np
import pytest
from corpora import data_file
from sklearn.feature_extraction import DictVectorizer
from sklearn.metrics.pairwise import cosine_similarity, linear_kernel

import kernelwood as kw
from kernelwood.kernels import PartialTreeKernel, SubsequenceKernel, SubsetTreeKernel

SST = SubsetTreeKernel(decay=0.4, count_leaves=True)
PTK = PartialTreeKernel(decay=0.4, depth_decay=0.4, terminal_factor=5)


def views(name, file, n=None):
    """Return a view of the questions of a file, or of the first ``n``."""
    with gzip.open(data_file("question-classification", file), "rt", encoding="utf-8") as lines:
        text = StringIO("".join(islice(lines, n)))
    return [example.view(name) for example in kw.read(text, format="kelp", views=[name])]


@pytest.fixture(scope="module")
def golden():
    with gzip.open(data_file("kelp-golden", "pairs.json.gz"), "rt") as file:
        return json.load(file)["kernels"]


@pytest.mark.parametrize(("kernel", "file"), [(SST, "sstk_scores.txt"), (PTK, "ptk_scores.txt")])
def test_consecutive_questions_are_as_similar_as_in_kelp(kernel, file):
    scores = np.loadtxt(data_file("kelp-golden", file))
    trees = views("grct", "TREC_10.coarse.klp.gz")[: len(scores) + 1]
    np.testing.assert_allclose(kernel.pairs(trees[:-1], trees[1:]), scores, atol=1e-6)


PAIRS = {
    "sst_grct": ("grct", SST),
    "sst_grct_nl": ("grct", SubsetTreeKernel(decay=0.4)),
    "ptk_grct": ("grct", PartialTreeKernel()),
    "ptk_grct_t5": ("grct", PTK),
    "ptk_lct": ("lct", PartialTreeKernel()),
    "ptk_loct": ("loct", PartialTreeKernel()),
}


@pytest.fixture(scope="module")
def questions():
    """Return a function that reads a view of the first thousand questions, once."""
    return lru_cache(lambda view: views(view, "train_5500.coarse.klp.gz", 1000))


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_of_questions_have_the_raw_values_of_kelp(name, golden, questions):
    view, kernel = PAIRS[name]
    trees = questions(view)
    rows = np.array(golden[name]["pairs"])
    left, right = ([trees[int(i)] for i in rows[:, side]] for side in (0, 1))
    raw = kernel.clone().set_params(normalize=False)
    np.testing.assert_allclose(raw.pairs(left, right), rows[:, 2], rtol=1e-6)
    np.testing.assert_allclose(raw.diag(left), rows[:, 3], rtol=1e-6)
    np.testing.assert_allclose(kernel.pairs(left, right), rows[:, 5], atol=1e-6)


# KeLP compares relations of different names, and single words exactly where it composes.
COMPOSED = {"same_relation": False, "lexical": False}
SOFT_PAIRS = {
    "sptk_grct": ("grct", PartialTreeKernel.sptk, {}),
    "sptk_lct": ("lct", PartialTreeKernel.sptk, {}),
    "sptk_lct_t02": ("lct", PartialTreeKernel.sptk, {"terminal_factor": 0.2}),
    "sptk_loct": ("loct", PartialTreeKernel.sptk, {}),
    "csptk_cgrct": ("cgrct", PartialTreeKernel.csptk, COMPOSED),
    "csptk_clct": ("clct", PartialTreeKernel.csptk, COMPOSED),
    "csptk_clct_prod": ("clct", PartialTreeKernel.csptk, {**COMPOSED, "operation": "product"}),
    "csptk_clct_dil": ("clct", PartialTreeKernel.csptk, {**COMPOSED, "operation": "dilation"}),
}


@pytest.fixture(scope="module")
def vectors():
    return kw.Vectors.load(data_file("word-vectors", "qc-standin-250.txt.gz"), cache=False)


@pytest.mark.parametrize("name", SOFT_PAIRS)
def test_pairs_of_questions_have_the_smoothed_values_of_kelp(name, golden, questions, vectors):
    view, constructor, parameters = SOFT_PAIRS[name]
    kernel = constructor(vectors, **parameters)
    rows = np.array(golden[name]["pairs"])
    left, right = ([questions(view)[int(i)] for i in rows[:, side]] for side in (0, 1))
    raw = kernel.clone().set_params(normalize=False)
    # KeLP computes in single precision: some 4e-8 are its rounding.
    np.testing.assert_allclose(raw.pairs(left, right), rows[:, 2], rtol=2e-7)
    np.testing.assert_allclose(raw.diag(left), rows[:, 3], rtol=2e-7)
    np.testing.assert_allclose(raw.diag(right), rows[:, 4], rtol=2e-7)
    np.testing.assert_allclose(kernel.pairs(left, right), rows[:, 5], atol=2e-7)


@pytest.mark.parametrize(("name", "max_length"), [("seq_seq", 4), ("seq_seq_2", 2)])
def test_pairs_of_questions_have_the_sequence_values_of_kelp(name, max_length, golden, questions):
    words = [kw.Sequence(text.split()) for text in questions("quest")]
    rows = np.array(golden[name]["pairs"])
    left, right = ([words[int(i)] for i in rows[:, side]] for side in (0, 1))
    raw = SubsequenceKernel(decay=0.75, max_length=max_length, normalize=False)
    charge = raw.decay**2  # KeLP counts spans from the first to the last element inclusive
    np.testing.assert_allclose(charge * raw.pairs(left, right), rows[:, 2], rtol=1e-6)
    np.testing.assert_allclose(charge * raw.diag(right), rows[:, 4], rtol=1e-6)
    kernel = raw.clone().set_params(normalize=True)
    np.testing.assert_allclose(kernel.pairs(left, right), rows[:, 5], atol=1e-6)


def test_bags_of_words_are_compared_as_scikit_learn_does():
    bags = kw.read(data_file("question-classification", "TREC_10.coarse.klp.gz"), views=["bow"])
    rows = DictVectorizer().fit_transform([example.view("bow") for example in bags])
    for kind, oracle in (("linear", linear_kernel), ("cosine", cosine_similarity)):
        found = kw.OnView("bow", kw.VectorKernel(kind)).gram(bags)
        np.testing.assert_allclose(found, oracle(rows), rtol=1e-12, atol=1e-15)
