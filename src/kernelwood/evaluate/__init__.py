"""How good predictions are, and how sure one can be of it.

``score`` measures predictions and ``compare`` tells whether two classifiers differ;
``cluster_scores`` tells how well clusters agree with classes;
``cross_validate`` and ``train_and_test`` train copies of a model and measure them, with what they
cost; ``group_splits``, ``documents`` and ``cross_corpus`` keep what is learned from apart from
what is tested on.
"""

from kernelwood.evaluate.clusters import ClusterScores, cluster_scores
from kernelwood.evaluate.comparison import Comparison, compare
from kernelwood.evaluate.corpora import CorpusSplit, cross_corpus
from kernelwood.evaluate.estimates import Estimate, Spread
from kernelwood.evaluate.evaluation import Cost, Evaluation, Run
from kernelwood.evaluate.measures import METRICS
from kernelwood.evaluate.origins import documents
from kernelwood.evaluate.scores import Average, ClassScores, Scores, score
from kernelwood.evaluate.splits import group_splits
from kernelwood.evaluate.validation import cross_validate, train_and_test

__all__ = [
    "METRICS",
    "Average",
    "ClassScores",
    "ClusterScores",
    "Comparison",
    "CorpusSplit",
    "Cost",
    "Estimate",
    "Evaluation",
    "Run",
    "Scores",
    "Spread",
    "cluster_scores",
    "compare",
    "cross_corpus",
    "cross_validate",
    "documents",
    "group_splits",
    "score",
    "train_and_test",
]
