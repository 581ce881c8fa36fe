"""Kernels made of kernels: sums, products, normalization, views of examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import numpy as np

from kernelwood.arrays import ExampleBatch
from kernelwood.compute import Runner
from kernelwood.errors import KernelInputError, KernelOverflowError, StructureError
from kernelwood.kernels.kernel import Kernel, Matrix, warn_of_zeros
from kernelwood.parameters import Parameterized, check_int

C = TypeVar("C", bound="CombinedKernel")
Data = tuple[Any, ...]
Pieces: TypeAlias = "list[str | Kernel]"
Steps: TypeAlias = "Iterator[Request]"

# A kernel that is inside several others is represented and copied as often as it occurs.
_MOST_SHOWN = 50_000
_MOST_COPIES = 200_000
LARGEST_EXPONENT = 2**53  # all up to it are exact floats
_ALWAYS = 2**62  # number of uses of values that are kept to the end


class CombinedKernel(Kernel):
    """A kernel made of kernels: computes their matrices and combines them entry by entry.

    Combinations may be nested to any depth, so methods do not recurse into them.
    """

    _inside: ClassVar[tuple[str, ...]] = ("kernel",)
    _reads_examples: ClassVar[bool] = False  # whatever is compared by the kernels inside

    def _parts(self) -> list[Kernel]:
        """Return the kernels it is made of."""
        return [getattr(self, name) for name in self._inside]

    def _combine(self, values: list[Matrix]) -> Matrix:
        """Return the combination; may overwrite the first of ``values``."""
        raise NotImplementedError

    def _views_inside(self, view: str | None) -> tuple[str | None, ...]:
        """Return the views that the kernels inside read, given the one that this kernel reads."""
        return (view,)

    def _check_own(self) -> None:
        """Raise KernelInputError if a parameter is invalid, whatever the parts are like."""
        for name, part in zip(self._inside, self._parts(), strict=True):
            if not isinstance(part, Kernel):
                raise KernelInputError(
                    f"{type(self).__name__}: {name} must be a kernel, got {part!r}"
                )

    def _pieces(self) -> Pieces:
        """Return the parts of the representation: strings, and kernels to be represented."""
        pieces: Pieces = [f"{type(self).__name__}("]
        for name, value in self.get_params(deep=False).items():
            start = f"{name}=" if len(pieces) == 1 else f", {name}="
            pieces += [start, value if name in self._inside else repr(value)]
        return [*pieces, ")"]

    def reference(self, a: Any, b: Any) -> float:
        """Return the combination of the values of the parts for the pair."""
        values = [np.array([[part.value(a, b)]]) for part in self._parts()]
        return float(self._combine(values)[0, 0])

    # Filling matrices.

    def _fill_gram(self, X: Any, out: Matrix, runner: Runner) -> None:
        SharedParts(self).fill("_fill_gram", (X,), out, runner)

    def _fill_cross(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        SharedParts(self).fill("_fill_cross", (X, Y), out, runner)

    def _fill_below(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        SharedParts(self).fill("_fill_below", (X, Y), out, runner)

    def _fill_pairs(self, X: Any, Y: Any, out: Matrix, runner: Runner) -> None:
        SharedParts(self).fill("_fill_pairs", (X, Y), out, runner)

    def _fill_value(self, both: Any, out: Matrix, runner: Runner) -> None:
        SharedParts(self).fill("_fill_value", (both,), out, runner)

    def _fill_diag(self, X: Any, out: Matrix, runner: Runner) -> None:
        SharedParts(self).fill("_fill_diag", (X,), out, runner)

    def _steps(
        self, how: str, data: Data, out: Matrix, runner: Runner, shared: SharedParts
    ) -> Steps:
        """Fill ``out`` by the method named ``how``; yield the parts to be filled first."""
        values: list[Matrix] = []
        for part in shared.in_order(self):
            target = np.empty(out.shape, dtype=out.dtype) if values else out
            yield Request(part, how, data, target, runner.quiet() if values else runner)
            values.append(target)
        with np.errstate(over="ignore"):
            combined = self._combine(values)
        if combined is not out:
            out[...] = combined
        self._check_finite(out, shared)

    def _check_finite(self, out: Matrix, shared: SharedParts) -> None:
        # Sums and products of values that are not finite are not finite: one check is enough.
        outermost = self is shared.kernel
        if (outermost or not shared.keep_overflow) and not np.isfinite(out).all():
            raise KernelOverflowError(
                f"{type(self).__name__}: a value exceeds the range of {out.dtype}; "
                "normalize the kernels inside, e.g. kw.Normalized(kernel)"
            )

    # Properties of all parts.

    def _check_params(self) -> None:
        of_examples: set[int] = set()
        for part in inside_first(self):
            if not isinstance(part, CombinedKernel):
                if isinstance(part, Kernel):  # otherwise refused by the kernel it is inside of
                    part._check_params()
                    if getattr(part, "accepts", None) is ExampleBatch:
                        of_examples.add(id(part))
                continue
            part._check_own()
            nested = any(id(inner) in of_examples for inner in part._parts())
            if nested and isinstance(part, OnView):
                raise KernelInputError(
                    f"OnView({part.name!r}, ...): the kernel inside compares examples, but views "
                    "hold structures; do not nest OnView"
                )
            if nested or part._reads_examples:
                of_examples.add(id(part))

    def _warm(self, X: Any) -> None:
        for part in _outside_views(self):
            part._warm(X)

    def _cost(self, X: Any, Y: Any) -> int:
        return sum(part._cost(X, Y) for part in _outside_views(self))

    def _accepts(self) -> type[Any]:
        kinds = {part._accepts() for part in _outside_views(self)}
        if len(kinds) > 1:
            names = " and ".join(sorted(f"{kind.kind}s" for kind in kinds))
            raise KernelInputError(
                f"{type(self).__name__} combines kernels over {names}; give each its view of an "
                "example: kw.OnView('tree', k1) + kw.OnView('words', k2)"
            )
        return kinds.pop()

    def _is_definite(self) -> bool:
        return id(self) in _definite(inside_first(self))

    @property
    def n_jobs(self) -> int | None:  # type: ignore[override]
        """Number of threads of the first kernel in the combination."""
        return _first_inside(self).n_jobs

    @property
    def dtype(self) -> Any:  # type: ignore[override]
        """Number type of the first kernel in the combination."""
        return _first_inside(self).dtype

    # Copies and comparisons.

    def clone(self: C) -> C:
        """Return a new kernel with the same parameters; a part that occurs twice is copied so."""
        made: C = self._shallow_clone()
        waiting: list[CombinedKernel] = [made]
        n_copies = 1
        while waiting:
            copied = waiting.pop()
            for name in copied._inside:
                part = getattr(copied, name)
                if isinstance(part, CombinedKernel):
                    part = part._shallow_clone()
                    waiting.append(part)
                    n_copies += 1
                elif isinstance(part, Parameterized):
                    part = part.clone()
                setattr(copied, name, part)
            if n_copies > _MOST_COPIES:
                raise KernelInputError(
                    f"{type(self).__name__} combines more than {_MOST_COPIES:,} kernels, because "
                    "kernels inside it occur very often; it cannot be cloned"
                )
        return made

    def _shallow_clone(self: C) -> C:
        """Return a clone with the same objects as parts."""
        return type(self)(
            **{
                name: value.clone()
                if isinstance(value, Parameterized) and name not in self._inside
                else value
                for name, value in self.get_params(deep=False).items()
            }
        )

    def __sklearn_clone__(self: C) -> C:
        return self.clone()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        compared = {(id(self), id(other))}
        waiting: list[tuple[Any, Any]] = [(self, other)]
        while waiting:
            one, two = waiting.pop()
            if type(one) is not type(two) or not isinstance(one, CombinedKernel):
                if one != two:
                    return False
                continue
            if one._own_params() != two._own_params():
                return False
            for pair in zip(one._parts(), two._parts(), strict=True):
                numbers = (id(pair[0]), id(pair[1]))
                if pair[0] is not pair[1] and numbers not in compared:
                    compared.add(numbers)
                    waiting.append(pair)
        return True

    __hash__ = Parameterized.__hash__

    def _own_params(self) -> dict[str, Any]:
        """Return the parameters that are not parts."""
        names = self._parameter_names()
        return {name: getattr(self, name) for name in names if name not in self._inside}

    def __copy__(self: C) -> C:
        copied: C = object.__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        combined = [part for part in inside_first(self) if isinstance(part, CombinedKernel)]
        numbers = {id(part): number for number, part in enumerate(combined)}
        rows = []
        for part in combined:
            inner = {k: numbers[id(v)] for k, v in vars(part).items() if id(v) in numbers}
            plain = {k: v for k, v in vars(part).items() if k not in inner}
            rows.append((type(part), plain, inner))
        return _from_rows, (rows,)

    def __repr__(self) -> str:
        shown: list[str] = []
        waiting: list[Any] = [self]
        n_shown = 0
        while waiting:
            piece = waiting.pop()
            if isinstance(piece, str):
                shown.append(piece)
            elif n_shown >= _MOST_SHOWN:
                shown.append("...")
            else:
                n_shown += 1
                if isinstance(piece, CombinedKernel):
                    waiting.extend(reversed(piece._pieces()))
                else:
                    shown.append(repr(piece))
        return "".join(shown)


def _from_rows(rows: list[tuple[Any, dict[str, Any], dict[str, int]]]) -> CombinedKernel:
    """Return the kernel of the last row; a row has parameters and the numbers of earlier rows."""
    made: list[CombinedKernel] = []
    for cls, plain, inner in rows:
        kernel: CombinedKernel = cls.__new__(cls)
        kernel.__dict__.update(plain)
        kernel.__dict__.update({name: made[number] for name, number in inner.items()})
        made.append(kernel)
    return made[-1]


def inside_first(kernel: Kernel) -> list[Kernel]:
    """Return a kernel and those inside it, each object once, a kernel after its parts.

    Raises
    ------
    KernelInputError
        If a kernel is inside itself.
    """
    found: dict[int, Kernel] = {}
    around: set[int] = set()  # kernels whose parts are being listed
    waiting = [kernel]
    while waiting:
        current = waiting[-1]
        number = id(current)
        if number in found:
            waiting.pop()
        elif number in around or not isinstance(current, CombinedKernel):
            found[number] = waiting.pop()
            around.discard(number)
        else:
            around.add(number)
            combined = []
            for part in current._parts():
                if not isinstance(part, CombinedKernel):
                    found[id(part)] = part
                elif id(part) in around:
                    raise KernelInputError(f"a {type(part).__name__} is inside itself")
                else:
                    combined.append(part)
            waiting.extend(reversed(combined))
    return list(found.values())


def _outside_views(kernel: CombinedKernel) -> list[Kernel]:
    """Return the kernels that are not combinations, and those of examples, but not their parts."""
    found: list[Kernel] = []
    waiting: list[Kernel] = kernel._parts()[::-1]
    seen: set[int] = set()
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current, CombinedKernel) and not current._reads_examples:
            waiting.extend(reversed(current._parts()))
        else:
            found.append(current)
    return found


def _first_inside(kernel: Kernel) -> Kernel:
    """Return the first kernel inside that is not a combination."""
    seen: set[int] = set()
    current = kernel
    while isinstance(current, CombinedKernel):
        if id(current) in seen:
            raise KernelInputError(f"a {type(current).__name__} is inside itself")
        seen.add(id(current))
        current = current._parts()[0]
    return current


class Request(NamedTuple):
    """A part of a combination whose values are needed.

    Parameters
    ----------
    part : Kernel
        The part.
    how : str
        Name of the method that computes the values, such as ``"_fill_cross"``.
    data : tuple of batches
        Its first arguments.
    out : ndarray
        Array for the values.
    runner : Runner
        Threads and progress.
    """

    part: Kernel
    how: str
    data: Data
    out: Matrix
    runner: Runner


class SharedParts:
    """The matrices of kernels that occur more than once in a combination, each computed once.

    Parameters
    ----------
    kernel : CombinedKernel
        The outermost combination; kernels in it are the same if their parameters are.
    """

    def __init__(self, kernel: CombinedKernel) -> None:
        self.kernel = kernel
        parts = inside_first(kernel)
        self._numbers = _number(parts)
        self._uses = {self._numbers[id(kernel)]: 1}
        self._held: dict[int, int] = {}  # matrices held at once while a part is filled
        kinds: set[type[Kernel]] = set()
        counted: set[int] = set()
        for each in parts:
            if not isinstance(each, CombinedKernel):
                continue
            kinds.add(type(each))
            inside = each._parts()
            held = sorted([self._held.get(id(inner), 1) for inner in inside], reverse=True)
            self._held[id(each)] = max([n + before for before, n in enumerate(held)])
            # The parts of a kernel that is kept need not be kept themselves.
            number = self._numbers[id(each)]
            if number not in counted:
                counted.add(number)
                for inner in inside:
                    number = self._numbers[id(inner)]
                    self._uses[number] = self._uses.get(number, 0) + 1
        self.keep_overflow = all(issubclass(kind, _KEEP_OVERFLOW) for kind in kinds)
        normalized = any(issubclass(kind, Normalized) for kind in kinds)
        self._definite = _definite(parts) if normalized else set()
        # By number and data: the data, the values, and the number of uses to come.
        self._known: dict[tuple[Any, ...], tuple[Any, Matrix, int]] = {}

    def in_order(self, kernel: CombinedKernel) -> list[Kernel]:
        """Return the parts of a kernel in the order in which to fill them.

        Sums and products are the same in any order. The part that holds the most matrices comes
        first, before others hold theirs.
        """
        parts = kernel._parts()
        if isinstance(kernel, _Binary):
            left, right = (self._held.get(id(part), 1) for part in parts)
            if left < right:
                parts.reverse()
        return parts

    def is_definite(self, part: Kernel) -> bool:
        """Whether a part is known to be positive semidefinite."""
        return id(part) in self._definite

    def fill(self, how: str, data: Data, out: Matrix, runner: Runner) -> None:
        """Fill ``out`` with the values of the outermost combination."""
        waiting = [self.kernel._steps(how, data, out, runner, self)]
        while waiting:
            request = next(waiting[-1], None)
            if request is None:
                waiting.pop()
                continue
            steps = self._answer(request)
            if steps is not None:
                waiting.append(steps)

    def _answer(self, request: Request) -> Steps | None:
        """Fill the values of a part, copied if known; return the steps of a combination."""
        part, how, data, out, runner = request
        number = self._numbers.get(id(part))
        key = (number, how, *map(id, data))
        if key in self._known:
            data, values, uses = self._known.pop(key)
            out[...] = values
            if uses > 1:
                self._known[key] = (data, values, uses - 1)
            return None
        if isinstance(part, CombinedKernel):
            return self._steps_of(request, key)
        getattr(part, how)(*data, out, runner)
        self._keep(request, key)
        return None

    def _steps_of(self, request: Request, key: tuple[Any, ...]) -> Steps:
        part, how, data, out, runner = request
        assert isinstance(part, CombinedKernel)
        yield from part._steps(how, data, out, runner, self)
        self._keep(request, key)

    def _keep(self, request: Request, key: tuple[Any, ...]) -> None:
        # Self-similarities are small, and each normalization asks for them again.
        diagonal = request.how == "_fill_diag" and key[0] is not None
        uses = _ALWAYS if diagonal else self._uses.get(key[0], 0) - 1
        if uses > 0:
            # The data is kept as well, or another object could get its id.
            self._known[key] = (request.data, request.out.copy(), uses)


def _definite(parts: list[Kernel]) -> set[int]:
    """Return the ids of kernels that are positive semidefinite, as combinations of such are.

    Parameters
    ----------
    parts : list of Kernel
        Kernels, each after the kernels inside it.
    """
    found: set[int] = set()
    for part in parts:
        if isinstance(part, CombinedKernel):
            definite = all(id(inner) in found for inner in part._parts())
        else:
            definite = part._is_definite()
        if definite:
            found.add(id(part))
    return found


def _number(parts: list[Kernel]) -> dict[int, int]:
    """Return a number for each kernel, by id; equal kernels have the same.

    Parameters
    ----------
    parts : list of Kernel
        Kernels, each after the kernels inside it.
    """
    numbers: dict[int, int] = {}
    known: dict[Any, list[tuple[Any, int]]] = {}
    n_alike = Counter(map(type, parts))
    for part in parts:
        if n_alike[type(part)] == 1:
            numbers[id(part)] = len(numbers)
            continue
        compared: Any = part
        own, inside = part.get_params(deep=False), []
        if isinstance(part, CombinedKernel):
            compared = own = part._own_params()
            inside = [numbers[id(inner)] for inner in part._parts()]
        # Equal numbers have equal hashes; other parameters may not.
        hashed = (type(part), *inside, *(v for v in own.values() if isinstance(v, (int, float))))
        alike = known.setdefault(hashed, [])
        number = next((n for other, n in alike if compared == other), None)
        if number is None:
            number = len(numbers)
            alike.append((compared, number))
        numbers[id(part)] = number
    return numbers


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

    def _pieces(self) -> Pieces:
        return [self.left, " + ", self.right]


class Product(_Binary):
    """The product of two kernels, ``left * right``."""

    def _combine(self, values: list[Matrix]) -> Matrix:
        values[0] *= values[1]
        return values[0]

    def _pieces(self) -> Pieces:
        return [*_grouped(self.left), " * ", *_grouped(self.right)]


class Scaled(CombinedKernel):
    """A kernel times a positive number, ``factor * kernel``."""

    def __init__(self, kernel: Kernel, factor: float) -> None:
        self.kernel = kernel
        self.factor = factor

    def _combine(self, values: list[Matrix]) -> Matrix:
        values[0] *= float(self.factor)  # a numpy number would change the dtype
        return values[0]

    def _check_own(self) -> None:
        super()._check_own()
        number = isinstance(self.factor, (int, float, np.integer, np.floating))
        # An integer beyond the largest float is smaller than infinity.
        if not number or not 0 <= self.factor <= np.finfo(float).max:
            raise KernelInputError(
                f"a kernel can only be scaled by a number of 0 or more, got {self.factor!r}"
            )

    def _pieces(self) -> Pieces:
        return [f"{self.factor!r} * ", *_grouped(self.kernel)]


class Power(CombinedKernel):
    """A kernel to the power of a positive whole number, ``kernel ** exponent``."""

    def __init__(self, kernel: Kernel, exponent: int) -> None:
        self.kernel = kernel
        self.exponent = exponent

    def _combine(self, values: list[Matrix]) -> Matrix:
        values[0] **= int(self.exponent)
        return values[0]

    def _check_own(self) -> None:
        super()._check_own()
        check_int("Power: exponent", self.exponent, 1, LARGEST_EXPONENT)

    def _pieces(self) -> Pieces:
        return [*_grouped(self.kernel), f" ** {self.exponent!r}"]


class Normalized(CombinedKernel):
    r"""A kernel divided by its self-similarities, :math:`K(x,y) / \sqrt{K(x,x) K(y,y)}`.

    Where a self-similarity is 0 the value is 0. If the kernel is known to be positive semidefinite,
    values are from -1 to 1: rounding errors beyond are cut off. Works at any level of a
    combination; around a kernel with a ``normalize`` parameter it is the same as setting that
    parameter.

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
        """Return the normalized value of the pair."""
        inner = self._inner()
        if inner is not None:
            return inner.value(a, b)
        selves = self.kernel.value(a, a) ** 0.5 * self.kernel.value(b, b) ** 0.5
        value = self.kernel.value(a, b) / selves if selves > 0 else 0.0
        return max(-1.0, min(value, 1.0)) if self.kernel._is_definite() else value

    def _inner(self) -> Kernel | None:
        """Return a kernel that normalizes by itself, safe where raw values overflow."""
        inner = self.kernel
        while isinstance(inner, Normalized):
            inner = inner.kernel
        if "normalize" in inner._parameter_names():
            return inner.clone().set_params(normalize=True)
        return None

    def _steps(
        self, how: str, data: Data, out: Matrix, runner: Runner, shared: SharedParts
    ) -> Steps:
        inner = self._inner()
        if inner is not None:
            yield Request(inner, how, data, out, runner)
            return
        if how == "_fill_diag":
            selves = np.empty(len(out), dtype=out.dtype)
            yield self._selves(data[0], selves, runner)
            out[:] = self._roots(selves) < np.inf
            runner.advance(len(out))
            return
        yield Request(self.kernel, how, data, out, runner)
        if how == "_fill_gram" and out.dtype == np.float64:
            # The diagonal is as from ``diag``; in float32 it is less exact.
            sides = [out.diagonal().copy()]
        else:
            sides = [np.empty(len(side), dtype=out.dtype) for side in data]
            for side, selves in zip(data, sides, strict=True):
                yield self._selves(side, selves, runner)
        roots = [self._roots(selves) for selves in sides]
        if how == "_fill_value":
            out /= roots[0][:1] * roots[0][1:]
        elif how == "_fill_pairs":
            out /= roots[0] * roots[1]
        else:
            out /= roots[0][:, None] * roots[-1]
        if shared.is_definite(self.kernel):
            np.clip(out, -1.0, 1.0, out=out)
        if how == "_fill_gram":
            np.fill_diagonal(out, np.diagonal(out) != 0)

    def _selves(self, X: Any, out: Matrix, runner: Runner) -> Request:
        return Request(self.kernel, "_fill_diag", (X,), out, runner.quiet())

    def _roots(self, selves: Matrix) -> Matrix:
        warn_of_zeros(int(np.count_nonzero(selves == 0)), self.kernel)
        return np.sqrt(np.where(selves > 0, selves, np.inf)).astype(selves.dtype)


