"""The command that opens projects in the browser."""

from __future__ import annotations

import json
import re
import shutil
import signal
import threading
import warnings
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import pytest
from cli.running import invoke, wrong_data
from processes import PATIENCE, start_python, wait_until
from web.projects import small_project

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.web import Project

TEXT = "Raf phosphorylates MEK1 in growing cells. MEK1 activates ERK2. ERK2 inhibits Raf.\n"
TERMS = "Raf\tprotein\nMEK1\tprotein\nERK2\tprotein\n"
TYPES = '[[type]]\nname = "Activates"\n\n[[type]]\nname = "Binds"\nsymmetric = true\n'


@pytest.fixture
def texts(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "terms.tsv").write_text(TERMS, encoding="utf-8")
    (tmp_path / "types.toml").write_text(TYPES, encoding="utf-8")
    return folder


@pytest.fixture
def served(monkeypatch):
    """Replace the server by a function; return what it is called with."""
    calls = []

    def run(app, **options):
        options["report"](f"http://{options['host']}:{options['port']}")
        calls.append({"app": app, **options})

    monkeypatch.setattr("kernelwood.web.run", run)
    monkeypatch.setattr("webbrowser.open", lambda address: calls.append(address))
    return calls


def decided(path, n):
    """Decide the first candidates as they are annotated."""
    with Project.open(path) as project:
        for row in range(n):
            label = project.candidates.annotation[row] or "none"
            project.decide([row], label, author="tester")


# Creating and opening.


def test_a_project_is_created_and_opened_again(texts, tmp_path, served):
    path = tmp_path / "p.kwp"
    arguments = ["review", path, texts, "--entities", tmp_path / "terms.tsv"]
    made = invoke(*arguments, "--types", tmp_path / "types.toml", "--author", "Ada")
    assert made.exit_code == 0 and "1 document, 3 sentences, 3 candidates" in made.stderr
    assert re.search(r"p\.kwp is open at http://127\.0\.0\.1:0/\?token=\S{16,}", made.stderr)
    assert served[0] in made.stderr  # the address that the browser opened
    with Project.open(path, read_only=True) as project:
        assert [row.name for row in project.types()] == ["Activates", "Binds"]
    again = invoke("review", path, "--no-browser", "--port", "0")
    assert again.exit_code == 0 and len(served) == 3
    assert "token" in again.stderr and "candidates" not in again.stderr


def test_a_list_of_which_no_term_occurs_is_named(texts, tmp_path, served):
    (tmp_path / "swapped.tsv").write_text("protein\tRaf\nkinase\tMEK1\n")
    made = invoke("review", tmp_path / "p.kwp", texts, "--entities", tmp_path / "swapped.tsv")
    assert "no term of the list (such as 'protein') occurs in the texts" in wrong_data(made)
    assert not (tmp_path / "p.kwp").exists()


def test_texts_that_begin_with_a_bracket_are_read(texts, tmp_path, served):
    (texts / "b.txt").write_text("(-)-MEK1 activates ERK2.\n")
    made = invoke("review", tmp_path / "p.kwp", texts, "--entities", tmp_path / "terms.tsv")
    assert "2 documents, 4 sentences, 4 candidates" in made.stderr


def test_a_project_is_created_from_an_annotated_corpus(tmp_path, served):
    corpus, path = tmp_path / "corpus.jsonl", tmp_path / "p.kwp"
    kw.write(load_interactions("test")[:40], corpus)
    made = invoke("review", path, corpus, "--held-out", "0.3", "--annotation", "compare")
    assert made.exit_code == 0
    with Project.open(path, read_only=True) as project:
        assert project.candidates.held_out.any()
        assert project.settings()["learn_annotation"] is False
    ignored = tmp_path / "q.kwp"
    assert invoke("review", ignored, corpus, "--annotation", "ignore").exit_code == 0
    with Project.open(ignored, read_only=True) as project:
        assert set(project.candidates.annotation) == {None}


