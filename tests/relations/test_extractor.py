"""Extractors: from annotated documents to relations, and back to what they were learned from."""

from __future__ import annotations

import copy
import warnings
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from annotated import documents, event_documents, event_sentence, sentence
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.errors import KernelInputError
from kernelwood.persist.estimators import check_restored
from kernelwood.persist.parts import split
from kernelwood.relations import RECIPES, Predictions, card_of
from kernelwood.text import Argument, Entity, Relation


@pytest.fixture(scope="module")
def extractor():
    return kw.RelationExtractor(random_state=0).fit(documents())


def labels(predictions):
    return [one.relation if one.positive else "none" for one in predictions]


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_learns_what_is_plain_to_see(recipe):
    model = kw.RelationExtractor(recipe, random_state=0).fit(documents(12))
    judged = model.predict(documents(4, start=12), all=True)
    right = [one.label == label for one, label in zip(judged, labels(judged), strict=True)]
    assert np.mean(right) > 0.9


@pytest.fixture(scope="module", params=RECIPES)
def fitted(request):
    options = {"nystrom": {"max_iter": 10}, "klsh-rf": {"n_estimators": 20}}.get(request.param)
    model = kw.RelationExtractor(request.param, options=options, random_state=7, n_jobs=1)
    return model.fit(documents())


def test_a_seed_gives_the_same_file(fitted, tmp_path):
    other = clone(fitted).set_params(n_jobs=2).fit(documents())
    for name, model in (("a", fitted), ("b", other)):
        kw.save(model, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_loaded_extractor_says_the_same(fitted, tmp_path):
    kw.save(fitted, tmp_path / "model.kw")
    loaded = kw.load(tmp_path / "model.kw")
    new = documents(1, start=20)
    first, second = (m.predict(new, all=True) for m in (fitted, loaded))
    assert [one.to_dict(evidence=True) for one in first] == [
        one.to_dict(evidence=True) for one in second
    ]


def test_directions_are_learned_where_both_occur(extractor):
    assert extractor.classes_.tolist() == ["Activates(e1,e2)", "Activates(e2,e1)", "Binds", "none"]
    assert extractor.relations_ == ("Activates", "Binds")


def test_symmetric_relations_have_no_direction():
    model = kw.RelationExtractor(symmetric=["Activates"], random_state=0).fit(documents())
    assert model.classes_.tolist() == ["Activates", "Binds", "none"]


def test_binary_labels_tell_relations_from_the_rest():
    model = kw.RelationExtractor(labels="binary", random_state=0).fit(documents())
    assert model.classes_.tolist() == ["none", "relation"]


def test_arguments_stand_in_the_order_of_the_annotation(extractor):
    example = kw.Example("new", views={"sentence": sentence(1, "Foo", "Bar")})
    [found] = extractor.predict([example])
    assert found.type == "Activates"
    assert [(one.role, one.text) for one in found.participants] == [
        ("Arg1", "Bar"),
        ("Arg2", "Foo"),
    ]


def test_offsets_point_into_the_text(extractor):
    [example] = documents(1, patterns=[2])
    text = example.view("sentence").text
    [found] = extractor.predict([example])
    for one in found.participants:
        [(start, end)] = one.spans
        assert text[start:end] == one.text


def test_offsets_of_a_sentence_are_those_of_its_document(extractor):
    from dataclasses import replace

    [example] = documents(1, patterns=[2])
    moved = example.with_views({"sentence": replace(example.view("sentence"), start=100)})
    [here], [there] = extractor.predict([example]), extractor.predict([moved])
    assert there.sentence[0] == 100
    assert there.participants[0].spans[0][0] == here.participants[0].spans[0][0] + 100


def in_double_precision(kernel):
    return kernel.clone().set_params(
        **{name: "float64" for name in kernel.get_params() if name.endswith("dtype")}
    )


def test_single_precision_moves_no_score_that_is_shown(extractor):
    kernel = in_double_precision(extractor.learner_.kernel_)
    assert kernel.dtype == "float64" != extractor.learner_.kernel_.dtype
    double = kw.RelationExtractor(kernel=kernel, random_state=0).fit(documents())
    new = documents(3, start=20)
    scores = [[one.probability for one in m.predict(new, all=True)] for m in (extractor, double)]
    np.testing.assert_allclose(*scores, atol=1e-6)


def test_scores_are_probabilities_and_the_threshold_decides(extractor):
    judged = extractor.predict(documents(4, start=20), all=True)
    assert all(0 <= one.probability <= 1 for one in judged)
    assert all(one.positive == (one.probability >= extractor.threshold_) for one in judged)
    found = extractor.predict(documents(4, start=20))
    assert [one.id for one in found] == [one.id for one in judged.relations]


def test_one_document_is_dealt_by_sentences():
    one = [
        kw.Example(f"d1.s{number}", views=example.views)
        for number, example in enumerate(documents(6))
    ]
    model = kw.RelationExtractor(views="context", random_state=0)
    with pytest.warns(UserWarning, match="all sentences are from one document"):
        found = model.cross_validate(one, n_splits=3, n_bootstrap=0)
    assert found.pooled.n_candidates == len(one)
    assert len(found.parts) == 3


def test_too_many_candidates_are_told_with_the_recipes_that_take_them(monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1_000))
    with (
        kw.config_context(memory=1_000),
        pytest.raises(MemoryError, match="Choose the recipe nystrom") as e,
    ):
        kw.RelationExtractor(random_state=0).fit(documents())
    assert "n_landmarks" not in str(e.value)


