"""
Accuracy and kernel evaluations
===============================

Comparing structures is what kernel methods spend their time on. The four classifiers differ in how
many comparisons they need, and in what they make of them.
"""

import matplotlib.pyplot as plt

import kernelwood as kw
from kernelwood import evaluate
from kernelwood.datasets import load_questions

questions = kw.batch(load_questions())
trees, labels = questions.view("tree"), questions.labels
kernel = kw.SubsetTreeKernel()

# %%
# Two of them can spend more or less: on references, and on candidates. A seed draws the references,
# so every point is the mean over three seeds of a cross-validation in five parts.

REFERENCES = [8, 16, 32]


def forest(n_references, seed):
    return kw.HashForestClassifier(
        kernel,
        n_estimators=100,
        n_references=n_references,
        n_bits=300,
        subset_size=n_references // 4,
        random_state=seed,
    )


def hashed_neighbors(n_references, seed):
    return kw.HashNeighborsClassifier(
        kernel, n_references=n_references, n_candidates=n_references, random_state=seed
    )


def machine(n_references, seed):
    return kw.KernelSVC(kernel, C=10)


def neighbors(n_references, seed):
    return kw.KernelNeighborsClassifier(kernel)


def measure(make, n_references, n_seeds):
    """Return kernel evaluations of a run, fitting and predicting, and the accuracy."""
    results = [
        evaluate.cross_validate(make(n_references, seed), trees, labels, n_bootstrap=0)
        for seed in range(n_seeds)
    ]
    spent = [
        result.fitting.kernel_evaluations + result.predicting.kernel_evaluations
        for result in results
    ]
    accuracies = [float(result.scores.accuracy) for result in results]
    return sum(spent) / len(spent) / 5, sum(accuracies) / len(accuracies)


figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
for make, sizes, n_seeds in (
    (machine, [None], 1),
    (neighbors, [None], 1),
    (hashed_neighbors, REFERENCES, 3),
    (forest, REFERENCES, 3),
):
    points = [measure(make, size, n_seeds) for size in sizes]
    name = type(make(8, 0)).__name__
    axis.plot(*zip(*points, strict=True), marker="o", label=name)
    for size, (spent, accuracy) in zip(sizes, points, strict=True):
        print(f"{name}, references: {size}: {spent:,.0f} evaluations, accuracy {accuracy:.3f}")
axis.set_xscale("log")
axis.set_xlabel("kernel evaluations of a run, 96 questions to learn and 24 to test")
axis.set_ylabel("accuracy")
axis.legend()
plt.show()

# %%
# With 96 questions to learn from, there is little to save: 32 references are a third of them. The
# machine's evaluations grow with the square of the questions, those of the forest in proportion to
# them, so the curves move apart as collections grow.
