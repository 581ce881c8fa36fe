"""Every message that docs/faq.md quotes is a message of the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "faq.md").read_text(encoding="utf-8")
SOURCES = ROOT / "src" / "kernelwood"
MESSAGE = re.compile(r"^\*\*Message\.\*\* (?P<code>.*)$", re.MULTILINE)
VARIABLE = "…"
ENTRIES = {
    entry.partition("\n")[0]: entry
    for entry in re.split(r"^### ", PAGE.partition("\n## Questions\n")[0], flags=re.MULTILINE)[1:]
}


def template(node: ast.expr) -> str | None:
    """Return the text of a string expression, an ellipsis for each part that is not known."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(template(part) or VARIABLE for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        sides = template(node.left), template(node.right)
        if any(side is not None for side in sides):
            return "".join(side or VARIABLE for side in sides)
    return None


def templates(tree: ast.AST) -> Iterator[str]:
    """Yield the templates of a module; whitespace is a blank, unknown parts are joined."""
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and (text := template(node)) is not None:
            yield plain(text)


def plain(text: str) -> str:
    return re.sub(f"{VARIABLE}( ?{VARIABLE})+", VARIABLE, " ".join(text.split()))


@cache
def known() -> tuple[str, ...]:
    paths = sorted(SOURCES.rglob("*.py"))
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in paths)
    return tuple({text for tree in trees for text in templates(tree) if " " in text})


def quoted(entry: str) -> list[str]:
    """Return the messages that an entry quotes; fails if one is not between backquotes."""
    lines = [found["code"] for found in MESSAGE.finditer(entry)]
    for line in lines:
        assert re.fullmatch(r"`[^`]+`", line), f"not a message between backquotes: {line}"
    return [line.strip("`") for line in lines]


def is_known(message: str) -> bool:
    return any(plain(message) in text for text in known())


@pytest.mark.parametrize("entry", ENTRIES)
def test_entries_quote_messages_and_say_what_to_do(entry: str) -> None:
    assert quoted(ENTRIES[entry])
    assert "\n**Meaning.** " in ENTRIES[entry]
    assert "\n**What to do.** " in ENTRIES[entry]


@pytest.mark.parametrize("message", [one for entry in ENTRIES.values() for one in quoted(entry)])
def test_messages_are_in_the_source(message: str) -> None:
    assert is_known(message)
    assert len(message.replace(VARIABLE, "").split()) >= 2


def test_there_are_enough_entries() -> None:
    assert len(ENTRIES) >= 15


@pytest.mark.parametrize(
    "message", ["spaCy is not there", "the project is in use by somebody", "… of … candidates lack"]
)
def test_messages_that_are_not_in_the_source_are_noticed(message: str) -> None:
    assert not is_known(message)


def test_parts_of_a_message_are_joined() -> None:
    code = 'warn(f"{a:,} of {b}" + (" more" if c else "") + f"; {d}{e} use " "them")'
    assert f"{VARIABLE} of {VARIABLE}; {VARIABLE} use them" in list(templates(ast.parse(code)))
