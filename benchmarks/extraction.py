"""Recipes: speed of extraction on one core, and scores on large corpora.

    python benchmarks/extraction.py [--data DIR] [--sentences 10000] [--repeats 3]
                                    [--recipes svm klsh-rf klsh-knn nystrom] [--json]
    python benchmarks/extraction.py --crossval FILE [--folds 3] [--memory 4GB] [--recipes ...]

Every recipe learns from the bundled corpus of interactions, whose sentences are then repeated under
new names until there are enough of them; and, if it is there, from AIMed, the same way. Times are
CPU seconds of one thread, the minimum of several repeats, from sentences in memory to predictions;
with evidence, the training cases for and against each relation found.

With --crossval, recipes are compared by cross-validation on a corpus, over whole documents: scores
of relations with their types, CPU time for all folds, and peak memory of a process of its own,
which for files beyond the memory budget includes pages that the system can drop. Sentences without
parses are parsed by the bundled grammar.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from measure import cpu_seconds, own_peak_memory, show_table

import kernelwood as kw
from kernelwood.datasets import find_data, load_interactions
from kernelwood.relations import RECIPES

AIMED = "ppi/AImed-learning-format.xml.gz"
LIMIT = 1000.0  # sentences a second


def corpora(data: str | None) -> dict[str, Sequence[kw.Example]]:
    """Return the sentences with two entities at least, by the name of the corpus."""
    found = {"bundled": load_interactions("train")}
    aimed = find_data(AIMED, data)
    if aimed is not None:
        found["AIMed"] = kw.read(aimed)
    return {
        name: [one for one in examples if len(one.view("sentence").entities) > 1]
        for name, examples in found.items()
    }


def repeated(examples: Sequence[kw.Example], n: int) -> list[kw.Example]:
    """Return ``n`` examples under new names, with sentences of their own."""
    return [
        kw.Example(f"r{i}.s0", views={"sentence": example.view("sentence").with_parts()})
        for i, example in enumerate(itertools.islice(itertools.cycle(examples), n))
    ]


def measure(
    name: str, examples: Sequence[kw.Example], recipe: str, n: int, repeats: int
) -> dict[str, Any]:
    """Return what a recipe takes on one corpus."""
    extractor = kw.RelationExtractor(recipe, random_state=0, n_jobs=1)
    training = cpu_seconds(lambda: extractor.fit(examples), 1)
    asked = repeated(examples, n)
    found = extractor.predict(asked)
    seconds = cpu_seconds(lambda: extractor.predict(asked), repeats)
    some = found[: min(200, len(found))]
    evidence = cpu_seconds(lambda: extractor.explain(some), 1) / max(1, len(some))
    judged = len(kw.relations.pair_candidates(asked))
    return {
        "corpus": name,
        "recipe": recipe,
        "training candidates": extractor.n_candidates_,
        "training s": training,
        "candidates a sentence": judged / n,
        "relations found": len(found),
        "sentences a second": n / seconds,
        "candidates a second": judged / seconds,
        "evidence, ms a relation": 1000 * evidence,
    }


def validate(corpus: str, recipe: str, folds: int, memory: str | None) -> dict[str, Any]:
    """Return the scores of a recipe in cross-validation, with time and memory."""
    warnings.simplefilter("ignore")  # small types, parsers: the same for every recipe
    examples = kw.read(corpus)
    started = time.process_time()
    with kw.config_context(memory=memory):
        extractor = kw.RelationExtractor(recipe, random_state=0, n_jobs=1)
        found = extractor.cross_validate(examples, n_splits=folds, n_bootstrap=0).pooled
    return {
        "recipe": recipe,
        "candidates": found.n_candidates,
        "precision": found.precision,
        "recall": found.recall,
        "F1": found.f1,
        "AUC": found.auc,
        "calibration error": None if found.reliability is None else found.reliability.error,
        "CPU s": round(time.process_time() - started),
        "peak MB": round(own_peak_memory()),
    }


def compare_recipes(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return a row for each recipe, measured in a new process."""
    rows = []
    for recipe in options.recipes:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            task = (options.crossval, recipe, options.folds, options.memory)
            rows.append(process.submit(validate, *task).result())
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of the corpora")
    parser.add_argument("--sentences", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--recipes", nargs="+", choices=list(RECIPES), default=list(RECIPES))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--crossval", metavar="FILE", help="compare recipes on this corpus")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--memory", help="memory budget of --crossval")
    options = parser.parse_args()
    if options.crossval:
        compared = compare_recipes(options)
        if options.json:
            print(json.dumps(compared, indent=2))
        else:
            show_table(f"{options.crossval}, {options.folds} folds", compared, digits=3)
        return
    rows = [
        measure(name, examples, recipe, options.sentences, options.repeats)
        for name, examples in corpora(options.data).items()
        for recipe in options.recipes
    ]
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    title = f"{options.sentences:,} sentences, one thread; wanted: {LIMIT:,.0f} a second"
    show_table(title, rows, digits=1)


if __name__ == "__main__":
    main()
