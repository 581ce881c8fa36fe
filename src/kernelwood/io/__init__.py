"""Reading and writing annotation files.

>>> from kernelwood.io import FORMATS
>>> [row.name for row in FORMATS]
['penn', 'kelp', 'jsonl']
"""

from __future__ import annotations

from kernelwood.io.formats import FORMATS, Format
from kernelwood.io.jsonl import write_jsonl
from kernelwood.io.kelp import write_kelp
from kernelwood.io.penn import write_penn
from kernelwood.io.reading import Examples, ExampleStream, Tally, iter_read, read
from kernelwood.io.writing import write

__all__ = [
    "FORMATS",
    "ExampleStream",
    "Examples",
    "Format",
    "Tally",
    "iter_read",
    "read",
    "write",
    "write_jsonl",
    "write_kelp",
    "write_penn",
]
