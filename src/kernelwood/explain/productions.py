"""Which productions of two trees match, and what growing a fragment by them is worth."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from kernelwood.explain.classes import Classes
from kernelwood.explain.fragment import Steps
from kernelwood.explain.matching import HeadPairs, Matching

__all__ = ["ProductionMatches", "as_arrays", "match_productions"]

# Production of the first tree -> production of the second -> what a fragment is multiplied by
# where a pair of nodes is expanded by them; the similarity of these two nodes is not in it, as it
# counts already while the fragment is cut off there.
ProductionMatches = dict[int, dict[int, float]]


def match_productions(
    classes: Classes, matching: Matching, decay: float, steps: Steps
) -> ProductionMatches:
    """Compare the productions of two trees, with half of the steps that are left at most."""
    if not matching.is_soft:
        factors = [decay * matching.matches[heads[0]] for heads in classes.production_heads]
        return {number: {number: factor} for number, factor in enumerate(factors) if factor}
    left, right = (
        sorted({p for p, n in zip(classes.productions, counts, strict=True) if n and p >= 0})
        for counts in classes.counts
    )
    partners: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number in right:
        partners[_edges(classes, number)].append(number)
    columns = {
        edges: np.array([classes.production_heads[number] for number in some]).T
        for edges, some in partners.items()
    }
    found: ProductionMatches = {}
    reserved = steps.left // 2
    for number in left:
        edges = _edges(classes, number)
        if edges not in columns:
            continue
        values = _growth(matching, classes.production_heads[number], columns[edges]) * decay
        positive = np.flatnonzero(values)
        # Whole arrays at once: some forty comparisons cost as much as one step in Python.
        if steps.left < reserved or not steps.take(
            1 + values.size // 40 + positive.size * matching.pair_cost
        ):
            steps.exceeded = True
            break
        found[number] = {partners[edges][i]: float(values[i]) for i in positive.tolist()}
    return found


def _edges(classes: Classes, production: int) -> tuple[str, ...]:
    """Return what must be equal in productions that match: all edges, and so their number."""
    return tuple(classes.labels[head][1] for head in classes.production_heads[production])


def _growth(
    matching: Matching, heads: tuple[int, ...], others: NDArray[np.int64]
) -> NDArray[np.float64]:
    root = matching.table[matching.rows[heads[0]], matching.columns[others[0]]]
    values: NDArray[np.float64] = matching.gates[heads[0]] * matching.gates[others[0]] * (root > 0)
    for head, column in zip(heads[1:], others[1:], strict=True):
        values *= matching.table[matching.rows[head], matching.columns[column]]
    return values


def as_arrays(matches: ProductionMatches) -> HeadPairs:
    """Return the productions that match as two arrays."""
    left = [one for one, others in matches.items() for _ in others]
    right = [other for others in matches.values() for other in others]
    return np.array(left, dtype=np.int64), np.array(right, dtype=np.int64)
