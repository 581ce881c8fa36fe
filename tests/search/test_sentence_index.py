from __future__ import annotations

import copy
import pickle
import threading
import warnings

import numpy as np
import pytest
import strategies
from hypothesis import given, settings, strategies as st
from parsed_samples import sentence, sentences
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import kernelwood as kw
from kernelwood.datasets import load_questions
from kernelwood.persist import load, save
from kernelwood.persist.estimators import estimator_state, restore_estimator
from kernelwood.search import Match, SentenceIndex
from kernelwood.views import lct

SENTENCES = sentences(80, seed=1)
QUERIES = sentences(6, seed=2)
KERNEL = kw.PartialTreeKernel()
BY = ["vectors", "codes"]


def index(**parameters):
    options = {"n_landmarks": 20, "n_bits": 64, "random_state": 3, **parameters}
    return SentenceIndex(options.pop("kernel", None), **options)


def by_definition(query, kept, k):
    """Ids and similarities by the exact kernel, by similarity and id."""
    values = KERNEL.cross([lct(one) for one in kept.values()], [lct(query)])[:, 0].tolist()
    ranked = sorted(zip(values, kept, strict=True), key=lambda pair: (-pair[0], pair[1]))
    return [(number, value) for value, number in ranked[:k]]


def pairs(matches):
    return [(match.id, match.similarity) for match in matches]


# Searching.


@pytest.mark.parametrize("by", BY)
def test_re_ranking_everything_is_an_exact_search(by):
    made = index(by=by, n_rerank=10**6).fit(SENTENCES)
    kept = dict(enumerate(SENTENCES))
    for query in QUERIES:
        assert pairs(made.search(query, 7)) == by_definition(query, kept, 7)


@pytest.mark.parametrize("by", BY)
def test_a_sentence_finds_itself_first(by):
    distinct = list({one.text: one for one in SENTENCES}.values())
    made = index(by=by).fit(distinct)
    found = made.search(distinct, 1)
    assert [row[0].text for row in found] == [one.text for one in distinct]


def test_one_query_gives_a_list_of_matches():
    made = index(by="codes").fit(SENTENCES)
    matches = made.search(QUERIES[0], 3)
    assert [type(match) for match in matches] == [Match] * 3


@pytest.mark.parametrize("by", BY)
def test_several_queries_give_a_list_for_each(by):
    made = index(by=by).fit(SENTENCES)
    assert made.search(QUERIES, 3) == [made.search(query, 3) for query in QUERIES]


def test_no_queries_give_no_lists():
    assert index(by="codes").fit(SENTENCES).search([]) == []


@pytest.mark.parametrize("by", BY)
def test_more_than_there_is_gives_what_there_is(by):
    made = index(by=by).fit(SENTENCES[:5])
    assert len(made.search(QUERIES[0], 50)) == 5


def test_re_ranking_covers_all_that_is_asked_for():
    made = index(by="codes", n_rerank=2).fit(SENTENCES)
    assert len(made.search(QUERIES[0], 20)) == 20


@pytest.mark.parametrize("by", BY)
def test_without_re_ranking_similarities_are_marked_as_approximate(by):
    made = index(by=by).fit(SENTENCES)
    assert not any(match.exact for match in made.search(QUERIES[0], 5, n_rerank=0))
    assert all(match.exact for match in made.search(QUERIES[0], 5))


def test_scores_of_codes_are_shares_of_equal_bits():
    made = index(by="codes").fit(SENTENCES)
    _, distances = made.index_.search([lct(QUERIES[0])], 5)
    scores = [match.similarity for match in made.search(QUERIES[0], 5, n_rerank=0)]
    assert scores == [1 - distance / 64 for distance in distances[0].tolist()]


def test_scores_of_vectors_are_about_the_similarities():
    made = index(by="vectors", n_landmarks=80).fit(SENTENCES)
    for match in made.search(QUERIES[0], 5, n_rerank=0):
        assert match.similarity == pytest.approx(
            KERNEL.value(lct(QUERIES[0]), lct(SENTENCES[match.id])), abs=0.05
        )


@pytest.mark.parametrize("by", BY)
def test_results_do_not_depend_on_threads(by, force_threads):
    expected = index(by=by).fit(SENTENCES).search(QUERIES, 6)
    assert index(by=by, n_jobs=2).fit(SENTENCES).search(QUERIES, 6) == expected


