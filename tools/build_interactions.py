"""Build the bundled corpus of molecular interactions from its source, ``tools/interactions``.

::

    python tools/build_interactions.py          # writes src/kernelwood/datasets/interactions
    python tools/build_interactions.py --check  # writes nothing, fails if a file is not up to date

``train.txt`` and ``test.txt`` hold documents, made of blocks with a blank line between them; a line
that begins with two blanks continues the one before::

    document d01

    (S (NP (NN Raf@Protein)) (VP (VBZ binds) (NP (NN KSR1@Protein))) (. .))
    heads 2:nsubj 0:root 2:dobj 2:punct
    Binds Raf KSR1

======================  ==========================================================================
line                    what it says
======================  ==========================================================================
``(S ...)``             the constituents; ``@Protein`` marks the end of an entity of that type,
                        ``@+`` a word of an entity that goes on with the next
``heads 2:nsubj ...``   for each word its head, counted from 1, and its relation to it
``Binds Raf KSR1``      a relation; words of an entity are joined by ``_``, ``Raf#2`` is the second
                        entity of that name; if the type is symmetric, the order means nothing
``maybe Binds ...``     the same, but the sentence only says that it may be so
``not Binds ...``       the sentence denies it: no relation, but kept as a remark on the sentence
======================  ==========================================================================

``lemmas.txt`` lists tag, lower-cased word and lemma; of all other words it is the word itself.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import NamedTuple

import kernelwood as kw
from kernelwood.io import standoff_files
from kernelwood.io.formats.jsonl import jsonl_text
from kernelwood.structures import words_and_tags

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "tools" / "interactions"
TARGET = ROOT / "src" / "kernelwood" / "datasets" / "interactions"
SPLITS = ("train", "test")
TYPES = ("Protein", "Gene", "Chemical", "Complex")
RELATIONS = ("Activates", "Inhibits", "Phosphorylates", "Regulates", "Binds")
SYMMETRIC = ("Binds",)
SPECULATION = "Speculation"

_MARK = re.compile(r"@(\+|[A-Z][a-z]+)(?=\))")
_GOES_ON = "+"
_BRACKETS = {"-LRB-": "(", "-RRB-": ")"}
_NO_BLANK_BEFORE = frozenset([",", ".", ";", ")", "%", "/"])
_NO_BLANK_AFTER = frozenset(["(", "/"])

Lemmas = dict[tuple[str, str], str]


class Claim(NamedTuple):
    """What a sentence says about two entities, given by name."""

    said: str  # "", "maybe" or "not"
    type: str
    first: str
    second: str


class Mention(NamedTuple):
    """An entity: its name in the source, its type and its characters in the sentence."""

    name: str
    type: str
    start: int
    end: int


@dataclass
class Block:
    """A sentence of the source."""

    tree: str
    heads: str
    claims: list[Claim]


@dataclass
class Annotation:
    """The annotation of a document, growing sentence by sentence."""

    entities: list[kw.text.Entity] = field(default_factory=list)
    relations: list[kw.text.Relation] = field(default_factory=list)
    attributes: list[kw.text.Attribute] = field(default_factory=list)


def build(source: Path = SOURCE) -> dict[str, str]:
    """Return the content of every file of the corpus, by its path in the corpus."""
    lemmas = read_lemmas((source / "lemmas.txt").read_text(encoding="utf-8"))
    files = {"brat/annotation.conf": brat_configuration()}
    for split in SPLITS:
        text = (source / f"{split}.txt").read_text(encoding="utf-8")
        documents, sentences = [], []
        for name, blocks in read_source(text):
            document, parsed = make_document(name, blocks, lemmas)
            documents.append(kw.Example(name, views={"document": document}))
            sentences += [
                kw.Example(f"{name}.s{number}", views={"sentence": sentence})
                for number, sentence in enumerate(parsed)
            ]
        files[f"{split}.jsonl"] = "".join(jsonl_text(sentences))
        for file, content in standoff_files(documents):
            files[f"brat/{split}/{file}"] = content
    return files


def read_lemmas(text: str) -> Lemmas:
    """Return the lemma for each tag and word that has one of its own.

    Examples
    --------
    >>> read_lemmas("VBZ binds bind")
    {('VBZ', 'binds'): 'bind'}
    """
    rows = (line.split() for line in text.splitlines())
    return {(tag, word): lemma for tag, word, lemma in rows}


def read_source(text: str) -> Iterator[tuple[str, list[Block]]]:
    """Yield the name and the sentences of each document."""
    name, blocks = "", list[Block]()
    for part in text.strip("\n").replace("\n  ", " ").split("\n\n"):
        first, *lines = part.split("\n")
        if first.startswith("document "):
            if blocks:
                yield name, blocks
            name, blocks = first.removeprefix("document "), []
        else:
            blocks.append(Block(first, lines[0], [read_claim(line) for line in lines[1:]]))
    yield name, blocks


def read_claim(line: str) -> Claim:
    """Return what a line says about two entities.

    Examples
    --------
    >>> read_claim("not Binds Raf Ras")
    Claim(said='not', type='Binds', first='Raf', second='Ras')
    """
    *said, kind, first, second = line.split()
    if kind not in RELATIONS or said not in ([], ["maybe"], ["not"]):
        sys.exit(f"{line!r} is no relation: write [maybe | not] type first second")
    return Claim("".join(said), kind, first, second)


def make_document(
    name: str, blocks: list[Block], lemmas: Lemmas
) -> tuple[kw.Document, tuple[kw.Sentence, ...]]:
    """Return a document, and its sentences with the same annotation and their analyses."""
    parsed = []
    annotation = Annotation()
    start = 0
    for block in blocks:
        sentence, mentions = make_sentence(block, lemmas)
        denied = annotate(annotation, block.claims, mentions, start)
        parsed.append(sentence.with_parts(metadata=[("document", name), *denied]))
        start += len(sentence.text) + 1
    text = " ".join(sentence.text for sentence in parsed) + "\n"
    document = kw.Document(
        text,
        tuple(annotation.entities),
        tuple(annotation.relations),
        attributes=tuple(annotation.attributes),
    )
    cut = document.annotate(parsed)
    if cut.lost:
        sys.exit(f"{name}: {dict(cut.lost)}")
    return document, cut.sentences


def make_sentence(block: Block, lemmas: Lemmas) -> tuple[kw.Sentence, list[Mention]]:
    """Return a sentence with its analyses, and the entities in it."""
    marked, tags = words_and_tags(kw.Tree.from_brackets(block.tree))
    tree = kw.Tree.from_brackets(_MARK.sub("", block.tree))
    words = [_BRACKETS.get(leaf.label, leaf.label) for leaf in tree.leaves()]
    marks = [word.partition("@")[2] for word in marked]
    text, places = spell(words)
    tokens = [
        kw.text.Token(word, *place, lemmas.get((tag, word.lower()), word.lower()), tag=tag)
        for word, place, tag in zip(words, places, tags, strict=True)
    ]
    dependencies = []
    for dependent, item in enumerate(block.heads.removeprefix("heads ").split()):
        head, _, relation = item.partition(":")
        dependencies.append(kw.text.Dependency(int(head) - 1, relation, dependent))
    if len(dependencies) != len(words):
        sys.exit(f"{len(dependencies)} heads for {len(words)} words: {text}")
    sentence = kw.Sentence(text, tuple(tokens), tuple(dependencies), tree=tree)
    return sentence, list(find_mentions(words, places, marks))


def spell(words: list[str]) -> tuple[str, list[tuple[int, int]]]:
    """Return words as a text with blanks where they belong, and the place of each.

    Examples
    --------
    >>> spell(["Raf", "-induced", "stress", "(", "60", "%", ")", "."])[0]
    'Raf-induced stress (60%).'
    """
    text, before = "", ""
    places = []
    for word in words:
        joined = (
            not text
            or word in _NO_BLANK_BEFORE
            or word.startswith("-")
            or before in _NO_BLANK_AFTER
            or (before, word) == ("can", "not")
        )
        text += "" if joined else " "
        places.append((len(text), len(text) + len(word)))
        text += word
        before = word
    return text, places


def find_mentions(
    words: list[str], places: list[tuple[int, int]], marks: list[str]
) -> Iterator[Mention]:
    """Yield the entities; the second of a name is called ``name#2``, and so on."""
    seen: Counter[str] = Counter()
    first: int | None = None
    for index, mark in enumerate(marks):
        if not mark:
            continue
        if first is None:
            first = index
        if mark != _GOES_ON:
            if mark not in TYPES:
                sys.exit(f"{mark!r} is no type of entities: {', '.join(TYPES)}")
            name = "_".join(words[first : index + 1])
            seen[name] += 1
            number = f"#{seen[name]}" if seen[name] > 1 else ""
            yield Mention(name + number, mark, places[first][0], places[index][1])
            first = None


