from .config import (
    Config as Config,
    Progress as Progress,
    config_context as config_context,
    get_config as get_config,
    resolve_jobs as resolve_jobs,
    set_config as set_config,
)
from .counters import (
    Counters as Counters,
    count_evaluations as count_evaluations,
    counting as counting,
)
from .memory import budget as budget, check_budget as check_budget, format_bytes as format_bytes
from .runner import Runner as Runner, StopFlag as StopFlag