def test_several_threads_may_search_at_the_same_time():
    made = index(by="codes").fit(SENTENCES)
    expected = made.search(QUERIES, 5)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(made.search(QUERIES, 5))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


# Texts and names.


def test_texts_are_those_of_the_sentences():
    made = index(by="codes").fit(SENTENCES)
    for match in made.search(QUERIES[0], 5):
        assert match.text == SENTENCES[match.id].text


def test_names_are_the_ids_of_examples():
    examples = [kw.Example(f"s{i}", views={"sentence": s}) for i, s in enumerate(SENTENCES)]
    made = index(by="codes").fit(examples)
    assert made.names_.tolist() == [example.id for example in examples]
    assert made.texts_.tolist() == [one.text for one in SENTENCES]


# Coming and going.


@pytest.mark.parametrize("by", BY)
def test_added_sentences_are_found(by):
    made = index(by=by, n_rerank=100).fit(SENTENCES[:50])
    assert made.add(SENTENCES[50:]).tolist() == list(range(50, 80))
    assert pairs(made.search(QUERIES[0], 9)) == by_definition(
        QUERIES[0], dict(enumerate(SENTENCES)), 9
    )


def test_adding_nothing_gives_no_ids():
    assert index(by="codes").fit(SENTENCES).add([]).tolist() == []


def test_ids_are_not_used_twice():
    made = index(by="codes").fit(SENTENCES)
    made.remove([79])
    assert made.add(SENTENCES[:1]).tolist() == [80]


@pytest.mark.parametrize("ids", [[2], [80], [-1], 7.5, "3", [2**70]])
def test_ids_that_are_not_there_are_refused(ids):
    made = index(by="codes").fit(SENTENCES)
    made.remove(2)
    with pytest.raises(kw.errors.KernelInputError, match=r"no sentence with the id|whole numbers"):
        made.remove(ids)
    assert len(made) == 79


@pytest.mark.parametrize("by", BY)
def test_an_empty_index_finds_nothing_and_can_be_filled_again(by):
    made = index(by=by).fit(SENTENCES)
    made.remove(made.ids_)
    assert made.search(QUERIES[0]) == [] and made.search(QUERIES) == [[]] * 6
    with pytest.raises(kw.errors.KernelInputError, match="the index is empty"):
        made.refit()
    assert made.add(SENTENCES[:1]).tolist() == [80]
    assert [match.id for match in made.search(QUERIES[0])] == [80]


@given(st.data())
@settings(max_examples=20)
def test_any_sequence_of_additions_removals_and_new_landmarks(data):
    made = index(by="codes", n_bits=8).fit(SENTENCES[:10])
    kept = dict(enumerate(SENTENCES[:10]))
    for _ in range(data.draw(st.integers(1, 6))):
        step = data.draw(st.sampled_from(["add", "remove", "refit"]))
        if step == "add":
            new = data.draw(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=8))
            kept.update(zip(made.add(new).tolist(), new, strict=True))
        elif step == "refit" and len(kept) > 1:
            made.refit()
        elif kept:
            gone = data.draw(st.lists(st.sampled_from(sorted(kept)), max_size=6))
            made.remove(gone)
            for number in set(gone):
                del kept[number]
    assert made.ids_.tolist() == sorted(kept) and len(made) == len(kept)
    assert made.texts_.tolist() == [kept[number].text for number in sorted(kept)]
    if kept:
        found = made.search(QUERIES[0], len(kept))
        assert pairs(found) == by_definition(QUERIES[0], kept, len(kept))
        assert all(match.text == kept[match.id].text for match in found)


# New landmarks.


@pytest.mark.parametrize("by", BY)
def test_new_landmarks_keep_the_ids(by):
    made = index(by=by, n_rerank=200).fit(SENTENCES[:10])
    made.add(SENTENCES[10:])
    made.remove([0, 4, 33])
    before = made.search(QUERIES, 5)
    assert made.refit().search(QUERIES, 5) == before
    assert made.add(SENTENCES[:1]).tolist() == [80]


@pytest.mark.parametrize("by", BY)
def test_new_landmarks_are_those_of_an_index_of_all(by):
    made = index(by=by).fit(SENTENCES[:10])
    made.add(SENTENCES[10:])
    whole = index(by=by).fit(SENTENCES)
    assert made.refit().search(QUERIES, 9, n_rerank=0) == whole.search(QUERIES, 9, n_rerank=0)


