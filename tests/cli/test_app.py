from __future__ import annotations

import json
import os

import click
import pytest
from click.testing import CliRunner
from processes import run_python

import kernelwood as kw
from kernelwood.cli import app, main
from kernelwood.cli.options import PARSERS


def _run(*arguments):
    variables = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    return run_python("-m", "kernelwood", *arguments, encoding="utf-8", env=variables)


def _command_that_raises(error):
    def fail():
        raise error

    return click.Command("doctor", callback=fail)


def _invoke_raising(monkeypatch, error):
    monkeypatch.setattr(
        app.Commands, "get_command", lambda self, ctx, name: _command_that_raises(error)
    )
    return CliRunner().invoke(main, ["doctor"])


def test_version_is_the_packages():
    assert kw.__version__ in CliRunner().invoke(main, ["--version"]).stdout


def test_help_lists_every_command():
    text = CliRunner().invoke(main, ["--help"]).stdout
    assert "demo" in text
    assert "doctor" in text


def test_without_arguments_the_help_is_printed_as_it_is():
    result = CliRunner().invoke(main, [])
    assert result.output.strip() == CliRunner().invoke(main, ["--help"]).output.strip()


def test_running_as_a_module_is_the_command():
    assert _run("--version").stdout.strip() == f"kernelwood, version {kw.__version__}"


# Help that was not asked for is an error from click 8.2 on.
NO_COMMAND = 2 if hasattr(click.exceptions, "NoArgsIsHelpError") else 0
LIGHT = {
    "help": (["--help"], 0),
    "help of a command": (["train", "--help"], 0),
    "unknown command": (["no-such-command"], 2),
    "unknown option": (["train", "--no-such-option"], 2),
    "missing option": (["train", "missing.xml"], 2),
    "no task": (["search", "missing.conllu"], 2),
    "wrong suffix": (["verify", "missing.kw", "missing.jsonl", "-o", "x.xml"], 2),
    "train": (["train", "missing.xml", "-o", "model.kw"], 1),
    "crossval": (["crossval", "missing.xml"], 1),
    "evaluate": (["evaluate", "missing.kw", "missing.xml"], 1),
    "predict": (["predict", "missing.kw", "missing.xml", "-o", "found.jsonl"], 1),
    "extract": (["extract", "missing.kw", "missing.txt"], 1),
    "explain": (["explain", "missing.kw", "missing.xml", "id"], 1),
    "verify": (["verify", "missing.kw", "missing.jsonl"], 1),
    "inspect": (["inspect", "missing.kw"], 1),
    "convert": (["convert", "missing.conllu", "out.jsonl"], 1),
    "embed": (["embed", "missing.conllu", "-o", "vectors.npz"], 1),
    "cluster": (["cluster", "missing.conllu", "-k", "3"], 1),
    "search": (["search", "missing.conllu", "--save", "index.kw"], 1),
    "learn-gates": (["learn-gates", "missing.conllu"], 1),
    "adapt": (["adapt", "missing.kw", "missing.txt"], 1),
    "vectors": (["vectors", "missing.txt", "-o", "vectors.npz"], 1),
    "version": (["--version"], 0),
    "no command": ([], NO_COMMAND),
    "misspelled command": (["trian"], 2),
    "misspelled value": (["train", "missing.xml", "-o", "model.kw", "--recipe", "svn"], 2),
    "misspelled parser": (["extract", "missing.kw", "missing.txt", "--parser", "spicy"], 2),
    "misspelled format": (["convert", "missing.xml", "out.jsonl", "--from", "pen"], 2),
    "levels": (["-q", "train", "missing.xml", "-v"], 2),
    "completion": (["completion", "bash"], 0),
}
# Outputs in a folder that does not exist; the inputs do.
UNWRITABLE = {
    "train": ["train", "in.txt", "-o", "missing/model.kw"],
    "adapt": ["adapt", "in.txt", "in.txt", "-o", "missing/model.kw"],
    "evaluate": ["evaluate", "in.txt", "in.txt", "--errors-out", "missing/errors.jsonl"],
    "predict": ["predict", "in.txt", "in.txt", "-o", "missing/found.jsonl"],
    "extract": ["extract", "in.txt", "in.txt", "-o", "missing/found.jsonl"],
    "standoff": ["extract", "in.txt", "in.txt", "-o", "missing/found.ann"],
    "verify": ["verify", "in.txt", "in.txt", "-o", "missing/verdicts.jsonl"],
    "convert": ["convert", "in.txt", "missing/out.jsonl"],
    "embed": ["embed", "in.txt", "-o", "missing/vectors.npz"],
    "cluster": ["cluster", "in.txt", "-k", "3", "-o", "missing/clusters.tsv"],
    "search": ["search", "in.txt", "--save", "missing/index.kw"],
    "learn-gates": ["learn-gates", "in.txt", "--out", "missing/kernel.kw"],
    "vectors": ["vectors", "in.txt", "-o", "missing/vectors.npz"],
    "demo": ["demo", "-o", "missing/report.html"],
}
LIGHT |= {f"{name} without a folder": (call, 1) for name, call in UNWRITABLE.items()}


