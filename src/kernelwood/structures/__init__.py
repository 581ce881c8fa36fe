"""What is this object? Sequences, trees, graphs, and the examples made of them."""

from __future__ import annotations

from kernelwood.structures.example import Example, Label, Origin, Structure, View
from kernelwood.structures.graph import Graph
from kernelwood.structures.sequence import Sequence
from kernelwood.structures.tree import Tree

__all__ = ["Example", "Graph", "Label", "Origin", "Sequence", "Structure", "Tree", "View"]
