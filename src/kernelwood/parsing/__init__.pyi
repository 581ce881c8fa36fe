from .backends import (
    BACKENDS as BACKENDS,
    Backend as Backend,
    analyze as analyze,
    load_backend as load_backend,
)
from .bundled import load_grammar as load_grammar
from .parser import ForestParser as ForestParser
from .preparsed_backend import PreparsedBackend as PreparsedBackend, preparsed as preparsed
from .recognizer import EntityRecognizer as EntityRecognizer
