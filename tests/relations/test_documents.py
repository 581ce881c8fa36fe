"""What relation extractors take as documents, texts and dictionaries."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.entities import EntityFinder
from kernelwood.errors import KernelInputError, StructureError
from kernelwood.relations.corpus import documents_from, text_entries

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
spacy = pytest.importorskip("spacy")
conllu = pytest.importorskip("conllu")

TERMS = {"Raf": "protein", "Ras": "protein"}
TEXT = "Raf binds Ras."
ROWS = ["1 Raf _ _ _ _ 2 nsubj _ _", "2 binds _ _ _ _ 0 root _ _", "3 Ras _ _ _ _ 2 obj _ _", ""]


@cache
def sentences():
    return list(load_interactions("train"))


@pytest.fixture(scope="module")
def extractor():
    return kw.RelationExtractor(random_state=0, n_splits=2).fit(sentences())


def make_doc(*, parsed=True):
    words, spaces = ["Raf", "binds", "Ras", "."], [True, True, False, False]
    parse = {"heads": [1, 1, 1, 1], "deps": ["nsubj", "ROOT", "obj", "punct"]} if parsed else {}
    doc = spacy.tokens.Doc(spacy.vocab.Vocab(), words=words, spaces=spaces, **parse)
    doc.ents = [spacy.tokens.Span(doc, place, place + 1, label="Protein") for place in (0, 2)]
    return doc


def token_list():
    [tokens] = conllu.parse("\n".join(row.replace(" ", "\t") for row in ROWS))
    return tokens


def found(given, **options):
    return list(documents_from(given, "fit", **options))


def column(values):
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def test_a_doc_is_a_document_with_its_parse():
    [example] = found(make_doc())
    document = example.view("document")
    assert len(document.entities) == 2
    assert document.parse[0].dependencies


def test_a_sentence_of_conllu_is_a_sentence():
    [example] = found([token_list()])
    assert example.view("sentence").words == ("Raf", "binds", "Ras")


def test_sentences_are_named_by_their_id():
    tokens = token_list()
    tokens.metadata["sent_id"] = "d1.s1"
    assert [example.id for example in found([tokens, kw.Sentence("we go")])] == ["d1.s1", "text2"]


@pytest.mark.parametrize(
    "collect",
    [
        list,
        tuple,
        iter,
        column,
        lambda values: column(values).reshape(-1, 1),
        lambda values: pd.Series(column(values)),
        lambda values: pd.DataFrame({"document": column(values)}),
        lambda values: pl.Series(values, dtype=pl.Object),
    ],
    ids=["list", "tuple", "iterator", "array", "matrix", "pandas", "frame", "polars"],
)
def test_documents_may_be_in_any_collection(collect):
    assert [example.id for example in found(collect([make_doc(), kw.Document(TEXT)]))] == [
        *("text1", "text2")
    ]


def test_a_path_is_read(tmp_path):
    path = tmp_path / "corpus.jsonl"
    kw.write(sentences()[:3], path)
    for given in (path, str(path), [path], [str(path)]):
        assert [example.id for example in found(given)] == [one.id for one in sentences()[:3]]


def test_several_paths_are_read_in_order(tmp_path):
    for number in (1, 2):
        kw.write(sentences()[number : number + 1], tmp_path / f"{number}.jsonl")
    read = found([tmp_path / "2.jsonl", tmp_path / "1.jsonl"])
    assert [example.id for example in read] == [sentences()[2].id, sentences()[1].id]


def test_a_path_may_have_blanks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kw.write(sentences()[:1], "my corpus.jsonl")
    assert len(found("my corpus.jsonl", texts=True)) == 1


@pytest.mark.parametrize("name", ["a.txt", "folder"])
def test_files_of_text_are_texts(tmp_path, name):
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    (path / "b.txt" if name == "folder" else path).write_text(TEXT, encoding="utf-8")
    [example] = found(path, texts=True)
    assert example.view("document").text == TEXT


def test_a_file_of_an_unknown_format_is_not_prose(tmp_path):
    path = tmp_path / "texts.odd"
    path.write_text("<p>Raf binds Ras.</p>", encoding="utf-8")
    with pytest.raises(kw.errors.ReadError, match="this is HTML, not plain text"):
        found(path, texts=True)


@pytest.mark.parametrize("text", [TEXT, "Raf", "", "x" * 100_000, "a\nb/c.txt", "IL-2 and/or IL-4"])
def test_other_strings_are_texts(text):
    [example] = found(text, texts=True)
    assert example.view("document").text == text


@pytest.mark.parametrize("text", ["corpus.jsonl", "data/train", "x.TXT", "a/b", "/no/such"])
def test_what_looks_like_a_path_is_not_a_text(text):
    with pytest.raises(KernelInputError, match=r"the path .* does not exist.*Document\(text\)"):
        found(text, texts=True)


@pytest.mark.parametrize("given", ["folder", ["folder"], "data/train"])
def test_a_string_is_not_a_document_to_learn_from(given):
    with pytest.raises(KernelInputError, match="fit takes documents or the path of a corpus"):
        found(given)


def test_a_path_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(KernelInputError, match=r"gone\.jsonl' does not exist"):
        found(tmp_path / "gone.jsonl")


def test_a_parsed_doc_is_not_parsed_again(extractor):
    [prediction] = extractor.extract(make_doc(), all=True)
    assert prediction.candidate.sentence.dependencies[0].relation == "nsubj"


def test_a_doc_without_a_parse_is_parsed(extractor):
    with pytest.warns(UserWarning, match="made by biomedical"):
        [prediction] = extractor.extract(make_doc(parsed=False), all=True)
    assert prediction.candidate.sentence.dependencies


def test_a_dictionary_keeps_the_parse_of_a_doc():
    doc = make_doc()
    doc.ents = []
    [(_, document, _, _)] = text_entries(doc, EntityFinder(given=TERMS))
    assert len(document.entities) == 2
    assert document.sentences()[0].dependencies


def test_an_extractor_learns_from_docs_and_paths(tmp_path, extractor):
    path = tmp_path / "corpus.jsonl"
    kw.write(sentences(), path)
    again = clone(extractor).fit(path)
    assert again.threshold_ == extractor.threshold_


class TestDictionary:
    LISTED = (("Raf", "protein"), ("Ras", "protein"))

    @pytest.mark.parametrize(
        "terms",
        [
            TERMS,
            {"protein": ["Raf", "Ras"]},
            LISTED,
            list(LISTED),
            iter(LISTED),
            kw.Dictionary(LISTED),
            pd.DataFrame(LISTED, columns=["term", "type"]),
            pl.DataFrame(LISTED, schema=["term", "type"], orient="row"),
        ],
    )
    def test_it_may_have_any_form(self, terms):
        assert kw.Dictionary.of(terms).terms == kw.Dictionary(self.LISTED).terms

    @pytest.mark.parametrize("convert", [str, lambda path: path])
    def test_it_may_be_a_file(self, tmp_path, convert):
        path = tmp_path / "terms.tsv"
        path.write_text("Raf\tprotein\nRas\tprotein\n", encoding="utf-8")
        assert kw.Dictionary.of(convert(path)).terms == kw.Dictionary(self.LISTED).terms

    def test_columns_have_ids(self):
        frame = pd.DataFrame({"id": [7, None, "DB:1"], "term": list("abc"), "type": ["x"] * 3})
        assert [term.id for term in kw.Dictionary.of(frame).terms] == ["7", "", "DB:1"]

    def test_missing_numbers_do_not_make_ids_fractions(self):
        frame = pd.DataFrame({"term": ["a", "b"], "type": ["x", "x"], "id": [7, None]})
        assert [term.id for term in kw.Dictionary.of(frame).terms] == ["7", ""]

    def test_an_extractor_takes_it(self):
        [entry] = text_entries(TEXT, EntityFinder(given={"protein": ["Raf"]}))
        assert [entity.text for entity in entry[1].entities] == ["Raf"]

    @pytest.mark.parametrize(
        ("terms", "message"),
        [
            ("Raf-1", r"file of terms 'Raf-1' does not exist\n.*give a file"),
            (b"Raf", "terms cannot be b'Raf' of type bytes"),
            (3, "terms cannot be 3 of type int"),
            ({"Raf"}, "of type set"),
            ({"Raf": 3}, r"have 3 of type int at 'Raf'\n.*map terms to types"),
            ({3: "protein"}, "must be a string, got 3"),
            ({"protein": [3]}, "must be a string, got 3"),
            (["Raf"], "row 0 of the terms is 'Raf'"),
            (pd.DataFrame({"term": ["a"], "kind": ["b"]}), "no column 'type'; it has term, kind"),
            (pl.DataFrame({"type": ["a"]}), "no column 'term'"),
            (pd.DataFrame({"term": [None], "type": ["b"]}), "must be a string, got"),
        ],
    )
    def test_other_forms_are_refused(self, terms, message):
        with pytest.raises(StructureError, match=message):
            kw.Dictionary.of(terms)

    @pytest.mark.parametrize("terms", ["terms.tsv", TERMS, pd.DataFrame({"term": ["a"]}), None])
    def test_the_class_names_the_function_for_other_forms(self, terms):
        with pytest.raises(StructureError, match=r"Dictionary\.of"):
            kw.Dictionary(terms)


class TestScikitLearn:
    def test_the_score_is_the_f1_of_evaluation(self, extractor):
        test = load_interactions("test")
        assert extractor.score(test) == extractor.evaluate(test, n_bootstrap=0).f1

    def test_predictions_are_scored(self, extractor):
        test = load_interactions("test")
        assert extractor.score(extractor.predict(test, all=True)) == extractor.score(test)

    def test_documents_without_candidates_have_no_score(self, extractor):
        with pytest.raises(KernelInputError, match="no candidates to evaluate"):
            extractor.score([kw.Document("Nothing.")])

    @pytest.mark.filterwarnings("ignore::UserWarning")
    @pytest.mark.parametrize("convert", [list, column])
    def test_documents_are_cross_validated(self, extractor, convert):
        groups = kw.evaluate.documents(sentences())
        folds = GroupKFold(2)
        scores = cross_val_score(
            clone(extractor), convert(sentences()), cv=folds, groups=groups, error_score="raise"
        )
        train, test = next(folds.split(sentences(), groups=groups))
        model = clone(extractor).fit([sentences()[row] for row in train])
        assert scores[0] == model.score([sentences()[row] for row in test])

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_parameters_are_searched(self, extractor):
        search = GridSearchCV(
            clone(extractor), {"threshold": ["half", 0.999999]}, cv=2, error_score="raise"
        ).fit(column(sentences()))
        assert search.best_params_ == {"threshold": "half"}
        assert len(search.predict(sentences()[:5])) == len(
            search.best_estimator_.predict(sentences()[:5])
        )

    @pytest.mark.filterwarnings("ignore::UserWarning")
    def test_a_pipeline_predicts_relations(self, extractor):
        pipeline = Pipeline([("same", FunctionTransformer()), ("relations", clone(extractor))])
        pipeline.fit(sentences())
        assert pipeline.predict(sentences()[:9]).tally.read is not None
        assert pipeline.score(sentences()) == pipeline[-1].score(sentences())

    def test_documents_are_one_dimensional_and_need_no_target(self, extractor):
        utils = pytest.importorskip("sklearn.utils._tags", reason="tags are those of version 1.6")
        tags = utils.get_tags(extractor)
        assert (tags.input_tags.one_d_array, tags.target_tags.required) == (True, False)
