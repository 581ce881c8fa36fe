"""Checks of what a parser is given to parse."""

from __future__ import annotations

from collections.abc import Iterable

from kernelwood.errors import KernelInputError
from kernelwood.structures import shorten

__all__ = ["check_sentence", "check_tags", "check_tags_of_batch"]


def check_sentence(tokens: object, what: str) -> list[str]:
    """Return the words of a sentence as a list of plain strings.

    Examples
    --------
    >>> check_sentence(("rain", "falls"), "tokens")
    ['rain', 'falls']
    >>> check_sentence("rain falls", "tokens")
    Traceback (most recent call last):
    ...
    kernelwood.errors.KernelInputError: tokens must be a list of words, got the string 'rain falls'
        split it first: tokens.split()
    """
    words = _check_strings(tokens, what, "words", "split it first: tokens.split()")
    if not words:
        raise KernelInputError(
            f"{what}: a sentence needs at least one word\n    leave empty sentences out"
        )
    return words


def check_tags(tags: object, n_words: int, what: str) -> list[str]:
    """Return the parts of speech of a sentence, one for each word.

    Examples
    --------
    >>> check_tags(["NN"], 1, "tags")
    ['NN']
    """
    checked = _check_strings(tags, what, "parts of speech", "split it first: tags.split()")
    if len(checked) != n_words:
        raise KernelInputError(
            f"{what}: {len(checked)} parts of speech for {n_words} words\n"
            "    give one for every word, or none at all: tags=None"
        )
    return checked


def check_tags_of_batch(
    tags: Iterable[Iterable[str]] | None, sentences: list[list[str]]
) -> list[list[str] | None]:
    """Return the parts of speech of several sentences, None for each if none are given.

    Examples
    --------
    >>> check_tags_of_batch(None, [["rain"], ["snow"]])
    [None, None]
    """
    if tags is None:
        return [None] * len(sentences)
    if isinstance(tags, str):
        raise KernelInputError(
            f"tags must be one list of parts of speech per sentence, got {shorten(repr(tags))}"
        )
    listed = list(tags)
    if len(listed) != len(sentences):
        raise KernelInputError(
            f"tags of {len(listed)} sentences for {len(sentences)} sentences\n"
            "    give one list for every sentence, or none at all: tags=None"
        )
    return [
        check_tags(each, len(words), f"tags of sentence {i}")
        for i, (each, words) in enumerate(zip(listed, sentences, strict=True))
    ]


def _check_strings(values: object, what: str, kind: str, hint: str) -> list[str]:
    if isinstance(values, str):
        raise KernelInputError(
            f"{what} must be a list of {kind}, got the string {shorten(repr(values))}\n    {hint}"
        )
    if not isinstance(values, Iterable):
        raise KernelInputError(
            f"{what} must be a list of {kind}, got {shorten(repr(values))} "
            f"of type {type(values).__name__}"
        )
    listed = list(values)
    for position, value in enumerate(listed):
        if not isinstance(value, str):
            raise KernelInputError(
                f"{what}: item {position} must be a string, got {shorten(repr(value))} "
                f"of type {type(value).__name__}"
            )
    return [str(value) for value in listed]
