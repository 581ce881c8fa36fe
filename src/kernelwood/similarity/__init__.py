"""How well two labels match: exactly, by word vectors, by a table, or by your own rule."""

from kernelwood.similarity.base import Similarity
from kernelwood.similarity.compositional import Compositional
from kernelwood.similarity.labels import Label, Word, parse_label
from kernelwood.similarity.lexical import Lexical
from kernelwood.similarity.pointwise import Exact, Exponential, Gaussian, Sigmoid
from kernelwood.similarity.resolution import Resolution
from kernelwood.similarity.table import Table

__all__ = [
    "SIMILARITIES",
    "Compositional",
    "Exact",
    "Exponential",
    "Gaussian",
    "Label",
    "Lexical",
    "Resolution",
    "Sigmoid",
    "Similarity",
    "Table",
    "Word",
    "parse_label",
]

# Name -> similarity; a new one adds a row here.
SIMILARITIES: dict[str, type[Similarity]] = {
    "exact": Exact,
    "gaussian": Gaussian,
    "sigmoid": Sigmoid,
    "exponential": Exponential,
    "lexical": Lexical,
    "compositional": Compositional,
    "table": Table,
}
