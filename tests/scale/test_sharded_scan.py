"""The scan of shards equals a sort of all rows, ties included."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernelwood.compute import runner
from kernelwood.scale import sharded_scan
from kernelwood.scale.sharded_scan import ShardedScan


def find_rising(queries, columns, k):
    return sort_all(abs(queries[:, None] - columns[0]), k, 1)


def find_falling(queries, columns, k):
    return sort_all(queries[:, None] * columns[0], k, -1)


def sort_all(scores, k, sign):
    order = np.argsort(sign * scores, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(scores, order, axis=1)


def by_definition(scores, k, rising):
    """Positions and scores by a plain sort."""
    rows = [sorted(((s if rising else -s), i) for i, s in enumerate(row))[:k] for row in scores]
    return [[i for _, i in row] for row in rows], [
        [s if rising else -s for s, _ in row] for row in rows
    ]


@st.composite
def problems(draw):
    shards = draw(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=9), min_size=1))
    queries = draw(st.lists(st.integers(0, 4), min_size=1, max_size=5))
    k = draw(st.integers(1, sum(map(len, shards))))
    return shards, queries, k


@pytest.mark.parametrize("rising", [True, False])
@given(problem=problems(), rows=st.integers(1, 8), jobs=st.integers(1, 3), at_once=st.booleans())
def test_the_result_is_that_of_one_sort(rising, problem, rows, jobs, at_once):
    shards, queries, k = problem
    columns = [np.array(shard, dtype=float) for shard in shards]
    find = find_rising if rising else find_falling
    scan = ShardedScan(
        find, lambda number: (columns[number],), [len(c) for c in columns], 1, rising=rising
    )
    asked = np.array(queries, dtype=float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharded_scan, "_ROWS_BYTES", rows)
        patch.setattr(runner, "_INLINE_COST", 0)  # always in threads
        if at_once:
            patch.setattr(sharded_scan, "_FOUND_AT_ONCE", 1)
        positions, scores = scan.nearest(asked, k, n_jobs=jobs)
    flat = np.concatenate(columns)
    table = abs(asked[:, None] - flat) if rising else asked[:, None] * flat
    wanted = by_definition(table.tolist(), k, rising)
    assert (positions.tolist(), scores.tolist()) == wanted


def test_blocks_have_at_most_the_stated_size(monkeypatch):
    monkeypatch.setattr(sharded_scan, "_ROWS_BYTES", 40)
    sizes = []

    def find(queries, columns, k):
        sizes.append(len(columns[0]))
        return find_rising(queries, columns, k)

    column = np.arange(100.0)
    ShardedScan(find, lambda number: (column,), [100], 8, rising=True).nearest(
        np.array([3.0]), 2, n_jobs=1
    )
    assert sizes == [5] * 20


def test_only_shards_with_rows_in_a_piece_are_mapped(monkeypatch):
    monkeypatch.setattr(runner, "_INLINE_COST", 0)
    mapped = []
    columns = [np.arange(4.0)] * 6

    def column(number):
        mapped.append(number)
        return (columns[number],)

    scan = ShardedScan(find_rising, column, [4] * 6, 8, rising=True)
    scan.nearest(np.array([0.0]), 1, n_jobs=1)
    assert mapped == list(range(6))
