"""What every row of ``KERNELS`` says about parameters and data it cannot use."""

import warnings

import pytest
from cases import every_kernel, sample

import kernelwood as kw
from kernelwood.errors import KernelInputError
from kernelwood.structures import Sequence, Tree


@every_kernel
@pytest.mark.parametrize("decay", [0, -0.5, 1.5, float("nan"), float("inf"), "0.4", None, True, 1j])
def test_a_bad_decay_is_named(kernel, decay):
    if "decay" not in kernel.get_params():
        pytest.skip("this kernel has no decay")
    kernel = kernel.clone().set_params(decay=decay)
    with pytest.raises(KernelInputError) as caught:
        kernel.gram(sample(kernel, 2))
    message = str(caught.value)
    assert type(kernel).__name__ in message and "decay" in message and repr(decay) in message


@every_kernel
@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
def test_a_bad_number_of_threads_is_named(kernel, n_jobs):
    with pytest.raises(KernelInputError, match=f"n_jobs .*{n_jobs!r}"):
        kernel.clone().set_params(n_jobs=n_jobs).gram(sample(kernel, 2))


@every_kernel
@pytest.mark.parametrize("dtype", ["float16", "int64", object, "no such type", ">f8"])
def test_a_bad_dtype_is_named(kernel, dtype):
    with pytest.raises(KernelInputError, match="float64 or float32, got ") as caught:
        kernel.gram(sample(kernel, 2), dtype=dtype)
    assert repr(dtype) in str(caught.value)


@every_kernel
@pytest.mark.parametrize("normalize", ["no", None])
def test_a_bad_normalize_is_named(kernel, normalize):
    with pytest.raises(KernelInputError, match="normalize"):
        kernel.clone().set_params(normalize=normalize).gram(sample(kernel, 2))


@every_kernel
@pytest.mark.parametrize(
    ("structures", "complaint"),
    [
        ("(S (NP x))", "got a string"),
        (["(S (NP x))"], "structure 0 .* got str"),
        ([None], "structure 0 .* got NoneType"),
        ([1, 2], "structure 0 .* got int"),
        (None, "got NoneType"),
        (7, "got int"),
        (Tree("x"), "single Tree"),
        (Sequence(["x"]), "single Sequence"),
        ([Tree("x"), Sequence(["x"])], "structure [01] .* got (Tree|Sequence)"),
        ([Sequence(["x"]), Tree("x")], "structure [01] .* got (Tree|Sequence)"),
        ([["a", "b"]], "structure 0 .* got list"),
        ([kw.Graph.from_penman("(a / b)")], "structure 0 .* got Graph"),
        ([kw.Example("1", views={"t": Tree("x")})], "structure 0 .* got Example\n.*OnView"),
    ],
)
def test_what_is_no_structure_is_named(kernel, structures, complaint):
    if complaint.endswith("Graph") and kernel.accepts is kw.arrays.GraphBatch:
        pytest.skip("this kernel reads graphs")
    with pytest.raises(KernelInputError, match=f"{type(kernel).__name__}.*{complaint}"):
        kernel.gram(structures)


@every_kernel
def test_the_wrong_kind_of_batch_is_named(kernel):
    trees, sequences = kw.batch([Tree("x")]), kw.batch([Sequence(["x"])])
    wrong = sequences if kernel.accepts is kw.arrays.TreeBatch else trees
    with pytest.raises(KernelInputError, match=f"expected .*s, got a batch of {wrong.kind}s"):
        kernel.gram(wrong)


@every_kernel
def test_value_complains_like_gram(kernel):
    with pytest.raises(KernelInputError, match="got str"):
        kernel.value("a", "b")


@every_kernel
def test_structures_on_the_right_are_checked_too(kernel):
    with pytest.raises(KernelInputError, match=r"structure 0 .* got int"):
        kernel.cross(sample(kernel, 1), [3])


@every_kernel
@pytest.mark.parametrize("method", ["gram", "cross", "diag", "pairs"])
def test_no_warning_without_reason(kernel, method):
    X = sample(kernel, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(kernel, method)(*([X] if method in ("gram", "diag") else [X, X]))
