"""Where output goes: results to stdout, messages and progress to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = [
    "counted",
    "jobs_option",
    "json_option",
    "mark",
    "phases",
    "plain_table",
    "results",
    "steps",
    "write_json",
]


def _check_jobs(ctx: click.Context, param: click.Parameter, value: int | None) -> int | None:
    if value == 0:
        raise click.BadParameter("must be a positive number, or -1 for all cores")
    return value


jobs_option = click.option(
    "--jobs",
    "--n-jobs",
    "n_jobs",
    type=int,
    metavar="N",
    callback=_check_jobs,
    help="Threads; -1 for all cores.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Write JSON instead of tables.")


def counted(n: int, what: str, ending: str = "s") -> str:
    """Return how many there are, in words.

    Examples
    --------
    >>> counted(1, "example"), counted(2000, "class", "es")
    ('1 example', '2,000 classes')
    """
    return f"{n:,} {what}{ending * (n != 1)}"


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


def plain_table(*columns: str) -> Table:
    """Return a plain table; a column that starts with > is aligned to the right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", padding=(0, 1))
    for column in columns:
        right = column.startswith(">")
        table.add_column(
            column.lstrip(">"),
            justify="right" if right else "left",
            no_wrap=right,
            overflow="fold",
        )
    return table


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


@contextmanager
def steps(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on stderr, if that is a terminal; call what is yielded as ``(done, total)``."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (BarColumn(bar_width=30), MofNCompleteColumn(), what, TimeRemainingColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
