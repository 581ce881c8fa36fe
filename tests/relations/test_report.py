"""The report contains all that it is given, and no text of the input becomes markup."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.relations import (
    Candidates,
    Case,
    CaseFragment,
    Evidence,
    MarkedText,
    Participant,
    Prediction,
    Predictions,
    RelationScores,
    report,
    report_html,
    write_report,
)
from kernelwood.relations.report import (
    Passage,
    _environment,
    card_facts,
    describe,
    draw_relations,
    passages_of,
    segments,
)

COLORS = {"Protein": "k0", "a": "k1", "": "k2"}
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
    path = (("Ras", "entity"), ("—subject of→", "step"), ("activates", "word"))
    return Evidence(
        supporting=(
            Case(
                "d3.s1",
                "Activates",
                0.875,
                0.25,
                MarkedText("Ras activates Raf.", ((0, 3), (14, 17)), shared=((4, 13),)),
                MarkedText(SENTENCE.text, ((0, 3), (14, 18)), shared=((4, 13),)),
                path,
                lambda: (piece,),
            ),
        ),
        score=1.0,
        intercept=0.5,
        others=0.25,
        path=path,
    )


def prediction(first=0, second=1, *, probability=0.75, sentence=SENTENCE, start=START, **changes):
    roles = changes.pop("roles", ("Agent", "Target"))
    parts = [sentence.entities[first], sentence.entities[second]]
    spans = [tuple((a + start, b + start) for a, b in entity.spans) for entity in parts]
    values = {
        "id": f"c{first}{second}",
        "document": "doc1",
        "type": "Activates",
        "relation": "Activates",
        "positive": probability >= 0.5,
        "probability": probability,
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


def candidate_of(made):
    return made.candidate


def fail(found):
    raise AssertionError("asked for evidence")


def evil_evidence():
    marked = MarkedText(EVIL, ((0, 8),), ((9, 14),), ((15, 17),))
    piece = CaseFragment(EVIL, EVIL, 0.5)
    path = ((EVIL, "entity"), (EVIL, "step"), (EVIL, "word"))
    one = Case(EVIL, EVIL, 0.5, 0.1, marked, marked, path, lambda: (piece,))
    return Evidence((one,), (replace(one, contribution=-0.1),), path=path)


def shown(*predictions, **given):
    given = {"title": "A title", "documents": {"doc1": TEXT}, **given}
    return report_html(predictions=predictions, **given)


def plain(markup):
    """Return what is read of a passage, without the types of entities."""
    return unescape(re.sub(r"<small>.*?</small>|<[^>]*>", "", markup, flags=re.DOTALL))


class Outline(HTMLParser):
    """Collects the tags and the text of a page, and checks that all elements are closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def bar(*arguments):
    """Return the attributes of the rectangles of a bar, and of the whole."""
    macro = _environment().get_template("macros.html").module.bar
    (_, svg), *rectangles = Outline(macro(*arguments)).tags
    return svg, [attributes for _, attributes in rectangles]


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


def test_probability_and_threshold_are_shown():
    assert 'aria-label="probability 0.75, decision threshold 0.50"' in shown(prediction())


def test_evidence_is_shown_with_fragments_and_weights():
    made = shown(prediction())
    assert all(part in made for part in ("similarity 0.88", "+0.250", "path, 62%"))


def test_shared_words_and_entities_are_marked_in_both_sentences():
    made = shown(prediction())
    for first, second in (("Ras", "Raf"), ("Raf", "MEK1")):
        mark = '<mark class="entity">{}</mark>'
        assert f"{mark.format(first)} <b>activates</b> {mark.format(second)}" in made


def test_the_path_is_spelled_and_equal_steps_are_told():
    made = shown(prediction())
    path = '<mark>Ras</mark> <span class="step">—subject of→</span> activates'
    assert made.count(path) == 2  # of the prediction, and of the case
    assert f"{path} <small>(same&nbsp;steps)</small>" in made


def test_the_sum_of_contributions_is_shown():
    text = " ".join(plain(shown(prediction())).split())
    assert (
        "Decision score +1.000 = +0.250 (cases shown) +0.250 (other cases) +0.500 (intercept)"
        in text
    )


def test_a_side_without_cases_says_so():
    assert "No training case opposes Activates noticeably" in shown(prediction())


def test_bars_are_as_long_as_contributions():
    def explain(found):
        [strong] = case(found).supporting
        weak = replace(strong, contribution=-0.0625)
        return replace(case(found), opposing=(weak,))

    made = shown(prediction(_explain=explain))
    assert re.findall(r'style="width: ([0-9.]+)%"', made) == ["100.0", "25.0"]


def test_a_notebook_shows_a_prediction_with_its_evidence():
    made = prediction()._repr_html_()
    assert "<b>activates</b>" in made and "probability 0.75" in made
    assert Outline(made).open == []


