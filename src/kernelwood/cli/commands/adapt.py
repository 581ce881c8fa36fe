"""``kernelwood adapt``."""

from __future__ import annotations

import csv
import io
import json
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import counted, note, one_name, running, say, show_counts, write_json
from kernelwood.cli.corpora import check_annotation, texts_with_entities
from kernelwood.cli.model_files import load_extractor, load_parser
from kernelwood.cli.options import (
    case_option,
    entities_option,
    exclusive,
    jobs_option,
    json_option,
    parser_option,
    refuse,
    seed_option,
    text_options,
)
from kernelwood.cli.outputs import check_files, write_rows
from kernelwood.errors import KernelInputError, StructureError
from kernelwood.io import Counts
from kernelwood.structures import one_line
from kernelwood.text import Example, annotated_view

if TYPE_CHECKING:
    from kernelwood.relations import Prediction, Predictions, RelationExtractor

_NONE = "none"
_N_LABELS = 30
_TITLES = ("id", "label", "predicted", "sentence")
_FILES = [".tsv", ".jsonl"]
_KEYS = "y predicted relation, n none, s skip, u undo, q finish"
_EPILOG = """\b
Examples:
  kernelwood adapt model.kw papers/ --entities terms.tsv -o adapted.kw
  kernelwood adapt model.kw corpus.jsonl -o adapted.kw --label 30
  kernelwood adapt model.kw corpus.jsonl --write-labels labels.tsv
  kernelwood adapt model.kw corpus.jsonl -o adapted.kw --labels labels.tsv
"""


