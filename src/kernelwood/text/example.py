"""Examples: objects to classify, as named structures."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, final

from kernelwood.errors import KernelInputError, StructureError
from kernelwood.structures import Forest, Frozen, Graph, Sequence, Tree, check_label, shorten
from kernelwood.text.document import Document
from kernelwood.text.objects import adapt
from kernelwood.text.sentence import Sentence

Structure: TypeAlias = Sequence | Tree | Forest | Graph
Annotated: TypeAlias = Sentence | Document
View: TypeAlias = Structure | Annotated | str | tuple[float, ...] | Mapping[str, float]
Label: TypeAlias = str | float | tuple[str | float, ...] | None

SIDES = ("left", "right")  # the parts of a pair, and the beginnings of the names of their views
_OF_SENTENCES = frozenset(name for name in dir(Sentence) if not name.startswith("_"))


@dataclass(frozen=True, slots=True)
class Origin:
    """File, line and characters from which an example was read.

    Parameters
    ----------
    path : str
        The file.
    line : int, optional
        Line number, from 1.
    start, end : int, optional
        Character offsets in the text, as the format defines it.

    Examples
    --------
    >>> str(Origin("corpus.mrg", line=12))
    'corpus.mrg:12'
    """

    path: str
    line: int | None = None
    start: int | None = None
    end: int | None = None

    def __str__(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


@final
class Example(Frozen):
    """One object to be classified, as one or several named structures.

    Parameters
    ----------
    id : str
        Unique in its collection.
    label : str, number, tuple of these, or None, optional
        Class or value to predict; None if unknown.
    views : mapping of str to Sequence, Tree, Forest, Graph, Sentence, Document, str, or vector
        The structures by name. The functions of `kernelwood.views` derive sequences, trees and
        forests, which kernels compare, from sentences. A vector is a list, tuple or array of
        numbers, stored as a tuple, or a mapping of str to numbers; a sparse row of scipy is stored
        as a mapping of column numbers, as text, to values.
    origin : Origin, optional
        Where the example was read.

    Attributes
    ----------
    id, label, origin
        As given.
    views : mapping
        Read-only.

    Raises
    ------
    StructureError
        If a view has another type or the label is not hashable.

    Examples
    --------
    >>> example = Example("q1", "LOC", {"words": Sequence(["where", "is", "it"])})
    >>> example
    Example('q1', 'LOC', views: words)
    >>> example.view("words").nodes
    ('where', 'is', 'it')
    >>> example.view("word")
    Traceback (most recent call last):
    ...
    kernelwood.errors.StructureError: example 'q1' has no view 'word'
        did you mean 'words'? views: 'words'
    """

    # No __getitem__: numpy would take a list of examples for a matrix.
    __slots__ = ("_hash", "id", "label", "origin", "views")

    id: str
    label: Label
    views: Mapping[str, View]
    origin: Origin | None
    _hash: int

    def __new__(
        cls,
        id: str,
        label: Label = None,
        views: Mapping[str, View] | None = None,
        origin: Origin | None = None,
    ) -> Example:
        """Return an example, after checking its parts."""
        name = check_label(id, "example id")
        try:
            digest = hash((name, label))
        except TypeError:
            raise StructureError(
                f"label of example {shorten(repr(name))} must be hashable, "
                f"got a {type(label).__name__}",
                hint="use a string, a number, or a tuple of these",
            ) from None
        if origin is not None and not isinstance(origin, Origin):
            raise StructureError(
                f"origin of example {shorten(repr(name))} must be an Origin, "
                f"got {type(origin).__name__}",
                hint=f"write Origin({shorten(repr(origin))})",
            )
        checked = _check_views({} if views is None else views, name)
        self = super().__new__(cls)
        self._fill(
            id=name,
            label=label,
            views=MappingProxyType(checked),
            origin=origin,
            _hash=hash((digest, frozenset(checked))),
        )
        return self

    @classmethod
    def _trusted(
        cls, id: str, label: Label, views: Mapping[str, View], origin: Origin | None
    ) -> Example:
        """Return an example of valid parts, without checks."""
        self = object.__new__(cls)
        self._fill(
            id=id,
            label=label,
            views=MappingProxyType(dict(views)),
            origin=origin,
            _hash=hash((hash((id, label)), frozenset(views))),
        )
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Say where the sentence is, if an example is passed in its place."""
            hint = ""
            if name in _OF_SENTENCES:
                hint = "; give the sentence of the example, example.view('sentence')"
            raise AttributeError(
                f"'Example' object has no attribute {name!r}{hint}", name=name, obj=self
            )

    def view(self, name: str) -> View:
        """Return a view by name, or raise StructureError with the known names."""
        try:
            return self.views[name]
        except KeyError:
            close = difflib.get_close_matches(str(name), self.views, n=1)
            guess = f"did you mean {close[0]!r}? " if close else ""
            names = ", ".join(repr(known) for known in self.views) or "none"
            raise StructureError(
                f"example {shorten(repr(self.id))} has no view {name!r}",
                hint=f"{guess}views: {names}",
            ) from None

    def with_views(self, views: Mapping[str, View]) -> Example:
        """Return a copy with views added or replaced.

        Examples
        --------
        >>> Example("q1", views={"text": "we go"}).with_views({"words": Sequence(["we", "go"])})
        Example('q1', None, views: text, words)
        """
        return Example(self.id, self.label, {**self.views, **views}, self.origin)

    @classmethod
    def pair(
        cls, id: str, left: object, right: object, label: Label = None, origin: Origin | None = None
    ) -> Example:
        """Return an example with two parts, such as two texts that are compared.

        Parameters
        ----------
        id, label, origin
            Id, label and origin of the pair.
        left, right : Example, or structure
            The parts. Views of an example are called ``left.name`` and ``right.name``, a structure
            ``left`` or ``right``; ids and labels of the parts are not kept.

        Examples
        --------
        >>> words = [Sequence(text.split()) for text in ("who is it", "who are you")]
        >>> Example.pair("1", *words, label="no")
        Example('1', 'no', views: left, right)
        >>> one, two = (Example(text.nodes[-1], views={"words": text}) for text in words)
        >>> Example.pair("1", one, two)
        Example('1', None, views: left.words, right.words)
        """
        views: dict[str, Any] = {}
        for side, part in zip(SIDES, (left, right), strict=True):
            if isinstance(part, Example):
                views.update({f"{side}.{name}": view for name, view in part.views.items()})
            else:
                views[side] = part
        return cls(id, label, views, origin)

    def part(self, side: str) -> Example:
        """Return one part of a pair, an example with the id of the pair.

        Parameters
        ----------
        side : {"left", "right"}
            Its views are those whose names begin with ``left.`` or ``right.``.

        Examples
        --------
        >>> pair = Example("1", views={"left.text": "we go", "right.text": "they went"})
        >>> pair.part("right").view("text")
        'they went'
        """
        prefix = f"{_check_side(side)}."
        views = {
            name[len(prefix) :]: v for name, v in self.views.items() if name.startswith(prefix)
        }
        return Example._trusted(self.id, None, views, self.origin)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Example):
            return NotImplemented
        return self is other or (
            self._hash == other._hash
            and self.id == other.id
            and self.label == other.label
            and self.origin == other.origin
            and self.views == other.views
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        names = shorten(", ".join(self.views) or "none")
        return f"Example({shorten(repr(self.id))}, {shorten(repr(self.label))}, views: {names})"

    def _repr_html_(self) -> str:
        from kernelwood.text.document_display import example_html

        return example_html(self)

    def __reduce__(self) -> tuple[object, ...]:
        # Read-only mappings do not pickle.
        views = {
            name: dict(view) if isinstance(view, Mapping) else view
            for name, view in self.views.items()
        }
        return (Example, (self.id, self.label, views, self.origin))


def _check_side(side: str) -> str:
    if side not in SIDES:
        raise StructureError(f"a pair has the parts 'left' and 'right', not {shorten(repr(side))}")
    return side


def _check_views(views: object, id: str) -> dict[str, View]:
    if not isinstance(views, Mapping):
        raise StructureError(
            f"views of example {shorten(repr(id))} must be a mapping, got {type(views).__name__}",
            hint='name each structure: views={"tree": tree}',
        )
    for name in views:
        if type(name) is not str:
            owner = shorten(repr(id))
            names = [check_label(one, f"view name of example {owner}") for one in views]
            views = dict(zip(names, views.values(), strict=True))
            break
    return {name: _check_view(view, name, id) for name, view in views.items()}


def _check_view(view: object, name: str, id: str) -> View:
    if isinstance(view, (Sequence, Tree, Forest, Graph, Sentence, Document, str)):
        return view
    if isinstance(view, tuple) and all(isinstance(number, Real) for number in view):
        return view
    if isinstance(view, Mapping) and all(
        isinstance(key, str) and isinstance(number, Real) for key, number in view.items()
    ):
        return MappingProxyType(dict(view))
    adapted = adapt(view)
    if isinstance(adapted, (Tree, Graph, Sentence, Document)):
        return adapted
    numbers = _as_vector(view)
    if numbers is not None:
        return numbers
    raise StructureError(
        f"view {name!r} of example {shorten(repr(id))} cannot be {shorten(repr(view))} "
        f"of type {type(view).__name__}",
        hint="give a Sequence, Tree, Forest, Graph, Sentence, Document, str, list or array of "
        "numbers, or mapping of str to numbers",
    )


def _as_vector(view: Any) -> View | None:
    """Return a list or array of numbers as a tuple, a sparse row as a mapping, others as None."""
    if hasattr(view, "tocoo") and view.shape[:-1] in ((), (1,)):
        row, features = view.tocoo(), dict[str, float]()
        columns = row.col if len(row.shape) == 2 else row.coords[0]
        for column, number in zip(columns.tolist(), row.data.tolist(), strict=True):
            features[str(column)] = features.get(str(column), 0.0) + number
        return MappingProxyType(features)
    numbers = view.tolist() if getattr(view, "ndim", 0) == 1 and hasattr(view, "tolist") else view
    if isinstance(numbers, list) and all(isinstance(number, Real) for number in numbers):
        return tuple(numbers)
    return None


def annotated_view(example: Example) -> Annotated:
    """Return the document or sentence of an example.

    Raises
    ------
    KernelInputError
        If it has neither.

    Examples
    --------
    >>> annotated_view(Example("a", views={"document": Document("Raf binds Ras.")})).text
    'Raf binds Ras.'
    """
    view = example.views.get("document", example.views.get("sentence"))
    if isinstance(view, (Document, Sentence)):
        return view
    raise KernelInputError(
        f"example {shorten(repr(example.id))} has no sentence and no document; relations are "
        "predicted in annotated text, such as brat standoff, interaction corpora (ppi, ddi) or "
        "CoNLL-U"
    )