@pytest.mark.parametrize(("by", "n"), [("vectors", 1), ("codes", 2), ("codes", 3), ("vectors", 7)])
def test_few_sentences_all_become_landmarks_without_a_warning(by, n):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = SentenceIndex(by=by, random_state=0).fit(SENTENCES[:n])
    chosen = (
        made.index_.embedder_.landmarks_ if by == "vectors" else made.index_.hasher_.references_
    )
    assert len(chosen) == n


def test_codes_of_a_single_sentence_are_refused():
    with pytest.raises(kw.errors.KernelInputError, match="fit on more sentences"):
        index(by="codes").fit(SENTENCES[:1])


# Views and kernels.


def test_examples_may_have_the_view():
    questions = load_questions()
    made = index(by="codes", view="words").fit(questions)
    assert made.view_ == "words" and made.kernel_ == kw.SubsequenceKernel()
    assert made.search(questions[4], 1)[0].name == questions[4].id


def test_a_kernel_on_views_gets_the_views_it_names():
    kernel = kw.OnView("lct", KERNEL) + kw.OnView("words", kw.SubsequenceKernel())
    made = index(by="codes", kernel=kernel).fit(SENTENCES)
    match = made.search(QUERIES[0], 1)[0]
    a, b = (
        kw.Example("x", views={"lct": lct(one), "words": kw.views.words(one)})
        for one in (QUERIES[0], SENTENCES[match.id])
    )
    assert match.similarity == kernel.value(a, b)


@pytest.mark.parametrize("given_as", [list, kw.batch])
def test_structures_are_compared_as_they_are(given_as):
    trees = strategies.sample_trees(30, seed=4)
    made = index(by="codes", kernel=kw.SubsetTreeKernel()).fit(given_as(trees))
    expected = kw.SubsetTreeKernel().neighbors(trees[:1], trees, 4)
    assert made.view_ is None
    assert [match.id for match in made.search(trees[0], 4)] == expected[0][0].tolist()
    assert made.search(trees[0], 1)[0].text == trees[0].to_brackets()


def test_the_kernel_of_the_caller_can_change():
    kernel = kw.PartialTreeKernel()
    made = index(by="codes", kernel=kernel).fit(SENTENCES)
    before = made.search(QUERIES, 3)
    kernel.set_params(decay=0.9)
    assert made.search(QUERIES, 3) == before and made.kernel_ == kw.PartialTreeKernel()


# Explaining.


@pytest.mark.parametrize("by", BY)
def test_explaining_names_what_is_shared(by):
    made = index(by=by).fit(SENTENCES)
    made.remove([0, 1])
    query = sentence("cats", "see", "moles")
    found = made.search(query, 1)[0]
    expected = kw.shared_fragments(KERNEL, lct(query), lct(SENTENCES[found.id]), 3)
    assert made.explain(query, found.id, 3) == expected


def test_explaining_works_with_kernels_on_views():
    kernel = kw.OnView("words", kw.SubsequenceKernel())
    made = index(by="codes", kernel=kernel).fit(SENTENCES)
    [fragment, *_] = made.explain(SENTENCES[3], 3)
    assert fragment.text.split() == SENTENCES[3].text.split()


def test_explaining_an_unknown_id_names_it():
    made = index(by="codes").fit(SENTENCES)
    with pytest.raises(kw.errors.KernelInputError, match="no sentence with the id 99"):
        made.explain(QUERIES[0], 99)


