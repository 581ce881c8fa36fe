"""Predictions of an extractor, with probabilities, thresholds and evidence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from kernelwood.errors import KernelInputError
from kernelwood.evaluate import text_table
from kernelwood.io import Tally
from kernelwood.relations.calibration import positive_rate_threshold
from kernelwood.relations.candidates import NONE, Candidates
from kernelwood.relations.relation_classes import RelationClasses, type_of
from kernelwood.relations.wording import MarkedText, SpelledPath, path_text
from kernelwood.structures import shorten, show
from kernelwood.text import Candidate, DisplacyStyle, Entity, Sentence, Span
from kernelwood.threads import lazy_property

if TYPE_CHECKING:
    import pandas
    import polars

    from kernelwood.relations.facts import Facts

_SHOWN = 20  # predictions of a printed table


@dataclass(frozen=True, slots=True)
class Participant:
    """An entity with its role in a relation.

    Attributes
    ----------
    role : str
        For pairs: the role in the annotation, such as ``Arg1``, or ``first`` and ``second`` if the
        role has no name. For events: ``participant``, ``catalyst`` or ``trigger``.
    id, type, text : str
        As in the annotation; the text is that at the spans.
    spans : tuple of (start, end)
        Characters of the document, ends exclusive.
    reference : str
        Reference of the annotation, such as the id of a database; "" if there is none.
    """

    role: str
    id: str
    type: str
    text: str
    spans: tuple[Span, ...]
    reference: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        made: dict[str, Any] = {
            "role": self.role,
            "id": self.id,
            "type": self.type,
            "text": self.text,
            "spans": [list(span) for span in self.spans],
        }
        return made | ({"reference": self.reference} if self.reference else {})


@dataclass(frozen=True, slots=True)
class CaseFragment:
    """A fragment that a prediction shares with a case.

    Attributes
    ----------
    text : str
        Readable form of the fragment of a tree, or of the tuples of a path.
    view : str
        View of the fragment.
    weight : float
        Fraction of the similarity due to the fragment with all its parts. If the kernel is a
        product, each factor accounts for an equal part of the similarity.
    """

    text: str
    view: str
    weight: float


@dataclass(frozen=True, repr=False)
class Case:
    """A training case, and its contribution to the score of a prediction.

    Attributes
    ----------
    id : str
        Id of the candidate of the training corpus.
    type : str
        Its annotated class: a relation, or ``"none"``.
    similarity : float
        Similarity to the predicted candidate, by the kernel.
    contribution : float
        Its contribution to the score of the predicted relation; see `Evidence`.
    sentence : MarkedText
        Its sentence, with entities and the words that the prediction shares.
    predicted : MarkedText
        The sentence of the prediction, with the words that the case shares.
    path : tuple of (text, kind)
        The dependency path between its entities in words; see `kernelwood.relations.path_text`.
    """

    id: str
    type: str
    similarity: float
    contribution: float
    sentence: MarkedText
    predicted: MarkedText = field(default_factory=lambda: MarkedText(""))
    path: SpelledPath = ()
    _find: Callable[[], tuple[CaseFragment, ...]] = field(default=tuple, repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<Case: {self.type}, contribution {self.contribution:+.3f}, {shorten(self.text)!r}>"

    @lazy_property
    def fragments(self) -> tuple[CaseFragment, ...]:
        """Fragments of the views that both share, the largest first; computed on first access."""
        return self._find()

    @property
    def supports(self) -> bool:
        """Whether the case supports the predicted relation."""
        return self.contribution > 0

    @property
    def text(self) -> str:
        """Its sentence, participants in brackets, the trigger in braces."""
        return str(replace(self.sentence, shared=()))

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its sentence that the prediction shares."""
        return tuple(self.sentence.text[start:end] for start, end in self.sentence.shared)

    def to_dict(self, *, fragments: bool = True) -> dict[str, Any]:
        """Return plain JSON values; spans are characters of the two sentences.

        Without ``fragments`` these are left out, which takes much less time.
        """
        made: dict[str, Any] = {
            "id": self.id,
            "type": self.type,
            "similarity": self.similarity,
            "contribution": self.contribution,
            "supports": self.supports,
            "text": self.sentence.text,
            "entities": _listed(self.sentence.entities),
            **({"trigger": _listed(self.sentence.trigger)} if self.sentence.trigger else {}),
            "shared": {
                "words": list(self.words),
                "case": _listed(self.sentence.shared),
                "prediction": _listed(self.predicted.shared),
            },
            "path": path_text(self.path),
        }
        if fragments:
            made["fragments"] = [
                {"text": fragment.text, "view": fragment.view, "weight": fragment.weight}
                for fragment in self.fragments
            ]
        return made


