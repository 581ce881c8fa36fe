"""The bundled example data."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Literal, TypeAlias

from kernelwood.io import Examples, read
from kernelwood.structures import Sequence, Tree
from kernelwood.text import Example, Origin

Part: TypeAlias = Literal["train", "test"]
Split: TypeAlias = Literal["train", "test", "all"]

_PARTS: dict[str, tuple[Part, ...]] = {
    "train": ("train",),
    "test": ("test",),
    "all": ("train", "test"),
}
_FORMS = ("jsonl", "brat")
_QUESTIONS = "questions.tsv"


def load_questions() -> Examples:
    """Return 120 English questions, labeled with the kind of answer they ask for.

    Six classes of 20 questions: ``DESC`` (description, definition, manner, reason), ``ENTY``
    (animal, food, color, product, ...), ``ABBR`` (abbreviation and what it stands for), ``HUM``
    (person or group), ``NUM`` (number, date, distance, money, ...) and ``LOC`` (place). The
    classes alternate, so every six consecutive examples have one of each class.

    Returns
    -------
    kernelwood.io.Examples
        With ids ``"q001"`` to ``"q120"`` and two views: ``"tree"``, the constituency tree with
        Penn Treebank labels, and ``"words"``, the lower-cased leaves as a `Sequence`.

    Notes
    -----
    The data are for trying out the library without a download. They are too few, and too clean, to
    compare methods.

    Examples
    --------
    >>> example = load_questions()[3]
    >>> example
    Example('q004', 'HUM', views: tree, words)
    >>> example.view("words")
    Sequence(['who', 'invented', 'the', 'parking', 'meter', '?'])
    """
    text = files(__package__).joinpath("data", _QUESTIONS).read_text(encoding="utf-8")
    numbered = enumerate(text.splitlines(), start=1)
    rows = [(number, line) for number, line in numbered if line and not line.startswith("#")]
    return Examples(_question(index, *row) for index, row in enumerate(rows, start=1))


def _question(index: int, line_number: int, line: str) -> Example:
    label, _, brackets = line.split("\t")
    tree = Tree.from_brackets(brackets)
    words = Sequence(leaf.label.lower() for leaf in tree.leaves())
    return Example(
        id=f"q{index:03d}",
        label=label,
        views={"tree": tree, "words": words},
        origin=Origin(_QUESTIONS, line=line_number),
    )


def load_interactions(split: Split = "all") -> Examples:
    """Return sentences on molecular interactions, with entities, relations and parses.

    The texts are invented abstracts of a few sentences. Entities are of type ``Protein``, ``Gene``,
    ``Chemical`` or ``Complex``. Relations are ``Activates``, ``Inhibits``, ``Phosphorylates`` and
    ``Regulates`` (the expression of a gene), from the first argument to the second, and ``Binds``,
    which has no direction. A denied relation is not annotated; a speculative one has an attribute
    ``Speculation``.

    Parameters
    ----------
    split : {"all", "train", "test"}
        The part of the corpus; no document is in both parts.

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
        If ``split`` is unknown.

    See Also
    --------
    interactions_path : The path of the files.

    Notes
    -----
    The corpus is for trying out the library. Its language is varied but its sentences are clean,
    so results do not carry over to real text, and its statements are not facts.

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
    """Return the path of a part of the corpus of `load_interactions`, which must not be changed.

    Parameters
    ----------
    part : {"train", "test"}
        The part.
    form : {"jsonl", "brat"}
        A file of JSON lines, with parses; or a folder with a text and an annotation file for
        each document, without parses.

    Returns
    -------
    pathlib.Path
        A file or a folder that `kernelwood.read` can read.

    Raises
    ------
    ValueError
        If ``part`` or ``form`` is unknown.

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
        # Models that store origins should not depend on where the package is installed.
        yield Example(example.id, example.label, example.views, Origin(path.name, line=line))
