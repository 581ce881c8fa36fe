"""``kernelwood search``."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kernelwood.cli.console import counted, nearest, one_name, running, say, show_table, write_json
from kernelwood.cli.corpora import is_saved
from kernelwood.cli.model_files import Compared, load_parser, read_compared, read_for
from kernelwood.cli.options import (
    FORMAT,
    check_parser,
    corpus_options,
    jobs_option,
    json_option,
    kernel_options,
    refuse,
    seed_option,
)
from kernelwood.cli.outputs import STANDARD, check_files, check_inputs, compared_files
from kernelwood.errors import KernelInputError
from kernelwood.structures import shorten
from kernelwood.text import Document, Example

if TYPE_CHECKING:
    from kernelwood.search import Match, SentenceIndex

_BUILDING = ("kernel", "decay", "vectors", "similarity", "by", "landmarks", "bits")
_WIDTH = 80  # of a text in a table
_ALL_PAIRS = 20_000  # number of examples up to which all pairs are compared for duplicates
_FRAGMENTS = 3  # shared ones that are shown
_TEXT = "text"
_PACKINGS = (".gz", ".bz2", ".xz", ".zip", ".tar", ".tgz")
_EPILOG = """\b
Examples:
  kernelwood search corpus.conllu --save index.kw
  kernelwood search index.kw queries.conllu -k 5 --explain
  kernelwood search index.kw "Raf is activated by Ras."
  kernelwood search index.kw --id s17 --id s23
  kernelwood search index.kw --add more.conllu --save index.kw
  kernelwood search corpus.conllu --duplicates 0.9
