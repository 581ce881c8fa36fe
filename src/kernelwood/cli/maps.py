"""Maps on the command line: examples as points of a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
import numpy as np

__all__ = ["map_option", "plot_option", "save_map"]

_MOST = 3000  # points; more take minutes, and are one blot
_SAMPLED = 7  # what the random numbers of a child generator are for
_SIZE = (8.5, 6.0)  # inches

plot_option = click.option(
    "--plot", metavar="FILE", help="Draw a map of the examples: .png, .svg or .pdf."
)
map_option = click.option(
    "--map", "map_method", type=click.Choice(["tsne", "pca"]), default="tsne", show_default=True,
    help="How to draw it: tsne keeps neighbors together, pca keeps distances and is quicker.",
)  # fmt: skip


def save_map(
    path: str,
    vectors: Any,
    groups: Sequence[Any] | None,
    *,
    method: str,
    seed: int,
    title: str,
    texts: Mapping[int, str] | None = None,
) -> None:
    """Draw vectors on a map, some of them if there are many."""
    from kernelwood.features import map_2d
    from kernelwood.figures import draw_map, save_figure

    named = dict(texts or {})
    shown = _some(len(vectors), list(named), seed)
    if len(shown) < len(vectors):
        click.echo(f"the map shows {len(shown):,} of {len(vectors):,} examples", err=True)
        title += f" ({len(shown):,} shown)"
    place = {int(number): position for position, number in enumerate(shown)}
    points = map_2d(vectors[shown], method, seed=seed)
    chosen = None if groups is None else [groups[number] for number in shown]
    written = {place[number]: text for number, text in named.items()}
    save_figure(lambda ax: draw_map(ax, points, chosen, title=title, texts=written), path, _SIZE)


def _some(n: int, wanted: list[int], seed: int) -> Any:
    """Return the numbers of the points to show, in order; those that are wanted are among them."""
    from kernelwood.seeds import child_generator

    if n <= _MOST:
        return np.arange(n)
    drawn = child_generator(seed, _SAMPLED).permutation(n)[:_MOST]
    return np.union1d(drawn, np.array(wanted, dtype=np.int64))
