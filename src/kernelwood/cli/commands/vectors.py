"""``kernelwood vectors``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import click

from kernelwood.cli.console import running, show_counts, show_table, write_json
from kernelwood.cli.corpora import Texts
from kernelwood.cli.options import json_option, text_options
from kernelwood.cli.outputs import STANDARD, check_files
from kernelwood.io import Counts
from kernelwood.text import Document, Sentence, annotated_view

_POSITIVE = click.IntRange(min=1)
_READING = ("errors", "source_format", "only", "memory_limit", "text_field", "id_field")
_EPILOG = """\b
Examples:
  kernelwood vectors papers/ -o vectors.npz
  kernelwood vectors papers.zip corpus.xml -o vectors.npz --dim 200 --window 3
  kernelwood train corpus.xml -o model.kw --vectors vectors.npz
"""


@click.command(epilog=_EPILOG)
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@click.option("-o", "--out", metavar="FILE.npz", required=True, help="Output file of vectors.")
@click.option("--dim", type=_POSITIVE, metavar="N", default=100, help="Number of dimensions.")
@click.option(
    "--window", type=_POSITIVE, metavar="N", default=5,
    help="Maximum distance of two words that count as a pair.",
)  # fmt: skip
@click.option(
    "--min-count", type=_POSITIVE, metavar="N", default=5,
    help="Only words that occur at least N times.",
)  # fmt: skip
@click.option(
    "--smoothing", type=click.FloatRange(0, 1), metavar="X", default=0.75,
    help="Exponent of context counts.",
)  # fmt: skip
@click.option(
    "--shift", type=click.FloatRange(0, min_open=True), metavar="X", default=1.0,
    help="Logarithm of X is subtracted from mutual information.",
)  # fmt: skip
@click.option(
    "--power", type=click.FloatRange(0), metavar="X", default=0.5,
    help="Exponent of singular values.",
)  # fmt: skip
@click.option(
    "--lowercase/--keep-case", default=True, help="Convert words to lower case, or keep case."
)
@text_options
@json_option
def vectors(
    texts: tuple[str, ...],
    as_json: bool,
    out: str,
    **options: Any,
) -> None:
    """Learn word vectors from unlabeled texts.

    TEXT is a file of plain text, articles, records or annotated text, a folder or archive of such
    files, or - for standard input. The vectors factorize the positive
    mutual information of neighboring words. The output file suits the option --vectors of other
    commands.
    """
    started = time.perf_counter()
    if texts.count(STANDARD) > 1:
        raise click.UsageError("only one file can be standard input")
    check_files({f"TEXT {name}": name for name in texts}, {"--out": out})
    from kernelwood.vectors import learn_vectors

    counts = Counts()
    reading = {name: options.pop(name) for name in _READING}

    def read() -> Iterator[Document | Sentence]:
        for example in Texts(texts, reading, None, counts):
            yield annotated_view(example)
            counts.taken += 1

    with running() as begin:
        begin("learning")
        learned = learn_vectors(read(), **options)
    learned.save(out)
    result = {
        "vectors": out,
        "n_texts": counts.taken,
        **counts.to_dict(),
        "n_words": len(learned),
        "n_dimensions": learned.dim,
        "seconds": round(time.perf_counter() - started, 3),
    }
    if as_json:
        write_json(result)
        return
    show_counts(counts)
    cells = [f"{result[name]:,}" for name in ("n_texts", "n_words", "n_dimensions")]
    show_table(
        [">texts", ">words", ">dimensions", ">seconds"], [[*cells, f"{result['seconds']:.1f}"]]
    )
