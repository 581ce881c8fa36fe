"""Plain texts as examples with entities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from kernelwood.entities import Dictionary
from kernelwood.errors import KernelInputError
from kernelwood.structures import shorten
from kernelwood.text import Document, Example, Sentence

__all__ = ["as_examples"]


def as_examples(texts: Any, dictionary: Dictionary | None) -> list[Example]:
    """Return texts as examples; terms of the dictionary are their entities.

    Parameters
    ----------
    texts : str, Document or Example, or an iterable of these
        Texts are called ``text1``, ``text2``, ...; examples keep their ids.
    dictionary : Dictionary or None
        Adds entities where there are none yet.

    Examples
    --------
    >>> [example] = as_examples("Raf binds Ras.", Dictionary([("Raf", "protein")]))
    >>> example.id, example.view("document")
    ('text1', Document('Raf binds Ras.', 1 entity))
    """
    listed: Iterable[Any] = [texts] if isinstance(texts, (str, Document, Example)) else texts
    return [_example(f"text{i}", text, dictionary) for i, text in enumerate(listed, start=1)]


def _example(name: str, text: Any, dictionary: Dictionary | None) -> Example:
    if isinstance(text, str):
        made = Example(name, views={"document": Document(text)})
    elif isinstance(text, Document):
        made = Example(name, views={"document": text})
    elif isinstance(text, Example):
        made = text
    else:
        raise KernelInputError(
            f"{name} is {shorten(repr(text))} of type {type(text).__name__}; give strings, "
            "documents or examples"
        )
    if dictionary is None:
        return made
    view = made.views.get("document", made.views.get("sentence"))
    if isinstance(view, Sentence):
        return _annotated_sentence(made, view, dictionary)
    if not isinstance(view, Document):
        raise KernelInputError(f"example {shorten(repr(made.id))} has no sentence or document")
    return made.with_views({"document": dictionary.annotate(view)})


def _annotated_sentence(example: Example, sentence: Sentence, dictionary: Dictionary) -> Example:
    """Return an example whose sentence, parsed already, has the entities of the dictionary."""
    parts = (sentence.entities, sentence.relations, sentence.events, sentence.attributes)
    found = dictionary.annotate(Document(sentence.text, *parts))
    made = replace(sentence, entities=found.entities, attributes=found.attributes)
    return example.with_views({"sentence": made})
