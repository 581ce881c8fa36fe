"""A fast dependency parser: tagger, transitions and labels with learned integer weights.

Parts of speech are found from left to right, heads by the transitions of an arc-hybrid system,
relations last. Each decision is the best of a sum of weights of hashed features, which the native
core computes (``transition_parser.hpp``); weights are integers, so parses are the same on every
machine. They are learned as averaged perceptrons, the transitions with a dynamic oracle.

References
----------
Y. Goldberg, J. Nivre. Training deterministic parsers with non-deterministic oracles. TACL 2013.
S. Petrov, P.-C. Chang, M. Ringgaard, H. Alshawi. Uptraining for accurate deterministic question
parsing. EMNLP 2010.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence as Listing
from itertools import accumulate, chain, pairwise
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.arrays import ArrayOf, Schema, Strings
from kernelwood.compute import Runner, StopFlag
from kernelwood.errors import ModelFormatError
from kernelwood.structures import Tree, words_and_tags
from kernelwood.text import dependencies_of_tree

Weights: TypeAlias = NDArray[np.int8]
Numbers: TypeAlias = NDArray[np.int32]

_SEED = 1
_FOLDS = 4  # of the treebank, tagged by taggers that have not seen them
_TREEBANK_WEIGHT = 4  # passes over the treebank in a pass over the parsed text
_MIN_COUNT = 3  # occurrences of a word of the vocabulary
_MOST_CLASSES = 4096
# Passes, places of the weights, and how many weights there are for one that is cut to 8 bits.
_TAGS, _HEADS, _LABELS = (8, 2**20, 1000), (10, 2**20, 1000), (5, 2**19, 1000)
# On sentences of GENIA that were held out, 23 weights parse as well as 255, in half the bytes.
_UNIT = 12
_COST = 10**6  # cost of a sentence, in units of the runner


class ParsedWords(NamedTuple):
    """Words with parts of speech and dependencies; the head of the root is -1."""

    words: list[str]
    tags: list[str]
    heads: list[int]
    relations: list[str]

    @classmethod
    def of_tree(cls, tree: Tree) -> ParsedWords:
        """Return the words of a constituency tree, with its dependencies by head rules.

        Examples
        --------
        >>> ParsedWords.of_tree(Tree.from_brackets("(S (NP (NN rain)) (VP (VBZ falls)))")).heads
        [1, -1]
        """
        words, tags = words_and_tags(tree)
        edges = dependencies_of_tree(tree)
        return cls(list(words), list(tags), [e.head for e in edges], [e.relation for e in edges])


class DependencyParser:
    """A tagger and dependency parser of words as a treebank writes them.

    Attributes
    ----------
    tags_, relations_ : tuple of str
        Parts of speech and relations.
    words_ : tuple of str
        Words in lower case that have features of their own, sorted.
    nouns_, verbs_ : tuple of str
        Lemmas of singular nouns, and of verbs; sorted.
    tag_weights_, head_weights_, relation_weights_ : int8 array
        Weights of hashed features, whole numbers from -11 to 11; a power of two of them.

    Notes
    -----
    Thread safety: all methods but ``fit``. The time is linear in the length of a sentence.

    Examples
    --------
    >>> trees = ["(S (NP (NN rain)) (VP (VBZ falls)))", "(S (NP (NN snow)) (VP (VBZ melts)))"]
    >>> treebank = [ParsedWords.of_tree(Tree.from_brackets(text)) for text in trees]
    >>> parser = DependencyParser().fit(treebank)
    >>> parser.parse_batch([["snow", "falls"]])
    [ParsedWords(words=['snow', 'falls'], tags=['NN', 'VBZ'], heads=[1, -1], \
relations=['nsubj', 'root'])]
    """

    _saved: ClassVar[Schema] = {
        "tags": Strings(filled=True, different=True),
        "relations": Strings(filled=True, different=True),
        "words": Strings(rising=True),
        "nouns": Strings(rising=True),
        "verbs": Strings(rising=True),
        "tag_weights": ArrayOf("int8", None),
        "head_weights": ArrayOf("int8", None),
        "relation_weights": ArrayOf("int8", None),
    }

    tags_: tuple[str, ...]
    relations_: tuple[str, ...]
    words_: tuple[str, ...]
    nouns_: tuple[str, ...]
    verbs_: tuple[str, ...]
    tag_weights_: Weights
    head_weights_: Weights
    relation_weights_: Weights

    def fit(
        self,
        treebank: Listing[ParsedWords],
        parsed: Listing[ParsedWords] = (),
    ) -> DependencyParser:
        """Learn from a treebank, and from text that another parser has parsed.

        Parameters
        ----------
        treebank : list of ParsedWords
            With projective dependencies. The tagger and the lemmas learn from these only.
        parsed : list of ParsedWords
            More sentences for heads and relations, with the labels of the treebank.
        """
        known = {tag for sentence in treebank for tag in sentence.tags}
        known_relations = {name for sentence in treebank for name in sentence.relations}
        both = [
            *treebank,
            *(
                one
                for one in parsed
                if known.issuperset(one.tags) and known_relations.issuperset(one.relations)
            ),
        ]
        counts = Counter(_lowered(word) for sentence in both for word in sentence.words)
        self.words_ = tuple(sorted(word for word, count in counts.items() if count >= _MIN_COUNT))
        self.tags_, self.relations_ = tuple(sorted(known)), tuple(sorted(known_relations))
        self.nouns_ = _words_tagged(treebank, "NN")
        self.verbs_ = _words_tagged(treebank, "VB", "VBP")
        self._learn(both, len(treebank))
        return self

    def parse_batch(
        self, sentences: Iterable[Listing[str]], *, n_jobs: int | None = None
    ) -> list[ParsedWords]:
        """Return the parses of sentences, which may be empty."""
        listed = [list(words) for words in sentences]
        starts, tags, heads, relations = self.parse_numbers(listed, n_jobs=n_jobs)
        return [
            ParsedWords(
                words,
                [self.tags_[tag] for tag in tags[start:end]],
                heads[start:end],
                [self.relations_[relation] for relation in relations[start:end]],
            )
            for words, start, end in zip(listed, starts, starts[1:], strict=False)
        ]

    def parse_numbers(
        self, sentences: Listing[list[str]], *, n_jobs: int | None = None
    ) -> tuple[list[int], list[int], list[int], list[int]]:
        """Return where sentences start in the other lists, and of each word tag, head, relation.

        Tags and relations are positions in ``tags_`` and ``relations_``. Sentences are parsed on
        ``n_jobs`` threads and reported to the progress callback of the settings; neither changes
        a parse.
        """
        text = _Text.of(sentences)
        found = [np.zeros(text.n_words, dtype=np.int32) for _ in range(3)]
        native = self._native_parser()

        def work(begin: int, end: int, stop: StopFlag) -> None:
            native.parse(*text, begin, end, *found, stop)

        n = len(sentences)
        runner = Runner(n_jobs, n)
        runner.run(work, n, evaluations=runner.total, cost=_COST * n)
        tags, heads, relations = (array.tolist() for array in found)
        return text.sentences.tolist(), tags, heads, relations

    def _native_parser(self) -> Any:
        made = self.__dict__.get("_native")
        if made is None:
            made = self._native = self._make_native(
                self.tag_weights_, self.head_weights_, self.relation_weights_
            )
        return made

    def _make_native(self, tags: Weights, heads: Weights, relations: Weights) -> Any:
        return _native.TransitionParser(
            self.words_, len(self.tags_), len(self.relations_), tags, heads, relations
        )

    def _learn(self, sentences: Listing[ParsedWords], n_treebank: int) -> None:
        text = _Text.of([sentence.words for sentence in sentences])
        tag_numbers = {name: at for at, name in enumerate(self.tags_)}
        relation_numbers = {name: at for at, name in enumerate(self.relations_)}
        native = _native.TransitionTreebank(
            self.words_,
            len(self.tags_),
            len(self.relations_),
            *text,
            _numbers(tag_numbers[tag] for sentence in sentences for tag in sentence.tags),
            _numbers(chain.from_iterable(sentence.heads for sentence in sentences)),
            _numbers(relation_numbers[name] for one in sentences for name in one.relations),
        )
        treebank = np.arange(n_treebank)
        passes, places, cut = _TAGS
        tags = np.zeros(text.n_words, dtype=np.int32)
        # Found tags are what the parser sees, so they are found by taggers that have not seen them.
        bounds = np.linspace(0, n_treebank, _FOLDS + 1).astype(int).tolist()
        for fold, (begin, end) in enumerate(pairwise(bounds)):
            others = np.concatenate([treebank[:begin], treebank[end:]])
            weights = native.learn_tags(_order(others, passes, fold), places, cut)
            self._tag(text, weights, begin, end, tags)
        order = _order(treebank, passes, _FOLDS)
        self.tag_weights_ = native.learn_tags(order, places, cut)
        self._tag(text, self.tag_weights_, n_treebank, len(sentences), tags)
        rest = np.arange(n_treebank, len(sentences))
        often = np.concatenate([np.repeat(treebank, _TREEBANK_WEIGHT if len(rest) else 1), rest])
        passes, places, cut = _HEADS
        order = _order(often, passes, _FOLDS + 1)
        self.head_weights_ = native.learn_heads(order, places, cut, tags, len(often))
        passes, places, cut = _LABELS
        order = _order(often, passes, _FOLDS + 2)
        self.relation_weights_ = native.learn_labels(order, places, cut, tags)
        for name in ("tag_weights_", "head_weights_", "relation_weights_"):
            setattr(self, name, _coarse(getattr(self, name)))
        self.__dict__.pop("_native", None)

    def _tag(self, text: _Text, weights: Weights, begin: int, end: int, tags: Numbers) -> None:
        """Write the parts of speech that a tagger finds in the sentences from begin to end."""
        none = np.zeros(_MOST_CLASSES, dtype=np.int8)
        heads, relations = np.zeros_like(tags), np.zeros_like(tags)
        self._make_native(weights, none, none).parse(*text, begin, end, tags, heads, relations)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_native"}

    def _to_saved(self) -> tuple[dict[str, list[str]], dict[str, NDArray[Any]]]:
        """Return lists of strings and arrays that describe the parser."""
        values = {name: getattr(self, f"{name}_") for name in self._saved}
        texts = {name: list(value) for name, value in values.items() if type(value) is tuple}
        return texts, {name: value for name, value in values.items() if name not in texts}

    @classmethod
    def _from_saved(
        cls, texts: Mapping[str, list[str]], arrays: Mapping[str, NDArray[Any]]
    ) -> DependencyParser:
        """Return the parser of parts that are as declared, the inverse of `_to_saved`."""
        parser = cls()
        for name, lines in texts.items():
            setattr(parser, f"{name}_", tuple(lines))
        for name, array in arrays.items():
            setattr(parser, f"{name}_", np.ascontiguousarray(array))
        for name in ("tags", "relations"):
            if not 0 < len(texts[name]) <= _MOST_CLASSES:
                raise ModelFormatError("there are none, or too many", member=name)
        try:
            parser._native_parser()
        except ValueError as error:
            raise ModelFormatError(str(error)) from None
        return parser


class _Text(NamedTuple):
    """The words of sentences as the native core takes them.

    Attributes
    ----------
    bytes : uint8 array
        The words in UTF-8, one after the other.
    words, sentences : int64 array
        Where words and sentences begin, and where the last ends.
    """

    bytes: NDArray[np.uint8]
    words: NDArray[np.int64]
    sentences: NDArray[np.int64]

    @classmethod
    def of(cls, sentences: Listing[list[str]]) -> _Text:
        encoded = [word.encode("utf-8", "surrogatepass") for words in sentences for word in words]
        return cls(
            np.frombuffer(b"".join(encoded), dtype=np.uint8),
            np.fromiter(accumulate(map(len, encoded), initial=0), np.int64, len(encoded) + 1),
            np.fromiter(accumulate(map(len, sentences), initial=0), np.int64, len(sentences) + 1),
        )

    @property
    def n_words(self) -> int:
        return len(self.words) - 1


def _coarse(weights: Weights) -> Weights:
    """Return weights divided by `_UNIT` and rounded, those below a unit as 0.

    Examples
    --------
    >>> _coarse(np.array([127, -18, -17, 12, -11, 5], dtype=np.int8)).tolist()
    [11, -2, -1, 1, 0, 0]
    """
    sizes = np.abs(weights.astype(np.int16))
    units = np.where(sizes < _UNIT, 0, (sizes + _UNIT // 2) // _UNIT)
    return (np.sign(weights) * units).astype(np.int8)


def _numbers(values: Iterable[int]) -> Numbers:
    return np.fromiter(values, dtype=np.int32)


def _order(sentences: NDArray[np.int64], passes: int, stream: int) -> NDArray[np.int64]:
    """Return the sentences of several passes, each in a random order of its own."""
    # Only the raw numbers of a bit generator are the same in all versions of numpy.
    generator = np.random.PCG64([_SEED, stream])
    orders = [
        sentences[np.argsort(generator.random_raw(len(sentences)), kind="stable")]
        for _ in range(passes)
    ]
    return np.concatenate(orders).astype(np.int64)


def _lowered(word: str) -> str:
    """Return a word with ASCII letters in lower case, as the native core has it."""
    return word.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def _words_tagged(sentences: Iterable[ParsedWords], *tags: str) -> tuple[str, ...]:
    """Return the words that occur with one of some parts of speech."""
    pairs = (pair for one in sentences for pair in zip(one.words, one.tags, strict=True))
    return tuple(sorted({word for word, tag in pairs if tag in tags}))
