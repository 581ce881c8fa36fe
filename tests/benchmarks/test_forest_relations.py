"""Relation extraction with forests, on made-up sentences."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pytest

import kernelwood as kw

sys.path.append(str(Path(__file__).parents[2] / "benchmarks" / "papers"))

import forest_relations
from forest_relations import run_corpus
from relation_forests import parses
from relation_forests.corpora import Pair, divide, read_interactions, read_nominals, sample
from relation_forests.experiment import Laboratory, Settings, figures
from relation_forests.parses import parse
from relation_forests.structures import features, mark_words, view
from relation_forests.trials import Grid, Trials, choose, curves
from roles.experiment import single_best
from tables.forest_relations import TABLE
from tables.forest_roles import TABLE as ROLES

HIGH = "(S (NP (NN Rain)) (VP (VBD filled) (NP (DT the) (NN tub)) (PP (IN with) (NP (NN mud)))))"
LOW = (
    "(S (NP (NN Rain)) (VP (VBD filled) (NP (NP (DT the) (NN tub)) (PP (IN with) (NP (NN mud))))))"
)
WORDS = ("Rain", "filled", "the", "tub", "with", "mud")
RAIN, TUB, MUD = (0, 1), (2, 4), (5, 6)
NOUNS = ("rain", "mud", "sand", "snow", "clay", "dust", "foam", "salt")


def forest() -> kw.Forest:
    trees = [kw.Tree.from_brackets(text) for text in (HIGH, LOW)]
    return kw.Forest.from_trees([(trees[0], 3.0), (trees[1], 1.0)])


def pair(first: tuple[int, int] = TUB, second: tuple[int, int] = MUD, label: str = "in") -> Pair:
    return Pair(WORDS, first, second, (RAIN,), label, "d1")


def small_corpus(n: int = 24) -> tuple[list[Pair], dict[tuple[str, ...], kw.Forest]]:
    """Return sentences in which the verb tells the relation, each in a document with one other."""
    pairs, forests = [], {}
    for number in range(n):
        verb = ("filled", "left")[number % 2]
        noun = NOUNS[number % len(NOUNS)] + str(number)
        words = (noun, verb, "the", "tub", "with", "mud")
        trees = []
        for text in (HIGH, LOW):
            renamed = text.replace("Rain", noun).replace("filled", verb)
            trees.append(kw.Tree.from_brackets(renamed))
        forests[words] = kw.Forest.from_trees([(trees[0], 3.0), (trees[1], 1.0)])
        label = ("in", "Other")[number % 2]
        pairs.append(Pair(words, RAIN, TUB, (), label, f"d{number // 2}"))
    return pairs, forests


def laboratory() -> Laboratory:
    pairs, forests = small_corpus()
    return Laboratory(pairs, forests, blind=False, negative="Other", n_splits=3)


# Corpora


def test_nominals_are_read_with_words_of_both_entities(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text(
        '1\t"The <e1>old tub</e1> was (half) full of <e2>mud</e2>."\nContent-Container(e2,e1)\n'
        "Comment:\n\n"
    )
    [found] = read_nominals(path)
    assert found.words == ("The", "old", "tub", "was", "-LRB-", "half", "-RRB-", "full", "of",
                           "mud", ".")  # fmt: skip
    assert (found.first, found.second, found.others) == ((1, 3), (9, 10), ())
    assert found.label == "Content-Container(e2,e1)"


PROTEINS = """<corpus><document id="d0"><sentence id="d0.s0" text="Raf (Ras) binds">
<entity charOffset="0-2" id="e0" text="Raf" type="protein" />
<entity charOffset="5-7" id="e1" text="Ras" type="protein" />
<entity charOffset="10-14" id="e2" text="binds" type="protein" />
<pair e1="e0" e2="e1" id="p0" interaction="True" />
<pair e1="e2" e2="e0" id="p1" interaction="False" />
<pair e1="e1" e2="e2" id="p2" interaction="False" />
<sentenceanalyses><parses><parse parser="split_parse" tokenizer="split"></parse></parses>
<tokenizations><tokenization tokenizer="split">
<token POS="NN" charOffset="0-2" id="t1" text="Raf" />
<token POS="(" charOffset="4-4" id="t2" text="(" />
<token POS="NN" charOffset="5-7" id="t3" text="Ras" />
<token POS=")" charOffset="8-8" id="t4" text=")" />
<token POS="VBZ" charOffset="10-14" id="t5" text="binds" />
</tokenization></tokenizations></sentenceanalyses></sentence></document></corpus>"""


def test_interactions_are_read_with_the_other_proteins(tmp_path: Path) -> None:
    path = tmp_path / "proteins.xml"
    path.write_text(PROTEINS)
    words = ("Raf", "-LRB-", "Ras", "-RRB-", "binds")
    assert read_interactions(path) == [
        Pair(words, (0, 1), (2, 3), ((4, 5),), "interaction", "d0"),
        Pair(words, (0, 1), (4, 5), ((2, 3),), "none", "d0"),
        Pair(words, (2, 3), (4, 5), ((0, 1),), "none", "d0"),
    ]


def test_parts_share_no_document_and_lose_no_pair() -> None:
    pairs, _ = small_corpus(40)
    tuning, rest = divide(pairs, 0)
    assert {p.document for p in tuning}.isdisjoint(p.document for p in rest)
    assert len({p.document for p in tuning}) == 5
    assert sorted(p.words for p in tuning + rest) == sorted(p.words for p in pairs)
    assert divide(pairs, 0) == (tuning, rest)


def test_samples_are_whole_documents() -> None:
    pairs, _ = small_corpus(40)
    some = sample(pairs, 7, 0)
    assert len(some) == 8
    kept = {p.document for p in some}
    assert some == [p for p in pairs if p.document in kept]
    assert sample(pairs, None, 0) == pairs


# Structures


def test_marks_stand_above_the_last_words_of_entities() -> None:
    found = view(forest(), pair(), "pet")
    assert found.best_tree().to_brackets() == (
        "(* (VP (NP (DT the) (E1 (NN tub))) (PP (IN with) (NP (E2 (NN mud))))))"
    )
    trees = dict(view(forest(), pair(), "mct").k_best(2))
    marked = {tree.to_brackets(): p for tree, p in trees.items()}
    assert marked[
        "(* (VP (VBD filled) (NP (DT the) (E1 (NN tub))) (PP (IN with) (NP (E2 (NN mud))))))"
    ] == pytest.approx(0.75)


def test_marks_change_no_probability() -> None:
    marked = view(forest(), pair(RAIN, MUD), "mct")
    assert [p for _, p in marked.k_best(3)] == pytest.approx([0.75, 0.25])
    assert marked.spans is not None
    assert sum(label == "E1" for label in marked.labels) == 1


def test_two_entities_in_one_word_have_both_marks() -> None:
    tree = kw.Tree.from_brackets("(NP (NN Raf))")
    one = kw.Forest.from_trees([tree]).subforest(0, 1)
    found = mark_words(one, {0: "ENTITY1"}, [(0, "E1"), (0, "E2")])
    assert found.best_tree().to_brackets().endswith("(E2 (E1 (NN ENTITY1))))")


def test_every_part_of_speech_of_an_ambiguous_word_is_marked() -> None:
    tags = ["(NP (NN tub))", "(NP (NNP tub))"]
    both = kw.Forest.from_trees([kw.Tree.from_brackets(text) for text in tags])
    found = mark_words(both, {}, [(0, "E1")])
    assert {tree.to_brackets() for tree, _ in found.k_best(3)} == {
        "(NP (E1 (NN tub)))",
        "(NP (E1 (NNP tub)))",
    }


def test_renamed_entities_leave_no_name() -> None:
    found = view(forest(), pair(RAIN, TUB), "mct", blind=True).best_tree().to_brackets()
    assert "tub" not in found
    assert "Rain" not in found
    assert "ENTITY2" in found
    blind = features(pair(), "words", blind=True)
    assert not any("tub" in key or "mud" in key or "rain" in key for key in blind)


def test_features_of_entities_say_nothing_of_other_words() -> None:
    alone = features(pair(), "entities")
    assert alone["E1=the"] == alone["heads=tub mud"] == 1
    assert not any("with" in key for key in alone)
    words = features(pair(MUD, TUB), "words")
    assert words["between=with"] == words["order=21"] == words["before=filled"] == 1
    assert words["after=>"] == words["number=1"] == 1


# Predictions


def test_the_composite_is_the_kernel_of_both_views() -> None:
    lab = laboratory()
    settings = Settings("pet", forest=True, flat="words", theta=0.3)
    examples = [
        kw.Example(str(n), views={"s": view(lab.forests[p.words], p, "pet"),
                                  "f": features(p, "words")})
        for n, p in enumerate(lab.pairs)
    ]  # fmt: skip
    kernel = 0.3 * kw.OnView("s", kw.ForestKernel(decay=settings.decay)) + 0.7 * kw.OnView(
        "f", kw.VectorKernel("cosine")
    )
    assert np.allclose(lab.gram(settings), kernel.gram(examples), atol=1e-6)


def test_trees_are_compared_by_the_subset_tree_kernel() -> None:
    lab = laboratory()
    trees = [view(single_best(lab.forests[p.words]), p, "mct").best_tree() for p in lab.pairs]
    gram = lab.structures(Settings("mct", forest=False, sharpness=4.0))[0]
    assert np.allclose(gram, kw.SubsetTreeKernel(decay=0.4).gram(trees), atol=1e-6)


def test_predictions_know_nothing_of_their_document() -> None:
    pairs, forests = small_corpus()
    # Words that occur in one document only, each with its own label: nothing to learn elsewhere.
    labels = ["in" if (n // 2) % 2 else "Other" for n in range(len(pairs))]
    own = [
        Pair(p.words, p.first, p.second, (), label, p.document)
        for p, label in zip(pairs, labels, strict=True)
    ]
    lab = Laboratory(own, forests, blind=False, negative="Other", n_splits=3)
    for document in {p.document for p in own}:
        folds = {int(f) for f, p in zip(lab.folds, own, strict=True) if p.document == document}
        assert len(folds) == 1
    settings = Settings("", flat="words", C=16.0)
    right = np.mean(np.array(lab.predict(settings)) == labels)
    assert right < 0.8


def test_learnable_relations_are_learned() -> None:
    lab = laboratory()
    for settings in (Settings(forest=False, C=4.0), Settings(forest=True, C=4.0)):
        assert lab.f1(settings) > 0.9


def test_figures_are_those_of_relations_only() -> None:
    y = ["a", "a", "b", "Other", "Other"]
    found = figures(y, ["a", "Other", "a", "b", "Other"], ["a", "b"])
    assert found["precision"] == pytest.approx(1 / 3)
    assert found["recall"] == pytest.approx(1 / 3)


# Choices

TINY = Grid(
    decays=(0.2, 0.4),
    costs=(4.0,),
    flat=("words",),
    thetas=(0.5,),
    sharpness=(1.0, 2.0),
    prunings=(4.0,),
    curve_prunings=(1.0, 8.0),
    curve_sharpness=(0.0,),
)


def test_trees_and_forests_share_what_is_chosen() -> None:
    trials = Trials(laboratory())
    chosen = choose(trials, TINY)
    for name in ("pet", "mct", "pet+words"):
        tree, both = chosen[f"{name} tree"], chosen[f"{name} forest"]
        assert (tree.decay, tree.C, tree.theta) == (both.decay, both.C, both.theta)
        assert (tree.forest, both.forest) == (False, True)
    assert chosen["pet+words forest chosen"].sharpness == chosen["pet forest chosen"].sharpness
    assert len(trials.rows) == 2 * 2 * 2 + 2 + 1 + 2


def test_the_best_of_both_is_best_on_average() -> None:
    class Known(Trials):
        def f1(self, step: str, settings: Settings) -> float:
            return {(1.0, False): 0.6, (1.0, True): 0.1, (2.0, False): 0.5, (2.0, True): 0.4}[
                settings.C, settings.forest
            ]

    trials = Known(laboratory())
    assert trials.best_of_both("", [Settings(C=1.0), Settings(C=2.0)]).C == 2.0


def test_curves_tell_how_large_forests_are() -> None:
    rows = list(curves(laboratory(), Settings(), TINY))
    sizes = {(row["kind"], row["value"]): row["edges"] for row in rows}
    assert sizes["tree", 0.0] == sizes["pruning", 1.0] < sizes["pruning", 8.0]


# Parses and the program


def grammar() -> kw.ForestParser:
    return kw.ForestParser().fit([kw.Tree.from_brackets(text) for text in (HIGH, LOW)])


def test_sentences_are_parsed_once(tmp_path: Path) -> None:
    first = parse("AIMed", [WORDS, WORDS], 8.0, parser=grammar, folder=tmp_path)

    def never() -> kw.ForestParser:
        raise AssertionError("parsed again")

    again = parse("AIMed", [WORDS], 8.0, parser=never, folder=tmp_path)
    assert first == again
    assert not first[WORDS].fallback
    with pytest.raises(AssertionError, match="parsed again"):
        parse("AIMed", [WORDS], 4.0, parser=never, folder=tmp_path)


def test_the_program_gives_the_rows_of_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs, _ = small_corpus(48)
    corpus = forest_relations.Corpus("x", lambda path: pairs, False, TINY, False)
    monkeypatch.setitem(forest_relations.CORPORA, "SemEval", corpus)
    monkeypatch.setattr(forest_relations, "require_data", lambda name, data: tmp_path)
    monkeypatch.setattr(forest_relations, "learn_parser", lambda name, data: grammar())
    monkeypatch.setitem(parses.GRAMMARS, "SemEval", ("tiny", ()))
    options = argparse.Namespace(
        data=None, seed=0, rounds=50, quick=False, all=True, parses=str(tmp_path)
    )
    result = run_corpus("SemEval", options, forest_relations.Progress(disable=True))
    names = [row["name"] for row in result["rows"]]
    assert names[:2] == ["pet tree", "pet forest"]
    assert {tuple(test["names"]) for test in result["tests"]} >= {("pet forest", "pet tree")}
    rows = TABLE.rows({"SemEval": result})
    assert any(row.setting == "SemEval, path-enclosed, forest" for row in rows)


def test_the_table_of_roles_shows_published_figures() -> None:
    rates = {"precision": 0.5, "recall": 0.25, "f1": 1 / 3}
    rows = ROLES.rows({"tree": rates, "forest": rates, "randomization_p": 0.5})
    assert rows[0].ours == "50.00"
    assert rows[0].published == "76.02 (CoNLL-2005)"
    assert rows[-1].ours == "+0.00 (p = 0.5000)"
