"""Reading and writing of BioC XML, and of the parts that BioC JSON has as well."""

from __future__ import annotations

import io

import pytest
from bioc import biocjson as peer_json, biocxml as peer
from bioc.datastructure import (
    BioCAnnotation,
    BioCCollection,
    BioCDocument,
    BioCLocation,
    BioCNode,
    BioCPassage,
    BioCRelation,
    BioCSentence,
)
from bioc.pubtator import loads as load_pubtator
from bioc.tools.pubtator2bioc import pubtator2bioc
from hypothesis import given, strategies as st
from samples import SAMPLES

from kernelwood.errors import ReadError, StructureError
from kernelwood.io import Source, read, write
from kernelwood.io.formats import bioc, bioc_xml
from kernelwood.io.formats.bioc_xml import looks_like_bioc, read_bioc, write_bioc
from kernelwood.text import Argument, Attribute, Document, Entity, Event, Example, Relation

RAF = """<annotation id="1"><infon key="type">Gene</infon><infon key="identifier">5894</infon>
<location offset="0" length="3"/><text>Raf</text></annotation>"""
RAS = """<annotation id="2"><infon key="type">Gene</infon><infon key="NCBI Gene">3265</infon>
<location offset="10" length="3"/><text>Ras</text></annotation>"""


def passage(*parts, text="Raf binds Ras.", offset=0):
    return f"<passage><offset>{offset}</offset><text>{text}</text>{''.join(parts)}</passage>"


def collection(*parts, name="7"):
    inside = "".join(parts)
    return f"<collection><document><id>{name}</id>{inside}</document></collection>"


def infon(key, value):
    return f'<infon key="{key}">{value}</infon>'


def relation(*parts, name="R1"):
    return f'<relation id="{name}">{"".join(parts)}</relation>'


def node(refid, role="Arg"):
    return f'<node refid="{refid}" role="{role}"/>'


def parse(text, errors="raise", format="bioc"):
    return read(io.BytesIO(text.encode()), format, errors=errors)


def document(*parts):
    [example] = parse(collection(*parts))
    return example.view("document")


def problem(*parts):
    with pytest.raises(ReadError) as caught:
        parse(collection(*parts))
    return caught.value


def remarks(*parts):
    return dict(parse(collection(*parts)).tally.remarks)


def values(made, kind):
    return [(item.target, item.value) for item in made.attributes if item.type == kind]


def targets(made):
    return [tuple(argument.target for argument in item.arguments) for item in made.relations]


def written(*documents, **options):
    out = io.StringIO()
    examples = [Example(str(n), views={"document": made}) for n, made in enumerate(documents, 1)]
    write_bioc(examples, out, **options)
    return out.getvalue()


def test_passages_stand_at_their_offsets():
    made = document(passage(text="Title"), passage(text="One.", offset=6), passage(offset=14))
    assert made.text == "Title\nOne.\n  \nRaf binds Ras."


def test_passages_are_sections_of_the_metadata():
    title = "<passage><infon key='type'>title</infon><offset>0</offset><text>Raf</text></passage>"
    made = document(title, passage(offset=4))
    assert made.metadata == (("section", "0 3\ttitle"), ("section", "4 18\t"))


def test_the_section_type_is_part_of_the_name():
    infons = infon("section_type", "INTRO") + infon("type", "paragraph")
    made = document(f"<passage>{infons}<offset>0</offset><text>Raf</text></passage>")
    assert made.metadata == (("section", "0 3\tINTRO/paragraph"),)


def test_one_passage_without_a_type_is_no_section():
    assert document(passage()).metadata == ()


def test_infons_of_a_document_are_metadata():
    assert document(infon("year", "2020"), passage()).metadata == (("year", "2020"),)


def test_sentences_make_the_text_of_a_passage_without_one():
    sentences = "".join(
        f"<sentence><offset>{offset}</offset><text>{text}</text></sentence>"
        for offset, text in [(2, "One."), (8, "Two.")]
    )
    made = document(f"<passage><offset>2</offset>{sentences}</passage>")
    assert made.text == "\n\nOne.  Two."


def test_the_text_of_a_passage_counts_if_it_has_sentences_too():
    sentence = f"<sentence><offset>0</offset><text>Raf</text>{RAF}</sentence>"
    made = document(passage(sentence))
    assert (made.text, len(made.entities)) == ("Raf binds Ras.", 1)


