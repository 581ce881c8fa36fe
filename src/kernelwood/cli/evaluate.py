"""``kernelwood evaluate``: how good a model is on annotated documents."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.corpus import file_errors, orderly_end
from kernelwood.cli.experiment import Named, config_option
from kernelwood.cli.output import counted, jobs_option, json_option, write_json
from kernelwood.cli.outputs import check_outputs, say_counts
from kernelwood.cli.relation_options import (
    documents_options,
    load_extractor,
    read_documents,
    stages,
)
from kernelwood.cli.relation_outputs import positive_rate_of, positive_rate_option

if TYPE_CHECKING:
    from kernelwood.relations import Prediction, Predictions, RelationExtractor

__all__ = ["evaluate"]

_NONE = "none"
_MISTAKES = ("false positive", "false negative", "wrong relation")
_EPILOG = """\b
Examples:
  kernelwood evaluate model.kw corpus.xml
  kernelwood evaluate model.kw brat/ --errors-out mistakes.jsonl
"""


@click.command(epilog=_EPILOG)
@click.argument("model", cls=Named)
@click.argument("test", cls=Named, nargs=-1, required=True, metavar="CORPUS...")
@documents_options
@positive_rate_option
@click.option(
    "--errors-out", metavar="FILE.jsonl",
    help="Write the false positives and false negatives, with evidence.",
)  # fmt: skip
@config_option
@jobs_option
@json_option
def evaluate(model: str, test: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Tell how good a model is on annotated documents.

    MODEL is a file that train wrote; CORPUS is annotated, as for train, but was not learned from.
    Relations of types that the model has not learned count as missed. What could not be judged,
    such as a relation across sentences, is counted apart.
    """
    started = time.perf_counter()
    with file_errors(), orderly_end():
        check_outputs(
            {"MODEL": model, **{f"CORPUS {name}": name for name in test if name != "-"}},
            {"--errors-out": options["errors_out"]},
            suffixes={"--errors-out": [".jsonl"]},
        )
        extractor = load_extractor(model)
        documents = read_documents(test, options)
        if not as_json:
            say_counts(documents)
        with stages(options["n_jobs"]) as begin:
            begin("judging")
            predictions = extractor.predict(documents.examples, all=True)
            if options["positive_rate"] is not None:
                predictions = predictions.with_positive_rate(
                    positive_rate_of(extractor, options["positive_rate"])
                )
            begin("measuring")
            scores = extractor.evaluate(predictions)
            wrong = None
            if options["errors_out"] is not None:
                begin("evidence")
                wrong = _write_errors(options["errors_out"], extractor, predictions)
    if as_json:
        seconds = round(time.perf_counter() - started, 3)
        told = {"model": model, **scores.to_dict(), **documents.counts(), "errors": wrong}
        write_json({**told, "seconds": seconds})
    else:
        click.echo(str(scores))
        _say_errors(options["errors_out"], wrong)


def _write_errors(
    path: str, extractor: RelationExtractor, predictions: Predictions
) -> dict[str, int]:
    """Write what is wrong, a line for each candidate; return how many there are of each kind."""
    from kernelwood.io import write_text

    wrong = [one for one in predictions if _mistake(one) is not None]
    evidence = extractor.explain(wrong)

    def lines() -> Iterator[str]:
        for prediction, cases in zip(wrong, evidence, strict=True):
            told = {"error": _mistake(prediction), **prediction.to_dict()}
            told["evidence"] = [case.to_dict() for case in cases]
            yield json.dumps(told, ensure_ascii=False) + "\n"

    write_text(path, lines())
    kinds = Counter(map(_mistake, wrong))
    return {kind: kinds[kind] for kind in _MISTAKES}


def _mistake(prediction: Prediction) -> str | None:
    """Return what is wrong about a prediction, None if nothing is."""
    found = prediction.relation if prediction.positive else _NONE
    if found == prediction.label:
        return None
    if prediction.label == _NONE:
        return "false positive"
    return "false negative" if found == _NONE else "wrong relation"


def _say_errors(path: str | None, wrong: dict[str, int] | None) -> None:
    if wrong is not None:
        told = ", ".join(counted(n, kind) for kind, n in wrong.items())
        click.echo(f"{path}: {told}", err=True)
