"""``kernelwood crossval``: how good a model learned from a corpus would be."""

from __future__ import annotations

import time
from typing import Any

import click

from kernelwood.cli.corpus import file_errors, orderly_end
from kernelwood.cli.experiment import Named, config_option
from kernelwood.cli.options import seed_option
from kernelwood.cli.output import jobs_option, json_option, write_json
from kernelwood.cli.outputs import say_counts
from kernelwood.cli.relation_options import (
    documents_options,
    extractor_options,
    make_extractor,
    read_documents,
    stages,
)

__all__ = ["crossval"]

_EPILOG = """\b
Examples:
  kernelwood crossval corpus.xml
  kernelwood crossval brat/ --folds 10 --recipe klsh-rf
  kernelwood crossval --config run.toml --json
"""


@click.command(epilog=_EPILOG)
@click.argument("corpus", cls=Named, nargs=-1, required=True)
@click.option(
    "--folds", type=click.IntRange(min=2), metavar="N", default=5, show_default=True,
    help="Into how many parts documents are dealt, each judged by a model of the others.",
)  # fmt: skip
@documents_options
@extractor_options
@config_option
@seed_option
@jobs_option
@json_option
def crossval(corpus: tuple[str, ...], folds: int, as_json: bool, **options: Any) -> None:
    """Tell how good a model learned from a corpus would be.

    CORPUS and options are those of train. Documents are dealt into parts; each part is judged by
    a model that learned from the others, its threshold included. Nothing is written.
    """
    started = time.perf_counter()
    with file_errors(), orderly_end():
        extractor = make_extractor(options)
        documents = read_documents(corpus, options)
        if not as_json:
            say_counts(documents)
        with stages(options["n_jobs"]) as begin:
            begin("cross-validation")
            validation = extractor.cross_validate(documents.examples, n_splits=folds)
    if as_json:
        counts, seconds = documents.counts(), round(time.perf_counter() - started, 3)
        write_json({**validation.to_dict(), **counts, "seconds": seconds})
    else:
        click.echo(str(validation))
