"""``kernelwood evaluate``."""

from __future__ import annotations

import errno
import json
import os
import zipfile
from contextlib import nullcontext
from functools import partial

import pytest
from cli.interactions import a_sentence, some_documents
from cli.running import answer, invoke, wrong_data

import kernelwood as kw
from kernelwood.relations import RelationExtractor

run = partial(invoke, "evaluate")
evaluated = partial(answer, "evaluate")


def written(path, examples):
    kw.write(examples, path)
    return path


def example(name, pattern, kind="binds", **changes):
    sentence = a_sentence(pattern, "Raf", "Ras", kind)
    return kw.Example(name, views={"sentence": sentence})


@pytest.fixture(scope="module")
def extractor():
    return RelationExtractor(random_state=0).fit(some_documents())


@pytest.fixture(scope="module")
def model(extractor, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.kw"
    kw.save(extractor, path)
    return path


@pytest.fixture(scope="module")
def test_set(tmp_path_factory):
    return written(tmp_path_factory.mktemp("test") / "test.jsonl", some_documents(3, start=8))


@pytest.fixture
def mistaken(tmp_path):
    """A corpus that denies a relation that is there, and has one that is not."""
    denied, invented = a_sentence(0, "Raf", "Ras"), a_sentence(4, "Raf", "Ras")
    relation = denied.relations
    pair = [
        kw.Example("x1.s0", views={"sentence": changed(denied, ())}),
        kw.Example("x2.s0", views={"sentence": changed(invented, relation)}),
    ]
    return written(tmp_path / "mistaken.jsonl", pair)


def changed(sentence, relations):
    return kw.Sentence.from_words(
        [sentence.text[token.start : token.end] for token in sentence.tokens],
        dependencies=sentence.dependencies,
        entities=sentence.entities,
        relations=relations,
    )


# What is told.


def test_figures_are_those_of_the_library(model, test_set, extractor):
    report = evaluated(model, test_set)
    expected = json.loads(json.dumps(extractor.evaluate(kw.read(test_set)).to_dict()))
    assert {name: report[name] for name in expected} == expected


def test_a_share_of_the_candidates_can_be_evaluated(model, test_set, extractor):
    report = evaluated(model, test_set, "--positive-rate", "0.25")
    predictions = extractor.predict(kw.read(test_set), all=True).with_positive_rate(0.25)
    expected = json.loads(json.dumps(extractor.evaluate(predictions).to_dict()))
    assert {name: report[name] for name in expected} == expected
    assert report["recall"] < evaluated(model, test_set)["recall"]


def test_figures_do_not_depend_on_threads(model, test_set):
    one, two = (evaluated(model, test_set, "--n-jobs", n) for n in (1, 2))
    assert {**one, "seconds": 0} == {**two, "seconds": 0}


def test_json_is_alone_on_standard_output(model, test_set):
    result = run(model, test_set, "--json")
    assert json.loads(result.stdout)
    assert [line[:22] for line in result.stderr.splitlines()] == ["warning: small corpus: "[:22]]


def test_the_table_has_intervals_and_ranking(model, test_set):
    shown = run(model, test_set).stdout
    assert "binds" in shown and "AUC" in shown and "average precision" in shown


def test_the_audit_has_measures_at_other_thresholds(model, test_set):
    short, long = (run(model, test_set, *extra).stdout for extra in ([], ["--audit"]))
    assert "F1 by threshold: in use" in short and "called relations  precision" not in short
    assert long.startswith(short) and "called relations  precision" in long


def test_several_corpora_are_judged_together(model, test_set, tmp_path):
    more = written(tmp_path / "more.jsonl", some_documents(1, start=20))
    assert evaluated(model, test_set, more)["candidates"] == 24


def test_unknown_relations_are_counted_and_named(model, tmp_path):
    examples = [*some_documents(2, start=8), example("d99.s0", 0, kind="phosphorylates")]
    report = evaluated(model, written(tmp_path / "in.jsonl", examples))
    [(name, count)] = report["unknown"].items()
    assert name.startswith("phosphorylates") and count == 1


def test_unknown_relations_are_shown(model, tmp_path):
    examples = [*some_documents(2, start=8), example("d99.s0", 0, kind="phosphorylates")]
    assert "phosphorylates" in run(model, written(tmp_path / "in.jsonl", examples)).stdout


def test_unknown_relations_come_before_other_warnings(model, tmp_path):
    corpus = written(tmp_path / "a.jsonl", [example(f"d{n}.s0", n, "eats") for n in range(3)])
    result = run(model, corpus)
    assert result.stderr.startswith(
        "warning: 3 of 3 relations count as missed, because the model was not trained on their "
        "types: eats (3)"
    )
    below = result.stdout.partition("resamples")[2].splitlines()
    assert below[2].startswith("3 of 3 relations count as missed")


def test_relations_across_sentences_are_counted(model, tmp_path):
    text = "Raf binds Ras. Mek is here."
    entities = [
        kw.text.Entity(name, "protein", ((start, start + 3),), text[start : start + 3])
        for name, start in (("T1", 0), ("T2", 10), ("T3", 15))
    ]
    ends = (kw.text.Argument("", "T1"), kw.text.Argument("", "T3"))
    document = kw.Document(text, entities, [kw.text.Relation("R1", "binds", ends)])
    examples = [*some_documents(2, start=8), kw.Example("far", views={"document": document})]
    report = evaluated(model, written(tmp_path / "in.jsonl", examples))
    assert sum(report["unreachable"].values()) >= 1


def test_training_documents_are_told(model, test_set, tmp_path):
    seen = written(tmp_path / "seen.jsonl", some_documents(3))
    result = run(model, seen)
    assert "warning: overlap: 3 of 3 documents have sentences that are in the training corpus" in (
        result.stderr
    )
    assert evaluated(model, seen)["overlap"] == {
        "documents": 3, "candidates": 18, "same_id": 0, "rest": None
    }  # fmt: skip
    both = evaluated(model, seen, test_set)
    assert both["overlap"]["rest"]["f1"] == evaluated(model, test_set)["f1"]
    assert both["documents"] == 6


# Mistakes.


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_mistakes_are_written_with_evidence(model, mistaken, tmp_path):
    run(model, mistaken, "--errors-out", tmp_path / "wrong.jsonl")
    rows = lines(tmp_path / "wrong.jsonl")
    assert [(row["document"][:2], row["error"]) for row in rows] == [
        ("x1", "false positive"),
        ("x2", "false negative"),
    ]
    assert all(row["evidence"]["cases"] for row in rows)


def test_the_stages_of_the_work_are_named(model, mistaken, tmp_path, monkeypatch):
    stages = []
    monkeypatch.setattr(
        "kernelwood.cli.commands.evaluate.running", lambda n_jobs: nullcontext(stages.append)
    )
    run(model, mistaken, "--errors-out", tmp_path / "wrong.jsonl")
    assert stages == ["predicting", "evaluating", "finding evidence"]


def test_mistakes_are_counted(model, mistaken, tmp_path):
    report = evaluated(model, mistaken, "--errors-out", tmp_path / "wrong.jsonl")
    assert report["errors"] == {"false positive": 1, "false negative": 1, "wrong relation": 0}


def test_another_relation_is_a_mistake_of_its_own(model, tmp_path):
    examples = [example("d1.s0", 0, kind="cuts"), example("d2.s0", 4)]
    path = written(tmp_path / "in.jsonl", examples)
    evaluated(model, path, "--errors-out", tmp_path / "wrong.jsonl")
    assert [row["error"] for row in lines(tmp_path / "wrong.jsonl")] == ["wrong relation"]


def test_without_mistakes_the_file_is_empty(model, test_set, tmp_path):
    report = evaluated(model, test_set, "--errors-out", tmp_path / "wrong.jsonl")
    assert (tmp_path / "wrong.jsonl").read_text() == ""
    assert sum(report["errors"].values()) == 0


def test_a_full_disk_leaves_the_old_file(model, mistaken, tmp_path, monkeypatch):
    def full(file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    target = tmp_path / "wrong.jsonl"
    target.write_text("old")
    monkeypatch.setattr("os.fsync", full)
    told = wrong_data(run(model, mistaken, "--errors-out", target))
    assert f"{target}: {os.strerror(errno.ENOSPC)}" in told
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mistaken.jsonl", "wrong.jsonl"]


# What goes wrong.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--errors-out", "wrong.txt"), ".jsonl"),
        (("--errors-out", "."), "folder"),
        (("--errors", "wrong.jsonl"), "--errors"),
        (("--recipe", "svm"), "--recipe"),
    ],
)
def test_wrong_usage_is_told(model, test_set, options, message):
    result = run(model, test_set, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in " ".join(result.stderr.split())


def test_a_corpus_is_needed(model):
    assert run(model).exit_code == 2


def test_the_corpus_is_not_overwritten(model, test_set):
    before = test_set.read_bytes()
    assert run(model, test_set, "--errors-out", test_set).exit_code == 2
    assert test_set.read_bytes() == before


def test_a_missing_model_is_named(test_set, tmp_path):
    assert "nix.kw" in wrong_data(run(tmp_path / "nix.kw", test_set))


def test_a_model_that_is_no_extractor_is_told(test_set, tmp_path):
    kw.save(kw.SubtreeKernel(), tmp_path / "kernel.kw")
    told = wrong_data(run(tmp_path / "kernel.kw", test_set))
    assert "contains a SubtreeKernel, not a relation extractor" in told


def test_a_corpus_in_the_place_of_the_model_is_told(test_set):
    assert "not a model file" in wrong_data(run(test_set, test_set))


def test_a_model_of_a_newer_version_is_told(model, test_set, tmp_path):
    newer = tmp_path / "newer.kw"
    with zipfile.ZipFile(model) as old, zipfile.ZipFile(newer, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'"format": 1', b'"format": 99'))
    assert "pip install --upgrade kernelwood" in wrong_data(run(newer, test_set))


