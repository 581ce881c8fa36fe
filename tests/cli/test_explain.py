"""``kernelwood explain``."""

from __future__ import annotations

import json
import re

import pytest
from cli.interactions import some_documents
from cli.running import wrong_data
from click.testing import CliRunner

import kernelwood as kw
from kernelwood.cli import main
from kernelwood.relations import RelationExtractor


def run(*arguments, command="explain"):
    return CliRunner().invoke(main, [command, *map(str, arguments)])


def explained(*arguments):
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["explanations"]


@pytest.fixture(scope="module")
def extractor():
    return RelationExtractor(random_state=0).fit(some_documents())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("explain")


@pytest.fixture(scope="module")
def model(extractor, folder):
    kw.save(extractor, folder / "model.kw")
    return folder / "model.kw"


@pytest.fixture(scope="module")
def words_model(folder):
    extractor = RelationExtractor(views="context", random_state=0).fit(some_documents())
    kw.save(extractor, folder / "words.kw")
    return folder / "words.kw"


@pytest.fixture(scope="module")
def corpus(folder):
    kw.write(some_documents(2, start=20), folder / "in.jsonl")
    return folder / "in.jsonl"


@pytest.fixture(scope="module")
def terms(folder):
    (folder / "terms.tsv").write_text("Raf\tprotein\nRas\tprotein\nMek\tprotein\n")
    return folder / "terms.tsv"


# What is told.


def test_the_explanation_is_that_of_the_library(extractor, model, corpus):
    [told] = explained(model, corpus, "d20.s0.e1-e2")
    [one] = [one for one in extractor.predict(kw.read(corpus)) if one.id == "d20.s0.e1-e2"]
    assert told == one.to_dict(evidence=True)


def test_the_number_of_cases_can_be_chosen(model, corpus):
    [told] = explained(model, corpus, "d20.s0.e1-e2", "--evidence", 5)
    assert len(told["evidence"]) == 5


def test_what_is_no_relation_is_explained_by_its_name(model, corpus):
    [told] = explained(model, corpus, "d20.s3.e1-e2")
    assert (told["positive"], told["label"]) == (False, "none")


def test_the_name_of_a_sentence_explains_its_relations(model, corpus):
    assert [told["id"] for told in explained(model, corpus, "d20.s0")] == ["d20.s0.e1-e2"]


def test_a_threshold_replaces_that_of_the_model(model, corpus):
    [told] = explained(model, corpus, "d20.s0.e1-e2", "--threshold", 1)
    assert (told["positive"], told["threshold"]) == (False, 1.0)


def test_stored_predictions_are_explained_by_their_evidence(model, corpus, tmp_path):
    path = tmp_path / "found.jsonl"
    run(model, corpus, "-o", path, "--evidence", 3, command="predict")
    path.write_text("\n" + path.read_text())  # blank lines are skipped
    name = "d20.s0.e1-e2"
    assert explained(model, path, name) == explained(model, corpus, name)


def test_a_text_is_explained_with_terms(words_model, terms):
    [told] = explained(words_model, "--text", "Raf binds Ras.", "--entities", terms)
    assert (told["type"], "label" in told) == ("binds", False)
    supporting = [case for case in told["evidence"]["cases"] if case["supports"]]
    assert 1 <= len(supporting) <= 3  # small contributions are left out
    assert supporting[0]["type"] == "binds"


def test_all_candidates_of_a_text_are_explained_on_request(words_model, terms):
    told = explained(
        words_model, "--text", "Raf sits beside Ras and Mek.", "--entities", terms, "--all"
    )
    assert len(told) == 3


# What is shown.


def test_the_sentence_is_shown_with_its_entities(model, corpus):
    lines = run(model, corpus, "d20.s0.e1-e2").stdout.splitlines()
    assert lines[:2] == ["d20.s0.e1-e2", "[Sos2] binds [Abl2]"]


def test_explanations_end_in_one_line_feed(model, corpus):
    shown = run(model, corpus, "d20.s0.e1-e2").stdout
    assert shown.endswith("\n") and not shown.endswith("\n\n")


def test_the_decision_is_shown_with_probability_and_threshold(model, corpus):
    shown = run(model, corpus, "d20.s3.e1-e2").stdout
    assert "binds: predicted negative, probability 0.0" in shown
    assert "< threshold 0." in shown and "annotated as none" in shown


def test_cases_are_shown_with_marked_words_and_paths(model, corpus):
    shown = run(model, corpus, "d20.s0.e1-e2").stdout
    assert "path      [Sos2] —subject of→ binds —object→ [Abl2]" in shown
    assert "  here    [Sos2] *binds* [Abl2]" in shown
    assert re.search(r"^  case    \[\w+\] \*binds\* \[\w+\]", shown, re.MULTILINE)
    assert "(same steps)" in shown


