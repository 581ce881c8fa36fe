"""``kernelwood extract``."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import running
from kernelwood.cli.corpora import Texts, texts_with_entities
from kernelwood.cli.model_files import load_extractor, load_parser
from kernelwood.cli.options import (
    case_option,
    cluster_option,
    entities_option,
    jobs_option,
    json_option,
    parser_option,
    prediction_options,
    report_option,
    resume_option,
    text_options,
)
from kernelwood.cli.outputs import (
    STANDARD,
    check_inputs,
    check_prediction_files,
    show_predictions,
    write_predictions,
)
from kernelwood.cli.reports import Report
from kernelwood.errors import KernelInputError
from kernelwood.structures import shorten
from kernelwood.text import Document, Example, Sentence

if TYPE_CHECKING:
    from kernelwood import RelationExtractor
    from kernelwood.relations import PredictionCounts, Predictions, Predictor
    from kernelwood.text import Cut

_ADVICE = (
    "train with --learn-entities, give a list of terms with --entities terms.tsv, put entities in "
    "name.ann beside name.txt, or use --ner with a parser that recognizes entities"
)
_PACKINGS = ("", ".gz", ".bz2", ".xz")
_EPILOG = """\b
Examples:
  kernelwood extract model.kw paper.txt -o found.jsonl
  kernelwood extract model.kw paper.txt --entities terms.tsv -o found.jsonl
  kernelwood extract model.kw papers/ --entities terms.tsv -o found.ann
  kernelwood extract model.kw brat/ -o found.tsv --evidence 3 --report found.html
  kernelwood extract model.kw paper.txt --entities terms.tsv --parses paper.conllu
  kernelwood extract model.kw pubmed.xml.gz --entities terms.tsv
  kernelwood extract model.kw table.csv --text-field abstract --id-field pmid
  kernelwood extract model.kw papers/ --entities terms.tsv -o found.jsonl --resume
  cat paper.txt | kernelwood extract model.kw - --entities terms.tsv
  kernelwood extract model.kw papers/ --entities terms.tsv --facts facts.tsv --facts net.cx2
"""


@click.command(epilog=_EPILOG)
@click.argument("model")
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@entities_option
@case_option
@click.option("--ner", is_flag=True, help="Use entities recognized by the parser (spacy, stanza).")
@parser_option
@click.option(
    "--parses", metavar="FILE", help="Parsed sentences of the texts: CoNLL-U file or folder."
)
@prediction_options
@report_option
@cluster_option
@resume_option
@text_options
@jobs_option
@json_option
def extract(model: str, texts: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Extract relations from texts.

    MODEL is a file of kernelwood train. TEXT is a file of plain text, articles, records or
    annotated text, a folder or archive of such files, or - for standard input. Tables and JSON
    records need a column for the text (--text-field). Entities are found by the model, if it was
    trained with --learn-entities. They can also be the terms of a list (--entities), the
    annotation of the texts, or entities that the parser recognizes (--ner). The output file is
    created or replaced only when it is complete; with --resume, a run that was interrupted
    continues.
    """
    started = time.perf_counter()
    entities = options["entities"]
    _check(texts, options)
    if options["cluster"] is not None:
        from kernelwood.cli.planned import run_planned

        run_planned("extract", {"model": model, "texts": texts, **options}, as_json=as_json)
        return
    if options["resume"]:
        from kernelwood.cli.planned import is_complete

        if options["out"] is not None and is_complete(options["out"], as_json=as_json):
            return
    sources = {"MODEL": model, "--entities": entities, **{f"TEXT {name}": name for name in texts}}
    format = check_prediction_files(sources, options, as_json=as_json)
    check_inputs(options["parses"])
    if options["resume"]:
        from kernelwood.cli.planned import run_resumed

        run_resumed("extract", {"model": model, "texts": texts, **options}, as_json=as_json)
        return
    extractor = load_extractor(model, options["threshold"])
    from kernelwood.relations import PredictionCounts

    counts = PredictionCounts()
    with running(options["n_jobs"], bar=False):
        source, predict = _prepare(extractor, texts, options, counts)
        found = entities is not None or options["ner"] or extractor.tagger_ is not None
        advice = "" if found else _ADVICE
        shown = write_predictions(
            extractor,
            source,
            predict,
            counts,
            options,
            format,
            advice=advice,
            report=Report.of(options, "Relations in", texts),
        )
    show_predictions(model, counts, shown, options["out"], started, as_json=as_json)


