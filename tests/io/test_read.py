from __future__ import annotations

import bz2
import gc
import gzip
import io
import lzma
import pickle
import sys
from contextlib import suppress

import pytest

import kernelwood as kw
from kernelwood.errors import ReadError
from kernelwood.io import (
    Examples,
    Format,
    LimitError,
    Limits,
    Tally,
    iter_read,
    read,
)
from kernelwood.io.containers import limits
from kernelwood.io.formats import table
from kernelwood.io.source import Remark

TREES = "(S (NP we) (VP go))\n(S (NP they) (VP stay))\n"
LINES = "NUM |BT:tree| (A(B)) |ET|\n"


@pytest.fixture
def trees(tmp_path):
    path = tmp_path / "little.mrg"
    path.write_text(TREES)
    return path


def test_read_is_a_public_name(trees):
    assert len(kw.read(trees)) == 2


def test_a_path_may_be_a_string(trees):
    assert [example.id for example in read(str(trees))] == ["little:1", "little:2"]


def test_the_origin_is_path_and_line(trees):
    assert str(read(trees)[1].origin) == f"{trees}:2"


def test_the_stem_keeps_inner_dots(tmp_path):
    path = tmp_path / "part.one.klp.gz"
    path.write_bytes(gzip.compress(LINES.encode()))
    assert read(path)[0].id == "part.one:1"


def test_gzip_is_recognized_without_its_suffix(tmp_path):
    path = tmp_path / "little.mrg"
    path.write_bytes(gzip.compress(TREES.encode()))
    assert len(read(path)) == 2


def test_gzip_made_of_several_members_is_read_to_the_end(tmp_path):
    path = tmp_path / "little.mrg.gz"
    path.write_bytes(gzip.compress(TREES.encode()) * 2)
    assert len(read(path)) == 4


def test_a_gz_name_without_gzip_content_is_an_error(tmp_path):
    path = tmp_path / "little.mrg.gz"
    path.write_text(TREES)
    with pytest.raises(ReadError, match="not gzip data"):
        read(path)


def test_an_empty_gz_file_gives_no_examples(tmp_path):
    path = tmp_path / "little.mrg.gz"
    path.write_bytes(b"")
    assert read(path) == []


def test_truncated_gzip_is_an_error(tmp_path):
    path = tmp_path / "little.mrg.gz"
    path.write_bytes(gzip.compress(TREES.encode())[:-12])
    with pytest.raises(ReadError, match="damaged or cut off") as caught:
        read(path)
    assert caught.value.path == str(path)


def test_what_precedes_the_damage_of_gzip_data_can_be_kept(tmp_path):
    path = tmp_path / "little.klp.gz"
    path.write_bytes(gzip.compress((LINES * 5000).encode(), 0)[:-5000])
    tally = read(path, errors="skip").tally
    assert tally.read > 1000
    assert tally.skipped == 1


def test_corrupt_gzip_is_an_error(tmp_path):
    path = tmp_path / "little.mrg.gz"
    data = bytearray(gzip.compress(TREES.encode()))
    data[12] ^= 0xFF
    path.write_bytes(bytes(data))
    with pytest.raises(ReadError, match="damaged"):
        read(path)


@pytest.mark.parametrize("stream", [io.StringIO(TREES), io.BytesIO(TREES.encode())])
def test_streams_are_read_and_left_open(stream):
    assert len(read(stream)) == 2
    assert not stream.closed


def test_a_stream_that_unpacks_a_gz_file_is_read(tmp_path):
    path = tmp_path / "little.mrg.gz"
    path.write_bytes(gzip.compress(TREES.encode()))
    with gzip.open(path) as stream:
        assert [example.id for example in read(stream)] == ["little:1", "little:2"]


def test_an_open_file_gives_its_name(trees):
    with trees.open() as file:
        assert read(file)[0].id == "little:1"


def test_a_text_stream_in_the_wrong_encoding_is_an_error(tmp_path):
    path = tmp_path / "latin.mrg"
    path.write_bytes("(S é)".encode("latin-1"))
    with path.open(encoding="utf-8") as file, pytest.raises(ReadError, match="cannot be decoded"):
        read(file)


