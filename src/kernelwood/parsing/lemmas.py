"""Rule-based lemmatizer for English nouns and verbs.

An ending is removed in every way that spelling allows. The first result that is a known word is
the lemma; otherwise spelling rules decide.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Known: TypeAlias = Callable[[str], bool]

_IRREGULAR_VERBS: dict[str, str] = {
    form: lemma
    for lemma, forms in {
        "be": "am is are was were been being 's 're 'm",
        "have": "has had having 've",
        "do": "does did done doing",
        "arise": "arose arisen",
        "become": "became",
        "begin": "began begun beginning",
        "bind": "bound",
        "bring": "brought",
        "build": "built",
        "choose": "chose chosen",
        "come": "came",
        "draw": "drew drawn",
        "drive": "drove driven",
        "fall": "fell fallen",
        "feed": "fed",
        "find": "found",
        "give": "gave given",
        "go": "goes went gone",
        "grow": "grew grown",
        "hold": "held",
        "keep": "kept",
        "know": "knew known",
        "lead": "led",
        "leave": "left",
        "lie": "lay lain lying",
        "lose": "lost",
        "make": "made",
        "mean": "meant",
        "rise": "rose risen",
        "run": "ran",
        "see": "saw seen",
        "seek": "sought",
        "send": "sent",
        "show": "shown",
        "take": "took taken",
        "think": "thought",
        "understand": "understood",
        "undergo": "undergoes underwent undergone",
        "write": "wrote written",
    }.items()
    for form in forms.split()
}
_IRREGULAR_NOUNS = {
    "mice": "mouse",
    "men": "man",
    "women": "woman",
    "children": "child",
    "feet": "foot",
    "bacteria": "bacterium",
    "nuclei": "nucleus",
    "loci": "locus",
    "phenomena": "phenomenon",
    "criteria": "criterion",
    "lives": "life",
    "halves": "half",
}
_HISSING = ("ss", "x", "ch", "sh", "zz")
_SILENT_E = (
    *("at", "iz", "yz", "uc", "ut", "id", "ud", "in", "ir", "ur", "ar", "as", "is", "os", "us"),
    *("ag", "rg", "dg", "v", "c", "bl", "pl", "dl", "yp", "u", "om", "um", "rs", "ns"),
)
_NO_SILENT_E = ("ain", "ein", "oin", "ear", "air", "eat", "eit")


def lemma_of(word: str, tag: str, known: Known = lambda _: False) -> str:
    """Return the lemma of a word.

    Parameters
    ----------
    word : str
        The word form.
    tag : str
        Penn Treebank tag; the endings of plural nouns and of verbs are removed.
    known : callable, optional
        Whether a word in lower case is a known lemma.

    Returns
    -------
    str
        In lower case. Names do not change: words with a capital letter after the first character
        or with a digit, and proper nouns.

    Examples
    --------
    >>> [lemma_of(word, "VBN") for word in ("activated", "inhibited", "expressed", "bound")]
    ['activate', 'inhibit', 'express', 'bind']
    >>> lemma_of("studies", "NNS"), lemma_of("analyses", "NNS"), lemma_of("IL-2", "NN")
    ('study', 'analysis', 'IL-2')
    """
    if tag.startswith("NNP") or word[1:] != word[1:].lower() or any(map(str.isdigit, word)):
        return word
    lowered = word.lower()
    if tag.startswith("VB"):
        return _IRREGULAR_VERBS.get(lowered) or _verb(lowered, tag, known)
    if tag == "NNS":
        return _IRREGULAR_NOUNS.get(lowered) or _without_s(lowered, known)
    return lowered


def _verb(word: str, tag: str, known: Known) -> str:
    if tag == "VBZ":
        return _without_s(word, known)
    for ending, tags in (("ed", ("VBD", "VBN")), ("ing", ("VBG",))):
        if tag in tags and word.endswith(ending) and len(word) > len(ending) + 2:
            return _without_ending(word, ending, known)
    return word


def _without_ending(word: str, ending: str, known: Known) -> str:
    stem = word[: -len(ending)]
    if ending == "ed" and stem.endswith("i"):
        return stem[:-1] + "y"
    double = stem[-1] == stem[-2] and stem[-1] not in "aeiou"
    ways = [stem, stem + "e"] + [stem[:-1]] * double
    found = next((way for way in ways if known(way)), None)
    if found is not None:
        return found
    if double and not stem.endswith(("ss", "ll", "zz", "ff")):
        return stem[:-1]
    silent = stem.endswith(_SILENT_E) and not stem.endswith(_NO_SILENT_E)
    return stem + "e" if silent else stem


def _without_s(word: str, known: Known) -> str:
    if not word.endswith("s") or word.endswith("ss") or len(word) < 4:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    ways = [word[:-1]]
    if word.endswith("es"):
        ways += [word[:-2], word[:-2] + "is"]
    found = next((way for way in ways if known(way)), None)
    if found is not None:
        return found
    if word.endswith(("yses", "heses", "ptoses")):
        return ways[2]
    return ways[1] if len(ways) > 1 and ways[1].endswith(_HISSING) else ways[0]
