"""The compiled core, and how batches reach it.

Everything native goes through here, so that the rest of the package sees numpy arrays, our own
errors, and no C++.
"""

from __future__ import annotations

from typing import Any

from kernelwood import _core
from kernelwood._core import build_info, instruction_set, keep_best, mirror, scale_block
from kernelwood.arrays import Batch, SequenceBatch, TreeBatch

__all__ = [
    "BudgetExceeded",
    "SequenceParameters",
    "TreeKernel",
    "TreeParameters",
    "build_info",
    "engine_class",
    "instruction_set",
    "keep_best",
    "mirror",
    "scale_block",
    "side",
]

BudgetExceeded = _core.BudgetExceeded
SequenceParameters = _core.SequenceParameters
TreeKernel = _core.TreeKernel
TreeParameters = _core.TreeParameters

# (batch kind, number type) -> engine. "log2" engines never overflow and report log2 of values.
_ENGINES = {
    (SequenceBatch, "float32"): _core.SequenceEngineFloat32,
    (SequenceBatch, "float64"): _core.SequenceEngineFloat64,
    (SequenceBatch, "log2"): _core.SequenceEngineLog2,
    (TreeBatch, "float32"): _core.TreeEngineFloat32,
    (TreeBatch, "float64"): _core.TreeEngineFloat64,
    (TreeBatch, "log2"): _core.TreeEngineLog2,
}


def engine_class(kind: type[Batch], number: str) -> Any:
    """Return the engine that compares batches of a kind in a number type."""
    return _ENGINES[kind, number]


def side(batch: Batch) -> Any:
    """Return a batch's arrays as the native core takes them."""
    native = _core.Trees if isinstance(batch, TreeBatch) else _core.Sequences
    return native(batch.offsets, *batch.arrays)
