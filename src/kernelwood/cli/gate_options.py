"""Options that say how gates are learned, and what they mean to the learner."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kernelwood.cli.kernels import learned_values

if TYPE_CHECKING:
    from kernelwood import Kernel

__all__ = ["learner_parameters", "method_options"]

F = TypeVar("F", bound=Callable[..., Any])

_POSITIVE = click.IntRange(min=1)
# Option -> parameter of the learner. Without an option the learner's default holds.
_NEIGHBORS = {
    "trials": "n_trials",
    "neighbors": "n_neighbors",
    "passes": "n_passes",
    "graph": "graph",
    "loss": "loss",
    "votes": "n_votes",
    "negative": "negative_label",
}
_INFORMATION = {
    "steps": "n_steps",
    "patience": "patience",
    "temperature": "temperature",
    "hash_method": "hash_method",
    "references": "n_references",
    "bits": "n_bits",
    "subset_size": "subset_size",
    "learn": "parameters",
    "search": "search",
}
_BOTH = {"samples": "n_samples", "runs": "n_runs", "seed": "random_state"}

_OPTIONS = (
    click.option(
        "--method", type=click.Choice(["neighbors", "information"]), default="neighbors",
        show_default=True,
        help="One label after the other by nearest neighbors, or a chain over all gates by what "
        "hashcodes tell of the classes.",
    ),
    click.option(
        "--share", type=click.FloatRange(0, 1, min_open=True), metavar="SHARE",
        help="Learn the gates of this share of the labels, the more frequent. Default: 0.5.",
    ),
    click.option("--top", type=_POSITIVE, metavar="N", help="Of the N most frequent labels."),
    click.option(
        "--gate", "gates", metavar="LABEL", multiple=True,
        help="Of this label. May be repeated.",
    ),
    click.option(
        "--samples", type=click.IntRange(min=2), metavar="N",
        help="Structures in a sample. Default: 100, with information 300.",
    ),
    click.option("--trials", type=_POSITIVE, metavar="N", help="Samples a label. Default: 10."),
    click.option(
        "--neighbors", type=_POSITIVE, metavar="N", help="Neighbors in the graph. Default: 4."
    ),
    click.option(
        "--passes", type=_POSITIVE, metavar="N", help="How often to go through labels. Default: 3."
    ),
    click.option(
        "--graph", type=click.Choice(["exact", "hashed"]),
        help="How neighbors are found: hashed is quicker. Default: exact.",
    ),
    click.option(
        "--loss", type=click.Choice(["votes", "paper"]),
        help="What is wrong with neighbors: the votes of several, or the nearest of another class. "
        "Default: votes.",
    ),
    click.option(
        "--votes", type=_POSITIVE, metavar="N", help="How many neighbors vote. Default: 8."
    ),
    click.option(
        "--by-document", is_flag=True, default=None,
        help="Let no neighbors of the same document count; documents are told by ids, or files.",
    ),
    click.option(
        "--negative", metavar="CLASS",
        help="With --loss paper, the class of no relation. Default: of two, the first.",
    ),
    click.option(
        "--steps", type=_POSITIVE, metavar="N",
        help="Length of the chain. Default: 20 a label, at least 200.",
    ),
    click.option(
        "--patience", type=_POSITIVE, metavar="N",
        help="Stop after so many steps without anything better.",
    ),
    click.option(
        "--temperature", type=click.FloatRange(0, min_open=True), metavar="T",
        help="The higher, the more often the chain gets worse. Default: 1.",
    ),
    click.option(
        "--hash-method", type=click.Choice(["rknn", "rmm", "kulis"]),
        help="How hashcodes are made. Default: rmm.",
    ),
    click.option(
        "--references", type=click.IntRange(min=2), metavar="N",
        help="References of hashcodes. Default: 100.",
    ),
    click.option("--bits", type=_POSITIVE, metavar="N", help="Bits of a hashcode. Default: 1000."),
    click.option(
        "--subset-size", type=_POSITIVE, metavar="N",
        help="References on either side of a bit. Default: 2.",
    ),
    click.option(
        "--learn", multiple=True, metavar="NAME=VALUE,...",
        help="Learn a parameter of the kernel too, such as decay=0.4,0.8. May be repeated.",
    ),
    click.option(
        "--search", type=click.Choice(["chain", "grid"]),
        help="How these are learned: along with the gates, or all of them first. Default: chain.",
    ),
    click.option(
        "--runs", type=_POSITIVE, metavar="N",
        help="Learn so many times with other random numbers; most runs decide. Default: 1.",
    ),
    click.option(
        "--seed", type=click.IntRange(0, 2**63 - 1), metavar="N", default=0, show_default=True,
        help="Where random numbers come from.",
    ),
)  # fmt: skip


def method_options(command: F) -> F:
    """Give a command the options that say how gates are learned."""
    return reduce(lambda inner, option: option(inner), reversed(_OPTIONS), command)


def learner_parameters(
    options: dict[str, Any], kernel: Kernel, labels: list[Any]
) -> dict[str, Any]:
    """Return the parameters of a learner that options ask for.

    Raises
    ------
    click.UsageError
        When options do not go together.
    """
    method = options["method"]
    known, other = (
        (_NEIGHBORS, _INFORMATION) if method == "neighbors" else (_INFORMATION, _NEIGHBORS)
    )
    for option in (*other, *(["by_document"] if method == "information" else [])):
        if options[option] not in (None, ()):
            flag = f"--{option.replace('_', '-')}"
            raise click.UsageError(f"{flag} is not for --method {method}")
    if options["negative"] is not None:
        options = {**options, "negative": _class_called(options["negative"], labels)}
    if options["learn"]:
        options = {**options, "learn": learned_values(options["learn"], kernel)}
    elif options["search"] is not None:
        raise click.UsageError("--search is about parameters; name some with --learn")
    asked = {
        parameter: options[option]
        for option, parameter in {**known, **_BOTH}.items()
        if options[option] not in (None, ())
    }
    return {"method": method, **_chosen_labels(options), **asked}


def _chosen_labels(options: dict[str, Any]) -> dict[str, Any]:
    given = [options[name] for name in ("share", "top") if options[name] is not None]
    if options["gates"]:
        given.append(list(options["gates"]))
    if len(given) > 1:
        raise click.UsageError("--share, --top and --gate exclude each other; give one of them")
    return {"labels": given[0]} if given else {}


def _class_called(name: str, labels: list[Any]) -> Any:
    """Return the class that is written like this; classes may be numbers."""
    for label in labels:
        if str(label) == name:
            return label
    known = ", ".join(sorted({str(label) for label in labels})[:20])
    raise click.UsageError(f"--negative {name} is none of the classes; these are {known}")
