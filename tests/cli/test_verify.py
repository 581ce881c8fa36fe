"""``kernelwood verify``."""

from __future__ import annotations

import errno
import json
import os
import re
from functools import partial

import jsonschema
import pytest
from cli.interactions import a_sentence, some_documents
from cli.running import answer, invoke, wrong_data

import kernelwood as kw
from kernelwood.cli.commands.verify import _SOURCES
from kernelwood.io import CLAIM_SOURCES, claim_schema, read_claims
from kernelwood.relations import RelationExtractor
from kernelwood.relations.verification import verify

run = partial(invoke, "verify")
verified = partial(answer, "verify")


def a_line(name, pattern, kind="binds", **changes):
    sentence = a_sentence(pattern, "Pten", "Akt")
    entities = [
        {"id": e.id, "start": e.start, "end": e.end, "type": e.type} for e in sentence.entities
    ]
    relation = {"type": kind, "first": "e1", "second": "e2"}
    line = {"id": name, "text": sentence.text, "entities": entities, "relation": relation}
    return {**line, **changes}


def write(path, *lines):
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def extractor():
    """Return an extractor that compares words, so that nothing is parsed."""
    return RelationExtractor(views="context", random_state=0).fit(some_documents())


@pytest.fixture(scope="module")
def model(extractor, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.kw"
    kw.save(extractor, path)
    return path


@pytest.fixture
def claims(tmp_path):
    lines = [a_line("yes", 0), a_line("no", 3), a_line("cuts", 0, "cuts")]
    return write(tmp_path / "claims.jsonl", *lines)


def test_verdicts_are_those_of_the_library(extractor, model, claims, tmp_path):
    verified(model, claims, "-o", tmp_path / "out.jsonl", "--evidence", 3)
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    expected = [
        one.to_dict(evidence=one.evidence) for one in verify(extractor, read_claims(claims))
    ]
    assert [json.loads(line) for line in lines] == expected


def test_every_claim_has_its_verdict(model, claims):
    report = verified(model, claims)
    assert [(one["id"], one["verdict"]) for one in report["verdicts"]] == [
        ("yes", "supported"), ("no", "unsupported"), ("cuts", "other"),
    ]  # fmt: skip


def test_the_report_counts_verdicts(model, claims, tmp_path):
    report = verified(model, claims, "-o", tmp_path / "out.jsonl")
    keys = ("n_claims", "supported", "unsupported", "other")
    assert [report[key] for key in keys] == [3, 1, 1, 1]


def test_evidence_can_be_left_out(model, claims):
    report = verified(model, claims, "--evidence", 0)
    assert not any("evidence" in one for one in report["verdicts"])


def test_a_threshold_replaces_that_of_the_model(model, claims):
    assert verified(model, claims, "--threshold", 1)["unsupported"] == 3


def test_claims_may_come_from_standard_input(model, claims):
    assert verified(model, "-", stdin=claims.read_bytes())["n_claims"] == 3


def test_standard_output_gets_json_lines(model, claims):
    result = run(model, claims, "-o", "-")
    assert len([json.loads(line) for line in result.stdout.splitlines()]) == 3
    assert "3 claims: 1 supported, 1 unsupported, 1 other" in result.stderr


def test_a_table_shows_claims_and_verdicts(model, claims):
    shown = run(model, claims).stdout
    assert "Pten —binds→ Akt" in shown and "unsupported" in shown
    assert "the model does not know 'cuts'" in shown


def test_the_size_of_batches_changes_nothing(model, claims, tmp_path, monkeypatch):
    run(model, claims, "-o", tmp_path / "whole.jsonl")
    for module in ("kernelwood.cli.commands.verify", "kernelwood.relations.verification"):
        monkeypatch.setattr(f"{module}._AT_ONCE", 2)
    run(model, claims, "-o", tmp_path / "parts.jsonl")
    assert (tmp_path / "whole.jsonl").read_bytes() == (tmp_path / "parts.jsonl").read_bytes()


# Other tools.


def triples(path, *rows, text="Pten binds Akt . Raf sits beside Ras ."):
    relations = [dict(zip(("subject", "predicate", "object"), row, strict=True)) for row in rows]
    return write(path / "triples.jsonl", {"text": text, "relations": relations})


def test_triples_are_located_and_checked(model, tmp_path):
    rows = [("PTEN", "Binds", "akt"), ("Raf", "binds", "Ras"), ("Raf", "binds", "Akt"),
            ("Raf", "binds", "Erk")]  # fmt: skip
    report = verified(model, triples(tmp_path, *rows), "--from", "triples", "--type", "protein")
    assert [one["verdict"] for one in report["verdicts"]] == [
        "supported", "unsupported", "not checkable", "not checkable",
    ]  # fmt: skip
    reasons = [one.get("reason", "") for one in report["verdicts"]]
    assert "different sentences" in reasons[2]
    assert reasons[3] == "mention not in the text: 'Erk'"
    assert report["verdicts"][0]["entities"][0]["start"] == 0


def test_verdicts_of_another_tool_are_claims_again(model, tmp_path):
    path = triples(tmp_path, ("Pten", "binds", "Akt"))
    [line] = verified(model, path, "--from", "triples", "--evidence", 0)["verdicts"]
    claim = {name: line[name] for name in ("id", "text", "entities", "relation")}
    jsonschema.validate(claim, claim_schema())
    again = verified(model, write(tmp_path / "again.jsonl", claim), "--evidence", 0)
    assert again["verdicts"] == [line]


def test_predicates_are_mapped_to_relation_types(model, tmp_path):
    path = triples(tmp_path, ("Pten", "attaches to", "Akt"))
    plain = verified(model, path, "--from", "triples")
    mapped = verified(model, path, "--from", "triples", "--map", "attaches to=binds")
    assert (plain["other"], mapped["supported"]) == (1, 1)
    assert mapped["verdicts"][0]["checked_as"] == "binds"
    assert mapped["types"] == {
        "binds": {"supported": 1, "unsupported": 0, "other": 0, "not_checkable": 0}
    }


def test_the_summary_counts_by_type_and_names_unknown_types(model, tmp_path):
    path = triples(tmp_path, ("Pten", "binds", "Akt"), ("Pten", "bound", "Akt"))
    result = run(model, path, "--from", "triples", "--evidence", 0)
    assert re.search(r"^binds +1 +1 +0 +0 +0$", result.stdout, re.MULTILINE)
    assert "2 claims: 1 supported, 0 unsupported, 1 other" in result.stdout
    assert "unknown to the model: 'bound'; give its type with --map bound=binds" in result.stderr


def test_the_only_entity_type_of_a_model_is_used(tmp_path):
    made = RelationExtractor(views="context", types="protein", random_state=0)
    kw.save(made.fit(some_documents()), tmp_path / "model.kw")
    path = triples(tmp_path, ("Pten", "binds", "Akt"))
    assert verified(tmp_path / "model.kw", path, "--from", "triples")["supported"] == 1


def test_invalid_claims_are_counted_and_named_with_their_lines(model, tmp_path):
    path = write(tmp_path / "in.jsonl", a_line("a", 0), {"text": "Raf"}, a_line("a", 0))
    report = verified(model, path, "--errors", "skip")
    assert report["n_claims"] == 1 and sum(report["skipped"].values()) == 2
    assert [line.rpartition("in.jsonl:")[2][:2] for line in report["invalid"]] == ["2:", "3:"]
    assert (
        "in.jsonl:2: the claim has no key 'entities'" in run(model, path, "--errors", "skip").stderr
    )


def test_the_schema_is_printed_without_a_model():
    result = run("--schema")
    assert result.exit_code == 0 and json.loads(result.stdout) == claim_schema()


def test_sources_are_those_of_the_library():
    assert set(_SOURCES) == {"claims", *CLAIM_SOURCES}


# Wrong usage and data.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "out.tsv"], "must end in one of .jsonl"),
        (["-o", "-", "--json"], "both write to standard output"),
        (["--parser", "spicy"], "did you mean 'spacy'?"),
        (["--from", "tripels"], "did you mean 'triples'?"),
        (["--map", "binds"], "is not of the form PREDICATE=TYPE"),
        (["--map", "attaches=bind"], "no relation type 'bind'; did you mean 'binds'?"),
    ],
)
def test_wrong_usage_is_explained(model, claims, arguments, message):
    result = run(model, claims, *arguments)
    assert result.exit_code == 2 and message in " ".join(result.stderr.split())


