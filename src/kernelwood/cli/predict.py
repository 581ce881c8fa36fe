"""``kernelwood predict``: relations in annotated documents."""

from __future__ import annotations

import time
from typing import Any

import click

from kernelwood.cli.corpus import (
    errors_option,
    file_errors,
    from_option,
    only_option,
    orderly_end,
    usage,
    with_progress,
)
from kernelwood.cli.output import jobs_option, json_option
from kernelwood.cli.relation_outputs import (
    Found,
    all_option,
    check_line,
    check_target,
    deliver,
    evidence_option,
    in_words,
    judged,
    judging,
    load_extractor,
    out_option,
    positive_rate_option,
    show_report,
    threshold_option,
    to_option,
)

__all__ = ["predict"]

_ADVICE = (
    "mark them in the corpus (brat standoff, ppi and jsonl hold them), or find them by a list of "
    "terms with kernelwood extract"
)
_EPILOG = """\b
Examples:
  kernelwood predict model.kw corpus.xml -o found.jsonl
  kernelwood predict model.kw brat/ -o found.ann --evidence 3
  kernelwood predict model.kw corpus.jsonl -o scores.tsv --all
"""


@click.command(epilog=_EPILOG)
@click.argument("model")
@click.argument("corpus")
@out_option
@to_option
@all_option
@evidence_option
@threshold_option
@positive_rate_option
@from_option
@errors_option
@only_option
@jobs_option
@json_option
def predict(model: str, corpus: str, as_json: bool, **options: Any) -> None:
    """Find relations in documents whose entities are annotated.

    MODEL is a file that kernelwood train wrote. CORPUS is a file, a folder, an archive, or - for
    standard input, in any format with entities. Documents are judged as they are read, so a corpus
    may be larger than memory; OUT appears, or changes, only when everything is written.
    """
    started = time.perf_counter()
    out, every, n_evidence = options["out"], options["every"], options["n_evidence"]
    if as_json and out == "-":
        raise click.UsageError("--json and --out - both want standard output")
    check_line(options)
    found = Found()
    with file_errors(), orderly_end(), in_words():
        sources = {"MODEL": model, "CORPUS": None if corpus == "-" else corpus}
        format = check_target(sources, out, options["target_format"], every=every)
        extractor = load_extractor(model, options["threshold"])
        with judging(options["n_jobs"]), usage(lambda: _read(corpus, options)) as stream:
            results = judged(
                extractor, with_progress(stream),
                lambda batch: (batch, extractor.predict(batch, all=True)), found,
                n_evidence=n_evidence, every=every, positive_rate=options["positive_rate"],
                advice=_ADVICE,
            )  # fmt: skip
            shown = deliver(
                results, out, format,
                events=extractor.candidates == "events", evidence=n_evidence > 0,
            )  # fmt: skip
        found.skipped, found.remarks = dict(stream.tally.reasons), dict(stream.tally.remarks)
    report = {
        "model": model,
        **found.counts(),
        "out": out,
        "seconds": round(time.perf_counter() - started, 3),
    }
    show_report(report, found, shown, as_json=as_json)


def _read(corpus: str, options: dict[str, Any]) -> Any:
    from kernelwood.io import iter_read

    return iter_read(corpus, options["source_format"], options["errors"], only=options["only"])
