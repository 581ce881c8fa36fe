from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

import numpy as np

from kernelwood.arrays import ExampleBatch
from kernelwood.compute import Runner
from kernelwood.errors import KernelInputError, KernelOverflowError, StructureError
from kernelwood.kernels.base import Kernel, Matrix
from kernelwood.kernels.zeros import warn_of_zeros


class CombinedKernel(Kernel):
    """A kernel made of kernels: their matrices are filled and combined entry by entry."""

    _inside: ClassVar[tuple[str, ...]] = ("kernel",)

    def _parts(self) -> list[Kernel]:
        """Return the kernels it is made of."""
        return [getattr(self, name) for name in self._inside]

    def _combine(self, values: list[Matrix]) -> Matrix:
        """Return the combination; may overwrite the first of ``values``."""
        raise NotImplementedError

    def reference(self, a: Any, b: Any) -> float:
        """Return the combination of what the parts compute for the pair."""
        values = [np.array([[part.value(a, b)]]) for part in self._parts()]
        return float(self._combine(values)[0, 0])

    def _fill_gram(self, X: Any, out: Matrix, runner: Runner) -> None:
        self._fill("_fill_gram", (X,), out, runner)

    def _fill_cross(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        self._fill("_fill_cross", (X, Y), out, runner)

    def _fill_diag(self, X: Any, out: Matrix, runner: Runner) -> None:
        self._fill("_fill_diag", (X,), out, runner)

    def _fill(self, how: str, data: tuple[Any, ...], out: Matrix, runner: Runner) -> None:
        if runner.memo is None:  # the whole, not a part of another combination
            runner.memo = _Memo(self)
            try:
                self._fill(how, data, out, runner)
            finally:
                runner.memo = None  # the runner may go on with other structures
            return
        first, *rest = self._parts()
        runner.memo.fill(first, how, data, out, runner)
        values = [out]
        for part in rest:
            other = np.empty(out.shape, dtype=out.dtype)
            runner.memo.fill(part, how, data, other, runner.quiet())
            values.append(other)
        with np.errstate(over="ignore"):
            combined = self._combine(values)
        if combined is not out:
            out[...] = combined
        if not np.isfinite(out).all():
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
        """Threads: what the first kernel inside says."""
        return self._parts()[0].n_jobs

    @property
    def dtype(self) -> Any:  # type: ignore[override]
        """Number type: what the first kernel inside says."""
        return self._parts()[0].dtype


class _Memo:
    """The matrices of kernels that a combination holds more than once.

    Parameters
    ----------
    kernel : CombinedKernel
        The whole; kernels in it are the same if their parameters are.
    """

    def __init__(self, kernel: Kernel) -> None:
        counts: Counter[Kernel] = Counter()
        waiting = [kernel]
        while waiting:
            part = waiting.pop()
            counts[part] += 1
            # What is in a kernel that is kept need not be kept itself.
            if counts[part] == 1 and isinstance(part, CombinedKernel):
                waiting += part._parts()
        self._counts = counts
        # By kernel and data: the data, the values, and how often they will be asked for.
        self._known: dict[tuple[Any, ...], tuple[Any, Matrix, int]] = {}

    def fill(
        self, part: Kernel, how: str, data: tuple[Any, ...], out: Matrix, runner: Runner
    ) -> None:
        """Fill ``out`` with the values of a part, as they were if they were known before."""
        key = (part, how, *map(id, data))
        if key not in self._known:
            getattr(part, how)(*data, out, runner)
            values, uses = None, self._counts[part] - 1
        else:
            _, values, uses = self._known.pop(key)
            out[...] = values
            uses -= 1
        if uses > 0:
            # The data is kept as well, or others might come to have its id.
            self._known[key] = (data, out.copy() if values is None else values, uses)


class Sum(CombinedKernel):
    """The sum of two kernels, ``left + right``."""

    _inside = ("left", "right")

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    def _combine(self, values: list[Matrix]) -> Matrix:
        values[0] += values[1]
        return values[0]

    def __repr__(self) -> str:
        return f"{self.left!r} + {self.right!r}"


class Product(CombinedKernel):
    """The product of two kernels, ``left * right``."""

    _inside = ("left", "right")

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

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
        exponent = self.exponent
        if (
            isinstance(exponent, bool)
            or not isinstance(exponent, (int, np.integer))
            or exponent < 1
        ):
            raise KernelInputError(
                f"the exponent of a kernel must be a positive whole number, got {exponent!r} "
                "(other powers are not kernels in general)"
            )

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
        """Return the quotient for the pair."""
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

    def _fill_gram(self, X: Any, out: Matrix, runner: Runner) -> None:
        inner = self._inner()
        if inner is not None:
            return inner._fill_gram(X, out, runner)
        self.kernel._fill_gram(X, out, runner)
        roots = self._roots(out.diagonal().copy())
        out /= roots[:, None] * roots
        np.fill_diagonal(out, np.diagonal(out) != 0)
        return None

    def _fill_cross(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        inner = self._inner()
        if inner is not None:
            return inner._fill_cross(X, Y, out, runner)
        self.kernel._fill_cross(X, Y, out, runner)
        left, right = (self._roots(self._selves(side, out.dtype, runner)) for side in (X, Y))
        out /= left[:, None] * right
        return None

    def _fill_diag(self, X: Any, out: Matrix, runner: Runner) -> None:
        inner = self._inner()
        if inner is not None:
            return inner._fill_diag(X, out, runner)
        out[:] = self._roots(self._selves(X, out.dtype, runner)) < np.inf
        runner.advance(len(X))
        return None

    def _selves(self, X: Any, dtype: Any, runner: Runner) -> Matrix:
        selves = np.empty(len(X), dtype=dtype)
        self.kernel._fill_diag(X, selves, runner.quiet())
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
        What compares the structures found there.

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
        """Return what the kernel computes for the two views."""
        return self.kernel.value(a.view(self.name), b.view(self.name))

    def _fill_gram(self, X: Any, out: Matrix, runner: Runner) -> None:
        self.kernel._fill_gram(self._view(X), out, runner)

    def _fill_cross(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        self.kernel._fill_cross(self._view(X), self._view(Y), out, runner)

    def _fill_diag(self, X: Any, out: Matrix, runner: Runner) -> None:
        self.kernel._fill_diag(self._view(X), out, runner)

    def _accepts(self) -> type[Any]:
        return ExampleBatch

    def _warm(self, X: Any) -> None:
        self._view(X)

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
