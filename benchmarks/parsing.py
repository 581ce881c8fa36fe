"""Accuracy and speed of the forest parser on the Penn Treebank sample, or on the GENIA treebank.

    python benchmarks/parsing.py [--data DIR] [--train 1 180] [--test 181 199] [--k 50] [--json]
    python benchmarks/parsing.py --treebank genia [--data DIR] [--k 50] [--json]
    python benchmarks/parsing.py --dependencies [--texts 6000] [--spacy MODEL] [--data DIR]
    python benchmarks/parsing.py --relations [--data DIR]

Files of the Penn Treebank are chosen by their numbers. On GENIA the parameters are those of the
bundled grammar, learned from the parts dev and future_use, and measured on the part test; the
bundled grammar itself has seen all three. There the dependencies that head rules read off the
trees are compared, too, with those of the treebank's conversion to Universal Dependencies: heads
of words that are no punctuation, prepositions put below their objects as it has them.

Scores are labeled brackets by the conventions of evalb: test sentences of at most 40 words; the
outermost bracket without a label, parts of speech and punctuation (by the part of speech in the
treebank) do not count; ADVP and PRT are one label; a bracket counts as often as it occurs.
With --dependencies, the dependencies of backends are compared with those that the head rules read
off the trees of the part test and of the Penn sample: heads (UAS) and heads with relations (LAS) of
words that are no punctuation, and parts of speech, in percent of the words of the treebank. Parsers
marked "not seen" have learned from the parts dev and future_use, and from the first of the BioNLP
texts that have no sentence of the part test; the bundled ones have seen the part test. No parser
has seen the Penn sample. Sentences are given with the words of the treebank. The labels of spaCy
are others, so there are heads only. Sentences a second are those of 23 to 27 words, CPU time
of one thread from text to parsed sentence. Of each treebank, every n-th sentence is compared, some
hundreds in all.

With --relations, the default extractor is cross-validated on AIMed and BioInfer with each bundled
parser, from plain sentences: tokens and parses of the files are removed. Takes some minutes.

"Oracle" is the best of the k most probable trees of each forest. Speed is CPU time of one
thread from words to forest, on sentences of 23 to 27 words.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from genia import (
    HELD_OUT,
    LEARNED,
    PARAMETERS,
    learn_dependencies,
    read_genia,
    read_genia_heads,
    read_texts,
    without_sentences,
)
from treebank import read_trees

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.parsing import analyze, load_backend
from kernelwood.parsing.dependency_parser import ParsedWords
from kernelwood.parsing.treebank import prepare_treebank
from kernelwood.text import dependencies_of_tree

PUNCTUATION = {"``", "''", ",", ".", ":"}
NOT_ATTACHED = PUNCTUATION | {"-LRB-", "-RRB-"}
LONGEST = 40
MOST_COMPARED = 500
TIMED = range(23, 28)
MARKS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
GOALS = {"f1": 73.0, "sentences_per_second": 15.0}  # with the parser's own parts of speech

Brackets = Counter[tuple[str, int, int]]


@dataclass
class Sentence:
    """A tree as what is compared: brackets, parts of speech and words."""

    brackets: list[tuple[str, int, int]]
    tags: list[str]
    words: list[str]


def take_apart(tree: kw.Tree) -> Sentence:
    sentence = Sentence([], [], [])
    starts: list[int] = []  # where the constituents that are open begin
    waiting: list[kw.Tree | str] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            sentence.brackets.append((node, starts.pop(), len(sentence.words)))
        elif node.children[0].is_leaf:
            sentence.tags.append(node.label)
            sentence.words.append(node.children[0].label)
        else:
            starts.append(len(sentence.words))
            waiting += [node.label, *reversed(node.children)]
    return sentence


def scored_brackets(sentence: Sentence, gold_tags: list[str]) -> Brackets:
    """Return the brackets that count, over the words that are no punctuation."""
    place = [0]
    for tag in gold_tags:
        place.append(place[-1] + (tag not in PUNCTUATION))
    return Counter(
        ("ADVP" if label == "PRT" else label, place[start], place[end])
        for label, start, end in sentence.brackets
        if place[start] < place[end]
    )


@dataclass
class Score:
    """Brackets that match, those of the treebank, and those found."""

    matched: int = 0
    gold: int = 0
    found: int = 0

    def add(self, gold: Brackets, found: Brackets) -> bool:
        """Add a sentence; return whether all its brackets match."""
        self.matched += (gold & found).total()
        self.gold += gold.total()
        self.found += found.total()
        return gold == found

    @property
    def percent(self) -> tuple[float, float, float]:
        """Precision, recall and F1."""
        precision = 100 * self.matched / max(self.found, 1)
        recall = 100 * self.matched / max(self.gold, 1)
        return precision, recall, 2 * precision * recall / max(precision + recall, 1e-9)


def best_of(forest: kw.Forest, k: int, gold: Sentence) -> Brackets:
    """Return the brackets of the tree, among the k most probable, that fits best."""
    target = scored_brackets(gold, gold.tags)
    options = [scored_brackets(take_apart(tree), gold.tags) for tree, _ in forest.k_best(k)]
    return max(options, key=lambda b: 2 * (b & target).total() / (b.total() + target.total()))


def measure(
    parser: kw.ForestParser, sentences: list[Sentence], *, gold_tags: bool, k: int
) -> dict[str, object]:
    best, oracle = Score(), Score()
    exact = right_tags = fallbacks = 0
    timed: list[float] = []
    edges, trees = [], []
    for gold in sentences:
        started = time.process_time()
        forest = parser.parse(gold.words, gold.tags if gold_tags else None)
        if len(gold.words) in TIMED:
            timed.append(time.process_time() - started)
        found = take_apart(forest.best_tree())
        target = scored_brackets(gold, gold.tags)
        exact += best.add(target, scored_brackets(found, gold.tags))
        right_tags += sum(a == b for a, b in zip(gold.tags, found.tags, strict=True))
        fallbacks += forest.fallback
        edges.append(forest.n_edges)
        trees.append(forest.n_trees)
        if k:
            oracle.add(target, best_of(forest, k, gold))
    precision, recall, f1 = best.percent
    return {
        "tags": "treebank's" if gold_tags else "own",
        "sentences": len(sentences),
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "exact": 100 * exact / len(sentences),
        "tagging": 100 * right_tags / sum(len(gold.words) for gold in sentences),
        f"oracle_{k}": oracle.percent[2] if k else None,
        "fallbacks": fallbacks,
        "median_edges": statistics.median(edges),
        "median_trees": float(statistics.median_low(trees)),
        "sentences_per_second": len(timed) / sum(timed) if timed else None,
    }


def attachment(
    trees: Iterable[kw.Tree], gold_heads: list[list[int]], gold: list[Sentence]
) -> float:
    """Return the share of words, in percent, that have the head of the treebank's conversion."""
    right = total = 0
    for tree, heads, sentence in zip(trees, gold_heads, gold, strict=True):
        found = content_heads(dependencies_of_tree(tree))
        for word, tag in enumerate(sentence.tags):
            if tag not in NOT_ATTACHED:
                total += 1
                right += found[word] == heads[word]
    return 100 * right / total


