"""Contents of reports: limits, repeated texts, errors, and facts of all predictions."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from report_samples import EVIL, TEXT, Outline, page, prediction, shown

import kernelwood as kw
from kernelwood.relations import ReportContents, report_html


def documents(n, relations=1):
    """Return `n` texts, and predictions for each."""
    pairs = [(0, 1), (0, 2), (1, 2)]
    found = [
        prediction(*pair, document=f"d{i}", id=f"d{i}.{pair}")
        for i in range(n)
        for pair in pairs[:relations]
    ]
    return {f"d{i}": TEXT.replace("over", f"over {i}") for i in range(n)}, found


def collected(n, relations=1, **limits):
    contents = ReportContents(**limits)
    texts, found = documents(n, relations)
    contents.add(found, texts)
    return contents


# Limits.


def test_documents_beyond_the_limit_are_counted_but_not_shown():
    made = report_html(title="t", predictions=collected(5, n_documents=2))
    assert made.count("<article") == 2
    assert "Texts of 2 of 5 documents are shown" in made
    assert "<td class=n>5</td>" in made  # the fact counts all


def test_documents_with_the_most_relations_are_shown():
    contents = ReportContents(n_documents=1)
    texts, found = documents(3)
    contents.add([*found, prediction(1, 2, document="d1", id="more")], texts)
    assert [one.name for one in contents.shown().documents] == ["d1"]


def test_batches_do_not_matter():
    texts, found = documents(9, 2)
    parts = ReportContents(n_documents=3)
    for name in texts:
        parts.add([one for one in found if one.document == name], {name: texts[name]})
    whole = ReportContents(n_documents=3)
    whole.add(found, texts)
    assert report_html(title="t", predictions=parts) == report_html(title="t", predictions=whole)


def test_few_documents_stay_in_memory():
    contents = ReportContents(n_documents=2)
    texts, found = documents(300)
    for one in found:
        contents.add([one], {one.document: texts[one.document]})
    assert len(contents._kept) <= 2 * 2 + 101
    assert (contents.n_documents, contents.n_relations) == (300, 300)


def test_long_texts_do_not_stay_in_memory():
    contents = ReportContents(n_characters=1000)
    for number in range(200):
        contents.add([], {f"d{number}": "word " * 100})
    assert sum(len(one.text) for one in contents._kept.values()) <= 5000


def test_texts_are_shown_up_to_a_length():
    contents = collected(50, n_characters=10 * len(TEXT))
    assert 5 <= len(contents.shown().documents) <= 10


def test_a_document_that_is_too_long_is_shown_without_all_of_its_text():
    made = shown(prediction(), documents={"doc1": TEXT + "x" * 1000}, n_characters=100)
    assert "characters of text without relations are left out" in made
    assert "MEK1" in made


def test_relations_with_the_highest_probability_are_shown():
    found = [prediction(0, 1, probability=0.6), prediction(0, 2, probability=0.9)]
    made = shown(*found, n_relations=1)
    assert made.count('class="rel ') == 1 and '<i class="bar p18 t10"></i>0.90' in made
    assert "The texts show 1 of 2 relations, those with the highest probability." in made


def test_candidates_below_the_threshold_are_limited():
    found = [prediction(0, 1, probability=0.1), prediction(0, 2, probability=0.4)]
    made = shown(*found, n_negative=1)
    assert "The texts show 1 of 2 candidates below the decision threshold." in made
    assert "0.40</li>" in made


def test_facts_beyond_the_limit_are_counted():
    made = shown(prediction(), prediction(0, 2), n_facts=1)
    assert "The table has the 1 strongest of 2 facts." in made
    assert made.count('<tr id="f') == made.count('<a class="r0" href="#f') == 1


@pytest.mark.parametrize(
    "name", ["n_documents", "n_characters", "n_relations", "n_negative", "n_facts"]
)
def test_a_negative_limit_is_refused(name):
    with pytest.raises(kw.errors.KernelInputError, match=f"{name} must be 0 or more, got -1"):
        shown(**{name: -1})


def test_texts_are_given_to_the_contents():
    with pytest.raises(kw.errors.KernelInputError, match=r"ReportContents\.add"):
        report_html(title="t", predictions=ReportContents(), documents={"a": "b"})


# Texts that are given twice.


def test_a_prediction_that_is_given_twice_is_shown_once_with_a_warning():
    with pytest.warns(UserWarning, match="1 predictions were given twice"):
        made = shown(prediction(), prediction())
    assert made.count('class="rel ') == 1
    assert '<td class="n">1</td>' in made


def test_a_text_with_two_names_is_shown_once_with_a_warning():
    found = [prediction(document="a"), prediction(document="b")]
    with pytest.warns(UserWarning, match="1 of 2 documents have the text"):
        made = shown(*found, documents={"a": TEXT, "b": TEXT})
    assert made.count("It is known.") == 1 and "The texts show" not in made
    assert "Same text and predictions: b" in made


def test_repetitions_leave_room_for_other_texts():
    contents = ReportContents(n_documents=2)
    for number in range(250):
        contents.add([prediction(document=f"a{number}")], {f"a{number}": TEXT})
    contents.add([prediction(document="b")], {"b": TEXT + "It is new."})
    with pytest.warns(UserWarning, match="249 of 251 documents"):
        shown = contents.shown()
    assert [(one.name, one.n_others, len(one.others)) for one in shown.documents] == [
        ("a0", 249, 20),
        ("b", 0, 0),
    ]


def test_facts_of_a_merged_document_lead_to_the_shown_one():
    found = [prediction(document="a", id="x"), prediction(document="b", id="y")]
    with pytest.warns(UserWarning):
        made = shown(*found, documents={"a": TEXT, "b": TEXT})
    assert made.count('<a href="#r0">') == 2


def test_one_text_with_other_predictions_is_shown_twice():
    found = [prediction(document="a"), prediction(0, 2, document="b")]
    made = shown(*found, documents={"a": TEXT, "b": TEXT})
    assert made.count("<article") == 2


def test_two_texts_of_the_same_name_are_two_documents():
    contents = ReportContents()
    contents.add([prediction()], {"doc1": TEXT})
    contents.add([], {"doc1": "Another text."})
    assert [len(one.passages) for one in contents.shown().documents] == [3, 1]


def test_predictions_about_unknown_documents_are_a_warning():
    with pytest.warns(UserWarning, match="'other', which is not in documents"):
        shown(prediction(document="other"))


# Annotated documents.


def test_errors_are_listed_with_what_is_annotated():
    wrong = prediction(0, 1, label="none")
    missed = prediction(0, 2, probability=0.1, label="Binds(e2,e1)")
    right = prediction(1, 2, label="Activates")
    made = shown(wrong, missed, right)
    rows = re.findall(
        r'<tr data-t="\d" data-p="[\d.]+" data-k="(\w+)"><th scope="row">([^<]*)', made
    )
    assert rows == [("fn", "false negative"), ("fp", "false positive")]
    assert "✗ missed, annotated: Binds, ERK2 → Raf" in made


def test_evidence_is_given_for_errors_first():
    asked = []

    def explain(found):
        asked.append(found.id)
        return kw.relations.Evidence()

    shown(
        prediction(0, 1, probability=0.9, label="Activates", _explain=explain),
        prediction(0, 2, probability=0.1, label="Activates", _explain=explain),
        prediction(1, 2, probability=0.8, label="Activates", _explain=explain),
        n_explained=2,
    )
    assert asked == ["c02", "c01"]


@pytest.mark.parametrize(
    ("label", "probability", "error"),
    [
        ("none", 0.9, "false positive"),
        ("Binds", 0.9, "wrong relation"),
        ("Activates", 0.9, None),
        ("Activates", 0.1, "false negative"),
        ("none", 0.1, None),
        (None, 0.9, None),
    ],
)
def test_errors_of_predictions(label, probability, error):
    assert prediction(label=label, probability=probability).error == error


# Pages.


def synthetic(n_documents=60, n_relations=800):
    """Return texts as long as abstracts, and predictions with evidence from shared cases."""
    words = "the of kinase activates in cells by and with receptor protein signaling".split()
    texts, found = {}, []
    for number in range(n_documents):
        sentences = []
        for place in range(9):
            names = [f"Prot{(number * 7 + place * 3 + i) % 150}" for i in range(4)]
            filler = [words[(number + place + i) % len(words)] for i in range(14)]
            sentences.append(" ".join([*names[:2], *filler, *names[2:]]) + ".")
        texts[f"PMID{number}"] = " ".join(sentences)
        start = 0
        for text in sentences:
            at = [m.span() for m in re.finditer(r"Prot\d+", text)]
            entities = [
                kw.text.Entity(f"T{i}", "Protein", (span,), text[slice(*span)])
                for i, span in enumerate(at)
            ]
            sentence = kw.Sentence(text, entities=entities)
            for pair in [(0, 1), (0, 2)]:
                made = prediction(
                    *pair,
                    sentence=sentence,
                    start=start,
                    document=f"PMID{number}",
                    id=f"PMID{number}.{start}.{pair}",
                    probability=0.5 + (number * 31 + start) % 50 / 100,
                    roles=("Arg1", "Arg2"),
                )
                found.append(replace(made, _explain=None if len(found) % 3 else made._explain))
            start += len(text) + 1
    return texts, found[:n_relations]


def test_sixty_abstracts_with_800_relations_are_less_than_a_megabyte():
    texts, found = synthetic()
    assert len(found) == 800
    made = report_html(title="Abstracts", predictions=found, documents=texts)
    assert len(made.encode()) < 1_000_000
    assert made.count('class="rel ') == 800 and made.count("<article") == 60


def test_ids_are_unique_and_links_lead_to_them():
    texts, found = synthetic(6, 90)
    made = Outline(report_html(title="t", predictions=found, documents=texts))
    ids = [attributes["id"] for _, attributes in made.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {attributes["href"] for tag, attributes in made.tags if tag == "a"}
    assert links <= {f"#{id}" for id in ids}
    assert made.open == []


HOSTILE = [
    EVIL,
    "</script><img src=x onerror=alert(1)>",
    "--><!--",
    "a & b &amp; &lt;c",
    "\u202eevil\u2066\u200f",
    "\x00\x01\x1b\ud800\ufffe",
    "line\rone\r\ntwo\u2028three",
    "=x onload=alert(1) ",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_shown_as_they_are(text):
    sentence = kw.Sentence(
        f"{text} binds Raf",
        entities=[
            kw.text.Entity("T1", text, ((0, len(text)),), text),
            kw.text.Entity("T2", "Gene", ((len(text) + 7, len(text) + 10),), "Raf"),
        ],
    )
    found = prediction(
        sentence=sentence, start=0, document=text, type=text, relation=text, label=text + "?"
    )
    made = Outline(page(found, title=text, documents={text: sentence.text}))
    expected = re.sub("[\x00-\x08\x1b\ud800\ufffe]", "\N{REPLACEMENT CHARACTER}", text)
    assert expected.replace("\r", " ") in made.text
    assert made.open == []
    tags = [tag for tag, _ in made.tags]
    assert tags.count("script") == 1 and "img" not in tags
    names = {name for _, attributes in made.tags for name in attributes}
    assert not [name for name in names if name.startswith("on")]


def test_the_scores_of_folds_are_shown():
    true, found = ["Activates", "none"] * 4, ["Activates", "none"] * 4
    one = kw.relations.RelationScores(
        kw.evaluate.score(true, found, positive=["Activates"], n_bootstrap=0), None, None, 4, 8
    )
    validation = kw.relations.RelationValidation(one, (one, one))
    made = shown(scores=validation)
    assert "2 folds of the cross-validation" in made
