"""Every kernel in every variant, and structures that fit it."""

from itertools import cycle

import numpy as np
import pytest
import strategies

from kernelwood import kernels
from kernelwood.arrays import ForestBatch, GraphBatch, SequenceBatch, TreeBatch, VectorBatch
from kernelwood.similarity import Exponential, Gaussian, Lexical, Similarity
from kernelwood.structures import Forest, Graph, Sequence, Tree
from kernelwood.vectors import Vectors

# Kernels of structures; that of vectors has tests of its own.
KERNELS = {
    name: kernel for name, kernel in kernels.KERNELS.items() if kernel.accepts is not VectorBatch
}

# Parameters worth testing beside the defaults; a new kernel may add a row.
VARIANTS = {
    "subsequence": [
        {"decay": 1.0},
        {"decay": 1e-3},
        {"max_length": 1},
        {"max_length": 3},
        {"max_length": 5},
        {"decay": 1.0, "max_length": 2},
    ],
    "rooted-tree": [
        {"decay": 1.0},
        {"decay": 1e-3},
        {"contiguous": True},
        {"contiguous": True, "decay": 1.0},
    ],
    "subtree": [{"decay": 1.0}, {"decay": 1e-3}],
    "subset-tree": [{"decay": 1.0}, {"decay": 1e-3}, {"count_leaves": True}],
    "partial-tree": [
        {"decay": 1.0, "depth_decay": 1.0},
        {"decay": 1e-3, "depth_decay": 1e-3},
        {"leaf_power": 1},
        {"leaf_power": 0, "decay": 0.1},
        {"terminal_factor": 5.0},
        {"terminal_factor": 0.2, "leaf_power": 3.5},
        {"decay_over": "span"},
        {"decay_over": "span", "decay": 1.0, "terminal_factor": 2},
    ],
    "forest": [
        {"decay": 1.0},
        {"decay": 1e-3},
        {"sharpness": 0},
        {"sharpness": 0.5, "decay": 1.0},
        {"sharpness": 3.5},
    ],
    "all-paths-graph": [
        {"variant": "max", "edge_weight": 0.75},
        {"edge_weight": 1e-3, "edge_weights": {"e": 0.3}},
        {"gates": {"a": 0.5, "b": 0.25, "": 1.5}, "edge_weight": 0.1},
        {"variant": "max", "edge_weights": {"e": 0.5}, "gates": {"b": 0.5}},
    ],
    "weisfeiler-lehman": [
        {"base": "assignment"},
        {"n_iterations": 0},
        {"n_iterations": 1, "gates": {"a": 0.5, "b": 0.25, "": 1.5}},
        {"n_iterations": 2, "base": "assignment", "gates": {"a": 0.5, "b": 0.25}},
    ],
}


class NearLetters(Similarity):
    """How near two labels begin to each other in the alphabet, as a user may write it."""

    def table(self, left, right):
        a, b = (np.array([ord(label[:1] or "\0") for label in side]) for side in (left, right))
        return 1 / (1 + np.abs(a[:, None] - b))


# Some labels have a vector, others have none; similarities with "a" are high, low and negative.
_WITH_VECTOR = [*"abcdefghijkl", "né"]
VECTORS = Vectors(_WITH_VECTOR, np.random.default_rng(3).normal(size=(len(_WITH_VECTOR), 3)))

# Kernels that can match labels in other ways than exactly.
MATCHABLE = [name for name in KERNELS if "similarity" in KERNELS[name]().get_params()]
# These ways, each of them tested with every such kernel.
MATCHINGS = {
    "gaussian": {"similarity": Gaussian(VECTORS)},
    "few": {"similarity": Exponential(VECTORS, floor=0.3), "gates": {"e": 0.25, "": 1.5}},
    "words": {
        "similarity": Lexical(VECTORS, weight=0.9),
        "gates": {"a": 0.3, "b": 2.0},
        "gate_on": "node",
    },
    "own": {"similarity": NearLetters()},
    "gates": {"gates": {"e": 0.3, "": 1.25}},
    "node-gates": {"gates": {"a": 0.3, "b": 1.25, "": 0.7}, "gate_on": "node"},
}
# The parameters they are tested with, in turn.
MATCHED = {
    "subsequence": [{}, {"max_length": 3}],
    "rooted-tree": [{}, {"contiguous": True}],
    "subset-tree": [{"count_leaves": True}, {}],
    "partial-tree": [{}, {"decay_over": "span", "leaf_power": 1}, {"terminal_factor": 0.5}],
}


