"""The bytes of a file of vectors, in pieces that fit in memory."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

from kernelwood.errors import ReadError
from kernelwood.io import Closing, Source

__all__ = ["CHUNK", "Feed", "Progress"]

Progress = Callable[[int, int], object]

CHUNK = 1 << 22  # parsed in about 20 ms: often enough for progress and Ctrl-C
_LONGEST_LINE = 1 << 26
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_GAIN = 1032  # the most that deflate can make of a byte
_BLANK_LINES = re.compile(rb"(?:[ \t\r]*\n)*")


class Feed(Closing):
    """The unpacked content of a file, of which the first unused bytes are in memory.

    Parameters
    ----------
    path : str or PathLike
        A file, compressed by gzip or not.
    progress : callable, optional
        ``progress(done, total)`` in bytes of the file as it is on disk.

    Attributes
    ----------
    data : bytes
        What was read and not yet dropped.
    line : int
        The number of the line that ``data`` begins with, counted from 1.
    ended : bool
        Whether ``data`` is all that is left.
    packed : bool
        Whether the file is compressed.
    regular : bool
        Whether it is a file, not a pipe.
    """

    def __init__(self, path: str | os.PathLike[str], progress: Progress | None = None) -> None:
        self.path = Path(path)
        self.data = b""
        self.line = 1
        self.ended = False
        self._progress = progress
        self._reported = 0
        self._file = self.path.open("rb")
        try:
            status = os.fstat(self._file.fileno())
            self.regular = stat.S_ISREG(status.st_mode)
            self._total = status.st_size if self.regular else 0
            self.packed = self._file.peek(2)[:2] == _GZIP_MAGIC
            self._source = Source(self._file)
        except BaseException:
            self.close()
            raise

    @property
    def head(self) -> bytes:
        """The first bytes of the content, for recognizing it."""
        return self._source.head

    @property
    def portion(self) -> float:
        """How much of the file has been read, from 0 to 1; 0 if that cannot be known."""
        return min(1.0, self._file.tell() / self._total) if self._total else 0.0

    def can_hold(self, n_bytes: int) -> bool:
        """Return whether the content may have this many bytes."""
        most = self._total * (_GZIP_GAIN if self.packed else 1)
        return not self.regular or n_bytes <= most

    def fill(self) -> None:
        """Read another piece, if there is one."""
        if self.ended:
            return
        try:
            piece = self._source.stream.read(CHUNK)
        except ReadError as failure:
            raise self.error(
                failure.problem, hint="fetch the file again; the download may have been cut"
            ) from failure
        self.data += piece
        self.ended = not piece
        if self._progress is not None and self._total:
            self._report(self._progress)

    def _report(self, progress: Progress) -> None:
        done = self._total if self.ended else min(self._file.tell(), self._total)
        if done > self._reported:
            self._reported = done
            progress(done, self._total)

    def drop(self, n_bytes: int, n_lines: int) -> None:
        """Forget bytes that were used up."""
        self.data = self.data[n_bytes:]
        self.line += n_lines

    def first_line(self) -> bytes:
        """Return the first line that is not blank, dropping those before it; empty at the end."""
        while True:
            blank = _BLANK_LINES.match(self.data)
            n_blank = blank.end() if blank else 0
            self.drop(n_blank, self.data.count(b"\n", 0, n_blank))
            end = self.data.find(b"\n")
            if end >= 0 or self.ended:
                return self.data[: end if end >= 0 else None].strip(b" \t\r")
            self.check_length(_LONGEST_LINE)
            self.fill()

    def check_length(self, longest: int) -> None:
        """Raise ReadError if the unused bytes are more than any line or record should have."""
        if len(self.data) > longest + CHUNK:
            raise self.error(
                f"no end of the line in {len(self.data):,} bytes",
                line=self.line,
                hint="this is no file of word vectors, or not in the format it was read as",
            )

    def error(self, problem: str, *, line: int | None = None, hint: str | None = None) -> ReadError:
        """Return (not raise) an error that names the file."""
        return self._source.error(problem, line=line, hint=hint)

    def error_at(self, problem: str, begin: int, *, line: int, hint: str) -> ReadError:
        """Return an error that shows the place in ``data`` where something is wrong."""
        line_begin = self.data.rfind(b"\n", 0, begin) + 1
        line_end = self.data.find(b"\n", begin)
        raw = self.data[line_begin : line_end if line_end >= 0 else None].rstrip(b"\r")
        column = len(self.data[line_begin:begin].decode("utf-8", "replace")) + 1
        snippet = raw.decode("utf-8", "replace")
        return self._source.error(problem, line=line, column=column, snippet=snippet, hint=hint)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
