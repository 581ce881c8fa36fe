"""Warnings of figures that mislead."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from annotated import documents, event_documents, sentence
from hypothesis import given, strategies as st
from sklearn.metrics import f1_score

import kernelwood as kw
from kernelwood.persist.estimators import check_restored
from kernelwood.relations import SentenceTable, card_of
from kernelwood.relations.guards import (
    MIN_CANDIDATES,
    MIN_DOCUMENTS,
    MIN_EXAMPLES,
    MIN_RELATIONS,
    MIN_TEST_RELATIONS,
    TextHashes,
    corpus_remarks,
    fingerprint,
    type_f1,
)

WORDS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=6), max_size=6)


@pytest.fixture(scope="module")
def extractor():
    return kw.RelationExtractor(random_state=0).fit(documents())


def copies(examples, prefix="copy"):
    """Return the same sentences under other ids."""
    return [kw.Example(f"{prefix}-{one.id}", views=dict(one.views)) for one in examples]


def messages(work):
    """Return a result and the warnings on the way to it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = work()
    return made, [str(one.message) for one in caught]


# Fingerprints.


@given(WORDS)
def test_case_and_whitespace_do_not_matter(words):
    text = " ".join(words)
    assert fingerprint(text) == fingerprint(" \n\t".join(words)) == fingerprint(text.casefold())


@given(WORDS, WORDS)
def test_different_words_have_different_fingerprints(first, second):
    one, two = ("".join("".join(words).casefold().split()) for words in (first, second))
    assert (fingerprint(one) == fingerprint(two)) == (one == two)


def test_fingerprints_do_not_depend_on_the_process():
    assert fingerprint("Raf binds Ras.") == 9098271154589341291


def test_hashes_of_all_sentences_are_kept_even_without_candidates():
    alone = kw.Example("d99.s0", views={"sentence": kw.Sentence.from_words(["no", "entities"])})
    model = kw.RelationExtractor(random_state=0).fit([*documents(), alone])
    assert np.isin(np.uint64(fingerprint("No entities")), model.sentence_hashes_)
    assert len(model.document_hashes_) == len(model.id_hashes_) == 9


@pytest.mark.parametrize("name", ["sentence_hashes_", "document_hashes_", "id_hashes_"])
@pytest.mark.parametrize(
    "wrong", [lambda x: x[::-1].copy(), lambda x: x.astype(np.int64), lambda x: x[None], list]
)
def test_wrong_hashes_are_not_loaded(extractor, name, wrong):
    model = copy.copy(extractor)
    setattr(model, name, wrong(getattr(model, name)))
    with pytest.raises(ValueError, match="_hashes_ must be"):
        check_restored(model)


def test_hashes_survive_saving(extractor, tmp_path):
    kw.save(extractor, tmp_path / "model.kw")
    loaded = kw.load(tmp_path / "model.kw")
    for one, other in zip(loaded._text_hashes(), extractor._text_hashes(), strict=True):
        assert one.tolist() == other.tolist()


# Overlap.


def test_other_documents_do_not_overlap(extractor):
    scores, said = messages(lambda: extractor.evaluate(documents(12, start=20)))
    assert scores.overlap is None and scores.to_dict()["overlap"] is None
    assert not any("overlap" in line for line in said)


def test_training_documents_are_told_with_their_number(extractor):
    with pytest.warns(UserWarning, match="8 of 8 documents .* in the training corpus, 48 of 48"):
        scores = extractor.evaluate(documents())
    assert (scores.overlap.n_documents, scores.overlap.n_candidates) == (8, 48)
    assert scores.overlap.rest is None
    assert "8 of 8 documents" in str(scores) and "without these" not in str(scores)


def test_copies_are_found_by_their_text(extractor):
    def louder(example):
        old = example.view("sentence")
        words = [old.text[token.start : token.end].upper() for token in old.tokens]
        return kw.Sentence.from_words(
            words, dependencies=old.dependencies, entities=old.entities, relations=old.relations
        )

    changed = [
        kw.Example(f"n{i}", views={"sentence": louder(e)}) for i, e in enumerate(documents())
    ]
    with pytest.warns(UserWarning, match="overlap"):
        assert extractor.evaluate(changed).overlap.n_candidates == 48


def test_figures_are_also_those_without_the_overlap(extractor):
    new = documents(12, start=20)
    with pytest.warns(UserWarning, match="Figures are too high: F1 .* \\(without them F1"):
        scores = extractor.evaluate([*copies(documents(2)), *new])
    alone = extractor.evaluate(new)
    assert scores.overlap.rest.to_dict() == {**alone.to_dict(), "unreachable": {}}
    assert scores.n_candidates == alone.n_candidates + scores.overlap.n_candidates
    assert "without these sentences: precision" in str(scores)
    assert scores.to_dict()["overlap"]["rest"]["f1"] == alone.f1


def test_a_document_cut_into_other_sentences_is_found():
    text = "Raf binds Ras. Mek binds Erk."
    whole = SentenceTable()
    whole._append("a", "a", _plain(text), None, None)
    hashes = TextHashes.of(whole, whole.groups())
    cut = SentenceTable()
    for number, part in enumerate(text.split(". ")):
        cut._append(f"b.s{number}", "b", _plain(part + "." * (number == 0)), None, None)
    candidates = kw.relations.Candidates(cut)
    candidates.add(1, "c", (), "none")
    seen, same = hashes.find(candidates)
    assert seen.tolist() == [True] and same == set()


def _plain(text):
    return kw.Sentence.from_words(text.split())


