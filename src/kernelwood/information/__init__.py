r"""Entropy, total correlation and mutual information of binary codes.

A code of :math:`H` bits is a sample of :math:`H` random variables :math:`c_1, \ldots, c_H`. All
numbers are in nats.

- The **entropy** :math:`H(c)` is at most the sum of the entropies of the bits, and less if bits
  are redundant.
- The **total correlation** :math:`TC(c) = \sum_l H(c_l) - H(c)` is this redundancy. It is zero
  for independent bits, and :math:`(k - 1)\,H(c_1)` for :math:`k` copies of one bit.
- The **mutual information** :math:`I(c : y) = H(c) - \sum_y p(y)\,H(c \mid y)` of codes and
  classes :math:`y` measures how informative codes are about the classes.

Entropies of hundreds of bits cannot be counted from hundreds of examples. Instead, a few binary
*latent variables*, each for a group of bits, explain the total correlation; the explained part is
a lower bound.

>>> import numpy as np
>>> from kernelwood import information
>>> bit = np.tile([0, 1], 50)
>>> copies = np.stack([bit, bit, 1 - bit], axis=1)
>>> round(information.total_correlation(copies) / float(np.log(2)), 3)
2.0
>>> round(information.entropy(copies) / float(np.log(2)), 3)
1.0
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
