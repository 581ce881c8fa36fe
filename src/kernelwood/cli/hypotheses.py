"""Candidates on the command line: examples of sentences become examples of hypotheses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from kernelwood.text import Example

if TYPE_CHECKING:
    from kernelwood.relations import PairLabels

__all__ = ["CANDIDATES", "candidate_views"]

# What --candidates takes -> the view that is made unless others are named.
CANDIDATES = {"pairs": "path", "events": "trigger-path", "amr": "amr-path"}


def candidate_views(
    kind: str, names: tuple[str, ...], types: tuple[str, ...], labels: PairLabels
) -> Callable[[Example, Counter[str], Counter[str]], Iterator[Example]]:
    """Return a function that yields the candidates of an example, with views.

    It counts what is left out, and fallbacks, in the two counters.

    Raises
    ------
    ValueError
        When there is no view of that name.
    """
    from kernelwood.relations import event_candidates, pair_candidates
    from kernelwood.views import find_view

    wanted = names or (CANDIDATES[kind],)
    for name in wanted:
        find_view(name)
    restricted = types or None
    if kind == "pairs":
        generate = partial(pair_candidates, types=restricted, labels=labels)
    else:
        source = "amr" if kind == "amr" else "annotation"
        generate = partial(event_candidates, types=restricted, source=source)

    def make(example: Example, dropped: Counter[str], remarks: Counter[str]) -> Iterator[Example]:
        candidates = generate([example])
        examples = candidates.examples(*wanted)
        for tally in (candidates.tally, examples.tally):
            dropped.update(tally.reasons)
            remarks.update(tally.remarks)
        yield from examples

    return make
