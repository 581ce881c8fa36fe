"""Tasks: the commands that plans can run, a shard at a time."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

# Names of these packages are imported when they are used: planning and joining need few of them.
from kernelwood import arrays, entities, features, kernels, parsing, persist, relations, search
from kernelwood.compute import map_matrix
from kernelwood.errors import StructureError
from kernelwood.io import (
    FORMATS,
    Counts,
    ExampleStream,
    Limits,
    UsedIds,
    fit_to_format,
    iter_read,
    join_parquet,
    keep_views,
    left_out,
    new_folder,
    read_segments,
    replacing,
    write,
)
from kernelwood.scale.parts import Part
from kernelwood.scale.plan import Plan, PlanError, Shard
from kernelwood.scale.vector_files import VECTOR_SUFFIXES, write_vector_file
from kernelwood.structures import shorten
from kernelwood.text import Document, Example

# Names of files in a plan.
MODEL, TERMS, STRUCTURES = "model.kw", "terms.tsv", "structures.kw"
_COPY = 1 << 20  # bytes
_ENCODED = 4096  # structures encoded at once
_INDEXED = 10**6  # rows of a shard of an index
_CELLS = 5 * 10**7  # of the rows of a matrix that are computed at once


class Task(ABC):
    """A command, prepared to compute shards of a plan.

    Parameters
    ----------
    plan : Plan

    Attributes
    ----------
    name : str
        Name of the command.
    texts : bool
        Whether inputs are read as texts, not as examples.
    size : int
        Bytes of input for a shard.
    block : int
        Maximum bytes of input that a command with checkpoints computes together.
    known : dict
        Options, each with its type and default.
    """

    name: ClassVar[str]
    texts: ClassVar[bool] = False
    size: ClassVar[int] = 64_000_000
    block: ClassVar[int] = 128_000
    needs_model: ClassVar[bool] = True
    optional_files: ClassVar[frozenset[str]] = frozenset()
    known: ClassVar[dict[str, tuple[type, Any]]] = {}

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.options = self.checked(plan.options)

    @classmethod
    def checked(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options with defaults; they may come from a file.

        Raises
        ------
        PlanError
            If an option is unknown or of the wrong type.
        """
        known = {**_READING, **cls.known}
        for name, value in options.items():
            if name not in known:
                raise PlanError(
                    f"{cls.name} has no option {name!r} in plans (options: {', '.join(known)})"
                )
            if value != known[name][1] and not _fits(value, known[name][0]):
                raise PlanError(
                    f"the option {name!r} of {cls.name} has an invalid value: "
                    f"{shorten(repr(value))}"
                )
        return {**{name: default for name, (_, default) in known.items()}, **options}

    @classmethod
    def default(cls, name: str) -> Any:
        """Return the default of an option."""
        return {**_READING, **cls.known}[name][1]

    @classmethod
    def check_files(cls, names: set[str]) -> None:
        """Raise `PlanError` if files are missing, or are not used."""
        wanted = {MODEL} if cls.needs_model else set()
        if missing := wanted - names:
            raise PlanError(f"{cls.name} needs the file of a model ({', '.join(missing)})")
        if extra := names - wanted - cls.optional_files:
            raise PlanError(f"{cls.name} does not use the file {', '.join(sorted(extra))}")

    @abstractmethod
    def run(self, shard: Shard, folder: Path, base: str) -> dict[str, Any]:
        """Write the result of a shard into a folder, and return counters."""

    @classmethod
    @abstractmethod
    def collect(cls, plan: Plan, parts: Iterable[Part], out: Path) -> dict[str, Any]:
        """Write the results of all shards to a file or folder, and return the sum of counters."""

    @classmethod
    def check_output(cls, plan: Plan, out: Path) -> None:
        """Raise `PlanError` if results cannot be written to a file with this name."""
        wanted = cls.suffix(plan)
        if not out.name.lower().removesuffix(".gz").endswith(wanted):
            raise PlanError(
                f"the parts of the plan join to a file whose name ends in {wanted}", path=out
            )

    @classmethod
    def suffix(cls, plan: Plan) -> str:
        """Return the end of the names of output files; "" for a folder with any name."""
        return ""

    def read(self, shard: Shard, base: str) -> ExampleStream:
        """Return the examples of a shard."""
        options = self.options
        return read_segments(
            [replace(one, path=os.fspath(Path(base, one.path))) for one in shard.segments],
            options["errors"],
            texts=self.texts,
            qualify_ids=options.get("qualify_ids", False),
            **reading_options(options),
        )


