"""``kernelwood evaluate``."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import counted, note, one_name, running, say, show_counts, write_json
from kernelwood.cli.corpora import read_documents
from kernelwood.cli.experiment import Named, config_option
from kernelwood.cli.model_files import load_extractor
from kernelwood.cli.options import (
    documents_options,
    end_to_end_option,
    jobs_option,
    json_option,
    positive_rate_option,
    report_option,
)
from kernelwood.cli.outputs import check_files, positive_rate_of
from kernelwood.cli.reports import Report

if TYPE_CHECKING:
    from kernelwood.relations import Predictions, RelationExtractor

_ERRORS = ("false positive", "false negative", "wrong relation")
_EPILOG = """\b
Examples:
  kernelwood evaluate model.kw corpus.xml
  kernelwood evaluate model.kw brat/ --errors-out errors.jsonl
  kernelwood evaluate model.kw corpus.xml --audit
  kernelwood evaluate model.kw corpus.xml --report report.html
  kernelwood evaluate model.kw brat/ --end-to-end
"""


@click.command(epilog=_EPILOG)
@click.argument("model", cls=Named)
@click.argument("test", cls=Named, nargs=-1, required=True, metavar="CORPUS...")
@documents_options
@positive_rate_option
@click.option(
    "--errors-out", metavar="FILE.jsonl",
    help="Output file of false positives and negatives with evidence.",
)  # fmt: skip
@click.option(
    "--audit", is_flag=True,
    help="Also show measures at other thresholds, and nearly equal training sentences.",
)  # fmt: skip
@report_option
@end_to_end_option
@config_option
@jobs_option
@json_option
def evaluate(model: str, test: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Evaluate a model on annotated documents.

    MODEL is a file of kernelwood train. CORPUS is annotated as for training, but was not part of
    the training data. Relations of types unknown to the model count as missed. Relations that are
    not candidates, such as those across sentences, are counted separately. With --end-to-end, a
    model trained with --learn-entities is also evaluated on the plain texts.
    """
    started = time.perf_counter()
    if options["end_to_end"] and options["positive_rate"] is not None:
        raise click.UsageError("--end-to-end uses the threshold; leave out --positive-rate")
    check_files(
        {"MODEL": model, **{f"CORPUS {name}": name for name in test}},
        {"--errors-out": options["errors_out"], "--report": options["report"]},
        suffixes={"--errors-out": [".jsonl"]},
    )
    extractor = load_extractor(model)
    if options["end_to_end"] and extractor.tagger_ is None:
        raise click.UsageError("--end-to-end needs a model that was trained with --learn-entities")
    documents, counts = read_documents(test, options)
    if not as_json:
        show_counts(counts)
    from kernelwood.relations import score_end_to_end

    with running(options["n_jobs"]) as begin:
        begin("predicting")
        predictions = extractor.predict(documents, all=True)
        if options["positive_rate"] is not None:
            predictions = predictions.with_positive_rate(
                positive_rate_of(extractor, options["positive_rate"])
            )
        begin("evaluating")
        scores = extractor.evaluate(predictions)
        for line in scores.unknown_lines():  # before warnings, of which it may be the reason
            note(f"warning: {line}")
        if options["end_to_end"]:
            begin("finding entities and relations")
            scores = replace(scores, end_to_end=score_end_to_end(extractor, documents, predictions))
        errors = None
        if options["errors_out"] is not None:
            begin("finding evidence")
            errors = _write_errors(options["errors_out"], extractor, predictions)
        if page := Report.of(options, f"Evaluation of {Path(model).name} on", test):
            begin("writing the report")
            page.add(predictions, documents)
            page.write(extractor, scores)
    if as_json:
        report = {"model": model, **scores.to_dict(), **counts.to_dict(), "errors": errors}
        write_json({**report, "seconds": round(time.perf_counter() - started, 3)})
        return
    say(scores)
    if options["audit"] and scores.audit is not None:
        say(f"\n{scores.audit.details()}")
    if errors is not None:
        shown = ", ".join(counted(n, kind) for kind, n in errors.items())
        note(f"{one_name(options['errors_out'])}: {shown}")


def _write_errors(
    path: str, extractor: RelationExtractor, predictions: Predictions
) -> dict[str, int]:
    """Write a line for each wrong prediction; return how many there are of each kind."""
    from kernelwood.io import write_text
    from kernelwood.relations import prediction_object

    wrong = [one for one in predictions if one.error is not None]
    evidence = extractor.explain(wrong)

    def lines() -> Iterator[str]:
        for prediction, cases in zip(wrong, evidence, strict=True):
            line = {"error": prediction.error, **prediction_object(prediction, cases)}
            yield json.dumps(line, ensure_ascii=False) + "\n"

    write_text(path, lines())
    kinds = Counter(one.error for one in wrong)
    return {kind: kinds[kind] for kind in _ERRORS}
