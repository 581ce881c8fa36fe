"""Which files of a folder or an archive are read, in which format, and which belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from kernelwood.io import formats
from kernelwood.io.formats import Format, format_by_suffix
from kernelwood.io.unpacking import plain_name

__all__ = ["Part", "Plan", "companion_suffix", "make_plan", "single_part"]

# Suffixes that many formats, and much else, share: the content has to tell.
_SNIFFED = (".txt", ".xml")
_ARCHIVES = (".zip", ".tar", ".tgz", ".tbz2", ".txz", ".7z", ".rar", ".jar")


@dataclass(frozen=True)
class Part:
    """Files that are read together; one, unless the format has companions.

    ``format`` is None when the content seems to be of no format or of several, which is reported
    when the part is read.
    """

    names: tuple[str, ...]
    format: Format | None
    stem: str


@dataclass(frozen=True)
class Plan:
    """What to read, in order, and which files are not read."""

    parts: tuple[Part, ...]
    ignored: tuple[str, ...]


def make_plan(
    names: Iterable[str],
    form: Format | None,
    only: str | None,
    sniff: Callable[[str], Part | None],
) -> Plan:
    """Decide what to do with the files of a folder or an archive.

    Parameters
    ----------
    names : iterable of str
        Relative paths.
    form : Format, optional
        The format the user asked for.
    only : str, optional
        A glob; a part is read if the name of one of its files fits.
    sniff : callable
        Looks into a file whose suffix says nothing; gives None when it should be ignored.
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
        found = [(name, single_part(name, form) if name in chosen else None) for name in rest]
    parts += [part for _, part in found if part is not None]
    ignored += [name for name, part in found if part is None]
    ordered = sorted(parts, key=lambda part: part.names)
    return Plan(tuple(_distinct(ordered)), tuple(sorted(ignored)))


def _fits(names: Iterable[str], only: str | None) -> bool:
    return only is None or any(fnmatchcase(name, only) for name in names)


def _group(names: list[str], form: Format | None) -> tuple[list[Part], list[str]]:
    """Find the files that belong together, and return what is left over as well."""
    groups: list[Part] = []
    for row in formats.FORMATS:
        if not row.companions:
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
    """Return the suffix, in lower case, by which a file belongs to a format of several files."""
    plain = plain_name(name).lower()
    return next((suffix for suffix in row.companions if plain.endswith(suffix)), None)


def _part_of(name: str, sniff: Callable[[str], Part | None]) -> Part | None:
    plain = plain_name(name).lower()
    row = format_by_suffix(plain)
    if row is not None and not row.companions:
        return single_part(name, row)
    return sniff(name) if row is None and plain.endswith(_SNIFFED) else None


def _in_format(names: list[str], form: Format) -> Iterator[str]:
    """Yield the files to be read in a format that the user asked for."""
    if form.companions:
        return
    rows = {name: format_by_suffix(plain_name(name).lower()) for name in names}
    own = [name for name, row in rows.items() if row is form]
    unclaimed = [
        name
        for name, row in rows.items()
        if row is None and not plain_name(name).lower().endswith(_ARCHIVES)
    ]
    yield from own or unclaimed


def single_part(name: str, row: Format | None) -> Part:
    """Return the part made of one file."""
    plain = PurePosixPath(plain_name(name))
    return Part((name,), row, str(plain.with_name(plain.stem)))


def _distinct(parts: list[Part]) -> Iterator[Part]:
    """Give files that differ in their suffix only different stems, since ids are made of them."""
    counts = Counter(part.stem for part in parts)
    for part in parts:
        yield replace(part, stem=part.names[0]) if counts[part.stem] > 1 else part
