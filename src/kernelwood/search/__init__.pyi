from .duplicates import Duplicates as Duplicates, find_duplicates as find_duplicates
from .sentence_index import Match as Match, SentenceIndex as SentenceIndex
from .structure_inputs import (
    as_inputs as as_inputs,
    choose_view as choose_view,
    make_structures as make_structures,
    name_of as name_of,
    text_of as text_of,
)
from .text_comparison import (
    text_similarities as text_similarities,
    text_similarity as text_similarity,
)
