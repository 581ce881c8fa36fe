from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given, strategies as st
from parsed_samples import sentences

import kernelwood as kw
from kernelwood.search import text_similarities, text_similarity
from kernelwood.views import lct

KERNEL = kw.SubsequenceKernel()
SEQUENCES = strategies.sample_sequences(60, seed=5)
HOW = ["best", "mean"]


def cut(structures, sizes):
    """Return texts of the given sizes."""
    ends = np.cumsum(sizes).tolist()
    return [structures[end - size : end] for end, size in zip(ends, sizes, strict=True)]


TEXTS = cut(SEQUENCES, [3, 1, 7, 2, 12, 1, 5])
OTHERS = cut(SEQUENCES[31:], [4, 9, 1, 6])


def best_by_definition(kernel, a, b):
    values = kernel.cross(a, b).tolist()
    forth = [max(row) for row in values]
    back = [max(column) for column in zip(*values, strict=True)]
    return (sum(forth) / len(forth) + sum(back) / len(back)) / 2


def mean_by_definition(kernel, a, b):
    def mean(a, b):
        return sum(map(sum, kernel.cross(a, b).tolist())) / (len(a) * len(b))

    return mean(a, b) / (mean(a, a) * mean(b, b)) ** 0.5


DEFINITIONS = {"best": best_by_definition, "mean": mean_by_definition}


@pytest.mark.parametrize("how", HOW)
def test_similarities_follow_the_definition(how):
    found = text_similarities(KERNEL, TEXTS, OTHERS, how=how)
    expected = [[DEFINITIONS[how](KERNEL, a, b) for b in OTHERS] for a in TEXTS]
    assert found == pytest.approx(np.array(expected), rel=1e-12)


@pytest.mark.parametrize("how", HOW)
def test_a_kernel_that_is_not_normalized_follows_the_definition(how):
    kernel = kw.SubsequenceKernel(normalize=False)
    expected = [[DEFINITIONS[how](kernel, a, b) for b in TEXTS] for a in TEXTS]
    assert text_similarities(kernel, TEXTS, how=how) == pytest.approx(np.array(expected))


texts = st.lists(strategies.sequences().filter(len), min_size=1, max_size=4)


@pytest.mark.parametrize("how", HOW)
@given(a=texts, b=texts)
def test_two_texts_follow_the_definition(how, a, b):
    assert text_similarity(KERNEL, a, b, how=how) == pytest.approx(
        DEFINITIONS[how](KERNEL, a, b), abs=1e-12
    )


@pytest.mark.parametrize("how", HOW)
@given(a=texts, b=texts)
def test_similarity_does_not_depend_on_the_order_of_texts(how, a, b):
    there, back = (text_similarity(KERNEL, *two, how=how) for two in ((a, b), (b, a)))
    assert there == pytest.approx(back, abs=1e-12)


@pytest.mark.parametrize("how", HOW)
@given(a=texts)
def test_a_text_is_as_similar_to_itself_as_can_be(how, a):
    assert text_similarity(KERNEL, a, a, how=how) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("how", HOW)
def test_texts_of_one_sentence_are_as_similar_as_the_sentences(how):
    singles = [[sequence] for sequence in SEQUENCES]
    expected = KERNEL.gram(SEQUENCES)
    assert text_similarities(KERNEL, singles, how=how) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("how", HOW)
def test_texts_among_themselves_are_symmetric_to_the_bit(how):
    found = text_similarities(KERNEL, TEXTS, how=how)
    assert (found == found.T).all()
    assert found == pytest.approx(text_similarities(KERNEL, TEXTS, TEXTS, how=how), abs=1e-12)


def test_means_are_positive_semidefinite():
    found = text_similarities(KERNEL, cut(SEQUENCES, [2] * 30), how="mean")
    assert np.linalg.eigvalsh(found)[0] > -1e-12


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("others", [None, OTHERS])
@pytest.mark.parametrize(("n_sentences", "n_pairs"), [(1, 1), (4, 10), (9, 3), (1000, 40)])
def test_no_bit_depends_on_blocks(monkeypatch, how, others, n_sentences, n_pairs):
    expected = text_similarities(KERNEL, TEXTS, others, how=how)
    monkeypatch.setattr("kernelwood.search.text_comparison._SENTENCES", n_sentences)
    monkeypatch.setattr("kernelwood.search.block_comparison._PAIRS", n_pairs)
    assert (text_similarities(KERNEL, TEXTS, others, how=how) == expected).all()


