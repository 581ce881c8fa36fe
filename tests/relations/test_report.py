"""The report: all that was found is in it, and nothing of a text becomes markup."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.relations import (
    Case,
    CaseFragment,
    Participant,
    Prediction,
    RelationScores,
    report_html,
    write_report,
)
from kernelwood.relations.report_arcs import draw_relations, said
from kernelwood.relations.report_passages import Colors, Mention, Passage, marked, passages_of
from kernelwood.relations.report_tables import card_facts, gates_table

TYPES = st.sampled_from(["<", "a", ""])
EVIL = "<script>alert('x')</script>\" onload=\"x"
TEXT = "It is known. Raf activates MEK1 and ERK2. It is over."
START = 13
SENTENCE = kw.Sentence(
    TEXT[START:41],
    entities=[
        kw.text.Entity(f"T{i}", "Protein", ((start, start + len(name)),), name)
        for i, (name, start) in enumerate([("Raf", 0), ("MEK1", 14), ("ERK2", 23)])
    ],
)


def case(prediction):
    piece = CaseFragment("ENTITY1 activates ENTITY2", "path", 0.625)
    return (Case("d3.s1", "Activates", 0.875, "[Ras] activates [Raf].", 0.25, (piece,)),)


def prediction(first=0, second=1, *, score=0.75, sentence=SENTENCE, start=START, **changes):
    roles = changes.pop("roles", ("Agent", "Target"))
    parts = [sentence.entities[first], sentence.entities[second]]
    spans = [tuple((a + start, b + start) for a, b in entity.spans) for entity in parts]
    values = {
        "id": f"c{first}{second}",
        "document": "doc1",
        "type": "Activates",
        "relation": "Activates",
        "positive": score >= 0.5,
        "score": score,
        "threshold": 0.5,
        "participants": tuple(
            Participant(role, entity.id, entity.type, entity.text, span)
            for role, entity, span in zip(roles, parts, spans, strict=True)
        ),
        "trigger": None,
        "sentence": (start, start + len(sentence.text)),
        "text": sentence.text,
        "label": None,
        "candidate": kw.text.Candidate("c", sentence, list(zip(roles, parts, strict=True))),
        "_explain": case,
    }
    return Prediction(**{**values, **changes})


def shown(*predictions, **given):
    given = {"title": "A title", "documents": {"doc1": TEXT}, **given}
    return report_html(predictions=predictions, **given)


def plain(markup):
    """Return what is read of a passage, without the types of entities."""
    return unescape(re.sub(r"<small>.*?</small>|<[^>]*>", "", markup, flags=re.DOTALL))


@pytest.fixture(scope="module")
def scores():
    true = ["Activates", "Binds", "none", "none"] * 5
    found = ["Activates", "none", "none", "Binds"] * 5
    made = kw.evaluate.score(true, found, positive=["Activates", "Binds"], n_bootstrap=100)
    return RelationScores(made, 0.875, None, 4, 20, {"no token": 3}, {"Eats": 2})


@pytest.fixture(scope="module")
def gates():
    paths, classes, *_ = kw.tuning.planted_paths(60, n_signal=1, n_noise=2)
    return kw.GateLearner(kw.SubsequenceKernel(), labels=1.0, random_state=0).fit(paths, classes)


def test_the_whole_text_is_shown():
    assert all(part in shown(prediction()) for part in ("It is known.", "It is over."))


def test_entities_are_marked_where_they_stand():
    assert '<mark class="k0">MEK1<small>Protein</small></mark>' in shown(prediction())


def test_entities_without_a_relation_are_marked_too():
    assert '<mark class="k0">ERK2<small>' in shown(prediction(0, 1))


def test_a_text_without_relations_is_shown():
    assert "Nothing at all." in shown(documents={"doc2": "Nothing at all."})


def test_without_texts_the_sentences_are_shown():
    assert "Raf" in plain(shown(prediction(), documents=None))


def test_a_sentence_that_is_not_in_the_text_stands_for_itself():
    [passage] = passages_of([prediction()], {"doc1": "Another text."})["doc1"]
    assert passage.text == SENTENCE.text


def test_sentences_stand_in_the_order_of_the_text():
    entities = [kw.text.Entity("a", "x", ((0, 2),)), kw.text.Entity("b", "x", ((3, 5),))]
    later = kw.Sentence("It is over.", entities=entities)
    found = passages_of([prediction(sentence=later, start=42), prediction()], {"doc1": TEXT})
    assert [p.text for p in found["doc1"]] == ["It is known.", SENTENCE.text, "It is over."]


def test_score_and_threshold_are_told():
    assert 'aria-label="score 0.75, threshold 0.50"' in shown(prediction())


def test_evidence_is_shown_with_its_pieces_and_weights():
    made = shown(prediction())
    assert all(part in made for part in ("[Ras] activates [Raf].", "0.88", "+0.250", "path, 62%"))


def test_cases_without_a_contribution_have_no_column_for_it():
    bare = (Case("d3.s1", "Activates", 0.875, "A case."),)
    assert "adds</th>" not in shown(prediction(_explain=lambda p: bare))


def test_evidence_is_looked_up_for_the_most_certain_relations():
    asked = []

    def explain(found):
        asked.append(found.id)
        return ()

    shown(
        prediction(0, 1, score=0.6, _explain=explain),
        prediction(1, 2, score=0.9, _explain=explain),
        n_explained=1,
    )
    assert asked == ["c12"]


def test_candidates_that_do_not_hold_are_listed_apart():
    made = shown(prediction(), prediction(1, 2, score=0.25))
    assert "1 candidate below the threshold" in made


def test_no_evidence_is_looked_up_for_what_does_not_hold():
    def fail(found):
        raise AssertionError("asked for evidence")

    shown(prediction(score=0.25, _explain=fail))


@pytest.mark.parametrize(
    ("label", "told"),
    [("Activates", "as annotated"), ("Binds(e2,e1)", "annotated: Binds\xa0←"), (None, None)],
)
def test_agreement_with_the_annotation_is_told(label, told):
    found = re.findall(r"[✓✗] ([^<]*)<", shown(prediction(label=label)))
    assert found == ([told] if told else [])


def test_a_relation_that_the_annotation_lacks_is_told():
    made = shown(prediction(label="Activates"), prediction(1, 2, label="none"))
    assert "✗ annotated: none" in made


def test_texts_without_annotation_contradict_nothing():
    assert "annotated" not in shown(prediction(label="none"), prediction(1, 2, label="none"))


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"roles": ("first", "second")}, "Raf – MEK1"),
        ({"roles": ("Arg1", "Arg2")}, "Raf – MEK1"),
        ({"roles": ("Agent", "Target")}, "Raf → MEK1"),
        ({"roles": ("first", "second"), "relation": "Activates(e1,e2)"}, "Raf → MEK1"),
    ],
)
def test_an_arrow_stands_for_a_direction(changes, text):
    assert said(prediction(**changes)) == text


def test_arcs_lead_from_entity_to_entity():
    [passage] = passages_of([prediction(), prediction(0, 2)], {})["doc1"]
    picture = draw_relations(passage, Colors(["Protein"]))
    assert picture.count('class="arc"') == picture.count('class="head"') == 2


def test_the_picture_is_described_in_words():
    [passage] = passages_of([prediction()], {})["doc1"]
    assert 'aria-label="Activates: Raf → MEK1"' in draw_relations(passage, Colors([]))


def test_events_are_drawn_from_their_trigger():
    word = Participant("trigger", "T9", "Activation", "activates", ((17, 26),))
    [passage] = passages_of([prediction(trigger=word)], {})["doc1"]
    picture = draw_relations(passage, Colors([]))
    assert (picture.count('class="arc"'), ">Agent</text>" in picture) == (2, True)


def test_nothing_is_drawn_where_nothing_holds():
    assert draw_relations(Passage("x", (), (prediction(score=0.1),)), Colors([])) == ""


@st.composite
def passages(draw):
    text = draw(st.text(st.characters(exclude_categories=["C"]), max_size=40))
    place = st.integers(0, len(text) + 2)
    span = st.tuples(place, place).map(lambda ends: tuple(sorted(ends)))
    spans = st.lists(span, max_size=2).map(lambda found: tuple(sorted(found)))
    return Passage(text, tuple(draw(st.lists(st.builds(Mention, spans, TYPES, st.just(""))))))


@given(passages())
def test_marks_never_change_the_text(passage):
    assert plain(marked(passage, Colors(["a", "b"]))) == passage.text


def test_scores_have_intervals_and_pictures(scores):
    made = shown(scores=scores)
    assert re.search(r"<th scope=\"row\">Binds</th><td class=\"n\">0\.000 \[", made)
    assert made.count('aria-label="F1 ') == 3


def test_what_could_not_be_judged_is_told(scores):
    made = plain(shown(scores=scores))
    assert all(part in made for part in ("no token: 3", "Eats: 2"))


def test_a_measure_that_is_not_known_is_a_dash(scores):
    assert "<dt>average precision</dt><dd>–</dd>" in shown(scores=scores)


def test_the_class_of_no_relation_has_no_scores_of_its_own(scores):
    assert '<th scope="row">none</th>' not in shown(scores=scores)


def test_gates_are_shown_with_what_they_gain(gates):
    report = gates.report()
    first = report.labels[0]
    assert f'aria-label="gain of closing {first.gain:+.4f}"' in gates_table(report)


def test_a_learner_or_its_report_may_be_given(gates):
    assert shown(gates=gates) == shown(gates=gates.report())


def test_times_add_up():
    assert '<th scope="row">all</th><td class="n">3.00</td>' in shown(timings={"a": 1, "b": 2})


def test_no_time_at_all_is_no_error():
    assert "0.00" in shown(timings={"a": 0.0})


def test_inner_tables_of_a_card_are_flat():
    card = {"held_out": {"f1": 0.5, "auc": None}, "relations": ["a", "b"], "seed": 12345678}
    assert re.findall(r"<d[td]>(.*?)</d[td]>", card_facts(card)) == [
        "held out: f1", "0.500", "held out: auc", "–", "relations", "a, b", "seed", "12345678",
    ]  # fmt: skip


def test_nothing_of_what_is_given_becomes_markup(scores):
    entities = [
        kw.text.Entity(EVIL, EVIL, ((0, 8),), EVIL),
        kw.text.Entity("b", EVIL, ((9, 14),), EVIL),
    ]
    evil = kw.Sentence(EVIL, entities=entities)
    found = prediction(
        sentence=evil,
        start=0,
        roles=(EVIL, "x"),
        id=EVIL,
        document=EVIL,
        type=EVIL,
        relation=EVIL,
        label=EVIL + "?",
        _explain=lambda p: (Case(EVIL, EVIL, 0.5, EVIL, 0.1, (CaseFragment(EVIL, EVIL, 0.5),)),),
    )
    denied = prediction(sentence=evil, start=0, score=0.1, document=EVIL, type=EVIL)
    bad = kw.evaluate.score([EVIL, "none"], [EVIL, "none"], positive=[EVIL], n_bootstrap=0)
    made = shown(
        found,
        denied,
        title=EVIL,
        documents={EVIL: EVIL, "other": EVIL},
        scores=RelationScores(bad, None, None, 1, 2, {EVIL: 1}, {EVIL: 1}),
        timings={EVIL: 1.0},
    )
    assert "<script" not in made + card_facts({EVIL: EVIL})
    assert 'onload="' not in made


def test_labels_of_gates_are_escaped():
    paths = [kw.Sequence([("<i>", "x"), ("b", y)]) for y in "yz" * 20]
    learner = kw.GateLearner(kw.SubsequenceKernel(), labels=1.0, random_state=0)
    assert "<i>" not in gates_table(learner.fit(paths, list("yz" * 20)).report())


def test_nothing_is_loaded_from_elsewhere(scores, gates):
    made = shown(prediction(), scores=scores, gates=gates)
    assert not re.search(r"\b(src|href)=\"(?!#)|url\(|@import|<script|<link", made)


def test_headings_leave_out_no_level(scores):
    levels = [int(level) for level in re.findall(r"<h(\d)", shown(prediction(), scores=scores))]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_links_lead_somewhere(scores, gates):
    made = shown(prediction(), scores=scores, gates=gates, timings={"a": 1.0})
    assert set(re.findall(r'href="#([^"]*)"', made)) <= set(re.findall(r' id="([^"]*)"', made))


def test_the_same_is_written_every_time(scores, gates):
    assert shown(prediction(), scores=scores, gates=gates) == shown(
        prediction(), scores=scores, gates=gates
    )


def test_the_file_holds_the_page(tmp_path):
    write_report(tmp_path / "r.html", title="t", predictions=[prediction()])
    assert (tmp_path / "r.html").read_text("utf-8") == report_html(
        title="t", predictions=[prediction()]
    )


def test_a_report_that_fails_leaves_the_old_one(tmp_path):
    path = tmp_path / "r.html"
    path.write_text("old")

    def fail(found):
        raise kw.errors.KernelInputError("no memory of cases")

    with pytest.raises(kw.errors.KernelInputError):
        write_report(path, title="t", predictions=[prediction(_explain=fail)])
    assert (path.read_text(), list(tmp_path.iterdir())) == ("old", [path])


def test_a_document_that_is_no_text_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match=r"give its \.text"):
        shown(documents={"doc1": kw.Document("x")})


def test_a_negative_number_of_explanations_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match="n_explained"):
        shown(n_explained=-1)


def test_many_entities_take_linear_time():
    n = 5000
    mentions = tuple(Mention(((2 * i, 2 * i + 1),), "a", str(i)) for i in range(n))
    assert marked(Passage("x " * n, mentions), Colors("a")).count("<mark") == n
