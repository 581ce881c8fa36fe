"""Documents of spaCy and Stanza, sentences of conllu.

Stanza is not installed for the tests: the objects have the names of its classes and attributes.
"""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from parsing.stanza_stand_in import Pipeline, node

from kernelwood.errors import KernelInputError, StructureError
from kernelwood.structures import Tree
from kernelwood.text import (
    ROOT,
    Attribute,
    Dependency,
    Document,
    Entity,
    Multiword,
    Sentence,
    from_conllu,
    from_spacy,
    from_stanza,
    to_spacy,
)

spacy = pytest.importorskip("spacy")
conllu = pytest.importorskip("conllu")

TEXT = "  Raf  binds Ras.\n It is. "
WORDS = ["  ", "Raf", " ", "binds", "Ras", ".", "\n ", "It", "is", ".", " "]
SPACES = [False, True, False, True, False, False, False, True, False, False, False]


def make_doc(**columns):
    heads = [1, 3, 1, 3, 3, 3, 5, 8, 8, 8, 8]
    deps = ["", "nsubj", "", "ROOT", "obj", "punct", "", "nsubj", "ROOT", "punct", ""]
    named = {"heads": heads, "deps": deps, "lemmas": [word.lower() for word in WORDS], **columns}
    named = {name: column for name, column in named.items() if column is not None}
    doc = spacy.tokens.Doc(spacy.vocab.Vocab(), words=WORDS, spaces=SPACES, **named)
    assert doc.text == TEXT
    return doc


def bare_doc():
    return make_doc(heads=None, deps=None, lemmas=None)


class TestFromSpacy:
    def test_sentences_have_no_blanks_around_them(self):
        assert [(s.text, s.start) for s in from_spacy(make_doc()).parse] == [
            ("Raf  binds Ras.", 2),
            ("It is.", 19),
        ]

    def test_tokens_have_the_offsets_of_their_sentence(self):
        for sentence in from_spacy(make_doc()).parse:
            for token in sentence.tokens:
                assert sentence.text[token.start : token.end] == token.text

    def test_dependencies_skip_blanks(self):
        first, _ = from_spacy(make_doc()).parse
        assert first.dependencies == (
            Dependency(1, "nsubj", 0),
            Dependency(ROOT, "root", 1),
            Dependency(1, "obj", 2),
            Dependency(1, "punct", 3),
        )

    def test_a_word_may_depend_on_a_blank(self):
        heads = [1, 2, 3, 3, 3, 3, 5, 8, 8, 8, 8]
        deps = ["dep", "nsubj", "dep", "ROOT", "obj", "punct", "", "nsubj", "ROOT", "punct", ""]
        first, _ = from_spacy(make_doc(heads=heads, deps=deps)).parse
        assert first.dependencies[0].head == 1

    def test_lemmas_are_kept(self):
        assert from_spacy(make_doc()).parse[0].tokens[0].lemma == "raf"

    def test_the_split_of_the_document_is_its_parse(self):
        document = from_spacy(make_doc())
        assert document.sentences() == document.parse

    def test_without_sentence_boundaries_there_is_no_parse(self):
        assert from_spacy(bare_doc()).parse == ()

    def test_an_empty_doc_is_an_empty_document(self):
        assert from_spacy(spacy.tokens.Doc(spacy.vocab.Vocab())) == Document("")

    def test_entities_have_database_ids_as_references(self):
        doc = make_doc()
        doc.ents = [
            spacy.tokens.Span(doc, 1, 2, label="protein", kb_id="DB:1", span_id="P7"),
            spacy.tokens.Span(doc, 4, 5, label="gene"),
        ]
        document = from_spacy(doc)
        assert document.entities == (
            Entity("T1", "protein", ((2, 5),), "Raf"),
            Entity("T2", "gene", ((13, 16),), "Ras"),
        )
        assert document.attributes == (
            Attribute("N1", "Reference", "T1", "DB:1\tRaf"),
            Attribute("N2", "Reference", "T1", "P7\tRaf"),
        )

    def test_sentences_that_share_an_entity_are_joined(self):
        doc = make_doc()
        doc.ents = [spacy.tokens.Span(doc, 4, 8, label="odd")]
        [sentence] = from_spacy(doc).sentences()
        assert sentence.text == "Raf  binds Ras.\n It is."
        assert [edge.dependent for edge in sentence.dependencies if edge.head == ROOT] == [1, 5]
        assert [sentence.tokens[i].text for i in sentence.tokens_of(sentence.entities[0])] == [
            *("Ras", ".", "It")
        ]

    def test_span_groups_may_overlap(self):
        doc = make_doc()
        doc.spans["found"] = [doc[1:2], doc[1:5]]
        assert len(from_spacy(doc, spans="found").entities) == 2

    def test_missing_span_groups_are_named(self):
        with pytest.raises(KernelInputError, match=r"no doc.spans\['x'\]; it has none"):
            from_spacy(make_doc(), spans="x")

    def test_a_span_is_not_a_doc(self):
        with pytest.raises(KernelInputError, match=r"takes a Doc of spacy, got .* of type Span"):
            from_spacy(make_doc()[:2])


