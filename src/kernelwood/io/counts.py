"""Counts of skipped and dropped examples, by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kernelwood.io.streams import Tally
from kernelwood.text import Example

NOT_CANDIDATES = "not candidates, never related in training"  # a colon and the kind follow


def reason_lines(counts: Mapping[str, int], title: str) -> list[str]:
    """Return a line for each reason, with a title, and one for all pairs that are not candidates.

    Examples
    --------
    >>> never = f"{NOT_CANDIDATES}: "
    >>> for line in reason_lines({f"{never}A–B": 40, "spans": 3, f"{never}B–B": 9}, "dropped"):
    ...     print(line)
    not candidates, never related in training: A–B (40), B–B (9)
    dropped: 3 × spans
    """
    kinds, others = [], []
    for reason, n in counts.items():
        if reason.startswith(f"{NOT_CANDIDATES}: "):
            kinds.append(f"{reason.removeprefix(f'{NOT_CANDIDATES}: ')} ({n:,})")
        else:
            others.append(f"{title}: {n:,} × {reason}")
    return [f"{NOT_CANDIDATES}: {', '.join(kinds)}", *others] if kinds else others


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
