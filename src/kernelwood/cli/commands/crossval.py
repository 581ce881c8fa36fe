"""``kernelwood crossval``."""

from __future__ import annotations

import time
from typing import Any

import click

from kernelwood.cli.console import note, one_name, running, say, show_counts, write_json
from kernelwood.cli.corpora import read_documents
from kernelwood.cli.experiment import Named, config_option
from kernelwood.cli.model_files import check_types, make_extractor
from kernelwood.cli.options import (
    documents_options,
    end_to_end_option,
    extractor_options,
    jobs_option,
    json_option,
    refuse,
    report_option,
    seed_option,
)
from kernelwood.cli.outputs import check_files
from kernelwood.cli.reports import Report

_EPILOG = """\b
Examples:
  kernelwood crossval corpus.xml
  kernelwood crossval brat/ --folds 10 --recipe klsh-rf
  kernelwood crossval corpus.xml --curve --plot curve.png
  kernelwood crossval corpus.xml --report report.html
  kernelwood crossval --config run.toml --json
"""


@click.command(epilog=_EPILOG)
@click.argument("corpus", cls=Named, nargs=-1, required=True)
@click.option(
    "--folds", type=click.IntRange(min=2), metavar="N", default=5,
    help="Number of cross-validation folds.",
)  # fmt: skip
@click.option(
    "--curve", is_flag=True, help="Show F1 by number of training documents, and what more bring."
)
@click.option("--plot", metavar="FILE", help="Draw the curve of --curve (.png, .svg or .pdf).")
@report_option
@end_to_end_option
@documents_options
@extractor_options
@config_option
@seed_option
@jobs_option
@json_option
def crossval(
    corpus: tuple[str, ...], folds: int, curve: bool, as_json: bool, **options: Any
) -> None:
    """Cross-validate a relation extractor.

    CORPUS and options are those of train. Documents are split into folds; a model trained on the
    other folds, including its decision threshold, predicts each of them. No model is written.
    --curve repeats this with 1/8, 1/4 and 1/2 of the training documents and estimates the gain from
    twice as many. --end-to-end also learns to find entities, and shows the scores of relations
    between found entities.
    """
    started = time.perf_counter()
    if options["kernel"] is not None:
        refuse(options, ("vectors",), "a saved kernel contains its vectors")
    if options["plot"] is not None and not curve:
        raise click.UsageError("--plot draws the learning curve; add --curve")
    if options["end_to_end"] and curve:
        raise click.UsageError("--curve is about annotated entities; leave out --end-to-end")
    check_files(
        {
            **{f"CORPUS {name}": name for name in corpus},
            **{f"--{name}": options[name] for name in ("config", "kernel", "vectors")},
        },
        {"--plot": options["plot"], "--report": options["report"]},
        figure="--plot",
    )
    extractor = make_extractor(options)
    documents, counts = read_documents(corpus, options)
    check_types(options, documents)
    if not as_json:
        show_counts(counts)
    with running(options["n_jobs"]) as begin:
        begin("cross-validating")
        page = Report.of(options, "Cross-validation on", corpus)
        settings: dict[str, Any] = {"n_splits": folds, "predictions": page is not None}
        learning = extractor.learning_curve(documents, **settings) if curve else None
        validation = (
            extractor.cross_validate(documents, end_to_end=options["end_to_end"], **settings)
            if learning is None
            else learning.validation
        )
        if page is not None:
            begin("writing the report")
            page.add((one for part in validation.predictions for one in part), documents)
            page.write(scores=validation)
        if learning is not None and options["plot"] is not None:
            learning.save(options["plot"])
            note(f"curve: {one_name(options['plot'])}")
    if as_json:
        report = {**validation.to_dict(), **counts.to_dict()}
        if learning is not None:
            report["curve"] = learning.to_dict()
        write_json({**report, "seconds": round(time.perf_counter() - started, 3)})
        return
    say(validation)
    if learning is not None:
        say(f"\n{learning}")
