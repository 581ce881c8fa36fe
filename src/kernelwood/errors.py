"""Errors that kernelwood raises.

::

    KernelwoodError
    ├── StructureError (ValueError)          a structure is malformed; may carry line and column
    │   └── ReadError                        a file is malformed; always carries its path
    ├── KernelInputError (ValueError)        a kernel got parameters or data it cannot use
    │   └── MissingPackageError (ImportError)  a package of an extra is not installed
    ├── KernelOverflowError (OverflowError)  a raw value lies outside double range
    ├── MemoryBudgetError (MemoryError)      the result would not fit the memory budget
    ├── ExecutorError (RuntimeError)         the executor of the settings cannot run or finish tasks
    ├── ModelFormatError (ValueError)        a model file cannot be read, or a model cannot be saved
    ├── kernelwood.scale.PlanError (ValueError)  a plan cannot be read, made or used
    └── kernelwood.web.ProjectError (ValueError)  a project cannot be read, or a value not be stored

Each error also derives from the built-in class in parentheses.
"""

from __future__ import annotations

import re
from typing import TypeVar

__all__ = [
    "ExecutorError",
    "KernelInputError",
    "KernelOverflowError",
    "KernelwoodError",
    "MemoryBudgetError",
    "MissingPackageError",
    "ModelFormatError",
    "ReadError",
    "StructureError",
]


E = TypeVar("E", "StructureError", "ModelFormatError")

# Characters that control a terminal or change the direction of text, line separators of Unicode,
# format characters that cannot be seen, and undecodable bytes of file names.
UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def printable(text: str, *, lines: bool = True) -> str:
    r"""Return a text with escapes in place of the characters that control a terminal.

    These are the control characters of ASCII and Latin-1, with which all escape sequences begin,
    and characters that change the direction of the text. Format characters that cannot be seen,
    such as spaces without a width, and bytes of file names that are not text are escaped, too.

    Parameters
    ----------
    text : str
    lines : bool, default True
        Whether line feeds are kept, as in a message of several lines. A name is one line.

    Examples
    --------
    >>> print(printable("a\x1b[2Jb\tc"))
    a\x1b[2Jb\tc
    >>> print(printable("a\nb", lines=False))
    a\nb
    """
    if text.isprintable():  # nearly always
        return text
    return UNPRINTABLE.sub(
        lambda found: "\n" if lines and found[0] == "\n" else _escape(found[0]), text
    )


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


class KernelwoodError(Exception):
    """Base class of all errors raised by kernelwood."""


class StructureError(KernelwoodError, ValueError):
    """A sequence, tree, graph or example is malformed.

    Parameters
    ----------
    problem : str
        What is wrong, in one sentence.
    line, column : int, optional
        Position in the text, both counted from 1.
    snippet : str, optional
        The offending line; a caret is drawn under ``column``.
    hint : str, optional
        How to fix it.
    path : str, optional
        The file the text came from.
    """

    def __init__(
        self,
        problem: str,
        *,
        line: int | None = None,
        column: int | None = None,
        snippet: str | None = None,
        hint: str | None = None,
        path: str | None = None,
    ) -> None:
        self.problem = problem
        self.line = line
        self.column = column
        self.snippet = snippet
        self.hint = hint
        self.path = path
        super().__init__(problem)
        self._shown: str | None = None

    def __str__(self) -> str:
        # A reader may make a million errors of which none is shown, so their texts are made late.
        if self._shown is None:
            self._shown = self._render()
        return self._shown

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def _render(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part)
        where, problem = printable(place, lines=False), printable(self.problem)
        text = f"{where}: {problem}" if where else problem
        if self.snippet is not None and self.column is not None:
            text += "\n" + _point_at(self.snippet, self.column)
        if self.hint:
            text += f"\n    {printable(self.hint)}"
        return text

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive the default exception pickling.
        return (_rebuild, (type(self), dict(self.__dict__)))


class ReadError(StructureError):
    """A file does not follow its format; the message has the position and a remedy."""


class KernelInputError(KernelwoodError, ValueError):
    """A kernel was given a parameter or a structure it cannot use."""


class MissingPackageError(KernelInputError, ImportError):
    """An optional package is not installed; the message has the command that installs it."""


class KernelOverflowError(KernelwoodError, OverflowError):
    """A raw kernel value exceeds the range of the requested number type."""


class MemoryBudgetError(KernelwoodError, MemoryError):
    """A result would exceed the memory budget."""


class ExecutorError(KernelwoodError, RuntimeError):
    """The executor of the settings is broken or shut down."""


class ModelFormatError(KernelwoodError, ValueError):
    """A file is not a valid model file, or an object cannot be saved as one.

    Parameters
    ----------
    problem : str
        What is wrong, in one sentence.
    path : str, optional
        The file.
    member : str, optional
        Name of the affected member of the archive.
    hint : str, optional
        How to fix it.
    """

    def __init__(
        self,
        problem: str,
        *,
        path: str | None = None,
        member: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.problem = problem
        self.path = path
        self.member = member
        self.hint = hint
        super().__init__(self._render())

    def _render(self) -> str:
        names = [printable(str(part), lines=False) for part in (self.path, self.member) if part]
        text = ": ".join([*names, printable(self.problem)])
        return f"{text}\n    {printable(self.hint)}" if self.hint else text

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive the default exception pickling.
        return (_rebuild, (type(self), dict(self.__dict__)))


def _point_at(snippet: str, column: int, width: int = 72) -> str:
    """Return ``snippet`` cut to ``width`` around ``column`` with a caret beneath."""
    start = max(0, min(column - 1 - width // 2, len(snippet) - width))
    cut = snippet[start : start + width].replace("\t", " ")
    before, after = cut[: column - 1 - start], cut[column - 1 - start :]
    shown = printable(before, lines=False)
    blanks = len(shown) + (column - 1 - start - len(before))  # the column may be after the end
    return f"    {shown}{printable(after, lines=False)}\n    {' ' * blanks}^"


def _rebuild(kind: type[E], state: dict[str, object]) -> E:
    error = kind.__new__(kind)
    error.__dict__.update(state)
    error.args = (error._render(),)
    return error
