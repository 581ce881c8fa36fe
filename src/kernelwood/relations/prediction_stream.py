"""Predictions for streams of examples of any length, in batches that fit in memory."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from kernelwood.errors import KernelInputError
from kernelwood.io import Counts
from kernelwood.parsing import analyze
from kernelwood.relations.adaptation import DriftMonitor
from kernelwood.relations.calibration import positive_rate_threshold
from kernelwood.relations.entity_remarks import (
    ENTITY_REMARKS,
    NO_ENTITIES,
    entity_types,
    type_remark,
)
from kernelwood.relations.writers import DocumentPredictions
from kernelwood.text import Document, Example, Sentence, annotated_view
from kernelwood.threads import ignored_warnings

if TYPE_CHECKING:
    from kernelwood.relations.extractor import RelationExtractor
    from kernelwood.relations.predictions import Prediction, Predictions

# A function from examples to these, perhaps with more entities, and all predictions for them.
Predictor: TypeAlias = "Callable[[list[Example]], tuple[list[Example], Predictions]]"

_EXAMPLES = 512  # examples in a batch, unless they are long
_CHARACTERS = 200_000


@dataclass
class PredictionCounts(Counts):
    """Numbers of documents, candidates and relations so far."""

    threshold: float = 0.0
    n_documents: int = 0
    n_entities: int = 0
    n_candidates: int = 0
    types: Counter[str] = field(default_factory=Counter)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "threshold": self.threshold,
            "n_documents": self.n_documents,
            "n_entities": self.n_entities,
            "n_candidates": self.n_candidates,
            "n_relations": self.types.total(),
            "types": dict(self.types.most_common()),
            **super().to_dict(),
        }


def entity_finder(
    extractor: RelationExtractor, dictionary: Any = None, *, tagger: bool = True
) -> Callable[[Any], Any] | None:
    """Return the function that adds entities to a document; None if there is none.

    Parameters
    ----------
    extractor : RelationExtractor
        Its tagger is used, if it has one.
    dictionary : Dictionary, optional
        Terms that are entities.
    tagger : bool
        False to leave out the tagger.
    """
    if extractor.tagger_ is not None and tagger:
        return partial(extractor.find_entities, dictionary=dictionary)
    return None if dictionary is None else dictionary.annotate


def with_entities(examples: Iterable[Example]) -> list[Example]:
    """Return the examples with entities; the others need not be parsed."""
    return [example for example in examples if annotated_view(example).entities]


def add_entities(example: Example, find: Callable[[Any], Any] | None) -> Example:
    """Return an example whose document or sentence has the entities that a function finds."""
    if find is None:
        return example
    name = "document" if "document" in example.views else "sentence"
    return example.with_views({name: find(annotated_view(example))})


def text_predictor(extractor: RelationExtractor, backend: Any = None) -> Predictor:
    """Return the function that predicts relations in texts.

    Parameters
    ----------
    extractor : RelationExtractor
    backend : backend of `kernelwood.parsing`, optional
        Parser; by default that of the extractor. One that recognizes entities (``entities=True``)
        adds them to texts that have none.
    """
    if getattr(backend, "entities", False):
        return partial(_predict_recognized, extractor, backend)

    def predict(batch: list[Example]) -> tuple[list[Example], Predictions]:
        return batch, extractor.extract(with_entities(batch), parser=backend, all=True)

    return predict


def _predict_recognized(
    extractor: RelationExtractor, backend: Any, batch: list[Example]
) -> tuple[list[Example], Predictions]:
    """Return predictions for texts whose entities are recognized by the parser."""
    analyzed = analyze(backend, [annotated_view(example) for example in batch])
    sentences = {e.id: found for e, found in zip(batch, analyzed, strict=True)}
    annotated = [_with_entities_of(e, sentences[e.id]) for e in batch]
    # The same parser, although parses are given.
    is_same = backend.name == extractor.parser_
    with ignored_warnings("the model was trained on parses") if is_same else nullcontext():
        return annotated, predict_sentences(extractor, sentences)


def predict_sentences(
    extractor: RelationExtractor, sentences: Mapping[str, Sequence[Sentence]]
) -> Predictions:
    """Return predictions for parsed sentences, with the names of their texts."""
    named = {
        f"{name}.s{number}": (name, sentence)
        for name, some in sentences.items()
        for number, sentence in enumerate(some)
    }
    examples = [Example(id, views={"sentence": sentence}) for id, (_, sentence) in named.items()]
    predictions = extractor.extract(examples, find_entities=False, parser="given", all=True)
    table = predictions.candidates.sentences
    table.documents = [named[id][0] for id in table.documents]
    return predictions


def _with_entities_of(example: Example, sentences: Iterable[Sentence]) -> Example:
    """Return a text with the entities of its sentences, unless it has entities."""
    entities = [
        entity._replace(
            spans=tuple((a + sentence.start, b + sentence.start) for a, b in entity.spans)
        )
        for sentence in sentences
        for entity in sentence.entities
    ]
    document = example.view("document")
    if not isinstance(document, Document) or document.entities:
        return example
    return example.with_views({"document": replace(document, entities=tuple(entities))})


def predict_stream(
    extractor: RelationExtractor,
    examples: Iterable[Example],
    predict: Predictor,
    counts: PredictionCounts,
    *,
    n_evidence: int = 0,
    every: bool = False,
    positive_rate: float | None = None,
    drift: bool = True,
    advice: str = "",
) -> Iterator[DocumentPredictions]:
    """Yield the predictions for each example of a stream.

    Parameters
    ----------
    extractor : RelationExtractor
        Finds the evidence.
    examples : iterable of Example
        Each with a sentence or a document; predicted in batches as they are read.
    predict : callable
        Returns a list of examples, which may have got entities, and their predictions, negative
        ones included.
    counts : PredictionCounts
        Counts, updated during the iteration.
    n_evidence : int
        Number of training cases to find for each prediction.
    every : bool
        Whether negative predictions are yielded too.
    positive_rate : float, optional
        Choose the threshold that gives this rate over all examples, which are then kept in memory.
    drift : bool
        Whether to warn of drift at the end.
    advice : str
        Advice on entities for the error message; without it, missing entities are not an error.

    Raises
    ------
    KernelInputError
        If no example has entities, and there is advice.
    """
    counts.threshold = extractor.threshold_
    batches: Iterable[tuple[list[Example], Predictions]] = map(
        _without_remarks(predict), _in_batches(examples)
    )
    monitor, types = DriftMonitor(extractor), set[str]()
    if positive_rate is not None:
        batches = _at_positive_rate(list(batches), positive_rate, counts)
    for batch, predictions in batches:
        counts.n_documents += len(batch)
        counts.n_entities += sum(len(annotated_view(example).entities) for example in batch)
        counts.n_candidates += len(predictions)
        monitor.add(predictions)
        types |= entity_types(predictions)
        counts.types.update(one.type for one in predictions if one.positive)
        counts.dropped.update(predictions.tally.reasons)
        kept = [one for one in predictions if every or one.positive]
        cases = extractor.explain(kept, n_evidence) if n_evidence and kept else [()] * len(kept)
        by_document: dict[str, list[tuple[Prediction, Any]]] = {}
        for one, evidence in zip(kept, cases, strict=True):
            by_document.setdefault(one.document, []).append((one, evidence))
        for example in batch:
            # Popped, so that a second example with the same name does not get them again.
            pairs = by_document.pop(example.id, [])
            ones, evidences = [one for one, _ in pairs], [some for _, some in pairs]
            yield DocumentPredictions(
                example.id, annotated_view(example), ones, evidences if n_evidence else None
            )
    if counts.n_documents and not counts.n_entities and advice:
        raise KernelInputError(f"{NO_ENTITIES}: {advice}")
    if remark := type_remark(extractor, types):
        warnings.warn(remark, UserWarning, stacklevel=2)
    if drift and positive_rate is None:
        monitor.warn()


def _without_remarks(predict: Predictor) -> Predictor:
    """Return a function without the warnings that depend on all batches."""

    def quiet(batch: list[Example]) -> tuple[list[Example], Predictions]:
        with ignored_warnings(f"drift:|{ENTITY_REMARKS}"):
            return predict(batch)

    return quiet


def _in_batches(examples: Iterable[Example]) -> Iterator[list[Example]]:
    """Yield examples in lists that fit in memory."""
    batch: list[Example] = []
    size = 0
    for example in examples:
        batch.append(example)
        size += len(annotated_view(example).text)
        if len(batch) == _EXAMPLES or size >= _CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _at_positive_rate(
    batches: list[tuple[list[Example], Predictions]], rate: float, counts: PredictionCounts
) -> Iterator[tuple[list[Example], Predictions]]:
    """Yield predictions with the threshold that gives a positive rate over all batches."""
    probabilities = [one.probability for _, predictions in batches for one in predictions]
    if probabilities:
        counts.threshold = positive_rate_threshold(probabilities, rate)
    for batch, predictions in batches:
        yield batch, predictions.with_threshold(counts.threshold)