def test_annotations_are_entities_with_references():
    made = document(passage(RAF, RAS))
    assert made.entities == (
        Entity("1", "Gene", ((0, 3),), "Raf"),
        Entity("2", "Gene", ((10, 13),), "Ras"),
    )
    assert values(made, "Reference") == [("1", "5894"), ("2", "NCBIGene:3265")]


def test_several_locations_are_several_spans():
    annotation = """<annotation id="1"><location offset="10" length="3"/>
    <location offset="0" length="3"/><text>Raf...Ras</text></annotation>"""
    assert document(passage(annotation)).entities == (
        Entity("1", "", ((0, 3), (10, 13)), "Raf...Ras"),
    )


def test_other_infons_of_annotations_are_attributes():
    made = document(passage(RAF.replace("<location", infon("source", "curator") + "<location")))
    assert values(made, "source") == [("1", "curator")]


def test_a_name_belongs_to_the_reference():
    made = document(passage(RAF.replace("<location", infon("name", "RAF1") + "<location")))
    assert values(made, "Reference") == [("1", "5894\tRAF1")]


def test_a_name_without_an_id_is_an_attribute():
    made = document(passage(RAF.replace("identifier", "name")))
    assert values(made, "name") == [("1", "5894")]


def test_an_annotation_needs_no_location():
    made = document(passage('<annotation id="1"><text>Raf</text></annotation>'))
    assert made.entities == (Entity("1", "", (), "Raf"),)


def test_an_empty_location_is_remarked():
    annotation = '<annotation id="1"><location offset="3" length="0"/><text/></annotation>'
    assert document(passage(annotation)).entities[0].spans == ()
    assert sum(remarks(passage(annotation)).values()) == 1


def test_repeated_ids_are_replaced_with_a_remark():
    made = document(passage(RAF, RAS.replace('"2"', '"1"')))
    assert [entity.id for entity in made.entities] == ["1", "T1"]
    reason = "repeated or missing id of an annotation or relation; replaced"
    assert remarks(passage(RAF, RAS.replace('"2"', '"1"'))) == {reason: 1}


def test_a_relation_is_between_annotations():
    made = document(
        passage(RAF, RAS), relation(infon("type", "Bind"), node("1", "a"), node("2", "b"))
    )
    assert made.relations == (Relation("R1", "Bind", (Argument("a", "1"), Argument("b", "2"))),)


def test_other_infons_of_relations_are_attributes():
    made = document(passage(RAF, RAS), relation(infon("probability", "0.93"), node(1), node(2)))
    assert values(made, "probability") == [("R1", "0.93")]


def test_relations_of_passages_refer_to_their_own_annotations_first():
    second = passage(RAF.replace('"0"', '"15"'), relation(node("1")), offset=15)
    made = document(passage(RAF), second)
    assert targets(made) == [("T1",)]


def test_a_reference_to_one_of_several_annotations_is_an_error():
    found = problem(passage(RAF, RAS.replace('"2"', '"1"')), relation(node("1")))
    assert "belongs to several annotations" in found.problem


def test_an_id_of_a_relation_that_an_annotation_has_is_replaced():
    made = document(passage(RAF), relation(node("1"), name="1"))
    assert made.relations[0].id == "R1"


def test_a_relation_with_a_trigger_is_an_event():
    made = document(
        passage(RAF, RAS),
        relation(infon("type", "Binding"), node("1", "Trigger"), node("2", "Theme"), name="E1"),
        relation(infon("type", "Regulation"), node("1", "Trigger"), node("E1", "Cause"), name="E2"),
    )
    assert made.events == (
        Event("E1", "Binding", "1", (Argument("Theme", "2"),)),
        Event("E2", "Regulation", "1", (Argument("Cause", "E1"),)),
    )


def test_an_infon_may_tell_the_trigger():
    parts = [
        infon("type", "Binding"),
        infon("trigger_id", "1"),
        node("1", "Binding"),
        node("2", "x"),
    ]
    assert document(passage(RAF, RAS), relation(*parts)).events[0].trigger == "1"


