"""``kernelwood verify``."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import (
    counted,
    note,
    running,
    say,
    show_table,
    tracked,
    usage,
    write_json,
)
from kernelwood.cli.model_files import load_extractor, load_parser
from kernelwood.cli.options import (
    errors_option,
    jobs_option,
    json_option,
    parser_option,
    threshold_option,
)
from kernelwood.cli.outputs import STANDARD, check_files, use_utf8
from kernelwood.structures import one_line, shorten

if TYPE_CHECKING:
    from kernelwood import RelationExtractor

_AT_ONCE = 256  # verdicts whose evidence is computed together
_WIDTH = 60
_SUFFIXES = (".jsonl", ".ndjson", ".gz")
_VERDICTS = ("supported", "unsupported", "other")
_EPILOG = """\b
A claim is a line of JSON; offsets count characters, and the relation goes from first to second:
  {"text": "Raf binds Ras.",
   "entities": [{"id": "T1", "start": 0, "end": 3, "type": "protein"},
                {"id": "T2", "start": 10, "end": 13, "type": "protein"}],
   "relation": {"type": "binds", "first": "T1", "second": "T2"}}

\b
Examples:
  kernelwood verify model.kw claims.jsonl -o verdicts.jsonl
  other-tool | kernelwood verify model.kw - -o - --evidence 1
"""


@click.command(epilog=_EPILOG)
@click.argument("model")
@click.argument("claims")
@click.option(
    "-o", "--out", metavar="FILE", show_default="table on standard output",
    help="Output file of verdicts (.jsonl), or - for standard output.",
)  # fmt: skip
@click.option(
    "--evidence", "n_evidence", type=click.IntRange(min=0), metavar="N",
    show_default="that of the model",
    help="Number of training cases for and against each verdict.",
)  # fmt: skip
@threshold_option
@parser_option
@errors_option
@jobs_option
@json_option
def verify(model: str, claims: str, as_json: bool, **options: Any) -> None:
    """Check relations found by another tool.

    MODEL is a file of kernelwood train, CLAIMS a file of JSON lines. Each claim gets its
    probability, the training cases with the largest contributions, and a verdict: supported;
    unsupported, if the model predicts no relation; or other, if it predicts another relation or
    the opposite direction.
    """
    started = time.perf_counter()
    out = options["out"]
    if as_json and out == STANDARD:
        raise click.UsageError("--json and --out - both write to standard output")
    check_files({"MODEL": model, "CLAIMS": claims}, {"--out": out}, suffixes={"--out": _SUFFIXES})
    extractor = load_extractor(model, options["threshold"])
    from kernelwood.io import iter_claims

    counts: Counter[str] = Counter()
    with usage():
        stream = iter_claims(claims, options["errors"])
    with running(options["n_jobs"], bar=False), stream:
        lines = _verdicts(extractor, tracked(stream), options, counts)
        shown = list(lines) if out is None else _write(lines, out)
    report = {
        "model": model,
        "threshold": extractor.threshold_,
        "n_claims": counts.total(),
        **{verdict: counts[verdict] for verdict in _VERDICTS},
        "skipped": dict(stream.tally.reasons),
        "out": out,
        "seconds": round(time.perf_counter() - started, 3),
    }
    _show(report, shown, as_json=as_json)


def _verdicts(
    extractor: RelationExtractor, claims: Any, options: dict[str, Any], counts: Counter[str]
) -> Iterator[dict[str, Any]]:
    """Yield each claim with its verdict and evidence, as plain values."""
    from kernelwood.relations import Evidence, iter_verdicts

    name, n = options["parser"], options["n_evidence"]
    verdicts = iter_verdicts(extractor, claims, parser=None if name is None else load_parser(name))
    while some := list(islice(verdicts, _AT_ONCE)):
        counts.update(verdict.opinion for verdict in some)
        if n == 0:
            yield from (verdict.to_dict() for verdict in some)
            continue
        predictions = [one.prediction for one in some if one.prediction is not None]
        found = iter(extractor.explain(predictions, n) if predictions else ())
        for verdict in some:
            yield verdict.to_dict(
                evidence=Evidence() if verdict.prediction is None else next(found)
            )


def _write(lines: Iterator[dict[str, Any]], out: str) -> list[dict[str, Any]]:
    from kernelwood.io import write_text
    from kernelwood.structures import encode_json

    use_utf8(out)
    write_text(out, (f"{encode_json(line)}\n" for line in lines))
    return []


def _show(report: dict[str, Any], shown: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        write_json(report if report["out"] is not None else {**report, "verdicts": shown})
        return
    if shown:
        show_table(
            ["claim", "relation", "verdict", ">probability", "note"], [_row(one) for one in shown]
        )
        say()
    verdicts = ", ".join(f"{report[name]:,} {name}" for name in _VERDICTS)
    show = note if report["out"] == STANDARD else say
    show(f"{counted(report['n_claims'], 'claim')}: {verdicts}")
    for reason, count in report["skipped"].items():
        note(f"  skipped: {count:,} × {reason}")


def _row(line: dict[str, Any]) -> list[str]:
    texts = {
        entity["id"]: line["text"][entity["start"] : entity["end"]] for entity in line["entities"]
    }
    relation = line["relation"]
    probability = "" if line["probability"] is None else f"{line['probability']:.3f}"
    notes = [_relation(line["other"], texts)] if "other" in line else []
    notes += [line["reason"]] if "reason" in line else []
    return [line["id"], _relation(relation, texts), line["verdict"], probability, "; ".join(notes)]


def _relation(relation: dict[str, str], texts: dict[str, str]) -> str:
    first, second = (one_line(texts[relation[end]]) for end in ("first", "second"))
    return shorten(f"{relation['type']}({first}, {second})", _WIDTH)
