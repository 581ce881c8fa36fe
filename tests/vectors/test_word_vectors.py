"""Vectors as an object: lookup, comparison, copying, checks."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from kernelwood.errors import KernelInputError, KernelwoodError, StructureError
from kernelwood.vectors import Vectors


@pytest.fixture
def animals():
    return Vectors(["cat", "dog", "Cow", "nil"], [[3, 4], [4, 3], [-4, 3], [0, 0]])


finite = st.floats(allow_nan=False, allow_infinity=False, width=32)
matrices = hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=2), elements=finite)


@given(matrices)
def test_rows_have_length_one_or_zero(matrix):
    vectors = Vectors([f"w{i}" for i in range(len(matrix))], matrix)
    lengths = np.linalg.norm(vectors.matrix.astype(np.float64), axis=1)
    assert np.allclose(lengths, matrix.any(axis=1), atol=1e-6)


@given(matrices)
def test_normalizing_twice_changes_nothing(matrix):
    words = [f"w{i}" for i in range(len(matrix))]
    once = Vectors(words, matrix)
    assert np.array_equal(Vectors(words, once.matrix).matrix, once.matrix)


def test_rows_stay_as_they_are_without_normalization():
    matrix = np.array([[3, 4], [0.5, 0]], dtype=np.float32)
    assert np.array_equal(Vectors("ab", matrix, normalize=False).matrix, matrix)


def test_the_matrix_is_read_only_contiguous_floats(animals):
    flags = animals.matrix.flags
    assert animals.matrix.dtype == np.float32
    assert flags.c_contiguous and not flags.writeable


def test_the_matrix_is_a_copy():
    mine = np.ones((1, 2), dtype=np.float32)
    vectors = Vectors(["a"], mine, normalize=False)
    mine[:] = 7
    assert vectors.matrix.tolist() == [[1, 1]]


def test_nothing_can_be_set(animals):
    with pytest.raises(AttributeError, match="never change"):
        animals.words = ()


def test_a_word_has_its_row(animals):
    assert np.allclose(animals["cat"], [0.6, 0.8])
    assert animals.row("dog") == 1
    assert "dog" in animals


def test_a_zero_row_counts_as_no_vector(animals):
    assert animals.row("nil") == -1
    assert "nil" not in animals
    assert len(animals) == 4
    with pytest.raises(KeyError, match="zero, which counts as no vector"):
        animals["nil"]


def test_rows_are_found_in_one_pass(animals):
    rows = animals.rows(["dog", "nil", "bird", "cat", "dog"])
    assert rows.dtype == np.int64
    assert rows.tolist() == [1, -1, -1, 0, 1]


def test_no_words_have_no_rows(animals):
    assert animals.rows([]).shape == (0,)


def test_case_matters_unless_asked(animals):
    assert animals.rows(["CAT", "cow"]).tolist() == [-1, -1]


def test_lowercase_is_tried_after_the_word_as_written():
    vectors = Vectors(["us", "US", "cat"], np.eye(3), lowercase=True)
    assert vectors.rows(["US", "us", "Us", "CAT", "Dog"]).tolist() == [1, 0, 0, 2, -1]


def test_lowercase_does_not_find_capitals():
    assert "cow" not in Vectors(["Cow"], [[1]], lowercase=True)


def test_lowercase_is_tried_when_the_word_has_a_zero_vector():
    assert Vectors(["Cat", "cat"], [[0], [1]], lowercase=True).row("Cat") == 1


@pytest.mark.parametrize(("word", "guess"), [("DOG", "'dog'"), ("dogg", "'dog'"), ("cow", "'Cow'")])
def test_a_missing_word_is_told_with_similar_ones(animals, word, guess):
    with pytest.raises(KeyError) as caught:
        animals[word]
    assert str(caught.value).startswith(f"'{word}' has no vector; did you mean {guess}")


def test_a_missing_word_without_similar_ones(animals):
    with pytest.raises(KeyError) as caught:
        animals["xylophone"]
    assert str(caught.value) == "'xylophone' has no vector"


def test_a_missing_word_can_be_told_by_another_process(animals):
    with pytest.raises(KeyError) as caught:
        animals["dogg"]
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, KeyError) and "did you mean 'dog'" in str(again)


@pytest.mark.parametrize("key", [0, None, ["cat"]])
def test_what_is_no_word_is_a_missing_key(animals, key):
    with pytest.raises(KeyError, match="words are strings"):
        animals[key]


def test_similarity_is_the_cosine(animals):
    assert animals.similarity("cat", "dog") == pytest.approx(0.96)
    assert animals.similarity("cat", "Cow") == pytest.approx(0, abs=1e-7)


def test_similarity_does_not_need_normalized_rows():
    vectors = Vectors(["a", "b"], [[3e20, 4e20], [4, 3]], normalize=False)
    assert vectors.similarity("a", "b") == pytest.approx(0.96)
    assert vectors.nearest("a")[0][1] == pytest.approx(0.96)


def test_similarity_stays_in_range():
    assert Vectors(["a"], [[0.1, 0.7, 0.3]]).similarity("a", "a") <= 1.0


def test_nearest_are_the_best_others_first(animals):
    assert [word for word, _ in animals.nearest("cat")] == ["dog", "Cow"]
    assert animals.nearest("cat", k=1) == [("dog", pytest.approx(0.96))]


def test_nearest_with_ties_follow_the_order_of_the_words():
    vectors = Vectors("abcde", [[1, 0], [0, 1], [1, 1], [1, 1], [1, 1]])
    assert [word for word, _ in vectors.nearest("a", 2)] == ["c", "d"]


@given(st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_nearest_agrees_with_sorting_all_cosines(k, seed):
    matrix = np.random.default_rng(seed).integers(-2, 3, (40, 3))
    vectors = Vectors([f"w{i}" for i in range(40)], [[1, 1, 1], *matrix[1:]])
    found = vectors.nearest("w0", k)
    others = [word for word in vectors.words[1:] if word in vectors]
    cosines = sorted((vectors.similarity("w0", word) for word in others), reverse=True)
    assert [cosine for _, cosine in found] == pytest.approx(cosines[:k])


def test_nearest_of_the_only_word_is_nothing():
    assert Vectors(["a"], [[1]]).nearest("a") == []


def test_nearest_needs_a_positive_number(animals):
    with pytest.raises(KernelInputError, match="k must be at least 1"):
        animals.nearest("cat", 0)


def test_it_is_shown_in_short(animals):
    assert repr(animals) == "Vectors(4 words, 2 dimensions)"
    raw = Vectors(["a"], [[1]], normalize=False, lowercase=True)
    assert repr(raw) == "Vectors(1 words, 1 dimensions, not normalized, lowercase)"


def test_iterating_gives_the_words(animals):
    assert list(animals) == list(animals.words) == ["cat", "dog", "Cow", "nil"]


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_copy_is_the_object_itself(animals, duplicate):
    assert duplicate(animals) is animals


def test_pickling_keeps_everything(animals):
    again = pickle.loads(pickle.dumps(animals))
    assert again == animals and again is not animals
    assert not again.matrix.flags.writeable
    assert again.row("nil") == -1


def test_equal_content_is_equal(animals):
    same = Vectors(animals.words, animals.matrix)
    assert same == animals and hash(same) == hash(animals)


@pytest.mark.parametrize(
    "other",
    [
        Vectors(["a", "b"], [[1, 0], [0, -1]]),
        Vectors(["a", "c"], [[1, 0], [0, 1]]),
        Vectors(["a", "b"], [[1, 0], [0, 1]], lowercase=True),
        Vectors(["a", "b"], [[1, 0], [0, 1]], normalize=False),
        Vectors(["a"], [[1, 0]]),
        "ab",
    ],
    ids=["matrix", "words", "lowercase", "normalize", "shape", "kind"],
)
def test_different_content_differs(other):
    assert Vectors(["a", "b"], [[1, 0], [0, 1]]) != other


def test_no_words_are_allowed():
    empty = Vectors([], np.empty((0, 3)))
    assert (len(empty), empty.dim, empty.row("a")) == (0, 3, -1)


@pytest.mark.parametrize(
    ("words", "matrix", "message"),
    [
        (["a"], [1.0], r"numbers in rows, got float64 of shape \(1,\)"),
        (["a"], [[]], r"numbers in rows, got float64 of shape \(1, 0\)"),
        (["a"], [["x"]], "numbers in rows"),
        (["a"], [[1j]], "numbers in rows"),
        (["a", "b"], [[1, 2], [3]], "not rectangular"),
        (["a"], [[1], [2]], "1 words but 2 rows"),
        (["a", "b", "a"], np.eye(3), "'a' occurs more than once"),
        (["a", "b"], [[1, 2], [3, np.nan]], "row 1, column 1 of the matrix is not finite"),
        (["a"], [[1e39]], "not finite"),
        (["a", 7], np.eye(2), "word 1 must be a string, got 7"),
        (["a\nb"], [[1]], "line feed"),
        (["a", ""], np.eye(2), "word 1 is empty"),
        (["a\udc80"], [[1]], "lone surrogate"),
    ],
)
def test_what_cannot_be_vectors_is_refused(words, matrix, message):
    with pytest.raises(StructureError, match=message) as caught:
        Vectors(words, matrix)
    assert isinstance(caught.value, KernelwoodError) and caught.value.hint


def test_numpy_strings_become_plain_ones():
    assert type(Vectors(np.array(["a"]), [[1]]).words[0]) is str
