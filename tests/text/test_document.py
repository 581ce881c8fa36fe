"""Documents and their sentences."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from sizes import DEPTH

from kernelwood.errors import StructureError
from kernelwood.text import (
    Argument,
    Attribute,
    Document,
    Entity,
    Event,
    Relation,
    Sentence,
    Token,
    tokenize,
)

TEXT = "Raf binds Ras. MEK is active."


def entity(name, word, text=TEXT, kind="Protein"):
    start = text.index(word)
    return Entity(name, kind, ((start, start + len(word)),), word)


RAF, BINDS, RAS, MEK = (
    entity(f"T{number}", word) for number, word in enumerate(["Raf", "binds", "Ras", "MEK"])
)
ALL = (RAF, BINDS, RAS, MEK)


def event(name, trigger, *targets):
    return Event(name, "Binding", trigger, tuple(Argument("Theme", target) for target in targets))


def pair(name, *targets):
    return Relation(name, "Pair", tuple(Argument("Arg", target) for target in targets))


def test_a_document_refuses_spans_outside_its_text():
    with pytest.raises(StructureError, match="the text has 3 characters"):
        Document("Raf", [Entity("T1", "Protein", ((0, 4),))])


def test_a_document_refuses_references_that_lead_nowhere():
    with pytest.raises(StructureError, match="no annotation has the id 'T9'"):
        Document(TEXT, [RAF], [pair("R1", "T9")])


def test_a_document_shows_what_it_has():
    assert repr(Document(TEXT, ALL)) == f"Document({TEXT!r}, 4 entities)"


def test_sentences_know_their_place_in_the_document():
    made = Document(f"  {TEXT}\n").sentences()
    assert [(sentence.start, sentence.text) for sentence in made] == [
        (2, "Raf binds Ras."),
        (17, "MEK is active."),
    ]


def test_entities_move_with_their_sentence():
    _, second = Document(TEXT, ALL).sentences()
    assert second.entities == (Entity("T3", "Protein", ((0, 3),), "MEK"),)


def test_tokens_end_where_entities_end():
    [sentence] = Document("anti-Raf", [Entity("T1", "Protein", ((5, 8),), "Raf")]).sentences()
    assert "Raf" in sentence.words


def test_the_tokenizer_can_be_chosen():
    def tokenize(text, boundaries):
        return [Token(text, 0, len(text), lemma=str(list(boundaries)))]

    first, _ = Document(TEXT, [RAS]).sentences(tokenize=tokenize)
    assert first.tokens == (Token("Raf binds Ras.", 0, 14, "[10, 13]"),)


def test_spans_can_be_given():
    made = Document(TEXT, ALL).sentences([(0, 10), (10, 29)])
    assert [sentence.text for sentence in made] == ["Raf binds", "Ras. MEK is active."]


def test_blank_spans_give_no_sentence():
    assert Document("Raf  Ras").sentences([(0, 3), (3, 5), (5, 5)])[1:] == ()


@pytest.mark.parametrize(
    "spans", [[(0, 99)], [(5, 3)], [(0, 5), (4, 9)], [(-1, 3)], [(5, 9), (0, 3)]]
)
def test_spans_that_cannot_be_sentences_are_refused(spans):
    with pytest.raises(StructureError, match="cannot be a sentence"):
        Document(TEXT).split(spans)


def test_no_sentence_ends_inside_an_entity():
    made = Document(TEXT, [Entity("T1", "Pair", ((10, 18),), "Ras. MEK")])
    assert len(made.sentences()) == 1


def test_no_sentence_ends_between_the_pieces_of_an_entity():
    made = Document(TEXT, [Entity("T1", "Pair", ((10, 13), (15, 18)), "Ras MEK")])
    assert len(made.sentences()) == 1


def test_an_entity_that_begins_with_the_blank_behind_a_sentence_is_not_lost():
    made = Document(TEXT, [Entity("T1", "Protein", ((14, 18),), " MEK")])
    assert sum(len(sentence.entities) for sentence in made.sentences()) == 1


def test_an_entity_may_end_in_the_blank_behind_its_sentence():
    first, _ = Document(TEXT, [Entity("T1", "Protein", ((10, 15),), "Ras. ")]).sentences()
    assert (first.text, first.entities[0].spans) == ("Raf binds Ras. ", ((10, 15),))


def test_relations_and_events_of_one_sentence_are_kept_in_it():
    made = Document(TEXT, ALL, [pair("R1", "T0", "T2")], [event("E1", "T1", "T0", "T2")])
    first, second = made.sentences()
    assert (first.relations, first.events) == (made.relations, made.events)
    assert (second.relations, second.events) == ((), ())


def test_attributes_follow_what_they_are_about():
    attributes = [
        Attribute("A1", "x", "T3"),
        Attribute("A2", "x", "R1"),
        Attribute("A3", "x", "E1"),
    ]
    made = Document(TEXT, ALL, [pair("R1", "T0", "T2")], [event("E1", "T1")], attributes)
    first, second = made.sentences()
    assert ([item.id for item in first.attributes], [item.id for item in second.attributes]) == (
        ["A2", "A3"],
        ["A1"],
    )


@pytest.mark.parametrize(
    ("parts", "lost"),
    [
        ({"relations": [pair("R1", "T0", "T3")]}, {"relation spans sentences": 1}),
        ({"relations": [pair("*", "T0", "T3")]}, {"relation spans sentences": 1}),
        ({"relations": [pair("R1")]}, {"relation has no arguments": 1}),
        ({"events": [event("E1", "T1", "T3")]}, {"event spans sentences": 1}),
        (
            {"events": [event("E1", "T1", "E2"), event("E2", "T3", "T3")]},
            {"event spans sentences": 1},
        ),
        (
            {"events": [event("E1", "T1", "E2"), event("E2", "T1", "T3")]},
            {"event spans sentences": 1, "event has a part that was lost": 1},
        ),
        (
            {
                "events": [event("E1", "T1", "T3")],
                "relations": [pair("R1", "E1", "T0")],
                "attributes": [Attribute("A1", "x", "E1"), Attribute("A2", "x", "R1")],
            },
            {
                "event spans sentences": 1,
                "relation has a part that was lost": 1,
                "attribute of a lost annotation": 2,
            },
        ),
    ],
)
def test_what_no_sentence_can_hold_is_counted(parts, lost):
    assert Document(TEXT, ALL, **parts).split().lost == lost


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (Entity("T9", "x", ((8, 20),)), "entity spans sentences"),
        (Entity("T9", "x", ((4, 9),)), "entity is not in a sentence"),
        (Entity("T9", "x", ((2, 8),)), "entity is not in a sentence"),
        (Entity("T9", "x", ((2, 10),)), "entity is not in a sentence"),
        (Entity("T9", "x", ()), "entity is not in the text"),
    ],
)
def test_entities_between_sentences_are_counted(made, reason):
    assert Document(TEXT, [made]).split([(0, 3), (10, 14), (15, 29)]).lost == {reason: 1}


def test_events_that_refer_to_each_other_in_a_circle_stay_together():
    made = Document(TEXT, ALL, (), [event("E1", "T1", "E2"), event("E2", "T1", "E1")])
    assert len(made.sentences()[0].events) == 2


def test_a_circle_of_events_is_lost_as_a_whole():
    events = [event("E1", "T1", "E2"), event("E2", "T1", "E1", "T3")]
    cut = Document(TEXT, ALL, (), events).split()
    assert cut.lost == {"event spans sentences": 1, "event has a part that was lost": 1}


def test_events_nested_to_any_depth_are_shared():
    chain = [event(f"E{k}", "T1", f"E{k + 1}") for k in range(DEPTH)]
    cut = Document(TEXT, ALL, (), [*chain, event(f"E{DEPTH}", "T1", "T3")]).split()
    assert cut.lost == {"event spans sentences": 1, "event has a part that was lost": DEPTH}


def test_a_long_document_is_cut_in_linear_time():
    count = 20_000
    entities = [Entity(f"T{k}", "x", ((15 * k, 15 * k + 3),), "Raf") for k in range(count)]
    made = Document("Raf binds Ras. " * count, entities)
    assert len(made.sentences(tokenize=lambda text, boundaries: ())) == count


def test_parsed_sentences_get_the_annotation_of_the_document():
    parsed = [Sentence.from_words(line.split()) for line in ["Raf binds Ras .", "MEK is active ."]]
    made = Document(TEXT, ALL, (), [event("E1", "T1", "T0")])
    first, second = made.annotate(parsed).sentences
    assert (first.text, first.words) == ("Raf binds Ras.", ("Raf", "binds", "Ras", "."))
    assert (first.events, second.start, second.tokens_of(second.entities[0])) == (
        made.events,
        15,
        (0,),
    )


def test_tokens_stand_where_they_stand_in_the_document():
    [sentence] = (
        Document("Raf\n  binds").annotate([Sentence.from_words(["Raf", "binds"])]).sentences
    )
    assert [(token.start, token.end) for token in sentence.tokens] == [(0, 3), (6, 11)]


def test_tokens_without_characters_stand_before_what_follows_them():
    tokens = [Token("", 0, 0), Token("Raf", 0, 3), Token(" ", 3, 4), Token("is", 4, 6)]
    parsed = Sentence("Raf is", [*tokens, Token("", 6, 6)])
    [sentence] = Document(" Raf\n  is").annotate([parsed]).sentences
    assert sentence.text == "Raf\n  is"
    assert [(token.start, token.end) for token in sentence.tokens] == [
        (0, 0),
        (0, 3),
        (6, 6),
        (6, 8),
        (8, 8),
    ]


def test_the_parse_stays_with_the_sentence():
    parsed = Sentence.from_words(["MEK", "is"], dependencies=[(1, "nsubj", 0)], tags=["NN", "VBZ"])
    [sentence] = Document(TEXT).annotate([parsed]).sentences
    assert (sentence.dependencies, sentence.tokens[1].tag) == (parsed.dependencies, "VBZ")


def test_equal_sentences_are_found_one_after_the_other():
    made = Document("Raf is. Raf is.").annotate([Sentence("Raf is."), Sentence("Raf is.")])
    assert [sentence.start for sentence in made.sentences] == [0, 8]


def test_what_is_annotated_between_parsed_sentences_is_counted():
    assert Document(TEXT, ALL).annotate([Sentence("MEK is active.")]).lost == {
        "entity is not in a sentence": 3
    }


def test_a_sentence_that_is_not_in_the_document_is_named():
    with pytest.raises(StructureError, match="sentence 1 is not in the document: 'Raf binds Ras"):
        Document(TEXT).annotate([Sentence("MEK is active."), Sentence("Raf binds Ras.")])


def test_a_blank_sentence_is_refused():
    with pytest.raises(StructureError, match="sentence 0 is blank"):
        Document(TEXT).annotate([Sentence(" ")])


def test_a_sentence_with_annotation_of_its_own_is_refused():
    with pytest.raises(StructureError, match="sentence 0 already has entities"):
        Document(TEXT).annotate([Sentence("Raf", entities=[Entity("a", "x", ((0, 3),))])])


@st.composite
def annotated(draw):
    text = draw(st.text("aA. \n😀", min_size=1, max_size=40))
    entities, events = [], []
    for number in range(draw(st.integers(0, 5))):
        cuts = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=4)))
        spans = tuple(zip(cuts[::2], cuts[1::2], strict=False))
        entities.append(Entity(f"T{number}", "x", spans))
    if entities:
        names = [f"E{number}" for number in range(4)]
        targets = st.sampled_from([item.id for item in entities] + names)
        for name in names:
            trigger = draw(st.sampled_from(entities)).id
            events.append(event(name, trigger, *draw(st.lists(targets, max_size=2))))
    return Document(text, entities, (), events, [Attribute("A1", "x", e.id) for e in events])


@given(annotated(), st.data())
def test_every_annotation_is_in_one_sentence_or_counted(made, data):
    cuts = sorted(data.draw(st.sets(st.integers(0, len(made.text)), max_size=6)))
    spans = data.draw(st.sampled_from([None, list(zip(cuts[::2], cuts[1::2], strict=False))]))
    sentences, lost = made.split(spans, tokenize=lambda text, boundaries: ())
    for part in ("entities", "events", "attributes"):
        held = [item.id for sentence in sentences for item in getattr(sentence, part)]
        missing = sum(count for reason, count in lost.items() if reason.startswith(part[:5]))
        assert len(held) + missing == len(getattr(made, part))


@given(annotated())
def test_entities_of_sentences_stand_at_the_same_characters(made):
    there = {item.id: item.spans for item in made.entities}
    for sentence in made.sentences(tokenize=lambda text, boundaries: ()):
        assert made.text[sentence.start :].startswith(sentence.text)
        for item in sentence.entities:
            assert (
                tuple((a + sentence.start, b + sentence.start) for a, b in item.spans)
                == (there[item.id])
            )


@given(annotated())
def test_sentences_taken_bare_and_annotated_again_are_the_same(made):
    cut = made.split()
    bare = [
        sentence.with_parts(entities=(), events=(), attributes=()) for sentence in cut.sentences
    ]
    if all(sentence.text == sentence.text.strip() for sentence in bare):
        assert made.annotate(bare) == cut


# Parsed documents


def parsed(*sentences, text=TEXT, **parts):
    made = []
    for sentence in sentences:
        tokens = tuple(tokenize(sentence))
        edges = [(-1 if place == 0 else 0, "dep", place) for place in range(len(tokens))]
        start = text.index(sentence)
        made.append(Sentence(sentence, tokens, edges, start=start))
    return Document(text, parse=made, **parts)


def test_the_sentences_of_a_parsed_document_are_those_of_its_parse():
    document = parsed("Raf binds", "MEK is active.", entities=ALL)
    assert [sentence.with_parts(entities=()) for sentence in document.sentences()] == [
        *document.parse
    ]


def test_entities_of_a_parsed_document_are_in_its_sentences():
    first, second = parsed("Raf binds", "MEK is active.", entities=ALL).sentences()
    assert [one.id for one in first.entities] == ["T0", "T1"]
    assert second.entities == (Entity("T3", "Protein", ((0, 3),), "MEK"),)


def test_annotation_outside_the_parse_is_counted():
    assert parsed("Raf binds", entities=ALL).split().lost == {"entity is not in a sentence": 2}


def test_parsed_sentences_that_share_an_entity_are_joined():
    across = Entity("T1", "odd", ((10, 18),))
    [sentence] = parsed("Raf binds Ras.", "MEK is active.", entities=[across]).sentences()
    assert (sentence.text, len(sentence.tokens)) == (TEXT, 8)
    assert [edge.head for edge in sentence.dependencies] == [-1, 0, 0, 0, -1, 4, 4, 4]
    for token in sentence.tokens:
        assert TEXT[token.start : token.end] == token.text


def test_joined_sentences_keep_enhanced_dependencies_to_empty_nodes():
    text = "we go you go"
    half = {"empty": [(0, "x")], "enhanced": [(2, "dep", 0), (-1, "root", 2)]}
    parse = [
        Sentence.from_words(["we", "go"], **half),
        Sentence.from_words(["you", "go"], **half, start=6),
    ]
    [sentence] = Document(text, [Entity("T1", "odd", ((0, 12),))], parse=parse).sentences()
    assert [(node.after, node.text) for node in sentence.empty] == [(0, "x"), (2, "x")]
    assert [tuple(edge) for edge in sentence.enhanced] == [
        *((4, "dep", 0), (-1, "root", 4)),
        *((5, "dep", 2), (-1, "root", 5)),
    ]


def test_an_entity_that_ends_in_blanks_is_in_its_parsed_sentence():
    [sentence] = parsed("Raf", text="Raf  ", entities=[Entity("T1", "P", ((0, 5),))]).sentences()
    assert sentence.text == "Raf  "


def test_spans_or_a_tokenizer_replace_the_parse():
    document = parsed("Raf binds", "MEK is active.")
    assert [sentence.text for sentence in document.sentences([(0, 3)])] == ["Raf"]
    assert document.sentences(tokenize=tokenize)[0].dependencies == ()


def test_a_parsed_document_shows_its_sentences():
    assert repr(parsed("Raf binds Ras.")) == f"Document({TEXT!r}, 1 sentence)"


@pytest.mark.parametrize(
    ("parse", "message"),
    [
        (3, "must be a list of sentences, got int"),
        ("Raf", "must be a list of sentences, got str"),
        (Sentence("Raf"), "must be a list of sentences, got Sentence"),
        (["Raf"], "parse 0 of the document must be a Sentence, got str"),
        ([Sentence("binds")], r"'binds', is not in the document at character 0\n.*`start`"),
        ([Sentence("Raf"), Sentence("Raf")], "sentence 1 of the parse"),
        ([Sentence(" ", start=3)], "sentence 0 is blank"),
        ([Sentence("Raf", entities=[RAF])], "already has entities"),
    ],
)
def test_a_parse_of_something_else_is_refused(parse, message):
    with pytest.raises(StructureError, match=message):
        Document(TEXT, parse=parse)
