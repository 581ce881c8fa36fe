"""Kernels made of kernels: sums, products, normalization, views of examples."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar, TypeAlias

import numpy as np

from kernelwood.arrays import ExampleBatch
from kernelwood.compute import Runner
from kernelwood.errors import KernelInputError, KernelOverflowError, StructureError
from kernelwood.kernels.kernel import Kernel, Matrix, warn_of_zeros
from kernelwood.parameters import check_int

Data = tuple[Any, ...]
Shared: TypeAlias = "_SharedParts | None"


class CombinedKernel(Kernel):
    """A kernel made of kernels: fills their matrices and combines them entry by entry."""

    _inside: ClassVar[tuple[str, ...]] = ("kernel",)

    def _parts(self) -> list[Kernel]:
        """Return the kernels it is made of."""
        return [getattr(self, name) for name in self._inside]

    def _combine(self, values: list[Matrix]) -> Matrix:
        """Return the combination; may overwrite the first of ``values``."""
        raise NotImplementedError

    def reference(self, a: Any, b: Any) -> float:
        """Return the combination of the values of the parts for the pair."""
        values = [np.array([[part.value(a, b)]]) for part in self._parts()]
        return float(self._combine(values)[0, 0])

    def _fill_gram(self, X: Any, out: Matrix, runner: Runner) -> None:
        self._fill("_fill_gram", (X,), out, runner)

    def _fill_cross(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        self._fill("_fill_cross", (X, Y), out, runner)

    def _fill_diag(self, X: Any, out: Matrix, runner: Runner) -> None:
        self._fill("_fill_diag", (X,), out, runner)

    def _fill(
        self, how: str, data: Data, out: Matrix, runner: Runner, shared: Shared = None
    ) -> None:
        """Fill ``out`` by the method named ``how``; ``shared`` comes from the outer combination."""
        outermost = shared is None
        shared = _SharedParts(self) if shared is None else shared
        first, *rest = self._parts()
        shared.fill(first, how, data, out, runner)
        values = [out]
        for part in rest:
            other = np.empty(out.shape, dtype=out.dtype)
            shared.fill(part, how, data, other, runner.quiet())
            values.append(other)
        with np.errstate(over="ignore"):
            combined = self._combine(values)
        if combined is not out:
            out[...] = combined
        # Sums and products of values that are not finite are not finite: one check is enough.
        if (outermost or not shared.keep_overflow) and not np.isfinite(out).all():
            raise KernelOverflowError(
                f"{type(self).__name__}: a value exceeds the range of {out.dtype}; "
                "normalise the kernels inside, e.g. kw.Normalized(kernel)"
            )

    def _check_params(self) -> None:
        for name, part in zip(self._inside, self._parts(), strict=True):
            if not isinstance(part, Kernel):
                raise KernelInputError(
                    f"{type(self).__name__}: {name} must be a kernel, got {part!r}"
                )
            part._check_params()

    def _warm(self, X: Any) -> None:
        for part in self._parts():
            part._warm(X)

    def _cost(self, X: Any, Y: Any) -> int:
        return sum(part._cost(X, Y) for part in self._parts())

    def _accepts(self) -> type[Any]:
        kinds = {part._accepts() for part in self._parts()}
        if len(kinds) > 1:
            names = " and ".join(sorted(f"{kind.kind}s" for kind in kinds))
            raise KernelInputError(
                f"{type(self).__name__} combines kernels over {names}; give each its view of an "
                "example: kw.OnView('tree', k1) + kw.OnView('words', k2)"
            )
        return kinds.pop()

    @property
    def n_jobs(self) -> int | None:  # type: ignore[override]
        """Number of threads, that of the first kernel inside."""
        return self._parts()[0].n_jobs

    @property
    def dtype(self) -> Any:  # type: ignore[override]
        """Number type, that of the first kernel inside."""
        return self._parts()[0].dtype


class _SharedParts:
    """The matrices of kernels that occur more than once in a combination, each computed once.

    Parameters
    ----------
    kernel : CombinedKernel
        The outermost combination; kernels in it are the same if their parameters are.
    """

    def __init__(self, kernel: Kernel) -> None:
        counts: Counter[Kernel] = Counter()
        waiting = [kernel]
        while waiting:
            part = waiting.pop()
            counts[part] += 1
            # The parts of a kernel that is kept need not be kept themselves.
            if counts[part] == 1 and isinstance(part, CombinedKernel):
                waiting += part._parts()
        self._counts = counts
        combined = [part for part in counts if isinstance(part, CombinedKernel)]
        self.keep_overflow = all(isinstance(k, (Sum, Product, Scaled, OnView)) for k in combined)
        # By kernel and data: the data, the values, and the number of uses to come.
        self._known: dict[tuple[Any, ...], tuple[Any, Matrix, int]] = {}

    def fill(self, part: Kernel, how: str, data: Data, out: Matrix, runner: Runner) -> None:
        """Fill ``out`` with the values of a part, copied if they are known."""
        key = (part, how, *map(id, data))
        if key not in self._known:
            _fill_part(part, how, data, out, runner, self)
            values, uses = None, self._counts[part] - 1
        else:
            _, values, uses = self._known.pop(key)
            out[...] = values
            uses -= 1
        if uses > 0:
            # The data is kept as well, or another object could get its id.
            self._known[key] = (data, out.copy() if values is None else values, uses)


def _fill_part(
    part: Kernel, how: str, data: Data, out: Matrix, runner: Runner, shared: Shared
) -> None:
    if isinstance(part, CombinedKernel):
        part._fill(how, data, out, runner, shared)
    else:
        getattr(part, how)(*data, out, runner)


class _Binary(CombinedKernel):
    _inside = ("left", "right")

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right


class Sum(_Binary):
    """The sum of two kernels, ``left + right``."""

    def _combine(self, values: list[Matrix]) -> Matrix:
        values[0] += values[1]
        return values[0]

    def __repr__(self) -> str:
        return f"{self.left!r} + {self.right!r}"


class Product(_Binary):
    """The product of two kernels, ``left * right``."""

    def _combine(self, values: list[Matrix]) -> Matrix:
        values[0] *= values[1]
        return values[0]

    def __repr__(self) -> str:
        return f"{_grouped(self.left)} * {_grouped(self.right)}"


class Scaled(CombinedKernel):
    """A kernel times a positive number, ``factor * kernel``."""

    def __init__(self, kernel: Kernel, factor: float) -> None:
        self.kernel = kernel
        self.factor = factor

    def _combine(self, values: list[Matrix]) -> Matrix:
        values[0] *= float(self.factor)  # a numpy number would change the dtype
        return values[0]

    def _check_params(self) -> None:
        super()._check_params()
        number = isinstance(self.factor, (int, float, np.integer, np.floating))
        if not number or not 0 <= self.factor < np.inf:
            raise KernelInputError(
                f"a kernel can only be scaled by a number of 0 or more, got {self.factor!r}"
            )

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_grouped(self.kernel)}"


class Power(CombinedKernel):
    """A kernel to the power of a positive whole number, ``kernel ** exponent``."""

    def __init__(self, kernel: Kernel, exponent: int) -> None:
        self.kernel = kernel
        self.exponent = exponent

    def _combine(self, values: list[Matrix]) -> Matrix:
        values[0] **= int(self.exponent)
        return values[0]

    def _check_params(self) -> None:
        super()._check_params()
        check_int("Power: exponent", self.exponent, 1)

    def __repr__(self) -> str:
        return f"{_grouped(self.kernel)} ** {self.exponent!r}"


class Normalized(CombinedKernel):
    r"""A kernel divided by its self-similarities, :math:`K(x,y) / \sqrt{K(x,x) K(y,y)}`.

    Where a self-similarity is 0 the value is 0. Works at any level of a combination; around a
    kernel with a ``normalize`` parameter it is the same as setting that parameter.

    Examples
    --------
    >>> import kernelwood as kw
    >>> raw = kw.SubsetTreeKernel(normalize=False)
    >>> trees = [kw.Tree.from_brackets(t) for t in ("(S (A x))", "(S (A y))")]
    >>> kw.Normalized(raw + raw**2).gram(trees).round(3)
    array([[1.   , 0.298],
           [0.298, 1.   ]])
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def reference(self, a: Any, b: Any) -> float:
        """Return the normalised value of the pair."""
        inner = self._inner()
        if inner is not None:
            return inner.value(a, b)
        selves = self.kernel.value(a, a) ** 0.5 * self.kernel.value(b, b) ** 0.5
        return self.kernel.value(a, b) / selves if selves > 0 else 0.0

    def _inner(self) -> Kernel | None:
        """Return a kernel that normalises by itself, safe where raw values overflow."""
        inner = self.kernel
        while isinstance(inner, Normalized):
            inner = inner.kernel
        if "normalize" in inner._parameter_names():
            return inner.clone().set_params(normalize=True)
        return None

    def _fill(
        self, how: str, data: Data, out: Matrix, runner: Runner, shared: Shared = None
    ) -> None:
        inner = self._inner()
        if inner is not None:
            _fill_part(inner, how, data, out, runner, shared)
            return
        if how == "_fill_diag":
            out[:] = self._roots(self._selves(data[0], out.dtype, runner, shared)) < np.inf
            runner.advance(len(out))
            return
        _fill_part(self.kernel, how, data, out, runner, shared)
        if how == "_fill_gram":
            # Of a float64 matrix, the diagonal is as from ``diag``; in float32 it is less exact.
            double = out.dtype == np.float64
            own = out.diagonal() if double else self._selves(data[0], out.dtype, runner, shared)
            roots = self._roots(own.copy())
            out /= roots[:, None] * roots
            np.fill_diagonal(out, np.diagonal(out) != 0)
        else:
            selves = (self._selves(side, out.dtype, runner, shared) for side in data)
            left, right = map(self._roots, selves)
            out /= left[:, None] * right

    def _selves(self, X: Any, dtype: Any, runner: Runner, shared: Shared) -> Matrix:
        selves = np.empty(len(X), dtype=dtype)
        _fill_part(self.kernel, "_fill_diag", (X,), selves, runner.quiet(), shared)
        return selves

    def _roots(self, selves: Matrix) -> Matrix:
        warn_of_zeros(int(np.count_nonzero(selves == 0)), self.kernel)
        return np.sqrt(np.where(selves > 0, selves, np.inf)).astype(selves.dtype)