@pytest.fixture(scope="module")
def light(tmp_path_factory):
    """Return exit code, heavy libraries and messages after each call, all in one process."""
    program = f"""
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from kernelwood.cli import main

made = {{}}
for name, (arguments, _) in {LIGHT!r}.items():
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()) as said:
        try:
            main(arguments)
        except SystemExit as end:
            code = end.code
    heavy = {{"sklearn", "scipy", "numpy", "rich"}} & set(sys.modules)
    made[name] = code, sorted(heavy), said.getvalue()
print(json.dumps(made))
"""
    folder = tmp_path_factory.mktemp("light")
    (folder / "in.txt").write_text("a text")
    done = run_python("-c", program, cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", LIGHT)
def test_help_and_wrong_calls_load_no_heavy_library(name, light):
    code, heavy, said = light[name]
    assert (code, heavy) == (LIGHT[name][1], []), said
    if name.endswith("without a folder"):
        assert "missing: there is no such folder" in said
    elif code == 1:
        assert "missing." in said and "No such file" in said


@pytest.mark.parametrize("arguments", [["no-such-command"], ["demo", "--no-such-option"]])
def test_wrong_usage_exits_with_two(arguments):
    assert CliRunner().invoke(main, arguments).exit_code == 2


def test_expected_errors_exit_with_one(monkeypatch):
    result = _invoke_raising(monkeypatch, kw.errors.KernelInputError("decay must be in (0, 1]"))
    assert result.exit_code == 1


def test_expected_errors_are_one_message_on_stderr(monkeypatch):
    result = _invoke_raising(monkeypatch, kw.errors.KernelInputError("decay must be in (0, 1]"))
    assert (result.stdout, result.stderr) == ("", "Error: decay must be in (0, 1]\n")


def test_interrupt_exits_with_130(monkeypatch):
    assert _invoke_raising(monkeypatch, KeyboardInterrupt()).exit_code == 130


def test_interrupt_is_quiet(monkeypatch):
    assert _invoke_raising(monkeypatch, KeyboardInterrupt()).output == ""


@pytest.mark.parametrize("name", UNWRITABLE)
def test_outputs_that_cannot_be_created_are_named_first(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("a text")
    (tmp_path / "missing").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    result = CliRunner().invoke(main, UNWRITABLE[name])
    assert result.exit_code == 1 and "Permission denied" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "guess"),
    [
        (["trian"], "'train'"),
        (["learn-gate"], "'learn-gates'"),
        (["train", "x", "-o", "y", "--recipe", "SVN"], "'svm'"),
        (["train", "x", "-o", "y", "--recipee", "svm"], "--recipe"),
        (["train", "x", "-o", "y", "--threshold", "cautios"], "'cautious'"),
        (["train", "x", "-o", "y", "--parser", "biomedicla"], "'biomedical'"),
        (["train", "x", "-o", "y", "--parser", "givn"], "'given'"),
        (["train", "x", "-o", "y", "--view", "paht"], "'path'"),
        (["convert", "x", "y", "--from", "conlu"], "'conllu'"),
        (["convert", "x", "y", "--to", "jsonll"], "'jsonl'"),
        (["embed", "x", "-o", "y.npz", "--kernel", "subset-tre"], "'subset-tree'"),
        (["extract", "x", "y", "--positive-rate", "traind"], "'trained'"),
    ],
)
def test_a_misspelled_name_gets_a_suggestion(arguments, guess):
    result = CliRunner().invoke(main, arguments)
    told = " ".join(result.stderr.split()).lower()
    assert result.exit_code == 2
    assert "did you mean" in told and guess in told


def test_a_name_like_no_other_gets_no_suggestion():
    assert "did you mean" not in CliRunner().invoke(main, ["xyz"]).stderr


def test_parsers_are_those_of_the_library():
    assert set(PARSERS) == set(kw.parsing.BACKENDS)
