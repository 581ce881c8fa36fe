"""Relation extraction and text classification with kernels on sequences, trees, graphs and forests.

>>> import kernelwood as kw
>>> kernel = kw.SubsetTreeKernel(decay=1.0, normalize=False)
>>> tree = kw.Tree.from_brackets("(PP (IN in) (DT the) (NN bank))")
>>> kernel.value(tree, tree)
11.0
"""

import logging

import lazy_loader

__version__ = "1.0.0rc1"

# Public names are listed once, in __init__.pyi; each loads its module when first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

logging.getLogger(__name__).addHandler(logging.NullHandler())
