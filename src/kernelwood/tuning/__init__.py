"""Which kernel suits the data: gates and parameters, learned from labeled structures."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
