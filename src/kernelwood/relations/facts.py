"""Facts: predicted relations of a corpus, counted once for each pair of entities and type."""

from __future__ import annotations

import math
import os
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

from kernelwood.entities import folded_name
from kernelwood.errors import KernelInputError
from kernelwood.relations.frames import pandas_frame, polars_frame
from kernelwood.relations.predictions import Participant, Prediction
from kernelwood.relations.wording import MarkedText
from kernelwood.structures import shorten
from kernelwood.text import Span

if TYPE_CHECKING:
    import pandas
    import polars

By: TypeAlias = Literal["text", "id"]
# Folded name, type and reference of an entity; those that do not identify it are empty.
_Key: TypeAlias = tuple[str, str, str]
_Spans: TypeAlias = tuple[Span, ...]

_BY = ("text", "id")
_CATALYST = "catalyst"


class FactEntity(NamedTuple):
    """An entity of facts.

    Attributes
    ----------
    name : str
        The most frequent spelling in the predictions.
    type : str
        The entity type; if facts are counted by id, the most frequent one.
    reference : str
        Id in a database, such as ``"UniProt:P04049"``; "" if there is none. If facts are counted by
        text, the most frequent one of the mentions.
    spellings : tuple of str
        All spellings, the most frequent first.
    """

    name: str
    type: str
    reference: str = ""
    spellings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        made: dict[str, Any] = {"name": self.name, "type": self.type}
        if self.reference:
            made["reference"] = self.reference
        return made | {"spellings": list(self.spellings)}


class FactSentence(NamedTuple):
    """A sentence with a predicted relation.

    Attributes
    ----------
    document, id : str
        The document, and the prediction in it.
    probability : float
        Probability of the prediction.
    sentence : (start, end)
        Characters of the document.
    text : str
        The sentence.
    first, second, trigger : tuple of (start, end)
        The mentions, in characters of the document; empty if there are none.
    """

    document: str
    id: str
    probability: float
    sentence: Span
    text: str
    first: _Spans
    second: _Spans = ()
    trigger: _Spans = ()

    @property
    def marked(self) -> MarkedText:
        """The sentence with its entities and trigger marked."""
        shift = self.sentence[0]
        entities, trigger = (
            tuple((start - shift, end - shift) for start, end in spans)
            for spans in (sorted({*self.first, *self.second}), self.trigger)
        )
        return MarkedText(self.text, entities, trigger)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        made: dict[str, Any] = {
            "document": self.document,
            "id": self.id,
            "probability": self.probability,
            "sentence": list(self.sentence),
            "text": self.text,
        }
        for name in ("first", "second", "trigger"):
            if spans := getattr(self, name):
                made[name] = [list(span) for span in spans]
        return made


@dataclass(frozen=True, slots=True, repr=False)
class Fact:
    r"""A relation between two entities, with all its predictions in a corpus.

    Attributes
    ----------
    first : FactEntity
    type : str
        Relation or event type.
    second : FactEntity or None
        None for an event with one participant.
    directed : bool
        Whether the relation goes from `first` to `second`; otherwise their order has no meaning.
    count : int
        Number of predictions: pairs of mentions, or events.
    documents : tuple of str
        Ids of the documents, sorted.
    probability : float
        The highest probability of a prediction.
    combined : float
        Probability that the relation is stated in at least one document,
        :math:`1 - \prod_d (1 - p_d)`, where :math:`p_d` is the highest probability in document
        :math:`d`. See the notes of `FactCounter`.
    sentences : tuple of FactSentence
        The sentences with the highest probability.
    """

    first: FactEntity
    type: str
    second: FactEntity | None
    directed: bool
    count: int
    documents: tuple[str, ...]
    probability: float
    combined: float
    sentences: tuple[FactSentence, ...] = ()

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.documents)

    @property
    def entities(self) -> tuple[FactEntity, ...]:
        """The first and, if there is one, the second entity."""
        return (self.first,) if self.second is None else (self.first, self.second)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "first": self.first.to_dict(),
            "type": self.type,
            "second": None if self.second is None else self.second.to_dict(),
            "directed": self.directed,
            "count": self.count,
            "n_documents": self.n_documents,
            "documents": list(self.documents),
            "probability": self.probability,
            "combined": self.combined,
            "sentences": [sentence.to_dict() for sentence in self.sentences],
        }

    def __str__(self) -> str:
        if self.second is None:
            return f"{self.first.name}: {self.type}"
        arrow = "→" if self.directed else "–"
        return f"{self.first.name} {arrow} {self.second.name}: {self.type}"

    def __repr__(self) -> str:
        return f"<Fact: {shorten(str(self))}, probability {self.combined:.2f}, count {self.count}>"


