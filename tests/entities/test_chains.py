"""Labels of linear chains: the native core against all labelings, one by one."""

import itertools
import math

import numpy as np
import pycrfsuite
import pytest
from hypothesis import given, strategies as st

from kernelwood import _native
from kernelwood.entities.chain_model import (
    ChainModel,
    ChainWeights,
    Segment,
    decode,
    encode,
    n_labels,
    sentence_rows,
    train_chains,
)
from kernelwood.entities.tagger_features import cut_text, place_features

numbers = st.floats(-4, 4, allow_nan=False)


@st.composite
def chains(draw):
    """Emissions of one chain, transitions, and labels allowed first and last."""
    n, size = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    emissions = draw(st.lists(numbers, min_size=n * size, max_size=n * size))
    weights = st.one_of(numbers, st.just(-math.inf))
    transitions = draw(st.lists(weights, min_size=n * n, max_size=n * n))
    transitions[0] = 0.5  # label 0 is always possible
    first, last = (
        [1, *draw(st.lists(st.integers(0, 1), min_size=n - 1, max_size=n - 1))] for _ in range(2)
    )
    return (
        np.array([0, size], dtype=np.int64),
        np.array(emissions).reshape(size, n),
        np.array(transitions).reshape(n, n),
        np.array(first, dtype=np.uint8),
        np.array(last, dtype=np.uint8),
    )


def all_labelings(emissions, transitions, first, last):
    """Yield every labeling and its score."""
    size, n = emissions.shape
    for labels in itertools.product(range(n), repeat=size):
        score = 0.0 if first[labels[0]] and last[labels[-1]] else -math.inf
        score += sum(emissions[place, label] for place, label in enumerate(labels))
        score += sum(transitions[pair] for pair in itertools.pairwise(labels))
        yield labels, score


@given(chains())
def test_decoded_labels_have_the_best_score(chain):
    _, *scores = chain
    found = np.empty(len(scores[0]), dtype=np.int32)
    _native.decode_chains(*chain, found)
    by_labels = dict(all_labelings(*scores))
    assert by_labels[tuple(found.tolist())] == pytest.approx(max(by_labels.values()))


@given(chains(), st.data())
def test_the_probability_of_a_segment_is_the_share_of_its_labelings(chain, data):
    _, *scores = chain
    size, n = scores[0].shape
    begin = data.draw(st.integers(0, size - 1))
    end = data.draw(st.integers(begin + 1, size))
    labels = data.draw(st.lists(st.integers(0, n - 1), min_size=size, max_size=size))
    found = np.empty(1)
    _native.segment_probabilities(
        *chain, np.array(labels, dtype=np.int32), np.array([[begin, end]]), found
    )
    weights = {one: math.exp(score) for one, score in all_labelings(*scores)}
    inside = sum(w for one, w in weights.items() if list(one[begin:end]) == labels[begin:end])
    assert found[0] == pytest.approx(inside / sum(weights.values()), abs=1e-9)


def test_huge_emissions_do_not_overflow():
    emissions = np.array([[1e5, -1e5], [1e5, -1e5], [-1e5, 1e5]])
    chain = (np.array([0, 3]), emissions, np.zeros((2, 2)), *np.ones((2, 2), dtype=np.uint8))
    labels, found = np.empty(3, dtype=np.int32), np.empty(1)
    _native.decode_chains(*chain, labels)
    _native.segment_probabilities(*chain, labels, np.array([[0, 3]]), found)
    assert labels.tolist() == [0, 0, 1] and found[0] == 1.0