def test_too_many_candidates_for_landmarks_are_told_with_the_recipe_that_takes_them(monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1_000))
    model = kw.RelationExtractor("nystrom", views="context", random_state=0)
    with (
        kw.config_context(memory=1_000),
        pytest.raises(MemoryError, match="Choose the recipe landmark-ridge"),
    ):
        model.fit(documents())


def test_another_threshold_decides_anew(extractor):
    judged = extractor.predict(documents(4, start=20), all=True)
    line = sorted(one.probability for one in judged)[3]
    changed = judged.with_threshold(line)
    assert [one.positive for one in changed] == [one.probability >= line for one in judged]
    assert {one.threshold for one in changed} == {line}
    assert [one.id for one in changed] == [one.id for one in judged]
    assert changed.tally.reasons == judged.tally.reasons
    assert changed[0].evidence == judged[0].evidence


@pytest.mark.parametrize("wrong", [float("nan"), np.str_("f1"), "f1", 1.5, -0.1, True, None])
def test_a_threshold_is_a_probability(wrong):
    with pytest.raises(KernelInputError, match="threshold must be a probability from 0 to 1"):
        Predictions().with_threshold(wrong)


def test_printed_predictions_are_a_table(extractor, monkeypatch):
    judged = extractor.predict(documents(4, start=20), all=True)
    monkeypatch.setattr("kernelwood.relations.predictions._SHOWN", 2)
    titles, *rows, more, counts = str(judged).splitlines()
    assert titles.split() == ["document", "type", "probability", "participants", "sentence"]
    assert [row.partition(":")[0] for row in rows] == [one.document for one in judged[:2]]
    assert all(f"{one.probability:.3f}" in row for one, row in zip(judged, rows, strict=False))
    assert more == f"… and {len(judged) - 2} more"
    assert counts == f"{len(judged.relations)} relations among {len(judged)} candidates"
    assert "more" not in str(judged[:2])
    assert str(judged[:0]) == "0 relations among 0 candidates"


def test_a_share_is_that_of_the_highest_scores(extractor):
    judged = extractor.predict(documents(4, start=20), all=True)
    found = judged.with_positive_rate(0.25).relations
    least = min(one.probability for one in found)
    assert len(found) == sum(one.probability >= least for one in judged) >= len(judged) // 4
    assert sum(one.probability > least for one in judged) < len(judged) / 4


def test_the_share_of_the_training_documents_is_known(extractor):
    assert extractor.positive_rate_ == extractor.n_relations_ / extractor.n_candidates_


def test_nothing_has_no_share(extractor):
    assert len(extractor.predict([], all=True).with_positive_rate(0.5)) == 0


