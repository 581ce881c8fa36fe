"""From what the user names to a stream of items: one file, a folder or an archive."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, cast

from kernelwood.errors import ReadError
from kernelwood.io.containers import Container
from kernelwood.io.encodings import encoding_hint
from kernelwood.io.folders import Folder
from kernelwood.io.formats import Format, Views, formats_by_content, recognize
from kernelwood.io.limits import LimitError, Limits, Meter
from kernelwood.io.plan import Part, companion_suffix, make_plan, single_part
from kernelwood.io.source import Closing, Item, Readable, Source
from kernelwood.io.tars import TarArchive, looks_like_tar
from kernelwood.io.unpacking import CHUNK, PACKED_SUFFIXES, plain_name
from kernelwood.io.zips import ZipArchive, looks_like_zip, spooled
from kernelwood.structures import shorten
from kernelwood.text import Example

__all__ = ["ContainerInput", "FileInput", "Input", "open_input"]

_SHOWN = 5  # files named in a message


class Input(Closing):
    """What is read.

    Attributes
    ----------
    items : iterator of Item
        What the readers deliver.
    files : int
        How many files were begun.
    ignored : tuple of str
        Files of a folder or an archive that are not read.
    """

    items: Iterator[Item]
    files: int = 0
    ignored: tuple[str, ...] = ()

    @property
    def position(self) -> int:
        """How many bytes were read so far."""
        raise NotImplementedError

    @property
    def size(self) -> int | None:
        """How many there are, None if that is not known."""
        raise NotImplementedError


def open_input(
    path: Readable,
    form: Format | None,
    *,
    views: Views = None,
    only: str | None = None,
    limits: Limits | None = None,
    qualify_ids: bool = False,
) -> Input:
    """Open a file, stream, folder or archive; archives are recognized by their content."""
    meter = Meter(limits)
    container: Container
    place = _as_path(path)
    if place is not None:
        _check_path(os.fspath(cast("str | os.PathLike[str]", path)))
    if place is not None and place.is_dir():
        container = Folder(place)
        return ContainerInput(
            container, meter, form, views=views, only=only, qualify_ids=qualify_ids
        )
    with ExitStack() as opened:
        source = opened.enter_context(Source(path, meter=meter))
        if looks_like_zip(source.head):
            file = _random_access(place) or spooled(source.stream, source.name, meter)
            container = ZipArchive(file, source.name, meter)
        elif looks_like_tar(source.head):
            container = TarArchive(source.stream, source.name, meter)
        elif only is not None:
            raise ValueError(
                f"only= chooses files of a folder or an archive; {source.name} is a single file"
            )
        else:
            made = FileInput(source, place, form, views=views, meter=meter)
            opened.pop_all()
            return made
    return ContainerInput(container, meter, form, views=views, only=only, qualify_ids=qualify_ids)


def _as_path(origin: Readable) -> Path | None:
    """Return the path of a file or folder; None for standard input and streams."""
    is_path = isinstance(origin, (str, os.PathLike)) and origin != "-"
    return Path(cast("str | os.PathLike[str]", origin)) if is_path else None


def _check_path(name: str) -> None:
    """Raise an error that helps if this is no path at all; opening it says what else is wrong."""
    try:
        os.lstat(name)
    except PermissionError:
        return
    except (OSError, ValueError) as failure:  # it is not there, is too long, or has a NUL
        looks_like = formats_by_content(name.encode("utf-8", "replace"))
        if "\n" in name or "\0" in name or looks_like:
            raise ValueError(
                f"{shorten(repr(name))} is no path; to read a text, give io.StringIO(text)"
            ) from failure
        if "://" in name:
            raise ValueError(f"{name!r} is an address; fetch the file first") from failure
        raise


def _random_access(place: Path | None) -> BinaryIO | None:
    """Open a zip archive where it lies, unless it was compressed once more."""
    if place is None:
        return None
    file = place.open("rb")
    if looks_like_zip(file.read(CHUNK)):
        return file
    file.close()
    return None


class FileInput(Input):
    """One file, with its companions if its format has any."""

    def __init__(
        self, source: Source, place: Path | None, form: Format | None, *, views: Views, meter: Meter
    ) -> None:
        form = recognize(source) if form is None else form
        self._opened = ExitStack()
        self._sources = [source]
        self.files = 1
        self.items = iter(())
        if form is None:
            return
        check_views(form, views)
        if not form.companions:
            self.items = _doubting(form.read(source, views), source, form)
            return
        try:
            files = self._companions(source, place, form, meter)
        except BaseException:
            self._opened.close()
            raise
        self.files = len(files)
        self._sources = list(files.values())
        self.items = form.read(files, views)

    def _companions(
        self, source: Source, place: Path | None, form: Format, meter: Meter
    ) -> Mapping[str, Source]:
        own = companion_suffix(source.suffix, form)
        if own is None:  # a stream without a name: is it the text or what is said about it?
            sniffed = form.sniff(source.head.decode("utf-8", "replace"))
            others = [suffix for suffix in form.companions if suffix not in form.suffixes]
            own = others[0] if others and not sniffed else form.suffixes[0]
        files = {own: source}
        if place is not None and source.suffix.endswith(own):
            stem = plain_name(place.name)[: -len(own)]
            for suffix in form.companions:
                beside = _first_file(place.with_name(stem + suffix)) if suffix != own else None
                if beside is not None:
                    files[suffix] = self._opened.enter_context(Source(beside, meter=meter))
        return files

    @property
    def position(self) -> int:
        """How many bytes were read so far."""
        return sum(source.position for source in self._sources)

    @property
    def size(self) -> int | None:
        """How many there are, None for a stream."""
        sizes = [source.size for source in self._sources if source.size is not None]
        return sum(sizes) if len(sizes) == len(self._sources) else None

    def close(self) -> None:
        """Close the files that were opened here."""
        self.items = iter(())
        self._opened.close()
        for source in self._sources:
            source.close()


def _first_file(path: Path) -> Path | None:
    packings = ("", *PACKED_SUFFIXES)
    found = (path.with_name(path.name + packing) for packing in packings)
    return next((path for path in found if path.is_file()), None)


class ContainerInput(Input):
    """The files of a folder or an archive, one part after the other."""

    def __init__(
        self,
        container: Container,
        meter: Meter,
        form: Format | None,
        *,
        views: Views,
        only: str | None,
        qualify_ids: bool,
    ) -> None:
        self._container, self._meter, self._views = container, meter, views
        self._qualify_ids = qualify_ids
        self._done = 0
        self._current: list[Source] = []
        try:
            self._plan = make_plan(container.names, form, only, self._sniff)
            self.ignored = tuple(sorted((*self._plan.ignored, *container.passed_over)))
            if not self._plan.parts:
                raise self._nothing(only)
            for row in {part.format for part in self._plan.parts}:
                if row is not None:
                    check_views(row, views)
        except BaseException:
            container.close()
            raise
        self._size = sum(container.size(name) for part in self._plan.parts for name in part.names)
        self.items = self._all_items()

    def _sniff(self, name: str) -> Part | None:
        try:
            with self._open(name, None) as source:
                rows = formats_by_content(source.head)
                if not source.head.strip():
                    source.is_blank()  # or damaged from the beginning
        except LimitError:
            raise
        except ReadError:
            return single_part(name, None)  # to be reported when its turn comes
        rows = [row for row in rows if not row.companions]
        if not rows:
            return None
        return single_part(name, rows[0] if len(rows) == 1 else None)

    def _nothing(self, only: str | None) -> ReadError:
        container = self._container
        if container.problems:
            return container.problems[0]
        names = container.names if only is not None and not self.ignored else self.ignored
        listed = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        if not names:
            problem = "there are no files in it"
            hint = "hidden files are passed over, and links to folders not followed"
        elif only is not None and not self.ignored:
            problem = f"none of its {len(names)} files fits only={only!r}; it has {listed}"
            hint = "the whole path must fit; * stands for any characters, slashes too"
        else:
            problem = f"none of its {len(names)} files can be read; it has {listed}"
            hint = "files are chosen by their suffix; format=... reads those without a known one"
        return ReadError(problem, path=container.name, hint=hint)

    def _all_items(self) -> Iterator[Item]:
        yield from self._container.problems
        for part in self._plan.parts:
            try:
                items = self._part_items(part)
                yield from _qualified(items, part.stem) if self._qualify_ids else items
            except LimitError:
                raise
            except ReadError as problem:  # of this file; the others may be good
                yield problem
            self._current = []
            self._done += sum(map(self._container.size, part.names))

    def _part_items(self, part: Part) -> Iterator[Item]:
        self.files += len(part.names)
        with ExitStack() as opened:
            sources = {}
            for name in part.names:
                sources[name] = opened.enter_context(self._open(name, part.stem))
                self._current.append(sources[name])
            form = part.format or recognize(sources[part.names[0]])
            if form is None:
                return
            if part.format is not None and form.companions:
                files = {companion_suffix(name, form): sources[name] for name in part.names}
                yield from form.read(files, self._views)
            else:
                source = sources[part.names[0]]
                yield from _doubting(form.read(source, self._views), source, form)

    def _open(self, name: str, stem: str | None) -> _MemberSource:
        return _MemberSource(self._container, name, stem, self._meter)

    @property
    def position(self) -> int:
        """How many bytes of the chosen files were read so far."""
        return self._done + sum(source.position for source in self._current)

    @property
    def size(self) -> int | None:
        """How many bytes the chosen files have."""
        return self._size

    def close(self) -> None:
        """Close what is open and delete what was unpacked."""
        items, self.items = self.items, iter(())
        if hasattr(items, "close"):
            items.close()
        self._container.close()


class _MemberSource(Source):
    """A file of a folder or an archive, closed with its source."""

    def __init__(self, container: Container, name: str, stem: str | None, meter: Meter) -> None:
        self._file = container.open(name)
        try:
            super().__init__(self._file, name=container.title(name), stem=stem, meter=meter)
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Close the file."""
        super().close()
        self._file.close()


