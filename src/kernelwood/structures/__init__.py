"""What is this object? Structures, annotated sentences, and the examples made of them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
