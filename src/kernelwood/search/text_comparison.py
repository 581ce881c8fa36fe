"""Similarities of texts, computed from those of their sentences."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import Batch, ExampleBatch, as_rows
from kernelwood.compute import check_budget
from kernelwood.errors import KernelInputError
from kernelwood.kernels import Kernel
from kernelwood.search.block_comparison import BlockComparison, pairs_at_once
from kernelwood.search.structure_inputs import as_inputs, choose_view, is_input, make_structures
from kernelwood.structures import show
from kernelwood.text import Document, adapt

Matrix = NDArray[np.float64]

_HOW = ("best", "mean")
_SENTENCES = 1024  # of texts compared at once, unless a single text has more


def text_similarity(
    kernel: Kernel, a: Any, b: Any, *, how: str = "best", view: str | None = None
) -> float:
    """Return the similarity of two texts; see :func:`text_similarities`.

    Examples
    --------
    >>> import kernelwood as kw
    >>> letter = kw.Document("We met a cat. It was old.")
    >>> note = kw.Document("It was old.")
    >>> round(kw.text_similarity(kw.SubsequenceKernel(), letter, note), 3)
    0.773
    """
    return float(text_similarities(kernel, [a], [b], how=how, view=view)[0, 0])


def text_similarities(
    kernel: Kernel,
    texts_a: Any,
    texts_b: Any = None,
    *,
    how: str = "best",
    view: str | None = None,
) -> Matrix:
    r"""Return the similarities of texts, each a list of sentences.

    With the sentences :math:`a_i` of one text and :math:`b_j` of another,

    * ``"best"``: :math:`\frac12\left(\frac1n \sum_i \max_j k(a_i, b_j) + \frac1m \sum_j \max_i
      k(a_i, b_j)\right)`, the mean similarity of every sentence with its best counterpart. Finds
      paraphrases and shared passages. Not positive semidefinite;
    * ``"mean"``: :math:`K(a, b) / \sqrt{K(a, a) K(b, b)}` with :math:`K(a, b) = \frac1{nm}
      \sum_{ij} k(a_i, b_j)`, the cosine of the mean feature vectors of the sentences. Compares the
      overall content of texts. Positive semidefinite, and therefore a kernel itself.

    The cost is one kernel evaluation per pair of sentences, about half as many without ``texts_b``.
    Similarities of sentences are not all held in memory at once.

    Parameters
    ----------
    kernel : Kernel
        The kernel of sentences. Use a normalized one, or long sentences outweigh others.
    texts_a, texts_b : list of texts
        A text is a list of sentences, candidates, examples or structures, a batch, or a
        :class:`Document`, ``Doc`` of spaCy or string, which is split into sentences. By default
        the texts of ``texts_a`` are compared with each other.
    how : {"best", "mean"}
        The formula.
    view : str, optional
        The view of all sentences, as in :class:`SentenceIndex`.

    Returns
    -------
    ndarray of float64, shape (len(texts_a), len(texts_b))
        Without ``texts_b`` exactly symmetric.

    Raises
    ------
    KernelInputError
        If a text has no sentences, or is not a text.

    Examples
    --------
    >>> import kernelwood as kw
    >>> texts = [kw.Document(t) for t in ("We met a cat. It was old.", "It was old.", "No.")]
    >>> kw.search.text_similarities(kw.SubsequenceKernel(), texts).round(2)
    array([[1.  , 0.77, 0.2 ],
           [0.77, 1.  , 0.21],
           [0.2 , 0.21, 1.  ]])
    """
    _check(kernel, how)
    lists = [_sentence_lists("texts_a", texts_a)]
    lists += [] if texts_b is None else [_sentence_lists("texts_b", texts_b)]
    flat = [sentence for side in lists for text in side for sentence in text]
    if view is None:
        view = choose_view(flat, kernel, "text_similarities")
    structures = kernel._batch(make_structures(flat, kernel, view, "text_similarities"))
    left, right = _cut(structures, lists[0]), None
    if texts_b is not None:
        right = _cut(structures[left.n_sentences :], lists[1])
    shape = len(left), len(left if right is None else right)
    check_budget(8 * shape[0] * shape[1], f"the matrix of {shape} texts", "Give fewer at a time.")
    if how == "best":
        return _fill(kernel, left, right, _best_counterparts)
    return _cosines(kernel, left, right)


@dataclass(frozen=True)
class _Texts:
    """Sentences of texts as structures; those of text ``t`` begin at ``starts[t]``."""

    structures: Any
    starts: NDArray[np.int64]  # and the end of the last text

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def n_sentences(self) -> int:
        return int(self.starts[-1])

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.diff(self.starts)

    def some(self, begin: int, end: int) -> _Texts:
        """Return the texts from ``begin`` to ``end``."""
        starts = self.starts[begin : end + 1]
        return _Texts(self.structures[int(starts[0]) : int(starts[-1])], starts - starts[0])

    def groups(self, n_sentences: int, begin: int = 0) -> Iterator[tuple[int, int]]:
        """Yield ranges of texts with at most so many sentences, or single texts."""
        while begin < len(self):
            end = int(np.searchsorted(self.starts, self.starts[begin] + n_sentences, "right")) - 1
            end = max(begin + 1, end)
            yield begin, end
            begin = end


def _fill(kernel: Kernel, left: _Texts, right: _Texts | None, compare: Any) -> Matrix:
    """Return the matrix of similarities, computed in blocks of groups of texts.

    Without ``right`` the upper triangle is mirrored: values of a kernel for (x, y) and (y, x) may
    differ in the last bit.
    """
    others = left if right is None else right
    out = np.empty((len(left), len(others)))
    comparison = BlockComparison(kernel, _evaluations(left, right))
    for top, bottom in left.groups(_SENTENCES):
        rows = left.some(top, bottom)
        at_once = max(1, pairs_at_once() // rows.n_sentences)
        for begin, end in others.groups(at_once, top if right is None else 0):
            out[top:bottom, begin:end] = compare(comparison, rows, others.some(begin, end))
    if right is None:
        for row in range(1, len(left)):
            out[row, :row] = out[:row, row]
    return out


def _evaluations(left: _Texts, right: _Texts | None) -> int:
    if right is not None:
        return left.n_sentences * right.n_sentences
    return sum(
        (int(left.starts[end] - left.starts[begin])) * (left.n_sentences - int(left.starts[begin]))
        for begin, end in left.groups(_SENTENCES)
    )


def _pieces(
    comparison: BlockComparison, rows: _Texts, columns: _Texts
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield the similarities of all sentences, some rows at a time."""
    step = max(1, pairs_at_once() // columns.n_sentences)
    for begin in range(0, rows.n_sentences, step):
        some = slice(begin, min(begin + step, rows.n_sentences))
        yield some, comparison.cross(rows.structures[some], columns.structures)


def _best_counterparts(comparison: BlockComparison, rows: _Texts, columns: _Texts) -> Matrix:
    """Return the mean similarity of best counterparts for all pairs of texts."""
    in_columns = np.empty((rows.n_sentences, len(columns)))  # of each sentence in each text
    in_rows = np.full((len(rows), columns.n_sentences), -np.inf)
    for some, similarities in _pieces(comparison, rows, columns):
        in_columns[some] = np.maximum.reduceat(similarities, columns.starts[:-1], axis=1)
        first = int(np.searchsorted(rows.starts, some.start, "right")) - 1
        last = int(np.searchsorted(rows.starts, some.stop, "left"))
        begins = np.maximum(rows.starts[first:last] - some.start, 0)
        best = np.maximum.reduceat(similarities, begins, axis=0)
        np.maximum(in_rows[first:last], best, out=in_rows[first:last])
    of_rows = np.add.reduceat(in_columns, rows.starts[:-1], axis=0) / rows.sizes[:, None]
    of_columns = np.add.reduceat(in_rows, columns.starts[:-1], axis=1) / columns.sizes
    means: Matrix = (of_rows + of_columns) / 2
    return means


def _means(comparison: BlockComparison, rows: _Texts, columns: _Texts) -> Matrix:
    """Return the mean similarity of all pairs of sentences for all pairs of texts."""
    sums = np.empty((rows.n_sentences, len(columns)))
    for some, similarities in _pieces(comparison, rows, columns):
        sums[some] = np.add.reduceat(similarities, columns.starts[:-1], axis=1, dtype=np.float64)
    totals = np.add.reduceat(sums, rows.starts[:-1], axis=0)
    means: Matrix = totals / (rows.sizes[:, None] * columns.sizes)
    return means


def _cosines(kernel: Kernel, left: _Texts, right: _Texts | None) -> Matrix:
    out = _fill(kernel, left, right, _means)
    if right is None:
        selves = [np.array(out.diagonal())] * 2
    else:
        selves = [_self_similarities(kernel, texts) for texts in (left, right)]
    n_zero = sum(int(np.count_nonzero(own <= 0)) for own in selves[: 1 if right is None else 2])
    if n_zero:
        warnings.warn(
            f"{n_zero} texts have self-similarity 0 by {kernel!r}; their similarities are set to 0",
            RuntimeWarning,
            stacklevel=3,
        )
    rows, columns = (np.where(own > 0, own, np.inf) ** -0.5 for own in selves)
    out *= rows[:, None] * columns
    if right is None:
        np.fill_diagonal(out, selves[0] > 0)  # 1 except for rounding
    return out


def _self_similarities(kernel: Kernel, texts: _Texts) -> Matrix:
    comparison = BlockComparison(kernel, int((texts.sizes**2).sum()))
    single = (texts.some(t, t + 1) for t in range(len(texts)))
    return np.array([_means(comparison, text, text)[0, 0] for text in single])


def _check(kernel: Any, how: Any) -> None:
    if not isinstance(kernel, Kernel):
        raise KernelInputError(
            f"text_similarities: kernel must be a kernel such as kw.PartialTreeKernel(), got "
            f"{kernel!r}"
        )
    if how not in _HOW:
        raise KernelInputError(f"text_similarities: how must be one of {_HOW}, got {how!r}")


def _sentence_lists(name: str, texts: Any) -> list[Any]:
    """Return the sentences of each text."""
    single = is_input(texts) or isinstance(texts, (Document, Batch, ExampleBatch))
    if single or isinstance(texts, (bytes, Mapping, set)) or not isinstance(texts, Iterable):
        raise KernelInputError(
            f"text_similarities: {name} must be a list of texts, which are lists of sentences or "
            f"documents, got {show(texts)} of type {type(texts).__name__}"
        )
    lists = []
    for number, given in enumerate(as_rows(texts)):
        owner = f"text_similarities: text {number} of {name}"
        text = Document(given) if isinstance(given, str) else adapt(given)
        cut = text.sentences() if isinstance(text, Document) else text
        lists.append(as_inputs(cut, owner))
        if len(lists[-1]) == 0:
            raise KernelInputError(f"{owner} has no sentences; remove it")
    if not lists:
        raise KernelInputError(f"text_similarities: {name} is empty; give at least one text")
    return lists


def _cut(structures: Any, lists: list[Any]) -> _Texts:
    starts = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in lists], out=starts[1:])
    return _Texts(structures[: int(starts[-1])], starts)
