"""Reading and writing annotation files.

======================  ==========================================================================
the way in              `reading` (what happens to broken parts), `inputs` (one file, a folder or
                        an archive), `source` (bytes, compression, text, lines)
several files           `containers` (what follows has in common), `folders`, `archives` (what
                        follows has in common), `zips`, `tars`; `plan` says what is read
hostile files           `limits` (what they may cost), `unpacking` (compression within limits)
formats                 `formats` (the table), a module for each, and more named like it where it
                        is large: `conllu`, `conllu_sentence`, `conllu_writer`, ...
what formats share      `blocks` (sentences in blocks of lines), `rows` (columns), `comments`,
                        `alignment` (words and offsets in a text), `encodings` (guesses), `ids`
the way out             `writing` (which format), `convert` (from views to what a format holds),
                        `writers` (refusing what it cannot hold), `atomic` (whole files or none)
======================  ==========================================================================

>>> from kernelwood.io import FORMATS
>>> ", ".join(row.name for row in FORMATS)
'penn, conllu, srl, penman, ppi, semeval, standoff, kelp, jsonl'
"""

from __future__ import annotations

from kernelwood.io.conllu import write_conllu
from kernelwood.io.convert import fit_to_format, keep_views, left_out
from kernelwood.io.formats import FORMATS, Format
from kernelwood.io.jsonl import write_jsonl
from kernelwood.io.kelp import write_kelp
from kernelwood.io.limits import LimitError, Limits
from kernelwood.io.penman import write_penman
from kernelwood.io.penn import write_penn
from kernelwood.io.reading import Examples, ExampleStream, Tally, iter_read, read
from kernelwood.io.semeval import write_semeval
from kernelwood.io.srl import write_srl
from kernelwood.io.standoff import write_standoff
from kernelwood.io.writing import write

__all__ = [
    "FORMATS",
    "ExampleStream",
    "Examples",
    "Format",
    "LimitError",
    "Limits",
    "Tally",
    "fit_to_format",
    "iter_read",
    "keep_views",
    "left_out",
    "read",
    "write",
    "write_conllu",
    "write_jsonl",
    "write_kelp",
    "write_penman",
    "write_penn",
    "write_semeval",
    "write_srl",
    "write_standoff",
]