def test_claims_are_not_overwritten(model, claims):
    before = claims.read_bytes()
    assert run(model, claims, "-o", claims).exit_code == 2
    assert claims.read_bytes() == before


def test_a_bad_line_is_refused_with_its_number_and_the_option_that_helps(model, tmp_path):
    entities = [{"id": "e1", "start": 0, "end": 99}, {"id": "e2", "start": 5, "end": 8}]
    path = write(tmp_path / "in.jsonl", a_line("a", 0), a_line("b", 0, entities=entities))
    message = wrong_data(run(model, path, "-o", tmp_path / "out.jsonl"))
    assert "in.jsonl:2: entity 'e1' stands at [0, 99)" in message
    assert not (tmp_path / "out.jsonl").exists()


def test_overlapping_entities_are_refused(model, tmp_path):
    entities = [{"id": "e1", "start": 0, "end": 6}, {"id": "e2", "start": 5, "end": 8}]
    path = write(tmp_path / "in.jsonl", a_line("b", 0, entities=entities))
    assert "in.jsonl:1: the entities 'e1' and 'e2' overlap" in wrong_data(run(model, path))


def test_bad_lines_are_skipped_and_counted_on_request(model, tmp_path):
    path = write(tmp_path / "in.jsonl", a_line("a", 0), {"text": "Raf"})
    report = verified(model, path, "--errors", "skip")
    assert (report["n_claims"], sum(report["skipped"].values())) == (1, 1)


def test_an_empty_file_has_no_claims(model, tmp_path):
    assert verified(model, write(tmp_path / "in.jsonl"))["n_claims"] == 0


def test_a_full_disk_leaves_nothing_behind(model, claims, tmp_path, monkeypatch):
    def full(number):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    assert "No space left" in wrong_data(run(model, claims, "-o", tmp_path / "out.jsonl"))
    assert [path.name for path in tmp_path.iterdir()] == ["claims.jsonl"]


def test_an_interruption_leaves_nothing_behind(model, claims, tmp_path, monkeypatch):
    def interrupted(self, texts, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(RelationExtractor, "extract", interrupted)
    assert run(model, claims, "-o", tmp_path / "out.jsonl").exit_code == 130
    assert [path.name for path in tmp_path.iterdir()] == ["claims.jsonl"]


def test_triples_without_their_option_are_told_of_it(model, tmp_path):
    path = triples(tmp_path, ("Pten", "binds", "Akt"))
    assert "--from triples reads texts" in wrong_data(run(model, path))
