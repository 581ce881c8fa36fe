from .brackets import iter_brackets as iter_brackets, strip_empty_root as strip_empty_root
from .forest import Forest as Forest, HyperEdge as HyperEdge
from .forest_algorithms import (
    JOINT as JOINT,
    ONE as ONE,
    Scaled as Scaled,
    carve as carve,
    divide as divide,
    probable as probable,
    scaled_marginals as scaled_marginals,
    scaled_product as scaled_product,
    to_float as to_float,
    total as total,
)
from .graph import Graph as Graph, NodeId as NodeId
from .penman_notation import (
    PenmanGraph as PenmanGraph,
    parse_penman as parse_penman,
    penman_graph_of as penman_graph_of,
    write_penman as write_penman,
)
from .pictures import (
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
from .sequence import Sequence as Sequence
from .structure_base import (
    Frozen as Frozen,
    check_integer as check_integer,
    check_label as check_label,
    one_line as one_line,
    share as share,
    shorten as shorten,
    show as show,
)
from .structure_json import (
    check_list as check_list,
    check_object as check_object,
    decode_json as decode_json,
    decode_json_at as decode_json_at,
    describe as describe,
    encode_json as encode_json,
    forest_from_object as forest_from_object,
    forest_object as forest_object,
    graph_from_object as graph_from_object,
    graph_object as graph_object,
    sequence_from_object as sequence_from_object,
    sequence_object as sequence_object,
    tree_from_object as tree_from_object,
)
from .tree import (
    Tree as Tree,
    count_leaves as count_leaves,
    make_node as make_node,
    without_empty_elements as without_empty_elements,
    words_and_tags as words_and_tags,
)
