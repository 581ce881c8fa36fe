"""Which structures belong together: clusters by a kernel, and what they have in common."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
