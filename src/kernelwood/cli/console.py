"""Standard output and standard error: tables, progress, messages and errors."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TextIO, TypeVar

import click

from kernelwood.errors import UNPRINTABLE, KernelwoodError, StructureError, printable
from kernelwood.structures import shorten

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from kernelwood.io import Counts
    from kernelwood.text import Origin

T_co = TypeVar("T_co", covariant=True)

QUIET, NORMAL, VERBOSE, DEBUG = -1, 0, 1, 2  # levels of messages
_LEVEL, _STARTED, _LINES = (f"kernelwood.{name}" for name in ("level", "started", "lines"))
_BELOW, _BELOW_LEAST = "    ", 20  # indent of a last column below its row, and its least width
_STEP = 64  # items between two updates of a progress bar
_EVERY = 5.0  # seconds between two lines of progress, and before the first
_BEAT = 1.0  # seconds between two looks at the clock
_clock = time.monotonic  # replaced by tests
_OUTPUT = "standard output"
_INTERRUPTED = 130  # 128 + SIGINT, the convention of shells
_SIGNALS = ("SIGTERM", "SIGHUP")  # sent by schedulers and closed terminals
# Characters in tables and messages -> ASCII for terminals without them.
_ASCII = str.maketrans(
    {"→": "->", "←": "<-", "↔": "<->", "—": "-", "–": "-", "×": "x", "≥": ">=", "…": "...",
     "\N{NO-BREAK SPACE}": " "}
)  # fmt: skip
# Parameter of the library -> option of the command line.
_OPTIONS = (
    (re.compile(r"\bgive format= "), "give --to "),
    (re.compile(r"\bformat='(\w+)'"), r"--from \1"),
    (re.compile(r"\bformat=\.\.\."), "--from FORMAT"),
    (re.compile(r"\b(text|id)_field=\.\.\."), r"--\1-field NAME"),
    (re.compile(r"\boption '(text|id)_field'"), r"option --\1-field"),
    (re.compile(r'\berrors="skip"'), "--errors skip"),
    (re.compile(r"\bonly='"), "--only '"),
    (re.compile(r"\bonly= "), "--only "),
    (re.compile(r"\bview='([^']*)'"), r"--view \1"),
    (re.compile(r"\bview=\.\.\."), "--view NAME"),
    (re.compile(r"\bgive limits=Limits\(memory=\.\.\.\)"), "give --memory-limit SIZE"),
    (
        re.compile(r"\bgive limits=Limits\((?!line|memory)\w+=\.\.\.\)"),
        "unpack it yourself first",
    ),
)

# Messages.


def verbosity() -> int:
    """Return the level of messages that -q and -v ask for: -1 (quiet) to 2 (-vv)."""
    ctx = click.get_current_context(silent=True)
    return NORMAL if ctx is None else int(ctx.meta.get(_LEVEL, NORMAL))


def _set_level(ctx: click.Context, param: click.Parameter, value: int) -> None:
    if not value or ctx.resilient_parsing:
        return
    before, change = ctx.meta.get(_LEVEL, NORMAL), QUIET if param.name == "quiet" else value
    if before * change < 0:
        raise click.UsageError("--quiet and --verbose are mutually exclusive")
    ctx.meta[_LEVEL] = change if change < 0 else before + change
    if before < VERBOSE <= ctx.meta[_LEVEL]:
        ctx.call_on_close(_show_log())


# Options of all commands, before and after the name of the command.
LEVEL_OPTIONS = (
    click.Option(
        ["-q", "--quiet"], is_flag=True, expose_value=False, callback=_set_level,
        show_default=False, help="Print results and errors only.",
    ),
    click.Option(
        ["-v", "--verbose"], count=True, expose_value=False, callback=_set_level,
        show_default=False, help="Show stages with times; -vv: tracebacks of errors, too.",
    ),
)  # fmt: skip


def one_name(name: object) -> str:
    r"""Return the name of a file, a model or the like for a message: one line, without controls.

    Examples
    --------
    >>> print(one_name("a\n\x1b[2J.kw"))
    a\n\x1b[2J.kw
    """
    return printable(str(name), lines=False)


def say(text: object = "", *, err: bool = False) -> None:
    """Print a result; control characters are shown as escapes."""
    shown = printable(str(text)).replace("\N{NO-BREAK SPACE}", " ")
    click.echo(_encodable(shown, sys.stderr if err else sys.stdout), err=err)


def _encodable(text: str, stream: TextIO | None) -> str:
    """Return a text that a stream can encode, with ASCII for arrows and signs if need be."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        plain = text.translate(_ASCII)
        return plain.encode(encoding, "replace").decode(encoding)
    return text


def note(text: object) -> None:
    """Print a message to standard error, unless --quiet is given."""
    if verbosity() > QUIET:
        say(text, err=True)


def detail(text: object) -> None:
    """Print a message with the seconds since the start, if --verbose is given."""
    ctx = click.get_current_context(silent=True)
    if ctx is not None and ctx.meta.get(_LEVEL, NORMAL) >= VERBOSE:
        passed = _clock() - ctx.meta.setdefault(_STARTED, _clock())
        say(f"{passed:6.1f} s  {one_name(text)}", err=True)


def start_clock(ctx: click.Context) -> None:
    """Let the seconds of `detail` count from now."""
    ctx.meta[_STARTED] = _clock()


def _show_log() -> Callable[[], None]:
    """Print the log of the library from now on; return the function that ends this."""
    logger = logging.getLogger("kernelwood")
    before, handler = logger.level, logging.Handler()

    def emit(record: logging.LogRecord) -> None:
        if record.levelno >= logging.INFO or verbosity() >= DEBUG:
            detail(record.getMessage())

    handler.emit = emit  # type: ignore[method-assign]
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)

    def end() -> None:
        logger.removeHandler(handler)
        logger.setLevel(before)

    return end


