"""What an extractor says about a text: relations, how sure it is, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kernelwood.errors import KernelInputError
from kernelwood.io import Tally
from kernelwood.relations.thresholds import positive_rate_threshold
from kernelwood.text import Candidate, Entity, Span

__all__ = ["NONE", "Case", "CaseFragment", "Participant", "Prediction", "Predictions"]

NONE = "none"  # the class of candidates that are no relation


@dataclass(frozen=True, slots=True)
class Participant:
    """An entity in the part it plays in a relation.

    Attributes
    ----------
    role : str
        Of pairs: what the annotation calls it, say ``Arg1``, or ``first`` and ``second`` if it
        has no name. Of events: ``participant``, ``catalyst`` or ``trigger``.
    id, type, text : str
        As in the annotation; the text is what stands at the spans.
    spans : tuple of (start, end)
        Characters of the document, ends exclusive.
    reference : str
        What the annotation refers to, say an identifier of a database; "" if it does not.
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
    """Something that a prediction shares with a case.

    Attributes
    ----------
    text : str
        The fragment of a tree, or the tuples of a path, readable.
    view : str
        Where it was found.
    weight : float
        The share of the similarity that is owed to it, with all its parts. If the kernel is a
        product, each factor has an equal part in it.
    """

    text: str
    view: str
    weight: float


@dataclass(frozen=True, slots=True)
class Case:
    """A labeled case that the extractor learned from, and how it bears on a prediction.

    Attributes
    ----------
    id : str
        The candidate of the training corpus.
    type : str
        What it was labeled: a relation, or ``"none"``.
    similarity : float
        To the candidate in question, by the kernel.
    text : str
        Its sentence, the entities in brackets.
    contribution : float or None
        What it adds to the score of the decision, if the learner adds up cases (support vector
        machines); positive if it speaks for a relation.
    fragments : tuple of CaseFragment
        What both have in common, the most telling first.
    """

    id: str
    type: str
    similarity: float
    text: str
    contribution: float | None = None
    fragments: tuple[CaseFragment, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        made: dict[str, Any] = {
            "id": self.id,
            "type": self.type,
            "similarity": self.similarity,
            "text": self.text,
            "shared": [
                {"text": fragment.text, "view": fragment.view, "weight": fragment.weight}
                for fragment in self.fragments
            ],
        }
        return made | ({} if self.contribution is None else {"contribution": self.contribution})


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Prediction:
    """What an extractor says about one candidate.

    Attributes
    ----------
    id : str
        Of the candidate; unique in what was asked.
    document : str
        Id of the example or text it is in.
    type : str
        The relation; the likeliest one if none holds.
    relation : str
        The type, with the direction if it has one: ``"Activates(e2,e1)"`` if its first argument
        comes second in the text.
    positive : bool
        Whether the score reaches the threshold.
    score, threshold : float
        How likely it is that a relation holds, from 0 to 1, as measured on held-out documents of
        the training corpus; and from where on it counts as one.
    participants : tuple of Participant
        Who takes part.
    trigger : Participant or None
        The word that stands for an event.
    sentence : (start, end)
        Characters of the document.
    text : str
        The sentence.
    label : str or None
        What the annotation says in these terms, or ``"none"``; None if there is none.
    candidate : Candidate
        What was judged.
    """

    id: str
    document: str
    type: str
    relation: str
    positive: bool
    score: float
    threshold: float
    participants: tuple[Participant, ...]
    trigger: Participant | None
    sentence: Span
    text: str
    label: str | None
    candidate: Candidate
    _explain: Callable[[Prediction], tuple[Case, ...]] | None = field(default=None, compare=False)

    @property
    def evidence(self) -> tuple[Case, ...]:
        """The labeled cases that are most like it, and what it shares with them.

        Computed when asked for: it compares with all that the extractor learned from.
        """
        return () if self._explain is None else self._explain(self)

    def to_dict(self, *, evidence: bool = False) -> dict[str, Any]:
        """Return plain JSON values, with the evidence if it is asked for."""
        made: dict[str, Any] = {
            "id": self.id,
            "document": self.document,
            "type": self.type,
            "relation": self.relation,
            "positive": self.positive,
            "score": self.score,
            "threshold": self.threshold,
            "sentence": list(self.sentence),
            "text": self.text,
            "participants": [one.to_dict() for one in self.participants],
        }
        if self.trigger is not None:
            made["trigger"] = self.trigger.to_dict()
        if self.label is not None:
            made["label"] = self.label
        if evidence:
            made["evidence"] = [case.to_dict() for case in self.evidence]
        return made

    def __repr__(self) -> str:
        who = ", ".join(f"{one.role} {one.text!r}" for one in self.participants)
        denied = "" if self.positive else "not "
        return f"<Prediction: {denied}{self.type} of {who}, score {self.score:.2f}>"


class Predictions(list[Prediction]):
    """A list of predictions that remembers what could not be judged, in :attr:`tally`."""

    tally: Tally

    def __init__(
        self, predictions: Iterable[Prediction] = (), dropped: Mapping[str, int] | None = None
    ) -> None:
        super().__init__(predictions)
        reasons = dict(dropped or {})
        self.tally = Tally(read=len(self), skipped=sum(reasons.values()), reasons=reasons)

    @property
    def relations(self) -> list[Prediction]:
        """Those that hold."""
        return [prediction for prediction in self if prediction.positive]

    def with_threshold(self, threshold: float) -> Predictions:
        """Return the same candidates, of which those are relations whose score reaches this.

        Candidates that are not in the list are not judged anew, so ask for all of them first:
        ``predict(documents, all=True)``.

        Examples
        --------
        >>> Predictions().with_threshold(0.5)
        <Predictions: 0 relations, 0 candidates>
        """
        judged = [
            replace(one, positive=one.score >= threshold, threshold=threshold) for one in self
        ]
        return Predictions(judged, self.tally.reasons)

    def with_positive_rate(self, positive_rate: float) -> Predictions:
        """Return the same candidates, of which those with the highest scores are relations.

        For texts unlike those that were learned from: scores may be lower or higher there
        throughout, while their order still tells something. What holds then depends on all
        candidates in the list, which should be many.

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
        if not self:
            return Predictions([], self.tally.reasons)
        return self.with_threshold(
            positive_rate_threshold([one.score for one in self], positive_rate)
        )

    def __repr__(self) -> str:
        return f"<Predictions: {len(self.relations)} relations, {len(self)} candidates>"


def participant(
    role: str, entity: Entity, text: str, shift: int, references: Mapping[str, str]
) -> Participant:
    """Return an entity of a sentence as a participant with offsets of the document."""
    spans = tuple((start + shift, end + shift) for start, end in entity.spans)
    words = " ".join(text[start:end] for start, end in entity.spans) or entity.text
    return Participant(role, entity.id, entity.type, words, spans, references.get(entity.id, ""))
