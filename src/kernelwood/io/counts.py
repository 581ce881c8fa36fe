"""Counts of skipped and dropped examples, by reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from kernelwood.io.streams import Tally
from kernelwood.text import Example


@dataclass
class Counts:
    """Numbers of skipped and dropped examples and of remarks, by reason.

    ``current`` is the example that is being processed, ``taken`` the number of those delivered.
    """

    skipped: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    remarks: Counter[str] = field(default_factory=Counter)
    current: Example | None = None
    taken: int = 0

    def add(self, tally: Tally) -> None:
        """Add the counts of a reader."""
        self.skipped.update(tally.reasons)
        self.remarks.update(tally.remarks)

    def reasons(self) -> str:
        """Return the reasons for which examples were skipped or dropped, as text."""
        counts = self.skipped + self.dropped
        return "; ".join(f"{count:,} × {reason}" for reason, count in counts.items())

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, the most frequent reasons first."""
        names = ("skipped", "dropped", "remarks")
        return {name: dict(getattr(self, name).most_common()) for name in names}
