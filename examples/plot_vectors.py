"""
Vectors, clusters and a map
===========================

Questions as vectors: how many landmarks it takes, which questions belong together, and what they
look like from above.
"""

import matplotlib.pyplot as plt

import kernelwood as kw
from kernelwood.datasets import load_questions
from kernelwood.features import map_2d
from kernelwood.figures import draw_map

questions = load_questions()
trees = kw.batch([question.view("tree") for question in questions])
labels = [question.label for question in questions]
kernel = kw.SubsetTreeKernel()

# %%
# The more landmarks, the less is missed of the questions that are none. With all of them, products
# of vectors are the values of the kernel.

sizes = [5, 10, 20, 40, 60, 80, 100, 120]
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
for selection in ("uniform", "kmeans++"):
    residuals = [
        kw.NystromEmbedder(kernel, n_landmarks=n, selection=selection, random_state=0)
        .fit(trees)
        .residual(trees)
        .mean()
        for n in sizes
    ]
    ax.plot(sizes, residuals, marker="o", label=selection)
ax.set_xlabel("landmarks")
ax.set_ylabel("residual")
ax.set_ylim(bottom=0)
ax.legend()
plt.show()

# %%
# Twelve clusters, and what the largest is about.

clusters = kw.KernelKMeans(12, kernel, n_init=10, random_state=0).fit(trees)
scores = kw.evaluate.cluster_scores(labels, clusters.labels_)
print(f"purity {scores.purity:.2f}, NMI {scores.nmi:.2f}")
print(clusters.describe(labels, n_fragments=2)[0])

# %%
# The map keeps neighbors together. Colors are the kinds of answers, which the map knows nothing of;
# circles are the middles of the five largest clusters.

vectors = kw.NystromEmbedder(kernel, n_landmarks=120).fit_transform(trees)
middles = clusters.medoid_indices_[:5].tolist()
texts = {number: " ".join(questions[number].view("words").nodes) for number in middles}
figure, ax = plt.subplots(figsize=(8.5, 6), layout="constrained")
draw_map(ax, map_2d(vectors), labels, title="120 questions", texts=texts)
plt.show()
