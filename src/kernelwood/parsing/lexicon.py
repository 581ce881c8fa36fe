"""How probable a word is under each part of speech, words never seen included."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelwood.parsing.annotation import Symbol
from kernelwood.parsing.shapes import as_opener, signatures

__all__ = ["Lexicon", "Table", "estimate_lexicon"]

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]

_RARE = 10  # unknown words behave like words seen this often or less
_VERY_RARE = 5  # the same for the annotations of their parts of speech, seen less often
_SETTLED = 30  # a word seen this often has shown all its parts of speech
_UNSEEN = 0.5  # occurrences that an unknown word counts for
_CLASS_WEIGHT = 4.0  # occurrences that a class of words counts for inside a smaller class
_WORD_WEIGHT = 1.0  # occurrences that its class counts for with a known word
_OPENER_WEIGHT = 0.1  # occurrences at the beginning of a sentence, for each one counted
_PRODUCTIVE = 0.02  # new words among the occurrences of an open part of speech
_NEGLIGIBLE = 1e-5


@dataclass(frozen=True, slots=True)
class Table:
    """Counts by text: row i, of ``texts[i]``, lies in ``columns`` and ``counts``.

    Attributes
    ----------
    texts : tuple of str
        In the order of their code points.
    offsets : int64 array
        Row i is from ``offsets[i]`` to ``offsets[i + 1]``.
    columns : int32 array
    counts : float64 array
    """

    texts: tuple[str, ...]
    offsets: NDArray[np.int64]
    columns: Ints
    counts: Floats

    def row(self, text: str) -> tuple[Ints, Floats] | None:
        """Return columns and counts of a text, None if it is not there."""
        place = bisect_left(self.texts, text)
        if place == len(self.texts) or self.texts[place] != text:
            return None
        part = slice(self.offsets[place], self.offsets[place + 1])
        return self.columns[part], self.counts[part]

    @classmethod
    def from_counts(cls, counts: Mapping[str, Mapping[int, float]]) -> Table:
        """Lay counts out."""
        texts = tuple(sorted(counts))
        rows = [counts[text] for text in texts]
        return cls(
            texts,
            np.cumsum([0, *map(len, rows)], dtype=np.int64),
            np.array([column for row in rows for column in row], dtype=np.int32),
            np.array([count for row in rows for count in row.values()], dtype=np.float64),
        )


@dataclass(frozen=True, slots=True)
class Lexicon:
    r"""Probabilities of words given annotated parts of speech.

    By Bayes' rule, :math:`P(w \mid s) = P(s \mid w) P(w) / P(s)` for a word :math:`w` and a symbol
    :math:`s`, an annotated part of speech :math:`t`; :math:`P(s \mid w)` is
    :math:`P(t \mid w) P(s \mid t, w)`. Each factor is the relative frequency, mixed with what is
    known about words of the same look; for unknown words, that is all there is.

    Attributes
    ----------
    words : Table
        Counts of symbols (columns are positions in ``symbols``) by word.
    classes : Table
        Counts of parts of speech (columns are positions in ``tags``) by class of rare words.
    symbols : int32 array
        The annotated parts of speech, as symbols of the grammar.
    tag_of : int32 array
        Part of speech of each, as a position in ``tags``.
    tags : int32 array
        The parts of speech, as labels of the grammar.
    symbol_counts : float64 array
        Occurrences of each symbol.
    rare_shares : float64 array
        Share of each symbol in its part of speech, among rare words.
    open_tags : float64 array
        Probabilities of the parts of speech for a word of which nothing is known; 0 for those
        that take no new words.
    """

    words: Table
    classes: Table
    symbols: Ints
    tag_of: Ints
    tags: Ints
    symbol_counts: Floats
    rare_shares: Floats
    open_tags: Floats

    def look_up(self, word: str, opener: bool, tag: int | None = None) -> tuple[Ints, Floats]:
        """Return the symbols a word may have and its probability under each.

        Parameters
        ----------
        word : str
        opener : bool
            Whether it opens the sentence.
        tag : int, optional
            Label of the only part of speech to consider, whatever the word has been seen with.
        """
        seen = self._seen(word, opener)
        by_tag = self._sum_by_tag(seen)
        if tag is None:
            shares = self._tag_shares(word, opener, by_tag)
        else:
            shares = (self.tags == tag).astype(np.float64)
        inner = (seen + self.rare_shares) / (by_tag[self.tag_of] + 1.0)
        given_word = shares[self.tag_of] * inner
        weight = max(float(by_tag.sum()), _UNSEEN)
        kept = np.flatnonzero(given_word > _NEGLIGIBLE)
        p = given_word[kept] * weight / self.symbol_counts[kept]
        return self.symbols[kept], np.minimum(p, 1.0)

    def best_tag(self, word: str, opener: bool) -> int:
        """Return the label of the most probable part of speech of a word by itself."""
        by_tag = self._sum_by_tag(self._seen(word, opener))
        return int(self.tags[np.argmax(self._tag_shares(word, opener, by_tag))])

    def _seen(self, word: str, opener: bool) -> Floats:
        """Return how often a word had each symbol; an opener may be known in small letters."""
        row = self.words.row(word)
        if row is None and opener:
            row = self.words.row(word.lower())
        counts = np.zeros(len(self.symbols))
        if row is not None:
            counts[row[0]] = row[1]
        return counts

    def _sum_by_tag(self, counts: Floats) -> Floats:
        sums = np.bincount(self.tag_of, weights=counts, minlength=len(self.tags))
        return np.asarray(sums, dtype=np.float64)

    def _tag_shares(self, word: str, opener: bool, by_tag: Floats) -> Floats:
        """Return the probabilities of all parts of speech given a word."""
        total = float(by_tag.sum())
        if total >= _SETTLED:
            return by_tag / total
        shares = self.open_tags
        for name in signatures(word, opener)[1:]:
            row = self.classes.row(name)
            if row is None:
                break
            counts = np.zeros(len(self.tags))
            counts[row[0]] = row[1]
            shares = (counts + _CLASS_WEIGHT * shares) / (counts.sum() + _CLASS_WEIGHT)
        return (by_tag + _WORD_WEIGHT * shares) / (total + _WORD_WEIGHT)


def estimate_lexicon(
    words: Mapping[tuple[str, Symbol], int], numbers: Mapping[Symbol, int], labels: Iterable[str]
) -> Lexicon:
    """Return the lexicon of a treebank.

    Parameters
    ----------
    words : mapping
        Counts of words with their annotated parts of speech.
    numbers : mapping
        Numbers of the symbols in the grammar.
    labels : iterable of str
        The labels of the grammar.

    Examples
    --------
    >>> words = {("rain", ("NN",)): 2, ("falls", ("VBZ",)): 1}
    >>> lexicon = estimate_lexicon(words, {("NN",): 0, ("VBZ",): 1}, ["NN", "VBZ"])
    >>> lexicon.best_tag("falls", opener=False)
    1
    """
    label_numbers = {label: number for number, label in enumerate(labels)}
    symbols = sorted({symbol for _, symbol in words}, key=lambda symbol: numbers[symbol])
    places = {symbol: place for place, symbol in enumerate(symbols)}
    names = list(dict.fromkeys(symbol[0] for symbol in symbols))
    tag_places = {name: place for place, name in enumerate(names)}
    tag_of = np.array([tag_places[symbol[0]] for symbol in symbols], dtype=np.int32)
    rows: dict[str, dict[int, float]] = defaultdict(dict)
    for (word, symbol), count in words.items():
        rows[word][places[symbol]] = count
    by_tag = {word: _sum_by_tag(row, tag_of) for word, row in rows.items()}
    open_tags = _open_tags(by_tag.values(), len(names))
    return Lexicon(
        words=Table.from_counts(rows),
        classes=Table.from_counts(_classes(by_tag, open_tags)),
        symbols=np.array([numbers[symbol] for symbol in symbols], dtype=np.int32),
        tag_of=tag_of,
        tags=np.array([label_numbers[name] for name in names], dtype=np.int32),
        symbol_counts=_sum_rows(rows.values(), len(symbols)),
        rare_shares=_rare_shares(rows.values(), tag_of),
        open_tags=open_tags,
    )


def _sum_by_tag(row: Mapping[int, float], tag_of: Ints) -> Counter[int]:
    counts: Counter[int] = Counter()
    for place, count in row.items():
        counts[int(tag_of[place])] += int(count)
    return counts


def _sum_rows(rows: Iterable[Mapping[int, float]], size: int) -> Floats:
    total = np.zeros(size)
    for row in rows:
        for place, count in row.items():
            total[place] += count
    return total


def _open_tags(rows: Iterable[Counter[int]], n_tags: int) -> Floats:
    """Return the distribution of rare words over the parts of speech that take new words.

    A part of speech is open if many of its occurrences are words that occur but once (Baayen's
    productivity); if none is, as in a very small treebank, all are.
    """
    once, rare, total = np.zeros(n_tags), np.zeros(n_tags), np.zeros(n_tags)
    for row in rows:
        occurrences = sum(row.values())
        for tag, count in row.items():
            total[tag] += count
            rare[tag] += count * (occurrences <= _RARE)
            once[tag] += occurrences == 1
    is_open = once >= _PRODUCTIVE * total
    if not (is_open & (rare > 0)).any():
        is_open, rare = np.ones(n_tags, dtype=bool), total
    shares: Floats = np.where(is_open, rare, 0.0)
    shares /= shares.sum()
    return shares


def _classes(by_tag: Mapping[str, Counter[int]], open_tags: Floats) -> dict[str, dict[int, float]]:
    """Count the open parts of speech of rare words by class.

    Every word also counts a little as the first of a sentence, so that capital letters there
    mean what they should.
    """
    classes: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for word, row in by_tag.items():
        if sum(row.values()) > _RARE:
            continue
        kept = {tag: count for tag, count in row.items() if open_tags[tag] > 0.0}
        for form, opener, weight in ((word, False, 1.0), (as_opener(word), True, _OPENER_WEIGHT)):
            for name in signatures(form, opener)[1:] if kept else ():
                for tag, count in kept.items():
                    classes[name][tag] += weight * count
    return classes


def _rare_shares(rows: Iterable[Mapping[int, float]], tag_of: Ints) -> Floats:
    """Return how the rare words of each part of speech divide among its symbols."""
    shares = np.zeros(len(tag_of))
    for row in rows:
        # A trace of the frequent words, or symbols without rare words would be impossible.
        weight = 1.0 if sum(row.values()) < _VERY_RARE else 1e-3
        for place, count in row.items():
            shares[place] += weight * count
    totals = np.bincount(tag_of, weights=shares)
    divided: Floats = shares / totals[tag_of]
    return divided
