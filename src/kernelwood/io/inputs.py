"""Opening of files, folders and archives, and the choice of files and formats in them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, TypeAlias

from kernelwood.errors import ReadError, printable
from kernelwood.io.containers.compression import CHUNK, PACKED_SUFFIXES, plain_name, spooled
from kernelwood.io.containers.container import Container
from kernelwood.io.containers.folders import Folder
from kernelwood.io.containers.limits import LimitError, Limits, Meter
from kernelwood.io.containers.tar import TarArchive, looks_like_tar
from kernelwood.io.containers.zip import ZipArchive, looks_like_zip
from kernelwood.io.formats import table
from kernelwood.io.formats.table import (
    Format,
    Views,
    check_options,
    formats_by_content,
    formats_by_suffix,
    given_options,
    recognize,
    sure_formats,
)
from kernelwood.io.source import Item, Readable, Source, encoding_hint
from kernelwood.io.streams import Input
from kernelwood.structures import shorten
from kernelwood.text import Example

# Returns the format of a file, None if it is empty; raises if it cannot be told.
Recognizer: TypeAlias = Callable[[Source], Format | None]

_SHOWN = 5  # files named in a message
# Suffixes that are not specific to a format: the content decides.
_SNIFFED = (".txt", ".xml", ".json")
_TEXT = ".txt"
_OFFICE = "[Content_Types].xml"  # a file in every Word and Excel document
_ARCHIVES = (".zip", ".tar", ".tgz", ".tbz2", ".txz", ".7z", ".rar", ".jar")


def open_input(
    path: Readable,
    form: Format | None,
    *,
    views: Views = None,
    only: str | None = None,
    limits: Limits | None = None,
    qualify_ids: bool = False,
    options: Mapping[str, Any] | None = None,
    text_format: Recognizer | None = None,
) -> Input[Example]:
    """Open a file, stream, folder or archive; archives are recognized by their content.

    ``text_format`` returns the format of a file if the user gave none; with it, files ending in
    .txt may be plain text.
    """
    options = given_options(options or {}, form)
    meter = Meter(limits)
    opened = open_place(path, meter)
    if isinstance(opened, Container):
        return ContainerInput(
            opened,
            meter,
            form,
            views=views,
            only=only,
            qualify_ids=qualify_ids,
            options=options,
            text_format=text_format,
        )
    with ExitStack() as closing:
        closing.enter_context(opened)
        check_only(only, opened)
        form = (text_format or recognize)(opened) if form is None else form
        if form is None:
            made: Input[Example] = Input(iter(()), [opened])
        else:
            _check_views(form, views)
            check_options(options, form)
            files = files_beside(opened, as_path(path), form, meter)
            made = Input(files.items(views, options), list(files.sources.values()))
        closing.pop_all()
    return made


def open_place(path: Readable, meter: Meter) -> Container | Source:
    """Open a folder or an archive, or else a single file."""
    place = as_path(path)
    if place is not None and place.is_dir():
        return Folder(place)
    with ExitStack() as opened:
        source = opened.enter_context(Source(path, meter=meter))
        if looks_like_zip(source.head):
            file = _random_access(place) or spooled(source.stream, source.name, meter)
            return ZipArchive(file, source.name, meter)
        if looks_like_tar(source.head):
            return TarArchive(source.stream, source.name, meter)
        opened.pop_all()
    return source


def check_only(only: str | None, source: Source) -> None:
    """Raise ``ValueError`` if files are to be chosen of a single file."""
    if only is not None:
        raise ValueError(
            f"only= chooses files of a folder or an archive; {source.name} is a single file"
        )


def as_path(origin: Readable) -> Path | None:
    """Return the path of a file or folder, having checked it; None for streams."""
    if not isinstance(origin, (str, os.PathLike)) or origin == "-":
        return None
    name = os.fspath(origin)
    try:
        os.lstat(name)
    except PermissionError:
        pass  # reported when the file is opened
    except (OSError, ValueError) as failure:  # it does not exist, is too long, or has a NUL
        looks_like = formats_by_content(name.encode("utf-8", "replace"))
        if "\n" in name or "\0" in name or looks_like:
            raise ValueError(
                f"{shorten(repr(name))} is not a path; to read a text, give io.StringIO(text)"
            ) from failure
        if "://" in name:
            raise ValueError(f"{name!r} is an address; fetch the file first") from failure
        raise
    return Path(name)


def _random_access(place: Path | None) -> BinaryIO | None:
    """Open a zip archive in place, unless it is compressed as a whole."""
    if place is None:
        return None
    file = place.open("rb")
    if looks_like_zip(file.read(CHUNK)):
        return file
    file.close()
    return None


@dataclass(frozen=True)
class Files:
    """Open files that are read together; by suffix, if their format has companions."""

    format: Format
    sources: Mapping[str, Source]

    def items(self, views: Views, options: Mapping[str, Any]) -> Iterator[Item]:
        """Return what their reader yields."""
        read = self.format.reader(options)
        if self.format.companions:
            return read(self.sources, views)
        [source] = self.sources.values()
        items = read(source, views)
        return items if source.extent.start else _with_format_hint(items, source, self.format)


def files_beside(source: Source, place: Path | None, form: Format, meter: Meter) -> Files:
    """Return a file with its companions, which are opened, if its format has any."""
    if not form.companions:
        return Files(form, {"": source})
    own = companion_suffix(source.suffix, form)
    if own is None:  # a stream without a name is either the text or its annotation
        sniffed = form.sniff(source.head.decode("utf-8", "replace"))
        own = form.suffixes[0] if sniffed else form.companions[0]
    files = {own: source}
    with ExitStack() as opened:
        if place is not None and source.suffix.endswith(own):
            stem = plain_name(place.name)[: -len(own)]
            for suffix in form.companions:
                beside = _first_file(place.with_name(stem + suffix)) if suffix != own else None
                if beside is not None:
                    files[suffix] = opened.enter_context(Source(beside, meter=meter))
        opened.pop_all()
    return Files(form, files)


def member_files(sources: Mapping[str, Source], form: Format) -> Files:
    """Return files of a folder or an archive, given by their names."""
    return Files(form, {companion_suffix(name, form) or "": sources[name] for name in sources})


def _first_file(path: Path) -> Path | None:
    found = (path.with_name(path.name + packing) for packing in ("", *PACKED_SUFFIXES))
    return next((path for path in found if path.is_file()), None)


class ContainerInput(Input[Example]):
    """The files of a folder or an archive, one part after another.

    ``parts`` are the files that are read together, in order.
    """

    def __init__(
        self,
        container: Container,
        meter: Meter,
        form: Format | None,
        *,
        views: Views,
        only: str | None,
        qualify_ids: bool,
        options: Mapping[str, Any],
        text_format: Recognizer | None,
    ) -> None:
        self._text_format = text_format
        self._container, self._meter, self._views = container, meter, views
        self._qualify_ids, self._options = qualify_ids, options
        self._done = 0
        super().__init__(self._all_items(), [])
        try:
            plan = make_plan(container.names, form, only, self._sniff)
            self.parts = plan.parts
            self.ignored = tuple(sorted((*plan.ignored, *container.passed_over)))
            if not self.parts:
                raise self._nothing(only)
            for row in {part.format for part in self.parts}:
                if row is not None:
                    _check_views(row, views)
                    check_options(options, row)
        except BaseException:
            container.close()
            raise
        self._size = sum(container.size(name) for part in self.parts for name in part.names)

    def _sniff(self, name: str) -> Part | None:
        if self._text_format and _is_text(name):
            return _single_part(name, None)  # recognized when it is read
        try:
            with self._open(name, None) as source:
                rows = (sure_formats if _is_text(name) else formats_by_content)(source.head)
                if not source.head.strip():
                    source.is_blank()  # raises if the file is damaged
        except LimitError:
            raise
        except ReadError:
            return _single_part(name, None)  # reported when the part is read
        rows = [row for row in rows if not row.companions]
        named = formats_by_suffix(plain_name(name).lower())
        # A table or JSON file need not hold texts, and texts may not be asked for.
        rows = [row for row in rows if not row.general or (row in named and self._text_format)]
        if not rows and self._options:  # which may name the columns of a table
            rows = named
        if not rows:
            return None
        return _single_part(name, rows[0] if len(rows) == 1 else None)

    def _nothing(self, only: str | None) -> ReadError:
        container = self._container
        if container.problems:
            return container.problems[0]
        names = container.names if only is not None and not self.ignored else self.ignored
        shown = [printable(name, lines=False) for name in names[:_SHOWN]]
        listed = ", ".join([*shown, "..."] if len(names) > _SHOWN else shown)
        if _OFFICE in container.names:
            problem = "this is an Office document, not text"
            hint = "convert it to plain text or, if it is a table, to CSV first"
        elif not names:
            problem = "there are no files in it"
            hint = "hidden files and links to folders are ignored"
        elif only is not None and not self.ignored:
            problem = f"none of its {len(names)} files matches only={only!r}; it has {listed}"
            hint = "the whole path must match; * matches any characters, slashes too"
        else:
            problem = f"none of its {len(names)} files can be read; it has {listed}"
            hint = "files are chosen by their suffix; format=... reads those without a known one"
            if any(map(_is_text, names)):
                problem = f"texts without .ann beside them: it has {listed}"
                hint = (
                    "put the annotation of name.txt into name.ann; format=... reads other formats"
                )
        return ReadError(problem, path=container.name, hint=hint)

    def _all_items(self) -> Iterator[Item]:
        yield from self._container.problems
        for part in self.parts:
            try:
                items = self._part_items(part)
                yield from qualified(items, part.stem) if self._qualify_ids else items
            except LimitError:
                raise
            except ReadError as problem:  # of this file; the others may be readable
                yield problem
            self._sources = []
            self._done += sum(map(self._container.size, part.names))

    def _part_items(self, part: Part) -> Iterator[Item]:
        self.files += len(part.names)
        with ExitStack() as opened:
            sources = {}
            for name in part.names:
                sources[name] = opened.enter_context(self._open(name, part.stem))
                self._sources = [*self._sources, sources[name]]
            form = part.format or (self._text_format or recognize)(sources[part.names[0]])
            if form is not None:
                yield from member_files(sources, form).items(self._views, self._options)

    def _open(self, name: str, stem: str | None) -> MemberSource:
        return MemberSource(self._container, name, stem, self._meter)

    @property
    def position(self) -> int:
        """Number of bytes of the chosen files read so far."""
        return self._done + super().position

    @property
    def size(self) -> int | None:
        """Number of bytes of the chosen files."""
        return self._size

    def close(self) -> None:
        """Close the open files and delete temporary ones."""
        items, self.items = self.items, iter(())
        if hasattr(items, "close"):
            items.close()
        self._container.close()


class MemberSource(Source):
    """The source of a file in a folder or an archive; it closes the file."""

    def __init__(self, container: Container, name: str, stem: str | None, meter: Meter) -> None:
        self._file = container.open(name)
        try:
            super().__init__(self._file, name=container.title(name), stem=stem, meter=meter)
            self.path = container.path(name)
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Close the file."""
        super().close()
        self._file.close()


