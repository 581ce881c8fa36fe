"""What is this object? Structures, annotated sentences, and the examples made of them."""

from __future__ import annotations

from kernelwood.structures.annotation import (
    ROOT,
    Argument,
    Attribute,
    Dependency,
    EmptyNode,
    Entity,
    Event,
    Multiword,
    Predicate,
    Relation,
    RoleSpan,
    Span,
    Token,
)
from kernelwood.structures.candidate import Candidate
from kernelwood.structures.document import Document
from kernelwood.structures.example import Example, Label, Origin, Structure, View
from kernelwood.structures.forest import Forest
from kernelwood.structures.graph import Graph
from kernelwood.structures.sentence import Sentence
from kernelwood.structures.sequence import Sequence
from kernelwood.structures.tree import Tree

__all__ = [
    "ROOT",
    "Argument",
    "Attribute",
    "Candidate",
    "Dependency",
    "Document",
    "EmptyNode",
    "Entity",
    "Event",
    "Example",
    "Forest",
    "Graph",
    "Label",
    "Multiword",
    "Origin",
    "Predicate",
    "Relation",
    "RoleSpan",
    "Sentence",
    "Sequence",
    "Span",
    "Structure",
    "Token",
    "Tree",
    "View",
]
