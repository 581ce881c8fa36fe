"""``--quiet`` and ``--verbose``, before and after the name of a command."""

from __future__ import annotations

import logging
import re
import warnings

import click
import pytest
from click.testing import CliRunner

from kernelwood.cli import app, console, main
from kernelwood.cli.app import COMMANDS
from kernelwood.errors import KernelInputError


def work(seen=None):
    """Do what commands do: read, compute in stages, warn, print a result."""
    with console.running() as begin:
        begin("learning")
        logging.getLogger("kernelwood.kernels").info("10 evaluations")
        logging.getLogger("kernelwood.kernels").debug("1 block")
        warnings.warn("mind this", UserWarning, stacklevel=1)
    console.note("3 read")
    console.say("result")


@pytest.fixture
def run(monkeypatch):
    """Run a command that does something, with options before and after its name."""

    def invoke(before="", after="", callback=work):
        command = click.Command("doctor", callback=callback)
        monkeypatch.setattr(
            app.Commands, "get_command", lambda *_: app._with_shared_options(command)
        )
        return CliRunner().invoke(main, [*before.split(), "doctor", *after.split()])

    return invoke


def fail():
    raise KernelInputError("decay must be positive")


def test_messages_are_shown_beside_results(run):
    result = run()
    assert result.stdout == "result\n"
    assert result.stderr == "warning: mind this\n3 read\n"


@pytest.mark.parametrize("options", [("-q", ""), ("", "-q"), ("", "--quiet"), ("-q", "-q")])
def test_quiet_leaves_the_result_only(run, options):
    result = run(*options)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "result\n", "")


def test_quiet_shows_errors(run):
    assert run("-q", callback=fail).stderr == "Error: decay must be positive\n"


@pytest.mark.parametrize("options", [("-v", ""), ("", "-v"), ("", "--verbose")])
def test_verbose_shows_stages_and_the_log_with_times(run, options, monkeypatch):
    monkeypatch.setattr(console, "_clock", iter(range(100)).__next__)
    monkeypatch.setattr(console, "_EVERY", float("inf"))
    shown = re.findall(r"^ +(\d+\.0) s  (.*)$", run(*options).stderr, re.MULTILINE)
    assert [text for _, text in shown] == ["learning", "10 evaluations"]
    assert float(shown[0][0]) < float(shown[1][0])


def test_very_verbose_shows_the_debug_log(run):
    assert "1 block\n" in run("-vv").stderr
    assert "1 block\n" in run("-v", "-v").stderr
    assert "1 block\n" not in run("-v").stderr


def test_a_message_of_the_log_is_shown_once(run):
    assert run("-v", "-v").stderr.count("10 evaluations") == 1


def test_the_log_is_as_before_afterwards(run):
    logger = logging.getLogger("kernelwood")
    before = (logger.level, list(logger.handlers))
    run("-vv")
    assert (logger.level, logger.handlers) == before


@pytest.mark.parametrize(("option", "shown"), [("-vv", True), ("-v", False)])
def test_a_traceback_needs_two_letters(run, option, shown):
    result = run(option, callback=fail)
    assert ("Traceback" in result.stderr) is shown
    assert result.stderr.endswith("Error: decay must be positive\n")
    assert result.exit_code == 1


@pytest.mark.parametrize("options", [("-q", "-v"), ("-v", "-q"), ("", "-q -v")])
def test_quiet_and_verbose_exclude_each_other(run, options):
    result = run(*options)
    assert result.exit_code == 2 and "mutually exclusive" in result.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_all_commands_have_both_options_once(name):
    command = main.get_command(click.Context(main), name)
    flags = [flag for param in command.params for flag in param.opts]
    assert [flags.count(flag) for flag in ("-q", "--quiet", "-v", "--verbose")] == [1] * 4


@pytest.mark.parametrize("key", ["quiet", "verbose"])
def test_levels_are_not_settings_of_an_experiment(tmp_path, key):
    (tmp_path / "run.toml").write_text(f"{key} = true\n")
    result = CliRunner().invoke(main, ["train", "--config", str(tmp_path / "run.toml")])
    assert result.exit_code == 2 and "on the command line only" in result.stderr