class TestToSpacy:
    def test_a_parsed_doc_survives(self):
        doc = make_doc()
        doc.ents = [spacy.tokens.Span(doc, 1, 2, label="protein", kb_id="DB:1")]
        document = from_spacy(doc)
        again = to_spacy(document)
        assert again.text == TEXT
        assert from_spacy(again) == document

    @given(st.text(alphabet="ab. \n(α", max_size=40))
    def test_the_text_is_kept(self, text):
        document = Document(text)
        doc = to_spacy(document)
        assert doc.text == text
        assert [s.text for s in from_spacy(doc).sentences()] == [
            s.text for s in document.sentences()
        ]

    def test_sentences_of_text_without_a_parse_are_kept(self):
        doc = to_spacy(Document("Raf binds. It is."))
        assert [span.text for span in doc.sents] == ["Raf binds.", "It is."]

    def test_a_sentence_is_a_doc(self):
        sentence = Sentence.from_words(["we", "go"], tags=["PRP", "VBP"], start=7)
        doc = to_spacy(sentence)
        assert [(token.text, token.tag_) for token in doc] == [("we", "PRP"), ("go", "VBP")]

    def test_of_overlapping_entities_the_longest_is_an_entity_of_the_doc(self):
        entities = [
            Entity("T1", "gene", ((0, 4),)),
            Entity("T2", "promoter", ((0, 13),)),
            Entity("T3", "part", ((0, 4), (14, 18))),
            Entity("T4", "letter", ((5, 6),)),
        ]
        doc = to_spacy(Document("IL-2 promoter site", entities))
        assert [span.label_ for span in doc.ents] == ["promoter"]
        assert [span.label_ for span in doc.spans["entities"]] == [
            *("gene", "promoter", "part", "letter")
        ]

    def test_a_document_that_is_parsed_in_part_is_refused(self):
        parse = [
            Sentence.from_words(["we", "go"], dependencies=[(1, "nsubj", 0), (-1, "root", 1)]),
            Sentence.from_words(["you", "too"], start=6),
        ]
        with pytest.raises(StructureError, match="'you too' has no dependencies"):
            to_spacy(Document("we go you too", parse=parse))

    @pytest.mark.parametrize(
        "dependencies",
        [
            [(1, "x", 0), (0, "x", 1)],
            [(-1, "root", 0)],
            [(-1, "root", 0), (-1, "root", 1)],
            [(-1, "root", 0), (0, "x", 1), (0, "y", 1)],
        ],
    )
    def test_dependencies_that_are_not_a_tree_are_refused(self, dependencies):
        sentence = Sentence.from_words(["we", "go"], dependencies=dependencies)
        with pytest.raises(StructureError, match=r"not a tree.*\n.*dependencies=\(\)"):
            to_spacy(sentence)

    def test_words_written_as_one_are_refused(self):
        sentence = Sentence("cannot", [("can", 0, 6), ("not", 0, 6)], multiwords=[(0, 2, "cannot")])
        with pytest.raises(StructureError, match="'not' at character 0 overlaps"):
            to_spacy(sentence)

    def test_other_objects_are_refused(self):
        with pytest.raises(KernelInputError, match="takes a Document or a Sentence, got str"):
            to_spacy("Raf binds Ras.")


def stanza_class(name, thing, **more):
    """Return an object of a class of Stanza by name."""
    return type(name, (), {"__module__": "stanza.models.common.doc"} | vars(thing) | more)()


def stanza_doc(given, *, constituency=None, **more):
    return stanza_class("Document", Pipeline(constituency)(given), **{"text": given, **more})


