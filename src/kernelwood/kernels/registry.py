"""Kernels by name, for settings files and for tests that run on every kernel."""

from __future__ import annotations

from kernelwood.kernels.forest_kernels import ForestKernel
from kernelwood.kernels.graph_kernels import AllPathsGraphKernel, WeisfeilerLehmanKernel
from kernelwood.kernels.kernel import Kernel
from kernelwood.kernels.sequence_kernels import SubsequenceKernel
from kernelwood.kernels.tree_kernels import (
    PartialTreeKernel,
    RootedTreeKernel,
    SubsetTreeKernel,
    SubtreeKernel,
)
from kernelwood.kernels.vector_kernel import VectorKernel

KERNELS: dict[str, type[Kernel]] = {
    "subsequence": SubsequenceKernel,
    "rooted-tree": RootedTreeKernel,
    "subtree": SubtreeKernel,
    "subset-tree": SubsetTreeKernel,
    "partial-tree": PartialTreeKernel,
    "forest": ForestKernel,
    "all-paths-graph": AllPathsGraphKernel,
    "weisfeiler-lehman": WeisfeilerLehmanKernel,
    "vector": VectorKernel,
}