_READING: dict[str, tuple[type, Any]] = {
    "errors": (str, "raise"),
    "text_field": (list, []),
    "id_field": (str, None),
    "memory_limit": (int, None),
}
_MAKING: dict[str, tuple[type, Any]] = {
    "views": (list, []),
    "candidates": (str, None),
    "types": (list, []),
    "labels": (str, "binary"),
    "sentences": (bool, False),
}


def reading_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of readers that are given."""
    given = {"text_field": tuple(options["text_field"]), "id_field": options["id_field"]}
    limits = reading_limits(options)
    return {name: value for name, value in (*given.items(), ("limits", limits)) if value}


def reading_limits(options: Mapping[str, Any]) -> Limits | None:
    """Return the limits of readers, None for the default."""
    memory = options["memory_limit"]
    return None if memory is None else Limits(memory=memory)


def _fits(value: Any, kind: type) -> bool:
    """Return whether a value of a plan, which may come from a file, is of a type."""
    if kind is float:
        return type(value) in (int, float)
    if kind is list:
        return type(value) is list and all(type(one) is str for one in value)
    return type(value) is kind


def _model(plan: Plan, kind: type[Any]) -> Any:
    """Return the model of a plan."""
    found = persist.load(plan.file(MODEL))
    if not isinstance(found, kind):
        raise PlanError(
            f"the model is a {type(found).__name__}, but {plan.command} needs a {kind.__name__}",
            path=plan.folder,
        )
    return found


# Predictions.


class _Prediction(Task):
    """Base class of tasks that predict relations."""

    size = 2_000_000
    known: ClassVar[dict[str, tuple[type, Any]]] = {
        "threshold": (float, None),
        "n_evidence": (int, 0),
        "every": (bool, False),
        "format": (str, "jsonl"),
    }

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.extractor: relations.RelationExtractor = _model(plan, relations.RelationExtractor)
        if self.options["threshold"] is not None:
            self.extractor.threshold_ = float(self.options["threshold"])

    @classmethod
    def checked(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options with defaults."""
        made = super().checked(options)
        # The names of formats that are joined need not be imported.
        if made["format"] not in _JOINED and made["format"] not in relations.output_formats():
            raise PlanError(
                f"{made['format']!r} is not a format of predictions; choose one of "
                f"{', '.join(relations.output_formats())}"
            )
        return made

    @abstractmethod
    def predicted(self, examples: Iterable[Example], counts: relations.PredictionCounts) -> Any:
        """Return the predictions for examples."""

    def run(self, shard: Shard, folder: Path, base: str) -> dict[str, Any]:
        """Write the result of a shard into a folder, and return counters."""
        counts, format = relations.PredictionCounts(), self.options["format"]
        with self.read(shard, base) as stream:
            predicted = self.predicted(stream, counts)
            if format in _JOINED:
                relations.write_predictions(
                    predicted,
                    folder / _found(format),
                    format=format,
                    events=self.extractor.candidates == "events",
                    evidence=self.options["n_evidence"] > 0,
                )
            else:
                _keep_documents(relations.annotated_documents(predicted), folder)
            counts.add(stream.tally)
        return counts.to_dict()

    @classmethod
    def collect(cls, plan: Plan, parts: Iterable[Part], out: Path) -> dict[str, Any]:
        """Join the files of parts."""
        total, format = Total(), cls.checked(plan.options)["format"]
        if format in _JOINED:
            _JOINED[format]((part.file(_found(format)) for part in total.over(parts)), out)
        else:
            kept = (one for part in total.over(parts) for one in _kept_documents(part))
            relations.write_annotated(kept, out, format)
        return total.counters

    @classmethod
    def suffix(cls, plan: Plan) -> str:
        """Return the end of the names of output files; "" if parts are not joined as they are."""
        format = cls.checked(plan.options)["format"]
        return Path(_found(format)).suffix if format in _JOINED else ""


