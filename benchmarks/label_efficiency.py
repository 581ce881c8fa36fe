"""F1 by number of labeled candidates: recipes of the extractor, and logistic regressions.

    python benchmarks/label_efficiency.py [--data DIR] [--corpora aimed bioinfer semeval bionlp]
        [--methods svm ridge klsh-rf nystrom tf-idf glove minilm all]
        [--sizes 25 50 100 200 500 1000 2000 5000] [--seeds 3] [--quick] [--json] [--plot FILE]

A fixed 30 % of the documents of a corpus is held out for F1. The others are put in random order,
once for each seed, and the first n of their candidates are labeled: smaller samples are parts of
larger ones. Every method sees the sample only, and chooses threshold and regularization by
cross-validation in it. Corpora: pairs of proteins of AIMed and BioInfer (F1); SemEval-2010 task 8,
training part (its official macro F1, with directions); pairs of an event trigger and a protein of
BioNLP 2009 (F1), the triggers given. Intervals are of the mean over seeds (95 %, t distribution).
Vectors of MiniLM, the slowest part, are kept in build/label-efficiency. See
docs/experiments/label-efficiency.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from measure import show_table

sys.path.append(str(Path(__file__).parent / "papers"))

from embedding_models.figure import check_plot
from embedding_models.transformer import HOW_TO_INSTALL, load_transformer
from gate_models.summaries import interval
from label_models.corpora import FILES, Corpus, f1, held_out, ordered, read_corpus
from label_models.methods import (
    RECIPES,
    Method,
    most_frequent,
    recipe_method,
    text_method,
    vector_method,
)
from label_models.plot import save_plot
from label_models.vectors import glove_vectors, marked_vectors
from threadpoolctl import threadpool_limits

import kernelwood as kw
from kernelwood.datasets import find_data

METHODS = (*RECIPES, "tf-idf", "glove", "minilm", "all")
SIZES = (25, 50, 100, 200, 500, 1000, 2000, 5000)
QUICK = {"sizes": [25, 100], "seeds": 1}
GLOVE = "word-vectors/glove.6B.100d.subset.txt.gz"
CACHE = Path(__file__).parents[1] / "build" / "label-efficiency"


def make_method(name: str, data: str | None) -> Method | str:
    """Return a method, or what it lacks."""
    if name in RECIPES:
        return recipe_method(name)
    if name == "all":
        return most_frequent
    if name == "tf-idf":
        return text_method()
    vectors = vectors_of(name, data)
    return vectors if isinstance(vectors, str) else vector_method(vectors)


def vectors_of(name: str, data: str | None) -> Callable[[Corpus], Any] | str:
    """Return a function from a corpus to the vectors of its candidates, or what it lacks."""
    if name == "glove":
        path = find_data(GLOVE, data)
        if path is None:
            return f"the data lack {GLOVE}"
        vectors = kw.Vectors.load(path)
        return lambda corpus: glove_vectors(corpus, vectors)
    transformer = load_transformer()
    if transformer is None:
        return f"it needs: {HOW_TO_INSTALL}"
    return lambda corpus: marked_vectors(corpus, transformer, CACHE)


def rows(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a row for each corpus, method, size and seed."""
    methods = {}
    for name in options.methods:
        made = make_method(name, options.data)
        if isinstance(made, str):
            print(f"{name} is left out; {made}", file=sys.stderr)
        else:
            methods[name] = made
    for name in options.corpora:
        yield from corpus_rows(read_corpus(name, options.data), methods, options)


def corpus_rows(
    corpus: Corpus, methods: dict[str, Method], options: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a corpus."""
    mask = held_out(corpus)
    test = np.flatnonzero(mask)
    sizes = reachable(options.sizes, len(corpus) - len(test))
    for seed in range(options.seeds):
        order = ordered(corpus, mask, sizes[0], seed)
        for name, method in methods.items():
            for size in sizes:
                predicted = method(corpus, order[:size], test, seed)
                row = {
                    "corpus": corpus.name,
                    "measure": corpus.measure,
                    "method": name,
                    "labels": size,
                    "seed": seed,
                    "f1": f1(corpus, corpus.classes[test], predicted),
                    "n_test": len(test),
                }
                yield row
            shown = f"{corpus.name}, seed {seed}, {name}: {row['f1']:.3f} with {size:,} labels"
            print(shown, file=sys.stderr, flush=True)


def reachable(sizes: list[int], n: int) -> list[int]:
    """Return the sizes that there are candidates for, and all candidates instead of larger ones.

    Examples
    --------
    >>> reachable([25, 2000, 5000], 3744), reachable([25, 50], 3744)
    ([25, 2000, 3744], [25, 50])
    """
    return sorted({min(size, n) for size in sizes})


def summary(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the mean F1 of each corpus, method and size, with half the width of its interval."""
    found: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in made:
        found.setdefault((row["corpus"], row["method"], row["labels"]), []).append(row)
    result = []
    for (corpus, method, labels), some in found.items():
        mean, half = interval(row["f1"] for row in some)
        result.append(
            {
                "corpus": corpus,
                "measure": some[0]["measure"],
                "method": method,
                "labels": labels,
                "seeds": len(some),
                "f1": mean,
                "interval": half if len(some) > 1 else None,
                "n_test": some[0]["n_test"],
            }
        )
    return result


def show(found: list[dict[str, Any]]) -> None:
    """Print a table for each corpus: a row for each method, a column for each size."""
    for corpus in dict.fromkeys(row["corpus"] for row in found):
        mine = [row for row in found if row["corpus"] == corpus]
        table = []
        for method in dict.fromkeys(row["method"] for row in mine):
            cells: dict[str, object] = {"method": method}
            for row in (row for row in mine if row["method"] == method):
                spread = "" if row["interval"] is None else f" ± {row['interval']:.3f}"
                cells[f"{row['labels']:,}"] = f"{row['f1']:.3f}{spread}"
            table.append(cells)
        show_table(f"{corpus}: {mine[0]['measure']} by number of labels", table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--corpora", nargs="+", choices=tuple(FILES), default=list(FILES))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="two small sizes, one seed")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="figure, .png, .svg or .pdf")
    options = parser.parse_args()
    if options.quick:
        vars(options).update(QUICK)
    if min(options.sizes) < 2 or options.seeds < 1:
        parser.error("sizes must be at least 2, and seeds at least 1")
    if options.plot:
        check_plot(options.plot)
    with warnings.catch_warnings(), threadpool_limits(1), kw.config_context(n_jobs=1):
        warnings.simplefilter("ignore")
        found = summary(list(rows(options)))
    if options.plot:
        save_plot(found, options.plot)
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        show(found)


if __name__ == "__main__":
    main()
