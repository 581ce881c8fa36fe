"""The reference of commands, written from the command line interface itself.

``docs/commands.md`` is made before pages are read. Names, defaults and ranges are those that
``--help`` prints, so the page cannot differ from the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from kernelwood.cli import main

_WIDE = 60  # names and values beyond this many characters: values are listed in the text
_HEAD = """# Commands

Reference of all commands and their options, generated from the output of `--help`. The
[guide to the command line](command-line.md) explains them with examples.
"""


def reference() -> str:
    """Return the page, in Markdown."""
    top = click.Context(main, info_name="kernelwood", **main.context_settings)
    pages = [_HEAD, _listing(top), _section(top, "## kernelwood")]
    for context in _contexts(top):
        pages.append(_section(context, f"## {context.command_path}"))
    return "\n".join(pages)


def _contexts(top: click.Context) -> Iterator[click.Context]:
    """Yield a context for each command, and for each command of a group in it."""
    assert isinstance(top.command, click.Group)
    for name in top.command.list_commands(top):
        command = top.command.get_command(top, name)
        assert command is not None
        context = click.Context(command, parent=top, info_name=name, **command.context_settings)
        yield context
        if isinstance(command, click.Group):
            yield from _contexts(context)


def _listing(top: click.Context) -> str:
    rows = []
    for context in _contexts(top):
        path = context.command_path
        rows.append(f"| [`{path}`](#{_anchor(path)}) | {context.command.get_short_help_str(200)} |")
    return "\n".join(["| command | purpose |", "|---|---|", *rows, ""])


def _anchor(title: str) -> str:
    """Return the anchor that the heading of a command gets."""
    return title.lower().replace(" ", "-")


def _section(context: click.Context, heading: str) -> str:
    """Return heading, description, usage and options of a command."""
    command = context.command
    lines = [heading, "", *_paragraphs(command.help or ""), "```text", _usage(context), "```", ""]
    for param in command.get_params(context):
        if isinstance(param, click.Option) and not param.hidden:
            lines += _entry(context, param)
    lines += _paragraphs(command.epilog or "")
    return "\n".join(lines)


def _usage(context: click.Context) -> str:
    pieces = context.command.collect_usage_pieces(context)
    return f"{context.command_path} {' '.join(pieces)}"


def _paragraphs(text: str) -> list[str]:
    r"""Return the paragraphs of a help text; those after ``\b`` keep their lines."""
    lines = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if paragraph.startswith("\b"):
            kept = paragraph.removeprefix("\b").strip("\n").splitlines()
            lines += ["```text", *kept, "```", ""]
        elif paragraph:
            lines += [_escaped(" ".join(paragraph.split())), ""]
    return lines


def _entry(context: click.Context, option: click.Option) -> list[str]:
    """Return an entry of a definition list: names and value, then help, default and range."""
    record = option.get_help_record(context)
    assert record is not None
    names, facts = record[0], [_escaped(option.help or "")]
    values = names.rpartition(" ")[2]
    if values.startswith("[") and len(names) > _WIDE:
        names = names.removesuffix(values).rstrip()
        facts.append("One of " + ", ".join(f"`{one}`" for one in values[1:-1].split("|")) + ".")
    extra = option.get_help_extra(context)
    if "required" in extra:
        facts.append("Required.")
    if default := extra.get("default"):
        words = default.startswith("(")  # a description, not a value
        facts.append(f"Default: {_escaped(default[1:-1]) if words else f'`{default}`'}.")
    if limits := extra.get("range"):
        facts.append(f"Range: `{limits}`.")
    return [f"`{names}`", f": {' '.join(facts)}", ""]


def _escaped(text: str) -> str:
    """Return text in which Markdown finds no markup."""
    return re.sub(r"([\\`*_\[\]<>{}$#~])", r"\\\1", text)


def write(app: Any) -> None:
    """Write the page, unless it is there with the same text."""
    path = Path(app.srcdir) / "commands.md"
    text = reference()
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
