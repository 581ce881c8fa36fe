"""Ids that are used twice."""

from __future__ import annotations

import io

from hypothesis import given, strategies as st

from kernelwood.io import Source, UsedIds

SOURCE = Source(io.BytesIO(b""))


@given(st.lists(st.text(max_size=3), max_size=300))
def test_ids_are_found_again_with_the_line_of_their_first_use(names):
    used, lines = UsedIds(), {}
    for line, name in enumerate(names, start=1):
        problem = used.check(name, line, SOURCE)
        if name in lines:
            assert f"on line {lines[name]}" in problem.problem
            assert problem.line == line
        else:
            assert problem is None
            lines[name] = line


def test_many_ids_are_all_told_apart():
    used = UsedIds()
    assert all(used.check(f"s{n}", n, SOURCE) is None for n in range(50_000))
    assert all(used.check(f"s{n}", 0, SOURCE) is not None for n in range(0, 50_000, 997))