def test_a_notebook_shows_predictions_without_asking_for_evidence(monkeypatch):
    monkeypatch.setattr(report, "_MAX_ROWS", 2)
    listed = [candidate_of(prediction(*ends)) for ends in ((0, 1), (0, 2), (1, 2))]
    found = Predictions(
        Candidates.of_rows(listed), ["Activates"] * 3, [0.9, 0.8, 0.1], 0.5, explain=fail
    )
    made = found._repr_html_()
    assert made.count("<tr>") == 3 and "1 more prediction not shown." in made
    assert '<mark class="entity">Raf</mark>' in made
    assert Outline(made).open == []


def test_no_text_becomes_markup_in_a_notebook():
    made = prediction(type=EVIL, _explain=lambda p: evil_evidence())._repr_html_()
    assert "<script" not in made and 'onload="' not in made
    assert Outline(made).open == []


def test_evidence_is_looked_up_for_the_most_certain_relations():
    asked = []

    def explain(found):
        asked.append(found.id)
        return Evidence()

    shown(
        prediction(0, 1, probability=0.6, _explain=explain),
        prediction(1, 2, probability=0.9, _explain=explain),
        n_explained=1,
    )
    assert asked == ["c12"]


def test_negative_candidates_are_listed_separately():
    made = shown(prediction(), prediction(1, 2, probability=0.25))
    assert "1 candidate below the decision threshold" in made


def test_evidence_is_not_computed_for_negative_candidates():
    shown(prediction(probability=0.25, _explain=fail))


@pytest.mark.parametrize(
    ("label", "told"),
    [("Activates", "as annotated"), ("Binds(e2,e1)", "annotated: Binds\xa0←"), (None, None)],
)
def test_agreement_with_the_annotation_is_shown(label, told):
    found = re.findall(r"[✓✗] ([^<]*)<", shown(prediction(label=label)))
    assert found == ([told] if told else [])


def test_a_relation_that_is_not_annotated_is_marked_as_wrong():
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
    assert describe(prediction(**changes)) == text


def test_arcs_lead_from_entity_to_entity():
    [passage] = passages_of([prediction(), prediction(0, 2)], {})["doc1"]
    arcs = draw_relations(passage, COLORS)["arcs"]
    assert [label for _, _, label, *_ in arcs] == ["Activates 0.75"] * 2
    assert all(line.startswith("M") and head for line, head, *_ in arcs)


def test_the_picture_is_described_in_words():
    [passage] = passages_of([prediction()], {})["doc1"]
    assert draw_relations(passage, COLORS)["name"] == "Activates: Raf → MEK1"


def test_events_are_drawn_from_their_trigger():
    word = Participant("trigger", "T9", "Activation", "activates", ((17, 26),))
    [passage] = passages_of([prediction(trigger=word)], {})["doc1"]
    arcs = draw_relations(passage, COLORS)["arcs"]
    assert sorted(label for _, _, label, *_ in arcs) == ["Agent", "Target"]


def test_longer_arcs_are_above_shorter_ones():
    [passage] = passages_of([prediction(0, 2), prediction(0, 1)], {})["doc1"]
    (*_, short), (*_, long) = draw_relations(passage, COLORS)["arcs"]
    assert long < short


def test_every_arc_is_in_the_page():
    made = shown(prediction(), prediction(0, 2))
    assert made.count('class="arc"') == made.count('class="head"') == 2


def test_a_sentence_without_predicted_relations_has_no_picture():
    assert draw_relations(Passage("x", (), (prediction(probability=0.1),)), COLORS) is None


@st.composite
def passages(draw):
    text = draw(st.text(st.characters(exclude_categories=["C"]), max_size=40))
    place = st.integers(0, len(text) + 2)
    span = st.tuples(place, place).map(lambda ends: tuple(sorted(ends)))
    spans = st.lists(span, min_size=1, max_size=2).map(lambda found: tuple(sorted(found)))
    entity = st.builds(SimpleNamespace, spans=spans, type=st.sampled_from(["a", ""]))
    return Passage(text, draw(st.lists(entity)))


@given(passages())
def test_segments_add_up_to_the_text(passage):
    assert "".join(text for text, *_ in segments(passage, COLORS)) == passage.text


@given(st.text(st.sampled_from("<>&\"'/!=;ampb{}%# é\n")))
def test_text_and_titles_are_escaped(text):
    made = Outline(report_html(title=text, predictions=[], documents={"a": f"x{text}x"}))
    assert made.text.count(f"x{text}x") == 1
    assert made.open == []


def test_scores_have_intervals_and_pictures(scores):
    made = shown(scores=scores)
    assert re.search(r"<th scope=\"row\">Binds</th><td class=\"n\">0\.000 \[", made)
    assert made.count('aria-label="F1 ') == 3


def test_relations_without_prediction_are_counted(scores):
    made = plain(shown(scores=scores))
    assert all(part in made for part in ("no token: 3", "Eats: 2"))


def test_a_measure_that_is_not_known_is_a_dash(scores):
    assert "<dt>average precision</dt><dd>–</dd>" in shown(scores=scores)


def test_the_class_of_no_relation_has_no_scores_of_its_own(scores):
    assert '<th scope="row">none</th><td class="n">0.' not in shown(scores=scores)


