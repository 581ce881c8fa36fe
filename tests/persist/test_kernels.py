"""Every kernel and every similarity comes back with all its parameters and the same bits."""

import inspect

import numpy as np
import pytest
import strategies

import kernelwood as kw
from kernelwood.arrays import ForestBatch, GraphBatch, SequenceBatch, TreeBatch, VectorBatch
from kernelwood.errors import KernelInputError, ModelFormatError
from kernelwood.kernels import KERNELS, Power, Product, Scaled, Sum
from kernelwood.persist import MODELS, Row, load, save
from kernelwood.persist.archive import array_chunks, dump_text
from kernelwood.similarity import SIMILARITIES, Exact, Exponential, Gaussian, Lexical, Table

WORDS = ["a", "b", "c", "é", "with space"]
VECTORS = kw.Vectors(WORDS, np.random.default_rng(5).normal(size=(5, 3)))
TREES, SEQUENCES = strategies.sample_trees(6), strategies.sample_sequences(6)
EXAMPLES = [
    kw.Example(str(i), views={"tree": t, "words": s})
    for i, (t, s) in enumerate(zip(TREES, SEQUENCES, strict=True))
]
SAMPLES = {
    SequenceBatch: SEQUENCES,
    TreeBatch: TREES,
    ForestBatch: strategies.sample_forests(6),
    GraphBatch: strategies.sample_graphs(6),
    VectorBatch: [[1.0, 2.0, 0.5], [0.0, -1.5, 0.25]],
}

# Values that are not the default, by parameter; where there is none, numbers are halved.
OTHER = {
    "kind": "polynomial",
    "degree": 3,
    "gamma": 0.75,
    "max_length": 3,
    "n_iterations": 2,
    "base": "assignment",
    "variant": "max",
    "edge_weights": {"e": 0.75, "é\n|`": 0},
    "decay_over": "span",
    "gate_on": "node",
    "gates": {"a": 0.5, "kind": 0, "é\n|`": 2.5},
    "dtype": "float32",
    "similarity": Lexical(VECTORS, weight=0.9, floor=0.1),
    "vectors": VECTORS,
    "operation": "dilation",
    "floor": 0.125,
    "labels": ["a", "b\nc"],
    "matrix": [[1.0, 0.1], [0.1, 0.7]],
}


def changed_parameters(cls):
    """Return a value for every parameter, other than the default if there is one."""
    chosen = {}
    for name in cls._parameter_names():
        default = inspect.signature(cls.__init__).parameters[name].default
        if name in OTHER:
            chosen[name] = OTHER[name]
        elif isinstance(default, bool):
            chosen[name] = not default
        elif isinstance(default, (int, float)):
            chosen[name] = default / 2
    return chosen


CLASSES = {**KERNELS, **SIMILARITIES}
every_class = pytest.mark.parametrize("cls", CLASSES.values(), ids=CLASSES)
every_kernel = pytest.mark.parametrize("cls", KERNELS.values(), ids=KERNELS)


def same_parameters(one, other):
    """Whether two models have equal parameters, nested ones included, but for ``n_jobs``."""
    left, right = (
        {key: value for key, value in model.get_params().items() if not key.endswith("n_jobs")}
        for model in (one, other)
    )
    return left == right


@every_class
def test_every_parameter_comes_back(cls, round_trip):
    model = cls(**changed_parameters(cls))
    assert same_parameters(round_trip(model), model)


@every_class
def test_every_parameter_is_tested_with_another_value(cls):
    defaults = inspect.signature(cls.__init__).parameters
    chosen = changed_parameters(cls)
    unchanged = [
        name
        for name in cls._parameter_names()
        if name != "n_jobs" and chosen.get(name, defaults[name].default) == defaults[name].default
    ]
    assert unchanged == []


@every_class
def test_a_file_without_one_of_the_parameters_is_refused(cls, forge):
    model = cls(**changed_parameters(cls))
    for name in set(cls._parameter_names()) - {"n_jobs"}:

        def forget(manifest, members, name=name):
            del manifest["parameters"][name]

        with pytest.raises(ModelFormatError, match=f"missing parameter '{name}'"):
            load(forge(model, forget))


@every_kernel
@pytest.mark.parametrize("changed", [False, True], ids=["defaults", "changed"])
def test_the_gram_matrix_has_the_same_bits(cls, changed, round_trip):
    kernel = cls(**(changed_parameters(cls) if changed else {}))
    X = SAMPLES[kernel._accepts()]
    assert round_trip(kernel).gram(X).tobytes() == kernel.gram(X).tobytes()


@pytest.mark.parametrize("name", SIMILARITIES)
def test_a_similarity_has_the_same_bits(name, round_trip):
    similarity = SIMILARITIES[name](**changed_parameters(SIMILARITIES[name]))
    labels = [*WORDS, "b\nc", "COMP##r<a::n,b::n>", "COMP##r<b::n,c::n>"]
    again = round_trip(similarity)
    assert again.table(labels, labels).tobytes() == similarity.table(labels, labels).tobytes()


