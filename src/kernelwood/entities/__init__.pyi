from .dictionary import Dictionary as Dictionary
