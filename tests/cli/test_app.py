from __future__ import annotations

import json
import os

import click
import pytest
from click.testing import CliRunner
from processes import run_python

import kernelwood as kw
from kernelwood.cli import app, main


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


def test_running_as_a_module_is_the_command():
    assert _run("--version").stdout.strip() == f"kernelwood, version {kw.__version__}"


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
}


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
    done = run_python("-c", program, cwd=tmp_path_factory.mktemp("light"))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", LIGHT)
def test_help_and_wrong_calls_load_no_heavy_library(name, light):
    code, heavy, said = light[name]
    assert (code, heavy) == (LIGHT[name][1], []), said
    if code == 1:
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
