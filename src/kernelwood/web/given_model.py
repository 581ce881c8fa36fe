"""The model that a project was created with, in the form that the live model uses."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from kernelwood.arrays import ExampleBatch
from kernelwood.relations import NONE, RelationExtractor, type_of
from kernelwood.text import Entity
from kernelwood.views import entity_types
from kernelwood.web.project import Project

Floats = NDArray[np.float64]

FORWARD, BACKWARD = "(e1,e2)", "(e2,e1)"


class GivenModel:
    """Predictions of an extractor in the classes of decisions.

    Decisions on a type that is not symmetric always have a direction. The extractor leaves it out
    of its classes if it follows from the types of the entities, or is that of the text.

    Parameters
    ----------
    extractor : RelationExtractor
    symmetric : iterable of str
        Relation types without direction.

    Attributes
    ----------
    classes : tuple of str
    """

    def __init__(self, extractor: RelationExtractor, symmetric: Iterable[str] = ()) -> None:
        self.extractor = extractor
        self._names: list[str] = extractor.learner_.classes_.tolist()
        without = {NONE, *symmetric}
        self._open = {name for name in self._names if name not in without and type_of(name) == name}
        directed = [name + way for name in self._names for way in self._ways(name)]
        self.classes = tuple(dict.fromkeys(directed))

    def _ways(self, name: str) -> tuple[str, ...]:
        return (FORWARD, BACKWARD) if name in self._open else ("",)

    @classmethod
    def of(cls, project: Project) -> GivenModel | None:
        """Return the model of a project, None if it was created without one."""
        extractor = project.prior_model()
        if extractor is None:
            return None
        return cls(extractor, [row.name for row in project.types() if row.symmetric])

    def predict(self, views: ExampleBatch) -> Floats:
        """Return the probability of each class, shape (n, n_classes).

        Parameters
        ----------
        views : ExampleBatch, length n
            Candidates with the views of the extractor, and the view ``types``.
        """
        given = self.extractor.class_probabilities(views)
        types = [sequence.nodes[0] for sequence in views.view("types")] if self._open else []
        made = np.zeros((len(given), len(self.classes)))
        for column, name in enumerate(self._names):
            if name not in self._open:
                made[:, self.classes.index(name)] += given[:, column]
                continue
            turned = self._turned(name)
            backward = np.array([one in turned for one in types], dtype=bool)
            for way, rows in ((FORWARD, ~backward), (BACKWARD, backward)):
                made[rows, self.classes.index(name + way)] += given[rows, column]
        return made

    def _turned(self, name: str) -> set[str]:
        """Return the types of entities whose second one is the first argument of a relation."""
        return {
            entity_types(Entity("", second, ()), Entity("", first, ())).nodes[0]
            for first, second in self.extractor.arguments_.get(name, ())
        }
