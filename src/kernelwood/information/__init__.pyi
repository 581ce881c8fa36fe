from .explained import (
    Explained as Explained,
    Search as Search,
    entropy as entropy,
    explain as explain,
    random_start as random_start,
    total_correlation as total_correlation,
)
from .explained_classes import (
    ExplainedClasses as ExplainedClasses,
    explain_classes as explain_classes,
    mutual_information as mutual_information,
)
