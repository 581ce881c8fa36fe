"""Reading of ChemProt and DrugProt tables."""

from __future__ import annotations

import io

import pytest

from kernelwood.errors import ReadError
from kernelwood.io import Source, read
from kernelwood.io.formats.chemprot import looks_like_chemprot, read_chemprot
from kernelwood.io.source import Remark
from kernelwood.text import Argument, Attribute, Entity, Relation

ABSTRACTS = "27\tNaproxen and COX-1\tIt inhibits COX-1.\n28\tNothing\tWe go.\n"
ENTITIES = "27\tT2\tGENE-Y\t13\t18\tCOX-1\n27\tT1\tCHEMICAL\t0\t8\tNaproxen\n"
RELATIONS = "27\tCPR:4\tY \tINHIBITOR\tArg1:T1\tArg2:T2\n"
ENDS = (Argument("Arg1", "T1"), Argument("Arg2", "T2"))


def items(abstracts=ABSTRACTS, entities=ENTITIES, relations=RELATIONS, **others):
    given = {"abstracts": abstracts, "entities": entities, "relations": relations} | others
    files = {
        f"_{name}.tsv": Source(io.BytesIO(data if isinstance(data, bytes) else data.encode()))
        for name, data in given.items()
        if data is not None
    }
    return list(read_chemprot(files))


def document(*args, **files):
    return items(*args, **files)[0].view("document")


def problem(*args, **files):
    [found] = [item for item in items(*args, **files) if isinstance(item, ReadError)]
    return found


def test_documents_have_entities_and_relations():
    first, second = items()
    made = first.view("document")
    assert (first.id, second.id) == ("27", "28")
    assert made.text == "Naproxen and COX-1\nIt inhibits COX-1."
    assert made.entities == (
        Entity("T2", "GENE-Y", ((13, 18),), "COX-1"),
        Entity("T1", "CHEMICAL", ((0, 8),), "Naproxen"),
    )
    assert made.relations == (Relation("R1", "CPR:4", ENDS),)
    assert made.attributes == (
        Attribute("A1", "Evaluated", "R1", "Y"),
        Attribute("A2", "Name", "R1", "INHIBITOR"),
    )


def test_entities_and_relations_may_be_missing():
    assert document(entities=None, relations=None).entities == ()
    assert document(relations=None).relations == ()


def test_relations_of_drugprot_have_four_columns():
    made = document(relations="27\tINHIBITOR\tArg1:T1\tArg2:T2\n")
    assert (made.relations, made.attributes) == ((Relation("R1", "INHIBITOR", ENDS),), ())


def test_the_gold_standard_is_read_without_relations():
    gold = "27\tCPR:4\tArg1:T1\tArg2:T2\n"
    assert document(relations=None, gold_standard=gold).relations[0].type == "CPR:4"
    assert len(document(gold_standard=gold).relations) == 1


def test_annotation_of_other_documents_is_remarked():
    reason = "annotation of a document without an abstract left out"
    assert items(entities=ENTITIES + "99\tT1\tGENE-Y\t0\t3\tRaf\n")[-1] == Remark(reason)


@pytest.mark.parametrize(
    ("files", "message", "place"),
    [
        ({"abstracts": "27\n"}, "there are 1 columns instead of 3", (1, 1)),
        ({"entities": "27\tT1\tGENE\t0\t3\n"}, "there are 5 columns instead of 6", (1, 1)),
        ({"entities": "27\tT1\tGENE\t-1\t3\tx\n"}, "start and end must be numbers", (1, 12)),
        ({"entities": "27\tT1\tGENE\t3\t3\t\n"}, "the span 3 3 is empty", (1, 12)),
        ({"entities": "27\tT1\tGENE\t1\t4\tNap\n"}, "is 'Nap', but at its offsets", (1, 12)),
        ({"entities": ENTITIES * 2}, "the id 'T2' was used before", (3, 4)),
        ({"relations": "27\tCPR:4\tArg1:T1\n"}, "3 columns instead of 4 or 6", (1, 1)),
        ({"relations": "27\tCPR:4\tT1\tT2\n"}, "this is not an argument", (1, 10)),
        ({"relations": RELATIONS.replace("T2", "T9")}, "no entity 'T9'", (1, 31)),
    ],
)
def test_bad_lines_are_located(files, message, place):
    found = problem(**files)
    assert message in found.problem
    assert (found.line, found.column) == place


def test_a_line_that_cannot_be_decoded_costs_its_document():
    found = items(entities=ENTITIES.encode() + b"27\tT3\tGENE\xff\t0\t1\tN\n")
    assert isinstance(found[0], ReadError)
    assert [item.id for item in found[1:]] == ["28"]


def test_a_repeated_document_is_an_error():
    assert "was used before" in problem(abstracts=ABSTRACTS + "28\ta\tb\n").problem


def test_annotation_without_abstracts_is_refused():
    with pytest.raises(ReadError, match="the abstracts of these annotations are missing"):
        items(abstracts=None)
    with pytest.raises(ReadError, match="the abstracts of these annotations are missing"):
        read(io.BytesIO(ENTITIES.encode()), "chemprot")


def test_abstracts_of_a_stream_are_read():
    assert len(read(io.BytesIO(ABSTRACTS.encode()), "chemprot")) == 2


def test_the_content_is_recognized():
    assert looks_like_chemprot(ENTITIES) and looks_like_chemprot(RELATIONS)
    assert looks_like_chemprot("27\tINHIBITOR\tArg1:T1\tArg2:T2\n")
    assert not looks_like_chemprot(ABSTRACTS)


NAMES = [
    ("chemprot_sample_{}.tsv", "abstracts", "relations"),
    ("chemprot_test_{}_gs.tsv", "abstracts", "relations"),
    ("drugprot_training_{}.tsv", "abstracs", "relations"),
    ("chemprot_training_{}.tsv", "abstracts", "gold_standard"),
]


@pytest.mark.parametrize(("name", "abstracts", "relations"), NAMES)
def test_a_set_is_read_from_any_of_its_files_and_from_its_folder(
    tmp_path, name, abstracts, relations
):
    lines = RELATIONS if relations == "relations" else "27\tCPR:4\tArg1:T1\tArg2:T2\n"
    texts = {abstracts: ABSTRACTS, "entities": ENTITIES, relations: lines}
    for part, text in texts.items():
        (tmp_path / name.format(part)).write_text(text)
    for path in [tmp_path, *tmp_path.iterdir()]:
        examples = read(path)
        assert [example.id for example in examples] == ["27", "28"]
        assert len(examples[0].view("document").relations) == 1


def test_two_sets_of_a_folder_are_apart(tmp_path):
    for name, number in (("a", "27"), ("b", "29")):
        for part, text in {"abstracts": ABSTRACTS, "entities": ENTITIES}.items():
            content = text.replace("27", number).replace("28", f"{number}0")
            (tmp_path / f"{name}_{part}.tsv").write_text(content)
    found = {example.id: len(example.view("document").entities) for example in read(tmp_path)}
    assert found == {"27": 2, "270": 0, "29": 2, "290": 0}