def test_a_model_may_be_given(tmp_path, served, texts):
    model, path = tmp_path / "m.kw", tmp_path / "p.kwp"
    extractor = kw.RelationExtractor(entities="learn", parser="biomedical", random_state=0)
    kw.save(extractor.fit(load_interactions("train")[:80]), model)
    made = invoke("review", path, texts, "--model", model, "--entities", tmp_path / "terms.tsv")
    assert made.exit_code == 0
    with Project.open(path, read_only=True) as project:
        assert project.prior_model() is not None
        assert {row.name for row in project.types()} == set(extractor.relations_)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.kwp"], "does not exist"),
        (["p.kwp", "no-such-folder"], "No such file"),
        (["p.kwp", "texts"], "names"),
        (["old.kwp", "texts", "--entities", "terms.tsv"], "old.kwp exists"),
        (["old.kwp", "--entities", "terms.tsv"], "leave out --entities"),
        (["old.kwp", "--held-out", "0.5"], "leave out --held-out"),
        (["old.kwp", "--predicted"], "leave out --predicted"),
        (["old.kwp", "--to", "brat"], "leave out --to"),
        (["old.kwp", "--export", "out", "--to", "bart"], "unknown export 'bart'"),
        (["old.kwp", "--export", "out", "--merge", "old.kwp"], "mutually exclusive"),
        (["terms.tsv"], "not a kernelwood project"),
        (["texts"], "texts is a folder; the first argument is the project"),
        (["texts", "--entities", "terms.tsv"], "texts is a folder; the first argument"),
        (["p.kwp", "texts", "--entities", "terms.tsv", "--types", "terms.tsv"], "TOML"),
        (["p.kwp", "texts", "--entities", "terms.tsv", "--model", "terms.tsv"], "terms.tsv"),
        (["old.kwp", "--host", "0.0.0.0", "--token-file", "nowhere"], "nowhere"),
    ],
)
def test_wrong_arguments_are_refused(texts, tmp_path, served, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    small_project(tmp_path, name="old.kwp")
    made = invoke("review", *arguments)
    assert made.exit_code in (1, 2) and said in made.stderr, made.stderr
    assert "Traceback" not in made.stderr and served == []
    assert not Path("p.kwp").exists() and not Path("out").exists()


def test_the_extra_is_named_if_it_is_missing(tmp_path, monkeypatch):
    path = small_project(tmp_path)
    monkeypatch.setattr("kernelwood.cli.web_options.find_spec", lambda name: None)
    assert "pip install 'kernelwood[web]'" in wrong_data(invoke("review", path))


# Exports, comparison and merging.


def test_exports_are_written_to_a_folder(tmp_path):
    path, out = small_project(tmp_path), tmp_path / "out"
    decided(path, 60)
    made = invoke("review", path, "--export", out)
    assert made.exit_code == 0, made.stderr
    files = {Path(line) for line in made.stdout.splitlines()}
    assert {file.name for file in files} >= {"model.kw", "brat", "decisions.jsonl", "facts.tsv"}
    assert all(file.exists() for file in files)
    assert isinstance(kw.load(out / "model.kw"), kw.RelationExtractor)
    lines = (out / "decisions.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 60 and json.loads(lines[0])["author"] == "tester"
    again = wrong_data(invoke("review", path, "--export", out))
    assert "not empty" in again and "the system reports" not in again
    only = invoke("review", path, "--export", tmp_path / "one", "--to", "facts.tsv", "--json")
    assert [Path(name).name for name in json.loads(only.stdout)["files"]] == ["facts.tsv"]


def test_exported_paths_are_printed_as_given_and_no_journal_stays(tmp_path, monkeypatch):
    path = small_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    made = invoke("review", path.name, "--export", "out", "--to", "facts.tsv")
    assert made.stdout.splitlines() == [str(Path("out", "facts.tsv"))]
    assert invoke("review", path.name, "--compare", path.name).exit_code == 0
    assert {file.name for file in tmp_path.iterdir()} == {path.name, "out"}


@pytest.mark.parametrize("command", ["inspect", "extract", "train"])
def test_a_project_is_not_a_model_or_a_corpus(tmp_path, command):
    path = small_project(tmp_path)
    texts = {"inspect": [], "extract": [path], "train": ["--out", tmp_path / "m.kw"]}[command]
    made = wrong_data(invoke(command, path, *texts))
    assert "project of kernelwood review" in made and "--export DIR" in made


def test_warnings_of_the_server_are_messages(tmp_path, served, monkeypatch):
    def run(app, **options):
        warnings.warn("small corpus: 3 documents", UserWarning, stacklevel=1)

    monkeypatch.setattr("kernelwood.web.run", run)
    made = invoke("review", small_project(tmp_path), "--no-browser")
    assert made.exit_code == 0
    assert "warning: small corpus: 3 documents" in made.stderr
    assert "UserWarning" not in made.stderr and "stacklevel" not in made.stderr


def test_two_projects_are_compared_and_merged(tmp_path):
    first, second = small_project(tmp_path, name="a.kwp"), small_project(tmp_path, name="b.kwp")
    decided(first, 30)
    decided(second, 40)
    with Project.open(second) as project:
        project.decide([0], None, author="b")
        changed = next(row for row in range(30) if project.candidates.annotation[row] != "none")
        project.decide([changed], "none", author="b")
    shown = invoke("review", first, "--compare", second)
    assert shown.exit_code == 0 and "1 disagreement" in shown.stdout
    agreement = json.loads(invoke("review", first, "--compare", second, "--json").stdout)
    assert len(agreement["disagreements"]) == 1 and 0 < agreement["kappa"]["value"] < 1
    merged = json.loads(invoke("review", first, "--merge", second, "--json").stdout)
    with Project.open(first, read_only=True) as project:
        labels = {row: one.label for row, one in project.current().items()}
        assert len(labels) == 40
        assert labels[changed] == project.candidates.annotation[changed]  # conflicts stay
    assert merged["n_added"] == 10 and len(merged["conflicts"]) == 1


# Processes.


class Page:
    """A client of a process of ``kernelwood review``."""

    def __init__(self, path, *options):
        self.process = start_python(
            "-m", "kernelwood", "review", path, "--no-browser", "--port", "0", *options
        )
        self.lines = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        wait_until(lambda: any("token=" in line for line in self.lines), self.process)
        [address] = [line for line in self.lines if "token=" in line]
        found = re.search(r"http://([^/]+)/\?token=(\S+)", address)
        self.connection = HTTPConnection(found[1], timeout=60)
        self.headers = {
            "Content-Type": "application/json",
            "X-Kernelwood": "1",
            "X-Kernelwood-Token": found[2],
        }

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line)

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body)
        self.connection.request("GET" if body is None else "POST", path, data, self.headers)
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())

    def decide(self, row, label, token):
        body = {"candidates": [row], "label": label, "token": token}
        return self.ask("/api/decisions", body)

    def kill(self):
        self.process.kill()
        return self.end()

    def end(self):
        """Wait for the end of the process; return its exit code."""
        code = self.process.wait(PATIENCE)
        self.reader.join()
        self.connection.close()
        self.process.stderr.close()
        self.process.stdout.close()
        return code


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command_with_success(tmp_path, number):
    path = small_project(tmp_path)
    page = Page(path)
    assert page.ask("/api/status")[0] == 200
    assert page.decide(0, "none", "a")[0] == 200
    page.process.send_signal(number)
    assert page.end() == 0
    assert not list(tmp_path.glob("*-wal"))
    with Project.open(path) as project:
        assert len(project.current()) == 1


