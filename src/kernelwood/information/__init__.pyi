from .classes import ExplainedClasses as ExplainedClasses, explain_classes as explain_classes
from .estimates import (
    entropy as entropy,
    mutual_information as mutual_information,
    total_correlation as total_correlation,
)
from .explained import Explained as Explained, explain as explain
from .search import Search as Search
from .starts import random_start as random_start
