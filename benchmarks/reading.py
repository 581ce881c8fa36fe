"""Speed of the readers on real corpora: CPU time to examples, to a copy, and to structures.

python benchmarks/reading.py [--data DIR] [--repeats 3] [--only TEXT] [--json]

The last column is the way from examples to what a kernel compares: a batch of trees, the shortest
paths of all pairs of entities, dependency trees of all sentences.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from measure import cpu_seconds, show_table

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.io import FORMATS, Examples, fit_to_format, write
from kernelwood.relations import event_candidates, pair_candidates

CONVERTED = ("jsonl", "pubtator", "bioc", "bioc-json")  # of a corpus in another format
BIONLP = "bionlp-st/bionlp-st-2009.tar.gz"
GENIA = "genia-treebank/genia_mclosky_split_ptb_ud1.tar.gz"
QUESTIONS = "question-classification/train_5500.coarse.klp.gz"


def batch_of(view: str) -> Callable[[Examples], object]:
    return lambda examples: kw.batch([example.view(view) for example in examples])


def paths(examples: Examples) -> object:
    return pair_candidates(examples).examples("path")


def dependency_trees(examples: Examples) -> object:
    return [kw.views.grct(example.view("sentence")) for example in examples]


def role_paths(examples: Examples) -> object:
    made = []
    for example in examples:
        sentence = example.view("sentence")
        for predicate in sentence.predicates:
            for _, start, end in predicate.arguments:
                try:
                    made.append(kw.views.argument_path(sentence.tree, predicate.token, start, end))
                except kw.errors.StructureError:
                    continue  # no constituent, or one that holds the predicate
    return made


def interactions(examples: Examples) -> object:
    return event_candidates(examples, types=["Protein"])


def meanings(examples: Examples) -> object:
    return event_candidates(examples, source="amr").examples("amr-path")


@dataclass(frozen=True)
class Corpus:
    """What to read, and what to make of it."""

    name: str
    file: str
    format: str
    views: tuple[str, ...] | None = None
    only: str | None = None
    make: Callable[[Examples], object] | None = None


CORPORA = (
    Corpus("questions, one view", QUESTIONS, "kelp", ("grct",), make=batch_of("grct")),
    Corpus("questions, all views", QUESTIONS, "kelp", make=batch_of("grct")),
    Corpus("questions, JSON lines", QUESTIONS, "jsonl", make=batch_of("grct")),
    Corpus("Penn Treebank sample", "ptb-sample/treebank.zip", "penn", make=batch_of("tree")),
    Corpus("GENIA, dependencies", GENIA, "conllu", only="dev.conllu", make=dependency_trees),
    Corpus("PropBank-EWT, dev", "srl-propbank/ewt-dev.srl.conll.gz", "srl", make=role_paths),
    Corpus("Bio-AMR, dev", "bio-amr/amr-release-dev-bio.txt.gz", "penman", make=meanings),
    Corpus("AIMed", "ppi/AImed-learning-format.xml.gz", "ppi", ("sentence",), make=paths),
    Corpus("BioInfer", "ppi/BioInfer-learning-format.xml.gz", "ppi", ("sentence",), make=paths),
    Corpus("SemEval-2010 task 8", "semeval2010-task8/TRAIN_FILE.TXT.gz", "semeval"),
    Corpus("BioNLP 2009, train", BIONLP, "standoff", only="*/train/*", make=interactions),
    Corpus("BioNLP 2009, train", BIONLP, "pubtator", only="*/train/*"),
    Corpus("BioNLP 2009, train", BIONLP, "bioc", only="*/train/*", make=interactions),
    Corpus("BioNLP 2009, train", BIONLP, "bioc-json", only="*/train/*", make=interactions),
)  # fmt: skip


def measure(corpus: Corpus, folder: Path, data: str | None, repeats: int) -> dict[str, object]:
    path, only = require_data(corpus.file, data=data), corpus.only
    if corpus.format in CONVERTED:
        converted = folder / f"converted.{corpus.format}"
        examples = (fit_to_format(one, corpus.format) for one in kw.read(path, only=only))
        write(examples, converted, corpus.format)
        path, only = converted, None

    def read() -> Examples:
        return kw.read(path, format=corpus.format, views=corpus.views, only=only)

    examples = read()
    row: dict[str, object] = {"corpus": corpus.name, "format": corpus.format}
    row["examples"] = len(examples)
    row["read"] = cpu_seconds(read, repeats)
    form = next(form for form in FORMATS if form.name == corpus.format)
    row["write"] = (
        cpu_seconds(lambda: write(examples, folder / "copy", format=corpus.format), repeats)
        if form.write
        else None
    )
    row["structures"] = cpu_seconds(lambda: corpus.make(examples), repeats) if corpus.make else None
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="corpora whose name or format contains this")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    chosen = [c for c in CORPORA if options.only.lower() in f"{c.name} {c.format}".lower()]
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(corpus, Path(folder), options.data, options.repeats) for corpus in chosen]
    if options.json:
        print(json.dumps(rows))
    else:
        show_table("CPU seconds", rows)


if __name__ == "__main__":
    main()
