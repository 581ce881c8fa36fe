"""Directions are arrows for people, and names for programs."""

from __future__ import annotations

import json

import pytest
from cli.running import answer, invoke

import kernelwood as kw
from kernelwood.datasets import load_interactions


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a model of relations that have directions, and documents."""
    folder = tmp_path_factory.mktemp("arrows")
    documents = load_interactions("train")
    model = kw.RelationExtractor(views="context", blind=True, symmetric=["Binds"], random_state=0)
    kw.save(model.fit(documents), folder / "model.kw")
    kw.write(documents[:80], folder / "train.jsonl")
    kw.write(load_interactions("test")[:60], folder / "test.jsonl")
    return folder


CALLS = {
    "predict": ["model.kw", "test.jsonl"],
    "predict with evidence": ["model.kw", "test.jsonl", "--evidence", "1"],
    "evaluate": ["model.kw", "test.jsonl"],
    "crossval": ["train.jsonl", "--view", "context", "--blind", "yes", "--folds", "2"],
    "inspect": ["model.kw"],
}


@pytest.mark.parametrize("name", CALLS)
def test_people_see_arrows(folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    result = invoke(name.split()[0], *CALLS[name])
    assert result.exit_code == 0, result.stderr
    assert "→" in result.stdout
    assert "(e1,e2)" not in result.output and "(e2,e1)" not in result.output


@pytest.mark.parametrize("name", ["evaluate", "inspect", "predict"])
def test_programs_see_names(folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    shown = json.dumps(answer(name, *CALLS[name]))
    assert "(e1,e2)" in shown and "→" not in shown


def test_tables_give_the_place_in_the_document(folder, monkeypatch):
    monkeypatch.chdir(folder)
    report = answer("predict", *CALLS["predict"])
    one = report["predictions"][0]
    places = [place for part in one["participants"] for span in part["spans"] for place in span]
    row = invoke("predict", *CALLS["predict"]).stdout.splitlines()[1]
    assert row.startswith(f"{one['document']}:{min(places)}-{max(places)} ")
