"""Hashcodes and vectors of structures, reference and landmark selection, and search indexes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