def _listed(spans: Iterable[Span]) -> list[list[int]]:
    return [list(span) for span in spans]


@dataclass(frozen=True, slots=True, repr=False)
class Evidence(Sequence[Case]):
    """The training cases with the largest contributions to a prediction.

    The score compares the predicted relation with ``"none"``: the difference of the margins of a
    support vector machine, of the probabilities of a forest or of neighbors, or of the inputs to
    the softmax of a network. It is the sum of the contributions of all training cases and of an
    intercept: ``sum(case.contribution for case in evidence) + others + intercept``.

    As a sequence, it contains the supporting cases, then the opposing ones; ``print`` shows them as
    a table.

    Attributes
    ----------
    supporting, opposing : tuples of Case
        Those with the largest positive and the largest negative contributions, largest first.
    score : float
        Above 0 if the learner prefers the relation to none, before calibration.
    intercept : float
        Part of the score that is not due to training cases.
    others : float
        Sum of the contributions of all cases that are not shown.
    path : tuple of (text, kind)
        The dependency path between the entities of the prediction in words.
    """

    supporting: tuple[Case, ...] = ()
    opposing: tuple[Case, ...] = ()
    score: float = 0.0
    intercept: float = 0.0
    others: float = 0.0
    path: SpelledPath = ()

    def __len__(self) -> int:
        return len(self.supporting) + len(self.opposing)

    @overload
    def __getitem__(self, place: int) -> Case: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Case, ...]: ...
    def __getitem__(self, place: int | slice) -> Case | tuple[Case, ...]:
        return (*self.supporting, *self.opposing)[place]

    def __repr__(self) -> str:
        sides = f"{len(self.supporting)} supporting and {len(self.opposing)} opposing"
        return f"<Evidence: score {self.score:+.3f}, {sides} cases>"

    def _repr_html_(self) -> str:
        from kernelwood.relations.notebook import evidence_html

        return evidence_html(self)

    def __str__(self) -> str:
        head = (
            f"score {self.score:+.3f}: shown {sum(case.contribution for case in self):+.3f}, other "
            f"cases {self.others:+.3f}, intercept {self.intercept:+.3f}"
        )
        from kernelwood.relations.report import relation_name

        rows = [
            f"  {'for' if case.supports else 'against':<8}{case.contribution:+.3f}  "
            f"{relation_name(case.type)}  "
            f"{shorten(case.text)}"
            for case in self
        ]
        return "\n".join([head, *rows])

    def to_dict(self, *, fragments: bool = True) -> dict[str, Any]:
        """Return plain JSON values; those of cases without ``fragments`` take much less time."""
        return {
            "score": self.score,
            "intercept": self.intercept,
            "others": self.others,
            "path": path_text(self.path),
            "cases": [case.to_dict(fragments=fragments) for case in self],
        }


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Prediction:
    """The prediction for one candidate.

    Attributes
    ----------
    id : str
        Id of the candidate; unique in the input.
    document : str
        Id of the example or text with the candidate.
    type : str
        The relation type; for a negative prediction, the most probable one.
    relation : str
        The type, with the direction if it has one: ``"Activates(e2,e1)"`` if its first argument
        comes second in the text.
    positive : bool
        Whether the probability reaches the threshold.
    probability, threshold : float
        The probability of the relation with this type and direction, calibrated on held-out
        documents of the training corpus; and the decision threshold.
    probabilities : dict of str to float
        The probability of each class, ``"none"`` among them; they sum to 1.
    participants : tuple of Participant
        Participants of the relation.
    trigger : Participant or None
        The word that stands for an event.
    sentence : (start, end)
        Characters of the document.
    text : str
        The sentence.
    label : str or None
        The annotated class, or ``"none"``; None for text without annotation.
    candidate : Candidate
        The candidate itself.
    """

    id: str
    document: str
    type: str
    relation: str
    positive: bool
    probability: float
    threshold: float
    participants: tuple[Participant, ...]
    trigger: Participant | None
    sentence: Span
    text: str
    label: str | None
    candidate: Candidate
    _explain: Callable[[Prediction], Evidence] | None = field(default=None, compare=False)
    probabilities: Mapping[str, float] = field(default_factory=dict)
    _ordered: bool = field(default=False, compare=False)  # by the types of the entities

    @property
    def directed(self) -> bool:
        """Whether the order of the two participants of a pair has a meaning.

        It has one if the class includes a direction, if the types of the entities determine the
        direction, or if the roles have different names; ``Arg1`` and ``Arg2`` count as the same
        name.
        """
        if self.trigger is not None or len(self.participants) != 2:
            return False
        roles = {re.sub(r"\d+$", "", one.role) for one in self.participants}
        named = len(roles) == 2 and roles != {"first", "second"}
        return named or self._ordered or self.relation != self.type

    @property
    def error(self) -> str | None:
        """``"false positive"``, ``"false negative"`` or ``"wrong relation"``.

        None if the prediction agrees with the annotation, or without annotation.
        """
        found = self.relation if self.positive else NONE
        if self.label in (None, found):
            return None
        if self.label == NONE:
            return "false positive"
        return "wrong relation" if self.positive else "false negative"

    @property
    def runner_up(self) -> tuple[str, float]:
        """The most probable class except the predicted relation, and its probability."""
        others = ((p, name) for name, p in self.probabilities.items() if name != self.relation)
        probability, name = max(others, default=(0.0, ""))
        return name, probability

    @property
    def evidence(self) -> Evidence:
        """The training cases with the largest contributions to the score.

        Computed on each access; ``extractor.explain(predictions)`` is faster for many.
        """
        return Evidence() if self._explain is None else self._explain(self)

    def to_dict(self, *, evidence: bool = False) -> dict[str, Any]:
        """Return plain JSON values, optionally with the evidence."""
        made: dict[str, Any] = {
            "id": self.id,
            "document": self.document,
            "type": self.type,
            "relation": self.relation,
            "positive": self.positive,
            "probability": self.probability,
            "threshold": self.threshold,
            "probabilities": dict(self.probabilities),
            "sentence": list(self.sentence),
            "text": self.text,
            "participants": [one.to_dict() for one in self.participants],
        }
        if self.trigger is not None:
            made["trigger"] = self.trigger.to_dict()
        if self.label is not None:
            made["label"] = self.label
        if evidence:
            made["evidence"] = self.evidence.to_dict()
        return made

    def _repr_html_(self) -> str:
        from kernelwood.relations.report import prediction_html

        return prediction_html(self)

    def __repr__(self) -> str:
        who = ", ".join(f"{one.role} {one.text!r}" for one in self.participants)
        denied = "" if self.positive else "not "
        return f"<Prediction: {denied}{self.type} of {who}, probability {self.probability:.2f}>"


