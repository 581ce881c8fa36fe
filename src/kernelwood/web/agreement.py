r"""Agreement of two projects with the same texts, and merging of their decisions.

Candidates are the same if the names of their documents, the offsets of their entities and the
words there are the same. Agreement beyond chance is Cohen's :math:`\kappa = (p_o - p_e) /
(1 - p_e)` [1]_, with the observed fraction :math:`p_o` of equal labels and the fraction
:math:`p_e` expected if both people chose labels independently, each with their own frequencies.
Intervals are percentiles of bootstrap samples of whole documents, because labels of one document
are not independent.

References
----------
.. [1] J. Cohen, "A coefficient of agreement for nominal scales", *Educational and Psychological
   Measurement* 20, 1960.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernelwood.evaluate import Estimate
from kernelwood.relations import NONE, type_of
from kernelwood.seeds import child_generator
from kernelwood.web.project import Decision, Mention, Project, ProjectError, TypeRow

__all__ = [
    "Agreement",
    "Disagreement",
    "Merged",
    "TypeAgreement",
    "cohen_kappa",
    "compare",
    "merge",
]

# Name of the document, and the two entities.
_Key: TypeAlias = tuple[str, Mention, Mention]

_N_RESAMPLES = 1000
_CONFIDENCE = 0.95
_BOOTSTRAP = 3  # stream of random numbers


class Disagreement(NamedTuple):
    """A candidate with different labels in two projects.

    Attributes
    ----------
    document, first, second : str
        Name of the document, and the words of the two entities.
    label, other : str
        The label here, and that of the other project.
    author, other_author : str
    text : str
        The sentence.
    candidate : int
        Row of the candidate here.
    """

    document: str
    first: str
    second: str
    label: str
    other: str
    author: str
    other_author: str
    text: str
    candidate: int


class TypeAgreement(NamedTuple):
    """Agreement on one relation type, compared with all other labels.

    Attributes
    ----------
    type : str
    n_here, n_there, n_both : int
        Number of candidates with this type in each project, and in both.
    kappa : float or None
        Cohen's kappa; None if it is not defined.
    """

    type: str
    n_here: int
    n_there: int
    n_both: int
    kappa: float | None


@dataclass(frozen=True)
class Agreement:
    """Agreement of the decisions of two projects.

    Attributes
    ----------
    n_both, n_equal : int
        Number of candidates decided in both, and with equal labels.
    n_here, n_there : int
        Number of candidates decided in one project only.
    n_unknown : int
        Number of candidates decided in the other project that do not exist here.
    kappa : Estimate or None
        Cohen's kappa with its interval; None if it is not defined, because there are no
        common candidates, or all have one label. The ends of the interval are None if the
        candidates are of one document.
    types : list of TypeAgreement
    disagreements : list of Disagreement
    """

    n_both: int
    n_equal: int
    n_here: int
    n_there: int
    n_unknown: int
    kappa: Estimate | None
    types: list[TypeAgreement]
    disagreements: list[Disagreement]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        kappa = self.kappa
        return {
            "n_both": self.n_both,
            "n_equal": self.n_equal,
            "n_here": self.n_here,
            "n_there": self.n_there,
            "n_unknown": self.n_unknown,
            "kappa": None if kappa is None else kappa.to_dict(),
            "types": [one._asdict() for one in self.types],
            "disagreements": [one._asdict() for one in self.disagreements],
        }

    def __str__(self) -> str:
        lines = [
            f"decided in both projects: {self.n_both:,}, with equal labels: {self.n_equal:,}",
            f"decided only here: {self.n_here:,}, only there: {self.n_there:,}, candidates that do "
            f"not exist here: {self.n_unknown:,}",
        ]
        if self.kappa is None:
            lines.append("Cohen's kappa is not defined for these decisions")
        else:
            low, high = self.kappa.low, self.kappa.high
            interval = "" if low is None or high is None else f" (95 %: {low:.3f} to {high:.3f})"
            lines.append(f"Cohen's kappa: {float(self.kappa):.3f}{interval}")
        for one in self.types:
            kappa = "not defined" if one.kappa is None else f"{one.kappa:.3f}"
            lines.append(
                f"  {one.type}: {one.n_here:,} here, {one.n_there:,} there, {one.n_both:,} in "
                f"both, kappa {kappa}"
            )
        return "\n".join(lines)


@dataclass(frozen=True)
class Merged:
    """Result of merging decisions.

    Attributes
    ----------
    added : list of Decision
        Decisions that were added.
    types : list of str
        Relation types that were added.
    n_equal : int
        Number of candidates that had the same label.
    n_unknown : int
        Number of candidates decided in the other project that do not exist here.
    conflicts : list of Disagreement
        Candidates with another label, which were not changed.
    """

    added: list[Decision]
    types: list[str]
    n_equal: int
    n_unknown: int
    conflicts: list[Disagreement]

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "n_added": len(self.added),
            "types": self.types,
            "n_equal": self.n_equal,
            "n_unknown": self.n_unknown,
            "conflicts": [one._asdict() for one in self.conflicts],
        }

    def __str__(self) -> str:
        lines = [
            f"decisions added: {len(self.added):,}, equal: {self.n_equal:,}, in conflict and not "
            f"changed: {len(self.conflicts):,}, of candidates that do not exist here: "
            f"{self.n_unknown:,}"
        ]
        if self.types:
            lines.append(f"relation types added: {', '.join(self.types)}")
        for one in self.conflicts:
            lines.append(
                f"  {one.document}: {one.first} – {one.second}: {one.label} here, {one.other} there"
            )
        return "\n".join(lines)


def cohen_kappa(tables: NDArray[Any]) -> NDArray[np.float64]:
    """Return Cohen's kappa of square tables of counts, NaN where it is not defined.

    Parameters
    ----------
    tables : ndarray, shape (..., n, n)
        Number of candidates with each pair of labels.

    Examples
    --------
    >>> float(cohen_kappa(np.array([[20, 5], [10, 15]])).round(3))
    0.4
    """
    counts = np.asarray(tables, dtype=np.float64)
    total = counts.sum(axis=(-2, -1))
    equal = np.trace(counts, axis1=-2, axis2=-1) * total
    expected = (counts.sum(axis=-1) * counts.sum(axis=-2)).sum(axis=-1)
    spread = total**2 - expected
    made: NDArray[np.float64] = np.full(spread.shape, np.nan)
    np.divide(equal - expected, spread, out=made, where=spread > 0)
    return made


def compare(
    first: Project,
    second: Project,
    *,
    n_resamples: int = _N_RESAMPLES,
    confidence: float = _CONFIDENCE,
    seed: int = 0,
) -> Agreement:
    """Return the agreement of the decisions of two projects.

    Skipped candidates count as undecided.

    Parameters
    ----------
    first, second : Project
        The project here, and the other one.
    n_resamples : int
        Number of bootstrap samples for the interval; 0 for none.
    confidence : float
        Confidence level.
    seed : int
    """
    pairs = _Pairs.of(first, second)
    labels = sorted({str(one.label) for pair in pairs.both for one in pair})
    numbers = {label: number for number, label in enumerate(labels)}
    documents = sorted({first.candidates.document[one.candidate] for one, _ in pairs.both})
    places = {document: place for place, document in enumerate(documents)}
    tables = np.zeros((len(documents), len(labels), len(labels)), dtype=np.int64)
    for one, other in pairs.both:
        place = places[first.candidates.document[one.candidate]]
        tables[place, numbers[str(one.label)], numbers[str(other.label)]] += 1
    whole = tables.sum(axis=0)
    return Agreement(
        len(pairs.both),
        int(np.trace(whole)) if len(whole) else 0,
        pairs.n_here,
        pairs.n_there,
        pairs.n_unknown,
        _estimate(tables, n_resamples, confidence, seed),
        _by_type(whole, labels),
        [_disagreement(first, *pair) for pair in pairs.both if pair[0].label != pair[1].label],
    )


class _Pairs(NamedTuple):
    """Decisions of two projects on the same candidates."""

    both: list[tuple[Decision, Decision]]
    n_here: int
    n_there: int
    n_unknown: int
    new: list[Decision]  # of the other project, on candidates without a decision here

    @classmethod
    def of(cls, first: Project, second: Project) -> _Pairs:
        here = {row: one for row, one in first.current().items() if one.label is not None}
        there = {row: one for row, one in second.current().items() if one.label is not None}
        rows = _rows_by_key(first, set(range(len(first.candidates))))
        both: list[tuple[Decision, Decision]] = []
        new: list[Decision] = []
        n_unknown = 0
        for key, row in _rows_by_key(second, set(there)).items():
            if key not in rows:
                n_unknown += 1
            elif rows[key] in here:
                both.append((here[rows[key]], there[row]))
            else:
                new.append(there[row]._replace(candidate=rows[key]))
        both.sort(key=lambda pair: pair[0].candidate)
        new.sort(key=lambda one: (one.time, one.id))
        return cls(both, len(here) - len(both), len(new), n_unknown, new)


def _rows_by_key(project: Project, wanted: set[int]) -> dict[_Key, int]:
    columns, mentions = project.candidates, project.mentions()
    names = [row.name for row in project.documents()]
    return {
        (
            names[columns.document[row]],
            mentions[int(columns.sentence[row]), int(columns.first[row])],
            mentions[int(columns.sentence[row]), int(columns.second[row])],
        ): row
        for row in sorted(wanted)
    }


def _estimate(
    tables: NDArray[np.int64], n_resamples: int, confidence: float, seed: int
) -> Estimate | None:
    """Return kappa with a percentile interval, given a table of counts for each document."""
    value = float(cohen_kappa(tables.sum(axis=0))) if len(tables) else float("nan")
    if np.isnan(value):
        return None
    n = len(tables)
    if n < 2 or not n_resamples:
        return Estimate(value)
    rng = child_generator(seed, _BOOTSTRAP)
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=n_resamples)
    size = tables.shape[1]
    found = cohen_kappa((drawn @ tables.reshape(n, -1)).reshape(-1, size, size))
    tail = (1 - confidence) / 2
    low, high = np.quantile(found[~np.isnan(found)], [tail, 1 - tail])
    return Estimate(value, float(low), float(high))


def _by_type(table: NDArray[np.int64], labels: Sequence[str]) -> list[TypeAgreement]:
    types = [type_of(label) for label in labels]
    made = []
    for name in sorted(set(types) - {NONE}):
        own = np.array([one == name for one in types])
        both = int(table[np.ix_(own, own)].sum())
        here, there = int(table[own].sum()), int(table[:, own].sum())
        rest = int(table.sum()) - here - there + both
        kappa = float(cohen_kappa(np.array([[both, here - both], [there - both, rest]])))
        made.append(TypeAgreement(name, here, there, both, None if np.isnan(kappa) else kappa))
    return made


def _disagreement(project: Project, one: Decision, other: Decision) -> Disagreement:
    columns, mentions = project.candidates, project.mentions()
    row = one.candidate
    sentence = int(columns.sentence[row])
    document = project.documents()[columns.document[row]].name
    first, second = (
        mentions[sentence, int(place[row])].text for place in (columns.first, columns.second)
    )
    return Disagreement(
        document,
        first,
        second,
        str(one.label),
        str(other.label),
        one.author,
        other.author,
        project.sentence(sentence)[1].text,
        row,
    )


def merge(target: Project, other: Project, *, author_prefix: str = "") -> Merged:
    """Add the decisions of another project on candidates that have no decision here.

    Decisions keep their authors, times and comments, and are one batch, which is undone at once.
    Skipped candidates count as undecided. Conflicts are listed, and no decision is changed.

    Parameters
    ----------
    target : Project
        Open for writing.
    other : Project
    author_prefix : str
        Added before the authors of the decisions.

    Raises
    ------
    ProjectError
        If a relation type is symmetric in one project and directed in the other.
    """
    pairs = _Pairs.of(target, other)
    types = _missing_types(
        {row.name: row for row in target.types()},
        {row.name: row for row in other.types()},
        {type_of(one.label) for one in pairs.new if one.label is not None} - {NONE},
    )
    for row in types:
        target.add_type(
            row.name, symmetric=row.symmetric, description=row.description, roles=row.roles
        )
    new = [one._replace(author=f"{author_prefix}{one.author}") for one in pairs.new]
    added = target.add_decisions(new) if new else []
    unequal = [pair for pair in pairs.both if pair[0].label != pair[1].label]
    return Merged(
        added,
        [row.name for row in types],
        len(pairs.both) - len(unequal),
        pairs.n_unknown,
        [_disagreement(target, *pair) for pair in unequal],
    )


def _missing_types(
    here: Mapping[str, TypeRow], there: Mapping[str, TypeRow], needed: set[str]
) -> list[TypeRow]:
    for name in sorted(needed & here.keys()):
        if here[name].symmetric != there[name].symmetric:
            kinds = {True: "symmetric", False: "directed"}
            raise ProjectError(
                f"the relation type {name!r} is {kinds[here[name].symmetric]} here and "
                f"{kinds[there[name].symmetric]} in the other project",
                hint="decisions of this type cannot be merged; declare the type in the same way",
            )
    return [there[name] for name in there if name in needed and name not in here]
