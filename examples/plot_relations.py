"""
Relations and decision thresholds
=================================

An extractor learns from annotated documents which molecules interact, and predicts a probability
for every pair of molecules in other documents. Its decision threshold is learned, too.
"""

import matplotlib.pyplot as plt
from sklearn.metrics import precision_recall_curve

import kernelwood as kw
from kernelwood.datasets import load_interactions

train, test = load_interactions("train"), load_interactions("test")

# %%
# The words around a pair need no parser; the shortest dependency path needs dependencies, which the
# corpus has. The kernels of several views are averaged.

VIEWS = [["context"], ["steps"], ["context", "steps"]]

figure, axis = plt.subplots(figsize=(6, 4.2), layout="constrained")
for views in VIEWS:
    extractor = kw.RelationExtractor(views=views, labels="binary", random_state=0).fit(train)
    predictions = extractor.predict(test, all=True)
    related = [prediction.label != "none" for prediction in predictions]
    scores = [prediction.probability for prediction in predictions]
    precision, recall, _ = precision_recall_curve(related, scores)
    [line] = axis.plot(recall, precision, label=" and ".join(views))
    reached = extractor.evaluate(test, n_bootstrap=0)
    axis.plot(reached.recall, reached.precision, marker="o", color=line.get_color())
    print(f"{' and '.join(views)}: F1 {reached.f1:.3f}, area under the curve {reached.auc:.3f}")
axis.set_xlabel("recall")
axis.set_ylabel("precision")
axis.set_ylim(0, 1.02)
axis.legend()
plt.show()

# %%
# A point is the decision threshold of the extractor, learned by cross-validation on the training
# documents. Left of it recall is lower and precision is mostly higher.
#
# The evidence for the most probable relation: the training sentences that support and oppose it
# most. Entities are in brackets, words that it shares with them between asterisks.

surest = max(predictions.relations, key=lambda prediction: prediction.probability)
print(surest)
print(surest.text)
for case in surest.evidence:
    print(f"{case.contribution:+.2f} {case.type}: {case.sentence}")

# %%
# The corpus was written for demonstration; its figures do not carry over to real documents.
