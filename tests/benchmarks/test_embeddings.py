"""The experiment on embeddings, on sentences small enough to check by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import pearsonr

import kernelwood as kw
from kernelwood import views
from kernelwood.errors import ReadError

sys.path.append(str(Path(__file__).parents[2] / "benchmarks" / "papers"))

from embedding_models.correlation import Agreement, pearson
from embedding_models.pairs import Pairs, read_pairs, read_parses, without_stop_words, words
from embedding_models.question_clusters import (
    FACTORS,
    METHODS,
    Looked,
    Questions,
    bags_of,
    cluster_rows,
    curve_rows,
)
from embedding_models.similarity_models import (
    bag_of_words,
    cosines,
    first_root,
    kernel_scores,
    make_kernel,
    mean_vectors,
    trees,
)
from embedding_models.sts import Sts, best_factor
from embedding_models.supervised import held_out, linked_folds, supervised_rows
from embedding_models.transformer import Transformer

VECTORS = kw.Vectors(["bake", "cook", "bread", "fish"], [[1, 0.1], [1, 0.3], [0.1, 1], [0.3, 1]])
VERBS, NOUNS = ("bake", "cook"), ("bread", "fish")


def question(verb: str, noun: str) -> kw.Sentence:
    """Return a parsed question of four words and a mark."""
    return kw.Sentence.from_words(
        ["How", "to", verb, f"{noun}s", "?"],
        lemmas=["how", "to", verb, noun, "?"],
        tags=["WRB", "TO", "VB", "NNS", "."],
        dependencies=[
            (2, "advmod", 0), (2, "aux", 1), (-1, "root", 2), (2, "dobj", 3), (2, "punct", 4),
        ],
        metadata=[("parser", "by hand")],
    )  # fmt: skip


def nothing(n: int) -> None:
    """Report no progress."""


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    """Return all pairs of four questions, the similarity being the words they share."""
    asked = [(verb, noun) for verb in VERBS for noun in NOUNS]
    both = [(a, b) for a in asked for b in asked]
    gold = [float((a[0] == b[0]) + (a[1] == b[1])) for a, b in both]
    return Pairs(np.array(gold), [question(*asked) for pair in both for asked in pair])


@pytest.fixture(scope="module")
def sts(pairs: Pairs) -> Sts:
    return Sts(pairs, VECTORS, VECTORS, n_resamples=50)


def test_words_are_lemmas_without_marks() -> None:
    assert words(question("bake", "fish")) == ["how", "to", "bake", "fish"]


def test_words_with_tags_and_marks_are_those_of_kelp() -> None:
    found = words(question("bake", "fish"), labels="both", marks=True)
    assert found == ["how::w", "to::t", "bake::v", "fish::n", "?::."]


def test_words_without_stop_words_leave_those_with_a_meaning() -> None:
    assert words(question("bake", "fish"), stop_words=False) == ["bake", "fish"]


def test_stop_words_can_be_skipped_in_trees() -> None:
    marked = without_stop_words(question("bake", "fish"))
    tree = views.loct(marked, skip=("punct", "stop"))
    assert tree.to_brackets() == "(LEX##bake::v LEX##fish::n)"


def test_first_root_keeps_the_first_of_two_sentences() -> None:
    two = kw.Sentence.from_words(
        ["go", "there", "eat", "fish"],
        dependencies=[(-1, "root", 0), (0, "advmod", 1), (-1, "root", 2), (2, "dobj", 3)],
    )
    assert views.loct(first_root(two)).to_brackets() == "(LEX##go LEX##there)"


def test_pairs_are_read_with_one_blank_between_words(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("4\ta  b\tc \n0\td\te\n", encoding="utf-8")
    gold, texts = read_pairs(path)
    assert (gold.tolist(), texts) == ([4, 0], ["a b", "c", "d", "e"])


def test_a_line_without_three_columns_is_refused_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("4\ta\tb\n0\td\n", encoding="utf-8")
    with pytest.raises(ReadError, match=r"tsv:2: the line has 2 columns instead of 3"):
        read_pairs(path)


def test_parses_are_read_from_the_file_that_was_written(tmp_path: Path) -> None:
    path = tmp_path / "parses.conllu"
    parsed = [question("bake", "fish"), question("bake", "fish"), question("cook", "bread")]
    texts = [sentence.text for sentence in parsed]
    read_parses(texts, path, parse=lambda texts: parsed)
    again = read_parses(texts, path, parse=lambda texts: pytest.fail("parsed again"))
    assert [trees([a])[0] for a in again] == [trees([b])[0] for b in parsed]
    assert Pairs(np.zeros(1), again).parser == "by hand"


def test_parses_of_other_sentences_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "parses.conllu"
    parsed = [question("bake", "fish")]
    read_parses([parsed[0].text], path, parse=lambda texts: parsed)
    with pytest.raises(SystemExit, match="other sentences"):
        read_parses(["How to cook?"], path)


@given(st.lists(st.tuples(*[st.integers(-99, 99)] * 2), min_size=2, max_size=20))
def test_pearson_is_that_of_scipy(points: list[tuple[int, int]]) -> None:
    x, y = np.array(points, dtype=float).T
    expected = pearsonr(x, y).statistic if np.ptp(x) and np.ptp(y) else 0.0
    assert float(pearson(x, y)) == pytest.approx(expected, abs=1e-12)


def test_interval_of_a_correlation_holds_it() -> None:
    draw = np.random.default_rng(0)
    gold = draw.normal(size=80)
    found = Agreement(gold, n_resamples=200).pearson(gold + draw.normal(size=80))
    assert found.low is not None and found.high is not None
    assert found.low < found < found.high < 1


def test_difference_of_scores_with_themselves_is_0_in_all_resamples() -> None:
    gold = np.arange(10.0)
    found = Agreement(gold, n_resamples=20).difference(gold**2, gold**2)
    assert (found, found.low, found.high) == (0, 0, 0)


def test_cosines_of_a_row_of_zeros_are_0() -> None:
    assert cosines([[1, 1], [2, 2], [0, 0], [1, 0]]).tolist() == pytest.approx([1, 0])


def test_bags_of_words_count_what_is_shared(pairs: Pairs) -> None:
    scores = bag_of_words(pairs.sentences, {"stop_words": False})
    assert scores.tolist() == pytest.approx((pairs.gold / 2).tolist())


def test_mean_vectors_leave_out_words_without_vector(pairs: Pairs) -> None:
    assert mean_vectors(pairs.sentences, VECTORS, {})[0] == pytest.approx(1)


@pytest.mark.parametrize("name", ["PTK", "SPTK", "CSPTK"])
def test_kernels_find_equal_sentences_alike(name: str, pairs: Pairs) -> None:
    view = "cgrct" if name == "CSPTK" else "loct"
    scores = kernel_scores(make_kernel(name, VECTORS), trees(pairs.sentences, view))
    assert scores[pairs.gold == 2].tolist() == pytest.approx([1] * 4)
    assert scores[pairs.gold < 2].max() < 0.999


def test_best_factor_is_that_of_the_kernel_and_view() -> None:
    grid = [
        {"kernel": "PTK", "view": "loct", "0.5": 0.1, "2": 0.3},
        {"kernel": "PTK", "view": "lct", "0.5": 0.9, "2": 0.3},
    ]
    assert best_factor(grid, "PTK", "loct") == 2


def test_models_are_measured_against_the_smoothed_kernel(sts: Sts) -> None:
    rows = {row["model"]: row for row in sts.model_rows(list(sts.grid_rows(nothing, [1.0, 2.0])))}
    ahead = rows["SPTK"]["Pearson"] - rows["PTK"]["Pearson"]
    assert rows["PTK"]["SPTK ahead by"] == pytest.approx(ahead)
    assert rows["bag of words: lemmas, no stop words"]["Pearson"] == pytest.approx(1)


def test_nystrom_vectors_of_all_sentences_keep_the_correlation(sts: Sts) -> None:
    grid = list(sts.grid_rows(nothing, [1.0]))
    rows = list(sts.nystrom_rows(grid, n_seeds=2, sizes=[2], advance=nothing))
    assert [row["landmarks"] for row in rows] == [2, 32, 2, 32]
    assert [row["products / exact"] for row in rows[1::2]] == pytest.approx([1, 1])
    assert rows[0]["pairs with a landmark"] < rows[1]["pairs with a landmark"] == 1


def test_landmarks_elsewhere_are_in_no_pair(sts: Sts) -> None:
    others = trees([question("bake", "cake"), question("cook", "rice")])
    rows = list(sts.foreign_rows(others, n_seeds=1, sizes=[2], advance=nothing))
    assert [row["pairs with a landmark"] for row in rows] == [0, 0]
    assert rows[0]["missed"] > 0


def test_variants_begin_with_the_trees_of_the_other_tables(sts: Sts) -> None:
    grid = {
        row["kernel"]: row["1"] for row in sts.grid_rows(nothing, [1.0]) if row["view"] == "loct"
    }
    first, *changed = sts.variant_rows()
    assert (first["PTK"], first["SPTK"]) == (grid["PTK"], grid["SPTK"])
    assert any(row["PTK"] != first["PTK"] for row in changed)


def random_weights(n_layers: int, width: int) -> dict[str, np.ndarray]:
    """Return a transformer with 9 tokens and so many layers, untrained."""
    draw = np.random.default_rng(0)
    shapes = {f"embeddings.{kind}_embeddings.weight": (9, width) for kind in ("word", "position")}
    shapes["embeddings.token_type_embeddings.weight"] = (2, width)
    shapes["embeddings.LayerNorm.weight"] = shapes["embeddings.LayerNorm.bias"] = (width,)
    for layer in range(n_layers):
        name = f"encoder.layer.{layer}"
        inner = {"intermediate.dense": (2 * width, width), "output.dense": (width, 2 * width)}
        inner |= {
            f"attention.{part}": (width, width)
            for part in ("self.query", "self.key", "self.value", "output.dense")
        }
        inner |= {"attention.output.LayerNorm": (width,), "output.LayerNorm": (width,)}
        for part, shape in inner.items():
            shapes[f"{name}.{part}.weight"] = shape
            shapes[f"{name}.{part}.bias"] = shape[:1]
    return {name: draw.normal(size=shape).astype("float32") for name, shape in shapes.items()}


def test_transformer_gives_vectors_of_length_1_that_depend_on_order() -> None:
    model = Transformer(random_weights(2, 8), lambda text: [int(c) for c in text], n_heads=2)
    vectors = model.encode(["123", "321", "123"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(vectors[0], vectors[2])
    assert abs(vectors[0] - vectors[1]).max() > 1e-3


@pytest.fixture(scope="module")
def questions() -> Questions:
    """Return questions of two classes that differ in their verbs."""
    asked = [(VERBS[i % 2], NOUNS[i // 2 % 2]) for i in range(24)]
    gram = make_kernel("PTK", VECTORS).gram(trees(question(*pair) for pair in asked))
    bags = bags_of([dict.fromkeys(pair, 1.0) for pair in asked])
    grams = dict.fromkeys(FACTORS, np.asarray(gram))
    return Questions([verb for verb, _ in asked], bags, grams)


def test_looked_up_similarities_are_those_of_the_matrix(questions: Questions) -> None:
    gram = questions.grams[1.0]
    kernel, numbers = Looked(gram), questions.numbers
    np.testing.assert_array_equal(kernel.gram(numbers), gram)
    np.testing.assert_array_equal(
        kernel.cross(numbers[[3, 1]], numbers[[5, 0, 2]]), gram[[3, 1]][:, [5, 0, 2]]
    )
    np.testing.assert_array_equal(kernel.diag(numbers[4:6]), gram.diagonal()[4:6])


@pytest.mark.parametrize("method", METHODS)
def test_as_many_clusters_as_different_questions_are_pure(
    method: str, questions: Questions
) -> None:
    [row] = cluster_rows(questions, n_seeds=1, clusters=[4], methods=[method], advance=nothing)
    assert (row["purity"], row["K"], row["method"]) == (1, 4, method)


def test_curves_have_mean_and_deviation_over_seeds() -> None:
    rows = [
        {"K": 6, "method": "m", "seed": seed, "purity": purity, "NMI": 0.5}
        for seed, purity in enumerate([0.4, 0.6])
    ]
    assert curve_rows(rows, "purity") == [{"K": 6, "m": "50.0 ± 14.1"}]


def test_pairs_that_share_a_question_are_in_one_fold() -> None:
    texts = ["a", "b", "c", "d", "b", "e", "f", "g", "e", "h"]
    folds = linked_folds(texts, n_folds=2)
    assert folds[0] == folds[2] == folds[4] != folds[1] == folds[3]


def test_regression_predicts_pairs_from_the_other_folds() -> None:
    gold, gram = np.arange(8.0), np.eye(8)
    folds = np.arange(8) % 4
    # Nothing is similar to anything else: the mean of the other folds is predicted.
    expected = [gold[folds != fold].mean() for fold in folds]
    assert held_out(gram, gold, folds) == pytest.approx(expected)


def test_regressions_on_kernels_of_pairs_are_compared() -> None:
    asked = [question(VERBS[i % 3 == 0], f"{NOUNS[i % 2]}{i}") for i in range(12)]
    some = Pairs(np.arange(6.0), asked)
    rows = list(supervised_rows(some, VECTORS, Agreement(some.gold, n_resamples=20)))
    assert [row["regression on"] for row in rows][:3] == [
        "SPTK itself, without learning", "PairKernel, sum", "PairKernel, product",
    ]  # fmt: skip
    assert all(-1 <= row["Pearson"] <= 1 for row in rows)
