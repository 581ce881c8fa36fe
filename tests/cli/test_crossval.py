"""``kernelwood crossval``."""

from __future__ import annotations

import json
from functools import partial

import pytest
from cli.interactions import a_sentence, some_documents
from cli.running import answer, invoke, wrong_data

import kernelwood as kw
from kernelwood.cli.app import main
from kernelwood.relations import RelationExtractor

run = partial(invoke, "crossval")
validated = partial(answer, "crossval")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "in.jsonl"
    kw.write(some_documents(4), path)
    return path


def test_figures_are_those_of_the_library(corpus):
    report = validated(corpus, "--folds", 2, "--seed", 3, "--view", "path")
    extractor = RelationExtractor(views=["path"], random_state=3)
    expected = extractor.cross_validate(kw.read(corpus), n_splits=2).to_dict()
    assert report["pooled"] == json.loads(json.dumps(expected["pooled"]))
    assert len(report["parts"]) == 2


def test_figures_do_not_depend_on_threads(corpus):
    options = ("--folds", 2, "--recipe", "klsh-rf")
    one, two = (validated(corpus, *options, "--n-jobs", n) for n in (1, 2))
    assert {**one, "seconds": 0} == {**two, "seconds": 0}


def test_every_candidate_is_judged_once(corpus):
    assert validated(corpus, "--folds", 4)["pooled"]["candidates"] == 24


def test_the_table_has_a_row_for_each_fold(corpus):
    shown = run(corpus, "--folds", 2).stdout
    assert "fold 1" in shown and "fold 2" in shown and "AUC" in shown


def test_json_is_alone_on_standard_output(corpus):
    result = run(corpus, "--folds", 2, "--json")
    assert json.loads(result.stdout)
    assert [line[:22] for line in result.stderr.splitlines()] == ["warning: small corpus: "[:22]]


def test_duplicates_in_two_folds_are_told(tmp_path):
    examples = some_documents(4)
    again = [kw.Example(f"x{one.id}", views=dict(one.views)) for one in examples[:6]]
    kw.write([*examples, *again], tmp_path / "in.jsonl")
    result = run(tmp_path / "in.jsonl", "--folds", 5, "--seed", 0)
    assert "warning: overlap: 2 of 5 documents have sentences that are in training" in result.stderr
    assert "without these sentences: precision" in result.stdout


def test_the_curve_is_that_of_the_library(corpus):
    report = validated(corpus, "--folds", 2, "--seed", 3, "--curve")
    expected = RelationExtractor(random_state=3).learning_curve(kw.read(corpus), n_splits=2)
    assert report["curve"] == json.loads(json.dumps(expected.to_dict()))
    plain = validated(corpus, "--folds", 2, "--seed", 3)
    assert {name: report[name] for name in ("pooled", "parts")} == {
        name: plain[name] for name in ("pooled", "parts")
    }
    assert "curve" not in plain


def test_the_curve_is_shown_below_the_table(tmp_path):
    kw.write(some_documents(16), tmp_path / "in.jsonl")
    shown = run(tmp_path / "in.jsonl", "--folds", 2, "--curve", "--view", "path").stdout
    lines = shown.splitlines()
    begin = next(n for n, line in enumerate(lines) if line.startswith("training documents"))
    assert [line.split()[0] for line in lines[begin + 1 : begin + 4]] == ["2", "4", "8"]
    assert "Twice the training documents: " in shown


def test_the_curve_is_drawn(corpus, tmp_path):
    pytest.importorskip("matplotlib")
    run(corpus, "--folds", 2, "--curve", "--plot", tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "message"),
    [(("--plot", "a.png"), "add --curve"), (("--curve", "--plot", "a.docx"), "must end in one of")],
)
def test_a_plot_that_cannot_be_drawn_is_refused(corpus, options, message):
    result = run(corpus, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in " ".join(result.stderr.split())


def test_settings_come_from_a_file(corpus, tmp_path):
    (tmp_path / "run.toml").write_text(f"corpus = '{corpus}'\nfolds = 3\nout = 'not-written.kw'\n")
    assert len(validated("--config", tmp_path / "run.toml")["parts"]) == 3
    assert not (tmp_path / "not-written.kw").exists()


def test_options_are_those_of_train_but_for_files():
    train, crossval = (main.get_command(None, name) for name in ("train", "crossval"))
    names = {param.name for param in train.params} ^ {param.name for param in crossval.params}
    assert names == {
        "out", "save_config", "learn_entities", "folds", "curve", "plot", "end_to_end", "report",
    }  # fmt: skip


def test_one_fold_is_refused(corpus):
    result = run(corpus, "--folds", 1)
    assert (result.exit_code, result.stdout) == (2, "")


def test_more_folds_than_documents_are_told(corpus):
    assert "4" in wrong_data(run(corpus, "--folds", 9))


def test_an_empty_corpus_is_told(tmp_path):
    (tmp_path / "in.jsonl").write_text("")
    assert "no examples" in wrong_data(run(tmp_path / "in.jsonl"))


def test_a_corpus_without_relations_is_told(tmp_path):
    apart = [
        kw.Example(f"d{i}.s0", views={"sentence": a_sentence(3, "Raf", "Ras")}) for i in range(4)
    ]
    kw.write(apart, tmp_path / "in.jsonl")
    assert "is a relation" in wrong_data(run(tmp_path / "in.jsonl", "--folds", 2))


def test_relations_of_found_entities_are_evaluated_on_request(corpus):
    options = ("--folds", 2, "--view", "context")
    report = validated(corpus, *options, "--end-to-end")
    assert report["pooled"]["end_to_end"]["mentions"]["annotated"] == 48
    assert validated(corpus, *options)["pooled"]["end_to_end"] is None


def test_a_curve_is_about_annotated_entities(corpus):
    result = run(corpus, "--curve", "--end-to-end")
    assert result.exit_code == 2 and "leave out --end-to-end" in " ".join(result.stderr.split())
