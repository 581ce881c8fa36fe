"""
Soft matching
=============

Sentences that say the same in other words share little when words must be equal. With word vectors
similar words match in part, and the sentences come out as similar as they are. Gates take out the
words that do not matter.

The vectors here are made up, four numbers a word, so that the example needs no files; real ones are
read by ``kw.Vectors.load``.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernelwood as kw
from kernelwood.similarity import Gaussian, Lexical

# %%
# The four numbers: music, food, doing, person.

meanings = {
    "girl": (0.1, 0.1, 0.0, 1.0),
    "woman": (0.0, 0.2, 0.1, 1.0),
    "cook": (0.0, 0.8, 0.3, 0.9),
    "plays": (0.8, 0.0, 1.0, 0.1),
    "strums": (1.0, 0.0, 0.9, 0.0),
    "fries": (0.0, 0.9, 1.0, 0.1),
    "guitar": (1.0, 0.0, 0.1, 0.0),
    "banjo": (1.0, 0.1, 0.0, 0.1),
    "fish": (0.0, 1.0, 0.0, 0.1),
}
vectors = kw.Vectors(list(meanings), list(meanings.values()))

texts = [
    "the girl plays a guitar",
    "the woman strums a banjo",
    "the cook fries a fish",
]
sentences = kw.batch([kw.Sequence(text.split()) for text in texts])

# %%
# Without vectors the first sentence is as close to the third as to the second: all they share is
# "the" and "a". With vectors it is not, and without the two articles even less so.

articles = {"the": 0.0, "a": 0.0}
kernels = {
    "exact": kw.SubsequenceKernel(),
    "soft": kw.SubsequenceKernel(similarity=Lexical(vectors)),
    "soft, Gaussian": kw.SubsequenceKernel(similarity=Gaussian(vectors)),
    "soft, no articles": kw.SubsequenceKernel(
        similarity=Lexical(vectors), gates=articles, gate_on="node"
    ),
}

print(f"{texts[0]}, compared with")
print(f"{'':20}" + "".join(f"{text:>28}" for text in texts[1:]))
rows = [kernel.gram(sentences)[0, 1:] for kernel in kernels.values()]
for name, values in zip(kernels, rows, strict=True):
    print(f"{name:20}" + "".join(f"{value:28.2f}" for value in values))

figure, axis = plt.subplots(figsize=(8, 3.4), layout="constrained")
places = np.arange(len(kernels))
for number, text in enumerate(texts[1:]):
    axis.barh(places + 0.38 * number, np.array(rows)[:, number], height=0.36, label=text)
axis.set_yticks(places + 0.19, kernels)
axis.invert_yaxis()
axis.set_xlabel(f"similarity to “{texts[0]}”")
axis.legend()
plt.show()

# %%
# The same with trees: the partial tree kernel with word vectors is known as the smoothed partial
# tree kernel (SPTK).


def tree(verb: str, subject: str, thing: str) -> kw.Tree:
    """Return a small dependency tree, with the relations as nodes of their own."""
    return kw.Tree.from_brackets(f"({verb} (nsubj ({subject} the)) (dobj ({thing} a)))")


trees = [
    tree("plays", "girl", "guitar"),
    tree("strums", "woman", "banjo"),
    tree("fries", "cook", "fish"),
]
tree_kernels = {
    "partial trees": kw.PartialTreeKernel(),
    "smoothed": kw.PartialTreeKernel.sptk(vectors),
}
print()
for name, kernel in tree_kernels.items():
    values = kernel.gram(trees)[0, 1:]
    print(f"{name:20}" + "".join(f"{value:28.2f}" for value in values))

# %%
# Which words made the difference? The similarity knows.

print()
for left, right in zip(*(text.split() for text in texts[:2]), strict=True):
    print(f"{left:>8} ~ {right:8} {Lexical(vectors).value(left, right):.2f}")

# %%
# Support vector machines want a kernel to be positive semidefinite, which soft matching does not
# promise unless the similarity does. On a sample it can be seen.

print()
for similarity in (Lexical(vectors), Gaussian(vectors)):
    name, promise = type(similarity).__name__, similarity.positive_semidefinite
    kernel = kw.SubsequenceKernel(similarity=similarity)
    smallest = kernel.smallest_eigenvalue(sentences)
    print(f"{name:10} promise: {promise!s:7} smallest eigenvalue: {smallest:.3f} of the largest")
