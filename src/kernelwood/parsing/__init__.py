"""From text to structures: a parser that learns its grammar, and backends that parse documents."""

from kernelwood.parsing.backends import BACKENDS, Backend, load_backend
from kernelwood.parsing.bundled import load_grammar
from kernelwood.parsing.parser import ForestParser
from kernelwood.parsing.preparsed import PreparsedBackend, preparsed

__all__ = [
    "BACKENDS",
    "Backend",
    "ForestParser",
    "PreparsedBackend",
    "load_backend",
    "load_grammar",
    "preparsed",
]
