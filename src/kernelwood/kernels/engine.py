"""Kernels evaluated by native engines: number types, normalization, blocks within memory."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from kernelwood import _native
from kernelwood.compute import Runner, StopFlag, budget, format_bytes
from kernelwood.errors import KernelInputError, KernelOverflowError, MemoryBudgetError
from kernelwood.kernels.kernel import (
    FEW,
    PART_OF_BUDGET,
    TILE,
    Kernel,
    Matrix,
    warn_of_zeros,
)
from kernelwood.kernels.label_matching import (
    TABLE_BYTES,
    MatchedLabels,
    check_gates,
    gate_arrays,
)
from kernelwood.similarity import SMALLEST, Exact, Similarity

# A number type is trusted while self-similarities stay in this range: every raw value and every
# partial sum then does too (Cauchy-Schwarz, and no term is negative). Structures outside of it are
# compared again in the next type; log2 engines have no range.
_TRUSTED = {"float32": (1e-30, 1e30), "float64": (1e-280, 1e290), "log2": (-np.inf, np.inf)}
_SELVES_AT_ONCE = 16  # small: the table of similarities holds the labels of all of them
_WINDOW = 256  # Gram matrices are cut only between the windows in which sequences are sorted
_REPEATED = 0.7  # share of distinct pairs from which on repeated structures are not looked for
_LARGE = 2000  # nodes of a structure above which a single pair may take long
_NEXT = {"float32": "float64", "float64": "log2"}
# The most steps of comparing two structures, some ten seconds; sentences take thousands of steps.
# Values are computed in other number types before log2, which counts for all of them.
_MOST_STEPS = 3 * 10**9
_STEPS_OF_NUMBER = {"float32": 1, "float64": 1, "log2": 3}
# Structures are prepared for being compared with others that have so many times fewer elements.
_TIMES_AS_MANY = 8
_BYTES_AN_ELEMENT = 100  # of prepared structures; more of them than would fit are not tried
_SMALL_PAIR = 2**16  # pairs of elements of structures that are compared without an engine
_PAIR_COST = 10**4  # of such a pair, about a microsecond
# Parameters that ``_settings`` treats by itself, or on which values do not depend.
_NOT_IN_SETTINGS = {"gates", "similarity", "n_jobs", "dtype"}

_NUMBER = {np.dtype(name): name for name in ("float32", "float64")}


class Prepared(NamedTuple):
    """Structures as an engine has them, kept with their batch.

    Attributes
    ----------
    engine : native engine or None
        None if self-similarities leave the range of the number type.
    vocabulary : Vocabulary
        Numbers of their labels.
    scale : ndarray
        Inverse roots of their self-similarities.
    n_zeros : int
        Number of structures with self-similarity 0.
    nbytes : int
        Memory.
    """

    engine: Any
    vocabulary: Any
    scale: NDArray[Any]
    n_zeros: int
    nbytes: int


class Interned(NamedTuple):
    """Structures whose parts are numbered, kept with their batch for listed pairs.

    Attributes
    ----------
    structures : native structures
    vocabulary : Vocabulary
        Numbers of their labels.
    nbytes : int
        Memory.
    """

    structures: Any
    vocabulary: Any
    nbytes: int


class ListedPairs(NamedTuple):
    """Pairs of interned structures.

    Attributes
    ----------
    panel, stream : Interned
        Structures of both sides.
    places : ndarray
        The place, on both sides, of each pair.
    """

    panel: Interned
    stream: Interned
    places: NDArray[np.int64]

    def take(self, some: Any) -> ListedPairs:
        """Return some of the pairs."""
        return self._replace(places=self.places[some])


class Work(Protocol):
    """What the comparison of a large structure with others takes."""

    def steps(self, other: Any) -> int:
        """Return the number of steps of a comparison."""


class EngineKernel(Kernel):
    """A kernel evaluated by a native engine, in a number type that holds the values."""

    similarity: Similarity | None = None
    gates: Mapping[str, float] | None = None
    gate_on: str = "edge"
    normalize: bool = True
    _similarity_plan = "table"  # form in which the engine takes similarities: MatchedLabels.native
    _matches_in_unit = 1  # power of the match of two nodes in the smallest value

    def _check_params(self) -> None:
        self._check_choice("normalize", (False, True))
        self._check_choice("gate_on", ("edge", "node"))
        check_gates(type(self).__name__, self.gates)
        if self.similarity is None:
            return
        if not isinstance(self.similarity, Similarity):
            raise KernelInputError(
                f"{type(self).__name__}: similarity must be None or an object such as "
                f"kw.similarity.Lexical(vectors), got {self.similarity!r}"
            )
        self.similarity.check()

    def _parameters(self) -> Any:
        """Return the parameters of the native engine."""
        raise NotImplementedError

    # Refusal of structures that take too long.

    def _check_work(self, X: Any, Y: Any | None, number: str = "float64") -> None:
        """Raise KernelInputError if comparing two structures would take too long.

        Without ``Y``, each structure of ``X`` is compared with itself.
        """
        other = X if Y is None else Y
        most = _MOST_STEPS // _STEPS_OF_NUMBER[number]
        n, m = self._largest(X), self._largest(other)
        if self._most_steps(n, m) <= most:
            return  # almost always
        rows = self._large(X, m, most)
        columns = rows if Y is None else self._large(Y, n, most)
        for i, left in rows.items():
            for j, right in {i: left}.items() if Y is None else columns.items():
                steps = left.steps(right)
                if steps > most:
                    raise self._too_long(X, i, other, j, steps, number)

    def _too_long(
        self, X: Any, i: int, Y: Any, j: int, steps: int, number: str
    ) -> KernelInputError:
        cost = _STEPS_OF_NUMBER[number]
        beyond = f", {cost} times as many beyond the range of float64" if cost > 1 else ""
        return KernelInputError(
            f"{type(self).__name__}: comparing a {X.kind} of {X.sizes[i]:,} {X.unit} with one of "
            f"{Y.sizes[j]:,} takes {steps * cost:,} steps{beyond}; the limit is {_MOST_STEPS:,}."
            f"\n    {self._advice()}"
        )

    def _advice(self) -> str:
        """Return what to do about structures that take too long."""
        raise NotImplementedError

    def _largest(self, X: Any) -> int:
        """Return the largest of the sizes that bound the steps of comparisons."""
        return int(X.largest)

    def _sizes(self, X: Any) -> NDArray[Any]:
        """Return these sizes."""
        sizes: NDArray[Any] = X.sizes
        return sizes

    def _most_steps(self, n: Any, m: Any) -> Any:
        """Return an upper bound of the steps of comparing structures of such sizes."""
        return 0

    def _work(self, X: Any, index: int) -> Work:
        """Return what comparing a structure takes."""
        raise NotImplementedError

    def _large(self, X: Any, largest_other: int, most: int) -> dict[int, Work]:
        """Return the work of structures that may take more than ``most`` steps."""
        known: dict[int, Work] = X.remember(("work", self.clone()), dict)
        large = self._most_steps(self._sizes(X).astype(float), largest_other) > most
        for i in np.flatnonzero(large).tolist():
            if i not in known:
                known[i] = self._work(X, i)
        return {i: known[i] for i in np.flatnonzero(large).tolist()}

    def _unit(self) -> float:
        """Return the smallest value that two matching nodes can contribute."""
        return 1.0

    def _is_definite(self) -> bool:
        return self.similarity is None or self.similarity.positive_semidefinite is True

    def _largest_normalized(self) -> float:
        """Return the bound of normalized values; larger ones are due to rounding."""
        return 1.0 if self._is_definite() else math.inf

    # Matching of labels.

    def _matches_softly(self) -> bool:
        return self.similarity is not None and not isinstance(self.similarity, Exact)

    def _gate(self, edge: str, label: str) -> float:
        """Return the gate of a node or element."""
        return float((self.gates or {}).get(edge if self.gate_on == "edge" else label, 1.0))

    def _label_similarity(self, a: str, b: str) -> float:
        return float(a == b) if self.similarity is None else self.similarity.value(a, b)

    def _node_similarity(self, m: Any, n: Any) -> float:
        """Return the similarity of two nodes: that of the labels if the edges are equal, else 0."""
        return self._label_similarity(m.label, n.label) if m.edge == n.edge else 0.0

    def _node_match(self, m: Any, n: Any) -> float:
        """Return k of two nodes: their similarity times both gates."""
        gates = self._gate(m.edge, m.label) * self._gate(n.edge, n.label)
        return gates * self._node_similarity(m, n)

    def _align(self, *batches: Any) -> tuple[Any, ...]:
        """Return batches with one vocabulary, which resolves the matches of its labels."""
        vocabulary = batches[0].vocabulary
        if isinstance(vocabulary, MatchedLabels):
            return batches
        if self.gates or self._matches_softly():
            similarity = self.similarity if self._matches_softly() else None
            vocabulary = MatchedLabels(batches, similarity, self.gates, self.gate_on)
        return tuple(batch.in_vocabulary(vocabulary) for batch in batches)

    def _too_many_labels(self, X: Any, Y: Any, number: str) -> bool:
        """Whether two batches must be compared in parts because of the table of similarities."""
        labels = X.vocabulary
        if not isinstance(labels, MatchedLabels) or len(X) * len(Y) <= 1:
            return False
        return labels.table_bytes(X, Y, number, self._similarity_plan) > TABLE_BYTES

    # Filling matrices.

    def _fill_gram(self, X: Any, out: Matrix, runner: Runner) -> None:
        (X,) = self._align(X)
        self._check_work(X, X)
        number = self._first_number(out.dtype.name)
        if self._too_many_labels(X, X, number):
            return self._fill_gram_in_parts(X, out, runner)
        try:
            self._fill_gram_at_once(X, out, runner, number)
        except MemoryBudgetError:
            if len(X) == 1:
                raise
            self._fill_gram_in_parts(X, out, runner)

    def _fill_gram_at_once(self, X: Any, out: Matrix, runner: Runner, number: str) -> None:
        if number != out.dtype.name:
            return self._fill_gram_by_cross(X, out, runner, number)
        n = len(X)
        engine, _ = self._engine(number, runner, X)

        def block(begin: int, end: int, stop: StopFlag) -> None:
            engine.gram(begin, end, out, stop)

        self._run(runner, block, engine.n_panels, n * (n + 1) // 2, X, X)
        selves = out.diagonal().copy()
        extreme = _extreme(selves, number)
        scale = None
        if self.normalize:
            scale = _inverse_root(np.where(extreme, 0, selves))
            warn_of_zeros(int(np.count_nonzero(selves == 0)), self)
        _native.mirror(out, 0, n, scale, math.inf if scale is None else self._largest_normalized())
        if self.normalize:
            np.fill_diagonal(out, selves != 0)
        if extreme.any():
            self._redo_gram(X, np.flatnonzero(extreme), out, number, runner)
        self._redo_overflows(X, None, out, number, runner)
        self._check_finite(out)

    def _fill_gram_in_parts(self, X: Any, out: Matrix, runner: Runner) -> None:
        middle = -(-len(X) // 2)
        if middle > _WINDOW:
            middle -= middle % _WINDOW
        first, second = slice(None, middle), slice(middle, None)
        self._fill_gram(X[first], out[first, first], runner)
        self._fill_gram(X[second], out[second, second], runner)
        self._fill_below(X[second], X[first], out[second, first], runner)
        out[first, second] = out[second, first].T

    def _redo_overflows(
        self, X: Any, Y: Any | None, out: Matrix, number: str, runner: Runner
    ) -> None:
        """Compute again the values that overflowed although no self-similarity did.

        This happens only with similarities that are not positive semidefinite. In a Gram matrix
        (Y is None) the lower triangle is computed and mirrored.
        """
        if not self._matches_softly() or np.isfinite(out).all():
            return
        wrong = ~np.isfinite(np.tril(out) if Y is None else out)
        rows = np.flatnonzero(wrong.any(axis=1))
        others = X if Y is None else Y
        again = np.empty((len(rows), len(others)))
        self._fill_cross_in(X[rows], others, again, runner.quiet(), _NEXT[number])
        again = self._fit(again, out.dtype)
        for k, i in enumerate(rows.tolist()):
            out[i, wrong[i]] = again[k, wrong[i]]
            if Y is None:
                out[wrong[i], i] = again[k, wrong[i]]

    def _redo_gram(
        self, X: Any, again: NDArray[np.int64], out: Matrix, number: str, runner: Runner
    ) -> None:
        """Replace the rows and columns of structures whose self-similarities are out of range.

        The structure with the larger index is always the row: the order of a pair can change the
        last bit.
        """
        some = X if len(again) == len(X) else X[again]
        columns = rows = np.empty((len(X), len(again)))
        self._fill_cross_in(X, some, columns, runner.quiet(), _NEXT[number])
        if some is not X:
            rows = np.empty((len(again), len(X)))
            self._fill_cross_in(some, X, rows, runner.quiet(), _NEXT[number])
        columns, rows = self._fit(columns, out.dtype), self._fit(rows, out.dtype)
        for k, i in enumerate(again.tolist()):
            out[i:, i] = out[i, i:] = columns[i:, k]
            out[i, :i] = out[:i, i] = rows[k, :i]
        if self.normalize:
            out[again, again] = 1

    def _fill_gram_by_cross(self, X: Any, out: Matrix, runner: Runner, number: str) -> None:
        values = np.empty(out.shape)
        self._fill_cross_in(X, X, values, runner, number)
        values = self._fit(values, out.dtype)
        out[...] = np.tril(values) + np.tril(values, -1).T
        if self.normalize:
            np.fill_diagonal(out, np.diagonal(out) != 0)

    def _fill_cross(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        if self._streams_columns():
            self._fill_below(Y, X, out.T, runner)
        else:
            self._fill_below(X, Y, out, runner)

    def _streams_columns(self) -> bool:
        """Whether the structures of columns, not of rows, are the stream of an engine.

        Those of the stream can be prepared: models and indexes have theirs in the columns.
        """
        return not self._matches_softly()

    def _fill_below(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        if self._fill_few(Y, X, out.T, runner):
            return
        if len(X) <= TILE and len(Y) <= TILE:
            self._fill_tile(X, Y, out, runner)
        else:
            self._fill_by_tiles(self._fill_tile, X, Y, out, runner)

    def _fill_tile(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        """Fill a matrix of at most ``TILE`` rows and columns."""
        Y, X = self._align(Y, X)
        self._check_work(X, Y)
        for side in (X, Y):  # self-similarities tell the range of raw values, too
            self._check_work(side, None)
        number = self._first_number(out.dtype.name)
        if self._too_many_labels(X, Y, number):
            return self._fill_cross_in_parts(X, Y, out, runner)
        try:
            self._fill_cross_at_once(X, Y, out, runner, number)
        except MemoryBudgetError:
            if len(X) == len(Y) == 1:
                raise
            self._fill_cross_in_parts(X, Y, out, runner)

    def _fill_cross_at_once(self, X: Any, Y: Any, out: Matrix, runner: Runner, number: str) -> None:
        if number == out.dtype.name:
            self._fill_cross_in(X, Y, out, runner, number)
        else:
            values = np.empty(out.shape)
            self._fill_cross_in(X, Y, values, runner, number)
            out[...] = self._fit(values, out.dtype)
        self._check_finite(out)

    def _fill_cross_in_parts(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        by_rows = len(X) >= len(Y)
        middle = max(len(X), len(Y)) // 2
        for part in (slice(None, middle), slice(middle, None)):
            if by_rows:
                self._fill_below(X[part], Y, out[part], runner)
            else:
                self._fill_below(X, Y[part], out[:, part], runner)

    def _fill_cross_in(self, X: Any, Y: Any, out: Matrix, runner: Runner, number: str) -> None:
        """Fill ``out`` (of the number's own dtype, float64 for log2) with final values."""
        if number == "log2":
            self._check_work(X, Y, number)
            for side in (X, Y):
                self._check_work(side, None, number)
            self._fill_raw_cross(X, Y, out, runner, number)
            self._finish_log2(X, Y, out, runner)
            return
        # Self-similarities first: they tell which structures must be compared again.
        own_x, extreme_x = self._own(X, number, runner)
        own_y, extreme_y = self._own(Y, number, runner)
        self._fill_raw_cross(X, Y, out, runner, number)
        if self.normalize:
            scale_x = _inverse_root(np.where(extreme_x, 0, own_x))
            scale_y = _inverse_root(np.where(extreme_y, 0, own_y))
            if _in_rows(out):
                _native.scale_block(out, scale_x, scale_y, self._largest_normalized())
            else:
                _native.scale_block(out.T, scale_y, scale_x, self._largest_normalized())
            warn_of_zeros(int(np.count_nonzero(own_x == 0) + np.count_nonzero(own_y == 0)), self)
        if extreme_y.any():
            self._redo_cross(X, Y, slice(None), extreme_y, out, number, runner)
        if extreme_x.any():
            self._redo_cross(X, Y, extreme_x, ~extreme_y, out, number, runner)
        self._redo_overflows(X, Y, out, number, runner)

    def _own(self, X: Any, number: str, runner: Runner) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return self-similarities, and which of them are out of range."""
        own = self._selves(X, number, runner)
        extreme = _extreme(own, number)
        if extreme.any():
            self._check_work(X[extreme], None, _NEXT[number])
        return own, extreme

    def _redo_cross(
        self, X: Any, Y: Any, rows: Any, columns: Any, out: Matrix, number: str, runner: Runner
    ) -> None:
        """Compute some rows and columns again in the next number type."""
        places = np.ix_(np.arange(len(X))[rows], np.flatnonzero(columns))
        again = np.empty(out[places].shape)
        if again.size:
            self._fill_cross_in(X[rows], Y[columns], again, runner.quiet(), _NEXT[number])
            out[places] = self._fit(again, out.dtype)

    def _fill_raw_cross(self, X: Any, Y: Any, out: Matrix, runner: Runner, number: str) -> None:
        """Fill ``out`` with raw values; equal structures are compared once."""
        (first_x, group_x), (first_y, group_y) = X.distinct(), Y.distinct()
        n_values, n_all = len(first_x) * len(first_y), len(X) * len(Y)
        if n_values > _REPEATED * n_all:
            self._fill_by_engine(X, Y, out, runner, number)
            return
        values = np.empty((len(first_x), len(first_y)), dtype=out.dtype)
        self._fill_by_engine(X[first_x], Y[first_y], values, runner, number)
        np.take(values[:, group_y], group_x, axis=0, out=out, mode="clip")  # not buffered
        runner.advance(n_all - n_values)

    def _fill_by_engine(self, X: Any, Y: Any, out: Matrix, runner: Runner, number: str) -> None:
        engine, _ = self._engine(number, runner, Y, X)
        n = len(X)

        def block(begin: int, end: int, stop: StopFlag) -> None:
            engine.cross(begin, end, 0, n, out, stop)

        self._run(runner, block, engine.n_panels, n * len(Y), X, Y)

    def _finish_log2(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        if self.normalize:
            own_x, own_y = self._selves(X, "log2", runner), self._selves(Y, "log2", runner)
            zero_x, zero_y = np.isneginf(own_x), np.isneginf(own_y)
            warn_of_zeros(int(np.count_nonzero(zero_x) + np.count_nonzero(zero_y)), self)
            own_x, own_y = np.where(zero_x, 0, own_x), np.where(zero_y, 0, own_y)
            out -= (own_x + own_y if out.ndim == 1 else own_x[:, None] + own_y) / 2
        with np.errstate(over="ignore"):
            np.exp2(out, out=out)
        if self.normalize:
            np.minimum(out, self._largest_normalized(), out=out)

    # A few structures against many that stay.

    _prepares = True  # whether the native engine takes structures that come later

    def _fill_few(self, few: Any, many: Any, out: Matrix, runner: Runner) -> bool:
        """Compare a few structures, the panel, with many, the stream; return whether this was done.

        What the engine knows of the many is kept with them, so that the next call costs only what
        the few cost. The values are the same as without.
        """
        if len(few) > FEW or not self._prepares or self._matches_softly():
            return False
        number, room = _NUMBER[out.dtype], int(budget() * PART_OF_BUDGET)
        if not _TIMES_AS_MANY * few.n_elements <= many.n_elements <= room // _BYTES_AN_ELEMENT:
            return False
        if self._first_number(number) != number:
            return False
        key = ("prepared", self._settings(), number)
        prepared = many.remember(key, lambda: self._prepare(many, number, runner, room), room=room)
        largest = max(few.n_elements, many.largest)  # not the largest of the few: this is quicker
        if prepared.engine is None or self._most_steps(largest, largest) > _MOST_STEPS:
            return False
        values = out if _in_rows(out) else np.empty(out.shape, dtype=out.dtype)
        side = _native.side(few.in_vocabulary(prepared.vocabulary))
        alone, matching = side, None
        if self.gates:  # labels that the many do not have count in self-similarities, too
            (few,) = self._align(few)
            alone, matching = _native.side(few), self._native_matching(number, runner, few, None)
        scale = prepared.scale if self.normalize else None
        bounds = (*_TRUSTED[number], self._largest_normalized())

        def compare(stop: StopFlag) -> int:
            zeros: int = prepared.engine.compare_new(
                self._parameters(), side, alone, matching, scale, bounds, values, stop
            )
            return zeros

        with self._budget_errors():
            n_zeros = runner.call(compare, cost=few.n_elements * many.n_elements)
        if n_zeros < 0:  # a self-similarity leaves the range
            return False
        if self.normalize:
            warn_of_zeros(n_zeros + prepared.n_zeros, self)
        if values is not out:
            out[...] = values
        self._check_finite(out)
        runner.blocks += 1
        runner.advance(out.size)
        return True

    def _prepare(self, X: Any, number: str, runner: Runner, room: int) -> Prepared:
        self._check_work(X, None)
        (X,) = self._align(X)
        own, extreme = self._own(X, number, runner)
        if extreme.any():
            return Prepared(None, X.vocabulary, own, 0, own.nbytes)
        engine, n_bytes = self._engine(number, runner, X[:0], X)
        if n_bytes + own.nbytes > room:  # not again at each call
            return Prepared(None, X.vocabulary, own, 0, own.nbytes)
        scale, n_zeros = _inverse_root(own), int(np.count_nonzero(own == 0))
        return Prepared(engine, X.vocabulary, scale, n_zeros, n_bytes + scale.nbytes)

    # Pairs.

    def _fill_value(self, both: Any, out: Matrix, runner: Runner) -> None:
        value = self._compare_two(both, _NUMBER[out.dtype], runner)
        if value is None:
            super()._fill_value(both, out, runner)
        else:
            out[0] = value

    def _compare_two(self, both: Any, number: str, runner: Runner) -> float | None:
        """Return the value of two ordinary structures by a single native call, otherwise None.

        Structures are ordinary if they are small and their self-similarities are in the range of
        the number type.
        """
        n = both.n_elements
        if n > _LARGE or self._most_steps(n, n) > _MOST_STEPS:
            return None
        if self._first_number(number) != number:
            return None
        (both,) = self._align(both)
        native = _native.engine_class(self.accepts, number, self._matches_softly())
        matching = self._native_matching(number, runner, both, None)
        panel = 0 if self._streams_columns() else 1
        bound = self._largest_normalized() if self.normalize else None
        value, *own = native.value(self._parameters(), _native.side(both), panel, bound, matching)
        low, high = _TRUSTED[number]
        if not all(low <= one <= high or one == 0 for one in own) or not math.isfinite(value):
            return None
        if self.normalize:
            warn_of_zeros(own.count(0.0), self)
        runner.blocks += 1
        runner.advance(1)
        return float(value)

    def _fill_pairs(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        listed = self._list_pairs(X, Y, runner)
        Y, X = self._align(Y, X)
        self._check_pairs(X, Y)
        number = self._first_number(out.dtype.name)
        if self._too_many_labels(X, Y, number):
            middle = len(X) // 2
            for part in (slice(None, middle), slice(middle, None)):
                self._fill_pairs(X[part], Y[part], out[part], runner)
            return
        values = out if number == out.dtype.name else np.empty(len(X))
        self._fill_pairs_in(X, Y, values, runner, number, listed)
        if values is not out:
            out[:] = self._fit(values, out.dtype)
        self._check_finite(out)

    def _fill_pairs_in(
        self, X: Any, Y: Any, out: Matrix, runner: Runner, number: str, listed: ListedPairs | None
    ) -> None:
        """Fill ``out`` (of the number's own dtype, float64 for log2) with final values."""
        if number == "log2":
            self._check_pairs(X, Y, number)
            self._compare_pairs(X, Y, out, runner, number)
            self._finish_log2(X, Y, out, runner)
            return
        own_x, extreme_x = self._own(X, number, runner)
        own_y, extreme_y = self._own(Y, number, runner)
        if listed is None:
            self._compare_pairs(X, Y, out, runner, number)
        else:
            self._compare_listed(X, Y, out, runner, number, listed)
        again = extreme_x | extreme_y
        if self.normalize:
            scale_x = _inverse_root(np.where(extreme_x, 0, own_x))
            scale_y = _inverse_root(np.where(extreme_y, 0, own_y))
            with np.errstate(over="ignore", invalid="ignore"):  # of pairs that are compared again
                out *= scale_y * scale_x
                np.minimum(out, self._largest_normalized(), out=out)
            warn_of_zeros(int(np.count_nonzero(own_x == 0) + np.count_nonzero(own_y == 0)), self)
        if self._matches_softly():
            again |= ~np.isfinite(out)
        if again.any():
            values = np.empty(int(np.count_nonzero(again)))
            listed = None if listed is None else listed.take(again)
            self._fill_pairs_in(X[again], Y[again], values, runner.quiet(), _NEXT[number], listed)
            out[again] = self._fit(values, out.dtype)

    def _compare_pairs(self, X: Any, Y: Any, out: Matrix, runner: Runner, number: str) -> None:
        """Fill ``out`` with raw values, those of ``cross`` to the bit."""
        panel, stream = (X, Y) if self._streams_columns() else (Y, X)
        native = _native.engine_class(self.accepts, number, self._matches_softly())
        parameters, sides = self._parameters(), (_native.side(panel), _native.side(stream))
        matching = self._native_matching(number, runner, panel, stream)

        def block(begin: int, end: int, stop: StopFlag) -> None:
            native.pairs(parameters, *sides, begin, end, out[begin:end], stop, matching)

        large = max(X.largest, Y.largest) > _LARGE
        cost = X.largest * Y.n_elements
        with self._budget_errors():
            runner.run(block, len(X), evaluations=len(X), cost=cost, large=large)

    def _compare_listed(
        self, X: Any, Y: Any, out: Matrix, runner: Runner, number: str, listed: ListedPairs
    ) -> None:
        """Fill ``out`` with the same values; small structures are compared without an engine."""
        small = X.sizes.astype(float) * Y.sizes <= _SMALL_PAIR
        if small.all():
            self._compare_interned(listed, out, runner, number)
            return
        values = np.empty(int(np.count_nonzero(small)), dtype=out.dtype)
        self._compare_interned(listed.take(small), values, runner, number)
        out[small] = values
        values = np.empty(len(out) - len(values), dtype=out.dtype)
        self._compare_pairs(X[~small], Y[~small], values, runner, number)
        out[~small] = values

    def _compare_interned(
        self, listed: ListedPairs, out: Matrix, runner: Runner, number: str
    ) -> None:
        panel, stream, places = listed
        native = _native.engine_class(self.accepts, number, False)
        ids = np.arange(len(panel.vocabulary), dtype=np.int32)
        labels = panel.vocabulary.translate(ids, stream.vocabulary)
        matching = None
        if self.gates:
            gates = gate_arrays(stream.vocabulary, self.gates, self.gate_on)
            matching = _native.matching(number, **gates)
        arguments = (self._parameters(), panel.structures, stream.structures, labels)

        def block(begin: int, end: int, stop: StopFlag) -> None:
            some = places[begin:end]
            native.compare_interned(*arguments, some, some, out[begin:end], stop, matching)

        runner.run(block, len(out), evaluations=len(out), cost=_PAIR_COST * len(out))

    def _list_pairs(self, X: Any, Y: Any, runner: Runner) -> ListedPairs | None:
        """Return the pairs with interned structures, which stay with their batches.

        Returns None for kernels without native pairs of interned structures, and if these would
        take too much memory.
        """
        if not self._pairs_interned() or self._matches_softly():
            return None
        sides = [self._intern(side, runner) for side in (X, Y)]
        if sides[0] is None or sides[1] is None:
            return None
        return ListedPairs(sides[0], sides[1], np.arange(len(X)))

    def _pairs_interned(self) -> bool:
        """Whether the native core compares pairs of interned structures: tree_pairs.hpp."""
        return False

    def _intern(self, X: Any, runner: Runner) -> Interned | None:
        room = int(budget() * PART_OF_BUDGET)
        if X.n_elements * _BYTES_AN_ELEMENT > room:
            return None

        def intern(stop: StopFlag) -> Interned:
            before = _native.buffer_bytes()  # of this thread
            structures = _native.InternedTrees(_native.side(X))
            return Interned(structures, X.vocabulary, _native.buffer_bytes() - before)

        def compute() -> Interned:
            return runner.call(intern, cost=X.n_elements)

        interned: Interned = X.remember("interned", compute, room=room)
        return interned

    def _check_pairs(self, X: Any, Y: Any, number: str = "float64") -> None:
        """Raise KernelInputError if comparing a pair would take too long."""
        for side in (X, Y):
            self._check_work(side, None, number)
        most = _MOST_STEPS // _STEPS_OF_NUMBER[number]
        n, m = self._largest(X), self._largest(Y)
        if self._most_steps(n, m) > most:
            rows, columns = self._large(X, m, most), self._large(Y, n, most)
            for i in rows.keys() & columns.keys():
                steps = rows[i].steps(columns[i])
                if steps > most:
                    raise self._too_long(X, i, Y, i, steps, number)

    def _fill_diag(self, X: Any, out: Matrix, runner: Runner) -> None:
        (X,) = self._align(X)
        self._check_work(X, None)
        number = self._first_number("float64")
        if number == "float64":
            selves = self._selves(X, number, runner).copy()
            extreme = _extreme(selves, number)
        else:
            selves, extreme = np.empty(len(X)), np.ones(len(X), dtype=bool)
        if extreme.any():
            self._check_work(X[extreme], None, "log2")
            log2 = self._selves(X[extreme], "log2", runner)
            with np.errstate(over="ignore"):
                # A normalized kernel only needs to know which are 0; underflow must not add any.
                selves[extreme] = np.exp2(np.maximum(log2, -1000) if self.normalize else log2)
                selves[extreme] *= ~np.isneginf(log2)
        if self.normalize:
            warn_of_zeros(int(np.count_nonzero(selves == 0)), self)
            out[:] = selves != 0
        else:
            out[:] = self._fit(selves, out.dtype)
            self._check_finite(out)
        runner.advance(len(X))

    # Helpers.

    def _cost(self, X: Any, Y: Any) -> int:
        return int(X.n_elements) * int(Y.n_elements)

    def _first_number(self, wanted: str) -> str:
        """Return the smallest number type, from ``wanted`` up, that holds single matches."""
        gates = [float(gate) for gate in (self.gates or {}).values() if 0 < gate < 1]
        match = min(gates, default=1.0) ** 2 * (SMALLEST if self._matches_softly() else 1.0)
        unit, n_matches = self._unit(), self._matches_in_unit
        smallest = n_matches * math.log2(match) + (math.log2(unit) if unit > 0 else -math.inf)
        while wanted != "log2" and smallest < math.log2(_TRUSTED[wanted][0]):
            wanted = _NEXT[wanted]
        return wanted

    def _engine(
        self, number: str, runner: Runner, panel: Any, stream: Any = None
    ) -> tuple[Any, int]:
        """Return a native engine that compares a panel with a stream, and its size in bytes."""
        native = _native.engine_class(self.accepts, number, self._matches_softly())
        sides = (_native.side(panel), None if stream is None else _native.side(stream))
        matching = self._native_matching(number, runner, panel, stream)

        def build(stop: StopFlag) -> tuple[Any, int]:
            before = _native.buffer_bytes()  # of this thread
            engine = native(self._parameters(), *sides, stop, matching)
            return engine, _native.buffer_bytes() - before

        other = panel if stream is None else stream
        # The constructor may compare each structure with itself.
        cost = panel.largest * panel.n_elements + other.largest * other.n_elements
        with self._budget_errors():
            return runner.call(build, cost=cost)

    def _native_matching(self, number: str, runner: Runner, panel: Any, stream: Any) -> Any:
        labels = panel.vocabulary
        if not isinstance(labels, MatchedLabels):
            return None
        return labels.native(panel, stream, number, runner, self._similarity_plan)

    def _selves(self, X: Any, number: str, runner: Runner) -> NDArray[Any]:
        """Return raw self-similarities (their log2 for "log2")."""
        key = ("selves", self._settings(), number)
        selves: NDArray[Any] = X.remember(key, lambda: self._compute_selves(X, number, runner))
        return selves

    def _settings(self) -> Hashable:
        """Return what values depend on, as it is now: parameters may change later."""
        if self._matches_softly():
            return self.clone()
        gates = frozenset(self.gates.items()) if self.gates else None
        names = [name for name in self._parameter_names() if name not in _NOT_IN_SETTINGS]
        return (type(self), gates, *(getattr(self, name) for name in names))

    def _compute_selves(self, X: Any, number: str, runner: Runner) -> NDArray[Any]:
        out = np.empty(len(X), dtype="float64" if number == "log2" else number)
        # Engines that compute similarities from vectors need no table of them.
        in_table = self._matches_softly() and self._similarity_plan == "table"
        at_once = _SELVES_AT_ONCE if in_table else max(len(X), 1)
        for first in range(0, len(X), at_once):
            some = slice(first, first + at_once)
            self._compare_selves(X[some], out[some], number, runner)
        out.flags.writeable = False  # kept with the structures
        return out

    def _compare_selves(self, X: Any, out: NDArray[Any], number: str, runner: Runner) -> None:
        native = _native.engine_class(self.accepts, number, self._matches_softly())
        parameters, side = self._parameters(), _native.side(X)
        matching = self._native_matching(number, runner, X, None)

        def block(begin: int, end: int, stop: StopFlag) -> None:
            native.diagonal(parameters, side, begin, end, out[begin:end], stop, matching)

        self._run(runner.quiet(), block, len(X), 0, X, X)

    def _run(
        self, runner: Runner, block: Any, n_panels: int, evaluations: int, X: Any, Y: Any
    ) -> None:
        large = max(X.largest, Y.largest) > _LARGE
        cost = X.n_elements * Y.n_elements // (2 if X is Y else 1)
        with self._budget_errors():
            runner.run(block, n_panels, evaluations=evaluations, cost=cost, large=large)

    @contextmanager
    def _budget_errors(self) -> Iterator[None]:
        """Raise MemoryBudgetError, with advice, where native code exceeds the memory budget."""
        try:
            yield
        except _native.BudgetExceeded as error:
            raise MemoryBudgetError(
                f"{type(self).__name__}: comparing the largest structures needs more than "
                f"{format_bytes(int(str(error)))} at once, but the memory budget is "
                f"{format_bytes(budget())}.\n    Split or prune them, or raise the budget with "
                f"kw.config_context(memory=...)"
            ) from None

    def _fit(self, values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
        with np.errstate(over="ignore"):
            fitted = values.astype(dtype)
        if not np.isfinite(fitted).all():
            raise self._overflow(dtype)
        return fitted

    def _check_finite(self, out: Matrix) -> None:
        if not self.normalize and not np.isfinite(out).all():
            raise self._overflow(out.dtype)

    def _overflow(self, dtype: np.dtype[Any]) -> KernelOverflowError:
        return KernelOverflowError(
            f"{type(self).__name__}: a raw value exceeds the range of {dtype}. "
            "Use normalize=True, a smaller decay"
            + (", or dtype='float64'." if dtype == np.float32 else ".")
        )


def _in_rows(out: Matrix) -> bool:
    """Whether the values of a row, not of a column, lie side by side."""
    return out.strides[1] == out.itemsize or out.strides[0] != out.itemsize


def _extreme(selves: NDArray[Any], number: str) -> NDArray[np.bool_]:
    low, high = _TRUSTED[number]
    return ~(selves <= high) | ((selves > 0) & (selves < low))


def _inverse_root(selves: NDArray[Any]) -> NDArray[Any]:
    """Return 1 / sqrt, and 0 where the self-similarity is 0."""
    positive = selves > 0
    return np.where(positive, 1 / np.sqrt(np.where(positive, selves, 1)), 0).astype(selves.dtype)
