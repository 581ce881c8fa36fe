"""Lexical: words of one part of speech by their cosine."""

import math

import numpy as np
import pytest
from similarity_cases import VECTORS

from kernelwood.errors import KernelInputError
from kernelwood.similarity import Lexical
from kernelwood.vectors import Vectors

# Cosines with "cat": 1, 0.8, 0.6, -1.
CAT = Vectors(["cat", "dog", "run::n", "anti"], [[1, 0], [0.8, 0.6], [0.6, 0.8], [-1, 0]])


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("LEX##cat::n", "LEX##dog::n", 0.8),
        ("LEX##cat::n", "dog::n", 0.8),
        ("LEX##cat::n", "LEX##run::n", 0.6),
        ("LEX##cat::n", "LEX##cat::n", 1.0),
        ("LEX##cat::n", "cat::n", 1.0),
        ("cat", "dog", 0.8),
        ("cat", "LEX##dog", 0.8),
        ("cat", "NOTYPE##dog", 0.8),
        ("LEX##cat::n", "LEX##dog::v", 0.0),
        ("LEX##cat::n", "dog", 0.0),
        ("LEX##cat::v", "LEX##run::v", 0.0),
        ("LEX##cat::n", "LEX##anti::n", 0.0),
        ("LEX##unknown::n", "LEX##unknown::n", 1.0),
        ("LEX##unknown::n", "unknown::n", 0.0),
        ("POS##NN", "POS##NN", 1.0),
        ("POS##cat", "cat", 0.0),
        ("COMP##dobj<cat::n,dog::n>", "COMP##dobj<dog::n,dog::n>", 0.0),
    ],
)
def test_values_by_hand(a, b, expected):
    assert Lexical(CAT).value(a, b) == pytest.approx(expected, abs=1e-6)
    assert Lexical(CAT).table([a], [b])[0, 0] == pytest.approx(expected, abs=1e-6)


def test_the_weight_counts_for_words_with_vectors_only():
    table = Lexical(CAT, weight=0.5).table(["cat", "unknown", "POS##NN"], ["cat", "dog", "unknown"])
    np.testing.assert_allclose(table, [[0.5, 0.4, 0], [0, 0, 1], [0, 0, 0]], atol=1e-6)


def test_the_floor_cuts_what_is_left_after_weighing():
    assert Lexical(CAT, weight=0.5, floor=0.39).value("cat", "dog") == pytest.approx(0.4, abs=1e-6)
    assert Lexical(CAT, weight=0.5, floor=0.41).value("cat", "dog") == 0.0


def test_each_part_of_speech_has_a_group():
    labels = ["cat::n", "dog::n", "cat::v", "dog::v", "cat", "POS##NN", "x::n"]
    assert Lexical(CAT).resolve(labels).groups.tolist() == [0, 0, 1, 1, 2, 3, 4]


def test_the_matrix_is_not_copied():
    assert np.shares_memory(Lexical(CAT).resolve(["cat"]).vectors, CAT.matrix)


def test_it_is_not_positive_semidefinite():
    angles = [math.radians(x) for x in (0, 45, 90, 135)]
    vectors = Vectors("a b c d".split(), [[math.cos(x), math.sin(x)] for x in angles])
    similarity = Lexical(vectors)
    assert similarity.positive_semidefinite is False
    assert similarity.smallest_eigenvalue("a b c d".split()) == pytest.approx(-0.144, abs=1e-3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weight": 0}, r"weight must be a number in \[1e-6, 1\], got 0"),
        ({"weight": 1.01}, r"weight must be a number in \[1e-6, 1\], got 1.01"),
        ({"weight": math.inf}, "weight must be a number"),
        ({"weight": "1"}, "weight must be a number"),
        ({"floor": -0.1}, r"floor must be a number in \[0, weight\), got -0.1"),
        ({"floor": 1.0}, "floor must be a number"),
        ({"weight": 0.5, "floor": 0.6}, "floor must be a number"),
        ({"floor": None}, "floor must be a number"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    similarity = Lexical(VECTORS, **parameters)
    for use in (similarity.check, lambda: similarity.table(["a"], ["a"])):
        with pytest.raises(KernelInputError, match=f"Lexical: {message}"):
            use()
