"""Word vectors learned from texts: co-occurrence counts, mutual information, truncated SVD."""

from __future__ import annotations

import inspect
import logging
import math
from array import array
from collections.abc import Iterable, Sequence as Listing
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwood.compute import check_budget, get_config, one_blas_thread
from kernelwood.errors import KernelInputError
from kernelwood.parameters import check_int, is_number
from kernelwood.structures import shorten
from kernelwood.text import Document, Example, Sentence, tokenize
from kernelwood.vectors.vector_files import Progress
from kernelwood.vectors.word_vectors import Vectors

if TYPE_CHECKING:
    from scipy import sparse

_LOG = logging.getLogger(__name__)
_BLOCK = 1 << 18  # tokens whose pairs are counted together
_NEGLIGIBLE = 1e-7  # of the largest singular value; below it the solver returns rounding errors

Text: TypeAlias = "str | Document | Sentence | Example | Listing[str]"


def learn_vectors(
    texts: Text | Iterable[Text],
    *,
    dim: int = 100,
    window: int = 5,
    min_count: int = 5,
    smoothing: float = 0.75,
    shift: float = 1.0,
    power: float = 0.5,
    lowercase: bool = True,
    normalize: bool = True,
    progress: Progress | None = None,
) -> Vectors:
    r"""Learn word vectors from unlabeled texts.

    The vectors are :math:`U_d S_d^p` of the truncated singular value decomposition of the matrix
    with the positive pointwise mutual information of a word :math:`w` and a context :math:`c`

    .. math:: \max\Bigl(0, \log \frac{n(w, c) \sum_{c'} n(c')^\alpha}{n(w)\, n(c)^\alpha}
              - \log k\Bigr),

    where :math:`n(w, c)` counts pairs within the window, a pair at distance :math:`\delta` with
    the weight :math:`L + 1 - \delta`, and :math:`n(w) = \sum_c n(w, c)`. Time and memory are
    linear in the number of tokens, for constant window and dimensions. The method is deterministic:
    the same texts give the same vectors, in any order.

    Parameters
    ----------
    texts : iterable of str, Document, Sentence, Example or list of str
        Sentences with tokens and lists of words are not tokenized again; other texts are split into
        words by `kernelwood.text.tokenize`. Pairs are counted within a text. Read once.
    dim : int
        Dimensions :math:`d`, fewer than there are words.
    window : int
        Largest distance :math:`L` of the two words of a pair, in tokens.
    min_count : int
        Words that occur less often have no vector, but keep their place in the text.
    smoothing : float
        Exponent :math:`\alpha` of context counts, from 0 to 1; below 1 it reduces the weight of
        rare contexts.
    shift : float
        :math:`k`, greater than 0; above 1 it keeps only pairs with more mutual information.
    power : float
        Exponent :math:`p` of singular values, 0 or greater.
    lowercase : bool
        Whether words are compared, and looked up, in lower case.
    normalize : bool
        As for :class:`Vectors`.
    progress : callable, optional
        ``progress(done, total)`` in tokens while pairs are counted; by default that of the
        settings.

    Returns
    -------
    Vectors
        The most frequent words first. A word without positive mutual information has a row of
        zeros, which counts as no vector.

    Raises
    ------
    KernelInputError
        If a parameter is out of range, an item is not a text, or there are too few words.
    MemoryBudgetError
        If the singular vectors exceed the memory budget.

    References
    ----------
    Levy, Goldberg and Dagan, "Improving distributional similarity with lessons learned from word
    embeddings", TACL 2015.

    Examples
    --------
    >>> texts = ["Raf activates MEK.", "Ras activates MEK.", "Mice eat corn.", "Rats eat corn."]
    >>> vectors = learn_vectors(texts, dim=4, min_count=1)
    >>> vectors
    Vectors(9 words, 4 dimensions, lowercase)
    >>> [word for word, cosine in vectors.nearest("Raf", k=1)]
    ['ras']
    """
    for name, count in (("dim", dim), ("window", window), ("min_count", min_count)):
        check_int(name, count, 1)
    _check_number("smoothing", smoothing, (0.0, 1.0), "from 0 to 1")
    _check_number("shift", shift, (math.nextafter(0, 1), math.inf), "greater than 0")
    _check_number("power", power, (0.0, math.inf), "of at least 0")
    words, codes = encode_texts(texts, window, min_count, lowercase=lowercase)
    if len(words) <= dim:
        raise KernelInputError(
            f"dim={dim} needs more than {dim:,} different words, but {len(words):,} occur at least "
            f"min_count={min_count} times; decrease dim or min_count, or give more texts"
        )
    check_budget(
        8 * len(words) * (3 * dim + 1),
        "the singular vectors",
        "Use a smaller dim or a larger min_count.",
    )
    _LOG.info("counting pairs of %s words", f"{len(words):,}")
    counts = count_pairs(codes, len(words), window, progress or get_config().progress)
    information = positive_information(counts, smoothing, shift)
    _LOG.info("decomposing %s entries", f"{information.nnz:,}")
    rows = _decompose(information, dim, power)
    return Vectors(words, rows, normalize=normalize, lowercase=lowercase)


def _check_number(name: str, value: Any, bounds: tuple[float, float], allowed: str) -> None:
    if not (is_number(value) and bounds[0] <= value <= bounds[1]):
        raise KernelInputError(f"{name} must be a number {allowed}, got {value!r}")


