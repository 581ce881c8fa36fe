from .duplicates import Duplicates as Duplicates, find_duplicates as find_duplicates
from .match import Match as Match
from .sentence_index import SentenceIndex as SentenceIndex
from .subjects import choose_view as choose_view, text_of as text_of
from .texts import text_similarities as text_similarities, text_similarity as text_similarity