def _found(format: str) -> str:
    return "found.jsonl" if format == "documents" else f"found.{format}"


def _keep_documents(documents: Iterable[relations.AnnotatedDocument], folder: Path) -> None:
    """Write documents to a part, for a format whose files cannot be joined."""
    with (folder / _DIRECTED).open("x", encoding="utf-8", newline="\n") as file:

        def examples() -> Iterator[Example]:
            for one in documents:
                file.write(json.dumps(sorted(one.directed), ensure_ascii=False) + "\n")
                yield Example(one.id, views={"document": one.document})

        write(examples(), folder / _DOCUMENTS)


def _kept_documents(part: Part) -> Iterator[relations.AnnotatedDocument]:
    """Yield the documents of a part."""
    with (
        part.file(_DIRECTED).open(encoding="utf-8") as file,
        iter_read(part.file(_DOCUMENTS)) as stream,
    ):
        for example, line in zip(stream, file, strict=True):
            document = example.view("document")
            assert isinstance(document, Document)
            yield relations.AnnotatedDocument(example.id, document, frozenset(json.loads(line)))


_DOCUMENTS, _DIRECTED = "documents.jsonl", "directed.jsonl"


class Extract(_Prediction):
    """Relations in texts, as ``kernelwood extract`` finds them."""

    name = "extract"
    texts = True
    block = 64_000
    optional_files = frozenset((TERMS,))
    known: ClassVar[dict[str, tuple[type, Any]]] = {
        **_Prediction.known,
        "case": (str, "smart"),
        "ner": (bool, False),
        "parser": (str, None),
    }

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        options = self.options
        terms = None
        if TERMS in plan.files:
            terms = entities.Dictionary.read(plan.file(TERMS), case=options["case"])
        self._find = relations.entity_finder(self.extractor, terms, tagger=not options["ner"])
        name = options["parser"] or (self.extractor.parser_ if options["ner"] else None)
        backend = None if name is None else parsing.load_backend(name, entities=options["ner"])
        self._predict = relations.text_predictor(self.extractor, backend)

    def predicted(self, examples: Iterable[Example], counts: relations.PredictionCounts) -> Any:
        """Return the predictions for examples."""
        return relations.predict_stream(
            self.extractor,
            (relations.add_entities(example, self._find) for example in examples),
            self._predict,
            counts,
            n_evidence=self.options["n_evidence"],
            every=self.options["every"],
            drift=False,
        )


class Predict(_Prediction):
    """Relations in annotated documents, as ``kernelwood predict`` finds them."""

    name = "predict"

    def predicted(self, examples: Iterable[Example], counts: relations.PredictionCounts) -> Any:
        """Return the predictions for examples."""
        return relations.predict_stream(
            self.extractor,
            examples,
            lambda batch: (batch, self.extractor.predict(batch, all=True)),
            counts,
            n_evidence=self.options["n_evidence"],
            every=self.options["every"],
            drift=False,
        )


# Files of parts, joined.


def _join_lines(files: Iterable[Path], out: Path) -> None:
    with _output(out) as target:
        for path in files:
            with path.open("rb") as file:
                shutil.copyfileobj(file, target, _COPY)


def _join_tables(files: Iterable[Path], out: Path) -> None:
    """Join tables whose first line is the header, which is written once."""
    with _output(out) as target:
        for number, path in enumerate(files):
            with path.open("rb") as file:
                header = file.readline()
                if number == 0:
                    target.write(header)
                shutil.copyfileobj(file, target, _COPY)


_JOINED: dict[str, Callable[[Iterable[Path], Path], None]] = {
    "jsonl": _join_lines,
    "documents": _join_lines,
    "tsv": _join_tables,
    "parquet": lambda files, out: join_parquet(list(files), out),
}


