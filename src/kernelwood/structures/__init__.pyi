from .brackets import iter_brackets as iter_brackets, strip_empty_root as strip_empty_root
from .display import (
    FONT as FONT,
    GAP as GAP,
    LEAF as LEAF,
    LINE as LINE,
    MARGIN as MARGIN,
    MAX_LABEL as MAX_LABEL,
    PLATE_HEIGHT as PLATE_HEIGHT,
    draw_box as draw_box,
    draw_picture as draw_picture,
    escape as escape,
    text_width as text_width,
)
from .forest import Forest as Forest
from .forest_checks import HyperEdge as HyperEdge, check_integer as check_integer, show as show
from .forest_json import (
    check_list as check_list,
    check_object as check_object,
    decode_json as decode_json,
    describe as describe,
    encode_json as encode_json,
    forest_from_object as forest_from_object,
    forest_object as forest_object,
)
from .forest_packing import JOINT as JOINT, carve as carve, probable as probable
from .forest_weights import (
    ONE as ONE,
    Scaled as Scaled,
    divide as divide,
    scaled_marginals as scaled_marginals,
    scaled_product as scaled_product,
    to_float as to_float,
    total as total,
)
from .frozen import Frozen as Frozen
from .graph import Graph as Graph, NodeId as NodeId
from .labels import (
    check_label as check_label,
    one_line as one_line,
    share as share,
    shorten as shorten,
)
from .penman_notation import PenmanGraph as PenmanGraph, parse_penman as parse_penman
from .penman_writing import write_penman as write_penman
from .sequence import Sequence as Sequence
from .structure_json import (
    graph_from_object as graph_from_object,
    graph_object as graph_object,
    sequence_from_object as sequence_from_object,
    sequence_object as sequence_object,
    tree_from_object as tree_from_object,
)
from .tree import Tree as Tree, make_node as make_node
from .tree_words import (
    count_leaves as count_leaves,
    without_empty_elements as without_empty_elements,
    words_and_tags as words_and_tags,
)
