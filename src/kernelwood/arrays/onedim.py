from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


class OneDimensional:
    """Mixin: a collection that looks like a one-dimensional array of objects to scikit-learn."""

    def __len__(self) -> int:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int]:
        """``(n,)``, as of a one-dimensional array."""
        return (len(self),)

    @property
    def ndim(self) -> int:
        """Always 1."""
        return 1

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.object_]:
        objects = np.empty(len(self), dtype=object)
        objects[:] = list(self)
        return objects


def row_key(key: Any) -> Any:
    """Return the index of rows: scikit-learn writes ``X[key, ...]``."""
    return key[0] if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis else key
