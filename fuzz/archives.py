"""Zip archives written by hand: quick, and wrong where they should be."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Mapping
from typing import Any

Mutation = dict[str, Any]

_FAULTS = (
    "twice", "extra", "missing", "overlap", "gap", "size", "method", "encrypted", "crc", "cut",
    "flip", "comment", "order", "descriptor", "offset", "count",
)  # fmt: skip


def draw_zip(rng: random.Random) -> Mutation:
    """Return a fault of an archive."""
    return {"op": "zip", "do": rng.choice(_FAULTS), "at": rng.randrange(1 << 30)}


def pack(members: Mapping[str, bytes], faults: list[Mutation] | None = None) -> bytes:
    """Return a zip archive of uncompressed members, with some faults."""
    rows = list(members.items())
    by_do = {fault["do"]: fault["at"] for fault in faults or []}
    chosen = {do: at % max(1, len(rows)) for do, at in by_do.items()}
    if "order" in chosen:
        rows.reverse()
    if "twice" in chosen:
        rows.append(rows[chosen["twice"]])
    if "missing" in chosen:
        del rows[chosen["missing"]]
    if "extra" in chosen:
        rows.append(("../extra.npy", b"extra"))
    body, directory = bytearray(), bytearray()
    first = None
    for number, (name, data) in enumerate(rows):
        here = {do for do, at in chosen.items() if at == number}
        if "gap" in here:
            body += b"gap" * 7
        offset = len(body)
        first = offset if first is None else first
        encoded = name.encode("utf-8", "surrogatepass")
        about = _about(data, here)
        body += struct.pack("<4s5H3L2H", b"PK\3\4", 20, *about, len(encoded), 0)
        body += encoded + data
        if "overlap" in here:
            offset = first
        if "offset" in here:
            offset = by_do["offset"]
        directory += struct.pack(
            "<4s6H3L5H2L", b"PK\1\2", 20, 20, *about, len(encoded), 0, 0, 0, 0, 0, offset
        )
        directory += encoded
    n = len(rows) + (1 if "count" in chosen else 0)
    end = struct.pack(
        "<4s4H2LH", b"PK\5\6", 0, 0, n & 0xFFFF, n & 0xFFFF, len(directory), len(body),
        3 if "comment" in chosen else 0,
    )  # fmt: skip
    whole = bytearray(bytes(body) + bytes(directory) + end)
    if "comment" in chosen:
        whole += b"abc"
    if "cut" in by_do:
        del whole[by_do["cut"] % (len(whole) + 1) :]
    if "flip" in by_do and whole:
        whole[by_do["flip"] % len(whole)] ^= 1 << (by_do["flip"] % 8)
    return bytes(whole)


def _about(data: bytes, here: set[str]) -> tuple[int, ...]:
    """Return flags, method, time, date, checksum and sizes of a member."""
    flags = (1 if "encrypted" in here else 0) | (8 if "descriptor" in here else 0) | 0x800
    method = 99 if "method" in here else 0
    crc = zlib.crc32(data) ^ (1 if "crc" in here else 0)
    size = len(data) + (1000 if "size" in here else 0)
    return flags, method, 0, 33, crc, len(data), size
