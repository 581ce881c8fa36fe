"""Parses by Stanza, which is an extra."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence as Listing
from typing import Any

from kernelwood.errors import KernelInputError
from kernelwood.parsing.neural import ParsedText, Word, parse_sentences
from kernelwood.structures import Tree, make_node
from kernelwood.text import ROOT, Multiword, Sentence, Token

_INSTALL_STANZA = "pip install 'kernelwood[stanza]'"


class StanzaBackend:
    """Sentences, parts of speech, lemmas and dependencies from a pipeline of Stanza.

    Trees, too, if the pipeline has constituents.

    Parameters
    ----------
    pipeline : str or pipeline
        A language for which models are installed, with a package after a slash if it is not the
        default one (``"en"``, ``"en/genia"``); or a loaded pipeline. Models are never downloaded.
    entities : bool
        Whether sentences without entities get those that the pipeline finds.

    Attributes
    ----------
    name, version : str
        ``stanza:`` and the language; the version of Stanza.
    """

    def __init__(self, pipeline: Any = "en", *, entities: bool = False) -> None:
        self.entities = entities
        loaded = not isinstance(pipeline, str)
        self._pipeline = pipeline if loaded else _load(pipeline, entities)
        self.name = f"stanza:{getattr(pipeline, 'lang', '') if loaded else pipeline}"
        self.version = f"Stanza {_stanza_version()}"

    def __repr__(self) -> str:
        return f"StanzaBackend({self.name!r}, version={self.version!r})"

    def parse(self, sentences: Listing[Sentence]) -> list[Sentence]:
        """Return the sentences with tokens, parts of speech, lemmas and dependencies."""
        return parse_sentences(sentences, self._parse, entities=self.entities)

    def _parse(self, texts: list[str]) -> Iterator[ParsedText]:
        for text in texts:
            yield _convert(self._pipeline(text)) if text.strip() else ParsedText([], [])


def _convert(doc: Any) -> ParsedText:
    words: list[Word] = []
    ends: list[int] = []
    trees: list[Tree | None] = []
    multiwords: list[Multiword] = []
    for sentence in doc.sentences:
        first = len(words)
        for token in sentence.tokens:
            if len(token.words) > 1:
                at = len(words)
                multiwords.append(Multiword(at, at + len(token.words), token.text))
            words += [_word(word, token, first) for word in token.words]
        ends.append(len(words))
        trees.append(_tree(getattr(sentence, "constituency", None), len(words) - first))
    spans = getattr(doc, "ents", None) or ()
    entities = [(span.type, span.start_char, span.end_char) for span in spans]
    return ParsedText(words, ends, entities, trees, multiwords)


def _word(word: Any, token: Any, first: int) -> Word:
    # Words that are written as one share its characters.
    made = Token(
        word.text,
        token.start_char,
        token.end_char,
        word.lemma or "",
        word.upos or "",
        word.xpos or "",
        word.feats or "",
    )
    if word.head is None:
        return Word(made, ROOT, "")
    return Word(made, first + word.head - 1 if word.head else ROOT, word.deprel or "dep")


def _tree(root: Any, n_words: int) -> Tree | None:
    """Return Stanza's tree as ours, None if there is none or it has other leaves."""
    if root is None:
        return None
    order, todo = [], [root]
    while todo:
        node = todo.pop()
        order.append(node)
        todo += node.children
    ready: list[Tree] = []
    n_leaves = 0
    for node in reversed(order):  # children before parents, from left to right
        count = len(node.children)
        children = tuple(ready[len(ready) - count :])
        del ready[len(ready) - count :]
        n_leaves += not count
        ready.append(make_node(str(node.label), children, ""))
    return ready[0] if n_leaves == n_words else None


def _stanza_version() -> str:
    try:
        return str(importlib.import_module("stanza").__version__)
    except ImportError:
        return "?"


def _load(name: str, entities: bool) -> Any:
    language, _, package = name.partition("/")
    try:
        stanza = importlib.import_module("stanza")
    except ImportError:
        raise KernelInputError(
            f"Stanza is not installed\n    install it: {_INSTALL_STANZA}, then its models: "
            f"python -c \"import stanza; stanza.download('{language}')\""
        ) from None
    try:
        return stanza.Pipeline(
            language,
            package=package or "default",
            processors="tokenize,mwt,pos,lemma,depparse" + ",ner" * entities,
            download_method=None,
            verbose=False,
        )
    except Exception as failure:
        # Stanza has errors of many kinds for models that are not there.
        more = f", package='{package}'" if package else ""
        raise KernelInputError(
            f"the models of Stanza for {name!r} cannot be loaded: {failure}\n"
            f"    install them: python -c \"import stanza; stanza.download('{language}'{more})\""
        ) from failure