@pytest.mark.parametrize("share", [0, 1, -0.5, 2.0])
def test_a_share_that_is_none_is_refused(extractor, share):
    with pytest.raises(ValueError, match="positive_rate must be a number between 0 and 1"):
        extractor.predict(documents(1), all=True).with_positive_rate(share)


def test_what_is_denied_can_be_learned():
    # The same words but for one, which is not on the path.
    def one(name, denied):
        words = ["Raf", "does", "not" if denied else "now", "bind", "Ras"]
        sentence = kw.Sentence.from_words(
            words,
            dependencies=[(3, "nsubj", 0), (3, "aux", 1), (3, "advmod", 2), (3, "dobj", 4)],
            entities=[kw.text.Entity("a", "P", ((0, 3),)), kw.text.Entity("b", "P", ((18, 21),))],
            relations=[]
            if denied
            else [
                kw.text.Relation(
                    "r", "Binds", (kw.text.Argument("A", "a"), kw.text.Argument("B", "b"))
                )
            ],
        )
        return kw.Example(name, views={"sentence": sentence})

    train = [one(f"d{i}.s{int(denied)}", denied) for i in range(6) for denied in (False, True)]
    model = kw.RelationExtractor(random_state=0).fit(train)
    assert "negation" in model.views_
    yes, no = model.predict([one("x.s0", False), one("x.s1", True)], all=True)
    assert yes.probability > 0.7 > 0.3 > no.probability


def test_a_given_threshold_is_used():
    low, high = (
        kw.RelationExtractor(threshold=p, random_state=0).fit(documents()) for p in (0.01, 0.99)
    )
    new = documents(4, start=20)
    assert low.threshold_ == 0.01
    assert len(low.predict(new)) > len(high.predict(new))


def test_a_threshold_of_an_unknown_type_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match="'cuts', which is not a relation type"):
        kw.RelationExtractor(threshold={"cuts": 0.3}).fit(documents())


def test_evaluation_counts_what_is_right(extractor):
    scores = extractor.evaluate(documents(4, start=20))
    assert scores.f1 > 0.9
    assert scores.n_relations == sum(
        bool(e.view("sentence").relations) for e in documents(4, start=20)
    )
    assert 0.9 < scores.auc <= 1
    assert scores.to_dict()["f1"] == scores.f1


def test_unknown_relations_are_counted_as_missed(extractor):
    from dataclasses import replace

    [example] = documents(1, start=20, patterns=[2])
    old = example.view("sentence")
    new = replace(old, relations=[old.relations[0]._replace(type="Cuts")])
    scores = extractor.evaluate([example.with_views({"sentence": new}), *documents(1, start=25)])
    assert scores.unknown == {"Cuts": 1}
    assert scores.recall < 1


def test_cross_validation_judges_every_candidate_once(extractor):
    corpus = documents()
    validation = extractor.cross_validate(corpus, n_splits=4)
    assert len(validation.parts) == 4
    assert validation.pooled.n_candidates == extractor.n_candidates_
    assert validation.pooled.unknown == {}
    assert validation.pooled.f1 > 0.8


def test_held_out_figures_are_those_of_other_documents(extractor):
    assert extractor.held_out_["f1"] > 0.8
    assert set(extractor.held_out_) == {
        "precision", "recall", "f1", "auc", "average_precision", "calibration_error"
    }  # fmt: skip


def test_documents_without_relations_are_refused():
    with pytest.raises(kw.errors.KernelInputError, match=r"none of the .* is a relation"):
        kw.RelationExtractor().fit(documents(patterns=[4, 5]))


def test_documents_with_relations_only_are_refused():
    with pytest.raises(kw.errors.KernelInputError, match="no negative examples"):
        kw.RelationExtractor().fit(documents(patterns=[0, 2]))


def test_documents_without_entities_are_refused():
    plain = kw.Example("d1.s1", views={"sentence": kw.Sentence.from_words(["we", "go"])})
    with pytest.raises(kw.errors.KernelInputError, match="no sentence has two entities"):
        kw.RelationExtractor(parser="given").fit([plain])


def test_no_documents_are_refused():
    with pytest.raises(kw.errors.KernelInputError, match="learn from: no documents were given"):
        kw.RelationExtractor().fit([])


