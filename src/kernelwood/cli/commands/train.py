"""``kernelwood train``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kernelwood.cli.console import one_name, running, say, show_counts, show_table, write_json
from kernelwood.cli.corpora import read_documents
from kernelwood.cli.experiment import Named, config_option, effective, write_settings
from kernelwood.cli.model_files import check_types, make_extractor
from kernelwood.cli.options import (
    documents_options,
    extractor_options,
    jobs_option,
    json_option,
    refuse,
    seed_option,
)
from kernelwood.cli.outputs import check_files

if TYPE_CHECKING:
    from kernelwood.io import Counts
    from kernelwood.relations import RelationExtractor

# Measures on held-out documents, and their titles.
_MEASURES = {
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "auc": "AUC",
    "average_precision": "average precision",
}
_EPILOG = """\b
Examples:
  kernelwood train corpus.xml -o model.kw
  kernelwood train brat/ -o model.kw --recipe klsh-rf --type Protein --save-config run.toml
  kernelwood train brat/ -o model.kw --learn-entities
  kernelwood train --config run.toml --seed 1
"""


@click.command(epilog=_EPILOG)
@click.argument("corpus", cls=Named, nargs=-1, required=True)
@click.option("-o", "--out", metavar="FILE", required=True, help="Output model file.")
@documents_options
@extractor_options
@click.option(
    "--learn-entities", is_flag=True, help="Also learn to find the entities of new texts."
)
@config_option
@click.option(
    "--save-config", metavar="FILE.toml", help="Save the options of this run for --config."
)
@seed_option
@jobs_option
@json_option
def train(corpus: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Train a relation extractor on annotated documents.

    CORPUS is a file, folder or archive with annotated entities and relations, or - for standard
    input; several are combined. Sentences without a parse are parsed. Cross-validation on the
    documents sets the decision threshold and estimates the accuracy of the model. With
    --learn-entities, the model finds entities by itself, so that extract needs only a text.
    """
    started = time.perf_counter()
    if options["kernel"] is not None:
        refuse(options, ("vectors",), "a saved kernel contains its vectors")
    sources = {f"CORPUS {name}": name for name in corpus}
    check_files(
        {**sources, **{f"--{name}": options[name] for name in ("config", "kernel", "vectors")}},
        {"--out": options["out"], "--save-config": options["save_config"]},
    )
    extractor = make_extractor(options)
    documents, counts = read_documents(corpus, options)
    check_types(options, documents)
    if not as_json:
        show_counts(counts)
    with running(options["n_jobs"]) as begin:
        begin("training")
        extractor.fit(documents)
        begin("saving")
        _write_outputs(extractor, options)
    result = _result(extractor, counts, options["out"], time.perf_counter() - started)
    write_json(result) if as_json else _show(result)


def _write_outputs(extractor: RelationExtractor, options: dict[str, Any]) -> None:
    from kernelwood import save

    save(extractor, options["out"])
    if options["save_config"] is not None:
        write_settings(options["save_config"], effective(click.get_current_context()))


def _result(
    extractor: RelationExtractor, counts: Counts, path: str, seconds: float
) -> dict[str, Any]:
    from kernelwood.relations import card_of

    return {
        "model": path,
        "recipe": extractor.recipe,
        "parser": extractor.parser_,
        "n_documents": extractor.n_documents_,
        "n_sentences": extractor.n_sentences_,
        "n_candidates": extractor.n_candidates_,
        "n_relations": extractor.n_relations_,
        "relations": list(extractor.relations_),
        "threshold": float(extractor.threshold_),
        "held_out": dict(extractor.held_out_),
        "type_f1": dict(extractor.type_f1_),
        "entities": card_of(extractor)["entities"],
        "warnings": extractor.warnings_,
        **counts.to_dict(),
        "seed": extractor.seed_,
        "size": Path(path).stat().st_size,
        "seconds": round(seconds, 3),
    }


def _show(result: dict[str, Any]) -> None:
    from kernelwood.compute import format_bytes

    sizes = ("documents", "sentences", "candidates", "relations")
    show_table(
        [*(f">{name}" for name in sizes), "types"],
        [[*(f"{result[f'n_{name}']:,}" for name in sizes), ", ".join(result["relations"])]],
    )
    held_out = result["held_out"]
    if held_out:
        say("\non held-out documents")
        cells = [_measure(held_out.get(name)) for name in _MEASURES]
        titles = [f">{title}" for title in _MEASURES.values()]
        show_table([*titles, ">threshold"], [[*cells, f"{result['threshold']:.3f}"]])
    if mentions := result["entities"].get("held_out"):
        rates = ", ".join(f"{_MEASURES[name]} {mentions[name]:.3f}" for name in mentions)
        say(f"\nentities on held-out documents: {rates}")
    size = format_bytes(result["size"])
    say(f"\n{one_name(result['model'])}: {size}, in {result['seconds']:.1f} seconds")


def _measure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
