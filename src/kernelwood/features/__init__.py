"""Hashcodes and vectors of structures, their references and landmarks, and search by them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
