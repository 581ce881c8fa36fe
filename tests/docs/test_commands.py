"""The reference of commands has what ``--help`` prints."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from kernelwood.cli import main

sys.path.append(str(Path(__file__).parents[2] / "docs" / "extensions"))

import commands

PAGE = commands.reference()
SECTIONS = dict(re.findall(r"^## (kernelwood[^\n]*)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.M))
NAMES = sorted(SECTIONS)


def printed_help(name):
    result = CliRunner().invoke(main, [*name.split()[1:], "--help"], terminal_width=400)
    assert result.exit_code == 0
    return result.output


def test_every_command_has_a_section():
    names = re.findall(r"^  ([a-z-]+)  ", printed_help("kernelwood").split("Commands:")[1], re.M)
    assert len(names) > 20
    assert {f"kernelwood {name}" for name in names} <= set(NAMES)
    assert "kernelwood shards run" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_option_of_help_is_in_the_section(name):
    options = re.findall(r"^  (-[\w-]+(?:, -[\w-]+)*)", printed_help(name), re.M)
    assert options
    for option in options:
        assert f"\n`{option}" in SECTIONS[name]


@pytest.mark.parametrize("name", NAMES)
def test_defaults_and_ranges_are_those_of_help(name):
    text = " ".join(printed_help(name).split())
    shown = re.findall(r"(?:Default|Range): `([^`]+)`", SECTIONS[name])
    assert all(value in text for value in shown)
    assert len(re.findall(r"\[default: |; default: ", text)) == SECTIONS[name].count("Default: ")


def test_markup_in_help_is_escaped():
    assert commands._escaped("a_b [c] <d>") == r"a\_b \[c\] \<d\>"
