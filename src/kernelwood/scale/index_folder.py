"""Search among codes or vectors in a folder, which is memory-mapped and grows by shards."""

from __future__ import annotations

import io
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import ExampleBatch, VectorBatch, rises
from kernelwood.compute import config_context, resolve_jobs
from kernelwood.errors import KernelInputError, ModelFormatError
from kernelwood.features import (
    Codes,
    EmbeddingIndex,
    HashIndex,
    Ids,
    KernelHasher,
    NystromEmbedder,
    check_codes,
    check_quantized,
    index_vectors,
    nearest_codes,
    nearest_vectors,
)
from kernelwood.io import FileInUseError, FileLock, new_folder, sync_folder
from kernelwood.kernels import Kernel, drop_unread_views
from kernelwood.parameters import check_int
from kernelwood.persist import load, read_model, save, write_model
from kernelwood.scale.index_manifest import (
    CHUNK,
    ENCODER,
    RECORDS,
    SHARDS,
    Manifest,
    Shard,
    read_manifest,
    shard_folder,
    write_manifest,
)
from kernelwood.scale.shard_files import (
    StoredFile,
    describe,
    map_array,
    read_row,
    write_array,
    write_rows,
)
from kernelwood.scale.sharded_scan import Found, ShardedScan
from kernelwood.search import SentenceIndex, as_inputs, make_structures, name_of, text_of
from kernelwood.threads import lazy_property

_OWNER = "IndexFolder"
_LOCK = "append.lock"
_MAPS, _CHUNKS = 256, 64  # memory maps, and chunks of structures, that are kept
_ROWS_AT_ONCE = 2**16  # checked by verify
_ENCODERS: dict[str, type[Any]] = {"codes": KernelHasher, "vectors": NystromEmbedder}


@dataclass(frozen=True, slots=True)
class _Shards:
    """The shards of a moment: their manifest, and where positions and ids of each begin."""

    manifest: Manifest
    starts: Ids
    first_ids: Ids

    @classmethod
    def of(cls, manifest: Manifest) -> _Shards:
        starts = np.cumsum([0, *(shard.rows for shard in manifest.shards)], dtype=np.int64)
        first_ids = np.array([shard.first_id for shard in manifest.shards], dtype=np.int64)
        return cls(manifest, starts, first_ids)

    def __len__(self) -> int:
        return int(self.starts[-1])

    def places(self, positions: Ids) -> tuple[list[int], list[int]]:
        """Return shards, and rows in these."""
        shards = np.searchsorted(self.starts, positions, side="right") - 1
        return shards.tolist(), (positions - self.starts[shards]).tolist()


