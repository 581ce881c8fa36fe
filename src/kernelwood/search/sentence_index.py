"""Search for sentences by their structure."""

from __future__ import annotations

from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import Maybe, OneOf, Schema, Strings, Text
from kernelwood.compute import resolve_jobs
from kernelwood.errors import KernelInputError
from kernelwood.explain import Fragment, shared_fragments
from kernelwood.features import (
    KERNEL,
    SEED,
    EmbeddingIndex,
    Fitted,
    HashIndex,
    Ids,
    IdTable,
    Rows,
    StructureEstimator,
    check_next_id,
    ids_of,
    stored,
)
from kernelwood.kernels import Kernel
from kernelwood.parameters import check_int
from kernelwood.search.structure_inputs import (
    Input,
    as_input,
    as_inputs,
    choose_kernel,
    choose_view,
    is_input,
    make_structures,
    name_of,
    text_of,
)
from kernelwood.seeds import resolve_seed
from kernelwood.threads import LOCK, ignored_warnings

Column = NDArray[np.object_]
# A property for a fitted attribute that is a column of the records.
_recorded = partial(stored, "_records")

WAYS = ("vectors", "codes")  # representations by which structures are found


@dataclass(frozen=True, slots=True)
class Match:
    """A sentence found by a search.

    Attributes
    ----------
    id : int
        Id of the sentence in the index.
    similarity : float
        Similarity by the kernel if ``exact``; otherwise its approximation by vectors, or the
        fraction of equal bits of two codes.
    text : str
        Text of the sentence.
    name : str
        Id of the example, or ``sent_id`` of the sentence; ``""`` if it has none.
    exact : bool
        Whether the similarity was computed by the kernel.
    """

    id: int
    similarity: float
    text: str
    name: str = ""
    exact: bool = True


def index_class(by: str) -> Any:
    """Return the class of index for vectors or codes."""
    return HashIndex if by == "codes" else EmbeddingIndex


