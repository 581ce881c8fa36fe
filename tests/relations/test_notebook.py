"""Results in notebooks, and for displaCy."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from fact_samples import event, facts_of, pair
from hypothesis import given, strategies as st
from spacy import displacy

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.errors import StructureError
from kernelwood.io import Claim
from kernelwood.relations import (
    Case,
    Evidence,
    MarkedText,
    Predictions,
    RelationValidation,
    Verdict,
    Verdicts,
    pair_candidates,
)
from kernelwood.relations.prediction_displacy import displacy_objects
from kernelwood.structures import escape

EVIL = "<script>alert(1)</script>\" onload='x'"
VOID = {"br", "hr", "img", "meta", "rect", "path", "line", "circle"}


class Outline(HTMLParser):
    """Reads HTML; every element must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        assert not any(name.startswith("on") for name, _ in attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


def checked(made):
    outline = Outline(made)
    assert outline.open == []
    assert not {"script", "iframe", "link", "img"} & set(outline.seen)
    assert "<script" not in made
    return made


def annotated(text="Raf binds Ras.", kind="protein", cls=kw.Document):
    entities = [kw.text.Entity("T1", kind, ((0, 3),)), kw.text.Entity("T2", "drug", ((10, 13),))]
    relation = kw.text.Relation(
        "R1", "binds", (kw.text.Argument("Arg1", "T1"), kw.text.Argument("Arg2", "T2"))
    )
    return cls(text, entities=entities, relations=[relation])


def evidence(text="Sos binds Grb", kind="binds"):
    case = Case("c1", kind, 0.5, 0.25, MarkedText(text, ((0, 3),)))
    return Evidence((case,), (), 0.5, 0.25, 0.0)


# HTML.


def test_facts_are_a_table():
    made = checked(facts_of(pair(references=("U:1", "")), event("participant"))._repr_html_())
    assert ">Raf</mark> binds" in made
    assert "<small>U:1</small>" in made
    assert made.count("<tr>") == 3


def test_many_facts_are_cut():
    some = facts_of(*(pair(f"A{i}") for i in range(50)))
    made = checked(some._repr_html_())
    assert made.count("<tr>") == 21
    assert "30 more facts not shown." in made


def test_evidence_is_a_table():
    made = checked(evidence()._repr_html_())
    assert "+0.250" in made
    assert "score +0.500" in made
    checked(Evidence()._repr_html_())


def test_candidates_are_a_table():
    sentence = annotated(cls=kw.Sentence)
    candidates = pair_candidates([kw.Example("a", views={"sentence": sentence})])
    assert ">Ras</mark>" in checked(candidates._repr_html_())


def test_documents_show_entities_and_relations():
    made = checked(annotated()._repr_html_())
    assert "Raf <small>protein</small></mark> binds" in made
    assert "<small>Arg2</small> Ras" in made


def test_sentences_show_relations():
    assert "<small>Arg2</small> Ras" in checked(annotated(cls=kw.Sentence)._repr_html_())


def test_overlapping_entities_are_all_named():
    document = kw.Document("Raf kinase", [("T1", "a", [(0, 3)]), ("T2", "b", [(0, 10)])])
    made = checked(document._repr_html_())
    assert "<small>a</small>" in made
    assert "<small>b</small>" in made


def test_long_documents_are_cut():
    document = kw.Document("x" * 50_000, [("T1", "a", [(40_000, 40_001)])])
    made = checked(document._repr_html_())
    assert "30,000 more characters not shown." in made


def test_examples_show_their_views():
    views = {
        "document": annotated(),
        "tree": kw.Tree("NN"),
        "words": kw.Sequence(["a"]),
        "n": "text",
    }
    made = checked(kw.Example("a<", "yes", views)._repr_html_())
    assert "a&lt;" in made
    assert "<svg" in made


def test_no_text_becomes_markup():
    text = EVIL.ljust(20)
    evil = annotated(text, EVIL)
    checked(evil._repr_html_())
    checked(kw.Example(EVIL, EVIL, {EVIL: evil})._repr_html_())
    checked(facts_of(pair(EVIL, kind=EVIL, text=text * 3))._repr_html_())
    checked(evidence(text, EVIL)._repr_html_())


def claim(name="c1", kind="binds", text="Raf binds Ras."):
    return Claim(name, kind, "T1", "T2", annotated(text))


def test_verdicts_are_a_table():
    supported = Verdict(claim(), "supported", 0.9, 0.5, None)
    problem = Claim("c2", "binds", "Raf", "Rho", kw.Document("Raf binds Ras."))
    unknown = Verdict(problem, "not checkable", None, 0.5, None, "mention not in the text: 'Rho'")
    some = Verdicts([supported, unknown])
    assert repr(some) == "<Verdicts: 2 claims, 1 supported, 1 not checkable>"
    assert repr(some[0]) == "<Verdict: c1, binds: supported, probability 0.90>"
    assert repr(some[1]) == "<Verdict: c2, binds: not checkable>"
    made = checked(some._repr_html_())
    assert "Raf —binds→ Ras" in made and "Raf —binds→ Rho" in made and "0.90" in made
    assert "mention not in the text" in made
    assert "1 more claim not shown" in checked(Verdicts([supported] * 21)._repr_html_())
    checked(Verdicts()._repr_html_())


def test_verdicts_show_the_relation_that_is_predicted_instead():
    extractor = kw.RelationExtractor(random_state=0).fit(load_interactions("train"))
    [candidate] = [
        one
        for one in pair_candidates(load_interactions("test"))
        if one.id == next(iter(extractor.predict(load_interactions("test")))).id
    ]
    first, second = (entity for _, entity in candidate.participants)
    [verdict] = verdicts = extractor.verify(
        [Claim("c", "prevents", first.id, second.id, candidate.sentence)]
    )
    assert isinstance(verdicts, Verdicts) and verdict.opinion == "other"
    made = checked(verdicts._repr_html_())
    assert f"—{verdict.prediction.type}→" in made and "does not know" in made


def test_scores_are_a_table_with_remarks():
    extractor = kw.RelationExtractor(random_state=0).fit(load_interactions("train"))
    scores = extractor.evaluate(load_interactions("test"), n_bootstrap=0)
    made = checked(scores._repr_html_())
    assert "Inhibits →" in made and "<td" in made
    assert escape(f"AUC {scores.auc:.3f}") in made
    assert escape(scores.audit.summary().splitlines()[1]) in made
    folds = checked(RelationValidation(scores, (scores, scores))._repr_html_())
    assert made in folds and "fold 2: precision" in folds


@given(
    st.text(max_size=12), st.lists(st.tuples(st.integers(0, 11), st.integers(1, 12)), max_size=5)
)
def test_any_document_can_be_shown(text, spans):
    fitting = [(a, b) for a, b in spans if a < b <= len(text)]
    document = kw.Document(text, [(f"T{i}", text, [span]) for i, span in enumerate(fitting)])
    checked(document._repr_html_())


# displaCy.


def a_parse():
    return kw.Sentence.from_words(
        ["Raf", "binds", "Ras"],
        dependencies=[(-1, "root", 1), (1, "nsubj", 0), (1, "dobj", 2)],
        entities=[("T1", "protein", [(0, 3)]), ("T2", "protein", [(0, 9)])],
        attributes=[("N1", "Reference", "T1", "U:1\tRaf")],
    )


@pytest.mark.parametrize("style", ["ent", "span", "dep"])
def test_displacy_draws_sentences(style):
    made = a_parse().to_displacy(style)
    drawn = displacy.render(made, style=style, manual=True, jupyter=False)
    assert "Raf" in drawn


@pytest.mark.parametrize("style", ["ent", "span"])
def test_displacy_draws_documents(style):
    drawn = displacy.render(annotated().to_displacy(style), style=style, manual=True, jupyter=False)
    assert "protein" in drawn


def test_arrows_of_displacy_point_to_dependents():
    assert a_parse().to_displacy("dep")["arcs"] == [
        {"start": 0, "end": 1, "label": "nsubj", "dir": "left"},
        {"start": 1, "end": 2, "label": "dobj", "dir": "right"},
    ]


def test_entities_of_displacy_do_not_overlap_but_spans_may():
    parse = a_parse()
    assert [(one["start"], one["end"]) for one in parse.to_displacy("ent")["ents"]] == [(0, 9)]
    assert [
        (one["start_token"], one["end_token"], one["kb_id"])
        for one in parse.to_displacy("span")["spans"]
    ] == [(0, 1, "U:1"), (0, 2, "")]


def test_other_styles_and_texts_without_parse_are_refused():
    with pytest.raises(StructureError, match="style must be one of ent, span, dep; got 'tree'"):
        annotated().to_displacy("tree")
    with pytest.raises(StructureError, match="the text has no tokens"):
        annotated().to_displacy("dep")


@pytest.mark.parametrize("style", ["ent", "span", "dep"])
def test_displacy_draws_predictions(style):
    ones = [pair(references=("U:1", "")), event("catalyst", "participant"), pair(document="b")]
    made = displacy_objects(ones, style)
    assert [one["title"] for one in made] == ["d1", "b"]
    drawn = displacy.render(made, style=style, manual=True, jupyter=False)
    assert "Raf" in drawn


@pytest.mark.parametrize("style", ["ent", "span", "dep"])
def test_no_text_becomes_markup_in_displacy(style):
    one = pair(references=(EVIL, ""), kind=EVIL, document=EVIL)
    for part in one.participants:
        object.__setattr__(part, "type", EVIL)
    checked(
        displacy.render(displacy_objects([one], style), style=style, manual=True, jupyter=False)
    )


def test_arcs_of_predictions_join_their_entities():
    (made,) = displacy_objects([pair("Raf", "Ras"), event("catalyst", "participant")], "dep")
    assert made["arcs"] == [
        {"start": 0, "end": 2, "label": "binds", "dir": "right"},
        {"start": 0, "end": 1, "label": "catalyst", "dir": "left"},
        {"start": 1, "end": 2, "label": "participant", "dir": "right"},
    ]
    assert [word["tag"] for word in made["words"][:4]] == ["protein", "Binding", "protein", ""]


def test_predictions_have_displacy_objects():
    sentence = annotated(cls=kw.Sentence)
    candidates = pair_candidates([kw.Example("a", views={"sentence": sentence})])
    found = Predictions(candidates, ["binds"], [0.9], 0.5)
    assert [one["title"] for one in found.to_displacy()] == ["a"]
    assert found.with_threshold(1.0).to_displacy() == []


# Data frames.


def test_predictions_are_data_frames():
    sentence = annotated(cls=kw.Sentence)
    candidates = pair_candidates([kw.Example("a", views={"sentence": sentence})])
    found = Predictions(candidates, ["binds"], [0.9], 0.5)
    pandas, polars = found.to_pandas(), found.to_polars()
    assert list(pandas.columns) == polars.columns
    assert pandas["positive"].tolist() == [True]
    assert pandas["positive"].dtype.name == "bool"
    assert [pandas[name].dtype.name for name in ("probability", "start")] == ["float64", "int64"]
    assert polars["text1"].to_list() == ["Raf"]
    assert polars["label"].to_list() == pandas["label"].tolist()