class Facts(Sequence[Fact]):
    """Facts, those with the highest combined probability first, then those with the most mentions.

    Made by ``predictions.facts()`` or `FactCounter`.

    Attributes
    ----------
    by : {"text", "id"}
        How mentions were identified with each other.
    """

    def __init__(self, facts: Iterable[Fact] = (), by: By = "text") -> None:
        self._facts, self.by = tuple(facts), by

    def __len__(self) -> int:
        return len(self._facts)

    @overload
    def __getitem__(self, place: int) -> Fact: ...
    @overload
    def __getitem__(self, place: slice) -> Facts: ...
    def __getitem__(self, place: int | slice) -> Fact | Facts:
        if isinstance(place, slice):
            return Facts(self._facts[place], self.by)
        return self._facts[place]

    def __iter__(self) -> Iterator[Fact]:
        return iter(self._facts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Facts):
            return NotImplemented
        return (self._facts, self.by) == (other._facts, other.by)

    __hash__ = None  # type: ignore[assignment]

    @property
    def entities(self) -> list[FactEntity]:
        """The entities of all facts, without repetition, in the order of the facts."""
        return list(dict.fromkeys(entity for fact in self for entity in fact.entities))

    def to_pandas(self) -> pandas.DataFrame:
        """Return a DataFrame of pandas with the columns of a ``.tsv`` file, one row per fact.

        Examples
        --------
        >>> list(Facts().to_pandas().columns)[:7]
        ['first', 'first_type', 'first_id', 'type', 'second', 'second_type', 'second_id']
        """
        from kernelwood.relations.fact_files import FACT_COLUMNS, fact_row

        return pandas_frame(FACT_COLUMNS, map(fact_row, self))

    def to_polars(self) -> polars.DataFrame:
        """Return a DataFrame of Polars, with the same columns as `to_pandas`.

        Examples
        --------
        >>> Facts().to_polars().shape
        (0, 14)
        """
        from kernelwood.relations.fact_files import FACT_COLUMNS, fact_row

        return polars_frame(FACT_COLUMNS, map(fact_row, self))

    def write(
        self,
        path: str | os.PathLike[str] | IO[str],
        format: str | None = None,
        *,
        types: Mapping[str, str] | None = None,
    ) -> None:
        r"""Write the facts to a file or folder, completely or not at all.

        Parameters
        ----------
        path : str, PathLike or text stream
            Output file, or a new or empty folder for ``"neo4j"``; ``"-"`` is standard output. A
            name ending in ``.gz`` is compressed.
        format : str, optional
            ``"tsv"``, ``"json"``, ``"jsonl"``, ``"parquet"``, ``"sif"``, ``"cx2"``, ``"graphml"``,
            ``"indra"``, ``"bel"`` or ``"neo4j"``; by default that of the suffix: ``.tsv``,
            ``.json``, ``.jsonl``, ``.parquet``, ``.sif``, ``.cx2``, ``.graphml``, ``.indra.json``,
            ``.bel`` or ``.neo4j``.
        types : mapping of str to str, optional
            Types of INDRA Statements by relation type, for ``"indra"`` and ``"bel"``, such as
            ``{"treats": "Inhibition"}``. Types with known names, such as *binds*, need none.

        Raises
        ------
        ValueError
            If the format is unknown, or `types` has an unknown statement type.
        KernelInputError
            If a Parquet table is asked for and pyarrow is not installed.
        StructureError
            If no fact can be written as an INDRA Statement.
        FileExistsError
            If ``path`` exists where a folder is to be written.

        Warns
        -----
        UserWarning
            If some facts cannot be written as INDRA Statements.

        Examples
        --------
        >>> import io
        >>> out = io.StringIO()
        >>> Facts().write(out, "tsv")
        >>> out.getvalue().split("\t")[:4]
        ['first', 'first_type', 'first_id', 'type']
        """
        from kernelwood.relations.fact_files import write_facts

        write_facts(self, path, format, types=types)

    def _repr_html_(self) -> str:
        from kernelwood.relations.notebook import facts_html

        return facts_html(self)

    def __repr__(self) -> str:
        facts = f"{len(self)} fact{'s' * (len(self) != 1)}"
        return f"<Facts: {facts}, {len(self.entities)} entities, by {self.by}>"


