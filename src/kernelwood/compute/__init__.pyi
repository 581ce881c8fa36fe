from .blas import one_blas_thread as one_blas_thread, one_native_thread as one_native_thread
from .config import (
    Config as Config,
    Progress as Progress,
    budget as budget,
    check_budget as check_budget,
    config_context as config_context,
    format_bytes as format_bytes,
    get_config as get_config,
    parse_bytes as parse_bytes,
    resolve_jobs as resolve_jobs,
    set_config as set_config,
)
from .executor import (
    TASKS_A_WORKER as TASKS_A_WORKER,
    TaskResult as TaskResult,
    Warned as Warned,
    count_workers as count_workers,
    run_tasks as run_tasks,
    uses_executor as uses_executor,
    warn_again as warn_again,
)
from .large_matrices import allocate_matrix as allocate_matrix, map_matrix as map_matrix
from .runner import (
    Counters as Counters,
    Runner as Runner,
    StopFlag as StopFlag,
    count_evaluations as count_evaluations,
    counting as counting,
)
