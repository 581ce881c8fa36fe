"""Index folders find what one index in memory finds, and survive crashes and damage."""

import json
import os
import shutil
import tracemalloc
from functools import cache

import numpy as np
import pytest
import strategies
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.errors import KernelInputError, ModelFormatError
from kernelwood.features import pack
from kernelwood.io import FileLock
from kernelwood.scale import IndexFolder, index_folder, sharded_scan
from kernelwood.scale.index_manifest import CHUNK
from kernelwood.scale.shard_files import describe

TREES = strategies.sample_trees(90, seed=1, max_nodes=12)
QUERIES = strategies.sample_trees(7, seed=2, max_nodes=12)
KERNEL = kw.SubsetTreeKernel(decay=0.5)
BITS = 70  # two words, the second with spare bits


@cache
def hasher():
    return kw.KernelHasher(KERNEL, n_references=20, n_bits=BITS, random_state=3).fit(TREES)


@cache
def embedder():
    return kw.NystromEmbedder(KERNEL, n_landmarks=25, random_state=3).fit(TREES)


def hash_index():
    return kw.HashIndex(KERNEL, n_references=20, n_bits=BITS, random_state=3)


def embedding_index():
    return kw.EmbeddingIndex(KERNEL, n_landmarks=25, random_state=3)


INDEXES = pytest.mark.parametrize("make", [hash_index, embedding_index])


def assert_same(found, wanted):
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == np.ascontiguousarray(theirs).tobytes()


def by_definition(rows, queries, k):
    """Ids and Hamming distances of rows of bits, by distance and id."""
    found = []
    for query in queries:
        distances = [sum(a != b for a, b in zip(row, query, strict=True)) for row in rows]
        found.append(sorted((d, i) for i, d in enumerate(distances))[:k])
    return [[i for _, i in row] for row in found], [[d for d, _ in row] for row in found]


@st.composite
def bit_shards(draw):
    """Rows of bits that differ in few places, so that there are many ties."""
    row = st.integers(0, 7).map(lambda n: [n & 1, n >> 1 & 1] + [0] * (BITS - 3) + [n >> 2])
    shards = draw(st.lists(st.lists(row, min_size=1, max_size=6), max_size=5))
    return shards, draw(st.lists(row, max_size=3)), draw(st.integers(1, 40))


def as_codes(rows):
    return pack(np.array(rows, dtype=np.uint8).reshape(-1, BITS))


@given(problem=bit_shards(), reopen=st.booleans(), block=st.sampled_from([1, 40, 2**20]))
def test_codes_are_found_as_by_brute_force(tmp_path_factory, problem, reopen, block):
    shards, queries, k = problem
    path = tmp_path_factory.mktemp("folder") / "index"
    index = IndexFolder.create(path, hasher())
    for shard in shards:
        first = len(index)
        ids = index.append_codes(as_codes(shard))
        assert ids.tolist() == list(range(first, first + len(shard)))
    index = IndexFolder(path) if reopen else index
    rows = [row for shard in shards for row in shard]
    assert (len(index), index.n_shards) == (len(rows), len(shards))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharded_scan, "_ROWS_BYTES", block)
        ids, distances = index.search_codes(as_codes(queries), k)
    assert (ids.tolist(), distances.tolist()) == by_definition(rows, queries, k)
    assert ids.shape == distances.shape == (len(queries), min(k, len(rows)))
    shutil.rmtree(path)


@INDEXES
@pytest.mark.parametrize("n_rerank", [0, 30])
@pytest.mark.parametrize("jobs", [1, 2])
def test_shards_give_the_bits_of_one_index(tmp_path, make, n_rerank, jobs):
    whole = make().fit(TREES)
    encoder = whole.hasher_ if hasattr(whole, "hasher_") else whole.embedder_
    index = IndexFolder.create(tmp_path / "index", encoder, n_jobs=jobs)
    for begin, end in ((0, 40), (40, 41), (41, 90)):
        index.append(TREES[begin:end])
    for k in (1, 10, 30):
        found = index.search(QUERIES, k, n_rerank=n_rerank)
        assert_same(found, whole.search(QUERIES, k, n_rerank=n_rerank))


