from .bit_blocks import (
    METHODS as METHODS,
    BitBlock as BitBlock,
    draw_bits as draw_bits,
    make_bits as make_bits,
)
from .checks import check_array as check_array, check_positive as check_positive
from .codes import (
    WORD as WORD,
    Codes as Codes,
    check_codes as check_codes,
    n_words as n_words,
    nearest_codes as nearest_codes,
    pack as pack,
    unpack as unpack,
)
from .collection import collected as collected
from .comparing import compare_rows as compare_rows
from .embedding_index import EmbeddingIndex as EmbeddingIndex
from .estimator import (
    StructureEstimator as StructureEstimator,
    StructureTransformer as StructureTransformer,
)
from .growing import GrowingArray as GrowingArray
from .hash_collection import HashCollection as HashCollection
from .hash_index import HashIndex as HashIndex
from .hashing import HashingEstimator as HashingEstimator, KernelHasher as KernelHasher
from .id_table import Ids as Ids, IdTable as IdTable, check_ids as check_ids, stored as stored
from .landmarks import SELECTIONS as SELECTIONS
from .maps import map_2d as map_2d
from .nystrom import NystromEmbedder as NystromEmbedder
from .products import product as product
from .reference_selection import ReferenceSelector as ReferenceSelector
from .slot_search import draw_sample as draw_sample
from .targets import encode_groups as encode_groups, encode_labels as encode_labels
