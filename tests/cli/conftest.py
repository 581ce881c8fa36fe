from __future__ import annotations

import sys
from pathlib import Path

import pytest
from cli.questions import TEXTS, an_example

import kernelwood as kw

# Samples of all formats.
sys.path.insert(0, str(Path(__file__).parents[1] / "io"))


@pytest.fixture(scope="session", autouse=True)
def without_lines_of_progress():
    """Let no output depend on the time that a command takes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernelwood.cli.console._EVERY", float("inf"))
        yield


@pytest.fixture(scope="module")
def examples():
    return [an_example(f"s{i}", text, text.split()[0]) for i, text in enumerate(TEXTS)]


@pytest.fixture(scope="module")
def corpus(examples, tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "in.jsonl"
    kw.write(examples, path)
    return path


@pytest.fixture
def file(tmp_path):
    """Write examples to a file of their own."""

    def write(*examples, name="in.jsonl"):
        path = tmp_path / name
        kw.write(examples, path)
        return path

    return write