@INDEXES
def test_a_folder_of_an_index_keeps_ids_after_removals(tmp_path, make):
    whole = make().fit(TREES)
    whole.remove([3, 4, 50, 89])
    index = IndexFolder.create(tmp_path / "index", whole)
    assert whole.add(TREES[:2]).tolist() == index.append(TREES[:2]).tolist() == [90, 91]
    for k in (5, 88):
        assert_same(index.search(QUERIES, k, n_rerank=k), whole.search(QUERIES, k, n_rerank=k))
        assert_same(index.search(QUERIES, k), whole.search(QUERIES, k))
    assert index.structures([51, 2, 91]) == [TREES[51], TREES[2], TREES[1]]
    for missing in (3, 89, 92, -1):
        with pytest.raises(KernelInputError, match=f"no row with the id {missing}"):
            index.structures([missing])
    index.verify()


@pytest.mark.parametrize("by", ["vectors", "codes"])
def test_a_folder_of_a_sentence_index_finds_its_sentences(tmp_path, by):
    sentences = [
        kw.Example(f"s{i}", views={"words": kw.Sequence(f"the {w} number {i % 3}".split())})
        for i, w in enumerate(["old", "new", "odd", "even", "öld\ud800", ""] * 4)
    ]
    whole = kw.SentenceIndex(by=by, n_bits=64, random_state=0).fit(sentences[:20])
    whole.remove([2])
    index = IndexFolder.create(tmp_path / "index", whole)
    assert index.view == "words"
    whole.add(sentences[20:])
    index.append(sentences[20:])
    for n_rerank in (0, 15):
        ids, _ = index.search(sentences[4:7], 6, n_rerank=n_rerank)
        for row, matches in zip(
            ids, whole.search(sentences[4:7], 6, n_rerank=n_rerank), strict=True
        ):
            assert row.tolist() == [match.id for match in matches]
            assert index.texts(row) == [match.text for match in matches]
            assert index.names(row) == [match.name for match in matches]


def test_kernels_on_views_and_vectors_can_be_stored(tmp_path):
    on_view = kw.OnView("words", kw.SubsequenceKernel())
    examples = [
        kw.Example(str(i), "ab"[i % 2], {"words": kw.Sequence(["x", str(i)]), "text": "x"})
        for i in range(9)
    ]
    rows = np.random.default_rng(0).normal(size=(9, 4))
    for name, kernel, X in (("a", on_view, examples), ("b", kw.VectorKernel(), rows)):
        whole = kw.EmbeddingIndex(kernel, n_landmarks=5, random_state=0).fit(X)
        index = IndexFolder.create(tmp_path / name, whole.embedder_)
        index.append(X)
        assert_same(index.search(X, 3, n_rerank=5), whole.search(X, 3, n_rerank=5))
        index.verify()


def test_names_and_texts_are_those_given(tmp_path):
    index = IndexFolder.create(tmp_path / "index", hasher())
    index.append(TREES[:3], names=["a", "", "c"], texts=["", "", ""])
    index.append_codes(hasher().codes(TREES[:2]), texts=["x\ny", "é"])
    assert index.names([2, 1, 0, 3]) == ["c", "", "a", ""]
    assert index.texts([0, 3, 4]) == ["", "x\ny", "é"]
    for bad in (["a"], ["a", 1]):
        with pytest.raises(KernelInputError, match="names must be 2 strings"):
            index.append(TREES[:2], names=bad)
    assert len(index) == 5


def test_structures_of_many_chunks_are_found(tmp_path):
    index = IndexFolder.create(tmp_path / "index", hasher())
    many = (TREES * 9)[: 2 * CHUNK + 5]
    index.append(many)
    asked = [0, CHUNK - 1, CHUNK, 2 * CHUNK + 4]
    assert index.structures(asked) == [many[i] for i in asked]


def test_re_ranking_needs_structures(tmp_path):
    index = IndexFolder.create(tmp_path / "index", hasher())
    index.append(TREES, keep_structures=False)
    assert index.search(QUERIES, 3)[0].shape == (7, 3)
    with pytest.raises(KernelInputError, match=r"shard 0 .* has no structures"):
        index.search(QUERIES, 3, n_rerank=5)
    with pytest.raises(KernelInputError, match="n_rerank=2 is smaller than k=3"):
        index.search(QUERIES, 3, n_rerank=2)


