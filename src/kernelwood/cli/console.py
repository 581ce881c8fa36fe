"""Standard output and standard error: tables, progress, messages and errors."""

from __future__ import annotations

import json
import logging
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from kernelwood.errors import KernelwoodError, StructureError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from kernelwood.cli.corpora import Counts
    from kernelwood.text import Origin

T_co = TypeVar("T_co", covariant=True)

_STEP = 64  # items between two updates of a progress bar
_INTERRUPTED = 130  # 128 + SIGINT, the convention of shells
_SIGNALS = ("SIGTERM", "SIGHUP")  # sent by schedulers and closed terminals
# Parameter of the library -> option of the command line.
_OPTIONS = (
    (re.compile(r"\bgive format= "), "give --to "),
    (re.compile(r"\bformat='(\w+)'"), r"--from \1"),
    (re.compile(r"\bformat=\.\.\."), "--from FORMAT"),
    (re.compile(r"\b(text|id)_field=\.\.\."), r"--\1-field NAME"),
    (re.compile(r'\berrors="skip"'), "--errors skip"),
    (re.compile(r"\bonly='"), "--only '"),
    (re.compile(r"\bonly= "), "--only "),
    (re.compile(r"\bview='([^']*)'"), r"--view \1"),
    (re.compile(r"\bview=\.\.\."), "--view NAME"),
    (re.compile(r"\bgive limits=Limits\((?!line)\w+=\.\.\.\)"), "unpack it yourself first"),
)

# Tables and text.


def counted(n: int, noun: str, plural: str = "s") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "example"), counted(2000, "class", "es")
    ('1 example', '2,000 classes')
    """
    return f"{n:,} {noun}{plural * (n != 1)}"


def write_json(report: dict[str, Any]) -> None:
    """Write a report to standard output as JSON, in ASCII if the encoding is not Unicode."""
    escaped = "utf" not in (getattr(sys.stdout, "encoding", None) or "").lower()
    click.echo(json.dumps(report, indent=2, ensure_ascii=escaped))


def results() -> Console:
    """Return the console for standard output, without automatic highlighting."""
    from rich.console import Console

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ✓ shows ? instead
    return Console(highlight=False)


def plain_table(*titles: str) -> Table:
    """Return an empty table; a title that starts with > makes its column right-aligned."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", padding=(0, 1))
    for title in titles:
        right = title.startswith(">")
        table.add_column(
            title.lstrip(">"),
            justify="right" if right else "left",
            no_wrap=right,
            overflow="fold",
        )
    return table


def show_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; a title that starts with > makes its column right-aligned.

    Lines are cut to the width of a terminal, but not in files and pipes.
    """
    console = results()
    if not console.is_terminal:
        for line in _aligned(titles, rows):
            click.echo(line)
        return
    from rich.text import Text

    table = plain_table(*titles)
    for row in rows:
        table.add_row(*map(Text, row))  # Text: brackets in cells are not markup
    console.print(table)


def _aligned(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table.

    Examples
    --------
    >>> _aligned(["name", ">size"], [["a", "10"], ["long name", "5"]])
    ['name       size', 'a            10', 'long name     5']
    """
    shown = [[title.lstrip(">") for title in titles], *rows]
    widths = [max(len(row[column]) for row in shown) for column in range(len(titles))]
    return [
        "  ".join(
            cell.rjust(width) if title.startswith(">") else cell.ljust(width)
            for title, cell, width in zip(titles, row, widths, strict=True)
        ).rstrip()
        for row in shown
    ]


def show_counts(counts: Counts) -> None:
    """Print the numbers of skipped and dropped examples and of remarks to standard error."""
    titles = {"skipped": counts.skipped, "dropped": counts.dropped, "remark": counts.remarks}
    for title, reasons in titles.items():
        for reason, count in reasons.most_common():
            click.echo(f"  {title}: {count:,} × {reason}", err=True)


# Progress.


