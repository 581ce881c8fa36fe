"""What can be saved, under which name, and how it becomes plain values and is made of them again.

A model becomes a :class:`State`: parameters, lists of strings and arrays. Parameters may hold other
models, such as the kernel of a classifier or the vectors of a similarity. To make a class
saveable, add a row to ``MODELS``. A class with state beyond its constructor's arguments has

* ``_to_saved()``, which returns ``(parameters, texts, arrays)``, and
* a class method ``_from_saved(parameters, texts, arrays)``, which checks what it gets: files can
  come from anybody.

Estimators are saved by what they have in common; see :mod:`kernelwood.persist.estimators`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelwood.arrays import ExampleBatch, ForestBatch, SequenceBatch, TreeBatch
from kernelwood.errors import ModelFormatError
from kernelwood.kernels import (
    KERNELS,
    CombinedKernel,
    Kernel,
    Normalized,
    OnView,
    Power,
    Product,
    Scaled,
    SubtreeKernel,
    Sum,
)
from kernelwood.persist.estimators import estimator_state, restore_estimator
from kernelwood.persist.examples import (
    example_state,
    restore_examples,
    restore_rows,
    rows_of_source,
)
from kernelwood.persist.state import RUN_TIME, State
from kernelwood.persist.structures import flat_state, forest_state, restore_flat, restore_forests
from kernelwood.similarity import SIMILARITIES, Similarity
from kernelwood.structures import shorten
from kernelwood.vectors import Vectors, assemble, check_finite

MANIFEST = "manifest.json"

_STAND_IN = SubtreeKernel()


def parameters_of(model: Any) -> State:
    """Return the state of an object that is made of its constructor's arguments."""
    _check(model)
    parameters = model.get_params(deep=False)
    return State({k: v for k, v in parameters.items() if k not in RUN_TIME}, {}, {})


def from_parameters(cls: Any, state: State) -> Any:
    """Make an object of its constructor's arguments, all of which must be there."""
    state.check(set(cls._parameter_names()) - RUN_TIME)
    model = cls(**state.parameters)
    _check(model)
    return model


def own_state(model: Any) -> State:
    """Return the state that an object tells by itself."""
    return State(*model._to_saved())


def from_own_state(cls: Any, state: State) -> Any:
    """Let a class make an object of a state."""
    return cls._from_saved(*state)


def vectors_state(vectors: Vectors) -> State:
    """Return the words and the rows as they are, scaled or not."""
    options = {"normalize": vectors.normalize, "lowercase": vectors.lowercase}
    return State(options, {"words": list(vectors.words)}, {"matrix": vectors.matrix})


def restore_vectors(cls: type[Vectors], state: State) -> Vectors:
    """Make vectors of rows that are not scaled again, which could change their last bits."""
    state.check(["normalize", "lowercase"], ["words"], ["matrix"])
    words, matrix = state.texts["words"], state.arrays["matrix"]
    if matrix.dtype != np.float32 or matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(
            f"the matrix is {matrix.dtype} of shape {matrix.shape}, not rows of float32"
        )
    if len(words) != len(matrix) or len(set(words)) < len(words):
        raise ValueError(f"{len(set(words)):,} distinct words for {len(matrix):,} rows")
    check_finite(matrix)
    return cls._of(assemble(words, matrix, normalize=False), **state.parameters)


def _check(model: Any) -> None:
    """Raise KernelInputError if a parameter is out of range."""
    if isinstance(model, Similarity):
        model.check()
    elif isinstance(model, CombinedKernel):
        # The kernels inside have rows of their own. Stand-ins keep the check from going down to
        # them: it would be done once per level, and never end well for a sum of thousands.
        parameters = model.get_params(deep=False)
        shallow = {k: _STAND_IN if isinstance(v, Kernel) else v for k, v in parameters.items()}
        type(model)(**shallow)._check_params()
    elif isinstance(model, Kernel):
        model._check_params()
        model._dtype(None)  # which is otherwise checked when it is needed


@dataclass(frozen=True)
class Row:
    """One class that can be saved.

    Parameters
    ----------
    kind, name : str
        What files call it.
    cls : type or str
        The class, or ``"module:Class"`` to import it only when a file asks for it.
    to_state : callable
        Turns a model into its :class:`State`. By default the one of a class whose objects are
        made of their constructor's arguments.
    from_state : callable
        Turns the class and a state into a model, or raises an exception that tells what is wrong.

    Examples
    --------
    >>> from kernelwood.persist import MODELS
    >>> row = MODELS["kernel", "subset-tree"]
    >>> row.load_class()(decay=0.5)
    SubsetTreeKernel(decay=0.5)
    """

    kind: str
    name: str
    cls: type[Any] | str
    to_state: Callable[[Any], State] = parameters_of
    from_state: Callable[[Any, State], Any] = from_parameters

    def load_class(self) -> Any:
        """Return the class, importing its module if need be."""
        if not isinstance(self.cls, str):
            return self.cls
        module, _, name = self.cls.partition(":")
        return getattr(importlib.import_module(module), name)


