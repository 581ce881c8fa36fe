"""The compiled core is hardened as native/hardening.cmake says."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from kernelwood import _core

BUILD = _core.build_info().split(", ")
RELRO, DYNAMIC = 0x6474E552, 2  # types of segments
FLAGS, BIND_NOW = 30, 8  # the tag of flags of a dynamic section, and one of them

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or "release" not in BUILD, reason="no release build for Linux"
)


def read_core() -> bytes:
    """Return the bytes of the core, if it is a 64-bit little-endian ELF file."""
    data = Path(_core.__file__).read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        pytest.skip("no 64-bit little-endian ELF file")
    return data


def segments(data: bytes) -> dict[int, tuple[int, int]]:
    """Return where the segments of each type begin in the file, and their sizes."""
    [start] = struct.unpack_from("<Q", data, 32)
    size, n = struct.unpack_from("<HH", data, 54)
    found = {}
    for i in range(n):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, start + i * size)
        found[kind] = (offset, length)
    return found


def test_addresses_of_functions_are_read_only_after_loading():
    data = read_core()
    found = segments(data)
    offset, length = found[DYNAMIC]
    tags = dict(struct.iter_unpack("<QQ", data[offset : offset + length]))
    assert RELRO in found and tags.get(FLAGS, 0) & BIND_NOW


def test_the_stack_is_protected():
    assert "stack protector" in BUILD and b"__stack_chk_fail" in read_core()


def test_calls_of_the_c_library_check_sizes():
    assert "fortified" in BUILD