def test_a_text_in_place_of_documents_is_noticed():
    with pytest.raises(
        KernelInputError, match=r"fit: 'Raf binds Ras\.' is a text without annotation"
    ):
        kw.RelationExtractor().fit(["Raf binds Ras."])


def test_structures_are_refused_with_a_hint():
    with pytest.raises(kw.errors.KernelInputError, match="extract takes texts"):
        kw.RelationExtractor().fit(["Raf binds Ras."])


def test_sentences_with_too_many_entities_are_counted_not_judged(extractor):
    words = [f"P{i}" for i in range(61)]
    starts = [sum(len(word) + 1 for word in words[:i]) for i in range(61)]
    entities = [
        kw.text.Entity(f"e{i}", "protein", ((starts[i], starts[i] + len(words[i])),), words[i])
        for i in range(61)
    ]
    crowd = kw.Sentence.from_words(words, dependencies=[(0, "x", 1)], entities=entities)
    found = extractor.predict([kw.Example("crowd", views={"sentence": crowd})], all=True)
    assert len(found) == 0
    assert found.tally.reasons == {"pair of a sentence with more than 60 entities": 1830}


def test_an_extractor_must_be_fitted():
    with pytest.raises(NotFittedError):
        kw.RelationExtractor().predict(documents())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"recipe": "smv"}, "did you mean 'svm'"),
        ({"candidates": "triples"}, "candidates"),
        ({"labels": "x"}, "labels"),
        ({"threshold": "best"}, "threshold"),
        ({"threshold": 1.5}, "threshold"),
        ({"n_splits": 1}, "n_splits"),
        ({"options": {"c": 1}}, "no option 'c'"),
        ({"kernel": 3}, "kernel must be a Kernel"),
        ({"views": ["path"], "kernel": kw.OnView("words", kw.SubsequenceKernel())}, "'words'"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        kw.RelationExtractor(**parameters).fit(documents())


def test_an_unknown_view_is_refused():
    with pytest.raises(ValueError, match="unknown view 'paht'"):
        kw.RelationExtractor(views=["paht"]).fit(documents())


def test_a_view_that_is_named_twice_is_one_view():
    once, twice = (
        kw.RelationExtractor(views=views, n_splits=2, random_state=0).fit(documents())
        for views in (["path"], ["path", "path"])
    )
    assert twice.views_ == once.views_ == ["path"]
    candidates = kw.relations.pair_candidates(documents())
    assert list(candidates.viewed("path", "path").table.views) == ["path"]


def test_a_kernel_of_ones_own_is_used():
    kernel = kw.OnView("path", kw.SubsequenceKernel(decay=0.5))
    model = kw.RelationExtractor(kernel=kernel, random_state=0).fit(documents())
    assert model.views_ == ["path"]
    assert model.learner_.kernel_ == kernel


def nominal(number, first, verb, second, label):
    """Return a sentence on two nouns, whose relation is a matter of the nouns."""
    ends = [
        Entity("e1", "noun", ((4, 4 + len(first)),)),
        Entity("e2", "noun", ((10 + len(first) + len(verb), 10 + len(first + verb + second)),)),
    ]
    arguments = (Argument("Arg1", "e1"), Argument("Arg2", "e2"))
    return kw.Example(
        f"n{number}.s0",
        views={
            "sentence": kw.Sentence.from_words(
                ["the", first, verb, "the", second],
                dependencies=[(1, "det", 0), (2, "nsubj", 1), (2, "dobj", 4), (4, "det", 3)],
                entities=ends,
                relations=[Relation("r1", label, arguments)] if label else [],
            )
        },
    )


CAUSES, TOOLS, EFFECTS = ("storm", "flood", "quake"), ("hammer", "saw", "drill"), ("harm", "loss")


def nominals(n=6):
    rows = [
        (cause, "meets", effect, "Causes" if cause in CAUSES else None)
        for _ in range(n)
        for cause in CAUSES + TOOLS
        for effect in EFFECTS
    ]
    return [nominal(number, *row) for number, row in enumerate(rows)]


def test_words_of_entities_are_compared_where_they_help(extractor):
    model = kw.RelationExtractor(random_state=0).fit(nominals())
    assert model.views_[-1] == "stem-entity-words"
    assert model.trial_["words"] > model.trial_["blind"] + 0.3
    found = model.predict([nominal(0, "storm", "hits", "loss", None)], all=True)
    assert found.positive.all()
    assert extractor.views_[-1] != "stem-entity-words"
    assert set(extractor.trial_) == {"blind", "words"}


def test_the_matrix_of_the_trial_is_that_of_training():
    """The extractor is that of the choice, without the evaluations that this costs."""
    for corpus, words in ((nominals(), True), (load_interactions("train"), False)):
        fitted = {}
        for blind in ("auto", not words):
            model = kw.RelationExtractor(blind=blind, random_state=0)
            with kw.compute.counting() as counters:
                fitted[blind] = model.fit(corpus)
            n = model.n_candidates_
            # The trial compares the words of entities, once or twice, and nothing else again.
            assert counters.kernel_evaluations // (n * (n + 1) // 2) == (1 + (blind == "auto")) + (
                blind == "auto" and words
            )
        one, two = fitted["auto"], fitted[not words]
        assert one.views_ == two.views_ and one.threshold_ == two.threshold_
        assert (one.learner_.coefficients_ == two.learner_.coefficients_).all()
        assert (one.learner_.intercepts_ == two.learner_.intercepts_).all()
        assert one.learner_.kernel_evaluations_ == two.learner_.kernel_evaluations_


