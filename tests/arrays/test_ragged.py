import numpy as np
import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.arrays import rises

_far = st.one_of(st.integers(-2, 9), st.sampled_from([2**63 - 1, 2**62, -(2**62), -(2**63)]))


@given(
    st.one_of(st.lists(_far, max_size=6), st.lists(st.integers(0, 5), max_size=6).map(sorted)),
    st.one_of(st.none(), st.integers(0, 9)),
    st.booleans(),
)
def test_values_rise_as_python_integers_do(values, most, strictly):
    expected = sorted(set(values) if strictly else values) == values
    expected &= all(0 <= value <= (2**63 if most is None else most) for value in values)
    assert rises(np.array(values, dtype=np.int64), most, strictly=strictly) == expected


@pytest.mark.parametrize(
    "values",
    [
        [0, 1],
        None,
        np.array([0, 1], dtype=np.int32),
        np.array([0, 1], dtype=np.uint64),
        np.array([0.0, 1.0]),
        np.array([[0, 1]], dtype=np.int64),
        np.array(0, dtype=np.int64),
    ],
)
def test_anything_but_a_flat_array_of_int64_does_not(values):
    assert not rises(values)


def test_offsets_whose_differences_overflow_are_refused():
    offsets, ids = np.array([0, 3, 2**63 - 1, -2, 12]), np.zeros(12, dtype=np.int32)
    assert (np.diff(offsets) > 0).all()  # as 64 bits have it
    with pytest.raises(
        kw.errors.StructureError, match="offsets must start at 0 or above and never fall"
    ):
        kw.arrays.SequenceBatch.from_arrays(
            offsets, ids, ids, vocabulary=kw.arrays.Vocabulary(["a"])
        )
