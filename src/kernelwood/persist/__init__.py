"""Model files: zip archives of plain values and arrays, which run no code when they are loaded."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
