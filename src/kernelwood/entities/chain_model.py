"""Linear-chain conditional random fields on features of words: training and labels of texts.

CRFsuite trains; its weights are kept as strings and arrays, and applied by the native core.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.arrays import LARGE, ArrayOf, Offsets, Schema, Strings, check_values
from kernelwood.entities.tagger_features import (
    BACKWARD,
    FORWARD,
    GREEK,
    INSIDE,
    LONGEST,
    N_PLACES,
    OUTSIDE_PIECE,
    OUTSIDE_TOKEN,
    PLACE,
    REACH,
    Pieces,
    cut_token,
    distances,
    piece_features,
    token_features,
)
from kernelwood.views import stem

Floats = NDArray[np.float64]

OUT = 0  # the label of pieces outside of mentions
_PARTS = 4  # labels of a type: begin, inside, last, only
_BEGIN, _INSIDE, _LAST, _ONLY = range(1, 1 + _PARTS)
_LARGEST = 300.0  # weight of a transition; far larger ones could make all sums 0
_FIRST_ROOM = 1 << 12  # rows; memory is taken when they are written
_MOST_KEPT = 1 << 22  # numbers in a table of words
MOST_TYPES = 100  # of entities; scores take memory in proportion

Features = Sequence[Sequence[str]]
_NO_PAIR = (None, None)


class Segment(NamedTuple):
    """Pieces from ``first`` to before ``end``, and the number of their type."""

    first: int
    end: int
    type: int


def encode(segments: Iterable[Segment], n: int) -> NDArray[np.int32]:
    """Return the labels of ``n`` pieces with segments that do not overlap.

    Examples
    --------
    >>> encode([Segment(1, 3, 0), Segment(4, 5, 1)], 5).tolist()
    [0, 1, 3, 0, 8]
    """
    labels = np.zeros(n, dtype=np.int32)
    for first, end, kind in segments:
        base = _PARTS * kind
        if end - first == 1:
            labels[first] = base + _ONLY
        else:
            labels[first], labels[end - 1] = base + _BEGIN, base + _LAST
            labels[first + 1 : end - 1] = base + _INSIDE
    return labels


def decode(labels: NDArray[np.int32]) -> list[Segment]:
    """Return the segments of valid labels, the inverse of `encode`."""
    found = []
    first = 0
    for place in np.flatnonzero(labels).tolist():
        kind, part = divmod(int(labels[place]) - 1, _PARTS)
        if part + 1 in (_BEGIN, _ONLY):
            first = place
        if part + 1 in (_LAST, _ONLY):
            found.append(Segment(first, place + 1, kind))
    return found


def n_labels(n_types: int) -> int:
    """Return the number of labels for a number of types."""
    return 1 + _PARTS * n_types


class ChainWeights(NamedTuple):
    """Weights of a conditional random field.

    Attributes
    ----------
    features : ndarray of str (objects)
        Names of features.
    offsets : ndarray of int64
        First weight of each feature, and their number.
    columns : ndarray of int32
        Of each weight: the label, plus the number of labels times the place (from 0 for the
        distance -2) for features that are used at several distances.
    values : ndarray of float64
        The weights.
    transitions : ndarray of float64, shape (n_labels, n_labels)
        Weights of a label after another.
    known : ndarray of uint8
        Which labels occur in the training corpus.
    """

    features: NDArray[Any]
    offsets: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: Floats
    transitions: Floats
    known: NDArray[np.uint8]

    def check(self, n_types: int) -> None:
        """Raise ValueError unless arrays, which may be from a file, are valid for some types."""
        _require(0 < n_types <= MOST_TYPES, f"there must be 1 to {MOST_TYPES} types of entities")
        check_values(WEIGHTS, self._asdict())
        n, listed = n_labels(n_types), self.features.tolist()
        _require(
            all(name[:1] in ("P", "T", PLACE) for name in listed),
            "features must be names that begin with their place",
        )
        widths = np.array([n if name[0] == PLACE else N_PLACES * n for name in listed], np.int64)
        limits = np.repeat(widths, self.offsets[1:] - self.offsets[:-1])
        _require(bool((self.columns < limits).all()), "columns must be labels")
        _require(
            len(self.known) == n and self.known[OUT] == 1,
            f"known and transitions must be those of {n} labels, of which some are known",
        )


# What weights from a file must be.
WEIGHTS: Schema = {
    "features": Strings("features of a place", different=True),
    "columns": ArrayOf("int32", "weights of features", least=0),
    "values": ArrayOf("float64", "weights of features", least=-LARGE, most=LARGE),
    "offsets": Offsets("features of a place", "weights of features"),
    "transitions": ArrayOf(
        "float64", "labels of pieces", "labels of pieces", least=-_LARGEST, most=_LARGEST
    ),
    "known": ArrayOf("uint8", "labels of pieces", most=1),
}


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def sentence_rows(cut: Pieces, places: Features) -> Iterator[list[list[str]]]:
    """Yield the features of the pieces of each sentence, as they are learned.

    A feature is preceded by the place, from 0 for the distance -2, at which it is used.
    """
    of_token: dict[str, tuple[list[str], list[list[str]]]] = {}
    numbers = piece_numbers(cut)
    for token in cut.tokens:
        if token not in of_token:
            of_token[token] = _features_of(token)
    for begin, end, first, last in _sentences(cut):
        rows = []
        for piece in range(begin, end):
            row = [f"{REACH}{feature}" for feature in places[piece]]
            for distance in range(-REACH, REACH + 1):
                at, center = piece + distance, cut.token_of[piece] + distance
                near = (
                    of_token[cut.tokens[cut.token_of[at]]][1][numbers[at]]
                    if begin <= at < end
                    else [OUTSIDE_PIECE]
                )
                far = of_token[cut.tokens[center]][0] if first <= center < last else [OUTSIDE_TOKEN]
                row += [
                    f"{distance + REACH}{feature}"
                    for feature in (*near, *far)
                    if distance in distances(feature)
                ]
            rows.append(row)
        yield rows


def piece_numbers(cut: Pieces) -> list[int]:
    """Return the number of each piece in its token."""
    made = []
    before, number = -1, 0
    for token in cut.token_of:
        number = number + 1 if token == before else 0
        before = token
        made.append(number)
    return made


def _features_of(token: str) -> tuple[list[str], list[list[str]]]:
    pieces = [
        piece_features(token, index, _stem(token[start:end].lower()))
        for index, (start, end) in enumerate(cut_token(token))
    ]
    return token_features(token, _stem(token.lower())), pieces


_stem = lru_cache(1 << 16)(stem)


def _sentences(cut: Pieces) -> Iterator[tuple[int, int, int, int]]:
    columns = (cut.sentences, cut.sentences[1:], cut.token_sentences, cut.token_sentences[1:])
    return zip(*columns, strict=False)


def train_chains(
    sentences: Iterable[tuple[list[list[str]], NDArray[np.int32]]],
    n_types: int,
    *,
    l1: float,
    l2: float,
    max_iterations: int,
) -> ChainWeights:
    """Return the weights that CRFsuite learns from rows of features and labels."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    known = np.zeros(n_labels(n_types), dtype=np.uint8)
    known[OUT] = 1
    for rows, labels in sentences:
        known[labels] = 1
        trainer.append(rows, [str(label) for label in labels.tolist()])
    trainer.select("lbfgs")
    trainer.set_params({"c1": l1, "c2": l2, "max_iterations": max_iterations})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "weights"))
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        learned = tagger.info()
        tagger.close()
    return _collect(learned.state_features, learned.transitions, known)


