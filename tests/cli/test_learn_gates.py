from __future__ import annotations

import errno
import inspect
import io
import json
import os
import signal
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings, strategies as st
from power_cut import Disk
from processes import run_python, start_python, stop, wait_until

import kernelwood as kw
from kernelwood.cli import main
from kernelwood.cli.commands import learn_gates as command
from kernelwood.cli.commands.learn_gates import (
    Checkpoint,
    CheckpointError,
    fingerprint,
    open_checkpoint,
)

QUICK = ("--share", "1", "--trials", "1", "--samples", "20", "--passes", "1")


def learn(*arguments, stdin=None):
    return CliRunner().invoke(main, ["learn-gates", *map(str, arguments)], input=stdin)


def learned(*arguments):
    result = learn(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def planted(n, **options):
    paths, classes, _, _ = kw.tuning.planted_paths(n, n_signal=2, n_noise=3, **options)
    return [
        kw.Example(f"p{i}", f"class {c}", {"path": path})
        for i, (path, c) in enumerate(zip(paths, classes.tolist(), strict=True))
    ]


@pytest.fixture(scope="module")
def examples():
    return planted(60, length=(1, 6))


@pytest.fixture(scope="module")
def corpus(examples, tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "paths.jsonl"
    kw.write(examples, path)
    return path


@pytest.fixture(scope="module")
def saved(examples, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "paths.kw"
    kw.save(kw.batch(examples), path)
    return path


def an_example(number, label, **views):
    return kw.Example(f"e{number}", label, views)


# What is learned.


def test_help_tells_the_defaults_of_the_library():
    parameters = inspect.signature(kw.GateLearner).parameters
    compared = 0
    for option in main.get_command(None, "learn-gates").params:
        shown = getattr(option, "show_default", None)
        names = {**command._NEIGHBORS, **command._INFORMATION, **command._BOTH}
        if isinstance(shown, str) and " " not in shown and option.name in names:
            default = parameters[names[option.name]].default
            assert type(default)(shown) == default, option.name
            compared += 1
    assert compared >= 12


def test_gates_are_those_of_the_library(corpus, examples):
    kernel = kw.OnView("path", kw.SubsequenceKernel())
    learner = kw.GateLearner(
        kernel, labels=1.0, n_trials=1, n_samples=20, n_passes=1, random_state=0
    )
    assert learned(corpus, *QUICK)["gates"] == learner.fit(examples).gates_


def test_noise_is_ignored(tmp_path):
    path = tmp_path / "paths.jsonl"
    kw.write(planted(150, length=(1, 8)), path)
    report = learned(path, "--share", "1", "--trials", "2")
    assert {label for label, gate in report["gates"].items() if gate == 0} == {"n0", "n1", "n2"}


def test_saved_examples_give_what_their_corpus_gives(corpus, saved):
    one, two = learned(corpus, *QUICK), learned(saved, *QUICK)
    assert {**one, "seconds": 0} == {**two, "seconds": 0}


def test_saved_examples_need_no_suffix(saved, tmp_path):
    other = tmp_path / "examples"
    other.write_bytes(saved.read_bytes())
    assert learned(other, *QUICK)["n_examples"] == 60


def test_standard_input_is_read(corpus):
    result = learn("-", "--from", "jsonl", *QUICK, "--json", stdin=corpus.read_text())
    assert json.loads(result.stdout)["n_examples"] == 60


def test_seeds_lead_to_other_samples(corpus):
    losses = [
        [row["loss_open"] for row in learned(corpus, *QUICK, "--seed", seed)["labels"]]
        for seed in (0, 1)
    ]
    assert losses[0] != losses[1]


def test_threads_change_nothing(corpus):
    one, two = learned(corpus, *QUICK), learned(corpus, *QUICK, "--jobs", 2)
    assert {**one, "seconds": 0} == {**two, "seconds": 0}


def test_runs_are_counted(corpus):
    report = learned(corpus, *QUICK, "--runs", 3)
    assert (report["n_runs"], report["n_decisions"]) == (3, 15)


@pytest.mark.parametrize("option", [("--top", 2), ("--share", 0.4)])
def test_gates_of_the_most_frequent_labels_are_learned(corpus, examples, option):
    counts = {
        label: sum(label in example.view("path").edges for example in examples)
        for label in ("n0", "n1", "n2", "s0", "s1")
    }
    frequent = sorted(counts, key=lambda label: (-counts[label], label))[:2]
    assert list(learned(corpus, "--trials", 1, *option)["gates"]) == frequent


def test_gates_of_named_labels_are_learned(corpus):
    gates = learned(corpus, "--trials", 1, "--gate", "s1", "--gate", "n2")["gates"]
    assert set(gates) == {"s1", "n2"}


@pytest.fixture
def asked(monkeypatch):
    """Return what a learner is asked for, in place of learning it."""
    calls = []

    def fit(self, X, y=None, **options):
        calls.append((self.get_params(deep=False), options))
        raise kw.errors.KernelInputError("enough")

    monkeypatch.setattr(kw.GateLearner, "fit", fit)

    def ask(*arguments):
        assert "enough" in learn(*arguments).stderr
        return calls.pop()

    return ask


@pytest.mark.parametrize(
    ("options", "parameter", "value"),
    [
        (("--steps", 5), "n_steps", 5),
        (("--patience", 6), "patience", 6),
        (("--temperature", 0.5), "temperature", 0.5),
        (("--hash-method", "rknn"), "hash_method", "rknn"),
        (("--references", 7), "n_references", 7),
        (("--bits", 8), "n_bits", 8),
        (("--subset-size", 3), "subset_size", 3),
        (("--samples", 9), "n_samples", 9),
        (("--learn", "decay=0.4,1"), "parameters", {"kernel__decay": [0.4, 1]}),
        (("--learn", "decay=0.4", "--search", "grid"), "search", "grid"),
    ],
)
def test_options_of_information_reach_the_learner(corpus, asked, options, parameter, value):
    parameters, _ = asked(corpus, "--method", "information", *options)
    assert (parameters["method"], parameters[parameter]) == ("information", value)


@pytest.mark.parametrize(
    ("options", "parameter", "value"),
    [
        (("--trials", 5), "n_trials", 5),
        (("--neighbors", 6), "n_neighbors", 6),
        (("--passes", 7), "n_passes", 7),
        (("--graph", "hashed"), "graph", "hashed"),
        (("--loss", "paper"), "loss", "paper"),
        (("--votes", 3), "n_votes", 3),
        (("--negative", "class 1"), "negative_label", "class 1"),
        (("--runs", 8), "n_runs", 8),
        (("--seed", 9), "random_state", 9),
        (("--n-jobs", 2), "n_jobs", 2),
    ],
)
def test_options_of_neighbors_reach_the_learner(corpus, asked, options, parameter, value):
    assert asked(corpus, *options)[0][parameter] == value


def test_defaults_are_those_of_the_learner(corpus, asked):
    parameters, _ = asked(corpus)
    plain = kw.GateLearner(parameters["kernel"], random_state=0)
    assert parameters == plain.get_params(deep=False)


def test_neighbors_of_one_document_need_not_count(file, examples, asked):
    named = [
        kw.Example(f"corpus.d{i // 2}.s{i}.p0", e.label, {"path": e.view("path")})
        for i, e in enumerate(examples)
    ]
    assert asked(file(*named))[1]["groups"] is None
    groups = asked(file(*named), "--by-document")[1]["groups"]
    assert groups[:3] == ["corpus.d0", "corpus.d0", "corpus.d1"]


def test_information_looks_at_examples_without_a_label(file, examples, asked):
    unknown = kw.Example("unknown", None, {"path": examples[0].view("path")})
    _, options = asked(file(*examples, unknown), "--method", "information")
    assert [example.id for example in options["unlabeled"]] == ["unknown"]


def test_trees_are_compared_by_partial_trees_with_gates_on_nodes(file):
    trees = [kw.Tree.from_brackets(text) for text in ("(S (A x) (N z))", "(S (B y) (N z))")]
    path = file(*(an_example(i, "ab"[i % 2], tree=trees[i % 2]) for i in range(8)))
    kernel = learned(path, *QUICK)["kernel"]
    assert kernel == "OnView('tree', PartialTreeKernel(gate_on='node'))"


def test_the_kernel_is_the_one_that_is_asked_for(file):
    trees = [kw.Tree.from_brackets(text) for text in ("(S (A x) (N z))", "(S (B y) (N z))")]
    path = file(*(an_example(i, "ab"[i % 2], tree=trees[i % 2]) for i in range(8)))
    report = learned(path, "--kernel", "subset-tree", "--decay", 0.5, *QUICK)
    assert report["kernel"] == "OnView('tree', SubsetTreeKernel(decay=0.5, gate_on='node'))"


def test_several_views_are_added(file):
    words = [kw.Sequence(text.split()) for text in ("a n c", "b n d")]
    path = file(
        *(an_example(i, i % 2, one=words[i % 2], two=words[i % 2], more=words[0]) for i in range(8))
    )
    report = learned(path, "--view", "one", "--view", "two", *QUICK)
    assert report["views"] == ["one", "two"]
    assert report["kernel"].count("OnView") == 2


def test_views_are_made_of_sentences(file):
    texts = ("good old tea", "bad old tea")
    sentences = [kw.Sentence.from_words(text.split()) for text in texts]
    path = file(*(an_example(i, i % 2, sentence=sentences[i % 2]) for i in range(8)))
    assert set(learned(path, "--view", "words", *QUICK)["gates"]) == {"good", "bad", "old", "tea"}


SENTENCE = """<sentence id="s{n}" text="{a} {verb} {b}.">
<entity id="s{n}.e1" charOffset="0-2" text="{a}" type="protein"/>
<entity id="s{n}.e2" charOffset="10-12" text="{b}" type="protein"/>
<pair id="s{n}.p1" e1="s{n}.e1" e2="s{n}.e2" interaction="{holds}"/>
<sentenceanalyses>
<parses><parse parser="p" tokenizer="t"><dependency t1="t2" t2="t1" type="nsubj"/>
<dependency t1="t2" t2="t3" type="dobj"/></parse></parses>
<tokenizations><tokenization tokenizer="t"><token id="t1" charOffset="0-2" text="{a}" POS="NN"/>
<token id="t2" charOffset="4-8" text="{verb}" POS="VBZ"/>
<token id="t3" charOffset="10-12" text="{b}" POS="NN"/></tokenization></tokenizations>
</sentenceanalyses></sentence>"""


def test_candidates_are_made_of_a_corpus(tmp_path):
    sentences = [
        SENTENCE.format(n=n, a="Raf", b="Ras", verb=("binds", "likes")[n % 2], holds=n % 2 == 0)
        for n in range(8)
    ]
    path = tmp_path / "corpus.xml"
    inside = "".join(sentences)
    path.write_text(f'<corpus source="x"><document id="d">{inside}</document></corpus>')
    report = learned(path, "--candidates", "pairs", *QUICK)
    assert (report["n_examples"], report["classes"]) == (8, [0, 1])
    assert set(report["gates"]) == {"nsubj-of", "dobj"}


def test_broken_parts_can_be_skipped(corpus, tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text(corpus.read_text() + "{broken\n")
    assert sum(learned(path, *QUICK, "--errors", "skip")["skipped"].values()) == 1


def test_broken_parts_are_named(corpus, tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text(corpus.read_text() + "{broken\n")
    assert "in.jsonl:61" in wrong_data(learn(path, *QUICK))


@pytest.mark.parametrize("name", ["sigmoid", "threshold"])
def test_word_vectors_make_the_kernel_soft(name, corpus, tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"w{i} {i + 1}.0 1.0\n" for i in range(2)))
    report = learned(corpus, *QUICK, "--vectors", vectors, "--similarity", name)
    assert name.capitalize() in report["kernel"]


def test_examples_without_a_label_are_left_out(file, examples):
    unknown = kw.Example("unknown", None, {"path": examples[0].view("path")})
    report = learned(file(*examples, unknown), *QUICK)
    assert (report["n_examples"], report["n_unlabeled"]) == (60, 1)


def test_a_negative_class_may_be_a_number(file, examples):
    numbered = [kw.Example(e.id, int(e.label[-1]), {"path": e.view("path")}) for e in examples]
    result = learn(file(*numbered), *QUICK, "--loss", "paper", "--negative", "1")
    assert result.exit_code == 0, result.stderr


INFORMATION = (
    "--method", "information", "--share", "1", "--samples", "40", "--references", "8",
    "--bits", "24", "--steps", "12",
)  # fmt: skip


def test_information_learns_parameters_too(corpus):
    report = learned(corpus, *INFORMATION, "--learn", "decay=0.4,0.8")
    assert report["parameters"]["kernel__decay"] in (0.4, 0.8)


@pytest.mark.parametrize("share", [0.4, 0.7, 0.95])
def test_a_chain_goes_on_where_it_was_cut(corpus, tmp_path, share):
    path = tmp_path / "chain.jsonl"
    whole = learned(corpus, *INFORMATION, "--checkpoint", path)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    resumed = learned(corpus, *INFORMATION, "--checkpoint", path)
    assert {**resumed, "seconds": 0} == {**whole, "seconds": 0}
    assert path.read_bytes() == data


# What is shown and written.


def test_json_has_the_promised_keys(corpus):
    expected = {
        "kernel", "views", "n_examples", "n_unlabeled", "skipped", "dropped", "remarks", "gates",
        "method", "classes", "n_labels", "n_ignored", "n_runs", "agreement", "n_decisions",
        "parameters", "seed", "labels", "seconds",
    }  # fmt: skip
    assert set(learned(corpus, *QUICK)) == expected


def test_json_is_alone_on_standard_output(corpus):
    assert learn(corpus, *QUICK, "--json").stderr == ""


def test_the_table_names_every_label(corpus):
    lines = learn(corpus, *QUICK).stdout.splitlines()
    assert {line.split()[0] for line in lines[1:6]} == {"n0", "n1", "n2", "s0", "s1"}


def test_the_table_of_a_terminal_is_the_same(corpus, monkeypatch):
    from rich.console import Console

    shown = io.StringIO()
    terminal = Console(file=shown, force_terminal=True, width=120)
    monkeypatch.setattr(command, "results", lambda: terminal)
    assert learn(corpus, *QUICK).exit_code == 0
    assert all(label in shown.getvalue() for label in ("n0", "s1", "gain of closing"))


def test_what_is_compared_is_said_on_standard_error(corpus):
    assert learn(corpus, *QUICK).stderr.startswith("60 examples of 2 classes; OnView('path',")


def test_the_saved_kernel_has_the_gates(corpus, examples, tmp_path):
    path = tmp_path / "kernel.kw"
    gates = learned(corpus, *QUICK, "--out", path)["gates"]
    assert kw.load(path) == kw.OnView("path", kw.SubsequenceKernel(gates=gates))


def test_gates_are_written_as_json(corpus, tmp_path):
    path = tmp_path / "gates.json"
    gates = learned(corpus, *QUICK, "--gates-out", path)["gates"]
    assert json.loads(path.read_text()) == gates


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_figures_are_written(corpus, tmp_path, suffix):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"gates.{suffix}"
    learned(corpus, *QUICK, "--figure", path)
    assert path.stat().st_size > 1000


# What goes wrong.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--steps", 5), "--steps does not apply to --method neighbors"),
        (("--learn", "decay=0.4"), "--learn does not apply to --method neighbors"),
        (
            ("--method", "information", "--trials", 5),
            "--trials does not apply to",
        ),
        (("--method", "information", "--by-document"), "--by-document"),
        (("--method", "information", "--search", "grid"), "--learn"),
        (("--method", "information", "--learn", "nix=1"), "kernel__decay"),
        (("--share", 1, "--top", 3), "mutually exclusive"),
        (("--share", 0), "--share"),
        (("--similarity", "gaussian"), "--vectors"),
        (("--kernel", "subtree"), "contains sequences"),
        (("--negative", "nix"), "class 0, class 1"),
        (("--figure", "gates.doc"), ".svg"),
        (("--out", "a.kw", "--gates-out", "a.kw"), "the same file"),
        (("--out", "."), "folder"),
    ],
)
def test_wrong_usage_is_told(corpus, options, message):
    result = learn(corpus, *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_the_corpus_is_not_overwritten(corpus):
    assert learn(corpus, *QUICK, "--gates-out", corpus).exit_code == 2


def test_saved_examples_have_no_candidates(saved):
    assert learn(saved, "--candidates", "pairs").exit_code == 2


def wrong_data(result):
    assert result.exit_code == 1
    assert result.stdout == ""
    return " ".join(result.stderr.split())


def test_a_missing_file_is_named(tmp_path):
    assert "nix.jsonl" in wrong_data(learn(tmp_path / "nix.jsonl"))


def test_a_missing_folder_for_a_result_is_told_before_the_work(tmp_path):
    result = learn(tmp_path / "nix.jsonl", "--out", tmp_path / "nowhere" / "kernel.kw")
    assert "nowhere" in wrong_data(result)


def test_a_missing_label_of_all_examples_is_told(file, examples):
    bare = [kw.Example(e.id, None, {"path": e.view("path")}) for e in examples]
    assert "none of the 60 examples has a label" in wrong_data(learn(file(*bare)))


def test_a_single_class_is_told(file, examples):
    same = [kw.Example(e.id, "one", {"path": e.view("path")}) for e in examples]
    assert "two classes or more" in wrong_data(learn(file(*same)))


def test_an_unclear_view_is_told(file):
    words = kw.Sequence(["a"])
    path = file(an_example(0, "x", one=words, two=words), an_example(1, "y", one=words, two=words))
    assert "one, two" in wrong_data(learn(path))


def test_sentences_alone_cannot_be_compared(file):
    path = file(an_example(0, "x", sentence=kw.Sentence.from_words(["a"])))
    assert "--view" in wrong_data(learn(path))


def test_an_empty_corpus_is_told(tmp_path):
    (tmp_path / "in.jsonl").write_text("")
    assert "no examples" in wrong_data(learn(tmp_path / "in.jsonl"))


def test_saved_structures_have_no_labels(tmp_path, examples):
    path = tmp_path / "paths.kw"
    kw.save(kw.batch([example.view("path") for example in examples]), path)
    assert "kw.Example" in wrong_data(learn(path))


def test_an_unknown_label_is_told(corpus):
    assert "'nix'" in wrong_data(learn(corpus, "--gate", "nix"))


def test_nothing_is_written_when_learning_fails(file, examples, tmp_path):
    same = [kw.Example(e.id, "one", {"path": e.view("path")}) for e in examples]
    learn(file(*same), "--out", tmp_path / "kernel.kw")
    assert not (tmp_path / "kernel.kw").exists()


# Checkpoints.


@pytest.fixture(scope="module")
def finished(corpus, tmp_path_factory):
    """Return the checkpoint of a finished search, and its result."""
    path = tmp_path_factory.mktemp("finished") / "gates.jsonl"
    report = learned(corpus, *QUICK, "--checkpoint", path)
    return path.read_bytes(), {**report, "seconds": 0}


def resumed(corpus, path, data, *options):
    path.write_bytes(data)
    return {**learned(corpus, *QUICK, "--checkpoint", path, *options), "seconds": 0}


def test_a_checkpoint_has_a_line_for_each_decision(finished):
    data, report = finished
    lines = [json.loads(line) for line in data.splitlines()]
    assert [line["label"] for line in lines[1:]] == list(report["gates"])


def test_a_search_without_a_checkpoint_gives_the_same(corpus, finished):
    assert {**learned(corpus, *QUICK), "seconds": 0} == finished[1]


def test_decisions_are_not_made_again(corpus, finished, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "kernelwood.tuning.neighbor_search._decide", lambda *arguments: pytest.fail("made again")
    )
    assert resumed(corpus, tmp_path / "gates.jsonl", finished[0]) == finished[1]


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(share=st.floats(0, 1))
def test_a_search_goes_on_wherever_its_checkpoint_was_cut(corpus, finished, tmp_path, share):
    data, report = finished
    path = tmp_path / "gates.jsonl"
    assert resumed(corpus, path, data[: int(share * len(data))]) == report
    assert path.read_bytes() == data


def test_a_file_cut_anywhere_keeps_its_whole_lines(tmp_path):
    path, header = tmp_path / "gates.jsonl", {"settings": {"seed": 1}}
    decisions = [{"label": label, "loss": 1 / 3} for label in ("a", "ü", "\n", "\ud800")]
    with open_checkpoint(path, header) as checkpoint:
        for decision in decisions:
            checkpoint.add(decision)
    data = path.read_bytes()
    first = data.index(b"\n") + 1
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        with open_checkpoint(path, header) as checkpoint:
            whole = data[first:size].count(b"\n")
            assert checkpoint.earlier == decisions[:whole]
        assert path.read_bytes() == data[: max(first, data.rfind(b"\n", 0, size) + 1)]


def test_a_decision_is_in_the_file_as_soon_as_it_is_made(tmp_path):
    path = tmp_path / "gates.jsonl"
    with open_checkpoint(path, {"settings": {}}) as checkpoint:
        checkpoint.add({"label": "a"})
        assert b'\n{"label": "a", ' in path.read_bytes()


def test_a_decision_is_on_the_disk_as_soon_as_it_is_made(tmp_path, monkeypatch):
    synced, path = [], tmp_path / "gates.jsonl"
    original = os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda number: synced.append(os.fstat(number)) or original(number)
    )
    with open_checkpoint(path, {"settings": {}}) as checkpoint:
        assert [os.path.samestat(one, other.stat()) for one, other in
                zip(synced, (path, tmp_path), strict=True)] == [True, True]  # fmt: skip
        for label in "ab":
            checkpoint.add({"label": label})
            assert os.path.samestat(synced[-1], path.stat())
            assert synced[-1].st_size == path.stat().st_size
        assert len(synced) == 4


def test_a_line_that_a_power_cut_left_with_holes_is_removed(tmp_path):
    path, header = tmp_path / "gates.jsonl", {"settings": {}}
    with open_checkpoint(path, header) as checkpoint:
        checkpoint.add({"label": "a"})
    data = path.read_bytes()
    for rest in (b"\0\0", b"\0\0\n", b'{"lab\0\0\n', b'\0\0": 1}\n{"l'):
        path.write_bytes(data + rest)
        with open_checkpoint(path, header) as checkpoint:
            assert checkpoint.earlier == [{"label": "a"}]
        assert path.read_bytes() == data


def test_a_full_disk_is_named_and_the_search_goes_on_later(tmp_path, monkeypatch):
    path, header = tmp_path / "gates.jsonl", {"settings": {}}

    def fsync(descriptor):
        os.truncate(path, path.stat().st_size - 3)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with open_checkpoint(path, header) as checkpoint:
        checkpoint.add({"label": "a"})
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fsync)
            with pytest.raises(OSError, match=r"gates\.jsonl"):
                checkpoint.add({"label": "b"})
    with open_checkpoint(path, header) as checkpoint:
        assert checkpoint.earlier == [{"label": "a"}]


def test_two_searches_cannot_share_a_checkpoint(tmp_path):
    path, header = tmp_path / "gates.jsonl", {"settings": {}}
    with open_checkpoint(path, header) as checkpoint:
        with pytest.raises(CheckpointError, match="in use"), open_checkpoint(path, header):
            pass
        checkpoint.add({"label": "a"})
    with open_checkpoint(path, header) as checkpoint:
        assert checkpoint.earlier == [{"label": "a"}]


def test_another_option_is_refused(corpus, finished, tmp_path):
    path = tmp_path / "gates.jsonl"
    path.write_bytes(finished[0])
    message = wrong_data(learn(corpus, *QUICK, "--checkpoint", path, "--passes", 2))
    assert "n_passes was 1, is 2" in message


def test_other_data_is_refused(finished, tmp_path, file, examples):
    path = tmp_path / "gates.jsonl"
    path.write_bytes(finished[0])
    message = wrong_data(learn(file(*examples[:50]), *QUICK, "--checkpoint", path))
    assert "data differs" in message


def test_the_place_of_the_data_does_not_matter(corpus, finished, tmp_path):
    other = tmp_path / "elsewhere.jsonl"
    other.write_bytes(corpus.read_bytes())
    assert resumed(other, tmp_path / "gates.jsonl", finished[0]) == finished[1]


def test_threads_do_not_matter_to_a_checkpoint(corpus, finished, tmp_path):
    assert resumed(corpus, tmp_path / "gates.jsonl", finished[0], "--jobs", 2) == finished[1]


@pytest.mark.parametrize("content", [b"my notes\n", b"my notes", b"{}\n", b"[1]\n", b"\xff\n"])
def test_a_file_that_is_no_checkpoint_is_left_alone(corpus, tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    assert "another name" in wrong_data(learn(corpus, *QUICK, "--checkpoint", path))
    assert path.read_bytes() == content


@pytest.mark.parametrize("line", [b"{\n", b"[" * 100_000 + b"\n"])
def test_a_damaged_line_is_named(tmp_path, line):
    path, header = tmp_path / "gates.jsonl", {"settings": {}}
    with open_checkpoint(path, header) as checkpoint:
        checkpoint.add({"label": "a"})
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(CheckpointError, match=r"gates\.jsonl:3"), open_checkpoint(path, header):
        pass


def test_every_changed_byte_is_noticed(tmp_path):
    path, header = tmp_path / "gates.jsonl", {"settings": {"seed": 1}}
    with open_checkpoint(path, header) as checkpoint:
        for label in "ab":
            checkpoint.add({"label": label, "open": True, "loss": 0.125})
    data = path.read_bytes()
    for at in range(len(data) - 1):
        for byte in {48, 49, 34, data[at] ^ 1, data[at] ^ 128} - {data[at], 0}:  # 0 is a hole
            damaged = data[:at] + bytes([byte]) + data[at + 1 :]
            if json_values(damaged) == json_values(data):
                continue
            path.write_bytes(damaged)
            with pytest.raises(CheckpointError), open_checkpoint(path, header):
                pass
            assert path.read_bytes() == damaged


def json_values(data):
    try:
        return [json.loads(line) for line in data.splitlines()]
    except ValueError:
        return None


@pytest.mark.skipif(sys.platform != "linux", reason="reads files by /proc")
def test_a_power_cut_loses_at_most_one_decision(corpus, finished, tmp_path, monkeypatch):
    path, confirmed = tmp_path / "gates.jsonl", []
    original = Checkpoint.add
    with Disk(monkeypatch, tmp_path) as disk:

        def add(self, decision):
            original(self, decision)
            disk.mark += 1

        monkeypatch.setattr(Checkpoint, "add", add)
        assert {**learned(corpus, *QUICK, "--checkpoint", path), "seconds": 0} == finished[1]
        confirmed = list(disk.marks)
    assert disk.mark > 2 and path.read_bytes() == finished[0]
    header = json.loads(finished[0].splitlines()[0])
    settings = {k: v for k, v in header.items() if k not in ("checkpoint", "version")}
    for moment, n in enumerate(confirmed):
        disk.restore(moment)
        with open_checkpoint(path, settings) as checkpoint:
            assert len(checkpoint.earlier) >= n
        assert finished[0].startswith(path.read_bytes())


@pytest.mark.skipif(sys.platform == "win32", reason="signals and forks of POSIX")
@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_killed_searches(corpus, tmp_path, kills):
    script, path = Path(__file__).parents[1] / "killed_runs.py", tmp_path / "gates.jsonl"
    arguments = ["learn-gates", corpus, *QUICK, "--jobs", "1", "--checkpoint", path]
    done = run_python(script, path, kills, kills, *arguments)
    assert done.returncode == 0, done.stderr
    assert sum(json.loads(done.stdout.splitlines()[-1]).values()) == kills


def test_a_fingerprint_is_of_the_content(examples):
    assert fingerprint(kw.batch(examples)) == fingerprint(kw.batch(list(examples)))
    assert fingerprint(kw.batch(examples)) != fingerprint(kw.batch(examples[::-1]))


def n_lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("name", "code"), [("SIGTERM", 143), pytest.param("SIGINT", 130, marks=pytest.mark.slow)]
)
def test_a_stopped_search_leaves_a_checkpoint_to_go_on_from(tmp_path, name, code):
    corpus, path = tmp_path / "paths.jsonl", tmp_path / "gates.jsonl"
    kw.write(planted(100, length=(1, 10)), corpus)
    options = [str(corpus), "--share", "1", "--runs", "4", "--checkpoint"]
    process = start_python("-m", "kernelwood", "learn-gates", *options, path)
    wait_until(lambda: n_lines(path) >= 3, process)
    done = stop(process, getattr(signal, name))
    assert (done.returncode, done.stdout) == (code, "")
    assert "run the same command to resume" in done.stderr
    before = path.read_bytes()
    report = learned(*options, path)
    assert {**report, "seconds": 0} == {
        **learned(*options, Path(tmp_path, "new.jsonl")),
        "seconds": 0,
    }
    assert path.read_bytes().startswith(before[: before.rindex(b"\n")])
