"""What two corpora have in common: documents, sentences and paths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from event_models.candidates import PATH, Part

from kernelwood.relations.shared_sentences import near_sentences

__all__ = ["shared"]


def normal(text: str) -> str:
    """Return a text without differences of case and whitespace."""
    return " ".join(text.casefold().split())


def shared(training: Iterable[Part], test: Part) -> dict[str, Any]:
    """Return how much of the test part is in the training parts.

    Sentences are those with candidates; nearly equal ones have at least 70 % of their word trigrams
    in common with a training sentence.
    """
    parts = list(training)
    known_documents = {normal(" ".join(texts)) for part in parts for texts in part.texts}
    sentences = [text for part in parts for texts in part.texts for text in texts]
    known = set(map(normal, sentences))
    tested = test.triggered
    rest = [text for text in tested if normal(text) not in known]
    paths = {path for part in parts for path in _paths(part)}
    return {
        "training": [part.name for part in parts],
        "test": test.name,
        "documents": len(test.texts),
        "equal_documents": sum(normal(" ".join(t)) in known_documents for t in test.texts),
        # Headings recur in articles that are otherwise different.
        "documents_with_half_of_their_sentences": sum(
            2 * sum(normal(text) in known for text in texts) > len(texts) for texts in test.texts
        ),
        "sentences": len(tested),
        "equal_sentences": len(tested) - len(rest),
        "near_sentences": len(near_sentences(rest, sentences)),
        "candidates": len(test.y),
        "candidates_with_known_path": sum(path in paths for path in _paths(test)),
    }


def _paths(part: Part) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(path.edges, path.nodes) for path in part.X.view(PATH)]
