"""Running commands, and looking at what they say."""

from __future__ import annotations

import json

from click.testing import CliRunner

from kernelwood.cli import main


def invoke(command, *arguments, stdin=None):
    """Run a command in this process."""
    return CliRunner().invoke(main, [command, *map(str, arguments)], input=stdin)


def answer(command, *arguments, stdin=None):
    """Run a command that must work, and return what it prints as JSON."""
    result = invoke(command, *arguments, "--json", stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def wrong_data(result):
    """Return the message of a command that could not use what it was given."""
    assert result.exit_code == 1, result.stderr
    assert result.stdout == ""
    return " ".join(result.stderr.split())
