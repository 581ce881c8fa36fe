"""``kernelwood extract``: relations in raw texts."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.corpus import errors_option, file_errors, orderly_end
from kernelwood.cli.output import jobs_option, json_option
from kernelwood.cli.relation_outputs import (
    Found,
    Judge,
    all_option,
    annotated_view,
    check_line,
    check_target,
    deliver,
    evidence_option,
    in_words,
    judged,
    judging,
    load_extractor,
    out_option,
    positive_rate_option,
    show_report,
    threshold_option,
    to_option,
)
from kernelwood.cli.texts import (
    WAYS,
    GivenParses,
    Texts,
    case_option,
    entities_option,
    load_parser,
    parser_option,
    read_dictionary,
    with_entities_of,
)
from kernelwood.text import Document, Example, Sentence

if TYPE_CHECKING:
    from kernelwood import RelationExtractor
    from kernelwood.relations import Prediction, Predictions

__all__ = ["extract"]

_EPILOG = """\b
Examples:
  kernelwood extract model.kw paper.txt --entities terms.tsv -o found.jsonl
  kernelwood extract model.kw papers/ --entities terms.tsv -o found.ann
  kernelwood extract model.kw brat/ -o found.tsv --evidence 3
  kernelwood extract model.kw paper.txt --entities terms.tsv --parses paper.conllu
  cat paper.txt | kernelwood extract model.kw - --entities terms.tsv
"""


@click.command(epilog=_EPILOG)
@click.argument("model")
@click.argument("texts", metavar="TEXT...", nargs=-1, required=True)
@entities_option
@case_option
@click.option(
    "--ner", is_flag=True, help="Take names that the parser finds as entities (spacy and stanza)."
)
@parser_option
@click.option(
    "--parses", metavar="FILE",
    help="Sentences of the texts, parsed elsewhere: CoNLL-U, or a folder with a file for each "
    "text.",
)  # fmt: skip
@out_option
@to_option
@all_option
@evidence_option
@threshold_option
@positive_rate_option
@errors_option
@jobs_option
@json_option
def extract(model: str, texts: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Find relations in texts.

    MODEL is a file that kernelwood train wrote. TEXT is a text file, a folder or an archive of
    these, or - for standard input. Entities are the terms of a dictionary (--entities), those
    annotated in name.ann beside name.txt, or the names a parser finds (--ner). Texts are judged as
    they are read; OUT appears, or changes, only when everything is written.
    """
    started = time.perf_counter()
    _check(texts, options, as_json=as_json)
    out, every, n_evidence = options["out"], options["every"], options["n_evidence"]
    found = Found()
    with file_errors(), orderly_end(), in_words():
        sources = {"MODEL": model, "--entities": options["entities"]}
        named = {f"TEXT {name}": name for name in texts if name != "-"}
        format = check_target({**sources, **named}, out, options["target_format"], every=every)
        extractor = load_extractor(model, options["threshold"])
        with judging(options["n_jobs"]):
            source, judge = _prepare(extractor, texts, options, found)
            looked = options["entities"] is not None or options["ner"]
            results = judged(
                extractor, source, judge, found,
                n_evidence=n_evidence, every=every, positive_rate=options["positive_rate"],
                advice="" if looked else WAYS,
            )  # fmt: skip
            shown = deliver(
                results, out, format,
                events=extractor.candidates == "events", evidence=n_evidence > 0,
            )  # fmt: skip
        found.skipped, found.remarks = dict(source.reasons), dict(source.remarks)
    report = {
        "model": model,
        **found.counts(),
        "out": out,
        "seconds": round(time.perf_counter() - started, 3),
    }
    show_report(report, found, shown, as_json=as_json)


def _check(texts: tuple[str, ...], options: dict[str, Any], *, as_json: bool) -> None:
    if as_json and options["out"] == "-":
        raise click.UsageError("--json and --out - both want standard output")
    check_line(options)
    if [*texts, options["entities"]].count("-") > 1:
        raise click.UsageError("only one of the files can be standard input")
    if options["parser"] is not None and options["parses"] is not None:
        raise click.UsageError("with --parses nothing is parsed; leave out --parser")
    if options["parses"] is not None and options["ner"]:
        raise click.UsageError("with --parses no parser looks for names; leave out --ner")


def _prepare(
    extractor: RelationExtractor, texts: tuple[str, ...], options: dict[str, Any], found: Found
) -> tuple[Texts, Judge]:
    """Return the texts with their entities, and what judges some of them."""
    dictionary = read_dictionary(options["entities"], options["case"])
    source = Texts(texts, options["errors"], None if dictionary is None else dictionary.annotate)
    if options["parses"] is not None:
        return source, _by_parses(extractor, GivenParses(options["parses"]), found)
    if options["ner"]:
        return source, _by_names(extractor, options["parser"])
    backend = None if options["parser"] is None else load_parser(options["parser"])

    def judge(batch: list[Example]) -> tuple[list[Example], Predictions]:
        predictions = extractor.extract(_worthwhile(batch), parser=backend, all=True)
        predictions[:] = [_plain(one, one.document) for one in predictions]
        return batch, predictions

    return source, judge


def _by_parses(extractor: RelationExtractor, parses: GivenParses, found: Found) -> Judge:
    """Return what judges texts whose sentences were parsed elsewhere."""

    def judge(batch: list[Example]) -> tuple[list[Example], Predictions]:
        sentences = {}
        for example in _worthwhile(batch):
            document = example.view("document")
            if isinstance(document, Document):
                cut = parses.analyze(example.id, document)
                found.add_dropped(cut.lost)
                sentences[example.id] = cut.sentences
        return batch, _judge_sentences(extractor, sentences)

    return judge


def _by_names(extractor: RelationExtractor, parser: str | None) -> Judge:
    """Return what judges texts after a parser has found names in them."""
    name = parser or extractor.parser_
    if parser is None and not name.startswith(("spacy", "stanza")):
        raise click.UsageError(
            "the model was not trained with a parser that finds names; --ner needs --parser spacy "
            "or stanza"
        )
    backend = load_parser(name, entities=True)

    def judge(batch: list[Example]) -> tuple[list[Example], Predictions]:
        documents = [annotated_view(example) for example in batch]
        analyzed = backend.analyze(documents)
        sentences = {e.id: found for e, found in zip(batch, analyzed, strict=True)}
        named = [with_entities_of(e, sentences[e.id]) for e in batch]
        with warnings.catch_warnings():
            if backend.name == extractor.parser_:  # which made these parses, given as they are
                warnings.filterwarnings("ignore", message="the model was trained on parses")
            return named, _judge_sentences(extractor, sentences)

    return judge


def _judge_sentences(
    extractor: RelationExtractor, sentences: Mapping[str, Sequence[Sentence]]
) -> Predictions:
    """Return what a model says about parsed sentences, under the names of their texts."""
    examples = [
        Example(f"{name}.s{number}", views={"sentence": sentence})
        for name, some in sentences.items()
        for number, sentence in enumerate(some)
    ]
    owners = {
        f"{name}.s{number}": name for name, some in sentences.items() for number in range(len(some))
    }
    predictions = extractor.extract(examples, parser="given", all=True)
    predictions[:] = [_plain(one, owners[one.document]) for one in predictions]
    return predictions


def _worthwhile(batch: list[Example]) -> list[Example]:
    """Return the texts with entities: others have no relations, and need not be parsed."""
    return [example for example in batch if annotated_view(example).entities]


def _plain(prediction: Prediction, document: str) -> Prediction:
    """Return a prediction without a label: a plain text does not deny relations."""
    return replace(prediction, document=document, label=None)
