"""The report contains all that it is given, and no text of the input becomes markup."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html import unescape
from importlib.resources import files
from itertools import combinations, pairwise
from math import dist
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from report_samples import (
    COLORS,
    EVIL,
    RELATIONS,
    SENTENCE,
    TEXT,
    Outline,
    candidate_of,
    case,
    evil_evidence,
    fail,
    page,
    plain,
    prediction,
    replace_types,
    shown,
)

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.relations import (
    Candidates,
    Evidence,
    MarkedText,
    Participant,
    Predictions,
    RelationScores,
    report,
    report_html,
    write_report,
)
from kernelwood.relations.pictures import describe, draw_relations
from kernelwood.relations.report import _environment, card_facts, segments
from kernelwood.relations.report_contents import Passage, passages_of


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
    assert '<mark class="k0">MEK1</mark>' in shown(prediction())


def test_entities_without_a_relation_are_marked_too():
    assert '<mark class="k0">ERK2</mark>' in shown(prediction(0, 1))


def test_entities_have_types_if_there_are_several():
    sentence = replace_types(SENTENCE, ["Protein", "Gene", "Gene"])
    assert '<mark class="k0">MEK1<small>Gene</small></mark>' in shown(prediction(sentence=sentence))


def test_a_text_without_relations_is_shown():
    assert "Nothing at all." in shown(documents={"doc2": "Nothing at all."})


def test_without_texts_the_sentences_are_shown():
    assert "Raf" in plain(shown(prediction(), documents=None))


def test_a_sentence_that_is_not_in_the_text_stands_for_itself():
    [passage] = passages_of([prediction()], "Another text.")
    assert passage.text == SENTENCE.text


def test_sentences_stand_in_the_order_of_the_text():
    entities = [kw.text.Entity("a", "x", ((0, 2),)), kw.text.Entity("b", "x", ((3, 5),))]
    later = kw.Sentence("It is over.", entities=entities)
    found = passages_of([prediction(sentence=later, start=42), prediction()], TEXT)
    assert [p.text for p in found] == ["It is known.", SENTENCE.text, "It is over."]


def test_probability_and_threshold_are_shown():
    assert '<i class="bar p15 t10"></i>0.75' in shown(prediction())


def test_evidence_is_shown_with_fragments_and_weights():
    made = shown(prediction())
    assert all(part in made for part in ("similarity 0.88", "+0.250", "path, 62%"))


def test_evidence_refers_to_a_case_and_to_shared_words():
    made = shown(prediction())
    assert '<li data-c="0" data-a="4-13" data-b="4-13">' in made
    assert '<a href="#c0">Activates</a>' in made
    assert "<small>shared words</small> activates" in made
    assert 'data-e="0-3,14-18"' in made


def test_a_training_case_is_listed_once():
    made = shown(prediction(), prediction(0, 2))
    case = '<mark class="entity">Ras</mark> activates <mark class="entity">Raf</mark>.'
    assert made.count(case) == 1 and made.count('data-c="0"') == 2


def test_offsets_of_long_cases_are_those_of_the_shown_part():
    long = "So it is. " * 60 + "Ras activates Raf."
    n = len(long) - 18

    def explain(found):
        [one] = case(found).supporting
        spans = ((n, n + 3), (n + 14, n + 17))
        return Evidence((replace(one, sentence=MarkedText(long, spans, (), ((n + 4, n + 13),))),))

    made = shown(prediction(_explain=explain))
    [(start, end)] = re.findall(r'data-a="(\d+)-(\d+)"', made)
    [sentence] = re.findall('<p class="sentence">(.*?)</p>', made)
    assert plain(sentence)[int(start) : int(end)] == "activates"


def test_the_path_is_spelled_and_equal_steps_are_told():
    made = shown(prediction())
    path = "<mark>Ras</mark> <i>—subject of→</i> activates"
    assert made.count(path) == 2  # of the prediction, and of the case
    assert "similarity 0.88, same steps" in made


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
    assert re.findall(r'<i class="bar (p\d+)"></i><b>', made) == ["p20", "p5"]


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
    assert "<mark class=entity>Raf</mark>" in made
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
    [
        ("Activates", "as annotated"),
        ("Binds(e2,e1)", "annotated: Binds, MEK1 → Raf"),
        ("Binds(e1,e2)", "annotated: Binds"),
        ("Binds", "annotated: Binds"),
        (None, None),
    ],
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
    [passage] = passages_of([prediction(), prediction(0, 2)], None)
    arcs = draw_relations(passage, COLORS, RELATIONS)["arcs"]
    assert [label for _, _, label, *_ in arcs] == ["Activates 0.75"] * 2
    assert all(line.startswith("M") and head for line, head, *_ in arcs)
    assert {color for *_, color in arcs} == {"r3"}


def test_events_are_drawn_from_their_trigger():
    word = Participant("trigger", "T9", "Activation", "activates", ((17, 26),))
    [passage] = passages_of([prediction(trigger=word)], None)
    arcs = draw_relations(passage, COLORS, RELATIONS)["arcs"]
    assert sorted(label for _, _, label, *_ in arcs) == ["Agent", "Target"]


def test_longer_arcs_are_above_shorter_ones():
    [passage] = passages_of([prediction(0, 2), prediction(0, 1)], None)
    (*_, short, _), (*_, long, _) = draw_relations(passage, COLORS, RELATIONS)["arcs"]
    assert long < short


def test_every_arc_is_in_the_page():
    made = shown(prediction(), prediction(0, 2))
    assert made.count('<path class="r0"') == made.count('<path class="r0 head"') == 2


def test_a_sentence_with_one_relation_has_no_picture_among_many():
    [passage] = passages_of([prediction()], None)
    assert draw_relations(passage, COLORS, RELATIONS, least=2) is None


def test_a_sentence_without_predicted_relations_has_no_picture():
    assert draw_relations(Passage("x", (), [prediction(probability=0.1)]), COLORS, {}) is None


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
    assert all(part in made for part in ("dropped: 3 × ", "no token", "Eats (2)"))


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
    card |= {"settings": {"tol": 1e-4, "max_iter": 10**7}, "type_f1": {"Kill(e2,e1)": 0.0}}
    assert card_facts(card) == [
        ("held out: f1", "0.500"),
        ("held out: auc", "–"),
        ("relations", "a, b"),
        ("seed", "12345678"),
        ("settings: tol", "0.0001"),
        ("settings: max iter", "10,000,000"),
        ("type f1: Kill\xa0←", "0.000"),
    ]


def test_technical_entries_of_a_card_are_folded():
    made = shown(extractor=kw.RelationExtractor(random_state=0).fit(load_interactions("train")))
    main, _, folded = made.partition("<summary>Technical details</summary>")
    assert "<dt>kernel</dt>" in folded
    assert "<dt>kernel</dt>" not in main
    assert "<dt>threshold</dt>" in main


def test_headers_of_the_reliability_table_are_horizontal(scores):
    bins = kw.evaluate.reliability(np.array([0.2, 0.8]), np.array([False, True]))
    assert "<details open><summary>Reliability" in shown(scores=replace(scores, reliability=bins))


def test_entities_of_texts_without_predictions_are_marked():
    text = "  MEK binds. Raf is old."
    mek, raf = ((2, 5),), ((13, 16),)
    entities = [kw.text.Entity("T1", "P", mek), kw.text.Entity("T2", "P", raf)]
    assert passages_of([], text, entities) == [
        Passage(text.strip(), [entities[0]._replace(spans=((0, 3),)),
                               entities[1]._replace(spans=((11, 14),))], ())
    ]  # fmt: skip
    made = shown(documents={"doc9": kw.Document(text, entities)})
    assert ">MEK</mark>" in made
    assert ">Raf</mark>" in made
    assert ">MEK</mark>" not in shown(documents={"doc9": text})


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
    assert not re.search(r"url\(|@import|fetch|XMLHttp|import\b|https?:", page())


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
    with pytest.raises(kw.errors.KernelInputError, match="pass the text, or a kw"):
        shown(documents={"doc1": 7})


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


def test_a_page_allows_only_its_own_style_sheet_and_script():
    made = page(prediction(document="</style><script>", type="</script>"), documents=None)
    [policy] = re.findall('http-equiv="Content-Security-Policy" content="(.*?)"', made)
    [style], [script] = (
        re.findall(f"<{n}>(.*?)</{n}>", made, re.DOTALL) for n in ("style", "script")
    )
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (style, script)]
    assert unescape(policy) == (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )


def test_a_page_has_no_attributes_that_the_policy_forbids(scores, gates):
    made = Outline(page(prediction(), scores=scores, gates=gates, timings={"a": 1.0}))
    names = {name for _, attributes in made.tags for name in attributes}
    assert not {name for name in names if name == "style" or name.startswith("on")}


def test_wide_parts_scroll_with_the_keyboard(scores):
    tags = Outline(shown(prediction(), scores=scores)).tags
    boxes = [attributes for _, attributes in tags if attributes.get("class") == "scroll"]
    assert len(boxes) == 6 and all(box["tabindex"] == "0" for box in boxes)


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
        *((f"r{number}", ("ground", "raised")) for number in range(8)),
    ],
)
def test_text_has_enough_contrast_to_its_background(scheme, ink, grounds):
    colors = schemes()[scheme]
    assert min(contrast(colors[ink], colors[ground]) for ground in grounds) >= 4.5


# Matrices that simulate color vision deficiencies in linear RGB (Machado, Oliveira and Fernandes,
# "A physiologically-based model for simulation of color vision deficiency", 2009).
VISION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def seen(color, matrix):
    """Return the CIE Lab coordinates of a color as it is seen."""
    linear = [((int(color[i : i + 2], 16) / 255 + 0.055) / 1.055) ** 2.4 for i in (1, 3, 5)]
    r, g, b = (
        min(1.0, max(0.0, sum(m * part for m, part in zip(row, linear, strict=True))))
        for row in matrix
    )
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_relation_types_can_be_told_apart_by_color(scheme, vision):
    colors = [seen(schemes()[scheme][f"r{number}"], VISION[vision]) for number in range(8)]
    assert min(dist(one, other) for one, other in combinations(colors, 2)) > 20
