"""Word vectors."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernelwood.compute import get_config
from kernelwood.errors import KernelInputError, KernelwoodError, StructureError
from kernelwood.structures import Frozen
from kernelwood.vectors import cache as copies
from kernelwood.vectors.vector_files import (
    Feed,
    Loaded,
    Progress,
    assemble,
    check_finite,
    check_words,
    first_of_each,
)
from kernelwood.vectors.vector_formats import find_format, recognize, write_npz

_BLOCK = 1 << 14  # rows compared together
_LOOKED_AT = 200_000  # words searched for spelling suggestions


class Vectors(Frozen):
    r"""Words and their vectors; immutable.

    Parameters
    ----------
    words : iterable of str
        Distinct words, without line feeds.
    matrix : array-like of shape (n_words, dim)
        A row of finite numbers for each word; copied.
    normalize : bool
        Scale rows to length 1, so that the cosine of two is their dot product.
    lowercase : bool
        Look a word up in lower case if it is not found as written.

    Attributes
    ----------
    words : tuple of str
        The words.
    matrix : ndarray of float32, shape (n_words, dim)
        The vectors, read-only; mapped into memory when they come from the cache.
    normalize, lowercase : bool
        As given.

    Notes
    -----
    A word with a row of zeros counts as having no vector: zeros have no direction to compare.

    See Also
    --------
    Vectors.load : Reads vectors from a file.
    kernelwood.vectors.learn_vectors : Learns vectors from texts.

    Examples
    --------
    >>> vectors = Vectors(["cat", "dog", "car"], [[3, 4], [4, 3], [-4, 3]])
    >>> vectors
    Vectors(3 words, 2 dimensions)
    >>> vectors["cat"]
    array([0.6, 0.8], dtype=float32)
    >>> round(vectors.similarity("cat", "dog"), 2)
    0.96
    >>> vectors.rows(["dog", "bird"])
    array([ 1, -1])
    """

    __slots__ = ("_index", "_zeros", "lowercase", "matrix", "normalize", "words")

    words: tuple[str, ...]
    matrix: NDArray[np.float32]
    normalize: bool
    lowercase: bool
    _zeros: NDArray[np.int64]
    _index: dict[str, int] | None

    def __init__(
        self,
        words: Iterable[str],
        matrix: ArrayLike,
        *,
        normalize: bool = True,
        lowercase: bool = False,
    ) -> None:
        checked = check_words(words)
        numbers = _as_matrix(matrix)
        if len(checked) != len(numbers):
            raise StructureError(
                f"there are {len(checked):,} words but {len(numbers):,} rows",
                hint="give a row of the matrix for each word",
            )
        if len(set(checked)) < len(checked):
            places = set(first_of_each(checked))
            twice = next(word for place, word in enumerate(checked) if place not in places)
            raise StructureError(
                f"the word {twice!r} occurs more than once", hint="remove all but one"
            )
        check_finite(numbers)
        self._set(assemble(checked, numbers, bool(normalize)), normalize, lowercase)

    def _set(self, loaded: Loaded, normalize: bool, lowercase: bool) -> None:
        loaded.matrix.flags.writeable = False
        self._fill(
            words=loaded.words,
            matrix=loaded.matrix,
            normalize=bool(normalize),
            lowercase=bool(lowercase),
            _zeros=loaded.zeros,
            _index=None,
        )

    @classmethod
    def _of(cls, loaded: Loaded, normalize: bool, lowercase: bool) -> Vectors:
        """Return vectors of words and rows that are already checked."""
        vectors = cls.__new__(cls)
        vectors._set(loaded, normalize, lowercase)
        return vectors

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        normalize: bool = True,
        lowercase: bool | None = None,
        cache: bool = True,
        progress: Progress | None = None,
    ) -> Vectors:
        r"""Read vectors from a file.

        Parameters
        ----------
        path : str or PathLike
            The file, compressed by gzip or not.
        format : str, optional
            A name from :data:`kernelwood.vectors.FORMATS`: "glove", "word2vec",
            "word2vec-binary", "lemma-pos" or "npz". By default recognized by the content.
        normalize : bool
            As for :class:`Vectors`.
        lowercase : bool, optional
            As for :class:`Vectors`; by default as saved, and False for other files.
        cache : bool
            Store a copy of the vectors of a file of a megabyte or more, and map it into memory
            next time, as long as the file has not changed. Copies are in the folder
            ``$KERNELWOOD_CACHE``, else in the cache folder of the platform.
        progress : callable, optional
            ``progress(done, total)`` in bytes of the file; by default that of the settings.

        Returns
        -------
        Vectors
            Word vectors, with the first vector of a word that occurs more than once.

        Raises
        ------
        ReadError
            With file and line, if the content is damaged or its format is not recognized.
        MemoryBudgetError
            If the matrix exceeds the memory budget.
        OSError
            If the file is missing or cannot be read.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder, "vectors.txt")
        ...     _ = file.write_text("cat 0.6 0.8\ndog 0.8 0.6\n")
        ...     Vectors.load(file)
        Vectors(2 words, 2 dimensions)
        """
        form = None if format is None else find_format(format)
        key = copies.Key.of(Path(path), format, bool(normalize))
        use_cache = cache and key.size >= copies.SMALLEST
        loaded = copies.fetch(key) if use_cache else None
        if loaded is None:
            with Feed(path, progress or get_config().progress) as feed:
                loaded = (form or recognize(feed)).read(feed, bool(normalize))
            # A file that changed while it was read is not stored.
            if use_cache and copies.Key.of(Path(path), format, bool(normalize)) == key:
                copies.store(key, loaded)
                loaded = copies.fetch(key) or loaded
        return cls._of(loaded, normalize, loaded.lowercase if lowercase is None else lowercase)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the vectors atomically as an ``.npz`` archive.

        Parameters
        ----------
        path : str or PathLike
            The file; no suffix is added.
        """
        write_npz(path, Loaded(self.words, self.matrix, self._zeros, self.lowercase))

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return int(self.matrix.shape[1])

    def row(self, word: str) -> int:
        """Return the row of a word, -1 if it has no vector."""
        return int(self.rows([word])[0])

    def rows(self, words: list[str]) -> NDArray[np.int64]:
        """Return the row of each word, -1 for those without a vector."""
        index = self._rows_by_word()
        if self.lowercase:
            found = [
                row if (row := index.get(word, -1)) >= 0 else index.get(word.lower(), -1)
                for word in words
            ]
        else:
            found = [index.get(word, -1) for word in words]
        return np.array(found, dtype=np.int64)

    def similarity(self, a: str, b: str) -> float:
        """Return the cosine of the vectors of two words.

        Raises
        ------
        KeyError
            If a word has no vector.
        """
        left, right = (self[word].astype(np.float64) for word in (a, b))
        lengths = np.sqrt((left @ left) * (right @ right))
        return float(np.clip(left @ right / lengths, -1.0, 1.0))

    def nearest(self, word: str, k: int = 10) -> list[tuple[str, float]]:
        """Return the most similar other words and their cosines, the most similar first.

        Parameters
        ----------
        word : str
            A word that has a vector.
        k : int
            Number of words; fewer if there are not so many.

        Raises
        ------
        KeyError
            If the word has no vector.
        """
        if k < 1:
            raise KernelInputError(f"k must be at least 1, got {k!r}")
        cosines = self._cosines(self[word])
        cosines[self._zeros] = -np.inf
        cosines[self.row(word)] = -np.inf
        # Only words that may be among the best are sorted; ties go to the earlier word.
        k = min(k, len(cosines))
        least = np.partition(cosines, len(cosines) - k)[len(cosines) - k]
        candidates = np.flatnonzero((cosines >= least) & (cosines > -np.inf))
        best = candidates[np.argsort(-cosines[candidates], kind="stable")][:k]
        return [(self.words[row], float(cosines[row])) for row in best.tolist()]

    def _cosines(self, vector: NDArray[np.float32]) -> NDArray[np.float64]:
        target = vector.astype(np.float64)
        target /= np.sqrt(target @ target)
        cosines = np.empty(len(self))
        for begin in range(0, len(self), _BLOCK):
            block = self.matrix[begin : begin + _BLOCK].astype(np.float64)
            lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
            # Zero rows are excluded by the caller.
            cosines[begin : begin + _BLOCK] = block @ target / np.where(lengths > 0, lengths, 1)
        return np.clip(cosines, -1.0, 1.0)

    def _rows_by_word(self) -> dict[str, int]:
        index = self._index
        if index is None:
            index = dict(zip(self.words, range(len(self.words)), strict=True))
            for row in self._zeros.tolist():
                del index[self.words[row]]
            self._fill(_index=index)
        return index

    def __getitem__(self, word: str) -> NDArray[np.float32]:
        row = self.row(word) if isinstance(word, str) else -1
        if row < 0:
            raise NoVectorError(word, self)
        vector: NDArray[np.float32] = self.matrix[row]
        return vector

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.row(word) >= 0

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __repr__(self) -> str:
        options = [] if self.normalize else ["not normalized"]
        options += ["lowercase"] if self.lowercase else []
        extra = "".join(f", {option}" for option in options)
        return f"Vectors({len(self):,} words, {self.dim:,} dimensions{extra})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vectors):
            return NotImplemented
        return self is other or (
            self._fingerprint() == other._fingerprint()
            and self.words == other.words
            and np.array_equal(self.matrix, other.matrix)
        )

    def __hash__(self) -> int:
        return hash(self._fingerprint())

    def _fingerprint(self) -> tuple[object, ...]:
        """Return a cheap summary, which differs for most vectors that differ."""
        ends = (*self.words[:1], *self.words[-1:], *self.matrix[:1].ravel().tolist())
        return (self.matrix.shape, self.normalize, self.lowercase, *ends)

    def __reduce__(self) -> tuple[object, ...]:
        state = (self.words, self.matrix, self._zeros)
        return (_rebuild, (state, self.normalize, self.lowercase))


