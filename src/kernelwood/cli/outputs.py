"""Files that commands write, checked before the work begins."""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import (
    counted,
    note,
    one_name,
    say,
    show_counts,
    show_table,
    usage,
    write_json,
)
from kernelwood.cli.explanations import show_explanation
from kernelwood.cli.options import exclusive
from kernelwood.cli.reports import Report, is_report
from kernelwood.text import Example

if TYPE_CHECKING:
    from kernelwood import RelationExtractor
    from kernelwood.relations import (
        DocumentPredictions,
        FactCounter,
        Prediction,
        PredictionCounts,
        Predictor,
    )

STANDARD = "-"  # standard input or output
# Suffix of a table -> separator of its cells; None for JSON lines.
ROWS: dict[str, str | None] = {".tsv": "\t", ".csv": ",", ".jsonl": None}
_MOST_POINTS = 3000  # of a map; more take minutes and overlap
_SAMPLED = 7  # number of the random stream that chooses them
_MAP_SIZE = (8.5, 6.0)  # inches


# Checks.


def check_files(
    sources: Mapping[str, str | None],
    outputs: Mapping[str, str | None],
    *,
    figure: str | None = None,
    suffixes: Mapping[str, Iterable[str]] | None = None,
) -> None:
    """Check that inputs exist and that outputs can be written, before anything is imported.

    Parameters
    ----------
    sources, outputs : mapping of str to str or None
        Paths by the argument or option that gives them; None and ``-`` are not checked.
    figure : str, optional
        The option for a figure.
    suffixes : mapping of str to iterable of str, optional
        Allowed suffixes by option.

    Raises
    ------
    click.UsageError
        If two paths are the same file, or an output is a folder or has a wrong suffix.
    FileNotFoundError
        If an input or the folder of an output does not exist.
    PermissionError
        If files cannot be created in the folder of an output.
    """
    inputs = {name: path for name, path in sources.items() if path not in (None, STANDARD)}
    named = {Path(str(path)).resolve(): name for name, path in inputs.items()}
    allowed = dict(suffixes or {})
    if figure is not None and outputs[figure] is not None:
        from kernelwood.figures import FIGURES, check_figure

        allowed[figure] = FIGURES
    for flag, given in outputs.items():
        if given in (None, STANDARD):
            continue
        path = Path(str(given))
        other = named.setdefault(path.resolve(), flag)
        if other != flag:
            raise click.UsageError(f"{other} and {flag} are the same file; rename one")
        if path.is_dir():
            raise click.UsageError(f"{flag} {path} is a folder; give a file name")
        if flag in allowed and path.suffix.lower() not in allowed[flag]:
            raise click.UsageError(f"{flag} must end in one of {', '.join(allowed[flag])}")
        check_writable(path)
        if flag == figure:
            check_figure(path)
    check_inputs(*inputs.values())


def check_writable(target: Path) -> None:
    """Raise FileNotFoundError or PermissionError if a file or folder cannot be created."""
    from kernelwood.io import check_parent

    check_parent(target)
    special = target.exists() and not target.is_file()  # pipes and devices are not replaced
    if not os.access(target if special else target.parent, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))


def check_inputs(*paths: str | None) -> None:
    """Raise FileNotFoundError if a path does not exist; None and ``-`` are not checked."""
    for path in paths:
        # The reader has better messages for addresses and for text in place of a path.
        if path in (None, STANDARD) or "://" in str(path) or "\n" in str(path):
            continue
        if not Path(str(path)).exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def compared_files(corpus: str | None, options: dict[str, Any]) -> dict[str, str | None]:
    """Return the input files of a command that compares examples, for `check_files`."""
    kernel = options["kernel"]
    saved = kernel if kernel is not None and kernel.endswith(".kw") else None
    return {"CORPUS": corpus, "--kernel": saved, "--vectors": options["vectors"]}


# Files.


def use_utf8(target: str | None) -> None:
    """Encode standard output in UTF-8, if it is the target."""
    if target == STANDARD and sys.stdout is None:
        raise OSError(errno.EBADF, "closed", "standard output")
    if target == STANDARD and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")


