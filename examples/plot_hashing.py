"""
Similarity and Hamming distance
===============================

A hashcode replaces comparisons with all structures by comparisons with a few references. How much
of the similarity is left in the distance of two codes?
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import spearmanr

import kernelwood as kw
from kernelwood.datasets import load_questions

trees = kw.batch([question.view("tree") for question in load_questions()])
kernel = kw.SubsetTreeKernel()
pairs = np.triu_indices(len(trees), 1)
similarities = kernel.gram(trees)[pairs]

# %%
# Codes of three lengths, all from the same 40 references. Longer ones cost no further kernel
# evaluations, and the bits of a shorter one are the first bits of the longer.

lengths = [16, 128, 1024]
hasher = kw.KernelHasher(
    kernel, method="rknn", n_references=40, n_bits=max(lengths), random_state=0
)
with kw.compute.counting() as counters:
    bits = hasher.fit(trees).transform(trees).astype(int)
print(f"{counters.kernel_evaluations:,} kernel evaluations, {len(similarities):,} pairs")

figure, axes = plt.subplots(1, len(lengths), figsize=(10, 3.6), sharey=True, layout="constrained")
for axis, n_bits in zip(axes, lengths, strict=True):
    code = bits[:, :n_bits]
    distances = np.abs(code[:, None] - code).sum(axis=2)[pairs]
    correlation, _ = spearmanr(similarities, distances)
    axis.scatter(similarities, distances / n_bits, s=4, alpha=0.3, linewidths=0)
    axis.set_title(f"{n_bits} bits, rank correlation {correlation:.2f}")
    axis.set_xlabel("similarity")
axes[0].set_ylabel("share of bits that differ")
plt.show()

# %%
# With 16 bits there are few distances to choose from; with 1,024 the cloud is about as narrow as 40
# references allow. Very similar questions always have near codes. Questions that share little
# differ in half of the bits, more or less, and their codes do not tell which of them share less.

# %%
# That is what search by codes makes use of: the nearest codes are candidates, and the kernel ranks
# them. How many must be ranked to find the most similar question?

index = kw.HashIndex(kernel, method="rknn", n_references=40, random_state=0).fit(trees)
best, _ = kernel.neighbors(trees, trees, 1, exclude_self=True)
candidates, _ = index.search_codes(index.codes_, k=40)

sizes = np.array([1, 2, 3, 5, 10, 20, 39])
found = [(candidates[:, : size + 1] == best).any(axis=1).mean() for size in sizes]
figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
axis.plot(sizes, found, marker="o")
axis.set_xlabel("nearest codes that are ranked by the kernel")
axis.set_ylabel("share of questions whose\nmost similar one is among them")
axis.set_ylim(0, 1.02)
plt.show()
