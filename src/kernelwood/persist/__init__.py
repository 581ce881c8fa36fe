"""How a model survives on disk: a zip archive that is read, never run."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
