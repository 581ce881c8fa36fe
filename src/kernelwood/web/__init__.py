"""Training of extractors in the browser, and extractors as an HTTP service.

Projects, the live model and the order of candidates are plain Python; pages and routes need the
extra ``web`` (Starlette and uvicorn).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
