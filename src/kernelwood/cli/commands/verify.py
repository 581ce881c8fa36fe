"""``kernelwood verify``."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import (
    counted,
    nearest,
    note,
    one_message,
    one_name,
    running,
    say,
    show_table,
    tracked,
    usage,
    write_json,
)
from kernelwood.cli.corpora import reading_limits
from kernelwood.cli.model_files import load_extractor, load_parser
from kernelwood.cli.options import (
    errors_option,
    jobs_option,
    json_option,
    memory_option,
    parser_option,
    threshold_option,
)
from kernelwood.cli.outputs import STANDARD, check_files, use_utf8
from kernelwood.structures import one_line, shorten

if TYPE_CHECKING:
    from kernelwood import RelationExtractor
    from kernelwood.io import Tally

_AT_ONCE = 256  # verdicts whose evidence is computed together
_WIDTH = 60
_SHOWN = 10  # invalid claims that are listed
_SUFFIXES = (".jsonl", ".ndjson", ".gz")
_VERDICTS = ("supported", "unsupported", "other", "not checkable")
_SOURCES = ("claims", "triples", "rebel", "glirel", "indra")  # of io.CLAIM_SOURCES
_EPILOG = """\b
A claim is a line of JSON; offsets count characters, and the relation goes from first to second:
  {"text": "Raf binds Ras.",
   "entities": [{"id": "T1", "start": 0, "end": 3, "type": "Protein"},
                {"id": "T2", "start": 10, "end": 13, "type": "Protein"}],
   "relation": {"type": "binds", "first": "T1", "second": "T2"}}

\b
With --from triples, mentions are found in the text:
  {"text": "Raf binds Ras.",
   "relations": [{"head": "Raf", "relation": "binds", "tail": "Ras"}]}

\b
Examples:
  kernelwood verify model.kw claims.jsonl -o verdicts.jsonl
  kernelwood verify model.kw triples.jsonl --from triples --type protein --map "binds to=binds"
  other-tool | kernelwood verify model.kw - -o - --evidence 1
