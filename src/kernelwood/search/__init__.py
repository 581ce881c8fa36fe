"""What is like this: sentences found by structure, texts compared, duplicates found."""

from kernelwood.search.duplicates import Duplicates, find_duplicates
from kernelwood.search.match import Match
from kernelwood.search.sentence_index import SentenceIndex
from kernelwood.search.texts import text_similarities, text_similarity

__all__ = [
    "Duplicates",
    "Match",
    "SentenceIndex",
    "find_duplicates",
    "text_similarities",
    "text_similarity",
]