def test_a_lone_surrogate_in_a_text_stream_is_located():
    with pytest.raises(ReadError) as caught:
        read(io.StringIO("(S a)\n(S \udc80)"))
    assert (caught.value.line, caught.value.column) == (2, 4)


@pytest.mark.parametrize(
    "stdin", [io.StringIO(TREES), io.TextIOWrapper(io.BytesIO(TREES.encode()))]
)
def test_a_dash_is_standard_input(monkeypatch, stdin):
    monkeypatch.setattr(sys, "stdin", stdin)
    first = read("-")[0]
    assert (first.id, first.origin.path) == ("stdin:1", "<stdin>")


def test_something_that_is_no_path_is_a_type_error():
    with pytest.raises(TypeError, match="expected a path or an open stream, got int"):
        read(3)


def test_a_missing_file_is_the_ordinary_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nowhere.mrg")


def test_a_missing_file_is_reported_before_the_loop(tmp_path):
    with pytest.raises(FileNotFoundError):
        iter_read(tmp_path / "nowhere.mrg")


def test_invalid_utf8_names_line_column_and_byte(tmp_path):
    path = tmp_path / "bad.klp"
    path.write_bytes(LINES.encode() + "Ä |BS| ".encode() + b"\xe9t\xe9 |ES|\n")
    with pytest.raises(ReadError, match=f"byte 0xe9 at byte offset {len(LINES) + 8} ") as caught:
        read(path)
    assert (caught.value.line, caught.value.column) == (2, 8)


def test_byte_offsets_count_the_byte_order_mark():
    with pytest.raises(ReadError, match="byte offset 4 "):
        read(io.BytesIO(b"\xef\xbb\xbf(\xff)"), format="penn")


def test_only_line_feeds_end_lines():
    text = "|BS:a| one\x0btwo\u2028three\x85four\rfive |ES|\n"
    assert read(io.BytesIO(text.encode()))[0].views["a"] == text[7:-6]


def test_an_unknown_format_names_the_nearest(trees):
    with pytest.raises(ValueError, match=r"unknown format 'pen'; did you mean 'penn'\?"):
        read(trees, format="pen")


def test_the_suffix_decides_before_the_content(tmp_path):
    path = tmp_path / "strange.klp"
    path.write_text(TREES)
    with pytest.raises(ReadError, match="no representation"):
        read(path)


def test_the_format_argument_decides_before_the_suffix(tmp_path):
    path = tmp_path / "strange.klp"
    path.write_text(TREES)
    assert len(read(path, format="penn")) == 2


@pytest.mark.parametrize(("text", "view"), [(TREES, "tree"), (LINES, "tree")])
def test_the_content_decides_without_a_known_suffix(tmp_path, text, view):
    path = tmp_path / "data.txt"
    path.write_text("\n" + text)
    assert view in read(path)[0].views


