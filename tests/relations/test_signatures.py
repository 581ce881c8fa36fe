"""Kinds of pairs that are never related, and directions that follow from entity types."""

from __future__ import annotations

import copy
from collections import Counter

import pytest
from annotated import NAMES
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.io import Claim
from kernelwood.persist.estimators import check_restored
from kernelwood.relations.candidates import Candidates, pairs_in
from kernelwood.relations.corpus import SentenceTable, example_entries
from kernelwood.relations.relation_classes import RelationClasses
from kernelwood.relations.signatures import Signatures
from kernelwood.text import Argument, Entity, Relation, Sentence

TEMPLATES = [
    # Words, types of the entities, and the places of drug and disease if they are related.
    ("@ cures @ .", "Drug Disease", (0, 2)),
    ("@ is cured by @ .", "Disease Drug", (4, 0)),
    ("@ meets @ daily .", "Drug Disease", None),
    ("@ was given with @ .", "Drug Drug", None),
    ("@ follows @ .", "Disease Disease", None),
]


def example(id, template, names, related=True):
    """Return an example of a template; ``related`` is False for other texts."""
    words, types, relation = TEMPLATES[template]
    given_names, kinds = iter(names), iter(types.split())
    places = [place for place, word in enumerate(words.split()) if word == "@"]
    made = [next(given_names) if word == "@" else word for word in words.split()]
    starts = [sum(len(word) + 1 for word in made[:place]) for place in range(len(made))]
    entities = [
        Entity(f"e{place}", next(kinds), ((starts[place], starts[place] + len(made[place])),))
        for place in places
    ]
    relations = []
    if relation is not None and related:
        drug, disease = (f"e{place}" for place in relation)
        relations = [Relation("r", "Cures", (Argument("Drug", drug), Argument("What", disease)))]
    arcs = [(1, "dep", place) for place in range(len(made)) if place != 1]
    sentence = Sentence.from_words(made, dependencies=arcs, entities=entities, relations=relations)
    return kw.Example(id, views={"sentence": sentence})


def corpus(n=14):
    return [
        example(f"d{d}.s{t}", t, (NAMES[(d + t) % 10], NAMES[(d + 2 * t + 3) % 10]))
        for d in range(n)
        for t in range(len(TEMPLATES))
    ]


@pytest.fixture(scope="module")
def model():
    return kw.RelationExtractor(random_state=0).fit(corpus())


def candidates(examples):
    table = SentenceTable.read(example_entries(examples), Counter())
    classes = RelationClasses.learn(table.sentences, "auto", (), None)
    made = pairs_in(table, labels="directed")
    made.labels = [
        classes.of(label, *(entity.type for _, entity in pair))
        for label, pair in zip(made.labels, made.participants, strict=True)
    ]
    return made


# Pairs of types.


def test_frequent_pairs_of_types_that_are_never_related_are_left_out(model):
    assert model.signatures_ == {"types": [["Disease", "Disease"], ["Drug", "Drug"]], "kinds": []}
    prefix = "not candidates, never related in training: "
    reasons = {f"{prefix}Disease–Disease": 14, f"{prefix}Drug–Drug": 14}
    assert model.dropped_ == reasons
    assert model.n_candidates_ == 42
    found = model.predict(corpus(2), all=True)
    assert len(found) == 6
    assert set(found.tally.reasons.values()) == {2}


def test_unknown_pairs_of_types_are_candidates(model):
    [other] = [example("x.s0", 0, ("Raf", "Ras"))]
    entities = [
        Entity(one.id, "Device" if one.start else "Drug", one.spans)
        for one in other.view("sentence").entities
    ]
    sentence = other.view("sentence")
    sentence = Sentence(
        sentence.text, sentence.tokens, entities=entities, dependencies=sentence.dependencies
    )
    assert len(model.predict([kw.Example("x.s0", views={"sentence": sentence})], all=True)) == 1


def test_negative_examples_are_kept_if_there_are_no_others():
    only = [one for one in corpus(30) if not one.id.endswith(".s2")]
    model = kw.RelationExtractor(random_state=0).fit(only)
    assert model.signatures_ == {"types": [], "kinds": []}
    assert model.n_candidates_ == 120


def test_nothing_is_left_out_if_not_wanted():
    model = kw.RelationExtractor(random_state=0, signatures=False).fit(corpus())
    assert model.signatures_ == {"types": [], "kinds": []}
    assert model.n_candidates_ == 70


def test_relations_that_are_left_out_count_as_missed(model):
    new = [example(f"n{d}.s{t}", t, (f"Xa{d}", f"Yo{d}")) for d in range(6) for t in range(5)]
    plain = model.evaluate(new, n_bootstrap=20)
    # A relation between two drugs, which training has none of.
    odd = new[3].view("sentence")
    relation = Relation("r", "Cures", (Argument("Drug", "e0"), Argument("What", "e4")))
    odd = Sentence(
        odd.text,
        odd.tokens,
        entities=odd.entities,
        dependencies=odd.dependencies,
        relations=[relation],
    )
    changed = [*new[:3], kw.Example("n0.s3", views={"sentence": odd}), *new[4:]]
    scores = model.evaluate(changed, n_bootstrap=20)
    assert scores.n_relations == plain.n_relations + 1
    assert scores.n_candidates == plain.n_candidates
    assert scores.recall == pytest.approx(plain.recall * 12 / 13)
    assert scores.precision == plain.precision
    predictions = model.predict(changed, all=True)
    for same in (predictions.with_threshold(model.threshold_), predictions[:]):
        assert model.evaluate(same, n_bootstrap=0).recall == scores.recall


