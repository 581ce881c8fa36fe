"""Recipes: named learners with tested settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from kernelwood.errors import KernelInputError
from kernelwood.kernels import (
    AllPathsGraphKernel,
    Kernel,
    OnView,
    PartialTreeKernel,
    RootedTreeKernel,
    SubsequenceKernel,
    SubsetTreeKernel,
    VectorKernel,
)
from kernelwood.learners import LEARNERS
from kernelwood.similarity import Exponential
from kernelwood.views import find_view

# Default views of pairs.
PAIR_VIEWS = ("stem-context", "stem-steps", "names", "negation")
TYPE_VIEWS = ("types", "sentence-words")  # added if there are several relation types
ENTITY_VIEW, SOFT_ENTITY_VIEW = "stem-entity-words", "entity-words"  # the latter for word vectors
EVENT_VIEWS = ("trigger-path", "trigger-tree")

# Views whose kernels are averaged and take part in the product, and weights of those added to it.
_OF_PAIR = ("names", "negation", "types")
_ADDED = {"sentence-words": 0.3, "between-words": 0.3, ENTITY_VIEW: 0.6, SOFT_ENTITY_VIEW: 0.6}
_DTYPE = "float32"  # half the time of float64; precise enough for similarities from 0 to 1
_SETTLED = {"kernel", "random_state", "n_jobs"}  # parameters set by the extractor
_SMALL = 3  # references and landmarks are at most a third of the training cases


@dataclass(frozen=True)
class Recipe:
    """A named learner with settings.

    Attributes
    ----------
    name, summary : str
        Name for users, and a line for help pages.
    learner : str
        A name in `kernelwood.learners.LEARNERS`.
    options : mapping
        Parameters of the learner.
    """

    name: str
    summary: str
    learner: str
    options: Mapping[str, Any] = field(default_factory=dict)


_ROWS = (
    Recipe(
        "svm",
        "support vector machine: the most accurate, slower on large corpora",
        "kernel-svc",
        {"C": 3.0, "tol": 1e-5},  # half precise machines would differ with the last bits of kernels
    ),
    Recipe(
        "ridge",
        "kernel ridge regression: accuracy near svm, same time for any number of types",
        "kernel-ridge",
        {"ridge": 0.2},
    ),
    Recipe(
        "klsh-rf",
        "random forest on hashcodes: fast to train and to apply, less accurate",
        "hash-forest",
        {"n_references": 300, "bits_per_tree": 100, "min_samples_leaf": 5, "subset_size": 50},
    ),
    Recipe(
        "klsh-knn",
        "nearest neighbors among hashcodes: predictions point to training cases",
        "hash-neighbors",
        {"n_references": 50, "n_bits": 4, "n_neighbors": 16},
    ),
    Recipe(
        "nystrom",
        "support vector machine on landmarks: for corpora too large for svm",
        "kernel-svc",
        {"C": 1.0, "n_landmarks": 3000, "tol": 1e-4},
    ),
    Recipe(
        "landmark-ridge",
        "least squares on landmarks: for up to millions of candidates",
        "landmark-ridge",
        {"ridge": 0.2, "n_landmarks": 2000},
    ),
)

RECIPES: Mapping[str, Recipe] = MappingProxyType({row.name: row for row in _ROWS})


def find_recipe(name: Any) -> Recipe:
    """Return the recipe called ``name``.

    Examples
    --------
    >>> find_recipe("svm").learner
    'kernel-svc'
    """
    if isinstance(name, str) and name in RECIPES:
        return RECIPES[name]
    raise KernelInputError(
        f"there is no recipe {name!r}{_nearest(name, RECIPES)} (recipes: {', '.join(RECIPES)})"
    )


def _nearest(name: Any, known: Iterable[str]) -> str:
    close = get_close_matches(str(name), known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def check_options(recipe: Recipe, options: Mapping[str, Any]) -> None:
    """Raise KernelInputError if the classifier of a recipe does not have one of these options.

    Examples
    --------
    >>> check_options(find_recipe("svm"), {"C": 10.0})
    """
    known = set(LEARNERS[recipe.learner](None).get_params(deep=False)) - _SETTLED
    for name in options:
        if name not in known:
            raise KernelInputError(
                f"recipe {recipe.name!r} has no option {name!r}{_nearest(name, known)} "
                f"(options: {', '.join(sorted(known))})"
            )


def make_learner(
    recipe: Recipe, kernel: Kernel, options: Mapping[str, Any], n: int, seed: int
) -> Any:
    """Return the unfitted classifier of a recipe.

    Parameters
    ----------
    recipe : Recipe
    kernel : Kernel
    options : mapping
        Parameters that differ from those of the recipe.
    n : int
        Number of training cases: small corpora get fewer references.
    seed : int
    """
    check_options(recipe, options)
    settings = {**recipe.options, **options}
    for name in ("n_references", "n_landmarks", "n_neighbors"):
        if name in settings and name not in options:
            settings[name] = max(2, min(settings[name], n // _SMALL))
    n_references = settings.get("n_references", 0)
    if n_references != recipe.options.get("n_references", 0) and "subset_size" not in options:
        # Large subsets of few references overlap, which makes uninformative bits.
        settings.pop("subset_size", None)
        if n_references < 4:
            settings["subset_size"] = 1
    learner: Any = LEARNERS[recipe.learner](kernel, **settings)
    if hasattr(learner, "random_state"):
        learner.random_state = seed  # set_params would import scikit-learn
    return learner


def kernel_on(views: tuple[str, ...], vectors: Any = None) -> Kernel:
    """Return the kernel of recipes for some views.

    For the default views it is a product: both the words around two entities and the dependency
    path between them must be similar, while names, negation and types of the entities can partly
    compensate for either. The words of the sentence, and those of the entities, are added with a
    weight. For other views it is the mean of one kernel per view. Single precision takes half the
    time and changes scores by millionths.

    Parameters
    ----------
    views : tuple of str
        Names in `kernelwood.views.VIEWS`.
    vectors : Vectors, optional
        Word vectors for soft matching of words.

    Examples
    --------
    >>> kernel_on(("path",))
    OnView('path', SubsequenceKernel(max_length=3, dtype='float32'))
    """
    kernels = {name: OnView(name, _kernel(name, vectors)) for name in views}
    pair = [kernels[name] for name in views if name in _OF_PAIR]
    if not set(PAIR_VIEWS) <= set(views) <= {*PAIR_VIEWS, *_OF_PAIR, *_ADDED}:
        return _mean(list(kernels.values()))
    context, steps = kernels["stem-context"], kernels["stem-steps"]
    kernel: Kernel = (1 / 3) * ((context + 0.5 * _mean(pair)) * (steps + _mean(pair)))
    for name in views:
        if name in _ADDED:
            kernel = kernel + added_kernel(name, vectors)
    return kernel


def added_kernel(name: str, vectors: Any = None) -> Kernel:
    """Return the summand of the kernel of default views that a view of words adds.

    Examples
    --------
    >>> added_kernel("between-words")
    0.3 * OnView('between-words', SubsequenceKernel(max_length=2, dtype='float32'))
    """
    return _ADDED[name] * OnView(name, _kernel(name, vectors))


def _mean(kernels: Sequence[Kernel]) -> Kernel:
    if len(kernels) == 1:
        return kernels[0]
    weighted = [(1.0 / len(kernels)) * kernel for kernel in kernels]
    return sum(weighted[1:], start=weighted[0])


def _kernel(name: str, vectors: Any) -> Kernel:
    find_view(name)
    return _KERNELS.get(name, _whole_productions)(vectors)


def _words(vectors: Any) -> Kernel:
    # Longer subsequences would dominate in repetitive texts. Without the floor, many pairs of
    # dissimilar words would add up.
    similarity = None if vectors is None else Exponential(vectors, floor=0.5)
    return SubsequenceKernel(max_length=3, similarity=similarity, dtype=_DTYPE)


def _entity_words(vectors: Any) -> Kernel:
    # Without a floor of 0, words that have nothing in common would match by a third.
    similarity = None if vectors is None else Exponential(vectors, floor=0.0)
    return SubsequenceKernel(max_length=2, similarity=similarity, dtype=_DTYPE)


def _bag(vectors: Any) -> Kernel:
    return VectorKernel("cosine", dtype=_DTYPE)


def _mean_vector(vectors: Any) -> Kernel:
    if vectors is None:
        return SubsequenceKernel(max_length=2, dtype=_DTYPE)
    return VectorKernel("cosine", vectors=vectors, dtype=_DTYPE)


def _labels(vectors: Any) -> Kernel:
    return SubsequenceKernel(max_length=1, dtype=_DTYPE)


def _whole_productions(vectors: Any) -> Kernel:
    return SubsetTreeKernel(dtype=_DTYPE)


def _partial(vectors: Any) -> Kernel:
    return PartialTreeKernel(dtype=_DTYPE)


def _paths(vectors: Any) -> Kernel:
    return AllPathsGraphKernel(dtype=_DTYPE)


def _rooted(vectors: Any) -> Kernel:
    return RootedTreeKernel(dtype=_DTYPE)


_KERNELS: Mapping[str, Callable[[Any], Kernel]] = {
    **dict.fromkeys(("words", "context", "stem-context"), _words),
    **dict.fromkeys(("path", "steps", "stem-steps", "amr-path", "trigger-path"), _words),
    **dict.fromkeys(("path-tree", "grct", "lct", "loct", "cgrct", "clct"), _partial),
    **dict.fromkeys(("amr-tree", "trigger-tree"), _rooted),
    **dict.fromkeys(_OF_PAIR, _labels),
    **dict.fromkeys((ENTITY_VIEW, SOFT_ENTITY_VIEW), _entity_words),
    **dict.fromkeys(("all-paths-graph", "tagged-all-paths-graph"), _paths),
    "sentence-words": _bag,
    "between-words": _mean_vector,
}