@pytest.mark.parametrize("encoder", [hasher, embedder])
def test_an_empty_index_finds_nothing(tmp_path, encoder):
    index = IndexFolder.create(tmp_path / "index", encoder())
    assert len(index) == 0
    assert index
    for n_rerank in (0, 10):
        ids, scores = index.search(QUERIES, 3, n_rerank=n_rerank)
        assert ids.shape == scores.shape == (7, 0)
    assert index.append([]).tolist() == []
    assert index.n_shards == 0
    index.append(TREES[:2])
    assert index.search([], 1)[0].shape == (0, 1)
    index.verify()


def test_codes_can_be_searched_without_loading_the_encoder(tmp_path):
    IndexFolder.create(tmp_path / "index", hasher()).append(TREES)
    index = IndexFolder(tmp_path / "index")
    index.search_codes(hasher().codes(QUERIES), 2)
    assert "encoder" not in vars(index)


def test_memory_does_not_depend_on_the_number_of_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(sharded_scan, "_ROWS_BYTES", 2**14)
    index = IndexFolder.create(tmp_path / "index", hasher())
    codes = np.zeros((100_000, 2), dtype=np.uint64)
    index.append_codes(codes)
    index.search_codes(codes[:1], 5)
    tracemalloc.start()
    try:
        index.search_codes(codes[:1], 5)
        assert tracemalloc.get_traced_memory()[1] < codes.nbytes / 10
    finally:
        tracemalloc.stop()


# Additions, crashes and other processes.


@pytest.mark.parametrize("where", ["write_array", "write_rows", "sync_folder", "write_manifest"])
def test_a_failed_addition_leaves_the_index_as_it_was(tmp_path, monkeypatch, where):
    index = IndexFolder.create(tmp_path / "index", hasher())
    index.append(TREES[:5])

    def fail(*args):
        raise OSError("no space")

    with monkeypatch.context() as patch:
        patch.setattr(index_folder, where, fail)
        with pytest.raises(OSError, match="no space"):
            index.append(TREES[5:9])
    assert len(index) == len(IndexFolder(tmp_path / "index")) == 5
    assert index.append(TREES[5:9]).tolist() == [5, 6, 7, 8]
    assert index.structures([8]) == [TREES[8]]
    index.verify()


def test_an_addition_that_was_killed_is_removed_by_the_next(tmp_path):
    index = IndexFolder.create(tmp_path / "index", hasher())
    index.append(TREES[:5])
    before = (tmp_path / "index" / "index.json").read_bytes()
    index.append(TREES[5:20])
    # Killed after the shard appeared, and while another was written.
    (tmp_path / "index" / "index.json").write_bytes(before)
    (tmp_path / "index" / "shards" / ".kernelwood-12.tmp").mkdir()
    index = IndexFolder(tmp_path / "index")
    assert len(index) == 5
    assert index.append(TREES[:2]).tolist() == [5, 6]
    assert sorted(path.name for path in (tmp_path / "index" / "shards").iterdir()) == [
        "00000",
        "00001",
    ]
    assert len(IndexFolder(tmp_path / "index")) == 7


def test_an_addition_follows_those_of_others(tmp_path):
    first = IndexFolder.create(tmp_path / "index", hasher())
    second = IndexFolder(tmp_path / "index")
    first.append(TREES[:5])
    assert len(second) == 0
    assert second.append(TREES[5:7]).tolist() == [5, 6]
    assert len(second) == 7


def test_two_processes_cannot_add_at_once(tmp_path):
    index = IndexFolder.create(tmp_path / "index", hasher())
    with (
        FileLock(tmp_path / "index" / "append.lock"),
        pytest.raises(KernelInputError, match=f"process {os.getpid()} is adding"),
    ):
        index.append(TREES[:2])
    assert len(index.append(TREES[:2])) == 2


def test_a_failed_creation_leaves_nothing(tmp_path, monkeypatch):
    def fail(*args, **options):
        raise OSError("no space")

    monkeypatch.setattr(index_folder, "write_rows", fail)
    with pytest.raises(OSError, match="no space"):
        IndexFolder.create(tmp_path / "index", hash_index().fit(TREES))
    assert list(tmp_path.iterdir()) == []


def test_existing_folders_are_not_overwritten(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileExistsError):
        IndexFolder.create(tmp_path, hasher())


