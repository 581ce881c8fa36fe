"""Learning which labels a kernel should ignore."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from typing import Any, ClassVar

import numpy as np

from kernelwood.arrays import (
    LARGE,
    Anything,
    ArrayOf,
    Figure,
    Items,
    Labels,
    Named,
    OneOf,
    Plain,
    Schema,
    Text,
)
from kernelwood.compute import config_context, get_config
from kernelwood.errors import KernelInputError
from kernelwood.features import (
    KERNEL,
    METHODS as HASH_METHODS,
    SEED,
    StructureEstimator,
    encode_groups,
    encode_labels,
)
from kernelwood.tuning.chain import ChainSettings, search_by_information
from kernelwood.tuning.gate_report import GateReport
from kernelwood.tuning.neighbor_search import (
    LOSSES,
    NeighborLoss,
    NeighborSettings,
    search_by_neighbors,
)
from kernelwood.tuning.problem import (
    Decision,
    Earlier,
    GateProblem,
    LabelTable,
    Outcome,
    find_gated,
    quiet_zeros,
    settle,
    tabulate_labels,
)

_SAMPLES = {"neighbors": 100, "information": 300}
_STEPS_A_LABEL, _FEWEST_STEPS = 20, 200


class GateLearner(StructureEstimator):
    r"""Learn which labels a kernel should ignore, from structures with classes.

    A gate is a factor on the match of two labels; a closed gate (0) hides all nodes or elements
    with its label. All gates start open. Two methods find those to close:

    ``"neighbors"``
        One label after the other, the most frequent first: draw ``n_samples`` structures with the
        label, add their neighborhood in a graph of ``n_neighbors`` neighbors, and compare the
        losses with the gate open and closed, summed over ``n_trials`` samples. The better state is
        kept.
    ``"information"``
        A Metropolis-Hastings chain over all gates: flip one, and accept with probability
        :math:`\min(1, \exp((I' - I) / T))`, where :math:`I` estimates the mutual information of
        hashcodes and classes above chance (:mod:`kernelwood.information`): the entropy of the codes
        of random groups minus that of classes of the same sizes. The best sample is kept, and
        improved until no single flip helps. Kernel parameters can be learned with the gates. If
        only many gates together have an effect, ``"neighbors"`` works better.

    Parameters
    ----------
    kernel : Kernel
        Kernel with gates, or a combination of such kernels, which share the learned gates. Its
        present gates are the start of the search.
    method : {"neighbors", "information"}
        Learning method.
    labels : float, int or list of str
        Labels whose gates are learned: a fraction of the labels (0.5: the more frequent half), a
        number, or a list. The empty label gets a gate only if it is listed.
    n_samples : int, optional
        Number of structures with a label in a trial, :math:`\beta`, by default 100; or of
        structures whose codes are used, :math:`\gamma`, by default 300.
    n_trials : int
        Number of samples for each label, :math:`\alpha` (neighbors).
    n_neighbors : int
        Number of neighbors in the graph from which neighborhoods are drawn (neighbors).
    n_passes : int
        Maximum number of passes over the labels, each with a new graph; a pass without changes is
        the last (neighbors).
    sampling : {"neighbors", "random"}
        Whether to add neighborhoods. Without them, the structures of a small sample are not
        neighbors, and a label that helps between distant structures can harm between neighbors
        (neighbors).
    graph : {"exact", "hashed"}
        Neighbor search by all similarities, or by hashcodes for slow kernels (neighbors).
    loss : {"votes", "paper"}
        Loss of a structure of class :math:`y` (neighbors). ``"votes"``: :math:`1 - s / p_y` with
        the fraction :math:`s` of its class among the ``n_votes`` nearest, weighted by similarity,
        and the fraction :math:`p_y` of its class among all. ``"paper"``: the similarity to the
        nearest if that is of another class, otherwise minus the similarity, but 0 for
        ``negative_label``. The loss ``"paper"`` can also be lowered by making all structures more
        or less similar.
    n_votes : int
        Number of neighbors that vote.
    negative_label : label, None or "auto"
        With the loss ``"paper"``, the class without reward for neighbors of its own, such as
        candidates that are not relations. ``"auto"``: the first of two classes in sorted order,
        none of more.
    n_steps : int, optional
        Length of the chain, by default 20 for each label, at least 200 (information).
    patience : int, optional
        Number of steps without improvement after which to stop (information).
    temperature : float
        :math:`T`; higher values accept worse samples more often. The objective grows with
        ``n_bits``; lower the temperature for few bits (information).
    hash_method, n_references, n_bits, subset_size
        Parameters of the hashcodes; see :class:`KernelHasher` (information).
    parameters : dict from str to list, optional
        Kernel parameters to learn, with their possible values, as in
        ``{"decay": [0.4, 0.8], "similarity__floor": [0.2, 0.6]}`` (information).
    search : {"chain", "grid"}
        Whether the chain also changes these parameters, or all combinations are tried before it
        starts (information).
    n_runs : int
        Number of runs with different random numbers. A gate is closed if most runs close it;
        ``ignored_`` has the fractions.
    random_state : None, int, Generator or RandomState
        Seed.
    n_jobs : int, optional
        Number of threads; no result depends on it.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with the learned gates, for any learner.
    gates_ : dict from str to float
        The learned gates.
    labels_ : list of str
        The labels whose gates were learned, the most frequent first.
    structures_, occurrences_ : ndarrays of int64, shape (n_labels,)
        Number of structures with each label, and of nodes or elements.
    loss_open_, loss_closed_ : ndarrays of float64, shape (n_labels,)
        Mean loss of a structure with the gate open and closed, at the last decision (neighbors); or
        minus the estimated information in nats, with the other gates as learned (information).
        These estimates serve for comparison only; they can exceed the entropy of the classes.
    ignored_ : ndarray of float64, shape (n_labels,)
        Fraction of runs in which the label is ignored.
    parameters_ : dict
        The learned kernel parameters.
    trace_ : list of dict
        All decisions, in order.
    seed_ : int
        The seed that was used.

    See Also
    --------
    ReferenceSelector : Learn the references of hashcodes.

    References
    ----------
    S. Garg, G. Ver Steeg, A. Galstyan: Stochastic learning of nonstationary kernels for natural
    language modeling. arXiv:1801.03911, 2018. S. Garg, A. Galstyan, G. Ver Steeg, I. Rish,
    G. Cecchi, S. Gao: Kernelized hashcode representations for relation extraction. AAAI 2019.

    Examples
    --------
    >>> import kernelwood as kw
    >>> paths, classes, signal, noise = kw.tuning.planted_paths(400, n_signal=4, n_noise=6)
    >>> learner = kw.GateLearner(kw.SubsequenceKernel(), labels=1.0, random_state=0)
    >>> learner = learner.fit(paths, classes)
    >>> sorted(label for label, gate in learner.gates_.items() if gate == 0)
    ['n0', 'n1', 'n2', 'n3', 'n4', 'n5']
    >>> model = kw.KernelNeighborsClassifier(learner.kernel_).fit(paths, classes)
    """

    _fitted: ClassVar[Schema] = {
        "kernel_": KERNEL,
        "seed_": SEED,
        "classes_": Labels(),
        "gates_": Named(Figure()),
        "labels_": Items(Text()),
        "structures_": ArrayOf("int64", "labels_", least=0),
        "occurrences_": ArrayOf("int64", "labels_", least=0),
        "loss_open_": ArrayOf("float64", "labels_", least=-LARGE, most=LARGE),
        "loss_closed_": ArrayOf("float64", "labels_", least=-LARGE, most=LARGE),
        "ignored_": ArrayOf("float64", "labels_", least=0, most=1),
        "parameters_": Named(Anything()),
        "trace_": Items(Named(OneOf(Plain(), Named(Plain())))),
    }

    def __init__(
        self,
        kernel: Any,
        *,
        method: str = "neighbors",
        labels: Any = 0.5,
        n_samples: int | None = None,
        n_trials: int = 10,
        n_neighbors: int = 4,
        n_passes: int = 3,
        sampling: str = "neighbors",
        graph: str = "exact",
        loss: str = "votes",
        n_votes: int = 8,
        negative_label: Any = "auto",
        n_steps: int | None = None,
        patience: int | None = None,
        temperature: float = 1.0,
        hash_method: str = "rmm",
        n_references: int = 100,
        n_bits: int = 1000,
        subset_size: int = 2,
        parameters: Mapping[str, Any] | None = None,
        search: str = "chain",
        n_runs: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.method = method
        self.labels = labels
        self.n_samples = n_samples
        self.n_trials = n_trials
        self.n_neighbors = n_neighbors
        self.n_passes = n_passes
        self.sampling = sampling
        self.graph = graph
        self.loss = loss
        self.n_votes = n_votes
        self.negative_label = negative_label
        self.n_steps = n_steps
        self.patience = patience
        self.temperature = temperature
        self.hash_method = hash_method
        self.n_references = n_references
        self.n_bits = n_bits
        self.subset_size = subset_size
        self.parameters = parameters
        self.search = search
        self.n_runs = n_runs
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        groups: Any = None,
        unlabeled: Any = None,
        resume: Any = None,
        on_decision: Callable[[Decision], object] | None = None,
    ) -> GateLearner:
        """Learn gates from structures with classes.

        Parameters
        ----------
        X : list of structures or batch, length n
        y : array of labels, shape (n,), optional
            By default the labels of examples.
        groups : array, shape (n,), optional
            Groups such as documents: neighbors in the same group do not count, because a new
            document has none there (neighbors).
        unlabeled : list of structures or batch, optional
            Structures without a known class (information).
        resume : list of dict, optional
            Decisions of an interrupted fit with the same data and parameters, from its ``trace_``.
            They are not computed again, and the result is the same.
        on_decision : callable, optional
            Called with every new decision, to store it for ``resume``.
        """
        X = self._start(X)
        problem = self._problem(X, y, groups)
        if unlabeled is not None:
            if self.method != "information":
                raise KernelInputError(
                    "GateLearner: unlabeled structures are used with method='information' only"
                )
            unlabeled = self._prepare(unlabeled)
        # The result of an earlier fit is invalid; the trace stays if this one is interrupted.
        self.__dict__.pop("gates_", None)
        self.trace_: list[Decision] = []
        with self._threads(), quiet_zeros():
            outcomes = self._search(problem, unlabeled, Earlier(resume), on_decision)
        self._conclude(problem, outcomes)
        return self

    def report(self) -> GateReport:
        """Return a report on the learned gates, with table, JSON and figure."""
        self._check_is_fitted()
        return GateReport.of(self)

    def _search(
        self,
        problem: GateProblem,
        unlabeled: Any,
        earlier: Earlier,
        on_decision: Callable[[Decision], object] | None,
    ) -> list[Outcome]:
        progress = get_config().progress or (lambda done, total: None)
        n_steps = self._steps(len(problem.table))
        outcomes = []
        # Progress counts decisions, not kernel evaluations.
        with config_context(progress=None):
            for run in range(self.n_runs):
                steps = self._steps_of_run(problem.in_run(run), unlabeled, earlier)
                done = run * n_steps
                while True:
                    try:
                        decision, is_new = next(steps)
                    except StopIteration as end:
                        outcomes.append(end.value)
                        break
                    self.trace_.append(decision)
                    if is_new and on_decision is not None:
                        on_decision(decision)
                    done += 1
                    progress(done, self.n_runs * n_steps)
        earlier.finish()
        progress(self.n_runs * n_steps, self.n_runs * n_steps)  # runs may end early
        return outcomes

    def _steps_of_run(
        self, problem: GateProblem, unlabeled: Any, earlier: Earlier
    ) -> Generator[tuple[Decision, bool], None, Outcome]:
        if self.method == "neighbors":
            return search_by_neighbors(problem, self._neighbor_settings(), earlier)
        settings = self._chain_settings(len(problem.table))
        return search_by_information(problem, settings, unlabeled, earlier)

    def _conclude(self, problem: GateProblem, outcomes: list[Outcome]) -> None:
        joint, self.ignored_ = settle(outcomes)
        self.labels_ = list(problem.table.labels)
        self.structures_ = problem.table.n_structures
        self.occurrences_ = problem.table.occurrences
        self.loss_open_, self.loss_closed_ = joint.loss_open, joint.loss_closed
        self.parameters_ = dict(joint.parameters)
        self.gates_ = problem.gates(joint.is_open)
        # A copy, because a similarity among the parameters belongs to the caller.
        learned = problem.kernel.clone().set_params(**self.parameters_).clone()
        self.kernel_ = problem.kernel_with(joint.is_open, learned)

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

    # The problem: structures, classes and labels.

    def _problem(self, X: Any, y: Any, groups: Any) -> GateProblem:
        name = type(self).__name__
        self.classes_, numbers = encode_labels(name, X, y)
        if len(self.classes_) < 2:
            raise KernelInputError(
                f"{name}: all structures are of the class {self.classes_.tolist()[0]!r}; gates are "
                "learned from two classes or more"
            )
        table = self._chosen_labels(tabulate_labels(self.kernel_, X))
        loss = NeighborLoss.of(
            name,
            self.loss,
            self.classes_,
            numbers,
            n_votes=self.n_votes,
            negative_label=self.negative_label,
        )
        return GateProblem(
            self.kernel_, X, numbers, loss, encode_groups(name, X, groups), table, self.seed_
        )

    def _chosen_labels(self, table: LabelTable) -> LabelTable:
        gate_on = find_gated(self.kernel_)[0].kernel.gate_on
        if set(table.labels) <= {""}:
            hint = (
                "; for gates of nodes give the kernel gate_on='node'" if gate_on == "edge" else ""
            )
            raise KernelInputError(
                f"GateLearner: no {gate_on} of these structures has a label{hint}"
            )
        # The empty label, as of the first element of a path, has no gate unless listed.
        named = [t for t, label in enumerate(table.labels) if label]
        if isinstance(self.labels, (float, np.floating)):
            return table.choose(named[: math.ceil(self.labels * len(named))])
        if isinstance(self.labels, (int, np.integer)):
            return table.choose(named[: int(self.labels)])
        numbers = {label: t for t, label in enumerate(table.labels)}
        unknown = [label for label in self.labels if label not in numbers]
        if unknown:
            raise KernelInputError(
                f"GateLearner: labels names {unknown[0]!r}, which no {gate_on} has; the "
                f"most frequent are {', '.join(map(repr, table.labels[:5]))}"
            )
        return table.choose(sorted({numbers[label] for label in self.labels}))

    # Checks.

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
                "GateLearner: labels must be a fraction above 0 (as 0.5), a number of at least 1, "
                f"or a list of labels, got {labels!r}"
            )

    def _check_kernel_parameters(self) -> None:
        if self.parameters is None:
            return
        if self.method != "information":
            raise KernelInputError(
                "GateLearner: kernel parameters are learned with method='information' only"
            )
        for name, values in dict(self.parameters).items():
            if not isinstance(values, (list, tuple, np.ndarray)) or len(values) == 0:
                raise KernelInputError(
                    f"GateLearner: parameters must map names to lists of values, got {name!r}: "
                    f"{values!r}"
                )
            if name.rpartition("__")[2] in ("gates", "gate_on"):
                raise KernelInputError(
                    f"GateLearner: leave {name!r} out of parameters; gates are always learned"
                )
            for value in values:
                self.kernel.clone().set_params(**{name: value})._check_params()

    def _check_restored(self) -> None:
        super()._check_restored()
        if set(self.gates_) != set(self.labels_):
            raise ValueError("gates_ must have a gate for each of labels_")
        about_gates = (decision for decision in self.trace_ if "open" in decision)
        if not all(type(one.get("label")) is str and "before" in one for one in about_gates):
            raise ValueError("trace_ must have the label of each decision about a gate")
        with_gates = find_gated(self.kernel_)[0].kernel.gates or {}
        if any(with_gates.get(label) != gate for label, gate in self.gates_.items()):
            raise ValueError("kernel_ must have the gates_")
