"""Explanations of predictions in a terminal: sentences, paths and training cases."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from kernelwood.cli.console import counted, one_name, results, say
from kernelwood.structures import one_line, shorten

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from kernelwood.relations import MarkedText

_STYLES = {"entity": "bold cyan", "trigger": "bold yellow", "shared": "bold green"}
_LONGEST = 80  # characters of a fragment
_INDENT = 10  # columns of names, and of numbers
_ARROW = re.compile(r"[—←][^→—]*[→—]")
_PARTS = re.compile(r"(\[[^]]*\]|[—←][^→—]*[→—])")  # entities and arrows of a path


def show_explanation(
    told: dict[str, Any], *, fragments: bool = False, wrapped: bool = False
) -> None:
    """Print a prediction with its evidence.

    Entities are in color, or in brackets without a terminal, as are the words that the prediction
    shares with a training case, or between asterisks.

    Parameters
    ----------
    told : dict
        The prediction with the key ``evidence``, as `prediction_object` returns it.
    fragments : bool
        Whether to list the shared fragments of the views.
    wrapped : bool
        Whether to wrap lines in files and pipes, too.
    """
    page = _Page(results(), wrapped=wrapped)
    evidence = told["evidence"]
    page.line(one_line(told["id"]), "bold")
    page.line(page.marked(_sentence(told)))
    decision, sign = ("positive", "≥") if told["positive"] else ("negative", "<")
    relation = _class_name(told.get("relation", told["type"]))
    label = f"; annotated as {_class_name(told['label'])}" if "label" in told else ""
    page.line(
        f"{relation}: predicted {decision}, probability {told['probability']:.3f} {sign} "
        f"threshold {told['threshold']:.3f}{label}"
    )
    if evidence["path"]:
        page.row("path", page.path(evidence["path"]))
    for supports, title in ((True, "for"), (False, "against")):
        cases = [case for case in evidence["cases"] if case["supports"] is supports]
        page.line("")
        page.line(_title(title, relation, cases), "bold")
        for case in cases:
            _show_case(page, told, case, fragments=fragments)
    page.line("")
    page.line(_sum(evidence))


def _class_name(name: object) -> str:
    """Return the name of a class with a plain blank before the arrow of its direction."""
    from kernelwood.relations import relation_name

    return relation_name(name).replace("\N{NO-BREAK SPACE}", " ")


def _title(side: str, relation: str, cases: list[dict[str, Any]]) -> str:
    if not cases:
        return f"no training case {'supports' if side == 'for' else 'opposes'} it noticeably"
    return f"{side} {relation}: {counted(len(cases), 'training case')}"


def _show_case(page: _Page, told: dict[str, Any], case: dict[str, Any], *, fragments: bool) -> None:
    shared, style = case["shared"], "green" if case["supports"] else "red"
    head = f"{_class_name(case['type'])}   {one_line(case['id'])}, similarity "
    page.row(_signed(case["contribution"]), f"{head}{case['similarity']:.2f}", style)
    page.row("  case", page.marked(marked_case(case, shared["case"])))
    if shared["prediction"]:
        page.row("  here", page.marked(_sentence(told, shared["prediction"])))
    if case["path"]:
        arrows = [_ARROW.findall(path) for path in (case["path"], told["evidence"]["path"])]
        same = "   (same steps)" if arrows[0] == arrows[1] else ""
        page.row("  path", page.path(f"{case['path']}{same}"))
    for fragment in case["fragments"] if fragments else ():
        text = shorten(" ".join(one_line(fragment["text"]).split()), _LONGEST)
        page.row("  shared", f"{text}   {fragment['view']}, {fragment['weight']:.0%}")


def marked_case(case: dict[str, Any], shared: Iterable[Any] = ()) -> MarkedText:
    """Return the sentence of a training case with marked entities and words."""
    from kernelwood.relations import MarkedText

    trigger = _spans(case.get("trigger", ()))
    return MarkedText(case["text"], _spans(case["entities"]), trigger, _spans(shared))


def _sum(evidence: dict[str, Any]) -> str:
    shown = sum(case["contribution"] for case in evidence["cases"])
    parts = {"shown": shown, "other cases": evidence["others"], "intercept": evidence["intercept"]}
    terms = ", ".join(f"{name} {_signed(value)}" for name, value in parts.items())
    return f"decision score {_signed(evidence['score'])}: {terms}"


def _signed(value: float) -> str:
    """Return a number with its sign; 0 has none.

    Examples
    --------
    >>> _signed(0.5), _signed(-0.0001)
    ('+0.500', '0.000')
    """
    text = f"{value:+.3f}"
    return text[1:] if text[1:] == "0.000" else text


def _sentence(told: dict[str, Any], shared: Iterable[Any] = ()) -> MarkedText:
    """Return the sentence of a prediction with marked entities and words."""
    from kernelwood.relations import MarkedText

    shift = told["sentence"][0]
    ones = [*told["participants"], *([told["trigger"]] if "trigger" in told else [])]
    entities, trigger = (
        tuple(
            (start - shift, end - shift)
            for one in ones
            if (one["role"] == "trigger") is wanted
            for start, end in one["spans"]
        )
        for wanted in (False, True)
    )
    return MarkedText(told["text"], entities, trigger, _spans(shared))


def _spans(given: Iterable[Any]) -> tuple[tuple[int, int], ...]:
    return tuple((start, end) for start, end in given)


class _Page:
    """Prints lines, and rows of a name and a text; texts are in color in a terminal only."""

    def __init__(self, console: Console, *, wrapped: bool) -> None:
        self._console, self._terminal, self._wrapped = console, console.is_terminal, wrapped

    def line(self, text: str | Text, style: str = "") -> None:
        text = one_name(text) if isinstance(text, str) else text
        if not self._terminal:
            self._echo(str(text), 0)
            return
        from rich.text import Text

        self._console.print(Text(text, style) if isinstance(text, str) else text)

    def row(self, name: str, text: str | Text, style: str = "dim") -> None:
        text = one_name(text) if isinstance(text, str) else text
        if not self._terminal:
            self._echo(f"{name:<{_INDENT}}{text}", _INDENT)
            return
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=0)
        table.add_column(width=_INDENT, no_wrap=True)
        table.add_column(overflow="fold")
        table.add_row(Text(name, style), Text(text) if isinstance(text, str) else text)
        self._console.print(table)

    def _echo(self, text: str, indent: int) -> None:
        lines = [text]
        if self._wrapped and len(text) > self._console.width:
            lines = textwrap.wrap(text, self._console.width, subsequent_indent=" " * indent)
        for line in lines:
            say(line)

    def marked(self, marked: MarkedText) -> str | Text:
        """Return a sentence in colors or with brackets."""
        if not self._terminal:
            return one_line(str(marked.clipped()))
        from rich.text import Text

        return Text.assemble(
            *((one_line(text), _STYLES.get(kind, "")) for text, kind in marked.clipped().pieces())
        )

    def path(self, text: str) -> str | Text:
        """Return a path, its entities in colors in a terminal."""
        shown = one_line(text)
        if not self._terminal:
            return shown
        from rich.text import Text

        return Text.assemble(*_colored(shown))


def _colored(path: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of a path with styles: entities in color, arrows dim.

    Examples
    --------
    >>> list(_colored("[Raf] —of→ x"))
    [('Raf', 'bold cyan'), (' ', ''), ('—of→', 'dim'), (' x', '')]
    """
    for number, part in enumerate(_PARTS.split(path)):
        if part:
            entity = number % 2 and part[0] == "["
            style = _STYLES["entity"] if entity else "dim" if number % 2 else ""
            yield (part[1:-1] if entity else part), style
