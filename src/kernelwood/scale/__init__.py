"""Work larger than a machine: plans of shards that any engine computes to the same bytes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