def test_chains_do_not_depend_on_each_other():
    rng = np.random.default_rng(0)
    emissions, transitions = rng.normal(size=(7, 3)), rng.normal(size=(3, 3))
    masks = (np.ones(3, dtype=np.uint8), np.ones(3, dtype=np.uint8))
    together = np.empty(7, dtype=np.int32)
    _native.decode_chains(np.array([0, 4, 4, 7]), emissions, transitions, *masks, together)
    apart = []
    for begin, end in ((0, 4), (4, 7)):
        part = np.empty(end - begin, dtype=np.int32)
        offsets = np.array([0, end - begin])
        _native.decode_chains(offsets, emissions[begin:end].copy(), transitions, *masks, part)
        apart += part.tolist()
    assert together.tolist() == apart


@pytest.mark.parametrize(
    "segments", [[[2, 2]], [[1, 4]], [[4, 6]], [[-1, 1]], [[2, 3], [0, 1]]], ids=str
)
def test_segments_outside_of_chains_are_refused(segments):
    masks = (np.ones(2, dtype=np.uint8), np.ones(2, dtype=np.uint8))
    with pytest.raises(ValueError, match="segments must be in order"):
        _native.segment_probabilities(
            np.array([0, 2, 5]),
            np.zeros((5, 2)),
            np.zeros((2, 2)),
            *masks,
            np.zeros(5, dtype=np.int32),
            np.array(segments),
            np.empty(len(segments)),
        )


@pytest.mark.parametrize("feature", [-1, 2])
def test_features_outside_of_the_table_are_refused(feature):
    with pytest.raises(ValueError, match="no such feature"):
        _native.sum_features(
            np.array([0, 1, 2]),
            np.array([0, 1], dtype=np.int32),
            np.ones(2),
            np.array([0, 1]),
            np.array([feature], dtype=np.int32),
            np.zeros((1, 2)),
        )


def test_columns_outside_of_the_results_are_refused():
    with pytest.raises(ValueError, match="no such column"):
        _native.sum_features(
            np.array([0, 1]),
            np.array([2], dtype=np.int32),
            np.ones(1),
            np.array([0, 1]),
            np.array([0], dtype=np.int32),
            np.zeros((1, 2)),
        )


def test_words_outside_of_a_chain_count_as_word_0():
    rows = np.arange(9, dtype=np.float64).reshape(3, 3)  # one label, reach 1
    out = np.zeros((2, 1))
    _native.add_word_blocks(
        rows,
        np.array([1, 2], dtype=np.int32),
        np.array([0, 1, 2]),
        np.array([0, 1], dtype=np.int32),
        np.array([0, 1, 2]),
        out,
    )
    assert out.ravel().tolist() == [0 + 4 + 2, 0 + 7 + 2]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(0, 2)), max_size=6))
def test_labels_of_segments_give_the_segments(gaps):
    place, segments = 0, []
    for gap, length, kind in gaps:
        segments.append(Segment(place + gap, place + gap + length, kind))
        place += gap + length
    assert decode(encode(segments, place + 2)) == segments


TEXTS = ["Raf binds Ras.", "the Ras-like Raf kinase 1 is new", "It binds p53 (or Ras) in vivo."]


def places_of(text, cut):
    words = [text[a:b].lower() for a, b in zip(cut.starts, cut.ends, strict=True)]
    bounds = itertools.pairwise(cut.sentences)
    return [row for begin, end in bounds for row in place_features(words[begin:end])]


def trained():
    """Return weights, and the rows of features and labels of the sentences."""
    cuts = [cut_text(text) for text in TEXTS]
    segments = [[(0, 1, 0), (2, 3, 1)], [(1, 2, 0), (4, 7, 1)], [(2, 3, 1), (5, 6, 0)]]
    rows = []
    for text, cut, some in zip(TEXTS, cuts, segments, strict=True):
        [features] = sentence_rows(cut, places_of(text, cut))
        rows.append((features, encode([Segment(*one) for one in some], len(cut))))
    return train_chains(rows, 2, l1=0.0, l2=0.1, max_iterations=30), rows


