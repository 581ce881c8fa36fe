"""Decision thresholds on other corpora: default, adapted, cautious and best.

    python benchmarks/transfer.py [--data DIR] [--size 0] [--labels 30] [--seeds 10] [--json]

An extractor is trained on one corpus and applied to another: AIMed and BioInfer, and the two parts
of DDIExtraction 2013, DrugBank and MedLine, without types and with them. F1 of the predicted
relations with the threshold as trained; the same number of positives as in training; threshold
"cautious"; adapted without labels; adapted with labels, mean over samples; and the best threshold
in hindsight. ``--size`` draws documents of the target up to a number of candidates, once for each
seed. ``--prepared DIR`` reads parsed copies (aimed.jsonl, bioinfer.jsonl, drugbank.jsonl,
medline.jsonl) instead of the original corpora. DrugBank has 4,000 sentences, as many as a machine
learns from in a few minutes.
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
    order = np.argsort(-predictions.scores, kind="stable")
    right = np.cumsum((labels == np.array(predictions.classes))[order])
    f1 = 2 * right / (np.arange(1, len(order) + 1) + (labels != "none").sum())
    return float(predictions.scores[order[int(f1.argmax())]])


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
    cut = np.sort(predictions.scores)[-summary.positives]
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
            best, found = best_threshold(everything), []
            for seed in range(options.seeds):
                part = drawn(everything, options.size, seed)
                chosen = extractor.suggest_labels(part, options.labels, random_state=seed)
                without, with_labels = (
                    adapted(extractor, part, given)
                    for given in ({}, {one.id: str(one.label) for one in chosen})
                )
                rate = part.with_positive_rate(extractor.positive_rate_)
                figures = [part, rate, part.with_threshold(cautious.threshold_)]
                found.append(
                    [
                        *map(f1_of, figures),
                        without[0],
                        with_labels[0],
                        f1_of(part.with_threshold(best)),
                        with_labels[1],
                    ]
                )
            names = ["default", "rate", "cautious", "adapt", "labels", "best", "expected"]
            kind = "" if labels == "binary" else ", types"
            means = np.mean(found, axis=0).tolist()
            yield {"transfer": f"{source} > {target}{kind}", **dict(zip(names, means, strict=True))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of the corpora")
    parser.add_argument("--prepared", help="folder of parsed copies")
    parser.add_argument("--size", type=int, default=0, help="candidates of the target; 0 for all")
    parser.add_argument("--labels", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = list(rows(options))
    columns = [name for name in made[0] if name != "transfer"]
    mean = {name: float(np.mean([row[name] for row in made])) for name in columns}
    made.append({"transfer": "mean", **mean})
    distance = mean["best"] - mean["default"]
    recovered = {name: (mean[name] - mean["default"]) / distance for name in ("adapt", "labels")}
    if options.json:
        print(json.dumps({"rows": made, "recovered": recovered}, indent=2))
        return
    show_table(made)
    print(", ".join(f"{name}: {value:.0%} of the distance" for name, value in recovered.items()))


if __name__ == "__main__":
    main()
