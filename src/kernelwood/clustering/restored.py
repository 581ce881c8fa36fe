"""Whether clusters that were loaded from a file fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernelwood.clustering.representatives import check_representatives
from kernelwood.features import NystromEmbedder, check_array

if TYPE_CHECKING:
    from kernelwood.clustering.kernel_kmeans import KernelKMeans

__all__ = ["check_clusters"]


def check_clusters(model: KernelKMeans) -> None:
    """Raise ValueError if what was loaded is not what ``fit`` could have learned."""
    _check_numbers(model)
    n_clusters = _check_labels(model)
    check_array("center_norms_", model.center_norms_, np.float64, (n_clusters,))
    check_representatives(model.representative_indices_, model.labels_)
    n_chosen = int(np.count_nonzero(model.representative_indices_ >= 0))
    _check_batch(model, "representatives_", model.representatives_, n_chosen)
    if (model.embedder is None) != (model.embedder_ is None):
        raise ValueError("embedder_ must be there if there is an embedder, and only then")
    if model.embedder_ is None:
        _check_batch(model, "structures_", model.structures_, len(model.labels_))
        if model.centers_ is not None:
            raise ValueError("centers_ must be None without an embedder")
    else:
        _check_vectors(model, n_clusters)


def _check_numbers(model: KernelKMeans) -> None:
    inertia, n_iter = model.inertia_, model.n_iter_
    if not isinstance(inertia, float) or not 0 <= inertia < np.inf:
        raise ValueError("inertia_ must be a number of at least 0")
    if isinstance(n_iter, bool) or not isinstance(n_iter, int) or n_iter < 0:
        raise ValueError("n_iter_ must be a whole number")


def _check_labels(model: KernelKMeans) -> int:
    """Return the number of clusters."""
    check_array("labels_", model.labels_, np.int32, (np.size(model.labels_),))
    n_clusters = int(model.labels_.max(initial=-1)) + 1
    if model.labels_.min(initial=0) < 0 or not 1 <= n_clusters <= model.n_clusters:
        raise ValueError(f"labels_ must be numbers of up to {model.n_clusters} clusters")
    sizes = np.bincount(model.labels_)
    if not sizes.all() or (np.diff(sizes) > 0).any():
        raise ValueError("clusters must have structures, and be numbered by falling size")
    return n_clusters


def _check_vectors(model: KernelKMeans, n_clusters: int) -> None:
    embedder = model.embedder_
    if type(embedder) is not NystromEmbedder or not embedder.__sklearn_is_fitted__():
        raise ValueError("embedder_ must be a fitted NystromEmbedder")
    if embedder.kernel_._accepts() is not model.kernel_._accepts():
        raise ValueError("embedder_ and kernel_ must be for the same structures")
    check_array("centers_", model.centers_, np.float64, (n_clusters, embedder.rank_))
    if model.structures_ is not None:
        raise ValueError("structures_ must be None with an embedder")


def _check_batch(model: KernelKMeans, name: str, batch: Any, n: int) -> None:
    if not isinstance(batch, model.kernel_._accepts()) or len(batch) != n:
        raise ValueError(f"{name} must be a batch of {n} structures that the kernel reads")