class Predictions(Sequence[Prediction]):
    """The predictions for some candidates as columns; an index returns a `Prediction`.

    ``print`` shows the first 20 as a table.

    Attributes
    ----------
    candidates : Candidates
    classes : list of str
        The most probable relation of each candidate, with its direction.
    probability : ndarray of float64
        The probability of that relation.
    thresholds : ndarray of float64
        The decision threshold of each candidate.
    probabilities : ndarray, shape (n, len(names))
        The probability of each class.
    names : list of str
        The classes, ``"none"`` among them.
    tally : Tally
        Number of candidates, and of dropped candidates and annotations, by reason.
    """

    def __init__(
        self,
        candidates: Candidates | None = None,
        classes: Iterable[str] = (),
        probability: Any = (),
        thresholds: Any = (),
        *,
        probabilities: Any = None,
        names: Sequence[str] = (),
        scheme: RelationClasses | None = None,
        labeled: bool = True,
        explain: Callable[[Prediction], Evidence] | None = None,
        dropped: Mapping[str, int] | None = None,
    ) -> None:
        self.candidates = Candidates() if candidates is None else candidates
        self.classes = list(classes)
        self.probability = np.asarray(probability, dtype=np.float64)
        self.thresholds = np.broadcast_to(
            np.asarray(thresholds, dtype=np.float64), self.probability.shape
        )
        self.names = list(names)
        self.probabilities = np.zeros((len(self.probability), len(self.names)))
        if probabilities is not None:
            self.probabilities = np.asarray(probabilities, dtype=np.float64)
        self._scheme, self._labeled, self._explain = scheme, labeled, explain
        reasons = dict(dropped or {})
        self.tally = Tally(read=len(self), skipped=sum(reasons.values()), reasons=reasons)

    def __len__(self) -> int:
        return len(self.classes)

    @overload
    def __getitem__(self, row: int) -> Prediction: ...
    @overload
    def __getitem__(self, row: slice) -> Predictions: ...
    def __getitem__(self, row: int | slice) -> Prediction | Predictions:
        if isinstance(row, slice):
            return self.take(range(len(self))[row])
        candidate = self.candidates[row]
        sentence, name = candidate.sentence, self.classes[row]
        probability, threshold = float(self.probability[row]), float(self.thresholds[row])
        kind, participants, trigger = self._described(row, name)
        return Prediction(
            candidate.id,
            self.candidates.document(row),
            kind,
            name,
            probability >= threshold,
            probability,
            threshold,
            participants,
            trigger,
            (sentence.start, sentence.start + len(sentence.text)),
            sentence.text,
            str(candidate.label) if self._labeled else None,
            candidate,
            self._explain,
            self._distribution(row),
            self._scheme is not None and kind in self._scheme.arguments,
        )

    def _distribution(self, row: int) -> dict[str, float]:
        """Return the probability of each class of a candidate."""
        trigger = self.candidates.triggers[row]
        # The class of events is that of the trigger.
        names = [NONE if name == NONE else trigger.type if trigger else name for name in self.names]
        return dict(zip(names, self.probabilities[row].tolist(), strict=True))

    @property
    def related(self) -> NDArray[np.float64]:
        """The probability that a candidate is a relation of any type."""
        if not self.names:
            return self.probability
        none: NDArray[np.float64] = self.probabilities[:, self.names.index(NONE)]
        return 1.0 - none

    def _described(
        self, row: int, name: str
    ) -> tuple[str, tuple[Participant, ...], Participant | None]:
        """Return type, participants and trigger of a candidate of a class.

        Participants stand in the order of the arguments of the relation, with their roles.
        """
        sentence = self.candidates.sentence(row)
        references = _references(sentence)

        def made(role: str, entity: Entity) -> Participant:
            return participant(role, entity, sentence.text, sentence.start, references)

        pairs, trigger = self.candidates.participants[row], self.candidates.triggers[row]
        if trigger is not None:
            parts = tuple(made(role, entity) for role, entity in pairs)
            return trigger.type, parts, made("trigger", trigger)
        kind, ends = type_of(name), [entity for _, entity in pairs]
        scheme = self._scheme or RelationClasses("directed", (), {}, {})
        if scheme.is_backward(name, *(entity.type for entity in ends)):
            ends.reverse()
        roles = scheme.roles.get(kind, ("", ""))
        named = (role or other for role, other in zip(roles, ("first", "second"), strict=True))
        return kind, tuple(made(role, one) for role, one in zip(named, ends, strict=True)), None

    def _take(self, rows: Iterable[int], thresholds: Any) -> Predictions:
        listed = list(rows)
        return Predictions(
            self.candidates.take(listed),
            [self.classes[row] for row in listed],
            self.probability[listed],
            np.broadcast_to(thresholds, self.probability.shape)[listed],
            probabilities=self.probabilities[listed],
            names=self.names,
            scheme=self._scheme,
            labeled=self._labeled,
            explain=self._explain,
            dropped=self.tally.reasons,
        )

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Whether each candidate is predicted to be a relation."""
        return np.asarray(self.probability >= self.thresholds)

    @property
    def relations(self) -> list[Prediction]:
        """The candidates that are predicted to be relations."""
        return [self[row] for row in np.flatnonzero(self.positive).tolist()]

    def take(self, rows: Iterable[int]) -> Predictions:
        """Return the predictions for some of the candidates, in that order."""
        return self._take(rows, self.thresholds)

    def positives(self) -> Predictions:
        """Return the candidates that are predicted to be relations."""
        return self.take(np.flatnonzero(self.positive).tolist())

    def with_threshold(self, threshold: float) -> Predictions:
        """Return the same candidates with another decision threshold.

        Only candidates in the list can be predicted positive, so compute all of them first:
        ``predict(documents, all=True)``.

        Parameters
        ----------
        threshold : float
            A probability from 0 to 1.

        Examples
        --------
        >>> Predictions().with_threshold(0.5)
        <Predictions: 0 relations, 0 candidates>
        """
        number = isinstance(threshold, (int, float, np.number)) and not isinstance(threshold, bool)
        if not number or not 0 <= threshold <= 1:
            raise KernelInputError(
                f"threshold must be a probability from 0 to 1, got {show(threshold)}; names such "
                "as 'f1' are for the constructor of RelationExtractor"
            )
        return self._take(range(len(self)), threshold)

    def with_positive_rate(self, positive_rate: float) -> Predictions:
        """Return the same candidates, with those of the highest probabilities as relations.

        Use it for texts unlike the training corpus, where all probabilities may be too low or too
        high while their order is still informative. The decision then depends on all candidates in
        the list, which should be many.

        Parameters
        ----------
        positive_rate : float
            Fraction of the candidates, between 0 and 1; ``extractor.positive_rate_`` is that of
            the training documents.
        """
        if not 0 < positive_rate < 1:
            raise KernelInputError(
                f"positive_rate must be a number between 0 and 1, got {positive_rate!r}"
            )
        if not len(self):
            return self
        return self.with_threshold(positive_rate_threshold(self.probability, positive_rate))

    def facts(
        self, by: Literal["text", "id"] = "text", *, all: bool = False, n_sentences: int = 3
    ) -> Facts:
        """Return the predicted relations, counted once for each pair of entities and type.

        Parameters
        ----------
        by, all, n_sentences
            As for `kernelwood.relations.FactCounter`, which collects facts of a corpus that does
            not fit in memory.

        Returns
        -------
        Facts
            Sorted by combined probability, then by number of predictions.

        Examples
        --------
        >>> Predictions().facts()
        <Facts: 0 facts, 0 entities, by text>
        """
        from kernelwood.relations.facts import FactCounter

        counter = FactCounter(by, all=all, n_sentences=n_sentences)
        counter.add(self if all else self.relations)
        return counter.facts()

    def to_pandas(self) -> pandas.DataFrame:
        """Return a DataFrame of pandas, one row for each candidate.

        Its columns are those of a ``.tsv`` file of predictions. ``positive`` is boolean,
        probabilities and offsets are numbers, and texts are strings, which may be missing.

        Examples
        --------
        >>> list(Predictions().to_pandas().columns)[:4]
        ['document', 'id', 'type', 'positive']
        """
        from kernelwood.relations.frames import pandas_frame

        return pandas_frame(*self._table())

    def to_polars(self) -> polars.DataFrame:
        """Return a DataFrame of Polars, with the same columns as `to_pandas`.

        Examples
        --------
        >>> Predictions().to_polars().shape
        (0, 22)
        """
        from kernelwood.relations.frames import polars_frame

        return polars_frame(*self._table())

    def to_displacy(self, style: DisplacyStyle = "ent") -> list[dict[str, Any]]:
        """Return a dictionary for each sentence with a relation, for displaCy of spaCy.

        ``spacy.displacy.render(predictions.to_displacy("dep"), style="dep", manual=True)`` draws
        them.

        Parameters
        ----------
        style : {"ent", "span", "dep"}
            Entities of relations that do not overlap, all entities of relations by tokens, or arcs
            for the relations: from the first to the second entity, or from the trigger of an event
            to each participant.

        Examples
        --------
        >>> Predictions().to_displacy()
        []
        """
        from kernelwood.relations.prediction_displacy import displacy_objects

        return displacy_objects(self.relations, style)

    def _table(self) -> tuple[dict[str, type], list[list[Any]]]:
        from kernelwood.relations.writers import prediction_columns, prediction_row

        events = any(trigger is not None for trigger in self.candidates.triggers)
        rows = [prediction_row(one, events=events) for one in self]
        return prediction_columns(events=events), rows

    @staticmethod
    def concatenate(parts: Iterable[Predictions]) -> Predictions:
        """Return the predictions of extractors with the same relation classes, or of one."""
        listed = list(parts)
        dropped: Counter[str] = Counter()
        names = sorted({name for part in listed for name in part.names})
        for part in listed:
            dropped.update(part.tally.reasons)
        return Predictions(
            Candidates.concatenate(part.candidates for part in listed),
            [name for part in listed for name in part.classes],
            np.concatenate([[], *(part.probability for part in listed)]),
            np.concatenate([[], *(part.thresholds for part in listed)]),
            probabilities=_joined(listed, names),
            names=names,
            scheme=next((part._scheme for part in listed if part._scheme), None),
            labeled=all(part._labeled for part in listed),
            dropped=dropped,
        )

    def _repr_html_(self) -> str:
        from kernelwood.relations.report import predictions_html

        return predictions_html(self)

    def __str__(self) -> str:
        from kernelwood.relations.pictures import table_row

        n_relations, more = int(self.positive.sum()), len(self) - _SHOWN
        note = f"… and {more:,} more\n" if more > 0 else ""
        note += f"{n_relations:,} relation{'s' * (n_relations != 1)} among "
        note += f"{len(self):,} candidate{'s' * (len(self) != 1)}"
        if not len(self):
            return note
        titles = ["document", "type", "probability", "participants", "sentence"]
        return f"{text_table(titles, [*map(table_row, self[:_SHOWN])], align='left')}\n{note}"

    def __repr__(self) -> str:
        n_relations = int(self.positive.sum())
        return f"<Predictions: {n_relations} relations, {len(self)} candidates>"


def _joined(parts: list[Predictions], names: list[str]) -> NDArray[np.float64]:
    """Return the probabilities of several predictions; classes that one lacks have 0."""
    made = np.zeros((sum(map(len, parts)), len(names)))
    done = 0
    for part in parts:
        columns = [names.index(name) for name in part.names]
        made[done : done + len(part), columns] = part.probabilities
        done += len(part)
    return made


def participant(
    role: str, entity: Entity, text: str, shift: int, references: Mapping[str, str]
) -> Participant:
    """Return an entity of a sentence as a participant with offsets of the document."""
    spans = tuple((start + shift, end + shift) for start, end in entity.spans)
    words = " ".join(text[start:end] for start, end in entity.spans) or entity.text
    return Participant(role, entity.id, entity.type, words, spans, references.get(entity.id, ""))


def _references(sentence: Sentence) -> dict[str, str]:
    """Return the database id of each entity, the first if it has several."""
    return {
        attribute.target: attribute.value.split("\t", 1)[0]
        for attribute in reversed(sentence.attributes)
        if attribute.type in ("Reference", "Normalization")
    }
