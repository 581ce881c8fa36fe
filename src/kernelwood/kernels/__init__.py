"""What the similarity of two structures is, mathematically."""

from kernelwood.kernels.base import Kernel
from kernelwood.kernels.combined import Normalized, OnView, Power, Product, Scaled, Sum
from kernelwood.kernels.forest import ForestKernel
from kernelwood.kernels.rooted import RootedTreeKernel
from kernelwood.kernels.sequence import SubsequenceKernel
from kernelwood.kernels.tree import PartialTreeKernel, SubsetTreeKernel, SubtreeKernel

__all__ = [
    "KERNELS",
    "ForestKernel",
    "Kernel",
    "Normalized",
    "OnView",
    "PartialTreeKernel",
    "Power",
    "Product",
    "RootedTreeKernel",
    "Scaled",
    "SubsequenceKernel",
    "SubsetTreeKernel",
    "SubtreeKernel",
    "Sum",
]

# Name -> kernel; a new kernel adds a row here.
KERNELS: dict[str, type[Kernel]] = {
    "subsequence": SubsequenceKernel,
    "rooted-tree": RootedTreeKernel,
    "subtree": SubtreeKernel,
    "subset-tree": SubsetTreeKernel,
    "partial-tree": PartialTreeKernel,
    "forest": ForestKernel,
}
