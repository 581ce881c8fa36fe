"""Structures as features: hashcodes, and indexes of them."""

from kernelwood.features.hashing import KernelHasher

__all__ = ["KernelHasher"]
