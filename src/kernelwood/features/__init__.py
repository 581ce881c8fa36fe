"""Structures as features: hashcodes, and search by them."""

from kernelwood.features.hash_index import HashIndex
from kernelwood.features.hashing import KernelHasher

__all__ = ["HashIndex", "KernelHasher"]
