"""Backend of the bundled grammars: tags, lemmas, trees and dependencies without extra packages.

Words of several tokens are parsed as one (`kernelwood.parsing.units`); the tree is then expanded
to one leaf per token.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence as Listing

import numpy as np

from kernelwood.errors import KernelInputError
from kernelwood.parsing.backends import with_tokens
from kernelwood.parsing.bundled import grammar_version, load_grammar
from kernelwood.parsing.lemmas import lemma_of
from kernelwood.parsing.parser import first_word
from kernelwood.parsing.units import expand_word, find_units, unit_words
from kernelwood.structures import Tree, make_node, words_and_tags
from kernelwood.text import NOUNS, Sentence, Token, dependencies_of_tree

_LOG = logging.getLogger(__name__)
_BATCH = 256  # sentences that are parsed at a time
_MOST_PARTS = 5  # of a sentence; longer sentences are chunked
_CUTS = (frozenset(";:"), frozenset(","))  # where long sentences are cut, best first

_HEADS = NOUNS | {"PRP", "EX", "CD"}
_BEFORE_HEADS = frozenset({"DT", "PDT", "PRP$", "POS", "JJ", "JJR", "JJS", "FW", "HYPH", "ADJP"})


class GrammarBackend:
    """Parts of speech, lemmas, trees and dependencies from a bundled grammar.

    Dependencies follow from head rules (`kernelwood.text.tree_dependencies`).

    Parameters
    ----------
    grammar : {"biomedical"}
        Name of the grammar.
    max_length : int, default 80
        Longest sentence, in words, that is parsed as a whole. A longer one is cut at semicolons,
        colons and commas into parts that are parsed separately; one of more than five times the
        length is only chunked. So the time is linear in the length of any text.
    n_jobs : int or None, default None
        Threads; None for the setting, -1 for all cores. Has no effect on the result.

    Attributes
    ----------
    name, version : str
        Name and version of the grammar.

    Notes
    -----
    The metadata of a sentence has the key ``fallback`` if it was not parsed as a whole:
    ``pieces`` if its parts were, ``chunks`` if its words were only grouped into noun phrases and
    prepositional phrases.

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
        """Yield the tree of each sentence, and its fallback, "" if it was parsed as a whole."""
        units = [find_units(sentence) for sentence in sentences]
        words = [unit_words(*pair) for pair in zip(sentences, units, strict=True)]
        cut = [self._parts(each) for each in words]
        trees = iter(self._parser.parse_trees([part for parts in cut for part in parts]))
        for sentence, found, each, parts in zip(sentences, units, words, cut, strict=True):
            if not each:
                yield None, ""
                continue
            own = [next(trees) for _ in parts]
            whole = [tree for tree in own if tree is not None]
            if not own or len(whole) < len(own):
                tree, fallback = self._chunks(each), "chunks"
            elif len(own) > 1:
                tree, fallback = Tree("S", whole), "pieces"
            else:
                tree, fallback = whole[0], ""
            yield expand_tree(tree, found, sentence.tokens), fallback

    def _parts(self, words: list[str]) -> list[list[str]]:
        """Return the parts of a sentence to parse, none if it is too long."""
        if len(words) > _MOST_PARTS * self.max_length:
            return []
        parts = []
        while len(words) > self.max_length:
            end = self._cut(words)
            parts.append(words[:end])
            words = words[end:]
        return [*parts, words] if words else parts

    def _cut(self, words: list[str]) -> int:
        """Return the end of the first part: after the last mark of the best kind that fits."""
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
        """Return the words of the lexicon that occur with one of some parts of speech."""
        lexicon = self._parser.lexicon_
        wanted = [at for at, tag in enumerate(self._parser.tags_) if tag in tags]
        rows = np.repeat(np.arange(len(lexicon.words.texts)), np.diff(lexicon.words.offsets))
        hits = np.isin(lexicon.tag_of[lexicon.words.columns], wanted)
        return frozenset(lexicon.words.texts[row] for row in np.unique(rows[hits]).tolist())


def expand_tree(tree: Tree, units: Listing[range], tokens: Listing[Token]) -> Tree:
    """Return the tree over tokens of a tree over units.

    A noun of several tokens becomes a noun phrase, an adjective or participle an adjective
    phrase; the tokens of other words become siblings.

    Examples
    --------
    >>> from kernelwood.text import tokenize
    >>> tree = Tree.from_brackets("(NP (JJ Raf/Ras) (NN binding))")
    >>> tokens = tokenize("Raf/Ras binding")
    >>> print(expand_tree(tree, [range(0, 3), range(3, 4)], tokens).to_brackets())
    (NP (ADJP (NN Raf) (HYPH /) (JJ Ras)) (NN binding))
    """
    ready: list[tuple[Tree, ...]] = []
    at = 0
    for node in tree.postorder():
        if node.is_leaf:
            ready.append(tuple(make_node(tokens[i].text, (), "") for i in units[at]))
            at += 1
            continue
        count = len(node.children)
        below = tuple(part for parts in ready[-count:] for part in parts)
        del ready[-count:]
        if node.children[0].is_leaf:
            ready.append(expand_word(node.label, below))
        elif len(below) == 1 and below[0].label == node.label and below[0].n_nodes > 2:
            ready.append(below)
        else:
            ready.append((make_node(node.label, below, ""),))
    [[expanded], *_] = ready
    return expanded


def chunk_tree(words: Iterable[tuple[str, str]]) -> Tree:
    """Return a shallow tree of words grouped by their parts of speech.

    Nouns and their modifiers form an NP, a preposition and the NP after it a PP; everything else
    is a child of the root S.

    Parameters
    ----------
    words : iterable of (word, tag)

    Examples
    --------
    >>> words = [("Raf", "NN"), ("binds", "VBZ"), ("to", "TO"), ("active", "JJ"), ("Ras", "NN")]
    >>> print(chunk_tree(words).to_brackets())
    (S (NP (NN Raf)) (VBZ binds) (PP (TO to) (NP (JJ active) (NN Ras))))
    """
    return Tree("S", _attach(_noun_phrases(words)))


def _noun_phrases(words: Iterable[tuple[str, str]]) -> Iterator[Tree]:
    group: list[Tree] = []
    for word, tag in words:
        node = Tree(tag, [Tree(word)])
        # A modifier after a noun begins another phrase.
        if group and tag not in _HEADS and group[-1].label in _HEADS:
            yield from _close(group)
        if tag in _HEADS or tag in _BEFORE_HEADS:
            group.append(node)
        else:
            yield from _close(group)
            yield node
    yield from _close(group)


def _close(group: list[Tree]) -> list[Tree]:
    parts = group.copy()
    group.clear()
    return [Tree("NP", parts)] if parts and parts[-1].label in _HEADS else parts


def _attach(parts: Iterable[Tree]) -> Iterator[Tree]:
    preposition: Tree | None = None
    for part in parts:
        if preposition is not None and part.label == "NP":
            yield Tree("PP", [preposition, part])
            preposition = None
            continue
        if preposition is not None:
            yield preposition
        preposition = part if part.label in ("IN", "TO") else None
        if preposition is None:
            yield part
    if preposition is not None:
        yield preposition