def test_a_model_is_the_same_after_loading(model, tmp_path):
    kw.save(model, tmp_path / "m.kw")
    again = kw.load(tmp_path / "m.kw")
    assert (again.signatures_, again.arguments_) == (model.signatures_, model.arguments_)
    assert [one.to_dict() for one in again.predict(corpus(2))] == [
        one.to_dict() for one in model.predict(corpus(2))
    ]


@st.composite
def labeled(draw):
    """Draw candidates of entity types and names, with labels."""
    made = Candidates()
    kinds, names = st.sampled_from("AB"), st.sampled_from(["x", "X", "y"])
    rows = st.tuples(kinds, kinds, names, names, st.booleans(), st.integers(0, 3))
    for number, (one, two, first, second, nested, rest) in enumerate(
        draw(st.lists(rows, min_size=20, max_size=150))
    ):
        start = 0 if nested else 2
        text = first if nested else f"{first} {second}"
        sentence = Sentence(text)
        made.sentences._append(f"s{number}", "", sentence, None, None)
        pair = (
            ("first", Entity("a", one, ((0, 1),))),
            ("second", Entity("b", two, ((start, start + 1),))),
        )
        made.add(number, f"c{number}", pair, "none" if rest and one == "A" else "r")
    return made


@given(labeled())
def test_kinds_are_those_that_are_counted_one_by_one(made):
    counts = {}
    for row, (_, first), (_, second) in (
        (row, *made.participants[row]) for row in range(len(made))
    ):
        text = made.sentence(row).text
        same = text[first.start : first.end].lower() == text[second.start : second.end].lower()
        nested = first.start == second.start
        kinds = [tuple(sorted((first.type, second.type)))]
        kinds += ["nested entities"] if nested else ["equal names"] if same else []
        for kind in kinds:
            counts.setdefault(kind, []).append(made.labels[row] != "none")
    rate = sum(label != "none" for label in made.labels) / len(made)
    # Each candidate has a sentence of its own.
    expected = {
        kind
        for kind, related in counts.items()
        if len(related) * rate >= 5 and len(related) >= 10 and not any(related)
    }
    found = Signatures.learn(made, several=True)
    assert {*map(tuple, found.types), *found.kinds} == expected
    kept = found.select(made)
    assert len(kept) + sum(kept.dropped.values()) == len(made)
    assert not kept.missed
    assert kept.labels.count("r") == made.labels.count("r")


@pytest.mark.parametrize(("count", "left_out"), [(9, False), (10, True)])
def test_few_sentences_tell_nothing(count, left_out):
    made = candidates([*corpus(30)[:60], *(example(f"x{i}.s0", 3, "ab") for i in range(count))])
    rows = [
        row
        for row, pair in enumerate(made.participants)
        if {entity.type for _, entity in pair} != {"Drug"} or made.ids[row].startswith("x")
    ]
    some = made.take(rows)
    # Enough pairs, but from few sentences.
    rows = [*range(len(some)), *range(len(some) - count, len(some))]
    found = Signatures.learn(some.take(rows), several=False)
    assert (["Drug", "Drug"] in found.types) is left_out


def test_the_card_tells_choices_in_words(model):
    first, *rest = kw.relations.card_of(model)["choices"]
    assert first.startswith("words of entities are ")
    assert f"{model.trial_['words']:.3f} with them, {model.trial_['blind']:.3f} without" in first
    assert rest == [
        "pairs of Disease and Disease are not candidates: never related in training",
        "pairs of Drug and Drug are not candidates: never related in training",
        "the direction of Cures follows from entity types: Drug → Disease",
    ]


def test_types_of_one_relation_count_if_they_differ():
    made = candidates(corpus())
    assert Signatures.learn(made, several=False).types == [
        ["Disease", "Disease"], ["Drug", "Drug"],
    ]  # fmt: skip
    # One relation between two drugs.
    row = next(
        row
        for row, pair in enumerate(made.participants)
        if pair[0][1].type == pair[1][1].type == "Drug"
    )
    made.labels[row] = "Cures"
    assert Signatures.learn(made, several=False).types == []
    assert Signatures.learn(made, several=True).types == [["Disease", "Disease"]]


# Direction.


def test_direction_follows_from_types(model):
    assert model.classes_.tolist() == ["Cures", "none"]
    assert model.arguments_ == {"Cures": [["Drug", "Disease"]]}
    forward, backward = model.predict([example(f"n.s{t}", t, ("Xa", "Yo")) for t in (0, 1)])
    assert [(one.role, one.text) for one in forward.participants] == [
        ("Drug", "Xa"),
        ("What", "Yo"),
    ]
    assert [(one.role, one.text) for one in backward.participants] == [
        ("Drug", "Yo"),
        ("What", "Xa"),
    ]
    assert forward.relation == backward.relation == forward.label == backward.label == "Cures"


