"""Deprecated names warn, work, and are removed in the version that they name."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.version import Version

import kernelwood
from kernelwood.deprecation import deprecated, renamed_parameter

SOURCES = Path(kernelwood.__file__).parent


def removals(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with a deprecation, and the version of the removal."""
    for node in ast.walk(ast.parse(text)):
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg == "removed_in":
                assert isinstance(keyword.value, ast.Constant), "write the version out"
                yield node.lineno, keyword.value.value


def overdue(text: str, version: str) -> list[int]:
    """Return the lines with a deprecation that should be gone in a version."""
    return [line for line, removed in removals(text) if Version(removed) <= Version(version)]


def test_no_removal_is_overdue():
    found = []
    for path in SOURCES.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "removed_in=" in text:
            lines = overdue(text, kernelwood.__version__)
            found += [f"{path.relative_to(SOURCES)}:{line}" for line in lines]
    assert found == []


@pytest.mark.parametrize(
    ("version", "lines"), [("0.2.9", []), ("0.3.0rc1", []), ("0.3.0", [1]), ("0.10", [1])]
)
def test_a_removal_is_overdue_from_its_version(version, lines):
    assert overdue("@deprecated('new', removed_in='0.3')\ndef old(): ...", version) == lines


def test_a_version_that_is_not_written_out_is_refused():
    with pytest.raises(AssertionError, match="write the version out"):
        overdue("deprecated('new', removed_in=NEXT)", "0.1")


@deprecated("area", removed_in="0.3")
def surface(width, height):
    """Return a product."""
    return width * height


@deprecated("Rectangle", removed_in="0.3")
class Box:
    def __init__(self, width):
        self.width = width


class Rectangle:
    @renamed_parameter("breadth", "width", removed_in="0.3")
    def __init__(self, *, width=1):
        self.width = width


def test_a_deprecated_function_works():
    with pytest.warns(FutureWarning) as caught:
        assert surface(2, height=3) == 6
    [warning] = caught
    assert str(warning.message) == (
        "surface is deprecated and will be removed in kernelwood 0.3; use area"
    )


def test_the_warning_points_at_the_caller():
    with pytest.warns(FutureWarning) as caught:
        surface(1, 1)
        Box(1)
        Rectangle(breadth=1)
    assert [warning.filename for warning in caught] == [__file__] * 3


def test_a_deprecated_function_keeps_name_documentation_and_signature():
    assert (surface.__name__, surface.__doc__) == ("surface", "Return a product.")
    assert list(inspect.signature(surface).parameters) == ["width", "height"]


def test_a_deprecated_class_stays_a_class():
    with pytest.warns(FutureWarning, match="Box is deprecated .* use Rectangle"):
        assert Box(3).width == 3
    assert isinstance(Box, type)


def test_the_old_name_of_a_parameter_works():
    with pytest.warns(FutureWarning, match="parameter 'breadth' of Rectangle .* use 'width'"):
        assert Rectangle(breadth=4).width == 4


def test_the_new_name_of_a_parameter_does_not_warn():
    assert Rectangle(width=4).width == 4  # warnings are errors in tests


def test_both_names_of_a_parameter_are_refused():
    with pytest.raises(TypeError, match="got 'width' and its old name 'breadth'"):
        Rectangle(width=1, breadth=1)


def test_the_signature_has_the_new_name_only():
    assert list(inspect.signature(Rectangle).parameters) == ["width"]
