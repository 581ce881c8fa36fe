from .description import ClusterDescription as ClusterDescription, CommonFragment as CommonFragment
from .kernel_kmeans import KernelKMeans as KernelKMeans
