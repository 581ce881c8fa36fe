"""What is learned from structures and their labels: classifiers."""

from kernelwood.learners.base import StructureClassifier
from kernelwood.learners.hash_forest import HashForestClassifier
from kernelwood.learners.hash_neighbors import HashNeighborsClassifier
from kernelwood.learners.kernel_neighbors import KernelNeighborsClassifier
from kernelwood.learners.kernel_network import KernelNetworkClassifier
from kernelwood.learners.kernel_svc import KernelSVC
from kernelwood.learners.svc_evidence import Evidence, Support

__all__ = [
    "LEARNERS",
    "Evidence",
    "HashForestClassifier",
    "HashNeighborsClassifier",
    "KernelNeighborsClassifier",
    "KernelNetworkClassifier",
    "KernelSVC",
    "StructureClassifier",
    "Support",
]

# Name -> classifier; a new one adds a row, and every test of learners runs on it.
LEARNERS: dict[str, type[StructureClassifier]] = {
    "hash-forest": HashForestClassifier,
    "hash-neighbors": HashNeighborsClassifier,
    "kernel-neighbors": KernelNeighborsClassifier,
    "kernel-network": KernelNetworkClassifier,
    "kernel-svc": KernelSVC,
}
