"""Reading each format, and what is said about broken files."""

from __future__ import annotations

import contextlib
import gzip
import logging
import os
import threading

import numpy as np
import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.errors import KernelInputError, MemoryBudgetError, ReadError
from kernelwood.vectors import FORMATS, Vectors, vector_files

WORDS = ("cat", "straße", "q.e.d.")
MATRIX = np.array([[0.25, -1.5, 3], [1e-3, 0, 2], [-7, 8, 0.1]], dtype=np.float32)


def text(separator: str, end: str = "\n") -> bytes:
    rows = [
        separator.join([word, *map(repr, row.tolist())])
        for word, row in zip(WORDS, MATRIX, strict=True)
    ]
    return (end.join(rows) + end).encode()


def lemma_pos(header: str) -> bytes:
    rows = [
        f"{word}\t1.0\t0\t{','.join(map(repr, row.tolist()))}\n"
        for word, row in zip(WORDS, MATRIX, strict=True)
    ]
    return (header + "".join(rows)).encode()


def binary(end: bytes) -> bytes:
    rows = [
        word.encode() + b" " + row.astype("<f4").tobytes() + end
        for word, row in zip(WORDS, MATRIX, strict=True)
    ]
    return b"3 3\n" + b"".join(rows)


# Name -> (format, content): the same vectors in all of them.
SAMPLES = {
    "glove": ("glove", text(" ")),
    "glove with tabs": ("glove", text("\t")),
    "glove with windows line ends": ("glove", text(" ", "\r\n")),
    "glove with spaces at line ends": ("glove", text(" ", " \n")),
    "glove without a last line end": ("glove", text(" ").rstrip()),
    "glove with blank lines": ("glove", b"\n \n" + text(" ", "\n\n")),
    "glove with a byte order mark": ("glove", b"\xef\xbb\xbf" + text(" ")),
    "word2vec": ("word2vec", b"3 3\n" + text(" ")),
    "word2vec with windows line ends": ("word2vec", b"3 3\r\n" + text(" ", "\r\n")),
    "word2vec binary": ("word2vec-binary", binary(b"\n")),
    "word2vec binary without line feeds": ("word2vec-binary", binary(b"")),
    "lemma-pos": ("lemma-pos", lemma_pos("3 3\n")),
    "lemma-pos without a header": ("lemma-pos", lemma_pos("")),
}

every_sample = pytest.mark.parametrize("name", SAMPLES)


def load(path, **options):
    return Vectors.load(path, normalize=False, **options)


def problem(path, **options) -> ReadError:
    with pytest.raises(ReadError) as caught:
        Vectors.load(path, **options)
    assert caught.value.path == str(path)
    assert caught.value.hint
    return caught.value


@every_sample
def test_all_vectors_are_read(name, put):
    vectors = load(put(SAMPLES[name][1]))
    assert vectors.words == WORDS
    assert np.array_equal(vectors.matrix, MATRIX)


@every_sample
def test_compressed_files_are_read(name, put):
    vectors = load(put(gzip.compress(SAMPLES[name][1]), "no-suffix"))
    assert vectors == load(put(SAMPLES[name][1], "plain"))


@every_sample
def test_the_format_can_be_forced(name, put):
    form, content = SAMPLES[name]
    assert load(put(content), format=form).words == WORDS


@every_sample
def test_the_content_tells_the_format(name):
    form, content = SAMPLES[name]
    fitting = [row.name for row in FORMATS if row.sniff(content.lstrip(b"\xef\xbb\xbf"))]
    assert fitting[0] == form


@every_sample
@pytest.mark.parametrize("size", [1, 7, 64])
def test_it_does_not_matter_how_a_file_is_cut_into_pieces(name, size, put, monkeypatch):
    monkeypatch.setattr(vector_files, "CHUNK", size)
    assert np.array_equal(load(put(SAMPLES[name][1])).matrix, MATRIX)


def test_an_archive_is_read_as_it_was_saved(tmp_path):
    vectors = Vectors(WORDS, MATRIX)
    vectors.save(tmp_path / "saved.npz")
    assert Vectors.load(tmp_path / "saved.npz") == vectors


def test_an_archive_without_words_is_read_as_it_was_saved(tmp_path):
    vectors = Vectors([], np.empty((0, 3)))
    vectors.save(tmp_path / "saved.npz")
    assert Vectors.load(tmp_path / "saved.npz") == vectors


