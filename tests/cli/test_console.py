"""Progress, messages and errors of commands."""

from __future__ import annotations

import io
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from functools import partial

import click
import pytest
from cli.running import invoke
from processes import start_python
from rich.console import Console

import kernelwood as kw
from kernelwood.cli import console
from kernelwood.cli.console import in_options, reported, running, say, show_table, tracked

# Errors.


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("cannot tell; give format= (penn)", "cannot tell; give --to (penn)"),
        ("format='penn' reads it", "--from penn reads it"),
        ('keep it with errors="skip"', "keep it with --errors skip"),
        ("fits only='*.mrg'; it", "fits --only '*.mrg'; it"),
        ("choose one with view=...", "choose one with --view NAME"),
        ("give limits=Limits(ratio=...)", "unpack it yourself first"),
        ("give limits=Limits(line=...)", "give limits=Limits(line=...)"),
        ("give limits=Limits(memory=...)", "give --memory-limit SIZE"),
    ],
)
def test_messages_speak_of_options(message, shown):
    assert in_options(message) == shown


# Signals.


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_a_request_to_end_leaves_nothing_half_written(tmp_path):
    program = [sys.executable, "-m", "kernelwood", "convert", "-", str(tmp_path / "out.jsonl")]
    process = subprocess.Popen(
        [*program, "--from", "penn"], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with process:
        assert process.stdin is not None
        process.stdin.write(b"(S (NP we) (VP go))\n" * 10_000)
        process.stdin.flush()
        deadline = time.monotonic() + 30
        while not any(tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert any(tmp_path.iterdir())
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def test_signals_are_as_before_afterwards(file, tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    example = kw.Example("a", views={"tree": kw.Tree.from_brackets("(S (NP we) (VP go))")})
    assert invoke("convert", file(example), tmp_path / "out.mrg").exit_code == 0
    assert signal.getsignal(signal.SIGTERM) is before


def test_other_threads_leave_signals_alone():
    failures = []

    def run():
        try:
            with reported():
                pass
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert failures == []


# Progress.


@pytest.fixture
def terminal(monkeypatch):
    """Return what is written to a terminal by a console that is made from now on."""
    written = io.StringIO()
    monkeypatch.setattr("kernelwood.cli.console._is_terminal", lambda stream: True)
    monkeypatch.setattr(
        "rich.console.Console", partial(Console, file=written, force_terminal=True, width=80)
    )
    return written


def test_a_terminal_shows_what_is_done(terminal):
    with running(None) as begin:
        begin("learning")
        kw.compute.get_config().progress(1, 2)
    assert "learning" in terminal.getvalue()


def test_the_bar_of_an_input_of_unknown_size_has_no_question_mark(terminal):
    class Numbers:
        position, size = 3_000_000, None

        def __iter__(self):
            return iter([1, 2])

    assert list(tracked(Numbers(), "text")) == [1, 2]
    assert "1 text, 3.0 MB" in terminal.getvalue()
    assert "/?" not in terminal.getvalue()


def test_a_narrow_terminal_has_the_last_column_below(terminal):
    show_table([*"abc", "sentence"], [["x" * 20, "y" * 20, "z" * 20, "w" * 90]], last=30)
    _, first, second = terminal.getvalue().splitlines()
    assert first == f"{'x' * 20}  {'y' * 20}  {'z' * 20}"
    assert (len(second), second[:5], second[-3:]) == (80, "    w", "...")


def test_a_wide_terminal_has_the_last_column_in_line(terminal):
    show_table(["a", "sentence"], [["x", "w" * 90]], last=30)
    assert f"{'w' * 27}..." in terminal.getvalue()


def test_no_break_spaces_are_plain_blanks(capsys):
    say("Binds\N{NO-BREAK SPACE}←")
    assert capsys.readouterr().out == "Binds ←\n"


def test_stages_that_the_library_logs_are_shown(terminal):
    with running(None):
        logging.getLogger("kernelwood.relations.extractor").info("making views")
    assert "making views" in terminal.getvalue()


def test_the_log_is_left_as_it_was(terminal):
    logger = logging.getLogger("kernelwood.relations")
    before = (logger.level, list(logger.handlers))
    with running(None):
        pass
    assert (logger.level, logger.handlers) == before


def test_threads_are_set(terminal):
    with running(2):
        assert kw.compute.get_config().n_jobs == 2


def test_warnings_are_told_once_in_plain_words(capsys):
    with running(None):
        for _ in range(2):
            warnings.warn("mind this", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: mind this\n"


# Progress without a terminal.


class _Clock:
    """Seconds that pass when a test says so."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = _Clock()
    monkeypatch.setattr(console, "_clock", clock)
    monkeypatch.setattr(console, "_EVERY", 5.0)
    return clock


class _File:
    """A stream of which each item is a megabyte."""

    def __init__(self, n, size):
        self.n, self.size, self.position = n, size, 0

    def __iter__(self):
        for number in range(self.n):
            self.position += 1_000_000
            yield number


def read(clock, seconds, n=200, size=200_000_000):
    """Read a file whose items take some seconds each."""
    for _ in console.tracked(_File(n, size), "document"):
        clock.now += seconds


def test_a_long_run_shows_lines_without_a_terminal(clock, capsys):
    read(clock, 0.5)
    assert capsys.readouterr().err == (
        "kernelwood: 65 documents, 65.0 MB of 200.0 MB, 00:32 elapsed, 01:06 left\n"
        "kernelwood: 129 documents, 129.0 MB of 200.0 MB, 01:04 elapsed, 00:35 left\n"
        "kernelwood: 193 documents, 193.0 MB of 200.0 MB, 01:36 elapsed, 00:03 left\n"
    )


def test_a_short_run_shows_no_line(clock, capsys):
    read(clock, 0.02)
    assert capsys.readouterr().err == ""


def test_a_stream_of_unknown_size_has_no_time_left(clock, capsys):
    read(clock, 0.2, n=70, size=None)
    assert capsys.readouterr().err == "kernelwood: 65 documents, 65.0 MB, 00:12 elapsed\n"


def test_lines_are_seconds_apart(clock, capsys):
    with running() as begin:
        begin("learning")
        for done in range(1, 101):
            clock.now += 0.25
            kw.compute.get_config().progress(done, 100)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "kernelwood: learning, 20%, 00:05 elapsed, 00:20 left"
    assert len(lines) == 5


def test_a_stage_without_updates_shows_lines_too(clock, capsys, monkeypatch):
    monkeypatch.setattr(console, "_BEAT", 0.001)
    seen = threading.Event()
    monkeypatch.setattr(console, "say", lambda text, err: seen.set())
    with running() as begin:
        begin("parsing")
        clock.now += 6
        assert seen.wait(30)


def test_the_innermost_task_is_shown(clock, capsys):
    with running() as begin:
        begin("learning")
        for number, _ in enumerate(console.tracked(_File(2, None), "document")):
            clock.now += 6 * number
        clock.now += 6
        begin("saving")
    assert capsys.readouterr().err.splitlines() == ["kernelwood: saving, 00:12 elapsed"]


def test_a_line_names_the_command(clock, capsys):
    with click.Context(click.Command("extract"), info_name="extract"):
        read(clock, 0.2, n=70)
    assert capsys.readouterr().err.startswith("extract: 65 documents")


def test_quiet_shows_no_lines(clock, capsys):
    with click.Context(click.Command("extract"), info_name="extract") as ctx:
        ctx.meta["kernelwood.level"] = console.QUIET
        read(clock, 1)
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="terminals are those of POSIX")
@pytest.mark.parametrize(
    ("variables", "escapes"),
    [({"TERM": "dumb"}, r"\x1b"), ({"TERM": "xterm", "NO_COLOR": "1"}, r"\x1b\[[\d;]*3\d")],
)
def test_a_terminal_without_colors_gets_none(variables, escapes, tmp_path):
    import pty

    (tmp_path / "in.mrg").write_text("(S (NP we) (VP go))\n" * 100)
    for arguments in (["doctor"], ["convert", str(tmp_path / "in.mrg"), str(tmp_path / "o.jsonl")]):
        own, other = pty.openpty()
        environment = {**os.environ, "COLUMNS": "80", **variables}
        process = start_python(
            "-m", "kernelwood", *arguments, stdin=other, stdout=other, stderr=other, env=environment
        )
        os.close(other)
        parts = []
        try:
            while part := os.read(own, 65536):
                parts.append(part)
        except OSError:  # Linux reports the end of a terminal as an error
            pass
        os.close(own)
        assert process.wait(300) == 0
        shown = b"".join(parts).decode()
        assert shown and not re.search(escapes, shown)
