"""``kernelwood search``: which structures are most like these?"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.compared import Compared, read_compared, read_for, refuse
from kernelwood.cli.corpus import file_errors, orderly_end
from kernelwood.cli.examples import is_saved
from kernelwood.cli.lookup import add_examples, duplicates, named_queries, queries_of, run_queries
from kernelwood.cli.options import corpus_options, kernel_options, seed_option
from kernelwood.cli.output import counted, jobs_option, json_option, write_json
from kernelwood.cli.outputs import check_outputs, working
from kernelwood.cli.tables import show_table
from kernelwood.structures import shorten

if TYPE_CHECKING:
    from kernelwood.search import SentenceIndex

__all__ = ["search"]

_BUILDING = ("kernel", "decay", "vectors", "similarity", "by", "landmarks", "bits")
_WIDTH = 80  # of a text that is shown
_EPILOG = """\b
Examples:
  kernelwood search corpus.conllu --save index.kw
  kernelwood search index.kw queries.conllu -k 5 --explain
  kernelwood search index.kw --id s17 --id s23
  kernelwood search index.kw --add more.conllu --save index.kw
  kernelwood search corpus.conllu --duplicates 0.9
"""


@click.command(epilog=_EPILOG)
@click.argument("source", metavar="CORPUS|INDEX")
@click.argument("queries", required=False)
@click.option(
    "-k", "--top", "k", type=click.IntRange(min=1), metavar="K", default=10, show_default=True,
    help="How many to find for each query.",
)  # fmt: skip
@click.option(
    "--id", "ids", metavar="ID", multiple=True,
    help="Search for what is like this example, which is in the index. May be repeated.",
)  # fmt: skip
@click.option("--explain", is_flag=True, help="Tell what queries share with what is found.")
@click.option(
    "--duplicates", "threshold", type=click.FloatRange(0, min_open=True), metavar="SIMILARITY",
    help="List pairs in the index that are at least so similar.",
)  # fmt: skip
@click.option("--add", metavar="CORPUS", multiple=True, help="Put more examples into the index.")
@click.option("--save", "save_to", metavar="FILE", help="Save the index (kw.load).")
@corpus_options
@click.option(
    "--queries-from", metavar="FORMAT", help="Format of QUERIES, if it is not that of --from."
)
@kernel_options
@click.option(
    "--by", type=click.Choice(["vectors", "codes"]),
    help="How examples are found. Vectors are closer, codes smaller. Default: vectors.",
)  # fmt: skip
@click.option(
    "--landmarks", type=click.IntRange(min=2), metavar="N",
    help="How many examples all are compared with. Default: 300.",
)  # fmt: skip
@click.option(
    "--bits", type=click.IntRange(min=1), metavar="N", help="Length of codes. Default: 1024."
)
@click.option(
    "--rerank", type=click.IntRange(min=0), metavar="N",
    help="How many of the nearest to compare by the kernel; 0 for none. Default: 100.",
)  # fmt: skip
@seed_option
@jobs_option
@json_option
def search(source: str, queries: str | None, as_json: bool, **options: Any) -> None:
    """Find the structures in an index that are most like queries.

    The first argument is a corpus (a file, a folder, an archive, or - for standard input), a file
    of examples written by kw.save, or an index that --save wrote. QUERIES is a corpus, too: what
    is like each of its examples? With --id, examples of the index are the queries.
    """
    started = time.perf_counter()
    with file_errors(), orderly_end():
        index = _load_index(source)
        _check(source, queries, index, options)
        if index is None:
            index = _build(read_compared(source, options), options, as_json=as_json)
        for corpus in options["add"]:
            more = read_for(index.kernel_, corpus, options, owner="the index", **_view(index))
            with working("comparisons", options["n_jobs"]):
                add_examples(index, more)
        asked = named_queries(index, options["ids"])
        if queries is not None:
            asked += _read_queries(index, queries, options)
        with working("comparisons", options["n_jobs"]):
            found = run_queries(index, asked, options)
            pairs = duplicates(index, options["threshold"])
        if options["save_to"] is not None:
            from kernelwood import save

            save(index, options["save_to"])
    result = {
        "kernel": repr(index.kernel_),
        "view": index.view_,
        "by": index.by,
        "n_examples": len(index),
        "queries": found,
        "duplicates": pairs,
        "seconds": round(time.perf_counter() - started, 3),
    }
    write_json(result) if as_json else _show(result)


def _load_index(source: str) -> SentenceIndex | None:
    """Return the index in a file, or None if the file is something to make one of."""
    from kernelwood import load
    from kernelwood.search import SentenceIndex

    found = load(source) if is_saved(source) else None
    return found if isinstance(found, SentenceIndex) else None


def _check(
    source: str, queries: str | None, index: SentenceIndex | None, options: dict[str, Any]
) -> None:
    wanted = (queries, options["save_to"], options["threshold"])
    if not options["ids"] and all(value is None for value in wanted):
        raise click.UsageError(
            "nothing is asked for; give QUERIES, --id or --duplicates, or --save the index"
        )
    if source == queries == "-":
        raise click.UsageError("the corpus and QUERIES cannot both be standard input")
    if index is not None:
        named = () if index.view_ is None else ("views",)
        refuse(options, (*_BUILDING, *named), f"the index in {source} is made already")
    # An index may be written back; a corpus must not be overwritten.
    corpora = {"CORPUS": None if index is not None else source, "QUERIES": queries}
    added = {f"--add {name}": name for name in options["add"]}
    check_outputs({**corpora, **added}, {"--save": options["save_to"]})


def _build(data: Compared, options: dict[str, Any], *, as_json: bool) -> SentenceIndex:
    from kernelwood.search import SentenceIndex

    if not as_json:
        data.say()
    names = {"by": "by", "landmarks": "n_landmarks", "bits": "n_bits", "rerank": "n_rerank"}
    given = {names[name]: options[name] for name in names if options[name] is not None}
    index = SentenceIndex(data.kernel, random_state=options["seed"], **given)
    with working("comparisons", options["n_jobs"]):
        return index.fit(queries_of(data))


def _read_queries(index: SentenceIndex, queries: str, options: dict[str, Any]) -> list[Any]:
    changes = _view(index)
    if options["queries_from"] is not None:
        changes["format"] = options["queries_from"]
    return queries_of(read_for(index.kernel_, queries, options, owner="the index", **changes))


def _view(index: SentenceIndex) -> dict[str, Any]:
    """Return the view that an index makes of sentences, as what is asked of a corpus."""
    return {} if index.view_ is None else {"views": (index.view_,)}


def _show(result: dict[str, Any]) -> None:
    for query in result["queries"]:
        click.echo(f"{query['id']}  {shorten(query['text'], _WIDTH)}")
        rows = []
        for match in query["matches"]:
            rows.append([f"{match['similarity']:.4f}", match["id"], shorten(match["text"], _WIDTH)])
            for fragment in match.get("fragments", ()):
                text = " ".join(fragment["text"].split())
                rows.append(["", "", f"  shares {shorten(text, _WIDTH)}"])
        show_table([">similarity", "id", "text"], rows)
        click.echo()
    if result["duplicates"] is not None:
        _show_duplicates(result["duplicates"])
    if not result["queries"] and result["duplicates"] is None:
        click.echo(f"{counted(result['n_examples'], 'example')} in the index")


def _show_duplicates(found: dict[str, Any]) -> None:
    rows = [
        [
            f"{pair['similarity']:.4f}",
            *pair["ids"],
            *(shorten(t, _WIDTH // 2) for t in pair["texts"]),
        ]
        for pair in found["pairs"]
    ]
    show_table([">similarity", "id", "id", "text", "text"], rows)
    pairs, groups = counted(len(found["pairs"]), "pair"), counted(len(found["groups"]), "group")
    click.echo(f"\n{pairs} in {groups}")
