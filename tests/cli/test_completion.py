"""``kernelwood completion``, and what shells complete."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest
from cli.running import invoke
from click.shell_completion import ShellComplete
from processes import PATIENCE, run_python

from kernelwood.cli import main
from kernelwood.cli.app import COMMANDS

BASH = shutil.which("bash")


def completed(*words):
    """Return the values that complete the last of some words."""
    shell = ShellComplete(main, {}, "kernelwood", "_KERNELWOOD_COMPLETE")
    *before, last = words
    return [item.value for item in shell.get_completions(before, last)]


def types(*words):
    shell = ShellComplete(main, {}, "kernelwood", "_KERNELWOOD_COMPLETE")
    *before, last = words
    return [item.type for item in shell.get_completions(before, last)]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_names_the_command_and_its_variable(shell):
    shown = invoke("completion", shell).stdout
    assert f"_KERNELWOOD_COMPLETE={shell}_complete" in shown and "kernelwood" in shown


def test_another_shell_is_refused():
    assert invoke("completion", "tcsh").exit_code == 2


def test_commands_are_completed():
    assert completed("") == list(COMMANDS)
    assert completed("ex") == ["explain", "extract"]


def test_options_of_all_commands_are_completed():
    assert completed("--q") == ["--quiet"]


def test_options_of_a_command_are_completed():
    assert completed("train", "--re") == ["--recipe", "--relation"]


def test_choices_are_completed():
    assert completed("train", "--recipe", "klsh") == ["klsh-rf", "klsh-knn"]
    assert "conllu" in completed("convert", "--from", "c")


@pytest.mark.parametrize(
    "words",
    [
        ["inspect", "mod"],
        ["train", "a.xml", "b"],
        ["train", "-o", "mod"],
        ["search", "index.kw", "--add", "c"],
        ["extract", "model.kw", "text", "--entities", "t"],
    ],
)
def test_file_names_are_left_to_the_shell(words):
    assert types(*words) == ["file"]


def test_ids_are_not_file_names():
    assert types("explain", "model.kw", "corpus.xml", "d") == []


def test_completion_loads_no_heavy_library():
    program = """
import json, sys
from click.shell_completion import ShellComplete
from kernelwood.cli import main
shell = ShellComplete(main, {}, "kernelwood", "_KERNELWOOD_COMPLETE")
for words in ([], ["train"], ["search", "--kernel"], ["convert", "--from"]):
    for last in ("", "-", "p"):
        shell.get_completions(words, last)
print(json.dumps(sorted({"sklearn", "scipy", "numpy", "rich"} & set(sys.modules))))
"""
    assert json.loads(run_python("-c", program).stdout) == []


@pytest.mark.skipif(BASH is None or sys.platform == "win32", reason="there is no bash")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("kernelwood eval", "evaluate"),
        ("kernelwood train --recipe ny", "nystrom"),
        ("kernelwood inspect mod", "compopt -o default"),  # files, listed by bash itself
    ],
)
def test_bash_completes(line, expected, tmp_path):
    (tmp_path / "kernelwood").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kernelwood "$@"\n')
    (tmp_path / "kernelwood").chmod(0o755)
    program = f"""
PATH="{tmp_path}:$PATH"
compopt() {{ echo "compopt $*"; }}
eval "$(kernelwood completion bash)"
COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_LINE="{line}"
_kernelwood_completion kernelwood "${{COMP_WORDS[COMP_CWORD]}}" ""
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(
        [str(BASH), "--norc", "-c", program],
        capture_output=True, text=True, cwd=tmp_path, timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert " ".join(done.stdout.split()) == expected
