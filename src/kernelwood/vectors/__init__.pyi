from .cooccurrence import learn_vectors as learn_vectors
from .vector_files import assemble as assemble, check_finite as check_finite
from .vector_formats import (
    DAMAGED as DAMAGED,
    FORMATS as FORMATS,
    VectorFormat as VectorFormat,
)
from .word_vectors import Vectors as Vectors
