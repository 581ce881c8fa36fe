"""Published tables: what each one shows, by which protocol, and the program that repeats it.

One module a table, named in `NAMES`, with a constant `TABLE`. Published figures are written here
and nowhere else; ours come from the JSON that the program prints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

PAPERS = {  # authors and year, title
    "hashcodes": (
        "Garg et al. 2019",
        "Kernelized hashcode representations for relation extraction (AAAI)",
    ),
    "nonstationary": (
        "Garg et al. 2018",
        "Stochastic learning of nonstationary kernels for natural language modeling",
    ),
    "embeddings": (
        "Croce, Filice and Basili 2018",
        "Evaluating kernel-based sentence embeddings",
    ),
    "forests": ("Zhang, Zhang and Li 2010", "Convolution kernel over packed parse forest (ACL)"),
    "": ("", "Comparisons of our own"),
}

NAMES: tuple[str, ...] = (
    "hashcodes_ppi",
    "events_hashcodes",
    "events_nonstationary",
    "gates_paths",
    "sentence_pairs",
    "question_clusters",
    "question_networks",
    "questions",
    "forest_roles",
    "forest_relations",
    "label_efficiency",
)  # of the modules beside this one, in the order of the page


@dataclass(frozen=True, slots=True)
class Row:
    """A figure beside the published one."""

    setting: str  # the row of the table: model, data
    measure: str  # with its unit, as "F1"
    ours: str
    published: str = ""
    headline: bool = False  # shown in the overview


@dataclass(frozen=True, slots=True)
class Table:
    """A published table and the command that repeats it."""

    name: str  # of the step, the stored file and the anchor
    paper: str  # a key of PAPERS
    number: str  # of the table in the paper
    topic: str
    program: str  # in benchmarks/papers, or one folder above with "../"
    arguments: tuple[str, ...]  # without --data and --json
    data: tuple[str, ...]  # files or folders of the data folder that it needs
    protocol: str  # how the figures are made, and where that differs from the paper
    rows: Callable[[Any], list[Row]]  # from the JSON of the program
    page: str = ""  # with more figures, in docs


def load_tables() -> list[Table]:
    """Return all tables, in the order of the page."""
    return [import_module(f"tables.{name}").TABLE for name in NAMES]
