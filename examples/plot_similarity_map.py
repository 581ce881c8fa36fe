"""
A map of similarities
=====================

The bundled questions, sorted by the kind of answer they ask for, and compared by two kernels. A
good kernel shows brighter squares along the diagonal: questions of one kind are more alike.
"""

import matplotlib.pyplot as plt
import numpy as np

import kernelwood as kw
from kernelwood.datasets import load_questions

questions = sorted(load_questions(), key=lambda question: str(question.label))
labels = np.array([question.label for question in questions])
X = kw.batch(questions)

# %%
# One kernel reads the constituency trees, the other the words.

kernels = {
    "subset trees": kw.OnView("tree", kw.SubsetTreeKernel(decay=0.2)),
    "subsequences of words": kw.OnView("words", kw.SubsequenceKernel(decay=0.5)),
}
matrices = {name: kernel.gram(X) for name, kernel in kernels.items()}

# %%
# The diagonal, where every question meets itself, is left out.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
middles = [np.flatnonzero(labels == label).mean() for label in np.unique(labels)]
for axis, (name, matrix) in zip(axes, matrices.items(), strict=True):
    shown = np.where(np.eye(len(matrix)), np.nan, matrix)
    image = axis.imshow(shown, cmap="magma", vmin=0, vmax=0.8)
    axis.set_title(name)
    axis.set_xticks(middles, np.unique(labels))
    axis.set_yticks(middles, np.unique(labels))
figure.colorbar(image, ax=axes, label="similarity", shrink=0.8)
plt.show()

# %%
# How much more alike are questions of one kind than questions of two?

same = labels[:, None] == labels
others = ~np.eye(len(labels), dtype=bool)
for name, matrix in matrices.items():
    within, between = matrix[same & others].mean(), matrix[~same].mean()
    print(f"{name}: {within:.3f} within, {between:.3f} between")
