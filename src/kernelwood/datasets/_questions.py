"""The bundled question classification set."""

from __future__ import annotations

from importlib.resources import files

from kernelwood.structures import Sequence, Tree
from kernelwood.text import Example, Origin

__all__ = ["load_questions"]

_FILE = "questions.tsv"


def load_questions() -> list[Example]:
    """Return 120 English questions, each labeled with the kind of answer it asks for.

    Six classes of 20 questions: ``DESC`` (description, definition, manner, reason), ``ENTY``
    (animal, food, color, product, ...), ``ABBR`` (abbreviation and what it stands for), ``HUM``
    (person or group), ``NUM`` (number, date, distance, money, ...) and ``LOC`` (place). The
    classes take turns, so every stretch of six examples holds each class once.

    Returns
    -------
    list of Example
        With ids ``"q001"`` to ``"q120"`` and two views: ``"tree"``, the constituency tree with
        Penn Treebank labels, and ``"words"``, the lower-cased leaves as a `Sequence`.

    Notes
    -----
    The set is made to try things out, in a second and without a download. It is too small, and
    its questions too tidy, to tell which of two methods is better.

    Examples
    --------
    >>> example = load_questions()[3]
    >>> example
    Example('q004', 'HUM', views: tree, words)
    >>> example.view("words")
    Sequence(['who', 'invented', 'the', 'parking', 'meter', '?'])
    """
    text = files(__package__).joinpath("data", _FILE).read_text(encoding="utf-8")
    numbered = enumerate(text.splitlines(), start=1)
    rows = [(number, line) for number, line in numbered if line and not line.startswith("#")]
    return [_example(index, *row) for index, row in enumerate(rows, start=1)]


def _example(index: int, line_number: int, line: str) -> Example:
    label, _, brackets = line.split("\t")
    tree = Tree.from_brackets(brackets)
    words = Sequence(leaf.label.lower() for leaf in tree.leaves())
    return Example(
        id=f"q{index:03d}",
        label=label,
        views={"tree": tree, "words": words},
        origin=Origin(_FILE, line=line_number),
    )
