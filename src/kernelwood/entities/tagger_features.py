"""Features of words by which mentions of entities are recognized.

A text is cut into sentences and tokens, and tokens into *pieces* at hyphens, so that a mention may
begin or end inside a token such as *Raf-dependent*. A piece has features of three kinds:

- of the pieces around it (spelling, shape, affixes, stem),
- of the tokens around it, which reach further than pieces,
- of its place: pairs of words, brackets, listed terms.

Features of the first two kinds depend on a token only, so they are made once per different token.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from kernelwood.text import Span, Token, find_sentences, tokenize

_CUT = re.compile("[-\u2010\u2011_]|[^-\u2010\u2011_]+")
_ROMAN = re.compile("[IVX]+")
GREEK = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma "
    "tau upsilon phi chi psi omega".split()
)
LONGEST = 24  # characters of a word in a feature: longer ones are cut

PIECE, TOKEN, PLACE = "P", "T", "X"  # kinds of features
BACKWARD, FORWARD, INSIDE = "Xb", "Xf", "X("  # pairs of words, brackets
REACH = 2  # tokens or pieces to each side
N_PLACES = 2 * REACH + 1
OUTSIDE_PIECE, OUTSIDE_TOKEN = "P_", "T_"  # features of places outside of a sentence
# Distances at which features are used, by their first two letters.
_NEAR, _FAR = (-1, 0, 1), (-2, -1, 0, 1, 2)
_DISTANCES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("Pl", "Ps", OUTSIDE_PIECE), _NEAR),
    **dict.fromkeys(("Tl", "Ts", OUTSIDE_TOKEN), _FAR),
    **dict.fromkeys(("Tt", "Tz"), _NEAR),
}
_HERE = (0,)


class Pieces(NamedTuple):
    """The pieces of a text.

    Attributes
    ----------
    tokens : list of str
        The tokens of the text.
    sentences : list of int
        Position of the first piece of each sentence, and their number at the end.
    token_sentences : list of int
        The same for tokens.
    starts, ends : list of int
        Span of each piece.
    token_of : list of int
        Token of each piece.
    """

    tokens: list[str]
    sentences: list[int]
    token_sentences: list[int]
    starts: list[int]
    ends: list[int]
    token_of: list[int]

    def __len__(self) -> int:
        return len(self.starts)


def cut_text(
    text: str, spans: Sequence[Span] | None = None, tokens: Sequence[Token] | None = None
) -> Pieces:
    """Return the pieces of a text.

    Parameters
    ----------
    text : str
    spans : sequence of (start, end), optional
        Its sentences; found by rules if they are not given.
    tokens : sequence of Token, optional
        The tokens of the text by `tokenize`, if they are known.

    Examples
    --------
    >>> cut = cut_text("Raf-dependent. It is new.")
    >>> list(zip(cut.starts, cut.ends))[:4], cut.sentences
    ([(0, 3), (3, 4), (4, 13), (13, 14)], [0, 4, 8])
    """
    if spans is None:
        spans = find_sentences(text)
    if any(last == first for (_, last), (first, _) in pairwise(spans)):  # may be inside a token
        tokens = tokenize(text, boundaries=[last for _, last in spans])
    elif tokens is None:
        tokens = tokenize(text)
    made = Pieces([], [0], [0], [], [], [])
    words, sentences, token_sentences, starts, ends, token_of = made
    number, n_tokens = 0, len(tokens)
    for _, last in spans:
        while number < n_tokens and tokens[number].start < last:
            token = tokens[number]
            word, begin = token[0], token[1]
            if word.isalnum():
                starts.append(begin)
                ends.append(token[2])
                token_of.append(number)
            else:
                for left, right in cut_token(word):
                    starts.append(begin + left)
                    ends.append(begin + right)
                    token_of.append(number)
            words.append(word)
            number += 1
        if number > token_sentences[-1]:
            sentences.append(len(starts))
            token_sentences.append(number)
    return made


@lru_cache(1 << 16)
def cut_token(token: str) -> tuple[Span, ...]:
    """Return the spans of the pieces of a token.

    Examples
    --------
    >>> cut_token("IL-2")
    ((0, 2), (2, 3), (3, 4))
    """
    return tuple(match.span() for match in _CUT.finditer(token))


def shape_of(word: str) -> str:
    """Return the kinds of characters of a word, repetitions left out.

    Examples
    --------
    >>> shape_of("p53"), shape_of("McDonald"), shape_of("+")
    ('a0', 'AaAa', '+')
    """
    made = ""
    for character in word:
        kind = (
            ("A" if character.isupper() else "a")
            if character.isalpha()
            else "0"
            if character.isdigit()
            else character
        )
        if not made.endswith(kind):
            made += kind
    return made


def token_features(token: str, stem: str) -> list[str]:
    """Return the features of a token for the pieces around it."""
    lower = token.lower()[:LONGEST]
    return [f"Tl{lower}", f"Ts{shape_of(token)[:LONGEST]}", f"Tt{stem}", f"Tz{lower[-3:]}"]


def piece_features(token: str, index: int, stem: str) -> list[str]:
    """Return the features of a piece, which depend on its token and its number there."""
    spans = cut_token(token)
    start, end = spans[index]
    word = token[start:end]
    lower = word.lower()[:LONGEST]
    place = f"{min(index, 3)}/{min(len(spans) - index, 4)}"
    made = [f"Pl{lower}", f"Ps{shape_of(word)[:LONGEST]}", f"Pt{stem}", f"Pi{place}"]
    made.append(f"Pn{min(len(word), 8)}")
    made += [f"Pp{lower[:n]}" for n in (1, 2, 3, 4) if len(lower) >= n]
    made += [f"Pz{lower[-n:]}" for n in (1, 2, 3, 4) if len(lower) >= n]
    if word != lower:
        made.append(f"PW{word[:LONGEST]}")
        made.append(f"PS{full_shape(word)}")
    if lower in GREEK or (len(word) == 1 and "α" <= lower <= "ω"):
        made.append("Pg")
    if _ROMAN.fullmatch(word):
        made.append("Pr")
    return made


def full_shape(word: str) -> str:
    """Return the kind of each character of a word."""
    return "".join(
        ("A" if c.isupper() else "a") if c.isalpha() else "0" if c.isdigit() else c
        for c in word[:10]
    )


def distances(feature: str) -> tuple[int, ...]:
    """Return the distances at which a feature is used."""
    return _DISTANCES.get(feature[:2], _HERE)


def place_features(words: Sequence[str]) -> list[list[str]]:
    """Return the features of the places of a sentence, given the words of its pieces in lower case.

    Examples
    --------
    >>> place_features(["raf", "(", "new", ")"])[2]
    ['Xb( new', 'Xfnew )', 'X(']
    """
    made: list[list[str]] = []
    before = ""
    depth = 0
    last = len(words) - 1
    for place, word in enumerate(words):
        after = words[place + 1] if place < last else ""
        features = [f"{BACKWARD}{before} {word}", f"{FORWARD}{word} {after}"]
        if word in "([":
            depth += 1
        elif word in ")]":
            depth = max(0, depth - 1)
        elif depth:
            features.append(INSIDE)
        made.append(features)
        before = word
    return made
