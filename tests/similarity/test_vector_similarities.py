"""Similarities from word vectors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from similarity_cases import VECTORS, on_circle, sample_labels

from kernelwood.errors import KernelInputError
from kernelwood.similarity import (
    Compositional,
    Exact,
    Exponential,
    Gaussian,
    Lexical,
    Sigmoid,
    Threshold,
)
from kernelwood.vectors import Vectors

# Cosines with "cat": 1, 0.8, 0, -1.
CAT = Vectors(["cat", "dog", "run", "anti"], [[1, 0], [0.8, 0.6], [0, 1], [-1, 0]])
WORDS = ["cat", "dog", "run", "anti", "unknown"]

# Cosines with "cat": 1, 0.8, 0.6, -1.
LEXICON = Vectors(["cat", "dog", "run::n", "anti"], [[1, 0], [0.8, 0.6], [0.6, 0.8], [-1, 0]])

SMALL = Vectors(
    ["play", "strum", "guitar", "piano", "right", "*", ","],
    [[1, 0], [0.8, 0.6], [0, 1], [0.6, 0.8], [-1, 0], [0.6, -0.8], [0, 1]],
)
PLAY_GUITAR = "COMP##dobj<play::v,guitar::n>"


@pytest.mark.parametrize(
    ("similarity", "expected"),
    [
        (Exact(), [1, 0, 0, 0, 0]),
        (Gaussian(CAT), [1, math.exp(-0.4), math.exp(-2), math.exp(-4), 0]),
        (Sigmoid(CAT), [(1 + math.tanh(c)) / 2 for c in (1, 0.8, 0, -1)] + [0]),
        (Exponential(CAT), [1, math.exp(-0.2), math.exp(-1), math.exp(-2), 0]),
        (Exponential(CAT, floor=0.5), [1, math.exp(-0.2) * 0.6, 0, 0, 0]),
        (Exponential(CAT, floor=-0.5), [1, math.exp(-0.2) * 1.3 / 1.5, math.exp(-1) / 3, 0, 0]),
        (Threshold(CAT), [1, 1, 0, 0, 0]),
        (Threshold(CAT, floor=0.81), [1, 0, 0, 0, 0]),
        (Threshold(CAT, floor=-0.5), [1, 1, 1, 0, 0]),
        (Threshold(CAT, floor=-0.9999999), [1, 1, 1, 1, 0]),
    ],
)
def test_values_by_hand(similarity, expected):
    [values] = similarity.table(["cat"], WORDS).tolist()
    assert values == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "similarity", [Gaussian(CAT), Exponential(CAT), Exponential(CAT, 0.9), Threshold(CAT, 1)]
)
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
    assert Threshold(CAT).table(["LEX##cat::n"], ["dog::v", "dog", "run::n"]).tolist() == [
        [1, 1, 0]
    ]


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


# Whole numbers from -2 to 2 in three dimensions: unequal cosines are more than 1e-5 apart.
_WHOLE = st.lists(st.integers(-2, 2), min_size=3, max_size=3).filter(any)


def _whole_cosine(u, v):
    dot, lengths = (
        sum(x * y for x, y in zip(u, v, strict=True)),
        (sum(x * x for x in w) for w in (u, v)),
    )
    return dot / math.sqrt(math.prod(lengths))


@given(st.lists(_WHOLE, min_size=2, max_size=8), st.sampled_from([-0.3, 0.5, 1.0]) | st.none())
def test_a_threshold_is_reached_by_the_cosines_that_are_not_below_it(rows, floor):
    if floor is None:  # that of a pair, which is reached exactly
        floor = _whole_cosine(*rows[:2])
    if floor <= -1 + 1e-9:
        floor = -0.999
    words = [f"w{i}" for i in range(len(rows))]
    expected = [[float(_whole_cosine(u, v) >= floor - 1e-9) for v in rows] for u in rows]
    for normalize in (True, False):
        similarity = Threshold(Vectors(words, rows, normalize=normalize), floor=floor)
        assert similarity.table(words, words).tolist() == expected
        assert [[similarity.value(a, b) for b in words] for a in words] == expected


@pytest.mark.parametrize(
    ("below", "expected"), [(0, 1), (9e-7, 1), (1.1e-6, 0), (-9e-7, 1), (1e-3, 0)]
)
def test_a_threshold_forgives_the_rounding_of_vectors(below, expected):
    similarity = Threshold(CAT, floor=0.8 + below)
    assert similarity.value("cat", "dog") == expected
    assert similarity.table(["cat"], ["dog"])[0, 0] == expected


def test_a_threshold_is_not_positive_semidefinite():
    vectors, words = on_circle(8)
    similarity = Threshold(vectors, floor=0.5)
    assert similarity.positive_semidefinite is False
    assert similarity.smallest_eigenvalue(words[:3]) == pytest.approx(1 - math.sqrt(2))


@pytest.mark.parametrize("floor", [-1, 1.001, -2, float("nan"), "0", True, None])
def test_a_threshold_out_of_range_is_refused(floor):
    similarity = Threshold(CAT, floor=floor)
    message = r"Threshold: floor must be a number in \(-1, 1\], got"
    for use in (
        similarity.check,
        lambda: similarity.value("cat", "dog"),
        lambda: similarity.table(["cat"], ["dog"]),
    ):
        with pytest.raises(KernelInputError, match=message):
            use()


@pytest.mark.parametrize("floor", [-1, 1, 2.0, float("nan"), "0", True])
def test_a_floor_out_of_range_is_refused(floor):
    similarity = Exponential(CAT, floor=floor)
    with pytest.raises(KernelInputError, match=r"Exponential: floor must be a number in \(-1, 1\)"):
        similarity.check()


def test_repr_shows_what_was_changed():
    assert repr(Threshold(CAT)) == f"Threshold(vectors={CAT!r})"
    assert repr(Exact()) == "Exact()"
    assert repr(Exponential(CAT)) == f"Exponential(vectors={CAT!r})"
    assert repr(Exponential(CAT, floor=0.5)) == f"Exponential(vectors={CAT!r}, floor=0.5)"


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
def test_lexical_values_by_hand(a, b, expected):
    assert Lexical(LEXICON).value(a, b) == pytest.approx(expected, abs=1e-6)
    assert Lexical(LEXICON).table([a], [b])[0, 0] == pytest.approx(expected, abs=1e-6)


def test_the_weight_counts_for_words_with_vectors_only():
    table = Lexical(LEXICON, weight=0.5).table(
        ["cat", "unknown", "POS##NN"], ["cat", "dog", "unknown"]
    )
    np.testing.assert_allclose(table, [[0.5, 0.4, 0], [0, 0, 1], [0, 0, 0]], atol=1e-6)


def test_the_floor_cuts_what_is_left_after_weighing():
    assert Lexical(LEXICON, weight=0.5, floor=0.39).value("cat", "dog") == pytest.approx(
        0.4, abs=1e-6
    )
    assert Lexical(LEXICON, weight=0.5, floor=0.41).value("cat", "dog") == 0.0


def test_each_part_of_speech_has_a_group():
    labels = ["cat::n", "dog::n", "cat::v", "dog::v", "cat", "POS##NN", "x::n"]
    assert Lexical(LEXICON).resolve(labels).groups.tolist() == [0, 0, 1, 1, 2, 3, 4]


def test_lexical_does_not_copy_the_matrix():
    assert np.shares_memory(Lexical(LEXICON).resolve(["cat"]).vectors, LEXICON.matrix)


def test_lexical_is_not_positive_semidefinite():
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
def test_lexical_parameters_out_of_range_are_refused(parameters, message):
    similarity = Lexical(VECTORS, **parameters)
    for use in (similarity.check, lambda: similarity.table(["a"], ["a"])):
        with pytest.raises(KernelInputError, match=f"Lexical: {message}"):
            use()


def value(a, b, **parameters):
    """Return the value, which the formula and the arrays must agree on."""
    similarity = Compositional(SMALL, **parameters)
    found = similarity.value(a, b)
    assert similarity.table([a], [b])[0, 0] == pytest.approx(found, rel=1e-12)
    return found


def cosine(p, q):
    return (p[0] * q[0] + p[1] * q[1]) / (math.hypot(*p) * math.hypot(*q))


@pytest.mark.parametrize(
    ("parameters", "p", "q"),
    [
        ({}, (1, 1), (0.8, 1.6)),
        ({"head_weight": 2}, (2, 1), (1.6, 2.2)),
        ({"head_weight": 1e-300, "modifier_weight": 0}, (1, 0), (0.8, 0.6)),
        ({"head_weight": 0}, (0, 1), (0, 1)),
        ({"operation": "dilation"}, (1, 0), (0.8, 1.2)),
        ({"operation": "dilation", "dilation": 3}, (1, 0), (0.8, 1.8)),
        ({"operation": "dilation", "dilation": 1}, (1, 0), (0.8, 0.6)),
    ],
)
def test_composed_vectors_by_hand(parameters, p, q):
    found = value(PLAY_GUITAR, "COMP##dobj<strum::v,guitar::n>", **parameters)
    assert found == pytest.approx(cosine(p, q), abs=1e-6)


def test_the_product_is_taken_entry_by_entry():
    labels = "COMP##dobj<strum::v,piano::n>", "COMP##dobj<strum::v,guitar::n>"
    found = value(*labels, operation="product")
    assert found == pytest.approx(cosine((0.48, 0.48), (0, 0.6)), abs=1e-6)


def test_dilation_stretches_the_head_not_the_modifier():
    a, b = "COMP##r<play::x,strum::x>", "COMP##r<play::x,play::x>"
    # The head (1, 0) along the modifier (0.8, 0.6) by 2 is (1, 0) + 0.8 (0.8, 0.6).
    assert value(a, b, operation="dilation") == pytest.approx(
        cosine((1.64, 0.48), (1, 0)), abs=1e-6
    )


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("COMP##nsubj<play::v,guitar::n>", 0.0),
        ("COMP##dobj<play::n,guitar::n>", 0.0),
        ("COMP##dobj<play::v,guitar::v>", 0.0),
        ("COMP##dobj<play,guitar>", 0.0),
        ("play::v", 0.0),
        (PLAY_GUITAR, 1.0),
    ],
)
def test_relation_and_parts_of_speech_must_agree(other, expected):
    assert value(PLAY_GUITAR, other) == expected


def test_relations_may_differ_if_told_so():
    other = "COMP##nsubj<play::v,guitar::n>"
    assert value(PLAY_GUITAR, other, same_relation=False) == 1.0


@pytest.mark.parametrize("operation", ["sum", "dilation"])
@pytest.mark.parametrize(
    "label", ["COMP##dobj<play::v,unknown::n>", "COMP##dobj<unknown::v,play::n>"]
)
def test_one_word_with_a_vector_stands_for_both(operation, label):
    other = "COMP##dobj<play::v,play::n>"
    assert value(label, other, operation=operation) == pytest.approx(1.0)


def test_the_word_that_stands_for_both_is_multiplied_with_itself():
    labels = "COMP##dobj<strum::v,unknown::n>", "COMP##dobj<strum::v,guitar::n>"
    found = value(*labels, operation="product")
    assert found == pytest.approx(cosine((0.64, 0.36), (0, 0.6)), abs=1e-6)


def test_the_star_above_the_root_has_no_vector_in_a_composition():
    root = "COMP##root<*::*,play::v>"
    assert value(root, "COMP##root<*::*,strum::v>") == pytest.approx(0.8, abs=1e-6)


def test_escaped_words_are_looked_up_as_they_are():
    labels = "COMP##r<play::v,_comma_::_comma_>", "COMP##r<strum::v,_comma_::_comma_>"
    assert value(*labels) == pytest.approx(cosine((1, 1), (0.8, 1.6)), abs=1e-6)


@pytest.mark.parametrize(
    ("label", "parameters"),
    [
        ("COMP##r<unknown::n,other::n>", {}),
        ("COMP##r<play::n,right::n>", {}),  # opposite vectors: the sum is zero
        ("COMP##r<play::n,guitar::n>", {"operation": "product"}),
    ],
)
def test_a_pair_without_direction_matches_only_itself(label, parameters):
    assert value(label, label, weight=0.5, **parameters) == 1.0
    assert value(label, "COMP##r<piano::n,piano::n>", **parameters) == 0.0


def test_single_words_compare_as_by_lexical():
    words = [label for label in sample_labels() if not label.startswith("COMP")]
    np.testing.assert_allclose(
        Compositional(VECTORS, weight=0.5).table(words, words),
        Lexical(VECTORS, weight=0.5).table(words, words),
        rtol=1e-12,
    )


def test_single_words_are_exact_if_told_so():
    assert value("play::v", "strum::v") == pytest.approx(0.8, abs=1e-6)
    assert value("play::v", "strum::v", lexical=False) == 0.0
    assert value("play::v", "play::v", lexical=False, weight=0.5) == 1.0


def test_equal_pairs_of_words_share_a_row():
    labels = [f"COMP##{r}<play::{p},guitar::n>" for r in ("dobj", "nsubj") for p in ("v", "n")]
    resolution = Compositional(SMALL).resolve([*labels, "COMP##x<guitar::n,play::n>"])
    assert resolution.vectors.shape == (2, 2)
    assert len(set(resolution.rows[:4].tolist())) == 1 and resolution.n_groups == 5


def test_vectors_are_composed_as_long_as_they_are():
    vectors = Vectors(["a", "b"], [[3, 0], [0, 1]], normalize=False)
    found = Compositional(vectors).value("COMP##r<a,b>", "COMP##r<a,a>")
    assert found == pytest.approx(cosine((3, 1), (1, 0)), rel=1e-12)


def test_dilation_weighs_the_head_by_the_length_of_the_modifier():
    vectors = Vectors(["a", "b"], [[3, 0], [1, 2]], normalize=False)
    found = Compositional(vectors, operation="dilation").value("COMP##r<a,b>", "COMP##r<a,a>")
    # 5 (3, 0) + 3 (1, 2) against a vector along the first axis
    assert found == pytest.approx(cosine((18, 6), (1, 0)), rel=1e-12)


def test_more_pairs_than_are_composed_at_once():
    words = [f"w{i}" for i in range(100)]
    vectors = Vectors(words, np.random.default_rng(0).normal(size=(100, 3)))
    labels = [f"COMP##r<{a},{b}>" for a in words for b in words]
    resolution = Compositional(vectors).resolve(labels)
    at = np.array([0, 4095, 4096, 9999])
    chosen = [labels[i] for i in at]
    expected = [[Compositional(vectors).value(a, b) for b in chosen] for a in chosen]
    np.testing.assert_allclose(resolution.values(at, at), expected, rtol=1e-12)


def test_compositional_is_not_positive_semidefinite():
    angles = [math.radians(x) for x in (0, 45, 90, 135)]
    vectors = Vectors("a b c d".split(), [[math.cos(x), math.sin(x)] for x in angles])
    similarity = Compositional(vectors)
    assert similarity.positive_semidefinite is False
    assert similarity.smallest_eigenvalue([f"COMP##r<{x},{x}>" for x in "abcd"]) < -0.14


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"operation": "mean"}, "operation must be one of .*'dilation'.*, got 'mean'"),
        ({"head_weight": -1}, r"head_weight must be a number in \[0, 1e6\]"),
        ({"modifier_weight": math.nan}, "modifier_weight must be a number"),
        ({"head_weight": 0, "modifier_weight": 0}, "both 0.*make one of them positive"),
        ({"dilation": 0}, r"dilation must be a number in \(0, 1e6\]"),
        ({"same_relation": "no"}, "same_relation must be one of"),
        ({"lexical": 1}, "lexical must be one of"),
        ({"weight": -1}, "weight must be a number"),
        ({"weight": 1.5}, r"weight must be a number in \[1e-6, 1\], got 1.5"),
        ({"floor": 1}, "floor must be a number"),
    ],
)
def test_compositional_parameters_out_of_range_are_refused(parameters, message):
    similarity = Compositional(SMALL, **parameters)
    for use in (similarity.check, lambda: similarity.table(["a"], ["a"])):
        with pytest.raises(KernelInputError, match=f"Compositional: .*{message}"):
            use()
