"""``kernelwood adapt``."""

from __future__ import annotations

import csv
import json
from functools import partial

import pytest
from cli.interactions import some_documents
from cli.running import answer, invoke, wrong_data

import kernelwood as kw
from kernelwood.cli.commands import adapt as command

run = partial(invoke, "adapt")
adapted = partial(answer, "adapt")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("adapt")


@pytest.fixture(scope="module")
def model(folder):
    kw.save(kw.RelationExtractor(random_state=0).fit(some_documents(12)), folder / "model.kw")
    return folder / "model.kw"


@pytest.fixture(scope="module")
def texts(folder):
    kw.write(some_documents(12, start=16), folder / "texts.jsonl")
    return folder / "texts.jsonl"


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(command, "_interactive", lambda: True)


def template(model, texts, path, n=12):
    result = run(model, texts, "--write-labels", path, "--label", n)
    assert result.exit_code == 0, result.stderr
    assert f"{n} candidates" in result.stderr
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in file]
        return list(csv.DictReader(file, delimiter="\t"))


def written(path, rows):
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_the_adapted_model_predicts_with_its_threshold(model, texts, tmp_path):
    out = tmp_path / "adapted.kw"
    report = adapted(model, texts, "-o", out)
    extractor = kw.load(out)
    assert report["threshold"] == extractor.threshold_
    assert report["threshold_before"] == kw.load(model).threshold_
    assert report["positives"] == len(extractor.predict(kw.read(texts)))
    assert report["drift"]["n_candidates"] == 72
    assert report["labels"] == 0
    assert report["sampled"] is None
    assert report["out"] == str(out)


def test_the_result_is_the_same_as_in_python(model, texts):
    report = adapted(model, texts)
    _, summary = kw.load(model).adapt(kw.read(texts))
    assert report == {**report, **summary.to_dict()}
    shown = run(model, texts)
    assert shown.stdout == f"{summary}\n"
    assert "not saved" in shown.stderr


def test_entities_are_found_by_the_model(tmp_path):
    documents = some_documents(12)
    learned = kw.RelationExtractor(entities="learn", parser="biomedical", random_state=0)
    kw.save(learned.fit(documents), tmp_path / "model.kw")
    texts = [example.view("sentence").text for example in documents]
    (tmp_path / "text.txt").write_text("\n\n".join(texts), encoding="utf-8")
    assert adapted(tmp_path / "model.kw", tmp_path / "text.txt")["drift"]["n_candidates"] > 0


def test_entities_are_terms_of_a_list(model, tmp_path):
    names = ["Raf", "Ras", "Mek", "Erk", "Sos"]
    pairs = [(a, b) for a in names for b in names if a != b]
    (tmp_path / "text.txt").write_text(" ".join(f"{a} binds {b}." for a, b in pairs))
    (tmp_path / "terms.tsv").write_text("".join(f"{name}\tprotein\n" for name in names))
    report = adapted(
        model, tmp_path / "text.txt", "--entities", tmp_path / "terms.tsv", "--parser", "biomedical"
    )
    assert report["drift"]["n_candidates"] == len(pairs)


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl"])
def test_labels_are_read_from_a_filled_template(model, texts, tmp_path, suffix):
    path = tmp_path / f"labels{suffix}"
    rows = template(model, texts, path)
    assert [row["label"] for row in rows] == [""] * 12
    assert all(row["sentence"].count("[") == 2 for row in rows)
    for number, row in enumerate(rows[:11]):  # the last one stays without a label
        row["label"] = row["predicted"] if number % 2 else "none"
    report = adapted(model, texts, "--labels", written(path, rows))
    extractor = kw.load(model)
    labels = {row["id"]: row["label"] for row in rows[:11]}
    assert report == {**report, **extractor.adapt(kw.read(texts), labels)[1].to_dict()}
    assert report["labels"] == 11


def test_template_candidates_are_those_of_suggest_labels(model, texts, tmp_path):
    rows = template(model, texts, tmp_path / "labels.tsv")
    chosen = kw.load(model).suggest_labels(kw.read(texts), 12, random_state=0)
    assert [row["id"] for row in rows] == [one.id for one in chosen]


def test_answers_on_the_terminal_are_labels(model, texts, terminal):
    result = run(model, texts, "--label", 4, "--json", stdin="y\nn\nu\ns\nwhat\nn\ny\n")
    assert result.exit_code == 0, result.stderr
    chosen = kw.load(model).suggest_labels(kw.read(texts), 4, random_state=0)
    labels = {chosen[0].id: chosen[0].relation, chosen[2].id: "none"}
    labels[chosen[3].id] = chosen[3].relation
    _, summary = kw.load(model).adapt(kw.read(texts), labels)
    report = json.loads(result.stdout)
    assert report == {**report, **summary.to_dict()}
    for number, times in ((1, 1), (2, 2), (3, 3), (4, 1)):
        assert result.stderr.count(f"{number}/4  ") == times


def test_answers_end_with_q(model, texts, terminal):
    result = run(model, texts, "--label", 4, "--json", stdin="u\ny\nq\n")
    assert json.loads(result.stdout)["labels"] == 1


