"""What ``import kernelwood`` costs and offers."""

import pytest

import kernelwood as kw

HEAVY = ("sklearn", "scipy", "pandas", "joblib")
SHOW_HEAVY = f"print([name for name in {HEAVY} if name in sys.modules])"


@pytest.mark.parametrize(
    "lines",
    [
        ["import kernelwood"],
        ["import kernelwood as kw", "kw.SubsetTreeKernel().gram([kw.Tree('a', [kw.Tree('b')])])"],
        ["import kernelwood as kw", "(kw.SubsequenceKernel() + kw.SubsequenceKernel()).gram([])"],
    ],
)
def test_scikit_learn_and_scipy_are_not_imported(lines, run_python):
    assert run_python("import sys", *lines, SHOW_HEAVY) == "[]"


def test_importing_kernelwood_does_not_import_numpy(run_python):
    assert run_python("import sys, kernelwood", "print('numpy' in sys.modules)") == "False"


def test_every_public_name_is_listed():
    assert set(kw.__all__) <= set(dir(kw))


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'Kernle'; did you mean 'Kernel'"):
        _ = kw.Kernle


def test_nothing_is_printed(run_python):
    lines = [
        "import kernelwood as kw, logging",
        "kw.SubsetTreeKernel().gram([kw.Tree('a', [kw.Tree('b')])])",
    ]
    assert run_python(*lines) == ""