"""


def _print_schema(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from kernelwood.io import claim_schema

        write_json(claim_schema())
        ctx.exit()


def _check_map(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> dict[str, str]:
    mapping = {}
    for text in value:
        name, _, kind = text.rpartition("=")
        if not (name and kind):
            raise click.BadParameter(f"{text!r} is not of the form PREDICATE=TYPE")
        mapping[name] = kind
    return mapping


@click.command(epilog=_EPILOG)
@click.argument("model")
@click.argument("claims")
@click.option(
    "--from", "source_format", type=click.Choice(_SOURCES), default="claims",
    help="Claims, or output of a language model (triples) or tool.",
)  # fmt: skip
@click.option(
    "--map", "mapping", metavar="PREDICATE=TYPE", multiple=True, callback=_check_map,
    help="Relation type of the model for a predicate (repeatable).",
)  # fmt: skip
@click.option(
    "--type", "entity_type", metavar="TYPE", show_default="that of the model if it has one",
    help="Entity type of mentions without a type.",
)  # fmt: skip
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
@memory_option
@click.option(
    "--schema", is_flag=True, is_eager=True, expose_value=False, callback=_print_schema,
    help="Print the JSON schema of claims and exit.",
)  # fmt: skip
@jobs_option
@json_option
def verify(model: str, claims: str, as_json: bool, **options: Any) -> None:
    """Check relations found by another tool.

    MODEL is a file of kernelwood train, CLAIMS a file of JSON lines. Each claim gets its
    probability, the training cases with the largest contributions, and a verdict: supported;
    unsupported, if the model predicts no relation; other, if it predicts another relation or
    the opposite direction; or not checkable, if a mention is not in the text, or both are in
    different sentences.
    """
    started = time.perf_counter()
    out = options["out"]
    if as_json and out == STANDARD:
        raise click.UsageError("--json and --out - both write to standard output")
    check_files({"MODEL": model, "CLAIMS": claims}, {"--out": out}, suffixes={"--out": _SUFFIXES})
    extractor = load_extractor(model, options["threshold"])
    _check_types(extractor, options["mapping"])
    from kernelwood.io import iter_claims

    counts: Counter[tuple[str, str]] = Counter()
    with usage():
        stream = iter_claims(
            claims,
            "collect" if options["errors"] == "skip" else "raise",
            format=options["source_format"],
            entity_type=options["entity_type"] or _only_type(extractor),
            limits=reading_limits(options),
        )
    with running(options["n_jobs"], bar=False), stream:
        lines = _verdicts(extractor, tracked(stream, "claim"), options, counts)
        shown = list(lines) if out is None else _write(lines, out)
    _show(_report(model, extractor, stream.tally, counts, out, started), shown, as_json=as_json)


def _check_types(extractor: RelationExtractor, mapping: dict[str, str]) -> None:
    for kind in mapping.values():
        if kind not in extractor.relations_:
            known = ", ".join(extractor.relations_)
            raise click.UsageError(
                f"--map: the model has no relation type {kind!r}"
                f"{nearest(kind, extractor.relations_)} (types: {known})"
            )


def _only_type(extractor: RelationExtractor) -> str:
    """Return the entity type of a model, "" if it has several."""
    types = extractor.types
    listed = [types] if isinstance(types, str) else list(types or ())
    return str(listed[0]) if len(listed) == 1 else ""


def _report(
    model: str,
    extractor: RelationExtractor,
    tally: Tally,
    counts: Counter[tuple[str, str]],
    out: str | None,
    started: float,
) -> dict[str, Any]:
    by_type: dict[str, dict[str, int]] = {}
    for (kind, verdict), count in sorted(counts.items()):
        by_type.setdefault(kind, dict.fromkeys(_KEYS, 0))[_key(verdict)] = count
    return {
        "model": model,
        "threshold": extractor.threshold_,
        "n_claims": counts.total(),
        **{key: sum(row[key] for row in by_type.values()) for key in _KEYS},
        "types": by_type,
        "unknown_types": {
            kind: nearest(kind, extractor.relations_, form="{}")
            for kind in by_type
            if kind not in extractor.relations_ and not _binary(extractor)
        },
        "skipped": dict(tally.reasons),
        "invalid": [str(problem).partition("\n")[0] for problem in tally.problems],
        "out": out,
        "seconds": round(time.perf_counter() - started, 3),
    }


def _binary(extractor: RelationExtractor) -> bool:
    """Return whether a model has one class for relations of all types."""
    return list(extractor.relations_) == ["relation"]


def _key(verdict: str) -> str:
    return verdict.replace(" ", "_")


_KEYS = tuple(map(_key, _VERDICTS))


def _verdicts(
    extractor: RelationExtractor,
    claims: Any,
    options: dict[str, Any],
    counts: Counter[tuple[str, str]],
) -> Iterator[dict[str, Any]]:
    """Yield each claim with its verdict and evidence, as plain values."""
    from kernelwood.relations import Evidence, iter_verdicts, map_types

    name, n = options["parser"], options["n_evidence"]
    mapped = map_types(claims, extractor.relations_, options["mapping"])
    verdicts = iter_verdicts(extractor, mapped, parser=None if name is None else load_parser(name))
    while some := list(islice(verdicts, _AT_ONCE)):
        counts.update((verdict.claim.type, verdict.opinion) for verdict in some)
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
        rows = [_row(one) for one in shown]
        show_table(["claim", "relation", "verdict", ">probability", "note"], rows)
        say()
    if len(report["types"]) > 1 and report["out"] != STANDARD:
        rows = [
            [one_line(kind), f"{sum(row.values()):,}", *(f"{row[key]:,}" for key in _KEYS)]
            for kind, row in report["types"].items()
        ]
        show_table(["type", ">claims", *(f">{name}" for name in _VERDICTS)], rows)
        say()
    verdicts = ", ".join(
        f"{report[key]:,} {name}"
        for key, name in zip(_KEYS, _VERDICTS, strict=True)
        if report[key] or name != _VERDICTS[-1]
    )
    show = note if report["out"] == STANDARD else say
    show(f"{counted(report['n_claims'], 'claim')}: {verdicts}")
    for kind, near in report["unknown_types"].items():
        example = f"{kind}={near or 'TYPE'}"
        note(f"  unknown to the model: {kind!r}; give its type with --map {shlex.quote(example)}")
    for reason, count in report["skipped"].items():
        note(f"  skipped: {count:,} × {one_name(reason)}")
    for problem in report["invalid"][:_SHOWN]:
        note(one_message(f"    {problem}"))


def _row(line: dict[str, Any]) -> list[str]:
    texts = {
        entity["id"]: line["text"][entity["start"] : entity["end"]] for entity in line["entities"]
    }
    probability = "" if line["probability"] is None else f"{line['probability']:.3f}"
    notes = [_relation(line["other"], texts)] if "other" in line else []
    notes += [line["reason"]] if "reason" in line else []
    relation = _relation(line["relation"], texts)
    return [line["id"], relation, line["verdict"], probability, "; ".join(notes)]


def _relation(relation: dict[str, str], texts: dict[str, str]) -> str:
    """Return a claim with an arrow from its first to its second argument."""
    first, second = (
        one_line(texts.get(relation[end], relation[end])) for end in ("first", "second")
    )
    return shorten(f"{first} —{one_line(relation['type'])}→ {second}", _WIDTH)