@pytest.mark.parametrize("how", HOW)
def test_no_bit_depends_on_company(how):
    found = text_similarities(KERNEL, TEXTS, OTHERS, how=how)
    alone = [[text_similarity(KERNEL, a, b, how=how) for b in OTHERS] for a in TEXTS]
    assert (found == alone).all()


@pytest.mark.parametrize("how", HOW)
def test_no_bit_depends_on_threads(how, force_threads):
    expected = text_similarities(KERNEL, TEXTS, how=how)
    with kw.config_context(n_jobs=2):
        assert (text_similarities(KERNEL, TEXTS, how=how) == expected).all()


def test_small_memory_changes_nothing_but_the_blocks():
    expected = text_similarities(KERNEL, TEXTS, OTHERS)
    with kw.config_context(memory=1000):
        assert (text_similarities(KERNEL, TEXTS, OTHERS) == expected).all()


def test_a_result_beyond_the_memory_budget_is_refused():
    with kw.config_context(memory=100), pytest.raises(kw.errors.MemoryBudgetError, match="fewer"):
        text_similarities(KERNEL, TEXTS)


def test_texts_among_themselves_take_about_half_the_evaluations(monkeypatch):
    monkeypatch.setattr("kernelwood.search.text_comparison._SENTENCES", 4)
    singles = [[sequence] for sequence in SEQUENCES]
    with kw.compute.counting() as counters:
        text_similarities(KERNEL, singles)
    assert counters.kernel_evaluations < 0.55 * 60 * 60


@pytest.mark.parametrize("others", [None, OTHERS])
def test_progress_ends_with_the_total(monkeypatch, others):
    monkeypatch.setattr("kernelwood.search.text_comparison._SENTENCES", 4)
    calls = []
    with kw.config_context(progress=lambda done, total: calls.append((done, total))):
        text_similarities(KERNEL, TEXTS, others)
    assert len({total for _, total in calls}) == 1
    assert calls == sorted(calls) and calls[-1][0] == calls[-1][1]


# What texts are.


def test_sentences_are_compared_by_a_view():
    parsed = sentences(8)
    found = text_similarity(kw.PartialTreeKernel(), parsed[:3], parsed[3:], view="lct")
    trees = [lct(one) for one in parsed]
    assert found == text_similarity(kw.PartialTreeKernel(), trees[:3], trees[3:])


def test_the_view_is_chosen_by_the_kernel():
    parsed = sentences(4)
    words = [kw.views.words(one) for one in parsed]
    assert text_similarity(KERNEL, parsed[:1], parsed[1:]) == text_similarity(
        KERNEL, words[:1], words[1:]
    )


def test_documents_are_cut_into_sentences():
    letter, note = kw.Document("We met a cat. It was old."), kw.Document("It was old.")
    expected = text_similarity(KERNEL, letter.sentences(), note.sentences())
    assert text_similarity(KERNEL, letter, note) == expected


def test_batches_are_texts():
    expected = text_similarities(KERNEL, TEXTS)
    assert (text_similarities(KERNEL, [kw.batch(text) for text in TEXTS]) == expected).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([[]], None), "text 0 of texts_a has no sentences"),
        (([TEXTS[0], kw.Document(" ")], None), "text 1 of texts_a has no sentences"),
        ((TEXTS, [TEXTS[0], []]), "text 1 of texts_b has no sentences"),
        (([], None), "texts_a is empty"),
        ((TEXTS, []), "texts_b is empty"),
        ((TEXTS[0], None), "text 0 of texts_a: give a list, got the single Sequence"),
        ((kw.Document("We go."), None), "texts_a must be a list of texts"),
        (("We go.", None), "texts_a must be a list of texts"),
        ((None, None), "texts_a must be a list of texts.*NoneType"),
        (([3], None), "text 0 of texts_a: give a list of sentences"),
    ],
)
def test_what_is_no_text_is_refused(given, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        text_similarities(KERNEL, *given)


@pytest.mark.parametrize(
    ("kernel", "how", "message"),
    [("ssk", "best", "kernel must be a kernel"), (KERNEL, "worst", "how must be one of")],
)
def test_wrong_arguments_are_named(kernel, how, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        text_similarities(kernel, TEXTS, how=how)


def test_texts_that_share_nothing_with_themselves_have_similarity_zero():
    kernel = kw.SubsequenceKernel(normalize=False)
    empty = [[kw.Sequence([])], [kw.Sequence(["a"])]]
    with pytest.warns(RuntimeWarning, match="1 texts have self-similarity 0"):
        found = text_similarities(kernel, empty, how="mean")
    assert found.tolist() == [[0, 0], [0, 1]]
