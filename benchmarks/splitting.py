"""Accuracy and speed of sentence splitters on corpora whose sentences are known.

    python benchmarks/splitting.py [--data DIR] [--corpora NAME ...] [--splitters NAME ...]
                                   [--repeats 3] [--errors] [--json]

A document is made of the sentences of a corpus, joined by blanks. Words of the GENIA treebank are
first detokenized, and the title of an abstract ends its line. List numbers and single marks that a
corpus gives as sentences are joined with their neighbor. A boundary is the first character of a
sentence that is not the first of its document. Errors are false and missed boundaries, with their
rate per 1,000 true boundaries. Table cells, list items and headings of drug labels are sentences
without a final mark, and their line ends are lost: the columns "at marks" leave out true boundaries
that do not follow a stop mark or a line end. CoNLL04 has one sentence per document, hence only
false boundaries, with their rate per 1,000 documents.

The BioNLP shared tasks give raw text and events but not sentences. Errors there are events whose
trigger and arguments are in different sentences, with their rate per 1,000 events. Some events do
cross sentences, so only differences between splitters count; a splitter that cuts nothing has the
rate 0, so compare the numbers of sentences, too.

The rules of kernelwood were developed on the corpora marked with an asterisk; errors on the others
led to two small changes (Greek letters before a blank, list markers of several characters). Other
splitters are measured if installed: syntok, pysbd (both MIT) and the rule-based sentencizer of
spaCy. Times are CPU times of one thread, the best of several runs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import tarfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from xml.etree import ElementTree

from genia import ARCHIVE, read_genia
from measure import cpu_seconds, show_table

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.text import find_sentences

Starts = Callable[[str], Iterable[int]]

CONTEXT = 60  # characters shown on each side of an error

# Words that are written without a blank before or after them.
_MARKS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_MARK = re.compile("|".join(_MARKS))
_GLUED = re.compile(r" (?=(?:[.,:;?!%)\]}]|'s|n't|'')(?: |$))|(?<=[(\[{]) |(?<=``) ")
_LABEL = re.compile(r"(?:\d+|[ivx]+)\.?\s*")
_WORD = re.compile(r"\w")
_SOLID = re.compile(r"\S")
_MARKED = re.compile(r"""(?:[.!?]["')\]}]*\s*|\n\s*)\Z""")


@dataclass
class Text:
    """A document with its true boundaries, or with events as places that belong together."""

    text: str
    boundaries: frozenset[int] = frozenset()
    events: list[list[int]] = field(default_factory=list)


def join(sentences: Iterable[str], gap: str = " ") -> Text:
    """Return a document; ``gap`` stands after its first sentence, blanks after the others."""
    text, starts, labeled = "", [], False
    for sentence in filter(str.strip, sentences):
        if not labeled and _WORD.search(sentence):
            starts.append(len(text))
        labeled = _LABEL.fullmatch(sentence) is not None
        text += sentence if sentence[-1].isspace() else sentence + gap
        gap = " "
    return Text(text.rstrip(), frozenset(starts[1:]))


def written(words: Iterable[str]) -> str:
    """Return the words of a treebank as they are written in text."""
    text = _MARK.sub(lambda match: _MARKS[match[0]], " ".join(words))
    return re.sub("``|''", '"', _GLUED.sub("", text)).replace("&amp;", "&")


def read_archive(path: Path, pattern: str) -> list[bytes]:
    """Return the files of an archive whose names match, in the order of their names."""
    with tarfile.open(path) as archive:
        chosen = [item for item in archive if re.fullmatch(pattern, item.name.removeprefix("./"))]
        files = map(archive.extractfile, sorted(chosen, key=lambda item: item.name))
        return [file.read() for file in files if file is not None]


def read_treebank(data: str | None, part: str) -> Iterator[Text]:
    path = require_data(ARCHIVE, data=data)
    [abstracts] = read_archive(path, f"{part}_per_sentence.pmids")
    numbered = zip(abstracts.split(), read_genia(data, part), strict=True)
    for _, group in groupby(numbered, key=itemgetter(0)):
        yield join((written(leaf.label for leaf in tree.leaves()) for _, tree in group), "\n")


def read_xml(content: str | bytes) -> Iterator[Text]:
    """Yield the documents of a file of the unified format, or of one close to it."""
    for document in ElementTree.fromstring(content).iter("document"):
        yield join(sentence.attrib["text"] for sentence in document.iter("sentence"))


def read_interactions(data: str | None, name: str) -> Iterator[Text]:
    path = require_data(f"ppi/{name}-learning-format.xml.gz", data=data)
    with gzip.open(path) as file:
        yield from read_xml(file.read())


def read_drugs(data: str | None, part: str, first: int = 0, step: int = 1) -> Iterator[Text]:
    path = require_data("ddi-2013/ddi-2013-train.tar.gz", data=data)
    for content in read_archive(path, rf"{part}/.*\.xml")[first::step]:
        yield from read_xml(content)


def read_news(data: str | None) -> Iterator[Text]:
    path = require_data("conll04/conll04-train-brat.tar.gz", data=data)
    for example in kw.read(path):
        yield Text(example.view("document").text)


def read_events(data: str | None, name: str) -> Iterator[Text]:
    for example in kw.read(require_data(f"bionlp-st/{name}.tar.gz", data=data)):
        document = example.view("document")
        places = {entity.id: entity.start for entity in document.entities if entity.spans}
        places |= {event.id: places[event.trigger] for event in document.events}
        events = [
            [places[event.id], *(places[item.target] for item in event.arguments)]
            for event in document.events
        ]
        if events and "/sample/" not in example.id:
            yield Text(document.text, events=events)


CORPORA: dict[str, Callable[[str | None], Iterator[Text]]] = {
    "GENIA dev": lambda data: read_treebank(data, "dev"),
    "BioInfer": lambda data: read_interactions(data, "BioInfer"),
    "DrugBank, odd": lambda data: read_drugs(data, "DrugBank", 0, 2),
    "CoNLL04": read_news,
    "GENIA test": lambda data: read_treebank(data, "test"),
    "GENIA future_use": lambda data: read_treebank(data, "future_use"),
    "AIMed": lambda data: read_interactions(data, "AImed"),
    "DrugBank, even": lambda data: read_drugs(data, "DrugBank", 1, 2),
    "DDI MedLine": lambda data: read_drugs(data, "MedLine"),
    "BioNLP 2009": lambda data: read_events(data, "bionlp-st-2009"),
    "BioNLP 2013 GE": lambda data: read_events(data, "bionlp-st-2013-ge"),
}
DEVELOPMENT = {"GENIA dev", "BioInfer", "DrugBank, odd", "CoNLL04"}


def load_kernelwood() -> Starts:
    return lambda text: [start for start, _ in find_sentences(text)]


def load_syntok() -> Starts:
    from syntok.segmenter import analyze

    return lambda text: [
        sentence[0].offset for paragraph in analyze(text) for sentence in map(list, paragraph)
    ]


def load_pysbd() -> Starts:
    from pysbd import Segmenter

    segmenter = Segmenter(language="en", clean=False, char_span=True)
    return lambda text: [span.start for span in segmenter.segment(text)]


def load_spacy() -> Starts:
    import spacy

    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    return lambda text: [sentence.start_char for sentence in pipeline(text).sents]


SPLITTERS: dict[str, Callable[[], Starts]] = {
    "kernelwood": load_kernelwood,
    "syntok": load_syntok,
    "pysbd": load_pysbd,
    "spaCy": load_spacy,
}


def load_splitters(names: Iterable[str]) -> dict[str, Starts]:
    """Return the splitters that are installed."""
    loaded = {}
    for name in names:
        try:
            loaded[name] = SPLITTERS[name]()
        except ImportError as failure:
            print(f"{name} skipped: {failure}; pip install {name.lower()}", file=sys.stderr)
    return loaded


def found_boundaries(split: Starts, text: str) -> set[int]:
    """Return the first characters of all sentences but the first."""
    solid = (_SOLID.search(text, start) for start in split(text))
    starts = {match.start() for match in solid if match}
    return starts - {min(starts, default=0)}


def is_marked(text: str, place: int) -> bool:
    return _MARKED.search(text, max(0, place - 12), place) is not None


def show_errors(document: Text, found: set[int]) -> None:
    for place in sorted(found ^ document.boundaries):
        sign = "false " if place in found else "missed"
        before = document.text[max(0, place - CONTEXT) : place]
        print(sign, repr(before), "|", repr(document.text[place : place + CONTEXT]))


def crosses(event: list[int], boundaries: set[int]) -> bool:
    return any(min(event) < boundary <= max(event) for boundary in boundaries)


def measure(
    documents: list[Text], split: Starts, repeats: int, errors: bool
) -> dict[str, int | float | None]:
    true = n_found = matched = n_events = crossing = unmarked = excused = 0
    for document in documents:
        found = found_boundaries(split, document.text)
        hidden = {at for at in document.boundaries if not is_marked(document.text, at)}
        n_found += len(found)
        true += len(document.boundaries)
        matched += len(found & document.boundaries)
        unmarked += len(hidden)
        excused += len(hidden - found)
        n_events += len(document.events)
        crossing += sum(crosses(event, found) for event in document.events)
        if errors and not document.events:
            show_errors(document, found)
    wrong = crossing if n_events else n_found + true - 2 * matched
    cases = n_events or len(documents)  # if there are no true boundaries
    megabytes = sum(len(document.text.encode()) for document in documents) / 1e6
    seconds = cpu_seconds(lambda: [list(split(d.text)) for d in documents], repeats)
    return {
        "true": None if n_events else true + len(documents),
        "found": n_found + len(documents),
        "precision": 100 * matched / max(n_found, 1) if true else None,
        "recall": 100 * matched / true if true else None,
        "F1": 200 * matched / (n_found + true) if true else None,
        "errors": wrong,
        "per 1,000": 1000 * wrong / (true or cases),
        "at marks": wrong - excused,
        "per 1,000 marks": 1000 * (wrong - excused) / (true - unmarked or cases),
        "CPU s/MB": seconds / megabytes,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder with the corpora (default: KERNELWOOD_DATA)")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--splitters", nargs="+", choices=SPLITTERS, default=list(SPLITTERS))
    parser.add_argument("--repeats", type=int, default=3, help="timed runs; the fastest counts")
    parser.add_argument("--errors", action="store_true", help="print each error in context")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    splitters = load_splitters(options.splitters)
    for corpus in options.corpora:
        try:
            documents = list(CORPORA[corpus](options.data))
        except FileNotFoundError as failure:
            print(f"{corpus} skipped: {failure}", file=sys.stderr)
            continue
        shown = f"{corpus}*" if corpus in DEVELOPMENT else corpus
        for name, split in splitters.items():
            scores = measure(documents, split, options.repeats, options.errors)
            rows.append({"corpus": shown, "splitter": name, **scores})
    if options.json:
        print(json.dumps(rows))
    elif rows:
        show_table("Sentences, boundaries in percent, and errors of sentence splitters", rows)


if __name__ == "__main__":
    main()