# Tables and text.


def counted(n: int, noun: str, plural: str = "s") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "example"), counted(2000, "class", "es")
    ('1 example', '2,000 classes')
    """
    return f"{n:,} {noun}{plural * (n != 1)}"


def nearest(name: str, known: Iterable[str], *, form: str = "; did you mean {!r}?") -> str:
    """Return a question about the most similar known name, "" if none is similar.

    Examples
    --------
    >>> nearest("bnids", ["Binds", "Cuts"]), nearest("xyz", ["Binds"])
    ("; did you mean 'Binds'?", '')
    """
    from difflib import get_close_matches

    lowered = {str(one).lower(): one for one in known}
    near = get_close_matches(name.lower(), lowered, n=1)
    return form.format(lowered[near[0]]) if near else ""


def write_json(report: dict[str, Any]) -> None:
    """Write a report to standard output as JSON, in ASCII if the encoding is not Unicode."""
    escaped = "utf" not in (getattr(sys.stdout, "encoding", None) or "").lower()
    text = json.dumps(report, indent=2, ensure_ascii=escaped)
    # JSON escapes few of the characters that control a terminal, and no bytes of file names.
    click.echo("\n".join(UNPRINTABLE.sub(_json_escape, line) for line in text.split("\n")))


def _json_escape(found: re.Match[str]) -> str:
    data = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[at : at + 2].hex()}" for at in range(0, len(data), 2))


def results() -> Console:
    """Return the console for standard output, without automatic highlighting."""
    from rich.console import Console

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ✓ shows ? instead
    console = _without_controls(Console(highlight=False))
    console.on_broken_pipe = _raise_again  # type: ignore[method-assign]
    return console


def _without_controls(console: Console) -> Console:
    """Let a console escape control characters of texts; its own colors and cursor moves stay."""
    from rich.segment import Segment

    render = console.render

    def escaped(*arguments: Any, **options: Any) -> Iterator[Segment]:
        for segment in render(*arguments, **options):
            text = segment.text
            if segment.control or text.isprintable():
                yield segment
            else:
                yield Segment(printable(text), segment.style)

    console.render = escaped  # type: ignore[method-assign]
    return console


def _raise_again() -> None:
    raise


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


def show_table(
    titles: Sequence[str], rows: Sequence[Sequence[str]], *, last: int | None = None
) -> None:
    """Print a table; a title that starts with > makes its column right-aligned.

    Lines are wrapped to the width of a terminal, but not in files and pipes. The last column is
    cut to ``last`` characters; in a terminal that is too narrow, it is below its row.
    """
    console = results()
    shown = rows if last is None else [[*row[:-1], shorten(row[-1], last)] for row in rows]
    lines = _aligned(titles, shown)
    if not console.is_terminal:
        for line in lines:
            say(line)
        return
    from rich.text import Text

    if last is not None and max(map(len, lines)) + len(titles) > console.width:
        width = max(console.width - len(_BELOW), _BELOW_LEAST)
        header, *lines = _aligned(titles[:-1], [row[:-1] for row in rows])
        console.print(Text(header, "bold"))
        for line, row in zip(lines, rows, strict=True):
            below = f"{_BELOW}{shorten(one_name(row[-1]), width)}"
            console.print(Text(line), Text(below), sep="\n")
        return
    rows = shown
    table = plain_table(*titles)
    for row in rows:
        table.add_row(*(Text(one_name(cell)) for cell in row))  # brackets are not markup
    console.print(table)


def _aligned(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table.

    Examples
    --------
    >>> _aligned(["name", ">size"], [["a", "10"], ["long name", "5"]])
    ['name       size', 'a            10', 'long name     5']
    """
    shown = [[title.lstrip(">") for title in titles], *([*map(one_name, row)] for row in rows)]
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
    from kernelwood.io import reason_lines

    titles = {"skipped": counts.skipped, "dropped": counts.dropped, "remark": counts.remarks}
    for title, reasons in titles.items():
        for line in reason_lines(dict(reasons.most_common()), title):
            note(f"  {one_name(line)}")


