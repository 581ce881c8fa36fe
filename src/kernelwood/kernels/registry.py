"""Kernels by name, for files of settings and for tests that run on every kernel."""

from __future__ import annotations

from kernelwood.kernels.base import Kernel
from kernelwood.kernels.forest import ForestKernel
from kernelwood.kernels.rooted import RootedTreeKernel
from kernelwood.kernels.sequence import SubsequenceKernel
from kernelwood.kernels.tree import PartialTreeKernel, SubsetTreeKernel, SubtreeKernel

KERNELS: dict[str, type[Kernel]] = {
    "subsequence": SubsequenceKernel,
    "rooted-tree": RootedTreeKernel,
    "subtree": SubtreeKernel,
    "subset-tree": SubsetTreeKernel,
    "partial-tree": PartialTreeKernel,
    "forest": ForestKernel,
}