def encode_texts(
    texts: Text | Iterable[Text], window: int, min_count: int, *, lowercase: bool
) -> tuple[list[str], NDArray[np.int32]]:
    """Return the frequent words, and all texts as their numbers.

    The number of a rare word is -1; as many -1 as the window is long follow each text.
    """
    known: dict[str, int] = {}
    written = array("i")
    gap = [-1] * window
    listed = [texts] if isinstance(texts, (str, Document, Sentence, Example)) else texts
    for place, text in enumerate(listed):
        words = _words(text, place)
        if lowercase:
            words = [word.lower() for word in words]
        written.extend([known.setdefault(word, len(known)) for word in words])
        written.extend(gap)
    codes = np.frombuffer(written, dtype=np.intc)
    frequencies = np.bincount(codes[codes >= 0], minlength=len(known))
    names = list(known)
    kept = np.flatnonzero(frequencies >= min_count).tolist()
    kept.sort(key=lambda code: (-frequencies[code], names[code]))
    numbers = np.full(len(known) + 1, -1, dtype=np.int32)  # the last is that of -1
    numbers[kept] = np.arange(len(kept))
    return [names[code] for code in kept], numbers[codes]


def _words(text: object, place: int) -> Listing[str]:
    found = text
    if isinstance(text, Example):
        found = text.views.get("document", text.views.get("sentence", text))
    if isinstance(found, Sentence) and found.tokens:
        return found.words
    if isinstance(found, (Document, Sentence)):
        edges = {edge for entity in found.entities for span in entity.spans for edge in span}
        return [token.text for token in tokenize(found.text, sorted(edges))]
    if isinstance(found, str):
        return [token.text for token in tokenize(found)]
    if isinstance(found, (list, tuple)) and all(isinstance(word, str) for word in found):
        return found
    raise KernelInputError(
        f"text {place} is {shorten(repr(found))} of type {type(found).__name__}; give strings, "
        "documents, sentences, examples that have one, or lists of words"
    )


def count_pairs(
    codes: NDArray[np.int32], n_words: int, window: int, progress: Progress | None = None
) -> sparse.csr_array:
    """Return the weighted number of pairs of each two words, a symmetric matrix of integers."""
    from scipy import sparse

    parts = [sparse.csr_array((n_words, n_words), dtype=np.int64)]
    for begin in range(0, len(codes), _BLOCK):
        parts.append(_pairs_from(codes[begin : begin + _BLOCK + window], n_words, window))
        # Only parts of similar size are added, so that each pair is added few times.
        while len(parts) > 1 and parts[-2].nnz <= 2 * parts[-1].nnz:
            last = parts.pop()
            parts[-1] = parts[-1] + last
        if progress is not None:
            progress(min(begin + _BLOCK, len(codes)), len(codes))
    total = sum(reversed(parts[:-1]), start=parts[-1])
    return (total + total.T).tocsr()


def _pairs_from(codes: NDArray[np.int32], n_words: int, window: int) -> sparse.csr_array:
    """Return the pairs whose first word is one of the first tokens of a block."""
    from scipy import sparse

    firsts, seconds, weights = [], [], []
    for distance in range(1, window + 1):
        second = codes[distance : _BLOCK + distance]
        first = codes[: len(second)]
        both = (first >= 0) & (second >= 0)
        firsts.append(first[both])
        seconds.append(second[both])
        weights.append(np.full(len(firsts[-1]), window + 1 - distance))
    places = (np.concatenate(firsts), np.concatenate(seconds))
    return sparse.coo_array((np.concatenate(weights), places), (n_words, n_words)).tocsr()


def positive_information(
    counts: sparse.csr_array, smoothing: float, shift: float
) -> sparse.csr_array:
    """Return the positive pointwise mutual information of words and contexts."""
    from scipy import sparse

    pairs = counts.tocoo()
    totals = counts.sum(axis=1).astype(np.float64)  # of words and of contexts: counts are symmetric
    with np.errstate(divide="ignore"):  # words without pairs
        words, contexts = np.log(totals), smoothing * np.log(totals)
    contexts -= np.log(np.sum(totals[totals > 0] ** smoothing))
    values = np.log(pairs.data) - words[pairs.row] - contexts[pairs.col] - math.log(shift)
    kept = values > 0
    if not kept.any():
        raise KernelInputError(
            "no two words have positive mutual information; decrease shift, or give more texts"
        )
    places = (pairs.row[kept], pairs.col[kept])
    return sparse.coo_array((values[kept], places), counts.shape).tocsr()


def _decompose(matrix: sparse.csr_array, dim: int, power: float) -> NDArray[np.float64]:
    """Return the left singular vectors, scaled; the largest entry of each is positive.

    They are eigenvectors of the matrix times its transpose.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    transposed = matrix.T.tocsr()
    square = LinearOperator(
        (matrix.shape[0], matrix.shape[0]), lambda x: matrix @ (transposed @ x), dtype=np.float64
    )
    generator = np.random.default_rng(0)
    options: dict[str, Any] = {"v0": generator.standard_normal(matrix.shape[0])}
    if "rng" in inspect.signature(eigsh).parameters:  # of restarts; earlier versions have their own
        options["rng"] = generator
    with one_blas_thread():  # the bits of sums depend on the number of threads
        squares, left = eigsh(square, k=dim, **options)
    values, left = np.sqrt(np.maximum(squares[::-1], 0.0)), left[:, ::-1]
    largest = left[np.abs(left).argmax(axis=0), np.arange(dim)]
    scale = np.where(values > _NEGLIGIBLE * values[0], values**power, 0.0)
    made: NDArray[np.float64] = left * (scale * np.sign(largest))
    return made