def _check(texts: tuple[str, ...], options: dict[str, Any]) -> None:
    if [*texts, options["entities"]].count(STANDARD) > 1:
        raise click.UsageError("only one file can be standard input")
    for text in texts:
        if " " in text and "\n" not in text and not os.path.exists(text):  # noqa: PTH110 - long names
            raise click.UsageError(
                f"there is no file {shorten(repr(text))}; a text is read from standard input: "
                'echo "TEXT" | kernelwood extract MODEL -'
            )
    if options["parses"] is not None and options["parser"] is not None:
        raise click.UsageError("--parses replaces the parser; leave out --parser")
    if options["parses"] is not None and options["ner"]:
        raise click.UsageError("--ner needs a parser, which --parses replaces; leave out --ner")


def _prepare(
    extractor: RelationExtractor,
    texts: tuple[str, ...],
    options: dict[str, Any],
    counts: PredictionCounts,
) -> tuple[Texts, Predictor]:
    """Return the texts with their entities, and the function that predicts their relations."""
    source = texts_with_entities(extractor, texts, options, counts)
    if options["parses"] is not None:
        return source, _with_parses(extractor, _GivenParses(options["parses"]), counts)
    from kernelwood.relations import text_predictor

    if options["ner"]:
        return source, text_predictor(extractor, _recognizer(extractor, options["parser"]))
    backend = None if options["parser"] is None else load_parser(options["parser"])
    return source, text_predictor(extractor, backend)


def _recognizer(extractor: RelationExtractor, parser: str | None) -> Any:
    """Return a parser that recognizes entities."""
    name = parser or extractor.parser_
    if parser is None and not name.startswith(("spacy", "stanza")):
        raise click.UsageError(
            f"the parser of the model, {name}, does not recognize entities; --ner needs --parser "
            "spacy or stanza"
        )
    return load_parser(name, entities=True)


def _with_parses(
    extractor: RelationExtractor, parses: _GivenParses, counts: PredictionCounts
) -> Predictor:
    """Return the function for texts that were parsed elsewhere."""
    from kernelwood.relations import predict_sentences, with_entities

    def predict(batch: list[Example]) -> tuple[list[Example], Predictions]:
        sentences = {}
        for example in with_entities(batch):
            document = example.view("document")
            if isinstance(document, Document):
                cut = parses.analyze(example.id, document)
                counts.dropped.update(cut.lost)
                sentences[example.id] = cut.sentences
        return batch, predict_sentences(extractor, sentences)

    return predict


class _GivenParses:
    """Sentences that were parsed elsewhere.

    Parameters
    ----------
    path : str
        A CoNLL-U file with the sentences of one text, or of several, each of which begins with
        ``# newdoc id = NAME``; or a folder with a file ``NAME.conllu`` for each text.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._by_name = None if Path(path).is_dir() else _sentences_by_text(path)

    def analyze(self, name: str, document: Document) -> Cut:
        """Return the parsed sentences of a text, with its annotation."""
        return document.annotate(self._sentences(name))

    def _sentences(self, name: str) -> list[Sentence]:
        if self._by_name is None:
            return self._from_folder(name)
        if list(self._by_name) == [""]:  # the file is about one text
            self._by_name = {name: self._by_name[""]}
        if name not in self._by_name:
            raise KernelInputError(
                f"{self.path} has no parse of {shorten(repr(name))}; in a file of several texts, "
                f"the first sentence of each needs a line # newdoc id = {name}"
            )
        return self._by_name[name]

    def _from_folder(self, name: str) -> list[Sentence]:
        files = [Path(self.path, f"{name}.conllu{packing}") for packing in _PACKINGS]
        for file in files:
            if file.is_file():
                found = _sentences_by_text(str(file))
                return [sentence for part in found.values() for sentence in part]
        raise KernelInputError(f"no parse of {shorten(repr(name))}: {files[0]} does not exist")


def _sentences_by_text(path: str) -> dict[str, list[Sentence]]:
    """Return the sentences of a CoNLL-U file by text; "" for those before the first name."""
    from kernelwood import read

    groups: dict[str, list[Sentence]] = {}
    current = ""
    for example in read(path, "conllu"):
        sentence = example.view("sentence")
        if isinstance(sentence, Sentence):
            current = dict(sentence.metadata).get("newdoc id") or current
            groups.setdefault(current, []).append(sentence)
    return groups
