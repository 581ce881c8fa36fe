"""Relation extraction from documents: extractor, recipes, predictions and their evidence."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