@pytest.mark.parametrize("recipe", ["ridge", "nystrom"])
def test_a_trial_for_a_recipe_that_reads_no_matrix_finds_the_same(recipe):
    expected = kw.RelationExtractor(random_state=0).fit(nominals(3))
    model = kw.RelationExtractor(recipe, random_state=0).fit(nominals(3))
    assert model.trial_ == expected.trial_


@pytest.mark.parametrize("blind", [True, False])
def test_a_choice_needs_no_trial(blind):
    model = kw.RelationExtractor(blind=blind, random_state=0).fit(nominals(2))
    assert (model.views_[-1] == "stem-entity-words") == (not blind)
    assert model.trial_ == {}


def test_word_vectors_make_words_of_entities_similar():
    words = [*CAUSES, "typhoon", *TOOLS, "lathe", *EFFECTS]
    matrix = [[1, 0, 0]] * 4 + [[0, 1, 0]] * 4 + [[0, 0, 1]] * 2
    vectors = kw.Vectors(words, matrix)
    model = kw.RelationExtractor(vectors=vectors, random_state=0).fit(nominals())
    assert model.views_[-1] == "entity-words"
    new = [nominal(1, "typhoon", "meets", "loss", None), nominal(2, "lathe", "meets", "loss", None)]
    assert model.predict(new, all=True).positive.tolist() == [True, False]


def test_vectors_that_are_not_used_are_reported():
    vectors = kw.Vectors(["binds", "grips"], [[1.0, 0.0], [1.0, 0.1]])
    with pytest.warns(UserWarning, match="word vectors are not used"):
        kw.RelationExtractor(vectors=vectors, random_state=0).fit(documents())


def test_types_of_entities_count_where_relations_have_types():
    typed = kw.RelationExtractor(random_state=0).fit(documents())
    plain = kw.RelationExtractor(labels="binary", random_state=0).fit(documents())
    single = kw.RelationExtractor(random_state=0).fit(documents(patterns=[2, 4, 5]))
    assert "types" in typed.views_
    assert "types" not in plain.views_ + single.views_


def test_cloning_keeps_the_parameters():
    model = kw.RelationExtractor("klsh-rf", options={"n_bits": 64}, threshold="cautious")
    assert clone(model).get_params() == model.get_params()


def test_the_model_does_not_know_where_the_corpus_lay(extractor):
    assert all(case.origin is None for case in extractor.cases_)


def test_what_could_not_be_learned_from_is_counted(extractor):
    from dataclasses import replace

    [example] = documents(1, patterns=[0])
    old = example.view("sentence")
    alone = old.relations[0]._replace(id="r2", arguments=old.relations[0].arguments[:1])
    odd = example.with_views({"sentence": replace(old, relations=[*old.relations, alone])})
    model = clone(extractor).fit([*documents(), odd])
    assert model.dropped_ == {"relation that is not between two entities": 1}


