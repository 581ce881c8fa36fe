"""No command reads markup or records as prose: every text command with a file of every format."""

from __future__ import annotations

import io
import json
import re

import pytest
from cli.interactions import some_documents
from cli.running import invoke, wrong_data
from foreign import FOREIGN
from samples import SAMPLES

import kernelwood as kw
from kernelwood.cli.corpora import Texts
from kernelwood.relations import RelationExtractor

MARKUP = re.compile(r"</?\w+[^>]*>|[{}|\t]|&\w+;|\bPMID\b|\bTI  -")
TERMS = "Raf\tprotein\nRas\tprotein\n"
COMMANDS = ("extract", "adapt", "vectors")
NO_TEXT = ("penn",)  # trees without a text
every_command = pytest.mark.parametrize("command", COMMANDS)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.kw"
    kw.save(RelationExtractor(views="context", random_state=0).fit(some_documents()), path)
    return path


@pytest.fixture
def run(model, tmp_path, monkeypatch):
    """Run a text command; return its result and the texts that it read."""
    (tmp_path / "terms.tsv").write_text(TERMS)
    read = []
    original = Texts.__iter__

    def recorded(self):
        for example in original(self):
            view = example.views.get("document") or example.views["sentence"]
            read.append(view.text)
            yield example

    monkeypatch.setattr(Texts, "__iter__", recorded)

    def run(command, *arguments, stdin=None):
        if command == "vectors":
            given = [*arguments, "-o", tmp_path / "v.npz", "--min-count", 1, "--dim", 2]
        else:
            given = [model, *arguments, "--entities", tmp_path / "terms.tsv"]
        return invoke(command, *given, stdin=stdin), read

    return run


@every_command
@pytest.mark.parametrize("name", list(SAMPLES))
@pytest.mark.parametrize("suffix", [".txt", ".data", "-"])
def test_a_file_of_a_known_format_is_not_prose(run, tmp_path, command, name, suffix):
    content, path = SAMPLES[name].text, tmp_path / f"a{suffix}"
    path.write_text(content, encoding="utf-8")
    piped = suffix == "-"
    result, read = run(command, "-" if piped else path, stdin=content if piped else None)
    assert not [text for text in read if MARKUP.search(text)]
    if name in NO_TEXT:
        assert "has no text" in wrong_data(result)
    elif name != "kelp":  # whose examples have several texts
        assert len(read) == SAMPLES[name].n_examples or "has no text" in result.stderr


@every_command
@pytest.mark.parametrize("name", list(FOREIGN))
@pytest.mark.parametrize("suffix", [".txt", ".xml", ".json", ".html", "-"])
def test_what_no_format_reads_is_refused(run, tmp_path, command, name, suffix):
    content = FOREIGN[name].encode("latin-1" if name == "not UTF-8" else "utf-8")
    path = tmp_path / f"a{suffix}"
    path.write_bytes(content)
    piped = suffix == "-"
    result, read = run(command, "-" if piped else path, stdin=content if piped else None)
    assert read == []
    message = wrong_data(result)
    assert re.search(r"--from|convert|\.ann|iconv|binary", message)


@every_command
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl"])
def test_records_without_a_usual_text_field_name_the_option(run, tmp_path, command, suffix):
    path = tmp_path / f"a{suffix}"
    made = {".csv": "gene,note\nRaf,b\n", ".tsv": "gene\tnote\nRaf\tb\n"}
    path.write_text(made.get(suffix, '{"gene": "Raf", "note": "b"}\n'))
    result, read = run(command, path, *(["--from", "records"] if suffix == ".jsonl" else []))
    assert read == []
    assert "--text-field NAME; columns: gene, note" in wrong_data(result)


@every_command
def test_fields_may_be_named(run, tmp_path, command):
    (tmp_path / "a.csv").write_text("gene,title,note\nr1,On Raf,Raf binds Ras.\n")
    options = ["--text-field", "title", "--text-field", "note", "--id-field", "gene"]
    _, read = run(command, tmp_path / "a.csv", *options)
    assert read == ["On Raf\n\nRaf binds Ras."]


@every_command
def test_a_model_is_not_a_text(run, model, command):
    result, read = run(command, model)
    assert read == []
    assert "is a file of kw.save" in wrong_data(result)


@every_command
def test_prose_may_be_forced(run, tmp_path, command):
    (tmp_path / "a.txt").write_text("<p>Raf binds Ras.</p>")
    _, read = run(command, tmp_path / "a.txt", "--from", "text")
    assert read == ["<p>Raf binds Ras.</p>"]


@every_command
def test_a_field_of_a_format_without_fields_is_a_usage_error(run, tmp_path, command):
    (tmp_path / "a.txt").write_text("Raf binds Ras.")
    result, _ = run(command, tmp_path / "a.txt", "--text-field", "a")
    assert result.exit_code == 2
    assert "no option --text-field (it has none; formats with it: " in result.stderr


@pytest.mark.parametrize("command", ["extract", "vectors"])
def test_files_that_are_no_texts_are_counted(run, tmp_path, command):
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "a.txt").write_text("Raf binds Ras.\n")
    (folder / "b.pdf").write_text("%PDF-1.7")
    result, read = run(command, folder, "--json")
    assert read == ["Raf binds Ras.\n"]
    assert json.loads(result.stdout)["remarks"] == {"file of a folder or archive is not a text": 1}


def test_relations_of_records_have_their_ids(run, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"pmid": 7, "abstract": "Raf binds Ras."}\n')
    result, _ = run("extract", tmp_path / "a.jsonl", "--json")
    assert [one["document"] for one in json.loads(result.stdout)["predictions"]] == ["7"]


def test_a_record_read_in_python_is_the_same(tmp_path):
    text = '{"pmid": 7, "abstract": "Raf binds Ras."}\n'
    (tmp_path / "a.jsonl").write_text(text)
    [one], [other] = kw.io.read_texts(tmp_path / "a.jsonl"), kw.read(io.StringIO(text), "records")
    assert one.views == other.views
