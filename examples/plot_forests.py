"""
Packed forests
==============

A parser that must choose one tree is often wrong. This one keeps all trees it finds plausible, in
one packed forest, and the forest kernel compares forests as they are.
"""

import matplotlib.pyplot as plt

import kernelwood as kw
from kernelwood.datasets import load_questions

# %%
# The bundled questions come with trees: a tiny treebank. A grammar is learned from all but the last
# twenty, which are then parsed from their words.

questions = load_questions()
trees = [question.view("tree") for question in questions]
words = [list(question.view("words").nodes) for question in questions]
parser = kw.ForestParser().fit(trees[:-20])
forests = parser.parse_batch(words)
print(f"{sum(forest.fallback for forest in forests)} of {len(forests)} are beyond the grammar")

# %%
# How sure is the parser? The probabilities of the best trees of a question that leaves it in doubt:

open_question = max(range(100, 120), key=lambda i: min(forests[i].n_trees, 10**9))
forest = forests[open_question]
best = forest.k_best(8)
print(" ".join(words[open_question]), f"\n{forest.n_trees:,} trees; the best three:")
for tree, probability in best[:3]:
    print(f"  {probability:.2f}  {tree.to_brackets()}")

figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
axis.bar(range(1, len(best) + 1), [probability for _, probability in best])
axis.set_xlabel("tree, from best to worst")
axis.set_ylabel("probability")
plt.show()

# %%
# What its nearest neighbors are, by all trees and by the best one alone. Notebooks draw a forest
# that stands at the end of a cell.

kernel = kw.ForestKernel(decay=0.3)
for name, compared in (
    ("all trees", forests),
    ("best tree", [kw.Forest.from_trees([one.best_tree()]) for one in forests]),
):
    others = compared[:open_question] + compared[open_question + 1 :]
    indices, similarities = kernel.neighbors([compared[open_question]], others, 3)
    print(name)
    for index, similarity in zip(indices[0], similarities[0], strict=True):
        print(f"  {similarity:.2f}  {' '.join(words[index + (index >= open_question)])}")

forest
