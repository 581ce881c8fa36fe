"""What users want compared: sentences, examples or structures, and how these become structures.

A *subject* is a sentence, a candidate, an example or a structure. Kernels compare structures, or
examples by their views. A view that an example has is taken as it is; any other is made of the
sentence (:func:`kernelwood.views.make_view`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from kernelwood.arrays import Batch, ExampleBatch, ForestBatch, SequenceBatch, TreeBatch
from kernelwood.errors import KernelInputError, StructureError
from kernelwood.kernels import (
    ForestKernel,
    Kernel,
    PartialTreeKernel,
    SubsequenceKernel,
    SubsetTreeKernel,
    needed_views,
)
from kernelwood.structures import Forest, Sequence, Tree, shorten
from kernelwood.text import Candidate, Example, Sentence
from kernelwood.views import VIEWS, view_maker

__all__ = [
    "Subject",
    "as_subjects",
    "choose_kernel",
    "choose_view",
    "is_subject",
    "make_structures",
    "name_of",
    "text_of",
]

Subject: TypeAlias = Sentence | Candidate | Example | Sequence | Tree | Forest

_SUBJECTS = (Sentence, Candidate, Example, Sequence, Tree, Forest)
_STRUCTURES = (Sequence, Tree, Forest)
_BATCHES = {SequenceBatch: Sequence, TreeBatch: Tree, ForestBatch: Forest}

# View -> what it is, and whether a sentence has what it is made of; the first that fits is chosen.
_CHOICES: dict[str, tuple[type[Any], Callable[[Sentence], bool]]] = {
    "lct": (Tree, lambda sentence: bool(sentence.dependencies)),
    "tree": (Tree, lambda sentence: sentence.tree is not None),
    "words": (Sequence, lambda sentence: bool(sentence.tokens)),
}
_CONSTITUENTS = ("tree", "pet", "mct")  # views whose productions mean something


def is_subject(X: object) -> bool:
    """Return whether something is a single subject, not a list of them."""
    return isinstance(X, _SUBJECTS)


def as_subjects(X: Any, owner: str) -> Any:
    """Return subjects as a list, or the batch that they are.

    Raises
    ------
    KernelInputError
        If there is something else, or a single subject instead of a list.
    """
    if isinstance(X, (Batch, ExampleBatch)):
        return X
    if is_subject(X) or isinstance(X, str):
        raise KernelInputError(
            f"{owner}: give a list, got the single {type(X).__name__} {shorten(repr(X))}"
        )
    try:
        subjects = list(X)
    except TypeError:
        raise KernelInputError(
            f"{owner}: give a list of sentences, examples or structures, got {shorten(repr(X))}"
        ) from None
    for position, subject in enumerate(subjects):
        if not is_subject(subject):
            raise KernelInputError(
                f"{owner}: item {position} is {shorten(repr(subject))} of type "
                f"{type(subject).__name__}; give sentences (kw.Sentence), examples, sequences, "
                "trees or forests. Text is parsed first, see kw.read; a document is cut by "
                "document.sentences()"
            )
    return subjects


def choose_view(subjects: Any, kernel: Kernel | None, owner: str) -> str | None:
    """Return the view to compare subjects by, if there is a choice.

    Of sentences it is ``"lct"`` if there are dependencies, ``"tree"`` if there are constituents,
    or else ``"words"``; if a kernel is given, the first that it reads. One sentence decides: if
    others lack what the view is made of, they are refused later, not compared by less.

    Returns
    -------
    str or None
        None for structures, and for kernels that name views themselves.

    Examples
    --------
    >>> choose_view([Sentence.from_words(["we", "go"])], None, "this index")
    'words'
    """
    by_views = kernel is not None and kernel._accepts() is ExampleBatch
    if by_views or isinstance(subjects, Batch) or len(subjects) == 0:
        return None
    if isinstance(subjects[0], _STRUCTURES):
        return None
    kinds = _STRUCTURES if kernel is None else (_BATCHES[kernel._accepts()],)
    sentences = [found for subject in subjects if (found := _sentence(subject)) is not None]
    for name, (kind, is_made_of) in _CHOICES.items():
        if kind in kinds and any(map(is_made_of, sentences)):
            return name
    return _view_of_examples(subjects, kinds, owner)


def _view_of_examples(subjects: Any, kinds: tuple[type[Any], ...], owner: str) -> str:
    """Return the one view that all examples have as a structure, or that goes before others."""
    common = [
        {name for name, view in subject.views.items() if isinstance(view, kinds)}
        if isinstance(subject, Example)
        else set()
        for subject in subjects
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
        else f"{owner}: no view of a {wanted} can be made of what was given. Sentences with "
        "dependencies have 'lct' (default) or 'grct', those with constituents 'tree', those with "
        f"tokens 'words'; known views: {', '.join(VIEWS)}"
    )


def choose_kernel(structure: Any, view: str | None) -> Kernel:
    """Return a kernel that suits a structure which was made as a view.

    Examples
    --------
    >>> choose_kernel(Sequence(["we", "go"]), "words")
    SubsequenceKernel()
    """
    if isinstance(structure, Sequence):
        return SubsequenceKernel()
    if isinstance(structure, Forest):
        return ForestKernel()
    return SubsetTreeKernel() if view in _CONSTITUENTS else PartialTreeKernel()


def make_structures(subjects: Any, kernel: Kernel | None, view: str | None, owner: str) -> Any:
    """Return subjects as structures that a kernel reads: a list, or the batch that they are.

    Raises
    ------
    KernelInputError
        If a view is named where there is no choice.
    StructureError
        If a view cannot be made of a subject; the message says of which, and why.
    """
    names = () if kernel is None else needed_views(kernel)
    by_views = kernel is not None and kernel._accepts() is ExampleBatch
    if view is not None and by_views:
        raise KernelInputError(
            f"{owner}: the kernel names its views itself, so leave out view={view!r}"
        )
    if by_views and (not names or _have_views(subjects, names)):
        return subjects
    if by_views:
        makers = {name: _Maker(name, owner) for name in names or ()}
        return [
            Example(
                name_of(subject) or str(position),
                getattr(subject, "label", None),
                {name: make(position, subject) for name, make in makers.items()},
                getattr(subject, "origin", None),
            )
            for position, subject in enumerate(subjects)
        ]
    if isinstance(subjects, Batch) or view is None:
        if view is not None:
            raise _no_view(owner, view)
        return subjects
    make_one = _Maker(view, owner)
    return [make_one(position, subject) for position, subject in enumerate(subjects)]


def _have_views(subjects: Any, names: tuple[str, ...]) -> bool:
    return all(
        isinstance(subject, Example)
        and all(isinstance(subject.views.get(name), _STRUCTURES) for name in names)
        for subject in subjects
    )


class _Maker:
    """Makes the view of a name of one subject after the other."""

    def __init__(self, name: str, owner: str) -> None:
        self._name, self._owner = name, owner
        self._make = view_maker(name) if name in VIEWS else None

    def __call__(self, position: int, subject: Any) -> Any:
        if isinstance(subject, _STRUCTURES):
            raise _no_view(self._owner, self._name)
        if isinstance(subject, Example):
            view = subject.views.get(self._name)
            if isinstance(view, _STRUCTURES):
                return view
        source = subject if isinstance(subject, Candidate) else _sentence(subject)
        if source is None:
            view = subject.view(self._name)  # which tells what views there are, if it is none
            raise StructureError(
                f"view {self._name!r} of example {shorten(repr(subject.id))} is a "
                f"{type(view).__name__}, which no kernel compares"
            )
        if self._make is None:
            raise StructureError(
                f"there is no view {self._name!r}", hint=f"known views: {', '.join(VIEWS)}"
            )
        try:
            return self._make(source)[0]
        except StructureError as error:
            shown = shorten(repr(text_of(subject)))
            raise StructureError(
                f"view {self._name!r} of sentence {position} ({shown}): {error.problem}",
                hint=f"{error.hint or 'parse it first'}; or leave it out, or compare all by "
                "another view, such as view='words'",
            ) from None


def _no_view(owner: str, view: str) -> KernelInputError:
    return KernelInputError(
        f"{owner}: the view {view!r} is made of sentences or taken from examples, but there are "
        "structures already; give no view, and a kernel that compares them as they are"
    )


def _sentence(subject: Any) -> Sentence | None:
    """Return the sentence that views are made of."""
    if isinstance(subject, Sentence):
        return subject
    if isinstance(subject, Candidate):
        return subject.sentence
    if not isinstance(subject, Example):
        return None
    named = subject.views.get("sentence")
    views = [named, *subject.views.values()]
    return next((view for view in views if isinstance(view, Sentence)), None)


def text_of(subject: Any) -> str:
    """Return what a person would read: the text of a sentence, or of an example.

    Trees are written in brackets, of a forest the most likely tree.

    Examples
    --------
    >>> text_of(Example("a", views={"words": Sequence(["we", "go"])}))
    'we go'
    """
    text = subject.views.get("text") if isinstance(subject, Example) else None
    if isinstance(text, str):
        return text
    sentence = _sentence(subject)
    if sentence is not None:
        return sentence.text
    if isinstance(subject, Example):
        views = [subject.views.get("words"), *subject.views.values()]
        subject = next((view for view in views if isinstance(view, _STRUCTURES)), None)
    if isinstance(subject, Sequence):
        return " ".join(subject.nodes)
    if isinstance(subject, Forest):
        subject = subject.best_tree()
    return subject.to_brackets() if isinstance(subject, Tree) else ""


def name_of(subject: Any) -> str:
    """Return the id of an example or a candidate, ``sent_id`` of a sentence, or ``""``."""
    if isinstance(subject, (Example, Candidate)):
        return subject.id
    if isinstance(subject, Sentence):
        return dict(subject.metadata).get("sent_id") or ""
    return ""
