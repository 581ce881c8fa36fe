"""The words of a sentence as a sequence, and the one place where a token gets its label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias, get_args

from kernelwood.errors import StructureError
from kernelwood.structures import Sequence, shorten
from kernelwood.text import Entity, Sentence, Token
from kernelwood.views.stems import stem

__all__ = ["BLIND", "OTHERS", "Labels", "Mentions", "check_blind", "token_label", "words"]

Labels: TypeAlias = Literal["text", "lemma", "stem", "tag", "pos"]

BLIND = ("ENTITY1", "ENTITY2")  # what stands for the two entities of a pair
OTHERS = "ENTITY"  # what stands for all others


def words(sentence: Sentence, *, labels: Labels = "text", lowercase: bool = True) -> Sequence:
    """Return the tokens of a sentence as a sequence without edge labels.

    Parameters
    ----------
    sentence : Sentence
        With tokens; without, the sequence is empty.
    labels : {"text", "lemma", "stem", "tag", "pos"}
        What is written for a token, see `token_label`.
    lowercase : bool
        Whether words are written in lower case; tags never are.

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
    check_labels(labels)
    return Sequence(
        token_label(token, labels=labels, lowercase=lowercase) for token in sentence.tokens
    )


def token_label(token: Token, *, labels: Labels = "text", lowercase: bool = True) -> str:
    """Return what is written for a token.

    Parameters
    ----------
    token : Token
        The token.
    labels : {"text", "lemma", "stem", "tag", "pos"}
        The word form; the lemma, or else the word form; the word form without its ending, see
        `kernelwood.views.stems.stem`; the tag of the treebank, or else the part of speech; the
        part of speech, or else the tag. A token that has neither of the last two has the label "".
    lowercase : bool
        Whether words are written in lower case; tags never are.

    Examples
    --------
    >>> token_label(Token("Trees", 0, 5, lemma="tree", tag="NNS"), labels="tag")
    'NNS'
    """
    if labels == "tag":
        return token.tag or token.pos
    if labels == "pos":
        return token.pos or token.tag
    label = token.lemma or token.text if labels == "lemma" else token.text
    if lowercase:
        label = label.lower()
    return stem(label) if labels == "stem" else label


def check_labels(labels: str) -> None:
    """Raise StructureError unless ``labels`` names what `token_label` can write."""
    if labels not in get_args(Labels):
        raise StructureError(
            f"labels cannot be {shorten(repr(labels))}",
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
    """Where the entities of a sentence stand, and what is written for its tokens.

    Parameters
    ----------
    sentence : Sentence
        The sentence.
    labels, lowercase
        As in `token_label`.
    others : str or None
        What is written for the tokens of entities; None for their own labels. The words that
        stand for events (``sentence.triggers``) keep theirs: they tell what happens.

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

    __slots__ = ("_labels", "_lowercase", "_others", "_owners", "_sentence", "_tokens", "_words")

    def __init__(
        self, sentence: Sentence, *, labels: Labels, lowercase: bool, others: str | None
    ) -> None:
        check_labels(labels)
        self._sentence = sentence
        self._labels: Labels = labels
        self._lowercase = lowercase
        self._others = others
        self._tokens: dict[Entity, tuple[int, ...]] = {}
        self._words: dict[int, str] = {}
        self._owners = {} if others is None else self._find_owners()

    def tokens_of(self, entity: Entity) -> tuple[int, ...]:
        """Return the tokens of an entity; StructureError if it lies outside the sentence."""
        tokens = self._tokens.get(entity)
        if tokens is None:
            _check_range(self._sentence, entity)
            tokens = self._tokens[entity] = self._sentence.tokens_of(entity)
        return tokens

    def word(self, index: int) -> str:
        """Return the label of a token, whatever entity it belongs to."""
        word = self._words.get(index)
        if word is None:
            token = self._sentence.tokens[index]
            word = token_label(token, labels=self._labels, lowercase=self._lowercase)
            self._words[index] = word
        return word

    def label(self, index: int) -> str:
        """Return ``others`` for a token of an entity, the label of every other token."""
        if self._others is not None and index in self._owners:
            return self._others
        return self.word(index)

    def nodes(
        self, indices: Iterable[int], written: Mapping[int, tuple[str, ...]] | None = None
    ) -> list[str]:
        """Return labels for a run of tokens; neighbors that belong to one entity share one.

        What ``written`` has for a token takes the place of its label.
        """
        replaced = {} if written is None else written
        found: list[str] = []
        before: int | None = None
        for index in indices:
            owner = self._owners.get(index)
            if index in replaced:
                found += replaced[index]
                owner = None
            elif owner is None or owner != before:
                found.append(self.label(index))
            before = owner
        return found

    def runs(self) -> tuple[list[str], list[int], list[int]]:
        """Return the labels of all tokens as `nodes` does, and where each label begins and ends.

        Examples
        --------
        >>> raf = Entity("T1", "protein", ((0, 5),))
        >>> sentence = Sentence.from_words(["Raf", "1", "binds"], entities=[raf])
        >>> Mentions(sentence, labels="text", lowercase=True, others="ENTITY").runs()
        (['ENTITY', 'binds'], [0, 2], [2, 3])
        """
        labels: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        before: int | None = None
        for index in range(len(self._sentence.tokens)):
            owner = self._owners.get(index)
            if owner is None or owner != before:
                labels.append(self.label(index))
                starts.append(index)
                ends.append(index)
            ends[-1] = index + 1
            before = owner
        return labels, starts, ends

    def _find_owners(self) -> dict[int, int]:
        """Return for each token of an entity the longest that covers it, by its position."""
        triggers = {event.trigger for event in self._sentence.events}
        spans = {
            position: self.tokens_of(entity)
            for position, entity in enumerate(self._sentence.entities)
            if entity.id not in triggers
        }
        owners: dict[int, int] = {}
        for position in sorted(spans, key=lambda at: len(spans[at])):  # the longest overwrites
            owners.update(dict.fromkeys(spans[position], position))
        return owners


def _check_range(sentence: Sentence, entity: Entity) -> None:
    length = len(sentence.text)
    for start, end in entity.spans:
        if not 0 <= start < end <= length:
            raise StructureError(
                f"entity {shorten(repr(entity.id))} has the span [{start}, {end}), "
                f"the sentence has {length} characters",
                hint="offsets count from the start of the sentence, not of its document",
            )
