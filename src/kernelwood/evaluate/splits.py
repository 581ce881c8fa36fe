"""Splits into training and test examples: folds, whole documents, whole corpora."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import OneDimensional, batch
from kernelwood.errors import KernelInputError
from kernelwood.evaluate.class_labels import Groups, encode, encode_groups, labels_of, show
from kernelwood.evaluate.group_folds import even_folds, stratified_folds
from kernelwood.parameters import check_int
from kernelwood.seeds import resolve_seed, sklearn_seed
from kernelwood.text import Candidate, Document, Example, Origin, Sentence
from kernelwood.threads import ignored_warnings

Indices: TypeAlias = NDArray[np.int64]
Split: TypeAlias = tuple[Indices, Indices]

Starts: TypeAlias = Mapping[str, list[tuple[int, str]]]
# The id of a sentence or of a candidate in it, which begins with that of the document.
_IN_SENTENCE = re.compile(r"(?P<document>.+?)\.s[0-9]+(?:\.|$)", re.DOTALL)
_AMR_ID = re.compile(r"(?P<document>.+)\.[0-9]+", re.DOTALL)
_NAMED_BY = ("document", "doc")  # keys of metadata
_BEGUN_BY = ("newdoc id", "newdoc")

Scheme: TypeAlias = Literal["pairs", "leave_one_out"]
_SCHEMES = ("pairs", "leave_one_out")


def group_splits(
    groups: Iterable[Any],
    y: Iterable[Any] | None = None,
    *,
    n_splits: int = 5,
    random_state: Any = 0,
) -> list[Split]:
    """Return the folds of a cross-validation that keeps groups together.

    Sentences of one document resemble each other, so a document must not be in both the training
    and the test part: use ``groups=documents(examples)``.

    Parameters
    ----------
    groups : sequence
        The group of each example.
    y : sequence of labels, optional
        Labels by which folds are stratified, as far as whole groups allow. Without labels the
        folds are as equal in size as possible.
    n_splits : int
        Number of folds, at least 2 and at most the number of groups.
    random_state : None, int, Generator or RandomState
        Seed.

    Returns
    -------
    list of (train, test)
        Arrays of indices in ascending order.

    Raises
    ------
    KernelInputError
        If lengths differ or there are too few groups.

    Examples
    --------
    >>> splits = group_splits(["d1", "d1", "d2", "d3", "d3", "d3"], n_splits=3)
    >>> sorted(test.tolist() for train, test in splits)
    [[0, 1], [2], [3, 4, 5]]
    """
    names = list(groups)
    codes = None if y is None else encode({"y": y}).codes[0]
    grouped = encode_groups(names, len(names) if codes is None else len(codes))
    return _cut_groups(grouped, codes, n_splits, resolve_seed(random_state))


def split_examples(splits: Any, y: Indices, groups: Groups | None, *, seed: int) -> list[Split]:
    """Return the splits given by a number of folds, a splitter of scikit-learn, or a list."""
    n = len(y)
    if isinstance(splits, (int, np.integer)) and not isinstance(splits, bool):
        if groups is not None:
            return _cut_groups(groups, y, int(splits), seed)
        return _cut_examples(y, int(splits), seed)
    if hasattr(splits, "get_n_splits"):
        codes = None if groups is None else groups.codes
        splits = splits.split(np.zeros((n, 1)), y, codes)
    return check_splits(splits, n)


def check_splits(splits: Any, n_examples: int) -> list[Split]:
    """Return splits as arrays of indices; raise KernelInputError if parts overlap."""
    try:
        pairs = [(np.asarray(train), np.asarray(test)) for train, test in splits]
    except (TypeError, ValueError):
        raise KernelInputError(
            f"splits must be a number of folds or a list of (train, test), got {show(splits)}"
        ) from None
    if not pairs:
        raise KernelInputError("splits is empty; give at least one pair (train, test)")
    tested = np.zeros(n_examples, dtype=np.int64)
    made = []
    for number, pair in enumerate(pairs):
        train, test = (
            _check_indices(part, name, number, n_examples)
            for part, name in zip(pair, ("train", "test"), strict=True)
        )
        shared = np.intersect1d(train, test)
        if len(shared):
            raise KernelInputError(
                f"splits[{number}]: example {shared[0]} is in both the training and the test part; "
                "remove it from one"
            )
        tested[test] += 1
        made.append((train, test))
    if tested.max() > 1:
        raise KernelInputError(
            f"splits: example {int(np.argmax(tested > 1))} is tested more than once; evaluate "
            "repeated splits one after the other"
        )
    return made


def _check_indices(part: NDArray[Any], name: str, number: int, n_examples: int) -> Indices:
    where = f"splits[{number}]: the {name} part"
    if part.dtype == bool and part.shape == (n_examples,):
        part = np.flatnonzero(part)
    if part.ndim != 1 or not (part.dtype.kind in "iu" or part.size == 0):
        raise KernelInputError(f"{where} must be a vector of indices, got {show(part)}")
    if part.size == 0:
        raise KernelInputError(f"{where} is empty; both parts need at least one example")
    if part.min() < 0 or part.max() >= n_examples:
        raise KernelInputError(
            f"{where} has the index {part[(part < 0) | (part >= n_examples)][0]}, "
            f"but there are {n_examples:,} examples, counted from 0"
        )
    indices = part.astype(np.int64)
    if len(np.unique(indices)) < len(indices):
        raise KernelInputError(f"{where} has an index twice; list each example once")
    return indices


def _cut_groups(groups: Groups, y: Indices | None, n_splits: Any, seed: int) -> list[Split]:
    _check_number(n_splits, groups.n_groups, "groups")
    if y is None:
        # Groups of equal size are assigned in the order of their numbers: shuffle these.
        shuffled = np.random.default_rng(seed).permutation(groups.n_groups)[groups.codes]
        folds = even_folds(shuffled, n_splits)
    else:
        _check_largest_class(y, n_splits)
        folds = stratified_folds(y, groups.codes, n_splits, sklearn_seed(seed))
    return [
        (np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(n_splits)
    ]


def _cut_examples(y: Indices, n_splits: Any, seed: int) -> list[Split]:
    from sklearn.model_selection import StratifiedKFold

    _check_number(n_splits, len(y), "examples")
    _check_largest_class(y, n_splits)
    splitter = StratifiedKFold(n_splits, shuffle=True, random_state=sklearn_seed(seed))
    # A rare class is in as many folds as it has examples.
    with ignored_warnings("The least populated class", UserWarning):
        return list(splitter.split(np.zeros((len(y), 1)), y))


def _check_largest_class(y: Indices, n_splits: int) -> None:
    largest = int(np.bincount(y).max())
    if largest < n_splits:
        raise KernelInputError(
            f"the largest class has {largest} examples, too few for {n_splits} folds; "
            "use fewer folds, or pass a list of splits"
        )


def _check_number(n_splits: Any, available: int, what: str) -> None:
    check_int("the number of splits", n_splits, 2)
    if available < n_splits:
        remedy = f"use at most {available} splits, or " if available > 1 else ""
        more = "finer groups" if what == "groups" else "more examples"
        raise KernelInputError(
            f"{n_splits} splits need at least {n_splits} {what}, but there "
            f"{'is' if available == 1 else 'are'} only {available:,}; {remedy}give {more}"
        )


def documents(items: Iterable[Example | Candidate]) -> list[str]:
    """Return the document of each example or candidate, for use as ``groups``.

    The document is named by the first of these that exists:

    1. metadata of the sentence: ``document`` (interaction corpora, CoNLL-2012), ``doc`` (CoNLL),
       the last ``newdoc`` before it (CoNLL-U);
    2. the id up to the number of the sentence: ``"AIMed.d7"`` of ``"AIMed.d7.s2.p0"``, as in
       interaction corpora and candidates of documents;
    3. the id of a meaning representation up to its number: ``"bolt_4"`` of ``"bolt_4.12"``;
    4. the id of an example that is a document itself;
    5. the file.

    Groups may be too large, but a document is never in two of them.

    Parameters
    ----------
    items : iterable of Example or Candidate
        The examples or candidates.

    Returns
    -------
    list of str
        The name of the document of each.

    Raises
    ------
    KernelInputError
        If none of these exists.

    Examples
    --------
    >>> documents([Example("AIMed.d7.s2.p0"), Example("AIMed.d7.s3.p0"), Example("AIMed.d8.s0")])
    ['AIMed.d7', 'AIMed.d7', 'AIMed.d8']
    """
    if not isinstance(items, Iterable):
        raise KernelInputError(f"give examples or candidates, got {show(items)}")
    known = [_described(item, index) for index, item in enumerate(items)]
    starts = _document_starts(known)
    return [_document_of(one, starts) for one in known]


class _Described(NamedTuple):
    """Properties by which the document of an example or candidate is found.

    Attributes
    ----------
    id : str
    origin : Origin or None
    facts : dict or None
        Metadata of the sentence, None if there is no sentence.
    is_amr, is_document : bool
        Whether the sentence has a meaning representation; whether an example is a document.
    """

    id: str
    origin: Origin | None
    facts: dict[str, str | None] | None
    is_amr: bool
    is_document: bool


def _described(item: object, index: int) -> _Described:
    if isinstance(item, Candidate):
        sentence: Sentence | None = item.sentence
        is_document = False
    elif isinstance(item, Example):
        views = item.views.values()
        sentence = next((view for view in views if isinstance(view, Sentence)), None)
        is_document = any(isinstance(view, Document) for view in views)
    else:
        raise KernelInputError(
            f"item {index} is {show(item)} of type {type(item).__name__}; "
            "give examples or candidates"
        )
    if sentence is None:
        return _Described(item.id, item.origin, None, False, is_document)
    facts = dict(reversed(sentence.metadata))  # the first value counts
    return _Described(item.id, item.origin, facts, sentence.amr is not None, is_document)


def _document_of(item: _Described, starts: Starts) -> str:
    named, origin = item.facts or {}, item.origin
    for key in _NAMED_BY:
        if named.get(key):
            return str(named[key])
    if item.facts is not None and origin is not None and origin.path in starts:
        return _last_start(starts[origin.path], origin.line or 0, origin.path)
    match = _IN_SENTENCE.match(item.id)
    if match is None and item.is_amr:
        match = _AMR_ID.fullmatch(named.get("id") or "")
    if match is not None:
        return match["document"]
    if item.is_document:
        return item.id
    if origin is not None:
        return origin.path
    raise KernelInputError(
        f"the document of {show(item.id)} is unknown: it has no origin, its sentence names no "
        "document, and its id is not like 'document.s3'; pass a list of groups"
    )


def _document_starts(items: Iterable[_Described]) -> Starts:
    """Return the first lines of documents, with their names, by file.

    Only the first sentence of a document names it. If that sentence is not among the items, its
    document counts as part of the one before.
    """
    starts: dict[str, set[tuple[int, str]]] = defaultdict(set)
    for item in items:
        origin, facts = item.origin, item.facts
        if origin is None or origin.line is None or not facts:
            continue
        for key in _BEGUN_BY:
            if key in facts:
                name = facts[key] or f"{origin.path}:{origin.line}"
                starts[origin.path].add((origin.line, name))
                break
    return {path: sorted(lines) for path, lines in starts.items()}


def _last_start(starts: list[tuple[int, str]], line: int, path: str) -> str:
    place = bisect_right(starts, line, key=lambda start: start[0])
    return starts[place - 1][1] if place else path


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CorpusSplit:
    """One or more training corpora and a test corpus.

    Attributes
    ----------
    train : tuple of str
        Names of the training corpora.
    test : str
        Name of the test corpus.
    X_train, y_train, X_test, y_test
        Their structures and labels.
    """

    train: tuple[str, ...]
    test: str
    X_train: Any
    y_train: list[Any]
    X_test: Any
    y_test: list[Any]

    @property
    def name(self) -> str:
        """Training and test corpora, such as ``"AIMed → BioInfer"``."""
        return f"{' + '.join(self.train)} → {self.test}"

    @property
    def data(self) -> tuple[Any, list[Any], Any, list[Any]]:
        """Structures and labels in the order of the arguments of :func:`train_and_test`."""
        return self.X_train, self.y_train, self.X_test, self.y_test

    def __repr__(self) -> str:
        sizes = f"{len(self.y_train):,} and {len(self.y_test):,} examples"
        return f"<CorpusSplit: {self.name}, {sizes}>"


def cross_corpus(
    corpora: Mapping[str, tuple[Any, Any]], *, scheme: Scheme = "pairs"
) -> Iterator[CorpusSplit]:
    """Return an iterator over splits into training and test corpora.

    Parameters
    ----------
    corpora : mapping of str to (X, y)
        Structures and labels by the name of the corpus; two or more.
    scheme : {"pairs", "leave_one_out"}
        Train on each corpus and test on each other; or train on all but the test corpus.

    Returns
    -------
    iterator of CorpusSplit
        In the order of the mapping. Corpora are joined one split at a time.

    Raises
    ------
    KernelInputError
        If there are fewer than two corpora, or lengths differ.

    Examples
    --------
    >>> corpora = {"A": (["a1", "a2"], [0, 1]), "B": (["b1"], [1]), "C": (["c1"], [0])}
    >>> [split.name for split in cross_corpus(corpora, scheme="leave_one_out")]
    ['B + C → A', 'A + C → B', 'A + B → C']
    >>> len(list(cross_corpus(corpora)))
    6
    """
    if scheme not in _SCHEMES:
        raise KernelInputError(f"scheme must be one of {', '.join(_SCHEMES)}; got {scheme!r}")
    if not isinstance(corpora, Mapping) or len(corpora) < 2:
        raise KernelInputError(
            f"cross_corpus needs two corpora or more, as {{name: (X, y)}}; got {show(corpora)}"
        )
    checked = {str(name): _check_corpus(name, corpus) for name, corpus in corpora.items()}
    return _splits(checked, scheme)


def join_structures(parts: Sequence[Any]) -> Any:
    """Return the concatenation of collections of structures, or of arrays.

    Examples
    --------
    >>> join_structures([["a"], ("b", "c")])
    ['a', 'b', 'c']
    """
    from scipy import sparse

    if len(parts) == 1:
        return parts[0]
    if any(isinstance(part, OneDimensional) for part in parts):
        return batch([structure for part in parts for structure in part])
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack(parts, format="csr")
    if any(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    return [structure for part in parts for structure in part]


def _splits(corpora: Mapping[str, tuple[Any, list[Any]]], scheme: str) -> Iterator[CorpusSplit]:
    for train, test in _names(list(corpora), scheme):
        X_train = join_structures([corpora[name][0] for name in train])
        y_train = [label for name in train for label in corpora[name][1]]
        yield CorpusSplit(train, test, X_train, y_train, *corpora[test])


def _names(names: list[str], scheme: str) -> Iterator[tuple[tuple[str, ...], str]]:
    if scheme == "leave_one_out":
        for test in names:
            yield tuple(name for name in names if name != test), test
    else:
        for train in names:
            for test in names:
                if train != test:
                    yield (train,), test


def _check_corpus(name: object, corpus: Any) -> tuple[Any, list[Any]]:
    try:
        X, y = corpus
    except (TypeError, ValueError):
        raise KernelInputError(
            f"corpus {show(name)} must be a pair (X, y), got {show(corpus)}"
        ) from None
    shown = show(name)
    return X, labels_of(X, y, f"X of corpus {shown}", f"y of corpus {shown}")
