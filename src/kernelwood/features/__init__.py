"""Structures as features: hashcodes and vectors, what they compare with, and search by them."""

from kernelwood.features.embedding_index import EmbeddingIndex
from kernelwood.features.hash_index import HashIndex
from kernelwood.features.hashing import KernelHasher
from kernelwood.features.nystrom import NystromEmbedder
from kernelwood.features.reference_selection import ReferenceSelector

__all__ = ["EmbeddingIndex", "HashIndex", "KernelHasher", "NystromEmbedder", "ReferenceSelector"]
