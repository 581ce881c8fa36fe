"""Search for sentences by their structure."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import resolve_jobs
from kernelwood.errors import KernelInputError
from kernelwood.explain import Fragment, shared_fragments
from kernelwood.features import StructureEstimator
from kernelwood.search.indexes import WAYS, fitted_index, index_class
from kernelwood.search.match import Match
from kernelwood.search.records import Ids, Records, checked_records, recorded, strings
from kernelwood.search.subjects import (
    Subject,
    as_subjects,
    choose_kernel,
    choose_view,
    is_subject,
    make_structures,
    name_of,
    text_of,
)
from kernelwood.seeds import resolve_seed

__all__ = ["SentenceIndex"]


class SentenceIndex(StructureEstimator):
    r"""Find sentences by their structure: the ones most like a query, with their texts.

    Sentences become structures by a view, and are found by their vectors
    (:class:`EmbeddingIndex`) or hashcodes (:class:`HashIndex`). A query costs ``n_landmarks``
    kernel evaluations and a scan; then ``n_rerank`` of the nearest are compared by the kernel
    itself, at one evaluation each, so that similarities are exact.

    Parameters
    ----------
    kernel : Kernel, optional
        What compares structures, normalized preferably. By default one that suits the view:
        :class:`SubsequenceKernel` for sequences, :class:`SubsetTreeKernel` for constituents,
        :class:`PartialTreeKernel` for other trees, :class:`ForestKernel` for forests. A kernel
        on views of examples (:class:`OnView`, and sums of such) names its views itself.
    view : str, optional
        What is made of sentences, see :data:`kernelwood.views.VIEWS`. By default ``"lct"`` if
        there are dependencies, ``"tree"`` if there are constituents, else ``"words"``; the first
        of these that the kernel reads. Examples may have the view already. Structures are
        compared as they are.
    by : {"vectors", "codes"}
        How sentences are found. Vectors follow the kernel more closely, codes take less memory.
    n_landmarks : int
        Sentences that all others are compared with: landmarks of vectors, references of codes.
        If there are fewer sentences, all of them. A vector takes a byte for each.
    n_bits : int
        Length of codes, which take ``n_bits / 8`` bytes a sentence; not used for vectors.
    n_rerank : int
        How many of the nearest to compare by the kernel, 0 for none.
    random_state : None, int, Generator or RandomState
        Seed of the choice of landmarks.
    n_jobs : int, optional
        Threads; no result depends on them.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel in use.
    view_ : str or None
        The view in use.
    ids_ : ndarray of int64, shape (n,)
        Ids of the sentences, in rising order: 0, 1, ... for those it was fitted on, and so on for
        those that were added. No id is used twice.
    texts_, names_ : ndarrays of str, shape (n,)
        Texts and names, in that order.
    index_ : EmbeddingIndex or HashIndex
        What finds the structures; its ids are its own.
    seed_ : int
        The seed that was used.

    See Also
    --------
    EmbeddingIndex, HashIndex : Search for structures, with arrays as results.
    find_duplicates : All pairs that are alike.

    Notes
    -----
    Additions are amortized, and removals cheap. Several threads may search and explain at the same
    time, but none while another adds or removes.

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

    _fitted = ("kernel_", "seed_", "view_", "index_", "ids_", "texts_", "names_", "next_id_")

    view_: str | None
    index_: Any
    _records: Records
    _restored: dict[str, Any]

    ids_ = recorded("ids", "Ids of the sentences, in rising order.")
    texts_ = recorded("texts", "Texts of the sentences, in the order of their ids.")
    names_ = recorded("names", "Names of the sentences, in the order of their ids.")
    next_id_ = recorded("next_id", "The id that the next sentence gets.")

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
        """Choose view, kernel and landmarks by ``X``, and put ``X`` into the index.

        Parameters
        ----------
        X : list of Sentence, Candidate, Example or structures, or batch, length n
        y : None
            Not used.
        """
        self._check_parameters()
        subjects = as_subjects(X, "SentenceIndex")
        if len(subjects) == 0:
            raise KernelInputError("SentenceIndex: give at least one sentence")
        kernel = self.kernel
        view = choose_view(subjects, kernel, "SentenceIndex") if self.view is None else self.view
        structures = make_structures(subjects, kernel, view, "SentenceIndex")
        kernel = choose_kernel(structures[0], view) if kernel is None else kernel.clone()
        for name in ("_records", "_restored"):  # should fitting fail, nothing is left half-way
            self.__dict__.pop(name, None)
        self.kernel_, self.view_ = kernel, view
        self.seed_ = resolve_seed(self.random_state)
        self.index_ = self._fit_index(structures)
        self._records = Records(
            np.arange(len(subjects)), self.index_.ids_, *_read(subjects), len(subjects)
        )
        return self

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
        subjects = as_subjects(X, "SentenceIndex")
        if len(subjects) == 0:
            return np.empty(0, dtype=np.int64)
        with self._threads():
            inner_ids = self.index_.add(self._structures(subjects))
        return self._records.add(inner_ids, *_read(subjects))

    def remove(self, ids: Any) -> None:
        """Remove sentences; the others keep their ids.

        Parameters
        ----------
        ids : int, or list or ndarray of int
            As :meth:`add` returned them; those of ``fit`` count from 0.
        """
        self._check_is_fitted()
        positions = self._records.find("SentenceIndex", ids)
        self.index_.remove(self._records.at("inner_ids", positions))
        self._records.remove("SentenceIndex", ids)

    def refit(self) -> SentenceIndex:
        """Choose landmarks anew, from all sentences in the index, which keep their ids.

        Landmarks come from what the index was fitted on. When it has grown to several times that,
        or to something else, new ones find more.
        """
        self._check_is_fitted()
        if len(self) == 0:
            raise KernelInputError("SentenceIndex: there are no sentences to choose from; add some")
        self.index_ = self._fit_index(self.index_.structures_)
        self._records.renumber(self.index_.ids_)
        return self

    @overload
    def search(self, X: Subject, k: int = 10, *, n_rerank: int | None = None) -> list[Match]: ...
    @overload
    def search(self, X: Any, k: int = 10, *, n_rerank: int | None = None) -> list[list[Match]]: ...
    def search(self, X: Any, k: int = 10, *, n_rerank: int | None = None) -> Any:
        """Return the ``k`` sentences that are most like a query.

        Parameters
        ----------
        X : Sentence, Candidate, Example or structure; or a list of these, or a batch
            One query, or several.
        k : int
            How many to return; if there are fewer sentences, all of them.
        n_rerank : int, optional
            How many of the nearest to compare by the kernel, ``k`` at least; 0 for none. By
            default the parameter of the index.

        Returns
        -------
        list of Match, or list of such lists
            For each query the most similar first, equal ones in order of their ids.
        """
        self._check_is_fitted()
        asked = self.n_rerank if n_rerank is None else n_rerank
        _check_number("k", k, 1)
        _check_number("n_rerank", asked, 0)
        queries = [X] if is_subject(X) else as_subjects(X, "SentenceIndex")
        k = min(k, len(self))
        if k == 0 or len(queries) == 0:
            found: list[list[Match]] = [[] for _ in range(len(queries))]
        else:
            found = self._search(queries, k, asked and max(k, asked))
        return found[0] if is_subject(X) else found

    def _search(self, queries: Any, k: int, n_rerank: int) -> list[list[Match]]:
        with self._threads():
            inner_ids, scores = self.index_.search(self._structures(queries), k, n_rerank=n_rerank)
        if self.by == "codes" and not n_rerank:
            scores = 1 - scores / self.index_.n_bits
        positions = self._records.positions_of(inner_ids)
        columns = [self._records.at(name, positions).tolist() for name in ("ids", "texts", "names")]
        return [
            [
                Match(i, score, text, name, exact=n_rerank > 0)
                for i, score, text, name in zip(*row, strict=True)
            ]
            for row in zip(columns[0], scores.tolist(), *columns[1:], strict=True)
        ]

    def explain(
        self, query: Subject, id: int, top: int | None = 10, *, order: str = "size"
    ) -> list[Fragment]:
        """Return what a query shares with a sentence in the index: why it was found.

        Parameters
        ----------
        query : Sentence, Candidate, Example or structure
        id : int
            Of the sentence.
        top, order
            As in :func:`shared_fragments`.

        Returns
        -------
        list of Fragment
            ``a`` is the query, ``b`` the sentence found.
        """
        self._check_is_fitted()
        if not is_subject(query):
            raise KernelInputError(f"SentenceIndex: give one sentence to explain, got {query!r}")
        inner_ids = self._records.at("inner_ids", self._records.find("SentenceIndex", [id]))
        # Not by structures_, which moves things while others may be searching.
        collection = self.index_._collection
        [found] = collection.take(np.searchsorted(collection.column("ids"), inner_ids))
        [asked] = self._structures([query])
        return shared_fragments(self.kernel_, asked, found, top, order=order)

    def __len__(self) -> int:
        """Number of sentences in the index."""
        self._check_is_fitted()
        return len(self._records)

    def __bool__(self) -> bool:
        """True: an index without sentences is one, too."""
        return True

    def __sklearn_is_fitted__(self) -> bool:
        # Looking at the attributes would move what is not removed together.
        return "_records" in self.__dict__

    def _structures(self, subjects: Any) -> Any:
        return make_structures(subjects, self.kernel_, self.view_, "SentenceIndex")

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
        if self.view_ is not None and type(self.view_) is not str:
            raise ValueError("view_ must be the name of a view, or None")
        if type(self.index_) is not index_class(self.by):
            raise ValueError(f"index_ must be one that searches by {self.by}")
        if self.index_.kernel_._accepts() is not self.kernel_._accepts():
            raise ValueError("index_ and kernel_ must be for the same structures")
        if "_restored" in self.__dict__:
            self._records = checked_records(self.index_.ids_, self._restored)
            del self._restored
        if len(self._records) != len(self.index_):
            raise ValueError(f"index_ has {len(self.index_)} sentences, texts_ {len(self)}")


def _read(subjects: Any) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
    """Return the texts and the names of subjects."""
    pairs = [(text_of(subject), name_of(subject)) for subject in subjects]
    return strings([text for text, _ in pairs]), strings([name for _, name in pairs])


def _check_number(name: str, value: Any, low: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
        raise KernelInputError(
            f"SentenceIndex: {name} must be an int of at least {low}, got {value!r}"
        )