def test_an_empty_folder_is_used_and_a_missing_parent_named(tmp_path):
    (tmp_path / "empty").mkdir()
    assert len(IndexFolder.create(tmp_path / "empty", hasher())) == 0
    with pytest.raises(FileNotFoundError, match="make it first"):
        IndexFolder.create(tmp_path / "missing" / "index", hasher())
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (KERNEL, {}, "source must be a fitted KernelHasher"),
        (None, {"view": 3}, "view must be the name of a view"),
    ],
)
def test_bad_sources_are_named(tmp_path, source, options, message):
    with pytest.raises(KernelInputError, match=message):
        IndexFolder.create(tmp_path / "index", source or hasher(), **options)


def test_vectors_have_no_codes(tmp_path):
    index = IndexFolder.create(tmp_path / "index", embedder())
    with pytest.raises(KernelInputError, match="holds vectors, not codes"):
        index.search_codes(hasher().codes(QUERIES))
    with pytest.raises(KernelInputError, match="holds vectors, not codes"):
        index.append_codes(hasher().codes(QUERIES))


# Damage.


@pytest.fixture
def folder(tmp_path):
    whole = hash_index().fit(TREES)
    whole.remove([3])
    IndexFolder.create(tmp_path / "index", whole).append(TREES[:4], names=list("abcd"))
    return tmp_path / "index"


def change(folder, *path, value):
    """Change a value in the manifest."""
    manifest = json.loads((folder / "index.json").read_text())
    inner = manifest
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    (folder / "index.json").write_text(json.dumps(manifest))


GOOD = {"size": 1, "sha256": "0" * 64}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], 2, "newer than this version"),
        (["format"], 0, "format or the kind"),
        (["kind"], "trees", "format or the kind"),
        (["size"], 0, "size must be a whole number"),
        (["size"], 2**70, "size must be a whole number"),
        (["size"], 129, "codes.npy does not match"),
        (["size"], True, "size must be a whole number"),
        (["view"], 1, "view must be"),
        (["more"], 1, "object with the keys"),
        (["shards"], {}, "shards must be a list"),
        (["next_id"], 93, "next_id must be"),
        (["next_id"], 2**63, "next_id must be"),
        (["encoder", "size"], 1, "encoder.kw has"),
        (["encoder", "sha256"], "0", "64 hexadecimal digits"),
        (["shards", 0], 1, "shard 0 must be an object"),
        (["shards", 0, "rows"], 0, "rows must be a whole number"),
        (["shards", 0, "rows"], 88, "does not match 88 rows"),
        (["shards", 0, "rows"], 2**61, "does not match"),  # 2**61 * 16 is 2**65
        (["shards", 1, "first_id"], 88, "first_id must be"),
        (["shards", 1, "first_id"], 2**62 - 1, "next_id must be"),
        (["shards", 1, "files"], [], "files must be an object"),
        (["shards", 1, "files", "../../x"], GOOD, "missing or unknown"),
        (["shards", 1, "files", "texts.bin"], GOOD, "texts.bin has"),
        (["shards", 1, "files", "names.bin", "size"], 2**62, "names.bin has"),
        (["shards", 1, "files", "codes.npy", "size"], -1, "size must be a whole number"),
        (["shards", 1, "files", "ids.npy"], GOOD, "ids.npy does not match"),
    ],
)
def test_bad_manifests_are_refused(folder, path, value, message):
    change(folder, *path, value=value)
    with pytest.raises(ModelFormatError, match=message):
        IndexFolder(folder)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b'{"format": NaN}', b"[" * 100_000])
def test_manifests_that_are_not_json_are_refused(folder, data):
    (folder / "index.json").write_bytes(data)
    with pytest.raises(ModelFormatError, match=r"index\.json"):
        IndexFolder(folder)


def test_missing_files_are_errors(folder):
    (folder / "shards" / "00001" / "codes.npy").unlink()
    with pytest.raises(ModelFormatError, match=r"codes\.npy"):
        IndexFolder(folder)
    (folder / "index.json").unlink()
    with pytest.raises(FileNotFoundError):
        IndexFolder(folder)


def files():
    return [
        "encoder.kw",
        *(f"shards/00000/{name}" for name in ("codes.npy", "ids.npy", "structures.bin")),
        *(f"shards/00001/{name}" for name in ("names.bin", "names_offsets.npy")),
    ]


