"""Kernel k-means by the textbook, and a kernel whose space can be looked at."""

from __future__ import annotations

import kernelwood as kw

NOISE = 1e-12


class LinearKernel(kw.Kernel):
    """Scalar product of points, whose coordinates are the elements of sequences."""

    accepts = kw.arrays.SequenceBatch

    def reference(self, a, b):
        return sum(float(x) * float(y) for (_, x), (_, y) in zip(a, b, strict=True))


def points(rows):
    return [kw.Sequence([repr(float(x)) for x in row]) for row in rows]


def squared_distances(gram, clusters, i):
    """Return the squared distance of structure i to the mean of each cluster, a list of numbers."""
    found = []
    for members in clusters:
        mean = sum(gram[i][j] for j in members) / len(members)
        norm = sum(gram[j][m] for j in members for m in members) / len(members) ** 2
        found.append(gram[i][i] - 2 * mean + norm)
    return found


def clusters_of(labels):
    """Return the members of each cluster, the largest cluster first, then the earliest."""
    members = {}
    for i, label in enumerate(labels):
        members.setdefault(label, []).append(i)
    return sorted(members.values(), key=lambda cluster: (-len(cluster), cluster[0]))


def lloyd(gram, labels, max_iter=100):
    """Move all structures to the nearest means until none moves; return the clusters.

    Returns None if a cluster gets lost on the way.
    """
    clusters = clusters_of(labels)
    n_clusters = len(clusters)
    for _ in range(max_iter):
        moved = []
        for i in range(len(gram)):
            distances = squared_distances(gram, clusters, i)
            nearest = min(distances) + NOISE * (1 + abs(gram[i][i]))
            moved.append(next(c for c, d in enumerate(distances) if d <= nearest))
        after = clusters_of(moved)
        if len(after) < n_clusters:
            return None
        if after == clusters:
            break
        clusters = after
    return clusters


def inertia(gram, clusters):
    return sum(
        max(squared_distances(gram, [members], i)[0], 0) for members in clusters for i in members
    )
