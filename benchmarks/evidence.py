"""Evidence: milliseconds a relation, one sentence with a loaded model, sentences a second.

    python benchmarks/evidence.py [--data DIR] [--relations 500] [--repeats 3]
                                  [--recipes svm ridge klsh-rf nystrom] [--json]

Every recipe learns from the bundled corpus of interactions and, if it is there, from three quarters
of AIMed; relations are predicted in the rest. Times are CPU time of one thread, the minimum of
several repeats.

``cases`` are the training cases for and against each relation, found together for all relations;
``fragments`` what each case shares with the relation, as they are written to JSON lines
(``--evidence 3`` of the command line); ``alone`` is all of it for a single relation. ``sentence``
is the extraction from one sentence whose parse is given, with a model from a file, and sentences a
second are those of many such sentences, with and without evidence.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from extraction import AIMED, repeated
from measure import cpu_seconds, show_table

import kernelwood as kw
from kernelwood.datasets import find_data, load_interactions
from kernelwood.relations import RECIPES, Prediction

N_CASES = 3
WANTED = 3.0  # ms a relation
Split = tuple[Sequence[kw.Example], Sequence[kw.Example]]


def corpora(data: str | None) -> dict[str, Split]:
    """Return training and other sentences with two entities at least, by name of the corpus."""
    found: dict[str, Split] = {"bundled": (load_interactions("train"), load_interactions("test"))}
    aimed = find_data(AIMED, data)
    if aimed is not None:
        examples = list(kw.read(aimed))
        cut = len(examples) * 3 // 4
        found["AIMed"] = examples[:cut], examples[cut:]
    return {name: (with_pairs(train), with_pairs(test)) for name, (train, test) in found.items()}


def with_pairs(examples: Sequence[kw.Example]) -> list[kw.Example]:
    """Return the sentences that have candidates."""
    return [one for one in examples if len(one.view("sentence").entities) > 1]


def loaded(recipe: str, training: Sequence[kw.Example]) -> kw.RelationExtractor:
    """Return a trained model as it is read from a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.kw")
        kw.save(kw.RelationExtractor(recipe, random_state=0, n_jobs=1).fit(training), path)
        return kw.load(path)


def written(extractor: kw.RelationExtractor, found: Sequence[Prediction]) -> list[str]:
    """Return relations with evidence and fragments as JSON lines."""
    cases = extractor.explain(found, N_CASES)
    return [
        json.dumps({**one.to_dict(), "evidence": evidence.to_dict()})
        for one, evidence in zip(found, cases, strict=True)
    ]


def measure(name: str, recipe: str, split: Split, n_relations: int, repeats: int) -> dict[str, Any]:
    """Return the times of a recipe on one corpus."""
    training, others = split
    extractor = loaded(recipe, training)
    found = list(islice(extractor.predict(others), n_relations))
    cases = cpu_seconds(lambda: extractor.explain(found, N_CASES), repeats)
    everything = cpu_seconds(lambda: written(extractor, found), repeats)
    alone = cpu_seconds(lambda: written(extractor, found[:1]), repeats)
    several = [one for one in others if len(one.view("sentence").entities) > 2]
    one = list(islice(cycle(several), 1))
    sentence = cpu_seconds(lambda: extractor.extract(one), max(5, repeats))
    many = repeated(others, 500)
    plain = cpu_seconds(lambda: list(extractor.extract(many)), repeats)
    explained = cpu_seconds(lambda: written(extractor, list(extractor.extract(many))), repeats)
    return {
        "corpus": name,
        "recipe": recipe,
        "training cases": extractor.n_candidates_,
        "relations": len(found),
        "cases, ms a relation": 1e3 * cases / len(found),
        "fragments": 1e3 * (everything - cases) / len(found),
        "both": 1e3 * everything / len(found),
        "alone": 1e3 * alone,
        "sentence, ms": 1e3 * sentence,
        "sentences/s": len(many) / plain,
        "with evidence": len(many) / explained,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of the corpora")
    parser.add_argument("--relations", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--recipes",
        nargs="+",
        choices=list(RECIPES),
        default=["svm", "ridge", "klsh-rf", "nystrom"],
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = [
        measure(name, recipe, split, options.relations, options.repeats)
        for name, split in corpora(options.data).items()
        for recipe in options.recipes
    ]
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    title = f"{N_CASES} cases for and against; wanted: {WANTED:g} ms a relation"
    show_table(title, rows, digits=2)


if __name__ == "__main__":
    main()
