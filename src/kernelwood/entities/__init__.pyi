from .dictionary import Dictionary as Dictionary
from .mentions import Mention as Mention
from .tagger import EntityTagger as EntityTagger
from .terms import harvest_terms as harvest_terms
