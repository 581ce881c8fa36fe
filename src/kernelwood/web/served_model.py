"""A model that is served: its extractor and parser, and requests as jobs for its worker."""

from __future__ import annotations

import json
import time
import warnings
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from itertools import count
from typing import Any, NamedTuple

from kernelwood.entities import Dictionary, EntityFinder
from kernelwood.errors import StructureError
from kernelwood.io import Claim
from kernelwood.parsing import load_backend
from kernelwood.relations import (
    ENTITY_REMARKS,
    GIVEN,
    NO_ENTITIES,
    DriftMonitor,
    Evidence,
    Prediction,
    Predictions,
    RelationExtractor,
    Verdict,
    card_of,
    default_parser,
    map_types,
    needs_parse,
    type_remark,
)
from kernelwood.text import Document, Entity, Example, Sentence
from kernelwood.threads import ignored_warnings
from kernelwood.web.batching import Job, Unit, Worker
from kernelwood.web.metrics import Metrics
from kernelwood.web.security import ApiError
from kernelwood.web.service_input import ExtractInput, Limits, VerifyInput, n_pairs

_AUTO = "auto"
_DRIFT_DOCUMENTS = 20  # fewer are never significant
_NUMBERS = count()  # of documents, for ids that no two of a batch share
_ADVICE = "send them with the documents, or 'terms'"
_LEFT_OUT = "leave out 'find_entities', so that the model finds them, or "
_NO_CANDIDATE = "pair that is not a candidate of the model"


class ServedModel:
    """A fitted extractor with its parser loaded, and a worker.

    Parameters
    ----------
    name : str
    extractor : RelationExtractor
        Fitted. It must not be changed while it is served.
    limits : Limits
    metrics : Metrics
    n_jobs : int, optional
        Number of threads for kernels and the bundled parser.

    Attributes
    ----------
    card : dict
        The model card, as JSON values.
    warnings : tuple of str
        Warnings of the library about every text, such as another parser than that of training.

    Raises
    ------
    NotFittedError
        If the extractor is not fitted.
    KernelwoodError
        If its parser is not installed.
    """

    def __init__(
        self,
        name: str,
        extractor: RelationExtractor,
        limits: Limits,
        metrics: Metrics,
        *,
        n_jobs: int | None = None,
    ) -> None:
        self.name, self.extractor, self.limits = name, extractor, limits
        self.card = plain(card_of(extractor))
        self.worker = Worker(name, metrics, max_queue=limits.queue, n_jobs=n_jobs)
        self.pairs = extractor.candidates == "pairs"
        self.backend = self._load_parser(n_jobs)
        self._parsing = copy(extractor)  # parses with a parser that is loaded once
        if self.backend is not None:
            self._parsing.parser = self.backend
        self.warnings = self._warm_up()

    def _load_parser(self, n_jobs: int | None) -> Any:
        """Return the parser for texts; None if views need none, or parses must be given."""
        name = self.extractor.parser
        if not needs_parse(self.extractor.views_) or name == GIVEN:
            return None
        if name == _AUTO:
            name = default_parser(self.extractor.views_, self.extractor.parser_)
        return load_backend(name, n_jobs=n_jobs)

    def _warm_up(self) -> tuple[str, ...]:
        """Predict one sentence, so that the first request is fast; return the warnings.

        The filters of warnings belong to the process, so threads of requests leave them alone.
        """
        types = self.extractor.types
        kind = types if isinstance(types, str) else next(iter(types or ()), "entity")
        ends = Entity("T1", kind, ((0, 3),)), Entity("T2", kind, ((10, 13),))
        [sentence] = Document("Raf binds Ras.", ends).sentences()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.predict([Example("d0.s0", views={"sentence": sentence})])
        return tuple(dict.fromkeys(str(one.message) for one in caught))

    def predict(self, examples: list[Example]) -> Predictions:
        """Return the predictions for all candidates of sentences that are not parsed."""
        with ignored_warnings(ENTITY_REMARKS):  # a batch has parts of several requests
            return self._parsing.predict(examples, all=True)

    def verify(self, claims: list[Claim]) -> list[Verdict]:
        """Return the verdicts on claims."""
        with ignored_warnings(ENTITY_REMARKS):
            return self.extractor.verify(claims, parser=self.backend)

    def explain(self, predictions: Sequence[Prediction], n: int) -> list[dict[str, Any]]:
        """Return the evidence of predictions as JSON values."""
        found: list[Evidence] = self.extractor.explain(predictions, n) if predictions else []
        return [evidence.to_dict(fragments=False) for evidence in found]


