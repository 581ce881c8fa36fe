"""What a search returns."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Match"]


@dataclass(frozen=True, slots=True)
class Match:
    """A sentence that was found.

    Attributes
    ----------
    id : int
        Its id in the index.
    similarity : float
        That of the kernel if ``exact``; else the approximation by vectors, or the share of equal
        bits of two codes.
    text : str
        Its text.
    name : str
        The id of the example, or ``sent_id`` of the sentence; ``""`` if it has none.
    exact : bool
        Whether the kernel compared it with the query.
    """

    id: int
    similarity: float
    text: str
    name: str = ""
    exact: bool = True