@dataclass(slots=True)
class _Mentions:
    """Names of an entity that were seen."""

    spellings: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    references: Counter[str] = field(default_factory=Counter)

    def add(self, one: Participant) -> None:
        self.spellings[one.text] += 1
        self.types[one.type] += 1
        if one.reference:
            self.references[one.reference] += 1

    def entity(self) -> FactEntity:
        spellings = tuple(_by_frequency(self.spellings))
        references = _by_frequency(self.references) or [""]
        return FactEntity(spellings[0], _by_frequency(self.types)[0], references[0], spellings)


def _by_frequency(counted: Mapping[str, int]) -> list[str]:
    return sorted(counted, key=lambda name: (-counted[name], name))


@dataclass(slots=True)
class _Seen:
    """Predictions of one fact that were seen."""

    count: int = 0
    best: dict[str, float] = field(default_factory=dict)  # by document
    sentences: list[FactSentence] = field(default_factory=list)

    def add(self, sentence: FactSentence, n_sentences: int) -> None:
        self.count += 1
        name, probability = sentence.document, sentence.probability
        self.best[name] = max(probability, self.best.get(name, 0.0))
        place = sentence.sentence
        for other in self.sentences:
            if (other.document, other.sentence) == (name, place):
                sentence = min(sentence, other, key=_rank)
                self.sentences.remove(other)
                break
        insort(self.sentences, sentence, key=_rank)
        del self.sentences[n_sentences:]


def _rank(sentence: FactSentence) -> tuple[Any, ...]:
    return (-sentence.probability, sentence.document, sentence.sentence, *sentence)


