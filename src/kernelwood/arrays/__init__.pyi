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
from .graphs import GraphBatch as GraphBatch
from .onedim import OneDimensional as OneDimensional
from .ragged import Ragged as Ragged, rises as rises
from .schema import (
    LARGE as LARGE,
    Anything as Anything,
    ArrayOf as ArrayOf,
    Check as Check,
    Fields as Fields,
    Figure as Figure,
    Flag as Flag,
    Instance as Instance,
    Items as Items,
    Labels as Labels,
    Maybe as Maybe,
    Named as Named,
    Offsets as Offsets,
    OneOf as OneOf,
    Plain as Plain,
    Real as Real,
    Schema as Schema,
    SchemaError as SchemaError,
    Strings as Strings,
    Text as Text,
    Whole as Whole,
    check_values as check_values,
)
from .vector_rows import VectorBatch as VectorBatch, is_sparse as is_sparse
from .vocabulary import Vocabulary as Vocabulary
