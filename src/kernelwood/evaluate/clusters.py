"""Agreement of clusters with classes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.metrics import (
    adjusted_rand_score,
    completeness_score,
    homogeneity_score,
    normalized_mutual_info_score as normalized_mutual_information,
)

from kernelwood.errors import KernelInputError
from kernelwood.evaluate.class_labels import encode
from kernelwood.evaluate.table_rendering import TabularResult


@dataclass(frozen=True, slots=True, repr=False)
class ClusterScores(TabularResult):
    """Agreement of clusters with classes; made by :func:`cluster_scores`.

    Attributes
    ----------
    purity : float
        Fraction of examples that belong to the most frequent class of their cluster.
    nmi : float
        Normalized mutual information of clusters and classes, from 0 for independent to 1.
    ari : float
        Adjusted Rand index: 1 for the same partition, 0 on average for one at random.
    homogeneity, completeness : float
        Degree to which a cluster holds one class, and a class lies in one cluster, from 0 to 1.
    n_clusters, n_classes, n_examples : int
        Number of clusters, classes and examples.
    """

    purity: float
    nmi: float
    ari: float
    homogeneity: float
    completeness: float
    n_clusters: int
    n_classes: int
    n_examples: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)

    def __repr__(self) -> str:
        return (
            f"<ClusterScores: {self.n_examples:,} examples, {self.n_clusters:,} clusters, "
            f"purity {self.purity:.3f}, NMI {self.nmi:.3f}, ARI {self.ari:.3f}>"
        )

    def _table(self) -> tuple[list[str], list[list[str]]]:
        named = {
            "purity": self.purity,
            "NMI": self.nmi,
            "ARI": self.ari,
            "homogeneity": self.homogeneity,
            "completeness": self.completeness,
        }
        rows = [[name, f"{value:.3f}"] for name, value in named.items()]
        return ["measure", "value"], rows

    def _note(self) -> str:
        return (
            f"{self.n_examples:,} examples, {self.n_clusters:,} clusters, "
            f"{self.n_classes:,} classes"
        )


def cluster_scores(y_true: Iterable[Any], y_pred: Iterable[Any]) -> ClusterScores:
    r"""Return measures of the agreement of clusters with classes.

    With :math:`n_{kc}` examples of class :math:`c` in cluster :math:`k`, purity is
    :math:`\frac{1}{n} \sum_k \max_c n_{kc}`. It increases with the number of clusters, up to 1 for
    clusters of one example each: compare it only for equal numbers of clusters, or use ``ari``,
    which is adjusted for chance.

    Parameters
    ----------
    y_true : sequence of str, number or tuple
        Class of each example.
    y_pred : sequence of str, number or tuple
        Its cluster.

    Returns
    -------
    ClusterScores

    Raises
    ------
    KernelInputError
        If lengths differ, there are no examples, or a label is missing.

    Examples
    --------
    >>> print(cluster_scores(["HUM", "HUM", "LOC", "LOC", "NUM"], [0, 0, 1, 1, 1]))
    measure       value
    purity        0.800
    NMI           0.779
    ARI           0.545
    homogeneity   0.638
    completeness  1.000
    <BLANKLINE>
    5 examples, 2 clusters, 3 classes
    """
    # Separately, because classes and clusters may be labels of different kinds.
    classes, clusters = encode({"y_true": y_true}), encode({"y_pred": y_pred})
    [true], [found] = classes.codes, clusters.codes
    if len(true) != len(found):
        raise KernelInputError(
            f"y_pred has {len(found):,} clusters, but y_true has {len(true):,} classes; "
            "give one for each example, in the same order"
        )
    counts = np.zeros((clusters.n_classes, classes.n_classes), dtype=np.int64)
    np.add.at(counts, (found, true), 1)
    return ClusterScores(
        purity=int(counts.max(axis=1).sum()) / len(true),
        nmi=float(normalized_mutual_information(true, found)),
        ari=float(adjusted_rand_score(true, found)),
        homogeneity=float(homogeneity_score(true, found)),
        completeness=float(completeness_score(true, found)),
        n_clusters=clusters.n_classes,
        n_classes=classes.n_classes,
        n_examples=len(true),
    )