def annotate(
    annotation: Annotation, claims: list[Claim], mentions: list[Mention], start: int
) -> list[tuple[str, str]]:
    """Add the entities and relations of a sentence; return what it denies, as metadata."""
    ids = {}
    for number, mention in zip(count(len(annotation.entities) + 1), mentions, strict=False):
        ids[mention.name] = f"T{number}"
        span = (start + mention.start, start + mention.end)
        spelled = mention.name.partition("#")[0].replace("_", " ")
        annotation.entities.append(kw.text.Entity(f"T{number}", mention.type, (span,), spelled))
    denied = []
    for said, kind, first, second in claims:
        if not {first, second} <= ids.keys():
            sys.exit(f"{first} or {second} is no entity: {', '.join(ids)}")
        if said == "not":
            denied.append(("denied", f"{kind} {ids[first]} {ids[second]}"))
            continue
        name = f"R{len(annotation.relations) + 1}"
        if kind in SYMMETRIC:  # no direction, so none that a learner could miss
            first, second = sorted((first, second), key=list(ids).index)
        arguments = (kw.text.Argument("Arg1", ids[first]), kw.text.Argument("Arg2", ids[second]))
        annotation.relations.append(kw.text.Relation(name, kind, arguments))
        if said == "maybe":
            number = len(annotation.attributes) + 1
            annotation.attributes.append(kw.text.Attribute(f"A{number}", SPECULATION, name))
    return denied