def test_saving_takes_the_name_as_it_is_and_leaves_nothing_else(tmp_path):
    Vectors(WORDS, MATRIX).save(tmp_path / "saved.vectors")
    assert [path.name for path in tmp_path.iterdir()] == ["saved.vectors"]


def test_a_failed_save_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "saved.npz"
    path.write_bytes(b"old")
    monkeypatch.setattr(np, "savez", lambda file, **_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Vectors(WORDS, MATRIX).save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["saved.npz"]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("words", [np.array(WORDS), np.array([w.encode() for w in WORDS])])
@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_archives_of_others_are_read(words, dtype, order, tmp_path):
    np.savez(tmp_path / "theirs.npz", words=words, matrix=np.array(MATRIX, dtype, order=order))
    assert np.array_equal(load(tmp_path / "theirs.npz").matrix, MATRIX)


def test_archives_with_objects_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", words=np.array(WORDS, dtype=object), matrix=MATRIX)
    assert "Python objects" in problem(tmp_path / "a.npz").problem


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"words": np.array(WORDS)}, "matrix.npy"),
        ({"words": np.array(WORDS), "matrix": MATRIX[:2]}, "3 words but 2 rows"),
        ({"words": np.array(WORDS), "matrix": MATRIX[0]}, "numbers in rows"),
        ({"words": MATRIX, "matrix": MATRIX}, "list of strings"),
        ({"words": np.array(WORDS), "matrix": np.full_like(MATRIX, np.inf)}, "not finite"),
        ({"words": np.array(["a", "", "b"]), "matrix": MATRIX}, "word 1 is empty"),
    ],
)
def test_archives_that_hold_something_else_are_refused(arrays, message, tmp_path):
    np.savez(tmp_path / "a.npz", **arrays)
    assert message in problem(tmp_path / "a.npz").problem


def test_an_archive_inside_gzip_is_refused(put, tmp_path):
    Vectors(WORDS, MATRIX).save(tmp_path / "a.npz")
    packed = put(gzip.compress((tmp_path / "a.npz").read_bytes()), "a.npz.gz")
    assert "from a plain file only" in problem(packed).problem


@pytest.mark.parametrize("place", range(0, 1000, 37))
def test_a_damaged_archive_is_refused_or_read(place, put, tmp_path):
    Vectors(WORDS, MATRIX).save(tmp_path / "a.npz")
    content = bytearray((tmp_path / "a.npz").read_bytes())
    content[place % len(content)] ^= 0xFF
    with contextlib.suppress(ReadError):
        Vectors.load(put(bytes(content)), format="npz")


def test_a_word_may_have_spaces(put):
    vectors = load(put("the 1 2 3\n. . . 4 5 6\nWorld War 2 7 8 9\n"))
    assert vectors.words == ("the", ". . .", "World War 2")
    assert vectors.matrix.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


def test_the_first_word_may_have_spaces(put):
    assert load(put(". . . 4 5 6\nthe 1 2 3\n")).words == (". . .", "the")


@pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\u0085", "\u2028", "\x0b", "\x1c"])
def test_only_ascii_spaces_and_tabs_separate(space, put):
    assert load(put(f"a{space}b 1 2\nc 3 4\n")).words == (f"a{space}b", "c")


def test_a_header_makes_lemma_pos_keys_with_spaces_readable(put):
    assert load(put("1 2\nNew York::n\t1.0\t0\t1,2\n")).words == ("New York::n",)


def test_the_first_of_repeated_words_counts_and_the_log_tells(put, caplog):
    with caplog.at_level(logging.WARNING, "kernelwood"):
        vectors = load(put("a 1\nb 2\na 3\nc 4\nb 5\n"))
    assert vectors.words == ("a", "b", "c")
    assert vectors.matrix.ravel().tolist() == [1, 2, 4]
    assert "ignored 2 vectors of repeated words" in caplog.text


def test_repeated_words_are_found_in_other_pieces_of_the_file(put, monkeypatch):
    monkeypatch.setattr(vector_files, "CHUNK", 5)
    assert load(put("a 1\nb 2\na 3\nc 4\n")).matrix.ravel().tolist() == [1, 2, 4]


