"""The pages on the command line show what commands print."""

from __future__ import annotations

import doctest
import os
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from kernelwood.cli import main

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n", re.MULTILINE)
NUMBER = re.compile(r"[+-]?\d+\.\d+")
TOLERANCE = 0.02  # between versions of Python and of libraries


def shows(expected, printed):
    """Return whether a page shows what was printed; blanks and last digits do not matter."""
    parts = NUMBER.split(" ".join(expected.split()))
    escaped = (re.escape(part).replace(r"\.\.\.", ".*?") for part in parts)
    pattern = f"({NUMBER.pattern})".join(escaped)
    found = re.fullmatch(pattern, " ".join(printed.split()), re.DOTALL)
    if found is None:
        return False
    pairs = zip(NUMBER.findall(expected), found.groups(), strict=True)
    return all(abs(float(one) - float(other)) <= TOLERANCE for one, other in pairs)


def check_commands(text):
    """Run the commands of a block; a long one may be wrapped by a backslash."""
    first, *parts = COMMAND.split(text)
    assert not first
    for command, expected in zip(parts[::2], parts[1::2], strict=True):
        words = shlex.split(command.replace("\\\n", " "))
        if words[0] == "cd":
            os.chdir(words[1])
            continue
        assert words[0] == "kernelwood"
        result = CliRunner().invoke(main, words[1:])
        assert result.exit_code == 0, (command, result.output)
        assert shows(expected, result.stdout), (command, result.output)


@pytest.mark.parametrize(
    "name",
    ["curator.md", "entities.md", "evaluation.md", "own-corpus.md", "predictions.md", "report.md"],
)
def test_commands_need_no_python(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    for language, code in BLOCK.findall((DOCS / name).read_text(encoding="utf-8")):
        if language == "console":
            check_commands(code)


def test_commands_have_no_marks_of_doctest():
    pages = [path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")]
    blocks = [code for page in pages for kind, code in BLOCK.findall(page) if kind == "console"]
    assert len(blocks) > 20
    assert not [code for code in blocks if "<BLANKLINE>" in code]


@pytest.mark.parametrize("name", ["command-line.md", "command-line-relations.md", "verifying.md"])
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


@pytest.mark.parametrize(
    ("expected", "printed", "is_shown"),
    [
        ("F1 0.512\n\nall", "F1   0.509 all", True),
        ("F1 0.512", "F1 0.412", False),
        ("F1 0.512 -1.50", "F1 0.512 +1.50", False),
        ("a ... 3 b", "a\nx 0.2 3 b", True),
        ("a ... 3 b", "a\nx 0.2 4 b", False),
    ],
)
def test_figures_may_differ_in_their_last_digits_only(expected, printed, is_shown):
    assert shows(expected, printed) is is_shown


def test_a_wrapped_command_is_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_commands("$ kernelwood sample \\\n    made\n...\n$ cd made\n")
    assert Path("note.txt").exists()


def test_the_page_names_every_command():
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `kernelwood ([\w-]+)`", page, re.M))
    assert named == set(main.list_commands(None))
