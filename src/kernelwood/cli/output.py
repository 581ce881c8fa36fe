"""Where output goes: results to stdout, messages and progress to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["json_option", "mark", "phases", "results", "write_json"]

json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON instead of tables.")


def write_json(report: dict[str, Any]) -> None:
    """Write a report to stdout as JSON, escaped if stdout cannot take all characters."""
    escaped = "utf" not in (getattr(sys.stdout, "encoding", None) or "").lower()
    click.echo(json.dumps(report, indent=2, ensure_ascii=escaped))


def results() -> Console:
    """Return the console for results, which never marks up what it is not told to."""
    from rich.console import Console

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ✓ shows ? instead
    return Console(highlight=False)


def mark(ok: bool) -> str:
    """Return a check mark or a cross, in colors that read on light and dark."""
    return "[green]✓[/]" if ok else "[bold red]✗[/]"


@contextmanager
def phases(total: int) -> Iterator[Any]:
    """Show a bar on stderr, if that is a terminal; call what is yielded as ``step(name)``."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (BarColumn(bar_width=30), TextColumn("{task.description}"))
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("starting", total=total)
        started = False

        def step(name: str) -> None:
            nonlocal started
            progress.update(task, description=name, advance=1 if started else 0)
            started = True

        yield step