def test_the_first_of_repeated_words_in_an_archive_counts(tmp_path):
    np.savez(tmp_path / "a.npz", words=np.array(["a", "b", "a"]), matrix=MATRIX)
    vectors = load(tmp_path / "a.npz")
    assert vectors.words == ("a", "b") and np.array_equal(vectors.matrix, MATRIX[:2])


def test_repeated_words_count_for_the_header(put):
    assert load(put("3 1\na 1\na 2\nb 3\n")).words == ("a", "b")


def test_zero_rows_are_found_in_every_piece(put, monkeypatch):
    monkeypatch.setattr(vector_files, "CHUNK", 8)
    vectors = Vectors.load(put("a 1 1\nb 0 0\nc 2 0\nd 0 -0.0\n"))
    assert vectors.rows(["a", "b", "c", "d"]).tolist() == [0, -1, 2, -1]


def test_rows_are_normalized_as_by_the_constructor(put):
    assert Vectors.load(put(text(" "))) == Vectors(WORDS, MATRIX)


def test_options_of_lookup_reach_the_vectors(put):
    assert Vectors.load(put("cat 1\n"), lowercase=True).row("CAT") == 0


BROKEN = {
    "empty": (b"", None, None, "the file is empty"),
    "blank": (b" \n\n", None, None, "the file is empty"),
    "prose": (b"Once upon a time\nthere was a file\n", None, None, "cannot be recognized"),
    "too few": (b"a 1 2\nb 3 4\n\nc 5\n", 4, 1, "a word and 2 numbers, found 2 fields"),
    "too many": (b"a 1.5 2.5\nb 1.5 2.5 3.5\n", 2, 1, "a word and 2 numbers, found 4 fields"),
    "no word": (b"a 1 2\n 1 2\n", 2, 1, "a word and 2 numbers, found 2 fields"),
    "not a number": (b"a 1 2\nb 1 2,5\n", 2, 5, "'2,5' is not a number"),
    "not a number in the first line": (b"a 1.5 x 2.5\n", 1, 7, "'x' is not a number"),
    "half an exponent": (b"a 1\nb 1e\n", 2, 3, "'1e' is not a number"),
    "hexadecimal": (b"a 1\nb 0x1p3\n", 2, 3, "'0x1p3' is not a number"),
    "nan": (b"a 1 2\nb nan 2\n", 2, 3, "'nan' is not a finite 32-bit number"),
    "infinite": (b"a 1 -Inf\n", 1, 5, "'-Inf' is not a finite 32-bit number"),
    "too large": (b"a 1 2\nb 1e39 2\n", 2, 3, "'1e39' is not a finite 32-bit number"),
    "bad encoding": (b"a 1 2\n\nb\xe9 1 2\n", 3, 2, "byte 0xe9 in a word is not valid UTF-8"),
    "header too large": (b"3 2\na 1 2\nb 1 2\n", None, None, "promises 3 vectors, but there are"),
    "header too small": (b"1 2\na 1 2\nb 1 2\n", None, None, "promises 1 vectors, but there are"),
    "header too wide": (b"2 3\na 1 2\nb 1 2\n", 2, 1, "a word and 3 numbers, found 3 fields"),
    "header of nothing": (b"0 3\n", 1, None, "promises no vectors"),
    "header without vectors": (b"3 3\n", 1, None, "too short for them"),
    "huge header": (b"999999999999 300\na 1\n", 1, None, "too short for them"),
    "lemma-pos too few": (b"a\t1\t0\t1,2\nb\t1\t0\t1\n", 2, 1, "2 numbers with commas after three"),
    "lemma-pos too many": (b"a\t1\t0\t1,2\nb\t1\t0\t1,2,3\n", 2, 1, "tabs, found 3"),
    "lemma-pos few tabs": (b"a\t1\t0\t1,2\nb\t1\t1,2\n", 2, 1, "tabs, found 0"),
    "lemma-pos no key": (b"a\t1\t0\t1,2\n\t1\t0\t1,2\n", 2, 1, "before the first tab is missing"),
    "lemma-pos no number": (b"a\t1\t0\t1,2\nb\t1\t0\t1,\n", 2, 9, "'' is not a number"),
    "lemma-pos nan": (b"2 2\na\t1\t0\t1,2\nb\t1\t0\tNaN,1\n", 3, 7, "'NaN' is not a finite"),
    "lemma-pos header": (b"2 2\na\t1\t0\t1,2\n", None, None, "2 vectors, but there are only 1"),
    "binary cut": (binary(b"\n")[:-9], None, None, "ends in vector 3 of 3"),
    "binary with more": (binary(b"") + b"x", None, None, "more data follows the last"),
    "binary nan": (
        b"2 1\na " + np.float32(1).tobytes() + b"b " + np.float32(np.nan).tobytes(),
        None,
        None,
        "vector 2 has a number that is not finite",
    ),
    "binary without a word": (
        b"2 1\na " + np.float32(1).tobytes() + b" " + np.float32(1).tobytes(),
        None,
        None,
        "no word where vector 2 should begin",
    ),
    "binary encoding": (b"1 1\n\xe9 \0\0\0\0", None, None, "0xe9 in a word is not valid UTF-8"),
    "gzip cut": (gzip.compress(text(" "))[:-9], None, None, "gzip data is damaged or cut off"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_said_with_its_place(name, put):
    content, line, column, message = BROKEN[name]
    error = problem(put(content))
    assert message in error.problem
    assert (error.line, error.column) == (line, column)


@pytest.mark.parametrize("name", [name for name in BROKEN if name != "gzip cut"])
def test_what_is_wrong_in_a_compressed_file_is_said_alike(name, put):
    content, line, column, message = BROKEN[name]
    error = problem(put(gzip.compress(content)))
    if name not in ("huge header", "header without vectors"):  # too short is not known for sure
        assert (error.line, error.column) == (line, column)
        assert message in error.problem


@pytest.mark.parametrize("size", [1, 9])
@pytest.mark.parametrize("name", [n for n in BROKEN if BROKEN[n][1] is not None])
def test_the_place_does_not_depend_on_how_a_file_is_cut_into_pieces(name, size, put, monkeypatch):
    monkeypatch.setattr(vector_files, "CHUNK", size)
    error = problem(put(BROKEN[name][0]))
    assert (error.line, error.column) == BROKEN[name][1:3]


@pytest.mark.parametrize("form", ["word2vec", "word2vec-binary"])
def test_a_missing_header_is_told(form, put):
    error = problem(put("a 1 2\n"), format=form)
    assert "expected a header" in error.problem and error.line == 1


def test_prose_read_as_vectors_is_told(put):
    error = problem(put("Once upon a time\n"), format="glove")
    assert (error.problem, error.line, error.column) == ("'upon' is not a number", 1, 6)


def test_raw_floats_without_a_word_end_are_told(put, monkeypatch):
    monkeypatch.setattr(vector_files, "CHUNK", 1 << 16)
    error = problem(put(b"2 2\n" + b"x" * 200_000), format="word2vec-binary")
    assert "no word where vector 1 should begin" in error.problem


def test_a_line_without_end_is_told(put, monkeypatch):
    monkeypatch.setattr(vector_files, "CHUNK", 1 << 16)
    error = problem(put("a 1\nb " + "1" * 1_500_000))
    assert "no end of the line" in error.problem and error.line == 2


def test_an_unknown_format_is_told_with_the_known_ones(put):
    with pytest.raises(KernelInputError, match=r"did you mean 'glove'\?.*word2vec-binary"):
        Vectors.load(put("a 1\n"), format="golve")


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        Vectors.load(tmp_path / "nowhere.txt")


def test_a_folder_is_an_os_error(tmp_path):
    with pytest.raises(OSError):
        Vectors.load(tmp_path)


@pytest.mark.parametrize("name", ["glove", "word2vec", "word2vec binary", "lemma-pos"])
def test_the_memory_budget_is_kept(name, put):
    with kw.config_context(memory=20), pytest.raises(MemoryBudgetError, match="word vectors of 3"):
        Vectors.load(put(SAMPLES[name][1]))


def test_the_memory_budget_is_kept_for_archives(tmp_path):
    Vectors(WORDS, MATRIX).save(tmp_path / "a.npz")
    with kw.config_context(memory=20), pytest.raises(MemoryBudgetError):
        Vectors.load(tmp_path / "a.npz")


def test_progress_counts_the_bytes_of_the_file(put, monkeypatch):
    monkeypatch.setattr(vector_files, "CHUNK", 10)
    seen = []
    path = put(text(" "))
    Vectors.load(path, progress=lambda *now: seen.append(now))
    total = path.stat().st_size
    assert seen[-1] == (total, total)
    assert seen == sorted(set(seen))


def test_progress_counts_the_compressed_bytes(put):
    seen = []
    path = put(gzip.compress(text(" ")))
    Vectors.load(path, progress=lambda *now: seen.append(now))
    assert seen[-1] == (path.stat().st_size,) * 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("name", ["glove", "word2vec", "word2vec binary"])
def test_a_pipe_is_read_like_a_file(name, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[SAMPLES[name][1]])
    writer.start()
    vectors = load(pipe, progress=lambda *_: None)
    writer.join()
    assert np.array_equal(vectors.matrix, MATRIX)


def test_progress_comes_from_the_settings(put):
    seen = []
    with kw.config_context(progress=lambda *now: seen.append(now)):
        Vectors.load(put(text(" ")))
    assert seen


def test_larger_files_than_a_piece_are_read_whole(put, monkeypatch):
    monkeypatch.setattr("kernelwood.vectors.vector_files.CHUNK", 1000)
    lines = [f"w{i} {i} {i / 7!r}" for i in range(3000)]
    vectors = load(put("\n".join(lines)))
    assert vectors.row("w2999") == 2999
    assert np.array_equal(vectors.matrix[:, 0], np.arange(3000, dtype=np.float32))


floats = st.floats(allow_nan=False, allow_infinity=False)
in_range = floats.filter(lambda value: abs(value) < 3.4e38)


@given(st.lists(in_range, min_size=1, max_size=50), st.sampled_from(["r", ".3e", ".20f", ".40e"]))
def test_numbers_are_rounded_as_numpy_does(tmp_path_factory, values, spelling):
    written = [repr(value) if spelling == "r" else format(value, spelling) for value in values]
    path = tmp_path_factory.mktemp("numbers") / "vectors.txt"
    path.write_text("".join(f"w{i} {number}\n" for i, number in enumerate(written)))
    found = load(path, format="glove").matrix.ravel()
    expected = np.array([float(number) for number in written]).astype(np.float32)
    assert found.view(np.uint32).tolist() == expected.view(np.uint32).tolist()


# Halves between neighboring floats, seen from both sides: what is hard to round.
@pytest.mark.parametrize("tail", ["", "0" * 800 + "1", "5", "e0", "0000e-1", "00e+1"])
@given(bits=st.integers(1, 0x7F7FFFFE))
def test_halves_between_floats_are_rounded_as_numpy_does(tmp_path_factory, tail, bits):
    low, high = np.array([bits, bits + 1], dtype=np.uint32).view(np.float32).astype(float)
    number = format((low + high) / 2, ".160f") + tail
    path = tmp_path_factory.mktemp("halves") / "vectors.txt"
    path.write_text(f"w {number}\n")
    with np.errstate(over="ignore"):
        expected = np.float32(float(number))
    if np.isinf(expected):
        assert "not a finite" in problem(path).problem
    else:
        assert load(path).matrix[0, 0] == expected


@pytest.mark.parametrize(
    ("written", "value"),
    [("+.5", 0.5), ("5.", 5), ("1E3", 1000), ("-0", -0.0), ("1e-400", 0), ("0e999999999999999", 0),
     ("0." + "0" * 5000 + "1e5001", 1), ("1" + "0" * 5000 + "e-5000", 1), ("1e-45", 1e-45),
     ("3.4028235677973362e38", 3.4028234663852886e38)],
)  # fmt: skip
def test_every_way_of_writing_a_number_is_read(written, value, put):
    found = load(put(f"w {written}\n")).matrix[0, 0]
    assert found == np.float32(value) and np.signbit(found) == np.signbit(value)


nearly = st.sampled_from(
    [b"a", b"1", b"2.5", b" ", b"\t", b"\n", b"\r", b",", b"2 2\n", b"nan", b"e", b"-", b".",
     b"\xc3", b"\0", b"PK", b"\x1f\x8b", b"\xef\xbb\xbf", b"::n\t1.0\t0\t"]
)  # fmt: skip


@given(st.binary(max_size=60) | st.lists(nearly, max_size=25).map(b"".join))
def test_any_bytes_are_vectors_or_a_read_error(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "vectors"
    path.write_bytes(content)
    for form in [None, *(row.name for row in FORMATS)]:
        try:
            vectors = Vectors.load(path, format=form)
        except ReadError as error:
            assert error.path == str(path)
        else:
            assert np.isfinite(vectors.matrix).all() and vectors.dim > 0
