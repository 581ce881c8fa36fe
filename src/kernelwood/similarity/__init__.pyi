from .label_notation import Label as Label, Word as Word, parse_label as parse_label
from .lookup_table import Table as Table
from .registry import SIMILARITIES as SIMILARITIES
from .similarity import (
    SMALLEST as SMALLEST,
    Exact as Exact,
    Resolution as Resolution,
    Similarity as Similarity,
)
from .vector_similarities import (
    Compositional as Compositional,
    Exponential as Exponential,
    Gaussian as Gaussian,
    Lexical as Lexical,
    Sigmoid as Sigmoid,
    Threshold as Threshold,
)
