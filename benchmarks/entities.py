"""Entities without a list: mentions and relations found in plain text, and the speed of the tagger.

    python benchmarks/entities.py [--data DIR] [--corpora aimed bioinfer conll04 bionlp09 ddi]
                                  [--folds 5] [--share 1] [--no-relations] [--held-out] [--speed]
                                  [--json]

Cross-validation over whole documents: a tagger is learned from the entities of the other documents.
A mention counts as found if span and type are exact; mentions inside others and discontinuous ones
count as missed. End to end, relations are extracted from the plain text of the documents of a fold
and count as right if both entities, type and direction are; sentences are split and parsed by the
bundled rules and grammar. Sentences of one document in AIMed, BioInfer and DDI are joined by
blanks. All entities of BioInfer have one type; of BioNLP 2009 only the given proteins are used.

With --held-out, the tagger is trained once, and its own figures on held-out documents are shown
(three folds, on which the balance of precision and recall was chosen, too): a fifth of the time.

With --share 0.35, only 35 % of the documents are used, evenly spread over the corpus.

Speed (alone with --speed) is CPU time of one thread from text to mentions, tokens included: for
texts whose words are new to the tagger, and for the same texts again. One short text, read before,
prepares the weights.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from measure import show_table

import kernelwood as kw
from kernelwood.datasets import find_data
from kernelwood.entities import annotated_mentions
from kernelwood.evaluate import documents, group_splits
from kernelwood.relations import Rates
from kernelwood.text import Argument, Document, Entity, Relation, find_sentences

REPEATS = 4


def joined(examples: Sequence[kw.Example], types: dict[str, str] | None = None) -> list[kw.Example]:
    """Return the sentences of each document as one document."""
    groups: dict[str, list[Any]] = {}
    for name, example in zip(documents(examples), examples, strict=True):
        groups.setdefault(name, []).append(example.view("sentence"))
    made = []
    for name, sentences in groups.items():
        text, entities, relations = "", [], []
        for number, sentence in enumerate(sentences):
            shift = len(text)
            for one in sentence.entities:
                spans = tuple((a + shift, b + shift) for a, b in one.spans)
                kind = one.type if types is None else types.get(one.type, types[""])
                entities.append(Entity(f"{number}.{one.id}", kind, spans, one.text))
            for one in sentence.relations:
                ends = tuple(Argument(role, f"{number}.{id}") for role, id in one.arguments)
                relations.append(Relation(f"{number}.{one.id}", one.type, ends, one.holds))
            text += sentence.text.replace("\n", " ") + " "
        made.append(kw.Example(name, views={"document": Document(text, entities, relations)}))
    return made


def proteins(examples: Iterable[kw.Example]) -> Iterator[kw.Example]:
    """Yield documents with the proteins that the shared task gives, and no events."""
    for example in examples:
        document = example.view("document")
        listed = [entity for entity in document.entities if entity.type == "Protein"]
        yield kw.Example(example.id, views={"document": Document(document.text, listed)})


class Corpus(NamedTuple):
    """Where a corpus is, how documents are made of it, and how relations are learned."""

    path: str
    prepare: Callable[[Any], Any]
    only: str | None = None
    recipe: str | None = "svm"


CORPORA = {
    "aimed": Corpus("ppi/AImed-learning-format.xml.gz", joined),
    "bioinfer": Corpus(
        "ppi/BioInfer-learning-format.xml.gz", lambda read: joined(read, {"": "protein"})
    ),
    "conll04": Corpus("conll04/conll04-train-brat.tar.gz", list),
    "bionlp09": Corpus(
        "bionlp-st/bionlp-st-2009.tar.gz",
        lambda read: list(proteins(read)),
        only="*/train/*",
        recipe=None,
    ),
    "ddi": Corpus("ddi-2013/ddi-2013-train.tar.gz", joined, recipe="nystrom"),
}


def spread(examples: list[kw.Example], share: float) -> list[kw.Example]:
    """Return a share of documents, evenly spread."""
    return [
        example
        for number, example in enumerate(examples)
        if int(number * share) < int((number + 1) * share)
    ]


def bare(example: kw.Example) -> Document:
    """Return the text of a document without annotation."""
    return Document(example.view("document").text)


def measure_speed(examples: list[kw.Example]) -> dict[str, Any]:
    """Return the CPU time of training on two thirds of a corpus, and the speed on the rest."""
    held = examples[::3]
    learned = [example for number, example in enumerate(examples) if number % 3]
    started = time.process_time()
    tagger = kw.EntityTagger().fit(learned)
    training = time.process_time() - started
    texts = [bare(one) for one in held]
    n_sentences = sum(len(find_sentences(text.text)) for text in texts)
    tagger.annotate(Document("A word."))  # prepares the weights
    gc.collect()  # what training left
    seconds = []
    for _ in range(REPEATS):
        started = time.process_time()
        for text in texts:
            tagger.annotate(text)
        seconds.append(time.process_time() - started)
    return {
        "training s": training,
        "first time, sentences/s": n_sentences / seconds[0],
        "again, sentences/s": n_sentences / min(seconds[1:]),
    }


def rates(mentions: Rates) -> dict[str, Any]:
    """Return the scores of mentions."""
    return {
        "mentions": mentions.annotated,
        "precision": mentions.precision,
        "recall": mentions.recall,
        "F1": mentions.f1,
    }


def measure_mentions(examples: list[kw.Example], folds: int) -> dict[str, Any]:
    """Return the scores of mentions in cross-validation."""
    total = Rates()
    names = [example.id for example in examples]
    for train, test in group_splits(names, n_splits=folds, random_state=0):
        tagger = kw.EntityTagger().fit([examples[row] for row in train])
        held = [examples[row] for row in test]
        found = annotated_mentions(tagger.annotate(bare(one)) for one in held)
        for one, other in zip(found, annotated_mentions(held), strict=True):
            total += Rates(len(one & other), len(one), len(other))
    return rates(total)


def held_out(examples: list[kw.Example]) -> dict[str, Any]:
    """Return the scores of mentions that training on all documents gives, and its time."""
    started = time.process_time()
    tagger = kw.EntityTagger().fit(examples)
    figures = tagger.held_out_
    return {
        "mentions": tagger.n_mentions_,
        "cannot be found": sum(tagger.dropped_.values()),
        "precision": figures["precision"],
        "recall": figures["recall"],
        "F1": figures["f1"],
        "training s": time.process_time() - started,
    }


def measure_relations(examples: list[kw.Example], recipe: str, folds: int) -> dict[str, Any]:
    """Return the scores of mentions, and F1 of relations with annotated and found entities."""
    extractor = kw.RelationExtractor(recipe, random_state=0, n_jobs=1)
    pooled = extractor.cross_validate(
        examples, n_splits=folds, n_bootstrap=0, end_to_end=True
    ).pooled
    return {
        **rates(pooled.end_to_end.mentions),
        "relations": pooled.n_relations,
        "relation F1, annotated entities": pooled.f1,
        "relation F1, found entities": pooled.end_to_end.relations.f1,
    }


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", help="folder of the corpora")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--share", type=float, default=1.0, help="of the documents, 0 to 1")
    parser.add_argument("--no-relations", action="store_true", help="evaluate mentions only")
    parser.add_argument("--held-out", action="store_true", help="train once, see above")
    parser.add_argument("--speed", action="store_true", help="measure the speed only")
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each corpus")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # small types, parsers: the same for every corpus
    rows = []
    for name in options.corpora:
        corpus = CORPORA[name]
        path = find_data(corpus.path, options.data)
        if path is None:
            print(f"{name}: {corpus.path} is not there; give its folder with --data")
            continue
        examples = spread(corpus.prepare(kw.read(path, only=corpus.only)), options.share)
        row = {"corpus": name, "documents": len(examples)}
        if options.held_out:
            row |= held_out(examples)
        elif options.speed:
            row |= measure_speed(examples)
        elif corpus.recipe is None or options.no_relations:
            row |= measure_mentions(examples, options.folds) | measure_speed(examples)
        else:
            row |= measure_relations(examples, corpus.recipe, options.folds)
            row |= measure_speed(examples)
        rows.append(row)
        if options.json:
            print(json.dumps(row), flush=True)
    if rows and not options.json:
        titles = dict.fromkeys(title for row in rows for title in row)
        filled = [{title: row.get(title) for title in titles} for row in rows]
        folds = "3 folds, one training" if options.held_out else f"{options.folds} folds"
        show_table(f"{folds} of documents", filled, digits=3)


if __name__ == "__main__":
    main()
