"""Exact, Gaussian, Sigmoid, Exponential."""

import math

import numpy as np
import pytest
from similarity_cases import VECTORS, on_circle

from kernelwood.errors import KernelInputError
from kernelwood.similarity import Exact, Exponential, Gaussian, Sigmoid
from kernelwood.vectors import Vectors

# Cosines with "cat": 1, 0.8, 0, -1.
CAT = Vectors(["cat", "dog", "run", "anti"], [[1, 0], [0.8, 0.6], [0, 1], [-1, 0]])
WORDS = ["cat", "dog", "run", "anti", "unknown"]


@pytest.mark.parametrize(
    ("similarity", "expected"),
    [
        (Exact(), [1, 0, 0, 0, 0]),
        (Gaussian(CAT), [1, math.exp(-0.4), math.exp(-2), math.exp(-4), 0]),
        (Sigmoid(CAT), [(1 + math.tanh(c)) / 2 for c in (1, 0.8, 0, -1)] + [0]),
        (Exponential(CAT), [1, math.exp(-0.2), math.exp(-1), math.exp(-2), 0]),
        (Exponential(CAT, floor=0.5), [1, math.exp(-0.2) * 0.6, 0, 0, 0]),
        (Exponential(CAT, floor=-0.5), [1, math.exp(-0.2) * 1.3 / 1.5, math.exp(-1) / 3, 0, 0]),
    ],
)
def test_values_by_hand(similarity, expected):
    [values] = similarity.table(["cat"], WORDS).tolist()
    assert values == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("similarity", [Gaussian(CAT), Exponential(CAT), Exponential(CAT, 0.9)])
def test_equal_words_match_by_exactly_1(similarity):
    assert np.diagonal(similarity.table(WORDS, WORDS)).tolist() == [1.0] * 5


def test_a_word_is_looked_up_with_its_part_of_speech_first():
    vectors = Vectors(["play::v", "play", "other"], [[1, 0], [0, 1], [1, 0]])
    similarity = Gaussian(vectors)
    assert similarity.value("LEX##play::v", "other") == 1.0
    assert similarity.value("LEX##play::n", "other") == pytest.approx(math.exp(-2))
    assert similarity.value("play", "other") == pytest.approx(math.exp(-2))


def test_a_vector_of_zeros_is_none():
    vectors = Vectors(["a", "zero", "nil"], [[1, 0], [0, 0], [0, 0]])
    words = ["a", "zero", "nil"]
    assert Sigmoid(vectors).table(words[1:], words).tolist() == [[0, 1, 0], [0, 0, 1]]


def test_vectors_need_not_be_of_length_1():
    vectors = Vectors(["a", "b"], [[2, 0], [3, 4]], normalize=False)
    expected = pytest.approx(math.exp(0.6 - 1), rel=1e-12)
    assert Exponential(vectors).value("a", "b") == expected
    assert Exponential(vectors).table(["a"], ["b"])[0, 0] == expected


def test_words_are_looked_up_as_the_vectors_say():
    vectors = Vectors(["cat::n", "dog"], [[1, 0], [1, 0]], lowercase=True)
    assert Exponential(vectors).value("LEX##Cat::n", "Dog") == 1.0


def test_parts_of_speech_may_differ():
    assert Exponential(CAT).value("LEX##cat::n", "dog::v") == pytest.approx(math.exp(-0.2))


def test_composites_are_exact():
    labels = ["COMP##dobj<cat,dog>", "COMP##dobj<dog,dog>"]
    assert Gaussian(CAT).table(labels, labels).tolist() == [[1, 0], [0, 1]]


def test_the_star_above_the_root_has_no_vector():
    assert Gaussian(VECTORS).value("*::*", "play") == 0.0


def test_the_matrix_is_not_copied():
    assert np.shares_memory(Gaussian(CAT).resolve(WORDS).vectors, CAT.matrix)


@pytest.mark.parametrize("similarity", [Exact(), Gaussian(CAT), Exponential(CAT)])
def test_positive_semidefinite(similarity):
    assert similarity.positive_semidefinite is True


def test_sigmoid_is_not_positive_semidefinite():
    vectors, words = on_circle(7)
    similarity = Sigmoid(vectors)
    assert similarity.positive_semidefinite is False
    assert similarity.smallest_eigenvalue(words) < -0.05


@pytest.mark.parametrize("floor", [0.0, 0.25, -0.5])
def test_exponential_with_a_floor_is_not_positive_semidefinite(floor):
    vectors, words = on_circle(8 if floor == 0 else 16)
    similarity = Exponential(vectors, floor=floor)
    assert similarity.positive_semidefinite is False
    assert similarity.smallest_eigenvalue(words) < -0.001


@pytest.mark.parametrize("floor", [-1, 1, 2.0, float("nan"), "0", True])
def test_a_floor_out_of_range_is_refused(floor):
    similarity = Exponential(CAT, floor=floor)
    with pytest.raises(KernelInputError, match=r"Exponential: floor must be a number in \(-1, 1\)"):
        similarity.check()


def test_repr_shows_what_was_changed():
    assert repr(Exact()) == "Exact()"
    assert repr(Exponential(CAT)) == f"Exponential(vectors={CAT!r})"
    assert repr(Exponential(CAT, floor=0.5)) == f"Exponential(vectors={CAT!r}, floor=0.5)"
