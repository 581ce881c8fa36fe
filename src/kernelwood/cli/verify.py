"""``kernelwood verify``: a second opinion on relations that another tool found."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.corpus import errors_option, file_errors, orderly_end, usage, with_progress
from kernelwood.cli.output import counted, jobs_option, json_option, write_json
from kernelwood.cli.outputs import check_outputs
from kernelwood.cli.relation_outputs import in_words, judging, load_extractor, threshold_option
from kernelwood.cli.tables import show_table
from kernelwood.cli.texts import load_parser, parser_option
from kernelwood.structures import one_line, shorten

if TYPE_CHECKING:
    from kernelwood import RelationExtractor
    from kernelwood.relations import Verdict

__all__ = ["verify"]

_AT_ONCE = 256  # verdicts whose evidence is looked up together
_WIDTH = 60
_SUFFIXES = (".jsonl", ".ndjson", ".gz")
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
    "-o", "--out", metavar="FILE",
    help="Where verdicts go: .jsonl, a line for each claim; - for standard output. Default: a "
    "table on standard output.",
)  # fmt: skip
@click.option(
    "--evidence", "n_evidence", type=click.IntRange(min=0), metavar="N",
    help="Labeled cases to write with each verdict. Default: as the model was trained.",
)  # fmt: skip
@threshold_option
@parser_option
@errors_option
@jobs_option
@json_option
def verify(model: str, claims: str, as_json: bool, **options: Any) -> None:
    """Judge relations that another tool found.

    MODEL is a file that kernelwood train wrote, CLAIMS a file of JSON lines. Each claim gets a
    score and a verdict: supported; unsupported, if the model sees no relation; or other, if it
    sees another one, which may be the same the other way round. The labeled cases that the
    sentence is most like come with it.
    """
    started = time.perf_counter()
    out = options["out"]
    if as_json and out == "-":
        raise click.UsageError("--json and --out - both want standard output")
    counts: Counter[str] = Counter()
    with file_errors(), orderly_end(), in_words():
        sources = {"MODEL": model, "CLAIMS": None if claims == "-" else claims}
        written = None if out == "-" else out
        check_outputs(sources, {"--out": written}, suffixes={"--out": _SUFFIXES})
        extractor = load_extractor(model, options["threshold"])
        with judging(options["n_jobs"]), _claims(claims, options) as stream:
            verdicts = _verdicts(extractor, with_progress(stream), options, counts)
            shown = _write(verdicts, out)
    report = {
        "model": model,
        "threshold": extractor.threshold_,
        "n_claims": counts.total(),
        **{opinion: counts[opinion] for opinion in ("supported", "unsupported", "other")},
        "skipped": dict(stream.tally.reasons),
        "out": out,
        "seconds": round(time.perf_counter() - started, 3),
    }
    _show(report, shown, as_json=as_json)


def _claims(path: str, options: dict[str, Any]) -> Any:
    from kernelwood.io import iter_claims

    return usage(lambda: iter_claims(path, options["errors"]))


def _verdicts(
    extractor: RelationExtractor, claims: Any, options: dict[str, Any], counts: Counter[str]
) -> Iterator[dict[str, Any]]:
    """Yield the lines to be written, as plain values."""
    from kernelwood.relations import iter_verdicts

    name, n = options["parser"], options["n_evidence"]
    backend = None if name is None else load_parser(name)
    verdicts = iter_verdicts(extractor, claims, parser=backend)
    while some := list(islice(verdicts, _AT_ONCE)):
        counts.update(verdict.opinion for verdict in some)
        yield from _with_evidence(extractor, some, n)


def _with_evidence(
    extractor: RelationExtractor, verdicts: list[Verdict], n: int | None
) -> Iterator[dict[str, Any]]:
    if n == 0:
        yield from (verdict.to_dict() for verdict in verdicts)
        return
    # Many at once are faster than one after the other.
    predictions = [one.prediction for one in verdicts if one.prediction is not None]
    cases = iter(extractor.explain(predictions, n) if predictions else ())
    for verdict in verdicts:
        yield verdict.to_dict(evidence=() if verdict.prediction is None else next(cases))


def _write(lines: Iterable[dict[str, Any]], out: str | None) -> list[dict[str, Any]]:
    """Write lines to a file; without one, return them."""
    from kernelwood.io import write_text
    from kernelwood.structures import encode_json

    if out is None:
        return list(lines)
    if out == "-" and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # whatever the terminal speaks
    write_text(out, (f"{encode_json(line)}\n" for line in lines))
    return []


def _show(report: dict[str, Any], shown: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        write_json(report if report["out"] is not None else {**report, "verdicts": shown})
        return
    if shown:
        show_table(["claim", "relation", "verdict", ">score", "note"], [_row(one) for one in shown])
        click.echo()
    told = ", ".join(f"{report[name]:,} {name}" for name in ("supported", "unsupported", "other"))
    click.echo(f"{counted(report['n_claims'], 'claim')}: {told}", err=report["out"] == "-")
    for reason, count in report["skipped"].items():
        click.echo(f"  skipped: {count:,} × {reason}", err=True)


def _row(line: dict[str, Any]) -> list[str]:
    texts = {
        entity["id"]: line["text"][entity["start"] : entity["end"]] for entity in line["entities"]
    }
    relation = line["relation"]
    score = "" if line["score"] is None else f"{line['score']:.3f}"
    notes = [_relation(line["other"], texts)] if "other" in line else []
    notes += [line["reason"]] if "reason" in line else []
    return [line["id"], _relation(relation, texts), line["verdict"], score, "; ".join(notes)]


def _relation(relation: dict[str, str], texts: dict[str, str]) -> str:
    first, second = (one_line(texts[relation[end]]) for end in ("first", "second"))
    return shorten(f"{relation['type']}({first}, {second})", _WIDTH)
