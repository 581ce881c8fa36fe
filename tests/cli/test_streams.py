"""Standard output that is full, closed or not read to its end, and text that a terminal obeys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli.running import invoke
from click.testing import CliRunner
from processes import PATIENCE, run_python, start_python

import kernelwood as kw
from kernelwood.cli import main
from kernelwood.cli.console import say
from kernelwood.errors import printable

posix = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
# Calls that write by click, rich, as JSON and as a file.
CALLS = {
    "help": ["--help"],
    "version": ["--version"],
    "help of a command": ["convert", "--help"],
    "table by rich": ["doctor"],
    "table": ["inspect", "model.kw"],
    "JSON": ["inspect", "model.kw", "--json"],
    "file": ["convert", "in.mrg", "-", "--to", "penn"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    kw.save(kw.SubtreeKernel(), folder / "model.kw")
    (folder / "in.mrg").write_text("(S (NP we) (VP go))\n" * 5000)
    return folder


def environment(unbuffered=False):
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return {**kept, "PYTHONUNBUFFERED": "1"} if unbuffered else kept


@posix
@pytest.mark.parametrize("name", CALLS)
def test_a_full_disk_is_one_message(name, folder):
    with Path("/dev/full").open("w") as full:
        done = run_python(
            "-m", "kernelwood", "-q", *CALLS[name], stdout=full, cwd=folder, env=environment()
        )
    assert done.stderr == "Error: standard output: No space left on device\n"
    assert done.returncode == 1


@posix
@pytest.mark.parametrize("name", ["help", "file"])
def test_a_full_disk_is_one_message_without_buffers(name, folder):
    with Path("/dev/full").open("w") as full:
        done = run_python(
            "-m", "kernelwood", "-q", *CALLS[name], stdout=full, cwd=folder, env=environment(True)
        )
    assert done.stderr == "Error: standard output: No space left on device\n"
    assert done.returncode == 1


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are those of POSIX")
@pytest.mark.parametrize("name", CALLS)
def test_a_pipe_without_a_reader_is_no_error(name, folder):
    reading, writing = os.pipe()
    process = start_python(
        "-m", "kernelwood", "-q", *CALLS[name], stdout=writing, cwd=folder, env=environment()
    )
    os.close(reading)
    os.close(writing)
    _, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are those of POSIX")
def test_the_first_line_is_enough(folder):
    process = start_python(
        "-m",
        "kernelwood",
        "-q",
        *CALLS["file"],
        cwd=folder,
        env=environment(),
        bufsize=0,
        text=False,
    )
    assert process.stdout.read(4) == b"(S ("
    process.stdout.close()
    assert process.wait(PATIENCE) == 0
    with process.stderr:
        assert process.stderr.read() == b""


@pytest.mark.skipif(sys.platform == "win32", reason="shells are those of POSIX")
def test_a_closed_output_is_told_where_it_is_needed(folder):
    command = f"exec {sys.executable} -m kernelwood {' '.join(CALLS['file'])} >&-"
    done = subprocess.run(
        ["sh", "-c", command], stderr=subprocess.PIPE, text=True, cwd=folder, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (1, "Error: standard output: closed\n")


@posix
def test_a_full_disk_for_messages_keeps_the_exit_code(folder):
    with Path("/dev/full").open("w") as full:
        done = run_python("-m", "kernelwood", "inspect", "nix.kw", stderr=full, cwd=folder)
    assert (done.returncode, done.stdout) == (1, "")


# Control characters.


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, tab\tand\nline", "plain, tab\\tand\nline"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\x9b2J\x7f\r", "\\x9b2J\\x7f\\r"),
        ("a\u202eb", "a\\u202eb"),
        ("\udcff", "\\udcff"),
        ("Größe → 1", "Größe → 1"),
    ],
)
def test_control_characters_are_escaped(text, shown):
    assert printable(text) == shown


@pytest.mark.parametrize("arguments", [["nix\x1b[2J.kw"], ["--nix\x1b[2J"], ["a", "\x1b[2J"]])
def test_errors_do_not_control_the_terminal(arguments):
    result = invoke("inspect", *arguments)
    assert result.exit_code in (1, 2)
    assert "\\x1b[2J" in result.output and "\x1b" not in result.output


def test_an_unknown_command_does_not_control_the_terminal():
    assert "\x1b" not in CliRunner().invoke(main, ["\x1b[2J"]).output


def test_snippets_of_files_do_not_control_the_terminal(tmp_path):
    (tmp_path / "in.mrg").write_text("(S (NP \x1b[2Jwe) (VP go)\n")
    result = invoke("convert", tmp_path / "in.mrg", tmp_path / "out.jsonl")
    assert result.exit_code == 1 and "\x1b" not in result.output


def test_tables_do_not_control_the_terminal(file):
    tree = kw.Tree.from_brackets("(S (NP we) (VP go))")
    corpus = file(*(kw.Example(f"\x9b2J{i}", views={"tree": tree}) for i in range(3)))
    shown = invoke("search", corpus, "--id", "\x9b2J0").stdout
    assert "\\x9b2J1" in shown and "\x9b" not in shown


def test_json_does_not_control_the_terminal_and_reads_back(tmp_path):
    path = tmp_path / "a\x9b2J.kw"
    kw.save(kw.SubtreeKernel(), path)
    shown = invoke("inspect", path, "--json").stdout
    assert "\x9b" not in shown and json.loads(shown)["file"] == str(path)


def test_arrows_are_ascii_where_the_encoding_has_none(monkeypatch, capsysbinary):
    sys.stdout.reconfigure(encoding="ascii")
    say("Raf → Ras × 2 ü")
    assert capsysbinary.readouterr().out == b"Raf -> Ras x 2 ?\n"
