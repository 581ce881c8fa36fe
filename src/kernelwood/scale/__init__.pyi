from .cluster import (
    ClusterError as ClusterError,
    check_cluster as check_cluster,
    open_cluster as open_cluster,
)
from .collections import extract_bag as extract_bag, extract_column as extract_column
from .index_folder import IndexFolder as IndexFolder
from .plan import Plan as Plan, PlanError as PlanError, Shard as Shard, open_plan as open_plan
from .planning import make_plan as make_plan
from .running import (
    MOST_SHARDS as MOST_SHARDS,
    Run as Run,
    Status as Status,
    collect as collect,
    remove_damaged as remove_damaged,
    run as run,
    run_shard as run_shard,
    status as status,
    verify as verify,
)
from .tasks import TASKS as TASKS, Task as Task
from .vector_files import (
    VECTOR_SUFFIXES as VECTOR_SUFFIXES,
    write_vector_file as write_vector_file,
)