def brat_configuration() -> str:
    """Return what brat needs to know to show and edit the documents."""
    relations = []
    for kind in RELATIONS:
        symmetric = ", <REL-TYPE>:symmetric" if kind in SYMMETRIC else ""
        relations.append(f"{kind} Arg1:<ENTITY>, Arg2:<ENTITY>{symmetric}")
    attributes = [f"{SPECULATION} Arg:<RELATION>"]
    sections = {
        "entities": [*TYPES],
        "relations": relations,
        "events": [],
        "attributes": attributes,
    }
    return "\n".join("\n".join([f"[{name}]", *rows, ""]) for name, rows in sections.items())


def main() -> None:
    """Write the files of the corpus, or say which are not up to date."""
    parser = argparse.ArgumentParser(description="Build the bundled corpus of interactions.")
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    files = build()
    there = {path.relative_to(TARGET).as_posix() for path in TARGET.rglob("*") if path.is_file()}
    stale = sorted(there - files.keys())
    for name, content in files.items():
        path, data = TARGET / name, content.encode("utf-8")
        if name in there and path.read_bytes() == data:
            continue
        stale.append(name)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    if not check:
        for name in there - files.keys():
            (TARGET / name).unlink()
    elif stale:
        sys.exit(f"not up to date: {', '.join(stale)}\n    run python tools/build_interactions.py")


if __name__ == "__main__":
    main()
