"""Kernels of pairs: examples with two parts, compared by a kernel of the parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelwood.arrays import ExampleBatch
from kernelwood.compute import Runner
from kernelwood.errors import KernelInputError, StructureError
from kernelwood.kernels.combined import (
    LARGEST_EXPONENT,
    CombinedKernel,
    Data,
    Pieces,
    Request,
    SharedParts,
    Steps,
    inside_first,
)
from kernelwood.kernels.kernel import Kernel, Matrix
from kernelwood.parameters import check_int
from kernelwood.text import SIDES

MODES = ("sum", "product", "best", "preference")
_ORDERED = ("sum", "product")  # have a version without crossed terms
_DEEPEST = 8  # pairs of pairs of ...: each level doubles the views


class PairKernel(CombinedKernel):
    r"""A kernel of pairs, such as two texts that may mean the same, or a question and its answer.

    For pairs :math:`a = (a_1, a_2)` and :math:`b = (b_1, b_2)` and a kernel :math:`k` of their
    parts:

    ================  ==========================================================================
    mode              value
    ================  ==========================================================================
    ``"sum"``         :math:`k(a_1,b_1) + k(a_2,b_2) + [k(a_1,b_2) + k(a_2,b_1)]`
    ``"product"``     :math:`k(a_1,b_1)\,k(a_2,b_2) + [k(a_1,b_2)\,k(a_2,b_1)]`
    ``"best"``        :math:`(k(a_1,b_1)\,k(a_2,b_2))^s + (k(a_1,b_2)\,k(a_2,b_1))^s`
    ``"preference"``  :math:`k(a_1,b_1) + k(a_2,b_2) - k(a_1,b_2) - k(a_2,b_1)`
    ================  ==========================================================================

    Terms in brackets are left out if the order of the parts matters (``symmetric=False``). All
    modes are positive semidefinite if :math:`k` is. The maximum of the two products is not, nor is
    the soft maximum of KeLP's kernel of best alignments; ``"best"`` therefore adds powers of both
    products, so that the larger one prevails.

    A Gram matrix needs four matrices of :math:`k` for the parts, or two without terms in brackets.

    Parameters
    ----------
    kernel : Kernel
        Compares parts. Of examples it reads the views ``left.name`` and ``right.name`` as ``name``
        (:class:`OnView`); a kernel of structures reads the views ``left`` and ``right``. Tuples of
        two structures or examples are pairs as well, see :meth:`Example.pair`.
    mode : {"sum", "product", "best", "preference"}
        ``"preference"`` compares differences, left part minus right part: it is the kernel of
        :class:`KernelRanker`, and swapping the parts of a pair changes the sign.
    symmetric : bool
        Whether (a, b) is the same pair as (b, a); False for ``"sum"`` and ``"product"`` only.
    sharpness : int
        :math:`s` of ``"best"``, from 1, which is ``"product"``.

    See Also
    --------
    KernelRanker : Learns to rank from preferences.
    Normalized : Divides by self-similarities; ``Normalized(PairKernel(kernel))``.

    References
    ----------
    S. Filice, G. Da San Martino, A. Moschitti: Structural representations for learning relations
    between pairs of texts. ACL 2015. L. Shen, A. Joshi: An SVM based voting algorithm with
    application to parse reranking. CoNLL 2003.

    Examples
    --------
    >>> import kernelwood as kw
    >>> a, b, c = (kw.Tree.from_brackets(f"(S (A {word}) (B y))") for word in "xyz")
    >>> kernel = kw.PairKernel(kw.SubsetTreeKernel(), mode="product")
    >>> kernel.gram([(a, b), (b, a), (a, c)]).round(3)
    array([[1.367, 1.367, 0.973],
           [1.367, 1.367, 0.973],
           [0.973, 0.973, 1.367]])
    """

    accepts = ExampleBatch
    _reads_examples = True

    def __init__(
        self, kernel: Kernel, *, mode: str = "sum", symmetric: bool = True, sharpness: int = 4
    ) -> None:
        self.kernel = kernel
        self.mode = mode
        self.symmetric = symmetric
        self.sharpness = sharpness

    def reference(self, a: Any, b: Any) -> float:
        """Return the value of a pair of pairs by definition."""
        k = self.kernel.value
        (a1, a2), (b1, b2) = ([self._side(pair, side) for side in SIDES] for pair in (a, b))
        if self.mode == "preference":
            return k(a1, b1) + k(a2, b2) - k(a1, b2) - k(a2, b1)
        if self.mode == "sum":
            return k(a1, b1) + k(a2, b2) + (k(a1, b2) + k(a2, b1) if self.symmetric else 0.0)
        power = self.sharpness if self.mode == "best" else 1
        parallel = (k(a1, b1) * k(a2, b2)) ** power
        return parallel + ((k(a1, b2) * k(a2, b1)) ** power if self.symmetric else 0.0)

    # Filling matrices.

    def _steps(
        self, how: str, data: Data, out: Matrix, runner: Runner, shared: SharedParts
    ) -> Steps:
        if how == "_fill_value":
            how, data = "_fill_pairs", (data[0][:1], data[0][1:])
        left, right = ([self._side(batch, side) for batch in data] for side in SIDES)
        yield Request(self.kernel, how, tuple(left), out, runner)
        other = np.empty_like(out)
        yield Request(self.kernel, how, tuple(right), other, runner.quiet())
        self._join(out, other)
        if self.symmetric:
            crossed = np.empty_like(out)
            back = yield from self._fill_crossed(how, left, right, crossed, other, runner.quiet())
            self._join(crossed, back)
            with np.errstate(over="ignore", invalid="ignore"):
                if self.mode == "preference":
                    out -= crossed
                else:
                    out += crossed
        self._check_finite(out, shared)

    def _fill_crossed(
        self,
        how: str,
        left: list[Any],
        right: list[Any],
        crossed: Matrix,
        other: Matrix,
        runner: Runner,
    ) -> Any:
        """Fill the similarities of left with right parts; return those of right with left ones.

        In a Gram matrix these are the same, transposed, whatever the tiles it is filled by.
        """
        if how in ("_fill_gram", "_fill_diag"):
            alone = "_fill_cross" if how == "_fill_gram" else "_fill_pairs"
            yield Request(self.kernel, alone, (left[0], right[0]), crossed, runner)
            other[...] = crossed.T
            return other
        alone = "_fill_pairs" if how == "_fill_pairs" else "_fill_cross"
        yield Request(self.kernel, alone, (left[0], right[1]), crossed, runner)
        if how == "_fill_below":
            turned = np.empty(other.shape[::-1], dtype=other.dtype)
            yield Request(self.kernel, alone, (left[1], right[0]), turned, runner)
            return turned.T
        yield Request(self.kernel, alone, (right[0], left[1]), other, runner)
        return other

    def _join(self, values: Matrix, others: Matrix) -> None:
        """Add or multiply the two values of an alignment, in place."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.mode in ("sum", "preference"):
                values += others
                return
            values *= others
            if self.mode == "best":
                values **= int(self.sharpness)

    # Parts of pairs.

    def _side(self, pairs: Any, side: str) -> Any:
        """Return one part of a pair, or of each pair of a batch, as the kernel inside reads it."""
        whole = self.kernel._accepts() is ExampleBatch
        if not isinstance(pairs, ExampleBatch):
            return pairs.part(side) if whole else pairs.view(side)
        if len(pairs) == 0:
            return self.kernel._as_batch([])
        try:
            return self.kernel._as_batch(pairs.part(side) if whole else pairs.view(side))
        except (KernelInputError, StructureError) as error:
            raise KernelInputError(
                f"PairKernel: {side} parts of pairs, from views called "
                f"{f'{side}.name' if whole else side}: {error}\n"
                "    Give pairs: tuples of two structures or examples, or kw.Example.pair(...)"
            ) from None

    def _accepts(self) -> type[Any]:
        return ExampleBatch

    def _views_inside(self, view: str | None) -> tuple[str | None, ...]:
        return tuple(side if view is None else f"{view}.{side}" for side in SIDES)

    def _warm(self, X: Any) -> None:
        for side in SIDES:
            self._side(X, side)

    def _cost(self, X: Any, Y: Any) -> int:
        (x1, x2), (y1, y2) = ([self._side(pairs, side) for side in SIDES] for pairs in (X, Y))
        cost = self.kernel._cost
        crossed = cost(x1, y2) + cost(x2, y1) if self.symmetric else 0
        return cost(x1, y1) + cost(x2, y2) + crossed

    def _check_own(self) -> None:
        super()._check_own()
        if not isinstance(self.mode, str) or self.mode not in MODES:
            raise KernelInputError(f"PairKernel: mode must be one of {MODES}, got {self.mode!r}")
        if not isinstance(self.symmetric, (bool, np.bool_)):
            raise KernelInputError(
                f"PairKernel: symmetric must be True or False, got {self.symmetric!r}"
            )
        if not self.symmetric and self.mode not in _ORDERED:
            raise KernelInputError(
                f"PairKernel: mode {self.mode!r} needs the crossed terms; leave symmetric=True, "
                f"or choose one of {_ORDERED}"
            )
        check_int("PairKernel: sharpness", self.sharpness, 1, LARGEST_EXPONENT)
        self._check_depth()

    def _pieces(self) -> Pieces:
        shown = {"mode": "sum", "symmetric": True, "sharpness": 4}
        changed = [f", {n}={v!r}" for n, v in self._own_params().items() if v != shown[n]]
        return ["PairKernel(", self.kernel, *changed, ")"]

    def _check_depth(self) -> None:
        depths: dict[int, int] = {}
        for part in inside_first(self):
            inside = part._parts() if isinstance(part, CombinedKernel) else []
            depth = max((depths[id(one)] for one in inside), default=0)
            depths[id(part)] = depth + isinstance(part, PairKernel)
        if depths[id(self)] > _DEEPEST:
            raise KernelInputError(
                f"PairKernel: pairs of pairs are nested more than {_DEEPEST} deep"
            )
