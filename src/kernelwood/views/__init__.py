"""Views: structures for kernels, made of sentences and candidates by pure functions.

>>> import kernelwood as kw
>>> sentence = kw.Sentence.from_words(["We", "go"], dependencies=[(1, "nsubj", 0)])
>>> kw.views.loct(sentence)
Tree('(LEX##go LEX##we)')
>>> list(kw.views.VIEWS)[:4]
['words', 'tree', 'grct', 'lct']
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
