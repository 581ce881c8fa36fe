"""
Relations and where to draw the line
====================================

Which molecules of a sentence interact? An extractor learns it from annotated documents, and gives
every pair in others a score. From where on a pair counts as a relation is learned, too.
"""

import matplotlib.pyplot as plt
from sklearn.metrics import precision_recall_curve

import kernelwood as kw
from kernelwood.datasets import load_interactions

train, test = load_interactions("train"), load_interactions("test")

# %%
# Words around a pair need no parser; steps on the path between the two need dependencies, which
# the corpus has. Kernels on several views add up.

VIEWS = [["context"], ["steps"], ["context", "steps"]]

figure, axis = plt.subplots(figsize=(6, 4.2), layout="constrained")
for views in VIEWS:
    extractor = kw.RelationExtractor(views=views, labels="binary", random_state=0).fit(train)
    judged = extractor.predict(test, all=True)
    related = [prediction.label != "none" for prediction in judged]
    scores = [prediction.score for prediction in judged]
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
# A point is the threshold that was learned, from training documents that were held out in turn; the
# test documents had no part in it. Left of it fewer relations are found, and more of them right.
#
# Why was a pair called a relation? These are the training sentences that it is most like, and what
# they share.

surest = max(judged.relations, key=lambda prediction: prediction.score)
print(surest)
print(surest.text)
for case in surest.evidence:
    print(f"\n{case.similarity:.2f} {case.type}: {case.text}")
    for piece in case.fragments:
        print(f"     {piece.weight:.2f} {piece.view}: {piece.text}")

# %%
# The corpus was written for demonstrations. It is small and tidy, and says nothing about figures on
# real documents.
