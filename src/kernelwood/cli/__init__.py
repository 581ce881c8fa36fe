"""The command ``kernelwood``: what did the user ask, and what do they see?"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
