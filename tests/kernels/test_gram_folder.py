"""Gram matrices in folders: values, resuming, damaged files."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from strategies import sample_sequences, sample_trees

import kernelwood as kw
from kernelwood.errors import KernelInputError, ReadError
from kernelwood.kernels import open_gram, write_gram

KERNEL = kw.SubsequenceKernel()
N = 600  # three files of 256 rows


@pytest.fixture(scope="module")
def words():
    return kw.batch(sample_sequences(N))


@pytest.fixture
def folder(tmp_path, words):
    write_gram(KERNEL, words, tmp_path / "gram", n_rows=256)
    return tmp_path / "gram"


def matrix(gram):
    return np.concatenate([gram.panel(number) for number in range(gram.n_panels)])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("on_executor", [False, True])
def test_values_are_those_of_gram(dtype, on_executor, tmp_path, words, force_executor):
    with (
        ThreadPoolExecutor(2) as pool,
        kw.config_context(executor=pool if on_executor else None),
    ):
        gram = write_gram(KERNEL, words, tmp_path, n_rows=256, dtype=dtype)
    expected = KERNEL.gram(words, dtype=dtype)
    np.testing.assert_array_equal(matrix(gram), expected)
    again = open_gram(tmp_path)
    assert again.shape == (N, N) and again.dtype == dtype and len(again) == N
    for i in (0, 255, 256, N - 1):
        np.testing.assert_array_equal(again.row(i), expected[i])
        assert not again.row(i).flags.writeable


def test_only_what_is_missing_is_computed(folder, words):
    before = matrix(open_gram(folder)).copy()
    [*_, last] = sorted(folder.glob("*.npy"))
    last.unlink()
    assert open_gram(folder).missing() == [2]
    with kw.compute.counting() as counters:
        gram = write_gram(KERNEL, words, folder, n_rows=256)
    probe = 16 * 17 // 2
    assert counters.kernel_evaluations - probe == 88 * 89 // 2 + 88 * 512
    assert gram.missing() == []
    np.testing.assert_array_equal(matrix(gram), before)


def test_panels_are_written_apart(tmp_path, words):
    for number in (2, 0):
        gram = write_gram(KERNEL, words, tmp_path, n_rows=256, panels=[number])
    assert gram.missing() == [1]
    with pytest.raises(ReadError, match=r"rows-000000000256\.npy"):
        gram.row(256)
    write_gram(KERNEL, words, tmp_path, n_rows=256, panels=[1])
    np.testing.assert_array_equal(gram.row(256), KERNEL.gram(words)[256])


def test_the_same_structures_may_be_batched_anew(folder, words):
    structures = list(words)
    vocabulary = kw.arrays.Vocabulary(["more", *reversed(list(words.vocabulary))])
    again = kw.batch(structures, vocabulary=vocabulary)
    assert write_gram(KERNEL, again, folder, n_rows=256).missing() == []


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda X: (kw.SubsequenceKernel(decay=0.3), X, {}), "kernel"),
        (lambda X: (KERNEL, X[::-1], {}), "digest"),
        (lambda X: (KERNEL, [*X[:-1], kw.Sequence(["other"])], {}), "digest"),
        (lambda X: (KERNEL, X[:-1], {}), "n "),
        (lambda X: (KERNEL, X, {"dtype": "float32"}), "dtype"),
        (lambda X: (KERNEL, X, {"n_rows": 512}), "n_rows"),
    ],
)
def test_another_matrix_is_refused(folder, words, change, name):
    kernel, X, options = change(words)
    with pytest.raises(KernelInputError, match=rf"has another matrix \({name}"):
        write_gram(kernel, X, folder, **{"n_rows": 256, **options})


def test_other_word_vectors_are_noticed(tmp_path, words):
    def kernel(seed):
        matrix = np.random.default_rng(seed).normal(size=(3, 4))
        return kw.SubsequenceKernel(similarity=kw.similarity.Gaussian(kw.Vectors("abc", matrix)))

    write_gram(kernel(0), words, tmp_path, n_rows=256, panels=[])
    write_gram(kernel(0), words, tmp_path, n_rows=256, panels=[])
    with pytest.raises(KernelInputError, match=r"another matrix \(digest"):
        write_gram(kernel(1), words, tmp_path, n_rows=256, panels=[])


def test_views_of_examples_are_told_apart(tmp_path):
    def examples(texts):
        views = zip(sample_trees(20), texts, strict=True)
        return [kw.Example(str(i), views={"t": t, "s": s}) for i, (t, s) in enumerate(views)]

    kernel = kw.OnView("s", KERNEL)
    first = sample_sequences(20)
    gram = write_gram(kernel, examples(first), tmp_path)
    np.testing.assert_array_equal(gram.panel(0), kernel.gram(examples(first)))
    with pytest.raises(KernelInputError, match=r"another matrix \(digest"):
        write_gram(kernel, examples(first[::-1]), tmp_path)


@pytest.mark.parametrize("n_rows", [0, 100, 257, 1.5])
def test_bad_numbers_of_rows_are_named(n_rows, tmp_path, words):
    with pytest.raises(KernelInputError, match="n_rows"):
        write_gram(KERNEL, words, tmp_path, n_rows=n_rows)


@pytest.mark.parametrize("panel", [-1, 3])
def test_bad_panels_are_named(panel, tmp_path, words):
    with pytest.raises(KernelInputError, match="panels"):
        write_gram(KERNEL, words, tmp_path, n_rows=256, panels=[panel])


def test_no_structures(tmp_path):
    gram = write_gram(KERNEL, [], tmp_path)
    assert (gram.shape, gram.missing()) == ((0, 0), [])
    for read in (gram.row, gram.panel):
        with pytest.raises(IndexError, match="out of range"):
            read(0)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "[]",
        lambda text: text[:-3],
        lambda text: json.dumps({**json.loads(text), "n": "600"}),
        lambda text: json.dumps({**json.loads(text), "n": -1}),
        lambda text: json.dumps({**json.loads(text), "n_rows": 0}),
        lambda text: json.dumps({**json.loads(text), "dtype": "object"}),
        lambda text: json.dumps({**json.loads(text), "format": "kernelwood-gram-9"}),
        lambda text: "\udcff".encode("utf-8", "surrogateescape"),
    ],
)
def test_a_damaged_manifest_is_named(folder, change):
    path = folder / "gram.json"
    text = change(path.read_text())
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ReadError, match=r"gram\.json"):
        open_gram(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: b"not numbers",
    ],
)
def test_damaged_rows_are_named(folder, change):
    path = folder / "rows-000000000256.npy"
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ReadError, match=r"rows-000000000256\.npy"):
        open_gram(folder).row(300)


@pytest.mark.parametrize("wrong", [np.zeros((256, 599)), np.zeros((256, N), dtype="float32")])
def test_rows_of_another_matrix_are_named(folder, wrong):
    np.save(folder / "rows-000000000256.npy", wrong)
    with pytest.raises(ReadError, match=r"must have shape \(256, 600\)"):
        open_gram(folder).row(300)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ReadError, match=r"gram\.json: cannot be read"):
        open_gram(tmp_path / "none")
