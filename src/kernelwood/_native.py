"""Interface to the compiled core.

All native calls go through this module: the rest of the package sees NumPy arrays and errors of
kernelwood, and no C++.
"""

from __future__ import annotations

from typing import Any

from kernelwood import _core
from kernelwood._core import (
    add_word_blocks,
    buffer_bytes,
    build_info,
    compare_feature_pairs,
    compare_features,
    decode_chains,
    english_stem,
    explain_codes,
    fill_linear_bits,
    fill_nearest_bits,
    fill_similarities,
    grow_bit_tree,
    instruction_set,
    keep_best,
    largest_trees,
    longest_subsequences,
    margin_boundaries,
    mirror,
    nearest_codes,
    nearest_vectors,
    ordered_product,
    parse_vector_lines,
    parse_vector_records,
    scale_block,
    scale_to_unit_length,
    segment_probabilities,
    solve_svm,
    sum_features,
    turn_codes,
)
from kernelwood.arrays import Batch, ForestBatch, SequenceBatch, TreeBatch

__all__ = [
    "BitForest",
    "BudgetExceeded",
    "CharacterTable",
    "ChartGrammar",
    "CodeSwaps",
    "ColorFeatures",
    "ColorParameters",
    "ForestParameters",
    "Graphs",
    "InternedTrees",
    "PairSide",
    "PairTables",
    "PathFeatures",
    "PathParameters",
    "PathProblem",
    "SequenceParameters",
    "TermAutomaton",
    "TermPieces",
    "TransitionParser",
    "TransitionTreebank",
    "TreeKernel",
    "TreeParameters",
    "VectorChunk",
    "VectorLayout",
    "VectorProblem",
    "WordFeatures",
    "add_word_blocks",
    "buffer_bytes",
    "build_info",
    "compare_feature_pairs",
    "compare_features",
    "decode_chains",
    "engine_class",
    "english_stem",
    "explain_codes",
    "fill_linear_bits",
    "fill_nearest_bits",
    "fill_similarities",
    "grow_bit_tree",
    "instruction_set",
    "keep_best",
    "largest_trees",
    "longest_subsequences",
    "margin_boundaries",
    "matching",
    "mirror",
    "nearest_codes",
    "nearest_vectors",
    "ordered_product",
    "parse_vector_lines",
    "parse_vector_records",
    "scale_block",
    "scale_to_unit_length",
    "segment_probabilities",
    "side",
    "similarity_parameters",
    "solve_svm",
    "sum_features",
    "turn_codes",
]

BitForest = _core.BitForest
BudgetExceeded = _core.BudgetExceeded
CharacterTable = _core.CharacterTable
ChartGrammar = _core.ChartGrammar
CodeSwaps = _core.CodeSwaps
ColorFeatures = _core.ColorFeatures
ColorParameters = _core.ColorParameters
ForestParameters = _core.ForestParameters
Graphs = _core.Graphs
InternedTrees = _core.InternedTrees
PairSide = _core.PairSide
PairTables = _core.PairTables
PathFeatures = _core.PathFeatures
PathParameters = _core.PathParameters
PathProblem = _core.PathProblem
SequenceParameters = _core.SequenceParameters
TransitionParser = _core.TransitionParser
TransitionTreebank = _core.TransitionTreebank
TermAutomaton = _core.TermAutomaton
TermPieces = _core.TermPieces
TreeKernel = _core.TreeKernel
TreeParameters = _core.TreeParameters
VectorChunk = _core.VectorChunk
VectorLayout = _core.VectorLayout
VectorProblem = _core.VectorProblem
WordFeatures = _core.WordFeatures

# Batch kind and number type -> engine, for exact and for soft matching. "log2" engines never
# overflow and report log2 of values.
_ENGINES: dict[tuple[type[Batch], str], tuple[Any, ...]] = {
    (SequenceBatch, "float32"): (_core.SequenceEngineFloat32, _core.SoftSequenceEngineFloat32),
    (SequenceBatch, "float64"): (_core.SequenceEngineFloat64, _core.SoftSequenceEngineFloat64),
    (SequenceBatch, "log2"): (_core.SequenceEngineLog2, _core.SoftSequenceEngineLog2),
    (TreeBatch, "float32"): (_core.TreeEngineFloat32, _core.SoftTreeEngineFloat32),
    (TreeBatch, "float64"): (_core.TreeEngineFloat64, _core.SoftTreeEngineFloat64),
    (TreeBatch, "log2"): (_core.TreeEngineLog2, _core.SoftTreeEngineLog2),
    (ForestBatch, "float32"): (_core.ForestEngineFloat32,),
    (ForestBatch, "float64"): (_core.ForestEngineFloat64,),
    (ForestBatch, "log2"): (_core.ForestEngineLog2,),
}


def engine_class(kind: type[Batch], number: str, soft: bool) -> Any:
    """Return the engine that compares batches of a kind in a number type."""
    return _ENGINES[kind, number][soft]


def matching(number: str, **arrays: Any) -> Any:
    """Return gates and groups of labels (see label_matching.hpp) for engines of a number type."""
    native = _core.MatchingFloat32 if number == "float32" else _core.MatchingFloat64
    return native(**arrays)


def similarity_parameters(function: str, weight: float, floor: float | None) -> Any:
    """Return the function applied to the cosine of two vectors, as an object of the native core."""
    parameters = _core.SimilarityParameters()
    parameters.function = getattr(_core.SimilarityFunction, function)
    parameters.weight = float(weight)
    parameters.has_floor = floor is not None
    parameters.floor = float(floor or 0.0)
    return parameters


def side(batch: Batch) -> Any:
    """Return a batch's arrays as the native core takes them."""
    if isinstance(batch, ForestBatch):
        (nodes, (labels, *_)), edges, children, (each, (roots, *_)) = (
            (part.offsets, part.arrays) for part in batch.parts
        )
        flat = (nodes, labels, edges[0], *edges[1], children[0], *children[1], each, roots)
        return _core.Forests(*flat)
    native = _core.Trees if isinstance(batch, TreeBatch) else _core.Sequences
    return native(batch.offsets, *batch.arrays)