@every_kernel
@pytest.mark.parametrize("dtype", ["int32", "nonsense", []], ids=repr)
def test_a_number_type_that_no_kernel_has_is_refused(cls, dtype, forge):
    with pytest.raises(ModelFormatError, match="dtype must be float64 or float32"):
        load(forge(cls(), lambda manifest, members: manifest["parameters"].update(dtype=dtype)))


def test_every_row_of_the_tables_can_be_saved():
    saveable = {row.cls for row in MODELS.values()}
    assert saveable.issuperset([*CLASSES.values(), Sum, Product, Scaled, Power, kw.Vectors])


def nested_kernel():
    words = kw.OnView("words", kw.SubsequenceKernel(similarity=Gaussian(VECTORS)))
    tree = kw.OnView("tree", kw.PartialTreeKernel.sptk(VECTORS, gates={"a": 0.25}))
    return 0.3 * words + kw.Normalized(tree * (tree + 2 * words)) ** 2


def test_combinations_come_back_nested_as_they_were(round_trip):
    kernel = nested_kernel()
    again = round_trip(kernel)
    assert again == kernel and repr(again) == repr(kernel)


def test_combinations_have_the_same_bits(round_trip):
    kernel = nested_kernel()
    assert round_trip(kernel).gram(EXAMPLES).tobytes() == kernel.gram(EXAMPLES).tobytes()


@pytest.mark.parametrize("options", [{"mode": "preference"}, {"symmetric": False}], ids=repr)
def test_kernels_of_pairs_come_back_as_they_were(options, round_trip):
    kernel = kw.PairKernel(kw.OnView("tree", kw.SubtreeKernel()), **options)
    assert round_trip(kernel) == kernel


def test_what_is_shared_stays_shared(round_trip):
    leaf = kw.SubtreeKernel()
    again = round_trip(leaf + leaf)
    assert again.left is again.right


def test_equal_vectors_become_the_same_vectors(round_trip):
    raw = kw.Vectors(VECTORS.words, VECTORS.matrix, normalize=False)
    twin = kw.Vectors(VECTORS.words, VECTORS.matrix, normalize=False)
    one, other = (kw.SubsequenceKernel(similarity=Gaussian(v)) for v in (raw, twin))
    again = round_trip(one + other)
    assert again.left.similarity.vectors is again.right.similarity.vectors
    assert raw is not twin


def test_threads_are_not_saved(round_trip):
    assert round_trip(kw.SubtreeKernel(n_jobs=7)).n_jobs is None


