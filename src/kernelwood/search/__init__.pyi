from .duplicates import Duplicates as Duplicates, find_duplicates as find_duplicates
from .sentence_index import Match as Match, SentenceIndex as SentenceIndex
from .structure_inputs import choose_view as choose_view, text_of as text_of
from .text_comparison import (
    text_similarities as text_similarities,
    text_similarity as text_similarity,
)
