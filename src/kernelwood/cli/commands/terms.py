"""``kernelwood terms``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import (
    QUIET,
    counted,
    one_name,
    running,
    say,
    show_counts,
    show_table,
    verbosity,
    write_json,
)
from kernelwood.cli.corpora import read_documents
from kernelwood.cli.experiment import Named, config_option
from kernelwood.cli.options import documents_options, json_option, types_option
from kernelwood.cli.outputs import STANDARD, check_files
from kernelwood.errors import KernelInputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kernelwood import Dictionary

_SHOWN = 10
_EPILOG = """\b
Examples:
  kernelwood terms brat/ -o terms.tsv
  kernelwood terms corpus.xml -o terms.tsv --type protein --min-count 2
  kernelwood extract model.kw paper.txt --entities terms.tsv
"""


@click.command(epilog=_EPILOG)
@click.argument("corpus", cls=Named, nargs=-1, required=True)
@click.option(
    "-o", "--out", metavar="FILE.tsv", required=True,
    help="Output file of terms, or - (standard output).",
)  # fmt: skip
@click.option(
    "--min-count", type=click.IntRange(min=1), metavar="N", default=1,
    help="Least number of annotated occurrences of a term.",
)  # fmt: skip
@click.option(
    "--min-share", type=click.FloatRange(0, 1), metavar="P", default=0.5,
    help="Least fraction of occurrences that are annotated.",
)  # fmt: skip
@types_option
@documents_options
@config_option
@json_option
def terms(corpus: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Make a list of terms from annotated entities.

    CORPUS is a file, folder or archive with annotated entities, or - for standard input; several
    are combined. The list has a term, its most frequent type and, if the corpus refers to a
    database, its most frequent id. Common words that are rarely annotated are left out. extract
    --entities reads the list.
    """
    started = time.perf_counter()
    out = options["out"]
    check_files({f"CORPUS {name}": name for name in corpus}, {"--out": out})
    documents, counts = read_documents(corpus, options)
    if not as_json:
        show_counts(counts)
    with running():
        from kernelwood.entities import harvest_terms
        from kernelwood.io import write_text

        made = harvest_terms(
            documents,
            types=options["types"] or None,
            min_count=options["min_count"],
            min_share=options["min_share"],
        )
        if not made.terms:
            kinds = options["types"]
            raise KernelInputError(f"the corpus has no terms{_why(made.tally.reasons, kinds)}")
        write_text(out, _lines(made))
    result = {
        "terms": out,
        "n_terms": len(made),
        "left_out": dict(made.tally.reasons),
        **counts.to_dict(),
        "seconds": round(time.perf_counter() - started, 3),
    }
    if as_json:
        write_json(result)
    elif out != STANDARD:
        _show(made, result)


def _why(reasons: Mapping[str, int], types: Sequence[str]) -> str:
    if listed := ", ".join(f"{n:,} × {reason}" for reason, n in reasons.items()):
        return f" ({listed})"
    return f": no entities are annotated{' as ' * bool(types)}{' or '.join(types)}"


def _lines(made: Dictionary) -> Iterator[str]:
    yield "term\ttype\tid\n"
    for term in made.terms:
        yield "\t".join(filter(None, term)) + "\n"


def _show(made: Dictionary, result: dict[str, Any]) -> None:
    rows = [list(term) for term in made.terms[:_SHOWN]]
    if verbosity() > QUIET:
        show_table(["term", "type", "id"], rows)
        say()
    more = len(made) - len(rows)
    say(
        f"{one_name(result['terms'])}: {counted(len(made), 'term')}"
        + (f", {more:,} not shown" * bool(more))
    )
    for reason, n in result["left_out"].items():
        say(f"{n:,} left out: {one_name(reason)}")