@pytest.mark.parametrize("labels", ["auto", "type", "binary", "directed"])
def test_roles_survive_every_kind_of_labels(labels):
    model = kw.RelationExtractor(random_state=0, labels=labels).fit(corpus())
    for t in (0, 1):
        [found] = model.predict([example(f"n.s{t}", t, ("Xa", "Yo"))])
        roles = {one.role: one.text for one in found.participants}
        assert roles == ({"Drug": "Xa", "What": "Yo"} if t == 0 else {"Drug": "Yo", "What": "Xa"})


def relations(*rows):
    """Return sentences with a relation each, of (forward, first type, second type)."""
    sentences = []
    for forward, one, other in rows:
        entities = [Entity("a", one, ((0, 1),)), Entity("b", other, ((2, 3),))]
        ends = ("a", "b") if forward else ("b", "a")
        arguments = (Argument("Agent", ends[0]), Argument("Patient", ends[1]))
        relation = Relation("r", "Acts", arguments)
        sentences.append(Sentence("x y", entities=entities, relations=[relation]))
    return sentences


@pytest.mark.parametrize(
    ("rows", "arguments"),
    [
        ([(True, "A", "B"), (False, "B", "A")], {"Acts": [["A", "B"]]}),
        ([(True, "A", "B"), (False, "C", "A")], {"Acts": [["A", "B"], ["A", "C"]]}),
        ([(True, "A", "B"), (False, "A", "B")], {}),
        ([(True, "A", "A"), (False, "B", "A")], {}),
        ([(True, "A", "B"), (True, "A", "C")], {}),  # the direction is always the same
    ],
)
def test_direction_follows_if_types_occur_in_one_order(rows, arguments):
    classes = RelationClasses.learn(relations(*rows), "auto", (), None)
    assert classes.arguments == arguments


def test_a_label_against_the_types_is_another_class():
    classes = RelationClasses.learn(
        relations((True, "A", "B"), (False, "B", "A")), "auto", (), None
    )
    assert classes.of("Acts(e1,e2)", "A", "B") == classes.of("Acts(e2,e1)", "B", "A") == "Acts"
    assert classes.of("Acts(e2,e1)", "A", "B") == "Acts(e2,e1)"
    assert classes.of("Acts(e1,e2)", "C", "D") == "Acts"  # by default in text order
    assert classes.of("Acts(e2,e1)", "C", "D") == "Acts(e2,e1)"


def test_symmetric_types_have_no_direction():
    rows = relations((True, "A", "B"), (False, "B", "A"))
    classes = RelationClasses.learn(rows, "auto", ("Acts",), None)
    assert (classes.arguments, classes.undirected) == ({}, ("Acts",))


def test_roles_of_one_class_for_all_relations_must_agree():
    [one, other] = relations((True, "A", "B"), (False, "B", "A"))
    assert RelationClasses.learn([one, other], "binary", (), None).roles == {
        "relation": ["Agent", "Patient"]
    }
    named = Relation("r", "Moves", (Argument("X", "b"), Argument("Y", "a")))
    other = Sentence("x y", entities=other.entities, relations=[named])
    assert RelationClasses.learn([one, other], "binary", (), None).roles == {"relation": ["", ""]}


def test_a_claim_against_the_types_is_not_supported(model):
    line = {
        "text": "Xa cures Yo .",
        "entities": [
            {"id": "e0", "type": "Drug", "start": 0, "end": 2},
            {"id": "e2", "type": "Disease", "start": 9, "end": 11},
        ],
    }
    sentence = example("n.s0", 0, ("Xa", "Yo"), related=False).view("sentence")
    tokens = [[token.text, token.start, token.end] for token in sentence.tokens]
    line |= {"tokens": tokens, "dependencies": [[1, "dep", place] for place in (0, 2, 3)]}
    verdicts = model.verify(
        Claim.from_object(
            {**line, "id": f"c{n}", "relation": {"type": "Cures", "first": a, "second": b}}
        )
        for n, (a, b) in enumerate([("e0", "e2"), ("e2", "e0")])
    )
    assert [verdict.opinion for verdict in verdicts] == ["supported", "other"]
    assert [verdict.probability > 0.5 for verdict in verdicts] == [True, False]
    assert verdicts[1].probability == 0


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("arguments_", {"Cures": [["Drug"]]}, "arguments_ "),
        ("arguments_", [], "arguments_ "),
        ("signatures_", {"types": [["Drug", 1]], "kinds": []}, "signatures_ "),
        ("signatures_", {"types": []}, "signatures_ "),
        ("signatures_", {"types": [], "kinds": [3]}, "signatures_ "),
    ],
)
def test_wrong_signatures_are_not_loaded(model, name, value, message):
    changed = copy.copy(model)
    setattr(changed, name, value)
    with pytest.raises(ValueError, match=message):
        check_restored(changed)
