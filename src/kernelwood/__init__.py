"""Convolution kernels for the structures of language.

>>> import kernelwood as kw
>>> kernel = kw.SubsetTreeKernel(decay=1.0, normalize=False)
>>> tree = kw.Tree.from_brackets("(PP (IN in) (DT the) (NN bank))")
>>> kernel.value(tree, tree)
11.0
"""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> module that defines it. Modules load on first use, so that
# ``import kernelwood`` stays cheap and a reader never pays for a learner.
_EXPORTS = {
    "Sequence": "kernelwood.structures",
    "Tree": "kernelwood.structures",
    "Forest": "kernelwood.structures",
    "Graph": "kernelwood.structures",
    "Example": "kernelwood.structures",
    "Origin": "kernelwood.structures",
    "Sentence": "kernelwood.structures",
    "Document": "kernelwood.structures",
    "Token": "kernelwood.structures",
    "Dependency": "kernelwood.structures",
    "Entity": "kernelwood.structures",
    "Relation": "kernelwood.structures",
    "Event": "kernelwood.structures",
    "Argument": "kernelwood.structures",
    "Attribute": "kernelwood.structures",
    "Predicate": "kernelwood.structures",
    "RoleSpan": "kernelwood.structures",
    "Candidate": "kernelwood.structures",
    "read": "kernelwood.io",
    "write": "kernelwood.io",
    "pair_candidates": "kernelwood.extract",
    "event_candidates": "kernelwood.extract",
    "batch": "kernelwood.arrays",
    "Vocabulary": "kernelwood.arrays",
    "SequenceBatch": "kernelwood.arrays",
    "TreeBatch": "kernelwood.arrays",
    "ForestBatch": "kernelwood.arrays",
    "ExampleBatch": "kernelwood.arrays",
    "config_context": "kernelwood.compute",
    "get_config": "kernelwood.compute",
    "set_config": "kernelwood.compute",
    "counting": "kernelwood.compute",
    "Kernel": "kernelwood.kernels",
    "SubsequenceKernel": "kernelwood.kernels",
    "RootedTreeKernel": "kernelwood.kernels",
    "SubtreeKernel": "kernelwood.kernels",
    "SubsetTreeKernel": "kernelwood.kernels",
    "PartialTreeKernel": "kernelwood.kernels",
    "ForestKernel": "kernelwood.kernels",
    "OnView": "kernelwood.kernels",
    "Normalized": "kernelwood.kernels",
    "Vectors": "kernelwood.vectors",
    "ForestParser": "kernelwood.parsing",
    "KernelHasher": "kernelwood.features",
    "NystromEmbedder": "kernelwood.features",
    "HashIndex": "kernelwood.features",
    "EmbeddingIndex": "kernelwood.features",
    "ReferenceSelector": "kernelwood.features",
    "GateLearner": "kernelwood.tuning",
    "HashForestClassifier": "kernelwood.learners",
    "HashNeighborsClassifier": "kernelwood.learners",
    "KernelNeighborsClassifier": "kernelwood.learners",
    "KernelSVC": "kernelwood.learners",
    "KernelNetworkClassifier": "kernelwood.learners",
    "KernelKMeans": "kernelwood.clustering",
    "SentenceIndex": "kernelwood.search",
    "RelationExtractor": "kernelwood.relations",
    "Dictionary": "kernelwood.extract",
    "find_duplicates": "kernelwood.search",
    "text_similarity": "kernelwood.search",
    "text_similarities": "kernelwood.search",
    "shared_fragments": "kernelwood.explain",
    "save": "kernelwood.persist",
    "load": "kernelwood.persist",
    "KernelwoodError": "kernelwood.errors",
    "StructureError": "kernelwood.errors",
    "ReadError": "kernelwood.errors",
    "KernelInputError": "kernelwood.errors",
    "KernelOverflowError": "kernelwood.errors",
    "MemoryBudgetError": "kernelwood.errors",
    "ModelFormatError": "kernelwood.errors",
}

# Public modules, loaded the same way.
_MODULES = ("similarity", "views", "evaluate", "information", "parsing", "relations", "tuning")

__all__ = [*_EXPORTS, *_MODULES, "__version__"]