def test_relations_of_relations_are_left_out_with_those_that_refer_to_them():
    parts = (
        passage(RAF, RAS),
        relation(node("1", "Trigger"), node("R2"), name="R3"),
        relation(node("1", "Trigger"), node("R1"), name="R2"),
        relation(node("1"), node("2"), name="R1"),
    )
    made = document(*parts)
    assert ([item.id for item in made.relations], made.events) == (["R1"], ())
    assert remarks(*parts) == {"relation of relations left out": 2}


def test_a_relation_without_arguments_is_left_out():
    assert remarks(passage(), relation()) == {"relation without arguments left out": 1}


@pytest.mark.parametrize(
    "parts",
    [
        [infon("entity1", "5894"), infon("entity2", "3265"), infon("type", "Bind")],
        [infon("role1", "Gene|5894"), infon("role2", "Gene|3265"), infon("type", "Bind"), node(0)],
        [infon("relation", "Bind"), infon("Gene1", "5894"), infon("Gene2", "3265")],
        [infon("type", "Bind"), node("5894", "a"), node("3265", "b")],
        [infon("type", "Bind"), node("5894", "a"), node("NCBIGene:3265", "b")],
    ],
    ids=["BioRED", "PubTator3", "CDR", "nodes", "prefix"],
)
def test_relations_between_ids_are_between_their_mentions(parts):
    made = document(passage(RAF, RAS), relation(*parts))
    assert [item.type for item in made.relations] == ["Bind"]
    assert targets(made) == [("1", "2")]


def test_infons_of_a_relation_between_ids_are_kept():
    pair = infon("entity1", "5894") + infon("entity2", "3265") + infon("novel", "Novel")
    made = document(passage(RAF, RAS), relation(pair))
    assert values(made, "novel") == [("R1", "Novel")]


def test_a_relation_between_ids_in_other_sentences_is_remarked():
    pair = infon("entity1", "5894") + infon("entity2", "77")
    other = RAS.replace("3265", "77").replace('offset="10"', 'offset="15"')
    found = remarks(passage(RAF), passage(other, text="Ras.", offset=15), relation(pair))
    assert found == {"relation between concepts that share no sentence": 1}


def test_many_infons_of_relations_between_ids_are_refused(monkeypatch):
    monkeypatch.setattr(bioc, "_MAX_INFONS", 2)
    pair = infon("entity1", "5894") + infon("entity2", "3265")
    found = problem(passage(RAF, RAS), relation(pair, *(infon(key, "x") for key in "abc")))
    assert "more than 2 attributes" in found.problem


@pytest.mark.parametrize(
    ("parts", "message", "place"),
    [
        ([passage(), "\n", passage(offset=3)], "begins at offset 3, but the text before", (2, 1)),
        ([passage(offset=2_000_000)], "begins at offset 2000000, 2,000,000 characters", (1, 33)),
        ([passage(offset=-1)], "'offset' must be a number of characters", (1, 33)),
        ([passage(offset="1" * 30)], "'offset' must be a number", (1, 33)),
        ([passage("\n", RAF.replace('"0"', '"1"'))], "is 'Raf', but at its offsets", (2, 1)),
        ([passage("\n", RAF.replace('"0"', '"99"'))], "ends at 102, but the text has 14", (2, 1)),
        ([passage("\n", RAF.replace("<text>", "<location offset='0' length='3'/><text>"))],
         "locations of the annotation overlap", (2, 1)),
        ([passage(RAF), relation(node("9"))], "there is no annotation '9'", (2, 73)),
        ([passage(passage())], "a <passage> cannot stand inside a <passage>", (1, 33)),
        ([node("1")], "a <node> cannot stand inside a <document>", (1, 13)),
    ],
)  # fmt: skip
def test_bad_parts_are_located(parts, message, place):
    found = problem(*parts)
    assert message in found.problem
    assert (found.line, found.column) == place


def test_a_document_without_an_id_is_refused():
    with pytest.raises(ReadError, match="the id of the document is missing"):
        parse("<collection><document>" + passage() + "</document></collection>")


def test_offsets_in_utf8_bytes_get_a_hint():
    annotation = "<annotation id='1'><location offset='7' length='3'/><text>Raf</text></annotation>"
    found = problem(passage(annotation, text="βγα Raf binds"))
    assert found.hint == "the offsets seem to count UTF-8 bytes; they must count characters"


def test_a_repeated_document_is_an_error():
    one = collection(passage())
    both = one.replace("</collection>", "") + one.replace("<collection>", "")
    examples = parse(both, "collect")
    assert len(examples) == 1
    assert "was used before" in examples.tally.problems[0].problem