def test_content_that_tells_nothing_lists_the_formats(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("some words\n")
    with pytest.raises(ReadError, match=r"cannot tell the format(?s:.*)penn(?s:.*)kelp") as caught:
        read(path)
    assert caught.value.path == str(path)


def test_content_that_fits_two_formats_asks(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("(x |BT:a| (A) |ET|\n")
    with pytest.raises(ReadError, match="may be penn or kelp"):
        read(path)


def test_an_empty_file_needs_no_format(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("\n")
    assert read(path) == []


def test_an_unknown_error_policy_is_refused(trees):
    with pytest.raises(ValueError, match="errors must be one of raise, skip, collect"):
        read(trees, errors="ignore")


def test_unwanted_views_are_left_out(trees):
    assert dict(read(trees, views=[])[0].views) == {}


def test_a_view_the_format_does_not_have_is_refused(trees):
    with pytest.raises(ValueError, match="no view 'trees'; it has tree"):
        read(trees, views=["trees"])


def test_the_file_is_closed_when_an_argument_is_refused(trees):
    # An open file would show as a ResourceWarning, which is an error here.
    with pytest.raises(ValueError, match="no view"):
        read(trees, views="trees")


def test_a_stream_counts_along(trees):
    with iter_read(trees) as stream:
        next(stream)
        assert stream.tally == Tally(read=1, files=1)


def test_a_closed_stream_is_at_its_end(trees):
    stream = iter_read(trees)
    stream.close()
    assert list(stream) == []


def test_an_exhausted_stream_stays_exhausted(trees):
    stream = iter_read(trees)
    assert len(list(stream)) == 2
    assert list(stream) == []


def test_a_stream_ends_after_the_error_it_raised():
    stream = iter_read(io.StringIO("(A\n)\n)\n(B c)\n"), format="penn")
    next(stream)
    with pytest.raises(ReadError):
        next(stream)
    assert list(stream) == []


def test_reasons_that_differ_in_names_only_count_together():
    text = "|BV:a| one:x |EV|\n|BV:a| two:y |EV|\n"
    assert list(read(io.StringIO(text), errors="skip").tally.reasons.values()) == [2]


def test_collected_problems_are_limited():
    tally = read(io.StringIO("x\n" * 1500), format="kelp", errors="collect").tally
    assert (tally.skipped, len(tally.problems)) == (1500, 1000)


def test_the_tally_shows_its_reasons():
    tally = read(io.StringIO("(A b)\n(C\n"), errors="skip").tally
    assert repr(tally) == "<Tally: 1 read, 1 skipped (1 × bracket is never closed)>"


def remarking(source, views):
    yield Remark("odd")
    yield Remark("odd")
    yield kw.Example("a")


@pytest.fixture
def remarks(monkeypatch, trees):
    row = Format("odd", "", (".mrg",), lambda head: False, remarking)
    monkeypatch.setattr(table, "FORMATS", (row,))
    return read(trees).tally


def test_remarks_are_counted(remarks):
    assert dict(remarks.remarks) == {"odd": 2}


def test_remarks_are_no_skipped_parts(remarks):
    assert (remarks.read, remarks.skipped) == (1, 0)


def test_the_tally_shows_remarks(remarks):
    assert repr(remarks) == "<Tally: 1 read, 0 skipped, 2 remarks (2 × odd)>"


def test_the_tally_shows_files_and_what_was_ignored():
    tally = Tally(read=3, files=2, ignored=("README",))
    assert repr(tally) == "<Tally: 3 read, 0 skipped, 2 files, 1 ignored>"


@pytest.mark.parametrize(("pack", "suffix"), [(bz2.compress, ".bz2"), (lzma.compress, ".xz")])
class TestOtherCompressions:
    def test_they_are_recognized(self, tmp_path, pack, suffix):
        path = tmp_path / f"little.mrg{suffix}"
        path.write_bytes(pack(TREES.encode()))
        assert [example.id for example in read(path)] == ["little:1", "little:2"]

    def test_several_streams_are_read_to_the_end(self, pack, suffix):
        assert len(read(io.BytesIO(pack(TREES.encode()) * 3))) == 6

    def test_large_files_are_read_whole(self, pack, suffix):
        assert len(read(io.BytesIO(pack(LINES.encode() * 30_000)), views=[])) == 30_000

    def test_a_cut_file_is_an_error(self, pack, suffix):
        with pytest.raises(ReadError, match="damaged or cut off"):
            read(io.BytesIO(pack(TREES.encode())[:-3]))

    def test_damage_is_an_error(self, pack, suffix):
        data = bytearray(pack(TREES.encode()))
        data[len(data) // 2] ^= 0xFF
        with pytest.raises(ReadError, match="damaged or cut off"):
            read(io.BytesIO(bytes(data)))

    def test_the_suffix_must_tell_the_truth(self, tmp_path, pack, suffix):
        path = tmp_path / f"little.mrg{suffix}"
        path.write_text(TREES)
        with pytest.raises(ReadError, match=f"the name ends in {suffix} but"):
            read(path)


def test_text_behind_many_blank_lines_is_not_passed_over():
    with pytest.raises(ReadError, match="cannot tell the format"):
        read(io.StringIO("\n" * 20_000 + TREES))


def test_text_that_begins_like_bzip2_is_text():
    assert read(io.StringIO("BZh9 |BT:tree| (A(B)) |ET|\n"))[0].label == "BZh9"


@pytest.fixture
def bomb(tmp_path):
    path = tmp_path / "bomb.klp.gz"
    path.write_bytes(gzip.compress((b" " * 999 + b"\n") * 3_000))
    return path


def test_a_small_honest_file_may_be_repetitive(tmp_path):
    path = tmp_path / "small.klp.gz"
    path.write_bytes(gzip.compress((b" " * 999 + b"\n") * 1000))
    assert read(path) == []


def test_data_that_grow_too_much_are_refused(monkeypatch, bomb):
    monkeypatch.setattr(limits, "_FREE", 1 << 20)
    with pytest.raises(ReadError, match=r"more than 300 times(?s:.*)limits=Limits\(ratio="):
        read(bomb)


def test_a_higher_ratio_can_be_allowed(monkeypatch, bomb):
    monkeypatch.setattr(limits, "_FREE", 1 << 20)
    assert read(bomb, limits=Limits(ratio=2000)) == []


@pytest.mark.parametrize("errors", ["raise", "skip", "collect"])
def test_too_much_data_is_an_error_whatever_the_policy(bomb, errors):
    with pytest.raises(LimitError, match=r"more than 976.6 KiB(?s:.*)total_size=1000000"):
        read(bomb, errors=errors, limits=Limits(total_size=1_000_000))


def test_the_total_size_is_that_of_unpacked_data_only(trees):
    assert len(read(trees, limits=Limits(total_size=1))) == 2


@pytest.mark.parametrize("value", [0, -1, "8 GB", True, None])
def test_a_limit_must_be_a_positive_number(value):
    with pytest.raises(ValueError, match="the limit line must be a positive number"):
        Limits(line=value)


def test_a_line_that_is_too_long_costs_itself_only():
    text = LINES + "NUM |BS:a| " + "x" * 200_000 + " |ES|\n" + LINES
    tally = read(io.StringIO(text), errors="collect", limits=Limits(line=1000)).tally
    assert (tally.read, [problem.line for problem in tally.problems]) == (2, [2])


def test_a_line_that_is_too_long_says_how_to_read_it():
    with pytest.raises(ReadError, match=r"longer than 20 bytes(?s:.*)limits=Limits\(line="):
        read(io.StringIO(LINES), limits=Limits(line=20))


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_the_line_end_does_not_count_as_the_line(end):
    line = LINES.rstrip("\n")
    assert len(read(io.StringIO(line + end), limits=Limits(line=len(line)))) == 1


def test_byte_offsets_are_right_after_a_long_line():
    data = b"x" * 500 + b"\n|BS| \xff |ES|\n"
    examples = read(io.BytesIO(data), "kelp", "collect", limits=Limits(line=100))
    assert "byte offset 506 " in examples.tally.problems[1].problem


def test_the_position_runs_to_the_size(trees):
    stream = iter_read(trees)
    list(stream)
    assert stream.position == stream.size == len(TREES)


def test_the_position_counts_packed_bytes(tmp_path):
    path = tmp_path / "little.mrg.gz"
    path.write_bytes(gzip.compress(TREES.encode()))
    stream = iter_read(path)
    list(stream)
    assert stream.position == stream.size == path.stat().st_size


def test_the_size_of_a_stream_is_not_known():
    assert iter_read(io.StringIO(TREES)).size is None


def test_only_is_refused_for_a_single_file(trees):
    with pytest.raises(ValueError, match="is a single file"):
        read(trees, only="*.mrg")


def test_examples_show_their_size(trees):
    assert repr(read(trees)) == "<Examples: 2, 0 skipped>"


def test_examples_survive_pickling_with_their_tally(trees):
    examples = read(trees)
    copy = pickle.loads(pickle.dumps(examples))
    assert (copy, copy.tally) == (examples, examples.tally)


def test_examples_made_by_hand_have_a_tally():
    assert Examples([kw.Example("a")]).tally.read == 1


@pytest.mark.parametrize("text", ["(S (NP we) (VP go))", "(S (NP we"])
@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_of_cycles_is_left_as_it_was(text, enabled):
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with suppress(ReadError):
            read(io.StringIO(text), format="penn")
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_a_slice_of_what_was_read_keeps_its_counts():
    examples = kw.read(io.StringIO("(S a)\n(S b)\n(S c)\n"), format="penn")
    some = examples[1:]
    assert type(some) is type(examples) and [one.id for one in some] == [e.id for e in examples][1:]
    assert some.tally is examples.tally
    assert examples[0].id == examples[:1][0].id