def qualified(items: Iterator[Item], stem: str) -> Iterator[Item]:
    """Put ``stem`` before the ids of examples, unless they already begin with it."""
    for item in items:
        if isinstance(item, Example) and item.id != stem and not item.id.startswith(f"{stem}:"):
            yield Example(f"{stem}:{item.id}", item.label, item.views, item.origin)
        else:
            yield item


def _with_format_hint(items: Iterator[Item], source: Source, form: Format) -> Iterator[Item]:
    """Yield ``items``; if the first is an error, add a hint that the format may be another."""
    try:
        first = next(items, None)
    except LimitError:
        raise
    except ReadError as problem:
        raise _hinted(problem, source, form) from problem
    if first is None:
        return
    yield _hinted(first, source, form) if isinstance(first, ReadError) else first
    yield from items


def _hinted(problem: ReadError, source: Source, form: Format) -> ReadError:
    if problem.line is None:  # an error of the compression, not of the content
        return problem
    hint = encoding_hint(source.head)
    looks = [row.name for row in formats_by_content(source.head)]
    if hint is None and looks and form.name not in looks:
        hint = f"this does not look like {form.name} but like {' or '.join(looks)}; give "
        hint += " or ".join(f"format={name!r}" for name in looks)
    if hint is None:
        return problem
    return source.error(
        problem.problem,
        line=problem.line,
        column=problem.column,
        snippet=problem.snippet,
        hint=hint,
    )


