"""Contents of a report: predictions collected one batch after another, in bounded memory."""

from __future__ import annotations

import heapq
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

from kernelwood.errors import KernelInputError
from kernelwood.relations.candidates import NONE
from kernelwood.relations.facts import FactCounter, Facts
from kernelwood.relations.predictions import Prediction
from kernelwood.structures import shorten
from kernelwood.text import Document, Entity, Sentence, Span

# Sentence, relation, trigger and participants of a prediction.
_Key: TypeAlias = tuple[Any, ...]
_N_ERRORS = 200
_N_SAME = 20  # documents with the same text whose names are shown


class Passage(NamedTuple):
    """Part of a document: a sentence with predictions, or the text between two of them."""

    text: str
    entities: Sequence[Entity] = ()
    predictions: Sequence[Prediction] = ()


class ShownDocument(NamedTuple):
    """A document of the report.

    Attributes
    ----------
    name : str
    passages : sequence of Passage
    others : sequence of str
        The first of the other documents with the same text and the same predictions.
    n_others : int
        The number of these.
    """

    name: str
    passages: Sequence[Passage]
    others: Sequence[str] = ()
    n_others: int = 0


@dataclass(slots=True)
class _Kept:
    """A document that may be shown."""

    number: int
    name: str
    text: str | None
    predictions: dict[_Key, Prediction] = field(default_factory=dict)
    entities: Sequence[Entity] = ()
    n_relations: int = 0
    same: list[_Kept] = field(default_factory=list)  # the first ones that look the same
    n_same: int = 0

    def rank(self) -> tuple[int, int]:
        return -self.n_relations, self.number

    @property
    def n_characters(self) -> int:
        if self.text is not None:
            return len(self.text)
        return sum(
            end - start for start, end in {one.sentence for one in self.predictions.values()}
        )

    def add(self, found: Iterable[Prediction], limits: Mapping[bool, int]) -> list[Prediction]:
        """Add predictions; return those that are new. The most important ones are kept."""
        new = []
        for one in found:
            key = _key(one)
            if key not in self.predictions:
                self.predictions[key] = one
                new.append(one)
        self.n_relations += sum(one.positive for one in new)
        for positive, limit in limits.items():
            some = [(key, one) for key, one in self.predictions.items() if one.positive is positive]
            for key, _ in sorted(some, key=lambda pair: importance(pair[1]))[limit:]:
                del self.predictions[key]
        return new

    def signature(self) -> tuple[Any, ...]:
        """Equal for documents that look the same."""
        return self.text, frozenset((key, one.positive) for key, one in self.predictions.items())

    def merge(self, other: _Kept) -> None:
        """Add a document that looks the same."""
        self.same = [*self.same, other, *other.same][:_N_SAME]
        self.n_same += 1 + other.n_same
        other.same = []


def _key(one: Prediction) -> _Key:
    parts = [*one.participants, *([one.trigger] if one.trigger else [])]
    return one.sentence, one.text, one.relation, tuple((part.role, part.spans) for part in parts)


def importance(one: Prediction) -> tuple[bool, float]:
    """Return a key that sorts errors first, then the highest probability."""
    return one.error is None or one.positive, -one.probability


