"""From documents to relations: candidates for a learner to judge."""

from __future__ import annotations

from kernelwood.extract.candidates import Candidates
from kernelwood.extract.dictionary import Dictionary
from kernelwood.extract.events import event_candidates
from kernelwood.extract.interactions import Interaction, flatten_events
from kernelwood.extract.pairs import pair_candidates

__all__ = [
    "Candidates",
    "Dictionary",
    "Interaction",
    "event_candidates",
    "flatten_events",
    "pair_candidates",
]
