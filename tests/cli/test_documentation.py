"""The pages on the command line show what commands print."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from kernelwood.cli import main

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def check_commands(text):
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        result = CliRunner().invoke(main, shlex.split(command)[1:])
        printed = result.stdout.replace("\N{NO-BREAK SPACE}", " ")  # pages have plain blanks
        shown = doctest.OutputChecker().check_output(expected, printed, FLAGS)
        assert shown, (command, result.output)


@pytest.mark.parametrize(
    "name", ["command-line.md", "command-line-relations.md", "curator.md", "verifying.md"]
)
def test_commands_print_what_the_page_shows(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    names = {}
    for language, code in BLOCK.findall((DOCS / name).read_text(encoding="utf-8")):
        if language == "console":
            check_commands(code)
        else:
            test = doctest.DocTestParser().get_doctest(code, names, name, name, 0)
            assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
            names = test.globs


def test_the_page_names_every_command():
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `kernelwood ([\w-]+)`", page, re.M))
    assert named == set(main.list_commands(None))