class OnView(CombinedKernel):
    """A kernel on one named view of examples.

    Parameters
    ----------
    name : str
        The view it reads.
    kernel : Kernel
        The kernel of the structures in it.

    Examples
    --------
    >>> import kernelwood as kw
    >>> kernel = 0.3 * kw.OnView("words", kw.SubsequenceKernel()) + 0.7 * kw.OnView(
    ...     "tree", kw.SubsetTreeKernel()
    ... )
    >>> tree = kw.Tree.from_brackets("(NP (DT the) (NN cat))")
    >>> words = kw.Sequence(["the", "cat"])
    >>> example = kw.Example("1", views={"tree": tree, "words": words})
    >>> round(kernel.value(example, example), 12)
    1.0
    """

    accepts = ExampleBatch

    def __init__(self, name: str, kernel: Kernel) -> None:
        self.name = name
        self.kernel = kernel

    def reference(self, a: Any, b: Any) -> float:
        """Return the value of the kernel for the views of the pair."""
        return self.kernel.value(a.view(self.name), b.view(self.name))

    def _fill(
        self, how: str, data: Data, out: Matrix, runner: Runner, shared: Shared = None
    ) -> None:
        _fill_part(self.kernel, how, tuple(map(self._view, data)), out, runner, shared)

    def _check_params(self) -> None:
        super()._check_params()
        if not isinstance(self.name, str):
            raise KernelInputError(f"OnView: name must be the name of a view, got {self.name!r}")

    def _accepts(self) -> type[Any]:
        return ExampleBatch

    def _warm(self, X: Any) -> None:
        self._view(X)

    def _cost(self, X: Any, Y: Any) -> int:
        return self.kernel._cost(self._view(X), self._view(Y))

    def _view(self, X: Any) -> Any:
        if len(X) == 0:
            return self.kernel._batch([])
        try:
            return self.kernel._batch(X.view(self.name))
        except StructureError as error:
            raise KernelInputError(f"{self!r}: {error}") from None

    def __repr__(self) -> str:
        return f"OnView({self.name!r}, {self.kernel!r})"


