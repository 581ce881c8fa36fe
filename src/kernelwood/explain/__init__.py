"""Why is this number what it is? The fragments two structures share."""

from kernelwood.explain.fragment import Fragment, first_occurrence
from kernelwood.explain.shared import shared_fragments

__all__ = ["Fragment", "first_occurrence", "shared_fragments"]
