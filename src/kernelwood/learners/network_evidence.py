"""Which landmarks speak for what a network says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwood.features import NystromEmbedder, product
from kernelwood.learners.network_layers import Layers
from kernelwood.learners.svc_evidence import Evidence, Support, strongest

__all__ = ["landmark_evidence"]

Floats = NDArray[np.float64]


def landmark_evidence(
    x: Any,
    networks: Iterable[tuple[NystromEmbedder, Layers]],
    landmark_labels: Sequence[NDArray[Any]],
    *,
    classes: NDArray[Any],
    number: int,
    k: int,
) -> Evidence:
    """Return the landmarks that say most about a class of one structure.

    Parameters
    ----------
    x : batch of one structure
    networks : iterable of (NystromEmbedder, Layers)
        Of which scores and contributions are averaged.
    landmark_labels : sequence of ndarrays
        The labels of the landmarks of each network.
    classes : ndarray
        All labels.
    number : int
        Which of them to speak about.
    k : int
        How many landmarks to return, for and against.
    """
    beside = np.full(len(classes), -1.0 / len(classes))
    beside[number] += 1.0
    score, n_networks = 0.0, len(landmark_labels)
    found: dict[int, Support] = {}
    for (embedder, layers), labels in zip(networks, landmark_labels, strict=True):
        similarities, contributions, own_score = _contributions(x, embedder, layers, beside)
        score += own_score / n_networks
        for i, index in enumerate(embedder.landmark_indices_.tolist()):
            before = found[index].contribution if index in found else 0.0  # sets may share some
            found[index] = Support(
                embedder.landmarks_[i],
                labels[i].item(),
                index,
                float(similarities[i]),
                before + float(contributions[i]) / n_networks,
            )
    supports = list(found.values())
    sums = np.array([support.contribution for support in supports])
    supporting, opposing = (tuple(supports[i] for i in some) for some in strongest(sums, k))
    intercept = score - float(np.add.accumulate(sums)[-1])
    return Evidence(classes[number].item(), score, intercept, supporting, opposing)


def _contributions(
    x: Any, embedder: NystromEmbedder, layers: Layers, beside: Floats
) -> tuple[Floats, Floats, float]:
    """Return similarities to landmarks, what these add to a sum of scores, and the sum."""
    similarities = embedder.similarities(x)
    vector = product(similarities, embedder.projection_)
    slopes = layers.slopes(vector[0], beside)
    by_landmark = product(slopes[None], embedder.projection_.T)[0]
    score = float((layers.scores(vector)[0] * beside).sum())
    return similarities[0], similarities[0] * by_landmark, score