# Extraction.


class _Part(NamedTuple):
    """A sentence of a document of a job."""

    document: int
    name: str  # of the sentence, unique in the process
    sentence: Sentence


class ExtractJob(Job):
    """Extraction of relations from the documents of a request."""

    def __init__(self, model: ServedModel, wanted: ExtractInput) -> None:
        super().__init__(model.limits.seconds)
        self.model, self.wanted = model, wanted
        self._parts = self._sentences()
        self._next: Unit | None = None
        self._documents: list[dict[str, Any]] = []
        self._relations: list[dict[str, Any]] = []
        self._dropped: Counter[str] = Counter()
        self._types: set[str] = set()  # of entities
        self._n_candidates = self._n_predicted = self._n_fallbacks = 0
        many = len(wanted.documents) >= _DRIFT_DOCUMENTS
        self._drift = DriftMonitor(model.extractor) if many else None

    def peek(self) -> Unit | None:
        """Return the next sentence, None after the last; finds the entities of its document."""
        if self._next is None:
            self._next = next(self._parts, None)
        return self._next

    def pop(self) -> None:
        """Remove the next sentence."""
        self._next = None

    def _sentences(self) -> Iterator[Unit]:
        """Yield the sentences that can have candidates."""
        finder = self._finder()
        least = 2 if self.model.pairs else 1
        for number, (name, document) in enumerate(self.wanted.documents):
            if time.monotonic() > self.deadline:
                raise self.late()
            document = finder.annotate(document)
            cut = document.split()
            self._dropped.update(cut.lost)
            self._types |= {entity.type for entity in document.entities}
            self._documents.append(
                {
                    "id": name,
                    "sentences": len(cut.sentences),
                    "entities": len(document.entities),
                    "candidates": 0,
                    "relations": 0,
                }
            )
            prefix = f"d{next(_NUMBERS)}"
            for place, sentence in enumerate(cut.sentences):
                if len(sentence.entities) >= least and self._is_short(sentence):
                    part = _Part(number, f"{prefix}.s{place}", sentence)
                    yield Unit(part, len(sentence.text), self._n_pairs(sentence))

    def _finder(self) -> EntityFinder:
        try:
            given = Dictionary(self.wanted.terms) if self.wanted.terms else None  # type: ignore[arg-type]
        except StructureError as failure:
            raise ApiError(422, "invalid", f"terms: {failure.problem}", field="terms") from None
        learned = self.model.extractor.tagger_ if self.wanted.find_entities else None
        return EntityFinder(learned, given)

    def _is_short(self, sentence: Sentence) -> bool:
        """Return whether a sentence is within the limits; count it, if it is not."""
        limit, most = self.model.limits.sentence_characters, self.model.extractor.max_entities
        if len(sentence.text) > limit:
            self._dropped[f"sentence with more than {limit:,} characters"] += 1
            return False
        if self.model.pairs and len(sentence.entities) > most:
            self._dropped[f"sentence with more than {most} entities"] += 1
            return False
        return True

    def _n_pairs(self, sentence: Sentence) -> int:
        """Return the number of pairs of a sentence, after a check of the sum."""
        n, limit = n_pairs(len(sentence.entities)), self.model.limits.candidates
        self._n_candidates += n
        if self._n_candidates > limit:
            raise ApiError(
                413,
                "too-large",
                f"the sentences have more than {limit:,} pairs of entities; send several requests",
            )
        return n

    def compute(self, parts: Sequence[tuple[Any, list[Any]]]) -> None:
        """Predict sentences of several jobs."""
        units = [part for _, contents in parts for part in contents]
        predictions = self.model.predict(
            [Example(part.name, views={"sentence": part.sentence}) for part in units]
        )
        rows: list[list[int]] = [[] for _ in units]
        for row, sentence in enumerate(predictions.candidates.sentence_of):
            rows[sentence].append(row)
        done, found = 0, []
        for job, contents in parts:
            own = rows[done : done + len(contents)]
            found.append(job.select(predictions, contents, own))
            done += len(contents)
        for (job, contents), (relations, chosen) in zip(parts, found, strict=True):
            job.keep(contents, relations, chosen)
        parsed = iter(predictions.candidates.sentences.sentences)
        for job, contents in parts:
            job.count([next(parsed) for _ in contents])

    def select(
        self, predictions: Predictions, parts: list[_Part], rows: list[list[int]]
    ) -> tuple[list[dict[str, Any]], Predictions]:
        """Return the relations of some sentences as JSON values, and all their predictions."""
        chosen = predictions.take([row for some in rows for row in some])
        if self.wanted.threshold is not None:
            chosen = chosen.with_threshold(self.wanted.threshold)
        part_of = [part for part, some in zip(parts, rows, strict=True) for _ in some]
        shown = [
            (prediction, part)
            for prediction, part in zip(chosen, part_of, strict=True)
            if self.wanted.all or prediction.positive
        ]
        made = [self._relation(prediction, part) for prediction, part in shown]
        if self.wanted.evidence:
            some = [prediction for prediction, _ in shown]
            explained = self.model.explain(some, self.wanted.evidence)
            for row, evidence in zip(made, explained, strict=True):
                row["evidence"] = evidence
        return made, chosen

    def _relation(self, prediction: Prediction, part: _Part) -> dict[str, Any]:
        name = self._documents[part.document]["id"]
        made = prediction.to_dict()
        made.pop("label", None)  # the text has no annotation
        place = part.name.rpartition(".")[2]
        made["id"] = f"{name}.{place}{prediction.id.removeprefix(part.name)}"
        made["document"] = name
        return made

    def keep(
        self, parts: list[_Part], relations: list[dict[str, Any]], chosen: Predictions
    ) -> None:
        """Keep the results of some sentences."""
        document_of = [part.document for part in parts]
        by_name = {part.name: part for part in parts}
        for name in (chosen.candidates.document(row) for row in range(len(chosen))):
            self._documents[by_name[name].document]["candidates"] += 1
        names = {self._documents[number]["id"]: number for number in document_of}
        for relation in relations:
            if relation["positive"]:
                self._documents[names[relation["document"]]]["relations"] += 1
        if self.model.pairs:
            missing = sum(n_pairs(len(part.sentence.entities)) for part in parts) - len(chosen)
            self._dropped += Counter({_NO_CANDIDATE: missing})
        if self._drift is not None:
            self._drift.add(chosen)
        self._relations += relations

    def count(self, sentences: Iterable[Sentence]) -> None:
        """Count sentences, and those that the bundled parser could not parse as a whole."""
        for sentence in sentences:
            self._n_predicted += 1
            self._n_fallbacks += dict(sentence.metadata).get("fallback") is not None

    def answer(self) -> bytes:
        """Return the relations, counts by document, and warnings."""
        return encode(
            {
                "model": self.model.name,
                "relations": self._relations,
                "documents": self._documents,
                "dropped": dict(self._dropped),
                "warnings": list(self._warnings()),
            }
        )

    def _warnings(self) -> Iterator[str]:
        yield from self.model.warnings
        if not any(row["entities"] for row in self._documents) and not self._finds_entities():
            left_out = _LEFT_OUT if self.model.extractor.tagger_ is not None else ""
            yield f"{NO_ENTITIES}: {left_out}{_ADVICE}"
        if remark := type_remark(self.model.extractor, self._types):
            yield remark
        if self._n_fallbacks:
            yield (
                f"{self._n_fallbacks:,} of {self._n_predicted:,} sentences were not parsed as a "
                "whole, because they are very long or ungrammatical; their relations are less "
                "reliable"
            )
        drift = None if self._drift is None else self._drift.drift
        if drift is not None and drift.significant:
            yield (
                f"drift: scores of the {drift.n_documents:,} documents differ from those of the "
                f"training corpus (Cliff's delta {drift.statistic:.2f}, p = {drift.p_value:.1g}), "
                "so the decision threshold probably does not fit; adapt the model to these texts"
            )

    def _finds_entities(self) -> bool:
        found = self.wanted.find_entities and self.model.extractor.tagger_ is not None
        return found or bool(self.wanted.terms)