def write_rows(path: str, titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table in the format of the suffix."""
    from kernelwood.io import separated_rows, write_text

    separator = ROWS[Path(path).suffix.lower()]
    if separator is None:
        write_text(path, (_json_line(titles, row) for row in rows))
    else:
        write_text(path, separated_rows(chain([titles], rows), separator))


def _json_line(titles: Sequence[str], row: Sequence[Any]) -> str:
    return json.dumps(dict(zip(titles, row, strict=True)), ensure_ascii=False) + "\n"


def save_map(
    vectors: Any,
    groups: Sequence[Any] | None,
    options: dict[str, Any],
    *,
    title: str,
    texts: Mapping[int, str] | None = None,
) -> None:
    """Draw vectors as points of a map, a sample if there are many; those with texts are in it."""
    import numpy as np

    from kernelwood.features import map_2d
    from kernelwood.figures import draw_map, save_figure
    from kernelwood.seeds import child_generator

    n, seed, texts = len(vectors), options["seed"], texts or {}
    shown = np.arange(n)
    if n > _MOST_POINTS:
        drawn = child_generator(seed, _SAMPLED).permutation(n)[:_MOST_POINTS]
        shown = np.union1d(drawn, np.array(list(texts), dtype=np.int64))
        note(f"the map shows {len(shown):,} of {n:,} examples")
        title += f" ({len(shown):,} shown)"
    place = {int(number): position for position, number in enumerate(shown)}
    points = map_2d(vectors[shown], options["map_method"], seed=seed)
    chosen = None if groups is None else [groups[number] for number in shown.tolist()]
    written = {place[number]: text for number, text in texts.items()}
    save_figure(
        lambda ax: draw_map(ax, points, chosen, title=title, texts=written),
        options["plot"],
        _MAP_SIZE,
    )


# Predictions.


def check_prediction_files(
    sources: dict[str, str | None], options: dict[str, Any], *, as_json: bool
) -> str | None:
    """Check the options and files of a command that writes predictions; return the format."""
    from kernelwood.io import check_parquet, check_vacant

    out, format = options["out"], options["target_format"]
    if as_json and out == STANDARD:
        raise click.UsageError("--json and --out - both write to standard output")
    exclusive(options, "threshold", "positive_rate")
    if out is None and format is not None:
        raise click.UsageError("--to is the format of --out; give --out, too")
    check_inputs(*sources.values())
    if out not in (None, STANDARD):
        check_writable(Path(out))
    check_fact_files(sources, options, as_json=as_json)
    check_files(sources, {"--report": options["report"]})
    if out is None:
        return None
    if is_report(out):
        return _check_report(sources, options)
    format = "jsonl" if out == STANDARD and format is None else _format_of(out, format)
    if format in ("jsonl", "tsv", "parquet"):
        check_files(sources, {"--out": out})
        if format == "parquet":
            check_parquet(out)
        return format
    if options["every"]:
        kind = "standoff annotation" if format == "ann" else f"the format {format}"
        raise click.UsageError(f"{kind} contains relations only; leave out --all")
    if format != "ann":
        check_files(sources, {"--out": out, "--report": options["report"]})
        return format
    if out == STANDARD:
        raise click.UsageError("standoff annotation consists of several files; give a folder")
    check_vacant(Path(out))
    return "ann"


def _check_report(sources: dict[str, str | None], options: dict[str, Any]) -> str:
    """Check the options and the file of a report that is the only output; return the format."""
    out = options["out"]
    if options["report"] is not None:
        raise click.UsageError("--out and --report are both reports; leave out one of them")
    if options["target_format"] is not None:
        raise click.UsageError(f"{out} is the name of a report; rename it or leave out --to")
    check_files(sources, {"--out": out})
    return "html"


def _format_of(out: str, format: str | None) -> str:
    from kernelwood.relations import output_format

    try:
        return output_format(out, format)
    except ValueError as failure:
        raise click.UsageError(f"{failure}{', .html' * (format is None)}") from failure


def check_fact_files(
    sources: dict[str, str | None], options: dict[str, Any], *, as_json: bool
) -> None:
    """Check the files of ``--facts``: known formats, different files, folders that are new."""
    from kernelwood.io import check_parent, check_parquet, check_vacant

    paths = options["facts"]
    if not paths:
        for name, given in ("by", options["facts_by"] != "text"), ("type", options["fact_types"]):
            if given:
                raise click.UsageError(f"--facts-{name} needs --facts FILE")
        return
    from kernelwood.relations import FACT_FORMATS, check_statement_types, fact_format

    with usage():
        check_statement_types(options["fact_types"])
    if STANDARD in paths:
        raise click.UsageError("--facts needs a file name, whose suffix determines the format")
    if len({Path(path).resolve() for path in (*paths, options["out"] or STANDARD)}) <= len(paths):
        raise click.UsageError("--out and --facts name the same file twice; rename one")
    for path in paths:
        with usage():
            row = FACT_FORMATS[fact_format(path)]
        if row.is_folder:
            check_parent(Path(path))
            check_vacant(Path(path))
        else:
            check_files(sources, {"--facts": path})
            if row.columns is not None:
                check_parquet(path)


def write_facts(counter: FactCounter, options: dict[str, Any]) -> None:
    """Write the facts to each file; INDRA Statements, which not all facts can be, come last."""
    from kernelwood.relations import FACT_FORMATS, fact_format

    facts = counter.facts()
    for path in sorted(options["facts"], key=lambda path: fact_format(path) == "indra"):
        typed = FACT_FORMATS[fact_format(path)].typed
        facts.write(path, types=options["fact_types"] if typed else None)
        note(f"{counted(len(facts), 'fact')}: {one_name(path)}")


def positive_rate_of(extractor: RelationExtractor, rate: str | float) -> float:
    """Return a positive rate as a number; ``"trained"`` is that of the training documents."""
    return extractor.positive_rate_ if isinstance(rate, str) else rate


def write_predictions(
    extractor: RelationExtractor,
    examples: Iterable[Example],
    predict: Predictor,
    counts: PredictionCounts,
    options: dict[str, Any],
    format: str | None,
    *,
    advice: str = "",
    report: Report | None = None,
) -> list[tuple[Prediction, Any]]:
    """Write predictions to a file; without one, return them with their evidence.

    Parameters
    ----------
    extractor : RelationExtractor
        Finds the evidence.
    examples : iterable of Example
        Each with a sentence or a document; predicted in batches as they are read.
    predict : callable
        Returns a list of examples, which may have got entities, and their predictions, negative
        ones included.
    counts : PredictionCounts
        Updated on the way.
    options : dict
        With ``out``, ``facts``, ``facts_by``, ``n_evidence``, ``every`` and ``positive_rate``.
    format : str or None
        Of the file.
    advice : str
        How to get entities; with it, no entities at all are an error. It is raised before an
        older file is replaced.
    report : Report, optional
        Collects the predictions, and is written after them.
    """
    from kernelwood import relations

    counter = relations.FactCounter(options["facts_by"])
    rate = options["positive_rate"]
    results: Iterable[DocumentPredictions] = relations.predict_stream(
        extractor,
        examples,
        predict,
        counts,
        n_evidence=options["n_evidence"],
        every=options["every"],
        positive_rate=None if rate is None else positive_rate_of(extractor, rate),
        drift=options["threshold"] is None,
        advice=advice,
    )
    if options["facts"]:
        results = _counted(results, counter)
    if report is not None:
        results = report.collected(results)
    out = options["out"]
    shown = []
    if out is None:
        shown = [pair for one in results for pair in one.explained()]
    elif format == "html":
        for _ in results:
            pass
    else:
        use_utf8(out)
        relations.write_predictions(
            results,
            out,
            format=format,
            events=extractor.candidates == "events",
            evidence=options["n_evidence"] > 0,
        )
        if out != STANDARD:
            note(f"relations: {one_name(out)}")
    write_facts(counter, options)
    if report is not None:
        report.write(extractor)
    return shown


def _counted(
    results: Iterable[DocumentPredictions], counter: FactCounter
) -> Iterator[DocumentPredictions]:
    for one in results:
        counter.add(one.predictions)
        yield one


def show_predictions(
    model: str,
    counts: PredictionCounts,
    shown: list[tuple[Prediction, Any]],
    out: str | None,
    started: float,
    *,
    as_json: bool,
) -> None:
    """Print predictions that are not written to a file, and the counts."""
    from kernelwood.relations import SENTENCE_WIDTH, prediction_object, table_row

    if as_json:
        seconds = round(time.perf_counter() - started, 3)
        report = {"model": model, **counts.to_dict(), "out": out, "seconds": seconds}
        if out is None:
            report["predictions"] = [prediction_object(*pair) for pair in shown]
        write_json(report)
        return
    if any(evidence is not None for _, evidence in shown):
        for pair in shown:
            show_explanation(prediction_object(*pair, fragments=False))
            say()
    elif shown:
        rows = [table_row(prediction) for prediction, _ in shown]
        titles = ["document", "type", ">probability", "participants", "sentence"]
        show_table(titles, rows, last=SENTENCE_WIDTH)
        say()
    relations, candidates = counts.types.total(), counts.n_candidates
    show = note if out == STANDARD else say
    show(
        f"{counted(relations, 'relation')} among {counted(candidates, 'candidate')} in "
        f"{counted(counts.n_documents, 'document')}"
    )
    show_counts(counts)