@pytest.mark.parametrize("name", files())
def test_verify_finds_a_changed_byte(folder, name):
    index = IndexFolder(folder)
    index.verify()
    data = bytearray((folder / name).read_bytes())
    data[-1] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(ModelFormatError, match="the checksum does not match"):
        IndexFolder(folder).verify()


@pytest.mark.parametrize("name", files())
def test_truncated_files_are_refused(folder, name):
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[:-1])
    with pytest.raises(ModelFormatError, match="bytes instead of"):
        IndexFolder(folder)


def forge(folder, shard, name, array):
    """Replace an array, and its checksum in the manifest."""
    path = folder / "shards" / f"{shard:05}" / name
    np.save(path, array)
    change(folder, "shards", shard, "files", name, value=describe(path)._asdict())


def rewrite(array, place, value):
    array = np.array(array)
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("shard", "name", "place", "value", "message"),
    [
        (0, "codes.npy", (5, 1), 2**63, "bits set beyond"),
        (0, "ids.npy", 4, 0, "ids must rise"),
        (0, "ids.npy", -1, 90, "ids must rise"),
        (0, "ids.npy", 0, -1, "ids must rise"),
        (1, "names_offsets.npy", 2, 9, "offsets of names"),
        (1, "names_offsets.npy", 0, 1, "offsets of names"),
        (1, "names_offsets.npy", -1, 2**62, "offsets of names"),
    ],
)
def test_verify_checks_content_beyond_checksums(folder, shard, name, place, value, message):
    array = np.load(folder / "shards" / f"{shard:05}" / name)
    forge(folder, shard, name, rewrite(array, place, value))
    with pytest.raises(ModelFormatError, match=message):
        IndexFolder(folder).verify()


@pytest.mark.parametrize("value", [-1, 2**62, 1])
def test_offsets_out_of_the_file_are_errors(folder, value):
    offsets = np.load(folder / "shards" / "00001" / "names_offsets.npy")
    forge(folder, 1, "names_offsets.npy", rewrite(offsets, 2, value))
    index = IndexFolder(folder)
    if value == 1:  # an empty name, and a longer one
        assert index.names([91, 92]) == ["", "bc"]
    else:
        with pytest.raises(ModelFormatError, match="which the file does not have"):
            index.names([91])


def test_arrays_of_another_type_are_errors(folder):
    codes = np.load(folder / "shards" / "00000" / "codes.npy")
    forge(folder, 0, "codes.npy", codes.view(np.int64))
    with pytest.raises(ModelFormatError, match="not an array of uint64"):
        IndexFolder(folder).search_codes(hasher().codes(QUERIES))


def test_an_encoder_of_another_size_is_refused(folder):
    other = kw.KernelHasher(KERNEL, n_references=20, n_bits=64, random_state=3).fit(TREES)
    kw.save(other, folder / "encoder.kw")
    change(folder, "encoder", value=describe(folder / "encoder.kw")._asdict())
    with pytest.raises(ModelFormatError, match="not an encoder of codes of 70 bits"):
        IndexFolder(folder).search(QUERIES)


def test_structures_of_another_kind_are_refused(folder):
    other = kw.HashIndex(kw.SubsequenceKernel(), n_references=4, n_bits=BITS, random_state=0)
    words = [kw.Sequence([str(i), "x"]) for i in range(89)]
    IndexFolder.create(folder.parent / "other", other.fit(words))
    for name in ("structures.bin", "structures_offsets.npy"):
        path = folder / "shards" / "00000" / name
        shutil.copy(folder.parent / "other" / "shards" / "00000" / name, path)
        change(folder, "shards", 0, "files", name, value=describe(path)._asdict())
    index = IndexFolder(folder)
    with pytest.raises(ModelFormatError, match="there must be 89 structures"):
        index.structures([0])


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("vectors.npy", (0, -1), 1, "0 beyond their dimensions"),
        ("scales.npy", 3, np.nan, "scales must be finite"),
        ("scales.npy", 3, -1.0, "scales must be finite"),
    ],
)
def test_verify_checks_vectors(tmp_path, name, place, value, message):
    folder = tmp_path / "index"
    IndexFolder.create(folder, embedder()).append(TREES)
    IndexFolder(folder).verify()
    array = np.load(folder / "shards" / "00000" / name)
    forge(folder, 0, name, rewrite(array, place, value))
    with pytest.raises(ModelFormatError, match=message):
        IndexFolder(folder).verify()