@click.command(epilog=_EPILOG)
@click.argument("model")
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@click.option("-o", "--out", metavar="FILE.kw", help="Output model file.")
@click.option(
    "--label", "n_labels", type=click.IntRange(min=1), metavar="N",
    help="Ask for the labels of N candidates on the terminal.",
)  # fmt: skip
@click.option("--labels", metavar="FILE", help="Labels of candidates: .tsv or .jsonl.")
@click.option(
    "--write-labels", metavar="FILE",
    help="Output file of 30 (or N) candidates to label: .tsv or .jsonl.",
)  # fmt: skip
@entities_option
@case_option
@parser_option
@text_options
@seed_option
@jobs_option
@json_option
def adapt(model: str, texts: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Adapt the decision threshold of a model to other texts.

    MODEL is a file of kernelwood train. TEXT is a file, folder or archive with annotated entities,
    or with plain text if the model was trained with --learn-entities or there is a list of terms
    (--entities). Annotated relations are not used.
    Labels of about 30 candidates measure precision and recall, and improve the threshold if there
    are few candidates. Without --out, the result is shown only.
    """
    started = time.perf_counter()
    _check(model, texts, options)
    extractor = load_extractor(model)
    counts = Counts()
    examples = _examples(extractor, texts, options, counts)
    with running(options["n_jobs"]) as begin:
        begin("predicting")
        predictions = _predict(extractor, examples, options)
        counts.dropped.update(predictions.tally.reasons)
        chosen = extractor.suggest_labels(
            predictions, options["n_labels"] or _N_LABELS, random_state=options["seed"]
        )
    if not as_json:
        show_counts(counts)
    if options["write_labels"] is not None:
        _write_template(options["write_labels"], chosen, as_json=as_json)
        return
    labels = {}
    if options["labels"] is not None:
        labels = read_labels(options["labels"])
    elif options["n_labels"] is not None:
        labels = _ask(chosen, extractor.relations_)
    adapted, summary = extractor.adapt(predictions, labels)
    if options["out"] is not None:
        from kernelwood import save

        save(adapted, options["out"])
    if as_json:
        report = {"model": model, "out": options["out"], **summary.to_dict(), **counts.to_dict()}
        write_json({**report, "seconds": round(time.perf_counter() - started, 3)})
        return
    say(summary)
    note(f"{one_name(options['out'])}: adapted model" if options["out"] else _unsaved())


def _unsaved() -> str:
    return "the adapted model is not saved; give --out FILE.kw"


def _check(model: str, texts: tuple[str, ...], options: dict[str, Any]) -> None:
    exclusive(options, "labels", "write_labels")
    if options["labels"] is not None:
        refuse({"label": options["n_labels"]}, ("label",), "--labels gives the labels")
    if options["write_labels"] is not None:
        refuse(options, ("out",), "--write-labels writes candidates, not a model")
    if options["n_labels"] is not None and options["write_labels"] is None and not _interactive():
        raise click.UsageError(
            "--label asks on a terminal, and standard input is not one; use --write-labels FILE, "
            "then --labels FILE"
        )
    inputs = {"MODEL": model, **{f"TEXT {name}": name for name in texts}}
    inputs |= {f"--{name}": options[name] for name in ("entities", "labels")}
    check_files(
        inputs,
        {"--out": options["out"], "--write-labels": options["write_labels"]},
        suffixes={"--write-labels": _FILES},
    )
    if options["labels"] is not None and Path(options["labels"]).suffix.lower() not in _FILES:
        raise click.UsageError(f"--labels must end in one of {', '.join(_FILES)}")


def _interactive() -> bool:
    return sys.stdin.isatty()


def _examples(
    extractor: RelationExtractor, texts: tuple[str, ...], options: dict[str, Any], counts: Counts
) -> list[Example]:
    """Return the texts with entities."""
    source = texts_with_entities(extractor, texts, options, counts)
    listed = list(source)
    if source.annotate is None:
        check_annotation(", ".join(texts), listed, counts)
        return listed
    return [example for example in listed if annotated_view(example).entities]


def _predict(
    extractor: RelationExtractor, examples: list[Example], options: dict[str, Any]
) -> Predictions:
    backend = None if options["parser"] is None else load_parser(options["parser"])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="drift:")  # the reason to adapt
        return extractor.extract(examples, parser=backend, all=True)


# Label files.


def _write_template(path: str, chosen: Predictions, *, as_json: bool) -> None:
    rows = [(one.id, "", one.relation, _marked(one)) for one in chosen]
    write_rows(path, _TITLES, rows)
    if as_json:
        write_json({"labels": path, "n_candidates": len(rows)})
        return
    note(
        f"{one_name(path)}: {counted(len(rows), 'candidate')}; write the relation or {_NONE} in "
        "the column label, then give the file with --labels",
    )


def read_labels(path: str) -> dict[str, str]:
    """Return the labels of a file by id; empty ones are left out."""
    labels: dict[str, str] = {}
    for line, row in _label_rows(path):
        if not isinstance(row, dict) or not all(isinstance(row.get(k), str) for k in _TITLES[:2]):
            raise StructureError(
                "a label needs an id and a label, both text",
                path=path,
                line=line,
                hint="columns or keys named id and label; --write-labels writes such a file",
            )
        name, label = str(row["id"]), str(row["label"]).strip()
        if label and labels.setdefault(name, label) != label:
            raise StructureError(
                f"the candidate {name!r} has two labels, {labels[name]!r} and {label!r}",
                path=path,
                line=line,
            )
    if not labels:
        raise KernelInputError(f"{path} has no labels; fill in the column label")
    return labels


def _label_rows(path: str) -> Iterator[tuple[int, Any]]:
    data = Path(path).read_bytes()
    try:
        file = io.StringIO(data.decode("utf-8"), newline="")
    except UnicodeDecodeError as failure:
        line = data.count(b"\n", 0, failure.start) + 1
        raise StructureError("not a text in UTF-8", path=path, line=line) from failure
    if Path(path).suffix.lower() != ".tsv":
        for line, text in enumerate(file, 1):
            if text.strip():
                yield line, _json(text, path, line)
        return
    reader = csv.DictReader(file, delimiter="\t")
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as failure:
        raise StructureError(
            f"not a table: {failure}", path=path, line=reader.reader.line_num
        ) from failure


def _json(text: str, path: str, line: int) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as failure:
        raise StructureError("not valid JSON", path=path, line=line) from failure


# Questions.


def _ask(chosen: Predictions, relations: Sequence[str]) -> dict[str, str]:
    """Ask for the label of one candidate after the other."""
    from kernelwood.relations import relation_name

    numbered = dict(enumerate(relations, 1)) if len(relations) > 1 else {}
    keys = ", ".join(
        [_KEYS, *(f"{number} {relation_name(name)}" for number, name in numbered.items())]
    )
    say(f"Is the relation between the marked entities right? {keys}", err=True)
    labels: dict[str, str] = {}
    asked: list[str] = []  # candidates with an answer, skipped ones included
    while len(asked) < len(chosen):
        one = chosen[len(asked)]
        say(f"\n{len(asked) + 1}/{len(chosen)}  {_marked(one)}", err=True)
        given = click.prompt(one_name(f"{relation_name(one.relation)}?"), err=True).strip().lower()
        if given == "q":
            break
        if given == "u":
            if asked:
                labels.pop(asked.pop(), None)
            continue
        known = {"y": one.relation, "n": _NONE, **{str(k): name for k, name in numbered.items()}}
        if given in known:
            labels[one.id] = known[given]
        elif given != "s":
            say(keys, err=True)
            continue
        asked.append(one.id)
    return labels


def _marked(one: Prediction) -> str:
    """Return the sentence of a candidate, its entities in brackets, the trigger in braces."""
    start = one.sentence[0]
    named = [(part, "[]") for part in one.participants]
    named += [] if one.trigger is None else [(one.trigger, "{}")]
    # Where one span ends and another begins, the end comes first.
    marks = sorted(
        (place - start, opens, brackets[1 - opens])
        for part, brackets in named
        for span in part.spans
        for place, opens in ((span[0], 1), (span[1], 0))
    )
    text, done, pieces = one.text, 0, []
    for place, _, bracket in marks:
        pieces += [text[done:place], bracket]
        done = place
    return one_line("".join([*pieces, text[done:]]))
