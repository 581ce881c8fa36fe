"""Labeled candidates of four corpora, with the words around them, and samples by document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kernelwood as kw
from kernelwood.arrays import ExampleBatch
from kernelwood.datasets import require_data
from kernelwood.relations import NONE, Candidates, example_entries, pairs_in, read_sentences
from kernelwood.views import context

__all__ = ["FILES", "MACRO", "Corpus", "Words", "f1", "held_out", "make_corpus", "ordered",
           "read_corpus"]  # fmt: skip

FILES = {
    "aimed": "ppi/AImed-learning-format.xml.gz",
    "bioinfer": "ppi/BioInfer-learning-format.xml.gz",
    "semeval": "semeval2010-task8/TRAIN_FILE.TXT.gz",
    "bionlp": "bionlp-st/bionlp-st-2009.tar.gz",
}
PARTS = {"bionlp": "*/train/*"}
MACRO = ("semeval",)  # several relation types, with directions
SHOWN = {"semeval": (0, 1), "bionlp": (0, 1)}  # corpora whose entities are not blinded
VIEWS = (
    "stem-context", "stem-steps", "names", "negation", "types", "sentence-words",
    "stem-entity-words",
)  # fmt: skip
RELATED = "relation"
MOST = 7500  # candidates of BioNLP
WINDOW = 10  # words before the first and after the second entity
BLIND = ("ENTITY1", "ENTITY2")
TEST_SHARE = 0.3
SPLIT_SEED = 2010

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Words:
    """The words of a candidate, in lower case: the two entities are blinded in ``between``."""

    before: list[str]
    between: list[str]
    after: list[str]
    entities: tuple[list[str], list[str]]  # empty if their words must not be used


@dataclass(frozen=True, eq=False)
class Corpus:
    """Candidates with views and words; documents and classes as columns."""

    name: str
    candidates: Candidates
    table: ExampleBatch
    documents: Rows
    classes: NDArray[np.str_]
    words: list[Words]

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def labels(self) -> str:
        """The parameter of a RelationExtractor."""
        return "directed" if self.name in MACRO else "binary"

    @property
    def measure(self) -> str:
        """What is called F1 in tables."""
        return "macro F1" if self.name in MACRO else "F1"


def read_corpus(name: str, data: str | None) -> Corpus:
    """Return the candidates of a corpus of the data folder."""
    only = {"only": PARTS[name]} if name in PARTS else {}
    return make_corpus(name, kw.read(require_data(FILES[name], data), **only))


def make_corpus(name: str, examples: Iterable[kw.Example]) -> Corpus:
    """Return the candidates of examples that are annotated as a corpus is."""
    examples = list(examples)
    if name == "bionlp":
        np.random.default_rng(SPLIT_SEED).shuffle(examples)
    entries = example_entries(examples, owner="label_efficiency.py")
    sentences, _ = read_sentences(entries, "auto", Counter(), views=VIEWS, least=2, most=60)
    if name == "bionlp":
        candidates = arguments_in(sentences, examples)
    else:
        candidates = pairs_in(sentences, labels="directed", max_entities=60)
    if name not in MACRO:
        candidates.labels = [NONE if one == NONE else RELATED for one in candidates.labels]
    viewed = candidates.viewed(*VIEWS)
    candidates = candidates.take(viewed.rows)
    groups = candidates.groups()
    if name == "semeval":  # sentences without documents; a few are there twice
        groups = [candidates.text(row).lower() for row in range(len(candidates))]
    documents = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    words = [words_of(candidates[row], name in SHOWN) for row in range(len(candidates))]
    classes = np.array(candidates.labels, dtype=np.str_)
    return Corpus(name, candidates, viewed.table, documents, classes, words)


def arguments_in(sentences: Any, examples: list[kw.Example]) -> Candidates:
    """Return the pairs of an event trigger and a protein of its sentence.

    A pair is related if the protein is a direct argument, theme or cause, of an event with this
    trigger.
    """
    linked, triggers = set(), set()
    for example in examples:
        for event in example.view("document").events:
            triggers.add((example.id, event.trigger))
            linked |= {(example.id, event.trigger, one.target) for one in event.arguments}
    made = Candidates(sentences)
    for row, sentence in enumerate(sentences.sentences):
        if len(made) >= MOST and sentences.documents[row] != sentences.documents[row - 1]:
            break
        document = sentences.documents[row]
        words = [one for one in sentence.entities if (document, one.id) in triggers]
        proteins = [one for one in sentence.entities if one.type == "Protein"]
        for word in words:
            for protein in proteins:
                pair = sorted((word, protein), key=lambda one: (one.start, one.end))
                label = RELATED if (document, word.id, protein.id) in linked else NONE
                id = f"{sentences.ids[row]}.{word.id}-{protein.id}"
                made.add(row, id, (("first", pair[0]), ("second", pair[1])), label)
    return made


def words_of(candidate: kw.text.Candidate, shown: bool) -> Words:
    """Return the words around a pair."""
    pair = [entity for _, entity in candidate.participants]
    parts = context(candidate.sentence, *pair, window=WINDOW, blind=BLIND)
    text = candidate.sentence.text
    own = []
    for entity in pair:
        named = shown and entity.type != "Protein"
        own.append([w for start, end in entity.spans if named for w in text[start:end].split()])
    first, second = ([word.lower() for word in words] for words in own)
    around = ([str(node) for node in part.nodes] for part in parts)
    return Words(*around, (first, second))


def held_out(corpus: Corpus, share: float = TEST_SHARE) -> NDArray[np.bool_]:
    """Return which candidates are for testing: those of a fixed 30 % of the documents."""
    names = np.random.default_rng(SPLIT_SEED).permutation(int(corpus.documents.max()) + 1)
    return np.isin(corpus.documents, names[: round(share * len(names))])


def ordered(corpus: Corpus, test: NDArray[np.bool_], smallest: int, seed: int) -> Rows:
    """Return the candidates to label, documents in random order; the first n are a sample.

    The order is drawn again until the smallest sample has both kinds of candidates in more than
    one document, without which nothing can be learned.
    """
    random = np.random.default_rng([SPLIT_SEED, seed])
    rows = np.flatnonzero(~test)
    starts = corpus.documents[rows]
    for _ in range(1000):
        place = random.permutation(int(corpus.documents.max()) + 1)
        order: Rows = rows[np.argsort(place[starts], kind="stable")]
        first = order[:smallest]
        n_none = int((corpus.classes[first] == NONE).sum())
        if 0 < n_none < len(first) and len(set(corpus.documents[first].tolist())) > 1:
            return order
    raise ValueError(
        f"{corpus.name}: no sample of {smallest} candidates has relations and others, of two "
        "documents or more; use larger --sizes"
    )


def f1(corpus: Corpus, true: NDArray[np.str_], predicted: NDArray[np.str_]) -> float:
    """Return the F1 of relations, or the official macro F1 of SemEval-2010 task 8.

    That is the mean over relation types, ``Other`` left out; only relations with the right
    direction are correct, and all of a type count in precision and recall.
    """
    if corpus.name not in MACRO:
        return one_f1(((true != NONE) & (true == predicted)).sum(), true != NONE, predicted != NONE)
    kind: Callable[[Any], NDArray[np.str_]] = np.vectorize(lambda name: name.split("(")[0])
    types, found = kind(true), kind(predicted)
    return float(
        np.mean(
            [
                one_f1(((true == predicted) & (types == one)).sum(), types == one, found == one)
                for one in sorted({*types.tolist()} - {NONE})
            ]
        )
    )


def one_f1(right: int, true: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> float:
    total = int(true.sum() + predicted.sum())
    return 2 * float(right) / total if total else 0.0