class IndexFolder:
    r"""Search among codes or vectors in a folder, for more structures than fit into memory.

    The folder holds a fitted encoder, :class:`KernelHasher` or :class:`NystromEmbedder`, and
    *shards*: codes or quantized vectors in files that are memory-mapped, and optionally ids, names,
    texts and structures. Opening it takes milliseconds. Each :meth:`append` adds a shard. A search
    scans the shards in blocks and merges the results; ids, scores and the order of ties are those
    of one :class:`HashIndex` or :class:`EmbeddingIndex` with the same rows. Besides the operating
    system's cache of the files, memory does not depend on the number of rows.

    Parameters
    ----------
    path : str or PathLike
        A folder made by :meth:`create`.
    n_jobs : int, optional
        Number of threads; no result depends on it.

    Attributes
    ----------
    path : Path
        The folder.
    kind : {"codes", "vectors"}
        Representation by which structures are found.
    size : int
        Number of bits of a code, or of dimensions of a vector.
    view : str or None
        View of sentences, as in :class:`SentenceIndex`.
    n_shards : int
        Number of shards.
    encoder : KernelHasher or NystromEmbedder
        Makes codes or vectors; loaded when first used.

    Raises
    ------
    ModelFormatError
        If the manifest ``index.json`` is invalid, or a file does not have the size it states. Only
        :meth:`verify` reads all files.
    OSError
        If the folder cannot be read.

    See Also
    --------
    HashIndex, EmbeddingIndex, SentenceIndex : Indexes in memory, from which structures can be
        removed.

    Notes
    -----
    A shard is complete before ``index.json`` lists it, and ``index.json`` is replaced atomically:
    if a process is killed, the folder holds the index before or after the whole addition. Several
    processes may search while one adds; open the folder again to see the additions of others. Add
    many structures at once: an index of many small shards is slower.

    Thread safety: all methods; one thread or process can add at a time, others get an error. A
    search covers the rows that the object has when it begins.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_questions
    >>> trees = [question.view("tree") for question in load_questions()]
    >>> hasher = kw.KernelHasher(kw.SubsetTreeKernel(), n_references=30, random_state=0)
    >>> temporary = tempfile.TemporaryDirectory()
    >>> folder = pathlib.Path(temporary.name, "questions")
    >>> index = kw.scale.IndexFolder.create(folder, hasher.fit(trees))
    >>> _ = index.append(trees[:100])
    >>> index.append(trees[100:])[:3]
    array([100, 101, 102])
    >>> index = kw.scale.IndexFolder(folder)
    >>> index
    <IndexFolder: 120 codes of 1,000 bits in 2 shards>
    >>> ids, similarities = index.search(trees[105:106], k=3, n_rerank=20)
    >>> int(ids[0, 0]), round(float(similarities[0, 0]), 6)
    (105, 1.0)
    >>> temporary.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str], *, n_jobs: int | None = None) -> None:
        if n_jobs is not None:
            resolve_jobs(n_jobs)
        self.path, self.n_jobs = Path(path), n_jobs
        self._map = lru_cache(_MAPS)(self._map_file)
        self._chunk = lru_cache(_CHUNKS)(self._read_chunk)
        self._shards = _Shards.of(read_manifest(self.path))
        manifest = self._shards.manifest
        self.kind, self.size, self.view = manifest.kind, manifest.size, manifest.view

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        source: Any,
        *,
        view: str | None = None,
        n_jobs: int | None = None,
    ) -> IndexFolder:
        """Return a new index folder, which appears when it is complete.

        Parameters
        ----------
        path : str or PathLike
            A new or empty folder.
        source : KernelHasher, NystromEmbedder, HashIndex, EmbeddingIndex or SentenceIndex
            A fitted encoder, or a fitted index, whose content becomes the first shard and keeps its
            ids.
        view : str, optional
            View of the sentences to be added; that of a :class:`SentenceIndex` is kept. Structures
            need no view.
        n_jobs : int, optional
            Number of threads.
        """
        encoder, view, index = _parts(source, view)
        kind = next(kind for kind, made in _ENCODERS.items() if type(encoder) is made)
        with new_folder(path) as temporary:
            (temporary / SHARDS).mkdir()
            save(encoder, temporary / ENCODER)
            stored = describe(temporary / ENCODER)
            write_manifest(temporary, Manifest(kind, encoder._n_features_out, view, stored))
            if index is not None:
                cls(temporary)._append_index(source, index)
        return cls(path, n_jobs=n_jobs)

    @property
    def n_shards(self) -> int:
        """Number of shards."""
        return len(self._shards.manifest.shards)

    @lazy_property
    def encoder(self) -> Any:
        """The encoder that makes codes or vectors."""
        encoder = load(self.path / ENCODER)
        fits = type(encoder) is _ENCODERS[self.kind] and encoder._n_features_out == self.size
        if not fits:
            raise ModelFormatError(
                f"this is not an encoder of {self._rows_name()}", path=str(self.path / ENCODER)
            )
        return encoder

    @property
    def _kernel(self) -> Kernel:
        kernel: Kernel = self.encoder.kernel_
        return kernel

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._shards)

    def __bool__(self) -> bool:
        """True, even without rows."""
        return True

    def __repr__(self) -> str:
        shards = "1 shard" if self.n_shards == 1 else f"{self.n_shards:,} shards"
        return f"<{_OWNER}: {len(self):,} {self._rows_name()} in {shards}>"

    def _rows_name(self) -> str:
        unit = "bits" if self.kind == "codes" else "dimensions"
        return f"{self.kind} of {self.size:,} {unit}"

    # Adding.

    def append(
        self,
        X: Any,
        *,
        names: Sequence[str] | None = None,
        texts: Sequence[str] | None = None,
        keep_structures: bool = True,
    ) -> Ids:
        """Add structures as a new shard, and return their ids.

        Parameters
        ----------
        X : list of Sentence, Candidate, Example or structures, or batch, length n
        names, texts : list of str, length n, optional
            By default those of the sentences or examples, as in :class:`SentenceIndex`.
        keep_structures : bool
            Whether to store the structures, which re-ranking needs.

        Returns
        -------
        ndarray of int64, shape (n,)
        """
        inputs, structures = self._structures_of(X)
        if len(inputs) == 0:
            return np.empty(0, dtype=np.int64)
        with self._threads():
            if self.kind == "codes":
                columns: dict[str, Any] = {"codes": self.encoder.codes(structures)}
            else:
                columns = dict(
                    zip(("vectors", "scales"), index_vectors(self.encoder, structures), strict=True)
                )
        if names is None:
            names = [name_of(item) for item in inputs]
        if texts is None:
            texts = [text_of(item) for item in inputs]
        kept = structures if keep_structures else None
        return self._append(columns, names=names, texts=texts, structures=kept)

    def append_codes(
        self,
        codes: Codes,
        *,
        names: Sequence[str] | None = None,
        texts: Sequence[str] | None = None,
    ) -> Ids:
        """Add codes as a new shard, and return their ids.

        Parameters
        ----------
        codes : ndarray of uint64, shape (n, ceil(n_bits / 64))
            As of ``encoder.codes``; may be memory-mapped.
        names, texts : list of str, length n, optional
        """
        self._check_kind("append_codes")
        codes = check_codes(codes, self.size)
        if len(codes) == 0:
            return np.empty(0, dtype=np.int64)
        return self._append({"codes": codes}, names=names, texts=texts)

    def _append_index(self, source: Any, index: HashIndex | EmbeddingIndex) -> None:
        """Add the content of an index, which keeps its ids."""
        if len(index) == 0:
            return
        names = self._shards.manifest.columns()
        columns = {name: getattr(index, f"{name}_") for name in names}
        records = {}
        if isinstance(source, SentenceIndex):
            records = {"names": source.names_.tolist(), "texts": source.texts_.tolist()}
        self._append(
            columns,
            **records,
            structures=index.structures_,
            ids=source.ids_,
            next_id=source.next_id_,
        )

    def _append(
        self,
        columns: dict[str, NDArray[Any]],
        *,
        names: Sequence[str] | None = None,
        texts: Sequence[str] | None = None,
        structures: Any = None,
        ids: Ids | None = None,
        next_id: int | None = None,
    ) -> Ids:
        n = len(next(iter(columns.values())))
        records = {"names": names, "texts": texts}
        for name, rows in records.items():
            if rows is not None and not (
                len(rows) == n and all(isinstance(row, str) for row in rows)
            ):
                raise KernelInputError(f"{_OWNER}: {name} must be {n:,} strings, one for each row")
        with self._locked():
            before = read_manifest(self.path)  # other processes may have added shards
            self._remove_unlisted(len(before.shards))
            if ids is None:
                ids = np.arange(before.next_id, before.next_id + n, dtype=np.int64)
            target = shard_folder(self.path, len(before.shards))
            temporary = target.with_name(f".kernelwood-{secrets.token_hex(8)}.tmp")
            try:
                temporary.mkdir()
                files = self._write(temporary, columns, ids, records, structures)
                sync_folder(temporary)
                temporary.rename(target)
                sync_folder(target.parent)
            except BaseException:
                shutil.rmtree(temporary, ignore_errors=True)
                raise
            shard = Shard(n, int(ids[0]), files)
            manifest = before.with_shard(shard, int(ids[-1]) + 1 if next_id is None else next_id)
            write_manifest(self.path, manifest)
            self._shards = _Shards.of(manifest)
        return ids

    def _write(
        self,
        folder: Path,
        columns: dict[str, NDArray[Any]],
        ids: Ids,
        records: dict[str, Sequence[str] | None],
        structures: Any,
    ) -> dict[str, StoredFile]:
        """Write the files of a shard."""
        arrays = {f"{name}.npy": array for name, array in columns.items()}
        if ids[-1] - ids[0] != len(ids) - 1:
            arrays["ids.npy"] = ids
        files = {name: write_array(folder / name, array) for name, array in arrays.items()}
        for name, rows in records.items():
            if rows is not None and any(rows):
                encoded = (row.encode("utf-8", "surrogatepass") for row in rows)
                files |= write_rows(folder, name, encoded)
        if structures is not None:
            files |= write_rows(folder, "structures", _chunks(structures, self._kernel))
        return files

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other processes from adding."""
        try:
            lock = FileLock(self.path / _LOCK)
        except FileInUseError as failure:
            raise KernelInputError(
                f"{_OWNER}: {failure.holder} is adding to {self.path}; add again when it has "
                "finished"
            ) from failure
        with lock:
            yield

    def _remove_unlisted(self, n_shards: int) -> None:
        """Remove shards that a killed process has left behind."""
        listed = {shard_folder(self.path, number).name for number in range(n_shards)}
        for left in (self.path / SHARDS).iterdir():
            if left.name not in listed and (left.name.isdigit() or left.suffix == ".tmp"):
                shutil.rmtree(left)

    # Searching.

    def search(self, X: Any, k: int = 10, *, n_rerank: int = 0) -> tuple[Ids, NDArray[Any]]:
        """Return the ``k`` most similar structures for each query.

        Parameters
        ----------
        X : list of Sentence, Candidate, Example or structures, or batch, length n
            Queries.
        k : int
            Number of structures to return; at most all.
        n_rerank : int
            Number of nearest structures to compare by the kernel, at least ``k``; 0 for none.

        Returns
        -------
        ids : ndarray of int64, shape (n, k)
        scores : ndarray, shape (n, k)
            With re-ranking, similarities in falling order. Without, rising Hamming distances of
            codes (int32) or falling approximate similarities of vectors. Equal scores by rising id.
        """
        check_int(f"{_OWNER}: k", k, 1)
        check_int(f"{_OWNER}: n_rerank", n_rerank, 0)
        if 0 < n_rerank < k:
            raise KernelInputError(
                f"{_OWNER}: n_rerank={n_rerank} is smaller than k={k}; raise it to about ten times "
                "k, or give n_rerank=0 to sort by codes or vectors"
            )
        inputs, structures = self._structures_of(X)
        shards = self._shards
        k = min(k, len(shards))
        with self._threads():
            if len(inputs) == 0:
                queries: NDArray[Any] = np.empty((0, 0))
            elif self.kind == "codes":
                queries = self.encoder.codes(structures)
            else:
                queries = self.encoder.transform(structures)
            positions, scores = self._nearest(shards, queries, max(k, min(n_rerank, len(shards))))
            if n_rerank:
                positions, scores = self._rerank(shards, structures, positions, k)
        return self._ids(shards, positions), scores

    def search_codes(self, codes: Codes, k: int = 10) -> tuple[Ids, NDArray[np.int32]]:
        """Return the ids and the Hamming distances of the ``k`` nearest codes of each query.

        Parameters
        ----------
        codes : ndarray of uint64, shape (n, ceil(n_bits / 64))
            As of ``encoder.codes``.
        k : int
            Number of codes to return; at most all.
        """
        self._check_kind("search_codes")
        check_int(f"{_OWNER}: k", k, 1)
        codes = check_codes(codes, self.size)
        shards = self._shards
        with self._threads():
            positions, distances = self._nearest(shards, codes, min(k, len(shards)))
        return self._ids(shards, positions), distances

    def _nearest(self, shards: _Shards, queries: NDArray[Any], k: int) -> Found:
        """Return positions and scores of the ``k`` nearest rows."""
        codes = self.kind == "codes"
        if k == 0 or len(queries) == 0:
            scores = np.empty((len(queries), k), dtype=np.int32 if codes else np.float64)
            return np.empty(scores.shape, dtype=np.int64), scores
        columns = shards.manifest.columns()
        scan = ShardedScan(
            find_codes if codes else find_vectors,
            lambda number: tuple(self._map(number, f"{name}.npy") for name in columns),
            [shard.rows for shard in shards.manifest.shards],
            sum(np.dtype(dtype).itemsize * int(np.prod(row)) for dtype, row in columns.values()),
            rising=codes,
        )
        return scan.nearest(queries, k)

    def _rerank(self, shards: _Shards, queries: Any, positions: Ids, k: int) -> Found:
        best = np.empty((len(positions), k), dtype=np.int64)
        similarities = np.empty(best.shape, dtype=self._kernel._dtype(None))
        for row in range(len(best) if k else 0):
            candidates = np.sort(positions[row])
            found, values = self._kernel.neighbors(
                queries[row : row + 1], self._stored_structures(shards, candidates), k
            )
            best[row], similarities[row] = candidates[found[0]], values[0]
        return best, similarities

    # Reading.

    def names(self, ids: Any) -> list[str]:
        """Return the names of rows, ``""`` for rows without one."""
        return self._records("names", ids)

    def texts(self, ids: Any) -> list[str]:
        """Return the texts of rows, ``""`` for rows without one."""
        return self._records("texts", ids)

    def structures(self, ids: Any) -> list[Any]:
        """Return the stored structures of rows.

        Raises
        ------
        KernelInputError
            If there is no such id, or its shard has no structures.
        """
        shards = self._shards
        return self._stored_structures(shards, self._positions(shards, ids))

    def _records(self, name: str, ids: Any) -> list[str]:
        rows = []
        shards = self._shards
        for shard, row in zip(*shards.places(self._positions(shards, ids)), strict=True):
            if f"{name}.bin" not in shards.manifest.shards[shard].files:
                rows.append("")
                continue
            path = shard_folder(self.path, shard) / f"{name}.bin"
            content = read_row(path, self._map(shard, f"{name}_offsets.npy"), row)
            try:
                rows.append(content.decode("utf-8", "surrogatepass"))
            except UnicodeDecodeError as failure:
                raise ModelFormatError(f"row {row:,} is not text", path=str(path)) from failure
        return rows

    def _stored_structures(self, shards: _Shards, positions: Ids) -> list[Any]:
        return [
            self._chunk(shard, row // CHUNK)[row % CHUNK]
            for shard, row in zip(*shards.places(positions), strict=True)
        ]

    def _read_chunk(self, shard: int, number: int) -> Any:
        stored = self._shards.manifest.shards[shard]
        if "structures.bin" not in stored.files:
            raise KernelInputError(
                f"{_OWNER}: shard {shard} of {self.path} has no structures to compare; give "
                "n_rerank=0, or build the index with append(..., keep_structures=True)"
            )
        path = shard_folder(self.path, shard) / "structures.bin"
        content = read_row(path, self._map(shard, "structures_offsets.npy"), number)
        try:
            chunk = read_model(io.BytesIO(content))
        except ModelFormatError as failure:
            raise ModelFormatError(failure.problem, path=str(path), member=failure.member) from None
        n = min(CHUNK, stored.rows - number * CHUNK)
        if not isinstance(chunk, self._kernel._accepts()) or len(chunk) != n:
            raise ModelFormatError(f"there must be {n} structures", path=str(path))
        return chunk

    def _map_file(self, shard: int, name: str) -> NDArray[Any]:
        manifest = self._shards.manifest  # later ones have the same shards, and more
        arrays = manifest.arrays(manifest.shards[shard].rows)
        return map_array(shard_folder(self.path, shard) / name, *arrays[name])

    def _ids(self, shards: _Shards, positions: Ids) -> Ids:
        numbers = np.searchsorted(shards.starts, positions, side="right") - 1
        rows = positions - shards.starts[numbers]
        ids = shards.first_ids[numbers] + rows
        for number in np.unique(numbers).tolist():
            if "ids.npy" in shards.manifest.shards[number].files:
                here = numbers == number
                ids[here] = self._map(number, "ids.npy")[rows[here]]
        return np.asarray(ids, dtype=np.int64)

    def _positions(self, shards: _Shards, ids: Any) -> Ids:
        wanted = np.atleast_1d(np.asarray(ids))
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            raise KernelInputError(f"{_OWNER}: ids must be a list of whole numbers, got {ids!r}")
        positions = np.empty(len(wanted), dtype=np.int64)
        for place, number in enumerate(wanted.tolist()):
            shard = int(np.searchsorted(shards.first_ids, number, side="right")) - 1
            row = number - int(shards.first_ids[shard]) if shard >= 0 else -1
            rows = shards.manifest.shards[shard].rows if shard >= 0 else 0
            if shard >= 0 and "ids.npy" in shards.manifest.shards[shard].files:
                known = self._map(shard, "ids.npy")
                row = int(np.searchsorted(known, number))
                row = row if row < rows and known[row] == number else -1
            if not 0 <= row < rows:
                raise KernelInputError(f"{_OWNER}: there is no row with the id {number}")
            positions[place] = shards.starts[shard] + row
        return positions

    # Checks.

    def verify(self) -> None:
        """Read all files, and check their checksums and contents.

        Raises
        ------
        ModelFormatError
            With the file, if its content was changed or is invalid.
        """
        manifest = self._shards.manifest
        self._check_file(self.path / ENCODER, manifest.encoder)
        self.encoder  # noqa: B018 - loads it, which checks it
        for number, shard in enumerate(manifest.shards):
            folder = shard_folder(self.path, number)
            for name, stored in shard.files.items():
                self._check_file(folder / name, stored)
            try:
                self._check_rows(manifest, number)
            except ValueError as failure:
                if isinstance(failure, ModelFormatError):
                    raise
                raise ModelFormatError(
                    f"the shard has invalid content: {failure}", path=str(folder)
                ) from failure

    def _check_file(self, path: Path, stored: StoredFile) -> None:
        if describe(path) != stored:
            raise ModelFormatError(
                "the checksum does not match",
                path=str(path),
                hint="the file was changed or damaged; copy it again, or build the index again",
            )

    def _check_rows(self, manifest: Manifest, number: int) -> None:
        shard = manifest.shards[number]
        for begin in range(0, shard.rows, _ROWS_AT_ONCE):
            columns = [
                self._map(number, f"{name}.npy")[begin : begin + _ROWS_AT_ONCE]
                for name in manifest.columns()
            ]
            if self.kind == "codes":
                check_codes(columns[0], self.size)
            else:
                check_quantized(columns[0], columns[1])
                if columns[0][:, self.size :].any():
                    raise ValueError("vectors must be 0 beyond their dimensions")
        if "ids.npy" in shard.files:
            ids = self._map(number, "ids.npy")
            following = manifest.shards[number + 1 :]
            end = following[0].first_id if following else manifest.next_id
            if not rises(ids, strictly=True) or ids[0] != shard.first_id or ids[-1] >= end:
                raise ValueError("ids must rise, and end before those of the next shard")
        for name in (*RECORDS, "structures"):
            if f"{name}.bin" in shard.files:
                offsets = self._map(number, f"{name}_offsets.npy")
                size = shard.files[f"{name}.bin"].size
                if not rises(offsets) or offsets[0] != 0 or offsets[-1] != size:
                    raise ValueError(f"offsets of {name} must rise from 0 to {size:,}")
        if "structures.bin" in shard.files:
            for chunk in range(-(-shard.rows // CHUNK)):
                self._read_chunk(number, chunk)

    def _check_kind(self, method: str) -> None:
        if self.kind != "codes":
            raise KernelInputError(f"{_OWNER}.{method}: this index holds vectors, not codes")

    def _structures_of(self, X: Any) -> tuple[Any, Any]:
        """Return inputs, and their structures as a batch."""
        kernel = self._kernel
        if kernel._accepts() is VectorBatch:
            batch = kernel._batch(X)
            return batch, batch
        inputs = as_inputs(X, _OWNER)
        return inputs, kernel._batch(make_structures(inputs, kernel, self.view, _OWNER))

    @contextmanager
    def _threads(self) -> Iterator[None]:
        with nullcontext() if self.n_jobs is None else config_context(n_jobs=self.n_jobs):
            yield


def find_codes(queries: NDArray[Any], columns: tuple[NDArray[Any], ...], k: int) -> Found:
    """Return the ``k`` nearest codes, in the calling thread."""
    return nearest_codes(queries, columns[0], k, n_jobs=1)


def find_vectors(queries: NDArray[Any], columns: tuple[NDArray[Any], ...], k: int) -> Found:
    """Return the ``k`` nearest vectors, in the calling thread."""
    rows, scales = columns
    return nearest_vectors(queries, rows, scales, k, n_jobs=1)


def _parts(source: Any, view: str | None) -> tuple[Any, str | None, Any]:
    """Return the encoder, the view and the index of structures of a source."""
    if type(source) not in (*_ENCODERS.values(), HashIndex, EmbeddingIndex, SentenceIndex):
        raise KernelInputError(
            f"{_OWNER}.create: source must be a fitted KernelHasher, NystromEmbedder, HashIndex, "
            f"EmbeddingIndex or SentenceIndex, got {type(source).__name__}"
        )
    source._check_is_fitted()
    index = source
    if isinstance(source, SentenceIndex):
        if view is not None:
            raise KernelInputError(
                f"{_OWNER}.create: the view of the SentenceIndex is kept; remove view={view!r}"
            )
        view, index = source.view_, source.index_
    if view is not None and not isinstance(view, str):
        raise KernelInputError(
            f"{_OWNER}.create: view must be the name of a view or None, got {view!r}"
        )
    if isinstance(index, HashIndex):
        return index.hasher_, view, index
    if isinstance(index, EmbeddingIndex):
        return index.embedder_, view, index
    return index, view, None


def _chunks(structures: Any, kernel: Kernel) -> Iterator[bytes]:
    """Yield model files of some structures each."""
    if isinstance(structures, ExampleBatch):
        structures = drop_unread_views(structures, kernel)
    for begin in range(0, len(structures), CHUNK):
        file = io.BytesIO()
        write_model(structures[begin : begin + CHUNK], file)
        yield file.getvalue()