def test_texts_get_the_scores_of_their_features():
    weights, rows = trained()
    model = ChainModel(weights)
    n = n_labels(2)
    for text, (features, _) in zip(TEXTS, rows, strict=True):
        cut = cut_text(text)
        found = model.emissions(cut, places_of(text, cut))
        expected = np.zeros(found.shape)
        for place, row in enumerate(features):
            for name in row:
                distance, feature = int(name[0]), name[1:]
                hits = np.flatnonzero(weights.features == feature)
                for k in range(weights.offsets[hits[0]], weights.offsets[hits[0] + 1]):
                    column = weights.columns[k] - (0 if feature[0] == "X" else distance * n)
                    if 0 <= column < n:
                        expected[place, column] += weights.values[k]
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_labels_are_those_that_crfsuite_finds(tmp_path):
    weights, rows = trained()
    trainer = pycrfsuite.Trainer(verbose=False)
    for features, labels in rows:
        trainer.append(features, [str(label) for label in labels.tolist()])
    trainer.select("lbfgs")
    trainer.set_params({"c1": 0.0, "c2": 0.1, "max_iterations": 30})
    trainer.train(str(tmp_path / "crf"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "crf"))
    model = ChainModel(weights)
    for text in (*TEXTS, "Ras binds the Raf kinase 1 (or p53)"):
        cut = cut_text(text)
        places = places_of(text, cut)
        [features] = sentence_rows(cut, places)
        labels = model.decode(cut, model.emissions(cut, places))
        assert labels.tolist() == [int(label) for label in tagger.tag(features)]
    tagger.close()


def test_sums_are_the_same_when_the_table_of_words_is_full(monkeypatch):
    model = ChainModel(trained()[0])
    cuts = [cut_text(text) for text in TEXTS]
    expected = [model.emissions(c, places_of(t, c)) for t, c in zip(TEXTS, cuts, strict=True)]
    monkeypatch.setattr("kernelwood.entities.chain_model._MOST_KEPT", 0)
    small = ChainModel(trained()[0])
    for text, cut, one in zip(TEXTS, cuts, expected, strict=True):
        np.testing.assert_array_equal(small.emissions(cut, places_of(text, cut)), one)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("offsets", lambda a: a[::-1].copy(), "offsets must rise"),
        ("offsets", lambda a: np.append(a[:-1], a[-1] + 1), "offsets must rise"),
        ("offsets", lambda a: a + 2**62, "offsets must rise"),
        ("columns", lambda a: a + 45, "columns must be labels"),
        ("columns", lambda a: a - 45, "columns must be at least 0"),
        ("columns", lambda a: a.astype(np.int64), "columns must be an array of int32"),
        ("values", lambda a: a * np.nan, "values must be finite"),
        ("values", lambda a: "many", "values must be an array"),
        ("features", lambda a: np.array(["Pa"] * len(a), dtype=object), "different strings"),
        ("features", lambda a: np.array([f"?{i}" for i in range(len(a))], dtype=object), "begin"),
        ("transitions", lambda a: a + 1e9, "transitions must be at most 300"),
        ("transitions", lambda a: a * np.nan, "transitions must be finite"),
        ("transitions", lambda a: a[:, :2], r"transitions must be an array of shape \(9, 9\)"),
        ("known", lambda a: 0 * a, "those of 9 labels"),
        ("known", lambda a: 2 * a, "known must be at most 1"),
    ],
)
def test_weights_that_training_cannot_produce_are_refused(name, change, message):
    weights, _ = trained()
    weights.check(2)
    with pytest.raises(ValueError, match=message):
        weights._replace(**{name: change(getattr(weights, name))}).check(2)


def test_a_feature_of_a_place_has_no_columns_of_other_places():
    weights = ChainWeights(
        np.array(["Xa"], dtype=object),
        np.array([0, 1]),
        np.array([5], dtype=np.int32),
        np.ones(1),
        np.zeros((5, 5)),
        np.ones(5, dtype=np.uint8),
    )
    with pytest.raises(ValueError, match="columns must be labels"):
        weights.check(1)
