"""Plain technical English in everything that users read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from kernelwood.cli import main
from kernelwood.cli.app import COMMANDS

SOURCES = Path(__file__).parents[2] / "src" / "kernelwood"
# Packages, and modules beside them, whose messages are checked: all of them.
CHECKED = sorted(
    path.stem
    for path in SOURCES.iterdir()
    if (path.is_dir() and path.name != "__pycache__")
    or (path.suffix == ".py" and not path.stem.startswith("__"))
)
MOST_WORDS = 12

# Phrases to avoid -> what to say instead.
PHRASES = {
    r"hypothes[ie]s": "candidate",
    r"\bjudg": "predict; candidate",
    r"\b(does|do) not hold\b|\brelations? (that )?holds?\b|\bthat hold\b": "predicted positive",
    r"\btold apart\b|\btells? apart\b": "class, relation type, direction",
    r"\bhow (sure|good|likely)\b": "probability, score, accuracy",
    r"\bfrom (where|which\b[^.;]*) on\b": "decision threshold",
    r"\bwhat learns\b": "learning algorithm, preset, recipe",
    r"\bpieces?\b": "fragment, part",
    r"\blabeled cases?\b": "training case",
    r"\bmatch(es|ing)? in part\b|\bby degrees\b": "soft matching",
    r"\bdealt\b": "fold, split",
    r"\bbroken off\b|\b(goes|going|go) on\b": "checkpoint, resume",
    r"\bwhere random numbers\b": "seed",
    r"\brooms?\b": "package, module",
    r"\bsubjects?\b": "input",
    r"(?<!there )\b(is|are|was|were) no\b(?! longer)": "is not a",
    r"\bthere (is|are|was|were) nothing\b|\bnothing (to|is|would)\b": "a plain statement",
    r"\bwhich is no\b|\bthis is no\b": "not a",
    r"\bof (its|their) own accord\b": "automatically",
    r"\bnobody\b|\banybody\b|\bnowhere\b|\bsomebody\b": "a plain statement",
    r"\bleft alone\b|\blet go\b|\bpassed over\b|\bgoes into\b": "unchanged, dropped, skipped",
    r"\bwants? (standard|a|an|the)\b": "needs",
    r"\bwhere [^.;]* goe?s?\b": "output file",
    r"\bmay be repeated\b": "(repeatable)",
    r"\bmost like\b|\balike\b": "similar",
    r"\bthe other way round\b": "opposite direction",
    r"(^|[.:;] )of [^,.;]*, (those|the|one|files|each|all)\b": "subject, verb, object",
    r"^(what|whether|whatever|from which|into how many|of which)\b[^?]*$": "a noun phrase",
}  # fmt: skip
PATTERNS = {re.compile(phrase, re.IGNORECASE): say for phrase, say in PHRASES.items()}
ERRORS = re.compile(r"(Error|Warning|Exception|BadParameter)$|^error$|^warn$")
PRINTERS = (
    "echo",
    "say",
    "note",
    "detail",
    "print",
    "show_table",
    "plain_table",
    "add_column",
    "info",
)


# Help.


def commands() -> list[tuple[str, click.Command]]:
    context = click.Context(main)
    found = [(name, main.get_command(context, name)) for name in main.list_commands(context)]
    return [("", main), *((name, command) for name, command in found if command is not None)]


def options() -> list[tuple[str, click.Option]]:
    return [
        (f"{name} {param.opts[-1]}", param)
        for name, command in commands()
        for param in command.params
        if isinstance(param, click.Option)
    ]


@pytest.mark.parametrize(("name", "option"), options(), ids=lambda value: str(value))
def test_options_have_a_short_help(name: str, option: click.Option) -> None:
    text = option.help or ""
    assert 0 < len(text.split()) <= MOST_WORDS, f"{name}: {text!r}"
    assert text[0].isupper() and text.endswith("."), f"{name}: {text!r}"


@pytest.mark.parametrize(("name", "command"), commands(), ids=lambda value: str(value))
def test_commands_have_a_short_first_line(name: str, command: click.Command) -> None:
    first = (command.help or "").strip().splitlines()[0]
    assert 0 < len(first.split()) <= MOST_WORDS, f"{name}: {first!r}"
    assert COMMANDS.get(name, first) == first


@pytest.mark.parametrize(("name", "command"), commands(), ids=lambda value: str(value))
def test_help_has_no_phrase_to_avoid(name: str, command: click.Command) -> None:
    texts = [command.help or "", command.epilog or "", command.short_help or ""]
    texts += [param.help or "" for param in command.params if isinstance(param, click.Option)]
    assert [found for text in texts for found in avoided(text)] == []


# Messages.


def avoided(text: str) -> list[str]:
    """Return the phrases to avoid in a text, with what to say instead."""
    return [
        f"{found[0]!r} (say: {say}) in {text!r}"
        for pattern, say in PATTERNS.items()
        if (found := pattern.search(" ".join(text.split())))
    ]


def shown_strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the strings of a module that users may see, with their lines.

    They are arguments of exceptions, warnings, ``click.echo``, tables and ``print``; values of
    ``help``, ``hint`` and ``epilog``; and texts of some words that functions return.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func).rpartition(".")[2]
            if ERRORS.search(called) or called in PRINTERS:
                yield from strings(node.args)
            shown = ("help", "hint", "epilog", "show_default", "problem", "reason")
            yield from strings([k.value for k in node.keywords if k.arg in shown])
        elif isinstance(node, (ast.Return, ast.Assign)) and node.value is not None:
            yield from ((n, text) for n, text in strings([node.value]) if len(text.split()) >= 3)


def strings(nodes: list[ast.expr]) -> Iterator[tuple[int, str]]:
    """Yield string literals; the parts of an f-string are joined by an ellipsis."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            parts = [n.value if isinstance(n, ast.Constant) else "…" for n in node.values]
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, (ast.BinOp, ast.IfExp, ast.List, ast.Tuple, ast.BoolOp)):
            inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
            yield from strings(inner)


def messages_to_change(package: str) -> list[str]:
    path = SOURCES / package
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]
    return list(
        dict.fromkeys(
            f"{file.relative_to(SOURCES)}:{line}: {problem}"
            for file in files
            for line, text in shown_strings(ast.parse(file.read_text(encoding="utf-8")))
            for problem in avoided(text)
        )
    )


@pytest.mark.parametrize("package", CHECKED)
def test_messages_have_no_phrase_to_avoid(package: str) -> None:
    assert messages_to_change(package) == []


@pytest.mark.parametrize(
    "code",
    [
        'raise ValueError(f"{x} is no kernel")',
        'raise StructureError("bad", hint="there is nothing to write")',
        'click.echo(f"judged {n} documents")',
        'warnings.warn("the checkpoint was broken off")',
        'def f():\n    return "a relation that holds"',
        'click.option("--out", help="Where the model goes.")',
    ],
)
def test_phrases_to_avoid_are_found(code: str) -> None:
    assert any(avoided(text) for _, text in shown_strings(ast.parse(code)))


@pytest.mark.parametrize("text", ["there is no such folder", "it is no longer supported"])
def test_plain_statements_are_allowed(text: str) -> None:
    assert avoided(text) == []
