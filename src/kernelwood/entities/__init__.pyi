from .dictionary import Dictionary as Dictionary
from .pieces import folded_name as folded_name
