"""
Nearest neighbors
=================

Which questions are most like a given one? ``neighbors`` answers without holding the matrix of all
similarities, so it also works for collections whose matrix would not fit in memory.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

import kernelwood as kw
from kernelwood.datasets import load_questions

questions = load_questions()
trees = kw.batch([question.view("tree") for question in questions])
texts = [" ".join(question.view("words").nodes) for question in questions]
labels = np.array([question.label for question in questions])

# %%
# The three best of each, itself left out.

kernel = kw.SubsetTreeKernel(decay=0.2)
with kw.compute.counting() as counters:
    indices, similarities = kernel.neighbors(trees, trees, 3, exclude_self=True)
print(f"{counters.kernel_evaluations:,} kernel evaluations")

for query in (0, 3, 9):
    print(f"\n{texts[query]}")
    for index, similarity in zip(indices[query], similarities[query], strict=True):
        print(f"  {similarity:.2f}  {texts[index]}")

# %%
# How often is the best neighbor of the same kind, when it is more or less similar?

best = similarities[:, 0]
agrees = labels[indices[:, 0]] == labels
edges = np.quantile(best, [0, 0.25, 0.5, 0.75, 1])
groups = np.clip(np.searchsorted(edges, best, side="right") - 1, 0, 3)

figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
axis.bar(range(4), [agrees[groups == group].mean() for group in range(4)])
spans = [f"{low:.2f} to {high:.2f}" for low, high in pairwise(edges)]
axis.set_xticks(range(4), spans)
axis.set_xlabel("similarity of the best neighbor, in quarters")
axis.set_ylabel("share of the same kind")
axis.set_ylim(0, 1)
plt.show()
