"""What the look of a word tells about it, from the vague to the precise."""

from __future__ import annotations

import re

__all__ = ["as_opener", "signatures"]

_NUMBER = re.compile(r"[\d.,/:-]*\d[\d.,/:-]*")
_LONGEST_SUFFIX = 4
_LONGEST_NAME_SUFFIX = 3  # names say less by their endings


def signatures(word: str, opener: bool) -> list[str]:
    """Return classes of words that ``word`` looks like, each a part of the one before.

    The first has all words; the next goes by capitals, digits, hyphens and a final period; those
    that follow add the last one, two, three and four letters.

    Parameters
    ----------
    word : str
    opener : bool
        Whether it opens a sentence, where a capital letter means little.

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
        most = min(longest, len(word) - 1)  # a suffix is less than the word
        found += [f"{shape}|{ending[-length:]}" for length in range(1, most + 1)]
    return found


def as_opener(word: str) -> str:
    """Return a word the way it is written at the beginning of a sentence.

    Examples
    --------
    >>> as_opener("rain"), as_opener("eBay")
    ('Rain', 'EBay')
    """
    return word[:1].upper() + word[1:]


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
