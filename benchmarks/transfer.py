"""Decision thresholds on other corpora: default, adapted, cautious and best.

    python benchmarks/transfer.py [--data DIR] [--size 0 100] [--labels 30] [--seeds 10] [--json]

An extractor is trained on one corpus and applied to another: AIMed and BioInfer, and the two parts
of DDIExtraction 2013, DrugBank and MedLine, without types and with them. F1 of the predicted
relations with the threshold as trained; the same number of positives as in training; threshold
"cautious"; adapted without labels; adapted with labels, mean over samples; and the best threshold
in hindsight. ``--size`` draws documents of the target up to a number of candidates, once for each
seed; 0 stands for all. ``--prepared DIR`` reads parsed copies (aimed.jsonl, bioinfer.jsonl,
drugbank.jsonl, medline.jsonl) instead of the original corpora. DrugBank has 4,000 sentences, as
many as a machine learns from in a few minutes.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
from measure import show_table

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.relations import Predictions, RelationExtractor

PAIRS = {"binary": [("aimed", "bioinfer"), ("drugbank", "medline")]}
PAIRS["auto"] = PAIRS["binary"][1:]
FILES = {
    "aimed": "ppi/AImed-learning-format.xml.gz",
    "bioinfer": "ppi/BioInfer-learning-format.xml.gz",
    "drugbank": "ddi-2013/ddi-2013-train.tar.gz",
    "medline": "ddi-2013/ddi-2013-train.tar.gz",
}
PARTS = {"drugbank": "*DrugBank*", "medline": "*MedLine*"}
MOST_SENTENCES = 4000


def read_corpus(name: str, data: str | None, prepared: str | None) -> list[kw.Example]:
    """Return the sentences of a corpus, at most 4,000 drawn at random."""
    if prepared is not None:
        found = list(kw.read(Path(prepared, f"{name}.jsonl")))
    else:
        only = {"only": PARTS[name]} if name in PARTS else {}
        found = list(kw.read(require_data(FILES[name], data), **only))
    if len(found) > MOST_SENTENCES:
        chosen = np.random.default_rng(0).choice(len(found), MOST_SENTENCES, replace=False)
        found = [found[row] for row in sorted(chosen.tolist())]
    return found


def f1_of(predictions: Predictions) -> float:
    """Return the F1 of predicted relations."""
    labels = np.array([str(label) for label in predictions.candidates.labels])
    right = predictions.positive & (labels == np.array(predictions.classes))
    total = predictions.positive.sum() + (labels != "none").sum()
    return 2 * float(right.sum()) / float(total) if total else 0.0


def best_threshold(predictions: Predictions) -> float:
    """Return the threshold with the highest F1 on the labels themselves."""
    labels = np.array([str(label) for label in predictions.candidates.labels])
    order = np.argsort(-predictions.probability, kind="stable")
    right = np.cumsum((labels == np.array(predictions.classes))[order])
    f1 = 2 * right / (np.arange(1, len(order) + 1) + (labels != "none").sum())
    return float(predictions.probability[order[int(f1.argmax())]])


def drawn(predictions: Predictions, size: int, seed: int) -> Predictions:
    """Return the candidates of random documents, at least ``size`` of them; all if it is 0."""
    if not size:
        return predictions
    groups = np.array(predictions.candidates.groups())
    names = np.random.default_rng(seed).permutation(np.unique(groups))
    counts = np.cumsum([(groups == name).sum() for name in names])
    chosen = names[: int(np.searchsorted(counts, size)) + 1]
    return predictions.take(np.flatnonzero(np.isin(groups, chosen)).tolist())


def adapted(
    extractor: RelationExtractor, predictions: Predictions, labels: dict[str, str]
) -> tuple[float, float]:
    """Return the F1 of the adapted model, and the F1 that it expects."""
    _, summary = extractor.adapt(predictions, labels)
    # The order of candidates stays the same: the highest scores are positive.
    cut = np.sort(predictions.probability)[-summary.positives]
    return f1_of(predictions.with_threshold(float(cut))), summary.expected.f1.value


def rows(options: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Yield the F1 of all thresholds for each transfer."""
    corpora: dict[str, list[kw.Example]] = {}
    for labels, pairs in PAIRS.items():
        for source, target in (one for pair in pairs for one in permutations(pair)):
            for name in (source, target):
                if name not in corpora:
                    corpora[name] = read_corpus(name, options.data, options.prepared)
            settings = {"labels": labels, "random_state": 0}
            extractor = RelationExtractor(**settings).fit(corpora[source])
            cautious = RelationExtractor(**settings, threshold="cautious").fit(corpora[source])
            everything = extractor.predict(corpora[target], all=True)
            kind = "" if labels == "binary" else ", types"
            for size in options.size:
                yield {
                    "transfer": f"{source} > {target}{kind}",
                    "size": size,
                    **f1_by_threshold(extractor, everything, cautious.threshold_, size, options),
                }


def f1_by_threshold(
    extractor: RelationExtractor,
    everything: Predictions,
    cautious: float,
    size: int,
    options: argparse.Namespace,
) -> dict[str, float]:
    """Return the F1 of each threshold, mean over seeds."""
    best, found = best_threshold(everything), []
    for seed in range(options.seeds):
        part = drawn(everything, size, seed)
        chosen = extractor.suggest_labels(part, options.labels, random_state=seed)
        labels = {one.id: str(one.label) for one in chosen}
        without, with_labels = adapted(extractor, part, {}), adapted(extractor, part, labels)
        found.append(
            {
                "default": f1_of(part),
                "rate": f1_of(part.with_positive_rate(extractor.positive_rate_)),
                "cautious": f1_of(part.with_threshold(cautious)),
                "adapt": without[0],
                "labels": with_labels[0],
                "best": f1_of(part.with_threshold(best)),
                "expected": with_labels[1],
            }
        )
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of the corpora")
    parser.add_argument("--prepared", help="folder of parsed copies")
    parser.add_argument(
        "--size", type=int, nargs="+", default=[0, 100], help="candidates of the target; 0 for all"
    )
    parser.add_argument("--labels", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = list(rows(options))
    recovered: dict[int, dict[str, float]] = {}
    for size in options.size:
        some = [row for row in made if row["size"] == size]
        names = [name for name in some[0] if name not in ("transfer", "size")]
        mean = {name: float(np.mean([row[name] for row in some])) for name in names}
        made.append({"transfer": "mean", "size": size, **mean})
        distance = mean["best"] - mean["default"]
        recovered[size] = {
            name: (mean[name] - mean["default"]) / distance for name in ("adapt", "labels")
        }
    if options.json:
        print(json.dumps({"rows": made, "recovered": recovered}, indent=2))
        return
    show_table("F1 on another corpus, by decision threshold", made, digits=3)
    for size, parts in recovered.items():
        shown = ", ".join(f"{name} {value:.0%}" for name, value in parts.items())
        print(f"size {size}: of the distance from default to best: {shown}")


if __name__ == "__main__":
    main()
