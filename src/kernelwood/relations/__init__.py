"""From documents to relations, with evidence: the extractor, its recipes and what it returns."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
