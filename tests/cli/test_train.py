"""``kernelwood train``."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import sys
from dataclasses import replace
from functools import partial

import pytest
from cli.interactions import a_sentence, some_documents
from cli.running import answer, invoke, wrong_data
from processes import start_python, stop

import kernelwood as kw
from kernelwood.cli.options import RECIPES
from kernelwood.datasets import interactions_path
from kernelwood.relations import RECIPES as KNOWN, RelationExtractor

run = partial(invoke, "train")
trained = partial(answer, "train")


def files(folder):
    return [path.name for path in folder.iterdir()]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "in.jsonl"
    kw.write(some_documents(), path)
    return path


@pytest.fixture
def model(tmp_path):
    return tmp_path / "model.kw"


# What is learned.


def test_the_model_is_that_of_the_library(corpus, model, tmp_path):
    trained(corpus, "-o", model, "--seed", 3)
    kw.save(RelationExtractor(random_state=3).fit(kw.read(corpus)), tmp_path / "own.kw")
    assert model.read_bytes() == (tmp_path / "own.kw").read_bytes()


def test_a_saved_kernel_is_learned_with(corpus, model, tmp_path):
    kernel = kw.OnView("path", kw.SubsequenceKernel(decay=0.5, gates={"dobj": 0.0}))
    kw.save(kernel, tmp_path / "kernel.kw")
    trained(corpus, "-o", model, "--kernel", tmp_path / "kernel.kw", "--seed", 3)
    own = RelationExtractor(kernel=kernel, random_state=3).fit(kw.read(corpus))
    kw.save(own, tmp_path / "own.kw")
    assert model.read_bytes() == (tmp_path / "own.kw").read_bytes()


def test_something_else_than_a_kernel_is_refused(corpus, model, tmp_path):
    kw.save(kw.Vectors(["a"], [[1.0]]), tmp_path / "kernel.kw")
    message = wrong_data(run(corpus, "-o", model, "--kernel", tmp_path / "kernel.kw"))
    assert "contains a Vectors, not a kernel" in message


@pytest.mark.parametrize(
    ("kernel", "told"),
    [
        (kw.SubsequenceKernel(), "kw.OnView('path', kernel)"),
        (kw.OnView("pathh", kw.SubsequenceKernel()), "unknown view 'pathh'; did you mean 'path'?"),
        (kw.OnView("path", kw.PartialTreeKernel()), "expected trees, got a batch of sequences"),
    ],
)
def test_a_kernel_that_does_not_fit_is_told(corpus, model, tmp_path, kernel, told):
    kw.save(kernel, tmp_path / "kernel.kw")
    message = wrong_data(run(corpus, "-o", model, "--kernel", tmp_path / "kernel.kw"))
    assert told in message
    assert not model.exists()


def test_a_kernel_has_its_vectors_inside(corpus, model):
    result = run(corpus, "-o", model, "--kernel", "kernel.kw", "--vectors", "words.txt")
    assert result.exit_code == 2
    assert "leave out --vectors" in result.stderr


def test_settings_of_what_learns_can_be_given(corpus, model):
    trained(corpus, "-o", model, "--option", "C=10", "--option", "class_weight=balanced")
    learner = kw.load(model).learner_
    assert (learner.C, learner.class_weight) == (10, "balanced")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("C", "not of the form NAME=VALUE"),
        ("=1", "not of the form NAME=VALUE"),
        ("c=1", "no option 'c'"),
        ("kernel=x", "no option 'kernel'"),
        ("n_references=3", "recipe 'svm' has no option 'n_references'"),
    ],
)
def test_unknown_settings_are_refused_before_anything_is_read(tmp_path, model, given, told):
    (tmp_path / "in.jsonl").write_text("{broken\n")
    result = run(tmp_path / "in.jsonl", "-o", model, "--option", given)
    assert result.exit_code == 2
    assert told in " ".join(result.stderr.split())


@pytest.mark.parametrize("recipe", ["svm", "klsh-knn"])
def test_the_same_seed_gives_the_same_bytes(corpus, tmp_path, recipe):
    paths = [tmp_path / f"{name}.kw" for name in ("one", "two")]
    for path, jobs in zip(paths, (1, 2), strict=True):
        trained(corpus, "-o", path, "--recipe", recipe, "--seed", 7, "--n-jobs", jobs)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_recipes_are_those_of_the_library():
    assert tuple(KNOWN) == RECIPES


def test_several_corpora_are_learned_from_together(tmp_path, model):
    paths = [tmp_path / f"{name}.jsonl" for name in "ab"]
    for start, path in zip((0, 4), paths, strict=True):
        kw.write(some_documents(4, start=start), path)
    assert trained(*paths, "-o", model)["n_sentences"] == 48


def test_options_reach_the_extractor(corpus, model, tmp_path):
    (tmp_path / "vectors.txt").write_text("binds 1.0 0.0\nsits 0.9 0.1\n")
    trained(
        corpus, "-o", model, "--view", "path", "--vectors", tmp_path / "vectors.txt",
        "--labels", "binary", "--type", "protein", "--relation", "binds", "--symmetric", "binds",
        "--max-distance", 5, "--max-entities", 9, "--threshold", 0.25, "--splits", 2,
        "--parser", "given", "--blind", "yes", "--signatures", "no",
        "--license", "CC0", "--description", "bonds",
    )  # fmt: skip
    found = kw.load(model).get_params(deep=False)
    assert found.pop("vectors") is not None
    assert {name: found[name] for name in found if found[name] is not None} == {
        "recipe": "svm", "candidates": "pairs", "views": ("path",), "labels": "binary",
        "types": ("protein",), "relations": ("binds",), "symmetric": ("binds",),
        "max_distance": 5, "max_entities": 9, "threshold": 0.25, "n_splits": 2,
        "parser": "given", "n_evidence": 3, "blind": True, "signatures": False,
        "license": "CC0", "description": "bonds", "random_state": 0,
    }  # fmt: skip


def test_standard_input_is_read(corpus, model):
    result = run("-", "--from", "jsonl", "-o", model, "--json", stdin=corpus.read_text())
    assert json.loads(result.stdout)["n_sentences"] == 48


def test_broken_parts_can_be_skipped(corpus, tmp_path, model):
    path = tmp_path / "in.jsonl"
    path.write_text(corpus.read_text() + "{broken\n")
    assert sum(trained(path, "-o", model, "--errors", "skip")["skipped"].values()) == 1


def test_files_of_a_folder_can_be_chosen(tmp_path, model):
    (tmp_path / "in").mkdir()
    for start, name in ((0, "a"), (5, "b")):
        kw.write(some_documents(5, start=start), tmp_path / "in" / f"{name}.jsonl")
    assert trained(tmp_path / "in", "--only", "a*", "-o", model)["n_sentences"] == 30


def test_the_model_is_the_same_wherever_the_corpus_lies(corpus, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "other.jsonl").write_bytes(corpus.read_bytes())
    trained(corpus, "-o", tmp_path / "one.kw")
    trained(elsewhere / "other.jsonl", "-o", tmp_path / "two.kw")
    assert (tmp_path / "one.kw").read_bytes() == (tmp_path / "two.kw").read_bytes()


def test_the_model_learns_to_find_entities(corpus, model):
    report = trained(corpus, "-o", model, "--learn-entities")
    assert report["entities"]["found_by"] == "a learned tagger"
    assert report["entities"]["held_out"] == kw.load(model).tagger_.held_out_


def test_without_the_option_it_does_not(corpus, model):
    trained(corpus, "-o", model)
    assert kw.load(model).tagger_ is None


# What is shown.


def test_scores_of_entities_are_shown(corpus, model):
    shown = run(corpus, "-o", model, "--learn-entities").stdout
    assert "entities on held-out documents: precision" in shown


def test_json_has_the_promised_keys(corpus, model):
    assert set(trained(corpus, "-o", model)) == {
        "model", "recipe", "parser", "n_documents", "n_sentences", "n_candidates", "n_relations",
        "relations", "threshold", "held_out", "type_f1", "entities", "warnings", "skipped",
        "dropped", "remarks", "seed", "size", "seconds",
    }  # fmt: skip


def test_json_is_alone_on_standard_output(corpus, model):
    result = run(corpus, "-o", model, "--json")
    assert json.loads(result.stdout)
    assert [line[:22] for line in result.stderr.splitlines()] == ["warning: small corpus: "[:22]]


def test_a_small_corpus_is_told(corpus, model):
    result = run(corpus, "-o", model)
    assert "warning: small corpus: 8 documents, 48 candidates, 24 relations" in result.stderr
    assert "Traceback" not in result.stderr and "UserWarning" not in result.stderr
    assert result.stderr.count("small corpus") == 1
    assert trained(corpus, "-o", model)["warnings"] == kw.load(model).warnings_


def test_figures_are_those_of_the_model(corpus, model):
    report = trained(corpus, "-o", model)
    extractor = kw.load(model)
    assert (report["held_out"], report["threshold"]) == (extractor.held_out_, extractor.threshold_)
    assert (report["n_candidates"], report["n_relations"]) == (48, 24)
    assert report["size"] == model.stat().st_size


def test_the_table_tells_sizes_and_held_out_figures(corpus, model):
    lines = run(corpus, "-o", model).stdout.splitlines()
    assert lines[0].split() == ["documents", "sentences", "candidates", "relations", "types"]
    assert lines[1].split() == ["8", "48", "48", "24", "binds"]
    at = lines.index("on held-out documents")
    assert lines[at + 2].split()[:3] == ["1.000", "1.000", "1.000"]
    assert lines[-1].startswith(f"{model}: ")


# Settings in a file.


def test_a_run_can_be_repeated_from_its_settings(corpus, tmp_path, model):
    options = ("--view", "path", "--seed", 5)
    trained(corpus, "-o", model, *options, "--save-config", tmp_path / "run.toml")
    trained("--config", tmp_path / "run.toml", "-o", tmp_path / "again.kw")
    assert model.read_bytes() == (tmp_path / "again.kw").read_bytes()


def test_settings_are_not_written_over_what_was_read(corpus, tmp_path, model):
    (tmp_path / "run.toml").write_text("seed = 1\n")
    both = ("--config", tmp_path / "run.toml", "--save-config", tmp_path / "run.toml")
    assert run(corpus, "-o", model, *both).exit_code == 2
    assert (tmp_path / "run.toml").read_text() == "seed = 1\n"


# What goes wrong.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--out"),
        (("-o", "."), "folder"),
        (("-o", "m.kw", "--recipe", "magic"), "klsh-rf"),
        (("-o", "m.kw", "--view", "paht"), "did you mean 'path'"),
        (("-o", "m.kw", "--threshold", "2"), "between 0 and 1"),
        (("-o", "m.kw", "--threshold", "best"), "cautious"),
        (("-o", "m.kw", "--splits", 1), "--splits"),
        (("-o", "m.kw", "--n-jobs", 0), "--n-jobs"),
        (("-o", "m.kw", "--save-config", "m.kw"), "the same file"),
        (("-o", "m.kw", "--format", "word"), "word"),
    ],
)
def test_wrong_usage_is_told(corpus, options, message):
    result = run(corpus, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in " ".join(result.stderr.split())


def test_a_corpus_is_needed(model):
    assert run("-o", model).exit_code == 2


def test_the_corpus_is_not_overwritten(corpus):
    before = corpus.read_bytes()
    assert run(corpus, "-o", corpus).exit_code == 2
    assert corpus.read_bytes() == before


def test_an_unknown_parser_is_told(tmp_path, model):
    bare = kw.Example("d0.s0", views={"sentence": a_sentence(0, "Raf", "Ras")})
    kw.write([bare], tmp_path / "in.jsonl")
    result = run(tmp_path / "in.jsonl", "-o", model, "--parser", "magic")
    assert result.exit_code == 2 and "unknown parser 'magic'" in result.stderr


def test_a_missing_file_is_named(tmp_path, model):
    assert "nix.jsonl" in wrong_data(run(tmp_path / "nix.jsonl", "-o", model))


def test_missing_vectors_are_named(corpus, tmp_path, model):
    assert "nix.txt" in wrong_data(run(corpus, "-o", model, "--vectors", tmp_path / "nix.txt"))


def test_a_missing_folder_is_told_before_the_work(tmp_path):
    result = run(tmp_path / "nix.jsonl", "-o", tmp_path / "nowhere" / "m.kw")
    assert "nowhere" in wrong_data(result)


def test_an_empty_corpus_is_told(tmp_path, model):
    (tmp_path / "in.jsonl").write_text("")
    assert "no examples" in wrong_data(run(tmp_path / "in.jsonl", "-o", model))


def test_a_saved_model_is_no_corpus(tmp_path, model):
    kw.save(kw.SubtreeKernel(), tmp_path / "kernel.kw")
    assert "without annotated sentences" in wrong_data(run(tmp_path / "kernel.kw", "-o", model))


def test_texts_without_annotation_are_remarked_on(corpus, tmp_path, model):
    folder = tmp_path / "brat"
    shutil.copytree(interactions_path("train", "brat"), folder)
    (folder / "d01.ann").unlink()
    (folder / "d02.ann").unlink()
    told = run(folder, "-o", model, "--view", "context").stderr
    assert "  remark: 2 × text without .ann left out, the first is d01.txt\n" in told
    assert "text without .ann" not in run(corpus, "-o", model).stderr


def test_a_folder_of_texts_lacks_annotation(tmp_path, model):
    (tmp_path / "d1.txt").write_text("Raf binds Ras.")
    assert "texts without .ann beside them" in wrong_data(run(tmp_path, "-o", model))


def test_a_corpus_without_sentences_is_told(tmp_path, model):
    kw.write([kw.Example("a", views={"words": kw.Sequence(["a"])})], tmp_path / "in.jsonl")
    assert "no sentences" in wrong_data(run(tmp_path / "in.jsonl", "-o", model))


def test_a_corpus_without_entities_is_told(tmp_path, model):
    sentence = kw.Sentence.from_words(["we", "go"])
    kw.write([kw.Example("a", views={"sentence": sentence})], tmp_path / "in.jsonl")
    assert "no entities" in wrong_data(run(tmp_path / "in.jsonl", "-o", model))


def test_a_corpus_without_relations_is_told(tmp_path, model):
    apart = [kw.Example(f"d{i}", views={"sentence": a_sentence(3, "Raf", "Ras")}) for i in (1, 2)]
    kw.write(apart, tmp_path / "in.jsonl")
    told = wrong_data(run(tmp_path / "in.jsonl", "-o", model))
    assert "none of the 2 candidates is a relation" in told


def test_an_entity_outside_of_its_sentence_is_told_with_its_line(corpus, tmp_path, model):
    first, *others = corpus.read_text().splitlines()
    broken = first.replace('"protein",[[0,3]]', '"protein",[[0,999]]')
    (tmp_path / "in.jsonl").write_text("\n".join([*others, broken]) + "\n")
    assert "in.jsonl:48" in wrong_data(run(tmp_path / "in.jsonl", "-o", model))


def test_entities_may_overlap(tmp_path, model):
    sentence = a_sentence(0, "Raf", "Ras")
    inner = kw.text.Entity("e3", "protein", ((0, 2),), "Ra")
    overlapping = replace(sentence, entities=(*sentence.entities, inner))
    examples = [*some_documents(), kw.Example("d9.s0", views={"sentence": overlapping})]
    kw.write(examples, tmp_path / "in.jsonl")
    assert trained(tmp_path / "in.jsonl", "-o", model)["n_candidates"] > 48


def test_an_empty_document_does_no_harm(tmp_path, model):
    empty = kw.Example("empty", views={"document": kw.Document("")})
    kw.write([*some_documents(), empty], tmp_path / "in.jsonl")
    assert trained(tmp_path / "in.jsonl", "-o", model)["n_candidates"] == 48


def test_a_broken_part_leaves_the_old_model(corpus, tmp_path, model):
    model.write_text("old")
    (tmp_path / "in.jsonl").write_text(corpus.read_text() + "{broken\n")
    assert "in.jsonl:49" in wrong_data(run(tmp_path / "in.jsonl", "-o", model))
    assert model.read_text() == "old"


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="rights of POSIX")
def test_a_folder_that_cannot_be_written_is_named(corpus, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    assert "locked" in wrong_data(run(corpus, "-o", tmp_path / "locked" / "m.kw"))


def test_a_full_disk_leaves_the_old_model(corpus, tmp_path, model, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    model.write_text("old")
    monkeypatch.setattr("os.fsync", full)
    assert f"{model}: {os.strerror(errno.ENOSPC)}" in wrong_data(run(corpus, "-o", model))
    assert (model.read_text(), files(tmp_path)) == ("old", ["model.kw"])


def test_an_interruption_leaves_nothing(corpus, tmp_path, model, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    result = run(corpus, "-o", model)
    assert (result.exit_code, result.output, files(tmp_path)) == (130, "", [])


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("name", "code"), [("SIGINT", 130), pytest.param("SIGTERM", 143, marks=pytest.mark.slow)]
)
def test_a_run_that_is_stopped_leaves_nothing(corpus, tmp_path, name, code):
    os.mkfifo(tmp_path / "pipe")  # which the command waits for
    command = ["-m", "kernelwood", "train", tmp_path / "pipe", "--from", "jsonl", "-o"]
    process = start_python(*command, tmp_path / "model.kw")
    with (tmp_path / "pipe").open("w") as pipe:  # opens when the command reads
        pipe.write("\n" * 100_000 + corpus.read_text()[:100])  # more than a pipe holds
        pipe.flush()
        done = stop(process, getattr(signal, name))
    assert (done.returncode, done.stdout, files(tmp_path)) == (code, "", ["pipe"])


# Drug-drug interactions.


@pytest.fixture(scope="module")
def drugs(tmp_path_factory):
    """Return a folder with a file for each document, as in the corpus of DDIExtraction."""
    folder = tmp_path_factory.mktemp("ddi")
    for number in range(6):
        (folder / f"{number}.xml").write_text(
            f'<?xml version="1.0"?>\n<document id="d{number}">'
            + drug_sentence(f"d{number}.s0", "enhances", 'ddi="true" type="effect"')
            + drug_sentence(f"d{number}.s1", "resembles", 'ddi="false"')
            + "</document>"
        )
    return folder


def drug_sentence(name, verb, attributes):
    first = 9 + len(verb)
    return f"""<sentence id="{name}" text="Aspirin {verb} warfarin. It does.&#xd;&#xa;">
    <entity id="{name}.e0" charOffset="0-6" type="drug" text="Aspirin"/>
    <entity id="{name}.e1" charOffset="{first}-{first + 7}" type="drug" text="warfarin"/>
    <pair id="{name}.p0" e1="{name}.e0" e2="{name}.e1" {attributes}/></sentence>"""


def test_drug_interactions_serve_every_command(drugs, model, tmp_path):
    result = trained(drugs, "-o", model)
    assert result["relations"] == ["effect"]
    assert [result[f"n_{what}"] for what in ("documents", "sentences", "candidates")] == [6, 12, 12]
    scores = answer("evaluate", model, drugs)
    assert scores["scores"]["n_groups"] == 6
    report = answer("crossval", drugs, "--folds", 3)
    assert [(part["documents"], part["candidates"]) for part in report["parts"]] == [(2, 4)] * 3
    answer("convert", drugs, tmp_path / "ddi.jsonl")
    converted = kw.read(tmp_path / "ddi.jsonl")
    for one, other in zip(kw.read(drugs), converted, strict=True):
        assert one.view("sentence") == other.view("sentence")


@pytest.mark.parametrize(
    ("option", "given", "message"),
    [
        ("--relation", "bind", "no relations of type 'bind'; did you mean 'binds'? (types: binds)"),
        ("--symmetric", "bindss", "no relations of type 'bindss'; did you mean 'binds'?"),
        ("--type", "protien", "no entities of type 'protien'; did you mean 'protein'?"),
    ],
)
@pytest.mark.parametrize("command", ["train", "crossval"])
def test_types_that_do_not_occur_are_refused(file, tmp_path, command, option, given, message):
    out = ["-o", tmp_path / "model.kw"] if command == "train" else []
    result = invoke(command, file(*some_documents(2)), *out, option, given)
    assert f"{option}: the corpus has {message}" in wrong_data(result)
