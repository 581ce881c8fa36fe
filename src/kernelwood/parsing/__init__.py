"""From text to structures: a parser that learns its grammar, and backends that parse documents."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
