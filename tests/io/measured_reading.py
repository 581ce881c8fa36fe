"""CPU time and memory of the readers for files that are made to cost much.

``python tests/io/measured_reading.py FORMAT [SIZE]`` reads every such file of a format in a process
of its own, with a limit on its memory, and prints a line of JSON for each.
"""

from __future__ import annotations

import gc
import gzip
import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterator

from hostile_files import (
    hostile_archives,
    hostile_docbins,
    hostile_file,
    hostile_names,
    hostile_tables,
)

from kernelwood.errors import ReadError
from kernelwood.io import FORMATS, Limits, Source, read, read_claims, read_texts

SIZE = 1_000_000
MEMORY = 4 << 30  # bytes of address space
CLAIMS = ("claims", "triples", "rebel", "glirel", "indra")
PACKED = ("penn", "srl", "jsonl", "bioc")  # a format of each kind: trees, blocks, JSON, XML
BINARY = {"spacy": hostile_docbins, "parquet": hostile_tables, "archives": hostile_archives}
TEXT = b"Raf binds Ras now.\n"


def reader(form: str) -> Callable[[bytes], object]:
    """Return the function that reads the content of a file and keeps everything."""
    if form in CLAIMS:
        return lambda data: read_claims(io.BytesIO(data), "collect", format=form)
    if form == "archives":
        return lambda data: read(io.BytesIO(data), errors="collect")
    if form == "texts":
        return lambda data: read_texts(io.BytesIO(data), errors="collect")
    row = next(row for row in FORMATS if row.name == form)
    if not row.companions:
        return lambda data: read(io.BytesIO(data), form, "collect")

    def together(data: bytes) -> object:
        files = {".txt": TEXT, ".ann": data}
        if form == "text":
            files = {".txt": data}
        elif form == "chemprot":
            files = {"_abstracts.tsv": b"27\tRaf binds Ras now.\tIt does.\n", "_entities.tsv": data}
        opened = {suffix: Source(io.BytesIO(content)) for suffix, content in files.items()}
        return list(row.read(opened, None))

    return together


def files(form: str, size: int) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files of a format."""
    if form in BINARY:
        yield from BINARY[form](size).items()
    for name in hostile_names("text" if form == "texts" else form):
        yield name, hostile_file("text" if form == "texts" else form, name, size)
        if form in PACKED:
            packed = gzip.compress(hostile_file(form, name, 3 * size))
            if len(packed) < size // 100:  # it may unpack to more than the limits allow
                yield f"{name}, packed", packed


def unpacked(data: bytes) -> int:
    """Return the number of bytes that are read of a file, by the limits on its unpacked size."""
    if data[:2] != b"\x1f\x8b":
        return len(data)
    free, ratio = 1 << 20, Limits().ratio
    return min(len(gzip.decompress(data)), max(free, int(ratio * len(data))))


def measure(run: Callable[[bytes], object], data: bytes) -> dict[str, object]:
    """Read the content of a file in a process of its own; return CPU seconds and memory."""
    receiving, sending = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(sending, json.dumps(_measured(run, data)).encode())
        finally:
            os._exit(0)
    os.close(sending)
    with os.fdopen(receiving, "rb") as stream:
        told = stream.read()
    os.waitpid(child, 0)
    return json.loads(told) if told else {"outcome": "the process died", "cpu": None, "mb": None}


def _measured(run: Callable[[bytes], object], data: bytes) -> dict[str, object]:
    import resource

    gc.collect()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, outcome = time.process_time(), "read"
    try:
        run(data)
    except ReadError:
        outcome = "refused"
    except BaseException as failure:
        outcome = type(failure).__name__
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {"outcome": outcome, "cpu": round(seconds, 3), "mb": round(peak / 1024, 1)}


def main() -> None:
    """Measure the files of the format that is the first argument."""
    form, *rest = sys.argv[1:]
    run = reader(form)
    for name, data in files(form, int(rest[0]) if rest else SIZE):
        told = {"format": form, "file": name, "bytes": len(data), "unpacked": unpacked(data)}
        told |= measure(run, data)
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