def _rebuild(state: tuple[Any, Any, Any], normalize: bool, lowercase: bool) -> Vectors:
    return Vectors._of(Loaded(*state), normalize, lowercase)


class NoVectorError(KernelwoodError, KeyError):
    """A word without a vector; suggestions are searched only when the message is shown."""

    def __init__(self, word: object, vectors: Vectors) -> None:
        super().__init__(word)
        self._vectors = vectors

    def __str__(self) -> str:
        word = self.args[0]
        if not isinstance(word, str):
            return f"words are strings, got {word!r}"
        if word in self._vectors.words:
            return f"the vector of {word!r} is zero, which counts as no vector"
        near = _similar_words(word, self._vectors)
        guess = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        return f"{word!r} has no vector{guess}"

    def __reduce__(self) -> tuple[object, ...]:
        return (KeyError, (str(self),))


def _similar_words(word: str, vectors: Vectors) -> list[str]:
    """Return a few words that are spelled like ``word``."""
    cased = [form for form in (word.lower(), word.capitalize(), word.upper()) if form in vectors]
    near = (
        known
        for known in islice(vectors.words, _LOOKED_AT)
        if abs(len(known) - len(word)) <= 1 and known[:1].lower() == word[:1].lower()
    )
    found = get_close_matches(word, islice(near, 5000), n=3, cutoff=0.7)
    return list(dict.fromkeys(form for form in [*cased, *found] if form in vectors))[:3]


def _as_matrix(matrix: ArrayLike) -> NDArray[np.float32]:
    """Return a copy in 32-bit floats; raise StructureError if it is not a matrix of numbers."""
    try:
        array = np.asarray(matrix)
    except ValueError as failure:
        raise StructureError(
            f"the matrix is not rectangular: {failure}", hint="give every word a row of numbers"
        ) from failure
    if array.ndim != 2 or array.shape[1] == 0 or array.dtype.kind not in "fiub":
        raise StructureError(
            f"the matrix must be numbers in rows, got {array.dtype} of shape {array.shape}",
            hint="give every word a row of numbers, all of the same length",
        )
    with np.errstate(over="ignore"):  # numbers beyond 32 bits become infinite: check_finite raises
        return np.array(array, dtype=np.float32, order="C")
