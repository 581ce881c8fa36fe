"""How is one structure rewritten as another? Pure functions from sentences to what kernels compare.

>>> import kernelwood as kw
>>> sentence = kw.Sentence.from_words(["We", "go"], dependencies=[(1, "nsubj", 0)])
>>> kw.views.loct(sentence)
Tree('(LEX##go LEX##we)')
>>> list(kw.views.VIEWS)[:4]
['words', 'tree', 'grct', 'lct']
"""

from __future__ import annotations

from kernelwood.views.amr import (
    entity_nodes,
    interaction_nodes,
    interaction_path,
    interaction_tree,
)
from kernelwood.views.constituents import (
    argument_path,
    argument_tree,
    constituent,
    entity_span,
    minimal_complete_tree,
    path_enclosed_tree,
)
from kernelwood.views.context import Context, Contexts, context
from kernelwood.views.dependency_trees import cgrct, clct, grct, lct, loct
from kernelwood.views.forests import (
    argument_forest,
    argument_path_forest,
    minimal_forest,
    path_enclosed_forest,
)
from kernelwood.views.names import entity_types, name_relation, names
from kernelwood.views.negation import Negations, negation
from kernelwood.views.path_steps import path_steps
from kernelwood.views.path_trees import PathTree, PathTrees, path_tree
from kernelwood.views.paths import DependencyPaths, Path, shortest_path
from kernelwood.views.stems import stem
from kernelwood.views.table import VIEWS, ViewRow, find_view, make_view
from kernelwood.views.triggers import head_token, trigger_path, trigger_tree
from kernelwood.views.words import words

__all__ = [
    "VIEWS",
    "Context",
    "Contexts",
    "DependencyPaths",
    "Negations",
    "Path",
    "PathTree",
    "PathTrees",
    "ViewRow",
    "argument_forest",
    "argument_path",
    "argument_path_forest",
    "argument_tree",
    "cgrct",
    "clct",
    "constituent",
    "context",
    "entity_nodes",
    "entity_span",
    "entity_types",
    "find_view",
    "grct",
    "head_token",
    "interaction_nodes",
    "interaction_path",
    "interaction_tree",
    "lct",
    "loct",
    "make_view",
    "minimal_complete_tree",
    "minimal_forest",
    "name_relation",
    "names",
    "negation",
    "path_enclosed_forest",
    "path_enclosed_tree",
    "path_steps",
    "path_tree",
    "shortest_path",
    "stem",
    "trigger_path",
    "trigger_tree",
    "words",
]
