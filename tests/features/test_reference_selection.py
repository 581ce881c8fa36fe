"""References chosen by information and by coverage, against algorithm 1 in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given, strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import kernelwood as kw
from kernelwood.datasets import load_questions
from kernelwood.features import (
    ReferenceSelector,
    draw_bits,
    draw_sample,
    make_bits,
    n_words,
    reference_selection,
    unpack,
)
from kernelwood.features.reference_selection import (
    Comparisons,
    Swap,
    changed_bits,
    label_table,
    swapped_bits,
)
from kernelwood.information import explain_classes, mutual_information
from kernelwood.seeds import child_generator

METHODS = ("rknn", "rmm", "kulis")
KERNEL = kw.SubsequenceKernel(decay=0.7, max_length=2)
NOISE = [f"n{i}" for i in range(6)]


def planted(n, seed=0):
    """Sequences of two classes that show in some words; few consist of little else."""
    random = np.random.default_rng(seed)
    sequences, labels = [], []
    for _ in range(n):
        label = ("no", "yes")[random.integers(2)]
        n_telling, n_others = (3, 1) if random.random() < 0.15 else (1, 8)
        words = [f"{label}{number}" for number in random.choice(4, n_telling)]
        words += random.choice(NOISE, n_others).tolist()
        random.shuffle(words)
        sequences.append(kw.Sequence(words))
        labels.append(label)
    return sequences, labels


X, Y = planted(100)


def selector(kernel=KERNEL, **parameters):
    options = {
        "n_references": 6, "n_bits": 40, "n_candidates": 12, "n_samples": 30, "random_state": 5,
    }  # fmt: skip
    return ReferenceSelector(kernel, **{**options, **parameters})


def choices(fitted):
    return [(step["slot"], step["removed"], step["chosen"]) for step in fitted.trace_]


# Algorithm 1.


def bits_by_definition(method, subsets, references, examples):
    """All bits of examples, from kernel values that are all computed anew."""
    gram = KERNEL.gram(references)
    codes = np.zeros((len(examples), n_words(len(subsets))), dtype=np.uint64)
    make_bits(method, gram, subsets).fill(KERNEL.cross(examples, references), 0, codes)
    return unpack(codes, len(subsets))


def examples_by_definition(random, labels, n):
    order = random.permutation(len(labels)).tolist()
    chosen = order[:n]
    for label in sorted(set(labels)):
        if label not in [labels[i] for i in chosen]:
            chosen.append(next(i for i in order if labels[i] == label))
            counts = [sum(labels[i] == labels[j] for j in chosen) for i in chosen]
            chosen.pop(max(i for i, count in enumerate(counts[:-1]) if count > 1))
    return sorted(chosen)


def step_by_definition(number, fitted, references):
    """The examples, the candidates and the objective with each of them in a slot."""
    random = child_generator(fitted.seed_, 2, number)
    examples = examples_by_definition(random, Y, fitted.n_samples)
    random.permutation(0)  # of examples without a label
    free = [i for i in range(len(X)) if i not in references]
    candidates = sorted(random.permutation(free)[: fitted.n_candidates].tolist())
    classes = np.array([Y[i] == "yes" for i in examples]).astype(int)
    seed = int(random.integers(2**62))

    def bits(chosen):
        structures = [X[i] for i in chosen]
        return bits_by_definition(
            fitted.method, fitted.subsets_, structures, [X[i] for i in examples]
        )

    fit = explain_classes(bits(references), classes, random_state=seed)
    slot = number % len(references)
    values = []
    for candidate in [references[slot], *candidates]:
        changed = bits([*references[:slot], candidate, *references[slot + 1 :]])
        warm = explain_classes(changed, classes, start=fit, max_iterations=2, tolerance=0.0)
        values.append(warm.mutual_information)
    return dict(zip([references[slot], *candidates], values, strict=True))


@pytest.mark.parametrize("method", METHODS)
def test_choices_are_those_of_the_algorithm(method):
    fitted = selector(method=method, n_steps=8).fit(X, Y)
    references = child_generator(5, 0).permutation(len(X))[:6].tolist()
    for number, step in enumerate(fitted.trace_):
        values = step_by_definition(number, fitted, references)
        assert (step["step"], step["slot"]) == (number, number % 6)
        assert step["removed"] == references[step["slot"]]
        assert step["before"] == pytest.approx(values[step["removed"]], abs=1e-9)
        assert step["after"] == pytest.approx(values[step["chosen"]], abs=1e-9)
        assert step["after"] == pytest.approx(max(values.values()), abs=1e-9)
        assert step["n_candidates"] == 12
        better = [v for v in values.values() if v > step["before"] + 1e-9]
        assert len(better) <= step["n_better"]
        references[step["slot"]] = step["chosen"]
    assert fitted.indices_.tolist() == references
    assert len({step["chosen"] for step in fitted.trace_}) > 3


def test_the_objective_never_falls():
    fitted = selector(n_steps=14).fit(X, Y)
    assert all(step["after"] >= step["before"] for step in fitted.trace_)
    assert any(step["after"] > step["before"] for step in fitted.trace_)


def test_a_reference_stays_if_no_candidate_is_better():
    fitted = selector(n_candidates=1, n_steps=12).fit(X, Y)
    kept = [step for step in fitted.trace_ if step["n_better"] == 0]
    assert kept and all(step["chosen"] == step["removed"] for step in kept)
    assert all(step["after"] == step["before"] for step in kept)


def test_references_stay_distinct():
    fitted = selector(n_steps=14).fit(X, Y)
    assert len(set(fitted.indices_.tolist())) == 6


def test_the_search_begins_with_what_a_random_hasher_has():
    fitted = selector(n_steps=0).fit(X, Y)
    hasher = kw.KernelHasher(KERNEL, n_references=6, n_bits=40, random_state=5).fit(X)
    assert fitted.indices_.tolist() == hasher.reference_indices_.tolist()
    assert (fitted.subsets_ == hasher.subsets_).all()
    assert fitted.trace_ == []


def test_more_steps_go_on_where_fewer_end():
    few, many = selector(n_steps=3).fit(X, Y), selector(n_steps=7).fit(X, Y)
    assert many.trace_[:3] == few.trace_


def test_a_slot_that_no_bit_needs_keeps_its_reference():
    fitted = selector(n_bits=1, subset_size=1).fit(X, Y)
    idle = sorted(set(range(6)) - set(fitted.subsets_.ravel().tolist()))
    assert len(idle) == 4
    assert all(fitted.trace_[slot]["n_better"] == 0 for slot in idle)


# Only what changes is made anew.


@given(st.integers(0, 2**32), st.sampled_from(METHODS), st.integers(1, 3))
def test_changed_bits_are_those_that_are_made_anew(seed, method, size):
    random = np.random.default_rng(seed)
    m, n_candidates, n = 8, 5, 9
    points = random.normal(size=(m + n_candidates + n, 6))
    values = points @ points.T
    gram, slot = values[:m, :m].copy(), int(random.integers(m))
    subsets = draw_bits(method, gram, seed=seed, first_bit=0, n_bits=30, subset_size=size).subsets
    columns = changed_bits(method, subsets, slot)
    swap = Swap(
        slot,
        gram,
        values[m + n_candidates :, : m + n_candidates],
        values[m : m + n_candidates, :m],
        values.diagonal()[m : m + n_candidates],
    )
    present = whole_bits(method, values, subsets, list(range(m)), m + n_candidates)
    found = swapped_bits(method, swap, subsets[columns])
    for candidate in range(n_candidates):
        references = [*range(slot), m + candidate, *range(slot + 1, m)]
        expected = whole_bits(method, values, subsets, references, m + n_candidates)
        changed = present.copy()
        changed[:, columns] = found[candidate]
        assert (changed == expected).all()


def whole_bits(method, values, subsets, references, first):
    similarities = np.ascontiguousarray(values[first:][:, references])
    codes = np.zeros((len(similarities), n_words(len(subsets))), dtype=np.uint64)
    gram = np.ascontiguousarray(values[np.ix_(references, references)])
    make_bits(method, gram, subsets).fill(similarities, 0, codes)
    return unpack(codes, len(subsets))


@pytest.mark.parametrize("method", METHODS)
def test_choices_do_not_depend_on_how_many_candidates_are_held(method, monkeypatch):
    expected = selector(method=method).fit(X, Y).trace_
    monkeypatch.setattr(reference_selection, "_CANDIDATES_AT_ONCE", 5)
    assert selector(method=method).fit(X, Y).trace_ == expected


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_choices_do_not_depend_on_memory(method, dtype):
    kernel = KERNEL.clone().set_params(dtype=dtype)
    rich = selector(kernel, method=method, n_steps=8).fit(X[:60], Y[:60])
    with kw.config_context(memory="50kB"):
        poor = selector(kernel, method=method, n_steps=8).fit(X[:60], Y[:60])
    assert poor.trace_ == rich.trace_


def test_all_similarities_are_computed_once_if_that_is_less():
    with kw.compute.counting() as few:
        selector(n_steps=8).fit(X[:60], Y[:60])
    with kw.config_context(memory="50kB"), kw.compute.counting() as many:
        selector(n_steps=8).fit(X[:60], Y[:60])
    beside = 6 * 7 // 2 + 8 * 12  # the first references, and candidates with themselves
    assert few.kernel_evaluations == 60**2 + beside
    assert many.kernel_evaluations == 8 * (30 * 18 + 12 * 6) + beside


@pytest.mark.parametrize("planned", [0, 10**6])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_similarities_have_the_number_type_that_is_asked_for(planned, dtype):
    kernel = KERNEL.clone().set_params(dtype="float32")
    comparisons = Comparisons(kernel, kw.batch(X), planned)
    found = comparisons.between(np.array([3, 1]), np.array([5, 6, 7]), dtype)
    expected = kernel.cross([X[3], X[1]], X[5:8], dtype=dtype)
    assert found.dtype == expected.dtype and (found == expected).all()


def test_choices_do_not_depend_on_threads(force_threads):
    assert selector(n_jobs=3).fit(X, Y).trace_ == selector().fit(X, Y).trace_


def test_choices_do_not_depend_on_list_or_batch():
    assert selector().fit(kw.batch(X), np.array(Y)).trace_ == selector().fit(X, Y).trace_


def test_progress_counts_steps():
    seen = []
    with kw.config_context(progress=lambda done, total: seen.append((done, total))):
        selector(n_steps=4).fit(X, Y)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


# Examples of a step.


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.integers(1, 45), st.integers(0, 99))
def test_a_sample_has_every_class(classes, n, seed):
    classes = np.array(classes)
    sample = draw_sample(np.random.default_rng(seed), classes, n)
    assert len(sample) == min(n, len(classes)) == len(set(sample.tolist()))
    assert len(set(classes[sample].tolist())) == min(n, len(set(classes.tolist())))


def test_a_sample_is_a_plain_draw_if_no_class_is_missing():
    classes = np.arange(60) % 2
    for seed in range(20):
        drawn = np.random.default_rng(seed).permutation(60)[:30]
        sample = draw_sample(np.random.default_rng(seed), classes, 30)
        assert sample.tolist() == sorted(drawn.tolist())


# What it is good for.


@pytest.fixture(scope="module")
def forests():
    """Return forests by how their references are chosen, several of each."""
    train = planted(600, seed=1)
    options = {"n_references": 20, "subset_size": 1, "n_bits": 100, "n_estimators": 40}
    choice = ReferenceSelector(KERNEL, n_candidates=60, n_samples=200)
    return {
        name: [
            kw.HashForestClassifier(KERNEL, references=how, random_state=seed, **options).fit(
                *train
            )
            for seed in range(3)
        ]
        for name, how in {"random": "random", "coverage": "coverage", "information": choice}.items()
    }


FRESH, FRESH_LABELS = planted(300, seed=8)


@pytest.mark.parametrize("strategy", ["information", "coverage"])
def test_informative_structures_are_found(strategy, forests):
    random, chosen = (
        np.mean([sum(len(x) == 4 for x in f.hasher_.references_) for f in some])
        for some in (forests["random"], forests[strategy])
    )
    assert chosen > random + 3


@pytest.mark.parametrize("strategy", ["information", "coverage"])
def test_chosen_references_tell_more_about_fresh_examples(strategy, forests):
    random, chosen = (
        np.mean([mutual_information(f.hasher_.transform(FRESH), FRESH_LABELS) for f in some])
        for some in (forests["random"], forests[strategy])
    )
    assert chosen > random + 1


@pytest.mark.parametrize("strategy", ["information", "coverage"])
def test_forests_gain_by_chosen_references(strategy, forests):
    random, chosen = (
        np.mean([forest.score(FRESH, FRESH_LABELS) for forest in some])
        for some in (forests["random"], forests[strategy])
    )
    assert chosen > random + 0.1


# Structures without a label.


def test_structures_without_a_label_may_become_references():
    labeled, labels = X[:20], Y[:20]
    fitted = selector(n_steps=12).fit(labeled, labels, unlabeled=X[20:])
    others = fitted.indices_[fitted.indices_ >= 20]
    assert len(others)
    where = int(np.flatnonzero(fitted.indices_ >= 20)[0])
    assert fitted.references_[where] == X[fitted.indices_[where]]


def test_structures_without_a_label_have_a_part_in_the_objective():
    assert selector().fit(X, Y, unlabeled=X[:50]).trace_ != selector().fit(X, Y).trace_


def test_at_most_half_of_the_examples_have_no_label():
    search = reference_selection.SlotSearch(
        None, np.arange(20) % 2, None, None, None, method="rmm", n_pool=2000,
        n_candidates=9, n_samples=30, seed=0,
    )  # fmt: skip
    labeled, unlabeled = search._draw_examples(np.random.default_rng(0))
    assert (len(labeled), len(unlabeled)) == (15, 15)
    assert labeled.max() < 20 <= unlabeled.min()


@pytest.mark.parametrize("strategy", ["information", "coverage"])
def test_no_structures_without_a_label_are_as_if_none_were_given(strategy):
    with_none = selector(strategy=strategy).fit(X, Y, unlabeled=[])
    assert with_none.indices_.tolist() == selector(strategy=strategy).fit(X, Y).indices_.tolist()


# Hostile data.


def test_equal_structures_are_survived():
    fitted = selector().fit([X[0]] * 30 + [X[1]] * 30, ["a"] * 30 + ["b"] * 30)
    assert all(np.isfinite([step["before"], step["after"]]).all() for step in fitted.trace_)


def test_a_reference_is_not_exchanged_for_an_equal_one():
    fitted = selector().fit([X[0]] * 60, Y[:60])
    assert all(step["chosen"] == step["removed"] for step in fitted.trace_)
    assert [step["n_better"] for step in fitted.trace_] == [0] * 6


def test_with_as_many_references_as_structures_there_is_no_choice():
    fitted = selector(n_references=10).fit(X[:10], Y[:10])
    assert sorted(fitted.indices_.tolist()) == list(range(10)) and fitted.trace_ == []


def test_fewer_structures_than_references_are_told():
    with pytest.warns(UserWarning, match="ReferenceSelector: 5 structures are fewer"):
        fitted = selector(n_references=10).fit(X[:5], ["no", "yes", *Y[:3]])
    assert len(fitted.references_) == 5


def test_fewer_structures_than_candidates_and_examples_are_enough():
    fitted = selector(n_candidates=1000, n_samples=1000).fit(X, Y)
    assert {step["n_candidates"] for step in fitted.trace_} == {94}


def test_a_class_of_one_example_is_survived():
    labels = ["rare", *Y[1:]]
    fitted = selector().fit(X, labels)
    assert all(np.isfinite(step["after"]) for step in fitted.trace_)


def test_more_classes_than_examples_are_survived():
    fitted = selector(n_samples=5).fit(X, list(range(len(X))))
    assert all(np.isfinite(step["after"]) for step in fitted.trace_)


@pytest.mark.parametrize("strategy", ["information", "coverage"])
def test_one_class_is_refused(strategy):
    with pytest.raises(kw.errors.KernelInputError, match="all structures are of the class 'no'"):
        selector(strategy=strategy).fit(X, ["no"] * len(X))


def test_missing_labels_are_refused():
    with pytest.raises(kw.errors.KernelInputError, match="1 of 100 labels are missing"):
        selector().fit(X, [None, *Y[1:]])
    with pytest.raises(kw.errors.KernelInputError, match="ReferenceSelector: y is missing"):
        selector().fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"strategy": "random"}, "strategy must be one of"),
        ({"n_candidates": 0}, "n_candidates must be an int of at least 1"),
        ({"n_samples": 3}, "n_samples must be an int of at least 4"),
        ({"n_steps": -1}, "n_steps must be an int of at least 0 or None"),
        ({"method": "lsh"}, "method must be one of"),
        ({"subset_size": 4}, "ReferenceSelector: two subsets of subset_size=4 need 8"),
        ({"kernel": "sst"}, "kernel must be a kernel"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(kw.errors.KernelInputError, match=message):
        selector(**parameters).fit(X, Y)


def test_deep_trees_are_compared():
    deep = kw.Tree("a")
    for _ in range(3000):
        deep = kw.Tree("b", [deep])
    trees = [deep, *strategies.sample_trees(30)]
    labels = ["x", "y"] * 15 + ["x"]
    for strategy in ("information", "coverage"):
        fitted = selector(kw.SubtreeKernel(), strategy=strategy, n_steps=2).fit(trees, labels)
        assert len(fitted.references_) == 6


# Coverage.


def by_coverage(structures, labels, kernel=KERNEL, n=2):
    return selector(kernel, strategy="coverage", n_references=n).fit(structures, labels)


def test_coverage_compares_no_structures():
    with kw.compute.counting() as counters:
        by_coverage(X, Y)
    assert counters.kernel_evaluations == 0


def test_coverage_leaves_the_subsets_to_others():
    fitted = by_coverage(X, Y)
    assert fitted.subsets_ is None and fitted.trace_ == []


def test_fewer_references_by_coverage_are_the_first_of_more():
    few, many = by_coverage(X, Y, n=4), by_coverage(X, Y, n=9)
    assert many.indices_[:4].tolist() == few.indices_.tolist()


def test_labels_of_sequences_are_covered():
    texts = ["so so", "so yes", "so so so", "so no"]
    fitted = by_coverage([kw.Sequence(text.split()) for text in texts], ["a", "b", "a", "c"])
    assert sorted(fitted.indices_.tolist()) == [1, 3]


def test_edges_are_covered():
    edges = ["", "obj", "", "subj"]
    sequences = [kw.Sequence(["w", (edge, "w")]) for edge in edges]
    fitted = by_coverage(sequences, ["a", "b", "a", "c"])
    assert sorted(fitted.indices_.tolist()) == [1, 3]


def test_edges_without_a_label_do_not_count():
    table = label_table(kw.batch([kw.Sequence(["w"]), kw.Sequence(["w", ("obj", "w")])]))
    assert table.sum(axis=1).ravel().tolist() == [[1.0, 2.0]]


def test_a_label_that_is_covered_counts_less():
    texts = ["so yes", "so yes", "so no", "so so"]
    fitted = by_coverage([kw.Sequence(text.split()) for text in texts], ["a", "a", "b", "c"])
    assert fitted.indices_.tolist() == [0, 2]


def test_an_edge_is_not_the_node_of_the_same_label():
    sequences = [kw.Sequence(elements) for elements in (["x", "w"], ["x", ("x", "w")]) * 2]
    assert sorted(by_coverage(sequences, ["a", "b"] * 2).indices_.tolist()) == [1, 3]


def test_labels_of_forests_are_covered():
    forests = [
        kw.Forest.from_trees([(kw.Tree.from_brackets(text), 1.0)])
        for text in ("(S x)", "(S x y)", "(S x)", "(S x z)")
    ]
    fitted = by_coverage(forests, ["a", "b", "a", "c"], kw.ForestKernel())
    assert sorted(fitted.indices_.tolist()) == [1, 3]


def test_only_views_that_are_read_are_covered():
    read, other = ["w", "w yes", "w", "w no"], ["w yes", "w", "w no", "w"]
    examples = [
        kw.Example(str(i), label, {"read": kw.Sequence(a.split()), "other": kw.Sequence(b.split())})
        for i, (label, a, b) in enumerate(zip("abac", read, other, strict=True))
    ]
    kernel = 0.5 * kw.OnView("read", KERNEL)
    assert sorted(by_coverage(examples, None, kernel).indices_.tolist()) == [1, 3]


def test_several_views_are_covered():
    trees, words = ["(S t)", "(S t T)", "(S t)", "(S t)"], ["w", "w", "w", "w W"]
    examples = [
        kw.Example(
            str(i), label, {"tree": kw.Tree.from_brackets(a), "words": kw.Sequence(b.split())}
        )
        for i, (label, a, b) in enumerate(zip("abac", trees, words, strict=True))
    ]
    kernel = kw.OnView("tree", kw.SubtreeKernel()) + kw.OnView("words", KERNEL)
    fitted = by_coverage(examples, None, kernel)
    assert sorted(fitted.indices_.tolist()) == [1, 3]
    assert sorted(fitted.references_[0].views) == ["tree", "words"]


def test_a_kernel_that_may_read_any_view_is_refused():
    class SameId(kw.Kernel):
        accepts = kw.arrays.ExampleBatch

        def reference(self, a, b):
            return float(a.id == b.id)

    examples = [kw.Example(str(i), "ab"[i % 2], {"w": X[i]}) for i in range(9)]
    with pytest.raises(kw.errors.KernelInputError, match="choose references by 'information'"):
        by_coverage(examples, None, SameId())


# As an estimator.


def test_a_selector_is_cloned():
    copy = clone(selector().fit(X, Y))
    assert copy.get_params()["kernel__decay"] == 0.7
    with pytest.raises(NotFittedError):
        copy._check_is_fitted()


def test_the_seed_is_kept():
    first = selector(random_state=None).fit(X, Y)
    assert selector(random_state=first.seed_).fit(X, Y).trace_ == first.trace_


@pytest.mark.parametrize("strategy", ["information", "coverage"])
def test_a_selector_is_saved(strategy, tmp_path):
    fitted = selector(strategy=strategy).fit(X, Y)
    kw.save(fitted, tmp_path / "selector.kw")
    again = kw.load(tmp_path / "selector.kw")
    assert again.indices_.tolist() == fitted.indices_.tolist()
    assert list(again.references_) == list(fitted.references_)
    assert again.trace_ == fitted.trace_ and again.strategy == strategy
    assert np.array_equal(again.subsets_, fitted.subsets_) or fitted.subsets_ is None


@pytest.mark.parametrize(
    "damage",
    [
        {"indices_": np.zeros(5, dtype=np.int64)},
        {"indices_": np.full(6, -1)},
        {"indices_": "first"},
        {"subsets_": np.full((40, 2, 2), 6, dtype=np.int32)},
        {"subsets_": np.zeros((3, 2, 2), dtype=np.int32)},
        {"subsets_": "all"},
        {"trace_": [{"slot": 1}]},
        {"trace_": 7},
    ],
    ids=lambda damage: next(iter(damage)),
)
def test_what_does_not_fit_together_is_not_saved(damage, tmp_path):
    fitted = selector(n_steps=1).fit(X, Y)
    for name, value in damage.items():
        setattr(fitted, name, value)
    with pytest.raises(kw.errors.ModelFormatError, match="was changed after fitting"):
        kw.save(fitted, tmp_path / "selector.kw")


def test_a_selector_that_is_not_fitted_is_saved_with_what_it_belongs_to(tmp_path):
    choice = selector(n_steps=2, random_state=np.random.default_rng(0))
    hasher = kw.KernelHasher(KERNEL, n_references=6, n_bits=40, references=choice).fit(X, Y)
    kw.save(hasher, tmp_path / "hasher.kw")
    again = kw.load(tmp_path / "hasher.kw")
    assert (again.references.n_steps, again.references.random_state) == (2, None)
    assert (again.codes(X) == hasher.codes(X)).all()
    with pytest.raises(NotFittedError):
        again.references._check_is_fitted()


# Where hashcodes are used.


QUESTIONS = load_questions()
TREES = [question.view("tree") for question in QUESTIONS]
LABELS = [question.label for question in QUESTIONS]
SMALL = {"n_references": 8, "n_bits": 40, "random_state": 3}
CHOICE = ReferenceSelector(kw.SubsetTreeKernel(), n_candidates=10, n_samples=40, n_steps=3)


def references_of(model):
    return getattr(model, "hasher_", model).reference_indices_.tolist()


@pytest.mark.parametrize(
    "make",
    [
        kw.KernelHasher,
        kw.HashIndex,
        kw.HashNeighborsClassifier,
        lambda kernel, **options: kw.HashForestClassifier(kernel, bits_per_tree=20, **options),
    ],
    ids=["hasher", "index", "neighbors", "forest"],
)
@pytest.mark.parametrize("references", ["random", "coverage", CHOICE], ids=["r", "c", "s"])
def test_all_that_hash_choose_the_same_references(make, references):
    expected = kw.KernelHasher(
        kw.SubsetTreeKernel(), method="rmm", references=references, **SMALL
    ).fit(TREES, LABELS)
    model = make(kw.SubsetTreeKernel(), method="rmm", references=references, **SMALL)
    assert references_of(model.fit(TREES, LABELS)) == references_of(expected)


def test_references_of_examples_are_chosen_by_their_labels():
    kernel = kw.OnView("tree", kw.SubsetTreeKernel())
    for examples in (QUESTIONS, kw.batch(QUESTIONS)):
        index = kw.HashIndex(kernel, references="coverage", **SMALL).fit(examples)
        expected = kw.HashIndex(kw.SubsetTreeKernel(), references="coverage", **SMALL)
        assert references_of(index) == references_of(expected.fit(TREES, LABELS))


def test_the_evaluations_of_a_choice_are_counted():
    options = {**SMALL, "bits_per_tree": 20, "n_estimators": 3}
    random, chosen = (
        kw.HashForestClassifier(kw.SubsetTreeKernel(), references=references, **options)
        .fit(TREES, LABELS)
        .kernel_evaluations_
        for references in ("random", CHOICE)
    )
    assert chosen > random