# Verification.


class VerifyJob(Job):
    """Verdicts on the claims of a request."""

    def __init__(self, model: ServedModel, wanted: VerifyInput) -> None:
        super().__init__(model.limits.seconds)
        self.model, self.wanted = model, wanted
        claims = list(map_types(wanted.claims, model.extractor.relations_, wanted.mapping))
        # Whether claims with tokens are parsed depends on all of them.
        self.shared = all(isinstance(claim.annotated, Document) for claim in claims)
        groups = [[claim] for claim in claims] if self.shared else [claims]
        self._units = deque(
            Unit(
                group,
                sum(len(claim.annotated.text) for claim in group),
                sum(n_pairs(len(claim.annotated.entities)) for claim in group),
            )
            for group in groups
            if group
        )
        self._verdicts: list[dict[str, Any]] = []
        types = {entity.type for claim in claims for entity in claim.annotated.entities}
        self._remark = type_remark(model.extractor, types)

    def peek(self) -> Unit | None:
        """Return the next claims, None after the last."""
        return self._units[0] if self._units else None

    def pop(self) -> None:
        """Remove the next claims."""
        self._units.popleft()

    def compute(self, parts: Sequence[tuple[Any, list[Any]]]) -> None:
        """Verify claims of several jobs."""
        owners = [(job, claim) for job, groups in parts for group in groups for claim in group]
        verdicts = self.model.verify([claim for _, claim in owners])
        made = []
        for n in {job.wanted.evidence for job, _ in parts}:
            made += self._rows([(o, v) for (o, _), v in zip(owners, verdicts, strict=True)], n)
        for job, row in made:
            job._verdicts.append(row)

    def _rows(
        self, verdicts: list[tuple[VerifyJob, Verdict]], n: int
    ) -> list[tuple[VerifyJob, dict[str, Any]]]:
        """Return the verdicts of jobs that want evidence of ``n`` cases as JSON values."""
        own = [(job, verdict) for job, verdict in verdicts if job.wanted.evidence == n]
        rows = [verdict.to_dict() for _, verdict in own]
        known = [(row, v.prediction) for row, (_, v) in zip(rows, own, strict=True) if v.prediction]
        if n:
            explained = self.model.explain([prediction for _, prediction in known], n)
            for (row, _), evidence in zip(known, explained, strict=True):
                row["evidence"] = evidence
        return [(job, row) for (job, _), row in zip(own, rows, strict=True)]

    def answer(self) -> bytes:
        """Return the verdicts and warnings."""
        counts = Counter(row["verdict"] for row in self._verdicts)
        return encode(
            {
                "model": self.model.name,
                "verdicts": self._verdicts,
                "counts": {
                    name: counts[name]
                    for name in ("supported", "unsupported", "other", "not checkable")
                },
                "warnings": [*self.model.warnings, *([self._remark] if self._remark else [])],
            }
        )


def plain(value: Any) -> Any:
    """Return JSON values; numbers of NumPy become those of Python."""
    return json.loads(json.dumps(value, default=lambda one: one.item()))


def encode(value: Any) -> bytes:
    """Return a value as JSON in UTF-8."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8")
