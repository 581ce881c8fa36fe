from .base import SMALLEST as SMALLEST, Similarity as Similarity
from .compositional import Compositional as Compositional
from .labels import Label as Label, Word as Word, parse_label as parse_label
from .lexical import Lexical as Lexical
from .pointwise import (
    Exact as Exact,
    Exponential as Exponential,
    Gaussian as Gaussian,
    Sigmoid as Sigmoid,
)
from .registry import SIMILARITIES as SIMILARITIES
from .resolution import Resolution as Resolution
from .table import Table as Table