@contextmanager
def _output(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that replaces an older one when it is complete, compressed if it is a .gz."""
    with replacing(Path(os.path.realpath(path))) as file:
        if path.suffix.lower() != ".gz":
            yield file
            return
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield packed  # type: ignore[misc]  # a binary file in all but its type


# Examples.


class Convert(Task):
    """A corpus in another format, as ``kernelwood convert`` writes it.

    Files of some formats are joined as they are; for others, parts are JSON lines, which store all
    that examples have.
    """

    name = "convert"
    needs_model = False
    block = 8_000_000
    known: ClassVar[dict[str, tuple[type, Any]]] = {
        "format": (str, "jsonl"),
        "qualify_ids": (bool, False),
        **_MAKING,
    }

    @classmethod
    def checked(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options with defaults."""
        made = super().checked(options)
        if made["format"] not in _WRITERS:
            raise PlanError(
                f"files of the format {made['format']!r} cannot be written; choose one of "
                f"{', '.join(_WRITERS)}"
            )
        return made

    def run(self, shard: Shard, folder: Path, base: str) -> dict[str, Any]:
        """Write the result of a shard into a folder, and return counters."""
        counts, format = Counts(), self.options["format"]
        stored = format if format in _CONCATENATED else "jsonl"
        with self.read(shard, base) as stream:
            write(self._fitted(stream, counts), folder / "part", format=stored)
            counts.add(stream.tally)
        return {"written": counts.taken, **counts.to_dict()}

    def _fitted(self, stream: ExampleStream, counts: Counts) -> Iterator[Example]:
        """Yield the examples to write, with the views that the format can store."""
        options, used = self.options, UsedIds()
        format, skip = options["format"], options["errors"] == "skip"

        def fitted(example: Example) -> Iterator[Example]:
            made = fit_to_format(example, format)
            if format not in _WITHOUT_IDS and used.add(example.id, 0) is not None:
                raise StructureError(f"the id {shorten(repr(example.id))} occurs twice")
            if skip:  # find errors of the writer now, not while it writes the file
                for _ in _WRITERS[format]([made]):
                    pass
            yield made

        for made in _made(stream, options, counts):
            for example in relations.attempted(fitted(made), counts, skip=skip):
                counts.remarks.update(
                    f"{format} cannot store {part}" for part in left_out(made, format)
                )
                counts.taken += 1
                yield example

    @classmethod
    def collect(cls, plan: Plan, parts: Iterable[Part], out: Path) -> dict[str, Any]:
        """Join the files of parts."""
        total, format = Total(), cls.checked(plan.options)["format"]
        files = (part.file("part") for part in total.over(parts))
        if format in _CONCATENATED:
            _join_lines(files, out)
        else:
            write((one for file in files for one in iter_read(file, "jsonl")), out, format)
        return total.counters


_CONCATENATED = frozenset(
    ("jsonl", "conllu", "kelp", "penn", "penman", "pubtator", "semeval", "doccano", "prodigy")
)
_WITHOUT_IDS = ("penn", "kelp")
_WRITERS: dict[str, Callable[..., Iterator[object]]] = {
    row.name: writer for row in FORMATS if (writer := row.write or row.write_files) is not None
}


def _maker(options: Mapping[str, Any]) -> relations.ExampleMaker:
    return relations.ExampleMaker(
        options["views"],
        candidates=options["candidates"],
        types=options["types"],
        labels=options["labels"],
        sentences=options["sentences"],
    )


class Total:
    """Sums of the counters of parts: numbers, and numbers by name."""

    def __init__(self) -> None:
        self.counters: dict[str, Any] = {}

    def over(self, parts: Iterable[Part]) -> Iterator[Part]:
        """Yield parts, and add their counters."""
        for part in parts:
            try:
                self.add(part.counters)
            except TypeError as failure:
                raise PlanError(
                    "its counters are not those of other parts", path=part.folder
                ) from failure
            yield part

    def add(self, counters: Mapping[str, Any]) -> None:
        """Add counters."""
        for name, value in counters.items():
            if isinstance(value, dict):
                added = Counter(self.counters.get(name, {})) + Counter(value)
                self.counters[name] = dict(added.most_common())
            elif isinstance(value, int):
                self.counters[name] = self.counters.get(name, 0) + value
            else:  # such as the threshold, which all parts share
                self.counters[name] = value


# Vectors and codes.


def _choose_views(kernel: kernels.Kernel, options: dict[str, Any]) -> bool:
    """Set the views that a kernel compares; return whether it compares single structures."""
    names, given = kernels.needed_views(kernel), options["views"]
    if names is None:
        if len(given) != 1:
            raise PlanError("the kernel of the model compares single structures; give one --view")
        return True
    if set(given) - set(names):
        raise PlanError(f"the kernel of the model compares {', '.join(names)}; leave out --view")
    options["views"] = list(names)
    return False


class _Encoding(Task):
    """Base class of tasks that encode structures as rows of an array."""

    encoder: ClassVar[str]
    array: ClassVar[str]
    known: ClassVar[dict[str, tuple[type, Any]]] = _MAKING

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.model = _model(plan, getattr(features, self.encoder))
        self._single = _choose_views(self.model.kernel_, self.options)

    @abstractmethod
    def encode(self, structures: list[Any]) -> NDArray[Any]:
        """Return a row for each structure."""

    def run(self, shard: Shard, folder: Path, base: str) -> dict[str, Any]:
        """Write the result of a shard into a folder, and return counters."""
        counts = Counts()
        rows = []
        with (
            (folder / "rows.jsonl").open("x", encoding="utf-8", newline="\n") as names,
            self.read(shard, base) as stream,
        ):
            examples = _made(stream, self.options, counts)
            while some := list(islice(examples, _ENCODED)):
                rows.append(self.encode(_structures(some, self.options, single=self._single)))
                for one in some:
                    names.write(json.dumps(self.row(one), ensure_ascii=False) + "\n")
                counts.taken += len(some)
            counts.add(stream.tally)
        made = np.concatenate(rows) if rows else self.encode([])
        with (folder / f"{self.array}.npy").open("xb") as file:
            npy.write_array(file, np.ascontiguousarray(made), allow_pickle=False)
        return {"n_examples": counts.taken, **counts.to_dict()}

    def row(self, example: Example) -> dict[str, Any]:
        """Return the values that are stored with the row of an example."""
        return {"id": example.id, "label": example.label}

    @classmethod
    def suffix(cls, plan: Plan) -> str:
        """Return the end of the names of output files."""
        return ".npy"

    @classmethod
    def collect(cls, plan: Plan, parts: Iterable[Part], out: Path) -> dict[str, Any]:
        """Write one array, and the ids and labels of its rows to ``NAME.rows.jsonl``."""
        total, listed = Total(), list(parts)
        _join_arrays([part.file(f"{cls.array}.npy") for part in total.over(listed)], out)
        _join_lines((part.file("rows.jsonl") for part in listed), _rows_file(out))
        return total.counters


def _join_arrays(files: Sequence[Path], out: Path) -> None:
    """Write the rows of arrays to one array; memory does not depend on their number."""
    arrays = [_array(path) for path in files]
    if len({(array.shape[1:], array.dtype.str) for array in arrays}) != 1:
        raise PlanError("the arrays of the parts differ in shape", path=files[0].parent.parent)
    described = {
        "descr": npy.dtype_to_descr(arrays[0].dtype),
        "fortran_order": False,
        "shape": (sum(len(array) for array in arrays), *arrays[0].shape[1:]),
    }
    with replacing(Path(os.path.realpath(out))) as file:
        npy.write_array_header_1_0(file, described)
        for array in arrays:
            for start in range(0, len(array), _ENCODED):
                file.write(np.ascontiguousarray(array[start : start + _ENCODED]).tobytes())


def _array(path: Path) -> NDArray[Any]:
    """Return the rows in a file of a part, a memory map."""
    try:
        array = map_matrix(path)
        if array.ndim == 0:
            raise ValueError("the array has no rows")
        return array
    except ValueError as failure:
        raise _not_made(path) from failure


def _not_made(path: Path) -> PlanError:
    return PlanError(
        "the file was not written by this task",
        path=path,
        hint="remove the folder of the part and run the plan again",
    )


def _rows_file(out: Path) -> Path:
    """Return the file of ids and labels beside an array."""
    return out.with_name(f"{out.stem}.rows.jsonl")


def _made(stream: ExampleStream, options: Mapping[str, Any], counts: Counts) -> Iterator[Example]:
    """Yield the examples that options ask to make of those of a stream."""
    make, skip = _maker(options), options["errors"] == "skip"
    for example in stream:
        yield from relations.attempted(make(example, counts), counts, skip=skip)


def _structures(examples: list[Example], options: Mapping[str, Any], *, single: bool) -> list[Any]:
    """Return the objects that a kernel compares: the examples, or one view of them."""
    return [one.view(options["views"][0]) for one in examples] if single else list(examples)


class Embed(_Encoding):
    """Nyström vectors of structures, by a saved `NystromEmbedder`."""

    name, encoder, array = "embed", "NystromEmbedder", "vectors"

    def encode(self, structures: list[Any]) -> NDArray[Any]:
        """Return vectors."""
        if not structures:
            return np.empty((0, self.model.rank_))
        made: NDArray[Any] = self.model.transform(structures)
        return made

    @classmethod
    def check_output(cls, plan: Plan, out: Path) -> None:
        """Raise `PlanError` if vectors cannot be written to a file with this name."""
        if out.suffix.lower() not in VECTOR_SUFFIXES:
            raise PlanError(
                f"the name of a file of vectors ends in one of {', '.join(VECTOR_SUFFIXES)}",
                path=out,
            )

    @classmethod
    def collect(cls, plan: Plan, parts: Iterable[Part], out: Path) -> dict[str, Any]:
        """Write one array, or a file of vectors with ids and labels, which needs more memory."""
        if out.suffix.lower() == ".npy":
            return super().collect(plan, parts, out)
        total = Total()
        rows: list[dict[str, Any]] = []
        vectors: list[NDArray[Any]] = []
        for part in total.over(parts):
            vectors.append(np.load(part.file(f"{cls.array}.npy"), allow_pickle=False))
            with part.file("rows.jsonl").open(encoding="utf-8") as file:
                rows += map(json.loads, file)
        ids, labels = [row["id"] for row in rows], [row["label"] for row in rows]
        write_vector_file(out, ids, labels, np.concatenate(vectors))
        return total.counters


class Hash(_Encoding):
    """Hashcodes of structures, by a saved `KernelHasher`."""

    name, encoder, array = "hash", "KernelHasher", "codes"

    def encode(self, structures: list[Any]) -> NDArray[Any]:
        """Return packed codes."""
        made: NDArray[Any] = self.model.codes(structures)
        return made


class Index(Hash):
    """A search index of hashcodes, by a saved `KernelHasher`; see `IndexFolder`."""

    name = "index"

    def row(self, example: Example) -> dict[str, Any]:
        """Return the values that are stored with the row of an example."""
        return {"id": example.id, "text": search.text_of(example)}

    @classmethod
    def suffix(cls, plan: Plan) -> str:
        """Return "": any name is possible."""
        return ""

    @classmethod
    def collect(cls, plan: Plan, parts: Iterable[Part], out: Path) -> dict[str, Any]:
        """Write an index folder, with shards of at least a million rows."""
        from kernelwood.scale.index_folder import IndexFolder

        total = Total()
        with new_folder(out) as folder:
            index = IndexFolder.create(folder, _model(plan, features.KernelHasher))
            codes: list[NDArray[Any]] = []
            rows: list[dict[str, Any]] = []
            for part in total.over(parts):
                codes.append(_array(part.file("codes.npy")))
                rows += _named_rows(part.file("rows.jsonl"))
                if codes[-1].shape[1:] != codes[0].shape[1:]:
                    raise _not_made(part.folder / "codes.npy")
                if len(rows) >= _INDEXED:
                    _append(index, codes, rows)
                    codes, rows = [], []
            if rows:
                _append(index, codes, rows)
        return total.counters


def _named_rows(path: Path) -> list[dict[str, Any]]:
    """Return ids and texts of the rows of a part."""
    try:
        rows = [persist.load_json(line) for line in path.read_bytes().splitlines()]
        if not all(type(row["id"]) is str and type(row["text"]) is str for row in rows):
            raise ValueError("ids and texts must be strings")
        return rows
    except (ValueError, KeyError, TypeError) as failure:
        raise _not_made(path) from failure


def _append(index: Any, codes: list[NDArray[Any]], rows: list[dict[str, Any]]) -> None:
    names, texts = [row["id"] for row in rows], [row["text"] for row in rows]
    index.append_codes(np.concatenate(codes), names=names, texts=texts)


# Matrices.


class Gram(Task):
    """The Gram matrix of structures, by a saved kernel; a shard is some of its rows."""

    name = "gram"
    known: ClassVar[dict[str, tuple[type, Any]]] = _MAKING

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.kernel = _model(plan, kernels.Kernel)
        self.structures = persist.load(plan.file(STRUCTURES))

    @classmethod
    def cut(
        cls,
        paths: Sequence[str],
        options: dict[str, Any],
        files: Mapping[str, Any],
        *,
        format: str | None,
        only: str | None,
    ) -> Iterator[Shard]:
        """Read the structures, save them, and yield ranges of rows."""
        kernel, counts = persist.load(files[MODEL]), Counts()
        if not isinstance(kernel, kernels.Kernel):
            raise PlanError(f"gram needs a saved kernel, not a {type(kernel).__name__}")
        options = dict(options)
        single = _choose_views(kernel, options)
        examples: list[Example] = []
        for path in paths:
            limits = reading_limits(options)
            with iter_read(path, format, options["errors"], only=only, limits=limits) as stream:
                for one in _made(stream, options, counts):
                    examples.append(keep_views(one, tuple(options["views"])))
        if not examples:
            return
        persist.save(arrays.batch(_structures(examples, options, single=single)), files[STRUCTURES])
        step = max(1, _CELLS // len(examples) // kernels.GRAM_WINDOW) * kernels.GRAM_WINDOW
        for number, start in enumerate(range(0, len(examples), step)):
            yield Shard(number, (), (start, min(start + step, len(examples))))

    def run(self, shard: Shard, folder: Path, base: str) -> dict[str, Any]:
        """Write the rows of a shard into a folder, and return counters."""
        if shard.rows is None or shard.rows[1] > len(self.structures):
            raise PlanError(f"shard {shard.number} has no valid rows", path=self.plan.folder)
        rows = kernels.gram_rows(self.kernel, self.structures, *shard.rows)
        with (folder / "rows.npy").open("xb") as file:
            npy.write_array(file, rows, allow_pickle=False)
        return {"n_rows": len(rows)}

    @classmethod
    def suffix(cls, plan: Plan) -> str:
        """Return the end of the names of output files."""
        return ".npy"

    @classmethod
    def collect(cls, plan: Plan, parts: Iterable[Part], out: Path) -> dict[str, Any]:
        """Write one matrix."""
        total = Total()
        _join_arrays([part.file("rows.npy") for part in total.over(parts)], out)
        return total.counters


TASKS: dict[str, type[Task]] = {
    task.name: task for task in (Extract, Predict, Convert, Embed, Hash, Index, Gram)
}


def find_task(name: str) -> type[Task]:
    """Return the task of a command.

    Raises
    ------
    PlanError
        If plans cannot run it.
    """
    if name not in TASKS:
        raise PlanError(f"plans cannot run {name!r}; commands: {', '.join(TASKS)}")
    return TASKS[name]


def recorded(task: Task, shard: Shard, folder: Path, base: str) -> dict[str, Any]:
    """Return the counters of a shard, warnings among them, by their text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        counters = task.run(shard, folder, base)
    shown = Counter(str(one.message) for one in caught)
    return {**counters, "warnings": dict.fromkeys(shown, 1)} if shown else counters
