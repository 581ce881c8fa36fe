"""The bundled corpus of molecular interactions."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Literal, TypeAlias

from kernelwood.io import Examples, read
from kernelwood.text import Example, Origin

__all__ = ["Part", "Split", "interactions_path", "load_interactions"]

Part: TypeAlias = Literal["train", "test"]
Split: TypeAlias = Literal["train", "test", "all"]

_PARTS: dict[str, tuple[Part, ...]] = {
    "train": ("train",),
    "test": ("test",),
    "all": ("train", "test"),
}
_FORMS = ("jsonl", "brat")


def load_interactions(split: Split = "all") -> Examples:
    """Return sentences on molecular interactions, with entities, relations and analyses.

    Made-up abstracts, each with a few sentences. Entities are of type ``Protein``, ``Gene``,
    ``Chemical`` or ``Complex``. Relations are ``Activates``, ``Inhibits``, ``Phosphorylates`` and
    ``Regulates`` (the expression of a gene), from the first argument to the second, and ``Binds``,
    which has no direction. What a sentence denies is no relation; what it only supposes is one
    with an attribute ``Speculation``.

    Parameters
    ----------
    split : {"all", "train", "test"}
        No document is in both parts.

    Returns
    -------
    kernelwood.io.Examples
        With ids like ``"d02.s5"``, the sixth sentence of document ``d02``, and a view
        ``"sentence"``: a `Sentence` with tokens (lemma, Penn tag), constituents, dependencies,
        entities, relations and attributes. Offsets, ``start`` and ids are those of the same
        document in brat form.

    Raises
    ------
    ValueError
        If there is no such part.

    See Also
    --------
    interactions_path : Where the files are, for programs that take a path.

    Notes
    -----
    The corpus is made to try things out. Its language is varied but its sentences are tidy, and
    nothing in it claims to be true of nature; no accuracy on it tells of that on real text.

    Examples
    --------
    >>> example = load_interactions("train")[11]
    >>> example
    Example('d02.s5', None, views: sentence)
    >>> sentence = example.view("sentence")
    >>> sentence.text[23:]
    'junB is controlled may involve a complex of STAT5 and the coactivator CBP.'
    >>> [(entity.id, entity.type, entity.text) for entity in sentence.entities]
    [('T17', 'Gene', 'junB'), ('T18', 'Protein', 'STAT5'), ('T19', 'Protein', 'CBP')]
    >>> [(relation.type, [target for _, target in relation.arguments])
    ...  for relation in sentence.relations]
    [('Binds', ['T18', 'T19'])]
    >>> [(attribute.type, attribute.target) for attribute in sentence.attributes]
    [('Speculation', 'R7')]
    """
    if split not in _PARTS:
        raise ValueError(f"split must be one of {', '.join(_PARTS)}; got {split!r}")
    return Examples(example for part in _PARTS[split] for example in _load(part))


def interactions_path(part: Part, form: Literal["jsonl", "brat"] = "jsonl") -> Path:
    """Return where a part of the corpus of `load_interactions` is, to be read but not changed.

    Parameters
    ----------
    part : {"train", "test"}
        The part.
    form : {"jsonl", "brat"}
        A file of JSON lines, with everything; or a folder with a text and an annotation file for
        each document, without analyses.

    Returns
    -------
    pathlib.Path
        A file or a folder that `kernelwood.read` can read.

    Raises
    ------
    ValueError
        If there is no such part or form.

    Examples
    --------
    >>> from kernelwood.io import read
    >>> read(interactions_path("test", "brat"))[0].id
    'd05'
    """
    if part not in ("train", "test"):
        raise ValueError(f"part must be train or test; got {part!r}")
    if form not in _FORMS:
        raise ValueError(f"form must be one of {', '.join(_FORMS)}; got {form!r}")
    folder = Path(str(files(__package__).joinpath("interactions")))
    return folder / "brat" / part if form == "brat" else folder / f"{part}.jsonl"


def _load(part: Part) -> Iterator[Example]:
    path = interactions_path(part)
    for line, example in enumerate(read(path), start=1):
        # Where the package is installed is nothing that models should remember.
        yield Example(example.id, example.label, example.views, Origin(path.name, line=line))
