"""``kernelwood explain``: why was this called a relation, or not?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.corpus import (
    errors_option,
    file_errors,
    from_option,
    only_option,
    orderly_end,
    usage,
    with_progress,
)
from kernelwood.cli.output import counted, jobs_option, json_option, results, write_json
from kernelwood.cli.relation_outputs import in_words, judging, load_extractor, threshold_option
from kernelwood.cli.tables import show_table
from kernelwood.cli.texts import (
    WAYS,
    case_option,
    entities_option,
    load_parser,
    parser_option,
    read_dictionary,
)
from kernelwood.errors import KernelInputError, StructureError
from kernelwood.structures import one_line, shorten
from kernelwood.text import Document, Example

if TYPE_CHECKING:
    from kernelwood import RelationExtractor
    from kernelwood.relations import Prediction

__all__ = ["explain"]

_WIDTH = 80  # of a text that is shown
_NAMES = 10_000  # that a wrong id is compared with
_EPILOG = """\b
Examples:
  kernelwood explain model.kw corpus.xml d3.s1.p0
  kernelwood explain model.kw found.jsonl d3.s1.p0
  kernelwood explain model.kw brat/ paper7 --all
  kernelwood explain model.kw --text "Raf activates Mek." --entities terms.tsv
"""


@click.command(epilog=_EPILOG)
@click.argument("model")
@click.argument("corpus", required=False)
@click.argument("id", required=False)
@click.option("--text", metavar="TEXT", help="Explain the relations in this text instead.")
@entities_option
@case_option
@parser_option
@click.option(
    "--evidence", "n_evidence", type=click.IntRange(min=1), metavar="N",
    help="Labeled cases to show. Default: as the model was trained.",
)  # fmt: skip
@click.option("--all", "every", is_flag=True, help="Explain candidates that are no relations, too.")
@threshold_option
@from_option
@errors_option
@only_option
@jobs_option
@json_option
def explain(model: str, corpus: str | None, id: str | None, as_json: bool, **options: Any) -> None:
    """Tell why a candidate was called a relation, or was not.

    MODEL is a file that kernelwood train wrote. CORPUS holds annotated documents, or the
    predictions that kernelwood wrote with --evidence. ID names a candidate, or a document or a
    sentence, all relations of which are explained. Shown are the labeled cases that are most like
    it, how much each of them adds to the decision, and what it shares with them.
    """
    from kernelwood.relations import prediction_object

    _check(corpus, id, options)
    with file_errors(), orderly_end(), in_words():
        stored = None if corpus is None or id is None else _stored(corpus, id)
        if stored is None:
            extractor = load_extractor(model, options["threshold"])
            with judging(options["n_jobs"]):
                chosen = _chosen(extractor, corpus, id, options)
                cases = extractor.explain(chosen, options["n_evidence"]) if chosen else []
            told = [prediction_object(*pair) for pair in zip(chosen, cases, strict=True)]
        else:
            told = stored
    if as_json:
        write_json({"model": model, "explanations": told})
        return
    for one in told:
        _show(one)


def _check(corpus: str | None, id: str | None, options: dict[str, Any]) -> None:
    if options["text"] is not None:
        if corpus is not None:
            raise click.UsageError("--text is explained instead of a corpus; leave out CORPUS")
        if options["entities"] is None:
            raise click.UsageError("--text needs --entities, a file of terms to be found in it")
    elif corpus is None or id is None:
        raise click.UsageError("name a CORPUS and an ID in it, or give a --text")
    elif options["entities"] is not None:
        raise click.UsageError("the entities of a corpus are annotated; leave out --entities")


def _chosen(
    extractor: RelationExtractor, corpus: str | None, id: str | None, options: dict[str, Any]
) -> list[Prediction]:
    if corpus is None or id is None:
        return _in_text(extractor, options)
    names: list[str] = []
    found = [example for example in _read(corpus, options, names) if id.startswith(example.id)]
    predictions = extractor.predict(found, all=True)
    exact = [one for one in predictions if one.id == id]
    if exact:
        return exact
    inside = [one for one in predictions if one.document == id or one.id.startswith(f"{id}.")]
    if not inside:
        near = get_close_matches(id, [*(one.id for one in predictions), *names], n=1)
        guess = f"; did you mean {near[0]!r}?" if near else ""
        raise KernelInputError(
            f"{corpus} has no candidate, and no document with candidates, called "
            f"{shorten(repr(id))}{guess}"
        )
    return _holding(inside, options, f"in {id}")


def _read(corpus: str, options: dict[str, Any], names: list[str]) -> Iterator[Example]:
    from kernelwood.io import iter_read

    with usage(
        lambda: iter_read(corpus, options["source_format"], options["errors"], only=options["only"])
    ) as stream:
        for example in with_progress(stream):
            if len(names) < _NAMES:
                names.append(example.id)
            yield example


def _in_text(extractor: RelationExtractor, options: dict[str, Any]) -> list[Prediction]:
    dictionary = read_dictionary(options["entities"], options["case"])
    document = Document(options["text"])
    if dictionary is not None:
        document = dictionary.annotate(document)
    if not document.entities:
        raise KernelInputError(f"none of the terms is in the text: {WAYS}")
    example = Example("text", views={"document": document})
    parser = None if options["parser"] is None else load_parser(options["parser"])
    predictions = extractor.extract([example], parser=parser, all=True)
    # There is no annotation that could deny a relation.
    return _holding([replace(one, label=None) for one in predictions], options, "in the text")


def _holding(
    predictions: Iterable[Prediction], options: dict[str, Any], where: str
) -> list[Prediction]:
    listed = list(predictions)
    if not listed:
        raise KernelInputError(
            f"there is nothing to explain {where}: no sentence has entities that could be related"
        )
    kept = [one for one in listed if options["every"] or one.positive]
    if not kept:
        best = max(one.score for one in listed)
        told = f"of {counted(len(listed), 'candidate')} the best has the score {best:.3f}"
        raise KernelInputError(f"no relation was found {where}: {told}; --all explains them")
    return kept


def _stored(corpus: str, id: str) -> list[dict[str, Any]] | None:
    """Return predictions of that name in a file that has them; None if it is a corpus."""
    from kernelwood.io import Source

    if corpus == "-" or not corpus.lower().removesuffix(".gz").endswith(".jsonl"):
        return None
    found: list[dict[str, Any]] = []
    begun = False
    with Source(corpus) as source:
        for line in source.lines():
            if not line.text.strip():
                continue
            value = _prediction(line.text)
            if value is None and begun:
                raise source.error("this line is no prediction", line=line.number)
            if value is None:
                return None
            begun = True
            if id in (value["id"], value["document"]):
                found.append(value)
    if not found:
        raise KernelInputError(f"{corpus} has no prediction called {shorten(repr(id))}")
    bare = next((one for one in found if "evidence" not in one), None)
    if bare is not None:
        raise KernelInputError(
            f"{corpus} tells no evidence for {shorten(repr(bare['id']))}; name the corpus it was "
            "made from, or write predictions with --evidence N"
        )
    return found


def _prediction(text: str) -> dict[str, Any] | None:
    from kernelwood.structures import decode_json

    try:
        value = decode_json(text)
    except StructureError:  # the reader of the corpus says what is wrong
        return None
    keys = {"id", "document", "type", "positive", "participants", "score", "threshold", "sentence"}
    return value if isinstance(value, dict) and keys <= set(value) else None


def _show(told: dict[str, Any]) -> None:
    click.echo(one_line(told["id"]))
    _show_sentence(told)
    holds = told["positive"]
    verdict = f"{told['type']} holds" if holds else f"{told['type']} does not hold"
    sign = "≥" if holds else "<"
    label = f"; the annotation says {told['label']}" if "label" in told else ""
    click.echo(
        f"{verdict}: score {told['score']:.3f} {sign} threshold {told['threshold']:.3f}{label}"
    )
    click.echo()
    titles = [">similarity", "type", ">adds", "case", "sentence"]
    show_table(titles, [row for case in told["evidence"] for row in _case_rows(case)])
    click.echo()


def _case_rows(case: dict[str, Any]) -> Iterator[list[str]]:
    adds = f"{case['contribution']:+.3f}" if "contribution" in case else ""
    adds = "0.000" if adds in ("+0.000", "-0.000") else adds
    text = shorten(one_line(case["text"]), _WIDTH)
    yield [f"{case['similarity']:.3f}", case["type"], adds, one_line(case["id"]), text]
    for piece in case["shared"]:
        shared = shorten(" ".join(one_line(piece["text"]).split()), _WIDTH)
        yield [f"{piece['weight']:.3f}", "  shared", "", piece["view"], shared]


def _show_sentence(told: dict[str, Any]) -> None:
    """Show a sentence with its entities in colors, or in brackets where there are none."""
    console = results()
    text, shift = told["text"], told["sentence"][0]
    ones = [*told["participants"], *([told["trigger"]] if "trigger" in told else [])]
    spans = [
        (start - shift, end - shift, one["role"]) for one in ones for start, end in one["spans"]
    ]
    if not console.is_terminal:
        click.echo(one_line(_bracketed(text, spans)))
        return
    from rich.text import Text

    shown = Text(one_line(text))
    for start, end, role in spans:
        shown.stylize("bold yellow" if role == "trigger" else "bold cyan", start, end)
    console.print(shown)


def _bracketed(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """Return a text with some spans in brackets, triggers in braces.

    Examples
    --------
    >>> _bracketed("Raf binds Ras", [(0, 3, "first"), (10, 13, "second"), (4, 9, "trigger")])
    '[Raf] {binds} [Ras]'
    """
    marks = []
    for start, end, role in spans:
        opening, closing = ("{", "}") if role == "trigger" else ("[", "]")
        marks += [(start, 1, opening), (end, 0, closing)]
    pieces, done = [], 0
    for place, _, mark in sorted(marks):
        pieces += [text[done:place], mark]
        done = place
    return "".join([*pieces, text[done:]])
