"""Verification of claims: relations from another source, checked by an extractor."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, TypeAlias, get_args

from kernelwood.errors import KernelInputError
from kernelwood.io import Claim
from kernelwood.relations.predictions import Evidence, Prediction
from kernelwood.relations.relation_classes import type_of
from kernelwood.structures import shorten, show
from kernelwood.text import Document, Example, Sentence

Opinion: TypeAlias = Literal["supported", "unsupported", "other", "not checkable"]
_Key: TypeAlias = tuple[Document | Sentence, frozenset[str]]

_AT_ONCE = 256  # claims scored together


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """The result of verifying a claim.

    Attributes
    ----------
    claim : Claim
    opinion : {"supported", "unsupported", "other", "not checkable"}
        The claimed relation is predicted; no relation is; another one is, which may be the
        same relation in the other direction; or there is no prediction, see ``reason``.
    probability : float or None
        Probability of the claimed relation, 0 if the model does not know its type; None if the
        entities are not a candidate.
    threshold : float
        The decision threshold.
    prediction : Prediction or None
        Prediction for the two entities; None if they are not a candidate.
    reason : str
        Reason why there is no prediction, or a note that the model does not know the type.
    """

    claim: Claim
    opinion: Opinion
    probability: float | None
    threshold: float
    prediction: Prediction | None
    reason: str = ""

    @property
    def evidence(self) -> Evidence:
        """The training cases with the largest contributions, computed on each access."""
        return Evidence() if self.prediction is None else self.prediction.evidence

    def to_dict(self, *, evidence: Evidence | None = None) -> dict[str, Any]:
        """Return the line of the claim with the verdict, and with evidence if there is any.

        ``checked_as`` is the relation type of the model if the claim has another name for it.
        """
        made: dict[str, Any] = {"id": self.claim.id, **self.claim.given}
        relation = made.get("relation")
        if isinstance(relation, dict) and relation.get("type") != self.claim.type:
            made["checked_as"] = self.claim.type
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

    def __repr__(self) -> str:
        sure = "" if self.probability is None else f", probability {self.probability:.2f}"
        return f"<Verdict: {self.claim.id}, {self.claim.type}: {self.opinion}{sure}>"


class Verdicts(list[Verdict]):
    """A list of verdicts, which notebooks show as a table."""

    def __repr__(self) -> str:
        counts = Counter(verdict.opinion for verdict in self)
        found = [f"{counts[name]:,} {name}" for name in get_args(Opinion) if counts[name]]
        return f"<Verdicts: {', '.join([f'{len(self):,} claims', *found])}>"

    def _repr_html_(self) -> str:
        from kernelwood.relations.notebook import verdicts_html

        return verdicts_html(self)


def verify(extractor: Any, claims: Iterable[Claim], *, parser: Any = None) -> Verdicts:
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
    return Verdicts(iter_verdicts(extractor, claims, parser=parser))


def map_types(
    claims: Iterable[Claim], known: Iterable[str], mapping: Mapping[str, str] | None = None
) -> Iterator[Claim]:
    """Yield claims with relation types of a model in place of the names of another tool.

    A name is replaced by that in the mapping, or else by the type that differs in case, blanks,
    hyphens and underscores only; other names are kept.

    Parameters
    ----------
    claims : iterable of Claim
    known : iterable of str
        Relation types of the model.
    mapping : mapping of str to str, optional
        Relation types by names of the other tool.

    Examples
    --------
    >>> from kernelwood.text import Document
    >>> claims = [Claim("c", kind, "a", "b", Document("")) for kind in ("BINDS", "activated by")]
    >>> [claim.type for claim in map_types(claims, ["Binds", "Activates"])]
    ['Binds', 'activated by']
    """
    types = tuple(known)
    plain = {_plain(name): name for name in types}
    chosen = {_plain(name): kind for name, kind in (mapping or {}).items()}
    for claim in claims:
        name = _plain(claim.type)
        kind = chosen.get(name) or (claim.type if claim.type in types else plain.get(name))
        yield claim if kind in (None, claim.type) else replace(claim, type=kind)


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).casefold()


def iter_verdicts(
    extractor: Any, claims: Iterable[Claim], *, parser: Any = None
) -> Iterator[Verdict]:
    """Yield verdicts as `verify` returns them, holding a few hundred claims in memory."""
    if extractor.candidates != "pairs":
        raise KernelInputError(
            "claims are about two entities, but this model predicts events; verify them with a "
            "model of pairs"
        )
    if isinstance(claims, (str, Mapping, Claim)) or not isinstance(claims, Iterable):
        raise _no_claim(claims)
    waiting = iter(claims)
    while some := list(islice(waiting, _AT_ONCE)):
        for claim in some:
            if not isinstance(claim, Claim):
                raise _no_claim(claim)
        found = _predictions(extractor, some, parser)
        for claim in some:
            ends = frozenset((claim.first, claim.second))
            known = None if claim.problem else found.get((claim.annotated, ends))
            yield _verdict(extractor, claim, known)


def _no_claim(value: object) -> KernelInputError:
    return KernelInputError(
        f"verify: got {show(value)} of type {type(value).__name__}; give a list of claims, as "
        "kernelwood.io.read_claims(path) returns them"
    )


def _predictions(extractor: Any, claims: list[Claim], parser: Any) -> dict[_Key, Prediction]:
    """Return the predictions for all pairs of entities of the texts; each text is parsed once."""
    texts = {claim.annotated: f"text{n}" for n, claim in enumerate(claims) if not claim.problem}
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
        reason = claim.problem or _why_not_a_candidate(extractor, claim)
        return Verdict(claim, "not checkable", None, threshold, None, reason)
    first, second = (entity for _, entity in prediction.candidate.participants)
    directed = f"{claim.type}({'e1,e2' if first.id == claim.first else 'e2,e1'})"
    claimed = extractor._classes().of(directed, first.type, second.type)
    opinion: Opinion = "supported" if prediction.relation == claimed else "other"
    reason = ""
    # With one class for all relations there are no types to tell apart.
    if type_of(claimed) not in extractor.relations_:
        known = ", ".join(extractor.relations_)
        reason = f"the model does not know {shorten(repr(claim.type))}; it knows {known}"
    return Verdict(
        claim,
        opinion if prediction.positive else "unsupported",
        prediction.probabilities.get(claimed, 0.0),
        threshold,
        prediction,
        reason,
    )


def _why_not_a_candidate(extractor: Any, claim: Claim) -> str:
    wanted = extractor.types
    allowed = {wanted} if isinstance(wanted, str) else set(wanted or ())
    for entity in claim.annotated.entities:
        if allowed and entity.id in (claim.first, claim.second) and entity.type not in allowed:
            return f"the model has no candidates with entities of type {entity.type!r}"
    return "the two entities are not a candidate: they are in different sentences, or too far apart"
