"""Columns of structures: DataFrames of pandas and polars, and arrays of objects.

Neither package is imported: only attributes of their objects are used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelwood.errors import StructureError
from kernelwood.structures import Forest, Graph, Sequence, Tree, show
from kernelwood.text import Document, Example, Sentence, adapt, adaptable, is_frame, is_missing

_VIEWS = (Sequence, Tree, Forest, Graph, Sentence, Document, str, tuple, list, dict, np.ndarray)


def as_rows(table: Any) -> Any:
    """Return the rows of a DataFrame or of an array of objects; other values unchanged.

    Examples
    --------
    >>> as_rows(np.array([[Tree("NP")], [Tree("VP")]], dtype=object)).shape
    (2,)
    """
    if type(table) in (list, tuple):
        return table
    if isinstance(table, np.ndarray):
        return _column(table)
    if is_frame(table):
        return rows_of_frame(table)
    return table


def rows_of_frame(frame: Any) -> Any:
    """Return the rows of a DataFrame.

    Returns
    -------
    list or ndarray
        The structures of the only column; or examples with a view for each column, whose ids are
        the labels of the index, or numbers if these are not unique; or, if all columns are
        numbers, the matrix of these.

    Raises
    ------
    StructureError
        If a column has something else, such as missing values.

    Examples
    --------
    >>> import pandas as pd
    >>> trees = [Tree("NP"), Tree("VP")]
    >>> rows_of_frame(pd.DataFrame({"tree": trees}))
    [Tree('(NP)'), Tree('(VP)')]
    >>> rows_of_frame(pd.DataFrame({"tree": trees, "text": ["we", "go"]}, index=["a", "b"]))
    [Example('a', None, views: tree, text), Example('b', None, views: tree, text)]
    """
    names = [str(name) for name in frame.columns]
    if not names:
        raise StructureError("the DataFrame has no columns")
    pandas = hasattr(frame, "iloc")
    columns = [
        frame.iloc[:, place].tolist() if pandas else frame.to_series(place).to_list()
        for place in range(len(names))
    ]
    if len(frame) and all(isinstance(column[0], (int, float)) for column in columns):
        return frame.to_numpy()
    for name, column in zip(names, columns, strict=True):
        for row, value in enumerate(column):
            if not isinstance(value, _VIEWS) and not adaptable(type(value)):
                raise _not_a_structure(name, row, value)
    if len(columns) == 1:
        return columns[0]
    if len(set(names)) < len(names):
        raise StructureError("the columns of the DataFrame need different names")
    ids = [str(label) for label in (frame.index if pandas else range(len(frame)))]
    if len(set(ids)) < len(ids):
        ids = [str(row) for row in range(len(frame))]
    return [
        Example(name, views=dict(zip(names, map(adapt, row), strict=True)))
        for name, row in zip(ids, zip(*columns, strict=True), strict=True)
    ]


def _column(array: Any) -> Any:
    """Return an array of objects with one column as one-dimensional; others as they are."""
    if array.dtype != object or array.ndim < 2:
        return array
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    raise StructureError(
        f"expected structures, got an array of objects of shape {array.shape}",
        hint="give one column, array[:, 0], or several with names as a DataFrame",
    )


def _not_a_structure(name: str, row: int, value: object) -> StructureError:
    return StructureError(
        f"row {row} of the column {show(name)} is {show(value)} of type {type(value).__name__}, "
        "not a structure, sentence or text",
        hint=f"leave out rows without a value: frame.dropna(subset=[{name!r}])"
        if is_missing(value)
        else 'select the columns of structures, such as frame[["tree"]]',
    )