def test_predictions_are_not_judged_again(extractor):
    judged = extractor.predict(documents(4, start=20), all=True)
    assert (
        extractor.evaluate(judged).to_dict() == extractor.evaluate(documents(4, start=20)).to_dict()
    )


def test_parts_of_a_cross_validation_have_the_same_classes():
    # In most parts, "Activates" runs one way only.
    corpus = [*documents(4, patterns=[0, 4, 5]), *documents(1, start=4, patterns=[1, 4])]
    validation = kw.RelationExtractor(random_state=0).cross_validate(corpus, n_splits=5)
    names = {one.label for one in validation.pooled.scores.classes}
    assert names == {"Activates(e1,e2)", "Activates(e2,e1)", "none"}


def test_a_failed_fit_leaves_nothing_half_way(extractor):
    model = clone(extractor).fit(documents())
    with pytest.raises(kw.errors.KernelInputError):
        model.fit([])
    with pytest.raises(NotFittedError):
        model.predict(documents())


def test_parses_of_another_kind_are_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kw.RelationExtractor(random_state=0).fit(documents())
    dictionary = kw.Dictionary([("Raf", "protein"), ("Ras", "protein")])
    with pytest.warns(UserWarning, match="train and extract with the same parser"):
        model.extract("Raf binds Ras well.", dictionary=dictionary)


def test_the_card_tells_what_the_model_is(extractor):
    card = card_of(extractor)
    assert card["relations"] == ["Activates", "Binds"]
    assert card["parser"] == "given"
    assert card["training_candidates"] == extractor.n_candidates_


# Events.


def test_events_have_triggers_participants_and_catalysts():
    model = kw.RelationExtractor(candidates="events", random_state=0).fit(event_documents())
    found = model.predict(event_documents(1))
    assert {one.type for one in found} <= {"Positive", "Negative"}
    roles = {role.role for one in found for role in one.participants}
    assert roles == {"participant", "catalyst"}
    assert all(one.trigger.text in ("promotes", "blocks") for one in found)


def test_triggers_are_found_in_sentences_without_events():
    from dataclasses import replace

    model = kw.RelationExtractor(candidates="events", random_state=0).fit(event_documents())
    old = event_sentence("promotes", "Positive", True)
    new = replace(old, events=(), entities=[e for e in old.entities if e.id != "T9"])
    found = model.predict([kw.Example("x", views={"sentence": new})])
    assert found[0].trigger.text == "promotes"
    assert found[0].type == "Positive"


def crowded(name):
    """Return a sentence in which Sos promotes the last of two entities, which is far away."""
    words = ["Sos", "promotes", "Ras", "and", "Raf"]
    spans = [((0, 3),), ((4, 12),), ((13, 16),), ((17, 20),), ((21, 24),)]
    entities = [kw.text.Entity(f"T{i}", "Protein", spans[i], words[i]) for i in (0, 2, 4)]
    entities.append(kw.text.Entity("T9", "Positive", spans[1], "promotes"))
    roles = (kw.text.Argument("Theme", "T4"), kw.text.Argument("Cause", "T0"))
    sentence = kw.Sentence.from_words(
        words,
        dependencies=[(1, "nsubj", 0), (1, "dobj", 2), (2, "conj_and", 4)],
        entities=entities,
        events=[kw.text.Event("E1", "Positive", "T9", roles)],
    )
    return kw.Example(name, views={"sentence": sentence})


def test_events_learn_the_forms_of_their_type():
    model = kw.RelationExtractor(candidates="events", random_state=0).fit(event_documents(30))
    assert model.forms_ == {"Negative": [[1, 1]], "Positive": [[1, 1]]}
    found = model.predict(event_documents(1), all=True)
    assert {len(one.participants) for one in found} == {2}