def content_heads(dependencies: Iterable[kw.text.Dependency]) -> list[int]:
    """Return the head of every word after prepositions have changed places with their objects."""
    edges = list(dependencies)
    objects: dict[int, int] = {}
    for head, relation, dependent in edges:
        if relation in ("pobj", "pcomp"):
            objects.setdefault(head, dependent)

    def content(word: int) -> int:
        while word in objects:
            word = objects[word]
        return word

    heads = [edge.head for edge in edges]
    changed = []
    for word, head in enumerate(heads):
        if word in objects:
            changed.append(content(word))
            continue
        while head >= 0 and objects.get(head) is not None and content(head) == word:
            head = heads[head]
        changed.append(content(head) if head >= 0 else head)
    return changed


def measure_attachment(parser: kw.ForestParser, data: str | None) -> dict[str, float]:
    trees = prepare_treebank(read_genia(data, HELD_OUT))
    gold = [take_apart(tree) for tree in trees]
    heads = read_genia_heads(data, HELD_OUT)
    kept = [at for at, sentence in enumerate(gold) if len(sentence.words) <= LONGEST]
    gold, heads = [gold[at] for at in kept], [heads[at] for at in kept]
    parsed = parser.parse_batch([sentence.words for sentence in gold])
    return {
        "right heads of the treebank's trees, in percent": attachment(
            [trees[at] for at in kept], heads, gold
        ),
        "right heads of the parser's trees, in percent": attachment(
            [f.best_tree() for f in parsed], heads, gold
        ),
    }


