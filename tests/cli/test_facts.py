"""``--facts`` and further output formats of ``kernelwood extract`` and ``predict``."""

from __future__ import annotations

import json

import pytest
from cli.interactions import some_documents
from cli.running import invoke

import kernelwood as kw
from kernelwood.relations import FACT_FORMATS, RelationExtractor

TERMS = "Raf\tprotein\tDB:1\nc-Raf\tprotein\tDB:1\nRas\tprotein\tDB:2\nMek\tprotein\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.kw"
    kw.save(RelationExtractor(views="context", random_state=0).fit(some_documents()), path)
    return path


@pytest.fixture
def run(model, tmp_path, monkeypatch):
    """Extract from two texts, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("Raf binds Ras. Mek sits beside Raf.\n")
    (tmp_path / "b.txt").write_text("c-Raf binds Ras.\n")
    (tmp_path / "terms.tsv").write_text(TERMS)

    def extract(*options):
        return invoke("extract", model, "a.txt", "b.txt", "--entities", "terms.tsv", *options)

    return extract


def facts(path):
    return json.loads(path.read_text())["facts"]


def test_facts_are_written_beside_predictions(run, tmp_path):
    result = run("-o", "found.jsonl", "--facts", "facts.json", "--threshold", "0")
    assert result.exit_code == 0, result.stderr
    lines = (tmp_path / "found.jsonl").read_text().splitlines()
    assert sum(fact["count"] for fact in facts(tmp_path / "facts.json")) == len(lines)
    assert "facts: facts.json" in result.stderr


def test_entities_may_be_identified_by_id(run, tmp_path):
    for by, expected in (("text", {"Raf", "c-Raf"}), ("id", {"Raf"})):
        result = run("--facts", f"{by}.json", "--facts-by", by, "--threshold", "0")
        assert result.exit_code == 0, result.stderr
        found = facts(tmp_path / f"{by}.json")
        names = {one[end]["name"] for one in found for end in ("first", "second")}
        assert names & {"Raf", "c-Raf"} == expected


def test_facts_are_positive_even_if_all_candidates_are_written(run, tmp_path):
    result = run("-o", "all.tsv", "--all", "--facts", "facts.json", "--threshold", "1")
    assert result.exit_code == 0, result.stderr
    assert facts(tmp_path / "facts.json") == []
    assert len((tmp_path / "all.tsv").read_text().splitlines()) > 1


def test_several_files_have_the_same_facts(run, tmp_path):
    names = [f"facts{row.suffix}" for name, row in FACT_FORMATS.items() if name != "indra"]
    result = run("--threshold", "0", *(word for name in names for word in ("--facts", name)))
    assert result.exit_code == 0, result.stderr
    assert all((tmp_path / name).exists() for name in names)


def test_facts_that_cannot_be_statements_do_not_stop_other_files(run, tmp_path, monkeypatch):
    monkeypatch.setattr("kernelwood.relations.fact_statements._STEMS", {})
    files = "--threshold", "0", "--facts", "f.indra.json", "--facts", "f.tsv"
    result = run(*files)
    (kind,) = {fact.split("\t")[3] for fact in (tmp_path / "f.tsv").read_text().splitlines()[1:]}
    assert result.exit_code == 1
    assert "cannot be INDRA Statements" in result.stderr
    assert not (tmp_path / "f.indra.json").exists()
    assert run(*files, "--facts-type", f"{kind}=Complex").exit_code == 0
    assert json.loads((tmp_path / "f.indra.json").read_text())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--facts", "x.doc"], "unknown format of 'x.doc'"),
        (["--facts", "-"], "--facts needs a file name"),
        (["--facts", "x.tsv", "-o", "x.tsv"], "name the same file twice"),
        (["--facts", "x.tsv", "--facts", "./x.tsv"], "name the same file twice"),
        (["--facts", "terms.tsv"], "are the same file"),
        (["--facts", "x.tsv", "--facts-by", "name"], "'name' is not one of 'text', 'id'"),
        (["--facts", "x.bel", "--facts-type", "Complex"], "'Complex' must be TYPE=STATEMENT"),
        (["--facts", "x.bel", "--facts-type", "a=Cure"], "'Cure', given for 'a', is not a type of"),
        (["--facts-by", "id"], "--facts-by needs --facts FILE"),
        (["--facts-type", "binds=Complex"], "--facts-type needs --facts FILE"),
        (["-o", "x.doc"], "unknown output format of 'x.doc'"),
        (["-o", "x.doc"], ", .bioc.jsonl, .html"),
        (["-o", "x", "--to", "doc"], "unknown output format 'doc'; choose one of jsonl, tsv, ann"),
        (["-o", "x", "--to", "documents", "--all"], "the format documents contains relations only"),
    ],
)
def test_wrong_options_are_named_before_anything_is_read(run, options, message):
    result = run(*options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_a_folder_that_is_there_is_refused_at_once(run, tmp_path):
    (tmp_path / "x.neo4j").mkdir()
    (tmp_path / "x.neo4j" / "kept").touch()
    assert run("--facts", "x.neo4j").exit_code == 1


def test_quiet_does_not_count_facts(run):
    assert "fact" in run("--facts", "x.tsv").stderr
    assert "fact" not in run("--facts", "x.tsv", "-q").stderr


def test_standoff_is_another_name_of_the_brat_folder(run, tmp_path):
    assert run("-o", "found", "--to", "standoff").exit_code == 0
    assert (tmp_path / "found" / "a.ann").exists()


def test_documents_are_an_output_format(run, tmp_path):
    result = run("-o", "found.jsonl", "--to", "documents", "--threshold", "0")
    assert result.exit_code == 0, result.stderr
    documents = kw.read(tmp_path / "found.jsonl")
    assert [example.id for example in documents] == ["a", "b"]
    relations = [one for example in documents for one in example.view("document").relations]
    assert relations


def test_predict_writes_facts(model, tmp_path):
    kw.write(some_documents(), tmp_path / "in.jsonl")
    result = invoke("predict", model, tmp_path / "in.jsonl", "--facts", tmp_path / "f.json")
    assert result.exit_code == 0, result.stderr
    assert facts(tmp_path / "f.json")
