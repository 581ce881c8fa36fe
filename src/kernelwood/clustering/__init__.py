"""Clusters of structures by a kernel, and descriptions of clusters."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
