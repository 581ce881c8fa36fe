"""Training on labeled pairs: the same as training on documents where every pair has a label."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from annotated import documents, event_documents
from sklearn.exceptions import NotFittedError

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.persist.estimators import check_restored
from kernelwood.relations import RECIPES, card_of, event_candidates, pair_candidates
from kernelwood.relations.labeled_pairs import PriorCases
from kernelwood.relations.learning import assign_folds
from kernelwood.relations.relation_classes import RelationClasses

TRAIN, TEST = documents(12), documents(1, start=12)


def pairs(examples=TRAIN, **options):
    return pair_candidates(examples, labels="directed", **options)


def labeled(rows, examples=TRAIN):
    """Return pairs of which only some have a label."""
    made = pairs(examples)
    wanted = set(rows)
    made.labels = [label if i in wanted else None for i, label in enumerate(made.labels)]
    return made


def fit(candidates, recipe="svm", *, parser=None, roles=None, cases=None, **options):
    model = kw.RelationExtractor(recipe, random_state=0, **options)
    return model.fit_candidates(candidates, parser=parser, roles=roles, cases=cases)


def answers(model, examples=TEST):
    found = model.predict(examples, all=True)
    return [one.to_dict(evidence=number < 1) for number, one in enumerate(found)]


# The same as training on documents.


@pytest.mark.parametrize("recipe", RECIPES)
def test_all_pairs_of_documents_give_the_extractor_of_the_documents(recipe):
    expected = kw.RelationExtractor(recipe, signatures=False, random_state=0).fit(TRAIN)
    found = fit(pairs(), recipe)
    assert answers(found) == answers(expected)
    assert found.held_out_ == expected.held_out_ and found.threshold_ == expected.threshold_


@pytest.mark.parametrize("labels", ["auto", "type", "directed", "binary"])
@pytest.mark.parametrize("symmetric", [None, ["Activates"]])
def test_classes_are_those_of_the_documents(labels, symmetric):
    options = {"labels": labels, "symmetric": symmetric}
    expected = kw.RelationExtractor(signatures=False, random_state=0, **options).fit(TRAIN)
    found = fit(pairs(), **options)
    assert found._classes() == expected._classes()
    assert answers(found) == answers(expected)


def test_an_annotated_corpus_gives_the_same_extractor():
    corpus = load_interactions("train")
    expected = kw.RelationExtractor("ridge", signatures=False, random_state=0).fit(corpus)
    found = fit(pairs(corpus), "ridge", parser=expected.parser_)
    assert found.trial_ == expected.trial_ and found.views_ == expected.views_
    test = load_interactions("test")[:5]
    assert answers(found, test) == answers(expected, test)


def test_other_relations_than_those_asked_for_count_as_none():
    expected = kw.RelationExtractor(signatures=False, relations=["Binds"], random_state=0)
    found = fit(pairs(), relations=["Binds"])
    assert found.classes_.tolist() == ["Binds", "none"]
    assert answers(found) == answers(expected.fit(TRAIN))


# Unknown labels.


def test_pairs_without_a_label_have_no_influence():
    some = [row for row in range(len(pairs())) if row % 3]
    found = fit(labeled(some))
    assert found.n_candidates_ == len(some)
    assert answers(found) == answers(fit(pairs().take(some)))


def test_pairs_without_a_label_do_not_count_as_documents():
    given, rows = pairs(), range(21)
    found = fit(labeled(rows))
    assert found.n_documents_ == len({given.groups()[row] for row in rows}) < 12
    assert found.n_sentences_ == len({given.sentence_of[row] for row in rows})


def test_kinds_of_pairs_are_not_learned_from_chosen_pairs(monkeypatch):
    monkeypatch.setattr("kernelwood.relations.signatures._EXPECTED", 0.0)
    monkeypatch.setattr("kernelwood.relations.signatures._SENTENCES", 1)
    examples = [
        one.with_views({"sentence": _with_drug(one.view("sentence"))}) if ".s4" in one.id else one
        for one in TRAIN
    ]
    learned = kw.RelationExtractor(random_state=0).fit(examples).signatures_
    assert learned["types"] == [["drug", "protein"]]
    assert fit(pairs(examples)).signatures_ == {"types": [], "kinds": []}


def _with_drug(sentence):
    first, *others = sentence.entities
    drug = kw.text.Entity(first.id, "drug", first.spans, first.text)
    return sentence.with_parts(entities=[drug, *others])


def test_given_candidates_are_not_changed():
    given = labeled(range(0, 60, 2))
    before = list(given.labels)
    fit(given)
    assert given.labels == before and len(given) == len(pairs())


# Directions.


def test_both_directions_are_learned():
    found = fit(pairs())
    assert found.classes_.tolist() == ["Activates(e1,e2)", "Activates(e2,e1)", "Binds", "none"]
    [passive] = found.predict(documents(1, start=12, patterns=[1]))
    assert passive.relation == "Activates(e2,e1)"
    assert [one.role for one in passive.participants] == ["Arg1", "Arg2"]
    assert passive.participants[0].spans > passive.participants[1].spans


def test_roles_can_be_named():
    found = fit(pairs(), roles={"Activates": ("Cause", "Theme"), "Never": ("A", "B")})
    [one] = found.predict(documents(1, start=12, patterns=[1]))
    assert [end.role for end in one.participants] == ["Cause", "Theme"]
    assert "Never" not in found.roles_


def test_types_with_equal_roles_have_no_direction():
    found = fit(pairs(), roles={"Activates": ("Part", "Part")})
    assert found.classes_.tolist() == ["Activates", "Binds", "none"]


def test_labels_may_have_no_direction():
    given = pairs()
    given.labels = [label.split("(")[0] for label in given.labels]
    found = fit(given)
    assert found.classes_.tolist() == ["Activates", "Binds", "none"]
    assert found.roles_ == {"Activates": ["", ""], "Binds": ["", ""]}


def test_a_type_needs_directions_everywhere_or_nowhere():
    given = pairs()
    first = given.labels.index("Activates(e1,e2)")
    given.labels[first] = "Activates"
    with pytest.raises(kw.errors.KernelInputError, match=r"'Activates' have a direction, and some"):
        fit(given)
    assert fit(given, symmetric=["Activates"]).classes_.tolist() == ["Activates", "Binds", "none"]


# Few labels.


def of_each(counts, examples=TRAIN):
    """Return pairs with a number of labels of each class, in different documents."""
    made = pairs(examples)
    names = [label.split("(")[0] for label in made.labels]
    rows = []
    for name, count in counts.items():
        rows += [row for row, other in enumerate(names) if other == name][-count:]
    return labeled(rows, examples)


FEW = [
    {"none": 1, "Binds": 1},
    {"none": 6, "Binds": 3, "Activates": 1},
    {"none": 2, "Binds": 1},
    {"none": 1, "Binds": 8},
    {"none": 20, "Binds": 1},
]


@pytest.mark.filterwarnings("ignore:KernelHasher")  # of two or three cases
@pytest.mark.parametrize(
    ("recipe", "counts"),
    [(name, one) for name in RECIPES for one in (FEW if name in ("svm", "ridge") else FEW[:2])],
)
def test_few_labels_are_enough_to_train(recipe, counts, tmp_path):
    found = fit(of_each(counts), recipe)
    assert found.n_candidates_ == sum(counts.values())
    assert found.type_examples_ == {name: n for name, n in counts.items() if name != "none"}
    assert np.isfinite([one.probability for one in found.predict(TEST, all=True)]).all()
    kw.save(found, tmp_path / "model.kw")
    assert answers(kw.load(tmp_path / "model.kw")) == answers(found)


def test_a_few_labels_in_two_documents_are_split_between_them():
    rows = [row for row, group in enumerate(pairs().groups()) if group in ("d0", "d1")]
    found = fit(labeled(rows), n_splits=5)
    assert found.n_documents_ == 2 and found.held_out_["f1"] is not None


def test_folds_of_rare_classes_are_not_stratified():
    groups = list("abcd")
    folds = assign_folds(groups, range(4), ["none", "x", "y", "z"], 3, seed=0)
    assert sorted(set(folds.tolist())) == [0, 1, 2]


def test_labels_in_one_sentence_cannot_be_held_out():
    given = pairs(load_interactions("train"))
    [(largest, n)] = Counter(given.sentence_of).most_common(1)
    given = given.take(row for row, one in enumerate(given.sentence_of) if one == largest)
    given.labels = ["Binds", *["none"] * (n - 1)]
    with pytest.raises(kw.errors.KernelInputError, match="all candidates are in one sentence"):
        fit(given)


# As after fit.


@pytest.fixture(scope="module")
def taught():
    return fit(labeled(range(0, 70, 2)), "ridge", parser="biomedical")


def test_all_fitted_attributes_are_set(taught):
    assert all(hasattr(taught, name) for name in taught._fitted)
    check_restored(taught)
    assert taught.parser_ == "biomedical"
    assert card_of(taught)["training_candidates"] == 35
    assert taught.n_relations_ == sum(label != "none" for label in taught.cases_.labels)


def test_a_saved_extractor_says_the_same(taught, tmp_path):
    kw.save(taught, tmp_path / "model.kw")
    loaded = kw.load(tmp_path / "model.kw")
    with pytest.warns(UserWarning, match="parses"):
        assert answers(loaded) == answers(taught)


def test_predictions_have_evidence_among_the_labeled_pairs(taught):
    with pytest.warns(UserWarning, match="parses"):
        found = taught.predict(TEST)
    known = set(labeled(range(0, 70, 2)).ids)
    assert found[0].evidence.supporting
    assert {case.id for one in found for case in one.evidence} <= known


def test_the_number_of_threads_changes_nothing(tmp_path):
    for n_jobs in (1, 2):
        kw.save(fit(labeled(range(50)), "ridge", n_jobs=n_jobs), tmp_path / f"{n_jobs}.kw")
    assert (tmp_path / "1.kw").read_bytes() == (tmp_path / "2.kw").read_bytes()


def test_training_documents_are_recognized(taught):
    with pytest.warns(UserWarning, match=r"parses|overlap|uncertain"):
        scores = taught.evaluate(TRAIN[:14], n_bootstrap=0)
    assert scores.overlap.n_candidates == 7


def test_a_failed_training_leaves_no_part_of_the_last():
    model = fit(pairs())
    given = pairs()
    given.labels = ["none"] * len(given)
    with pytest.raises(kw.errors.KernelInputError):
        model.fit_candidates(given)
    with pytest.raises(NotFittedError):
        model.predict(TEST)


def test_a_matrix_beyond_the_memory_budget_names_other_recipes():
    advice = "Choose the recipe svm, which can use a temporary file,\n    or the recipe nystrom"
    with (
        kw.config_context(memory="50KB"),  # 72² × 16 bytes
        pytest.raises(kw.errors.MemoryBudgetError, match=advice),
    ):
        fit(pairs(), "ridge")


# Cases of another extractor.


@pytest.fixture(scope="module")
def prior():
    return kw.RelationExtractor("ridge", random_state=0, signatures=False).fit(documents(8))


def test_cases_of_another_extractor_are_further_examples(prior):
    both = kw.RelationExtractor("ridge", views=prior.views_, signatures=False, random_state=0)
    expected = both.fit([*documents(4, start=8), *documents(8)])
    found = fit(pairs(documents(4, start=8)), "ridge", cases=prior)
    assert found.n_candidates_ == expected.n_candidates_
    assert found.n_documents_ == expected.n_documents_ == 12
    assert found.n_sentences_ == expected.n_sentences_
    assert found.cases_.ids == expected.cases_.ids
    assert answers(found) == answers(expected)


def test_a_label_replaces_the_case_of_the_same_pair(prior):
    given = pairs(documents(8))
    row = given.labels.index("none")
    given = given.take([row, row + 1])
    given.labels = ["Binds", "none"]
    found = fit(given, "ridge", cases=prior)
    assert found.n_candidates_ == prior.n_candidates_
    assert found.cases_.ids.count(given.ids[0]) == 1
    assert found.cases_.labels[0] == "Binds"
    found._case_texts().check(found.n_candidates_)
    assert str(found._case_texts().marked(0)) == str(prior._case_texts().marked(row))


def test_a_label_of_one_class_is_enough_with_cases(prior):
    given = labeled([3], documents(4, start=8))
    found = fit(given, "ridge", cases=prior)
    assert found.n_candidates_ == prior.n_candidates_ + 1


def test_types_of_cases_keep_their_classes_and_new_types_are_learned(prior):
    given = pairs(documents(4, start=8))
    given.labels = [label.replace("Activates", "Cuts") for label in given.labels]
    found = fit(given, "ridge", cases=prior)
    assert found.classes_.tolist() == [
        "Activates(e1,e2)", "Activates(e2,e1)", "Binds", "Cuts(e1,e2)", "Cuts(e2,e1)", "none",
    ]  # fmt: skip
    assert found.roles_["Cuts"] == ["Arg1", "Arg2"]


def test_directions_that_follow_from_entity_types_are_those_of_the_cases(prior):
    cases = PriorCases.of(prior, kw.RelationExtractor())
    own = RelationClasses("directed", ("Binds",), {"Binds": ["", ""], "Treats": ["A", "B"]},
                          {"Treats": [["drug", "disease"]]})  # fmt: skip
    new = RelationClasses("directed", ("Binds", "Treats"), {"Cuts": ["C", "D"], "Treats": ["", ""]},
                          {"Cuts": [["gene", "drug"]], "Treats": [["x", "y"]]})  # fmt: skip
    assert replace(cases, classes=own).extended(new) == RelationClasses(
        "directed",
        ("Binds",),
        {"Binds": ["", ""], "Cuts": ["C", "D"], "Treats": ["A", "B"]},
        {"Cuts": [["gene", "drug"]], "Treats": [["drug", "disease"]]},
    )


def test_cases_of_a_shared_sentence_are_held_out_together(prior):
    named = [f"x{row}" for row in range(2)]
    texts = prior._case_texts()
    shared = texts.take([0, 9])
    cases = PriorCases.of(prior, kw.RelationExtractor())
    groups = cases.documents(shared, named)
    ids = prior.cases_.ids
    first, second = (ids[row].split(".")[0] for row in (0, 9))
    assert {group for id, group in zip(ids, groups, strict=True) if id.startswith(f"{first}.")} == {
        "x0"
    }
    assert {
        group for id, group in zip(ids, groups, strict=True) if id.startswith(f"{second}.")
    } == {"x1"}
    assert set(groups) - set(named) == {id.split(".")[0] for id in ids} - {first, second}


def test_an_extractor_with_cases_is_saved(prior, tmp_path):
    found = fit(pairs(documents(4, start=8)), cases=prior)
    kw.save(found, tmp_path / "model.kw")
    assert answers(kw.load(tmp_path / "model.kw")) == answers(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"views": ["path"]}, "the cases do not have the view 'path'"),
        ({"labels": "binary"}, "the cases have labels='directed', but this extractor has"),
        ({"vectors": kw.Vectors(["a"], [[1.0]])}, "vectors have no effect"),
    ],
)
def test_cases_must_fit(prior, options, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        fit(pairs(documents(4, start=8)), "ridge", cases=prior, **options)


def test_cases_without_types_need_labels_without_types():
    binary = kw.RelationExtractor("ridge", labels="binary", random_state=0).fit(documents(8))
    given = pairs(documents(4, start=8))
    with pytest.raises(kw.errors.KernelInputError, match="labels of the type 'Activates'"):
        fit(given, "ridge", cases=binary)
    assert fit(given, "ridge", labels="binary", cases=binary).classes_.tolist() == [
        "none", "relation",
    ]  # fmt: skip


@pytest.mark.parametrize("cases", ["model.kw", 3])
def test_cases_must_be_an_extractor(cases):
    with pytest.raises(kw.errors.KernelInputError, match="cases must be a RelationExtractor"):
        fit(pairs(), cases=cases)


def test_cases_must_be_fitted_and_of_pairs():
    with pytest.raises(NotFittedError):
        fit(pairs(), cases=kw.RelationExtractor())
    events = kw.RelationExtractor(candidates="events", random_state=0).fit(event_documents())
    with pytest.raises(kw.errors.KernelInputError, match="an extractor of pairs"):
        fit(pairs(), cases=events)


# Wrong input.


@pytest.mark.parametrize("given", [None, [], TRAIN, "corpus.xml", list(pairs())])
def test_other_things_than_candidates_are_refused(given):
    with pytest.raises(kw.errors.KernelInputError, match="candidates must be Candidates"):
        fit(given)


@pytest.mark.parametrize("label", [1, 0, True, 0.5, "", "(e1,e2)", ("Binds",)])
def test_labels_of_another_form_are_named(label):
    given = pairs()
    given.labels[4] = label
    with pytest.raises(kw.errors.KernelInputError) as caught:
        fit(given)
    assert given.ids[4] in str(caught.value) and "labels='directed'" in str(caught.value)


def test_binary_labels_are_refused():
    with pytest.raises(kw.errors.KernelInputError, match="a label is 'none', 'Binds'"):
        fit(pair_candidates(TRAIN))


def test_events_are_refused():
    given = event_candidates(event_documents())
    given.labels = ["none" if label == 0 else "Binds" for label in given.labels]
    with pytest.raises(kw.errors.KernelInputError, match="not a pair of entities"):
        fit(given)
    with pytest.raises(kw.errors.KernelInputError, match="candidates='pairs'"):
        kw.RelationExtractor(candidates="events").fit_candidates(pairs())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda label: None, "none of the 72 candidates has a label"),
        (lambda label: "none", "none of the 72 labeled candidates is a relation"),
        (lambda label: "Binds", "none of the 72 labeled candidates is labeled 'none'"),
        (lambda label: None if label == "none" else label, "labeled candidates is labeled 'none'"),
    ],
)
def test_labels_of_one_kind_are_refused(change, message):
    given = pairs()
    given.labels = [change(label) for label in given.labels]
    with pytest.raises(kw.errors.KernelInputError, match=message):
        fit(given)


def test_no_candidates_are_refused():
    with pytest.raises(kw.errors.KernelInputError, match="there are no candidates"):
        fit(pairs([]))


@pytest.mark.parametrize(
    "roles", [{"Binds": "ab"}, {"Binds": ("a",)}, {"Binds": (1, 2)}, ["Binds"]]
)
def test_roles_must_be_two_names(roles):
    with pytest.raises(kw.errors.KernelInputError, match="roles must have two names"):
        fit(pairs(), roles=roles)


def test_parameters_are_checked():
    with pytest.raises(kw.errors.KernelInputError, match="n_splits"):
        fit(pairs(), n_splits=1)
    with pytest.raises(kw.errors.KernelInputError, match="threshold names 'Cuts'"):
        fit(pairs(), threshold={"Cuts": 0.5})