class OnView(CombinedKernel):
    """A kernel on one named view of examples.

    Parameters
    ----------
    name : str
        Name of the view.
    kernel : Kernel
        Kernel that compares the structures of this view.

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
    _reads_examples = True

    def __init__(self, name: str, kernel: Kernel) -> None:
        self.name = name
        self.kernel = kernel

    def reference(self, a: Any, b: Any) -> float:
        """Return the value of the kernel for the views of the pair."""
        return self.kernel.value(a.view(self.name), b.view(self.name))

    def _steps(
        self, how: str, data: Data, out: Matrix, runner: Runner, shared: SharedParts
    ) -> Steps:
        yield Request(self.kernel, how, tuple(map(self._view, data)), out, runner)

    def _check_own(self) -> None:
        super()._check_own()
        if not isinstance(self.name, str):
            raise KernelInputError(f"OnView: name must be the name of a view, got {self.name!r}")

    def _accepts(self) -> type[Any]:
        return ExampleBatch

    def _views_inside(self, view: str | None) -> tuple[str | None, ...]:
        return (self.name if view is None else f"{view}.{self.name}",)

    def _warm(self, X: Any) -> None:
        self._view(X)

    def _cost(self, X: Any, Y: Any) -> int:
        return self.kernel._cost(self._view(X), self._view(Y))

    def _view(self, X: Any) -> Any:
        if len(X) == 0:
            return self.kernel._as_batch([])
        try:
            return self.kernel._as_batch(X.view(self.name))
        except StructureError as error:
            raise KernelInputError(f"{self!r}: {error}") from None

    def _pieces(self) -> Pieces:
        return [f"OnView({self.name!r}, ", self.kernel, ")"]


def _grouped(kernel: Kernel) -> Pieces:
    return ["(", kernel, ")"] if isinstance(kernel, (Sum, Product, Scaled, Power)) else [kernel]


_KEEP_OVERFLOW = (Sum, Product, Scaled, OnView)  # finite values only from finite values


def needed_views(kernel: Kernel) -> tuple[str, ...] | None:
    """Return the names of the views of examples that a kernel reads.

    Parameters
    ----------
    kernel : Kernel
        A kernel or a combination of kernels of any depth.

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
    waiting: list[tuple[Kernel, str | None]] = [(kernel, None)]
    seen: set[tuple[int, str | None]] = set()  # k + k contains one kernel twice
    while waiting:
        current, view = waiting.pop()
        if (id(current), view) in seen:
            continue
        seen.add((id(current), view))
        if isinstance(current, OnView):
            names.update(dict.fromkeys(map(str, current._views_inside(view))))
        elif isinstance(current, CombinedKernel):
            views = current._views_inside(view)
            inside = [(part, one) for one in views for part in current._parts()]
            waiting.extend(reversed(inside))
        elif current._accepts() is ExampleBatch:
            return None
        elif view is not None:
            names[view] = None
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
