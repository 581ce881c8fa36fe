"""Words cut to their stems, so that *binds*, *binding* and *bind* are one label."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["stem"]

# What English words end in; the longest comes first.
_ENDINGS = tuple(
    sorted(
        """
        s e es ed edly ing ings er ers or ors ate ates ated ating ator ators atory ation ations
        ative ion ions ional ive ory al ally ly ely ment ments ity ities y ies
        """.split(),
        key=lambda ending: (-len(ending), ending),
    )
)
_SHORTEST = 4  # letters that must be left


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return a word without its ending.

    The longest of some English endings that leaves at least four letters is cut, in one go. So
    different words may become one, which is rarely a loss where words are compared in context.
    Words with capitals, digits or other signs are left alone: they are names.

    Examples
    --------
    >>> [stem(word) for word in ("activates", "activation", "activating", "activator")]
    ['activ', 'activ', 'activ', 'activ']
    >>> stem("IL-2"), stem("does"), stem("interacted")
    ('IL-2', 'does', 'interact')
    """
    if not (word.islower() and word.isalpha()):
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return word[: -len(ending)]
    return word
