"""Relations in bags and data frames of Dask; needs the extra ``dask``.

The model is sent once, as the bytes of its file, and each process loads it once. Apart from it,
Dask sends only texts and results.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelwood.entities import Dictionary
from kernelwood.errors import KernelInputError, MissingPackageError
from kernelwood.persist import load, save
from kernelwood.relations import (
    Predictions,
    RelationExtractor,
    pandas_frame,
    prediction_columns,
    prediction_row,
)
from kernelwood.structures import shorten
from kernelwood.text import Document, Example, Sentence, adapt, is_missing
from kernelwood.threads import ignored_warnings

if TYPE_CHECKING:
    import dask.bag
    import dask.dataframe


def extract_bag(
    extractor: RelationExtractor | str | os.PathLike[str],
    bag: dask.bag.Bag,
    *,
    dictionary: Any = None,
    all: bool = False,
) -> dask.bag.Bag:
    """Return the relations in a bag of texts, as `RelationExtractor.extract` finds them.

    Parameters
    ----------
    extractor : RelationExtractor, or path
        A path must exist on the workers; it is read when the bag is computed.
    bag : dask.bag.Bag
        Bag of strings, `Document`, `Sentence` or `Example`. Texts without an id are called
        ``text1``, ``text2``, ..., numbered over the whole bag.
    dictionary : mapping, pairs, or path, optional
        Terms that are entities: an argument of `Dictionary.of`.
    all : bool
        Whether to return negative predictions too.

    Returns
    -------
    dask.bag.Bag
        Bag of dictionaries, as `Prediction.to_dict` returns them, in the order of the texts.

    Examples
    --------
    >>> import dask.bag
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_interactions
    >>> extractor = kw.RelationExtractor(parser="biomedical", random_state=0)
    >>> extractor = extractor.fit(load_interactions("train")[:40])
    >>> bag = dask.bag.from_sequence(["RAK2 activates TORP1."], npartitions=1)
    >>> found = extract_bag(extractor, bag, dictionary={"Protein": ["RAK2", "TORP1"]}, all=True)
    >>> [row["document"] for row in found.compute(scheduler="sync")]
    ['text1']
    """
    package, delayed = _package("bag"), _delayed()
    model, terms = _shipped(extractor, dictionary)
    made = [
        delayed(_bag_partition)(texts, start, model, terms, all=all)
        for texts, start in _numbered(bag.to_delayed(), list)  # a partition may be an iterator
    ]
    return package.from_delayed(made)


def extract_column(
    extractor: RelationExtractor | str | os.PathLike[str],
    frame: dask.dataframe.DataFrame,
    column: str,
    id_column: str | None = None,
    *,
    dictionary: Any = None,
    all: bool = False,
) -> dask.dataframe.DataFrame:
    """Return the relations in a column of texts, as `RelationExtractor.extract` finds them.

    Parameters
    ----------
    extractor : RelationExtractor, or path
        A path must exist on the workers. It is also read here, for the columns of the result.
    frame : dask.dataframe.DataFrame
    column : str
        Column of texts.
    id_column : str, optional
        Column of ids; by default texts are called ``text1``, ``text2``, ..., numbered over the
        whole frame.
    dictionary : mapping, pairs, or path, optional
        Terms that are entities: an argument of `Dictionary.of`.
    all : bool
        Whether to return negative predictions too.

    Returns
    -------
    dask.dataframe.DataFrame
        Data frame with the columns of `Predictions.to_pandas`, in the order of the texts.

    Raises
    ------
    KernelInputError
        If the frame has no such column; when it is computed, if a text or an id is missing.

    Examples
    --------
    >>> import dask.dataframe, pandas
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_interactions
    >>> extractor = kw.RelationExtractor(parser="biomedical", random_state=0)
    >>> extractor = extractor.fit(load_interactions("train")[:40])
    >>> table = pandas.DataFrame({"pmid": [7], "abstract": ["RAK2 activates TORP1."]})
    >>> frame = dask.dataframe.from_pandas(table, npartitions=1)
    >>> found = extract_column(extractor, frame, "abstract", "pmid", all=True,
    ...                        dictionary={"Protein": ["RAK2", "TORP1"]})
    >>> found.compute(scheduler="sync").document.tolist()
    ['7']
    """
    package, delayed = _package("dataframe"), _delayed()
    wanted = [column] if id_column is None else [column, id_column]
    for name in wanted:
        if name not in frame.columns:
            raise KernelInputError(
                f"the frame has no column {name!r}; columns: "
                f"{shorten(', '.join(map(str, frame.columns)))}"
            )
    model, terms = _shipped(extractor, dictionary)
    loaded = extractor if isinstance(extractor, RelationExtractor) else _from_path(extractor)
    events = loaded.candidates == "events"
    meta = pandas_frame(prediction_columns(events=events), [])
    parts = frame[wanted].to_delayed()
    made = [
        delayed(_frame_partition)(
            rows, start, model, terms, column, id_column, events=events, all=all
        )
        for rows, start in _numbered(parts, _same)
    ]
    return package.from_delayed(made, meta=meta, verify_meta=False)


def _numbered(parts: Iterable[Any], keep: Callable[[Any], Any]) -> Iterator[tuple[Any, Any]]:
    """Yield partitions, each with the number of rows before it, which is known when it is run."""
    delayed, start = _delayed(), 0
    for part in parts:
        kept = delayed(keep)(part)
        yield kept, start
        start = delayed(_plus_length)(start, kept)


def _plus_length(start: int, rows: Any) -> int:
    return start + len(rows)


def _same(value: Any) -> Any:
    return value


def _package(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(f"dask.{name}")
    except ImportError as failure:
        raise MissingPackageError(
            f"dask.{name} cannot be imported; install it with: pip install 'kernelwood[dask]' "
            f"'dask[{name}]'"
        ) from failure


def _delayed() -> Any:
    from dask import delayed

    return delayed


# What is sent.


def _shipped(extractor: Any, dictionary: Any) -> tuple[Any, Any]:
    """Return the model and the terms as values of a task graph that all partitions share."""
    from dask.base import tokenize

    delayed = _delayed()
    if isinstance(dictionary, Dictionary):
        raise KernelInputError(
            "give the terms themselves, which can be sent: a path, a mapping or pairs"
        )
    terms = os.fspath(dictionary) if isinstance(dictionary, os.PathLike) else dictionary
    if terms is not None and not isinstance(terms, str):
        terms = dict(terms) if isinstance(terms, Mapping) else list(terms)
    named = None if terms is None else (tokenize(terms), terms)
    if isinstance(extractor, RelationExtractor):
        with tempfile.TemporaryDirectory(prefix="kernelwood-") as folder:
            save(extractor, Path(folder, "model.kw"))
            data: Any = Path(folder, "model.kw").read_bytes()
    else:
        data = os.fspath(Path(extractor).absolute())
    model = delayed((tokenize(data), data), traverse=False)
    return model, delayed(named, traverse=False)


# Name and object; replaced by one assignment, since threads of a worker share them.
_latest_model: tuple[str, RelationExtractor] | None = None
_latest_terms: tuple[str, Dictionary] | None = None


def _model(shipped: tuple[str, bytes | str]) -> RelationExtractor:
    """Return a model that was sent; processes keep the last one."""
    global _latest_model
    name, data = shipped
    latest = _latest_model
    if latest is None or latest[0] != name:
        _latest_model = latest = name, _loaded(data)
    return latest[1]


def _loaded(data: bytes | str) -> RelationExtractor:
    if isinstance(data, str):
        return _from_path(data)
    with tempfile.TemporaryDirectory(prefix="kernelwood-") as folder:
        path = Path(folder, "model.kw")
        path.write_bytes(data)
        return _from_path(path)


def _from_path(path: str | os.PathLike[str]) -> RelationExtractor:
    found = load(path)
    if not isinstance(found, RelationExtractor):
        raise KernelInputError(
            f"{os.fspath(path)} is a {type(found).__name__}, not a RelationExtractor"
        )
    return found


def _terms(shipped: tuple[str, Any] | None) -> Dictionary | None:
    if shipped is None:
        return None
    global _latest_terms
    name, terms = shipped
    latest = _latest_terms
    if latest is None or latest[0] != name:
        _latest_terms = latest = name, Dictionary.of(terms)
    return latest[1]


# Work on partitions.


def _bag_partition(
    texts: list[Any], start: int, model: Any, terms: Any, *, all: bool
) -> list[dict[str, Any]]:
    examples = [_example(text, start + n) for n, text in enumerate(texts)]
    return [one.to_dict() for one in _found(examples, model, terms, all)]


def _frame_partition(
    rows: Any,
    start: int,
    model: Any,
    terms: Any,
    column: str,
    id_column: str | None,
    *,
    events: bool,
    all: bool,
) -> Any:
    texts = rows[column].tolist()
    ids = None if id_column is None else rows[id_column].tolist()
    examples = []
    for n, text in enumerate(texts):
        if not isinstance(text, str):
            state = "is missing" if is_missing(text) else f"is a {type(text).__name__}"
            raise KernelInputError(
                f"row {start + n}: the text in the column {column!r} {state}\n"
                "    leave such rows out, as by frame.dropna"
            )
        if ids is not None and is_missing(ids[n]):
            raise KernelInputError(
                f"row {start + n}: the id in the column {id_column!r} is missing"
            )
        name = f"text{start + n + 1}" if ids is None else str(ids[n])
        examples.append(Example(name, views={"document": Document(text)}))
    found = _found(examples, model, terms, all)
    lines = [prediction_row(one, events=events) for one in found]
    return pandas_frame(prediction_columns(events=events), lines)


def _example(given: Any, number: int) -> Example:
    """Return an item of a bag as an example; strings are texts, even if files have such names."""
    found = given if isinstance(given, (Example, Document, Sentence, str)) else adapt(given)
    name = f"text{number + 1}"
    if isinstance(found, Example):
        return found
    if isinstance(found, Sentence):
        return Example(dict(found.metadata).get("sent_id") or name, views={"sentence": found})
    if isinstance(found, str):
        found = Document(found)
    if isinstance(found, Document):
        return Example(name, views={"document": found})
    raise KernelInputError(
        f"item {number} of the bag is a {type(given).__name__}, not a text, Document, Sentence or "
        "Example"
    )


def _found(examples: list[Example], model: Any, terms: Any, all: bool) -> Predictions:
    with ignored_warnings("drift:"):  # a partition may be small
        return _model(model).extract(examples, dictionary=_terms(terms), all=all)
