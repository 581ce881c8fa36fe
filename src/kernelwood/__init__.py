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
_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name):
    try:
        return _load(name)
    except AttributeError:
        if name in __all__ or name.startswith("_"):
            raise
    from difflib import get_close_matches

    word = name.rpartition("_")[2]
    near = get_close_matches(name, __all__, n=1) or [n for n in __all__ if word in n.split("_")]
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise AttributeError(f"kernelwood has no attribute {name!r}{hint}")


logging.getLogger(__name__).addHandler(logging.NullHandler())
