"""The GENIA treebank and texts as archives hold them, and how bundled parsers learn from them."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterable
from typing import Any

import kernelwood as kw
from kernelwood.datasets import require_data
from kernelwood.parsing.backends import with_tokens
from kernelwood.parsing.dependency_parser import DependencyParser, ParsedWords
from kernelwood.parsing.treebank import prepare_treebank
from kernelwood.parsing.units import find_units, unit_words
from kernelwood.structures import words_and_tags

ARCHIVE = "genia-treebank/genia_mclosky_split_ptb_ud1.tar.gz"
LEARNED = ("dev", "future_use")
HELD_OUT = "test"
TEXTS = ("bionlp-st-2009", "bionlp-st-2013-ge")
# The best of a few, learned from future_use and 900 sentences of dev, measured on 300 others.
PARAMETERS: dict[str, Any] = {"horizontal": 3, "smoothing": 0.0}

_BRACKET = re.compile(r"-[LR][RSC]B-")


def read_genia(data: str | None, *parts: str) -> list[kw.Tree]:
    """Return the trees of some of the parts dev, future_use and test."""
    trees = []
    for part in parts:
        text = _member(data, f"mclosky/{part}.trees")
        trees += [example.view("tree") for example in kw.read(text, format="penn")]
    return trees


def read_genia_heads(data: str | None, part: str) -> list[list[int]]:
    """Return the heads of the words of each sentence, converted to Universal Dependencies."""
    found = []
    for example in kw.read(_member(data, f"{part}.conllu"), format="conllu"):
        heads = {edge.dependent: edge.head for edge in example.view("sentence").dependencies}
        found.append([heads[word] for word in range(len(heads))])
    return found


def _member(data: str | None, name: str) -> io.StringIO:
    with tarfile.open(require_data(ARCHIVE, data=data)) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.removeprefix("./") == name else None
            if file is not None:
                return io.StringIO(file.read().decode())
    raise SystemExit(f"{ARCHIVE} has no {name}")


def read_texts(data: str | None) -> dict[str, list[list[str]]]:
    """Return the words of the sentences of each text of the BioNLP shared tasks, by its name.

    Words are those that the bundled grammar parses. A sentence counts once, where it occurs first,
    and only with 2 to 50 words.
    """
    raw: dict[str, str] = {}
    for name in TEXTS:
        with tarfile.open(require_data(f"bionlp-st/{name}.tar.gz", data=data)) as archive:
            for member in archive:
                file = archive.extractfile(member) if member.name.endswith(".txt") else None
                if file is not None:
                    raw[member.name] = file.read().decode()
    seen: set[tuple[str, ...]] = set()
    texts: dict[str, list[list[str]]] = {}
    for name in sorted(raw):
        found = texts[name] = []
        for sentence in map(with_tokens, kw.Document(raw[name]).sentences()):
            words = unit_words(sentence, find_units(sentence))
            if 2 <= len(words) <= 50 and tuple(words) not in seen:
                seen.add(tuple(words))
                found.append(words)
    return texts


def without_sentences(texts: dict[str, list[list[str]]], trees: list[kw.Tree]) -> list[list[str]]:
    """Return the sentences of the texts that have none of the sentences of a treebank."""
    known = {_letters(words_and_tags(tree)[0]) for tree in trees}
    known = {sentence for sentence in known if len(sentence) >= 20}
    kept = []
    for sentences in texts.values():
        whole = "".join(map(_letters, sentences))
        if not any(sentence in whole for sentence in known):
            kept += sentences
    return kept


def _letters(words: Iterable[str]) -> str:
    """Return the letters and digits of words, which differ least between editions of a text."""
    plain = (_BRACKET.sub("", word) for word in words)
    return "".join(mark for word in plain for mark in word.lower() if mark.isalnum())


def learn_dependencies(
    trees: list[kw.Tree], grammar: kw.ForestParser, texts: list[list[str]]
) -> DependencyParser:
    """Return the dependency parser that learns from trees and from texts that a grammar parses."""
    parsed = []
    for begin in range(0, len(texts), 256):
        forests = grammar.parse_batch(texts[begin : begin + 256])
        parsed += [ParsedWords.of_tree(f.best_tree()) for f in forests if not f.fallback]
    treebank = [ParsedWords.of_tree(tree) for tree in prepare_treebank(trees)]
    return DependencyParser().fit(treebank, parsed)
