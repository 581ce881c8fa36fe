from __future__ import annotations

import gzip
import io
import os
from pathlib import Path

import pytest

import kernelwood as kw
from kernelwood.errors import ReadError, StructureError
from kernelwood.io import Format, iter_read, read, write, write_folder
from kernelwood.io.containers.folders import Folder
from kernelwood.io.formats import table

TREE = "(S (NP we) (VP go))\n"
LINE = "NUM |BT:tree| (A(B)) |ET|\n"


def fill(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def ids(examples):
    return [example.id for example in examples]


def test_a_folder_is_read_in_the_order_of_its_paths(tmp_path):
    fill(tmp_path, {"b.mrg": TREE, "a/z.mrg": TREE * 2, "a.klp": LINE})
    assert ids(read(tmp_path)) == ["a:1", "a/z:1", "a/z:2", "b:1"]


def test_origins_are_real_paths(tmp_path):
    fill(tmp_path, {"a/z.mrg": TREE})
    assert read(tmp_path)[0].origin.path == str(tmp_path / "a" / "z.mrg")


def test_files_that_differ_in_their_suffix_only_have_different_ids(tmp_path):
    fill(tmp_path, {"a.mrg": TREE, "a.klp": LINE, "b.mrg": TREE})
    assert ids(read(tmp_path)) == ["a.klp:1", "a.mrg:1", "b:1"]


def test_packed_files_are_read(tmp_path):
    fill(tmp_path, {"a/z.mrg.gz": gzip.compress(TREE.encode())})
    assert ids(read(tmp_path)) == ["a/z:1"]


def test_hidden_files_are_passed_over(tmp_path):
    fill(tmp_path, {".x.mrg": TREE, ".git/y.mrg": TREE, "a.mrg": TREE})
    assert (ids(read(tmp_path)), read(tmp_path).tally.ignored) == (["a:1"], ())


def test_unknown_files_are_ignored_and_listed(tmp_path):
    fill(tmp_path, {"a.mrg": TREE, "README": "(S x)", "b/notes.txt": "some words", "c.zip": "PK"})
    assert read(tmp_path).tally.ignored == ("README", "b/notes.txt", "c.zip")


def test_the_list_of_ignored_files_is_bounded(tmp_path):
    fill(tmp_path, {"a.mrg": TREE, **{f"{number}.jpg": "" for number in range(1100)}})
    assert len(read(tmp_path).tally.ignored) == 1000


@pytest.mark.parametrize("name", ["data.txt", "data.xml"])
def test_text_files_are_looked_into(tmp_path, name):
    fill(tmp_path, {name: TREE})
    assert ids(read(tmp_path)) == ["data:1"]


def test_a_text_file_that_fits_two_formats_is_an_error(tmp_path):
    fill(tmp_path, {"data.xml": "(x |BT:a| (A) |ET|\n", "a.mrg": TREE})
    (problem,) = read(tmp_path, errors="collect").tally.problems
    assert "may be penn or kelp" in problem.problem


def test_texts_without_annotation_are_listed(tmp_path):
    fill(tmp_path, {"a.txt": "Raf", "a.ann": "T1\tP 0 3\tRaf\n", "b.txt": "(a) Ras", "c.txt": ""})
    found = read(tmp_path)
    assert (ids(found), found.tally.ignored) == (["a"], ("b.txt", "c.txt"))
    assert len(kw.io.read_texts(tmp_path)) == 3


def test_a_folder_of_texts_lacks_annotation(tmp_path):
    fill(tmp_path, {"d1.txt": "Raf binds Ras.", "d2.txt": "(a) Ras"})
    with pytest.raises(ReadError, match=r"texts without \.ann beside them: it has d1.txt, d2.txt"):
        read(tmp_path)


def test_files_are_counted(tmp_path):
    fill(tmp_path, {"a.mrg": TREE, "b.mrg": "", "c.jpg": ""})
    assert read(tmp_path).tally.files == 2


def test_a_format_passes_over_files_of_other_formats(tmp_path):
    fill(tmp_path, {"a.mrg": TREE, "b.klp": LINE, "c.txt": TREE})
    examples = read(tmp_path, format="penn")
    assert (ids(examples), examples.tally.ignored) == (["a:1"], ("b.klp", "c.txt"))


def test_a_format_without_its_suffix_reads_files_nobody_claims(tmp_path):
    fill(tmp_path, {"a": TREE, "b.klp": LINE, "c.txt": TREE, "d.zip": "PK"})
    examples = read(tmp_path, format="penn")
    assert (ids(examples), examples.tally.ignored) == (["a:1", "c:1"], ("b.klp", "d.zip"))


@pytest.mark.parametrize(
    ("only", "found"),
    [
        ("*.mrg", ["a:1", "b/train/c:1"]),
        ("*/train/*", ["b/train/c:1"]),
        ("a.*", ["a:1", "a.klp:1"]),
    ],
)
def test_only_chooses_by_path(tmp_path, only, found):
    fill(tmp_path, {"a.mrg": TREE, "b/train/c.mrg": TREE, "a.klp": LINE})
    assert sorted(ids(read(tmp_path, only=only))) == sorted(
        "a.mrg:1" if only == "a.*" and name == "a:1" else name for name in found
    )


def test_files_that_only_leaves_out_are_not_listed(tmp_path):
    fill(tmp_path, {"a.mrg": TREE, "b.jpg": ""})
    assert read(tmp_path, only="a*").tally.ignored == ()


def test_only_that_fits_nothing_says_what_is_there(tmp_path):
    fill(tmp_path, {"a.mrg": TREE})
    with pytest.raises(
        ReadError, match=r"none of its 1 files matches only='\*\.klp'; it has a\.mrg"
    ):
        read(tmp_path, only="*.klp")


@pytest.mark.parametrize("errors", ["raise", "skip"])
def test_a_folder_without_readable_files_says_what_is_there(tmp_path, errors):
    fill(tmp_path, {"README": "words", "a.jpg": ""})
    with pytest.raises(ReadError, match=r"none of its 2 files can be read; it has README, a\.jpg"):
        read(tmp_path, errors=errors)


def test_an_empty_folder_is_an_error(tmp_path):
    with pytest.raises(ReadError, match="there are no files in it"):
        read(tmp_path)


def test_an_error_in_one_file_does_not_stop_the_others(tmp_path):
    packed = gzip.compress(TREE.encode())
    files = {"a.mrg": "(S", "b.klp": b"\xff\n", "c.mrg.gz": packed[:-9], "d.mrg.gz": "x"}
    fill(tmp_path, {**files, "e.mrg": TREE})
    examples = read(tmp_path, errors="collect")
    names = [Path(problem.path).name for problem in examples.tally.problems]
    assert (ids(examples)[-1], names) == ("e:1", list(files))


def test_an_error_in_one_file_is_raised_by_default(tmp_path):
    fill(tmp_path, {"a.mrg": "(S", "b.mrg": TREE})
    with pytest.raises(ReadError) as caught:
        read(tmp_path)
    assert (caught.value.path, caught.value.line) == (str(tmp_path / "a.mrg"), 1)


def test_a_reader_that_raises_does_not_stop_the_others(tmp_path, monkeypatch):
    def fail(source, views):
        yield kw.Example(source.stem)
        raise source.error("no way to go on")

    row = Format("odd", "", (".odd",), lambda head: False, fail)
    monkeypatch.setattr(table, "FORMATS", (row, *table.FORMATS))
    fill(tmp_path, {"a.odd": "", "b.odd": "", "c.mrg": TREE})
    examples = read(tmp_path, errors="skip")
    assert (ids(examples), examples.tally.skipped) == (["a", "b", "c:1"], 2)


def test_a_view_no_format_has_is_refused(tmp_path):
    fill(tmp_path, {"a.mrg": TREE})
    with pytest.raises(ValueError, match="the penn format has no view 'trees'"):
        read(tmp_path, views=["trees"])


def test_the_position_runs_to_the_size(tmp_path):
    fill(tmp_path, {"a.mrg": TREE, "b.mrg": TREE * 3, "c.jpg": "more"})
    stream = iter_read(tmp_path)
    next(stream)
    before = stream.position
    list(stream)
    assert (before, stream.position, stream.size) == (len(TREE), 4 * len(TREE), 4 * len(TREE))


def test_a_closed_stream_is_at_its_end(tmp_path):
    fill(tmp_path, {"a.mrg": TREE * 2})
    stream = iter_read(tmp_path)
    next(stream)
    stream.close()  # an open file would be a ResourceWarning, which is an error here
    assert list(stream) == []


def test_a_deep_folder_is_read(tmp_path):
    folder = tmp_path
    for _ in range(300):
        folder = folder / "d"
    folder.mkdir(parents=True)
    fill(folder, {"a.mrg": TREE})
    assert len(read(tmp_path)) == 1


@pytest.mark.skipif(os.name != "posix", reason="links and pipes are those of POSIX")
class TestPosix:
    def test_links_to_files_are_read(self, tmp_path):
        fill(tmp_path, {"a.mrg": TREE})
        (tmp_path / "b.mrg").symlink_to("a.mrg")
        assert ids(read(tmp_path)) == ["a:1", "b:1"]

    def test_links_to_folders_are_listed_and_not_followed(self, tmp_path):
        fill(tmp_path, {"a.mrg": TREE})
        (tmp_path / "loop").symlink_to(tmp_path)
        assert read(tmp_path).tally.ignored == ("loop",)

    def test_pipes_are_listed_and_not_opened(self, tmp_path):
        fill(tmp_path, {"a.mrg": TREE})
        os.mkfifo(tmp_path / "pipe.mrg")
        assert read(tmp_path).tally.ignored == ("pipe.mrg",)

    def test_a_file_that_vanished_costs_itself_only(self, tmp_path):
        fill(tmp_path, {"a.mrg": TREE, "b.mrg": TREE})
        stream = iter_read(tmp_path, errors="skip")
        (tmp_path / "a.mrg").unlink()
        assert (ids(stream), stream.tally.skipped) == (["b:1"], 1)


def read_notes(files, views):
    """A format of two files: a text and notes on it."""
    content = {suffix: source.stream.read().decode() for suffix, source in files.items()}
    source = next(iter(files.values()))
    yield kw.Example(source.stem, views={key.strip("."): text for key, text in content.items()})


def notes_files(examples):
    for example in examples:
        yield f"{example.id}.txt", example.view("txt")
        yield f"{example.id}.note", example.view("note")


@pytest.fixture
def notes(monkeypatch):
    row = Format(
        "notes", "", (".note",), lambda head: head.startswith("#"), read_notes,
        companions=(".txt", ".note", ".more"), write_files=notes_files,
    )  # fmt: skip
    rows = [row for row in table.FORMATS if not row.companions]
    monkeypatch.setattr(table, "FORMATS", (*rows, row))


@pytest.mark.usefixtures("notes")
class TestCompanions:
    def test_files_of_one_stem_are_read_together(self, tmp_path):
        fill(tmp_path, {"x/a.txt": "we go", "x/a.note": "# fine", "b.txt": "-", "x/b.note": "# b"})
        examples = read(tmp_path)
        assert [(e.id, dict(e.views)) for e in examples] == [
            ("x/a", {"txt": "we go", "note": "# fine"}),
            ("x/b", {"note": "# b"}),
        ]

    def test_a_text_of_no_group_is_looked_into(self, tmp_path):
        fill(tmp_path, {"a.txt": TREE, "b.note": ""})
        assert ids(read(tmp_path)) == ["a:1", "b"]

    def test_a_text_of_a_group_is_not_read_on_its_own(self, tmp_path):
        fill(tmp_path, {"a.txt": TREE, "a.note": ""})
        assert ids(read(tmp_path)) == ["a"]

    def test_a_text_alone_is_a_group_when_the_format_is_given(self, tmp_path):
        fill(tmp_path, {"a.txt": TREE, "c.mrg": TREE})
        examples = read(tmp_path, format="notes")
        assert (ids(examples), examples.tally.ignored) == (["a"], ("c.mrg",))

    def test_groups_belong_to_no_other_format(self, tmp_path):
        fill(tmp_path, {"a.txt": TREE, "a.note": "", "b": TREE})
        examples = read(tmp_path, format="penn")
        assert (ids(examples), examples.tally.ignored) == (["b:1"], ("a.note", "a.txt"))

    def test_packed_companions_are_read(self, tmp_path):
        fill(tmp_path, {"a.txt": "we", "a.note.gz": gzip.compress(b"# packed")})
        assert read(tmp_path)[0].view("note") == "# packed"

    def test_a_second_copy_of_a_companion_is_ignored(self, tmp_path):
        fill(tmp_path, {"a.note": "# plain", "a.note.gz": gzip.compress(b"# packed")})
        examples = read(tmp_path)
        assert (examples[0].view("note"), examples.tally.ignored) == ("# plain", ("a.note.gz",))

    def test_only_chooses_a_group_by_any_of_its_files(self, tmp_path):
        fill(tmp_path, {"a.txt": "we", "a.note": "", "b.txt": "-", "b.note": "", "b.more": ""})
        assert [sorted(e.views) for e in read(tmp_path, only="*.more")] == [["more", "note", "txt"]]

    def test_every_file_of_a_group_counts(self, tmp_path):
        fill(tmp_path, {"a.txt": "we", "a.note": ""})
        assert read(tmp_path).tally.files == 2

    @pytest.mark.parametrize("name", ["a.note", "a.txt"])
    def test_a_plain_path_finds_its_companions(self, tmp_path, name):
        fill(
            tmp_path,
            {"a.txt": "we", "a.note": "# n", "b.note": "", "a.more.gz": gzip.compress(b"m")},
        )
        (example,) = read(tmp_path / name, format="notes")
        assert (example.id, dict(example.views)) == ("a", {"txt": "we", "note": "# n", "more": "m"})

    def test_a_plain_path_needs_no_format_when_the_suffix_tells(self, tmp_path):
        fill(tmp_path, {"a.txt": "we", "a.note": "# n"})
        assert sorted(read(tmp_path / "a.note")[0].views) == ["note", "txt"]

    @pytest.mark.parametrize(("text", "view"), [(b"# n", "note"), (b"we", "txt")])
    def test_a_stream_is_one_of_the_files(self, text, view):
        assert list(read(io.BytesIO(text), format="notes")[0].views) == [view]

    def test_a_folder_is_written_and_read_back(self, tmp_path):
        examples = [kw.Example("x/a", views={"txt": "we", "note": "# n"})]
        write(examples, tmp_path / "out", format="notes")
        assert [dict(e.views) for e in read(tmp_path / "out")] == [dict(examples[0].views)]

    def test_an_interrupted_folder_leaves_nothing(self, tmp_path):
        def interrupted():
            yield kw.Example("a", views={"txt": "we", "note": "# n"})
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            write(interrupted(), tmp_path / "out", format="notes")
        assert list(tmp_path.iterdir()) == []

    def test_standard_output_is_no_folder(self):
        with pytest.raises(ValueError, match="give the name of a folder"):
            write([], "-", format="notes")


def test_a_folder_that_is_not_empty_is_refused(tmp_path):
    fill(tmp_path, {"out/a": "old"})
    with pytest.raises(FileExistsError, match="not empty; choose a new name"):
        write_folder(tmp_path / "out", [("b", "new")])
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a"]


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    fill(tmp_path, {"out": "old"})
    with pytest.raises(FileExistsError, match="this is a file"):
        write_folder(tmp_path / "out", [])


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "out").mkdir()
    write_folder(tmp_path / "out", [("a/b", "text")])
    assert (tmp_path / "out" / "a" / "b").read_text() == "text"


@pytest.mark.parametrize("name", ["../a", "/a", "a/../../b", "C:/a", "a\\b", "a\0b", "", "a//b"])
def test_names_that_are_not_safe_are_refused(tmp_path, name):
    with pytest.raises(StructureError, match="the file name"):
        write_folder(tmp_path / "out", [("good", ""), (name, "")])
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_comes_twice_is_refused(tmp_path):
    with pytest.raises(StructureError, match="would be written twice"):
        write_folder(tmp_path / "out", [("a", "1"), ("a", "2")])


def test_a_missing_folder_is_the_ordinary_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        Folder(tmp_path / "nowhere")