@pytest.mark.filterwarnings("ignore:overlap")
def test_events_that_no_candidate_stands_for_count_as_missed():
    model = kw.RelationExtractor(candidates="events", max_entities=2, random_state=0)
    model.fit(event_documents())
    known = [kw.Example(f"new{e.id}", views=e.views) for e in event_documents(1)]
    all_found = model.evaluate(model.predict(known, all=True), n_bootstrap=0)
    assert (all_found.recall, all_found.n_relations) == (1.0, 2)
    half = model.evaluate(model.predict([*known, crowded("new2.s0")], all=True), n_bootstrap=0)
    assert (half.recall, half.n_relations) == (pytest.approx(2 / 3), 3)
    assert half.average_precision < all_found.average_precision
    assert half.n_documents == all_found.n_documents + 1
    assert half.overlap.rest.n_relations == 1  # that of the sentence that is new
    assert half.unreachable["interaction that no candidate stands for"] == 1


@pytest.mark.filterwarnings("ignore:overlap")
def test_missed_events_count_in_held_out_figures_and_folds():
    corpus = event_documents() + [crowded(f"d{i}.s9") for i in range(6)]
    extractor = kw.RelationExtractor(candidates="events", max_entities=2, random_state=0)
    model = clone(extractor).fit(corpus)
    assert model.held_out_["recall"] <= 2 / 3
    assert model.type_f1_["Positive"] < model.type_f1_["Negative"] == 1.0
    validation = extractor.cross_validate(corpus, n_splits=3, n_bootstrap=0)
    assert validation.pooled.n_relations == 18
    assert validation.pooled.recall <= 2 / 3


def test_training_cases_are_stored_once(fitted, tmp_path):
    parts = Counter(part.name for part in split(fitted) if part.kind == "structures")
    # Least squares keep all cases, the others some of their rows.
    rows = {} if fitted.recipe == "ridge" else {"example-rows": 1}
    assert parts == {"examples": 1, "vector-rows": 1, **rows}
    kw.save(fitted, tmp_path / "first.kw")
    kw.save(kw.load(tmp_path / "first.kw"), tmp_path / "second.kw")
    assert (tmp_path / "first.kw").read_bytes() == (tmp_path / "second.kw").read_bytes()


def test_training_makes_no_examples(monkeypatch):
    corpus = documents()
    monkeypatch.setattr(kw.Example, "__new__", lambda *parts, **named: pytest.fail("an example"))
    monkeypatch.setattr(kw.Example, "_trusted", lambda *parts: pytest.fail("an example"))
    kw.RelationExtractor(random_state=0).fit(corpus)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("learner_", "svm", "learner_ must be a "),
        ("cases_", kw.batch([], kind=kw.arrays.ExampleBatch), "case"),
        ("cases_", kw.batch([kw.Sequence(["a"])]), "cases_ must be a ExampleBatch"),
        ("slopes_", np.full(4, np.nan), "slopes_ must be finite"),
        ("offsets_", 1, "offsets_ must be an array of float64"),
        ("curve_", np.ones(2), r"curve_ must be an array of shape \(3,\)"),
        ("threshold_", 1.5, "threshold_ must be a number from 0 to 1"),
        ("slopes_", -np.ones(4), "slopes_ must be at least 0"),
        ("curve_", -np.ones(3), "curve_ must not fall"),
        ("n_candidates_", -1, "n_candidates_ must be a whole number"),
        ("n_relations_", 1.0, "n_relations_ must be a whole number"),
        ("n_candidates_", 1, "n_relations_ must not exceed n_candidates_"),
        ("seed_", None, "seed_ must be a whole number"),
        ("views_", [1], "views_ must be strings"),
        ("parser_", None, "parser_ must be a string"),
        ("labels_", "other", "labels_ must be one of"),
        ("undirected_", "Binds", "undirected_ must be a list"),
        ("roles_", {"Binds": ["Arg1"]}, "roles_ at 'Binds' must have 2 items"),
        ("triggers_", [["binds"]], "triggers_ at 0 must have 2 items"),
        ("forms_", {"Binding": [[1]]}, "forms_ at 'Binding' at 0 must have 2 items"),
        ("dropped_", {1: 2}, "dropped_ must be a dictionary with names"),
    ],
)
def test_a_model_that_does_not_fit_together_is_refused(extractor, name, value, problem):
    model = copy.copy(extractor)
    check_restored(model)
    setattr(model, name, value)
    with pytest.raises(ValueError, match=problem):
        check_restored(model)