def kill_while_deciding(path, times, n_decisions):
    """Kill the server again and again while a client decides; return what was confirmed.

    Each server confirms a decision at least. A decision whose answer was lost is sent again with
    the same token, as pages do.
    """
    confirmed, number, killed = {}, 0, 0
    while killed < times:
        page = Page(path)
        first = number
        timer = threading.Timer(0.02 + 0.05 * (killed % 7), page.process.kill)
        try:
            while number < n_decisions:
                row, token = number % 97, f"t{number}"
                label = "none" if number % 2 else None
                status, answer = page.decide(row, label, token)
                assert status == 200, answer
                confirmed[token] = (row, label, answer["saved"][0]["decision"])
                number += 1
                if number == first + 1:  # however long the first takes on a busy machine
                    timer.start()
        except (OSError, HTTPException, ValueError):
            pass  # the server was killed
        if number > first:
            timer.join()
        page.kill()
        killed += 1
    return confirmed


@pytest.mark.parametrize("times", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_no_confirmed_decision_is_lost_by_kill(tmp_path, times):
    path = small_project(tmp_path)
    confirmed = kill_while_deciding(path, times, 1000)
    assert confirmed
    with Project.open(path) as project:
        log = {one.id: one for one in project.log()}
        for row, label, number in confirmed.values():
            assert (log[number].candidate, log[number].label) == (row, label)
        # At most one more: stored, but not confirmed before the kill, and not sent again.
        assert len(log) - len(confirmed) in (0, 1)
        project.decide([5], "none", author="after")


def test_a_second_process_is_refused_or_reads(tmp_path):
    path = small_project(tmp_path)
    page = Page(path)
    try:
        refused = wrong_data(invoke("review", path, "--no-browser"))
        assert str(page.process.pid) in refused and "--read-only" in refused
        reader = Page(path, "--read-only")
        try:
            assert page.decide(3, "none", "a")[0] == 200

            def is_seen():
                status, candidate = reader.ask("/api/candidates/3")
                assert status == 200
                return candidate["decision"] is not None

            wait_until(is_seen, reader.process)
            assert reader.decide(4, "none", "b")[0] == 422
        finally:
            reader.kill()
        copied = invoke("review", path, "--export", tmp_path / "out", "--to", "decisions.jsonl")
        assert copied.exit_code == 0  # beside the page
    finally:
        page.kill()
    assert shutil.copy(path, tmp_path / "copy.kwp")
