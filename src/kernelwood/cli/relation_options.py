"""Relations on the command line: annotated corpora, and the extractor that options ask for."""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.corpus import errors_option, only_option, types_option, usage, with_progress
from kernelwood.cli.examples import is_saved
from kernelwood.cli.kernels import load_kernel, plain_value
from kernelwood.cli.messages import explained
from kernelwood.cli.options import together, vectors_option
from kernelwood.errors import KernelInputError, StructureError
from kernelwood.io import FORMATS, iter_read
from kernelwood.text import Document, Example, Sentence

if TYPE_CHECKING:
    from kernelwood.relations import RelationExtractor

__all__ = [
    "RECIPES",
    "Documents",
    "documents_options",
    "extractor_options",
    "load_extractor",
    "make_extractor",
    "read_documents",
    "stages",
    "word_or_fraction",
]

# The names are those of the library.
RECIPES = ("svm", "klsh-rf", "klsh-knn", "nystrom")
_THRESHOLDS = ("f1", "cautious", "half")
_LABELS = ("auto", "binary", "type", "directed")


def word_or_fraction(text: str, words: tuple[str, ...]) -> str | float:
    """Return one of some words, or a number between 0 and 1.

    Examples
    --------
    >>> word_or_fraction("half", ("half",)), word_or_fraction("0.3", ("half",))
    ('half', 0.3)
    """
    if text in words:
        return text
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < 1:
        raise click.BadParameter(
            f"{text!r} is no number between 0 and 1, and none of: {', '.join(words)}"
        )
    return number


def _check_threshold(ctx: click.Context, param: click.Parameter, value: str) -> str | float:
    return word_or_fraction(value, _THRESHOLDS)