def test_relations_have_numbers(folder, texts, terminal):
    two = [*some_documents(8), *some_documents(8, kind="cuts", start=40)]
    kw.save(kw.RelationExtractor(random_state=0).fit(two), folder / "two.kw")
    result = run(folder / "two.kw", texts, "--label", 2, "--json", stdin="1\n2\n")
    assert "1 binds, 2 cuts" in result.stderr
    chosen = kw.load(folder / "two.kw").suggest_labels(kw.read(texts), 2, random_state=0)
    labels = dict(zip((one.id for one in chosen), ("binds", "cuts"), strict=True))
    _, summary = kw.load(folder / "two.kw").adapt(kw.read(texts), labels)
    assert json.loads(result.stdout)["expected"] == summary.expected.to_dict()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id\tlabel\n", "has no labels"),
        ("id\tname\nx\ty\n", "needs an id and a label"),
        ("id\tlabel\nx\tnone\nx\tbinds\n", "two labels, 'none' and 'binds'"),
        ("id\tlabel\nnowhere\tnone\n", "no candidate 'nowhere'"),
    ],
)
def test_wrong_label_files_are_errors(model, texts, tmp_path, content, message):
    path = tmp_path / "labels.tsv"
    path.write_text(content, encoding="utf-8")
    assert message in wrong_data(run(model, texts, "--labels", path))


@pytest.mark.parametrize("content", ["{", "[1]", '{"id": "x"}'])
def test_wrong_json_lines_have_a_line_number(model, texts, tmp_path, content):
    path = tmp_path / "labels.jsonl"
    path.write_text(f"\n{content}\n", encoding="utf-8")
    assert "labels.jsonl:2" in wrong_data(run(model, texts, "--labels", path))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--label", 3], "standard input is not one"),
        (["--labels", "a.tsv", "--write-labels", "b.tsv"], "mutually exclusive"),
        (["--labels", "a.tsv", "--label", 3], "leave out --label"),
        (["--write-labels", "b.tsv", "-o", "c.kw"], "leave out --out"),
        (["--write-labels", "b.csv"], "must end in one of .tsv, .jsonl"),
    ],
)
def test_options_that_exclude_each_other(model, texts, arguments, message):
    result = run(model, texts, *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


# Warnings of other commands.


@pytest.fixture(scope="module")
def strange(folder, model):
    """A model whose held-out documents had much lower scores."""
    extractor = kw.load(model)
    extractor.document_logits_ = extractor.document_logits_ - 50 * extractor.document_candidates_
    extractor.document_squares_ = extractor.document_squares_ + 1e5
    kw.save(extractor, folder / "strange.kw")
    return folder / "strange.kw"


@pytest.fixture(scope="module")
def many(folder):
    kw.write(some_documents(100, start=16), folder / "many.jsonl")  # more than a batch
    return folder / "many.jsonl"


@pytest.mark.parametrize("name", ["predict", "evaluate"])
def test_drift_is_reported_once(strange, many, name):
    result = invoke(name, strange, many)
    assert result.exit_code == 0
    assert result.stderr.count("drift: scores of the 100 documents") == 1
    assert "kernelwood adapt" in result.stderr


def test_drift_of_plain_text_is_reported_once(strange, tmp_path):
    for number in range(600):  # more than a batch
        text = f"Raf{number} binds Ras{number}. Mek{number} sits beside Erk{number}."
        (tmp_path / f"t{number}.txt").write_text(text)
    terms = "".join(
        f"{name}{number}\tprotein\n"
        for number in range(600)
        for name in ("Raf", "Ras", "Mek", "Erk")
    )
    (tmp_path / "terms.tsv").write_text(terms)
    options = ["--entities", tmp_path / "terms.tsv", "--parser", "biomedical"]
    result = invoke("extract", strange, tmp_path, *options, "-o", tmp_path / "found.jsonl")
    assert result.exit_code == 0, result.stderr
    assert result.stderr.count("drift: scores of the 600 documents") == 1


@pytest.mark.parametrize("option", [["--threshold", "0.5"], ["--positive-rate", "0.4"]])
def test_drift_does_not_matter_for_given_thresholds(strange, many, option):
    assert "drift" not in invoke("predict", strange, many, *option).stderr


@pytest.mark.parametrize("name", ["predict", "evaluate"])
def test_documents_like_the_training_corpus_do_not_drift(model, many, name):
    assert "drift" not in invoke(name, model, many).stderr


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("labels.jsonl", b'{"id": "a", "label": "x"}\n{"id"\n', "labels.jsonl:2: not valid JSON"),
        ("labels.jsonl", b"[" * 100_000 + b"\n", "labels.jsonl:1: not valid JSON"),
        ("labels.jsonl", b"\xff\n", "labels.jsonl:1: not a text in UTF-8"),
        ("labels.tsv", b"id\tlabel\na\t\xff\n", "labels.tsv:2: not a text in UTF-8"),
        ("labels.tsv", b"id\tlabel\na\t" + b"x" * 200_000 + b"\n", "labels.tsv:2: not a table"),
        ("labels.jsonl", b'{"id": 1}\n', "a label needs an id and a label"),
    ],
)
def test_damaged_files_of_labels_are_refused(model, texts, tmp_path, name, content, said):
    path = tmp_path / name
    path.write_bytes(content)
    limit = csv.field_size_limit(131_072)  # its default, which readers of tables raise
    try:
        assert said in wrong_data(run(model, texts, "--labels", path))
    finally:
        csv.field_size_limit(limit)
