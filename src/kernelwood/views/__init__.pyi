from .amr import (
    entity_nodes as entity_nodes,
    interaction_nodes as interaction_nodes,
    interaction_path as interaction_path,
    interaction_tree as interaction_tree,
)
from .constituents import (
    argument_path as argument_path,
    argument_tree as argument_tree,
    constituent as constituent,
    entity_span as entity_span,
    minimal_complete_tree as minimal_complete_tree,
    path_enclosed_tree as path_enclosed_tree,
)
from .contexts import Context as Context, Contexts as Contexts, context as context
from .dependency_trees import cgrct as cgrct, clct as clct, grct as grct, lct as lct, loct as loct
from .entity_names import (
    entity_types as entity_types,
    name_relation as name_relation,
    names as names,
)
from .forests import (
    argument_forest as argument_forest,
    argument_path_forest as argument_path_forest,
    minimal_forest as minimal_forest,
    path_enclosed_forest as path_enclosed_forest,
)
from .negations import Negations as Negations, negation as negation
from .path_trees import PathTree as PathTree, PathTrees as PathTrees, path_tree as path_tree
from .paths import DependencyPaths as DependencyPaths, Path as Path, shortest_path as shortest_path
from .stems import stem as stem
from .step_sequences import path_steps as path_steps
from .table import (
    VIEWS as VIEWS,
    ViewRow as ViewRow,
    find_view as find_view,
    make_view as make_view,
    view_maker as view_maker,
)
from .triggers import (
    head_token as head_token,
    trigger_path as trigger_path,
    trigger_tree as trigger_tree,
)
from .ways import several as several
from .word_sequences import words as words