def _check_views(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    from kernelwood.views import find_view

    for name in value:
        usage(lambda name=name: find_view(name))  # type: ignore[misc]
    return value


def _check_settings(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    for text in value:
        name, _, given = text.partition("=")
        if not (name and given):
            raise click.BadParameter(f"{text!r} is not of the form NAME=VALUE, such as C=10")
    return value


_from_option = click.option(
    "--from", "--format", "source_format", metavar="FORMAT",
    help="Format of what is read, if name and content do not tell: "
    f"{', '.join(row.name for row in FORMATS)}.",
)  # fmt: skip
_EXTRACTOR = (
    click.option(
        "--recipe", type=click.Choice(RECIPES), default="svm", show_default=True,
        help="What learns, with settings that suit it.",
    ),
    click.option(
        "--candidates", type=click.Choice(["pairs", "events"]), default="pairs", show_default=True,
        help="What may be a relation: pairs of entities, or triggers with participants.",
    ),
    click.option(
        "--view", "views", metavar="NAME", multiple=True, callback=_check_views,
        help="What is compared of a candidate, such as path or context. May be repeated. Default: "
        "those of the recipe.",
    ),
    click.option(
        "--kernel", metavar="FILE.kw",
        help="A saved kernel, such as learn-gates writes, on views of candidates. Default: that of "
        "the recipe.",
    ),
    click.option(
        "--option", "settings", metavar="NAME=VALUE", multiple=True, callback=_check_settings,
        help="Another setting of what learns, such as C=10. May be repeated.",
    ),
    vectors_option,
    click.option(
        "--labels", type=click.Choice(_LABELS), default="auto", show_default=True,
        help="What is told apart: relations from the rest, their types, or directions as well.",
    ),
    click.option(
        "--symmetric", metavar="TYPE", multiple=True,
        help="Relations of this type have no direction. May be repeated.",
    ),
    types_option,
    click.option(
        "--relation", "relations", metavar="TYPE", multiple=True,
        help="Learn relations of this type; others count as none. May be repeated.",
    ),
    click.option(
        "--max-distance", type=click.IntRange(min=0), metavar="N",
        help="Leave out pairs with more words than this between them.",
    ),
    click.option(
        "--max-entities", type=click.IntRange(min=2), metavar="N", default=60, show_default=True,
        help="Leave out sentences with more entities.",
    ),
    click.option(
        "--threshold", metavar="f1|cautious|half|NUMBER", default="f1", show_default=True,
        callback=_check_threshold,
        help="From which probability on a relation holds: the one with the best F1 on held-out "
        "documents, a lower one that is nearly as good there, one half, or a number.",
    ),
    click.option(
        "--splits", type=click.IntRange(min=2), metavar="N", default=3, show_default=True,
        help="Into how many parts documents are dealt, each held out once for the threshold.",
    ),
    click.option(
        "--parser", metavar="NAME", default="auto", show_default=True,
        help="What parses sentences: auto for those that have no parse, given for none, or "
        "biomedical, spacy, spacy:MODEL, stanza, stanza:LANGUAGE.",
    ),
    click.option("--license", metavar="TEXT", default="", help="What users of the model may do."),
    click.option("--description", metavar="TEXT", default="", help="What the model is for."),
)  # fmt: skip


documents_options = together(_from_option, errors_option, only_option)
extractor_options = together(*_EXTRACTOR)


@dataclass
class Documents:
    """Annotated examples, and what became of the others."""

    examples: list[Example]
    skipped: dict[str, int]
    dropped: dict[str, int]
    remarks: dict[str, int]

    def counts(self) -> dict[str, Any]:
        """Return what is told of the corpus."""
        return {"skipped": self.skipped, "dropped": self.dropped, "remarks": self.remarks}


def read_documents(sources: Iterable[str], options: dict[str, Any]) -> Documents:
    """Read the sentences and documents of corpora.

    Raises
    ------
    StructureError
        If a part of a corpus is broken.
    KernelInputError
        If there is nothing in them, or no entities.
    """
    examples: list[Example] = []
    reasons: Counter[str] = Counter()
    remarks: Counter[str] = Counter()
    for source in sources:
        if is_saved(source):
            raise KernelInputError(
                f"{source} is a file of kw.save, which holds no annotated sentences; give the "
                "corpus itself"
            )
        found = _read(source, options, reasons, remarks)
        _check_annotation(source, found, reasons)
        examples += found
    counts = [dict(counter.most_common()) for counter in (reasons, Counter[str](), remarks)]
    return Documents(examples, *counts)


def _read(
    source: str, options: dict[str, Any], reasons: Counter[str], remarks: Counter[str]
) -> list[Example]:
    read = lambda: iter_read(  # noqa: E731
        source, options["source_format"], options["errors"], only=options["only"]
    )
    try:
        with usage(read) as stream:
            found = list(with_progress(stream))
            reasons.update(stream.tally.reasons)
            remarks.update(stream.tally.remarks)
            return found
    except StructureError as failure:
        raise explained(failure, None, format="", others_fit=False) from failure


def _check_annotation(source: str, examples: list[Example], reasons: Counter[str]) -> None:
    if not examples:
        told = "; ".join(f"{count:,} × {reason}" for reason, count in reasons.items())
        raise KernelInputError(f"{source}: no examples" + (f": {told}" if told else ""))
    annotated = [
        view
        for example in examples
        for view in example.views.values()
        if isinstance(view, (Sentence, Document))
    ]
    if not annotated:
        raise KernelInputError(
            f"{source}: examples have no sentences; relations are found in annotated text, such "
            "as brat standoff, interaction corpora (ppi) or CoNLL-U"
        )
    if not any(view.entities for view in annotated):
        raise KernelInputError(
            f"{source}: there are no entities in the annotation; relations are between entities, "
            "so mark them first (brat standoff, ppi and jsonl hold them)"
        )


def make_extractor(options: dict[str, Any]) -> RelationExtractor:
    """Return the extractor that options ask for, which has learned nothing yet."""
    from kernelwood import Vectors
    from kernelwood.relations import RelationExtractor

    vectors, kernel = options["vectors"], options["kernel"]
    if vectors is not None and kernel is not None:
        raise click.UsageError("a saved kernel has its vectors inside; leave out --vectors")
    return RelationExtractor(
        options["recipe"],
        candidates=options["candidates"],
        views=options["views"] or None,
        kernel=None if kernel is None else load_kernel(kernel),
        vectors=None if vectors is None else Vectors.load(vectors),
        options=_settings(options["recipe"], options["settings"]),
        labels=options["labels"],
        symmetric=options["symmetric"] or None,
        types=options["types"] or None,
        relations=options["relations"] or None,
        max_distance=options["max_distance"],
        max_entities=options["max_entities"],
        threshold=options["threshold"],
        n_splits=options["splits"],
        parser=options["parser"],
        license=options["license"],
        description=options["description"],
        random_state=options["seed"],
    )


def _settings(recipe: str, given: Iterable[str]) -> dict[str, Any] | None:
    """Return the parameters of the classifier that differ from those of the recipe."""
    from kernelwood.relations import check_options, find_recipe

    settings = {}
    for text in given:
        name, _, value = text.partition("=")
        settings[name] = plain_value(value)
    try:
        check_options(find_recipe(recipe), settings)
    except KernelInputError as failure:
        raise click.UsageError(f"--option: {failure}") from failure
    return settings or None


def load_extractor(path: str) -> RelationExtractor:
    """Return the extractor in a file.

    Raises
    ------
    KernelInputError
        If something else is in the file.
    """
    from kernelwood import load
    from kernelwood.relations import RelationExtractor

    found = load(path)
    if not isinstance(found, RelationExtractor):
        raise KernelInputError(
            f"{path} holds a {type(found).__name__}, which is no relation extractor; kernelwood "
            "train writes one"
        )
    return found


@contextmanager
def stages(n_jobs: int | None) -> Iterator[Callable[[str], None]]:
    """Show on standard error what is done and how long it takes, if that is a terminal.

    Stages are those that the library logs, and those that what is yielded is called with.
    Warnings are told in plain words at the end.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from kernelwood import config_context

    console = Console(stderr=True)
    columns = (BarColumn(bar_width=30), TextColumn("{task.description}"), TimeRemainingColumn())
    with warnings.catch_warnings(record=True) as caught, ExitStack() as stack:
        warnings.simplefilter("default")
        bar = stack.enter_context(
            Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        )
        task = bar.add_task("", total=None)

        def begin(name: str) -> None:
            nonlocal task
            bar.remove_task(task)
            task = bar.add_task(name, total=None)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        stack.enter_context(_logged(begin))
        stack.enter_context(config_context(progress=show))
        if n_jobs is not None:
            stack.enter_context(config_context(n_jobs=n_jobs))
        yield begin
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        click.echo(f"warning: {message}", err=True)


@contextmanager
def _logged(begin: Callable[[str], None]) -> Iterator[None]:
    """Call a function with what the library logs of its stages."""
    logger = logging.getLogger("kernelwood.relations")
    handler = logging.Handler(logging.INFO)
    handler.emit = lambda record: begin(record.getMessage())  # type: ignore[method-assign]
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)
