"""Settings, jobs and memory."""

from __future__ import annotations

import os
import threading

import pytest

import kernelwood as kw
from kernelwood.compute import budget, check_budget, format_bytes, resolve_jobs
from kernelwood.compute.config import parse_bytes
from kernelwood.errors import KernelInputError, MemoryBudgetError
from kernelwood.structures import Tree

KERNEL = kw.SubsetTreeKernel()
TREES = [Tree("a", [Tree("b")])]


@pytest.fixture
def restored():
    before = kw.compute.get_config()
    yield
    kw.compute.set_config(n_jobs=before.n_jobs, memory=before.memory, progress=before.progress)


def test_settings_hold_inside_the_context_only():
    before = kw.compute.get_config()
    with kw.config_context(n_jobs=3, memory="1GB") as inside:
        assert kw.compute.get_config() is inside and (inside.n_jobs, inside.memory) == (3, "1GB")
    assert kw.compute.get_config() == before


def test_settings_are_restored_after_an_error():
    before = kw.compute.get_config()
    with pytest.raises(LookupError), kw.config_context(n_jobs=3):
        raise LookupError
    assert kw.compute.get_config() == before


def test_contexts_nest():
    with kw.config_context(n_jobs=3), kw.config_context(memory="2GB"):
        assert (kw.compute.get_config().n_jobs, kw.compute.get_config().memory) == (3, "2GB")


def test_set_config_holds_for_the_process(restored):
    kw.compute.set_config(n_jobs=2)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(kw.compute.get_config().n_jobs))
    thread.start()
    thread.join()
    assert [kw.compute.get_config().n_jobs, *seen] == [2, 2]


def test_a_context_is_of_one_thread():
    seen = []
    with kw.config_context(n_jobs=7):
        thread = threading.Thread(target=lambda: seen.append(kw.compute.get_config().n_jobs))
        thread.start()
        thread.join()
    assert seen == [1]


@pytest.mark.parametrize(
    "change", [kw.compute.set_config, lambda **s: kw.config_context(**s).__enter__()]
)
def test_an_unknown_setting_is_named(change):
    with pytest.raises(KernelInputError, match=r"'n_job'.*memory, n_jobs, progress"):
        change(n_job=2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("memory", "lots"),
        ("memory", -1),
        ("memory", "1.2.3GB"),
        ("memory", float("nan")),
        ("memory", True),
        ("n_jobs", 0),
        ("n_jobs", "two"),
        ("n_jobs", 1.5),
        ("progress", 3),
        ("temp_dir", "no such folder"),
        ("temp_dir", 3),
    ],
)
def test_a_bad_setting_is_named_where_it_is_made(name, value):
    with (
        pytest.raises(KernelInputError, match=name) as caught,
        kw.config_context(**{name: value}),
    ):
        pytest.fail("the setting was accepted")
    assert repr(value) in str(caught.value)


def test_resolving_jobs():
    cores = os.cpu_count()
    assert resolve_jobs(None) == 1
    assert resolve_jobs(4) == 4
    assert resolve_jobs(-1) == cores
    assert resolve_jobs(-cores - 5) == 1


def test_no_number_of_jobs_takes_that_of_the_settings():
    with kw.config_context(n_jobs=6):
        assert resolve_jobs(None) == 6 and resolve_jobs(2) == 2


@pytest.mark.parametrize("n_jobs", [0, "2", 1.0, True])
def test_a_bad_number_of_jobs_is_named(n_jobs):
    with pytest.raises(KernelInputError, match=f"n_jobs.*{n_jobs!r}"):
        resolve_jobs(n_jobs)


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [
        (1000, 1000),
        ("1000", 1000),
        ("1kB", 1000),
        ("1.5GB", 1_500_000_000),
        ("2 MB", 2_000_000),
        ("512MiB", 512 * 2**20),
        ("1KiB", 1024),
        ("1T", 10**12),
        ("1tib", 2**40),
    ],
)
def test_sizes_are_read_as_people_write_them(text, n_bytes):
    assert parse_bytes(text) == n_bytes


@pytest.mark.parametrize("text", ["", "GB", "1XB", "one", "-1GB", "1..5GB", None, True, -3])
def test_what_is_no_size_is_named(text):
    with pytest.raises(KernelInputError, match="memory must be like") as caught:
        parse_bytes(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (8 * 10**13, "80000.0 GB")],
)
def test_sizes_are_written_as_people_read_them(n_bytes, text):
    assert format_bytes(n_bytes) == text


def test_the_budget_is_that_of_the_settings():
    with kw.config_context(memory="3MB"):
        assert budget() == 3_000_000


def test_without_a_setting_the_budget_is_a_part_of_the_machine():
    assert 10**8 < budget() < 10**14


def test_what_fits_exactly_is_allowed():
    with kw.config_context(memory=800):
        check_budget(800, "the result", "Nothing helps.")


def test_what_does_not_fit_is_refused_with_everything_needed():
    with (
        kw.config_context(memory="1MB"),
        pytest.raises(
            MemoryBudgetError, match=r"(?s)the result needs 3.0 GB.*1.0 MB.*Ask for less"
        ),
    ):
        check_budget(3 * 10**9, "the result", "Ask for less.")


def test_a_budget_error_is_a_memory_error():
    with kw.config_context(memory=1), pytest.raises(MemoryError):
        check_budget(2, "it", "Nothing helps.")
