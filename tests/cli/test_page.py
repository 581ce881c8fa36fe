"""The page on the command line shows what commands print."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

from click.testing import CliRunner

import kernelwood as kw
from kernelwood.cli import main
from kernelwood.datasets import load_interactions, load_questions

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands():
    """Return the commands of the page, each with what it is said to print."""
    text = "\n".join(BLOCK.findall(PAGE.read_text(encoding="utf-8")))
    shown = [part.partition("\n") for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]]
    return [(shlex.split(command)[1:], output) for command, _, output in shown]


def test_commands_print_what_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kw.write(load_questions(), "questions.jsonl")
    for split in ("train", "test"):
        kw.write(load_interactions(split), f"{split}.jsonl")
    checker = doctest.OutputChecker()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for command, expected in commands():
        result = CliRunner().invoke(main, command)
        assert checker.check_output(expected, result.stdout, flags), (command, result.output)


def test_the_page_names_every_command():
    named = set(re.findall(r"^\| `kernelwood ([\w-]+)`", PAGE.read_text(encoding="utf-8"), re.M))
    assert named == set(main.list_commands(None))
