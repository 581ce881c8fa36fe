"""Which document an example comes from."""

from __future__ import annotations

import io

import pytest

import kernelwood as kw
from kernelwood import evaluate
from kernelwood.errors import KernelInputError

PPI = """<corpus source="Own">
  <document id="Own.d0" origId="77">
    <sentence id="Own.d0.s0" text="Raf binds Ras.">
      <entity charOffset="0-2" id="Own.d0.s0.e0" text="Raf" type="protein" />
      <entity charOffset="10-12" id="Own.d0.s0.e1" text="Ras" type="protein" />
      <pair e1="Own.d0.s0.e0" e2="Own.d0.s0.e1" id="Own.d0.s0.p0" interaction="True" />
    </sentence>
    <sentence id="Own.d0.s1" text="Mek needs Ras.">
      <entity charOffset="0-2" id="Own.d0.s1.e0" text="Mek" type="protein" />
      <entity charOffset="10-12" id="Own.d0.s1.e1" text="Ras" type="protein" />
    </sentence>
  </document>
  <document id="Own.d1">
    <sentence id="Own.d1.s0" text="Sos and Raf.">
      <entity charOffset="0-2" id="Own.d1.s0.e0" text="Sos" type="protein" />
      <entity charOffset="8-10" id="Own.d1.s0.e1" text="Raf" type="protein" />
    </sentence>
  </document>
</corpus>
"""

CONLLU = """# newdoc id = tales
# sent_id = 1
1\tCats\tcat\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tsleep\tsleep\tVERB\t_\t_\t0\troot\t_\t_

# sent_id = 2
1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\t_

# newdoc id = news
# sent_id = 3
1\tRain\train\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tfell\tfall\tVERB\t_\t_\t0\troot\t_\t_
"""


def read(text, format):
    return kw.read(io.BytesIO(text.encode()), format=format)


def test_sentences_of_an_interaction_corpus_know_their_document():
    assert evaluate.documents(read(PPI, "ppi")) == ["Own.d0", "Own.d0", "Own.d1"]


def test_candidates_are_of_the_document_of_their_sentence():
    candidates = kw.relations.pair_candidates(read(PPI, "ppi"))
    assert evaluate.documents(candidates) == ["Own.d0", "Own.d0", "Own.d1"]


def test_examples_made_from_candidates_are_told_by_their_id():
    examples = kw.relations.pair_candidates(read(PPI, "ppi")).examples(
        text=lambda c: c.sentence.text
    )
    assert evaluate.documents(examples) == ["Own.d0", "Own.d0", "Own.d1"]


def test_documents_that_a_file_announces_reach_to_the_next_one():
    assert evaluate.documents(read(CONLLU, "conllu")) == ["tales", "tales", "news"]


def test_announced_documents_do_not_depend_on_the_order_of_examples():
    assert evaluate.documents(read(CONLLU, "conllu")[::-1]) == ["news", "tales", "tales"]


def test_a_sentence_before_all_documents_is_of_the_file():
    _, second, third = read(CONLLU, "conllu")
    assert evaluate.documents([second, third]) == [second.origin.path, "news"]


def test_candidates_of_documents_are_told_by_their_id():
    text = "Raf binds Ras. Mek binds Ras."
    mentions = [("T1", 0), ("T2", 10), ("T3", 15), ("T4", 25)]
    entities = [kw.text.Entity(name, "Protein", ((start, start + 3),)) for name, start in mentions]
    example = kw.Example("a/1008", views={"document": kw.Document(text, entities)})
    candidates = kw.relations.pair_candidates([example])
    assert evaluate.documents(candidates) == ["a/1008", "a/1008"]
    assert evaluate.documents([example]) == ["a/1008"]


def test_meaning_representations_are_numbered_within_their_document():
    text = "# ::id doc_7.12 ::snt Cats sleep\n(s / sleep-01 :ARG0 (c / cat))\n"
    assert evaluate.documents(read(text, "penman")) == ["doc_7"]


def test_columns_of_semantic_roles_name_their_document():
    sentence = kw.Sentence.from_words(["we", "go"], metadata=[("doc", "letters/3.xml")])
    assert evaluate.documents([kw.Example("x", views={"sentence": sentence})]) == ["letters/3.xml"]


def test_the_file_is_the_document_if_nothing_finer_is_known():
    items = [
        kw.Example("1", origin=kw.text.Origin("wsj_1.mrg", 4)),
        kw.Example("d.s1", origin=None),
    ]
    assert evaluate.documents(items) == ["wsj_1.mrg", "d"]


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("d.s1", "d"),
        ("d.s1.p0", "d"),
        ("d.s10.e1-e2", "d"),
        ("a.s1.b.s2", "a"),
        ("d.s1x.s2", "d.s1x"),
    ],
)
def test_ids_end_before_the_first_number_of_a_sentence(name, document):
    assert evaluate.documents([kw.Example(name)]) == [document]


def test_an_example_from_nowhere_is_named():
    with pytest.raises(KernelInputError, match=r"nothing tells the document of 'q1'.*yourself"):
        evaluate.documents([kw.Example("q1")])


def test_what_is_no_example_is_named():
    with pytest.raises(KernelInputError, match="item 1 is 'x' of type str"):
        evaluate.documents([kw.Example("d.s1"), "x"])


def test_documents_are_groups_for_splits():
    examples = [kw.Example(f"d{i // 3}.s{i % 3}") for i in range(30)]
    groups = evaluate.documents(examples)
    for train, test in evaluate.group_splits(groups, n_splits=5):
        assert {groups[i] for i in train}.isdisjoint(groups[i] for i in test)