def test_elements_in_a_text_do_not_matter():
    assert document(passage(text="<b>Raf</b> binds <i>Ras</i>.")).text == "Raf binds Ras."


def test_attributes_with_names_of_parts_do_not_matter():
    assert document(passage(RAF.replace(" id=", " infons='x' locations='y' id="))).entities


def test_relations_without_an_id_may_share_a_star():
    made = document(passage(RAF), *[relation(node("1"), name="*")] * 2)
    assert [item.id for item in made.relations] == ["*", "*"]


def test_events_may_not_share_a_star():
    made = document(passage(RAF), *[relation(node("1", "Trigger"), name="*")] * 2)
    assert [item.id for item in made.events] == ["*", "R1"]


def test_other_elements_are_ignored():
    assert document("<extra><x/>y</extra>", passage(RAF, "<other/>")).entities[0].id == "1"


DOCTYPE = '<!DOCTYPE collection SYSTEM "BioC.dtd">'


@pytest.mark.parametrize(
    "head",
    [
        DOCTYPE,
        '<?xml version="1.0" encoding="utf8" standalone="yes"?>',
        f"<?xml version='1.0' encoding='UTF-8'?>\n<!-- a -->\n{DOCTYPE}\n<!-- b -->",
        '<!DOCTYPE collection PUBLIC "-//NLM//BioC" "http://localhost:1/BioC.dtd">',
    ],
)
def test_document_types_that_declare_nothing_are_accepted(head):
    text = f"{head}\n{collection(passage(text='Räf'))}"
    assert looks_like_bioc(text)
    assert parse(text)[0].view("document").text == "Räf"


@pytest.mark.parametrize(
    "subset",
    ['<!ENTITY x "y">', "<!ATTLIST infon key CDATA 'x'>", '<!ENTITY % p SYSTEM "p.dtd"> %p;'],
)
def test_document_types_that_declare_something_are_refused(subset):
    with pytest.raises(ReadError, match="declares a document type"):
        parse(f"<!DOCTYPE collection [{subset}]>{collection(passage())}")


def test_undefined_entities_are_refused():
    with pytest.raises(ReadError, match="&beta; is not defined"):
        parse(f"{DOCTYPE}{collection(passage(text='&beta;-Raf'))}")


def test_other_xml_is_refused():
    with pytest.raises(ReadError, match="the outermost element is <corpus>, not <collection>"):
        parse("<corpus></corpus>")


def test_a_document_that_is_too_long_is_left_out(monkeypatch):
    monkeypatch.setattr(bioc_xml, "_MAX_DOCUMENT", 1 << 18)
    long = collection(passage("<x/>" * 200_000))
    examples = parse(long.replace("</collection>", collection(name="8")[12:]), "collect")
    assert [example.id for example in examples] == ["8"]
    assert "the document has more than" in examples.tally.problems[0].problem


@pytest.mark.parametrize("name", ["a.bioc.xml", "a.BioC.XML", "a.xml"])
def test_files_are_recognized(tmp_path, name):
    (tmp_path / name).write_text(SAMPLES["bioc"].text, encoding="utf-8")
    assert [example.id for example in read(tmp_path / name)] == ["27", "28"]
    assert [example.id for example in read(tmp_path)] == ["27", "28"]


def test_views_that_are_not_wanted_are_not_built():
    [example] = read_bioc(Source(io.BytesIO(collection(passage()).encode())), ())
    assert dict(example.views) == {}


def test_sections_become_passages():
    text = written(document(passage(text="Title"), passage(offset=6)))
    assert text.count("<passage>") == 2 and "<offset>6</offset>" in text


def test_sections_that_leave_out_text_are_one_passage():
    made = Document("Raf binds.", metadata=[("section", "0 3\ttitle")])
    text = written(made)
    assert text.count("<passage>") == 1
    assert parse(text)[0].view("document") == made


def test_negative_relations_read_back():
    made = document(passage(RAF, RAS), relation(node("1"), node("2")))
    denied = [item._replace(holds=False) for item in made.relations]
    changed = Document(made.text, made.entities, denied, (), made.attributes)
    assert parse(written(changed))[0].view("document") == changed