def _check_views(form: Format, views: Views) -> None:
    """Raise ``ValueError`` if a format never has one of ``views``."""
    missing = [name for name in views or () if form.views is not None and name not in form.views]
    if missing and form.views is not None:
        raise ValueError(
            f"the {form.name} format has no view {missing[0]!r}; it has {', '.join(form.views)}"
        )


@dataclass(frozen=True)
class Part:
    """Files that are read together; one, unless the format has companions.

    ``format`` is None if the content fits no format or several, which is reported when the part is
    read.
    """

    names: tuple[str, ...]
    format: Format | None
    stem: str


@dataclass(frozen=True)
class Plan:
    """The parts to read, in order, and the files that are not read."""

    parts: tuple[Part, ...]
    ignored: tuple[str, ...]


def make_plan(
    names: Iterable[str],
    form: Format | None,
    only: str | None,
    sniff: Callable[[str], Part | None],
) -> Plan:
    """Return the plan for the files of a folder or an archive.

    Parameters
    ----------
    names : iterable of str
        Relative paths.
    form : Format, optional
        The format the user asked for.
    only : str, optional
        A glob; a part is read if the name of one of its files matches.
    sniff : callable
        Returns the part for a file with an unspecific suffix, from its content; None to ignore
        it.
    """
    groups, rest = _group(sorted(names), form)
    groups = [group for group in groups if _fits(group.names, only)]
    rest = [name for name in rest if _fits([name], only)]
    parts: list[Part] = []
    ignored: list[str] = []
    for group in groups:
        if form in (None, group.format):
            parts.append(group)
        else:
            ignored += group.names
    if form is None:
        found = [(name, _part_of(name, sniff)) for name in rest]
    else:
        chosen = set(_in_format(rest, form))
        found = [(name, _single_part(name, form) if name in chosen else None) for name in rest]
    parts += [part for _, part in found if part is not None]
    ignored += [name for name, part in found if part is None]
    ordered = sorted(parts, key=lambda part: part.names)
    return Plan(tuple(_distinct(ordered)), tuple(sorted(ignored)))


