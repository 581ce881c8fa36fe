"""Decision thresholds on other corpora: default, adapted, cautious and best.

    python benchmarks/transfer.py [--data DIR] [--size 0 100] [--labels 30] [--seeds 10] [--json]

An extractor is trained on one corpus and applied to another: AIMed and BioInfer; the two parts
of DDIExtraction 2013, DrugBank and MedLine, without types and with them; and events of BioNLP 2009
and 2013, whose triggers are given. F1 of the predicted
relations with the threshold as trained; the same number of positives as in training; threshold
"cautious"; adapted without labels; adapted with labels, mean over samples; and the best threshold
in hindsight. ``--size`` draws documents of the target up to a number of candidates, once for each
seed; 0 stands for all. ``--prepared DIR`` reads parsed copies (aimed.jsonl, bioinfer.jsonl,
drugbank.jsonl, medline.jsonl, bionlp-2009.jsonl, bionlp-2013.jsonl) instead of the original
corpora. At most 4,000 sentences of a corpus are used, or 300 documents of BioNLP: as many as a
machine learns from in a few minutes.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from measure import show_table
from sklearn.base import clone

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.relations import Predictions, RelationExtractor

# Parameters of the extractor, source and target, and what the table says of them.
TRANSFERS = [
    ({"labels": "binary"}, "aimed", "bioinfer", ""),
    ({"labels": "binary"}, "bioinfer", "aimed", ""),
    ({"labels": "binary"}, "drugbank", "medline", ""),
    ({"labels": "binary"}, "medline", "drugbank", ""),
    ({}, "drugbank", "medline", ", types"),
    ({}, "medline", "drugbank", ", types"),
    ({"candidates": "events"}, "bionlp-2009", "bionlp-2013", ", events"),
]
FILES = {
    "aimed": "ppi/AImed-learning-format.xml.gz",
    "bioinfer": "ppi/BioInfer-learning-format.xml.gz",
    "drugbank": "ddi-2013/ddi-2013-train.tar.gz",
    "medline": "ddi-2013/ddi-2013-train.tar.gz",
    "bionlp-2009": "bionlp-st/bionlp-st-2009.tar.gz",
    "bionlp-2013": "bionlp-st/bionlp-st-2013-ge.tar.gz",
}
PARTS = {"drugbank": "*DrugBank*", "medline": "*MedLine*"}
PARTS |= dict.fromkeys(("bionlp-2009", "bionlp-2013"), "*/train/*")
MOST = {"bionlp-2009": 300, "bionlp-2013": 300}  # documents
MOST_SENTENCES = 4000


def read_corpus(name: str, data: str | None, prepared: str | None) -> list[kw.Example]:
    """Return the sentences or documents of a corpus, some of them drawn at random."""
    if prepared is not None:
        found = list(kw.read(Path(prepared, f"{name}.jsonl")))
    else:
        only = {"only": PARTS[name]} if name in PARTS else {}
        found = list(kw.read(require_data(FILES[name], data), **only))
    most = MOST_SENTENCES if prepared else MOST.get(name, MOST_SENTENCES)
    if len(found) > most:
        chosen = np.random.default_rng(0).choice(len(found), most, replace=False)
        found = [found[row] for row in sorted(chosen.tolist())]
    return found


def f1_of(predictions: Predictions) -> float:
    """Return the F1 of predicted relations."""
    right = predictions.positive & is_right(predictions)
    total = predictions.positive.sum() + n_relations(predictions)
    return 2 * float(right.sum()) / float(total) if total else 0.0


def is_right(predictions: Predictions) -> np.ndarray:
    """Return whether the most probable relation of each candidate is the annotated one."""
    labels = [str(label) for label in predictions.candidates.labels]
    return np.array(labels) == np.array(predictions.classes)


def n_relations(predictions: Predictions) -> int:
    """Return the number of annotated relations, those without a candidate among them."""
    candidates = predictions.candidates.with_missed()
    # Of a part of the documents, those without a candidate are of this part.
    documents = set(predictions.candidates.groups())
    rows = zip(candidates.labels, candidates.groups(), strict=True)
    return sum(str(label) != "none" and group in documents for label, group in rows)


def best_threshold(predictions: Predictions) -> float:
    """Return the threshold with the highest F1 on the labels themselves."""
    order = np.argsort(-predictions.probability, kind="stable")
    right = np.cumsum(is_right(predictions)[order])
    f1 = 2 * right / (np.arange(1, len(order) + 1) + n_relations(predictions))
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
    for settings, source, target, kind in TRANSFERS:
        for name in (source, target):
            if name not in corpora:
                corpora[name] = read_corpus(name, options.data, options.prepared)
        extractor = RelationExtractor(**settings, random_state=0).fit(corpora[source])
        cautious = clone(extractor).set_params(threshold="cautious").fit(corpora[source])
        everything = extractor.predict(corpora[target], all=True)
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
