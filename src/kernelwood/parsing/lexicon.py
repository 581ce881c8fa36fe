"""Lexicon: probabilities of words given their parts of speech, for unknown words by shape."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernelwood.parsing.grammar import Floats, Ints
from kernelwood.parsing.treebank import Symbol

_RARE = 10  # most occurrences of a rare word; unknown words resemble rare words
_VERY_RARE = 5  # the same for the annotation of parts of speech; less than this
_SETTLED = 30  # occurrences after which a word has no new parts of speech
_UNSEEN = 0.5  # weight of an unknown word, in occurrences
_CLASS_WEIGHT = 4.0  # weight of a word class in a narrower class, in occurrences
_WORD_WEIGHT = 1.0  # weight of its class for a known word, in occurrences
_OPENER_WEIGHT = 0.1  # occurrences as first word that are added for each occurrence
_PRODUCTIVE = 0.02  # least rate of words seen once in an open part of speech
_NEGLIGIBLE = 1e-5

_NUMBER = re.compile(r"[\d.,/:-]*\d[\d.,/:-]*")
_LONGEST_SUFFIX = 4
_LONGEST_NAME_SUFFIX = 3  # suffixes of names are less informative


@dataclass(frozen=True, slots=True)
class Table:
    """Sparse counts by text: row i belongs to ``texts[i]``.

    Attributes
    ----------
    texts : tuple of str
        Sorted by code points.
    offsets : int64 array
        Row i is ``offsets[i]`` to ``offsets[i + 1]`` in ``columns`` and ``counts``.
    columns : int32 array
    counts : float64 array
    """

    texts: tuple[str, ...]
    offsets: NDArray[np.int64]
    columns: Ints
    counts: Floats

    def row(self, text: str) -> tuple[Ints, Floats] | None:
        """Return columns and counts of a text, None if it is unknown."""
        place = bisect_left(self.texts, text)
        if place == len(self.texts) or self.texts[place] != text:
            return None
        part = slice(self.offsets[place], self.offsets[place + 1])
        return self.columns[part], self.counts[part]

    @classmethod
    def from_counts(cls, counts: Mapping[str, Mapping[int, float]]) -> Table:
        """Return the table of nested counts."""
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
    :math:`P(t \mid w) P(s \mid t, w)`. Each factor is a relative frequency, smoothed by that of
    words of the same shape; for unknown words, only the latter is used.

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
        Probabilities of the parts of speech for a word without known class; 0 for closed ones.
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
        """Return the possible symbols of a word and its probability under each.

        Parameters
        ----------
        word : str
        opener : bool
            Whether it is the first word of the sentence.
        tag : int, optional
            Label of the part of speech, if it is known.
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
        """Return the label of the most probable part of speech of a word without context."""
        by_tag = self._sum_by_tag(self._seen(word, opener))
        return int(self.tags[np.argmax(self._tag_shares(word, opener, by_tag))])

    def _seen(self, word: str, opener: bool) -> Floats:
        """Return the count of each symbol of a word; an opener may be known in lower case."""
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
        Counts of words with annotated parts of speech.
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


def signatures(word: str, opener: bool) -> list[str]:
    """Return the classes of a word by its shape, from general to specific.

    The first contains all words; the second depends on capitals, digits, hyphens and a final
    period; the others add the last one, two, three and four letters. An ``opener`` is the first
    word of a sentence, where a capital letter means little.

    Examples
    --------
    >>> signatures("landed", opener=False)
    ['', 'l', 'l|d', 'l|ed', 'l|ded', 'l|nded']
    >>> signatures("Oslo", opener=False)
    ['', 'C', 'C|o', 'C|lo', 'C|slo']
    >>> signatures("Oslo", opener=True)[1], signatures("1,250.5", opener=False)
    ('F', ['', '1'])
    """
    shape = _shape(word, opener)
    found = ["", shape]
    if shape[0] not in "1d":
        longest = _LONGEST_NAME_SUFFIX if shape[0] in "CA" else _LONGEST_SUFFIX
        ending = word.lower()[-longest:]
        most = min(longest, len(word) - 1)  # a suffix is shorter than the word
        found += [f"{shape}|{ending[-length:]}" for length in range(1, most + 1)]
    return found


def _shape(word: str, opener: bool) -> str:
    if _NUMBER.fullmatch(word):
        return "1"
    if any(letter.isdigit() for letter in word):
        return "d-" if "-" in word else "d"
    if word.isupper() and len(word) > 1:
        shape = "A"
    elif word[:1].isupper():
        shape = "F" if opener else "C"
    else:
        shape = "l" if any(letter.isalpha() for letter in word) else "o"
    return shape + "-" * ("-" in word[1:-1]) + "." * word.endswith(".")


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
    """Return the distribution of rare words over the open parts of speech.

    A part of speech is open if many of its occurrences are words seen once (Baayen's
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
    """Return the counts of open parts of speech of rare words, by class.

    Every word is also counted, with a small weight, as the first word of a sentence.
    """
    classes: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for word, row in by_tag.items():
        if sum(row.values()) > _RARE:
            continue
        kept = {tag: count for tag, count in row.items() if open_tags[tag] > 0.0}
        capitalized = word[:1].upper() + word[1:]
        for form, opener, weight in ((word, False, 1.0), (capitalized, True, _OPENER_WEIGHT)):
            for name in signatures(form, opener)[1:] if kept else ():
                for tag, count in kept.items():
                    classes[name][tag] += weight * count
    return classes


def _rare_shares(rows: Iterable[Mapping[int, float]], tag_of: Ints) -> Floats:
    """Return the distribution of the rare words of each part of speech over its symbols."""
    shares = np.zeros(len(tag_of))
    for row in rows:
        # Frequent words have a small weight, so that no symbol is impossible.
        weight = 1.0 if sum(row.values()) < _VERY_RARE else 1e-3
        for place, count in row.items():
            shares[place] += weight * count
    totals = np.bincount(tag_of, weights=shares)
    divided: Floats = shares / totals[tag_of]
    return divided