"""


@click.command(epilog=_EPILOG)
@click.argument("source", metavar="CORPUS|INDEX")
@click.argument("queries", metavar="[QUERIES|SENTENCE]", required=False)
@click.option(
    "-k", "--top", "k", type=click.IntRange(min=1), metavar="K", default=10,
    help="Number of matches per query.",
)  # fmt: skip
@click.option(
    "--id", "ids", metavar="ID", multiple=True,
    help="Use this example of the index as a query (repeatable).",
)  # fmt: skip
@click.option("--explain", is_flag=True, help="Show the fragments that queries and matches share.")
@click.option(
    "--duplicates", "threshold", type=click.FloatRange(0, min_open=True), metavar="SIMILARITY",
    help="List pairs in the index with at least this similarity.",
)  # fmt: skip
@click.option(
    "--add", metavar="CORPUS", multiple=True, help="Add a corpus to the index (repeatable)."
)
@click.option("--save", "save_to", metavar="FILE", help="Output file of the index.")
@corpus_options
@click.option(
    "--queries-from", type=FORMAT, show_default="that of --from", help="Format of QUERIES."
)
@click.option(
    "--parser", metavar="NAME", default="biomedical", callback=check_parser,
    help="Parser of SENTENCE: biomedical[-dependencies], spacy[:MODEL] or stanza[:LANGUAGE].",
)  # fmt: skip
@kernel_options
@click.option(
    "--by", type=click.Choice(["vectors", "codes"]), show_default="vectors",
    help="Search by Nyström vectors (more accurate) or hashcodes (smaller).",
)  # fmt: skip
@click.option(
    "--landmarks", type=click.IntRange(min=2), metavar="N", show_default="300",
    help="Number of landmarks.",
)  # fmt: skip
@click.option(
    "--bits", type=click.IntRange(min=1), metavar="N", show_default="1024",
    help="Number of bits of a hashcode.",
)  # fmt: skip
@click.option(
    "--rerank", type=click.IntRange(min=0), metavar="N", show_default="100",
    help="Number of nearest examples to compare again by the kernel.",
)  # fmt: skip
@seed_option
@jobs_option
@json_option
def search(source: str, queries: str | None, as_json: bool, **options: Any) -> None:
    """Find structures similar to queries.

    The first argument is a corpus (a file, folder or archive, or - for standard input), a file of
    kw.save with examples, or an index written by --save. The queries are the examples of the
    corpus QUERIES, with --id examples of the index, or the sentences of a text, which is parsed.
    """
    started = time.perf_counter()
    text = queries if queries is not None and _is_text(queries) else None
    queries = queries if text is None else None
    _check(source, queries, text, options)
    index = _load_index(source, options)
    if index is None:
        check_files(compared_files(source, options), {"--save": options["save_to"]})
        index = _build(read_compared(source, options), options, as_json=as_json)
    with_view = {} if index.view_ is None else {"views": (index.view_,)}
    for corpus in options["add"]:
        more = read_for(index.kernel_, corpus, {**options, **with_view}, owner="the index")
        with running(options["n_jobs"]) as begin:
            begin("indexing")
            index.add(_inputs(index, _examples(more)))
    asked = _queries_by_id(index, options["ids"])
    if queries is not None:
        if options["queries_from"] is not None:
            with_view["source_format"] = options["queries_from"]
        read = read_for(index.kernel_, queries, {**options, **with_view}, owner="the index")
        asked += _examples(read)
    if text is not None:
        asked += _parsed(index, text, options["parser"])
    with running(options["n_jobs"]) as begin:
        begin("searching")
        found = _search(index, asked, options)
        pairs = _duplicates(index, options["threshold"])
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


def _check(source: str, queries: str | None, text: str | None, options: dict[str, Any]) -> None:
    wanted = (queries, text, options["save_to"], options["threshold"])
    if not options["ids"] and all(value is None for value in wanted):
        raise click.UsageError(
            "no task is given; give QUERIES, a sentence, --id, --duplicates or --save"
        )
    if source == queries == STANDARD:
        raise click.UsageError("only one of the corpus and QUERIES can be standard input")
    added = {f"--add {name}": name for name in options["add"]}
    check_files({"QUERIES": queries, **added}, {"--save": options["save_to"]})
    check_inputs(source)


def _is_text(given: str) -> bool:
    """Return whether an argument is a text, not the name of a file."""
    if given == STANDARD or Path(given).exists() or not re.search(r"\s", given.strip()):
        return False
    from kernelwood.io import FORMATS

    suffixes = tuple(suffix for row in FORMATS for suffix in row.suffixes)
    name = given.lower()
    for packing in _PACKINGS:
        name = name.removesuffix(packing)
    return name == given.lower() and not name.endswith(suffixes)


def _load_index(source: str, options: dict[str, Any]) -> SentenceIndex | None:
    """Return the index in a file, or None if the file contains examples."""
    if not is_saved(source):
        return None
    from kernelwood import load
    from kernelwood.search import SentenceIndex

    found = load(source)
    if not isinstance(found, SentenceIndex):
        return None
    named = () if found.view_ is None else ("views",)
    refuse(options, (*_BUILDING, *named), f"{source} is a finished index")
    return found


def _build(data: Compared, options: dict[str, Any], *, as_json: bool) -> SentenceIndex:
    from kernelwood.search import SentenceIndex

    if not as_json:
        data.show()
    names = {"by": "by", "landmarks": "n_landmarks", "bits": "n_bits", "rerank": "n_rerank"}
    given = {names[name]: options[name] for name in names if options[name] is not None}
    index = SentenceIndex(data.kernel, random_state=options["seed"], **given)
    with running(options["n_jobs"]) as begin:
        begin("indexing")
        return index.fit(_examples(data))


# Queries.


class _Indexed(NamedTuple):
    """An example of the index that is a query."""

    id: str
    text: str
    number: int
    place: int


def _examples(data: Compared) -> list[Any]:
    """Return examples with their texts and the views that the index compares."""
    views = data.read.views
    return [
        Example(e.id, e.label, {_TEXT: text, **{name: e.view(name) for name in views}})
        for e, text in zip(data.read.examples, data.read.texts(), strict=True)
    ]


def _parsed(index: SentenceIndex, text: str, parser: str) -> list[Any]:
    """Return the sentences of a text with the views that the index compares."""
    from kernelwood.kernels import needed_views
    from kernelwood.parsing import analyze
    from kernelwood.views import VIEWS, make_view

    names = needed_views(index.kernel_) or (() if index.view_ is None else (index.view_,))
    possible = [row.name for row in VIEWS.values() if row.subject == "sentence"]
    lacking = [name for name in names if name not in possible]
    if lacking or not names:
        compared = f"the view {lacking[0]!r}" if lacking else "structures without a view"
        raise KernelInputError(
            f"the index compares {compared}, which cannot be made from a sentence (views of "
            f"sentences: {', '.join(possible)}); give QUERIES as a corpus"
        )
    [sentences] = analyze(load_parser(parser), [Document(text)])
    return [
        Example(
            f"sentence {number}" if len(sentences) > 1 else "sentence",
            None,
            {_TEXT: sentence.text, **{name: make_view(name, sentence)[0] for name in names}},
        )
        for number, sentence in enumerate(sentences, 1)
    ]


def _queries_by_id(index: SentenceIndex, ids: tuple[str, ...]) -> list[Any]:
    if not ids:
        return []
    names, texts = _names(index), index.texts_.tolist()
    places = dict(zip(reversed(names), range(len(names) - 1, -1, -1), strict=True))
    queries = []
    for name in ids:
        if name not in places:
            raise KernelInputError(
                f"the index has no example {shorten(repr(name))}{nearest(name, places)}"
            )
        place = places[name]
        queries.append(_Indexed(name, texts[place], int(index.ids_[place]), place))
    return queries


def _names(index: SentenceIndex) -> list[str]:
    """Return the ids of the examples of an index, or their numbers where they have none."""
    return [name or str(i) for name, i in zip(index.names_, index.ids_.tolist(), strict=True)]


def _search(
    index: SentenceIndex, queries: list[Any], options: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the matches of each query, the most similar first."""
    from kernelwood.search import text_of

    found = []
    inputs = _inputs(index, queries)
    # One more than requested: an example of the index finds itself.
    own = any(isinstance(query, _Indexed) for query in queries)
    matches = index.search(inputs, options["k"] + own, n_rerank=options["rerank"])
    for query, structure, row in zip(queries, inputs, matches, strict=True):
        number = query.number if isinstance(query, _Indexed) else None
        kept = [match for match in row if match.id != number][: options["k"]]
        found.append(
            {
                "id": query.id,
                "text": query.text if isinstance(query, _Indexed) else text_of(query),
                "matches": [_match(index, structure, m, explain=options["explain"]) for m in kept],
            }
        )
    return found


