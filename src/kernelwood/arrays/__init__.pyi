from .batches import (
    Batch as Batch,
    FlatBatch as FlatBatch,
    SequenceBatch as SequenceBatch,
    TreeBatch as TreeBatch,
)
from .build import as_batch as as_batch, batch as batch
from .example_batch import ExampleBatch as ExampleBatch, ViewColumn as ViewColumn
from .forests import ForestBatch as ForestBatch
from .frames import as_rows as as_rows
from .onedim import OneDimensional as OneDimensional
from .ragged import Ragged as Ragged, rises as rises
from .vector_rows import VectorBatch as VectorBatch, is_sparse as is_sparse
from .vocabulary import Vocabulary as Vocabulary
