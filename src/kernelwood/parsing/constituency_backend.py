"""Raw text to parsed sentences with a bundled grammar: nothing to install, nothing to download."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence as Listing

import numpy as np

from kernelwood.errors import KernelInputError
from kernelwood.parsing.backends import with_tokens
from kernelwood.parsing.bundled import grammar_version, load_grammar
from kernelwood.parsing.chart import first_word
from kernelwood.parsing.chunks import chunk_tree
from kernelwood.parsing.lemmas import lemma_of
from kernelwood.parsing.units import escape, expand_tree, find_units
from kernelwood.structures import Tree, words_and_tags
from kernelwood.text import Sentence, dependencies_of_tree

__all__ = ["GrammarBackend"]

_LOG = logging.getLogger(__name__)
_BATCH = 256  # sentences whose forests are in memory at a time
_MOST_PIECES = 5  # of a sentence, before it is not parsed at all
_CUTS = (frozenset(";:"), frozenset(","))  # where a long sentence is best cut


class GrammarBackend:
    """Parts of speech, lemmas, trees and dependencies from a bundled grammar.

    Words are parsed as the treebank cuts them (`kernelwood.parsing.units`), and the tree has one
    leaf for each token. Dependencies follow from head rules (`kernelwood.text.tree_heads`).

    Parameters
    ----------
    grammar : {"biomedical"}
        Name of the grammar.
    max_length : int, default 80
        Longest sentence, in words, that is parsed as a whole. A longer one is cut at semicolons,
        colons and commas into pieces that are parsed one by one; one that is more than five times
        as long is hardly a sentence and is not parsed, only chunked. So the time is linear in the
        length of the text, however few sentences it has.
    n_jobs : int or None, default None
        Threads; None for the setting, -1 for all cores. The result is the same.

    Attributes
    ----------
    name, version : str
        Of the grammar.

    Notes
    -----
    The metadata of a sentence has the key ``fallback`` if its tree is not the parser's:
    ``pieces`` if it was put together, ``chunks`` if words were only grouped into noun phrases and
    prepositional phrases (`kernelwood.parsing.chunks`).

    Examples
    --------
    >>> from kernelwood.text import Document
    >>> backend = GrammarBackend()
    >>> document = Document("Raf binds Ras. ERK is activated by MEK.")
    >>> first, second = backend.parse(document.sentences())
    >>> print(second.tree.to_brackets())
    (S (NP (NN ERK)) (VP (VBZ is) (VP (VBN activated) (PP (IN by) (NP (NN MEK))))) (. .))
    >>> [(token.lemma, token.tag) for token in second.tokens][1:3]
    [('be', 'VBZ'), ('activate', 'VBN')]
    >>> first.dependencies[0], second.start
    (Dependency(head=1, relation='nsubj', dependent=0), 15)
    """

    def __init__(
        self, grammar: str = "biomedical", *, max_length: int = 80, n_jobs: int | None = None
    ) -> None:
        if not isinstance(max_length, int) or max_length < 1:
            raise KernelInputError(f"max_length must be an int of at least 1, got {max_length!r}")
        self.name = grammar
        self.version = grammar_version(grammar)
        self.max_length = max_length
        self.n_jobs = n_jobs
        self._parser = load_grammar(grammar)
        self._parser.set_params(n_jobs=n_jobs)
        self._tags: dict[tuple[str, bool], str] = {}
        self._verbs = self._words_tagged("VB", "VBP")
        self._nouns = self._words_tagged("NN")

    def __repr__(self) -> str:
        return f"GrammarBackend({self.name!r}, max_length={self.max_length})"

    def parse(self, sentences: Listing[Sentence]) -> list[Sentence]:
        """Return the sentences with tags, lemmas, trees and dependencies."""
        fallbacks: Counter[str] = Counter()
        parsed = []
        for begin in range(0, len(sentences), _BATCH):
            batch = [with_tokens(sentence) for sentence in sentences[begin : begin + _BATCH]]
            for sentence, (tree, fallback) in zip(batch, self._trees(batch), strict=True):
                if fallback:
                    fallbacks[fallback] += 1
                parsed.append(self._fill(sentence, tree, fallback))
        for reason, count in sorted(fallbacks.items()):
            _LOG.info("%d of %d sentences have trees made of %s", count, len(sentences), reason)
        return parsed

    def _trees(self, sentences: list[Sentence]) -> Iterator[tuple[Tree | None, str]]:
        """Yield the tree of each sentence, and why it is not the parser's, "" if it is."""
        units = [find_units(sentence) for sentence in sentences]
        words = [
            [escape(_text(sentence, unit)) for unit in found]
            for sentence, found in zip(sentences, units, strict=True)
        ]
        pieces = [self._pieces(each) for each in words]
        flat = [piece for parts in pieces for piece in parts]
        forests = iter(self._parser.parse_batch(flat))
        for sentence, found, each, parts in zip(sentences, units, words, pieces, strict=True):
            if not each:
                yield None, ""
                continue
            own = [next(forests) for _ in parts]
            if not own or any(forest.fallback for forest in own):
                tree, fallback = self._chunks(each), "chunks"
            elif len(own) > 1:
                tree, fallback = Tree("S", [forest.best_tree() for forest in own]), "pieces"
            else:
                tree, fallback = own[0].best_tree(), ""
            yield expand_tree(tree, found, sentence.tokens), fallback

    def _pieces(self, words: list[str]) -> list[list[str]]:
        """Return what is parsed of a sentence: it, its pieces, or nothing."""
        if len(words) > _MOST_PIECES * self.max_length:
            return []
        pieces = []
        while len(words) > self.max_length:
            end = self._cut(words)
            pieces.append(words[:end])
            words = words[end:]
        return [*pieces, words] if words else pieces

    def _cut(self, words: list[str]) -> int:
        """Return where the first piece ends: after the last mark of the best kind that fits."""
        for marks in _CUTS:
            for end in range(self.max_length, self.max_length // 2, -1):
                if words[end - 1] in marks:
                    return end
        return self.max_length

    def _chunks(self, words: list[str]) -> Tree:
        opener = first_word(words)
        return chunk_tree(
            (word, self._best_tag(word, at == opener)) for at, word in enumerate(words)
        )

    def _best_tag(self, word: str, opener: bool) -> str:
        tag = self._tags.get((word, opener))
        if tag is None:
            tag = self._parser.labels_[self._parser.lexicon_.best_tag(word, opener)]
            if len(self._tags) < 100_000:
                self._tags[word, opener] = tag
        return tag

    def _fill(self, sentence: Sentence, tree: Tree | None, fallback: str) -> Sentence:
        if tree is None:
            return sentence
        _, tags = words_and_tags(tree)
        tokens = []
        for token, tag in zip(sentence.tokens, tags, strict=True):
            known = self._verbs if tag.startswith("V") else self._nouns
            tokens.append(
                token._replace(tag=tag, lemma=lemma_of(token.text, tag, known.__contains__))
            )
        metadata = (*sentence.metadata, ("fallback", fallback)) if fallback else sentence.metadata
        return sentence._with(
            tokens=tuple(tokens),
            tree=tree,
            dependencies=dependencies_of_tree(tree),
            metadata=metadata,
        )

    def _words_tagged(self, *tags: str) -> frozenset[str]:
        """Return the words that the lexicon knows with one of some parts of speech."""
        lexicon = self._parser.lexicon_
        wanted = [at for at, tag in enumerate(self._parser.tags_) if tag in tags]
        rows = np.repeat(np.arange(len(lexicon.words.texts)), np.diff(lexicon.words.offsets))
        hits = np.isin(lexicon.tag_of[lexicon.words.columns], wanted)
        return frozenset(lexicon.words.texts[row] for row in np.unique(rows[hits]).tolist())


def _text(sentence: Sentence, unit: range) -> str:
    return sentence.text[sentence.tokens[unit[0]].start : sentence.tokens[unit[-1]].end]