def _inputs(index: SentenceIndex, queries: list[Any]) -> list[Any]:
    """Return queries as the index takes them: examples, or their only structures."""
    from kernelwood.kernels import needed_views

    by_views = needed_views(index.kernel_) != ()
    inputs = []
    for query in queries:
        if isinstance(query, _Indexed):
            structure = index.index_.structures_[query.place]
            if index.view_ is not None:
                structure = Example(query.id, None, {index.view_: structure})
            inputs.append(structure)
        elif by_views or index.view_ is not None:
            inputs.append(query)
        else:
            [structure] = (view for view in query.views.values() if not isinstance(view, str))
            inputs.append(structure)
    return inputs


def _match(index: SentenceIndex, query: Any, match: Match, *, explain: bool) -> dict[str, Any]:
    result: dict[str, Any] = {
        "id": match.name or str(match.id),
        "similarity": match.similarity,
        "exact": match.exact,
        "text": match.text,
    }
    if explain:
        result["fragments"] = [
            {"text": fragment.text, "share": fragment.share, "view": fragment.view}
            for fragment in index.explain(query, match.id, _FRAGMENTS)
        ]
    return result


def _duplicates(index: SentenceIndex, threshold: float | None) -> dict[str, Any] | None:
    """Return the similar pairs and groups of an index; None without a threshold."""
    from kernelwood.search import find_duplicates

    if threshold is None:
        return None
    candidates = index.by if len(index) > _ALL_PAIRS else None
    found = find_duplicates(
        index.index_.structures_, index.kernel_, threshold=threshold, candidates=candidates
    )
    names, texts = _names(index), index.texts_
    return {
        "threshold": threshold,
        "all_pairs": candidates is None,
        "pairs": [
            {
                "similarity": float(similarity),
                "ids": [names[a], names[b]],
                "texts": [texts[a], texts[b]],
            }
            for (a, b), similarity in zip(found.pairs.tolist(), found.similarities, strict=True)
        ],
        "groups": [[names[place] for place in group] for group in found.groups],
    }


# Output.


def _show(result: dict[str, Any]) -> None:
    for query in result["queries"]:
        say(one_name(f"{query['id']}  {shorten(query['text'], _WIDTH)}"))
        rows = []
        for match in query["matches"]:
            rows.append([f"{match['similarity']:.4f}", match["id"], shorten(match["text"], _WIDTH)])
            for fragment in match.get("fragments", ()):
                text = " ".join(fragment["text"].split())
                rows.append(["", "", f"  shares {shorten(text, _WIDTH)}"])
        show_table([">similarity", "id", "text"], rows)
        say()
    if result["duplicates"] is not None:
        _show_duplicates(result["duplicates"])
    if not result["queries"] and result["duplicates"] is None:
        say(f"{counted(result['n_examples'], 'example')} in the index")


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
    say(f"\n{pairs} in {groups}")
