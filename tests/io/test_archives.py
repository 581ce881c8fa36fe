from __future__ import annotations

import gzip
import io
import random
import tarfile
import tempfile
import zipfile
from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st

from kernelwood.errors import ReadError
from kernelwood.io import LimitError, Limits, iter_read, read
from kernelwood.io.containers import limits
from kernelwood.io.containers.tar import looks_like_tar

TREE = "(S (NP we) (VP go))\n"
LINE = "NUM |BT:tree| (A(B)) |ET|\n"
FILES = {"b/z.mrg": TREE * 2, "a.klp": LINE, "README": "words"}
FOUND = ["a:1", "b/z:1", "b/z:2"]


def zipped(files, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return out.getvalue()


def member(name, content="", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content.encode()


def tarred(members, mode="w", format=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=format) as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def tarred_files(files, mode="w"):
    return tarred([member(name, content) for name, content in files.items()], mode)


def ids(examples):
    return [example.id for example in examples]


ARCHIVES = {
    "zip": zipped(FILES.items()),
    "zip without compression": zipped(FILES.items(), zipfile.ZIP_STORED),
    "zip in gzip": gzip.compress(zipped(FILES.items())),
    **{f"tar {mode}": tarred_files(FILES, mode) for mode in ("w", "w:gz", "w:bz2", "w:xz")},
    "old tar": tarred([member(n, c) for n, c in FILES.items()], format=tarfile.USTAR_FORMAT),
}
every_archive = pytest.mark.parametrize("data", ARCHIVES.values(), ids=ARCHIVES)


@every_archive
def test_files_are_read_in_the_order_of_their_names(tmp_path, data):
    path = tmp_path / "corpus"  # the name says nothing
    path.write_bytes(data)
    assert ids(read(path)) == FOUND


@every_archive
def test_an_archive_may_come_from_a_stream(data):
    assert ids(read(io.BytesIO(data))) == FOUND


@every_archive
def test_an_archive_may_come_from_standard_input(monkeypatch, data):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert read("-")[0].origin.path == "<stdin>!a.klp"


@every_archive
def test_what_is_not_read_is_listed(data):
    assert read(io.BytesIO(data)).tally.ignored == ("README",)


@every_archive
def test_the_position_runs_to_the_size(data):
    stream = iter_read(io.BytesIO(data))
    list(stream)
    assert stream.position == stream.size == len(LINE) + 2 * len(TREE)


@every_archive
def test_a_cut_archive_is_an_error_or_complete(data):
    for cut in range(8, len(data), max(1, len(data) // 60)):
        try:
            examples = read(io.BytesIO(data[:cut]))
        except ReadError as problem:
            assert problem.path.startswith("<stream>")
        else:  # zeros behind the end mark of a tar archive
            assert ids(examples) == FOUND


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_a_packed_tar_without_its_last_byte_is_an_error(mode):
    with pytest.raises(ReadError, match="damaged or cut off"):
        read(io.BytesIO(tarred_files(FILES, mode)[:-1]))


@every_archive
def test_an_archive_can_be_closed_early(data):
    stream = iter_read(io.BytesIO(data))
    next(stream)
    stream.close()  # an open file would be a ResourceWarning, which is an error here
    assert list(stream) == []


@every_archive
@given(damage=st.data())
def test_damaged_archives_give_only_read_errors(data, damage):
    damaged = bytearray(data)
    for _ in range(damage.draw(st.integers(1, 3))):
        place = damage.draw(st.integers(4, len(data) - 1))
        damaged[place] = damage.draw(st.integers(0, 255))
    for errors in ("raise", "skip"):
        try:
            read(io.BytesIO(bytes(damaged)), errors=errors)
        except ReadError as problem:
            assert problem.path.startswith("<stream>")


@pytest.mark.parametrize("start", [b"PK\x03\x04", b"PK\x05\x06"])
def test_text_that_begins_like_a_zip_is_text(start):
    tally = read(io.BytesIO(start + LINE.encode() * 3), format="kelp", errors="skip").tally
    assert tally.read + tally.skipped == 3


@pytest.mark.parametrize("errors", ["raise", "skip"])
def test_a_zip_without_its_list_of_contents_is_an_error_whatever_the_policy(errors):
    with pytest.raises(ReadError, match="without its central directory"):
        read(io.BytesIO(ARCHIVES["zip"][:150]), errors=errors)


def test_names_in_messages_have_the_archive_first(tmp_path):
    path = tmp_path / "corpus.zip"
    path.write_bytes(zipped([("b/z.mrg", "(S\n")]))
    with pytest.raises(ReadError) as caught:
        read(path)
    assert caught.value.path == f"{path}!b/z.mrg"


def test_only_chooses_in_archives():
    assert ids(read(io.BytesIO(ARCHIVES["zip"]), only="b/*")) == ["b/z:1", "b/z:2"]


def test_packed_files_in_archives_are_read():
    data = zipped([("a.mrg.gz", gzip.compress(TREE.encode()))])
    assert ids(read(io.BytesIO(data))) == ["a:1"]


def test_archives_in_archives_are_listed():
    data = zipped([("a.mrg", TREE), ("b.zip", ARCHIVES["zip"]), ("c.tar.gz", b"")])
    assert read(io.BytesIO(data)).tally.ignored == ("b.zip", "c.tar.gz")


def test_hidden_files_are_passed_over():
    data = zipped([("a.mrg", TREE), ("__MACOSX/._a.mrg", "junk"), (".x.mrg", TREE)])
    assert (ids(read(io.BytesIO(data))), read(io.BytesIO(data)).tally.ignored) == (["a:1"], ())


@pytest.mark.parametrize("data", [zipped([]), zipped([("d/", "")])])
def test_an_archive_without_files_is_an_error(data):
    with pytest.raises(ReadError, match="there are no files in it"):
        read(io.BytesIO(data))


def test_an_archive_without_readable_files_says_what_is_there():
    with pytest.raises(ReadError, match="none of its 1 files can be read; it has README"):
        read(io.BytesIO(zipped([("README", "words")])))


def test_a_damaged_file_costs_itself_only():
    data = bytearray(zipped([("a.mrg", TREE), ("b.mrg", TREE)], zipfile.ZIP_STORED))
    data[data.index(b"(S")] = ord("[")
    examples = read(io.BytesIO(bytes(data)), errors="collect")
    assert (ids(examples), examples.tally.problems[0].path) == (["b:1"], "<stream>!a.mrg")


def test_what_precedes_the_damage_of_a_tar_can_be_kept():
    data = tarred_files({"a.mrg": TREE, "b.mrg": TREE * 500})
    examples = read(io.BytesIO(data[:3000]), errors="collect")
    assert ids(examples) == ["a:1"]
    assert "damaged or cut off" in examples.tally.problems[0].problem


def test_a_tar_that_ends_between_two_files_is_cut_off():
    data = tarred_files({"a.mrg": TREE, "b.mrg": TREE})
    with pytest.raises(ReadError, match="the end mark is missing"):
        read(io.BytesIO(data[:1024]))


def test_a_bad_header_is_no_end():
    data = bytearray(tarred_files({"a.mrg": TREE, "b.mrg": TREE}))
    data[1024 + 150] ^= 1  # the checksum of the second header
    with pytest.raises(ReadError, match="a header is not valid"):
        read(io.BytesIO(bytes(data)))


def test_the_copy_of_a_tar_is_deleted(monkeypatch):
    made = []
    make = tempfile.TemporaryFile

    def record(*arguments, **options):
        made.append(make(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", record)
    with pytest.raises(ReadError):
        read(io.BytesIO(tarred_files({"a.mrg": "(S"})))
    assert [file.closed for file in made] == [True]


UNSAFE = ["../a.mrg", "/a.mrg", "b/../../a.mrg", "C:/a.mrg", "b\\a.mrg", "b//a.mrg"]


@pytest.mark.parametrize("name", UNSAFE)
def test_unsafe_names_are_refused_in_a_zip(name):
    examples = read(io.BytesIO(zipped([(name, TREE), ("good.mrg", TREE)])), errors="skip")
    assert (ids(examples), examples.tally.skipped) == (["good:1"], 1)


@pytest.mark.parametrize("name", UNSAFE)
def test_unsafe_names_are_refused_in_a_tar(name):
    data = tarred([member(name, TREE), member("good.mrg", TREE)])
    examples = read(io.BytesIO(data), errors="skip")
    assert (ids(examples), examples.tally.skipped) == (["good:1"], 1)


def test_an_unsafe_name_is_raised_by_default():
    with pytest.raises(ReadError, match=r"the name '\.\./a\.mrg' leads out of the folder"):
        read(io.BytesIO(zipped([("../a.mrg", TREE), ("good.mrg", TREE)])))


def test_a_null_character_in_a_name_is_refused():
    data = zipped([("aXb.mrg", TREE), ("good.mrg", TREE)]).replace(b"aXb", b"a\0b")
    with pytest.raises(ReadError, match="has a null character"):
        read(io.BytesIO(data))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_comes_twice_in_a_zip_is_refused():
    data = zipped([("a.mrg", TREE), ("a.mrg", LINE), ("good.mrg", TREE)])
    assert ids(read(io.BytesIO(data), errors="skip")) == ["good:1"]


@pytest.mark.parametrize("times", [2, 3])
def test_a_name_that_comes_again_in_a_tar_is_refused(times):
    data = tarred([member("a.mrg", TREE)] * times + [member("good.mrg", TREE)])
    examples = read(io.BytesIO(data), errors="skip")
    assert (ids(examples), examples.tally.skipped) == (["good:1"], times - 1)


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_are_refused(kind):
    data = tarred([member("a.mrg", type=kind, linkname="good.mrg"), member("good.mrg", TREE)])
    with pytest.raises(ReadError, match="is a link, a device or the like"):
        read(io.BytesIO(data))


def test_names_that_begin_with_a_dot_and_a_slash_are_plain_names():
    assert ids(read(io.BytesIO(tarred_files({"./b/a.mrg": TREE})))) == ["b/a:1"]


def test_long_names_are_read():
    name = "/".join(["folder"] * 60)
    for format in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        data = tarred([member(f"{name}/a.mrg", TREE)], format=format)
        assert ids(read(io.BytesIO(data))) == [f"{name}/a:1"]


def test_an_encrypted_file_is_refused():
    data = bytearray(zipped([("a.mrg", TREE)]))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(ReadError, match="encrypted"):
        read(io.BytesIO(bytes(data)))


def test_a_rare_compression_is_refused():
    with pytest.raises(ReadError, match="method 14 is not supported"):
        read(io.BytesIO(zipped([("a.mrg", TREE)], zipfile.ZIP_LZMA)))


@pytest.mark.parametrize("data", [ARCHIVES["zip"], ARCHIVES["tar w:gz"]])
@pytest.mark.parametrize("errors", ["raise", "skip"])
def test_too_many_files_are_refused(data, errors):
    with pytest.raises(LimitError, match=r"more than 2 files(?s:.*)Limits\(members="):
        read(io.BytesIO(data), errors=errors, limits=Limits(members=2))


@pytest.mark.parametrize("name", ["zip", "zip without compression", "tar w:gz", "tar w:xz"])
@pytest.mark.parametrize("errors", ["raise", "skip"])
def test_the_unpacked_size_is_limited(name, errors):
    with pytest.raises(LimitError, match="total_size=60"):
        read(io.BytesIO(ARCHIVES[name]), errors=errors, limits=Limits(total_size=60))


def test_a_file_of_a_zip_that_grows_too_much_costs_itself_only(monkeypatch):
    monkeypatch.setattr(limits, "_FREE", 1 << 17)
    noise = random.Random(1).randbytes(20_000)
    data = zipped([("a.klp", "\n" * 400_000), ("b.mrg", TREE), ("noise.bin", noise)])
    examples = read(io.BytesIO(data), errors="collect")
    assert (ids(examples), examples.tally.problems[0].path) == (["b:1"], "<stream>!a.klp")


def test_files_that_share_their_bytes_are_counted_together(monkeypatch, tmp_path):
    monkeypatch.setattr(limits, "_FREE", 1 << 17)
    path = tmp_path / "bomb.zip"
    path.write_bytes(zipped([(f"{n}.klp", "\n" * 120_000) for n in range(8)]))
    with pytest.raises(LimitError, match="times as much"):
        read(path, errors="skip")


def test_a_tar_that_grows_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(limits, "_FREE", 1 << 17)
    data = tarred_files({"a.klp": "\n" * 400_000}, "w:gz")
    with pytest.raises(ReadError, match="more than 300 times"):
        read(io.BytesIO(data))


def test_headers_without_end_are_refused():
    info = tarfile.TarInfo("a.mrg")
    info.pax_headers = {"comment": "x" * 2_000_000}
    with pytest.raises(LimitError, match="headers of one file"):
        read(io.BytesIO(tarred([(info, b"")], "w:gz")))


def test_a_list_of_contents_that_fills_the_memory_is_refused():
    data = zipped([(f"{'n' * 900}{n}", "") for n in range(9)])
    with pytest.raises(LimitError, match="more than 20 files"):
        read(io.BytesIO(data), limits=Limits(members=20))


def test_many_members_take_linear_time():
    data = zipped([(f"{n:05}.mrg", TREE) for n in range(5000)])
    assert len(read(io.BytesIO(data))) == 5000


@given(data=st.binary(max_size=600))
def test_no_junk_makes_recognition_fail(data):
    assert looks_like_tar(data) in (True, False)
