"""Views of words: a sentence as a sequence, the context of two entities, labels of tokens."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence as Listing
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args

from kernelwood import _native
from kernelwood.errors import StructureError
from kernelwood.structures import Sequence, shorten
from kernelwood.text import Entity, Sentence, Token
from kernelwood.threads import lazy_property

_T = TypeVar("_T")
Labels: TypeAlias = Literal["text", "lemma", "stem", "tag", "pos"]

BLIND = ("ENTITY1", "ENTITY2")  # labels of the two entities of a pair
OTHERS = "ENTITY"  # label of all other entities


def words(sentence: Sentence, *, labels: Labels = "text", lowercase: bool = True) -> Sequence:
    """Return the tokens of a sentence as a sequence without edge labels.

    Parameters
    ----------
    sentence : Sentence
        Sentence with tokens; without tokens, the result is empty.
    labels : {"text", "lemma", "stem", "tag", "pos"}
        Label of a token, see `token_label`.
    lowercase : bool
        Whether words are lowercased; tags never are.

    Returns
    -------
    Sequence
        One element for each token.

    Examples
    --------
    >>> sentence = Sentence.from_words(["Trees", "grow"], lemmas=["tree", "grow"])
    >>> words(sentence)
    Sequence(['trees', 'grow'])
    >>> words(sentence, labels="lemma")
    Sequence(['tree', 'grow'])
    """
    return Sequence(_token_labels(sentence.tokens, labels, lowercase))


def token_label(token: Token, *, labels: Labels = "text", lowercase: bool = True) -> str:
    """Return the label of a token.

    Parameters
    ----------
    token : Token
        The token.
    labels : {"text", "lemma", "stem", "tag", "pos"}
        The word; the lemma, else the word; the stem of the word, see `stem`; the treebank tag,
        else the part of speech; the part of speech, else the tag. A token without tag and part of
        speech has the label "".
    lowercase : bool
        Whether words are lowercased; tags never are.

    Examples
    --------
    >>> token_label(Token("Trees", 0, 5, lemma="tree", tag="NNS"), labels="tag")
    'NNS'
    """
    return _token_labels((token,), labels, lowercase)[0]


def _token_labels(tokens: Iterable[Token], labels: Labels, lowercase: bool) -> list[str]:
    """Return the label of each token."""
    _check_labels(labels)
    if labels == "tag":
        return [token.tag or token.pos for token in tokens]
    if labels == "pos":
        return [token.pos or token.tag for token in tokens]
    if labels == "lemma":
        found = [token.lemma or token.text for token in tokens]
    else:
        found = [token.text for token in tokens]
    if lowercase:
        found = [label.lower() for label in found]
    return [stem(label) for label in found] if labels == "stem" else found


@lru_cache(maxsize=100_000)  # the stemmer is written in Python
def stem(word: str) -> str:
    """Return the stem of an English word by the Snowball stemmer.

    Words with capitals, digits or other signs are returned unchanged: they are names.

    References
    ----------
    .. [1] M. F. Porter, "Snowball: a language for stemming algorithms", 2001,
       https://snowballstem.org.

    Examples
    --------
    >>> [stem(word) for word in ("activates", "activation", "activating", "activator")]
    ['activ', 'activ', 'activ', 'activ']
    >>> stem("IL-2"), stem("interacted"), stem("studies")
    ('IL-2', 'interact', 'studi')
    """
    if not (word.islower() and word.isalpha()):
        return word
    if word.isascii():
        return _native.english_stem(word)
    return str(_stemmer.english.stemWord(word))


class _Stemmer(threading.local):
    """The Snowball stemmer of a thread for words of any letters; threads must not share one."""

    @lazy_property
    def english(self) -> Any:
        from snowballstemmer import EnglishStemmer  # imports the stemmers of all languages

        # Not snowballstemmer.stemmer, which takes another library, with other rules, if it can.
        return EnglishStemmer()


_stemmer = _Stemmer()


def _check_labels(labels: str) -> None:
    """Raise StructureError unless ``labels`` is one of the choices of `token_label`."""
    if labels not in get_args(Labels):
        raise StructureError(
            f"unknown labels {shorten(repr(labels))}",
            hint=f"choose one of {', '.join(map(repr, get_args(Labels)))}",
        )


def check_blind(blind: tuple[str, str] | None) -> None:
    """Raise StructureError unless ``blind`` is None or two labels.

    Examples
    --------
    >>> check_blind("PROTEIN")
    Traceback (most recent call last):
    ...
    kernelwood.errors.StructureError: blind must be two labels or None, got 'PROTEIN'
        one label for each entity: blind=('ENTITY1', 'ENTITY2')
    """
    if blind is None:
        return
    if (
        not isinstance(blind, (tuple, list))
        or len(blind) != 2
        or not all(isinstance(label, str) for label in blind)
    ):
        raise StructureError(
            f"blind must be two labels or None, got {shorten(repr(blind))}",
            hint=f"one label for each entity: blind={BLIND!r}",
        )


class Mentions:
    """Tokens of the entities of a sentence, and labels of its tokens.

    Parameters
    ----------
    sentence : Sentence
        The sentence.
    labels, lowercase
        As in `token_label`.
    others : str or None
        Label of the tokens of entities; None for their own labels. Triggers of events keep their
        own labels.

    Examples
    --------
    >>> raf = Entity("T1", "protein", ((0, 5),))
    >>> sentence = Sentence.from_words(["Raf", "1", "binds"], entities=[raf])
    >>> mentions = Mentions(sentence, labels="text", lowercase=True, others="ENTITY")
    >>> mentions.tokens_of(raf)
    (0, 1)
    >>> mentions.label(0), mentions.word(0), mentions.nodes(range(3))
    ('ENTITY', 'raf', ['ENTITY', 'binds'])
    """

    __slots__ = ("_labels", "_owners", "_runs", "_words", "tokens_of")

    def __init__(
        self, sentence: Sentence, *, labels: Labels, lowercase: bool, others: str | None
    ) -> None:
        self.tokens_of = entity_tokens(sentence)
        self._words = _token_labels(sentence.tokens, labels, lowercase)
        self._owners = {} if others is None else self._find_owners(sentence)
        self._labels = self._words
        if others is not None and self._owners:
            self._labels = self._words.copy()
            for index in self._owners:
                self._labels[index] = others
        self._runs: tuple[list[str], list[int], list[int]] | None = None

    def word(self, index: int) -> str:
        """Return the label of a token, even of an entity."""
        return self._words[index]

    def label(self, index: int) -> str:
        """Return ``others`` for a token of an entity, else the label of the token."""
        return self._labels[index]

    def is_entity(self, index: int) -> bool:
        """Return whether a token belongs to an entity whose label is ``others``."""
        return index in self._owners

    def nodes(
        self, indices: Iterable[int], written: Mapping[int, tuple[str, ...]] | None = None
    ) -> list[str]:
        """Return labels of some tokens; adjacent tokens of one entity share a label.

        Labels in ``written`` replace those of a token.
        """
        replaced = {} if written is None else written
        found: list[str] = []
        before: int | None = None
        owner_of, labels = self._owners.get, self._labels
        for index in indices:
            owner = owner_of(index)
            if index in replaced:
                found += replaced[index]
                owner = None
            elif owner is None or owner != before:
                found.append(labels[index])
            before = owner
        return found

    def runs(self) -> tuple[list[str], list[int], list[int]]:
        """Return the labels of all tokens as `nodes` does, with the tokens each label spans.

        Examples
        --------
        >>> raf = Entity("T1", "protein", ((0, 5),))
        >>> sentence = Sentence.from_words(["Raf", "1", "binds"], entities=[raf])
        >>> Mentions(sentence, labels="text", lowercase=True, others="ENTITY").runs()
        (['ENTITY', 'binds'], [0, 2], [2, 3])
        """
        if self._runs is None:
            n_tokens, owner_of = len(self._labels), self._owners.get
            starts = [
                index
                for index in range(n_tokens)
                if index == 0 or (owner := owner_of(index)) is None or owner != owner_of(index - 1)
            ]
            ends = [*starts[1:], n_tokens] if starts else []
            self._runs = [self._labels[start] for start in starts], starts, ends
        return self._runs

    def _find_owners(self, sentence: Sentence) -> dict[int, int]:
        """Return the position of the longest entity that covers each token."""
        triggers = {event.trigger for event in sentence.events}
        spans = [
            (tokens := self.tokens_of(entity), len(tokens))
            for entity in sentence.entities
            if entity.id not in triggers
        ]
        owners: dict[int, int] = {}
        # The longest overwrites; of equally long ones the last.
        for position, (tokens, _) in sorted(enumerate(spans), key=lambda one: one[1][1]):
            for token in tokens:
                owners[token] = position
        return owners


class _Latest(threading.local):
    """What was prepared last for a sentence, by a key, for views of one sentence in a row."""

    def __init__(self) -> None:
        self.made: dict[Hashable, tuple[Sentence, Any]] = {}


_latest = _Latest()


def prepared_once(sentence: Sentence, key: Hashable, prepare: Callable[[], _T]) -> _T:
    """Return what ``prepare`` makes of a sentence, which views of the same sentence share."""
    found = _latest.made.get(key)
    if found is None or found[0] is not sentence:
        found = _latest.made[key] = (sentence, prepare())
    made: _T = found[1]
    return made


def mentions_of(
    sentence: Sentence, *, labels: Labels, lowercase: bool, others: str | None
) -> Mentions:
    """Return the mentions of a sentence, which views of the same sentence share."""
    return prepared_once(
        sentence,
        (labels, lowercase, others),
        lambda: Mentions(sentence, labels=labels, lowercase=lowercase, others=others),
    )


def entity_tokens(sentence: Sentence) -> Callable[[Entity], tuple[int, ...]]:
    """Return a function that finds the tokens of an entity, each entity once.

    It raises StructureError if an entity is outside the sentence.
    """
    return prepared_once(sentence, "tokens", lambda: _token_finder(sentence))


def _token_finder(sentence: Sentence) -> Callable[[Entity], tuple[int, ...]]:
    find = sentence.token_finder()
    # By identity, which is much faster than by value; entities are kept, so ids stay theirs.
    known: dict[int, tuple[Entity, tuple[int, ...]]] = {}

    def tokens_of(entity: Entity) -> tuple[int, ...]:
        found = known.get(id(entity))
        if found is None:
            _check_range(sentence, entity)
            found = known[id(entity)] = (entity, find(entity))
        return found[1]

    return tokens_of


def _check_range(sentence: Sentence, entity: Entity) -> None:
    length = len(sentence.text)
    for start, end in entity.spans:
        if not 0 <= start < end <= length:
            raise StructureError(
                f"entity {shorten(repr(entity.id))} has the span [{start}, {end}), "
                f"the sentence has {length} characters",
                hint="offsets count from the start of the sentence, not of the document",
            )


class Context(NamedTuple):
    """The words around two entities, each part in the order of the sentence.

    Attributes
    ----------
    before, between, after : Sequence
        The words before both entities; the entities and the words between them; the words after
        both.
    """

    before: Sequence
    between: Sequence
    after: Sequence

    def joined(self) -> Sequence:
        """Return one sequence, with the part of each element as its edge.

        Examples
        --------
        >>> Context(Sequence(["we"]), Sequence(["ENTITY1", "ENTITY2"]), Sequence()).joined()
        Sequence([('before', 'we'), ('between', 'ENTITY1'), ('between', 'ENTITY2')])
        """
        return _join(*(part.nodes for part in self))


def _join(*parts: Listing[str]) -> Sequence:
    before, between, after = parts
    edges = ["before"] * len(before) + ["between"] * len(between) + ["after"] * len(after)
    return Sequence._of(edges, [*before, *between, *after])


def context(
    sentence: Sentence,
    first: Entity,
    second: Entity,
    *,
    window: int | None = 4,
    labels: Labels = "text",
    lowercase: bool = True,
    blind: tuple[str, str] | None = BLIND,
    others: str | None = OTHERS,
) -> Context:
    r"""Return the words before, between and after two entities.

    For several pairs of one sentence, `Contexts` prepares it once.

    Parameters
    ----------
    sentence : Sentence
        Sentence with tokens.
    first, second : Entity
        The entities, in any order.
    window : int or None
        Maximum number of elements before and after; None for all.
    labels : {"text", "lemma", "stem", "tag", "pos"}
        Label of a token, see `token_label`.
    lowercase : bool
        Whether words are lowercased.
    blind : (str, str) or None
        Labels of the two entities, each used once; None for their own words.
    others : str or None
        Label of other entities, except triggers of events; adjacent tokens of one entity become
        one element. None for their own words.

    Returns
    -------
    Context
        Three sequences without edge labels.

    Raises
    ------
    StructureError
        If an entity lies outside the sentence or an option cannot be used.

    Notes
    -----
    ``between`` extends from the first to the last token of both entities. The label of a blinded
    entity replaces its first token, and its other tokens are dropped, also in nested, overlapping
    and discontinuous entities; if both begin with the same token, ``first`` comes first. An entity
    that covers no token is left out; if neither covers one, all three parts are empty.

    References
    ----------
    .. [1] \R. Bunescu, R. Mooney, "Subsequence kernels for relation extraction", NIPS 2005.

    Examples
    --------
    >>> raf, ras = Entity("a", "protein", ((10, 15),)), Entity("b", "protein", ((21, 24),))
    >>> sentence = Sentence.from_words("It is why Raf 1 binds Ras here".split())
    >>> parts = context(sentence, raf, ras, window=2)
    >>> parts.before
    Sequence(['is', 'why'])
    >>> parts.between
    Sequence(['ENTITY1', 'binds', 'ENTITY2'])
    >>> parts.after
    Sequence(['here'])
    """
    contexts = Contexts(
        sentence, window=window, labels=labels, lowercase=lowercase, blind=blind, others=others
    )
    return contexts.around(first, second)


class Contexts:
    """Contexts in a sentence, prepared once for all pairs of entities.

    Parameters
    ----------
    sentence, window, labels, lowercase, blind, others
        As in `context`.

    Examples
    --------
    >>> raf, ras = Entity("a", "protein", ((3, 6),)), Entity("b", "protein", ((13, 16),))
    >>> sentence = Sentence.from_words("so Raf binds Ras here".split(), entities=[raf, ras])
    >>> Contexts(sentence).around(ras, raf).between
    Sequence(['ENTITY2', 'binds', 'ENTITY1'])
    """

    __slots__ = ("_blind", "_ends", "_mentions", "_nodes", "_run_at", "_starts", "_window")

    def __init__(
        self,
        sentence: Sentence,
        *,
        window: int | None = 4,
        labels: Labels = "text",
        lowercase: bool = True,
        blind: tuple[str, str] | None = BLIND,
        others: str | None = OTHERS,
    ) -> None:
        check_blind(blind)
        if window is not None and window < 0:
            raise StructureError(
                f"window must be at least 0, got {window}", hint="window=None takes all words"
            )
        self._mentions = mentions_of(sentence, labels=labels, lowercase=lowercase, others=others)
        self._blind = blind
        self._window = window
        # Labels of the whole sentence, and the tokens each element spans.
        self._nodes, self._starts, self._ends = self._mentions.runs()
        self._run_at = {start: at for at, start in enumerate(self._starts)}

    def tokens_of(self, entity: Entity) -> tuple[int, ...]:
        """Return the tokens of an entity."""
        return self._mentions.tokens_of(entity)

    def around(self, first: Entity, second: Entity) -> Context:
        """Return the words around two entities; see `context`."""
        return Context(*map(Sequence, self._parts(self.tokens_of(first), self.tokens_of(second))))

    def bag(self, first: Entity, second: Entity) -> dict[str, float]:
        """Return the distinct words of the sentence, each with the value 1.

        Examples
        --------
        >>> raf, ras = Entity("a", "protein", ((3, 6),)), Entity("b", "protein", ((13, 16),))
        >>> sentence = Sentence.from_words("so Raf binds Ras so".split(), entities=[raf, ras])
        >>> sorted(Contexts(sentence, window=None).bag(raf, ras))
        ['ENTITY1', 'ENTITY2', 'binds', 'so']
        """
        parts = self._parts(self.tokens_of(first), self.tokens_of(second))
        return {word: 1.0 for part in parts for word in part}

    def between(self, first: Entity, second: Entity) -> Sequence:
        """Return the words between two entities, without those of entities."""
        left, right = sorted((self.tokens_of(first), self.tokens_of(second)))
        between = range(left[-1] + 1, right[0]) if left and right else range(0)
        words = [self._mentions.word(at) for at in between if not self._mentions.is_entity(at)]
        return Sequence._of([""] * len(words), words)

    def joined(self, *covered: tuple[int, ...]) -> Sequence:
        """Return the words around the tokens of two entities; see `Context.joined`."""
        return _join(*self._parts(*covered))

    def _parts(self, *covered: tuple[int, ...]) -> tuple[list[str], list[str], list[str]]:
        window, nodes = self._window, self._nodes
        left, right = map(self._run_of, covered)
        if left is not None is not right and left != right and self._blind is not None:
            # The usual case: each entity is an element of its own.
            first, second = self._blind
            if left > right:
                left, right, first, second = right, left, second, first
            low = 0 if window is None else max(0, left - window)
            high = len(nodes) if window is None else right + 1 + window
            between = [first, *nodes[left + 1 : right], second]
            return nodes[low:left], between, nodes[right + 1 : high]
        inside = [token for tokens in covered for token in tokens]
        if not inside:
            return [], [], []
        start, end = min(inside), max(inside) + 1
        # An element of several tokens belongs to each side on which it has a token.
        n_before = bisect_left(self._starts, start)
        n_until = bisect_right(self._ends, end)
        low = 0 if window is None else max(0, n_before - window)
        high = len(nodes) if window is None else n_until + window
        written = _write_ends(self._mentions, covered, self._blind)
        between = self._mentions.nodes(range(start, end), written)
        return nodes[low:n_before], between, nodes[n_until:high]

    def _run_of(self, tokens: tuple[int, ...]) -> int | None:
        """Return the position of the element that spans exactly these tokens, else None."""
        if not tokens:
            return None
        at = self._run_at.get(tokens[0])
        if (
            at is None
            or self._ends[at] != tokens[-1] + 1
            or len(tokens) != tokens[-1] + 1 - tokens[0]
        ):
            return None
        return at


def _write_ends(
    mentions: Mentions, covered: tuple[tuple[int, ...], ...], blind: tuple[str, str] | None
) -> dict[int, tuple[str, ...]]:
    """Return the labels that replace each token of the two entities."""
    if blind is None:
        return {token: (mentions.word(token),) for tokens in covered for token in tokens}
    written: dict[int, tuple[str, ...]] = {token: () for tokens in covered for token in tokens}
    for label, tokens in zip(blind, covered, strict=True):
        if tokens:
            written[tokens[0]] += (label,)
    return written