def _grouped(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, (Sum, Product, Scaled, Power)) else repr(kernel)


def needed_views(kernel: Kernel) -> tuple[str, ...] | None:
    """Return the names of the views of examples that a kernel reads.

    Parameters
    ----------
    kernel : Kernel
        A kernel, however deeply combined.

    Returns
    -------
    tuple of str or None
        In the order of their first occurrence; empty for a kernel of plain structures. None if a
        kernel inside compares whole examples by its own method, which may read any view.

    Examples
    --------
    >>> import kernelwood as kw
    >>> words = kw.OnView("words", kw.SubsequenceKernel())
    >>> needed_views(words + 0.5 * kw.OnView("tree", kw.SubsetTreeKernel()) * words)
    ('words', 'tree')
    """
    names: dict[str, None] = {}
    waiting = [kernel]
    seen: set[int] = set()  # k + k contains one kernel twice
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current, OnView):
            names[current.name] = None
        elif isinstance(current, CombinedKernel):
            waiting.extend(reversed(current._parts()))
        elif current._accepts() is ExampleBatch:
            return None
    return tuple(names)


def drop_unread_views(examples: ExampleBatch, kernel: Kernel) -> ExampleBatch:
    """Return examples with only the views that a kernel reads, for an estimator to store.

    Batched views stay batched.

    Examples
    --------
    >>> import kernelwood as kw
    >>> views = {"words": kw.Sequence(["we", "go"]), "text": "We go."}
    >>> examples = kw.batch([kw.Example("1", views=views)])
    >>> drop_unread_views(examples, kw.OnView("words", kw.SubsequenceKernel()))
    ExampleBatch(1 examples, views words)
    """
    names = needed_views(kernel)
    return examples if names is None else examples.only(names)
