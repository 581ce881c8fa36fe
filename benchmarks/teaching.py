"""Simulated teaching: F1 by number of decisions, for each order of the queue.

    python benchmarks/teaching.py [--data DIR] [--corpora aimed bioinfer semeval]
        [--orders informative random probable tf-idf] [--decisions 25 50 100 200 400 800]
        [--seeds 5] [--retrain 10] [--json]

An oracle answers from the annotation of AIMed, BioInfer and SemEval-2010 task 8 (training part,
classes with directions; its sentences are parsed, which takes a minute). For each seed a third of
the documents, or of the sentences of SemEval, is held out for F1 and never in the queue. The live
model starts without labels and learns after every ``--retrain`` decisions. ``tf-idf`` is the
yardstick: logistic regression on weighted words of the sentence, between the entities (and pairs of
them), before and after them, entities blinded (with their words for SemEval), uncertainty
sampling, and the threshold that is best in hindsight. The last columns: the estimated F1 minus the
true one after the last decision, and how often the 95 % interval holds the true one; CPU seconds of
a run. ``--prior N`` starts from a model of N labels of other documents. ``conll04``, ``medline``
and ``drugbank`` are further corpora.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from measure import show_table

import kernelwood as kw
from kernelwood.arrays import ExampleBatch
from kernelwood.datasets import require_data
from kernelwood.relations import (
    NONE,
    Candidates,
    example_entries,
    pairs_in,
    read_sentences,
    type_of,
)
from kernelwood.web import Prior, Teacher, TeachingModel, make_queue
from kernelwood.web.quality import estimate

VIEWS = (
    "stem-context", "stem-steps", "names", "negation", "types", "sentence-words",
    "stem-entity-words",
)  # fmt: skip
FILES = {
    "aimed": "ppi/AImed-learning-format.xml.gz",
    "bioinfer": "ppi/BioInfer-learning-format.xml.gz",
    "semeval": "semeval2010-task8/TRAIN_FILE.TXT.gz",
    "conll04": "conll04/conll04-train-brat.tar.gz",
    "medline": "ddi-2013/ddi-2013-train.tar.gz",
    "drugbank": "ddi-2013/ddi-2013-train.tar.gz",
}
PARTS = {"medline": "*MedLine*", "drugbank": "*DrugBank*"}
SYMMETRIC = ("aimed", "bioinfer", "medline", "drugbank")  # annotated without direction
WITH_WORDS = ("semeval", "conll04")  # the yardstick reads the words of entities
MOST = 2000  # sentences or documents of other corpora
TF_IDF = "tf-idf"
_WORDS = 12  # before the first and after the second entity


@dataclass(frozen=True)
class Corpus:
    """Candidates with views, documents, true classes and texts for the yardstick."""

    name: str
    table: ExampleBatch
    documents: np.ndarray
    classes: np.ndarray
    texts: list[dict[str, str]]

    def held_out(self, seed: int) -> np.ndarray:
        """Return the candidates of a third of the documents."""
        names = np.random.default_rng(seed).permutation(int(self.documents.max()) + 1)
        return np.isin(self.documents, names[: len(names) // 3])


class Check(NamedTuple):
    """A decision, as estimates read it."""

    candidate: int
    label: str
    predicted: str | None
    weight: float | None


def read_corpus(name: str, data: str | None) -> Corpus:
    """Return the candidates of a corpus."""
    only = {"only": PARTS[name]} if name in PARTS else {}
    examples = list(kw.read(require_data(FILES[name], data), **only))
    if name not in ("aimed", "bioinfer", "semeval") and len(examples) > MOST:
        chosen = np.random.default_rng(0).choice(len(examples), MOST, replace=False)
        examples = [examples[row] for row in sorted(chosen.tolist())]
    entries = example_entries(examples, owner="teaching.py")
    sentences, _ = read_sentences(entries, "auto", Counter(), views=VIEWS, least=2, most=60)
    candidates = pairs_in(sentences, labels="directed", max_entities=60)
    viewed = candidates.viewed(*VIEWS)
    groups = candidates.groups()
    if len(set(groups)) == 1:
        groups = [str(row) for row in candidates.sentence_of]
    classes = [str(candidates.labels[row]) for row in viewed.rows]
    if name in SYMMETRIC:
        classes = [type_of(label) for label in classes]
    documents = np.unique([groups[row] for row in viewed.rows], return_inverse=True)[1]
    texts = [blinded(candidates, row, words=name in WITH_WORDS) for row in viewed.rows]
    return Corpus(name, viewed.table, documents, np.array(classes), texts)


def blinded(candidates: Candidates, row: int, *, words: bool) -> dict[str, str]:
    """Return the text of a candidate in parts, entities replaced by their roles."""
    candidate = candidates[row]
    pair = [entity for _, entity in candidate.participants]
    marks = {pair[0].id: " first ", pair[1].id: " second "}
    spans = sorted(
        (begin, end, marks.get(entity.id, " other "))
        for entity in candidate.sentence.entities
        for begin, end in entity.spans
    )
    text, at, parts = candidate.sentence.text, 0, []
    for begin, end, mark in spans:
        if begin >= at:
            parts += [text[at:begin], mark]
            at = end
    whole = "".join([*parts, text[at:]]).split()
    first = whole.index("first") if "first" in whole else 0
    second = whole.index("second") if "second" in whole else len(whole) - 1
    low, high = min(first, second), max(first, second)
    return {
        "all": " ".join(whole),
        "between": " ".join(whole[low + 1 : high]),
        "before": " ".join(whole[max(0, low - _WORDS) : low]),
        "after": " ".join(whole[high + 1 : high + 1 + _WORDS]),
        "entities": " ".join(
            f"{mark}_{word}"
            for mark, entity in zip(("first", "second"), pair, strict=True)
            for begin, end in entity.spans
            for word in text[begin:end].split()
            if words
        ),
    }


class Yardstick:
    """Logistic regression on TF-IDF vectors, with uncertainty sampling."""

    def __init__(self, corpus: Corpus) -> None:
        from scipy.sparse import hstack
        from sklearn.feature_extraction.text import TfidfVectorizer

        parts = []
        for part in ("all", "between", "before", "after", "entities"):
            texts = [text[part] for text in corpus.texts]
            if any(texts):
                longest = 2 if part == "between" else 1
                vectorizer = TfidfVectorizer(
                    ngram_range=(1, longest), min_df=2, token_pattern=r"\S+"
                )
                parts.append(vectorizer.fit_transform(texts))
        self.vectors = hstack(parts).tocsr()

    def learn(self, labels: dict[int, str]) -> TeachingModel | None:
        """Return probabilities of all candidates."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.multiclass import OneVsRestClassifier

        rows, y = list(labels), list(labels.values())
        if len(set(y)) < 2:
            return None
        one = LogisticRegression(C=10.0, solver="liblinear", random_state=0)
        machine = OneVsRestClassifier(one).fit(self.vectors[rows], y)
        found = machine.predict_proba(self.vectors)
        classes = tuple(machine.classes_.tolist())
        if NONE not in classes:
            classes, found = (*classes, NONE), np.c_[found, np.zeros(len(found))]
        return TeachingModel(1, len(rows), classes, found.astype(np.float32), 0.5)

    def queue(
        self, model: TeachingModel | None, left: np.ndarray, n: int, seed: int
    ) -> list[tuple[int, float | None]]:
        """Return the candidates with the smallest margins; random ones without a model."""
        rows = np.flatnonzero(left)
        if model is None:
            drawn = np.random.default_rng(seed).permutation(rows)[:n]
        else:
            largest = np.sort(model.probabilities[rows], axis=1)[:, -2:]
            drawn = rows[np.argsort(largest[:, 1] - largest[:, 0], kind="stable")[:n]]
        return [(int(row), None) for row in drawn]