def raw_text_speed(data: str | None) -> float:
    """Return the sentences that the bundled backend makes of raw text in a second of one thread."""
    sentences = [take_apart(tree).words for tree in prepare_treebank(read_genia(data, HELD_OUT))]
    texts = [plain_text(words) for words in sentences]
    backend = load_backend(n_jobs=1)
    started = time.process_time()
    found = analyze(backend, [kw.Document(text) for text in texts])
    return sum(map(len, found)) / (time.process_time() - started)


def compare_relations(data: str | None) -> None:
    """Print the F1 of relations from plain sentences with each bundled parser."""
    for corpus in ("AImed", "BioInfer"):
        path = require_data(f"ppi/{corpus}-learning-format.xml.gz", data=data)
        examples = [
            kw.Example(one.id, views={"sentence": plain(one.view("sentence"))}, origin=one.origin)
            for one in kw.read(path)
        ]
        for parser in ("biomedical", "biomedical-dependencies"):
            extractor = kw.RelationExtractor(parser=parser, random_state=1)
            found = extractor.cross_validate(examples, n_bootstrap=0).pooled
            print(f"{corpus:8} {parser:24} F1 {found.f1:.4f}")


def plain(sentence: kw.Sentence) -> kw.Sentence:
    """Return a sentence with its text, entities and relations only."""
    return kw.Sentence(
        sentence.text,
        entities=sentence.entities,
        relations=sentence.relations,
        metadata=sentence.metadata,
    )


class Learned:
    """A backend whose parser has not seen the part test."""

    def __init__(self, kind: str, parser: object) -> None:
        backend = load_backend(kind, n_jobs=1)
        backend._parser = parser
        self.name, self.parse = f"{kind}, not seen", backend.parse


def plain_text(words: list[str]) -> str:
    return " ".join(MARKS.get(word, word) for word in words)


def dependency_row(backend: object, trees: list[kw.Tree], *, labels: bool) -> dict[str, object]:
    """Return the accuracy and the speed of a backend on the trees of a treebank."""
    gold = [ParsedWords.of_tree(tree) for tree in trees]
    given = [kw.Sentence.from_words([MARKS.get(w, w) for w in one.words]) for one in gold]
    found = backend.parse(given)
    words = heads = both = tags = n_tags = 0
    for one, sentence in zip(gold, found, strict=True):
        edges = {edge.dependent: edge for edge in sentence.dependencies}
        for at, tag in enumerate(one.tags):
            n_tags += 1
            tags += sentence.tokens[at].tag == tag
            if tag not in NOT_ATTACHED:
                words += 1
                heads += edges[at].head == one.heads[at]
                both += edges[at][:2] == (one.heads[at], one.relations[at])
    texts = [kw.Sentence(plain_text(one.words)) for one in gold if len(one.words) in TIMED]
    backend.parse(texts[:5])
    seconds = min(timed(backend, texts) for _ in range(3))
    return {
        "backend": backend.name,
        "uas": 100 * heads / words,
        "las": 100 * both / words if labels else None,
        "tags": 100 * tags / n_tags,
        "sentences_per_second": len(texts) / seconds,
    }


def timed(backend: object, texts: list[kw.Sentence]) -> float:
    started = time.process_time()
    backend.parse(texts)
    return time.process_time() - started