# Parameters.


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"by": "names"}, "by must be one of"),
        ({"kernel": "ptk"}, "kernel must be a kernel"),
        ({"view": 3}, "view must be the name of a view"),
        ({"n_landmarks": 1}, "n_landmarks must be an int of at least 2"),
        ({"n_rerank": -1}, "n_rerank must be an int of at least 0"),
        ({"n_bits": 0}, "n_bits must be an int of at least 1"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        index(**parameters).fit(SENTENCES)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k must be an int of at least 1"),
        ({"k": 2.0}, "k must be an int of at least 1"),
        ({"n_rerank": -1}, "n_rerank must be an int of at least 0"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    made = index(by="codes").fit(SENTENCES)
    with pytest.raises(kw.errors.KernelInputError, match=message):
        made.search(QUERIES, **arguments)


def test_nothing_to_fit_on_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match="at least one sentence"):
        index().fit([])


def test_what_is_not_fitted_says_so():
    asks = (lambda i: i.search(QUERIES), lambda i: i.add(SENTENCES), len, lambda i: i.refit())
    for ask in asks:
        with pytest.raises(NotFittedError, match="call fit"):
            ask(index())


def test_fitting_that_fails_leaves_nothing_half_fitted():
    made = index(by="codes").fit(SENTENCES)
    with pytest.raises(kw.errors.KernelInputError):
        made.fit(SENTENCES[:1])
    with pytest.raises(NotFittedError):
        made.search(QUERIES)


def test_a_clone_has_the_same_parameters():
    made = index(by="codes", view="words")
    assert clone(made.fit(SENTENCES)).get_params() == made.get_params()


# Copies and files.


@pytest.mark.parametrize("by", BY)
def test_a_loaded_index_finds_the_same_and_goes_on(by, tmp_path):
    made = index(by=by).fit(SENTENCES[:70])
    made.add(SENTENCES[70:])
    made.remove([0, 79])
    save(made, tmp_path / "index.kw")
    again = load(tmp_path / "index.kw")
    assert again.search(QUERIES, 5) == made.search(QUERIES, 5)
    assert again.add(SENTENCES[:1]) == made.add(SENTENCES[:1]) == 80
    assert again.refit().search(QUERIES, 5, n_rerank=0) == made.refit().search(
        QUERIES, 5, n_rerank=0
    )


def test_an_index_can_be_saved_after_new_landmarks(tmp_path):
    made = index(by="codes").fit(SENTENCES)
    made.remove([3, 5])
    made.refit()
    save(made, tmp_path / "index.kw")
    assert load(tmp_path / "index.kw").search(QUERIES, 5) == made.search(QUERIES, 5)


def test_an_empty_index_can_be_saved(tmp_path):
    made = index(by="codes").fit(SENTENCES)
    made.remove(made.ids_)
    save(made, tmp_path / "index.kw")
    assert load(tmp_path / "index.kw").add(SENTENCES[:1]).tolist() == [80]


def test_texts_with_line_feeds_are_saved(tmp_path):
    texts = ["we\ngo", "na\u00efve", "\ud800", ""]
    examples = [
        kw.Example(text, views={"words": kw.Sequence(["a", "b"]), "text": text}) for text in texts
    ]
    made = index(by="codes").fit(examples)
    save(made, tmp_path / "index.kw")
    again = load(tmp_path / "index.kw")
    assert again.texts_.tolist() == again.names_.tolist() == texts


def test_an_index_that_was_changed_underneath_is_not_saved(tmp_path):
    made = index(by="codes").fit(SENTENCES)
    made.index_.remove([0])
    with pytest.raises(kw.errors.ModelFormatError, match="was changed after fitting"):
        save(made, tmp_path / "index.kw")


@pytest.mark.parametrize("by", BY)
def test_copies_are_independent(by):
    made = index(by=by).fit(SENTENCES)
    expected = made.search(QUERIES, 5)
    for other in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert other.search(QUERIES, 5) == expected
        other.remove(range(60))
    assert made.search(QUERIES, 5) == expected


def restored(made, **changes):
    state = estimator_state(made)
    for name, value in changes.items():
        state.arrays.pop(name, None)
        state.texts.pop(name, None)
        state.parameters.pop(f"fitted-{name}", None)
        if isinstance(value, np.ndarray):
            state.arrays[name] = value
        elif isinstance(value, list):
            state.texts[name] = value
            state.parameters[f"fitted-{name}"] = None
        else:
            state.parameters[f"fitted-{name}"] = value
    return restore_estimator(SentenceIndex, state)


@pytest.mark.parametrize(
    "changes",
    [
        {"ids_": np.zeros(80, dtype=np.int64)},
        {"ids_": np.arange(-1, 79)},
        {"ids_": np.arange(79)},
        {"ids_": np.arange(80.0)},
        {"ids_": None},
        {"next_id_": 79},
        {"next_id_": 2**63},
        {"next_id_": True},
        {"texts_": ["x"] * 79},
        {"texts_": np.zeros(80)},
        {"texts_": None},
        {"names_": ["x"] * 81},
        {"names_": 3},
        {"view_": 3},
        {"index_": 3},
        {"index_": None},
        {"index_": kw.HashIndex(KERNEL, n_references=9).fit([lct(s) for s in SENTENCES[:9]])},
        {"kernel_": kw.SubsequenceKernel()},
        {"kernel_": None},
        {"seed_": "x"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_hostile_state_is_refused(changes):
    with pytest.raises(ValueError, match=r"must be"):
        restored(index(by="codes").fit(SENTENCES), **changes)