def _is_text(name: str) -> bool:
    return plain_name(name).lower().endswith(_TEXT)


def _fits(names: Iterable[str], only: str | None) -> bool:
    return only is None or any(fnmatchcase(name, only) for name in names)


def _group(names: list[str], form: Format | None) -> tuple[list[Part], list[str]]:
    """Return the groups of files that belong together, and the other files."""
    groups: list[Part] = []
    asked = form is not None and bool(form.companions)  # its files may belong to others as well
    for row in table.FORMATS:
        if not row.companions or (asked and row is not form):
            continue
        found: dict[str, dict[str, str]] = {}
        for name in names:
            if suffix := companion_suffix(name, row):
                found.setdefault(plain_name(name)[: -len(suffix)], {}).setdefault(suffix, name)
        for stem, files in found.items():
            if form is row or any(suffix in row.suffixes for suffix in files):
                groups.append(Part(tuple(files.values()), row, stem))
        taken = {name for group in groups for name in group.names}
        names = [name for name in names if name not in taken]
    return groups, names


def companion_suffix(name: str, row: Format) -> str | None:
    """Return the suffix of a file, in lower case, if it is a companion in the format."""
    plain = plain_name(name).lower()
    return next((suffix for suffix in row.companions if plain.endswith(suffix)), None)


def _part_of(name: str, sniff: Callable[[str], Part | None]) -> Part | None:
    plain = plain_name(name).lower()
    rows = [row for row in formats_by_suffix(plain) if not row.companions]
    if len(rows) == 1 and not rows[0].general:
        return _single_part(name, rows[0])
    if len(rows) > 1:  # their content decides, when they are read
        return _single_part(name, None)
    return sniff(name) if rows or plain.endswith(_SNIFFED) else None


def _in_format(names: list[str], form: Format) -> Iterator[str]:
    """Yield the files to read in the format that the user asked for."""
    if form.companions:
        return
    rows = {name: formats_by_suffix(plain_name(name).lower()) for name in names}
    own = [name for name, fitting in rows.items() if form in fitting]
    unclaimed = [
        name
        for name, fitting in rows.items()
        if not fitting and not plain_name(name).lower().endswith(_ARCHIVES)
    ]
    yield from own or unclaimed


def _single_part(name: str, row: Format | None) -> Part:
    """Return the part made of one file."""
    plain = PurePosixPath(plain_name(name))
    return Part((name,), row, str(plain.with_name(plain.stem)))


def _distinct(parts: list[Part]) -> Iterator[Part]:
    """Make stems unique, since ids begin with them: files may differ only in their suffix."""
    counts = Counter(part.stem for part in parts)
    for part in parts:
        yield replace(part, stem=part.names[0]) if counts[part.stem] > 1 else part
