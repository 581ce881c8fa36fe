from .fragments import (
    Fragment as Fragment,
    FragmentLine as FragmentLine,
    first_occurrence as first_occurrence,
    fragment_lines as fragment_lines,
    fragments_of_pairs as fragments_of_pairs,
    shared_fragments as shared_fragments,
)
from .pair_values import PairValues as PairValues
from .sequence_fragments import sequence_text as sequence_text
