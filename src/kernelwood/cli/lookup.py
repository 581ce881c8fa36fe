"""What `kernelwood search` looks up in an index, as plain data."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from kernelwood.cli.compared import Compared
from kernelwood.errors import KernelInputError
from kernelwood.structures import shorten
from kernelwood.text import Example

if TYPE_CHECKING:
    from kernelwood.search import Match, SentenceIndex

__all__ = [
    "add_examples",
    "duplicates",
    "named_queries",
    "queries_of",
    "run_queries",
    "shown_names",
]

_ALL_PAIRS = 20_000  # examples up to which all are compared with all for duplicates
_FRAGMENTS = 3  # shared ones that are told
_TEXT = "text"


def queries_of(data: Compared) -> list[Any]:
    """Return examples as an index takes them: with their texts, and the views it compares."""
    views = data.read.views
    return [
        Example(e.id, e.label, {_TEXT: text, **{name: e.view(name) for name in views}})
        for e, text in zip(data.read.examples, data.read.texts(), strict=True)
    ]


def add_examples(index: SentenceIndex, data: Compared) -> None:
    """Put examples into an index."""
    index.add(_subjects(index, queries_of(data)))


def named_queries(index: SentenceIndex, ids: tuple[str, ...]) -> list[Any]:
    """Return examples of an index as queries.

    Raises
    ------
    KernelInputError
        If one is not there.
    """
    if not ids:
        return []
    names, texts = shown_names(index), index.texts_.tolist()
    places = dict(zip(reversed(names), range(len(names) - 1, -1, -1), strict=True))
    queries = []
    for name in ids:
        if name not in places:
            near = get_close_matches(name, places, n=1)
            guess = f"; did you mean {near[0]!r}?" if near else ""
            raise KernelInputError(f"the index has no example {shorten(repr(name))}{guess}")
        place = places[name]
        queries.append(_Held(name, texts[place], int(index.ids_[place]), place))
    return queries


def shown_names(index: SentenceIndex) -> list[str]:
    """Return what examples of an index are called: by their ids, or else by their numbers."""
    return [name or str(i) for name, i in zip(index.names_, index.ids_.tolist(), strict=True)]


class _Held:
    """An example of the index that is a query."""

    def __init__(self, id: str, text: str, number: int, place: int) -> None:
        self.id, self.text, self.number, self.place = id, text, number, place


def run_queries(
    index: SentenceIndex, queries: list[Any], options: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return for each query what is found, the most similar first."""
    from kernelwood.search import text_of

    found = []
    subjects = _subjects(index, queries)
    # One more than is asked for: what is in the index finds itself.
    own = any(isinstance(query, _Held) for query in queries)
    matches = index.search(subjects, options["k"] + own, n_rerank=options["rerank"])
    for query, subject, row in zip(queries, subjects, matches, strict=True):
        held = query.number if isinstance(query, _Held) else None
        kept = [match for match in row if match.id != held][: options["k"]]
        found.append(
            {
                "id": query.id,
                "text": query.text if isinstance(query, _Held) else text_of(query),
                "matches": [_told(index, subject, m, explain=options["explain"]) for m in kept],
            }
        )
    return found


def _subjects(index: SentenceIndex, queries: list[Any]) -> list[Any]:
    """Return queries as what the index compares: examples, or their only structure."""
    from kernelwood.arrays import ExampleBatch

    by_views = index.kernel_._accepts() is ExampleBatch
    subjects = []
    for query in queries:
        if isinstance(query, _Held):
            structure = index.index_.structures_[query.place]
            if index.view_ is not None:
                structure = Example(query.id, None, {index.view_: structure})
            subjects.append(structure)
        elif by_views or index.view_ is not None:
            subjects.append(query)
        else:
            [structure] = (view for view in query.views.values() if not isinstance(view, str))
            subjects.append(structure)
    return subjects


def _told(index: SentenceIndex, subject: Any, match: Match, *, explain: bool) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": match.name or str(match.id),
        "similarity": match.similarity,
        "exact": match.exact,
        "text": match.text,
    }
    if explain:
        told["fragments"] = [
            {"text": fragment.text, "share": fragment.share, "view": fragment.view}
            for fragment in index.explain(subject, match.id, _FRAGMENTS)
        ]
    return told


def duplicates(index: SentenceIndex, threshold: float | None) -> dict[str, Any] | None:
    """Return the pairs and groups in an index that are alike; None if none are asked for."""
    from kernelwood.search import find_duplicates

    if threshold is None:
        return None
    inner = index.index_
    candidates = index.by if len(index) > _ALL_PAIRS else None
    found = find_duplicates(
        inner.structures_, index.kernel_, threshold=threshold, candidates=candidates
    )
    names = shown_names(index)
    texts = index.texts_
    return {
        "threshold": threshold,
        "all_pairs": candidates is None,
        "pairs": [
            {
                "similarity": float(similarity),
                "ids": [names[a], names[b]],
                "texts": [texts[a], texts[b]],
            }
            for (a, b), similarity in zip(
                found.pairs.tolist(), np.asarray(found.similarities), strict=True
            )
        ],
        "groups": [[names[place] for place in group] for group in found.groups],
    }
