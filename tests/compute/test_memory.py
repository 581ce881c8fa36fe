import pytest

import kernelwood as kw
from kernelwood.compute import budget, check_budget, format_bytes
from kernelwood.compute.memory import parse_bytes
from kernelwood.errors import KernelInputError, MemoryBudgetError


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