class ReportContents:
    """Predictions for a report, collected one batch after another.

    Counts and facts are those of all predictions. Texts and predictions are kept up to the limits:
    the documents with the most relations, and in these the relations with the highest
    probability. Memory therefore does not grow with the number of documents, except for facts.

    Parameters
    ----------
    n_documents : int, default 1000
        Maximum number of documents whose texts are shown.
    n_characters : int, default 200,000
        Maximum length of all these texts; one document may be longer.
    n_relations : int, default 1000
        Maximum number of relations shown in the texts.
    n_negative : int, default 200
        Maximum number of candidates below the decision threshold shown in the texts; annotated
        relations that were missed come first.
    by : {"text", "id"}, default "text"
        Identity of the entities of facts; see `kernelwood.relations.FactCounter`.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_interactions
    >>> from kernelwood.relations import ReportContents, report_html
    >>> extractor = kw.RelationExtractor(random_state=0).fit(load_interactions("train"))
    >>> contents = ReportContents(n_documents=10)
    >>> test = load_interactions("test")
    >>> for start in range(0, 60, 20):
    ...     contents.add(extractor.predict(test[start : start + 20]))
    >>> page = report_html(title="Test", predictions=contents)
    >>> contents.n_relations == sum(contents.types.values())
    True
    """

    def __init__(
        self,
        *,
        n_documents: int = 1000,
        n_characters: int = 200_000,
        n_relations: int = 1000,
        n_negative: int = 200,
        by: Any = "text",
    ) -> None:
        limits = {
            "n_documents": n_documents,
            "n_characters": n_characters,
            "n_relations": n_relations,
            "n_negative": n_negative,
        }
        for name, limit in limits.items():
            if limit < 0:
                raise KernelInputError(f"{name} must be 0 or more, got {limit}")
        self._n_documents, self._n_characters = n_documents, n_characters
        self._limits = {True: n_relations, False: n_negative}
        self._facts = FactCounter(by)
        self._kept: dict[tuple[str, str | None], _Kept] = {}
        self._errors: list[Prediction] = []
        self._length = 0  # characters since documents were last chosen
        self.n_documents = self.n_candidates = self.n_repeated = 0
        self.types: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()
        self.thresholds: set[float] = set()
        self.is_annotated = False

    @property
    def n_relations(self) -> int:
        """Number of predicted relations."""
        return self.types.total()

    def add(
        self,
        predictions: Iterable[Prediction],
        documents: Mapping[str, str | Document | Sentence] | None = None,
    ) -> None:
        """Add the predictions of some documents.

        Parameters
        ----------
        predictions : iterable of Prediction
            Candidates below the decision threshold may be among them.
        documents : mapping of str to str, Document or Sentence, optional
            Texts by document id; entities are marked where no prediction shows them. A document
            may have no predictions.
        """
        texts: dict[str, str] = {}
        entities: dict[str, Sequence[Entity]] = {}
        for name, given in (documents or {}).items():
            if isinstance(given, (Document, Sentence)):
                texts[name], entities[name] = given.text, given.entities
            elif isinstance(given, str):
                texts[name] = given
            else:
                raise KernelInputError(
                    f"the text of document {name!r} must be a string, got {type(given).__name__}; "
                    "pass the text, or a kw.Document"
                )
        groups: dict[str, list[Prediction]] = {name: [] for name in texts}
        for one in predictions:
            groups.setdefault(one.document, []).append(one)
        if texts:
            _warn_of_unknown([name for name in groups if name not in texts], texts)
        for name, some in groups.items():
            self._add(name, texts.get(name), some, entities.get(name, ()))
        if len(self._kept) > 2 * self._n_documents + 100 or self._length > 4 * self._n_characters:
            self._kept = {(one.name, one.text): one for one in self._best()}
            self._length = 0

    def _add(
        self,
        name: str,
        text: str | None,
        some: Sequence[Prediction],
        entities: Sequence[Entity],
    ) -> None:
        if (name, text) not in self._kept:
            self.n_documents += 1
            self._kept[name, text] = _Kept(self.n_documents, name, text, entities=entities)
            self._length += len(text or "")
        new = self._kept[name, text].add(some, self._limits)
        self.n_repeated += len(some) - len(new)
        self.n_candidates += len(new)
        self._facts.add(new)
        for one in new:
            self.is_annotated |= one.label not in (None, NONE) or bool(
                one.candidate.sentence.relations or one.candidate.sentence.events
            )
            self.thresholds.add(one.threshold)
            if one.positive:
                self.types[one.type] += 1
        wrong = [one for one in new if one.error is not None]
        self.errors.update(str(one.error) for one in wrong)
        # The largest mistakes.
        self._errors = heapq.nsmallest(_N_ERRORS, [*self._errors, *wrong], key=_mistake)

    def _best(self) -> list[_Kept]:
        """Return the documents that fit the limits, in the order of their arrival.

        Those that look the same are merged.
        """
        best: dict[tuple[Any, ...], _Kept] = {}
        n_characters = n_relations = 0
        is_full = self._n_documents == 0
        for one in sorted(self._kept.values(), key=_Kept.rank):
            signature = one.signature()
            if signature in best:
                best[signature].merge(one)
            elif not is_full:
                n_characters += one.n_characters
                n_relations += one.n_relations
                too_long = n_characters > self._n_characters or n_relations > self._limits[True]
                if not (best and too_long):
                    best[signature] = one
                is_full = too_long or len(best) == self._n_documents
        return sorted(best.values(), key=lambda one: one.number)

    def facts(self) -> Facts:
        """Return the facts of all predictions."""
        return self._facts.facts()

    def shown(self) -> ShownContents:
        """Return the contents to show, and warn of texts and predictions that were given twice."""
        if self.n_repeated:
            _warn(f"{self.n_repeated} predictions were given twice; the report shows each once")
        kept = self._best()
        self._kept = {(one.name, one.text): one for one in kept}
        if n_same := sum(one.n_same for one in kept):
            _warn(
                f"{n_same} of {len(kept) + n_same} documents have the text and the predictions of "
                "another one; the report shows each text once, its facts count every document"
            )
        chosen = self._chosen(kept)
        made = ShownContents([], {}, [], self._n_characters)
        for document in kept:
            some = {
                key: self._labeled(one)
                for key, one in document.predictions.items()
                if id(one) in chosen
            }
            passages = made.within_limit(
                passages_of(some.values(), document.text, document.entities)
            )
            names = [one.name for one in document.same]
            made.documents.append(ShownDocument(document.name, passages, names, document.n_same))
            for one in (document, *document.same):
                made.places.update(
                    {(one.name, one.predictions[key].id): shown for key, shown in some.items()}
                )
        if self.is_annotated:
            made.errors += self._errors
        return made

    def _chosen(self, kept: Sequence[_Kept]) -> set[int]:
        """Return which predictions are shown."""
        found: set[int] = set()
        for positive, limit in self._limits.items():
            some = [
                one
                for document in kept
                for one in document.predictions.values()
                if one.positive is positive
            ]
            found.update(id(one) for one in heapq.nsmallest(limit, some, key=importance))
        return found

    def _labeled(self, one: Prediction) -> Prediction:
        """Return a prediction, without its label if no relation is annotated in any document."""
        return one if self.is_annotated or one.label is None else replace(one, label=None)