def _variants():
    """Yield a name, the row of ``KERNELS`` and parameters of every kernel in every variant."""
    for name in KERNELS:
        for parameters in ({}, *VARIANTS.get(name, [])):
            yield "-".join([name, *(f"{k}={v}" for k, v in parameters.items())]), name, parameters
        for (how, matching), parameters in zip(
            MATCHINGS.items() if name in MATCHABLE else (),
            cycle(MATCHED.get(name, [{}])),
            strict=False,
        ):
            parts = [name, how, *(f"{k}={v}" for k, v in parameters.items())]
            yield "-".join(parts), name, {**parameters, **matching}


# All kernels with all variants, (row of KERNELS, parameters).
CASES = [(name, parameters) for _, name, parameters in _variants()]
IDS = [identifier for identifier, _, _ in _variants()]

_STRATEGIES = {
    SequenceBatch: strategies.sequences,
    TreeBatch: strategies.trees,
    ForestBatch: strategies.small_forests,
    GraphBatch: strategies.small_graphs,
}
_SAMPLES = {
    SequenceBatch: strategies.sample_sequences,
    TreeBatch: strategies.sample_trees,
    ForestBatch: strategies.sample_forests,
    GraphBatch: strategies.sample_graphs,
}


def strategy(kernel, **options):
    """Return a strategy for structures the kernel reads."""
    return _STRATEGIES[kernel.accepts](**options)


def sample(kernel, n, **options):
    """Return ``n`` structures the kernel reads, always the same ones."""
    return _SAMPLES[kernel.accepts](n, **options)


def is_definite(kernel):
    """Whether every Gram matrix is positive semidefinite."""
    if getattr(kernel, "terminal_factor", 1) > 1 or getattr(kernel, "leaf_power", 2) > 2:
        return False  # a leaf resembles an inner node more than itself; KeLP's values need it
    if isinstance(kernel.similarity, NearLetters):
        return True
    return kernel.similarity is None or kernel.similarity.positive_semidefinite


_NUMBERS = {"AllPathsGraphKernel": "edge_weight", "WeisfeilerLehmanKernel": "n_iterations"}


def number_of(kernel):
    """Return the name of a parameter that is a number."""
    return _NUMBERS.get(type(kernel).__name__, "decay")


def matches_exactly(kernel):
    """Whether labels match if they are equal, and all count alike."""
    return kernel.similarity is None and kernel.gates is None


def _each(condition):
    """Return a mark that runs a test on every variant that fulfills a condition."""
    kernels = [KERNELS[name](**parameters) for name, parameters in CASES]
    chosen = [(kernel, i) for kernel, i in zip(kernels, IDS, strict=True) if condition(kernel)]
    return pytest.mark.parametrize("kernel", [k for k, _ in chosen], ids=[i for _, i in chosen])


every_kernel = pytest.mark.parametrize("kernel", [KERNELS[name]() for name in KERNELS], ids=KERNELS)
every_variant = _each(lambda kernel: True)
# What blocks and threads could disturb: all engines, types of numbers, dense and sparse tables.
every_engine = pytest.mark.parametrize(
    "kernel",
    [
        KERNELS[name](**parameters)
        for name in KERNELS
        for parameters in (
            *({}, *([{"decay": 1e-3}] if "decay" in KERNELS[name]().get_params() else [])),
            *((MATCHINGS["gaussian"], MATCHINGS["few"]) if name in MATCHABLE else ()),
        )
    ],
    ids=[
        f"{name}-{how}"
        for name in KERNELS
        for how in (
            "default",
            *(("tiny",) if "decay" in KERNELS[name]().get_params() else ()),
            *(("gaussian", "few") if name in MATCHABLE else ()),
        )
    ],
)
every_definite_variant = _each(is_definite)
# The same, and known to be so: a similarity of a user's own need not say it.
every_bounded_variant = _each(lambda kernel: kernel._is_definite())
every_exact_variant = _each(matches_exactly)
every_variant_without_vectors = _each(lambda kernel: not hasattr(kernel.similarity, "vectors"))
every_dtype = pytest.mark.parametrize("dtype", ["float64", "float32"])


def with_labels(structure, rename):
    """Return the structure with every node label replaced by ``rename(label)``."""
    if isinstance(structure, Sequence):
        return Sequence([(edge, rename(node)) for edge, node in structure])
    if isinstance(structure, Forest):
        labels = [rename(label) for label in structure.labels]
        return Forest(labels, structure.edges, structure.root, structure.spans)
    if isinstance(structure, Graph):
        nodes = {node: rename(label) for node, label in structure.nodes.items()}
        return Graph(nodes, structure.edges, structure.root)
    labels, edges, n_children = structure.flatten()
    return Tree.from_postorder([rename(label) for label in labels], edges, n_children)
