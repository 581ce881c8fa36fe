"""``read`` and ``iter_read``: one way in for every format."""

from __future__ import annotations

import gc
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.formats import find_format
from kernelwood.io.inputs import open_input
from kernelwood.io.limits import LimitError, Limits
from kernelwood.io.source import Closing, Readable, Remark
from kernelwood.text import Example

__all__ = [
    "ErrorPolicy",
    "ExampleStream",
    "Examples",
    "Tally",
    "general_reason",
    "iter_read",
    "read",
]

ErrorPolicy: TypeAlias = Literal["raise", "skip", "collect"]

_POLICIES = ("raise", "skip", "collect")
_PROBLEM_LIMIT = 1000
_IGNORED_LIMIT = 1000
_REASON_LIMIT = 1000
_OTHER_REASONS = "other reasons"
_SNIPPET_LIMIT = 10_000  # characters of a line that are kept with a problem
_PARTICULARS = re.compile(r"""'[^']*'|"[^"]*"|['"][^'"]*\.\.\.|\b0x[0-9a-f]+|\b\d+""")


@dataclass(frozen=True)
class Tally:
    """What became of the parts of a file, a folder or an archive.

    Attributes
    ----------
    read : int
        Examples delivered.
    skipped : int
        Broken parts left out.
    reasons : mapping of str to int
        How many parts were left out for which reason; names and numbers in a reason are
        replaced by an ellipsis so that alike problems count together. After 1,000 different
        reasons all new ones count as ``"other reasons"``.
    problems : tuple of ReadError
        The first 1,000 problems, kept only with ``errors="collect"``; those of very long lines
        have no ``snippet``.
    remarks : mapping of str to int
        What was odd in parts that were read all the same, and how often.
    ignored : tuple of str
        The first 1,000 files of a folder or an archive that were not read, because nothing says
        that they are in a known format.
    files : int
        Files that were read, or begun.

    Examples
    --------
    >>> Tally(read=7, skipped=2, reasons={"bracket is never closed": 2}, files=3)
    <Tally: 7 read, 2 skipped (2 × bracket is never closed), 3 files>
    """

    read: int = 0
    skipped: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict, hash=False)
    problems: tuple[ReadError, ...] = field(default=(), hash=False)
    remarks: Mapping[str, int] = field(default_factory=dict, hash=False)
    ignored: tuple[str, ...] = ()
    files: int = 0

    def __repr__(self) -> str:
        parts = [f"{self.read} read", f"{self.skipped} skipped{_listed(self.reasons)}"]
        if self.remarks:
            count = sum(self.remarks.values())
            parts.append(f"{count} remark{'s' * (count != 1)}{_listed(self.remarks)}")
        if self.files > 1:
            parts.append(f"{self.files} files")
        if self.ignored:
            parts.append(f"{len(self.ignored)} ignored")
        return f"<Tally: {', '.join(parts)}>"


def _listed(counts: Mapping[str, int]) -> str:
    why = "; ".join(f"{count} × {reason}" for reason, count in counts.items())
    return f" ({why})" if why else ""


class Examples(list[Example]):
    """A list of examples that remembers how the reading went in :attr:`tally`."""

    tally: Tally

    def __init__(self, examples: Iterable[Example] = (), tally: Tally | None = None) -> None:
        super().__init__(examples)
        self.tally = Tally(read=len(self)) if tally is None else tally

    def __repr__(self) -> str:
        return f"<Examples: {len(self)}, {self.tally.skipped} skipped>"


class ExampleStream(Closing, Iterator[Example]):
    """Examples one at a time; made by :func:`iter_read`.

    Use it in a ``for`` loop, or in a ``with`` block when the loop may end early.
    """

    def __init__(
        self,
        path: Readable,
        format: str | None,
        errors: ErrorPolicy,
        *,
        views: Iterable[str] | None = None,
        only: str | None = None,
        limits: Limits | None = None,
        qualify_ids: bool = False,
    ) -> None:
        if errors not in _POLICIES:
            raise ValueError(f"errors must be one of {', '.join(_POLICIES)}; got {errors!r}")
        form = None if format is None else find_format(format)
        wanted = (views,) if isinstance(views, str) else None if views is None else tuple(views)
        self._errors = errors
        self._read = 0
        self._reasons: Counter[str] = Counter()
        self._remarks: Counter[str] = Counter()
        self._problems: list[ReadError] = []
        self._input = open_input(
            path, form, views=wanted, only=only, limits=limits, qualify_ids=qualify_ids
        )
        self._items = self._input.items

    @property
    def tally(self) -> Tally:
        """The count so far; final when the stream is exhausted."""
        return Tally(
            self._read,
            sum(self._reasons.values()),
            dict(self._reasons),
            tuple(self._problems),
            dict(self._remarks),
            self._input.ignored[:_IGNORED_LIMIT],
            self._input.files,
        )

    @property
    def position(self) -> int:
        """How many bytes of the input were read so far; with :attr:`size`, for progress bars.

        For a compressed file both count what is on the disk, for an archive what is in it.
        """
        return self._input.position

    @property
    def size(self) -> int | None:
        """How many bytes the input has; None for streams."""
        return self._input.size

    def __next__(self) -> Example:
        while True:
            try:
                item = next(self._items)
            except LimitError:
                self.close()
                raise
            except ReadError as problem:  # the reader cannot go on, whatever it says if asked
                self._items = iter(())
                self._refuse(problem)
            except BaseException:  # the end among them
                self.close()
                raise
            else:
                if isinstance(item, Example):
                    self._read += 1
                    return item
                if isinstance(item, Remark):
                    self._remarks[item.reason] += 1
                else:
                    self._refuse(item)

    def _refuse(self, problem: ReadError) -> None:
        if self._errors == "raise":
            self.close()
            raise problem
        reason = general_reason(problem)
        known = reason in self._reasons or len(self._reasons) < _REASON_LIMIT
        self._reasons[reason if known else _OTHER_REASONS] += 1
        if self._errors == "collect" and len(self._problems) < _PROBLEM_LIMIT:
            self._problems.append(_unburdened(problem))

    def close(self) -> None:
        """End the stream and close its files, if they were opened here."""
        self._items = iter(())
        self._input.close()


