"""Vectors of co-occurrences against a plain computation."""

from __future__ import annotations

import inspect
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.sparse.linalg import eigsh

import kernelwood as kw
from kernelwood.errors import KernelInputError
from kernelwood.text import Entity
from kernelwood.vectors import Vectors, cooccurrence, learn_vectors

texts = st.lists(st.lists(st.sampled_from("abcdef"), max_size=12), min_size=1, max_size=6)


def reference_counts(texts, window, words):
    """Return the weighted pairs of words, counted one by one."""
    counts = Counter()
    for text in texts:
        for i, word in enumerate(text):
            for j in range(max(0, i - window), min(len(text), i + window + 1)):
                if i != j and word in words and text[j] in words:
                    counts[word, text[j]] += window + 1 - abs(i - j)
    return counts


def reference_information(counts, words, smoothing, shift):
    """Return the matrix of positive mutual information."""
    totals = Counter()
    for (word, _), count in counts.items():
        totals[word] += count
    smoothed = {word: total**smoothing for word, total in totals.items()}
    matrix = np.zeros((len(words), len(words)))
    for (word, context), count in counts.items():
        ratio = count * sum(smoothed.values()) / (totals[word] * smoothed[context])
        matrix[words.index(word), words.index(context)] = max(0, math.log(ratio / shift))
    return matrix


@given(texts, st.integers(1, 4), st.integers(1, 3))
def test_pairs_are_counted_as_one_by_one(texts, window, min_count):
    words, codes = cooccurrence.encode_texts(texts, window, min_count, lowercase=False)
    counts = cooccurrence.count_pairs(codes, len(words), window).toarray()
    expected = reference_counts(texts, window, set(words))
    frequencies = Counter(word for text in texts for word in text)
    common = [word for word, count in frequencies.items() if count >= min_count]
    assert words == sorted(common, key=lambda word: (-frequencies[word], word))
    assert counts.tolist() == [[expected[a, b] for b in words] for a in words]


@given(texts, st.integers(1, 5))
def test_blocks_do_not_change_counts(texts, block):
    words, codes = cooccurrence.encode_texts(texts, 3, 1, lowercase=False)
    whole = cooccurrence.count_pairs(codes, len(words), 3).toarray()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cooccurrence, "_BLOCK", block)
        parts = cooccurrence.count_pairs(codes, len(words), 3).toarray()
    assert (parts == whole).all()


@given(
    texts, st.integers(1, 3), st.sampled_from([0.0, 0.75, 1.0]), st.sampled_from([0.5, 1.0, 2.0])
)
def test_information_is_that_of_the_formula(texts, window, smoothing, shift):
    words, codes = cooccurrence.encode_texts(texts, window, 1, lowercase=False)
    counts = reference_counts(texts, window, set(words))
    expected = reference_information(counts, words, smoothing, shift)
    matrix = cooccurrence.count_pairs(codes, len(words), window)
    assume((expected > 1e-9).any())
    found = cooccurrence.positive_information(matrix, smoothing, shift).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-12)


def corpus(n_texts=300, n_words=40, seed=0):
    """Return texts in which neighboring numbers stand together."""
    generator = np.random.default_rng(seed)
    steps = generator.integers(-1, 2, size=(n_texts, 20))
    walks = (generator.integers(n_words, size=(n_texts, 1)) + steps.cumsum(axis=1)) % n_words
    return [[f"w{word}" for word in walk] for walk in walks]


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_vectors_are_the_scaled_singular_vectors(power):
    vectors = learn_vectors(corpus(), dim=6, min_count=1, power=power, normalize=False)
    words = list(vectors.words)
    counts = reference_counts(corpus(), 5, set(words))
    matrix = reference_information(counts, words, 0.75, 1.0)
    left, values, _ = np.linalg.svd(matrix)
    expected = left[:, :6] * values[:6] ** power
    expected *= np.sign(expected[np.abs(expected).argmax(axis=0), range(6)])
    np.testing.assert_allclose(vectors.matrix, expected, atol=1e-5)


def test_words_in_similar_contexts_are_near():
    vectors = learn_vectors(corpus(), dim=6, min_count=1)
    assert {word for word, _ in vectors.nearest("w20", 2)} <= {"w18", "w19", "w21", "w22"}


