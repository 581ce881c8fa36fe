"""HTML report on predicted relations: one file that loads no other resources."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from kernelwood.errors import KernelInputError
from kernelwood.io import reason_lines, write_text
from kernelwood.relations.candidates import NONE
from kernelwood.relations.card import card_of
from kernelwood.relations.network import draw_network
from kernelwood.relations.pictures import describe, draw_relations
from kernelwood.relations.predictions import Case, Evidence, Prediction, Predictions
from kernelwood.relations.relation_classes import type_of
from kernelwood.relations.report_contents import Passage, ReportContents, importance
from kernelwood.relations.wording import MarkedText
from kernelwood.structures import one_line
from kernelwood.text import Document, Sentence, Span

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from kernelwood.relations.extractor import RelationExtractor
    from kernelwood.relations.scores import RelationScores, RelationValidation
    from kernelwood.tuning import GateLearner, GateReport

# Not allowed in HTML, even escaped: most control characters, surrogates, two non-characters.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# A no-break space keeps the arrow on the line of the name.
_DIRECTIONS = {"(e1,e2)": "\N{NO-BREAK SPACE}→", "(e2,e1)": "\N{NO-BREAK SPACE}←"}

_SECOND = "(e2,e1)"  # end of a class whose first participant comes second in the text
_SMALL = 0.001  # smaller numbers are written with an exponent
_MAX_ROWS = 20  # predictions in a notebook
_MAX_LINES = 60  # of the network
_FEW = 200  # relations, up to which sentences with one relation have a picture, too
# Kinds of predictions that a page can filter, by outcome.
_OUTCOMES = {
    "yes": "predicted relations",
    "ok fp type": "predicted relations",
    "ok": "right",
    "fp type fn": "all errors",
    "fp": "false positives",
    "type": "wrong relations",
    "fn": "false negatives",
    "no": "below the threshold, not annotated",
}
# Entries of a model card that are folded.
_TECHNICAL = {"model", "classes", "views", "kernel", "learner", "settings", "choices", "seed"}
_KINDS = {"false positive": "fp", "false negative": "fn", "wrong relation": "type"}


def write_report(path: str | os.PathLike[str], **contents: Any) -> None:
    """Write a report on predicted relations to a file, completely or not at all.

    Parameters
    ----------
    path : str or PathLike
        Output file, by convention ending in ``.html``.
    **contents
        Arguments of :func:`report_html`.
    """
    write_text(path, [report_html(**contents)])


def report_html(
    *,
    title: str,
    predictions: Iterable[Prediction] | ReportContents,
    documents: Mapping[str, str | Document | Sentence] | None = None,
    scores: RelationScores | RelationValidation | None = None,
    extractor: RelationExtractor | None = None,
    gates: GateReport | GateLearner | None = None,
    timings: Mapping[str, float] | None = None,
    n_explained: int = 100,
    n_facts: int = 500,
    n_documents: int = 1000,
    n_characters: int = 200_000,
    n_relations: int = 1000,
    n_negative: int = 200,
    sources: Mapping[str, str] | None = None,
    relation_types: Iterable[str] = (),
    entity_types: Iterable[str] = (),
) -> str:
    """Return a report that shows facts, and relations in their texts, with evidence, as HTML.

    The page loads no other resources. Its script sorts, filters and searches; all contents are
    readable without it. The same input gives the same page.

    Parameters
    ----------
    title : str
        Title of the page.
    predictions : iterable of Prediction, or ReportContents
        Predictions; candidates below the decision threshold are listed below their sentence.
    documents : mapping of str to str, Document or Sentence, optional
        The text of each document by its id; entities are marked where no prediction shows them.
        Without it, only the sentences of the predictions are shown.
    scores : RelationScores or RelationValidation, optional
        Scores of the extractor on annotated documents, or of cross-validation, with its folds.
    extractor : RelationExtractor, optional
        The extractor that made the predictions. It computes the evidence of all relations at
        once, and its model card is shown.
    gates : GateReport or GateLearner, optional
        Learned gates of labels.
    timings : mapping of str to float, optional
        Wall-clock seconds of each step.
    n_explained : int
        Number of relations with evidence: up to a half errors, if the documents are annotated,
        then those with the highest probability.
    n_facts : int
        Maximum number of facts in the table.
    n_documents, n_characters, n_relations, n_negative : int
        Limits of :class:`ReportContents`; counts and facts are those of all predictions.
    sources : mapping of str to str, optional
        The origin of relations that are not predicted, such as ``"decided"``, by their ids. It is
        shown instead of their probability, which is 1.
    relation_types, entity_types : iterable of str
        Types in the order of their colors; others follow.

    Returns
    -------
    str
        A complete HTML document.

    Raises
    ------
    KernelInputError
        If a number is negative or a text is not a string.

    Warns
    -----
    UserWarning
        If a text or a prediction is given twice, or predictions are about a document that is not
        in `documents`.

    Examples
    --------
    >>> made = report_html(title="Empty", predictions=[], documents={"a": "Raf <is> here."})
    >>> "Raf &lt;is&gt; here." in made
    True
    """
    for name, number in (("n_explained", n_explained), ("n_facts", n_facts)):
        if number < 0:
            raise KernelInputError(f"{name} must be 0 or more, got {number}")
    if isinstance(predictions, ReportContents):
        contents = predictions
        if documents is not None:
            raise KernelInputError("give the texts of documents to ReportContents.add")
    else:
        contents = ReportContents(
            n_documents=n_documents,
            n_characters=n_characters,
            n_relations=n_relations,
            n_negative=n_negative,
        )
        contents.add(predictions, documents)
    shown = contents.shown()
    facts = contents.facts()
    every = [passage for document in shown.documents for passage in document.passages]
    relations = dict.fromkeys(
        [*relation_types, *(name for name, _ in contents.types.most_common())]
    )
    listed = [one for passage in every for one in passage.predictions]
    relations |= dict.fromkeys(one.type for one in (*listed, *shown.errors))
    used = {entity.type for passage in every for entity in passage.entities}
    used |= {entity.type for entity in facts.entities}
    entities = list(dict.fromkeys([*entity_types, *sorted(used)]))
    sources = dict(sources or {})
    types = {name: number for number, name in enumerate(relations)}
    evidence = _evidence(listed, extractor, n_explained)
    style, script = _source("report.css") + _source("evidence.css"), _source("report.js")
    card = None if extractor is None else card_of(extractor)
    page = (
        _environment()
        .get_template("report.html")
        .render(
            title=title,
            contents=contents,
            shown=shown,
            facts=facts,
            n_facts=n_facts,
            sources=sources,
            origins=_origins(sources, contents.n_relations),
            network=draw_network(facts[:n_facts], _MAX_LINES),
            numbers={one: number for number, one in enumerate(listed)},
            types=types,
            typed=lambda names: [(types[name], name) for name in types if name in {*names}],
            # Classes of report.css.
            colors={name: f"k{i % 6}" for i, name in enumerate(entities) if name in used},
            relations={name: f"r{number % 8}" for number, name in enumerate(relations)},
            evidence=evidence,
            cases=_Cases(),
            few=_FEW,
            # The evidence of the first relation is open, so that readers see there is some.
            opened=next((one for one in listed if one in evidence), None),
            scores=getattr(scores, "pooled", scores),
            folds=getattr(scores, "parts", ()),
            gates=getattr(gates, "report", lambda: gates)(),
            card=None if card is None else card_facts(_without(card, _TECHNICAL)),
            technical=None if card is None else card_facts(_without(card, {*card} - _TECHNICAL)),
            brief=None if card is None else card_facts(_in_brief(card)),
            timings=timings,
            style=style,
            script=script,
            policy=_policy(style, script),
        )
    )
    # A page has no carriage returns, which browsers would remove: offsets would be wrong.
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", page).replace("\r", " ")


def _origins(sources: Mapping[str, str], n_relations: int) -> list[tuple[str, int]]:
    """Return the number of relations of each origin, predicted ones last."""
    found = [(f"{name} relation", n) for name, n in Counter(sources.values()).items()]
    n_predicted = n_relations - len(sources)
    return found if found and not n_predicted else [*found, ("predicted relation", n_predicted)]


def _source(name: str) -> Markup:
    """Return a style sheet or script as it is."""
    from markupsafe import Markup

    text = files("kernelwood.relations").joinpath("templates", name).read_text("utf-8")
    return Markup(text.replace("\r\n", "\n"))


def _policy(style: str, script: str) -> str:
    """Return a policy that allows only this style sheet and this script."""
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _without(card: Mapping[str, Any], names: Set[str]) -> dict[str, Any]:
    return {name: value for name, value in card.items() if name not in names}


def _in_brief(card: Mapping[str, Any]) -> dict[str, Any]:
    """Return the most important entries of a model card."""
    held_out = card["held_out"]
    return {
        name: card[name]
        for name in ("description", "license", "version", "recipe", "parser", "threshold")
        if card[name] not in (None, "")
    } | {
        "trained_on": f"{card['documents']:,} documents, {card['training_relations']:,} relations",
        **({"held-out F1": held_out["f1"]} if "f1" in held_out else {}),
    }


class _Cases:
    """The training cases of a report, each once."""

    def __init__(self) -> None:
        self.listed: list[tuple[Case, MarkedText]] = []
        self._numbers: dict[tuple[str, str, MarkedText], int] = {}

    def number(self, case: Case) -> int:
        """Return the number of a case."""
        sentence = replace(case.sentence.clipped(), shared=())
        key = case.id, case.type, sentence
        if key not in self._numbers:
            self._numbers[key] = len(self.listed)
            self.listed.append((case, sentence))
        return self._numbers[key]


def prediction_html(prediction: Prediction) -> str:
    """Return a prediction with its evidence as part of a page, for notebooks."""
    made = _macros().notebook_prediction(prediction, prediction.evidence, _marked(prediction))
    return _in_notebook(made)


def predictions_html(predictions: Predictions) -> str:
    """Return the first predictions as a table, without evidence, for notebooks."""
    shown = [(one, _marked(one)) for one in predictions[:_MAX_ROWS]]
    title = repr(predictions).strip("<>")
    made = _macros().notebook_predictions(title, shown, len(predictions) - len(shown))
    return _in_notebook(made)


def _marked(prediction: Prediction) -> MarkedText:
    """Return the sentence of a prediction with its participants."""
    candidate = prediction.candidate
    trigger = candidate.trigger.spans if candidate.trigger else ()
    entities = tuple(span for entity in candidate.entities for span in entity.spans)
    return MarkedText(prediction.text, entities, trigger)


def _in_notebook(made: str) -> str:
    style = _environment().get_template("evidence.css").render()
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", f"<style>\n{style}\n</style>{made}")


def _macros() -> Any:
    return _environment().get_template("macros.html").module


@cache
def _environment() -> Environment:
    """Return the environment of the templates; every value they insert is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("kernelwood.relations"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(
        px=lambda length: f"{length:.1f}",
        unit=lambda share: min(max(0.0, share), 1.0),  # not a number becomes 0
        relation_name=relation_name,
        signed=lambda value: f"{value:+.3f}".replace("-", "\N{MINUS SIGN}"),
        steps=lambda path: [text for text, kind in path if kind == "step"],
        twentieths=lambda share: round(20 * min(max(0.0, share), 1.0)),  # classes of report.css
        spans=_written,
        kind=_kind,
    )
    environment.globals.update(
        NONE=NONE,
        counted=lambda n, what, many="": f"{n:,} {what if n == 1 else many or what + 's'}",
        numbered=lambda documents: [(i, one.name) for i, one in enumerate(documents)],
        outcomes=lambda kinds: [
            ("", "all"),
            *((some, text) for some, text in _OUTCOMES.items() if {*some.split()} & {*kinds}),
        ],
        annotated=_annotated_name,
        describe=describe,
        draw_relations=draw_relations,
        marked_text=_marked,
        ranking=_ranking,
        segments=segments,
    )
    return environment


def _evidence(
    predictions: Sequence[Prediction], extractor: RelationExtractor | None, n: int
) -> dict[Prediction, Evidence]:
    """Return the training cases for the most important predictions."""
    wrong = sorted((one for one in predictions if one.error), key=importance)[: n // 2]
    right = sorted((one for one in predictions if one.positive), key=importance)
    best = list(dict.fromkeys([*wrong, *right]))[:n]
    if extractor is None:
        return {one: one.evidence for one in best}
    return dict(zip(best, extractor.explain(best), strict=True))  # faster than one by one


def _annotated_name(one: Prediction) -> str:
    """Return the annotated class, with its participants if they are shown in another order."""
    name, label = type_of(str(one.label)), str(one.label)
    turned = label.endswith(_SECOND) != one.relation.endswith(_SECOND)
    if label == name or (one.directed and not turned):
        return name
    first, second = (part.text for part in one.participants)
    return f"{name}, {second} → {first}" if turned else f"{name}, {first} → {second}"


def _kind(one: Prediction) -> str:
    """Return a short name of the outcome, by which the page filters."""
    if one.error is not None:
        return _KINDS[one.error]
    if not one.positive:
        return "no"
    return "yes" if one.label is None else "ok"


# Texts with marked entities.


def _written(spans: Iterable[Span]) -> str:
    """Return spans as the script reads them.

    Examples
    --------
    >>> _written([(0, 3), (14, 18)])
    '0-3,14-18'
    """
    return ",".join(f"{start}-{end}" for start, end in spans)


def segments(passage: Passage, colors: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the text of a passage in segments: text, color, and types of entities that end there.

    Entities may overlap: the color is that of the shortest. Text outside of entities has no color.

    Examples
    --------
    >>> from kernelwood.text import Entity
    >>> raf = Entity("T1", "Protein", ((0, 3),))
    >>> list(segments(Passage("Raf is", [raf]), {"Protein": "k0"}))
    [('Raf', 'k0', 'Protein'), (' is', '', '')]
    """
    length = len(passage.text)
    starting: dict[int, list[tuple[int, int, str, bool]]] = {}
    places = {0, length}
    for entity in passage.entities:
        for start, stop in entity.spans:
            end, is_last = min(stop, length), stop == entity.spans[-1][1]
            if start < end:
                starting.setdefault(start, []).append((end, end - start, entity.type, is_last))
                places |= {start, end}
    inside: list[tuple[int, int, str, bool]] = []
    for left, right in pairwise(sorted(places)):
        inside = [span for span in inside if span[0] > left] + starting.get(left, [])
        types = [type for end, _, type, is_last in inside if is_last and end == right and type]
        color = colors[min(inside, key=lambda span: span[1])[2]] if inside else ""
        yield passage.text[left:right], color, ", ".join(types)


# Tables.


def relation_name(name: object) -> str:
    r"""Return the name of a relation class, with an arrow for its direction in the text.

    Examples
    --------
    >>> relation_name("Activates(e2,e1)"), relation_name("Binds")
    ('Activates\xa0←', 'Binds')
    """
    text = str(name)
    arrow = _DIRECTIONS.get(text[-7:])
    return text[:-7] + arrow if arrow else text


def _ranking(scores: RelationScores) -> Iterator[tuple[str, str | list[str]]]:
    """Yield names and values of measures that are not of one class; a list is several lines."""
    measures = {"ROC AUC": scores.auc, "average precision": scores.average_precision}
    for name, value in measures.items():
        yield name, "–" if value is None or value != value else f"{value:.3f}"
    if scores.reliability is not None and scores.reliability.bins:
        yield "expected calibration error", f"{scores.reliability.error:.3f}"
    yield "candidates", f"{scores.n_candidates:,}"
    yield "annotated relations", f"{scores.n_relations:,}"
    if scores.unreachable:
        yield "not in the scores", [*map(one_line, reason_lines(scores.unreachable, "dropped"))]


def card_facts(card: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the entries of a model card as text; names of nested entries are joined.

    Examples
    --------
    >>> card_facts({"seed": 7, "held_out": {"f1": 0.5}})
    [('seed', '7'), ('held out: f1', '0.500')]
    """
    facts: list[tuple[str, str]] = []
    waiting = [(str(key), value) for key, value in reversed(list(card.items()))]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Mapping) and value:
            waiting += [(f"{name}: {key}", inner) for key, inner in reversed(list(value.items()))]
        else:
            shown = str(value) if name == "seed" else _card_value(value)
            facts.append((relation_name(name).replace("_", " "), shown))
    return facts


def _card_value(value: Any) -> str:
    if value is None or value == "" or value == {}:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}" if not value or abs(value) >= _SMALL else f"{value:g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_card_value, value)) or "–"
    return relation_name(value)
