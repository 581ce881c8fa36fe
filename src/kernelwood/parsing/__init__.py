"""From sentences to structures: a parser that learns its grammar from a treebank."""

from kernelwood.parsing.parser import ForestParser

__all__ = ["ForestParser"]
