"""A batch that few structures are compared with again and again keeps what its engine knows."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import cases
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from work import count_calls

import kernelwood as kw
from kernelwood.arrays import ForestBatch
from kernelwood.kernels import KERNELS
from kernelwood.kernels.engine import EngineKernel
from kernelwood.kernels.vector_kernel import _Prepared

# Kernels that prepare: those that match labels exactly, except the kernel of forests.
PREPARING = [
    (name, parameters)
    for name, parameters in cases.CASES
    if issubclass(KERNELS[name], EngineKernel)
    and KERNELS[name].accepts is not ForestBatch
    and "similarity" not in parameters
]
IDS = [
    identifier for identifier, case in zip(cases.IDS, cases.CASES, strict=True) if case in PREPARING
]
PREPARE = EngineKernel._prepare
TREE = kw.Tree.from_brackets


@pytest.fixture(params=PREPARING, ids=IDS)
def kernel(request):
    name, parameters = request.param
    return KERNELS[name](**parameters)


def unprepared(kernel, compute):
    """Return what ``compute`` returns of a kernel that prepares nothing."""
    plain = copy.copy(kernel)
    plain._prepares = False
    return compute(plain)


def large(kernel, structure, n=64):
    """Return a batch that is large enough to be prepared for a structure."""
    return kw.batch([structure] * n)


@pytest.mark.filterwarnings("ignore:.*self-similarity 0")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # it has no state
@given(st.data())
def test_every_way_gives_the_bits_of_an_unprepared_comparison(kernel, data):
    few = data.draw(st.lists(cases.strategy(kernel), min_size=1, max_size=8))
    many = data.draw(st.lists(cases.strategy(kernel), min_size=1, max_size=4))
    many = kw.batch([*many, *cases.sample(kernel, 12)] * 8)
    dtype = data.draw(st.sampled_from(["float64", "float32"]))
    kernel.set_params(normalize=data.draw(st.booleans()))
    right = unprepared(kernel, lambda k: k.cross(few, many, dtype=dtype))
    for n in (len(few), len(few), 1):
        assert (kernel.cross(few[:n], many, dtype=dtype) == right[:n]).all()
    assert (kernel.pairs([few[0]] * len(many), many, dtype=dtype) == right[0]).all()
    if dtype == "float64":
        assert kernel.value(few[0], many[3]) == right[0, 3]
    best, values = kernel.neighbors(few, many, 3, dtype=dtype)
    order = np.argsort(-right, axis=1, kind="stable")[:, :3]
    assert (best == order).all()
    assert (values == np.take_along_axis(right, order, axis=1)).all()


def test_few_structures_are_prepared_for_once(kernel):
    sample = cases.sample(kernel, 12)
    many = kw.batch(sample * 8)
    [first] = count_calls(lambda: kernel.cross(sample[:1], many), PREPARE)
    [again] = count_calls(lambda: kernel.cross(sample[1:2], many), PREPARE)
    assert (first, again) == (1, 0)


def test_labels_that_came_later_match_nothing(kernel):
    make = (lambda label: kw.Sequence([label, "b"])) if "sequence" in kernel.accepts.kind else None
    make = make or (lambda label: TREE(f"(S (A {label}) (B b))"))
    many = large(kernel, make("a"))
    kernel.cross([make("a")], many)
    for new in ("never", "seen"):
        right = unprepared(kernel, lambda k, one=new: k.cross([make(one)], many))
        assert (kernel.cross([make(new)], many) == right).all()


def test_a_vocabulary_that_grows_after_preparation(kernel):
    sample = cases.sample(kernel, 12)
    many = kw.batch(sample * 8)
    kernel.cross(sample[:1], many)
    size = len(many.vocabulary)
    for one in sample:
        renamed = cases.with_labels(one, lambda label: label + "!")
        later = kw.batch([renamed], vocabulary=many.vocabulary)
        right = unprepared(kernel, lambda k, later=later: k.cross(later, kw.batch(sample * 8)))
        assert (kernel.cross(later, many) == right).all()
    assert len(many.vocabulary) > size


def test_parameters_that_change_after_preparation(kernel):
    sample = cases.sample(kernel, 12)
    many = kw.batch(sample * 8)
    kernel.cross(sample[:2], many)
    kernel.set_params(decay=0.123)
    right = unprepared(kernel, lambda k: k.cross(sample[:2], many))
    assert (kernel.cross(sample[:2], many) == right).all()
    if kernel.gates is not None:
        kernel.set_params(gates={**kernel.gates})
        kernel.cross(sample[:2], many)
        kernel.gates.update(dict.fromkeys(kernel.gates, 0.77))  # in place
        right = unprepared(kernel, lambda k: k.cross(sample[:2], many))
        assert (kernel.cross(sample[:2], many) == right).all()


def test_sixteen_threads_share_what_is_prepared(kernel):
    sample = cases.sample(kernel, 12)
    many = kw.batch(sample * 8)
    right = unprepared(kernel, lambda k: k.cross(sample, many))
    with ThreadPoolExecutor(16) as pool:
        rows = list(pool.map(lambda i: kernel.cross([sample[i % len(sample)]], many), range(64)))
    for i, row in enumerate(rows):
        assert (row[0] == right[i % len(sample)]).all()


def test_nothing_is_compared_with_a_prepared_side(kernel):
    sample = cases.sample(kernel, 12)
    many = kw.batch(sample * 8)
    kernel.cross(sample[:1], many)
    assert kernel.cross(many[:0], many).shape == (0, len(many))
    assert kernel.cross(many, many[:0]).shape == (len(many), 0)


TREES = [TREE(f"(S (A (X x{n % 5}) (Y y{n % 3})) (B (X x{n % 4}) z{n % 7}))") for n in range(200)]


@pytest.mark.parametrize("decay", [1.0, 1e-3])
@pytest.mark.parametrize("kernel", [kw.SubsetTreeKernel(), kw.PartialTreeKernel()])
def test_structures_beyond_the_range_of_a_number_type(kernel, decay):
    bush = "x"
    for _ in range(11):
        bush = f"(A {bush} {bush})"
    extreme = [TREE(f"(S {bush} {label})") for label in "yz"]
    kernel.set_params(decay=decay)
    for few, others in ((extreme, TREES), (TREES[:2], [*extreme, *TREES, *TREES])):
        many = kw.batch(others * 20)
        for dtype in ("float64", "float32"):
            right = unprepared(kernel, lambda k, f=few, m=many, d=dtype: k.cross(f, m, dtype=d))
            assert (kernel.cross(few, many, dtype=dtype) == right).all()
            assert (kernel.cross(few, many, dtype=dtype) == right).all()


def test_structures_without_anything_to_count_are_reported():
    kernel = kw.SubsetTreeKernel(gates={"S": 0.0}, gate_on="node")
    leaves = [TREE("(S (A a))"), TREE("(S b)")]
    many = kw.batch([*TREES, leaves[1]])
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match=r"2 structure\(s\) have self-similarity 0"):
            assert (kernel.cross(leaves[1:], many) == 0).all()
        with pytest.warns(RuntimeWarning, match=r"1 structure\(s\) have self-similarity 0"):
            kernel.cross(leaves[:1], many)


@pytest.mark.parametrize("method", ["gram", "cross"])
def test_the_report_points_to_the_caller(method):
    kernel = kw.SubsetTreeKernel(gates={"S": 0.0, "A": 0.0}, gate_on="node")
    trees = kw.batch([TREE("(S b)"), TREE("(S c)")])
    with pytest.warns(RuntimeWarning, match="self-similarity 0") as caught:
        getattr(kernel, method)(*[trees] * (1 + (method == "cross")))
    assert {one.filename for one in caught} == {__file__}


def test_raw_values_that_no_double_holds_raise_an_error():
    bush = "x"
    for _ in range(11):
        bush = f"(A {bush} {bush})"
    kernel = kw.SubsetTreeKernel(decay=1.0, normalize=False)
    big = TREE(f"(S {bush} y)")
    for _ in range(2):
        with pytest.raises(kw.errors.KernelOverflowError, match="raw value exceeds the range"):
            kernel.cross([big], kw.batch([big, *TREES] * 40))


# What is kept: how much, how long.


def test_memory_of_what_is_kept_is_reported_and_bounded():
    many, kernel = kw.batch(TREES), kw.SubsetTreeKernel()
    assert many.prepared_nbytes == 0
    kernel.cross(TREES[:1], many)
    alone = many.prepared_nbytes
    assert 10 * many.n_elements < alone < 500 * many.n_elements
    memory = 16 * 3 * alone
    with kw.config_context(memory=memory):
        for n in range(1, 12):
            kw.SubsetTreeKernel(decay=n / 20).cross(TREES[:1], many)
            assert many.prepared_nbytes <= memory / 16
    assert many.prepared_nbytes > 1.5 * alone
    many.forget()
    assert many.prepared_nbytes == 0


def test_structures_that_take_too_much_memory_are_not_kept():
    many, kernel = kw.batch(TREES), kw.SubsetTreeKernel()
    right = kernel.cross(TREES[:1], many)
    many.forget()
    for memory in (1000, 30_000, 300_000, 10**6):
        with kw.config_context(memory=memory):
            assert (kernel.cross(TREES[:1], many, out=np.empty((1, len(many)))) == right).all()
            assert many.prepared_nbytes <= max(memory / 16, 4 * 8 * len(many))


def test_what_is_kept_stays_with_the_batch():
    many, kernel = kw.batch(TREES), kw.SubsetTreeKernel()
    size = len(pickle.dumps(many))
    kernel.cross(TREES[:1], many)
    assert many[:].prepared_nbytes == many.prepared_nbytes > 0
    assert many[1:].prepared_nbytes == many[[0, 1]].prepared_nbytes == 0
    assert copy.copy(many).prepared_nbytes == pickle.loads(pickle.dumps(many)).prepared_nbytes == 0
    assert len(pickle.dumps(many)) == size


def test_views_of_examples_keep_theirs():
    examples = kw.batch([kw.Example(str(n), views={"tree": tree}) for n, tree in enumerate(TREES)])
    kernel = 0.5 * kw.OnView("tree", kw.SubsetTreeKernel()) + kw.OnView(
        "tree", kw.PartialTreeKernel()
    )
    kernel.cross(examples[:1], examples)
    kept = examples.prepared_nbytes
    assert kept > 0
    assert count_calls(lambda: kernel.cross(examples[1:2], examples), PREPARE) == [0]
    assert examples.prepared_nbytes == kept
    examples.forget()
    assert examples.prepared_nbytes == 0


@pytest.mark.parametrize(
    "combined",
    [
        kw.SubsetTreeKernel() + 0.5 * kw.PartialTreeKernel(),
        kw.SubsetTreeKernel() * kw.SubtreeKernel(),
        kw.Normalized(kw.SubsetTreeKernel(normalize=False) + kw.PartialTreeKernel() ** 2),
    ],
)
def test_combinations_compare_with_prepared_sides(combined):
    many = kw.batch(TREES)
    right = combined.cross(many, many)
    for n in (1, 3, 16):
        assert (combined.cross(TREES[:n], many) == right[:n]).all()
    assert count_calls(lambda: combined.cross(TREES[5:6], many), PREPARE) == [0]
    assert (
        combined.pairs(many[:50], many[50:100]) == right[np.arange(50), 50 + np.arange(50)]
    ).all()
    assert combined.value(TREES[3], TREES[4]) == right[3, 4]


def test_a_saved_model_has_nothing_of_what_is_kept(tmp_path):
    labels = [str(n % 2) for n in range(len(TREES))]
    model = kw.KernelSVC(kw.SubsetTreeKernel()).fit(TREES, labels)
    kw.save(model, tmp_path / "before.kwm")
    model.predict(TREES[:1])
    assert model.supports_.prepared_nbytes > 0
    kw.save(model, tmp_path / "after.kwm")
    assert (tmp_path / "before.kwm").read_bytes() == (tmp_path / "after.kwm").read_bytes()


@pytest.mark.parametrize("kind", ["cosine", "rbf"])
@pytest.mark.parametrize("names", [True, False])
def test_vectors_are_prepared_once(kind, names):
    rows = np.random.default_rng(0).normal(size=(50, 6)) * (np.arange(6) % 2)
    vectors = [{f"f{i}": float(x) for i, x in enumerate(row) if x} for row in rows]
    few = [{**vectors[0], "new": 2.0}, {"f0": 0.5, "a": 1.0}] if names else rows[:2] + 1.0
    many = kw.batch(vectors if names else rows)
    kernel = kw.VectorKernel(kind, gamma=0.5)
    right = kernel.cross(few, kw.batch(vectors if names else rows))
    kernel.cross(few[1:], many)
    prepared = _Prepared.of.__func__
    assert count_calls(lambda: kernel.cross(few, many), prepared) == [0]
    assert (kernel.cross(few, many) == right).all()
    assert (right == kernel.cross(many, few).T).all()
    assert many.prepared_nbytes > 0