_ROWS = (
    *(Row("kernel", name, kernel) for name, kernel in KERNELS.items()),
    Row("kernel", "sum", Sum),
    Row("kernel", "product", Product),
    Row("kernel", "scaled", Scaled),
    Row("kernel", "power", Power),
    Row("kernel", "normalized", Normalized),
    Row("kernel", "on-view", OnView),
    *(Row("similarity", name, similarity) for name, similarity in SIMILARITIES.items()),
    Row("vectors", "vectors", Vectors, vectors_state, restore_vectors),
    Row("structures", "sequences", SequenceBatch, flat_state, restore_flat),
    Row("structures", "trees", TreeBatch, flat_state, restore_flat),
    Row("structures", "forests", ForestBatch, forest_state, restore_forests),
    Row("structures", "examples", ExampleBatch, example_state, restore_examples),
    Row("structures", "example-rows", ExampleBatch, rows_of_source, restore_rows),
    *(
        Row(kind, name, f"kernelwood.{place}", own_state, from_own_state)
        for kind, name, place in (
            ("parser", "forest-parser", "parsing:ForestParser"),
            ("entities", "dictionary", "entities:Dictionary"),
            ("features", "bits", "features:BitBlock"),
            ("learner", "bit-forest", "learners:BitForest"),
        )
    ),
    *(
        Row(kind, name, f"kernelwood.{place}", estimator_state, restore_estimator)
        for kind, name, place in (
            ("features", "kernel-hasher", "features:KernelHasher"),
            (
                "features",
                "reference-selector",
                "features:ReferenceSelector",
            ),
            ("features", "nystrom-embedder", "features:NystromEmbedder"),
            ("features", "hash-index", "features:HashIndex"),
            ("features", "embedding-index", "features:EmbeddingIndex"),
            ("tuning", "gate-learner", "tuning:GateLearner"),
            ("learner", "hash-forest", "learners:HashForestClassifier"),
            ("learner", "hash-neighbors", "learners:HashNeighborsClassifier"),
            ("learner", "kernel-neighbors", "learners:KernelNeighborsClassifier"),
            ("learner", "kernel-svc", "learners:KernelSVC"),
            ("learner", "kernel-network", "learners:KernelNetworkClassifier"),
            ("clustering", "kernel-kmeans", "clustering:KernelKMeans"),
            ("search", "sentence-index", "search:SentenceIndex"),
            ("relations", "relation-extractor", "relations:RelationExtractor"),
        )
    ),
)

# (kind, name) -> how it is saved; a class that is to be saveable adds a row above.
MODELS: dict[tuple[str, str], Row] = {(row.kind, row.name): row for row in _ROWS}


# Rows of a table that is stored before them, as an extractor's learner has of its cases.
ROWS_OF_EXAMPLES = MODELS["structures", "example-rows"]


def row_of(model: Any) -> Row | None:
    """Return the row of an object's class, None if it cannot be saved."""
    cls = type(model)
    # Classes of kernelwood are listed by their package, whichever of its modules they are in.
    names = {f"{cls.__module__}:{cls.__name__}"}
    if cls.__module__.startswith("kernelwood."):
        names.add(f"{'.'.join(cls.__module__.split('.')[:2])}:{cls.__name__}")
    return next((row for row in MODELS.values() if row.cls is cls or row.cls in names), None)


def find_row(kind: str, name: str) -> tuple[Row, Any]:
    """Return the row of a name in a file, and its class."""
    row = MODELS.get((kind, name))
    try:
        if row is not None:
            return row, row.load_class()
    except (ImportError, AttributeError) as failure:
        raise ModelFormatError(
            f"the {kind} {name!r} cannot be used here: {failure}",
            member=MANIFEST,
            hint="install kernelwood again, with the extras that this model needs",
        ) from failure
    raise ModelFormatError(
        f"there is no model of the kind {shorten(repr(kind))} called {shorten(repr(name))}",
        member=MANIFEST,
        hint="upgrade kernelwood; for a class of your own, put its row into "
        "kernelwood.persist.MODELS first",
    )
