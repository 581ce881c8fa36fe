"""Relations on the command line: the model that finds them, and where they go."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from kernelwood.cli import relation_options
from kernelwood.cli.corpus import usage
from kernelwood.cli.messages import explained
from kernelwood.cli.output import counted, write_json
from kernelwood.cli.outputs import check_outputs, say_counts
from kernelwood.cli.tables import show_table
from kernelwood.errors import KernelInputError, StructureError
from kernelwood.structures import one_line, shorten
from kernelwood.text import Document, Example, Sentence

if TYPE_CHECKING:
    from kernelwood import RelationExtractor
    from kernelwood.relations import Judged, Prediction, Predictions

__all__ = [
    "Found",
    "Judge",
    "all_option",
    "annotated_view",
    "check_line",
    "check_target",
    "deliver",
    "evidence_option",
    "in_batches",
    "in_words",
    "judged",
    "judging",
    "load_extractor",
    "out_option",
    "positive_rate_of",
    "positive_rate_option",
    "show_report",
    "threshold_option",
    "to_option",
]

# From examples to these, perhaps with more entities, and what a model says about them.
Judge: TypeAlias = "Callable[[list[Example]], tuple[list[Example], Predictions]]"

_FORMATS = ("jsonl", "tsv", "ann")
_TRAINED = "trained"  # the share of the training documents
_EXAMPLES = 512  # judged together, unless they are long
_CHARACTERS = 200_000
_WIDTH = 60  # of a sentence that is shown


def _check_positive_rate(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> str | float | None:
    return None if value is None else relation_options.word_or_fraction(value, (_TRAINED,))


out_option = click.option(
    "-o", "--out", metavar="FILE",
    help="Where relations go: .jsonl, .tsv, or .ann for a folder of texts with standoff "
    "annotation; - for standard output. Default: a table on standard output.",
)  # fmt: skip
to_option = click.option(
    "--to", "target_format", type=click.Choice(_FORMATS),
    help="Format of what is written, if its name does not tell.",
)  # fmt: skip
evidence_option = click.option(
    "--evidence", "n_evidence", type=click.IntRange(min=0), metavar="N", default=0,
    show_default=True, help="Labeled cases to write with each relation, the most similar first.",
)  # fmt: skip
threshold_option = click.option(
    "--threshold", type=click.FloatRange(0, 1), metavar="P",
    help="From which score on a relation holds. Default: what the model learned.",
)  # fmt: skip
positive_rate_option = click.option(
    "--positive-rate", metavar="P|trained", callback=_check_positive_rate,
    help="Call this share of all candidates relations, those with the highest scores, for texts "
    "unlike the training documents; trained: as many as there were in these. All is judged before "
    "anything is written.",
)  # fmt: skip
all_option = click.option(
    "--all", "every", is_flag=True, help="Write candidates that are no relations, too."
)


@dataclass
class Found:
    """What was found so far, and what was left out."""

    threshold: float = 0.0
    n_documents: int = 0
    n_entities: int = 0
    n_candidates: int = 0
    types: Counter[str] = field(default_factory=Counter)
    skipped: dict[str, int] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    remarks: dict[str, int] = field(default_factory=dict)

    def add_dropped(self, reasons: Any) -> None:
        """Count what could not be judged."""
        for reason, count in reasons.items():
            self.dropped[reason] = self.dropped.get(reason, 0) + count

    def counts(self) -> dict[str, Any]:
        """Return what is told of it."""
        return {
            "threshold": self.threshold,
            "n_documents": self.n_documents,
            "n_entities": self.n_entities,
            "n_candidates": self.n_candidates,
            "n_relations": self.types.total(),
            "types": dict(self.types.most_common()),
            "skipped": self.skipped,
            "dropped": self.dropped,
            "remarks": self.remarks,
        }


def check_line(options: dict[str, Any]) -> None:
    """Refuse two ways of saying what holds."""
    if options["threshold"] is not None and options["positive_rate"] is not None:
        raise click.UsageError(
            "--threshold and --positive-rate exclude each other; give one of them"
        )


def positive_rate_of(extractor: RelationExtractor, share: str | float) -> float:
    """Return a share as a number, if need be that of the training documents."""
    return extractor.positive_rate_ if isinstance(share, str) else share


def load_extractor(path: str, threshold: float | None = None) -> RelationExtractor:
    """Return the extractor in a file, with another threshold if one is given.

    Raises
    ------
    KernelInputError
        If the file holds another model.
    ModelFormatError
        If it holds none that can be read.
    """
    found = relation_options.load_extractor(path)
    if threshold is not None:
        found.threshold_ = float(threshold)
    return found


def check_target(
    sources: dict[str, str | None], out: str | None, format: str | None, *, every: bool
) -> str | None:
    """Return the format to write; refuse what cannot be written before the work, not after it."""
    from kernelwood.io import check_vacant
    from kernelwood.relations import output_format

    if out is None:
        if format is not None:
            raise click.UsageError("--to says what --out is; give --out, too")
        return None
    chosen = format or "jsonl" if out == "-" else usage(lambda: output_format(out, format))
    if chosen != "ann":
        check_outputs(sources, {"--out": None if out == "-" else out})
        return chosen
    if every:
        raise click.UsageError("standoff annotation holds relations only; leave out --all")
    if out == "-":
        raise click.UsageError("standoff annotation is made of several files; name a folder")
    check_vacant(Path(out))
    return chosen


@contextmanager
def in_words() -> Iterator[None]:
    """Report errors in the data with the options that help."""
    try:
        yield
    except StructureError as failure:
        raise explained(failure, None, format="", others_fit=False) from failure


@contextmanager
def judging(n_jobs: int | None) -> Iterator[None]:
    """Use threads, and tell each warning once, in plain words."""
    from kernelwood import config_context

    with warnings.catch_warnings(record=True) as caught, ExitStack() as stack:
        warnings.simplefilter("always")
        if n_jobs is not None:
            stack.enter_context(config_context(n_jobs=n_jobs))
        yield
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        click.echo(f"warning: {message}", err=True)


def in_batches(examples: Iterable[Example]) -> Iterator[list[Example]]:
    """Yield examples in lists that fit in memory, whatever their number."""
    batch: list[Example] = []
    size = 0
    for example in examples:
        batch.append(example)
        size += len(annotated_view(example).text)
        if len(batch) == _EXAMPLES or size >= _CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def annotated_view(example: Example) -> Document | Sentence:
    """Return the document, or the sentence, of an example.

    Raises
    ------
    KernelInputError
        If it has neither.
    """
    view = example.views.get("document", example.views.get("sentence"))
    if isinstance(view, (Document, Sentence)):
        return view
    raise KernelInputError(
        f"example {shorten(repr(example.id))} has no sentence and no document; relations are found "
        "in annotated text, such as brat standoff, interaction corpora (ppi) or CoNLL-U"
    )


def judged(
    extractor: RelationExtractor,
    examples: Iterable[Example],
    judge: Judge,
    found: Found,
    *,
    n_evidence: int = 0,
    every: bool = False,
    positive_rate: str | float | None = None,
    advice: str = "",
) -> Iterator[Judged]:
    """Yield examples with what a model says about them, counting along.

    Parameters
    ----------
    extractor : RelationExtractor
        Gives the evidence.
    examples : iterable of Example
        With a sentence or a document each.
    judge : callable
        Gives all predictions for a list of examples, those that do not hold among them, after the
        examples, which may have more entities then.
    found : Found
        Counts.
    n_evidence : int
        Cases that come with each prediction.
    every : bool
        Whether to keep the candidates that are no relations.
    positive_rate : "trained" or float, optional
        How many of all candidates are relations; everything is judged first then.
    advice : str
        How to get entities, unless it is no error that there are none in the end. It is raised
        before a file takes its place, so that nothing is overwritten by nothing.
    """
    from kernelwood.relations import Judged

    found.threshold = extractor.threshold_
    batches: Iterable[tuple[list[Example], Predictions]] = map(judge, in_batches(examples))
    if positive_rate is not None:
        batches = _at_positive_rate(
            list(batches), positive_rate_of(extractor, positive_rate), found
        )
    for batch, predictions in batches:
        found.n_documents += len(batch)
        found.n_entities += sum(len(annotated_view(example).entities) for example in batch)
        found.n_candidates += len(predictions)
        found.types.update(one.type for one in predictions if one.positive)
        found.add_dropped(predictions.tally.reasons)
        kept = [one for one in predictions if every or one.positive]
        cases = extractor.explain(kept, n_evidence) if n_evidence and kept else [()] * len(kept)
        shares: dict[str, list[tuple[Prediction, Any]]] = {}
        for one, evidence in zip(kept, cases, strict=True):
            shares.setdefault(one.document, []).append((one, evidence))
        for example in batch:
            # Examples of the same name would get the predictions of each other.
            pairs = shares.pop(example.id, [])
            annotated = annotated_view(example)
            ones, evidences = [one for one, _ in pairs], [some for _, some in pairs]
            yield Judged(example.id, annotated, ones, evidences if n_evidence else None)
    if found.n_documents and not found.n_entities and advice:
        raise KernelInputError(f"there are no entities, so there are no relations: {advice}")


def _at_positive_rate(
    batches: list[tuple[list[Example], Predictions]], share: float, found: Found
) -> Iterator[tuple[list[Example], Predictions]]:
    """Yield examples with predictions, of which the given share of all are relations."""
    from kernelwood.relations import positive_rate_threshold

    scores = [one.score for _, predictions in batches for one in predictions]
    if scores:
        found.threshold = positive_rate_threshold(scores, share)
    for batch, predictions in batches:
        yield batch, predictions.with_threshold(found.threshold)


def deliver(
    results: Iterable[Judged],
    out: str | None,
    format: str | None,
    *,
    events: bool,
    evidence: bool,
) -> list[tuple[Prediction, Any]]:
    """Write results to a file; without one, return the predictions with their evidence."""
    from kernelwood.relations import write_predictions

    if out is None:
        return [pair for one in results for pair in one.explained()]
    if out == "-" and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # whatever the terminal speaks
    write_predictions(results, out, format=format, events=events, evidence=evidence)
    return []


def show_report(
    report: dict[str, Any],
    found: Found,
    shown: list[tuple[Prediction, Any]],
    *,
    as_json: bool,
) -> None:
    """Tell what was found: all of it unless it is in a file, and how much."""
    from kernelwood.relations import prediction_object

    if as_json:
        if report["out"] is None:
            report["predictions"] = [prediction_object(*pair) for pair in shown]
        write_json(report)
        return
    if report["out"] is None and shown:
        show_table(["document", "type", ">score", "participants", "sentence"], _rows(shown))
        click.echo()
    n, what = report["n_relations"], f"{counted(report['n_candidates'], 'candidate')}"
    text = f"{counted(n, 'relation')} among {what} in {counted(found.n_documents, 'document')}"
    click.echo(text, err=report["out"] == "-")
    say_counts(found)


def _rows(shown: list[tuple[Prediction, Any]]) -> list[list[str]]:
    rows = []
    for prediction, cases in shown:
        who = ", ".join(one_line(one.text) for one in prediction.participants)
        kind = prediction.type if prediction.positive else f"not {prediction.type}"
        score, text = f"{prediction.score:.3f}", shorten(one_line(prediction.text), _WIDTH)
        rows.append([prediction.document, kind, score, who, text])
        for case in cases or ():
            like = f"  like {case.type} {case.similarity:.3f}"
            rows.append(["", like, "", case.id, shorten(one_line(case.text), _WIDTH)])
    return rows
