"""Honest models of every kind, and suitable input for their methods.

The golden files of the tests are models of all classes that can be saved; others are made here:
extractors of every recipe, similarities and combined kernels.
"""

from __future__ import annotations

import importlib.util
import io
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import kernelwood as kw
from kernelwood.arrays import Batch
from kernelwood.persist import write_model
from kernelwood.relations import RECIPES
from kernelwood.similarity import Compositional, Exact, Exponential, Gaussian, Sigmoid, Table

# The samples are small, and the extractor says so.
warnings.filterwarnings("ignore", "small corpus")

ROOT = Path(__file__).parent.parent
GOLDEN = ROOT / "tests" / "persist" / "golden"


@cache
def module_of(path: str) -> Any:
    """Return a module of the repository that is not in a package."""
    name = Path(path).stem
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def golden() -> Any:
    """Return the module with small models and input for them."""
    return module_of("tools/golden.py")


def _small(recipe: str) -> dict[str, Any]:
    """Return options that make the model of a recipe small."""
    learner = RECIPES[recipe].learner
    return {
        "hash-forest": {"n_estimators": 3, "n_bits": 8, "bits_per_tree": 4},
        "hash-neighbors": {"n_bits": 8, "n_references": 4, "n_neighbors": 3},
    }.get(learner, {"n_landmarks": 4} if recipe in ("nystrom", "landmark-ridge") else {})


def _extractor(recipe: str = "svm", **options: Any) -> kw.RelationExtractor:
    """Return a small extractor with the default views and kernels of its recipe."""
    made = kw.RelationExtractor(
        recipe, options=_small(recipe), n_splits=2, random_state=1, **options
    )
    return made.fit(golden()._annotated())


def event_sentence(number: int) -> kw.Sentence:
    """Return a sentence with an event, and a negative one for odd numbers."""
    verb = ("promotes", "blocks")[number % 2]
    end = 4 + len(verb)
    entities = [
        kw.text.Entity("T1", "protein", ((0, 3),), "Raf"),
        kw.text.Entity("T9", verb, ((4, end),), verb),
        kw.text.Entity("T2", "protein", ((end + 1, end + 4),), "Mek"),
    ]
    roles = (kw.text.Argument("Cause", "T1"), kw.text.Argument("Theme", "T2"))
    events = [kw.text.Event("E1", verb, "T9", roles)]
    return kw.Sentence.from_words(["Raf", verb, "Mek"], entities=entities, events=events)


def _events() -> kw.RelationExtractor:
    model = kw.RelationExtractor(candidates="events", n_splits=2, random_state=1)
    return model.fit(event_documents())


def _vectors() -> kw.Vectors:
    vectors: kw.Vectors = golden()._vectors()
    return vectors


# Models that have no golden file.
MADE: dict[str, Callable[[], Any]] = {
    **{f"extractor-{name}": lambda name=name: _extractor(name) for name in RECIPES},
    "extractor-tagger": lambda: _extractor(entities="learn"),
    "extractor-events": _events,
    "kernel-sum": lambda: kw.SubtreeKernel() + 0.5 * kw.SubsetTreeKernel(),
    "kernel-product": lambda: kw.Normalized(kw.SubtreeKernel() * kw.PartialTreeKernel()),
    "kernel-preference": lambda: kw.PairKernel(
        kw.OnView("tree", kw.SubtreeKernel()), mode="preference"
    ),
    "kernel-power": lambda: kw.SubsetTreeKernel() ** 3,
    "kernel-deep": lambda: sum(
        (kw.SubtreeKernel(decay=0.5) for _ in range(40)), start=kw.SubtreeKernel()
    ),
    "kernel-sptk": lambda: kw.PartialTreeKernel.sptk(_vectors()),
    "kernel-soft-table": lambda: kw.SubsequenceKernel(
        similarity=Table(["owl", "mouse"], np.array([[1, 0.5], [0.5, 1]])), gates={"owl": 0.5}
    ),
    "similarity-exact": lambda: Exact(),
    "similarity-gaussian": lambda: Gaussian(_vectors()),
    "similarity-sigmoid": lambda: Sigmoid(_vectors()),
    "similarity-exponential": lambda: Exponential(_vectors()),
    "similarity-compositional": lambda: Compositional(_vectors()),
}


def names() -> list[str]:
    """Return the names of all samples."""
    return sorted({path.stem for path in GOLDEN.glob("v*/*.kw")} | set(MADE))


@cache
def sample(name: str) -> bytes:
    """Return the file of a model."""
    if name not in MADE:
        return max(GOLDEN.glob(f"v*/{name}.kw")).read_bytes()
    file = io.BytesIO()
    write_model(MADE[name](), file)
    return file.getvalue()


def inputs(kernel: Any) -> list[Any]:
    """Return structures that a kernel reads."""
    if isinstance(kernel, kw.PairKernel):
        return list(golden().PAIRS)
    return list(golden().SAMPLES.get(kernel._accepts(), golden().EXAMPLES))


def training() -> list[kw.Example]:
    """Return examples of all classes of the golden learners."""
    examples: list[kw.Example] = golden()._training()[0]
    return examples[:4] + golden().EXAMPLES


@cache
def documents() -> list[kw.Example]:
    """Return annotated sentences for extractors of pairs, enough for adaptation."""
    examples = 2 * golden()._annotated()
    return [kw.Example(f"d{n}.s0", views=one.views) for n, one in enumerate(examples)]


@cache
def event_documents() -> list[kw.Example]:
    """Return annotated sentences for extractors of events."""
    return [kw.Example(f"d{n}.s0", views={"sentence": event_sentence(n)}) for n in range(8)]


def kernels_of(batch: Batch) -> list[Any]:
    """Return kernels that read a batch."""
    return {
        "sequence": [kw.SubsequenceKernel(), kw.SubsequenceKernel(max_length=2)],
        "tree": [kw.SubsetTreeKernel(), kw.PartialTreeKernel(), kw.RootedTreeKernel()],
        "forest": [kw.ForestKernel()],
        "graph": [kw.AllPathsGraphKernel(edge_weight=0.01), kw.WeisfeilerLehmanKernel()],
        "vector": [kw.VectorKernel("cosine"), kw.VectorKernel("rbf", gamma=1.0)],
    }[batch.kind]
