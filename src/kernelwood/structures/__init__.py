"""What is this object? Sequences, trees, forests, graphs, and the examples made of them."""

from __future__ import annotations

from kernelwood.structures.example import Example, Label, Origin, Structure, View
from kernelwood.structures.forest import Forest
from kernelwood.structures.graph import Graph
from kernelwood.structures.sequence import Sequence
from kernelwood.structures.tree import Tree

__all__ = [
    "Example",
    "Forest",
    "Graph",
    "Label",
    "Origin",
    "Sequence",
    "Structure",
    "Tree",
    "View",
]
