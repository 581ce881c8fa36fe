"""Entities in plain text, found by a dictionary of terms or a learned tagger."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