def _unburdened(problem: ReadError) -> ReadError:
    """Return a problem that keeps nothing large alive: no file, no text, no very long line.

    Its message, the place in the line included, stays as it is.
    """
    problem.__cause__ = problem.__context__ = None
    if problem.snippet is not None and len(problem.snippet) > _SNIPPET_LIMIT:
        problem.snippet = None
    return problem.with_traceback(None)


def general_reason(problem: StructureError) -> str:
    """Return a problem without its names and numbers, so that alike ones count together.

    Examples
    --------
    >>> general_reason(StructureError("feature 'a' appears 2 times"))
    'feature … appears … times'
    """
    return _PARTICULARS.sub("…", problem.problem)


def iter_read(
    path: Readable,
    format: str | None = None,
    errors: ErrorPolicy = "raise",
    *,
    views: Iterable[str] | None = None,
    only: str | None = None,
    limits: Limits | None = None,
    qualify_ids: bool = False,
) -> ExampleStream:
    """Read examples one at a time, for files larger than memory.

    Takes what :func:`read` takes. The file is opened at once, so a missing one is reported here
    and not in the loop; ``stream.tally`` counts along, ``stream.position`` and ``stream.size``
    tell how far the reading is.

    Returns
    -------
    ExampleStream
        An iterator over examples with a ``tally``.

    Examples
    --------
    >>> import io
    >>> stream = iter_read(io.StringIO("(S (NP we) (VP go))"), format="penn")
    >>> [example.id for example in stream], stream.tally.read
    (['stream:1'], 1)
    """
    return ExampleStream(
        path, format, errors, views=views, only=only, limits=limits, qualify_ids=qualify_ids
    )


def read(
    path: Readable,
    format: str | None = None,
    errors: ErrorPolicy = "raise",
    *,
    views: Iterable[str] | None = None,
    only: str | None = None,
    limits: Limits | None = None,
    qualify_ids: bool = False,
) -> Examples:
    r"""Read all examples of a file, a folder or an archive.

    Parameters
    ----------
    path : str, PathLike or stream
        A file, ``"-"`` for standard input, an open text or binary stream, a folder, or a zip or
        tar archive. Compression (gzip, bzip2, xz) and archives are recognized by their content.
    format : str, optional
        A name from :data:`~kernelwood.io.FORMATS`. When left out, the suffix decides, and the
        content when the suffix is unknown. In folders and archives, files of other formats are
        passed over; if none has a suffix of this format, all files without a known one are read.
    errors : {"raise", "skip", "collect"}
        What to do with a broken part: raise a ``ReadError``, leave it out and count it, or leave
        it out and keep the error in ``tally.problems`` as well.
    views : iterable of str, optional
        Parse these views only, which saves time when a file holds many.
    only : str, optional
        A glob such as ``"*/train/*.a2"``: of a folder or an archive, read the files whose path in
        it fits. ``*`` stands for slashes as well.
    limits : Limits, optional
        What a compressed file or an archive may cost; see :class:`~kernelwood.io.Limits`.
    qualify_ids : bool
        In a folder or an archive, begin every id with the path of its file there, as in
        ``"train/a:s1"``; otherwise only where a file has no ids of its own. Files often number
        their sentences alike, and ids must be unique where all are written into one file.

    Returns
    -------
    kernelwood.io.Examples
        A list with a ``tally``.

    Raises
    ------
    ReadError
        With file, line and column, when a part is broken and ``errors="raise"``; also when the
        format cannot be told, a folder or an archive holds nothing to read, or a limit is passed.
    OSError
        When the file is missing or cannot be read.
    ValueError
        When an argument is not valid.

    Examples
    --------
    >>> import io
    >>> examples = read(io.StringIO("(S (NP we) (VP go))\n(S (NP it\n"), errors="skip")
    >>> examples[0].views["tree"].label
    'S'
    >>> examples.tally.read, examples.tally.skipped
    (1, 1)
    """
    with iter_read(
        path, format, errors, views=views, only=only, limits=limits, qualify_ids=qualify_ids
    ) as stream:
        with cycles_ignored():
            examples = list(stream)
        return Examples(examples, stream.tally)


@contextmanager
def cycles_ignored() -> Iterator[None]:
    """Pause the search for reference cycles.

    Examples have none, but the collector would walk over all that were read so far, again and
    again: a third of the time. Memory is freed as ever by counting references.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
