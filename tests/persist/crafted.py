"""Model files that an attacker would write: one member changed on purpose, all checksums right.

``variants`` yields changes of every array, list of strings and value of a model file; ``use`` calls
what people call on a loaded model. The first may be refused by ``load``; if it is not, the second
ends normally or in an error of kernelwood.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import math
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import kernelwood as kw
from kernelwood.arrays import Batch, ExampleBatch
from kernelwood.compute import config_context
from kernelwood.errors import KernelwoodError
from kernelwood.kernels import Kernel
from kernelwood.learners import BitForest
from kernelwood.persist.archive import array_chunks
from kernelwood.similarity import Similarity

Members = dict[str, bytes]

MANIFEST = "manifest.json"


# Files.


def unpack(data: bytes) -> tuple[dict[str, Any], Members]:
    """Return the manifest and the other members of a model file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop(MANIFEST)), members


def pack(manifest: dict[str, Any], members: Members, *, checksums: bool = True) -> bytes:
    """Return a model file of these members; its checksums are right."""
    if checksums:
        manifest["members"] = {
            name: {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
            for name, data in members.items()
        }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in {**members, MANIFEST: json.dumps(manifest).encode()}.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return file.getvalue()


def array_of(data: bytes) -> np.ndarray[Any, Any]:
    """Return the array in a member."""
    return np.load(io.BytesIO(data), allow_pickle=False)


def member_of(array: np.ndarray[Any, Any]) -> bytes:
    """Return an array as a member."""
    return b"".join(array_chunks(np.ascontiguousarray(array)))


# Changes.


def _put(values: Any, *numbers: Any, at: int = 0) -> Any:
    changed = values.copy()
    flat = changed.reshape(-1)
    flat[at : at + len(numbers)] = numbers[: max(0, len(flat) - at)]
    return changed


def array_changes(values: np.ndarray[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Yield arrays of the same type with values that checks overlook."""
    kind, n = values.dtype.kind, values.size
    if n:
        yield from (_float_changes if kind == "f" else _whole_changes)(values)
        yield "reversed", values[::-1].copy()
        yield "rotated", np.roll(values, 1)
        yield "zeros", np.zeros_like(values)
        yield "short", values[:-1].copy()
        yield "first left out", values[1:].copy()
    if values.ndim:
        yield (
            "long",
            np.concatenate(
                [values, values[-1:] if n else np.zeros_like(values, shape=(1, *values.shape[1:]))]
            ),
        )
        yield "empty", values[:0].copy()
        yield "flat", values.reshape(-1) if values.ndim > 1 else values[:, None].copy()
        yield "wrapped", values[None].copy()
        yield "scalar", values.reshape(-1)[0].copy() if n else np.zeros((), values.dtype)
    for dtype in ("bool", "int32", "int64", "uint64", "float32", "float64"):
        if values.dtype != dtype:
            yield f"as {dtype}", _converted(values, dtype)


def _converted(values: Any, dtype: str) -> Any:
    with np.errstate(all="ignore"):
        return values.astype(dtype)


def _float_changes(values: Any) -> Iterator[tuple[str, Any]]:
    largest, last = np.finfo(values.dtype).max, values.size - 1
    for name, number in (
        ("nan", math.nan), ("inf", math.inf), ("-inf", -math.inf), ("largest", largest),
        ("-largest", -largest), ("smallest", np.finfo(values.dtype).smallest_subnormal),
        ("-1", -1.0), ("2", 2.0), ("1e30", 1e30),
    ):  # fmt: skip
        yield f"{name} first", _put(values, number)
        yield f"{name} last", _put(values, number, at=last)
        if math.isfinite(number):
            yield f"{name} everywhere", np.full_like(values, number)
    yield "largest and -largest", _put(np.full_like(values, largest), -largest)
    yield "negative", -values


def _whole_changes(values: Any) -> Iterator[tuple[str, Any]]:
    if values.dtype == bool:
        yield "inverted", ~values
        return
    limits, last = np.iinfo(values.dtype), values.size - 1
    least = -2 if limits.min < 0 else 0
    for at in range(min(3, values.size)):
        yield f"wrap at {at}", _put(values, limits.max, least, at=at)
    yield "wrap twice", _put(values, limits.max, least, limits.max, least, at=1)
    yield "wrap to the end", _put(values, limits.max, limits.min, at=max(0, last - 2))
    for name, number in (("largest", limits.max), ("least", limits.min), ("half", limits.max // 2)):
        yield f"{name} first", _put(values, number)
        yield f"{name} last", _put(values, number, at=last)
        yield f"{name} everywhere", np.full_like(values, number)
    flat = values.reshape(-1)
    for name, at in (("first", 0), ("middle", last // 2), ("last", last)):
        if flat[at] < limits.max:
            yield f"one more {name}", _put(values, flat[at] + 1, at=at)
        if flat[at] > limits.min:
            yield f"one less {name}", _put(values, flat[at] - 1, at=at)
    if values.max() < limits.max:
        yield "one more everywhere", values + 1
        yield "beyond the others", _put(values, int(values.max()) + 1)
    if limits.min < 0:
        yield "-1 first", _put(values, -1)
        yield "-1 everywhere", np.full_like(values, -1)


def text_changes(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield lists of strings that checks overlook."""
    if lines:
        yield "short", lines[:-1]
        yield "empty", []
        yield "reversed", lines[::-1]
        yield "empty string first", ["", *lines[1:]]
        yield "all equal", lines[:1] * len(lines)
        yield "longer strings", [line * 3 + "x" for line in lines]
        yield "other strings", [f"\x1b[31m{i}\ud800\n" for i in range(len(lines))]
    yield "long", [*lines, "more"]
    yield "long, equal", [*lines, *lines[-1:]]


_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 7, 2**31, 2**63 - 1, 2**64, -(2**70), 0.0, -0.5, 0.5, 1e308,
    "", "x", [], ["x"], {"kind": "mapping", "values": {}},
    {"kind": "mapping", "values": {"x": ["y"]}},
    {"kind": "tuple", "values": []}, {"kind": "number", "value": "nan"},
    {"kind": "number", "value": "inf"}, {"kind": "dtype", "name": "int8"},
    {"kind": "part", "number": 0},
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in inside:
        yield (*path, key)
        if isinstance(inner, (dict, list)):
            yield from places(inner, (*path, key))


def variants(data: bytes, *, parameters: bool = True) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield a description of each change of a model file, and a function that makes the file."""
    manifest, members = unpack(data)

    def changed(name: str, content: Callable[[], bytes]) -> Callable[[], bytes]:
        return lambda: pack(copy.deepcopy(manifest), {**members, name: content()})

    arrays = {name: array_of(content) for name, content in members.items() if name.endswith(".npy")}
    for name, values in arrays.items():
        for what, array in array_changes(values):
            yield f"{name}: {what}", changed(name, lambda array=array: member_of(array))
    for name, content in members.items():
        if name.endswith(".txt"):
            lines = [json.loads(line) for line in content.decode().split("\n")[:-1]]
            for what, other in text_changes(lines):
                dumped = lambda other=other: "".join(json.dumps(x) + "\n" for x in other).encode()  # noqa: E731
                yield f"{name}: {what}", changed(name, dumped)
    names = sorted(arrays)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            if arrays[one].dtype == arrays[other].dtype and not np.array_equal(
                arrays[one], arrays[other]
            ):
                swapped = {**members, one: members[other], other: members[one]}
                yield (
                    f"{one} and {other} swapped",
                    lambda swapped=swapped: pack(copy.deepcopy(manifest), swapped),
                )
    if parameters:
        yield from _parameter_variants(manifest, members)


def _parameter_variants(
    manifest: dict[str, Any], members: Members
) -> Iterator[tuple[str, Callable[[], bytes]]]:
    parts = [*manifest["parts"], manifest]
    for number, part in enumerate(parts):
        for path in places(part["parameters"]):
            for value in _VALUES:
                yield (
                    f"parameters of part {number} at {'/'.join(map(str, path))}: {value!r}",
                    lambda number=number, path=path, value=value: _replaced(
                        manifest, members, number, path, value
                    ),
                )


def _replaced(
    manifest: dict[str, Any], members: Members, number: int, path: tuple[Any, ...], value: Any
) -> bytes:
    manifest = copy.deepcopy(manifest)
    node = [*manifest["parts"], manifest][number]["parameters"]
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return pack(manifest, members)


# Use.


# Of estimators, with structures; evidence takes one.
_METHODS = (
    "transform", "codes", "residual", "kneighbors", "decision_function", "predict_proba", "predict",
    "apply", "similarities", "evidence", "search",
)  # fmt: skip


class User:
    """Calls the public methods of models, with the samples of the tool that wrote golden files.

    Parameters
    ----------
    golden : module
        ``tools/golden.py``.
    """

    def __init__(self, golden: Any) -> None:
        self._golden = golden
        self._examples, _ = golden._training()
        self._annotated = golden._annotated()

    def outcome(self, data: bytes) -> str | None:
        """Return None if a file is refused, "used" if all methods are fine.

        Any other exception than those of kernelwood passes through.
        """
        try:
            with config_context(memory="512 MB"):
                model = kw.persist.read_model(io.BytesIO(data))
        except kw.errors.ModelFormatError:
            return None
        try:
            for name, call in self.calls(model):
                self._use(f"{type(model).__name__}: {name}", call)
        except KernelwoodError:  # before the first call
            pass
        return "used"

    def _use(self, what: str, call: Callable[[], Any]) -> None:
        try:
            with config_context(memory="512 MB"):
                result = call()
        except KernelwoodError:
            return
        except Exception as error:
            error.add_note(what)
            raise
        if has_nan(result):
            raise ValueError(f"{what} returned NaN")

    def calls(self, model: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Yield the name of each method and a function that calls it."""
        yield "repr", lambda: repr(model)
        yield "save", lambda: kw.persist.write_model(model, io.BytesIO())
        if isinstance(model, Kernel):
            yield from self._kernel(model)
        elif isinstance(model, Similarity):
            words = [*self._golden.WORDS, "fog"]
            yield "table", lambda: model.table(words, words)
        elif isinstance(model, kw.Vectors):
            yield "nearest", lambda: model.nearest("owl")
            yield "similarity", lambda: model.similarity("owl", "rain")
        elif isinstance(model, kw.ForestParser):
            yield "parse", lambda: model.parse(["the", "rain", "waits", "for", "snow"]).best_tree()
            yield "parse_batch", lambda: model.parse_batch([["rain"], ["the", "owl", "falls"]])
        elif isinstance(model, (kw.Dictionary, kw.EntityTagger)):
            yield "find", lambda: model.find("An owl, a tawny owl hears mouse and a Tawny Owl.")
            yield "annotate", lambda: model.annotate(self._annotated[0].view("sentence"))
        elif isinstance(model, (Batch, ExampleBatch)):
            yield from self._batch(model)
        elif isinstance(model, BitForest):
            codes = np.zeros((3, -(-model.n_bits // 64)), np.uint64)
            yield "apply", lambda: model.apply(codes)
            yield "predict_proba", lambda: model.predict_proba(codes)
            yield "importances", model.importances
        elif isinstance(model, kw.RelationExtractor):
            yield from self._extractor(model)
        elif isinstance(model, kw.SentenceIndex):
            yield from self._sentences(model)
        else:
            yield from self._estimator(model)

    def _kernel(self, kernel: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
        X = self._golden.SAMPLES[kernel._accepts()]
        yield "gram", lambda: kernel.gram(X)
        yield "cross", lambda: kernel.cross(X, X[:2])
        yield "diag", lambda: kernel.diag(X)
        yield "neighbors", lambda: kernel.neighbors(X, X, 2)
        yield "value", lambda: kernel.value(X[0], X[1])
        yield "clone", lambda: kernel.clone() == kernel

    def _batch(self, batch: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
        yield "list", lambda: [repr(x) for x in batch]
        yield "backwards", lambda: list(batch[::-1])
        yield "take", lambda: list(batch[np.arange(len(batch)).repeat(2)])
        if isinstance(batch, ExampleBatch):
            for view in batch.views:
                yield (
                    f"view {view!r}",
                    lambda view=view: self._compared(batch.column(view).structures),
                )
        else:
            yield "compared", lambda: self._compared(batch)

    def _compared(self, batch: Any) -> Any:
        kernels = {
            "sequence": kw.SubsequenceKernel(),
            "tree": kw.PartialTreeKernel(),
            "forest": kw.ForestKernel(),
            "graph": kw.AllPathsGraphKernel(edge_weight=0.01),
        }
        batch.distinct()
        return kernels.get(batch.kind, kw.VectorKernel("linear")).gram(batch)

    def _estimator(self, model: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
        if isinstance(model, kw.features.BitBlock):
            similarities = np.linspace(0, 1, 2 * model.n_references).reshape(2, -1)
            codes = np.zeros((2, -(-model.n_bits // 64)), np.uint64)
            yield "fill", lambda: model.fill(similarities, 0, codes)
            return
        X = self._samples(model)
        if hasattr(model, "contributions"):
            labels = list(dict.fromkeys(model.classes_.tolist()))
            yield "contributions", lambda: model.contributions(X, labels[0], training=X)
            yield (
                "contributions against",
                lambda: model.contributions(X, labels[0], against=labels[-1], training=X),
            )
        for name in _METHODS:
            if callable(getattr(model, name, None)):
                given = X[0] if name == "evidence" else X
                yield name, lambda name=name, given=given: getattr(model, name)(given)
        for name in ("report", "describe", "reference_importances", "get_feature_names_out"):
            if hasattr(model, name):
                yield name, lambda name=name: getattr(model, name)()
        for name in dir(type(model)):
            if isinstance(getattr(type(model), name), property) and not name.startswith("_"):
                yield name, lambda name=name: getattr(model, name)
        if isinstance(model, kw.GateLearner):
            yield "gram", lambda: model.kernel_.gram(X)
        if isinstance(model, kw.NystromEmbedder):
            yield "inverse_neighbors", lambda: model.inverse_neighbors(model.transform(X), 2)
        yield from self._changes(model, X)

    def _changes(self, model: Any, X: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
        if isinstance(model, kw.KernelHasher):
            yield "grow", lambda: model.grow(n_bits=8).transform(X)
            yield "grow references", lambda: model.grow(n_bits=8, references=X).transform(X)
        elif isinstance(model, kw.NystromEmbedder):
            yield "grow", lambda: model.grow(X).transform(X)
        elif hasattr(model, "add"):
            y = (self._labels(model, X),) if hasattr(model, "classes_") else ()
            yield "add", lambda: model.add(X, *y)
            yield "remove", lambda: model.remove(model.ids_[:1])
            again = "search" if hasattr(model, "search") else "predict"
            yield f"{again} after", lambda: getattr(model, again)(X)

    def _labels(self, model: Any, X: Any) -> Any:
        return [model.classes_.tolist()[i % len(model.classes_)] for i in range(len(X))]

    def _samples(self, model: Any) -> Any:
        accepts = model.kernel_._accepts()
        return self._examples if accepts is ExampleBatch else self._golden.SAMPLES[accepts]

    def _sentences(self, index: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
        query = kw.Sentence.from_words(["the", "rain", "falls"], dependencies=[(1, "det", 0)])
        yield "search", lambda: [repr(match) for match in index.search(query, k=3)]
        yield "explain", lambda: index.explain(query, int(index.ids_[0]))
        yield "texts", lambda: (index.ids_, index.texts_, index.names_, index.next_id_)
        yield "add", lambda: index.add([query])
        yield "remove", lambda: index.remove(index.ids_[:1])
        yield "refit", index.refit
        yield "search after", lambda: index.search(query, k=3)

    def _extractor(self, model: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
        documents = self._annotated
        judged: list[Any] = []

        def predict() -> Any:
            judged.extend(model.predict(documents, all=True))
            return [one.probability for one in judged]

        yield "predict", predict
        yield "evidence", lambda: [repr(case) for one in judged for case in one.evidence]
        yield (
            "evidence values",
            lambda: [case.similarity for one in judged for case in one.evidence],
        )
        yield "explain", lambda: repr(model.explain(judged[0])) if judged else None
        yield "card", lambda: repr(kw.relations.card_of(model))
        yield "evaluate", lambda: repr(model.evaluate(documents))
        yield "adapt", lambda: repr(model.adapt(documents))
        yield "suggest_labels", lambda: repr(model.suggest_labels(documents))
        terms = {"owl": "animal", "mouse": "animal"}
        yield "extract", lambda: repr(model.extract("owl hears mouse.", dictionary=terms))
        yield "verify", lambda: repr(model.verify([judged[0]])) if judged else None
        for name in ("warnings_", "classes_", "relations_", "positive_rate_"):
            yield name, lambda name=name: getattr(model, name)


def has_nan(result: Any) -> bool:
    """Return whether NaN is among the numbers of a result."""
    if isinstance(result, (list, tuple)):
        return any(has_nan(inner) for inner in result)
    if isinstance(result, np.ndarray):
        return result.dtype.kind == "f" and bool(np.isnan(result).any())
    return isinstance(result, float) and math.isnan(result)
