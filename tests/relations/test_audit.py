"""Measures at several thresholds, and sentences shared with the training corpus."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pytest
from annotated import documents
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.relations.audit import operating_points
from kernelwood.relations.shared_sentences import SharedSentences, near_sentences
from kernelwood.text import Dependency

CANDIDATES = st.lists(
    st.tuples(st.sampled_from([0.1, 0.2, 0.5, 0.7, 0.9]), st.booleans(), st.booleans()),
    min_size=1,
    max_size=12,
)
WORDS = st.lists(st.sampled_from("abcd"), max_size=12).map(" ".join)


@pytest.fixture(scope="module")
def extractor():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kw.RelationExtractor(random_state=0).fit(long_documents())


def evaluated(extractor, examples):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return extractor.evaluate(examples, n_bootstrap=0)


def changed(example, prefix, word):
    """Return a copy of an example with a word more, or without one, under another id."""
    sentence = example.views["sentence"]
    words = [sentence.text[token.start : token.end] for token in sentence.tokens]
    made = kw.Sentence.from_words(
        [*words, word],
        dependencies=[*sentence.dependencies, Dependency(0, "punct", len(words))],
        entities=sentence.entities,
        relations=sentence.relations,
    )
    return kw.Example(f"{prefix}-{example.id}", views={"sentence": made})


def long_documents():
    said = "as far as we know from what was seen in the cells of all mice that were kept"
    return [changed(one, "long", said) for one in documents()]


# Operating points.


def at(rows, line):
    """Return rate, precision, recall and F1 of the relations above a threshold."""
    n_relations = sum(is_relation for _, is_relation, _ in rows)
    chosen = [is_right and is_relation for p, is_relation, is_right in rows if p >= line]
    n, right = len(chosen), sum(chosen)
    return (
        n / len(rows),
        right / n if n else 0.0,
        right / n_relations if n_relations else 0.0,
        2 * right / (n + n_relations) if n + n_relations else 0.0,
    )


@given(CANDIDATES, st.floats(0.01, 0.99), st.sampled_from([0.15, 0.5, 0.95]))
def test_points_are_measures_above_their_thresholds(rows, training_rate, line):
    probability = np.array([p for p, _, _ in rows])
    right = np.array([one and other for _, one, other in rows])
    n_relations = sum(one for _, one, _ in rows)
    rate = n_relations / len(rows)
    points = operating_points(
        probability, np.full(len(rows), line), right, n_relations, rate, training_rate
    )
    assert [point.name for point in points] == [
        "in use", "training rate", "rate of this corpus", "best"
    ]  # fmt: skip
    assert [point.uses_labels for point in points] == [False, False, True, True]
    assert points[0].threshold == line
    for point in points:
        assert point[2:6] == pytest.approx(at(rows, point.threshold))
    best = max(at(rows, p)[3] for p in probability)
    assert points[-1].f1 == pytest.approx(best)
    for point, wanted in ((points[1], training_rate), (points[2], rate)):
        # The highest threshold that calls at least so many candidates relations.
        n = max(1, round(wanted * len(rows)))
        assert round(point.positive_rate * len(rows)) >= n
        assert (probability > point.threshold).sum() < n


def test_a_threshold_by_type_has_no_number():
    probability, right = np.array([0.9, 0.4]), np.array([True, True])
    [first, *_] = operating_points(probability, np.array([0.5, 0.3]), right, 2, 1.0, None)
    assert first.threshold is None and first.f1 == 1.0


# Sentences.


def trigrams(text):
    words = ["", "", *re.findall(r"\w+|[^\w\s]", text.casefold()), "", ""]
    return {tuple(words[i : i + 3]) for i in range(len(words) - 2)}


def similarity(one, other):
    one, other = trigrams(one), trigrams(other)
    return len(one & other) / len(one | other)


@given(st.lists(WORDS, max_size=6), st.lists(WORDS, max_size=6), st.sampled_from([0.3, 0.7, 1.0]))
def test_near_sentences_are_those_of_all_comparisons(texts, others, least):
    expected = {}
    for row, text in enumerate(texts):
        if others and (best := max(similarity(text, other) for other in others)) >= least:
            expected[row] = best
    found = near_sentences(texts, others, least)
    assert sorted(pair.text for pair in found) == sorted(texts[row] for row in expected)
    assert sorted(pair.similarity for pair in found) == pytest.approx(sorted(expected.values()))
    for pair in found:
        assert pair.training_text in others
        assert pair.similarity == pytest.approx(similarity(pair.text, pair.training_text))
    assert [p.similarity for p in found] == sorted((p.similarity for p in found), reverse=True)


def test_pairs_that_just_reach_the_limit_are_found():
    # The longer text has three rare trigrams more, and the others make the rest frequent.
    longer, others = "a b c q a b c d", [f"a b c d {word} a b c d" for word in "uvwxyz"]
    [pair] = near_sentences(["a b c d"], [longer, *others], 6 / 9)
    assert (pair.training_text, pair.similarity) == (longer, 6 / 9)


def test_equal_and_nearly_equal_sentences_are_counted(extractor):
    train = long_documents()
    nearly = [changed(one, "near", "!") for one in train[:3]]
    nearly.append(kw.Example("far", views=changed(train[3], "x", "and so on and on and on").views))
    audit = evaluated(extractor, [*train[:2], *nearly]).audit
    shared = audit.sentences
    assert (shared.n, shared.n_equal) == (6, 2)
    known = [one.views["sentence"].text for one in train]
    texts = [one.views["sentence"].text for one in nearly]
    alike = {text for text in texts if max(similarity(text, one) for one in known) >= 0.7}
    assert {pair.text for pair in shared.near} == alike
    assert 0 < len(alike) < len(texts)
    assert shared.rest() == SharedSentences(4, 0, shared.near)


# What is told.


def test_the_audit_is_in_json_and_in_print(extractor):
    scores = evaluated(extractor, long_documents())
    told = json.loads(json.dumps(scores.to_dict()))["audit"]
    assert told["points"][0]["f1"] == pytest.approx(scores.f1)
    assert told["training_rate"] == extractor.positive_rate_ == told["relation_rate"]
    assert told["micro_f1_with_none"] == scores.scores.accuracy
    assert told["macro_f1"] == scores.scores.macro.f1
    assert told["sentences"]["in_training"] == told["sentences"]["evaluated"]
    shown = str(scores)
    assert f"F1 by threshold: in use {scores.f1:.3f}, training rate " in shown
    assert "* chosen by the labels of this corpus" in shown
    assert "called relations" in scores.audit.details()
    assert scores.audit["best"].f1 >= scores.f1


def test_cross_validation_compares_with_the_other_folds(extractor):
    train = long_documents()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        validation = extractor.cross_validate(train, n_splits=2, n_bootstrap=0)
    pooled, parts = validation.pooled.audit, [part.audit for part in validation.parts]
    assert pooled.sentences == sum((p.sentences for p in parts), SharedSentences())
    assert pooled["in use"].f1 == pytest.approx(validation.pooled.f1)
    assert 0 < pooled.training_rate < 1
