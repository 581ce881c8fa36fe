"""Text with annotation: documents, sentences, candidates and examples, and how text is cut."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
