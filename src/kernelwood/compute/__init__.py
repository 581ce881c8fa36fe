"""Which block next, on how many threads, within what memory."""

from kernelwood.compute.config import Config, config_context, get_config, resolve_jobs, set_config
from kernelwood.compute.counters import Counters, count_evaluations, counting
from kernelwood.compute.memory import check_budget, format_bytes
from kernelwood.compute.runner import Runner

__all__ = [
    "Config",
    "Counters",
    "Runner",
    "check_budget",
    "config_context",
    "count_evaluations",
    "counting",
    "format_bytes",
    "get_config",
    "resolve_jobs",
    "set_config",
]