def _bar(*columns: Any) -> Progress:
    """Return a progress bar on standard error, disabled unless that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    return Progress(
        BarColumn(bar_width=30),
        *columns,
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


class Stream(Protocol[T_co]):
    """An iterator over a file whose position is known."""

    def __iter__(self) -> Iterator[T_co]: ...

    @property
    def position(self) -> int:
        """Number of bytes that were read."""

    @property
    def size(self) -> int | None:
        """Number of bytes of the file, None if unknown."""


def tracked(stream: Stream[T_co]) -> Iterator[T_co]:
    """Yield the items of a stream and show how much of the input was read."""
    if not sys.stderr.isatty():
        yield from stream
        return
    from rich.progress import DownloadColumn

    with _bar(DownloadColumn(binary_units=True)) as progress:
        task = progress.add_task("", total=stream.size)
        for number, item in enumerate(stream):
            if number % _STEP == 0:
                progress.update(task, completed=stream.position)
            yield item


@contextmanager
def running(n_jobs: int | None = None, *, bar: bool = True) -> Iterator[Callable[[str], None]]:
    """Set the number of threads, show progress, and print each warning once at the end.

    Yields a function that names the current stage of the work. Stages that the library logs are
    shown, too. Without ``bar`` only threads and warnings are handled.
    """
    from kernelwood import config_context

    with warnings.catch_warnings(record=True) as caught, ExitStack() as stack:
        warnings.simplefilter("default")
        if n_jobs is not None:
            stack.enter_context(config_context(n_jobs=n_jobs))
        yield stack.enter_context(_stages()) if bar else lambda name: None
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        click.echo(f"warning: {message}", err=True)


@contextmanager
def _stages() -> Iterator[Callable[[str], None]]:
    from rich.progress import TaskProgressColumn, TextColumn

    from kernelwood import config_context

    with _bar(TextColumn("{task.description}"), TaskProgressColumn()) as progress:
        task = progress.add_task("", total=None)

        def begin(name: str) -> None:
            nonlocal task
            progress.remove_task(task)
            task = progress.add_task(name, total=None)

        def show(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        with _logged(begin), config_context(progress=show):
            yield begin


@contextmanager
def _logged(begin: Callable[[str], None]) -> Iterator[None]:
    """Call a function with the stages that the packages relations and vectors log."""
    loggers = [logging.getLogger(f"kernelwood.{name}") for name in ("relations", "vectors")]
    before = [logger.level for logger in loggers]
    handler = logging.Handler(logging.INFO)
    handler.emit = lambda record: begin(record.getMessage())  # type: ignore[method-assign]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
            logger.removeHandler(handler)


# Errors and signals.


@contextmanager
def reported() -> Iterator[None]:
    """Turn expected errors into one message and exit code 1, an interrupt into 130."""
    try:
        with _signals_exit():
            yield
    except StructureError as failure:
        raise click.ClickException(str(in_command_line_terms(failure))) from failure
    except KernelwoodError as failure:
        raise click.ClickException(str(failure)) from failure
    except BrokenPipeError:  # the reader of a pipe has closed it; click exits silently
        raise
    except OSError as failure:
        name = f"{failure.filename}: " if failure.filename else ""
        raise click.ClickException(f"{name}{failure.strerror or failure}") from failure
    except KeyboardInterrupt:
        raise click.exceptions.Exit(_INTERRUPTED) from None


@contextmanager
def _signals_exit() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise SystemExit, so that incomplete files are deleted."""

    def leave(number: int, frame: object) -> None:
        sys.exit(128 + number)

    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    changed = []
    try:
        for number in numbers:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, leave)
                changed.append(number)
    except ValueError:  # only the main thread can set handlers
        pass
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def usage() -> Iterator[None]:
    """Turn a ValueError about an argument into a usage error; data errors pass through."""
    try:
        yield
    except KernelwoodError:
        raise
    except ValueError as failure:
        raise click.UsageError(in_options(str(failure))) from failure


def in_options(text: str) -> str:
    """Return a message with options in place of parameters.

    Examples
    --------
    >>> in_options('format=... reads it; errors="skip" ignores it')
    '--from FORMAT reads it; --errors skip ignores it'
    """
    for parameter, option in _OPTIONS:
        text = parameter.sub(option, text)
    return text


def in_command_line_terms(
    failure: StructureError, hints: Sequence[str] = (), origin: Origin | None = None
) -> StructureError:
    """Return an error with options in place of parameters.

    Parameters
    ----------
    failure : StructureError
    hints : sequence of str
        Added to the hint of the error.
    origin : Origin, optional
        Position in a file to report instead of that of the error.
    """
    own = [] if failure.hint is None else [in_options(failure.hint)]
    return type(failure)(
        in_options(failure.problem),
        path=failure.path if origin is None else origin.path,
        line=failure.line if origin is None else origin.line,
        column=failure.column,
        snippet=failure.snippet,
        hint="\n    ".join([*own, *hints]) or None,
    )