# Progress.


class _Lines:
    """Lines about the progress of a command, at most one every few seconds.

    Lines replace bars where there is no terminal. A thread looks at the clock, because a stage of
    the work may take long without an update.
    """

    def __init__(self, command: str) -> None:
        self._command = command
        self._started = self._last = _clock()
        self._tasks: list[_Task] = []
        self._lock = threading.Lock()

    @contextmanager
    def task(self, task: _Task) -> Iterator[_Task]:
        """Show this task, instead of the one that it is part of."""
        self._tasks.append(task)
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(_BEAT):
                self.look()

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        task.look = self.look
        try:
            yield task
        finally:
            ended.set()
            watcher.join()
            self._tasks.remove(task)

    def look(self) -> None:
        """Print a line if it is time for one."""
        with self._lock:
            now = _clock()
            if self._tasks and now - self._last >= _EVERY:
                self._last = now
                say(f"{self._command}: {self._tasks[-1].line(now, self._started)}", err=True)


class _Task:
    """Something that is done in steps; shows nothing by itself.

    Parameters
    ----------
    name : str
        Stage, or the noun of the items that are counted.
    counted : bool
        Whether items of a file are counted, and steps are bytes.
    """

    def __init__(self, name: str, *, counted: bool = False) -> None:
        self.counted = counted
        self.look: Callable[[], None] = lambda: None
        self.begin(name)

    def begin(self, name: str) -> None:
        """Start a new stage."""
        self.name, self.started = name, _clock()
        self.done, self.total, self.items = 0, None, 0
        self.look()

    def update(self, done: int, total: int | None, items: int = 0) -> None:
        """Set how much is done."""
        self.done, self.total, self.items = done, total, items
        self.look()

    total: int | None

    def amount(self) -> str:
        """Return how many items, and how much of the input, was read."""
        size = "" if self.total is None else f" of {_megabytes(self.total)}"
        return f"{counted(self.items, self.name)}, {_megabytes(self.done)}{size}"

    def line(self, now: float, started: float) -> str:
        """Return a description of what is done, with the time since a start and the time left.

        Examples
        --------
        >>> task = _Task("document", counted=True)
        >>> task.update(34_000_000, 120_000_000, 1200)
        >>> task.line(task.started + 12, task.started)
        '1,200 documents, 34.0 MB of 120.0 MB, 00:12 elapsed, 00:30 left'
        """
        seconds, parts = now - self.started, [self.amount() if self.counted else self.name]
        if self.total and not self.counted:
            parts.append(f"{self.done / self.total:.0%}")
        parts.append(f"{_minutes(now - started)} elapsed")
        if self.total and 0 < self.done <= self.total:
            parts.append(f"{_minutes(seconds * (self.total - self.done) / self.done)} left")
        return ", ".join(parts)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def _minutes(seconds: float) -> str:
    """Return a duration as minutes and seconds.

    Examples
    --------
    >>> _minutes(75), _minutes(3605)
    ('01:15', '1:00:05')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


class _Bar(_Task):
    """A task with a progress bar in a terminal."""

    def __init__(self, name: str, progress: Progress, *, counted: bool = False) -> None:
        self._progress, self._row = progress, progress.add_task("", total=None)
        super().__init__(name, counted=counted)

    def begin(self, name: str) -> None:
        super().begin(name)
        self._progress.remove_task(self._row)
        self._row = self._progress.add_task(one_name(name), total=None)

    def update(self, done: int, total: int | None, items: int = 0) -> None:
        super().update(done, total, items)
        self._progress.update(self._row, completed=done, total=total)
        if self.counted:
            self._progress.update(self._row, description=one_name(self.amount()))


def _is_terminal(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal that can move its cursor."""
    dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown")
    return stream is not None and stream.isatty() and not dumb


