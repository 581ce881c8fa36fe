"""Limits on decompressed size, ratio, member count, line length and memory.

A few kilobytes can decompress to more than any disk holds, so bytes are counted as they are read;
sizes in headers are not trusted. A short text can also become many objects: a bracket takes a
hundred times the memory of its character. Readers therefore estimate the memory of the part that
they are reading, from its lines and brackets, and refuse it before it is used up.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from kernelwood.errors import ReadError

# The ratio is not checked below this size: small repetitive files are harmless.
_FREE = 1 << 20


class StopError(ReadError):
    """An error of the whole input, not of a part of it; raised for any value of ``errors``."""


class LimitError(StopError):
    """A limit on the whole input is exceeded."""


# Estimated bytes of a character and of a line of structured text: of columns, roles and ids. Honest
# parts have some kilobytes, so the estimate need not be close.
CHARACTER_MEMORY, LINE_MEMORY = 100, 400
TOKEN_MEMORY = 300  # of a token of a text, which may be one character
# Estimated bytes for each sign of a JSON text, with the objects that are made of its values.
_JSON_MEMORY = {"{": 300, "[": 150, "(": 200, ",": 60}


@dataclass(frozen=True)
class Limits:
    """Limits on compressed files, archives, lines and memory.

    Attributes
    ----------
    total_size : int
        Decompressed bytes in one call of ``read``.
    ratio : float
        Decompressed size of a file divided by its compressed size; checked above 1 MiB of
        decompressed data.
    members : int
        Number of files in one archive.
    line : int
        Length of a line in bytes.
    memory : int
        Estimated memory in bytes of one part of a file, such as a tree, a sentence or a JSON
        object, while it is read. Lines, columns and brackets count.

    Examples
    --------
    >>> Limits(total_size=50 << 30).ratio
    300
    >>> Limits(members=0)
    Traceback (most recent call last):
    ...
    ValueError: the limit members must be a positive number, got 0
    """

    total_size: int = 8 << 30
    ratio: float = 300
    members: int = 200_000
    line: int = 256 << 20
    # A few kilobytes that unpack to some megabytes of brackets take no more than this. Texts, and
    # objects, articles and tables of ten megabytes fit as well, since only their marks count. What
    # does not fit is a sentence, a graph or a list of annotations of more than 2 MB.
    memory: int = 256 << 20

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            number = isinstance(value, int) or (field.name == "ratio" and isinstance(value, float))
            if not number or isinstance(value, bool) or not value > 0:
                raise ValueError(f"the limit {field.name} must be a positive number, got {value!r}")


class Meter:
    """Counts the bytes that one call of ``read`` decompresses.

    Examples
    --------
    >>> meter = Meter(Limits(total_size=1000))
    >>> meter.add(900, "small.gz")
    >>> meter.add(900, "other.gz")
    Traceback (most recent call last):
    ...
    kernelwood.io.containers.limits.LimitError: other.gz: more than 1,000 bytes were unpacked
        the limit is total_size=1000; if you trust the data, give limits=Limits(total_size=...)
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = Limits() if limits is None else limits
        self.unpacked = 0

    def add(self, size: int, name: str) -> None:
        """Count ``size`` bytes that came out of ``name``."""
        self.unpacked += size
        limit = self.limits.total_size
        if self.unpacked > limit:
            raise LimitError(
                f"more than {format_size(limit)} were unpacked",
                path=name,
                hint=_remedy("total_size", limit),
            )

    def compare(self, unpacked: int, packed: int, name: str) -> None:
        """Raise if decompressed data are too large for their compressed size."""
        limit = self.limits.ratio
        if unpacked > _FREE and unpacked > limit * max(packed, 1):
            raise ReadError(
                f"{format_size(packed)} unpack to {format_size(unpacked)} or more, "
                f"more than {limit:g} times as much",
                path=name,
                hint=_remedy("ratio", limit),
            )

    def check_members(self, count: int, name: str) -> None:
        """Raise if an archive has too many files."""
        limit = self.limits.members
        if count > limit:
            raise LimitError(
                f"the archive holds more than {limit:,} files",
                path=name,
                hint=_remedy("members", limit),
            )

    def long_line(self, line: int, name: str, what: str = "line") -> ReadError:
        """Return the error for a line, or another part of a file, that is too long."""
        limit = self.limits.line
        return ReadError(
            f"the {what} is longer than {format_size(limit)}",
            path=name,
            line=line,
            hint=_remedy("line", limit),
        )

    @property
    def json_room(self) -> int:
        """Number of characters of a JSON text that fit into the memory, whatever they are."""
        return self.limits.memory // max(_JSON_MEMORY.values())

    def large_json(self, text: str, line: int, name: str) -> ReadError | None:
        """Return an error if the values of a JSON text would take too much memory."""
        limit = self.limits.memory
        size = 4 * len(text) + sum(cost * text.count(sign) for sign, cost in _JSON_MEMORY.items())
        return self.large_part(line, name, "object") if size > limit else None

    def large_part(self, line: int | None, name: str, what: str) -> ReadError:
        """Return the error for a part of a file that would take too much memory."""
        limit = self.limits.memory
        return ReadError(
            f"the {what} that begins here would take more than {format_size(limit)} of memory",
            path=name,
            line=line,
            hint=f"perhaps it is not closed; {_remedy('memory', limit)}",
        )


def _remedy(name: str, limit: float) -> str:
    return f"the limit is {name}={limit}; if you trust the data, give limits=Limits({name}=...)"


def format_size(size: int) -> str:
    """Return a number of bytes in readable form.

    Examples
    --------
    >>> format_size(999), format_size(8 << 30)
    ('999 bytes', '8.0 GiB')
    """
    if size < 10_000:
        return f"{size:,} bytes"
    amount = float(size)
    for unit in ("KiB", "MiB", "GiB"):
        amount /= 1024
        if amount < 1000:
            return f"{amount:.1f} {unit}"
    return f"{amount / 1024:,.1f} TiB"
