"""Which integer stands at which offset: vocabularies and batches of structures."""

from kernelwood.arrays.batch import Batch, SequenceBatch, TreeBatch
from kernelwood.arrays.build import as_batch, batch
from kernelwood.arrays.examples import ExampleBatch
from kernelwood.arrays.forests import ForestBatch
from kernelwood.arrays.vocabulary import Vocabulary

__all__ = [
    "Batch",
    "ExampleBatch",
    "ForestBatch",
    "SequenceBatch",
    "TreeBatch",
    "Vocabulary",
    "as_batch",
    "batch",
]
