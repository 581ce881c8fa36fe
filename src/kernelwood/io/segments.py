r"""Segments: parts of inputs that can be read on their own, on many machines.

`cut_inputs` reads every file once, finds where records begin, and hashes the bytes; it does not
parse them. `read_segments` reads the bytes of some segments only, and checks them. Read one after
the other, segments give the examples, errors and remarks of the whole inputs, in the same order.

A format is cut if its row in the table has a ``scan`` function (`kernelwood.io.lines.Scan`), which
finds complete records at the beginning of some bytes. Where it cannot be sure, as in XML that is
not well-formed, the rest of the file becomes one segment.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from kernelwood.errors import ReadError
from kernelwood.io.containers.compression import CHUNK
from kernelwood.io.containers.container import Container, name_problem
from kernelwood.io.containers.limits import Limits, Meter, StopError
from kernelwood.io.formats.table import (
    FORMATS,
    Format,
    Views,
    check_options,
    find_format,
    given_options,
    recognize,
)
from kernelwood.io.ids import UsedIds
from kernelwood.io.inputs import (
    ContainerInput,
    Files,
    MemberSource,
    Part,
    as_path,
    check_only,
    files_beside,
    member_files,
    open_place,
    qualified,
)
from kernelwood.io.lines import Scan
from kernelwood.io.reading import ExampleStream
from kernelwood.io.selection import view_names
from kernelwood.io.source import Closing, Extent, Item, Readable, Source
from kernelwood.io.streams import ErrorPolicy, Input, check_policy
from kernelwood.io.texts import checked_text, recognize_text, several
from kernelwood.structures import describe, shorten
from kernelwood.text import Example

Progress: TypeAlias = "Callable[[int, int], object]"

_WINDOW = 1 << 20  # bytes that are scanned at a time
_NONE = sha256().hexdigest()
_LARGEST = 2**63 - 1
_CHANGED = "the file has changed since the plan was made"


class ChangedError(StopError):
    """A file has changed since it was cut into segments."""


@dataclass(frozen=True, slots=True)
class Segment:
    r"""A part of an input that can be read on its own; made by :func:`cut_inputs`.

    Attributes
    ----------
    path : str
        The input as given: a file, a folder or an archive.
    names : tuple of str
        Files inside a folder or an archive that belong together, such as a text and its
        annotation; empty for a single file.
    stem : str
        Prefix of ids, as in a read of the whole input.
    format : str
        Name in :data:`FORMATS`. It is empty if the files cannot be opened or their format cannot
        be told, or for the problems of an archive itself: reading gives the errors.
    start, stop : int
        The range of decompressed bytes, the end being exclusive. Those of several files are
        counted together. In Parquet tables that are cut, they are numbers of rows.
    line : int
        Number of the first line, from 1.
    record : int
        Number of records before the segment, as the reader counts them for ids; the header of a
        table is one.
    last : bool
        Whether the file ends here.
    sha256 : str
        SHA-256 of the bytes in the range. If it does not begin at 0, the bytes that readers need
        of the beginning of the file are hashed before them: the first 16 KiB, or more if the first
        line is longer. Of several files, the hash of their hashes; of a Parquet table, that of the
        whole file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "two.jsonl"
    >>> _ = path.write_text('{"text": "Raf binds Ras."}\n{"text": "We go."}\n')
    >>> parts = list(cut_inputs(path, texts=True, size=20))
    >>> [(part.start, part.stop, part.line) for part in parts]
    [(0, 27, 1), (27, 46, 2)]
    >>> [example.id for example in read_segments(parts[1:], texts=True)]
    ['two:2']
    """

    path: str
    names: tuple[str, ...]
    stem: str
    format: str
    start: int
    stop: int
    line: int
    record: int
    last: bool
    sha256: str

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as values of JSON."""
        return {**asdict(self), "names": list(self.names)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Segment:
        """Return the segment that :meth:`to_dict` describes.

        Raises
        ------
        ValueError
            If a value is missing, unknown, of another type or impossible, or the name of a file
            leads out of the folder.
        """
        if not isinstance(values, Mapping):
            raise ValueError(f"a segment must be an object, got {describe(values)}")
        known = [field.name for field in fields(cls)]
        for name in (*known, *values):
            if name not in values or name not in known:
                said = "unknown" if name in values else "missing"
                raise ValueError(f"a segment has {', '.join(known)}; {name!r} is {said}")
        for name, kind in _KINDS.items():
            if type(values[name]) is not kind:
                said = describe(values[name])
                raise ValueError(f"{name!r} of a segment must be {_SAID[kind]}, got {said}")
        made = cls(**{**values, "names": tuple(values["names"])})
        problem = made._problem()
        if problem is not None:
            raise ValueError(f"not a segment: {problem}")
        return made

    @property
    def is_whole(self) -> bool:
        """Whether the segment is one or several whole files."""
        return self.start == 0 and self.last

    def _problem(self) -> str | None:
        """Return the error in the values."""
        for name in self.names:
            said = name_problem(name) if isinstance(name, str) else "is not a string"
            if said is not None:
                return f"the file name {shorten(repr(name))} {said}"
        if not self.path or "\0" in self.path:
            return f"the path {shorten(repr(self.path))} is not valid"
        if self.format and self.format not in [row.name for row in FORMATS]:
            return f"the format {shorten(repr(self.format))} is not known"
        if len(set(self.names)) < len(self.names):
            return "a file name is repeated"
        if not 0 <= self.start <= self.stop <= _LARGEST:
            return f"the range from {self.start} to {self.stop} is not valid"
        if not 1 <= self.line <= _LARGEST or not 0 <= self.record <= _LARGEST:
            return f"line {self.line} or record {self.record} is not valid"
        if self.start == 0 and (self.line, self.record) != (1, 0):
            return "a segment at the beginning of a file begins with line 1 and record 0"
        if len(self.sha256) != 64 or not set(self.sha256) <= set("0123456789abcdef"):
            return "sha256 is not 64 hexadecimal digits"
        if not self.is_whole and (
            len(self.names) > 1 or not self.format or not _can_cut(self.format)
        ):
            return "only a single file of some formats can be cut"
        return None


_KINDS: dict[str, type] = {
    "path": str, "names": list, "stem": str, "format": str, "start": int, "stop": int,
    "line": int, "record": int, "last": bool, "sha256": str,
}  # fmt: skip
_SAID = {str: "a string", int: "a whole number", bool: "true or false", list: "a list"}


def _can_cut(format: str) -> bool:
    form = find_format(format)
    return form.scan is not None or form.groups is not None


# Cutting.


def cut_inputs(
    paths: Readable | Iterable[Readable],
    format: str | None = None,
    *,
    texts: bool,
    size: int,
    only: str | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Iterator[Segment]:
    """Yield the segments of inputs, in the order in which a read of the whole would read them.

    Lines and blocks of lines, tables, PubMed XML and Parquet tables are cut between records; all
    other files are one segment each. Every file is read once.

    Parameters
    ----------
    paths : str or PathLike, or an iterable of these
        Files, folders and archives.
    format : str, optional
        A name from :data:`FORMATS`; by default suffix and content decide.
    texts : bool
        Whether to choose files and formats as :func:`iter_texts` does; otherwise as
        :func:`iter_read` does.
    size : int
        Decompressed bytes of a segment; it may have up to twice as many, or 1 MiB more if that is
        less, and a record. Of Parquet tables, those of row groups.
    only : str, optional
        A glob: cut only the files of folders and archives whose path matches.
    limits : Limits, optional
        Limits on compressed files and archives.
    progress : callable, optional
        ``progress(done, total)`` in bytes of the files on disk.
    **options
        Options of the format, as in the call of :func:`read_segments`.

    Raises
    ------
    ReadError
        If a limit is exceeded, or a folder or an archive has no file to read; without ``texts``
        also if the format of a single file cannot be told.
    OSError
        If a file is missing.
    ValueError
        If an argument is not valid.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = path.write_text("Raf binds Ras.")
    >>> [part] = cut_inputs(path, texts=True, size=1 << 20)
    >>> part.format, part.stem, part.stop
    ('standoff', 'a', 14)
    """
    if type(size) is not int or size < 1:
        raise ValueError(f"size must be a positive number of bytes, got {size!r}")
    form = None if format is None else find_format(format)
    given = given_options(options, form)
    places: list[tuple[str, Path]] = []
    for path in several(paths):
        place = as_path(path)
        if place is None:
            raise ValueError(f"only files can be cut into segments, got {path!r}")
        places.append((os.fspath(path), place))  # type: ignore[arg-type]
    cutter = _Cutter(form, size, only, limits, given, recognize_text if texts else None, progress)
    return cutter.cut_all(places)


class _Range(NamedTuple):
    """A range of bytes of a file, and its position."""

    start: int
    stop: int
    line: int
    record: int
    last: bool
    sha256: str


class _Cutter:
    """Cuts inputs, with the settings of one call."""

    def __init__(
        self,
        form: Format | None,
        size: int,
        only: str | None,
        limits: Limits | None,
        options: dict[str, Any],
        text_format: Callable[[Source], Format] | None,
        progress: Progress | None,
    ) -> None:
        self._form, self._size, self._only, self._limits = form, size, only, limits
        self._options, self._text_format, self._progress = options, text_format, progress
        self._done = self._total = self._shown = 0

    def cut_all(self, places: list[tuple[str, Path]]) -> Iterator[Segment]:
        self._total = sum(place.stat().st_size for _, place in places if place.is_file())
        for path, place in places:
            yield from self._cut_path(path, place)
            if place.is_file():
                self._done += place.stat().st_size
            self._report(0)

    def _cut_path(self, path: str, place: Path) -> Iterator[Segment]:
        meter = Meter(self._limits)
        with ExitStack() as closing:
            try:
                opened = open_place(path, meter)
            except StopError:
                raise
            except ReadError:
                if self._text_format is None:
                    raise
                yield _problem_segment(path)
                return
            closing.enter_context(opened)
            if isinstance(opened, Container):
                yield from self._cut_container(path, place, opened, meter)
            else:
                yield from self._cut_file(path, place, opened, meter)

    def _cut_file(self, path: str, place: Path, source: Source, meter: Meter) -> Iterator[Segment]:
        check_only(self._only, source)
        try:
            form = self._form or (self._text_format or recognize)(source)
        except StopError:
            raise
        except ReadError:
            if self._text_format is None:
                raise
            with Source(path, meter=meter) as again:
                yield _segment(path, (), again.stem, "", self._whole([again]))
            return
        if form is None:
            return
        check_options(self._options, form)
        with ExitStack() as closing:
            files = files_beside(source, place, form, meter)
            for other in files.sources.values():
                closing.enter_context(other)
            for range_ in self._ranges(files):
                yield _segment(path, (), source.stem, form.name, range_)

    def _cut_container(
        self, path: str, place: Path, container: Container, meter: Meter
    ) -> Iterator[Segment]:
        made = ContainerInput(
            container,
            meter,
            self._form,
            views=None,
            only=self._only,
            qualify_ids=False,
            options=self._options,
            text_format=self._text_format,
        )
        is_folder = place.is_dir()
        if is_folder:
            self._total += made.size or 0
        if container.problems:
            yield _problem_segment(path)
        for part in made.parts:
            with ExitStack() as closing:
                opening = partial(_open_members, container, part.names, part.stem, meter, closing)
                for format, range_ in self._cut_part(part, opening):
                    yield _segment(path, part.names, part.stem, format, range_)
            if is_folder:
                self._done += sum(map(container.size, part.names))

    def _cut_part(
        self, part: Part, opening: Callable[[], dict[str, Source]]
    ) -> Iterator[tuple[str, _Range]]:
        """Yield the format and the ranges of files of a folder or an archive."""
        try:
            sources = opening()
            form = part.format or (self._text_format or recognize)(sources[part.names[0]])
        except StopError:
            raise
        except ReadError:  # they cannot be opened, or their format cannot be told
            try:
                yield "", self._whole(opening().values())
            except StopError:
                raise
            except ReadError:
                yield "", _Range(0, 0, 1, 0, True, _NONE)
            return
        if form is not None:
            check_options(self._options, form)
            for range_ in self._ranges(member_files(sources, form)):
                yield form.name, range_

    def _ranges(self, files: Files) -> Iterator[_Range]:
        sources = list(files.sources.values())
        form, source = files.format, sources[0]
        scan = None
        if form.scan is not None:
            scan = form.scan(source, **self._options)
        elif form.groups is not None and source.is_plain():
            groups = form.groups(source, **self._options)
            ranges = _row_ranges(groups, self._size)
            if len(ranges) > 1:
                digest = _file_digest(source)
                yield from (range_._replace(sha256=digest) for range_ in ranges)
                return
        if scan is None:
            yield self._whole(sources)
        else:
            yield from self._cut(source, scan)

    def _whole(self, sources: Iterable[Source]) -> _Range:
        """Return the range of whole files."""
        total, digests = 0, []
        for source in sources:
            feed = _Feed(source)
            digest = sha256(source.mark)
            total += len(source.mark)
            while data := feed.read(_WINDOW):
                total += len(data)
                digest.update(data)
                self._report(source.position)
            digests.append(digest.digest())
        return _Range(0, total, 1, 0, True, _joined(digests))

    def _cut(self, source: Source, scan: Scan) -> Iterator[_Range]:
        """Yield ranges of complete records that have the wanted size or slightly more."""
        opening, feed = source.opening, _Feed(source)
        step = min(self._size, _WINDOW)
        start, place, line, record = 0, len(source.mark), 1, 0
        n_lines = n_records = 0
        digest = sha256(source.mark)
        pending: _Range | None = None
        data, is_sure = b"", True
        while chunk := feed.read(max(step, len(data)) if is_sure else _WINDOW):
            self._report(source.position)
            if pending is not None:
                yield pending
                pending = None
            data += chunk
            found = scan(data) if is_sure else None
            is_sure = found is not None and len(data) <= source.meter.limits.line
            end, n_found = found if is_sure and found is not None else (len(data), 0)
            piece, data = data[:end], data[end:]
            digest.update(piece)
            place += end
            n_lines += piece.count(b"\n")
            n_records += n_found
            if is_sure and end and n_records and place - start >= self._size:
                pending = _Range(start, place, line, record, False, digest.hexdigest())
                line, record = 1 + n_lines, n_records
                start, digest = place, sha256(opening)
        if pending is not None:
            yield pending._replace(last=not data)
        if pending is None or data:
            digest.update(data)
            yield _Range(start, place + len(data), line, record, True, digest.hexdigest())

    def _report(self, position: int) -> None:
        if self._progress is not None:
            self._shown = max(self._shown, min(self._done + position, self._total))
            self._progress(self._shown, self._total)


def _row_ranges(groups: list[tuple[int, int]], size: int) -> list[_Range]:
    """Return ranges of rows, without the hash of the file, given rows and bytes of row groups."""
    made: list[_Range] = []
    start = stop = n_bytes = 0
    for number, (n_rows, n_new) in enumerate(groups, start=1):
        stop += n_rows
        n_bytes += n_new
        is_last = number == len(groups)
        if is_last or (n_bytes >= size and stop > start):
            made.append(_Range(start, stop, start + 1, start, is_last, ""))
            start, n_bytes = stop, 0
    return made


def _file_digest(source: Source) -> str:
    """Return the hash of a file that is not compressed."""
    if source.path is None:
        return ""
    state = source.path.stat()
    return _digest_of(source.path, state.st_ino, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=64)
def _digest_of(path: Path, *state: int) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while chunk := file.read(_WINDOW):
            digest.update(chunk)
    return digest.hexdigest()


class _Feed:
    """Reads bytes up to the end of a source, or to where it is damaged."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def read(self, size: int) -> bytes:
        pieces: list[bytes] = []
        while size > 0:
            try:
                piece = self._source.stream.read1(min(size, CHUNK))  # type: ignore[attr-defined]
            except StopError:
                raise
            except ReadError:  # reported when the last segment is read
                break
            if not piece:
                break
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)


def _segment(path: str, names: tuple[str, ...], stem: str, format: str, range_: _Range) -> Segment:
    return Segment(path, names, stem, format, *range_)


def _problem_segment(path: str) -> Segment:
    """Return the segment of a path that cannot be opened, or of the problems of an archive."""
    return _segment(path, (), "", "", _Range(0, 0, 1, 0, True, _NONE))


def _joined(digests: list[bytes]) -> str:
    return digests[0].hex() if len(digests) == 1 else sha256(b"".join(digests)).hexdigest()


def _open_members(
    container: Container, names: tuple[str, ...], stem: str, meter: Meter, closing: ExitStack
) -> dict[str, Source]:
    sources: dict[str, Source] = {}
    for name in names:
        sources[name] = closing.enter_context(MemberSource(container, name, stem, meter))
    return sources


# Reading.


def read_segments(
    segments: Iterable[Segment],
    errors: ErrorPolicy = "raise",
    *,
    texts: bool,
    views: Iterable[str] | None = None,
    limits: Limits | None = None,
    qualify_ids: bool = False,
    **options: Any,
) -> ExampleStream:
    """Read segments, one after the other, as the whole inputs would be read.

    Repeated ids are found within a segment only. Where a whole read ends at the first damaged
    part of a Parquet table, the segments after it are read nevertheless.

    Parameters
    ----------
    segments : iterable of Segment
        From :func:`cut_inputs`. Consecutive segments of a compressed file or an archive are read
        in one pass; the bytes before the first one are skipped.
    errors : {"raise", "skip", "collect"}
        Treatment of a broken part, as in :func:`read`.
    texts : bool
        As in :func:`cut_inputs`.
    views : iterable of str, optional
        Parse only these views, as in :func:`read`.
    limits : Limits, optional
        Limits on compressed files and archives.
    qualify_ids : bool
        Begin ids with the path of their file in the folder or archive, as in :func:`read`.
    **options
        Options of the format, as in the call of :func:`cut_inputs`.

    Returns
    -------
    ExampleStream
        An iterator over examples with a ``tally``.

    Raises
    ------
    ChangedError
        If a file is missing or has changed since it was cut, for any value of ``errors``; at the
        latest after the last example of the segment.
    """
    check_policy(errors)
    made = _SegmentInput(
        list(segments),
        texts=texts,
        views=view_names(views),
        limits=limits,
        qualify_ids=qualify_ids,
        options=given_options(options, None),
        check_first=errors == "raise",
    )
    return ExampleStream(made, errors)


@contextmanager
def inputs_kept_open() -> Iterator[None]:
    """Keep the input that was read last open for the next call of `read_segments`.

    In the block, calls that read the consecutive segments of a compressed file or an archive
    decompress it once, not each from the beginning.
    """
    kept: list[_Place] = []
    token = _KEPT.set(kept)
    try:
        yield
    finally:
        _KEPT.reset(token)
        for place in kept:
            place.close()


_KEPT: ContextVar[list[_Place] | None] = ContextVar("kept", default=None)


class _SegmentInput(Input[Example]):
    """The items of segments; the file that was read last stays open for the next segment."""

    def __init__(
        self,
        segments: list[Segment],
        *,
        texts: bool,
        views: Views,
        limits: Limits | None,
        qualify_ids: bool,
        options: Mapping[str, Any],
        check_first: bool,
    ) -> None:
        for segment in segments:
            if not isinstance(segment, Segment):
                raise TypeError(f"expected segments, got {type(segment).__name__}")
        self._segments, self._texts, self._views = segments, texts, views
        self._limits, self._qualify_ids, self._options = limits, qualify_ids, options
        self._check_first = check_first
        self._kept = _KEPT.get()
        self._place: _Place | None = self._kept.pop() if self._kept else None
        self._is_complete = False
        self._checks: _Checks | None = None
        self._read = 0
        super().__init__(self._all_items(), [])

    def _all_items(self) -> Iterator[Item]:
        for segment in self._segments:
            used = UsedIds()
            for item in self._items(segment):
                is_text = self._texts and isinstance(item, Example)
                yield checked_text(item, used) if is_text else item  # type: ignore[arg-type]
        self._is_complete = True

    def _items(self, segment: Segment) -> Iterator[Item]:
        checks = self._checks = _Checks(segment)
        try:
            items = self._opened(segment, checks)
            if self._qualify_ids and segment.names:
                items = qualified(items, segment.stem)
            for item in items:
                if self._check_first and isinstance(item, ReadError):
                    checks.check()
                yield item
        except StopError:
            raise
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as failure:
            raise _changed(segment, f"it cannot be opened: {failure.strerror}") from failure
        except ReadError as problem:
            checks.check()
            yield problem
        else:
            checks.check()
        self._read += segment.stop - segment.start
        self._checks = None

    def _opened(self, segment: Segment, checks: _Checks) -> Iterator[Item]:
        """Return the items of a segment; raise ``ReadError`` if it cannot be opened."""
        if self._place is None or not self._place.can_read(segment):
            self._close_place()
            if not os.path.lexists(segment.path):
                raise _changed(segment, "it is missing")
            self._place = _Place(segment.path, self._limits)
        if not segment.names and isinstance(self._place.opened, Container):
            if not self._place.opened.problems or segment.format:
                raise _changed(segment, "it had no problems before, or was not an archive")
            checks.accept()
            return iter(self._place.opened.problems)
        if self._place.open(segment):
            self.files += len(segment.names) or 1
        sources = checks.take(self._place.sources)
        if segment.format:
            form = find_format(segment.format)
        else:
            (recognize_text if self._texts else recognize)(next(iter(sources.values())))
            raise _changed(segment, "its format can be told now")
        check_options(self._options, form)
        return Files(form, sources).items(self._views, self._options)

    def _close_place(self) -> None:
        if self._place is not None:
            self._place.close()
            self._place = None

    @property
    def position(self) -> int:
        """Number of decompressed bytes read so far."""
        return self._read + (0 if self._checks is None else self._checks.done)

    @property
    def size(self) -> int | None:
        """Number of decompressed bytes of all segments."""
        return sum(segment.stop - segment.start for segment in self._segments)

    def close(self) -> None:
        """Close the open files and delete temporary ones."""
        items, self.items = self.items, iter(())
        if hasattr(items, "close"):
            items.close()
        if self._kept is not None and self._is_complete and self._place is not None:
            self._kept.append(self._place)
            self._place = None
        self._close_place()


class _Place(Closing):
    """An open input, and the files in it that are read.

    ``sources`` are the whole files, by the suffixes of companions.
    """

    def __init__(self, path: str, limits: Limits | None) -> None:
        self._path, self._meter = path, Meter(limits)
        self.opened = open_place(path, self._meter)
        self.sources: Mapping[str, Source] = {}
        self._files = ExitStack()
        self._before: Segment | None = None

    def can_read(self, segment: Segment) -> bool:
        """Return whether the files of a segment can be opened, or read on."""
        if segment.path != self._path:
            return False
        is_container = isinstance(self.opened, Container)
        return is_container or self._before is None or self._continues(segment)

    def _continues(self, segment: Segment) -> bool:
        before = self._before
        return (
            before is not None
            and (before.names, before.format) == (segment.names, segment.format)
            and 0 < before.stop <= segment.start
        )

    def open(self, segment: Segment) -> bool:
        """Open the files of a segment at its beginning; return whether they were closed before."""
        if self._continues(segment) and self._before is not None:
            self._skip(segment, self._before.stop)
            self._before = segment
            return False
        self._files.close()
        self._before = segment
        form = find_format(segment.format) if segment.format else None
        if isinstance(self.opened, Container):
            self.sources = self._open_members(self.opened, segment, form)
        elif segment.names:
            raise _changed(segment, "it was a folder or an archive")
        elif form is None:
            self.sources = {"": self.opened}
        else:
            self.opened.stem = segment.stem
            files = files_beside(self.opened, Path(self._path), form, self._meter)
            self.sources = files.sources
            for source in self.sources.values():
                self._files.enter_context(source)
        if not segment.is_whole:
            self._skip(segment, None)
        return True

    def _skip(self, segment: Segment, here: int | None) -> None:
        """Go to the beginning of a segment from ``here``, or from the beginning of the file."""
        [source] = self.sources.values()
        if find_format(segment.format).groups is not None:
            return  # which are read from the file itself
        if here is None:
            _ = source.opening  # before the stream is read
        source.skip_to(segment.start, len(source.mark) if here is None else here)

    def _open_members(
        self, container: Container, segment: Segment, form: Format | None
    ) -> Mapping[str, Source]:
        for name in segment.names:
            if name not in container.names:
                raise _changed(segment, f"there is no file {shorten(repr(name))} in it")
        sources = _open_members(container, segment.names, segment.stem, self._meter, self._files)
        return sources if form is None else member_files(sources, form).sources

    def close(self) -> None:
        """Close all files."""
        self._files.close()
        self.opened.close()


class _Checks:
    """The bytes of a segment, hashed as they are read."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._parts: list[_Hashed] = []
        self._table: Source | None = None
        # There is nothing to check if files could not be opened before, and cannot now.
        self._accepted = not segment.format and not segment.stop

    @property
    def done(self) -> int:
        """Number of bytes read."""
        return sum(part.done for part in self._parts)

    def accept(self) -> None:
        """Accept an input without bytes."""
        self._accepted = True

    def take(self, sources: Mapping[str, Source]) -> dict[str, Source]:
        """Return sources with the bytes of the segment only."""
        segment, taken = self._segment, {}
        stop = segment.stop if len(sources) == 1 else _LARGEST
        extent = Extent(segment.start, segment.line, segment.record, None if segment.last else stop)
        if not segment.is_whole and find_format(segment.format).groups is not None:
            [(suffix, self._table)] = sources.items()
            return {suffix: self._table.part(iter(()), extent)}
        for suffix, source in sources.items():
            part = _Hashed(source, extent, stop)
            self._parts.append(part)
            taken[suffix] = source.part(part.chunks, extent)
        return taken

    def check(self) -> None:
        """Raise ``ChangedError`` if the bytes are not those of the segment."""
        segment = self._segment
        if self._table is not None:
            if _file_digest(self._table) != segment.sha256:
                raise _changed(segment, "its content is not the same")
            return
        if not self._parts:
            if not self._accepted:
                raise _changed(segment, "it cannot be opened")
            return
        for part in self._parts:
            part.drain()
        if self.done < segment.stop - segment.start:
            raise _changed(segment, "it is shorter")
        if any(part.is_longer for part in self._parts):
            raise _changed(segment, "it is longer")
        if _joined([part.digest.digest() for part in self._parts]) != segment.sha256:
            raise _changed(segment, "its content is not the same")


class _Hashed:
    """The bytes of a source from its current place on."""

    def __init__(self, source: Source, extent: Extent, stop: int) -> None:
        self._source, self._left, self._last = source, stop - extent.start, extent.stop is None
        self.digest = sha256(source.opening if extent.start else source.mark)
        self.done = 0 if extent.start else len(source.mark)
        self.is_longer = False
        self.chunks = self._chunks()

    def _chunks(self) -> Iterator[bytes]:
        read = self._source.stream.read1  # type: ignore[attr-defined]
        while self.done < self._left and (chunk := read(min(CHUNK, self._left - self.done))):
            self.done += len(chunk)
            self.digest.update(chunk)
            yield chunk
        if self._last and self.done >= self._left:
            self.is_longer = self.done > self._left or bool(read(1))

    def drain(self) -> None:
        """Read the bytes that the reader left."""
        try:
            for _ in self.chunks:
                pass
        except StopError:
            raise
        except ReadError:  # damage that the reader did not come to
            pass


def _changed(segment: Segment, how: str) -> ChangedError:
    return ChangedError(
        f"{_CHANGED}: {how}",
        path="!".join((segment.path, *segment.names[:1])),
        hint="make a new plan, or restore the file",
    )