@pytest.mark.parametrize("depth", [5000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_a_kernel_may_be_nested_beyond_any_recursion(depth, round_trip):
    kernel = kw.SubtreeKernel()
    for _ in range(depth):
        kernel = Scaled(kernel, 0.5)
    again, levels = round_trip(kernel), 0
    while isinstance(again, Scaled):
        again, levels = again.kernel, levels + 1
    assert levels == depth and again == kw.SubtreeKernel()


def test_a_sum_of_thousands_of_kernels_is_used_after_loading(round_trip):
    kernel = kw.SubtreeKernel()
    for _ in range(5_000):
        kernel = kernel + kw.SubtreeKernel()
    again = round_trip(kernel)
    assert again == kernel and repr(again) == repr(kernel)
    np.testing.assert_array_equal(again.gram(TREES), kernel.gram(TREES))


def test_a_kernel_shared_exponentially_often_is_there_once(round_trip):
    kernel = kw.SubtreeKernel()
    for _ in range(64):
        kernel = kernel + kernel
    again = round_trip(kernel)
    assert again.left is again.right and again.left.left is again.right.right


def test_a_kernel_inside_itself_is_refused(tmp_path):
    kernel = Scaled(kw.SubtreeKernel(), 0.5)
    kernel.kernel = kw.Normalized(kernel)
    with pytest.raises(ModelFormatError, match="is inside itself"):
        save(kernel, tmp_path / "k.kw")


class OwnKernel(kw.Kernel):
    accepts = TreeBatch

    def __init__(self, *, weight=1.0):
        self.weight = weight

    def reference(self, a, b):
        return self.weight


class OwnSubtree(kw.SubtreeKernel):
    pass


class OwnSimilarity(Exact):
    pass


class OwnVectors:
    matrix = VECTORS.matrix

    def rows(self, labels):
        return VECTORS.rows(labels)


@pytest.mark.parametrize(
    "model",
    [
        OwnKernel(),
        OwnSubtree(),
        kw.SubtreeKernel() + OwnKernel(),
        kw.SubtreeKernel(similarity=OwnSimilarity()),
        Lexical(OwnVectors()),
        "subtree",
        kw.SubtreeKernel,
        kw.Tree("a"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_no_row_knows_is_refused_and_nothing_is_written(model, tmp_path):
    path = tmp_path / "k.kw"
    with pytest.raises(
        ModelFormatError, match=r"cannot be saved(.|\n)*kernelwood\.persist\.MODELS"
    ):
        save(model, path)
    assert list(tmp_path.iterdir()) == []


def test_the_message_tells_which_parameter_cannot_be_saved(tmp_path):
    kernel = 0.5 * kw.SubtreeKernel(similarity=OwnSimilarity())
    with pytest.raises(ModelFormatError, match=r"k\.kw: SubtreeKernel: similarity .*OwnSimilarity"):
        save(kernel, tmp_path / "k.kw")


def test_a_kernel_of_ones_own_can_have_a_row(monkeypatch, round_trip):
    monkeypatch.setitem(MODELS, ("kernel", "own"), Row("kernel", "own", OwnKernel))
    assert round_trip(2 * OwnKernel(weight=3.0)) == 2 * OwnKernel(weight=3.0)


@pytest.mark.parametrize(
    "model",
    [kw.SubtreeKernel(decay=5), Scaled(kw.SubtreeKernel(), -1), Sum(kw.SubtreeKernel(), "b")],
    ids=["decay", "factor", "part"],
)
def test_a_kernel_that_could_not_be_used_is_not_saved(model, tmp_path):
    with pytest.raises(KernelInputError):
        save(model, tmp_path / "k.kw")


@pytest.mark.parametrize(
    "change",
    [
        {"decay": 5},
        {"decay": "0.4"},
        {"gates": {"kind": "mapping", "values": {"a": "b"}}},
        {"normalize": 3},
        {"similarity": "exact"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_forged_parameter_that_is_out_of_range_is_refused(change, forge):
    def put(manifest, members):
        manifest["parameters"].update(change)

    with pytest.raises(ModelFormatError, match=f"SubtreeKernel: {next(iter(change))} must"):
        load(forge(kw.SubtreeKernel(), put))


@pytest.mark.parametrize("matrix", [np.array([[1.0, 0.5], [0.5, 1.0]]), ((1, 0.5), (0.5, 1))])
@pytest.mark.parametrize("labels", [["a", "b"], ("a", "b"), np.array(["a", "b"])], ids=type)
def test_tables_come_back_from_arrays_and_tuples(matrix, labels, round_trip):
    table = Table(labels, matrix)
    assert round_trip(table) == table


def test_vectors_keep_rows_that_were_never_scaled(round_trip):
    vectors = kw.Vectors(["a", "b", "zero"], [[3, 4], [1, 1e-30], [0, 0]], normalize=False)
    again = round_trip(vectors)
    assert again == vectors and again.matrix.tobytes() == vectors.matrix.tobytes()
    assert "zero" not in again and not again.matrix.flags.writeable


def test_vectors_are_not_scaled_again(round_trip):
    vectors = kw.Vectors([f"w{i}" for i in range(500)], np.random.default_rng(0).random((500, 7)))
    assert round_trip(vectors).matrix.tobytes() == vectors.matrix.tobytes()


def test_vectors_that_are_mapped_into_memory_are_copied_into_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("kernelwood.vectors.cache.SMALLEST", 0)
    monkeypatch.setenv("KERNELWOOD_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "vectors.txt"
    source.write_text("cat 1 2\ndog 3 4\n")
    kw.Vectors.load(source)
    kernel = kw.SubsequenceKernel(similarity=Exponential(kw.Vectors.load(source)))
    assert not kernel.similarity.vectors.matrix.flags.owndata
    save(kernel, tmp_path / "k.kw")
    source.unlink()
    assert load(tmp_path / "k.kw") == kernel


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda words, matrix: (words[:-1], matrix), "4 distinct words for 5 rows"),
        (lambda words, matrix: (["a", *words[:-1]], matrix), "4 distinct words for 5 rows"),
        (lambda words, matrix: (words, matrix.astype(np.float64)), "float64"),
        (lambda words, matrix: (words, matrix.ravel()[:5]), "shape"),
        (lambda words, matrix: (words, matrix * np.float32(np.nan)), "not finite"),
    ],
    ids=["too few", "twice", "float64", "one axis", "nan"],
)
def test_forged_vectors_are_refused(change, problem, forge):
    def put(manifest, members):
        words, matrix = change(list(VECTORS.words), VECTORS.matrix)
        members["words.txt"] = dump_text(words)
        members["matrix.npy"] = b"".join(array_chunks(matrix))

    with pytest.raises(ModelFormatError, match=problem):
        load(forge(VECTORS, put))


def test_a_kernel_of_ones_own_is_refused_with_how_to_register_it(tmp_path):
    class OwnKernel(kw.Kernel):
        accepts = kw.arrays.TreeBatch

        def reference(self, a, b):
            return 1.0

    for kernel in (OwnKernel(), 0.5 * OwnKernel()):
        with pytest.raises(ModelFormatError) as caught:
            kw.save(kernel, tmp_path / "own.kw")
        assert "Row('kernel', " in str(caught.value)
        assert "OwnKernel)" in str(caught.value)