def test_order_of_texts_and_threads_do_not_change_a_bit():
    first = learn_vectors(corpus(), dim=6)
    assert learn_vectors(corpus()[::-1], dim=6) == first
    assert (learn_vectors(iter(corpus()), dim=6).matrix == first.matrix).all()


def test_a_matrix_of_low_rank_has_columns_of_zeros():
    texts = [[*"ax"], [*"bx"], [*"ay"], [*"by"]]
    vectors = learn_vectors(texts, dim=3, min_count=1, power=0, normalize=False)
    assert (np.abs(vectors.matrix).max(axis=0) > 0).tolist() == [True, True, False]
    np.testing.assert_allclose(vectors["a"], vectors["b"], atol=1e-6)


@pytest.mark.skipif(
    "rng" not in inspect.signature(eigsh).parameters, reason="restarts of this scipy are random"
)
def test_equal_singular_values_do_not_make_vectors_random():
    texts = [[*"ax"], [*"bx"], [*"ay"], [*"by"]]
    first, second = (learn_vectors(texts, dim=3, min_count=1) for _ in range(2))
    assert first == second


def test_texts_of_every_kind_give_the_same_words():
    entity = Entity("T1", "protein", ((0, 3),), "p53")
    text, words = "p53-like Raf isn't.", ["p53", "-", "like", "raf", "is", "n't", "."]
    document = kw.Document(text, [entity])
    sentence = kw.Sentence(text, entities=[entity])
    parsed = kw.Sentence.from_words(["p53", "-", "like", "Raf", "is", "n't", "."])
    examples = [
        kw.Example("a", views={"document": document}), kw.Example("b", views={"sentence": parsed}),
    ]  # fmt: skip
    for given_text in (document, sentence, parsed, *examples, list(parsed.words)):
        found, codes = cooccurrence.encode_texts([given_text], 2, 1, lowercase=True)
        assert [found[code] for code in codes[:-2]] == words
        assert codes[-2:].tolist() == [-1, -1]
    one, codes = cooccurrence.encode_texts(text, 1, 1, lowercase=False)
    assert [one[code] for code in codes[:-1]] == ["p53-like", "Raf", "is", "n't", "."]


def test_case_is_looked_up_as_it_was_learned():
    assert "W20" in learn_vectors(corpus(), dim=3)
    assert "W20" not in learn_vectors(corpus(), dim=3, lowercase=False)


def test_saved_vectors_keep_how_words_are_looked_up(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELWOOD_CACHE", str(tmp_path / "cache"))
    learned = learn_vectors(corpus(), dim=6)
    learned.save(tmp_path / "v.npz")
    assert Vectors.load(tmp_path / "v.npz") == learned
    assert not Vectors.load(tmp_path / "v.npz", lowercase=False).lowercase
    monkeypatch.setattr("kernelwood.vectors.cache.SMALLEST", 0)
    for _ in range(2):  # stored, then fetched
        assert Vectors.load(tmp_path / "v.npz").lowercase


def test_progress_is_in_tokens(monkeypatch):
    monkeypatch.setattr(cooccurrence, "_BLOCK", 100)
    calls = []
    learn_vectors(corpus(9), dim=3, min_count=1, progress=lambda *call: calls.append(call))
    assert calls == [(done, 225) for done in (100, 200, 225)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": 0}, "dim must be an int of at least 1"),
        ({"dim": 40}, r"dim=40 needs more than 40 different words, but \d+ occur at least min_co"),
        ({"window": 1.5}, "window must be an int"),
        ({"min_count": 0}, "min_count must be an int"),
        ({"smoothing": 1.5}, "smoothing must be a number from 0 to 1, got 1.5"),
        ({"shift": 0}, "shift must be a number greater than 0"),
        ({"power": -1}, "power must be a number of at least 0"),
        ({"power": math.nan}, "power must be a number"),
        ({"shift": 1e9}, "decrease shift"),
    ],
)
def test_wrong_parameters_are_refused(options, message):
    with pytest.raises(KernelInputError, match=message):
        learn_vectors(corpus(50), **{"dim": 3, **options})


@pytest.mark.parametrize("thing", [3, ["a", 3], kw.Example("x", views={"tree": kw.Tree("a")})])
def test_what_is_not_a_text_is_refused(thing):
    with pytest.raises(KernelInputError, match="text 1 is"):
        learn_vectors(["a", thing])
