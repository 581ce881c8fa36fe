"""``kernelwood crossval``."""

from __future__ import annotations

import time
from typing import Any

import click

from kernelwood.cli.console import running, show_counts, write_json
from kernelwood.cli.corpora import read_documents
from kernelwood.cli.experiment import Named, config_option
from kernelwood.cli.model_files import make_extractor
from kernelwood.cli.options import (
    documents_options,
    extractor_options,
    jobs_option,
    json_option,
    refuse,
    seed_option,
)
from kernelwood.cli.outputs import check_inputs

_EPILOG = """\b
Examples:
  kernelwood crossval corpus.xml
  kernelwood crossval brat/ --folds 10 --recipe klsh-rf
  kernelwood crossval --config run.toml --json
"""


@click.command(epilog=_EPILOG)
@click.argument("corpus", cls=Named, nargs=-1, required=True)
@click.option(
    "--folds", type=click.IntRange(min=2), metavar="N", default=5,
    help="Number of cross-validation folds.",
)  # fmt: skip
@documents_options
@extractor_options
@config_option
@seed_option
@jobs_option
@json_option
def crossval(corpus: tuple[str, ...], folds: int, as_json: bool, **options: Any) -> None:
    """Cross-validate a relation extractor.

    CORPUS and options are those of train. Documents are split into folds; a model trained on the
    other folds, including its decision threshold, predicts each of them. No file is written.
    """
    started = time.perf_counter()
    if options["kernel"] is not None:
        refuse(options, ("vectors",), "a saved kernel contains its vectors")
    check_inputs(*corpus, options["kernel"], options["vectors"])
    extractor = make_extractor(options)
    documents, counts = read_documents(corpus, options)
    if not as_json:
        show_counts(counts)
    with running(options["n_jobs"]) as begin:
        begin("cross-validating")
        validation = extractor.cross_validate(documents, n_splits=folds)
    if as_json:
        seconds = round(time.perf_counter() - started, 3)
        write_json({**validation.to_dict(), **counts.to_dict(), "seconds": seconds})
    else:
        click.echo(str(validation))
