from .bundled import (
    interactions_path as interactions_path,
    load_interactions as load_interactions,
    load_questions as load_questions,
)
from .locate import (
    DATA_VARIABLE as DATA_VARIABLE,
    find_data as find_data,
    require_data as require_data,
)