class Run(NamedTuple):
    """F1 by number of decisions; error of the last estimate and whether its interval is right."""

    f1: dict[int, float]
    error: float | None
    covered: bool | None
    seconds: float


def f1_of(true: np.ndarray, predicted: np.ndarray) -> float:
    """Return the F1 of relations, types and directions included."""
    right = ((true == predicted) & (true != NONE)).sum()
    return 2 * float(right) / max(1, int((true != NONE).sum() + (predicted != NONE).sum()))


def prior_of(corpus: Corpus, test: np.ndarray, n: int, seed: int) -> Prior | None:
    """Return the predictions of a model of n labels out of the held-out documents."""
    if not n:
        return None
    rows = np.random.default_rng(seed).permutation(np.flatnonzero(test))[:n].tolist()
    teacher = Teacher(corpus.table, corpus.documents, seed=seed)
    model = teacher.learn({row: str(corpus.classes[row]) for row in rows})
    return None if model is None else Prior(model.classes, model.probabilities)


def simulate(
    corpus: Corpus, order: str, seed: int, options: argparse.Namespace, yardstick: Any
) -> Run:
    """Return F1 on held-out documents while an oracle decides the candidates of the queue."""
    started = time.process_time()
    test = corpus.held_out(seed)
    asked = ~test
    if options.prior:  # half of the held-out documents teach the prior
        names = np.unique(corpus.documents[test])
        given = np.isin(corpus.documents, names[: len(names) // 2])
        test = test & ~given
        prior = prior_of(corpus, given, options.prior, seed)
    else:
        prior = None
    teacher = Teacher(corpus.table, corpus.documents, seed=seed, prior=prior)
    learn: Callable[[dict[int, str]], TeachingModel | None] = (
        yardstick.learn if order == TF_IDF else teacher.learn
    )
    labels: dict[int, str] = {}
    log: list[Check] = []
    found: dict[int, float] = {}
    model = learn({}) if prior is not None else None
    last = max(options.decisions)
    while len(labels) < last:
        stops = [n for n in options.decisions if n > len(labels)]
        n = min(options.retrain, min(stops) - len(labels))
        for row, weight in next_rows(order, teacher, yardstick, model, labels, asked, n, seed):
            predicted = None if model is None else model.classes[int(model.predicted()[row])]
            labels[row] = str(corpus.classes[row])
            log.append(Check(row, labels[row], predicted, weight))
        model = learn(labels)
        if len(labels) in options.decisions:
            found[len(labels)] = f1_on(test, corpus, model, best=order == TF_IDF)
    checked = None if model is None else estimate(log, model).f1
    seconds = time.process_time() - started
    if checked is None:
        return Run(found, None, None, seconds)
    inside = (checked.low or 0.0) <= found[last] <= (checked.high or 0.0)
    return Run(found, float(checked) - found[last], inside, seconds)


def f1_on(
    test: np.ndarray, corpus: Corpus, model: TeachingModel | None, *, best: bool = False
) -> float:
    """Return the F1 of predictions for some candidates, or that of the best threshold."""
    if model is None:
        return 0.0
    true = corpus.classes[test]
    if not best:
        return f1_of(true, np.array(model.classes)[model.predicted()][test])
    columns, chances = model.relations()
    order = np.argsort(-chances[test], kind="stable")
    right = np.cumsum((np.array(model.classes)[columns][test] == true)[order])
    return float((2 * right / (np.arange(1, len(right) + 1) + (true != NONE).sum())).max())


def next_rows(
    order: str, teacher: Teacher, yardstick: Any, model: TeachingModel | None,
    labels: dict[int, str], asked: np.ndarray, n: int, seed: int,
) -> list[tuple[int, float | None]]:  # fmt: skip
    """Return the next candidates of the queue, and the weights of checks."""
    if order == TF_IDF:
        left = asked.copy()
        left[list(labels)] = False
        found: list[tuple[int, float | None]] = yardstick.queue(model, left, n, seed)
        return found
    picks = make_queue(
        order, teacher, model, decided=labels, annotation=[None] * len(teacher), eligible=asked,
        n=n, seed=seed, n_decisions=len(labels),
    )  # fmt: skip
    return [(pick.candidate, pick.weight) for pick in picks]


def rows(options: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Yield a row of the table for each corpus and order."""
    for name in options.corpora:
        corpus = read_corpus(name, options.data)
        yardstick = Yardstick(corpus) if TF_IDF in options.orders else None
        for order in options.orders:
            runs = []
            for seed in range(options.seeds):
                runs.append(simulate(corpus, order, seed, options, yardstick))
                shown = ", ".join(f"{n}: {f1:.3f}" for n, f1 in runs[-1].f1.items())
                print(f"{name}, {order}, seed {seed}: F1 {shown}", file=sys.stderr, flush=True)
            yield summary(name, order, runs, options.decisions)


def summary(name: str, order: str, runs: list[Run], decisions: list[int]) -> dict[str, object]:
    """Return a row of the table: means over runs."""
    errors = [run.error for run in runs if run.error is not None]
    return {
        "corpus": name,
        "order": order,
        **{str(n): float(np.mean([run.f1[n] for run in runs])) for n in decisions},
        "deviation": float(np.std([run.f1[max(decisions)] for run in runs])),
        "estimate": float(np.mean(errors)) if errors else None,
        "covered": float(np.mean([bool(run.covered) for run in runs])) if errors else None,
        "seconds": float(np.mean([run.seconds for run in runs])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of the corpora")
    parser.add_argument(
        "--corpora", nargs="+", default=["aimed", "bioinfer", "semeval"], choices=FILES
    )
    parser.add_argument(
        "--orders", nargs="+", default=["informative", "random", "probable", "document", TF_IDF]
    )
    parser.add_argument("--decisions", type=int, nargs="+", default=[25, 50, 100, 200, 400, 800])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--retrain", type=int, default=10, help="decisions between two models")
    parser.add_argument("--prior", type=int, default=0, help="labels of a model to start from")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = list(rows(options))
    if options.json:
        print(json.dumps(made, indent=2))
        return
    show_table("F1 on held-out documents by number of decisions", made, digits=3)


if __name__ == "__main__":
    main()