class TestFromStanza:
    def test_a_document_has_parse_and_entities(self):
        document = from_stanza(stanza_doc(" We go. Cannot."))
        assert document.entities == (Entity("T1", "W", ((1, 3),), "We"),)
        assert [(s.text, s.start) for s in document.parse] == [("We go.", 1), ("Cannot.", 8)]
        assert document.parse[0].dependencies[0] == Dependency(1, "nsubj", 0)

    def test_words_written_as_one_share_its_characters(self):
        [_, second] = from_stanza(stanza_doc("We go. Cannot.")).parse
        assert second.multiwords == (Multiword(0, 2, "Cannot"),)
        assert [(t.start, t.end) for t in second.tokens] == [(0, 6), (0, 6), (6, 7)]

    def test_trees_are_kept(self):
        tree = node("S", node("NP", node("We")), node("VP", node("go")), node(".", node(".")))
        [first] = from_stanza(stanza_doc("We go.", constituency=tree)).parse
        assert first.tree == Tree.from_brackets("(S (NP We) (VP go) (. .))")

    def test_a_sentence_is_a_document_of_its_text(self):
        parsed = Pipeline()("We go. We go.")
        second = stanza_class("Sentence", parsed.sentences[1], text="We go.", ents=parsed.ents[1:])
        document = from_stanza(second)
        assert document.text == "We go."
        assert document.entities[0].spans == ((0, 2),)

    def test_without_a_text_words_are_joined_by_blanks(self):
        doc = stanza_doc("We go.", text=None)
        span = doc.ents[0]
        span.tokens, span.start_char = [doc.sentences[0].tokens[0]], None
        document = from_stanza(doc)
        assert (document.text, document.entities[0].text) == ("We go .", "We")

    def test_other_objects_are_refused(self):
        with pytest.raises(KernelInputError, match="takes a Document or Sentence of stanza"):
            from_stanza(Document("We go."))


CONLLU = """\
# sent_id = s1
# text = Dámelo ya!
1-2\tDámelo\t_\t_\t_\t_\t_\t_\t_\t_
1\tDa\tdar\tVERB\tV\tMood=Imp|Tense=Pres\t0\troot\t0:root\t_
2\tmelo\té\tPRON\t_\t_\t1\tobj\t1:obj|2.1:dep\t_
2.1\ttú\t_\tPRON\t_\t_\t_\t_\t1:nsubj\t_
3\tya\tya\tADV\t_\t_\t1\tadvmod\t1:advmod\tSpaceAfter=No
4\t!\t!\tPUNCT\t_\t_\t1\tpunct\t1:punct\t_

"""


class TestFromConllu:
    def test_a_sentence_is_read_as_from_a_file(self, tmp_path):
        import kernelwood as kw

        path = tmp_path / "one.conllu"
        path.write_text(CONLLU, encoding="utf-8")
        expected = kw.read(path)[0].view("sentence")
        [tokens] = conllu.parse(CONLLU)
        made = from_conllu(tokens)
        for name in Sentence.__slots__:
            if name != "metadata":
                assert getattr(made, name) == getattr(expected, name), name

    def test_comments_are_metadata(self):
        [tokens] = conllu.parse(CONLLU)
        assert from_conllu(tokens).metadata == (("sent_id", "s1"),)

    def test_without_a_text_words_are_joined(self):
        [tokens] = conllu.parse(CONLLU)
        del tokens.metadata["text"]
        assert from_conllu(tokens).text == "Dámelo ya!"

    def test_a_text_of_other_words_is_refused(self):
        [tokens] = conllu.parse(CONLLU)
        tokens.metadata["text"] = "Dámelo, ya!"
        with pytest.raises(StructureError, match=r"word 1 \('ya'\) does not follow"):
            from_conllu(tokens)

    def test_a_filtered_sentence_is_refused(self):
        [tokens] = conllu.parse(CONLLU)
        with pytest.raises(StructureError, match=r"numbered from 1, got \[3\]"):
            from_conllu(tokens.filter(form="ya"))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"head": 9}, "the head 9 is not the id of a word"),
            ({"deps": [("x", (7, ".", 1))]}, "is not the id of a word"),
        ],
    )
    def test_a_head_that_does_not_exist_is_refused(self, change, message):
        [tokens] = conllu.parse(CONLLU)
        tokens[1].update(change)
        with pytest.raises(StructureError, match=message):
            from_conllu(tokens)

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            *[("id", value) for value in (None, "1", -1, True, (1, "-"), (1, "+", 2), [1])],
            *[("form", value) for value in (None, "", 3)],
            *[("head", value) for value in ("x", -1, (1, ".", 1), {})],
            *[("deps", [value]) for value in ("x", ("x",), ("x", "y"), (3, 1), ("x", [1]))],
        ],
    )
    def test_a_field_of_the_wrong_type_is_named(self, key, value):
        [tokens] = conllu.parse(CONLLU)
        tokens[1][key] = value
        with pytest.raises(StructureError, match=f"row 1 of the TokenList: {key} is "):
            from_conllu(tokens)

    def test_a_text_that_is_not_a_string_is_refused(self):
        [tokens] = conllu.parse(CONLLU)
        tokens.metadata["text"] = 3
        with pytest.raises(StructureError, match="the text of a sentence must be a string"):
            from_conllu(tokens)

    def test_a_range_beyond_the_words_is_refused(self):
        [tokens] = conllu.parse(CONLLU)
        tokens[0]["id"] = (1, "-", 9)
        with pytest.raises(StructureError, match="range"):
            from_conllu(tokens)

    def test_a_list_of_sentences_is_not_a_sentence(self):
        with pytest.raises(KernelInputError, match="takes a TokenList of conllu"):
            from_conllu(conllu.parse(CONLLU))
