"""Parameters of learning gates: what they may be, and what they mean to the two methods."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from kernelwood.errors import KernelInputError
from kernelwood.features import METHODS as HASH_METHODS, StructureEstimator
from kernelwood.tuning.chain import ChainSettings
from kernelwood.tuning.labels import find_gated
from kernelwood.tuning.losses import LOSSES
from kernelwood.tuning.neighbors import NeighborSettings

__all__ = ["GateParameters"]

_SAMPLES = {"neighbors": 100, "information": 300}
_STEPS_A_LABEL, _FEWEST_STEPS = 20, 200


class GateParameters(StructureEstimator):
    """Base class of :class:`GateLearner`, which describes the parameters."""

    method: str
    labels: Any
    n_samples: int | None
    n_trials: int
    n_neighbors: int
    n_passes: int
    sampling: str
    graph: str
    loss: str
    n_votes: int
    n_steps: int | None
    patience: int | None
    temperature: float
    hash_method: str
    n_references: int
    n_bits: int
    subset_size: int
    parameters: Mapping[str, Any] | None
    search: str
    n_runs: int

    def _steps(self, n_labels: int) -> int:
        if self.method == "neighbors":
            return self.n_passes * n_labels
        listed = (self.parameters or {}).values() if self.search == "grid" else ()
        grid = math.prod(len(values) for values in listed) if listed else 0
        return grid + self._chain_steps(n_labels)

    def _chain_steps(self, n_labels: int) -> int:
        return self.n_steps or max(_FEWEST_STEPS, _STEPS_A_LABEL * n_labels)

    def _neighbor_settings(self) -> NeighborSettings:
        return NeighborSettings(
            n_samples=self.n_samples or _SAMPLES["neighbors"],
            n_trials=self.n_trials,
            n_neighbors=self.n_neighbors,
            n_passes=self.n_passes,
            sampling=self.sampling,
            graph=self.graph,
        )

    def _chain_settings(self, n_labels: int) -> ChainSettings:
        return ChainSettings(
            n_samples=self.n_samples or _SAMPLES["information"],
            n_steps=self._chain_steps(n_labels),
            patience=self.patience,
            temperature=float(self.temperature),
            hash_method=self.hash_method,
            n_references=self.n_references,
            n_bits=self.n_bits,
            subset_size=self.subset_size,
            parameters={name: list(values) for name, values in (self.parameters or {}).items()},
            search=self.search,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        find_gated(self.kernel)
        self._check_choice("method", tuple(_SAMPLES))
        self._check_choice("sampling", ("neighbors", "random"))
        self._check_choice("graph", ("exact", "hashed"))
        self._check_choice("loss", LOSSES)
        self._check_choice("search", ("chain", "grid"))
        self._check_choice("hash_method", tuple(HASH_METHODS))
        self._check_count("n_samples", 2, none=True)
        for name in (
            "n_trials",
            "n_neighbors",
            "n_votes",
            "n_passes",
            "n_runs",
            "n_bits",
            "subset_size",
        ):
            self._check_count(name, 1)
        self._check_count("n_references", 2)
        for name in ("n_steps", "patience"):
            self._check_count(name, 1, none=True)
        self._check_number("temperature", 0, float("inf"), "(0, inf)")
        self._check_labels()
        self._check_kernel_parameters()

    def _check_labels(self) -> None:
        labels = self.labels
        if isinstance(labels, (bool, str)):
            good = False
        elif isinstance(labels, (int, np.integer)):
            good = bool(labels >= 1)
        elif isinstance(labels, (float, np.floating)):
            good = bool(0 < labels <= 1)
        else:
            good = isinstance(labels, (list, tuple, set, frozenset)) and len(labels) > 0
            good = good and all(isinstance(label, str) for label in labels)
        if not good:
            raise KernelInputError(
                "GateLearner: labels must be a share above 0 (as 0.5), a number of labels from 1, "
                f"or a list of labels, got {labels!r}"
            )

    def _check_kernel_parameters(self) -> None:
        if self.parameters is None:
            return
        if self.method != "information":
            raise KernelInputError(
                "GateLearner: parameters of the kernel are learned with method='information' only"
            )
        for name, values in dict(self.parameters).items():
            if not isinstance(values, (list, tuple, np.ndarray)) or len(values) == 0:
                raise KernelInputError(
                    f"GateLearner: parameters must map names to lists of values, got {name!r}: "
                    f"{values!r}"
                )
            if name.rpartition("__")[2] in ("gates", "gate_on"):
                raise KernelInputError(
                    f"GateLearner: {name!r} is none of the parameters to list; gates are learned "
                    "anyway"
                )
            for value in values:
                self.kernel.clone().set_params(**{name: value})._check_params()
