"""Relations across corpora: recipes of `kernelwood.RelationExtractor`, and two yardsticks.

    python benchmarks/papers/relations.py [--data DIR] [--training AIMed ...] [--rows NAME ...]
                                          [--tried] [--json]

Every row learns on one corpus of protein interactions and judges the other. Threshold and all
choices come from held-out documents of the training corpus; ``--tried`` prints what was tried
there. Seconds are wall clock, from the XML files to the figures, with two threads. The row of the
transformer needs it to be installed; see docs/experiments/relations.md.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from embedding_models.transformer import HOW_TO_INSTALL, NAME, load_transformer
from relation_models.baselines import blinded, judge_baseline, vectors_of
from relation_models.facts import facts
from relation_models.figures import Figures, figures_of, read_pairs
from relation_models.recipes import RECIPES, Recipe
from relation_models.transductive import adapt, expected_f1_threshold
from relation_models.tried import RULES, TRIALS, Laboratory
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import kernelwood as kw
from kernelwood.datasets import require_data

FILES = {
    "AIMed": "ppi/AImed-learning-format.xml.gz",
    "BioInfer": "ppi/BioInfer-learning-format.xml.gz",
}
OTHER = {"AIMed": "BioInfer", "BioInfer": "AIMed"}
VECTORS = "word-vectors/glove.6B.100d.subset.txt.gz"
TFIDF = "TF-IDF, logistic regression"
TRANSFORMER = f"{NAME}, logistic regression"
COLUMNS = ("precision", "recall", "f1", "auc", "average_precision")


def run_recipe(recipe: Recipe, training: str, options: argparse.Namespace) -> Iterator[Any]:
    """Yield the row of a recipe; of the first one, also with transductive thresholds."""
    started = time.perf_counter()
    vectors = kw.Vectors.load(require_data(VECTORS, options.data)) if recipe.has_vectors else None
    extractor = recipe.extractor(vectors)
    extractor.fit(kw.read(require_data(FILES[training], options.data)))
    test = kw.read(require_data(FILES[OTHER[training]], options.data))
    predictions = extractor.predict(test, all=True)
    found = figures_from(extractor.evaluate(predictions, n_bootstrap=0))
    held_out = Figures(**{name: extractor.held_out_[name] for name in COLUMNS})
    yield row(recipe.name, training, held_out, found, time.perf_counter() - started)
    if recipe is RECIPES[0]:
        yield from transductive_rows(extractor, predictions, training)


def figures_from(scores: Any) -> Figures:
    return Figures(
        scores.precision, scores.recall, scores.f1, scores.auc or 0, scores.average_precision or 0
    )


def transductive_rows(extractor: Any, predictions: Any, training: str) -> Iterator[dict[str, Any]]:
    """Yield the rows whose thresholds follow from the scores of all test pairs."""
    shared = predictions.with_positive_rate(extractor.positive_rate_)
    same = figures_from(extractor.evaluate(shared, n_bootstrap=0))
    yield row(f"{RECIPES[0].name}, transductive: share", training, None, same, None)
    y = np.array([prediction.label != "none" for prediction in predictions])
    scores = np.array([prediction.probability for prediction in predictions])
    adapted, estimated = adapt(scores, extractor.positive_rate_)
    found = figures_of(y, adapted, expected_f1_threshold(adapted))
    made = row(f"{RECIPES[0].name}, transductive: EM", training, None, found, None)
    yield made | {"base_rate": estimated}


def run_baselines(options: argparse.Namespace, progress: Progress) -> Iterator[dict[str, Any]]:
    pairs = {name: read_pairs(name, require_data(FILES[name], options.data)) for name in FILES}
    inputs: list[tuple[str, dict[str, Any]]] = []
    if TFIDF in options.rows:
        inputs.append((TFIDF, {name: blinded(one, window=5) for name, one in pairs.items()}))
    transformer = load_transformer() if TRANSFORMER in options.rows else None
    if transformer is None and TRANSFORMER in options.rows:
        progress.console.print(f"{NAME} is left out; it needs: {HOW_TO_INSTALL}")
    elif transformer is not None:
        task = progress.add_task("sentence vectors", total=sum(len(p.y) for p in pairs.values()))
        vectors = {
            name: vectors_of(transformer, one, lambda: progress.advance(task))
            for name, one in pairs.items()
        }
        inputs.append((TRANSFORMER, vectors))
    for name, made in inputs:
        for training in options.training:
            started = time.perf_counter()
            both = pairs[training], pairs[OTHER[training]]
            held_out, found = judge_baseline(
                *both, made[training], made[OTHER[training]], is_text=name == TFIDF
            )
            yield row(name, training, held_out, found, time.perf_counter() - started)


def row(
    name: str, training: str, held_out: Figures | None, found: Figures, seconds: float | None
) -> dict[str, Any]:
    return {
        "name": name,
        "training": training,
        "held_out": held_out and held_out.to_dict(),
        "test": found.to_dict(),
        "seconds": seconds,
    }


def run(options: argparse.Namespace, progress: Progress) -> list[dict[str, Any]]:
    wanted = [recipe for recipe in RECIPES if recipe.name in options.rows]
    task = progress.add_task("recipes", total=len(wanted) * len(options.training))
    rows = []
    for recipe in wanted:
        for training in options.training:
            rows += run_recipe(recipe, training, options)
            progress.advance(task)
    return rows + list(run_baselines(options, progress))


def show(rows: list[dict[str, Any]]) -> None:
    for training, test in OTHER.items():
        mine = [one for one in rows if one["training"] == training]
        if not mine:
            continue
        table = Table(title=f"Learned on {training}, judged on {test}")
        for column in (
            "", "P", "R", "F1", "AUC", "AP", "held out: F1", "AUC", "AP", "seconds",
        ):  # fmt: skip
            table.add_column(column, justify="right" if column else "left", no_wrap=not column)
        for one in mine:
            inside = one["held_out"] or {}
            table.add_row(
                one["name"],
                *(f"{one['test'][name]:.3f}" for name in COLUMNS),
                *(f"{inside[name]:.3f}" if inside else "" for name in COLUMNS[2:]),
                "" if one["seconds"] is None else f"{one['seconds']:.0f}",
            )
        Console(width=120).print(table)


def run_tried(options: argparse.Namespace, progress: Progress) -> list[dict[str, Any]]:
    """Return what every trial reaches inside each training corpus, and every rule."""
    vectors = kw.Vectors.load(require_data(VECTORS, options.data))
    rows: list[dict[str, Any]] = []
    for training in options.training:
        pairs = read_pairs(training, require_data(FILES[training], options.data))
        rows += [{"training": training, "kind": "fact", **fact} for fact in facts(pairs)]
        laboratory = Laboratory(pairs, vectors)
        for trial in progress.track(TRIALS, description=f"trials in {training}"):
            found = laboratory.held_out(trial)
            rows.append({"training": training, "kind": "kernel", "name": trial.name, **found})
        [chosen] = [trial for trial in TRIALS if trial.name == "product"]
        for name, found in laboratory.rules(chosen):
            rows.append({"training": training, "kind": "rule", "name": name, **found})
    return rows


def show_tried(rows: list[dict[str, Any]]) -> None:
    kernels = ("auc", "average_precision", "f1", "few to many", "many to few")
    titles = {
        "fact": "Pairs, and which share of them interacts",
        "kernel": "Kernels: held-out documents",
        "rule": "F1 of rules for thresholds",
    }
    for training in OTHER:
        for kind, columns in (("fact", ("pairs", "share")), ("kernel", kernels), ("rule", RULES)):
            mine = [r for r in rows if r["training"] == training and r["kind"] == kind]
            if not mine:
                continue
            table = Table("", *columns, title=f"{training}. {titles[kind]}")
            for one in mine:
                values = (one[name] for name in columns)
                table.add_row(one["name"], *(f"{v:.3f}" if v < 1 else f"{v:,}" for v in values))
            if kind == "rule":
                means = (np.mean([one[name] for one in mine]) for name in columns)
                table.add_section()
                table.add_row("mean", *(f"{mean:.3f}" for mean in means))
            Console(width=120).print(table)


def main() -> None:
    names = [*(recipe.name for recipe in RECIPES), TFIDF, TRANSFORMER]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--training", nargs="+", choices=tuple(FILES), default=tuple(FILES))
    parser.add_argument("--rows", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--tried", action="store_true", help="trials inside each corpus")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with Progress(console=Console(stderr=True)) as progress:
        rows = run_tried(options, progress) if options.tried else run(options, progress)
    if options.json:
        print(json.dumps(rows))
    else:
        show_tried(rows) if options.tried else show(rows)


if __name__ == "__main__":
    main()
