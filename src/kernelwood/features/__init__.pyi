from .bit_blocks import (
    METHODS as METHODS,
    BitBlock as BitBlock,
    draw_bits as draw_bits,
    make_bits as make_bits,
)
from .codes import (
    WORD as WORD,
    Codes as Codes,
    check_codes as check_codes,
    n_words as n_words,
    nearest_codes as nearest_codes,
    pack as pack,
    unpack as unpack,
)
from .collection import (
    GrowingArray as GrowingArray,
    Ids as Ids,
    IdTable as IdTable,
    Rows as Rows,
    check_next_id as check_next_id,
    collected as collected,
    ids_of as ids_of,
    stored as stored,
)
from .embedding_index import EmbeddingIndex as EmbeddingIndex, index_vectors as index_vectors
from .estimator import (
    KERNEL as KERNEL,
    SEED as SEED,
    Fitted as Fitted,
    StructureEstimator as StructureEstimator,
    Structures as Structures,
    StructureTransformer as StructureTransformer,
    check_array as check_array,
    encode_groups as encode_groups,
    encode_labels as encode_labels,
)
from .hash_index import HashIndex as HashIndex
from .hashing import (
    HASHER as HASHER,
    HashCollection as HashCollection,
    HashingEstimator as HashingEstimator,
    KernelHasher as KernelHasher,
)
from .maps import map_2d as map_2d
from .nystrom import (
    BY_CLASS as BY_CLASS,
    SELECTIONS as SELECTIONS,
    NystromEmbedder as NystromEmbedder,
    decompose as decompose,
)
from .reference_selection import ReferenceSelector as ReferenceSelector, draw_sample as draw_sample
from .rowwise import compare_rows as compare_rows, product as product
from .scikit_learn import (
    Classifier as Classifier,
    Clusterer as Clusterer,
    Estimator as Estimator,
    available_if as available_if,
    not_fitted as not_fitted,
)
from .vector_search import (
    check_quantized as check_quantized,
    nearest_vectors as nearest_vectors,
    padded as padded,
)
