"""Large inputs: plans of shards that any engine computes, with the same bytes as a result."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
