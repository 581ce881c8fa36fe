"""The dialect of DDIExtraction 2013; see test_ppi for what it has in common with PPI XML."""

from __future__ import annotations

import io

import pytest

from kernelwood.errors import ReadError
from kernelwood.evaluate import documents
from kernelwood.io import iter_read, read
from kernelwood.text import Argument, Relation

DRUGS = """<entity id="e0" charOffset="0-6" type="drug" text="Aspirin"/>
<entity id="e1" charOffset="8-15" type="brand" text="Coumadin"/>
"""


def sentence(body: str = "", text: str = "Aspirin Coumadin", name: str = "d7.s0") -> str:
    return f'<sentence id="{name}" text="{text}">\n{body}</sentence>\n'


def ddi(body: str, text: str = "Aspirin Coumadin", errors: str = "raise"):
    data = f'<document id="d7">{sentence(body, text)}</document>'
    return read(io.BytesIO(data.encode()), errors=errors)


def pair(attributes: str, name: str = "p") -> str:
    return f'<pair id="{name}" e1="e1" e2="e0" {attributes}/>'


def test_drug_interactions_have_types_and_keep_their_order():
    pairs = pair('ddi="true" type="advise"', "p0") + pair('ddi="false"', "p1")
    [example] = examples = ddi(DRUGS + pairs)
    ends = (Argument("", "e1"), Argument("", "e0"))
    assert example.view("sentence").relations == (
        Relation("p0", "advise", ends, True),
        Relation("p1", "ddi", ends, False),
    )
    assert not examples.tally.remarks


def test_a_drug_interaction_without_a_type_has_the_general_one_and_a_remark():
    examples = ddi(DRUGS + pair('ddi="true"'))
    assert [relation.type for relation in examples[0].view("sentence").relations] == ["int"]
    assert examples.tally.remarks == {"interaction without a type; read as 'int'": 1}


@pytest.mark.parametrize(
    ("attributes", "label"),
    [
        ('interaction="true"', ("interaction", True)),
        ('interaction="False"', ("interaction", False)),
        ('ddi="True" type="effect"', ("effect", True)),
        ('type="effect"', ("effect", True)),
        ('type="none"', ("ddi", False)),
    ],
)
def test_labels_of_other_versions_are_read(attributes, label):
    [example] = ddi(DRUGS + pair(attributes))
    [relation] = example.view("sentence").relations
    assert (relation.type, relation.holds) == label


def test_a_pair_without_a_label_is_left_out_with_a_remark():
    examples = ddi(DRUGS + pair(""))
    assert examples[0].view("sentence").relations == ()
    assert examples.tally.remarks == {"pair without the attribute ddi or interaction; left out": 1}


def test_a_pair_labeled_by_its_type_is_remarked():
    found = ddi(DRUGS + pair('type="int"')).tally.remarks
    assert found == {"pair without the attribute ddi; labeled by its type": 1}


def test_sentences_of_a_document_of_drugs_are_grouped():
    assert documents(ddi(DRUGS)) == ["d7"]


def test_drugs_may_be_discontinuous_with_a_semicolon():
    body = '<entity id="e" charOffset="0-4;14-16" type="group" text="beta drug"/>'
    with pytest.raises(ReadError, match=r"is 'beta drug', but at its offsets stands 'beta"):
        ddi(body, "beta or alpha drug")
    [example] = ddi(body.replace("0-4;14-16", "0-3;14-17"), "beta or alpha drug")
    assert example.view("sentence").entities[0].spans == ((0, 4), (14, 18))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (DRUGS + pair('ddi="yes"'), "ddi is 'yes'"),
        (DRUGS + pair('ddi="true"').replace("e0", "e5"), "there is no entity 'e5'"),
        (DRUGS.replace("8-15", "8-16"), "the offsets '8-16' do not fit"),
    ],
)
def test_broken_annotation_of_drugs_is_located(body, message):
    found = ddi(body, errors="collect").tally.problems[0]
    assert message in str(found)
    assert found.line in (3, 4)


def test_drugs_are_recognized_by_content_and_by_name(tmp_path):
    (tmp_path / "1.xml").write_text(f'<document id="d1">{sentence(name="d1.s0")}</document>')
    (tmp_path / "other.xml").write_text("<document><p>prose</p></document>")
    (tmp_path / "X_ddi.xml").write_text('<document id="d2"></document>')
    with iter_read(tmp_path) as stream:
        assert [example.id for example in stream] == ["d1.s0"]
        assert stream.tally.ignored == ("other.xml",)
