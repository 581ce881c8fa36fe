"""Shards of plans."""

from kernelwood.io import Segment
from kernelwood.scale.plan import group_segments


def test_row_groups_of_a_parquet_table_are_shards_of_their_own():
    segments = [
        Segment("a.parquet", (), "a", "parquet", row, row + 10, 1, row, "0" * 64, row == 20)
        for row in (0, 10, 20)
    ]
    assert [len(shard.segments) for shard in group_segments(segments, 1000)] == [1, 1, 1]
    whole = [
        Segment(f"{name}.parquet", (), name, "parquet", 0, 300, 1, 0, "0" * 64, True)
        for name in "abcd"
    ]
    assert [len(shard.segments) for shard in group_segments(whole, 1000)] == [3, 1]
