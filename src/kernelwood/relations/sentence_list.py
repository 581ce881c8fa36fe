"""Sentences of a corpus of any size, in little memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, MutableSequence
from typing import Any, NamedTuple, overload

from kernelwood.text import Sentence, sentence_from_object, sentence_object

_WHOLE = 16_384  # sentences kept as objects, of about 13 kB each


class SentenceList(MutableSequence[Sentence]):
    """A list of sentences; those after the first thousands are stored as JSON.

    An index makes the sentence again, which takes a tenth of a millisecond; the latest one is kept,
    so that it is made once for all candidates that are in it.

    Parameters
    ----------
    sentences : iterable of Sentence

    Examples
    --------
    >>> sentences = SentenceList([Sentence.from_words(["we", "go"])])
    >>> len(sentences), sentences[0].text
    (1, 'we go')
    """

    def __init__(self, sentences: Iterable[Sentence] = ()) -> None:
        self._items: list[Sentence | _Packed] = []
        self._latest: tuple[_Packed, Sentence] | None = None
        self.extend(sentences)

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, row: int) -> Sentence: ...
    @overload
    def __getitem__(self, row: slice) -> SentenceList: ...
    def __getitem__(self, row: int | slice) -> Sentence | SentenceList:
        if isinstance(row, slice):
            return SentenceList(self[one] for one in range(len(self))[row])
        item = self._items[row]
        if isinstance(item, Sentence):
            return item
        latest = self._latest
        if latest is None or latest[0] is not item:
            parts = {"text": item.text, **json.loads(item.others)}
            latest = self._latest = (item, sentence_from_object(parts))
        return latest[1]

    def text(self, row: int) -> str:
        """Return the text of a sentence, which is not made for it."""
        return self._items[row].text

    def __setitem__(self, row: Any, sentence: Any) -> None:
        self._items[row] = _stored(sentence, row)

    def __delitem__(self, row: int | slice) -> None:
        del self._items[row]

    def insert(self, row: int, sentence: Sentence) -> None:
        """Insert a sentence before a row."""
        self._items.insert(row, _stored(sentence, row))


class _Packed(NamedTuple):
    """A sentence: its text, and JSON of its other parts."""

    text: str
    others: bytes


def _stored(sentence: Sentence, row: int) -> Sentence | _Packed:
    if 0 <= row < _WHOLE:
        return sentence
    parts = sentence_object(sentence)
    del parts["text"]
    return _Packed(sentence.text, json.dumps(parts, separators=(",", ":")).encode())
