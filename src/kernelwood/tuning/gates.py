"""Learning which labels a kernel should ignore."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from typing import Any

import numpy as np

from kernelwood.compute import config_context, get_config
from kernelwood.errors import KernelInputError
from kernelwood.features import encode_groups, encode_labels
from kernelwood.tuning.chain import search_by_information
from kernelwood.tuning.gate_parameters import GateParameters
from kernelwood.tuning.labels import LabelTable, find_gated, tabulate_labels
from kernelwood.tuning.losses import NeighborLoss
from kernelwood.tuning.neighbors import search_by_neighbors
from kernelwood.tuning.outcome import Outcome, settle
from kernelwood.tuning.problem import Decision, Earlier, GateProblem, quiet_zeros
from kernelwood.tuning.report import GateReport

__all__ = ["GateLearner"]


class GateLearner(GateParameters):
    r"""Learn which labels a kernel should ignore, from structures with classes.

    A gate is a factor on the match of two labels; closed (0), it hides all nodes or elements with
    its label. All gates begin open. Two ways to find those to close:

    ``"neighbors"``
        One label after the other, the most frequent first: draw ``n_samples`` structures with
        the label, add their neighborhood in the graph of ``n_neighbors`` neighbors, and compare
        the losses with the gate open and closed, summed over ``n_trials`` samples. The better
        state stays.
    ``"information"``
        A Metropolis-Hastings chain over all gates: flip one, and accept with probability
        :math:`\min(1, \exp((I' - I) / T))`, where :math:`I` estimates how much more hashcodes
        know of the classes than chance (:mod:`kernelwood.information`): the entropy of codes of
        random groups minus that of codes of classes, which are as large. The best sample is kept,
        and improved until no single flip does. Parameters of the kernel can be learned along with
        the gates. Where only many gates together make a difference, neighbors see more.

    Parameters
    ----------
    kernel : Kernel
        A kernel with gates, or a combination of such, which then share them. Gates it already has
        are where the search begins.
    method : {"neighbors", "information"}
        How to learn.
    labels : float, int or list of str
        Whose gates to learn: this share of the labels (0.5: the more frequent half), this many, or
        these. The empty label gets a gate only if it is named.
    n_samples : int, optional
        Structures with a label in a trial, :math:`\beta`, by default 100; or structures whose
        codes are looked at, :math:`\gamma`, by default 300.
    n_trials : int
        Samples for each label, :math:`\alpha` (neighbors).
    n_neighbors : int
        Neighbors in the graph from which neighborhoods are drawn (neighbors).
    n_passes : int
        How often to go through the labels, each time with a new graph; ends early when a pass
        changes nothing (neighbors).
    sampling : {"neighbors", "random"}
        Whether to add neighborhoods. Without, the structures of a small sample are strangers to
        each other, and what is of use between strangers may do harm between neighbors
        (neighbors).
    graph : {"exact", "hashed"}
        How to find neighbors: by all similarities, or by hashcodes, for kernels that are slow
        (neighbors).
    loss : {"votes", "paper"}
        What is wrong with the neighbors of a structure of class :math:`y` (neighbors).
        ``"votes"``: :math:`1 - s / p_y` with the share :math:`s` of its class among the
        ``n_votes`` nearest, weighted by similarity, and the share :math:`p_y` of its class among
        all. ``"paper"``: the similarity to the nearest if that is of another class, minus the
        similarity if not, but 0 for ``negative_label``. The latter can also be lowered by making
        everything more similar, or less.
    n_votes : int
        How many neighbors vote.
    negative_label : label, None or "auto"
        With the paper's loss, the class that earns nothing for being its own neighbor, such as
        candidates that are no relation. ``"auto"``: of two classes the first in sorted order, of
        more none.
    n_steps : int, optional
        Length of the chain, by default 20 for each label, at least 200 (information).
    patience : int, optional
        Steps without a better sample after which to stop (information).
    temperature : float
        :math:`T`: the higher, the more often a worse sample is accepted. The estimate grows with
        ``n_bits``; with few bits, lower the temperature, too (information).
    hash_method, n_references, n_bits, subset_size
        Of the hashcodes; see :class:`KernelHasher` (information).
    parameters : dict from str to list, optional
        Parameters of the kernel to learn, with their possible values, as in
        ``{"decay": [0.4, 0.8], "similarity__floor": [0.2, 0.6]}`` (information).
    search : {"chain", "grid"}
        Whether the chain also changes these parameters, or all combinations are tried before it
        starts (information).
    n_runs : int
        Learn so many times with other random numbers. A gate is closed if most runs close it;
        how many did is in ``ignored_``.
    random_state : None, int, Generator or RandomState
        Seed.
    n_jobs : int, optional
        Threads; no result depends on them.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with the learned gates, for any learner.
    gates_ : dict from str to float
        The learned gates.
    labels_ : list of str
        The labels whose gates were learned, the most frequent first.
    structures_, occurrences_ : ndarrays of int64, shape (n_labels,)
        How many structures have each label, and how many nodes or elements.
    loss_open_, loss_closed_ : ndarrays of float64, shape (n_labels,)
        Loss with the gate open and closed, a structure, when last decided (neighbors); or minus
        the estimated information in nats, the other gates being the learned ones (information).
        Such estimates are good for comparisons only; they exceed what classes have to know.
    ignored_ : ndarray of float64, shape (n_labels,)
        Share of runs in which the label is ignored.
    parameters_ : dict
        The learned parameters of the kernel.
    trace_ : list of dict
        Every decision, in order.
    seed_ : int
        The seed that was used.

    See Also
    --------
    ReferenceSelector : Learn the references of hashcodes.

    References
    ----------
    S. Garg, G. Ver Steeg, A. Galstyan: Stochastic learning of nonstationary kernels for natural
    language modeling. 2018. S. Garg, A. Galstyan, G. Ver Steeg, I. Rish, G. Cecchi, S. Gao:
    Kernelized hashcode representations for relation extraction. AAAI 2019.

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

    _fitted = (
        "kernel_",
        "seed_",
        "classes_",
        "gates_",
        "labels_",
        "structures_",
        "occurrences_",
        "loss_open_",
        "loss_closed_",
        "ignored_",
        "parameters_",
        "trace_",
    )

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
        unlabelled: Any = None,
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
            What belongs together, such as documents: neighbors in the same one do not count, as
            a new document will have none there (neighbors).
        unlabelled : list of structures or batch, optional
            More structures, whose classes are not known (information).
        resume : list of dict, optional
            Decisions of a fit with the same data and parameters that was broken off, as they are
            in its ``trace_``. They are not computed again, and the result is the same.
        on_decision : callable, optional
            Called with every new decision, to keep it for ``resume``.
        """
        X = self._start(X)
        problem = self._problem(X, y, groups)
        if unlabelled is not None:
            if self.method != "information":
                raise KernelInputError(
                    "GateLearner: unlabelled structures are of use with method='information' only"
                )
            unlabelled = self._prepare(unlabelled)
        # What an earlier fit found is no longer true; the trace stays, if this one is broken off.
        self.__dict__.pop("gates_", None)
        self.trace_: list[Decision] = []
        with self._threads(), quiet_zeros():
            outcomes = self._search(problem, unlabelled, Earlier(resume), on_decision)
        self._conclude(problem, outcomes)
        return self

    def report(self) -> GateReport:
        """Return what was learned, as a table, JSON or a figure."""
        self._check_is_fitted()
        return GateReport.of(self)

    def _search(
        self,
        problem: GateProblem,
        unlabelled: Any,
        earlier: Earlier,
        on_decision: Callable[[Decision], object] | None,
    ) -> list[Outcome]:
        progress = get_config().progress or (lambda done, total: None)
        n_steps = self._steps(len(problem.table))
        outcomes = []
        # The kernels inside are many small steps: what shows is how many decisions are made.
        with config_context(progress=None):
            for run in range(self.n_runs):
                steps = self._steps_of_run(problem.in_run(run), unlabelled, earlier)
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
        self, problem: GateProblem, unlabelled: Any, earlier: Earlier
    ) -> Generator[tuple[Decision, bool], None, Outcome]:
        if self.method == "neighbors":
            return search_by_neighbors(problem, self._neighbor_settings(), earlier)
        settings = self._chain_settings(len(problem.table))
        return search_by_information(problem, settings, unlabelled, earlier)

    def _conclude(self, problem: GateProblem, outcomes: list[Outcome]) -> None:
        settled = settle(outcomes)
        self.labels_ = list(problem.table.labels)
        self.structures_ = problem.table.n_structures
        self.occurrences_ = problem.table.occurrences
        self.loss_open_, self.loss_closed_ = settled.loss_open, settled.loss_closed
        self.ignored_ = settled.ignored
        self.parameters_ = dict(settled.parameters)
        self.gates_ = problem.gates(settled.is_open)
        # A copy: a similarity among the parameters belongs to the caller.
        learned = problem.kernel.clone().set_params(**self.parameters_).clone()
        self.kernel_ = problem.kernel_with(settled.is_open, learned)

    # What is to be learned.

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
        # What has no label of its own, such as the first element of a path, stays unless named.
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

    # Loading.

    def _check_restored(self) -> None:
        super()._check_restored()
        n = len(self.labels_) if isinstance(self.labels_, list) else -1
        if n < 0 or not all(isinstance(label, str) for label in self.labels_):
            raise ValueError("labels_ must be a list of labels")
        if not isinstance(self.gates_, dict) or set(self.gates_) != set(self.labels_):
            raise ValueError("gates_ must have a gate for each of labels_")
        shapes = {"structures_": "i", "occurrences_": "i"}
        for name in ("structures_", "occurrences_", "loss_open_", "loss_closed_", "ignored_"):
            array, kind = getattr(self, name), shapes.get(name, "f")
            good = isinstance(array, np.ndarray) and array.shape == (n,)
            if not good or array.dtype.kind != kind or not np.isfinite(array).all():
                raise ValueError(f"{name} must be {n} finite numbers")
        if not isinstance(self.trace_, list) or not isinstance(self.parameters_, dict):
            raise ValueError("trace_ must be a list, parameters_ a dictionary")
        if not all(isinstance(decision, dict) for decision in self.trace_):
            raise ValueError("trace_ must hold decisions")
        with_gates = find_gated(self.kernel_)[0].kernel.gates or {}
        if any(with_gates.get(label) != gate for label, gate in self.gates_.items()):
            raise ValueError("kernel_ must have the gates_")
