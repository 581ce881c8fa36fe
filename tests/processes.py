"""Python processes that tests start, which behave alike however the tests were started."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import contextmanager

PATIENCE = 300  # seconds until a process counts as hung; no process needs a tenth of them

_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


@contextmanager
def default_signals():
    """Let processes that are started in this block end by SIGINT, SIGTERM and SIGHUP.

    A process inherits that a signal is ignored, as under ``nohup`` and in the background jobs of
    a script; a signal with a handler is reset. (``preexec_fn`` is not safe with threads.)
    """
    ignored = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)


def start_python(*arguments, **options):
    """Return a Python process that signals end; options are those of ``Popen``."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
    with default_signals():
        return subprocess.Popen([sys.executable, *map(str, arguments)], **options)


def run_python(*arguments, **options):
    """Run a Python process to its end, and return it as ``subprocess.run`` does."""
    return _finish(start_python(*arguments, **options))


def stop(process, number):
    """Send a signal to a process, and return it when it has ended."""
    process.send_signal(number)
    return _finish(process)


def wait_until(condition, process):
    """Wait until a condition holds; fail if the process ends before."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise AssertionError(f"the process ended, or hangs: {process.communicate()}")
        time.sleep(0.01)


def _finish(process):
    with process:
        try:
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)
