r"""How much hashcodes know: entropy, total correlation and mutual information of binary codes.

A code of :math:`H` bits is taken as :math:`H` random variables :math:`c_1, \ldots, c_H`, and the
examples as a sample of them. All numbers are in nats.

- The **entropy** :math:`H(c)` is how much there is to know in a code: no more than the sum of the
  entropies of its bits, and less by what the bits repeat of each other.
- The **total correlation** :math:`TC(c) = \sum_l H(c_l) - H(c)` is what they repeat. It is zero
  for independent bits, and :math:`(k - 1)\,H(c_1)` for :math:`k` copies of one.
- The **mutual information** :math:`I(c : y) = H(c) - \sum_y p(y)\,H(c \mid y)` is how much of
  the class :math:`y` a code tells. It is what codes should be made for.

Entropies of hundreds of bits cannot be counted from hundreds of examples. So the total
correlation is explained by a few binary *latent variables* instead, each of which stands for what
a group of bits has in common; what they explain is a lower bound of what there is.

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
