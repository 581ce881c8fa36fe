"""Structures as features: hashcodes and vectors, what they compare with, and search by them."""

from kernelwood.features.hash_index import HashIndex
from kernelwood.features.hashing import KernelHasher
from kernelwood.features.nystrom import NystromEmbedder
from kernelwood.features.reference_selection import ReferenceSelector

__all__ = ["HashIndex", "KernelHasher", "NystromEmbedder", "ReferenceSelector"]
