"""Training on labeled pairs: their classes, and the training cases of another extractor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernelwood.arrays import ExampleBatch
from kernelwood.errors import KernelInputError
from kernelwood.evaluate import documents
from kernelwood.kernels import Kernel, needed_views
from kernelwood.relations.candidates import NONE, Candidates
from kernelwood.relations.evidence import CaseTexts
from kernelwood.relations.guards import TextHashes
from kernelwood.relations.recipes import kernel_on
from kernelwood.relations.relation_classes import RELATION, RelationClasses, type_of
from kernelwood.structures import show
from kernelwood.text import Example
from kernelwood.views import several

_FORM = f"{NONE!r}, 'Binds', 'Activates(e1,e2)' or 'Activates(e2,e1)', or None if it is unknown"


def labeled_pairs(candidates: Any) -> Candidates:
    """Return the candidates that have a label, or raise KernelInputError.

    Examples
    --------
    >>> labeled_pairs(Candidates())
    Traceback (most recent call last):
    ...
    kernelwood.errors.KernelInputError: fit_candidates: there are no candidates
    """
    if not isinstance(candidates, Candidates):
        raise KernelInputError(
            "fit_candidates: candidates must be Candidates, as "
            f"kernelwood.relations.pair_candidates returns them; got {show(candidates)} of type "
            f"{type(candidates).__name__}"
        )
    if not len(candidates):
        raise KernelInputError("fit_candidates: there are no candidates")
    rows = [row for row, label in enumerate(candidates.labels) if label is not None]
    for row in rows:
        label = candidates.labels[row]
        if not isinstance(label, str) or not type_of(label).strip():
            raise KernelInputError(
                f"fit_candidates: the label of {candidates.ids[row]!r} is {label!r}; a label is "
                f"{_FORM} (pair_candidates(..., labels='directed') makes such labels)"
            )
        if len(candidates.participants[row]) != 2 or candidates.triggers[row] is not None:
            raise KernelInputError(
                f"fit_candidates: {candidates.ids[row]!r} is not a pair of entities; use fit for "
                "events"
            )
    if not rows:
        raise KernelInputError(
            f"fit_candidates: none of the {len(candidates):,} candidates has a label; a label is "
            f"{_FORM}"
        )
    return candidates.take(rows)


def pair_classes(
    labeled: Candidates,
    labels: str,
    symmetric: Sequence[str],
    kinds: frozenset[str] | None,
    roles: Mapping[str, Sequence[str]],
) -> RelationClasses:
    """Return the classes of labeled pairs.

    Parameters
    ----------
    labeled : Candidates
        As `labeled_pairs` returns them.
    labels, symmetric
        As of a RelationExtractor.
    kinds : frozenset of str or None
        Labels of other types count as ``"none"``.
    roles : mapping of str to two str
        Roles of the arguments by relation type.
    """
    _check_roles(roles)
    rows = zip(labeled.labels, labeled.participants, strict=True)
    found = [
        (label, *(entity.type for _, entity in pair))
        for label, pair in rows
        if kinds is None or type_of(label) in kinds
    ]
    classes = RelationClasses.of_labels(found, labels, symmetric, roles)
    for label, *_ in found:
        name = type_of(label)
        directed = name not in classes.undirected and name not in classes.arguments
        if label == name != NONE and directed and classes.labels == "directed":
            raise KernelInputError(
                f"fit_candidates: some labels of the type {name!r} have a direction, and some have "
                f"not; use '{name}(e1,e2)' and '{name}(e2,e1)', or symmetric=[{name!r}]"
            )
    return classes


def class_labels(
    labeled: Candidates, classes: RelationClasses, kinds: frozenset[str] | None
) -> list[str]:
    """Return the class of each labeled pair; other types than ``kinds`` count as none."""
    made = []
    for label, pair in zip(labeled.labels, labeled.participants, strict=True):
        counts = kinds is None or type_of(label) in kinds
        made.append(classes.of(label if counts else NONE, *(entity.type for _, entity in pair)))
    return made


def check_both_kinds(labels: Sequence[str]) -> None:
    """Raise KernelInputError unless there are relations and pairs that are not related.

    Examples
    --------
    >>> check_both_kinds(["none", "Binds"])
    """
    n_none = sum(label == NONE for label in labels)
    if 0 < n_none < len(labels):
        return
    lacking = "is a relation" if n_none else f"is labeled {NONE!r}"
    raise KernelInputError(
        f"fit_candidates: none of the {len(labels):,} labeled candidates {lacking}; label at least "
        f"one relation and one pair that is not related ({NONE!r})"
    )


def _check_roles(roles: Any) -> None:
    valid = isinstance(roles, Mapping) and all(
        not isinstance(pair, str)
        and isinstance(pair, Sequence)
        and len(pair) == 2
        and all(isinstance(role, str) for role in pair)
        for pair in roles.values()
    )
    if not valid:
        raise KernelInputError(
            "fit_candidates: roles must have two names for each relation type, such as "
            f"{{'Activates': ('Cause', 'Theme')}}; got {show(roles)}"
        )


@dataclass(frozen=True, eq=False)
class PriorCases:
    """The training cases of another extractor, as further training examples.

    Attributes
    ----------
    views : tuple of str
        Views of the candidates that are joined with the cases.
    kernel : Kernel
    classes : RelationClasses
    table : ExampleBatch
        The cases, with their classes as labels.
    texts : CaseTexts
    hashes : TextHashes
        Of the training documents.
    n_documents, n_sentences : int
        Size of the training corpus.
    """

    views: tuple[str, ...]
    kernel: Kernel
    classes: RelationClasses
    table: ExampleBatch
    texts: CaseTexts
    hashes: TextHashes
    n_documents: int
    n_sentences: int

    @classmethod
    def of(cls, extractor: Any, owner: Any) -> PriorCases:
        """Return the cases of an extractor for training ``owner``, or raise KernelInputError."""
        if type(extractor) is not type(owner):
            raise KernelInputError(
                f"fit_candidates: cases must be a RelationExtractor, got {show(extractor)}"
            )
        extractor._check_is_fitted()
        if extractor.candidates != "pairs":
            raise KernelInputError("fit_candidates: cases must be an extractor of pairs")
        if owner.labels not in ("auto", extractor.labels_):
            raise KernelInputError(
                f"fit_candidates: the cases have labels={extractor.labels_!r}, but this extractor "
                f"has labels={owner.labels!r}; use the same, or labels='auto'"
            )
        views, kernel = tuple(extractor.views_), extractor.learner_.kernel_
        if owner.kernel is not None or owner.views is not None:
            views = several(owner.views or needed_views(owner.kernel) or ())
            kernel = owner.kernel or kernel_on(views, owner.vectors)
        elif owner.vectors is not None:
            raise KernelInputError(
                "fit_candidates: vectors have no effect, because the kernel is that of the cases; "
                "give views, too, or leave out vectors"
            )
        wanted = needed_views(kernel) or views
        if missing := [name for name in wanted if name not in extractor.cases_.views]:
            raise KernelInputError(
                f"fit_candidates: the cases do not have the view {missing[0]!r} (they have "
                f"{', '.join(extractor.cases_.views)}); leave out views and kernel, or cases"
            )
        table = extractor.cases_.only(wanted)
        return cls(
            views, kernel, extractor._classes(), table, extractor._case_texts(),
            extractor._text_hashes(), extractor.n_documents_, extractor.n_sentences_,
        )  # fmt: skip

    def extended(self, classes: RelationClasses) -> RelationClasses:
        """Return the classes of the cases and, for other relation types, those of labeled pairs.

        Raises
        ------
        KernelInputError
            If the cases have no relation types, but the labels have.
        """
        own = self.classes
        new = [name for name in classes.roles if name not in own.roles]
        if own.labels == "binary" and (set(classes.roles) - {RELATION}):
            raise KernelInputError(
                f"fit_candidates: the cases tell only whether there is a relation ({RELATION!r}), "
                f"but there are labels of the type {new[0]!r}; use labels='binary', or leave out "
                "cases"
            )
        return RelationClasses(
            own.labels,
            tuple(sorted({*own.undirected, *(set(new) & set(classes.undirected))})),
            dict(sorted({**classes.roles, **own.roles}.items())),
            {**{name: classes.arguments[name] for name in new if name in classes.arguments},
             **own.arguments},
        )  # fmt: skip

    def without(self, texts: CaseTexts) -> PriorCases:
        """Return the cases that are not pairs with these texts."""
        known = set(texts.keys())
        rows = [row for row, key in enumerate(self.texts.keys()) if key not in known]
        if len(rows) == len(self.table):
            return self
        return replace(self, table=self.table[np.array(rows, int)], texts=self.texts.take(rows))

    def documents(self, texts: CaseTexts, named: Sequence[str]) -> list[str]:
        """Return the document of each case, for folds.

        A document that shares a sentence with labeled pairs is the same as theirs.

        Parameters
        ----------
        texts : CaseTexts
            Those of the labeled pairs.
        named : sequence of str
            The document of each labeled pair.
        """
        sentences = self.texts.sentences[self.texts.sentence_of].tolist()
        groups = []
        for id, sentence in zip(self.table.ids, sentences, strict=True):
            try:
                [group] = documents([Example(id)])
            except KernelInputError:
                group = sentence  # nothing tells the document
            groups.append(group)
        theirs = dict(zip(texts.sentences[texts.sentence_of].tolist(), named, strict=True))
        same = {
            group: theirs[sentence]
            for group, sentence in zip(groups, sentences, strict=True)
            if sentence in theirs
        }
        return [same.get(group, group) for group in groups]

    def joined(self, table: ExampleBatch) -> ExampleBatch:
        """Return labeled pairs and the cases after them, with the views of the cases."""
        return ExampleBatch.from_examples([*table.only(self.table.views), *self.table])

    def joined_hashes(self, hashes: TextHashes) -> TextHashes:
        """Return the hashes of both corpora."""
        both = zip(hashes, self.hashes, strict=True)
        return TextHashes(*(np.union1d(one, other) for one, other in both))
