"""Lists of strings and arrays as bytes, and back."""

import io

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernelwood.persist import archive
from kernelwood.persist.archive import array_chunks, array_size, dump_text, load_text, read_array
from kernelwood.persist.state import NUMBER_TYPES

# Every character, lone surrogates and all that some program takes for a line end included.
_strings = st.text(st.characters(exclude_categories=()) | st.sampled_from('\n\r\x85\u2028\0"\\'))


def packed(array):
    return b"".join(array_chunks(array))


def unpacked(data):
    return read_array(io.BytesIO(data), len(data))


@given(st.lists(_strings))
def test_strings_come_back_as_they_were(strings):
    assert load_text(dump_text(strings)) == strings


@given(st.lists(_strings))
def test_every_string_has_one_line(strings):
    assert dump_text(strings).count(b"\n") == len(strings)


def test_text_can_be_read_by_people():
    assert dump_text(["né", "a\nb"]).decode("utf-8") == '"né"\n"a\\nb"\n'


@pytest.mark.parametrize(
    "data",
    [b'"a"', b"\n", b"a\n", b"1\n", b'"a""b"\n', b'"a" , "b"\n', b'"a\n"\n', b"[]\n", b'"\xff"\n'],
    ids=repr,
)
def test_other_text_is_refused(data):
    with pytest.raises(ValueError):
        load_text(data)


@pytest.mark.parametrize("dtype", NUMBER_TYPES)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3), (2, 0, 3), (1,) * 10], ids=str)
def test_arrays_come_back_as_they_were(dtype, shape):
    array = np.random.default_rng(0).integers(0, 100, size=shape).astype(dtype)
    again = unpacked(packed(array))
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(again, array)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4).T,
        np.arange(12)[::-3],
        np.arange(4, dtype=">i4"),
        np.asfortranarray(np.eye(3)),
    ],
    ids=["transposed", "strided", "big-endian", "fortran"],
)
def test_arrays_in_other_orders_are_put_in_order(array):
    again = unpacked(packed(array))
    np.testing.assert_array_equal(again, array)
    assert again.flags.c_contiguous and again.dtype.isnative


def test_bits_that_are_no_number_survive():
    array = np.array([np.nan, -np.nan, np.inf, -0.0, 5e-324])
    assert unpacked(packed(array)).tobytes() == array.tobytes()


def test_large_arrays_go_piece_by_piece(monkeypatch):
    monkeypatch.setattr(archive, "STEP", 64)
    array = np.arange(100.0)
    assert max(map(len, list(array_chunks(array))[1:])) <= 64
    np.testing.assert_array_equal(unpacked(packed(array)), array)


def test_numpy_reads_what_is_written():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(np.load(io.BytesIO(packed(array)), allow_pickle=False), array)


def test_the_size_is_known_before_anything_is_written():
    array = np.zeros((3, 5), dtype=np.int16)
    assert array_size(array) == len(packed(array))


def _saved_by_numpy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _with_header(header):
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


def _with_shape(shape):
    return _with_header(b"{'descr': '<f8', 'fortran_order': False, 'shape': (%b), }\n" % shape)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x93NUMPY",
        packed(np.zeros(3))[:-1],
        packed(np.zeros(3)) + b"\0",
        packed(np.zeros(3)).replace(b"(3,)", b"(4,)"),
        packed(np.zeros(3)).replace(b"NUMPY\x01", b"NUMPY\x02"),
        packed(np.zeros(3)).replace(b"<f8", b"|O8"),
        packed(np.zeros(3)).replace(b"False", b"True "),
        packed(np.array([True]))[:-1] + b"\x02",
        _saved_by_numpy(np.array([1j])),
        _saved_by_numpy(np.array(["text"])),
        _with_shape(b"0, " + b"9" * 40),
        _with_shape(b"0, " + b"9" * 18 + b", " + b"9" * 18),
        _with_shape(b"-1,"),
        _with_shape(b"0," * 99),
        _with_header(b"(" * 9000),
        _with_header(b"__import__('os').abort()"),
    ],
    ids=range(17),
)
def test_other_arrays_are_refused(data):
    with pytest.raises(ValueError):
        unpacked(data)
