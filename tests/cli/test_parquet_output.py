"""Parquet tables of ``extract``, ``predict`` and ``embed``."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from cli.interactions import some_documents
from cli.running import answer, invoke, wrong_data

import kernelwood as kw

parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.kw"
    kw.save(kw.RelationExtractor(random_state=0).fit(some_documents()), path)
    return path


@pytest.fixture(scope="module")
def relations(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "in.jsonl"
    kw.write(some_documents(2, start=20), path)
    return path


def rows(path):
    return parquet.read_table(path).to_pylist()


@pytest.mark.parametrize("command", ["predict", "extract"])
@pytest.mark.parametrize("options", [(), ("--all",), ("--evidence", "1")], ids=" ".join)
def test_tables_have_the_predictions_of_json_lines(command, options, model, relations, tmp_path):
    for name in "out.jsonl", "out.parquet":
        answer(command, model, relations, "-o", tmp_path / name, *options)
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    found = rows(tmp_path / "out.parquet")
    for name in "id", "document", "positive", "probability", "text":
        assert [row[name] for row in found] == [line[name] for line in lines] != []
    assert all(("evidence" in row) == ("--evidence" in options) for row in found)


def test_the_same_input_gives_the_same_bytes(model, relations, tmp_path):
    for name, jobs in ("a.parquet", 1), ("b.parquet", 2):
        answer("predict", model, relations, "-o", tmp_path / name, "--jobs", jobs)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_parts_of_a_corpus_are_joined_to_the_table_of_all(model, relations, tmp_path):
    examples = kw.read(relations)
    parts = []
    for number, some in enumerate((examples[:5], examples[5:])):
        kw.write(some, tmp_path / f"{number}.jsonl")
        parts.append(tmp_path / f"{number}.parquet")
        answer("predict", model, tmp_path / f"{number}.jsonl", "--all", "-o", parts[-1])
    kw.io.join_parquet(parts, tmp_path / "joined.parquet")
    answer("predict", model, relations, "--all", "-o", tmp_path / "whole.parquet")
    assert (tmp_path / "joined.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_facts_are_a_table(model, relations, tmp_path):
    answer("predict", model, relations, "--facts", tmp_path / "f.parquet", "--facts",
           tmp_path / "f.jsonl")  # fmt: skip
    lines = [json.loads(line) for line in (tmp_path / "f.jsonl").read_text().splitlines()]
    found = rows(tmp_path / "f.parquet")
    assert [row["combined"] for row in found] == [line["combined"] for line in lines] != []


@pytest.mark.parametrize("content", ["predictions", "facts"])
def test_results_are_refused_as_texts(content, model, relations, tmp_path):
    out = {"predictions": "-o", "facts": "--facts"}[content]
    answer("predict", model, relations, out, tmp_path / "a.parquet")
    result = invoke("extract", model, tmp_path / "a.parquet", "-o", tmp_path / "b.jsonl")
    assert f"the table has {content} written by kernelwood, not texts" in wrong_data(result)
    assert not (tmp_path / "b.jsonl").exists()


@pytest.mark.parametrize("option", ["-o", "--facts"])
def test_a_missing_package_is_named_before_the_model_is_read(option, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    for name in "model.kw", "in.jsonl":
        (tmp_path / name).write_text("neither a model nor JSON")
    message = wrong_data(invoke("predict", "model.kw", "in.jsonl", option, "a.parquet"))
    assert "need the package pyarrow; install it with: pip install 'kernelwood[arrow]'" in message


def test_standard_output_is_refused(model, relations):
    message = wrong_data(invoke("predict", model, relations, "-o", "-", "--to", "parquet"))
    assert "cannot be written to a stream; name a file" in message


# Vectors.


def test_vectors_are_a_table(corpus, examples, tmp_path):
    for name in "v.parquet", "v.npy":
        answer("embed", corpus, "--landmarks", 6, "-o", tmp_path / name)
    found = rows(tmp_path / "v.parquet")
    assert [row["id"] for row in found] == [example.id for example in examples]
    assert [row["label"] for row in found] == [example.label for example in examples]
    assert (np.array([row["vector"] for row in found]) == np.load(tmp_path / "v.npy")).all()


def test_missing_labels_are_missing_values(file, examples, tmp_path):
    bare = [kw.Example(one.id, None, dict(one.views)) for one in examples]
    answer("embed", file(*bare), "--landmarks", 6, "-o", tmp_path / "v.parquet")
    assert {row["label"] for row in rows(tmp_path / "v.parquet")} == {None}


def test_vectors_need_the_package_before_examples_are_read(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    (tmp_path / "in.jsonl").write_text("this is not JSON")
    result = invoke("embed", tmp_path / "in.jsonl", "-o", tmp_path / "v.parquet")
    assert "need the package pyarrow" in wrong_data(result)