def _progress(*, counted: bool) -> Progress:
    """Return a progress bar on standard error."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns: list[Any] = [TextColumn("{task.description}", markup=False)]
    if not counted:
        columns.append(TaskProgressColumn())
    return Progress(
        BarColumn(bar_width=30),
        *columns,
        TimeRemainingColumn(),
        console=_without_controls(Console(stderr=True)),
        transient=True,
    )


@contextmanager
def _shown(name: str, *, counted: bool = False) -> Iterator[_Task]:
    """Show the progress of a task: a bar in a terminal, else lines; nothing with --quiet."""
    if verbosity() == QUIET:
        yield _Task(name, counted=counted)
    elif _is_terminal(sys.stderr):
        with _progress(counted=counted) as progress:
            yield _Bar(name, progress, counted=counted)
    else:
        ctx = click.get_current_context(silent=True)
        command = "kernelwood" if ctx is None else str(ctx.info_name)
        meta = {} if ctx is None else ctx.meta
        lines: _Lines = meta.setdefault(_LINES, _Lines(command))
        with lines.task(_Task(name, counted=counted)) as task:
            yield task


class Stream(Protocol[T_co]):
    """An iterator over a file whose position is known."""

    def __iter__(self) -> Iterator[T_co]: ...

    @property
    def position(self) -> int:
        """Number of bytes that were read."""

    @property
    def size(self) -> int | None:
        """Number of bytes of the file, None if unknown."""


def tracked(stream: Stream[T_co], noun: str = "example") -> Iterator[T_co]:
    """Yield the items of a stream and show how much of the input was read."""
    number = 0
    with _shown(noun, counted=True) as task:
        for number, item in enumerate(stream, 1):
            if number % _STEP == 1:
                task.update(stream.position, stream.size, number)
            yield item
    detail(f"{counted(number, noun)} read, {_megabytes(stream.position)}")


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
        note(one_message(f"warning: {message}"))


@contextmanager
def told_warnings() -> Iterator[None]:
    """Print each warning, of any thread, when it occurs."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, *place: note(one_message(f"warning: {message}"))
        yield


@contextmanager
def staged() -> Iterator[Callable[[str, int, int | None], None]]:
    """Show progress; yields a function of a stage, the number that is done, and that of all."""
    with _shown("") as task:

        def report(stage: str, done: int, total: int | None) -> None:
            if task.name != stage:
                detail(stage)
                task.begin(stage)
            task.update(done, total)

        yield report


@contextmanager
def _stages() -> Iterator[Callable[[str], None]]:
    from kernelwood import config_context

    with _shown("") as task:

        def begin(name: str) -> None:
            detail(name)
            task.begin(name)

        with _logged(task.begin), config_context(progress=task.update):
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
    except getattr(click.exceptions, "NoArgsIsHelpError", ()):  # its message is a page of help
        raise
    except click.ClickException as failure:
        message = one_message(failure.format_message())  # some have names of files of their own
        failure.format_message = lambda: message  # type: ignore[method-assign]
        raise
    except BrokenPipeError:  # the reader of a pipe has seen enough
        _discard_output()
        raise click.exceptions.Exit(0) from None
    except (KernelwoodError, OSError) as failure:
        if verbosity() >= DEBUG:
            say("".join(traceback.format_exception(failure)), err=True)
        raise click.ClickException(one_message(_message(failure))) from failure
    except KeyboardInterrupt:
        raise click.exceptions.Exit(_INTERRUPTED) from None


