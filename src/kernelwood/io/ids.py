"""Detection of repeated ids."""

from __future__ import annotations

from array import array
from hashlib import blake2b

from kernelwood.errors import ReadError
from kernelwood.io.source import Source
from kernelwood.structures import shorten

_MAX_LINE = 2**32 - 1


class UsedIds:
    """The ids of a file with their lines, stored in 16 to 32 bytes each.

    A hash table of 64-bit digests with open addressing, since a set of strings would need as much
    memory as the files that are streamed. In a file of ten million ids, two different ones have
    the same digest with a probability of three in a million.

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
        """Return an error if ``name`` was used before; otherwise store it and return None."""
        before = self.add(name, line)
        if before is None:
            return None
        return source.error(
            f"the id {shorten(repr(name))} was used before, on line {before}",
            line=line,
            hint='every part needs an id of its own; errors="skip" drops this one and counts it',
        )

    def add(self, name: str, place: int) -> int | None:
        """Return the earlier place of ``name``; if None, store this one."""
        short = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        digest = int.from_bytes(short, "little") or 1  # 0 marks an empty slot
        digests, mask = self._digests, self._mask
        slot = digest & mask
        while (found := digests[slot]) and found != digest:
            slot = (slot + 1) & mask
        if found:
            return self._lines[slot]
        digests[slot], self._lines[slot] = digest, min(place, _MAX_LINE)
        self._n_used += 1
        if 4 * self._n_used > 3 * mask:
            self._grow()
        return None

    def _make_room(self, size: int) -> None:
        self._digests = array("Q", bytes(8 * size))
        self._lines = array("I", bytes(4 * size))
        self._mask = size - 1

    def _grow(self) -> None:
        digests, lines = self._digests, self._lines
        self._make_room(2 * len(digests))
        larger, mask = self._digests, self._mask
        for digest, line in zip(digests, lines, strict=True):
            if digest:
                slot = digest & mask
                while larger[slot]:
                    slot = (slot + 1) & mask
                larger[slot], self._lines[slot] = digest, line
