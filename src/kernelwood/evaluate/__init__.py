"""How good predictions are, and how sure one can be of it.

``score`` measures predictions and ``compare`` tells whether two classifiers differ;
``cluster_scores`` tells how well clusters agree with classes;
``cross_validate`` and ``train_and_test`` train copies of a model and measure them, with what they
cost; ``group_splits``, ``documents`` and ``cross_corpus`` keep what is learned from apart from
what is tested on.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
