from __future__ import annotations

from collections.abc import Iterator, Sequence as SequenceABC
from typing import Any

import numpy as np

from kernelwood.arrays.batches import Batch
from kernelwood.arrays.onedim import OneDimensional, row_key
from kernelwood.errors import StructureError
from kernelwood.text import Example


class ExampleBatch(OneDimensional):
    """Examples whose views are batched when a kernel first asks for them.

    Slices like a one-dimensional array; a slice keeps the batched views it already has.

    Examples
    --------
    >>> import kernelwood as kw
    >>> tree = kw.Tree.from_brackets("(S (NP x))")
    >>> examples = kw.batch([kw.Example("1", label="yes", views={"tree": tree})])
    >>> examples.shape, examples.labels, examples.view("tree")
    ((1,), ['yes'], TreeBatch(1 trees, 3 nodes))
    """

    kind = "example"

    def __init__(
        self, examples: SequenceABC[Example], views: dict[str, Batch] | None = None
    ) -> None:
        self._examples = tuple(examples)
        self._views = dict(views or {})

    @property
    def labels(self) -> list[Any]:
        """The label of each example."""
        return [example.label for example in self._examples]

    def view(self, name: str) -> Batch:
        """Return one view of every example as a batch."""
        if name not in self._views:
            from kernelwood.arrays.build import batch

            structures = [example.view(name) for example in self._examples]
            try:
                made = batch(structures)
            except StructureError as error:
                raise StructureError(f"view {name!r}: {error.problem}", hint=error.hint) from None
            if not isinstance(made, Batch):
                raise StructureError(f"view {name!r} holds examples; kernels compare structures")
            self._views[name] = made
        return self._views[name]

    def __len__(self) -> int:
        return len(self._examples)

    def __iter__(self) -> Iterator[Example]:
        return iter(self._examples)

    def __repr__(self) -> str:
        names = sorted(self._examples[0].views) if self._examples else []
        return f"ExampleBatch({len(self):,} examples, views {', '.join(names) or 'none'})"

    def __getitem__(self, key: Any) -> Any:
        key = row_key(key)
        if isinstance(key, (int, np.integer)):
            return self._examples[key]
        picked = np.arange(len(self))[key]
        views = {name: batch[key] for name, batch in self._views.items()}
        return ExampleBatch([self._examples[i] for i in picked.tolist()], views)
