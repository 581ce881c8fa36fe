"""Interactions of proteins across corpora: train on one corpus, test on another.

    python benchmarks/papers/ppi.py [--data DIR] [--corpora NAME=FILE ...] [--groups NAME ...]
                                    [--references N] [--json]

Garg et al., "Kernelized Hashcode Representations for Relation Extraction" (AAAI 2019), table 1.
Every ordered pair of corpora is run; the default is AIMed and BioInfer of the data folder. Each row
has the share of pairs that are predicted positive, precision, recall and F1 at several decision
thresholds, area under the ROC curve and average precision. Thresholds marked with * are chosen with
labels of the test corpus.

Settings are chosen on held-out documents of the training corpus, by the trials that ``--json``
lists. The lists of settings were put together with a look at held-out figures of both corpora; see
docs/experiments/ppi.md. Everything is seeded.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from itertools import permutations
from typing import Any

from interactions.corpora import Corpus, read_corpus, shared
from interactions.experiment import Laboratory
from interactions.filters import counts
from interactions.plan import GROUPS, Choices, choose, rows
from interactions.recipes import RECIPES, recipe_row
from interactions.report import show
from rich.console import Console
from rich.progress import Progress

import kernelwood as kw
from kernelwood.datasets import require_data

FILES = (
    "AIMed=ppi/AImed-learning-format.xml.gz",
    "BioInfer=ppi/BioInfer-learning-format.xml.gz",
)
VECTORS = "word-vectors/glove.6B.100d.subset.txt.gz"


def read_all(options: argparse.Namespace) -> list[Corpus]:
    """Return the corpora; files are paths, or names in the data folder."""
    found = []
    for one in options.corpora:
        name, _, file = one.partition("=")
        found.append(read_corpus(name, require_data(file, data=options.data)))
    return found


def run(options: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    """Return the rows, the trials within training corpora, and facts on the corpora."""
    corpora = read_all(options)
    vectors = kw.Vectors.load(require_data(VECTORS, data=options.data))
    found: dict[str, Any] = {
        "corpora": [{"name": one.name, "pairs": len(one), "rate": one.rate} for one in corpora],
        "directions": [],
        "filters": {},
        "trials": [],
        "rows": [],
    }
    choices: dict[str, Choices] = {}
    for training, test in permutations(corpora, 2):
        names = {"training": training.name, "test": test.name}
        found["directions"].append(names | shared(training, test))
        laboratory = Laboratory(training, test, vectors)
        found["filters"][training.name] = counts(laboratory.removed, training.y)
        if options.groups != ["recipes"] and training.name not in choices:
            task = progress.add_task(f"{training.name}: trials", total=None)
            chosen, trials = choose(laboratory, partial(progress.advance, task))
            choices[training.name] = chosen
            found["trials"] += trials
        chosen = choices.get(training.name, {})
        found["rows"] += run_direction(laboratory, chosen, options, progress)
    return found


def run_direction(
    laboratory: Laboratory, choices: Choices, options: argparse.Namespace, progress: Progress
) -> list[dict[str, Any]]:
    """Return the rows of one direction."""
    training, test = laboratory.training, laboratory.test
    recipes = RECIPES if "recipes" in options.groups else ()
    wanted = [row for row in rows(choices) if row[0] in options.groups] if choices else []
    total = len(recipes) + len(wanted)
    task = progress.add_task(f"{training.name} to {test.name}: rows", total=total)
    made = []
    for recipe in recipes:
        made.append(recipe_row(recipe, training, test, options.seed))
        progress.advance(task)
    for group, name, model in wanted:
        seeds = range(options.seed, options.seed + options.references)
        made.append(laboratory.row(group, name, model, seeds))
        progress.advance(task)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument(
        "--corpora", nargs="+", default=list(FILES), metavar="NAME=FILE", help="unified XML files"
    )
    parser.add_argument(
        "--groups", nargs="+", choices=GROUPS, default=list(GROUPS), metavar="NAME",
        help=f"groups of rows: {'; '.join(GROUPS)}",
    )  # fmt: skip
    parser.add_argument("--references", type=int, default=5, help="reference sets to be drawn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if any("=" not in one for one in options.corpora) or len(options.corpora) < 2:
        parser.error("--corpora needs two corpora or more, each as NAME=FILE")
    with Progress(console=Console(stderr=True)) as progress:
        found = run(options, progress)
    if options.json:
        print(json.dumps(found))
    else:
        show(found)


if __name__ == "__main__":
    main()
