"""Readers of every format: damaged files, read with both policies for errors."""

from __future__ import annotations

import gzip
import io
import random
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

from fuzz.edits import apply_bytes, cut
from fuzz.kinds import ERROR, REFUSED, USED, Kind, Mutation
from fuzz.reader_seeds import TEXT, TOKENS, seeds
from kernelwood.errors import ReadError
from kernelwood.io import FORMATS, Source, iter_read, read_claims

Read = Callable[[bytes, str], int]
CLAIMS = ("claims", "triples", "rebel", "glirel", "indra")
_NAMES = ("a.mrg", "x/b.jsonl", "c.txt", "../d.mrg", "/e.mrg", "f.ann", "f.txt")


class ReaderKind(Kind):
    """Files of one format, or archives of files."""

    def __init__(self, name: str, read: Read) -> None:
        super().__init__(f"reader/{name}")
        self.format = name
        self._read = read

    def samples(self) -> list[bytes]:
        """Return the honest files."""
        return all_seeds()[self.format]

    def prepare(self) -> None:
        """Make the samples."""
        self.samples()

    def draw(self, rng: random.Random) -> list[Mutation]:
        """Return a sample and one to eight changes."""
        number = rng.randrange(len(self.samples()))
        data = self.samples()[number]
        made: list[Mutation] = [{"op": "sample", "number": number}]
        changes = rng.choice((1, 1, 2, 3, 8))
        if self.format == "archives":
            made.append({"op": "pack", "as": rng.randrange(3), "name": rng.choice(_NAMES)})
            data = _packed(data, made[-1])
            changes = changes if rng.random() < 0.7 else 0
        for _ in range(changes):
            made.append(self._damage(data, rng))
            data = apply_bytes(data, made[-1])
        return made

    def _damage(self, data: bytes, rng: random.Random) -> Mutation:
        """Return a change of some bytes."""
        place = rng.randrange(len(data) + 1)
        length = rng.choice((0, 1, 1, 2, 8, 40))
        match rng.randrange(6):
            case 0:
                return cut(place, length, rng.choice(TOKENS))
            case 1:
                return cut(place, length, rng.randbytes(rng.randrange(4)))
            case 2 if place < len(data):
                return cut(place, 1, bytes([data[place] ^ (1 << rng.randrange(8))]))
            case 3:
                return cut(place, 0, data[place : place + length] * rng.choice((1, 2, 50)))
            case 4:
                other = rng.choice(self.samples())
                start = rng.randrange(len(other) + 1)
                return cut(place, len(data), other[start : start + 2000])
        return cut(place, len(data), b"")

    def forge(self, mutations: list[Mutation]) -> bytes:
        """Return the damaged file."""
        data = self.samples()[0]
        for change in mutations:
            match change["op"]:
                case "sample":
                    data = self.samples()[change["number"]]
                case "pack":
                    data = _packed(data, change)
                case _:
                    data = apply_bytes(data, change)
        return zlib.compress(data) if self.format == "spacy" else data

    def run(self, mutations: list[Mutation]) -> str:
        """Read the file twice."""
        return read_twice(self._read, self.forge(mutations))


def read_twice(read: Read, content: bytes) -> str:
    """Return the outcome of a file, read with ``errors="raise"`` and ``"collect"``."""
    outcome = USED
    for errors, refusal in (("raise", ERROR), ("collect", REFUSED)):
        try:
            read(content, errors)
        except ReadError:
            outcome = refusal
    return outcome


def _packed(content: bytes, how: Mutation) -> bytes:
    """Return the content in an archive."""
    out = io.BytesIO()
    if how["as"] == 0:
        return gzip.compress(content, mtime=0)
    if how["as"] == 1:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
            info = zipfile.ZipInfo(how["name"])
            info.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(info, content)
        return out.getvalue()
    with tarfile.open(fileobj=out, mode="w") as archive:
        member = tarfile.TarInfo(how["name"])
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return gzip.compress(out.getvalue(), mtime=0)


@cache
def all_seeds() -> dict[str, list[bytes]]:
    """Return the honest files of every format."""
    return seeds()


# Functions that read bytes to the end, and return the number of examples.


def _single(name: str) -> Read:
    def read(content: bytes, errors: str) -> int:
        with iter_read(io.BytesIO(content), format=name, errors=errors) as stream:
            return sum(1 for _ in stream)

    return read


def _row(name: str) -> Any:
    return next(row for row in FORMATS if row.name == name)


def _standoff(content: bytes, errors: str) -> int:
    files = {".txt": Source(io.BytesIO(TEXT)), ".ann": Source(io.BytesIO(content))}
    read = _row("standoff").read(files, None)
    return sum(1 for item in read if not isinstance(item, ReadError))


def _chemprot(content: bytes, errors: str) -> int:
    rows = {
        "_abstracts.tsv": b"27\tRaf binds Ras now.\tIt does.\n",
        "_entities.tsv": b"27\tT1\tCHEMICAL\t0\t3\tRaf\n27\tT2\tGENE\t10\t13\tRas\n",
    }
    count = 0
    for suffix in ("_abstracts.tsv", "_entities.tsv", "_relations.tsv"):
        files = {key: Source(io.BytesIO(data)) for key, data in rows.items()}
        files[suffix] = Source(io.BytesIO(content))
        read = _row("chemprot").read(files, None)
        count += sum(1 for item in read if not isinstance(item, ReadError))
    return count


def _archives(content: bytes, errors: str) -> int:
    with iter_read(io.BytesIO(content), errors=errors) as stream:
        return sum(1 for _ in stream)


def _claims(name: str) -> Read:
    return lambda content, errors: len(read_claims(io.BytesIO(content), errors, format=name))


@cache
def readers() -> dict[str, Read]:
    """Return, for each format, archives and claims, a function that reads bytes."""
    made: dict[str, Read] = {row.name: _single(row.name) for row in FORMATS if not row.companions}
    made |= {name: _claims(name) for name in CLAIMS}
    return {**made, "standoff": _standoff, "chemprot": _chemprot, "archives": _archives}


def kinds() -> list[Kind]:
    """Return the kinds of all formats; those of packages that are not installed are left out."""
    return [ReaderKind(name, read) for name, read in readers().items() if name in all_seeds()]
