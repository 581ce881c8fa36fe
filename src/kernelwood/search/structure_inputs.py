"""Inputs of search: sentences, candidates, examples or structures, and their structures.

Kernels compare structures, or examples by their views. A view that an example has is used; any
other view is made of the sentence (:func:`kernelwood.views.make_view`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from kernelwood.arrays import (
    Batch,
    ExampleBatch,
    ForestBatch,
    GraphBatch,
    SequenceBatch,
    TreeBatch,
    VectorBatch,
    as_rows,
)
from kernelwood.errors import KernelInputError, StructureError
from kernelwood.kernels import (
    ForestKernel,
    Kernel,
    PartialTreeKernel,
    SubsequenceKernel,
    SubsetTreeKernel,
    WeisfeilerLehmanKernel,
    needed_views,
)
from kernelwood.structures import Forest, Graph, Sequence, Tree, shorten, show
from kernelwood.text import (
    Candidate,
    Document,
    Example,
    Sentence,
    adapt,
    adaptable,
    adapting_hint,
    tokenize,
)
from kernelwood.views import VIEWS, view_maker

Input: TypeAlias = Sentence | Candidate | Example | Sequence | Tree | Forest | Graph

_INPUTS = (Sentence, Candidate, Example, Sequence, Tree, Forest, Graph)
_STRUCTURES = (Sequence, Tree, Forest, Graph)
_WITHOUT_KERNEL = (Sequence, Tree, Forest)  # views that are compared if no kernel is given
_VECTORS = (tuple, Mapping)
_BATCHES: dict[Any, tuple[type[Any], ...]] = {
    SequenceBatch: (Sequence,),
    TreeBatch: (Tree,),
    ForestBatch: (Forest,),
    GraphBatch: (Graph,),
    VectorBatch: _VECTORS,
}

# View -> its structure, and whether a sentence has its source; the first possible one is chosen.
_CHOICES: dict[str, tuple[type[Any], Callable[[Sentence], bool]]] = {
    "lct": (Tree, lambda sentence: bool(sentence.dependencies)),
    "tree": (Tree, lambda sentence: sentence.tree is not None),
    "words": (Sequence, lambda sentence: bool(sentence.tokens)),
}
_CONSTITUENTS = ("tree", "pet", "mct")  # views of constituents


def is_input(X: object) -> bool:
    """Return whether ``X`` is a single input, not a list of inputs."""
    return isinstance(X, (*_INPUTS, str)) or adaptable(type(X))


def as_inputs(X: Any, owner: str) -> Any:
    """Return inputs as a list, or unchanged if they are a batch.

    Raises
    ------
    KernelInputError
        If ``X`` is a single input or contains anything else.
    """
    if isinstance(X, (Batch, ExampleBatch)):
        return X
    if is_input(X):
        raise KernelInputError(f"{owner}: give a list, got the single {type(X).__name__} {show(X)}")
    hint = adapting_hint(X)
    if hint or isinstance(X, (bytes, Mapping, set, frozenset)) or not isinstance(X, Iterable):
        raise KernelInputError(
            f"{owner}: give a list of sentences, examples or structures, got {show(X)} of type "
            f"{type(X).__name__}{'; ' + hint if hint else ''}"
        )
    return [as_input(item, f"{owner}: item {place}") for place, item in enumerate(as_rows(X))]


def as_input(item: Any, owner: str) -> Input:
    """Return an input; a string is a sentence of words, a document must have one sentence.

    Examples
    --------
    >>> as_input("we go", "this")
    Sentence('we go', 2 tokens)
    """
    if isinstance(item, _INPUTS):
        return item
    if isinstance(item, str):
        return Sentence(item, tuple(tokenize(item)))
    found = adapt(item)
    if isinstance(found, Document):
        sentences = found.sentences()
        if len(sentences) == 1:
            return sentences[0]
        raise KernelInputError(
            f"{owner} is a document with {len(sentences)} sentences, {show(found.text)}; give its "
            "sentences: document.sentences()"
        )
    if isinstance(found, _INPUTS):
        return found
    hint = adapting_hint(item)
    raise KernelInputError(
        f"{owner} is {show(item)} of type {type(item).__name__}; give sentences (kw.Sentence), "
        f"examples, sequences, trees, forests or graphs{'; ' + hint if hint else ''}"
    )


def choose_view(inputs: Any, kernel: Kernel | None, owner: str) -> str | None:
    """Return the view by which inputs are compared.

    For sentences it is ``"lct"`` if any has dependencies, ``"tree"`` if any has constituents, or
    else ``"words"``; with a kernel, the first of these that it reads. Sentences for which the view
    cannot be made raise an error later.

    Returns
    -------
    str or None
        None for structures, and for kernels that name their views.

    Examples
    --------
    >>> choose_view([Sentence.from_words(["we", "go"])], None, "this index")
    'words'
    """
    by_views = kernel is not None and kernel._accepts() is ExampleBatch
    if by_views or isinstance(inputs, Batch) or len(inputs) == 0:
        return None
    if isinstance(inputs[0], _STRUCTURES):
        return None
    kinds = _WITHOUT_KERNEL if kernel is None else _BATCHES[kernel._accepts()]
    sentences = [found for item in inputs if (found := _sentence(item)) is not None]
    for name, (kind, is_made_of) in _CHOICES.items():
        if kind in kinds and any(map(is_made_of, sentences)):
            return name
    return _view_of_examples(inputs, kinds, owner)


def _view_of_examples(inputs: Any, kinds: tuple[type[Any], ...], owner: str) -> str:
    """Return the view that all examples have: the only one, or the first of the choices."""
    common = [
        {name for name, view in item.views.items() if isinstance(view, kinds)}
        if isinstance(item, Example)
        else set()
        for item in inputs
    ]
    names = sorted(set.intersection(*common))
    if len(names) == 1:
        return names[0]
    for name in _CHOICES:
        if name in names:
            return name
    wanted = " or ".join(kind.__name__.lower() for kind in kinds)
    raise KernelInputError(
        f"{owner}: there are several views that could be compared, {', '.join(names)}; "
        f"name one, such as view={names[0]!r}"
        if names
        else f"{owner}: no view that is a {wanted} can be made of the input. Sentences with "
        "dependencies have 'lct' (default) or 'grct', those with constituents 'tree', those with "
        f"tokens 'words'; known views: {', '.join(VIEWS)}"
    )


def choose_kernel(structure: Any, view: str | None) -> Kernel:
    """Return the default kernel for a structure of a view.

    Examples
    --------
    >>> choose_kernel(Sequence(["we", "go"]), "words")
    SubsequenceKernel()
    """
    if isinstance(structure, Sequence):
        return SubsequenceKernel()
    if isinstance(structure, Forest):
        return ForestKernel()
    if isinstance(structure, Graph):
        return WeisfeilerLehmanKernel()
    return SubsetTreeKernel() if view in _CONSTITUENTS else PartialTreeKernel()


def make_structures(inputs: Any, kernel: Kernel | None, view: str | None, owner: str) -> Any:
    """Return the structures of inputs, or examples with the views that a kernel reads.

    Raises
    ------
    KernelInputError
        If a view is named for structures or for a kernel that names its views.
    StructureError
        If a view cannot be made of an input.
    """
    names = () if kernel is None else needed_views(kernel)
    by_views = kernel is not None and kernel._accepts() is ExampleBatch
    if view is not None and by_views:
        raise KernelInputError(f"{owner}: the kernel names its views itself; remove view={view!r}")
    if by_views and (not names or _have_views(inputs, names)):
        return inputs
    if by_views:
        makers = {name: _Maker(name, owner) for name in names or ()}
        return [
            Example(
                name_of(item) or str(position),
                getattr(item, "label", None),
                {name: make(position, item) for name, make in makers.items()},
                getattr(item, "origin", None),
            )
            for position, item in enumerate(inputs)
        ]
    if isinstance(inputs, Batch) or view is None:
        if view is not None:
            raise _no_view(owner, view)
        return inputs
    make_one = _Maker(view, owner)
    return [make_one(position, item) for position, item in enumerate(inputs)]


def _have_views(inputs: Any, names: tuple[str, ...]) -> bool:
    return all(
        isinstance(item, Example)
        and all(isinstance(item.views.get(name), (*_STRUCTURES, *_VECTORS)) for name in names)
        for item in inputs
    )


class _Maker:
    """Makes one view of inputs."""

    def __init__(self, name: str, owner: str) -> None:
        self._name, self._owner = name, owner
        self._make = view_maker(name) if name in VIEWS else None

    def __call__(self, position: int, item: Any) -> Any:
        if isinstance(item, _STRUCTURES):
            raise _no_view(self._owner, self._name)
        if isinstance(item, Example):
            view = item.views.get(self._name)
            if isinstance(view, (*_STRUCTURES, *_VECTORS)):
                return view
        source = item if isinstance(item, Candidate) else _sentence(item)
        if source is None:
            view = item.view(self._name)  # raises an error that lists the views if it is missing
            raise StructureError(
                f"view {self._name!r} of example {shorten(repr(item.id))} is a "
                f"{type(view).__name__}, which is not a structure"
            )
        if self._make is None:
            raise StructureError(
                f"there is no view {self._name!r}", hint=f"known views: {', '.join(VIEWS)}"
            )
        try:
            return self._make(source)[0]
        except StructureError as error:
            shown = shorten(repr(text_of(item)))
            raise StructureError(
                f"view {self._name!r} of sentence {position} ({shown}): {error.problem}",
                hint=f"{error.hint or 'parse it first'}; or remove it, or use another view, such "
                "as view='words'",
            ) from None


def _no_view(owner: str, view: str) -> KernelInputError:
    return KernelInputError(
        f"{owner}: view={view!r} applies to sentences and examples, but the input is structures "
        "already; remove it, and use a kernel of these structures"
    )


def _sentence(item: Any) -> Sentence | None:
    """Return the sentence that views are made of."""
    if isinstance(item, Sentence):
        return item
    if isinstance(item, Candidate):
        return item.sentence
    if not isinstance(item, Example):
        return None
    named = item.views.get("sentence")
    views = [named, *item.views.values()]
    return next((view for view in views if isinstance(view, Sentence)), None)


def text_of(item: Any) -> str:
    """Return the text of a sentence, a candidate or an example.

    The text of a tree is its brackets, that of a forest those of its most likely tree.

    Examples
    --------
    >>> text_of(Example("a", views={"words": Sequence(["we", "go"])}))
    'we go'
    """
    text = item.views.get("text") if isinstance(item, Example) else None
    if isinstance(text, str):
        return text
    sentence = _sentence(item)
    if sentence is not None:
        return sentence.text
    if isinstance(item, Example):
        views = [item.views.get("words"), *item.views.values()]
        item = next((view for view in views if isinstance(view, _STRUCTURES)), None)
    if isinstance(item, Sequence):
        return " ".join(item.nodes)
    if isinstance(item, Forest):
        item = item.best_tree()
    return item.to_brackets() if isinstance(item, Tree) else ""


def name_of(item: Any) -> str:
    """Return the id of an example or a candidate, ``sent_id`` of a sentence, or ``""``."""
    if isinstance(item, (Example, Candidate)):
        return item.id
    if isinstance(item, Sentence):
        return dict(item.metadata).get("sent_id") or ""
    return ""
