from __future__ import annotations

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
        app._Commands, "get_command", lambda self, ctx, name: _command_that_raises(error)
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


def test_help_loads_no_heavy_library():
    code = (
        "import sys; from kernelwood.cli import main; main(['--help'], standalone_mode=False); "
        "heavy = {'sklearn', 'scipy', 'numpy', 'rich'} & set(sys.modules); "
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = run_python("-c", code)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", [["no-such-command"], ["demo", "--no-such-option"]])
def test_wrong_usage_exits_with_two(arguments):
    assert CliRunner().invoke(main, arguments).exit_code == 2


def test_expected_errors_exit_with_one(monkeypatch):
    result = _invoke_raising(monkeypatch, kw.KernelInputError("decay must be in (0, 1]"))
    assert result.exit_code == 1


def test_expected_errors_are_one_message_on_stderr(monkeypatch):
    result = _invoke_raising(monkeypatch, kw.KernelInputError("decay must be in (0, 1]"))
    assert (result.stdout, result.stderr) == ("", "Error: decay must be in (0, 1]\n")


def test_interrupt_exits_with_130(monkeypatch):
    assert _invoke_raising(monkeypatch, KeyboardInterrupt()).exit_code == 130


def test_interrupt_is_quiet(monkeypatch):
    assert _invoke_raising(monkeypatch, KeyboardInterrupt()).output == ""
