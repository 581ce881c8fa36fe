"""Identifiers that a file gives itself, and may give twice."""

from __future__ import annotations

from array import array
from hashlib import blake2b

from kernelwood.errors import ReadError
from kernelwood.io.source import Source
from kernelwood.structures import shorten

__all__ = ["UsedIds"]

_MAX_LINE = 2**32 - 1


class UsedIds:
    """Remembers the ids of a file with their lines, in 16 to 32 bytes each.

    A table of digests with open addressing, since a set of strings would grow as large as the
    files that readers stream. Two ids share a digest of 64 bits with a chance of three in a
    million where a file has ten million ids.

    Examples
    --------
    >>> import io
    >>> used, source = UsedIds(), Source(io.BytesIO(b""))
    >>> used.check("s1", 1, source) is None
    True
    >>> print(used.check("s1", 9, source))
    <stream>:9: the id 's1' was used before, on line 1
        every part needs an id of its own; errors="skip" drops this one and counts it
    """

    def __init__(self) -> None:
        self._n_used = 0
        self._make_room(64)

    def check(self, name: str, line: int, source: Source) -> ReadError | None:
        """Return an error if ``name`` was used before, else remember it."""
        before = self.add(name, line)
        if before is None:
            return None
        return source.error(
            f"the id {shorten(repr(name))} was used before, on line {before}",
            line=line,
            hint='every part needs an id of its own; errors="skip" drops this one and counts it',
        )

    def add(self, name: str, place: int) -> int | None:
        """Return the place where ``name`` was used before; if there is none, remember this one."""
        digest = _digest(name)
        slot = self._find(digest)
        if self._digests[slot]:
            return self._lines[slot]
        self._digests[slot], self._lines[slot] = digest, min(place, _MAX_LINE)
        self._n_used += 1
        if 4 * self._n_used > 3 * len(self._digests):
            self._grow()
        return None

    def _make_room(self, size: int) -> None:
        self._digests = array("Q", bytes(8 * size))
        self._lines = array("I", bytes(4 * size))

    def _find(self, digest: int) -> int:
        """Return the slot that holds a digest, or the empty one where it belongs."""
        digests, mask = self._digests, len(self._digests) - 1
        slot = digest & mask
        while digests[slot] and digests[slot] != digest:
            slot = (slot + 1) & mask
        return slot

    def _grow(self) -> None:
        digests, lines = self._digests, self._lines
        self._make_room(2 * len(digests))
        for digest, line in zip(digests, lines, strict=True):
            if digest:
                slot = self._find(digest)
                self._digests[slot], self._lines[slot] = digest, line


def _digest(name: str) -> int:
    short = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(short, "little") or 1  # 0 marks an empty slot
