from .constituent_forests import (
    Readings as Readings,
    argument_forest as argument_forest,
    argument_path_forest as argument_path_forest,
    minimal_forest as minimal_forest,
    path_enclosed_forest as path_enclosed_forest,
)
from .constituents import (
    argument_path as argument_path,
    argument_tree as argument_tree,
    constituent as constituent,
    entity_span as entity_span,
    minimal_complete_tree as minimal_complete_tree,
    path_enclosed_tree as path_enclosed_tree,
)
from .dependency_paths import (
    DependencyPaths as DependencyPaths,
    Negations as Negations,
    Path as Path,
    PathTree as PathTree,
    PathTrees as PathTrees,
    negation as negation,
    path_steps as path_steps,
    path_tree as path_tree,
    shortest_path as shortest_path,
)
from .dependency_trees import cgrct as cgrct, clct as clct, grct as grct, lct as lct, loct as loct
from .entity_names import (
    EntityWords as EntityWords,
    entity_types as entity_types,
    name_relation as name_relation,
    names as names,
)
from .interaction_graphs import (
    entity_nodes as entity_nodes,
    head_token as head_token,
    interaction_nodes as interaction_nodes,
    interaction_path as interaction_path,
    interaction_tree as interaction_tree,
    several as several,
    trigger_path as trigger_path,
    trigger_tree as trigger_tree,
)
from .path_graphs import (
    PathGraph as PathGraph,
    PathGraphs as PathGraphs,
    all_paths_graph as all_paths_graph,
)
from .view_table import (
    VIEWS as VIEWS,
    ViewRow as ViewRow,
    find_view as find_view,
    make_view as make_view,
    view_maker as view_maker,
)
from .word_sequences import (
    Context as Context,
    Contexts as Contexts,
    context as context,
    stem as stem,
    words as words,
)