def attributed(*attributes):
    pair = [Relation("R1", "", (Argument("x", "T1"),))]
    rows = [Attribute(f"A{n}", *row) for n, row in enumerate(attributes, 1)]
    return Document("Raf", [Entity("T1", "Gene", ((0, 3),), "Raf")], pair, (), rows)


@pytest.mark.parametrize(
    "attributes",
    [
        [("type", "T1", "x")],
        [("MESH", "T1", "x")],
        [("relation", "R1", "x")],
        [("negative", "R1", "x")],
        [("entity1", "R1", "x"), ("entity2", "R1", "y")],
        [("note", "T1", "x"), ("note", "T1", "y")],
    ],
)
def test_attributes_that_would_change_are_refused_or_left_out(attributes):
    made = attributed(*attributes)
    with pytest.raises(StructureError, match="adapt=True"):
        written(made)
    [again] = parse(written(made, adapt=True))
    assert len(again.view("document").attributes) < len(attributes)


@pytest.mark.parametrize(
    "attributes",
    [
        [("relation", "T1", "x")],
        [("name", "T1", "x")],
        [("entity1", "R1", "x")],
        [("MESH", "R1", "x")],
    ],
)
def test_attributes_that_read_back_are_written(attributes):
    made = attributed(*attributes)
    assert parse(written(made))[0].view("document") == made


def test_the_role_of_a_trigger_is_refused_in_a_relation():
    made = attributed()
    changed = Document(
        made.text, made.entities, [Relation("R1", "x", (Argument("Trigger", "T1"),))]
    )
    with pytest.raises(StructureError, match="would be read as an event"):
        written(changed)


def test_characters_that_xml_cannot_hold_are_refused_or_blanks():
    with pytest.raises(StructureError, match="a character that XML cannot hold"):
        written(Document("a\x00b"))
    assert parse(written(Document("a\x00b"), adapt=True))[0].view("document").text == "a b"


@pytest.mark.parametrize("name", ["", " a", "a\n"])
def test_ids_that_would_not_read_back_are_refused(name):
    with pytest.raises(StructureError):
        write_bioc([Example(name, views={"document": Document("a")})], io.StringIO())


def test_the_suffix_chooses_the_writer(tmp_path):
    examples = parse(SAMPLES["bioc"].text)
    write(examples, tmp_path / "a.bioc.xml")
    assert read(tmp_path / "a.bioc.xml")[0].view("document") == examples[0].view("document")


def peer_collection():
    raf, ras = BioCAnnotation(), BioCAnnotation()
    raf.id, raf.text, raf.infons = "T1", "Raf", {"type": "Gene", "identifier": "5894"}
    ras.id, ras.text, ras.infons = "T2", "R s", {"type": "Gene"}
    raf.add_location(BioCLocation(6, 3))
    ras.add_location(BioCLocation(16, 1))
    ras.add_location(BioCLocation(18, 1))
    sentence, bind = BioCSentence(), BioCRelation()
    sentence.offset, sentence.text = 6, "Raf binds Ras."
    sentence.add_annotation(raf)
    sentence.add_annotation(ras)
    bind.id, bind.infons = "R1", {"type": "Bind"}
    bind.add_node(BioCNode("T1", "a"))
    bind.add_node(BioCNode("T2", "b"))
    title, abstract, made, whole = BioCPassage(), BioCPassage(), BioCDocument(), BioCCollection()
    title.offset, title.text, title.infons = 0, "Title", {"type": "title"}
    abstract.offset = 6
    abstract.add_sentence(sentence)
    made.id, made.infons = "7", {"year": "2020"}
    made.add_passage(title)
    made.add_passage(abstract)
    made.add_relation(bind)
    whole.source, whole.date, whole.key = "made up", "", ""
    whole.add_document(made)
    return whole


PEER_DOCUMENT = Document(
    "Title\nRaf binds Ras.",
    [Entity("T1", "Gene", ((6, 9),), "Raf"), Entity("T2", "Gene", ((16, 17), (18, 19)), "R s")],
    [Relation("R1", "Bind", (Argument("a", "T1"), Argument("b", "T2")))],
    (),
    [Attribute("N1", "Reference", "T1", "5894")],
    [("year", "2020"), ("section", "0 5\ttitle"), ("section", "6 20\t")],
)