logging.getLogger("kernelwood").addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"kernelwood.{name}")
    if name in _EXPORTS:
        value = getattr(importlib.import_module(_EXPORTS[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'kernelwood' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if TYPE_CHECKING:
    from kernelwood import evaluate as evaluate
    from kernelwood import information as information
    from kernelwood import parsing as parsing
    from kernelwood import relations as relations
    from kernelwood import similarity as similarity
    from kernelwood import tuning as tuning
    from kernelwood import views as views
    from kernelwood.arrays import (
        ExampleBatch as ExampleBatch,
    )
    from kernelwood.arrays import (
        ForestBatch as ForestBatch,
    )
    from kernelwood.arrays import (
        SequenceBatch as SequenceBatch,
    )
    from kernelwood.arrays import (
        TreeBatch as TreeBatch,
    )
    from kernelwood.arrays import (
        Vocabulary as Vocabulary,
    )
    from kernelwood.arrays import (
        batch as batch,
    )
    from kernelwood.clustering import (
        KernelKMeans as KernelKMeans,
    )
    from kernelwood.compute import (
        config_context as config_context,
    )
    from kernelwood.compute import (
        counting as counting,
    )
    from kernelwood.compute import (
        get_config as get_config,
    )
    from kernelwood.compute import (
        set_config as set_config,
    )
    from kernelwood.errors import (
        KernelInputError as KernelInputError,
    )
    from kernelwood.errors import (
        KernelOverflowError as KernelOverflowError,
    )
    from kernelwood.errors import (
        KernelwoodError as KernelwoodError,
    )
    from kernelwood.errors import (
        MemoryBudgetError as MemoryBudgetError,
    )
    from kernelwood.errors import (
        ModelFormatError as ModelFormatError,
    )
    from kernelwood.errors import (
        ReadError as ReadError,
    )
    from kernelwood.errors import (
        StructureError as StructureError,
    )
    from kernelwood.explain import (
        shared_fragments as shared_fragments,
    )
    from kernelwood.extract import (
        Dictionary as Dictionary,
    )
    from kernelwood.extract import (
        event_candidates as event_candidates,
    )
    from kernelwood.extract import (
        pair_candidates as pair_candidates,
    )
    from kernelwood.features import (
        EmbeddingIndex as EmbeddingIndex,
    )
    from kernelwood.features import (
        HashIndex as HashIndex,
    )
    from kernelwood.features import (
        KernelHasher as KernelHasher,
    )
    from kernelwood.features import (
        NystromEmbedder as NystromEmbedder,
    )
    from kernelwood.features import (
        ReferenceSelector as ReferenceSelector,
    )
    from kernelwood.io import (
        read as read,
    )
    from kernelwood.io import (
        write as write,
    )
    from kernelwood.kernels import (
        ForestKernel as ForestKernel,
    )
    from kernelwood.kernels import (
        Kernel as Kernel,
    )
    from kernelwood.kernels import (
        Normalized as Normalized,
    )
    from kernelwood.kernels import (
        OnView as OnView,
    )
    from kernelwood.kernels import (
        PartialTreeKernel as PartialTreeKernel,
    )
    from kernelwood.kernels import (
        RootedTreeKernel as RootedTreeKernel,
    )
    from kernelwood.kernels import (
        SubsequenceKernel as SubsequenceKernel,
    )
    from kernelwood.kernels import (
        SubsetTreeKernel as SubsetTreeKernel,
    )
    from kernelwood.kernels import (
        SubtreeKernel as SubtreeKernel,
    )
    from kernelwood.learners import (
        HashForestClassifier as HashForestClassifier,
    )
    from kernelwood.learners import (
        HashNeighborsClassifier as HashNeighborsClassifier,
    )
    from kernelwood.learners import (
        KernelNeighborsClassifier as KernelNeighborsClassifier,
    )
    from kernelwood.learners import (
        KernelNetworkClassifier as KernelNetworkClassifier,
    )
    from kernelwood.learners import (
        KernelSVC as KernelSVC,
    )
    from kernelwood.parsing import (
        ForestParser as ForestParser,
    )
    from kernelwood.persist import (
        load as load,
    )
    from kernelwood.persist import (
        save as save,
    )
    from kernelwood.relations import (
        RelationExtractor as RelationExtractor,
    )
    from kernelwood.search import (
        SentenceIndex as SentenceIndex,
    )
    from kernelwood.search import (
        find_duplicates as find_duplicates,
    )
    from kernelwood.search import (
        text_similarities as text_similarities,
    )
    from kernelwood.search import (
        text_similarity as text_similarity,
    )
    from kernelwood.structures import (
        Argument as Argument,
    )
    from kernelwood.structures import (
        Attribute as Attribute,
    )
    from kernelwood.structures import (
        Candidate as Candidate,
    )
    from kernelwood.structures import (
        Dependency as Dependency,
    )
    from kernelwood.structures import (
        Document as Document,
    )
    from kernelwood.structures import (
        Entity as Entity,
    )
    from kernelwood.structures import (
        Event as Event,
    )
    from kernelwood.structures import (
        Example as Example,
    )
    from kernelwood.structures import (
        Forest as Forest,
    )
    from kernelwood.structures import (
        Graph as Graph,
    )
    from kernelwood.structures import (
        Origin as Origin,
    )
    from kernelwood.structures import (
        Predicate as Predicate,
    )
    from kernelwood.structures import (
        Relation as Relation,
    )
    from kernelwood.structures import (
        RoleSpan as RoleSpan,
    )
    from kernelwood.structures import (
        Sentence as Sentence,
    )
    from kernelwood.structures import (
        Sequence as Sequence,
    )
    from kernelwood.structures import (
        Token as Token,
    )
    from kernelwood.structures import (
        Tree as Tree,
    )
    from kernelwood.tuning import (
        GateLearner as GateLearner,
    )
    from kernelwood.vectors import (
        Vectors as Vectors,
    )
