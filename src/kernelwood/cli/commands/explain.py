"""``kernelwood explain``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import counted, nearest, running, say, tracked, write_json
from kernelwood.cli.corpora import open_corpus
from kernelwood.cli.explanations import show_explanation
from kernelwood.cli.model_files import load_extractor, load_parser
from kernelwood.cli.options import (
    case_option,
    documents_options,
    entities_option,
    jobs_option,
    json_option,
    parser_option,
    threshold_option,
)
from kernelwood.cli.outputs import STANDARD, check_inputs
from kernelwood.errors import KernelInputError, StructureError
from kernelwood.structures import shorten
from kernelwood.text import Document, Example

if TYPE_CHECKING:
    from kernelwood import RelationExtractor
    from kernelwood.relations import Prediction

_NAMES = 10_000  # compared with a wrong id
# Keys of a stored prediction.
_KEYS = {
    "id",
    "document",
    "type",
    "positive",
    "participants",
    "probability",
    "threshold",
    "sentence",
}
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
@click.option("--text", metavar="TEXT", help="Explain the relations in this text.")
@entities_option
@case_option
@parser_option
@click.option(
    "--evidence", "n_evidence", type=click.IntRange(min=1), metavar="N",
    show_default="that of the model", help="Number of training cases for and against.",
)  # fmt: skip
@click.option("--fragments", is_flag=True, help="Show shared fragments of the views, too.")
@click.option(
    "--all", "every", is_flag=True, help="Explain candidates that are predicted negative, too."
)
@threshold_option
@documents_options
@jobs_option
@json_option
def explain(model: str, corpus: str | None, id: str | None, as_json: bool, **options: Any) -> None:
    """Explain predictions by the contributions of training cases.

    MODEL is a file of kernelwood train. CORPUS contains annotated documents, or predictions that
    were written with --evidence. ID is the id of a candidate, or of a sentence or document whose
    relations are explained. The result lists the training cases that support and oppose the
    relation most, their contributions to the decision score, and the words that they share with
    the candidate.
    """
    _check(corpus, id, options)
    check_inputs(model, corpus, options["entities"])
    stored = None if corpus is None or id is None else _stored(corpus, id)
    options["fragments"] |= as_json
    explanations = _explain(model, corpus, id, options) if stored is None else stored
    if as_json:
        write_json({"model": model, "explanations": explanations})
        return
    for number, one in enumerate(explanations):
        if number:
            say()
        show_explanation(one, fragments=options["fragments"])


def _check(corpus: str | None, id: str | None, options: dict[str, Any]) -> None:
    if options["text"] is not None:
        if corpus is not None:
            raise click.UsageError("--text replaces the corpus; leave out CORPUS")
    elif corpus is None or id is None:
        raise click.UsageError("give a CORPUS and an ID in it, or a --text")
    elif options["entities"] is not None:
        raise click.UsageError("a corpus contains its entities; leave out --entities")


def _explain(
    model: str, corpus: str | None, id: str | None, options: dict[str, Any]
) -> list[dict[str, Any]]:
    from kernelwood.relations import prediction_object

    extractor = load_extractor(model, options["threshold"])
    with running(options["n_jobs"], bar=False):
        if corpus is None or id is None:
            chosen = _in_text(extractor, options)
        else:
            chosen = _in_corpus(extractor, corpus, id, options)
        cases = extractor.explain(chosen, options["n_evidence"]) if chosen else []
    pairs = zip(chosen, cases, strict=True)
    return [prediction_object(*pair, fragments=options["fragments"]) for pair in pairs]


def _in_corpus(
    extractor: RelationExtractor, corpus: str, id: str, options: dict[str, Any]
) -> list[Prediction]:
    """Return the prediction with an id, or those of the sentence or document with that id."""
    names: list[str] = []
    found = []
    with open_corpus(corpus, options) as stream:
        for example in tracked(stream):
            if len(names) < _NAMES:
                names.append(example.id)
            if id.startswith(example.id):
                found.append(example)
    predictions = extractor.predict(found, all=True)
    exact = [one for one in predictions if one.id == id]
    if exact:
        return exact
    inside = [one for one in predictions if one.document == id or one.id.startswith(f"{id}.")]
    if not inside:
        guess = nearest(id, [*(one.id for one in predictions), *names])
        raise KernelInputError(
            f"{corpus} has no candidate, and no document with candidates, with the id "
            f"{shorten(repr(id))}{guess}"
        )
    return _selected(inside, options, id)


def _in_text(extractor: RelationExtractor, options: dict[str, Any]) -> list[Prediction]:
    from kernelwood import Dictionary

    terms = None
    if options["entities"] is not None:
        terms = Dictionary.read(options["entities"], case=options["case"])
    elif extractor.tagger_ is None:
        raise click.UsageError(
            "--text needs --entities, a list of terms to mark in it: the model was not trained "
            "with --learn-entities"
        )
    document = extractor.find_entities(Document(options["text"]), terms)
    if not document.entities:
        raise KernelInputError(
            "the model finds no entities in the text; list them with --entities terms.tsv"
            if terms is None
            else f"the text contains no term of {options['entities']}; add its entities there"
        )
    example = Example("text", views={"document": document})
    parser = None if options["parser"] is None else load_parser(options["parser"])
    predictions = extractor.extract([example], parser=parser, all=True)
    # A plain text is not annotated, so its candidates have no label.
    return _selected([replace(one, label=None) for one in predictions], options, "the text")


def _selected(
    predictions: Iterable[Prediction], options: dict[str, Any], where: str
) -> list[Prediction]:
    """Return the positive predictions, or all with --all."""
    listed = list(predictions)
    if not listed:
        raise KernelInputError(
            f"no candidates in {where}: no sentence has entities that can be related"
        )
    kept = [one for one in listed if options["every"] or one.positive]
    if not kept:
        best = max(one.probability for one in listed)
        raise KernelInputError(
            f"no relations in {where}: the largest probability of "
            f"{counted(len(listed), 'candidate')} is {best:.3f}; --all explains them"
        )
    return kept


def _stored(corpus: str, id: str) -> list[dict[str, Any]] | None:
    """Return the predictions with an id in a file of predictions; None for any other file."""
    from kernelwood.io import Source

    if corpus == STANDARD or not corpus.lower().removesuffix(".gz").endswith(".jsonl"):
        return None
    found: list[dict[str, Any]] = []
    names: list[str] = []
    begun = False
    with Source(corpus) as source:
        for line in source.lines():
            if not line.text.strip():
                continue
            value = _prediction(line.text)
            if value is None and begun:
                raise source.error("this line is not a prediction", line=line.number)
            if value is None:
                return None
            begun = True
            if len(names) < _NAMES:
                names += [str(value["id"]), str(value["document"])]
            if id in (value["id"], value["document"]):
                found.append(value)
    if not found:
        raise KernelInputError(
            f"{corpus} has no prediction with the id {shorten(repr(id))}{nearest(id, names)}"
        )
    bare = next((one for one in found if not isinstance(one.get("evidence"), dict)), None)
    if bare is not None:
        problem = "has evidence of an older version" if "evidence" in bare else "has no evidence"
        raise KernelInputError(
            f"{corpus} {problem} for {shorten(repr(bare['id']))}; give the corpus of the "
            "predictions, or write them with --evidence N"
        )
    return found


def _prediction(text: str) -> dict[str, Any] | None:
    from kernelwood.structures import decode_json

    try:
        value = decode_json(text)
    except StructureError:  # the reader of the corpus reports what is wrong
        return None
    return value if isinstance(value, dict) and set(value) >= _KEYS else None
