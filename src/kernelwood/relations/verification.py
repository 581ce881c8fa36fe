"""Verification of claims: relations from another source, checked by an extractor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, TypeAlias

from kernelwood.errors import KernelInputError
from kernelwood.io import Claim
from kernelwood.relations.candidates import NONE
from kernelwood.relations.predictions import Evidence, Prediction
from kernelwood.relations.relation_classes import RELATION, type_of
from kernelwood.text import Document, Example, Sentence

Opinion: TypeAlias = Literal["supported", "unsupported", "other"]
_Key: TypeAlias = tuple[Document | Sentence, frozenset[str]]

_AT_ONCE = 256  # claims scored together


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of verifying a claim.

    Attributes
    ----------
    claim : Claim
    opinion : {"supported", "unsupported", "other"}
        The claimed relation is predicted; no relation is; or another one is, which may be the
        same relation in the other direction.
    threshold : float
        The decision threshold.
    prediction : Prediction or None
        For the two entities; None if they are not a candidate.
    reason : str
        Why there is no prediction, or that the relation type is unknown to the model.
    """

    claim: Claim
    opinion: Opinion
    threshold: float
    prediction: Prediction | None
    reason: str = ""

    @property
    def probability(self) -> float | None:
        """The probability of the claimed relation; None if the entities are not a candidate.

        It is 0 if the model does not know the relation type.
        """
        if self.prediction is None:
            return None
        classes = self.prediction.probabilities
        return classes.get(self._claimed(), 0.0)

    def _claimed(self) -> str:
        """Return the class of the claim, for the pair of entities in the order of the text."""
        assert self.prediction is not None
        classes, kind = self.prediction.probabilities, self.claim.type
        if classes.keys() == {RELATION, NONE}:  # there are no types to tell apart
            return RELATION
        if kind in classes:
            return kind
        first = self.prediction.candidate.participants[0][1].id
        return f"{kind}({'e1,e2' if first == self.claim.first else 'e2,e1'})"

    @property
    def evidence(self) -> Evidence:
        """The training cases with the largest contributions, computed on each access."""
        return Evidence() if self.prediction is None else self.prediction.evidence

    def to_dict(self, *, evidence: Evidence | None = None) -> dict[str, Any]:
        """Return the line of the claim with the verdict, and with evidence if there is any."""
        made: dict[str, Any] = {"id": self.claim.id, **self.claim.given}
        made |= {
            "verdict": self.opinion,
            "probability": self.probability,
            "threshold": self.threshold,
        }
        if self.opinion == "other" and self.prediction is not None:
            first, second = (one.id for one in self.prediction.participants)
            made["other"] = {"type": self.prediction.type, "first": first, "second": second}
        if self.reason:
            made["reason"] = self.reason
        if evidence is not None:
            made["evidence"] = evidence.to_dict()
        return made


def verify(extractor: Any, claims: Iterable[Claim], *, parser: Any = None) -> list[Verdict]:
    """Return a verdict on each claim, in order.

    Parameters
    ----------
    extractor : RelationExtractor
        Fitted, of pairs.
    claims : iterable of Claim
        As `kernelwood.io.read_claims` gives them.
    parser : str or Backend, optional
        Parser of texts without parses; by default that of the extractor.

    Raises
    ------
    KernelInputError
        If the extractor is one of events.
    """
    return list(iter_verdicts(extractor, claims, parser=parser))


def iter_verdicts(
    extractor: Any, claims: Iterable[Claim], *, parser: Any = None
) -> Iterator[Verdict]:
    """Yield verdicts as `verify` returns them, holding a few hundred claims in memory."""
    if extractor.candidates != "pairs":
        raise KernelInputError(
            "claims are about two entities, but this model predicts events; verify them with a "
            "model of pairs"
        )
    waiting = iter(claims)
    while some := list(islice(waiting, _AT_ONCE)):
        found = _predictions(extractor, some, parser)
        for claim in some:
            ends = frozenset((claim.first, claim.second))
            yield _verdict(extractor, claim, found.get((claim.annotated, ends)))


def _predictions(extractor: Any, claims: list[Claim], parser: Any) -> dict[_Key, Prediction]:
    """Return the predictions for all pairs of entities of the texts; each text is parsed once."""
    texts = {claim.annotated: f"text{n}" for n, claim in enumerate(claims)}
    names = {name: annotated for annotated, name in texts.items()}
    found: dict[_Key, Prediction] = {}
    for kind, view in ((Sentence, "sentence"), (Document, "document")):
        examples = [
            Example(name, views={view: annotated})
            for name, annotated in names.items()
            if isinstance(annotated, kind)
        ]
        if not examples:
            continue
        if view == "sentence":
            predictions = extractor.predict(examples, all=True)
        else:
            predictions = extractor.extract(examples, parser=parser, all=True)
        for prediction in predictions:
            ends = frozenset(one.id for one in prediction.participants)
            found[names[prediction.document], ends] = prediction
    return found


def _verdict(extractor: Any, claim: Claim, prediction: Prediction | None) -> Verdict:
    threshold = float(extractor.threshold_)
    if prediction is None:
        return Verdict(
            claim, "unsupported", threshold, None, _why_not_a_candidate(extractor, claim)
        )
    classes = [str(name) for name in extractor.classes_ if name != NONE]
    known = list(dict.fromkeys(map(type_of, classes)))
    reason = ""
    # With one class for all relations there are no types to tell apart.
    if known != [RELATION] and claim.type not in known:
        reason = f"the model does not know {claim.type!r}; it knows {', '.join(known)}"
    if not prediction.positive:
        return Verdict(claim, "unsupported", threshold, prediction, reason)
    verdict = Verdict(claim, "supported", threshold, prediction, reason)
    return (
        verdict if verdict._claimed() == prediction.relation else replace(verdict, opinion="other")
    )


def _why_not_a_candidate(extractor: Any, claim: Claim) -> str:
    wanted = extractor.types
    allowed = {wanted} if isinstance(wanted, str) else set(wanted or ())
    for entity in claim.annotated.entities:
        if allowed and entity.id in (claim.first, claim.second) and entity.type not in allowed:
            return f"the model has no candidates with entities of type {entity.type!r}"
    return "the two entities are not a candidate: they are in different sentences, or too far apart"