def fitted_index(
    by: str, kernel: Kernel, structures: Any, *, n_landmarks: int, n_bits: int, seed: int
) -> Any:
    """Return a fitted index of structures; if there are few, all of them are landmarks.

    Parameters
    ----------
    by : {"vectors", "codes"}
    kernel : Kernel
    structures : list of structures or batch
    n_landmarks : int
        Landmarks of vectors, or references of codes.
    n_bits : int
        Length of codes.
    seed : int
    """
    n = min(n_landmarks, len(structures))
    if by == "vectors":
        return index_class(by)(kernel, n_landmarks=n, random_state=seed).fit(structures)
    if n < 2:
        raise KernelInputError(
            "codes need at least two references; fit on more sentences, or use by='vectors'"
        )
    index = HashIndex(
        kernel, n_references=n, n_bits=n_bits, subset_size=min(2, n // 2), random_state=seed
    )
    constant = "KernelHasher: .* bits are the same"  # expected of so few structures
    with ignored_warnings(constant) if n < n_landmarks else nullcontext():
        return index.fit(structures)


class _Records(IdTable):
    """A text, a name and two ids of each sentence: the public id, and that in the inner index.

    Both ids rise with positions.
    """

    def __init__(
        self, ids: Ids, inner_ids: Ids, texts: Column, names: Column, next_id: int
    ) -> None:
        columns = {"inner_ids": inner_ids, "texts": texts, "names": names}
        super().__init__("sentence", columns, ids=ids, next_id=next_id)

    @classmethod
    def restored(cls, inner_ids: Ids, attributes: dict[str, Any]) -> _Records:
        """Return records of loaded attributes; raise ValueError if they are inconsistent."""
        check_next_id(attributes["ids"], attributes["next_id"])
        for name in ("texts", "names"):
            if not isinstance(attributes[name], np.ndarray) or attributes[name].dtype != object:
                raise ValueError(f"{name}_ must be strings of any length")
        return cls(inner_ids=inner_ids, **attributes)

    def renumber(self, inner_ids: Ids) -> None:
        """Set the inner ids of all sentences after the inner index was fitted again."""
        rows = self.tidy()
        self._fill(replace(rows, columns={**rows.columns, "inner_ids": inner_ids}))


class _State(NamedTuple):
    """The inner index, its rows and the records of sentences, which belong together."""

    index: Any
    rows: Rows
    records: Rows


class SentenceIndex(StructureEstimator):
    r"""Search for sentences by their structure.

    A view turns sentences into structures, which are found by their vectors
    (:class:`EmbeddingIndex`) or hashcodes (:class:`HashIndex`). A query costs ``n_landmarks``
    kernel evaluations and a scan; then the ``n_rerank`` nearest are compared by the kernel, at one
    evaluation each, so that similarities are exact.

    Parameters
    ----------
    kernel : Kernel, optional
        The kernel, preferably normalized. The default depends on the view:
        :class:`SubsequenceKernel` for sequences, :class:`SubsetTreeKernel` for constituents,
        :class:`PartialTreeKernel` for other trees, :class:`ForestKernel` for forests. A kernel
        on views of examples (:class:`OnView`, and sums of such) names its views itself.
    view : str, optional
        The view of sentences, see :data:`kernelwood.views.VIEWS`. By default ``"lct"`` if there
        are dependencies, ``"tree"`` if there are constituents, else ``"words"``; the first of
        these that the kernel reads. A view that an example already has is used. Structures need
        no view.
    by : {"vectors", "codes"}
        Representation by which sentences are found. Vectors approximate the kernel better, codes
        take less memory.
    n_landmarks : int
        Number of landmarks of vectors, or references of codes; at most the number of sentences. A
        vector takes a byte for each.
    n_bits : int
        Length of codes, which take ``n_bits / 8`` bytes per sentence; not used for vectors.
    n_rerank : int
        Number of nearest sentences to compare by the kernel, 0 for none.
    random_state : None, int, Generator or RandomState
        Seed of the selection of landmarks.
    n_jobs : int, optional
        Number of threads; results do not depend on it.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel in use.
    view_ : str or None
        The view in use.
    ids_ : ndarray of int64, shape (n,)
        Ids of the sentences in ascending order: 0, 1, ... for those of ``fit``, then those of
        ``add``. No id is used twice.
    texts_, names_ : ndarrays of str, shape (n,)
        Texts and names, in the order of the ids.
    index_ : EmbeddingIndex or HashIndex
        The index of the structures, with ids of its own.
    seed_ : int
        The seed that was used.

    See Also
    --------
    EmbeddingIndex, HashIndex : Search for structures, with arrays as results.
    find_duplicates : All pairs of similar structures.

    Notes
    -----
    Additions take amortized constant time; removals are cheap.

    Thread safety: all methods but ``fit``. Searches and explanations use the sentences in the index
    when they begin, even if other threads add, remove or ``refit`` meanwhile. ``refit`` raises an
    error if sentences are added or removed before it ends.

    Examples
    --------
    >>> import kernelwood as kw
    >>> def parsed(text, *dependencies):
    ...     return kw.Sentence.from_words(text.split(), dependencies=dependencies)
    >>> index = kw.SentenceIndex(random_state=0).fit([
    ...     parsed("cats sleep", (-1, "root", 1), (1, "nsubj", 0)),
    ...     parsed("we sing songs", (-1, "root", 1), (1, "nsubj", 0), (1, "obj", 2)),
    ... ])
    >>> index.view_, index.kernel_
    ('lct', PartialTreeKernel())
    >>> index.add([parsed("dogs sleep", (-1, "root", 1), (1, "nsubj", 0))])
    array([2])
    >>> query = parsed("dogs bark", (-1, "root", 1), (1, "nsubj", 0))
    >>> [match.text for match in index.search(query, k=2)]
    ['dogs sleep', 'cats sleep']
    """

    _fitted: ClassVar[Schema] = {
        "kernel_": KERNEL,
        "seed_": SEED,
        "view_": Maybe(Text()),
        "index_": OneOf(Fitted(EmbeddingIndex), Fitted(HashIndex)),
        **ids_of("index_"),
        "texts_": Strings("index_"),
        "names_": Strings("index_"),
    }

    view_: str | None
    index_: Any
    _records: _Records
    _state: _State
    _restored: dict[str, Any]

    ids_ = _recorded("ids", "Ids of the sentences, in ascending order.")
    texts_ = _recorded("texts", "Texts of the sentences, in the order of their ids.")
    names_ = _recorded("names", "Names of the sentences, in the order of their ids.")
    next_id_ = _recorded("next_id", "The id of the next sentence to be added.")

    def __init__(
        self,
        kernel: Any = None,
        *,
        view: str | None = None,
        by: str = "vectors",
        n_landmarks: int = 300,
        n_bits: int = 1024,
        n_rerank: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.view = view
        self.by = by
        self.n_landmarks = n_landmarks
        self.n_bits = n_bits
        self.n_rerank = n_rerank
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> SentenceIndex:
        """Select view, kernel and landmarks from ``X``, and add ``X`` to the index.

        Parameters
        ----------
        X : list of Sentence, Candidate, Example or structures, or batch, length n
        y : None
            Not used.
        """
        self._check_parameters()
        inputs = as_inputs(X, "SentenceIndex")
        if len(inputs) == 0:
            raise KernelInputError("SentenceIndex: give at least one sentence")
        kernel = self.kernel
        view = choose_view(inputs, kernel, "SentenceIndex") if self.view is None else self.view
        structures = make_structures(inputs, kernel, view, "SentenceIndex")
        kernel = choose_kernel(structures[0], view) if kernel is None else kernel.clone()
        for name in ("_records", "_state", "_restored"):  # if fitting fails, it is not fitted
            self.__dict__.pop(name, None)
        self.kernel_, self.view_ = kernel, view
        self.seed_ = resolve_seed(self.random_state)
        self.index_ = self._fit_index(structures)
        self._records = _Records(
            np.arange(len(inputs)), self.index_.ids_, *_texts_and_names(inputs), len(inputs)
        )
        self._publish()
        return self

    def _publish(self) -> None:
        """Let searches see the index and the records as they are now."""
        self._state = _State(self.index_, self.index_._collection.rows, self._records.rows)

    def _current(self) -> _State:
        """Return the index and the records after the last change."""
        state = self._state
        rows = state.index._collection.rows
        # Reading attributes of the index moves its rows: the old ones are not kept for searches.
        # If it has changed otherwise, another thread is about to publish the new state.
        if rows is not state.rows and rows.version == state.rows.version:
            with LOCK:
                if self._state is state:
                    self._state = state._replace(rows=rows)
            return state._replace(rows=rows)
        return state

    def add(self, X: Any) -> Ids:
        """Add sentences; return their ids.

        Parameters
        ----------
        X : list of Sentence, Candidate, Example or structures, or batch, length n

        Returns
        -------
        ndarray of int64, shape (n,)
        """
        self._check_is_fitted()
        inputs = as_inputs(X, "SentenceIndex")
        if len(inputs) == 0:
            return np.empty(0, dtype=np.int64)
        texts, names = _texts_and_names(inputs)
        while True:
            index = self.index_
            with self._threads():
                structures = index._prepare(self._structures(inputs))
                stand_ins = index._stand_ins(structures)
            with LOCK:
                if index is not self.index_:  # another thread has fitted it again
                    continue
                inner_ids = index._collection.add(structures, stand_ins)
                columns = {"inner_ids": inner_ids, "texts": texts, "names": names}
                ids = self._records.append(columns)
                self._publish()
                return ids

    def remove(self, ids: Any) -> None:
        """Remove sentences; the others keep their ids.

        Parameters
        ----------
        ids : int, or list or ndarray of int
            Ids returned by :meth:`add`; those of ``fit`` count from 0.
        """
        self._check_is_fitted()
        with LOCK:
            records = self._records.rows
            positions = records.find("SentenceIndex", "sentence", ids)
            self.index_.remove(records.column("inner_ids")[positions])
            self._records.remove("SentenceIndex", ids)
            self._publish()

    def refit(self) -> SentenceIndex:
        """Select new landmarks from all sentences in the index, which keep their ids.

        Until then the index uses the landmarks selected by ``fit``. When it has grown to several
        times its size, or its content has changed, new landmarks improve the search.

        Raises
        ------
        KernelInputError
            If the index is empty, or if another thread adds or removes sentences meanwhile.
        """
        self._check_is_fitted()
        before = self._records.tidy()
        if len(before) == 0:
            raise KernelInputError("SentenceIndex: the index is empty; add sentences first")
        index = self._fit_index(self.index_.structures_)
        with LOCK:
            if self._records.rows.version != before.version:
                raise KernelInputError(
                    "SentenceIndex: sentences were added or removed during refit; call it again"
                )
            self.index_ = index
            self._records.renumber(index.ids_)
            self._publish()
        return self

    @overload
    def search(self, X: Input, k: int = 10, *, n_rerank: int | None = None) -> list[Match]: ...
    @overload
    def search(self, X: Any, k: int = 10, *, n_rerank: int | None = None) -> list[list[Match]]: ...
    def search(self, X: Any, k: int = 10, *, n_rerank: int | None = None) -> Any:
        """Return the ``k`` sentences that are most similar to a query.

        Parameters
        ----------
        X : Sentence, Candidate, Example or structure; or a list of these, or a batch
            One query, or several.
        k : int
            Number of sentences to return; at most all.
        n_rerank : int, optional
            Number of nearest sentences to compare by the kernel, at least ``k``; 0 for none. By
            default the parameter of the index.

        Returns
        -------
        list of Match, or list of such lists
            For each query the most similar first, ties in order of their ids.
        """
        self._check_is_fitted()
        asked = self.n_rerank if n_rerank is None else n_rerank
        check_int("SentenceIndex: k", k, 1)
        check_int("SentenceIndex: n_rerank", asked, 0)
        queries = as_inputs([X] if is_input(X) else X, "SentenceIndex")
        state = self._current()
        k = min(k, len(state.records))
        if k == 0 or len(queries) == 0:
            found: list[list[Match]] = [[] for _ in range(len(queries))]
        else:
            found = self._search(state, queries, k, asked and max(k, asked))
        return found[0] if is_input(X) else found

    def _search(self, state: _State, queries: Any, k: int, n_rerank: int) -> list[list[Match]]:
        index, rows, records = state
        with self._threads():
            inner_ids, scores = index._search_rows(rows, self._structures(queries), k, n_rerank)
        if self.by == "codes" and not n_rerank:
            scores = 1 - scores / index.n_bits
        positions = np.searchsorted(records.column("inner_ids"), inner_ids)
        columns = [records.column(name)[positions].tolist() for name in ("ids", "texts", "names")]
        return [
            [
                Match(i, score, text, name, exact=n_rerank > 0)
                for i, score, text, name in zip(*row, strict=True)
            ]
            for row in zip(columns[0], scores.tolist(), *columns[1:], strict=True)
        ]

    def explain(
        self, query: Input, id: int, top: int | None = 10, *, order: str = "size"
    ) -> list[Fragment]:
        """Return the fragments that a query shares with a sentence in the index.

        Parameters
        ----------
        query : Sentence, Candidate, Example or structure
        id : int
            Id of the sentence.
        top, order
            As in :func:`shared_fragments`.

        Returns
        -------
        list of Fragment
            ``a`` is the query, ``b`` the sentence.
        """
        self._check_is_fitted()
        query = as_input(query, "SentenceIndex: query")
        _, rows, records = self._current()
        inner_ids = records.column("inner_ids")[records.find("SentenceIndex", "sentence", [id])]
        [found] = rows.take(np.searchsorted(rows.column("ids"), inner_ids))
        [asked] = self._structures([query])
        return shared_fragments(self.kernel_, asked, found, top, order=order)

    def __len__(self) -> int:
        """Number of sentences in the index."""
        self._check_is_fitted()
        return len(self._records)

    def __bool__(self) -> bool:
        """True, even for an index without sentences."""
        return True

    def _unchanging(self) -> SentenceIndex:
        """Return a copy that later additions and removals do not change."""
        return copy(self)

    def __getstate__(self) -> dict[str, Any]:
        with LOCK:
            state = {name: value for name, value in self.__dict__.items() if name != "_state"}
            if "_records" in state:
                state |= {"index_": self.index_._unchanging(), "_records": copy(self._records)}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_records" in state:
            self._publish()

    def __sklearn_is_fitted__(self) -> bool:
        # Access to the attributes would compact the columns.
        return "_records" in self.__dict__

    def _structures(self, inputs: Any) -> Any:
        return make_structures(inputs, self.kernel_, self.view_, "SentenceIndex")

    def _fit_index(self, structures: Any) -> Any:
        with self._threads():
            return fitted_index(
                self.by,
                self.kernel_,
                structures,
                n_landmarks=self.n_landmarks,
                n_bits=self.n_bits,
                seed=self.seed_,
            )

    def _check_parameters(self) -> None:
        if self.kernel is not None:
            super()._check_parameters()
        elif self.n_jobs is not None:
            resolve_jobs(self.n_jobs)
        if self.view is not None and not isinstance(self.view, str):
            raise KernelInputError(
                f"SentenceIndex: view must be the name of a view or None, got {self.view!r}"
            )
        self._check_choice("by", WAYS)
        self._check_count("n_landmarks", 2)
        self._check_count("n_bits", 1)
        self._check_count("n_rerank", 0)

    def _check_restored(self) -> None:
        super()._check_restored()
        if type(self.index_) is not index_class(self.by):
            raise ValueError(f"index_ must be an index that searches by {self.by}")
        if "_restored" in self.__dict__:
            self._records = _Records.restored(self.index_.ids_, self._restored)
            del self._restored
            self._publish()


def _texts_and_names(inputs: Any) -> tuple[Column, Column]:
    """Return the texts and the names of inputs as arrays of str objects."""
    columns = np.empty((2, len(inputs)), dtype=object)
    for position, item in enumerate(inputs):
        columns[:, position] = text_of(item), name_of(item)
    return columns[0], columns[1]
