"""What holds for every built-in similarity."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st
from similarity_cases import (
    VARIANTS,
    by_definition,
    every_variant,
    labels,
    random_vectors,
    sample_labels as sample,
)

from kernelwood.errors import KernelInputError
from kernelwood.similarity import SIMILARITIES, Exact, Table

every_formula = pytest.mark.parametrize(
    "similarity", [similarity for similarity in VARIANTS if not isinstance(similarity, Table)]
)
CLOSE = {"rtol": 1e-12, "atol": 1e-14}


def test_every_row_of_the_table_is_tested():
    assert {type(similarity) for similarity in VARIANTS} == set(SIMILARITIES.values())


def pairwise(similarity, left, right):
    values = [similarity.value(a, b) for a in left for b in right]
    return np.array(values).reshape(len(left), len(right))


@every_variant
def test_the_table_holds_the_values(similarity):
    chosen = sample()[::3]
    np.testing.assert_allclose(
        similarity.table(chosen, chosen), pairwise(similarity, chosen, chosen), **CLOSE
    )


@given(
    st.sampled_from(VARIANTS),
    st.lists(labels, max_size=6),
    st.lists(labels, max_size=6),
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
)
def test_the_table_holds_the_values_of_any_labels(similarity, left, right, seed, dim):
    if hasattr(similarity, "vectors"):
        similarity = similarity.clone().set_params(vectors=random_vectors(seed, dim))
    np.testing.assert_allclose(
        similarity.table(left, right), pairwise(similarity, left, right), **CLOSE
    )


@every_variant
def test_values_lie_between_zero_and_one(similarity):
    table = similarity.table(sample(), sample())
    assert table.dtype == np.float64
    assert (table >= 0).all() and (table <= 1).all()


@every_variant
def test_left_and_right_can_be_exchanged(similarity):
    left, right = sample()[::2], sample()[1::3]
    np.testing.assert_allclose(
        similarity.table(left, right), similarity.table(right, left).T, **CLOSE
    )


@every_variant
def test_the_resolution_and_its_formula_give_the_table(similarity):
    chosen = sample()[::4]
    resolution = similarity.resolve(chosen)
    n = range(len(chosen))
    expected = [[by_definition(resolution, i, j) for j in n] for i in n]
    np.testing.assert_allclose(similarity.table(chosen, chosen), expected, **CLOSE)


@every_variant
def test_labels_of_different_groups_never_match(similarity):
    groups = similarity.resolve(sample()).groups
    table = similarity.table(sample(), sample())
    assert not table[groups[:, None] != groups].any()


@every_variant
def test_groups_are_numbered_without_holes(similarity):
    resolution = similarity.resolve(sample())
    assert resolution.groups.dtype == np.int32
    assert set(resolution.groups.tolist()) == set(range(resolution.n_groups))


@every_variant
def test_a_label_that_matches_only_itself_has_a_group_of_its_own(similarity):
    resolution = similarity.resolve(sample())
    alone = np.count_nonzero(similarity.table(sample(), sample()), axis=1) == 1
    if resolution.table is None:
        alone = resolution.rows < 0
    assert alone.any()
    assert (np.bincount(resolution.groups)[resolution.groups[alone]] == 1).all()


@every_variant
def test_rows_point_into_contiguous_vectors(similarity):
    resolution = similarity.resolve(sample())
    assert resolution.rows.dtype == np.int64 and resolution.rows.min() >= -1
    if resolution.vectors is not None:
        assert resolution.vectors.flags.c_contiguous
        assert resolution.vectors.dtype in (np.float32, np.float64)
        assert resolution.rows.max() < len(resolution.vectors)


@every_variant
def test_no_labels_give_an_empty_table(similarity):
    assert similarity.table([], []).shape == (0, 0)
    assert similarity.table(["a"], []).shape == (1, 0)
    assert similarity.resolve([]).n_groups == 0


@every_variant
def test_repeated_labels_give_repeated_values(similarity):
    chosen = sample()[:20]
    once = similarity.table(chosen, chosen)
    twice = similarity.table(chosen + chosen, chosen)
    np.testing.assert_allclose(twice, np.vstack([once, once]), **CLOSE)


@every_variant
def test_odd_labels_match_only_themselves(similarity):
    odd = ["", "::", "##", "LEX##", "COMP##dobj<play::v", "COMP##<,>", "COMP##root<*::*,*::*>"]
    np.testing.assert_array_equal(similarity.table(odd, odd), np.eye(len(odd)))
    assert not similarity.table(odd, ["play", "LEX##play::v", "POS##NN"]).any()


@every_formula
def test_a_word_never_matches_a_tag(similarity):
    words = ["play", "play::v", "LEX##play::v", "NN"]
    tags = ["POS##play", "POS##NN", "SYNT##play", "SYNT##play::v", "OTHER##play"]
    assert not similarity.table(words, tags).any()
    np.testing.assert_array_equal(similarity.table(tags, tags), np.eye(len(tags)))


@every_variant
def test_the_smallest_eigenvalue_is_that_of_the_table(similarity):
    chosen = list(dict.fromkeys(sample()))
    expected = np.linalg.eigvalsh(similarity.table(chosen, chosen))[0]
    found = similarity.smallest_eigenvalue([*sample(), *sample()])
    assert found == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", ["exact", "gaussian", "exponential"])
def test_what_claims_to_be_positive_semidefinite_is(name, seed):
    vectors = {} if name == "exact" else {"vectors": random_vectors(seed, 1 + seed % 5)}
    similarity = SIMILARITIES[name](**vectors)
    assert similarity.positive_semidefinite is True
    assert similarity.smallest_eigenvalue(sample()) > -1e-12


# Parameters.


@every_variant
@pytest.mark.parametrize(
    "duplicate",
    [lambda x: x.clone(), copy.copy, lambda x: type(x)(**x.get_params(deep=False))],
    ids=["clone", "copy", "get_params"],
)
def test_duplicates_are_equal(similarity, duplicate):
    other = duplicate(similarity)
    assert other == similarity and hash(other) == hash(similarity) and other is not similarity


@every_variant
def test_pickled_similarities_give_the_same_table(similarity):
    other = pickle.loads(pickle.dumps(similarity))
    np.testing.assert_array_equal(
        other.table(sample(), sample()), similarity.table(sample(), sample())
    )


@every_variant
def test_similarities_with_other_parameters_are_not_equal(similarity):
    assert sum(similarity == other for other in VARIANTS) == 1


@every_variant
def test_repr_names_the_class(similarity):
    assert repr(similarity).startswith(f"{type(similarity).__name__}(")


@every_variant
def test_a_mistyped_parameter_is_noticed(similarity):
    with pytest.raises(KernelInputError, match="has no parameter 'no_such_name'"):
        similarity.clone().set_params(no_such_name=1)


@every_variant
def test_a_string_is_not_a_list_of_labels(similarity):
    with pytest.raises(KernelInputError, match=r"left must be a list .* write \['play'\]"):
        similarity.table("play", ["play"])


def test_labels_must_be_strings():
    with pytest.raises(KernelInputError, match="right must be a list of strings, got 3"):
        Exact().table(["a"], ["a", 3])


@pytest.mark.parametrize(
    "name", ["gaussian", "sigmoid", "exponential", "threshold", "lexical", "compositional"]
)
@pytest.mark.parametrize("wrong", [None, {"play": [1.0, 0.0]}, "glove.txt"])
def test_vectors_of_another_kind_are_refused(name, wrong):
    similarity = SIMILARITIES[name](wrong)
    for use in (
        similarity.check,
        lambda: similarity.value("a", "b"),
        lambda: similarity.resolve([]),
    ):
        with pytest.raises(KernelInputError, match=r"vectors must be a Vectors object.*load"):
            use()