@dataclass(slots=True)
class ShownContents:
    """What a report shows.

    Attributes
    ----------
    documents : list of ShownDocument
    places : dict of (str, str) to Prediction
        The prediction that is shown for a document and the id of a prediction in it.
    errors : list of Prediction
        The largest mistakes first; not all of them are in the documents.
    room : int
        Characters of text without relations that may still be shown.
    n_left_out : int
        Characters of text without relations that are left out.
    """

    documents: list[ShownDocument]
    places: dict[tuple[str, str], Prediction]
    errors: list[Prediction]
    room: int
    n_left_out: int = 0

    @property
    def n_documents(self) -> int:
        """Number of documents whose texts are shown."""
        return sum(1 + one.n_others for one in self.documents)

    def n_predictions(self, *, positive: bool) -> int:
        """Return the number of predictions that are shown, with those of merged documents."""
        return sum(
            (1 + document.n_others) * sum(one.positive is positive for one in passage.predictions)
            for document in self.documents
            for passage in document.passages
        )

    def within_limit(self, passages: Iterable[Passage]) -> list[Passage]:
        """Return passages; text without predictions is cut if there is too much of it."""
        made = []
        for passage in passages:
            if not passage.predictions and len(passage.text) > self.room:
                self.n_left_out += len(passage.text) - self.room
                passage = passage._replace(text=passage.text[: self.room])
            if not passage.predictions:
                self.room -= len(passage.text)
            if passage.text:
                made.append(passage)
        return made


def _mistake(one: Prediction) -> float:
    """Return a key that sorts the largest mistakes first."""
    return one.probability - 1 if one.error == "false negative" else -one.probability


def _warn_of_unknown(names: Sequence[str], texts: Mapping[str, str]) -> None:
    if names:
        _warn(
            f"predictions are about {shorten(repr(names[0]))}, which is not in documents "
            f"({shorten(', '.join(map(repr, texts)))}); use the same ids, or a text may be shown "
            "twice"
        )


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=4)


def passages_of(
    predictions: Iterable[Prediction], text: str | None, entities: Sequence[Entity] = ()
) -> list[Passage]:
    """Return the passages of a document, in the order of its text, with its entities.

    A sentence that is not found at its offsets, because the document has another text or none,
    is a passage of its own.
    """
    sentences: dict[tuple[Span, str], list[Prediction]] = {}
    for one in predictions:
        sentences.setdefault((one.sentence, one.text), []).append(one)
    passages: list[Passage] = []
    whole, done = text or "", 0
    for (start, end), sentence in sorted(sentences):
        if done <= start and whole[start:end] == sentence:
            if whole[done:start].strip():
                passages.append(_between(whole, done, start, entities))
            done = end
        here = sentences[(start, end), sentence]
        passages.append(Passage(sentence, _entities(here), here))
    # A text that contains none of the sentences is not the text of the predictions.
    if whole[done:].strip() and (done or not sentences):
        passages.append(_between(whole, done, len(whole), entities))
    return passages


def _between(text: str, start: int, end: int, entities: Sequence[Entity]) -> Passage:
    """Return the passage between two sentences with predictions, with its own entities."""
    shown = text[start:end]
    start += len(shown) - len(shown.lstrip())
    inside = [one for one in entities if start <= one.start and one.end <= end]
    moved = [
        one._replace(spans=tuple((a - start, b - start) for a, b in one.spans)) for one in inside
    ]
    return Passage(shown.strip(), moved)


def _entities(predictions: Iterable[Prediction]) -> list[Entity]:
    """Return all entities of a sentence in order, with the triggers of its candidates."""
    found: dict[tuple[tuple[Span, ...], str], Entity] = {}
    for candidate in (one.candidate for one in predictions):
        trigger = [candidate.trigger] if candidate.trigger else []
        for entity in (*candidate.entities, *trigger, *candidate.sentence.entities):
            found.setdefault((entity.spans, entity.id), entity)
    return [found[key] for key in sorted(found)]