def _collect(states: Any, transitions: Any, known: NDArray[np.uint8]) -> ChainWeights:
    """Return learned weights as arrays, ordered by feature and column."""
    n = len(known)
    entries: dict[str, list[tuple[int, float]]] = {}
    for (name, label), weight in states.items():
        place, feature = int(name[0]), name[1:]
        column = int(label) + (0 if feature[0] == PLACE else place * n)
        entries.setdefault(feature, []).append((column, float(weight)))
    features = sorted(entries)
    offsets = np.zeros(len(features) + 1, dtype=np.int64)
    offsets[1:] = np.cumsum([len(entries[name]) for name in features])
    flat = [entry for name in features for entry in sorted(entries[name])]
    matrix = np.zeros((n, n))
    for (before, after), weight in transitions.items():
        matrix[int(before), int(after)] = min(max(float(weight), -_LARGEST), _LARGEST)
    return ChainWeights(
        np.array([*features, None], dtype=object)[:-1],
        offsets,
        np.array([column for column, _ in flat], dtype=np.int32),
        np.array([weight for _, weight in flat], dtype=np.float64),
        matrix,
        known,
    )


class ChainModel:
    """A conditional random field that labels texts.

    Features of different tokens are summed once; the sums are kept for the next texts.
    """

    def __init__(self, weights: ChainWeights) -> None:
        self._weights = weights
        self._n = n = len(weights.known)
        self._numbers = {name: row for row, name in enumerate(weights.features.tolist())}
        find = self._numbers.get
        pairs = {name[2:] for name in self._numbers if name[:2] in (BACKWARD, FORWARD)}
        self._pairs = {pair: (find(BACKWARD + pair), find(FORWARD + pair)) for pair in pairs}
        words = {
            name: row for name, row in self._numbers.items() if name[0] != PLACE and name.isascii()
        }
        self._ascii = _native.WordFeatures([*words], [*words.values()], sorted(GREEK), LONGEST)
        self._transitions = np.where(_allowed(weights.known), weights.transitions, -np.inf)
        part = np.arange(n) - 1
        part = np.where(part < 0, -1, part % _PARTS) + 1  # 0 for OUT
        known = weights.known == 1
        self._first = (known & np.isin(part, (0, _BEGIN, _ONLY))).astype(np.uint8)
        self._last = (known & np.isin(part, (0, _LAST, _ONLY))).astype(np.uint8)
        self._forget()

    def _forget(self) -> None:
        self._words: dict[str, tuple[int, tuple[int, ...]]] = {}
        self._tokens = _Rows(self._sums([[OUTSIDE_TOKEN]]))
        self._pieces = _Rows(self._sums([[OUTSIDE_PIECE]]))

    def emissions(self, cut: Pieces, places: Features) -> Floats:
        """Return the scores of labels for each piece, shape (n_pieces, n_labels)."""
        return self._around(cut, self._sums(places, self._n))

    def new_emissions(self, text: str, cut: Pieces, listed: Iterable[tuple[int, str]]) -> Floats:
        """Return what `emissions` does for a text, given the features of listed terms by place.

        Only features with weights are made.
        """
        numbers = self._places(text, cut)
        find = self._numbers.get
        for place, name in listed:
            if (row := find(name)) is not None:
                numbers[place].append(row)
        groups = np.zeros(len(numbers) + 1, np.int64)
        np.cumsum([*map(len, numbers)], out=groups[1:])
        flat = np.array([*chain.from_iterable(numbers)], np.int32)
        return self._around(cut, self._add(groups, flat, self._n))

    def _places(self, text: str, cut: Pieces) -> list[list[int]]:
        """Return the numbers of the features of `place_features` that have weights."""
        words = [text[start:end].lower() for start, end in zip(cut.starts, cut.ends, strict=True)]
        made: list[list[int]] = [[] for _ in words]
        find = self._pairs.get
        inside = self._numbers.get(INSIDE)
        for first, end in pairwise(cut.sentences):
            before = ""
            depth, in_brackets = 0, False
            for place in range(first, end):
                word = words[place]
                backward, forward = find(f"{before} {word}", _NO_PAIR)
                if place > first and forward is not None:
                    made[place - 1].append(forward)
                if in_brackets and inside is not None:
                    made[place - 1].append(inside)
                if backward is not None:
                    made[place].append(backward)
                in_brackets = False
                if word in "([":
                    depth += 1
                elif word in ")]":
                    depth = max(0, depth - 1)
                else:
                    in_brackets = depth > 0
                before = word
            _, forward = find(f"{before} ", _NO_PAIR)
            if forward is not None:
                made[end - 1].append(forward)
            if in_brackets and inside is not None:
                made[end - 1].append(inside)
        return made

    def _around(self, cut: Pieces, made: Floats) -> Floats:
        """Return the scores of places, with those of the words around them added."""
        self._learn(cut.tokens)
        words = [self._words[token] for token in cut.tokens]
        tokens = np.array([word[0] for word in words], dtype=np.int32)
        pieces = np.array([row for word in words for row in word[1]], dtype=np.int32)
        chains = np.array(cut.sentences, dtype=np.int64)
        token_chains = np.array(cut.token_sentences, dtype=np.int64)
        centers = np.array(cut.token_of, dtype=np.int32)
        own = np.arange(len(pieces), dtype=np.int32)
        _native.add_word_blocks(self._tokens.rows, tokens, token_chains, centers, chains, made)
        _native.add_word_blocks(self._pieces.rows, pieces, chains, own, chains, made)
        return made

    def decode(self, cut: Pieces, emissions: Floats) -> NDArray[np.int32]:
        """Return the most probable labels."""
        labels = np.empty(len(emissions), dtype=np.int32)
        _native.decode_chains(*self._scores(cut, emissions), labels)
        return labels

    def probabilities(
        self,
        cut: Pieces,
        emissions: Floats,
        labels: NDArray[np.int32],
        segments: Sequence[Segment],
    ) -> Floats:
        """Return the probability of each segment: that all of its pieces have their labels."""
        places = np.array([segment[:2] for segment in segments], dtype=np.int64).reshape(-1, 2)
        found = np.empty(len(segments))
        _native.segment_probabilities(*self._scores(cut, emissions), labels, places, found)
        return found

    def _scores(
        self, cut: Pieces, emissions: Floats
    ) -> tuple[NDArray[Any], Floats, Floats, NDArray[Any], NDArray[Any]]:
        chains = np.array(cut.sentences, dtype=np.int64)
        return chains, emissions, self._transitions, self._first, self._last

    def _learn(self, tokens: Sequence[str]) -> None:
        """Sum the features of tokens that are new."""
        new = [token for token in dict.fromkeys(tokens) if token not in self._words]
        if not new:
            return
        if self._pieces.rows.size > _MOST_KEPT:
            self._forget()
            new = list(dict.fromkeys(tokens))
        plain = [token for token in new if token.isascii()]
        groups, numbers, piece_groups, piece_numbers, begins = self._ascii.find(plain)
        self._keep(
            plain, self._add(groups, numbers), self._add(piece_groups, piece_numbers), begins
        )
        if len(plain) < len(new):
            others = [token for token in new if not token.isascii()]
            features = [_features_of(token) for token in others]
            begins = np.cumsum([0, *(len(pieces) for _, pieces in features)])
            words = self._sums([words for words, _ in features])
            self._keep(
                others, words, self._sums([one for _, own in features for one in own]), begins
            )

    def _keep(
        self, tokens: Sequence[str], words: Floats, pieces: Floats, begins: NDArray[np.int64]
    ) -> None:
        """Keep the sums of tokens and of their pieces, given where those of each begin."""
        first, place = self._tokens.append(words), self._pieces.append(pieces)
        for number, (token, (begin, end)) in enumerate(
            zip(tokens, pairwise(begins.tolist()), strict=True), start=first
        ):
            self._words[token] = (number, tuple(range(place + begin, place + end)))

    def _sums(self, features: Features, width: int | None = None) -> Floats:
        """Return the sums of the weights of features, for all places or for one."""
        find = self._numbers.get
        numbers: list[int] = []
        groups = [0]
        for some in features:
            numbers += [row for name in some if (row := find(name)) is not None]
            groups.append(len(numbers))
        return self._add(np.array(groups, np.int64), np.array(numbers, np.int32), width)

    def _add(
        self, groups: NDArray[np.int64], numbers: NDArray[np.int32], width: int | None = None
    ) -> Floats:
        made = np.zeros((len(groups) - 1, width or N_PLACES * self._n))
        weights = self._weights
        _native.sum_features(
            weights.offsets, weights.columns, weights.values, groups, numbers, made
        )
        return made


class _Rows:
    """A matrix to which rows are appended."""

    def __init__(self, first: Floats) -> None:
        self._room = first
        self._n = len(first)

    @property
    def rows(self) -> Floats:
        """The rows so far."""
        return self._room[: self._n]

    def append(self, rows: Floats) -> int:
        """Append rows; return the number of the first."""
        first, self._n = self._n, self._n + len(rows)
        if self._n > len(self._room):
            room = np.zeros((max(2 * self._n, _FIRST_ROOM), self._room.shape[1]))
            room[:first] = self._room[:first]
            self._room = room
        self._room[first : self._n] = rows
        return first


def _allowed(known: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which labels may follow each other: inside a mention only its own parts do."""
    numbers = np.arange(len(known)) - 1
    kind = numbers // _PARTS
    part = np.where(numbers < 0, 0, numbers % _PARTS + 1)
    open_ = np.isin(part, (_BEGIN, _INSIDE))
    goes_on = np.isin(part, (_INSIDE, _LAST))
    inside = open_[:, None] & goes_on[None, :] & (kind[:, None] == kind[None, :])
    outside = ~open_[:, None] & ~goes_on[None, :]
    return np.asarray((inside | outside) & (known[:, None] == 1) & (known[None, :] == 1))
