"""Streams of examples from readers: error policies and counts."""

from __future__ import annotations

import gc
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Generic, Literal, SupportsIndex, TypeAlias, TypeVar, overload

from kernelwood.errors import ReadError, StructureError
from kernelwood.io.containers.limits import LimitError, StopError
from kernelwood.io.source import Closing, Remark, Source
from kernelwood.threads import ProcessState

ErrorPolicy: TypeAlias = Literal["raise", "skip", "collect"]
T = TypeVar("T")
L = TypeVar("L", bound="ReadList[Any]")

_POLICIES = ("raise", "skip", "collect")
_PROBLEM_LIMIT = 1000
_IGNORED_LIMIT = 1000
_REASON_LIMIT = 1000
_OTHER_REASONS = "other reasons"
# With so many broken parts, and fewer than a tenth as many good ones, reading ends.
_BROKEN_LIMIT = 20_000
_GOOD_SHARE = 10
_SNIPPET_LIMIT = 10_000  # characters of a line that are kept with a problem
_PARTICULARS = re.compile(r"""'[^']*'|"[^"]*"|['"][^'"]*\.\.\.|\b0x[0-9a-f]+|\b\d+""")


@dataclass(frozen=True)
class Tally:
    """Counts of read and skipped parts of a file, a folder or an archive.

    Attributes
    ----------
    read : int
        Number of examples read.
    skipped : int
        Number of broken parts left out.
    reasons : mapping of str to int
        Number of parts left out by reason; names and numbers in a reason are replaced by an
        ellipsis, so that similar problems are counted together. After 1,000 different reasons all
        new ones count as ``"other reasons"``.
    problems : tuple of ReadError
        The first 1,000 problems, kept only with ``errors="collect"``; those of very long lines
        have no ``snippet``.
    remarks : mapping of str to int
        Number of remarks on parts that were read, by text.
    ignored : tuple of str
        The first 1,000 files of a folder or an archive that were not read because their format is
        not known.
    files : int
        Number of files opened.

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


class ReadList(list[T]):
    """A list with the counts of its reading in :attr:`tally`, which a slice keeps."""

    tally: Tally

    def __init__(self, items: Iterable[T] = (), tally: Tally | None = None) -> None:
        super().__init__(items)
        self.tally = Tally(read=len(self)) if tally is None else tally

    @overload
    def __getitem__(self, place: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self: L, place: slice) -> L: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Any:
        found: Any = super().__getitem__(place)
        return type(self)(found, self.tally) if isinstance(place, slice) else found

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)}, {self.tally.skipped} skipped>"


class Input(Closing, Generic[T]):
    """What readers yield for some open files.

    Attributes
    ----------
    items : iterator
        Read objects, remarks and errors.
    files : int
        Number of files opened.
    ignored : tuple of str
        Files of a folder or an archive that are not read.
    """

    def __init__(self, items: Iterator[T | ReadError | Remark], sources: Sequence[Source]) -> None:
        self.items = items
        self.files = len(sources)
        self.ignored: tuple[str, ...] = ()
        self._sources = sources

    @property
    def position(self) -> int:
        """Number of bytes read so far."""
        return sum(source.position for source in self._sources)

    @property
    def size(self) -> int | None:
        """Number of bytes of all files; None if unknown."""
        sizes = [source.size for source in self._sources if source.size is not None]
        return sum(sizes) if len(sizes) == len(self._sources) else None

    def close(self) -> None:
        """Close the files that were opened here."""
        for source in self._sources:
            source.close()


class ReadStream(Closing, Iterator[T]):
    """Objects read one at a time, with counts in :attr:`tally`.

    Use it in a ``for`` loop, or in a ``with`` block if the loop may end early.
    """

    def __init__(self, opened: Input[T], errors: ErrorPolicy) -> None:
        self._errors = errors
        self._read = self._n_refused = 0
        self._reasons: Counter[str] = Counter()
        self._remarks: Counter[str] = Counter()
        self._problems: list[ReadError] = []
        self._input = opened
        self._items = opened.items

    @property
    def tally(self) -> Tally:
        """The counts so far; final when the stream is exhausted."""
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
        """Number of bytes read so far; with :attr:`size`, for progress bars.

        For a compressed file both count compressed bytes, for an archive those of its files.
        """
        return self._input.position

    @property
    def size(self) -> int | None:
        """Number of bytes of the input; None for streams."""
        return self._input.size

    def __next__(self) -> T:
        while True:
            try:
                item = next(self._items)
            except StopError:
                self.close()
                raise
            except ReadError as problem:  # the reader cannot continue
                self._items = iter(())
                self._refuse(problem)
            except BaseException:  # including the end of the items
                self.close()
                raise
            else:
                if isinstance(item, ReadError):
                    self._refuse(item)
                elif isinstance(item, Remark):
                    self._remarks[item.reason] += 1
                else:
                    self._read += 1
                    return item

    def _refuse(self, problem: ReadError) -> None:
        if self._errors == "raise":
            self.close()
            raise problem
        reason = general_reason(problem)
        known = reason in self._reasons or len(self._reasons) < _REASON_LIMIT
        self._reasons[reason if known else _OTHER_REASONS] += 1
        if self._errors == "collect" and len(self._problems) < _PROBLEM_LIMIT:
            self._problems.append(_without_large_parts(problem))
        self._n_refused += 1
        if self._n_refused > max(_BROKEN_LIMIT, _GOOD_SHARE * self._read):
            self.close()
            raise LimitError(
                f"{self._n_refused:,} parts are broken and {self._read:,} are not",
                path=problem.path,
                line=problem.line,
                hint="the data seem to be damaged, or in another format than the one they are "
                "read in",
            ) from problem

    def close(self) -> None:
        """End the stream and close its files, if they were opened here."""
        self._items = iter(())
        self._input.close()


def check_policy(errors: str) -> None:
    """Raise ``ValueError`` if ``errors`` is not an error policy."""
    if errors not in _POLICIES:
        raise ValueError(f"errors must be one of {', '.join(_POLICIES)}; got {errors!r}")


def _without_large_parts(problem: ReadError) -> ReadError:
    """Return a problem without references to files, texts or very long lines.

    Its message, the place in the line included, does not change.
    """
    problem.__cause__ = problem.__context__ = None
    if problem.snippet is not None and len(problem.snippet) > _SNIPPET_LIMIT:
        str(problem)  # makes the message, of which the line is a part
        problem.snippet = None
    return problem.with_traceback(None)


def general_reason(problem: StructureError) -> str:
    """Return a problem without its names and numbers, to count similar ones together.

    Examples
    --------
    >>> general_reason(StructureError("feature 'a' appears 2 times"))
    'feature … appears … times'
    """
    return _without_particulars(problem.problem)


@lru_cache(256)  # the same problem may be there once a line
def _without_particulars(problem: str) -> str:
    return _PARTICULARS.sub("…", problem)


def cycles_ignored() -> AbstractContextManager[None]:
    """Pause the search for reference cycles.

    Examples have none, but the collector would visit all that were read so far again and again,
    which takes a third of the time. Reference counting still frees memory.
    """
    return _NO_COLLECTION.held()


def _stop_collection() -> Callable[[], None]:
    was_enabled = gc.isenabled()
    gc.disable()
    return gc.enable if was_enabled else lambda: None


_NO_COLLECTION = ProcessState(_stop_collection)