def _qualified(items: Iterator[Item], stem: str) -> Iterator[Item]:
    """Put ``stem`` before the ids of examples, unless they begin with it already."""
    for item in items:
        if isinstance(item, Example) and item.id != stem and not item.id.startswith(f"{stem}:"):
            yield Example(f"{stem}:{item.id}", item.label, item.views, item.origin)
        else:
            yield item


def _doubting(items: Iterator[Item], source: Source, form: Format) -> Iterator[Item]:
    """Yield ``items``; if the first is a problem, it may be that the format is not this one."""
    try:
        first = next(items, None)
    except LimitError:
        raise
    except ReadError as problem:
        raise _doubted(problem, source, form) from problem
    if first is None:
        return
    yield _doubted(first, source, form) if isinstance(first, ReadError) else first
    yield from items


def _doubted(problem: ReadError, source: Source, form: Format) -> ReadError:
    if problem.line is None:  # not about the content, but about how it is packed
        return problem
    hint = encoding_hint(source.head)
    looks = [row.name for row in formats_by_content(source.head)]
    if hint is None and looks and form.name not in looks:
        hint = f"this does not look like {form.name} but like {' or '.join(looks)}; "
        hint += " or ".join(f"format={name!r}" for name in looks) + " reads it so"
    if hint is None:
        return problem
    return source.error(
        problem.problem,
        line=problem.line,
        column=problem.column,
        snippet=problem.snippet,
        hint=hint,
    )


def check_views(form: Format, views: Views) -> None:
    """Raise ``ValueError`` if a format never has one of ``views``."""
    missing = [name for name in views or () if form.views is not None and name not in form.views]
    if missing and form.views is not None:
        raise ValueError(
            f"the {form.name} format has no view {missing[0]!r}; it has {', '.join(form.views)}"
        )