def test_gates_are_shown_with_what_they_gain(gates):
    report = gates.report()
    first = report.labels[0]
    assert f'aria-label="gain if ignored {first.gain:+.4f}"' in shown(gates=gates)


def test_a_learner_or_its_report_may_be_given(gates):
    assert shown(gates=gates) == shown(gates=gates.report())


def test_times_add_up():
    assert '<th scope="row">total</th><td class="n">3.00</td>' in shown(timings={"a": 1, "b": 2})


def test_no_time_at_all_is_no_error():
    assert "0.00" in shown(timings={"a": 0.0})


def test_inner_tables_of_a_card_are_flat():
    card = {"held_out": {"f1": 0.5, "auc": None}, "relations": ["a", "b"], "seed": 12345678}
    assert card_facts(card) == [
        ("held out: f1", "0.500"),
        ("held out: auc", "–"),
        ("relations", "a, b"),
        ("seed", "12345678"),
    ]


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
        _explain=lambda p: evil_evidence(),
    )
    denied = prediction(sentence=evil, start=0, probability=0.1, document=EVIL, type=EVIL)
    bad = kw.evaluate.score([EVIL, "none"], [EVIL, "none"], positive=[EVIL], n_bootstrap=0)
    made = shown(
        found,
        denied,
        title=EVIL,
        documents={EVIL: EVIL, "other": EVIL},
        scores=RelationScores(bad, None, None, 1, 2, {EVIL: 1}, {EVIL: 1}),
        timings={EVIL: 1.0},
    )
    assert "<script" not in made
    assert 'onload="' not in made
    assert Outline(made).open == []


def test_labels_of_gates_are_escaped():
    paths = [kw.Sequence([("<i>", "x"), ("b", y)]) for y in "yz" * 20]
    learner = kw.GateLearner(kw.SubsequenceKernel(), labels=1.0, random_state=0)
    made = shown(gates=learner.fit(paths, list("yz" * 20)))
    assert "<i>" not in made and "&lt;i&gt;" in made


def test_facts_of_the_model_are_escaped():
    macro = _environment().get_template("macros.html").module.facts
    assert "<script" not in macro(card_facts({EVIL: EVIL}))


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


def test_a_document_that_is_not_a_string_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match=r"pass the \.text"):
        shown(documents={"doc1": kw.Document("x")})


def test_a_negative_number_of_explanations_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match="n_explained"):
        shown(n_explained=-1)


def test_many_entities_are_all_marked():
    n = 5000
    entities = [kw.text.Entity(str(i), "a", ((2 * i, 2 * i + 1),)) for i in range(n)]
    colors = [color for _, color, _ in segments(Passage("x " * n, entities), COLORS)]
    assert colors.count("k1") == n


def test_the_confusion_matrix_has_a_row_for_each_class(scores):
    made = shown(scores=scores)
    assert '<th scope="row">Binds</th><td class="n soft">0</td><td class="n yes">0</td>' in made
    assert '<td class="n ">5</td>' in made


# The page.


def test_characters_that_html_forbids_are_replaced():
    made = report_html(title="\ud800", predictions=[], documents={"a": "b\x00c"})
    assert "b\N{REPLACEMENT CHARACTER}c" in made
    assert made.encode()


def test_a_page_says_its_language():
    assert ("html", {"lang": "en"}) in Outline(shown()).tags


def test_a_page_forbids_scripts_and_the_network():
    tags = Outline(shown()).tags
    [policy] = [a["content"] for _, a in tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'") and "script" not in policy


def test_wide_parts_scroll_with_the_keyboard(scores):
    tags = Outline(shown(prediction(), scores=scores)).tags
    boxes = [attributes for _, attributes in tags if attributes.get("class") == "scroll"]
    assert len(boxes) == 3 and all(box["tabindex"] == "0" for box in boxes)


@pytest.mark.parametrize("share", [-1.0, 2.0, float("nan"), float("inf")])
def test_a_bar_stays_within_its_track(share):
    svg, rectangles = bar("x", 0, share, share)
    assert svg["aria-label"] == "x"
    for one in rectangles:
        assert 0 <= float(one["x"]) <= float(one["x"]) + float(one["width"]) <= 120


def test_a_bar_begins_and_ends_where_it_should():
    _, (_, fill, tick) = bar("x", 0.25, 0.5, 1)
    assert (float(fill["x"]), float(fill["width"]), float(tick["x"])) == (30, 30, 117)


def luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def schemes():
    style = files("kernelwood.relations").joinpath("templates", "report.css").read_text("utf-8")
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    return {
        name: dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", text))
        for name, text in (("light", light), ("dark", dark))
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("ink", "grounds"),
    [
        ("ink", ("ground", "raised", "k0", "k1", "k2", "k3", "k4", "k5")),
        ("soft", ("ground", "raised")),
        ("accent", ("ground", "raised")),
        ("yes", ("ground", "raised")),
        ("no", ("ground", "raised")),
    ],
)
def test_text_has_enough_contrast_to_its_background(scheme, ink, grounds):
    colors = schemes()[scheme]
    assert min(contrast(colors[ink], colors[ground]) for ground in grounds) >= 4.5
