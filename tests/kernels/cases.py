"""Every kernel in every variant, and structures that fit it."""

import pytest
import strategies

from kernelwood.arrays import SequenceBatch, TreeBatch
from kernelwood.kernels import KERNELS

# Parameters worth testing beside the defaults; a new kernel may add a row.
VARIANTS = {
    "subsequence": [
        {"decay": 1.0},
        {"decay": 1e-3},
        {"max_length": 1},
        {"max_length": 3},
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
}

# All kernels with all variants, (row of KERNELS, parameters).
CASES = [(name, parameters) for name in KERNELS for parameters in ({}, *VARIANTS.get(name, []))]
IDS = [
    "-".join([name, *(f"{key}={value}" for key, value in parameters.items())])
    for name, parameters in CASES
]

_STRATEGIES = {SequenceBatch: strategies.sequences, TreeBatch: strategies.trees}
_SAMPLES = {SequenceBatch: strategies.sample_sequences, TreeBatch: strategies.sample_trees}


def strategy(kernel, **options):
    """Return a strategy for structures the kernel reads."""
    return _STRATEGIES[kernel.accepts](**options)


def sample(kernel, n, **options):
    """Return ``n`` structures the kernel reads, always the same ones."""
    return _SAMPLES[kernel.accepts](n, **options)


every_kernel = pytest.mark.parametrize("kernel", [KERNELS[name]() for name in KERNELS], ids=KERNELS)
every_variant = pytest.mark.parametrize(
    "kernel", [KERNELS[name](**parameters) for name, parameters in CASES], ids=IDS
)
# With these a leaf resembles an inner node more than itself; KeLP's values need them all the same.
NOT_DEFINITE = [
    kernel
    for kernel in (KERNELS[name](**parameters) for name, parameters in CASES)
    if getattr(kernel, "terminal_factor", 1) > 1 or getattr(kernel, "leaf_power", 2) > 2
]
every_definite_variant = pytest.mark.parametrize(
    "kernel",
    [k for k in (KERNELS[n](**p) for n, p in CASES) if k not in NOT_DEFINITE],
    ids=repr,
)
every_dtype = pytest.mark.parametrize("dtype", ["float64", "float32"])
