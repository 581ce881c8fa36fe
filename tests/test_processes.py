"""Processes that tests start end by signals that the tests themselves ignore."""

import signal
import sys

import pytest
from processes import run_python

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


@pytest.fixture(params=["SIGINT", "SIGTERM", "SIGHUP"])
def ignored(request):
    """Ignore a signal, as under ``nohup`` or in a background job, and return its name."""
    number = getattr(signal, request.param)
    before = signal.signal(number, signal.SIG_IGN)
    yield request.param
    signal.signal(number, before)


def test_a_signal_that_is_ignored_here_ends_a_process(ignored):
    done = run_python("-c", f"import signal; signal.raise_signal(signal.{ignored})")
    assert done.returncode == -getattr(signal, ignored), done.stderr


def test_a_signal_that_is_ignored_here_stays_ignored(ignored):
    run_python("-c", "")
    assert signal.getsignal(getattr(signal, ignored)) is signal.SIG_IGN
