"""What the kernel sees of a candidate: its inside, and its path to the predicate.

Both views are forests again: the distribution of a structure over the readings in which the
candidate is a constituent. From a single tree they come out as forests of one tree.
"""

from __future__ import annotations

from roles.readings import Readings, Span

import kernelwood as kw
from kernelwood.views.forests import argument_forest, argument_path_forest

__all__ = ["argument_view", "path_view"]

ARGUMENT_ROOT = "*ARGUMENT*"
PATH_ROOT = "*PATH*"

# A hyper-edge expected less often costs time and hardly changes a kernel value.
NEGLIGIBLE = 0.05


def argument_view(readings: Readings, span: Span) -> kw.Forest:
    """Return the sub-forests of the topmost nodes of a span under one common root.

    Raises
    ------
    StructureError
        If no reading has the span as a constituent.
    """
    return argument_forest(readings, *span, root=ARGUMENT_ROOT, negligible=NEGLIGIBLE)


def path_view(
    readings: Readings, predicate: int, span: Span, *, lemma: str, context: tuple[str, ...] = ()
) -> kw.Forest:
    """Return the way from the predicate to a candidate, over all readings that have it.

    Parameters
    ----------
    readings : Readings
        The sentence.
    predicate : int
        Position of the predicate; outside the candidate.
    span : (int, int)
        The candidate.
    lemma : str
        What to write below the predicate's part of speech.
    context : tuple of str
        Facts about the predicate, ``kind=value``: preterminals under the root of the view.

    Raises
    ------
    StructureError
        If no reading has the span as a constituent.
    """
    facts = [(kind, value) for kind, _, value in (fact.partition("=") for fact in context)]
    return argument_path_forest(
        readings,
        predicate,
        *span,
        lemma=lemma,
        root=PATH_ROOT,
        facts=facts,
        negligible=NEGLIGIBLE,
    )