def test_an_id_without_its_text_is_told_but_not_left_out(extractor):
    new = [
        kw.Example(e.id.replace("d2", "d", 1), views=dict(e.views)) for e in documents(8, start=20)
    ]
    with pytest.warns(UserWarning, match="8 documents have the id of a training document, but"):
        scores = extractor.evaluate(new)
    overlap = scores.overlap
    assert (overlap.n_same_id, overlap.n_candidates, overlap.rest) == (8, 0, None)


def test_duplicates_in_two_folds_are_told():
    corpus = [*documents(6), *copies(documents(2))]
    model = kw.RelationExtractor(random_state=0)
    with pytest.warns(UserWarning, match="training folds, too"):
        found = model.cross_validate(corpus, n_splits=4, n_bootstrap=0)
    assert found.pooled.overlap.n_documents > 0
    assert found.pooled.overlap.n_candidates == sum(
        part.overlap.n_candidates for part in found.parts if part.overlap
    )
    clean, said = messages(lambda: model.cross_validate(documents(6), n_splits=4, n_bootstrap=0))
    assert clean.pooled.overlap is None and not any("overlap" in line for line in said)


# Small corpora.


@given(st.lists(st.tuples(*[st.sampled_from(["a", "b", "none"])] * 2), min_size=1))
def test_f1_of_types_is_that_of_scikit_learn(pairs):
    true, predicted = map(list, zip(*pairs, strict=True))
    for name, value in type_f1(true, predicted).items():
        assert value == pytest.approx(f1_score(true, predicted, labels=[name], average="macro"))


@given(*[st.integers(1, 400)] * 4)
def test_remarks_are_made_below_the_limits(n_documents, n_candidates, first, second):
    examples = {"a": first, "b": second}
    said = corpus_remarks(n_documents, n_candidates, examples, {"a": 0.5, "b": 0.5})
    small = (
        1 < n_documents < MIN_DOCUMENTS
        or n_candidates < MIN_CANDIDATES
        or first + second < MIN_RELATIONS
    )
    few = min(first, second) < MIN_EXAMPLES
    assert len(said) == small + few
    assert not small or f"{first + second:,} relations" in said[0]


def test_types_are_named():
    said = corpus_remarks(99, 999, {"a": 90, "b": 2, "c": 30}, {"a": 0.5, "b": 0, "c": 0})
    assert len(said) == 2
    assert "b 2; give at least 5" in said[0]
    assert said[1].endswith("(F1 0): c")


def test_many_types_are_cut():
    said = corpus_remarks(99, 999, {"z": 90, **dict.fromkeys("abcdefgh", 1)}, {})
    assert "e 1 and 3 more" in said[0]


def test_fit_warns_once_of_a_small_corpus():
    model, said = messages(lambda: kw.RelationExtractor(random_state=0).fit(documents(3)))
    assert len(said) == 1
    assert said[0].startswith("small corpus: 3 documents, 18 candidates, 12 relations")
    assert card_of(model)["warnings"] == model.warnings_ != []


def test_fit_is_silent_if_the_corpus_is_large_enough():
    _, said = messages(lambda: kw.RelationExtractor(random_state=0).fit(documents(40)))
    assert said == []


def test_cross_validation_warns_once():
    model = kw.RelationExtractor(random_state=0)
    found, said = messages(lambda: model.cross_validate(documents(4), n_splits=2, n_bootstrap=0))
    assert len(said) == 1 and said[0].startswith("small corpus: 4 documents")
    assert found.to_dict()["warnings"] == list(found.warnings)


def test_types_that_are_never_found_are_named():
    # In each document "Activates" is said in words of its own; "Binds" always in the same.
    corpus = documents(12, patterns=[2, 4, 5, 6])
    for number in range(6):
        old = sentence(4, f"Foo{number}", f"Bar{number}")
        ends = (kw.text.Argument("", "e0"), kw.text.Argument("", "e2"))
        relations = [kw.text.Relation("r", "Odd", ends)]
        new = kw.Sentence.from_words(
            old.text.split(),
            dependencies=old.dependencies,
            entities=old.entities,
            relations=relations,
        )
        corpus.append(kw.Example(f"odd{number}.s0", views={"sentence": new}))
    model = kw.RelationExtractor(random_state=0, views=["path"]).fit(corpus)
    assert (model.type_examples_["Odd"], model.type_f1_["Odd"]) == (6, 0)
    assert any(line.endswith("(F1 0): Odd") for line in model.warnings_)


def test_types_of_events_are_those_of_triggers():
    model = kw.RelationExtractor(candidates="events", random_state=0).fit(event_documents())
    assert set(model.type_examples_) == set(model.relations_)
    assert sum(model.type_examples_.values()) == model.n_relations_


def test_few_test_documents_are_told_with_the_interval(extractor):
    with pytest.warns(UserWarning, match="3 documents with 12 relations are uncertain: the 95 %"):
        extractor.evaluate(documents(3, start=20))
    with pytest.warns(UserWarning, match="are uncertain; evaluate on at least 10 documents"):
        extractor.evaluate(documents(3, start=20), n_bootstrap=0)


def test_independent_sentences_of_one_file_are_no_small_corpus():
    origin = kw.text.Origin("train.txt")
    one = [
        kw.Example(f"s{number}", views=dict(example.views), origin=origin)
        for number, example in enumerate(documents(40))
    ]
    model, said = messages(lambda: kw.RelationExtractor(random_state=0).fit(one))
    assert (model.n_documents_, said) == (1, [])


def test_enough_test_documents_are_not_told(extractor):
    new = documents(12, start=20)
    scores, said = messages(lambda: extractor.evaluate(new))
    assert scores.n_relations >= MIN_TEST_RELATIONS and said == []