def one_message(text: str) -> str:
    """Return a message without controls, whose lines after the first are indented.

    So a line feed in a foreign text does not look like the beginning of another message.
    """
    first, *others = printable(text).split("\n")
    return "\n".join(
        [first, *(line if line[:1] in ("", " ") else f"    {line}" for line in others)]
    )


def _message(failure: Exception) -> str:
    """Return the message of an expected error."""
    if isinstance(failure, StructureError):
        return str(in_command_line_terms(failure))
    if not isinstance(failure, OSError):
        return str(failure)
    name = failure.filename
    if name == _OUTPUT:
        _discard_output()
    return f"{'' if name is None else f'{one_name(name)}: '}{failure.strerror or failure}"


@contextmanager
def flushed() -> Iterator[None]:
    """Write standard output to its end, and report errors, before the process exits."""
    _name_output()
    try:
        with _safe_reports():
            yield
    except SystemExit as end:
        failure = _output_failure()
        if failure is None:
            raise
        _discard_output()
        if isinstance(failure, BrokenPipeError):
            raise
        say(f"Error: {_message(failure)}", err=True)
        raise SystemExit(end.code or 1) from None
    except OSError:  # of standard error: the message is lost
        raise SystemExit(1) from None


class _SafeFormatter(logging.Formatter):
    """Formats records of the log, tracebacks included, without control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


@contextmanager
def _safe_reports() -> Iterator[None]:
    """Escape control characters in all that Python itself prints to standard error.

    These are tracebacks of unexpected exceptions, warnings outside of `running`, and records of
    logs without a handler, such as those of the HTTP server.
    """
    report, report_thread, shown = sys.excepthook, threading.excepthook, warnings.formatwarning
    last = logging.lastResort
    formatter = None if last is None else last.formatter

    def say_exception(*failure: Any) -> None:
        sys.excepthook = report
        say("".join(traceback.format_exception(*failure)).rstrip("\n"), err=True)

    def say_thread_exception(ended: threading.ExceptHookArgs) -> None:
        if ended.exc_type is not SystemExit:
            say_exception(ended.exc_type, ended.exc_value, ended.exc_traceback)

    def format_warning(*warning: Any, **options: Any) -> str:
        return printable(shown(*warning, **options))

    try:
        threading.excepthook, warnings.formatwarning = say_thread_exception, format_warning
        if last is not None:
            last.setFormatter(_SafeFormatter())
        yield
    except Exception:
        sys.excepthook = say_exception  # called when nothing has caught it
        raise
    finally:
        threading.excepthook, warnings.formatwarning = report_thread, shown
        if last is not None:
            last.setFormatter(formatter)


class _Output(io.FileIO):
    """Standard output, whose errors have a name."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as failure:
            raise OSError(failure.errno, failure.strerror, _OUTPUT) from None


def _name_output() -> None:
    """Add its name to errors of standard output, unless that is a terminal or was replaced."""
    old = sys.__stdout__
    if old is None or sys.stdout is not old or old.isatty():
        return
    old.flush()
    raw = _Output(old.fileno(), "wb", closefd=False)
    unbuffered = isinstance(old.buffer, io.RawIOBase)  # python -u
    buffer: Any = raw if unbuffered else io.BufferedWriter(raw)
    sys.stdout = io.TextIOWrapper(
        buffer, encoding=old.encoding, errors=old.errors, write_through=unbuffered
    )


def _output_failure() -> OSError | None:
    """Return why standard output cannot be written."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as failure:
        return failure
    return None


def _discard_output() -> None:
    """Discard what Python has not written yet, which would be an error at exit."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    except (AttributeError, OSError, ValueError):  # not a file, as in tests
        pass


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
