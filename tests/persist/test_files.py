"""What is in a model file, and what happens to one that was damaged or changed."""

import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.errors import ModelFormatError
from kernelwood.persist import load, read_model, save, write_model
from kernelwood.persist.archive import _Unpacked
from kernelwood.similarity import Lexical, Table

VECTORS = kw.Vectors(["cat", "dog"], [[1, 2], [3, 4]])
TABLE = Table(["a", "b"], np.array([[1, 0.5], [0.5, 1]]))
KERNEL = kw.SubsequenceKernel(similarity=Lexical(VECTORS), gates={"a": 0.5}) + (
    kw.SubsequenceKernel(similarity=TABLE)
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The bytes of a small model."""
    path = tmp_path_factory.mktemp("saved") / "model.kw"
    save(KERNEL, path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def manifest(saved):
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        return json.loads(archive.read("manifest.json"))


def loads_the_same_or_is_refused(path, data):
    """Write bytes to a file; whether it is loaded. Anything but a clear refusal is an error."""
    path.write_bytes(data)
    try:
        model = load(path)
    except ModelFormatError as error:
        assert error.path == str(path)
        return False
    assert model == KERNEL
    return True


# What is in it.


def test_the_members_are_json_text_arrays_and_a_card(saved):
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        assert archive.namelist() == [
            "card.md",
            "parts/0/words.txt",
            "parts/0/matrix.npy",
            "parts/3/parameter-matrix.npy",
            "manifest.json",
        ]


def test_the_manifest_tells_format_version_and_model(manifest):
    about = {key: manifest[key] for key in ("format", "kernelwood", "kind", "model")}
    assert about == {
        "format": 1, "kernelwood": kw.__version__, "kind": "kernel", "model": "sum",
    }  # fmt: skip


def test_no_import_path_is_in_the_manifest(manifest):
    assert "kernelwood." not in json.dumps(manifest)


def test_arrays_can_be_read_by_numpy(saved):
    with np.load(io.BytesIO(saved), allow_pickle=False) as arrays:
        assert arrays["parts/0/matrix"].tobytes() == VECTORS.matrix.tobytes()


def test_the_card_tells_kind_parameters_and_version(saved):
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        card = archive.read("card.md").decode("utf-8")
    assert card.startswith("# sum (kernel)\n")
    assert f"kernelwood {kw.__version__}" in card
    assert "\n| decay | `0.8` |\n" in card and "\n| matrix | 2 × 2 numbers, float32 |\n" in card


def test_a_table_of_the_card_cannot_be_broken_by_a_label(tmp_path):
    save(kw.SubtreeKernel(gates={"a|b`c\n": 0.5}), tmp_path / "k.kw")
    with zipfile.ZipFile(tmp_path / "k.kw") as archive:
        card = archive.read("card.md").decode("utf-8")
    [line] = [line for line in card.split("\n") if line.startswith("| gates")]
    assert line.count("|") == 3 and line.count("`") == 2


def test_a_card_of_very_many_parts_is_short(tmp_path):
    kernel = kw.SubtreeKernel()
    for _ in range(200):
        kernel = kernel + kw.SubtreeKernel()
    save(kernel, tmp_path / "k.kw")
    with zipfile.ZipFile(tmp_path / "k.kw") as archive:
        card = archive.read("card.md").decode("utf-8")
    assert card.count("## Part") == 50 and "350 more parts" in card


def test_shared_vectors_are_in_the_file_once(tmp_path):
    one, other = (kw.SubsequenceKernel(similarity=Lexical(VECTORS, weight=w)) for w in (0.5, 1))
    save(one * other, tmp_path / "k.kw")
    with zipfile.ZipFile(tmp_path / "k.kw") as archive:
        assert sum(name.endswith("words.txt") for name in archive.namelist()) == 1


# How it is written.


def test_the_same_model_gives_the_same_bytes(saved, tmp_path, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 2e9)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1234567890")
    save(KERNEL, tmp_path / "again.kw")
    assert (tmp_path / "again.kw").read_bytes() == saved


def test_what_was_loaded_gives_the_same_bytes(saved, tmp_path):
    (tmp_path / "one.kw").write_bytes(saved)
    save(load(tmp_path / "one.kw"), tmp_path / "two.kw")
    assert (tmp_path / "two.kw").read_bytes() == saved


def test_a_file_that_is_there_stays_if_saving_fails(saved, tmp_path, monkeypatch):
    path = tmp_path / "model.kw"
    path.write_bytes(saved)

    def fail(manifest):
        raise OSError("disk full")

    monkeypatch.setattr("kernelwood.persist.files.write_manifest", fail)
    with pytest.raises(OSError, match="disk full"):
        save(kw.SubtreeKernel(), path)
    assert path.read_bytes() == saved and list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_there_is_replaced(tmp_path):
    path = tmp_path / "model.kw"
    save(KERNEL, path)
    save(kw.SubtreeKernel(), str(path))
    assert load(str(path)) == kw.SubtreeKernel()


def test_a_link_keeps_pointing_to_its_file(tmp_path):
    target, link = tmp_path / "target.kw", tmp_path / "link.kw"
    target.touch()
    link.symlink_to(target)
    save(KERNEL, link)
    assert link.is_symlink() and load(target) == KERNEL


def test_a_folder_is_refused_as_a_file(tmp_path):
    with pytest.raises(ModelFormatError, match="folder or a device"):
        save(KERNEL, tmp_path)


def test_too_many_parameters_are_refused_when_saving(tmp_path, monkeypatch):
    monkeypatch.setattr("kernelwood.persist.files._LARGEST_MANIFEST", 2000)
    with pytest.raises(ModelFormatError, match="too large"):
        save(kw.SubtreeKernel(gates={f"label{i}": 0.5 for i in range(200)}), tmp_path / "k.kw")
    assert list(tmp_path.iterdir()) == []


# Damage.


# Every byte, which takes a minute, or some of them.
steps = pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])


@steps
@pytest.mark.parametrize("flip", [*(1 << bit for bit in range(8)), 0xFF], ids=hex)
def test_a_flipped_byte_is_noticed_or_does_not_matter(flip, step, saved, tmp_path):
    path = tmp_path / "damaged.kw"
    loaded = 0
    for place in range(flip % step, len(saved), step):
        damaged = bytearray(saved)
        damaged[place] ^= flip
        loaded += loads_the_same_or_is_refused(path, bytes(damaged))
    assert loaded < len(saved) / step / 2


@steps
def test_a_truncated_file_is_refused(step, saved, tmp_path):
    path = tmp_path / "cut.kw"
    assert not any(
        loads_the_same_or_is_refused(path, saved[:length]) for length in range(0, len(saved), step)
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\3\4 and the rest is missing", "the end of the file is missing\n.*cut or damaged"),
        (b"", "the file is empty"),
        (b"\x80\4]\x94.", "not a model file but a pickle, which is never loaded"),
        (b"hello", "this is not a model file\n.*kernelwood.save"),
    ],
)
def test_files_that_are_no_archives_are_told_apart(content, message, tmp_path):
    path = tmp_path / "model.kw"
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=message):
        load(path)


def test_a_path_in_place_of_the_model_is_noticed(tmp_path):
    with pytest.raises(ModelFormatError, match="give the model first"):
        save(str(tmp_path / "kernel.kw"), kw.SubsetTreeKernel())


@pytest.mark.parametrize(
    ("model", "argument"),
    [(kw.RelationExtractor(), "documents"), (kw.KernelSVC(kw.SubsetTreeKernel()), "X, y")],
)
def test_a_model_that_is_not_fitted_says_what_fit_needs(model, argument, tmp_path):
    with pytest.raises(ModelFormatError, match=rf"fit it first: model\.fit\({argument}\)"):
        save(model, tmp_path / "model.kw")


@given(data=st.data())
def test_any_edit_is_noticed_or_does_not_matter(data, saved, tmp_path_factory):
    places = st.integers(0, len(saved))
    begin, end = sorted((data.draw(places), data.draw(places)))
    middle = data.draw(st.binary(max_size=8))
    path = tmp_path_factory.getbasetemp() / "edited.kw"
    loads_the_same_or_is_refused(path, saved[:begin] + middle + saved[end:])


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip file", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_model_file_is_refused(content, tmp_path):
    path = tmp_path / "other.kw"
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=r"other\.kw: "):
        load(path)


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing.kw")


# Changes.


def test_a_wrong_checksum_names_the_member(forge):
    def change(manifest, members):
        members["parts/0/words.txt"] = members["parts/0/words.txt"].replace(b"cat", b"cow")

    path = forge(KERNEL, change, checksums=False)
    with pytest.raises(ModelFormatError, match=r"forged\.kw: parts/0/words\.txt: .*checksum"):
        load(path)


def test_a_changed_card_is_noticed(forge):
    def change(manifest, members):
        members["card.md"] = members["card.md"].replace(b"saved", b"taken")

    with pytest.raises(ModelFormatError, match=r"card\.md: .*checksum"):
        load(forge(KERNEL, change, checksums=False))


def test_a_newer_format_asks_for_an_upgrade(forge):
    def change(manifest, members):
        manifest.update(format=2, kernelwood="9.1.0", novelty=[])
        members["novel.bin"] = b""

    with pytest.raises(ModelFormatError, match=r"format 2, saved by kernelwood 9\.1\.0") as caught:
        load(forge(KERNEL, change))
    assert caught.value.member == "manifest.json" and "pip install --upgrade" in caught.value.hint


@pytest.mark.parametrize("number", [0, -1, True, "1", 1.0, None])
def test_a_format_that_never_was_is_refused(number, forge):
    with pytest.raises(ModelFormatError, match="format number is missing"):
        load(forge(KERNEL, lambda manifest, members: manifest.update(format=number)))


@pytest.mark.parametrize("name", ["extra.npy", "../evil.txt", "folder/", "parts/0/words.npy"])
def test_a_member_that_nobody_named_is_refused(name, forge):
    def change(manifest, members):
        members[name] = b""

    with pytest.raises(ModelFormatError, match="not in the manifest") as caught:
        load(forge(KERNEL, change, checksums=False))
    assert caught.value.member == name


def test_a_member_that_only_the_list_of_members_names_is_refused(forge):
    def change(manifest, members):
        members["extra.npy"] = b""

    with pytest.raises(ModelFormatError, match=r"extra\.npy"):
        load(forge(KERNEL, change))


def test_a_missing_member_is_refused(forge):
    def change(manifest, members):
        del members["parts/0/matrix.npy"]

    with pytest.raises(ModelFormatError, match=r"parts/0/matrix\.npy: the member is missing"):
        load(forge(KERNEL, change, checksums=False))


def test_an_archive_without_a_manifest_is_refused(tmp_path):
    np.savez(tmp_path / "arrays.npz", a=np.zeros(3))
    with pytest.raises(ModelFormatError, match=r"manifest\.json: the member is missing"):
        load(tmp_path / "arrays.npz")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_refused(saved, tmp_path):
    path = tmp_path / "twice.kw"
    path.write_bytes(saved)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("card.md", b"another")
    with pytest.raises(ModelFormatError, match=r"card\.md: two members"):
        load(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compression_is_refused(method, saved, tmp_path):
    path = tmp_path / "packed.kw"
    with zipfile.ZipFile(io.BytesIO(saved)) as old, zipfile.ZipFile(path, "w", method) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    with pytest.raises(ModelFormatError, match="unknown compression method"):
        load(path)


def test_stored_members_are_as_good_as_deflated_ones(saved, tmp_path):
    path = tmp_path / "unpacked.kw"
    with zipfile.ZipFile(io.BytesIO(saved)) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    assert load(path) == KERNEL


def test_files_whose_headers_were_written_last_are_as_good(tmp_path):
    class Pipe(io.RawIOBase):
        """A file that cannot be rewound."""

        def __init__(self):
            self.content = b""

        def writable(self):
            return True

        def seekable(self):
            return False

        def write(self, data):
            self.content += bytes(data)
            return len(data)

    pipe = Pipe()
    write_model(KERNEL, pipe)
    assert read_model(io.BytesIO(pipe.content)) == KERNEL


def _directory(saved):
    """Return where the directory of members begins, and the offsets of its entries."""
    start = int.from_bytes(saved[-6:-2], "little")
    entries, place = [], start
    while saved[place : place + 4] == b"PK\x01\x02":
        entries.append(place)
        lengths = [int.from_bytes(saved[place + i : place + i + 2], "little") for i in (28, 30, 32)]
        place += 46 + sum(lengths)
    return start, entries


def _moved(saved, by, first=0):
    """Return the directory of a file with the offsets of members moved."""
    start, entries = _directory(saved)
    changed = bytearray(saved)
    for entry in entries[first:]:
        offset = int.from_bytes(saved[entry + 42 : entry + 46], "little") + by
        changed[entry + 42 : entry + 46] = offset.to_bytes(4, "little")
    changed[-6:-2] = (start + by).to_bytes(4, "little")
    return bytes(changed)


def _with_gap(saved):
    gap, entry = b"hidden", _directory(saved)[1][1]
    place = int.from_bytes(saved[entry + 42 : entry + 46], "little")
    moved = _moved(saved, len(gap), first=1)
    return moved[:place] + gap + moved[place:]


def _before_directory(saved):
    start, _ = _directory(saved)
    moved = _moved(saved, 6, first=len(saved))
    return moved[:start] + b"hidden" + moved[start:]


def _overlapping(saved):
    """Let two members have the same content."""
    _, entries = _directory(saved)
    changed = bytearray(saved)
    changed[entries[1] + 42 : entries[1] + 46] = saved[entries[0] + 42 : entries[0] + 46]
    return bytes(changed)


def _other_header(place, value):
    def change(saved):
        changed = bytearray(saved)
        changed[place : place + len(value)] = value
        return bytes(changed)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_with_gap, "overlaps with another, or there is a gap"),
        (_overlapping, "overlaps with another, or there is a gap"),
        (lambda saved: b"hidden" + saved, "overlaps with another, or there is a gap"),
        (lambda saved: b"hidden" + _moved(saved, 6), "overlaps with another, or there is a gap"),
        (_before_directory, "before or behind the directory"),
        (lambda saved: saved + b"hidden", "before or behind the directory"),
        (lambda saved: saved[:-2] + b"\x06\0hidden", "before or behind the directory"),
        (_other_header(6, b"\x01\0"), "header differs"),
        (_other_header(8, b"\0\0"), "header differs"),
        (_other_header(14, b"\0\0\0\0"), "header differs"),
        (_other_header(18, b"\1\0\0\0"), "header differs"),
        (_other_header(22, b"\1\0\0\0"), "header differs"),
        (_other_header(30, b"C"), "header differs"),
    ],
)
def test_bytes_that_belong_to_no_member_or_two_are_refused(change, message, saved, tmp_path):
    path = tmp_path / "layout.kw"
    path.write_bytes(change(saved))
    with pytest.raises(ModelFormatError, match=message):
        load(path)


@pytest.mark.parametrize("more", [-1, 1])
def test_a_member_that_does_not_have_its_stated_size_is_refused(more, saved, tmp_path):
    changed = bytearray(saved)
    _, entries = _directory(saved)
    for place in (22, entries[0] + 24):  # the size of the card, in its header and the directory
        size = int.from_bytes(saved[place : place + 4], "little") + more
        changed[place : place + 4] = size.to_bytes(4, "little")
    path = tmp_path / "size.kw"
    path.write_bytes(bytes(changed))
    with pytest.raises(ModelFormatError, match=r"card\.md: the size is"):
        load(path)


@pytest.mark.parametrize(("more", "message"), [(-1, "does not have"), (1, "too early")])
def test_no_more_is_unpacked_than_stated(more, message, saved):
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        info = archive.getinfo("card.md")
    info.file_size += more
    start = len(b"PK\x03\x04" + bytes(26) + b"card.md")
    with pytest.raises(ValueError, match=message):
        _Unpacked(io.BytesIO(saved), start, info, None).read(info.file_size)


def test_a_part_that_nothing_refers_to_is_refused(forge):
    def change(manifest, members):
        manifest["parts"].append(manifest["parts"][2])

    with pytest.raises(ModelFormatError, match=r"manifest\.json: nothing refers to part 5"):
        load(forge(KERNEL, change))


def test_keys_that_occur_twice_are_refused(saved, tmp_path):
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = members["manifest.json"]
    members["manifest.json"] = manifest.replace(b'"format": 1,', b'"format": 1, "format": 1,', 1)
    assert members["manifest.json"] != manifest
    path = tmp_path / "twice.kw"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(ModelFormatError, match="two equal keys"):
        load(path)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("kernel", "os.system"),
        ("kernel", "kernelwood.kernels.Sum"),
        ("kernel", "vectors"),
        ("", ""),
    ],
)
def test_a_name_that_is_in_no_table_is_refused(kind, name, forge):
    def change(manifest, members):
        manifest.update(kind=kind, model=name)

    with pytest.raises(ModelFormatError, match="unknown model of kind"):
        load(forge(KERNEL, change))


def test_a_part_cannot_hold_what_comes_after_it(forge):
    def change(manifest, members):
        manifest["parts"][1]["parameters"]["vectors"]["number"] = 1

    with pytest.raises(ModelFormatError, match="part 1 is not an earlier part"):
        load(forge(KERNEL, change))


@pytest.mark.parametrize("key", ["kernelwood", "kind", "model", "parameters", "texts", "parts"])
@pytest.mark.parametrize("value", [None, 7, True], ids=repr)
def test_a_field_of_another_type_is_refused(key, value, forge):
    with pytest.raises(ModelFormatError, match=r"manifest\.json: "):
        load(forge(KERNEL, lambda manifest, members: manifest.update({key: value})))


@pytest.mark.parametrize("names", [["../x"], [3], ["words", "words"], ["words"]], ids=repr)
def test_impossible_names_of_texts_are_refused(names, forge):
    with pytest.raises(ModelFormatError, match=r"manifest\.json: "):
        load(forge(KERNEL, lambda manifest, members: manifest.update(texts=names)))


def test_a_manifest_nested_without_end_is_refused(tmp_path):
    path = tmp_path / "deep.kw"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", b"[" * 10**6)
    with pytest.raises(ModelFormatError, match="nested too deeply"):
        load(path)


def test_parameters_nested_without_end_are_refused(forge):
    deep = 1
    for _ in range(300):
        deep = [deep]
    with pytest.raises(ModelFormatError, match="nested too deeply"):
        load(forge(kw.SubtreeKernel(), lambda m, _: m["parameters"].update(decay=deep)))


_json = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-2, 5), st.floats(), st.text(max_size=3),
        st.sampled_from(["part", "array", "number", "values", "parameter-matrix", "words"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["kind", "values", "number", "name"]), inner, max_size=3),
    ),
    max_leaves=6,
)  # fmt: skip


@given(data=st.data())
def test_any_forged_manifest_is_refused_or_gives_a_model(data, saved, tmp_path_factory):
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    place, key = manifest, data.draw(st.sampled_from(sorted(manifest)))
    while isinstance(place[key], (dict, list)) and place[key] and data.draw(st.booleans()):
        place = place[key]
        keys = sorted(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(keys))
    place[key] = data.draw(_json)
    members["manifest.json"] = json.dumps(manifest).encode()
    path = tmp_path_factory.getbasetemp() / "forged.kw"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    try:
        load(path)
    except ModelFormatError as error:
        assert error.path == str(path)


# Bombs.


def test_a_member_larger_than_the_budget_is_refused_unread(forge, monkeypatch):
    def change(manifest, members):
        members["parts/0/matrix.npy"] = bytes(10**6)

    path = forge(KERNEL, change)
    monkeypatch.setattr("kernelwood.persist.archive.ArchiveReader.read", None)
    with (
        kw.config_context(memory="1MB"),
        pytest.raises(ModelFormatError, match=r"matrix\.npy: .*memory budget of 1\.0 MB") as caught,
    ):
        load(path)
    assert "config_context" in caught.value.hint


def test_many_members_that_fit_one_by_one_are_refused(tmp_path):
    kernel = kw.SubtreeKernel(similarity=Lexical(kw.Vectors(["a"], np.ones((1, 10**5)))))
    for scale in (2, 3):
        vectors = kw.Vectors(["a"], scale * np.eye(1, 10**5))
        kernel = kernel + kw.SubtreeKernel(similarity=Lexical(vectors))
    save(kernel, tmp_path / "k.kw")
    with (
        kw.config_context(memory="500kB"),
        pytest.raises(ModelFormatError, match="memory budget"),
    ):
        load(tmp_path / "k.kw")


def test_text_counts_as_much_as_it_takes_in_memory(forge):
    def change(manifest, members):
        members["words.txt"] = b'""\n' * 10**5

    with (
        kw.config_context(memory="1MB"),
        pytest.raises(ModelFormatError, match=r"words\.txt: .*memory budget"),
    ):
        load(forge(VECTORS, change))


def test_an_enormous_manifest_is_refused_unread(tmp_path):
    path = tmp_path / "bomb.kw"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", bytes(10**8))
    with pytest.raises(ModelFormatError, match=r"manifest\.json: its size of 100\.0 MB exceeds"):
        load(path)


def test_a_size_that_lies_is_noticed(saved, tmp_path):
    # The size of the first member in the directory of the archive, 24 bytes into its entry.
    place = saved.index(b"PK\x01\x02") + 24
    lying = bytearray(saved)
    lying[place : place + 4] = (2**31).to_bytes(4, "little")
    path = tmp_path / "lying.kw"
    path.write_bytes(lying)
    with pytest.raises(ModelFormatError, match=r"card\.md: its header differs"):
        load(path)