def test_a_corpus_without_entities_is_told(model, tmp_path):
    bare = kw.Example("a", views={"sentence": kw.Sentence.from_words(["we", "go"])})
    assert "no entities" in wrong_data(run(model, written(tmp_path / "in.jsonl", [bare])))


def test_a_corpus_without_pairs_is_told(model, tmp_path):
    entity = kw.text.Entity("e1", "protein", ((0, 3),), "Raf")
    alone = kw.Sentence.from_words(["Raf", "is"], entities=[entity])
    path = written(tmp_path / "in.jsonl", [kw.Example("a", views={"sentence": alone})])
    assert "no candidates to evaluate" in wrong_data(run(model, path))


def test_a_corpus_without_relations_has_no_ranking(model, tmp_path):
    path = written(tmp_path / "in.jsonl", [example("d1.s0", 4), example("d2.s0", 5)])
    report = evaluated(model, path)
    assert (report["auc"], report["relations"]) == (None, 0)


# Entities that are found.


@pytest.fixture(scope="module")
def learned_model(tmp_path_factory):
    learned = RelationExtractor(views="context", entities="learn", random_state=0)
    path = tmp_path_factory.mktemp("learned") / "model.kw"
    kw.save(learned.fit(some_documents()), path)
    return path


def test_relations_of_found_entities_are_evaluated_beside_the_others(learned_model, test_set):
    report = evaluated(learned_model, test_set, "--end-to-end")
    own = kw.relations.score_end_to_end(kw.load(learned_model), kw.read(test_set))
    assert report["end_to_end"] == json.loads(json.dumps(own.to_dict()))
    assert "with found entities, relations:" in run(learned_model, test_set, "--end-to-end").stdout


def test_without_the_option_entities_are_not_found(learned_model, test_set):
    assert evaluated(learned_model, test_set)["end_to_end"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--end-to-end"], "needs a model that was trained with --learn-entities"),
        (["--end-to-end", "--positive-rate", "0.5"], "leave out --positive-rate"),
    ],
)
def test_a_model_that_does_not_find_entities_is_refused(model, test_set, arguments, message):
    result = run(model, test_set, *arguments)
    assert result.exit_code == 2 and message in " ".join(result.stderr.split())
