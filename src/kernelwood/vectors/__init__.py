"""Which vector stands for which word, and how it is read from a file."""

from kernelwood.vectors.formats import FORMATS, VectorFormat
from kernelwood.vectors.table import Vectors

__all__ = ["FORMATS", "VectorFormat", "Vectors"]