@pytest.mark.parametrize(
    ("encode", "format"), [(peer.dumps, "bioc"), (peer_json.dumps, "bioc-json")]
)
def test_what_the_bioc_package_writes_is_read(encode, format):
    [example] = parse(encode(peer_collection()), format=format)
    assert (example.id, example.view("document")) == ("7", PEER_DOCUMENT)


def test_json_lines_of_the_bioc_package_are_read():
    out = io.StringIO()
    with peer_json.iterwriter(out) as writer:
        for made in peer_collection().documents:
            writer.write(made)
    [example] = parse(out.getvalue(), format="bioc-json")
    assert example.view("document") == PEER_DOCUMENT


@pytest.mark.parametrize(
    ("decode", "format"), [(peer.loads, "bioc"), (peer_json.loads, "bioc-json")]
)
def test_the_bioc_package_reads_what_is_written(decode, format):
    out = io.StringIO()
    write([Example("7", views={"document": PEER_DOCUMENT})], out, format=format)
    [made] = decode(out.getvalue()).documents
    assert (made.id, made.infons) == ("7", {"year": "2020"})
    assert [(part.offset, part.text) for part in made.passages] == [
        (0, "Title"),
        (6, "Raf binds Ras."),
    ]
    raf, ras = made.passages[1].annotations
    assert raf.infons == {"type": "Gene", "identifier": "5894"}
    assert [(place.offset, place.length) for place in ras.locations] == [(16, 1), (18, 1)]
    [bind] = made.relations
    assert [(node.refid, node.role) for node in bind.nodes] == [("T1", "a"), ("T2", "b")]


def test_pubtator_that_the_bioc_package_converts_is_read():
    [found] = load_pubtator(
        "7|t|Raf binds Ras\n7|a|It does.\n7\t0\t3\tRaf\tGene\t5894\n7\t10\t13\tRas\tGene\t3265\n"
        "7\tBind\t5894\t3265\n"
    )
    whole = BioCCollection()
    whole.source, whole.date, whole.key = "", "", ""
    made = pubtator2bioc(found)
    made.add_passage(BioCPassage.of_text(found.text, 0))  # which it forgets
    whole.add_document(made)
    [example] = parse(peer.dumps(whole))
    assert len(example.view("document").relations) == 1


@st.composite
def documents(draw):
    """Return documents with everything that BioC holds, in the order in which it is read."""
    words = st.text(
        st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"),
        min_size=1,
    )
    texts = draw(st.lists(words, min_size=1, max_size=3))
    text, metadata = "", []
    for number, piece in enumerate(texts):
        gap = draw(st.integers(1, 4)) if number else 0
        text += bioc._filler(gap)
        metadata.append(("section", f"{len(text)} {len(text) + len(piece)}\t{draw(words)}"))
        text += piece
    entities, attributes = [], []
    starts = sorted(draw(st.lists(st.integers(0, len(text) - 1), max_size=4)))
    for number, start in enumerate(starts):
        end = draw(st.integers(start + 1, len(text)))
        entities.append(Entity(f"{number}", draw(words), ((start, end),), text[start:end]))
        for value in draw(st.lists(st.sampled_from(["5894", "MESH:D1"]), unique=True, max_size=2)):
            attributes.append(Attribute(f"N{len(attributes) + 1}", "Reference", f"{number}", value))
        if draw(st.booleans()):
            note = draw(words)
            attributes.append(Attribute(f"A{len(attributes) + 1}", "note", f"{number}", note))
    relations, events = [], []
    if entities:
        names = st.sampled_from([entity.id for entity in entities])
        for number in range(draw(st.integers(0, 2))):
            ends = (Argument(draw(words), draw(names)), Argument(draw(words), draw(names)))
            relations.append(Relation(f"r{number}", draw(words), ends, draw(st.booleans())))
        for number in range(draw(st.integers(0, 2))):
            ends = (Argument(draw(words), draw(names)),)
            events.append(Event(f"e{number}", draw(words), draw(names), ends))
    return Document(text, entities, relations, events, attributes, metadata)


@pytest.mark.parametrize("format", ["bioc", "bioc-json"])
@given(made=documents())
def test_documents_read_back(format, made):
    out = io.StringIO()
    write([Example("7", views={"document": made})], out, format=format)
    [example] = parse(out.getvalue(), format=format)
    again = example.view("document")
    assert again == made
    assert again == Document(*(getattr(again, name) for name in Document.__slots__))  # checked