def compare_dependencies(data: str | None, n_texts: int, spacy: str | None) -> None:
    """Print a table of backends for each treebank."""
    named = () if spacy is None else (load_backend(f"spacy:{spacy}"),)  # first: it may be missing
    trees = read_genia(data, *LEARNED)
    grammar = kw.ForestParser(**PARAMETERS).fit(trees).set_params(n_jobs=1)
    test = prepare_treebank(read_genia(data, HELD_OUT))
    texts = without_sentences(read_texts(data), test)[:n_texts]
    fast = learn_dependencies(trees, grammar, texts)
    backends: list[object] = [Learned("biomedical", grammar)]
    backends += [Learned("biomedical-dependencies", fast)]
    backends += [load_backend(name, n_jobs=1) for name in ("biomedical", "biomedical-dependencies")]
    backends += named
    penn = prepare_treebank(read_trees(data, 1, 199))
    for name, whole in (("GENIA test", test), ("Penn sample", penn)):
        gold = whole[:: -(-len(whole) // MOST_COMPARED)]
        rows = [dependency_row(one, gold, labels="spacy" not in one.name) for one in backends]
        print(f"{name}, {len(gold):,} sentences")
        for row in rows:
            las = "" if row["las"] is None else f"{row['las']:.1f}"
            print(
                f"  {row['backend']:36} UAS {row['uas']:.1f}  LAS {las:4}  tags {row['tags']:.1f}"
                f"  {row['sentences_per_second']:,.0f} sentences/s"
            )


def show(rows: list[dict[str, object]], fit_seconds: float, name: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{name}, up to {LONGEST} words; fit {fit_seconds:.1f} s")
    table.add_column("parts of speech")
    for row in rows:
        table.add_column(str(row["tags"]), justify="right")
    table.add_column("at least", justify="right")
    for name in list(rows[0])[1:]:
        values = [row[name] for row in rows]
        cells = ["" if v is None else f"{v:,}" if isinstance(v, int) else f"{v:,.1f}" if v < 1e6
                 else f"{v:.1e}" for v in values]  # fmt: skip
        table.add_row(name.replace("_", " "), *cells, f"{GOALS[name]:g}" if name in GOALS else "")
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--treebank", choices=("penn", "genia"), default="penn")
    parser.add_argument("--train", type=int, nargs=2, default=[1, 180], metavar="FILE")
    parser.add_argument("--test", type=int, nargs=2, default=[181, 199], metavar="FILE")
    parser.add_argument("--k", type=int, default=50, help="trees for the oracle, 0 for none")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--dependencies", action="store_true", help="compare backends")
    parser.add_argument("--relations", action="store_true", help="compare extractors")
    parser.add_argument("--texts", type=int, default=6000, help="sentences for up-training")
    parser.add_argument("--spacy", metavar="MODEL", help="compare this model, too")
    options = parser.parse_args()
    if options.relations:
        return compare_relations(options.data)
    if options.dependencies:
        return compare_dependencies(options.data, options.texts, options.spacy)
    genia = options.treebank == "genia"
    if genia:
        treebank, held_out = read_genia(options.data, *LEARNED), read_genia(options.data, HELD_OUT)
    else:
        treebank = read_trees(options.data, *options.train)
        held_out = read_trees(options.data, *options.test)
    started = time.process_time()
    model = kw.ForestParser(**(PARAMETERS if genia else {})).fit(treebank)
    fit_seconds = time.process_time() - started
    gold = [take_apart(tree) for tree in prepare_treebank(held_out)]
    gold = [sentence for sentence in gold if len(sentence.words) <= LONGEST]
    rows = [measure(model, gold, gold_tags=given, k=options.k) for given in (False, True)]
    more = measure_attachment(model, options.data) if genia else {}
    if genia:
        more["sentences a second from raw text, of any length"] = raw_text_speed(options.data)
    if options.json:
        print(json.dumps({"rows": rows, "fit_seconds": fit_seconds, **more}))
    else:
        show(rows, fit_seconds, "GENIA treebank" if genia else "Penn Treebank sample")
        for what, value in more.items():
            print(f"{what}: {value:.1f}")


if __name__ == "__main__":
    main()
