"""Progress, messages and errors of commands."""

from __future__ import annotations

import io
import logging
import signal
import subprocess
import sys
import threading
import time
import warnings
from functools import partial

import pytest
from cli.running import invoke
from rich.console import Console

import kernelwood as kw
from kernelwood.cli.console import in_options, reported, running

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
    monkeypatch.setattr(
        "rich.console.Console", partial(Console, file=written, force_terminal=True, width=80)
    )
    return written


def test_a_terminal_shows_what_is_done(terminal):
    with running(None) as begin:
        begin("learning")
        kw.compute.get_config().progress(1, 2)
    assert "learning" in terminal.getvalue()


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
