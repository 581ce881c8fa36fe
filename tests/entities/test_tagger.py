"""Entities by a tagger that is learned from annotation."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sklearn.base import clone

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.entities import Dictionary, EntityTagger, Mention
from kernelwood.errors import KernelInputError, ModelFormatError, StructureError
from kernelwood.text import Attribute, Document, Entity, Event, Example, Sentence

NEW = "RAK2 activates TORP1 in T cells. TORP1 binds the RAK2-like kinase HAB1."


@pytest.fixture(scope="module")
def tagger():
    return EntityTagger().fit(load_interactions("train"))


def found(tagger, text):
    return [(text[one.start : one.end], one.type) for one in tagger.mentions(text)]


def annotated(text, *marked, kind="protein", **parts):
    """Return a document whose entities are the given words, each the first time it occurs."""
    places = [text.index(word) for word in marked]
    entities = [
        Entity(f"T{n}", kind, ((place, place + len(word)),), word)
        for n, (place, word) in enumerate(zip(places, marked, strict=True), start=1)
    ]
    return Document(text, entities, **parts)


SMALL = [
    annotated("We saw Raf and Ras here.", "Raf", "Ras"),
    annotated("Then Mek met Raf there.", "Mek", "Raf"),
    annotated("Nobody saw Erk or Mek.", "Erk", "Mek"),
]


def test_mentions_of_new_words_are_found(tagger):
    assert found(tagger, "Then ZYX9 activates QRT4.") == [("ZYX9", "Protein"), ("QRT4", "Protein")]


def test_a_mention_may_end_at_a_hyphen(tagger):
    assert ("RAK2", "Protein") in found(tagger, NEW)[2:]


def test_entities_are_numbered_in_the_order_of_the_text(tagger):
    entities = tagger.find(NEW)
    assert [entity.id for entity in entities] == [f"T{n + 1}" for n in range(len(entities))]
    assert [entity.start for entity in entities] == sorted(entity.start for entity in entities)
    assert all(NEW[entity.start : entity.end] == entity.text for entity in entities)


def test_probabilities_are_probabilities(tagger):
    chances = [one.probability for one in tagger.mentions(NEW)]
    assert all(0 < chance <= 1 for chance in chances)


@pytest.mark.parametrize("text", ["", " \n ", "...", "\u0301", "-", "_-_"])
def test_texts_without_words_have_no_mentions(tagger, text):
    assert tagger.mentions(text) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(max_size=80), st.text(alphabet="RAK2 (-).\n\u0301binds", max_size=80)))
def test_mentions_of_any_text_lie_in_it_and_do_not_overlap(tagger, text):
    mentions = tagger.mentions(text)
    assert tagger.annotate(Document(text)).text == text
    ends = [0]
    for one in mentions:
        assert ends[-1] <= one.start < one.end <= len(text) and 0 <= one.probability <= 1
        assert text[one.start : one.end] == text[one.start : one.end].strip()
        ends.append(one.end)


def test_sentences_are_not_split_again():
    text = "It is RAK2. TORP1 binds."
    cut = EntityTagger._pieces_of(Sentence(text))
    assert cut.sentences == [0, len(cut)]
    assert len(EntityTagger._pieces_of(Document(text)).sentences) == 3


def test_what_is_found_does_not_depend_on_earlier_texts(tagger):
    before = tagger.mentions(NEW)
    other = copy.deepcopy(tagger)
    other.mentions("TORP1 of HAB1, XYZ-1 and Velin.")
    assert other.mentions(NEW) == before


def test_threads_may_share_a_tagger(tagger):
    texts = [f"RAK{n} activates TORP{n} in cells of kind {n % 7}." for n in range(60)]
    expected = [tagger.mentions(text) for text in texts]
    fresh = copy.deepcopy(tagger)
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(fresh.mentions, texts)) == expected


def test_training_twice_gives_the_same_bytes(tagger, tmp_path):
    for name, model in (
        ("a.kw", tagger),
        ("b.kw", EntityTagger().fit(load_interactions("train"))),
    ):
        kw.save(model, tmp_path / name)
    assert (tmp_path / "a.kw").read_bytes() == (tmp_path / "b.kw").read_bytes()


def test_documents_are_annotated_beside_what_they_have(tagger):
    document = annotated("RAK2 activates TORP1.", "TORP1", kind="gene")
    made = tagger.annotate(document)
    assert [(one.id, one.type, one.text) for one in made.entities] == [
        ("T1", "gene", "TORP1"),
        ("T2", "Protein", "RAK2"),
    ]
    [chance] = made.attributes
    assert (chance.type, chance.target) == ("probability", "T2") and 0 < float(chance.value) <= 1


def test_of_a_term_and_a_mention_the_longer_is_taken(tagger):
    listed = Dictionary([("TORP1 in T cells", "complex"), ("cells", "cell")])
    made = tagger.annotate(Document(NEW), listed)
    assert [(one.type, one.text) for one in made.entities][:2] == [
        ("Protein", "RAK2"),
        ("complex", "TORP1 in T cells"),
    ]


def test_of_equal_ones_the_term_is_taken_with_its_id(tagger):
    made = tagger.annotate(Document("RAK2 binds."), Dictionary([("RAK2", "gene", "DB:1")]))
    assert [one.type for one in made.entities] == ["gene"]
    assert [(one.type, one.value) for one in made.attributes] == [("Reference", "DB:1\tRAK2")]


def test_mentions_get_the_most_frequent_id_of_the_annotation():
    def document(number, id):
        reference = Attribute("N1", "Reference", "T1", f"{id}\tname")
        return annotated(f"{number} We saw Raf here.", "Raf", attributes=[reference])

    documents = [document(n, id) for n, id in enumerate(["DB:2", "DB:1", "DB:2", "DB:3"])]
    made = EntityTagger().fit([*documents, *SMALL]).annotate(Document("They saw Raf here."))
    assert [one.value for one in made.attributes if one.type == "Reference"] == ["DB:2\tRaf"]


def test_triggers_of_events_are_not_entities():
    document = annotated("Raf binds Ras.", "Raf", "binds", "Ras")
    document = Document(document.text, document.entities, events=[Event("E1", "Binding", "T2", ())])
    assert EntityTagger().fit([document, *SMALL]).n_mentions_ == 2 + 6


def test_only_chosen_types_are_learned():
    mixed = [*SMALL, annotated("We saw aspirin.", "aspirin", kind="drug")]
    assert EntityTagger(types=["protein"]).fit(mixed).types_ == ["protein"]
    assert EntityTagger(types="drug").fit(mixed).n_mentions_ == 1


def test_mentions_that_cannot_be_found_are_counted():
    text = "Raf kinase binds Rasin. It is new."
    entities = [
        ("T1", "protein", ((0, 10),)),
        ("T2", "protein", ((0, 3),)),  # inside the first
        ("T3", "protein", ((4, 10), (11, 16))),
        ("T4", "protein", ((17, 20),)),  # ends inside a word
        ("T5", "protein", ((17, 26),)),
        ("T6", "protein", ()),
    ]
    made = EntityTagger().fit([Document(text, entities), *SMALL])
    assert made.dropped_ == {
        "mention inside another": 1,
        "discontinuous mention": 1,
        "mention that begins or ends inside a word": 1,
        "mention that spans sentences": 1,
        "mention that is not in the text": 1,
    }
    assert made.held_out_["recall"] <= 7 / 12


def test_held_out_scores_are_those_of_documents_that_were_not_learned_from():
    # Each word occurs in one document, and nothing else tells what it is.
    documents = [
        annotated(f"we saw {name} here and {other} there", name)
        for name, other in [("alpha", "mu"), ("beta", "nu"), ("gamma", "xi"), ("delta", "pi")] * 3
    ]
    groups = list("abcd" * 3)
    apart = EntityTagger().fit(documents, groups=groups).held_out_["f1"]
    assert EntityTagger().fit([*documents, *documents]).held_out_["f1"] >= apart


def test_an_error_names_what_was_given():
    with pytest.raises(KernelInputError, match="document 1 is 'Raf' of type str"):
        EntityTagger().fit([SMALL[0], "Raf"])
    with pytest.raises(KernelInputError, match=r"got 'corpus/' .* give kernelwood.read\(path\)"):
        EntityTagger().fit("corpus/")
    with pytest.raises(KernelInputError, match="got 3 of type int in place of documents"):
        EntityTagger().fit(3)
    with pytest.raises(StructureError, match="example 'a' has neither"):
        EntityTagger().fit([Example("a", views={"text": "Raf"})])
    with pytest.raises(KernelInputError, match="the 1 documents have no entities to learn from"):
        EntityTagger().fit([Document("Raf.")])
    many = [annotated("We saw Raf.", "Raf", kind=f"kind{n}") for n in range(101)]
    with pytest.raises(KernelInputError, match="entities of 101 types, more than the 100"):
        EntityTagger().fit(many)
    with pytest.raises(KernelInputError, match="2 groups for 3 documents"):
        EntityTagger().fit(SMALL, groups=["a", "b"])
    with pytest.raises(StructureError, match="the text must be a string, got int"):
        EntityTagger().fit(SMALL).find(3)
    with pytest.raises(KernelInputError, match="not fitted"):
        EntityTagger().find("Raf")


@pytest.mark.parametrize(
    ("name", "value"),
    [("l1", -1), ("l2", "x"), ("max_iterations", 0), ("n_splits", 1), ("dictionary", ["Raf"])],
)
def test_parameters_are_checked(name, value):
    with pytest.raises(KernelInputError, match=f"EntityTagger: {name} must be"):
        EntityTagger(**{name: value}).fit(SMALL)


def test_a_dictionary_helps_to_find_its_terms():
    # Only the list tells names from other words.
    words = [f"{a}{b}{c}" for a in "bdgk" for b in "aeiou" for c in "lmnr"]
    is_name = dict(zip(words, np.random.default_rng(0).random(len(words)) < 0.5, strict=True))
    listed = Dictionary([(word, "name") for word in words if is_name[word]])
    documents = [
        annotated(f"we saw {word} here", *([word] if is_name[word] else [])) for word in words
    ]
    train, test = documents[:50], documents[50:]
    score = {}
    for key, dictionary in (("with", listed), ("without", None)):
        made = EntityTagger(dictionary=dictionary).fit(train)
        score[key] = sum(
            [one.text for one in made.find(document.text)]
            == [one.text for one in document.entities]
            for document in test
        )
    assert score["with"] > score["without"]


def test_a_tagger_is_loaded_as_it_was(tagger, tmp_path):
    kw.save(tagger, tmp_path / "tagger.kw")
    loaded = kw.load(tmp_path / "tagger.kw")
    assert loaded.mentions(NEW) == tagger.mentions(NEW)
    assert loaded.held_out_ == tagger.held_out_
    assert not loaded.values_.flags.writeable


def test_a_tagger_is_copied_and_cloned(tagger):
    assert pickle.loads(pickle.dumps(tagger)).mentions(NEW) == tagger.mentions(NEW)
    fresh = clone(EntityTagger(types="Protein", l2=0.5))
    assert fresh.get_params() == EntityTagger(types="Protein", l2=0.5).get_params()
    assert not hasattr(clone(tagger), "types_")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("types_", ["a", "a"], "types_ must be different strings"),
        ("types_", ["a", "b"], "columns must be labels"),
        ("types_", "Protein", "types_ must be strings"),
        ("bias_", float("nan"), "bias_ must be a finite number"),
        ("bias_", "1", "bias_ must be a finite number"),
        ("terms_", None, "must be a Dictionary"),
        ("references_", [], "must be a Dictionary"),
        ("held_out_", {"f1": "high"}, "held_out_ at 'f1' must be"),
        ("held_out_", {"f1": float("inf")}, "held_out_ at 'f1' must be"),
        ("dropped_", {"reason": 1.5}, "dropped_ at 'reason' must be"),
        ("n_mentions_", -1, "n_mentions_ must be"),
        ("columns_", np.array([-1], dtype=np.int32), "columns_ must be|values_ must be"),
    ],
)
def test_a_tagger_that_was_changed_is_refused(tagger, tmp_path, name, value, message):
    changed = copy.copy(tagger)
    setattr(changed, name, value)
    with pytest.raises(ModelFormatError, match=message):
        kw.save(changed, tmp_path / "changed.kw")


def test_overlapping_mentions_are_resolved_by_length():
    from kernelwood.entities.mentions import without_overlap

    made = without_overlap(
        [Mention(0, 2, "a"), Mention(4, 9, "a")], [Mention(1, 5, "b"), Mention(9, 10, "b")]
    )
    assert [one[:3] for one in made] == [(0, 2, "a"), (4, 9, "a"), (9, 10, "b")]
