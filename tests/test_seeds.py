"""One range of seeds for the whole package, and 32 bits for scikit-learn."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

import kernelwood as kw
from kernelwood.cli.options import seed_option
from kernelwood.features.maps import MAPS, map_2d
from kernelwood.seeds import LARGEST_SEED, child_generator, resolve_seed, sklearn_seed

X = np.arange(40.0).reshape(-1, 1)
Y = np.array(["low", "high"] * 20)
GROUPS = np.arange(40) // 4
GUESSES = np.roll(Y, 1)


def test_no_seed_is_another_seed_each_time():
    assert len({resolve_seed(None) for _ in range(5)}) > 1


def test_a_generator_moves_on():
    rng = np.random.default_rng(0)
    assert resolve_seed(rng) != resolve_seed(rng)


@pytest.mark.parametrize("source", [None, np.random.default_rng(0), np.random.RandomState(0)])
def test_what_was_drawn_is_a_seed_itself(source):
    seeds = [resolve_seed(source) for _ in range(200)]
    assert [resolve_seed(seed) for seed in seeds] == seeds
    assert all(0 <= sklearn_seed(seed) < 2**32 for seed in seeds)


@pytest.mark.parametrize("seed", [-1, LARGEST_SEED + 1, 1.0, "1", True])
def test_anything_else_is_refused(seed):
    with pytest.raises(
        kw.errors.KernelInputError, match="random_state must be None, an int from 0"
    ):
        resolve_seed(seed)


@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1])
def test_seeds_that_fit_reach_scikit_learn_unchanged(seed):
    assert sklearn_seed(seed) == seed


def test_large_seeds_are_told_apart_and_stay_the_same():
    large = [2**32, 2**32 + 1, 2**33, LARGEST_SEED]
    small = [sklearn_seed(seed) for seed in large]
    assert small == [sklearn_seed(seed) for seed in large]
    assert len(set(small)) == len(large)


def test_a_drawn_seed_of_scikit_learn_has_kept_its_value():
    # What networks, k-means and maps of models that exist were made with.
    assert sklearn_seed(child_generator(0, 0)) == int(child_generator(0, 0).integers(2**31))


def test_splits_are_those_of_scikit_learn_for_the_same_seed():
    seed = 2**32 - 1
    expected = StratifiedGroupKFold(4, shuffle=True, random_state=seed).split(X, Y, GROUPS)
    found = kw.evaluate.group_splits(GROUPS, Y, n_splits=4, random_state=seed)
    assert [t.tolist() for _, t in found] == [t.tolist() for _, t in expected]
    forest = RandomForestClassifier(2, random_state=0)
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    settings = {"n_bootstrap": 10, "random_state": seed}
    ours = kw.evaluate.cross_validate(forest, X, Y, splits=5, **settings)
    theirs = kw.evaluate.cross_validate(forest, X, Y, splits=folds, **settings)
    assert ours.scores == theirs.scores


@pytest.mark.parametrize(
    "work",
    [
        lambda seed: kw.evaluate.group_splits(GROUPS, Y, random_state=seed),
        lambda seed: kw.evaluate.group_splits(GROUPS, random_state=seed),
        lambda seed: kw.evaluate.score(Y, GUESSES, random_state=seed),
        lambda seed: kw.evaluate.compare(Y, Y, GUESSES, random_state=seed),
        lambda seed: (
            kw.evaluate.cross_validate(
                RandomForestClassifier(2, random_state=0), X, Y, random_state=seed
            ).scores
        ),
        lambda seed: (
            kw.evaluate.cross_validate(
                RandomForestClassifier(2, random_state=0), X, Y, groups=GROUPS, random_state=seed
            ).scores
        ),
        lambda seed: (
            kw.evaluate.train_and_test(
                RandomForestClassifier(2), X, Y, X, Y, random_states=[seed], random_state=seed
            ).scores
        ),
        *(lambda seed, name=name: map_2d(X, name, seed=seed) for name in MAPS),
    ],
)
def test_large_seeds_are_taken_everywhere_and_repeat(work):
    first, second = work(LARGEST_SEED), work(LARGEST_SEED)
    assert repr(first) == repr(second)
    work(resolve_seed(None))


def test_a_run_is_named_by_the_seed_that_repeats_it():
    seeds = [3, LARGEST_SEED]
    forest = RandomForestClassifier(2)
    [small, large] = kw.evaluate.train_and_test(forest, X, Y, X, Y, random_states=seeds).runs
    assert (small.name, large.name) == ("seed 3", f"seed {sklearn_seed(LARGEST_SEED)}")


def test_the_command_line_takes_the_same_seeds():
    [option] = seed_option(lambda: None).__click_params__
    assert (option.type.min, option.type.max) == (0, LARGEST_SEED)
