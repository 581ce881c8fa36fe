from .abbreviations import (
    Abbreviation as Abbreviation,
    find_abbreviations as find_abbreviations,
    link_abbreviations as link_abbreviations,
)
from .annotated_texts import annotated_mentions as annotated_mentions
from .dictionary import Dictionary as Dictionary
from .finder import EntityFinder as EntityFinder
from .mentions import Mention as Mention
from .pieces import folded_name as folded_name
from .tagger import EntityTagger as EntityTagger
from .terms import harvest_terms as harvest_terms
