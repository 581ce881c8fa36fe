"""Crafted models of every kind are refused, or can be used: no crash, no foreign error, no NaN."""

import random
import sys
import warnings
from pathlib import Path

import pytest

import kernelwood as kw
from kernelwood.errors import ModelFormatError

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[2] / "tools"))

import golden
from crafted import User, variants

# Forged numbers give odd results, of which numpy and the kernels warn.
pytestmark = pytest.mark.filterwarnings("ignore")

FILES = sorted(golden.FOLDER.glob("*.kw"))

# Each loaded before, and then ended in a foreign error or gave NaN.
FOUND = [
    ("kernel-combined", "parameters of part 3 at name: ['x']"),
    ("kernel-svc-pairs", "parameters of part 12 at name: []"),
    ("kernel-svc-pairs", "coefficients_.npy: largest last"),
    ("kernel-svc-pairs", "coefficients_.npy: largest and -largest"),
    ("relation-extractor", "parts/6/support_indices_.npy: one more everywhere"),
    ("relation-extractor", "parts/6/support_indices_.npy: largest last"),
    ("relation-extractor", "parameters of part 7 at types: False"),
    ("relation-extractor", "parameters of part 7 at fitted-n_candidates_: 0"),
    ("relation-extractor", "parameters of part 7 at relations: True"),
    ("relation-extractor", "parameters of part 7 at fitted-views_/0: ''"),
    ("relation-extractor", "parameters of part 7 at fitted-type_examples_/values/hears: []"),
    (
        "relation-extractor",
        "parameters of part 7 at fitted-trial_/values: {'kind': 'tuple', 'values': []}",
    ),
    (
        "gate-learner",
        "parameters of part 4 at fitted-trace_/1/values/label: {'kind': 'mapping', 'values': {}}",
    ),
    ("kernel-kmeans-vectors", "centers_.npy: largest first"),
    ("kernel-kmeans-vectors", "parts/7/projection_.npy: largest everywhere"),
    ("nystrom-embedder-grown", "projection_.npy: largest last"),
    ("hasher-kulis", "gram_.npy: largest everywhere"),
    ("hasher-rknn", "parameters of part 4 at subset_size: 7"),
    ("hasher-rknn", "parameters of part 4 at subset_size: 2147483648"),
    ("hasher-rknn", "parameters of part 4 at subset_size: 9223372036854775807"),
]


@pytest.fixture(scope="module")
def user():
    return User(golden)


def check_uses(user, path, chosen):
    """Load changed files and use what is loaded; return how many are refused, and how many not."""
    refused = used = 0
    for name, make in chosen:
        try:
            outcome = user.outcome(make())
        except Exception as error:
            error.add_note(f"{path.name} with {name}")
            raise
        refused, used = refused + (outcome is None), used + (outcome is not None)
    return refused, used


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_unchanged_model_can_be_used(user, path):
    assert user.outcome(path.read_bytes()) == "used"


@pytest.mark.parametrize(("stem", "name"), FOUND)
def test_what_was_found_is_refused(stem, name, tmp_path):
    data = (golden.FOLDER / f"{stem}.kw").read_bytes()
    path = tmp_path / "crafted.kw"
    path.write_bytes(dict(variants(data))[name]())
    with pytest.raises(ModelFormatError) as caught:
        kw.load(path)
    assert caught.value.path == str(path)


def test_an_array_that_is_refused_is_named(tmp_path):
    data = (golden.FOLDER / "kernel-kmeans.kw").read_bytes()
    path = tmp_path / "crafted.kw"
    path.write_bytes(dict(variants(data))["center_norms_.npy: nan first"]())
    with pytest.raises(ModelFormatError, match=r"center_norms_ must be finite") as caught:
        kw.load(path)
    assert caught.value.member == "center_norms_.npy"


@pytest.mark.parametrize("n", [3, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_crafted_arrays_and_strings_are_refused_or_work(user, path, n):
    found = list(variants(path.read_bytes(), parameters=False))
    chosen = random.Random(path.stem).sample(found, min(n, len(found)))
    assert sum(check_uses(user, path, chosen)) == len(chosen)


@pytest.mark.parametrize("n", [2, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_crafted_parameters_are_refused_or_work(user, path, n):
    found = [row for row in variants(path.read_bytes()) if row[0].startswith("parameters")]
    chosen = random.Random(path.stem).sample(found, min(n, len(found)))
    assert sum(check_uses(user, path, chosen)) == len(chosen)


def test_changes_reach_both_outcomes(user):
    path = golden.FOLDER / "kernel-svc.kw"
    found = list(variants(path.read_bytes(), parameters=False))[::9]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused, used = check_uses(user, path, found)
    assert refused > len(found) / 2 and used > 2
