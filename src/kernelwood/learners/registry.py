"""Classifiers by name, for recipes and for tests that run on every learner."""

from __future__ import annotations

from kernelwood.learners.base import StructureClassifier
from kernelwood.learners.hash_forest import HashForestClassifier
from kernelwood.learners.hash_neighbors import HashNeighborsClassifier
from kernelwood.learners.kernel_neighbors import KernelNeighborsClassifier
from kernelwood.learners.kernel_network import KernelNetworkClassifier
from kernelwood.learners.kernel_ridge import KernelRidgeClassifier
from kernelwood.learners.kernel_svc import KernelSVC
from kernelwood.learners.landmark_ridge import LandmarkRidgeClassifier

LEARNERS: dict[str, type[StructureClassifier]] = {
    "hash-forest": HashForestClassifier,
    "hash-neighbors": HashNeighborsClassifier,
    "kernel-neighbors": KernelNeighborsClassifier,
    "kernel-network": KernelNetworkClassifier,
    "kernel-ridge": KernelRidgeClassifier,
    "kernel-svc": KernelSVC,
    "landmark-ridge": LandmarkRidgeClassifier,
}
