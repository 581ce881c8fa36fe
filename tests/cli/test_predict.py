"""``kernelwood predict``."""

from __future__ import annotations

import csv
import errno
import json
import os
import signal
import zipfile
from functools import partial
from itertools import pairwise
from subprocess import PIPE

import pytest
from cli.interactions import a_sentence, some_documents
from cli.running import answer, invoke, wrong_data
from processes import start_python, stop, wait_until

import kernelwood as kw
from kernelwood.relations import RelationExtractor

run = partial(invoke, "predict")
predicted = partial(answer, "predict")


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def extractor():
    return RelationExtractor(random_state=0).fit(some_documents())


@pytest.fixture(scope="module")
def model(extractor, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.kw"
    kw.save(extractor, path)
    return path


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "in.jsonl"
    kw.write(some_documents(2, start=20), path)
    return path


# What is found.


def test_what_is_written_is_what_the_library_finds(extractor, model, corpus, tmp_path):
    predicted(model, corpus, "-o", tmp_path / "out.jsonl")
    expected = [one.to_dict() for one in extractor.predict(kw.read(corpus))]
    assert lines(tmp_path / "out.jsonl") == expected


def test_every_candidate_is_written_on_request(extractor, model, corpus, tmp_path):
    predicted(model, corpus, "-o", tmp_path / "out.jsonl", "--all")
    expected = [one.to_dict() for one in extractor.predict(kw.read(corpus), all=True)]
    assert lines(tmp_path / "out.jsonl") == expected


def test_a_share_of_all_candidates_is_found(extractor, model, corpus, tmp_path):
    report = predicted(model, corpus, "-o", tmp_path / "out.jsonl", "--positive-rate", "0.25")
    expected = extractor.predict(kw.read(corpus), all=True).with_positive_rate(0.25)
    assert lines(tmp_path / "out.jsonl") == [one.to_dict() for one in expected.relations]
    assert report["threshold"] == expected[0].threshold != extractor.threshold_


def test_the_share_counts_over_all_batches(extractor, model, tmp_path, monkeypatch):
    kw.write(some_documents(4, start=20), tmp_path / "in.jsonl")
    whole = predicted(model, tmp_path / "in.jsonl", "--positive-rate", "0.3")
    monkeypatch.setattr("kernelwood.relations.prediction_stream._EXAMPLES", 5)
    parts = predicted(model, tmp_path / "in.jsonl", "--positive-rate", "0.3")
    assert parts["predictions"] == whole["predictions"] != []


def test_the_share_of_the_training_documents_has_a_name(extractor, model, corpus):
    report = predicted(model, corpus, "--positive-rate", "trained")
    share = extractor.positive_rate_
    assert report == predicted(model, corpus, "--positive-rate", share) | {
        "seconds": report["seconds"]
    }


@pytest.mark.parametrize("share", ["0", "1", "many", "nan"])
def test_a_share_that_is_none_is_refused(model, corpus, share):
    result = run(model, corpus, "--positive-rate", share)
    assert result.exit_code == 2
    assert "not a number between 0 and 1" in " ".join(result.stderr.split())


def test_a_share_and_a_threshold_contradict_each_other(model, corpus):
    result = run(model, corpus, "--positive-rate", "0.5", "--threshold", "0.5")
    assert result.exit_code == 2
    assert "mutually exclusive" in result.stderr


def test_the_report_counts(model, corpus, tmp_path):
    report = predicted(model, corpus, "-o", tmp_path / "out.jsonl")
    counts = [report[key] for key in ("n_documents", "n_candidates", "n_entities", "types")]
    assert counts == [12, 12, 24, {"binds": 6}]


def test_without_a_file_the_report_has_the_relations(model, corpus):
    assert len(predicted(model, corpus)["predictions"]) == 6


def test_evidence_is_that_of_the_library(extractor, model, corpus, tmp_path):
    predicted(model, corpus, "-o", tmp_path / "out.jsonl", "--evidence", 2)
    first = extractor.predict(kw.read(corpus))[0]
    expected = extractor.explain(first, 2).to_dict()
    assert lines(tmp_path / "out.jsonl")[0]["evidence"] == expected


def test_a_threshold_replaces_that_of_the_model(model, corpus):
    assert [predicted(model, corpus, "--threshold", p)["n_relations"] for p in (0, 1)] == [12, 0]


@pytest.mark.parametrize("size", [1, 5])
def test_the_size_of_batches_changes_nothing(model, corpus, tmp_path, monkeypatch, size):
    predicted(model, corpus, "-o", tmp_path / "whole.jsonl")
    monkeypatch.setattr("kernelwood.relations.prediction_stream._EXAMPLES", size)
    predicted(model, corpus, "-o", tmp_path / "parts.jsonl")
    assert (tmp_path / "whole.jsonl").read_bytes() == (tmp_path / "parts.jsonl").read_bytes()


def test_the_number_of_threads_changes_nothing(model, corpus, tmp_path):
    for jobs in (1, 2):
        predicted(model, corpus, "-o", tmp_path / f"{jobs}.jsonl", "--n-jobs", jobs)
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()


def test_documents_are_judged_as_they_are_read(model, corpus, monkeypatch):
    sizes = []
    predict = RelationExtractor.predict

    def watched(self, documents, **options):
        sizes.append(len(documents))
        return predict(self, documents, **options)

    monkeypatch.setattr("kernelwood.relations.prediction_stream._EXAMPLES", 5)
    monkeypatch.setattr(RelationExtractor, "predict", watched)
    predicted(model, corpus)
    assert sizes == [5, 5, 2]


def test_a_corpus_may_come_from_standard_input(model, corpus):
    result = run(model, "-", "--json", stdin=corpus.read_bytes())
    assert json.loads(result.stdout)["n_relations"] == 6


def test_labels_of_the_annotation_are_told(model, corpus):
    assert {one["label"] for one in predicted(model, corpus)["predictions"]} == {"binds"}


# Formats.


def test_a_table_has_a_line_for_each_relation(model, corpus, tmp_path):
    predicted(model, corpus, "-o", tmp_path / "out.tsv")
    with (tmp_path / "out.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 6 and {row["type"] for row in rows} == {"binds"}


def test_standoff_reads_back(model, corpus, tmp_path):
    predicted(model, corpus, "-o", tmp_path / "out.ann")
    found = kw.read(tmp_path / "out.ann")
    assert (len(found), sum(len(one.view("document").relations) for one in found)) == (12, 6)


def test_standard_output_gets_json_lines(model, corpus):
    result = run(model, corpus, "-o", "-")
    assert len([json.loads(line) for line in result.stdout.splitlines()]) == 6
    assert "6 relations among 12 candidates" in result.stderr


def test_a_table_is_shown_without_a_file(model, corpus):
    shown = run(model, corpus).stdout
    assert (
        shown.splitlines()[0].split() == "document type probability participants sentence".split()
    )
    assert "6 relations among 12 candidates in 12 documents" in shown


def test_the_format_can_be_named(model, corpus, tmp_path):
    predicted(model, corpus, "-o", tmp_path / "out.txt", "--to", "tsv")
    assert (tmp_path / "out.txt").read_text(encoding="utf-8").startswith("document\t")


# Wrong usage.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "out.xml"], "must end in one of .jsonl, .tsv, .ann"),
        (["-o", "out.ann", "--all"], "leave out --all"),
        (["-o", "-", "--to", "ann"], "give a folder"),
        (["-o", "-", "--json"], "both write to standard output"),
        (["--to", "tsv"], "give --out"),
        (["--threshold", "2"], "is not in the range"),
    ],
)
def test_wrong_usage_is_explained(model, corpus, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    result = run(model, corpus, *arguments)
    assert result.exit_code == 2 and message in " ".join(result.stderr.split())
    assert list(tmp_path.iterdir()) == []


def test_the_corpus_is_not_overwritten(model, corpus):
    before = corpus.read_bytes()
    assert run(model, corpus, "-o", corpus).exit_code == 2
    assert corpus.read_bytes() == before


# Wrong data.


def test_a_model_of_something_else_is_refused(corpus, tmp_path):
    kw.save(kw.SubsequenceKernel(), tmp_path / "kernel.kw")
    assert "not a relation extractor" in wrong_data(run(tmp_path / "kernel.kw", corpus))


def test_a_missing_model_is_named(corpus, tmp_path):
    assert "none.kw: No such file" in wrong_data(run(tmp_path / "none.kw", corpus))


def test_a_model_of_a_newer_version_asks_for_an_upgrade(model, corpus, tmp_path):
    newer = tmp_path / "newer.kw"
    with zipfile.ZipFile(model) as old, zipfile.ZipFile(newer, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "manifest.json":
                data = json.dumps({**json.loads(data), "format": 99, "kernelwood": "99.0"}).encode()
            new.writestr(name, data)
    message = wrong_data(run(newer, corpus))
    assert "kernelwood 99.0" in message and "pip install --upgrade" in message


def test_a_corpus_without_sentences_is_refused(model, file):
    path = file(kw.Example("a", views={"words": kw.Sequence(["a"])}))
    assert "example 'a' has no sentence and no document" in wrong_data(run(model, path))


def test_a_corpus_without_entities_is_refused_and_nothing_overwritten(model, file, tmp_path):
    path = file(kw.Example("a", views={"sentence": kw.Sentence("Raf binds Ras.")}))
    (tmp_path / "out.jsonl").write_text("old")
    assert "the input has no entities" in wrong_data(run(model, path, "-o", tmp_path / "out.jsonl"))
    assert (tmp_path / "out.jsonl").read_text() == "old"


def test_an_empty_document_has_no_relations(model, file):
    sentence = a_sentence(0, "Raf", "Ras")
    path = file(
        kw.Example("a", views={"document": kw.Document("")}),
        kw.Example("b", views={"sentence": sentence}),
    )
    assert predicted(model, path)["n_relations"] == 1


def test_overlapping_entities_are_judged(model, file):
    sentence = a_sentence(0, "Raf", "Ras")
    inner = kw.text.Entity("e3", "protein", ((0, 2),), "Ra")
    path = file(
        kw.Example(
            "a", views={"sentence": sentence.with_parts(entities=(*sentence.entities, inner))}
        )
    )
    assert predicted(model, path)["n_candidates"] == 3


def test_offsets_outside_the_text_are_refused_with_their_line(model, tmp_path):
    (tmp_path / "a.txt").write_text("Raf binds Ras.")
    (tmp_path / "a.ann").write_text("T1\tprotein 0 3\tRaf\nT2\tprotein 90 93\tRas\n")
    assert "a.ann:2" in wrong_data(run(model, tmp_path / "a.ann"))


def test_broken_parts_are_skipped_and_counted_on_request(model, corpus, tmp_path):
    path = tmp_path / "broken.jsonl"
    path.write_text(corpus.read_text(encoding="utf-8") + "{broken\n", encoding="utf-8")
    message = wrong_data(run(model, path))
    assert "broken.jsonl:13" in message
    assert sum(predicted(model, path, "--errors", "skip")["skipped"].values()) == 1


def test_types_that_the_model_leaves_out_are_not_judged(file, tmp_path):
    kw.save(
        RelationExtractor(types=["protein"], random_state=0).fit(some_documents()),
        tmp_path / "typed.kw",
    )
    sentence = a_sentence(0, "Raf", "Ras")
    entities = [entity._replace(type="city") for entity in sentence.entities]
    path = file(kw.Example("a", views={"sentence": sentence.with_parts(entities=entities)}))
    assert predicted(tmp_path / "typed.kw", path)["n_candidates"] == 0


@pytest.mark.parametrize("name", ["out.jsonl", "out.tsv", "out.ann"])
def test_a_full_disk_leaves_nothing_behind(model, corpus, tmp_path, monkeypatch, name):
    def full(number):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    told = wrong_data(run(model, corpus, "-o", tmp_path / name))
    assert f"{tmp_path / name}: No space left" in told
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_leaves_nothing_behind(model, corpus, tmp_path, monkeypatch):
    def interrupted(self, documents, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(RelationExtractor, "predict", interrupted)
    assert run(model, corpus, "-o", tmp_path / "out.jsonl").exit_code == 130
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_signal_ends_it_in_order(model, tmp_path):
    kw.write(some_documents(40), tmp_path / "in.jsonl")
    out = tmp_path / "new"
    out.mkdir()
    command = ["-m", "kernelwood", "predict", model, "-", "-o", out / "out.jsonl"]
    process = start_python(*command, stdin=PIPE)
    process.stdin.write((tmp_path / "in.jsonl").read_text())  # and more may come
    process.stdin.flush()
    wait_until(lambda: any(out.iterdir()), process)
    assert stop(process, signal.SIGINT).returncode == 130
    assert list(out.iterdir()) == []


# Events.


def an_event_sentence(first, second):
    words = [first, "binds", second, "."]
    starts = [sum(len(word) + 1 for word in words[:i]) for i in range(4)]
    entities = [
        kw.text.Entity(name, kind, ((starts[i], starts[i] + len(words[i])),), words[i])
        for i, (name, kind) in enumerate([("T1", "Protein"), ("T2", "Binding"), ("T3", "Protein")])
    ]
    themes = (kw.text.Argument("Theme", "T1"), kw.text.Argument("Theme2", "T3"))
    return kw.Sentence.from_words(
        words,
        dependencies=[(1, "nsubj", 0), (1, "dobj", 2), (-1, "root", 1)],
        entities=entities,
        events=[kw.text.Event("E1", "Binding", "T2", themes)],
    )


def test_events_are_written_as_events(tmp_path):
    names = ["Raf", "Ras", "Mek", "Erk", "Sos", "Grb"]
    examples = [
        kw.Example(f"d{i}", views={"sentence": an_event_sentence(a, b)})
        for i, (a, b) in enumerate(pairwise(names))
    ]
    kw.write(examples, tmp_path / "in.jsonl")
    extractor = RelationExtractor(candidates="events", random_state=0, threshold=0.5)
    kw.save(extractor.fit(examples), tmp_path / "events.kw")
    for name in ("out.ann", "out.tsv"):
        predicted(tmp_path / "events.kw", tmp_path / "in.jsonl", "-o", tmp_path / name)
    found = [example.view("document").events for example in kw.read(tmp_path / "out.ann")]
    assert found[0][0].type == "Binding" and found[0][0].trigger == "T2"
    assert {len(events) for events in found} == {1}
    assert "\tbinds\t4 9\t" in (tmp_path / "out.tsv").read_text(encoding="utf-8")
