"""Which structures belong together: clusters by a kernel, and what they have in common."""

from kernelwood.clustering.description import ClusterDescription, CommonFragment
from kernelwood.clustering.kernel_kmeans import KernelKMeans

__all__ = ["ClusterDescription", "CommonFragment", "KernelKMeans"]
