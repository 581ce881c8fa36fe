"""``kernelwood predict``."""

from __future__ import annotations

import time
from typing import Any

import click

from kernelwood.cli.console import running, tracked
from kernelwood.cli.corpora import open_corpus
from kernelwood.cli.model_files import load_extractor
from kernelwood.cli.options import (
    cluster_option,
    documents_options,
    jobs_option,
    json_option,
    prediction_options,
    report_option,
    resume_option,
)
from kernelwood.cli.outputs import (
    check_prediction_files,
    show_predictions,
    write_predictions,
)
from kernelwood.cli.reports import Report

_ADVICE = (
    "annotate them in the corpus (brat standoff, ppi and jsonl can store them), or mark the terms "
    "of a list with kernelwood extract --entities"
)
_EPILOG = """\b
Examples:
  kernelwood predict model.kw corpus.xml -o found.jsonl
  kernelwood predict model.kw brat/ -o found.ann --evidence 3
  kernelwood predict model.kw corpus.jsonl -o pairs.tsv --all
  kernelwood predict model.kw brat/ --facts facts.tsv --facts-by id
  kernelwood predict model.kw corpus.jsonl -o report.html
"""


@click.command(epilog=_EPILOG)
@click.argument("model")
@click.argument("corpus")
@prediction_options
@report_option
@cluster_option
@resume_option
@documents_options
@jobs_option
@json_option
def predict(model: str, corpus: str, as_json: bool, **options: Any) -> None:
    """Predict relations in annotated documents.

    MODEL is a file of kernelwood train. CORPUS is a file, folder or archive with annotated
    entities, or - for standard input; it may be larger than memory. The output file is created or
    replaced only when it is complete; with --resume, a run that was interrupted continues.
    """
    started = time.perf_counter()
    if options["cluster"] is not None:
        from kernelwood.cli.planned import run_planned

        run_planned("predict", {"model": model, "corpus": corpus, **options}, as_json=as_json)
        return
    if options["resume"]:
        from kernelwood.cli.planned import is_complete

        if options["out"] is not None and is_complete(options["out"], as_json=as_json):
            return
    format = check_prediction_files({"MODEL": model, "CORPUS": corpus}, options, as_json=as_json)
    if options["resume"]:
        from kernelwood.cli.planned import run_resumed

        run_resumed("predict", {"model": model, "corpus": corpus, **options}, as_json=as_json)
        return
    extractor = load_extractor(model, options["threshold"])
    from kernelwood.relations import PredictionCounts

    counts = PredictionCounts()
    with running(options["n_jobs"], bar=False), open_corpus(corpus, options) as stream:
        shown = write_predictions(
            extractor,
            tracked(stream),
            lambda batch: (batch, extractor.predict(batch, all=True)),
            counts,
            options,
            format,
            advice=_ADVICE,
            report=Report.of(options, "Relations in", [corpus]),
        )
        counts.add(stream.tally)
    show_predictions(model, counts, shown, options["out"], started, as_json=as_json)
