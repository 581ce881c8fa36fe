"""Search indexes in folders, which are memory-mapped and grow by shards."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
