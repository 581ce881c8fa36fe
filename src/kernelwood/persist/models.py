"""The table of classes that can be saved, and their conversion to and from states.

A :class:`State` has parameters, lists of strings and arrays. Parameters may contain other models,
such as the kernel of a classifier or the vectors of a similarity. To make a class saveable, add a
row to ``MODELS``. A class with state beyond the arguments of its constructor has

* ``_to_saved()``, which returns ``(parameters, texts, arrays)``, and
* ``_saved``, which declares a check for each of these (:mod:`kernelwood.arrays.schema`), and
* if later versions save more, a class method ``_added()``, which returns the values for files
  without them, in the form of ``_to_saved``, and
* a class method ``_from_saved(parameters, texts, arrays)``, which gets values that are as declared
  and raises ValueError unless they are consistent.

Estimators have common functions; see :mod:`kernelwood.persist.estimators`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelwood.arrays import (
    ExampleBatch,
    ForestBatch,
    GraphBatch,
    SequenceBatch,
    TreeBatch,
    VectorBatch,
)
from kernelwood.errors import ModelFormatError
from kernelwood.kernels import (
    KERNELS,
    CombinedKernel,
    Kernel,
    Normalized,
    OnView,
    PairKernel,
    Power,
    Product,
    Scaled,
    Sum,
)
from kernelwood.persist.checks import check_state
from kernelwood.persist.estimators import estimator_state, restore_estimator
from kernelwood.persist.state import RUN_TIME, State
from kernelwood.persist.structures import (
    example_state,
    flat_state,
    forest_state,
    restore_examples,
    restore_flat,
    restore_forests,
    restore_rows,
    restore_vector_rows,
    rows_of_source,
    vector_state,
)
from kernelwood.similarity import SIMILARITIES, Similarity
from kernelwood.structures import shorten
from kernelwood.vectors import Vectors, assemble, check_finite

MANIFEST = "manifest.json"


def parameters_of(model: Any) -> State:
    """Return the state of an object that is defined by the arguments of its constructor."""
    _check(model)
    parameters = model.get_params(deep=False)
    return State({k: v for k, v in parameters.items() if k not in RUN_TIME}, {}, {})


def from_parameters(cls: Any, state: State) -> Any:
    """Return an object from the arguments of its constructor, all of which must be given."""
    state.check(set(cls._parameter_names()) - RUN_TIME)
    model = cls(**state.parameters)
    _check(model)
    return model


def own_state(model: Any) -> State:
    """Return the state from the ``_to_saved`` of an object."""
    return State(*model._to_saved())


def from_own_state(cls: Any, state: State) -> Any:
    """Return an object from the ``_from_saved`` of its class, once its state is as declared."""
    if hasattr(cls, "_added"):
        parts: tuple[Mapping[str, Any], ...] = state
        pairs = [(dict(a), dict(b)) for a, b in zip(cls._added(), parts, strict=True)]
        if all(added.keys().isdisjoint(own) for added, own in pairs):  # all of it, or nothing
            state = State(*(added | own for added, own in pairs))
    check_state(cls, state)
    return cls._from_saved(*state)


def vectors_state(vectors: Vectors) -> State:
    """Return words and rows, unchanged."""
    options = {"normalize": vectors.normalize, "lowercase": vectors.lowercase}
    return State(options, {"words": list(vectors.words)}, {"matrix": vectors.matrix})


def restore_vectors(cls: type[Vectors], state: State) -> Vectors:
    """Return vectors; rows are not normalized again, which could change their last bits."""
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
        model._check_own()  # inner kernels are parts of their own
    elif isinstance(model, Kernel):
        model._check_params()
        model._dtype(None)  # otherwise checked at first use


@dataclass(frozen=True)
class Row:
    """A class that can be saved.

    Parameters
    ----------
    kind, name : str
        Its name in files.
    cls : type or str
        The class, or ``"module:Class"``, which is imported when needed.
    to_state : callable
        Returns the :class:`State` of a model. The default serves classes that are defined by the
        arguments of their constructor.
    from_state : callable
        Returns a model from the class and a state, or raises an exception.

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
        """Return the class; import its module if necessary."""
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
    Row("kernel", "pair", PairKernel),
    *(Row("similarity", name, similarity) for name, similarity in SIMILARITIES.items()),
    Row("vectors", "vectors", Vectors, vectors_state, restore_vectors),
    Row("structures", "sequences", SequenceBatch, flat_state, restore_flat),
    Row("structures", "trees", TreeBatch, flat_state, restore_flat),
    Row("structures", "graphs", GraphBatch, flat_state, restore_flat),
    Row("structures", "forests", ForestBatch, forest_state, restore_forests),
    Row("structures", "vector-rows", VectorBatch, vector_state, restore_vector_rows),
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
            ("entities", "entity-tagger", "entities:EntityTagger"),
            ("features", "kernel-hasher", "features:KernelHasher"),
            ("features", "reference-selector", "features:ReferenceSelector"),
            ("features", "nystrom-embedder", "features:NystromEmbedder"),
            ("features", "hash-index", "features:HashIndex"),
            ("features", "embedding-index", "features:EmbeddingIndex"),
            ("tuning", "gate-learner", "tuning:GateLearner"),
            ("learner", "hash-forest", "learners:HashForestClassifier"),
            ("learner", "hash-neighbors", "learners:HashNeighborsClassifier"),
            ("learner", "kernel-neighbors", "learners:KernelNeighborsClassifier"),
            ("learner", "kernel-ranker", "learners:KernelRanker"),
            ("learner", "kernel-ridge", "learners:KernelRidgeClassifier"),
            ("learner", "kernel-svc", "learners:KernelSVC"),
            ("learner", "landmark-ridge", "learners:LandmarkRidgeClassifier"),
            ("learner", "kernel-network", "learners:KernelNetworkClassifier"),
            ("clustering", "kernel-kmeans", "clustering:KernelKMeans"),
            ("search", "sentence-index", "search:SentenceIndex"),
            ("relations", "relation-extractor", "relations:RelationExtractor"),
        )
    ),
)

# (kind, name) -> row.
MODELS: dict[tuple[str, str], Row] = {(row.kind, row.name): row for row in _ROWS}

# Rows of a table that is an earlier part, such as the cases of an extractor.
ROWS_OF_EXAMPLES = MODELS["structures", "example-rows"]


def row_of(model: Any) -> Row | None:
    """Return the row of the class of an object; None if it cannot be saved."""
    cls = type(model)
    # Classes of kernelwood are listed by package, not by module.
    names = {f"{cls.__module__}:{cls.__name__}"}
    if cls.__module__.startswith("kernelwood."):
        names.add(f"{'.'.join(cls.__module__.split('.')[:2])}:{cls.__name__}")
    return next((row for row in MODELS.values() if row.cls is cls or row.cls in names), None)


def find_row(kind: str, name: str) -> tuple[Row, Any]:
    """Return the row and the class for a kind and name from a file."""
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
        f"unknown model of kind {shorten(repr(kind))}: {shorten(repr(name))}",
        member=MANIFEST,
        hint="upgrade kernelwood; add your own class to kernelwood.persist.MODELS before loading",
    )