def test_contributions_add_up_to_the_score_that_is_shown(model, corpus):
    shown = run(model, corpus, "d20.s0.e1-e2").stdout
    [line] = [line for line in shown.splitlines() if line.startswith("decision score")]
    score, *parts = map(float, re.findall(r"[-+]?\d+\.\d{3}", line))
    assert score == pytest.approx(sum(parts), abs=0.002)


def test_fragments_are_shown_on_request(model, corpus):
    assert "<nsubj-of> bind <dobj>" not in run(model, corpus, "d20.s0.e1-e2").stdout
    shown = run(model, corpus, "d20.s0.e1-e2", "--fragments").stdout
    assert "<nsubj-of> bind <dobj>" in shown


def test_entities_and_words_are_colored_in_a_terminal(model, corpus, monkeypatch):
    import io

    from rich.console import Console

    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100, highlight=False)
    monkeypatch.setattr("kernelwood.cli.explanations.results", lambda: console)
    run(model, corpus, "d20.s0.e1-e2")
    colored = out.getvalue()
    assert "\x1b[1;36mSos2" in colored and "\x1b[1;32mbinds" in colored
    assert "[Sos2]" not in colored and "*binds*" not in colored


# Wrong usage and data.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give a CORPUS and an ID"),
        (["corpus.xml"], "give a CORPUS and an ID"),
        (
            ["--text", "Raf"],
            "--text needs --entities, a list of terms to mark in it: the model was",
        ),
        (["corpus.xml", "a", "--text", "Raf"], "leave out CORPUS"),
        (["corpus.xml", "a", "--entities", "t.tsv"], "leave out --entities"),
    ],
)
def test_wrong_usage_is_explained(model, arguments, message):
    result = run(model, *arguments)
    assert result.exit_code == 2 and message in " ".join(result.stderr.split())


def test_an_unknown_name_is_refused_with_the_nearest(model, corpus):
    message = wrong_data(run(model, corpus, "d20.s0.e1-e3"))
    assert "with the id 'd20.s0.e1-e3'; did you mean 'd20.s0.e1-e2'?" in message


def test_without_relations_the_largest_probability_is_told(model, corpus):
    message = wrong_data(run(model, corpus, "d20.s3"))
    assert (
        "no relations in d20.s3: the largest probability of 1 candidate is" in message
        and "--all" in message
    )


def test_stored_predictions_without_evidence_are_refused(model, corpus, tmp_path):
    path = tmp_path / "found.jsonl"
    run(model, corpus, "-o", path, command="predict")
    assert "with --evidence N" in wrong_data(run(model, path, "d20.s0.e1-e2"))


def test_stored_evidence_of_an_older_version_is_refused(model, corpus, tmp_path):
    path = tmp_path / "found.jsonl"
    run(model, corpus, "-o", path, "--evidence", 1, command="predict")
    lines = [json.loads(line) | {"evidence": []} for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "evidence of an older version" in wrong_data(run(model, path, "d20.s0.e1-e2"))


def test_a_name_that_is_not_stored_is_refused(model, corpus, tmp_path):
    path = tmp_path / "found.jsonl"
    run(model, corpus, "-o", path, "--evidence", 1, command="predict")
    assert "no prediction with the id 'x'" in wrong_data(run(model, path, "x"))


def test_a_text_with_a_single_entity_is_refused(words_model, terms):
    result = run(words_model, "--text", "Raf binds something.", "--entities", terms, "--all")
    assert "no sentence has entities that can be related" in wrong_data(result)


def test_a_text_without_terms_is_refused(words_model, terms):
    message = wrong_data(run(words_model, "--text", "Nothing.", "--entities", terms))
    assert "the text contains no term of" in message


def test_a_broken_corpus_is_refused_with_its_line(model, tmp_path):
    (tmp_path / "in.jsonl").write_text("{broken\n")
    assert "in.jsonl:1" in wrong_data(run(model, tmp_path / "in.jsonl", "a"))


def test_a_wrong_id_of_stored_predictions_gets_a_suggestion(model, corpus, tmp_path):
    found = tmp_path / "found.jsonl"
    run(model, corpus, "-o", found, "--evidence", 1, command="predict")
    message = wrong_data(run(model, found, "d20.s0.e1-e3"))
    assert "no prediction with the id 'd20.s0.e1-e3'; did you mean 'd20.s0.e1-e2'?" in message