class FactCounter:
    """Collects facts from predictions that are made one batch after another.

    The result does not depend on the order or on the batches. Texts are not kept, except
    `n_sentences` sentences of each fact, so the predictions need not fit in memory together.

    Parameters
    ----------
    by : {"text", "id"}, default "text"
        Identity of entities. ``"text"``: mentions are the same entity if they have the same type,
        and texts that are equal but for case, blanks, hyphens between letters and digits, and names
        of Greek letters, as in `kernelwood.Dictionary`. ``"id"``: mentions with the same reference
        to a database are the same entity; mentions without a reference are identified by text, and
        their entities have the reference "".
    all : bool, default False
        Whether to count candidates below the decision threshold too.
    n_sentences : int, default 3
        Number of sentences to keep for each fact.

    Notes
    -----
    An event with a catalyst gives one directed fact for the catalyst with each participant; two
    participants of an event give a fact without direction; an event with a single participant
    gives a fact without a second entity.

    `Fact.combined` assumes that documents are independent: a relation that is stated in two
    documents with probability 0.5 each gets 0.75. Documents that repeat each other, and phrases
    that always mislead the extractor, violate this assumption, so the value is too high rather than
    too low. It is meant for ranking; `Fact.probability` uses only the best sentence and is the
    cautious value. Sentences of one document are not combined, since a text repeats itself. Every
    example of a corpus of single sentences counts as a document.

    Examples
    --------
    >>> import kernelwood as kw
    >>> from kernelwood.datasets import load_interactions
    >>> extractor = kw.RelationExtractor(random_state=0).fit(load_interactions("train"))
    >>> counter = FactCounter()
    >>> for start in range(0, 60, 20):
    ...     counter.add(extractor.predict(load_interactions("test")[start : start + 20]))
    >>> facts = counter.facts()
    >>> facts == extractor.predict(load_interactions("test")[:60]).facts()
    True
    """

    def __init__(self, by: By = "text", *, all: bool = False, n_sentences: int = 3) -> None:
        if by not in _BY:
            raise KernelInputError(f"by must be 'text' or 'id', got {by!r}")
        if n_sentences < 0:
            raise KernelInputError(f"n_sentences must be 0 or more, got {n_sentences}")
        self.by: By = by
        self.all = all
        self.n_sentences = n_sentences
        self._entities: dict[_Key, _Mentions] = {}
        self._facts: dict[tuple[_Key, str, _Key | None, bool], _Seen] = {}

    def add(self, predictions: Iterable[Prediction]) -> None:
        """Count predictions."""
        for prediction in predictions:
            if self.all or prediction.positive:
                for first, second, directed in _pairs(prediction):
                    self._add(prediction, first, second, directed)

    def _add(
        self, prediction: Prediction, first: Participant, second: Participant | None, directed: bool
    ) -> None:
        one, other = self._key(first), None if second is None else self._key(second)
        self._entities.setdefault(one, _Mentions()).add(first)
        if second is not None and other is not None:
            self._entities.setdefault(other, _Mentions()).add(second)
            if not directed and (other, second.spans) < (one, first.spans):
                one, other, first, second = other, one, second, first
        sentence = FactSentence(
            prediction.document,
            prediction.id,
            prediction.probability,
            prediction.sentence,
            prediction.text,
            first.spans,
            () if second is None else second.spans,
            () if prediction.trigger is None else prediction.trigger.spans,
        )
        seen = self._facts.setdefault((one, prediction.type, other, directed), _Seen())
        seen.add(sentence, self.n_sentences)

    def _key(self, one: Participant) -> _Key:
        if self.by == "id" and one.reference:
            return "", "", one.reference
        return folded_name(one.text), one.type, ""

    def facts(self) -> Facts:
        """Return the facts of all predictions so far."""
        entities = {key: mentions.entity() for key, mentions in self._entities.items()}
        made = [
            Fact(
                entities[first],
                kind,
                None if second is None else entities[second],
                directed,
                seen.count,
                tuple(sorted(seen.best)),
                max(seen.best.values()),
                combined_probability(seen.best.values()),
                tuple(seen.sentences),
            )
            for (first, kind, second, directed), seen in self._facts.items()
        ]
        return Facts(sorted(made, key=_order), self.by)


def _pairs(prediction: Prediction) -> Iterator[tuple[Participant, Participant | None, bool]]:
    """Yield the pairs of participants of a prediction, and whether their order has a meaning."""
    parts = prediction.participants
    if prediction.trigger is None:
        if len(parts) == 2:
            yield parts[0], parts[1], prediction.directed
        return
    catalysts = [one for one in parts if one.role == _CATALYST]
    others = [one for one in parts if one.role != _CATALYST]
    for catalyst in catalysts:
        yield from ((catalyst, one, True) for one in others)
    for place, one in enumerate(others):
        yield from ((one, other, False) for other in others[place + 1 :])
    if len(parts) == 1:
        yield parts[0], None, False


def combined_probability(probabilities: Iterable[float]) -> float:
    """Return the probability of at least one of several independent events.

    Examples
    --------
    >>> combined_probability([0.5, 0.5]), combined_probability([0.9])
    (0.75, 0.9)
    """
    listed = list(probabilities)
    best = max(listed, default=0.0)
    if len(listed) < 2 or best >= 1:
        return min(best, 1.0)
    # An exact sum, so that the order does not matter.
    return max(best, -math.expm1(math.fsum(math.log1p(-one) for one in listed)))


def _order(fact: Fact) -> tuple[Any, ...]:
    names = tuple(entity[:3] for entity in fact.entities)
    return -fact.combined, -fact.count, names, fact.type, fact.directed
