from __future__ import annotations

import io

import pytest
from hypothesis import given, strategies as st
from processes import run_python
from sizes import DEPTH

from kernelwood.errors import ReadError
from kernelwood.io import iter_read, read, xml
from kernelwood.io.formats import ppi
from kernelwood.text import Argument, Dependency, Entity, Relation, Token

TOKENS = """<token POS="NN" charOffset="0-2" id="t1" text="Raf" />
<token POS="VBZ" charOffset="4-8" id="t2" text="binds" />
<token POS="NN" charOffset="10-12" id="t3" text="Ras" />
"""
PARSE = """<parse parser="{parser}" tokenizer="{tokenizer}">
<dependency id="1" t1="t2" t2="t1" type="{relation}" />
</parse>
"""
TOKENIZATION = """<tokenization tokenizer="{tokenizer}">
{tokens}</tokenization>
"""
ENTITIES = """<entity charOffset="0-2" id="e0" text="Raf" type="protein" seqId="7" />
<entity charOffset="10-12" id="e1" text="Ras" type="protein" />
"""
SPLIT = PARSE.format(parser="split_parse", tokenizer="split", relation="nsubj")
OTHER = PARSE.format(parser="other", tokenizer="words", relation="dep")
SPLIT_TOKENS = TOKENIZATION.format(tokenizer="split", tokens=TOKENS)
OTHER_TOKENS = TOKENIZATION.format(
    tokenizer="words",
    tokens='<token charOffset="0-8" id="t1" text="Raf binds" />'
    '<token charOffset="10-12" id="t2" text="Ras" />',
)


def corpus(*sentences: str) -> bytes:
    return f"<corpus>\n{''.join(sentences)}</corpus>\n".encode()


def sentence(body: str = "", text: str = "Raf binds Ras", name: str = "s", more: str = "") -> str:
    return f'<sentence id="{name}" text="{text}"{more}>\n{body}</sentence>\n'


def parse(data: bytes, errors: str = "raise", views=None):
    return read(io.BytesIO(data), format="ppi", errors=errors, views=views)


def only(body: str, text: str = "Raf binds Ras"):
    (example,) = parse(corpus(sentence(body, text)))
    return example.view("sentence")


def problem(data: bytes, views=None) -> ReadError:
    with pytest.raises(ReadError) as caught:
        parse(data, views=views)
    return caught.value


def entity(offsets: str, text: str, name: str = "e") -> str:
    return f'<entity charOffset="{offsets}" id="{name}" text="{text}" type="t" />\n'


# What is read.


def test_offsets_include_the_last_character():
    assert only(ENTITIES).entities[1] == Entity("e1", "protein", ((10, 13),), "Ras")


def test_discontinuous_entities_have_several_spans():
    found = only(entity("0-2,10-12", "Raf Ras")).entities
    assert found == (Entity("e", "t", ((0, 3), (10, 13)), "Raf Ras"),)


def test_pairs_are_relations_that_hold_or_do_not():
    pairs = '<pair id="p0" e1="e1" e2="e0" interaction="True" />'
    pairs += '<pair id="p1" e1="e0" e2="e1" interaction="False" />'
    assert only(ENTITIES + pairs).relations == (
        Relation("p0", "interaction", (Argument("", "e1"), Argument("", "e0")), True),
        Relation("p1", "interaction", (Argument("", "e0"), Argument("", "e1")), False),
    )


def test_tokens_have_tags_and_offsets():
    assert only(SPLIT + SPLIT_TOKENS).tokens[1] == Token("binds", 4, 9, tag="VBZ")


def test_the_first_token_of_a_dependency_is_the_head():
    assert only(SPLIT + SPLIT_TOKENS).dependencies == (Dependency(1, "nsubj", 0),)


@pytest.mark.parametrize("body", [SPLIT + OTHER, OTHER + SPLIT])
@pytest.mark.parametrize("tokens", [SPLIT_TOKENS + OTHER_TOKENS, OTHER_TOKENS + SPLIT_TOKENS])
@pytest.mark.parametrize("views", [None, ["sentence"], ["sentence", "sentence.other"]])
@pytest.mark.parametrize("tokens_first", [False, True])
def test_the_split_parse_is_preferred(body, tokens, views, tokens_first):
    (example,) = parse(
        corpus(sentence(tokens + body if tokens_first else body + tokens)), views=views
    )
    assert example.view("sentence").words == ("Raf", "binds", "Ras")
    assert example.view("sentence").dependencies == (Dependency(1, "nsubj", 0),)


def test_other_parses_are_named_by_their_parser():
    (example,) = parse(corpus(sentence(OTHER + SPLIT + OTHER_TOKENS + SPLIT_TOKENS)))
    assert list(example.views) == ["sentence", "sentence.other"]
    assert example.view("sentence.other").words == ("Raf binds", "Ras")


def test_without_a_split_parse_the_first_is_taken():
    last = PARSE.format(parser="split_parse", tokenizer="words", relation="x")
    (example,) = parse(corpus(sentence(OTHER + last + OTHER_TOKENS)))
    assert list(example.views) == ["sentence", "sentence.split_parse"]
    assert example.view("sentence").dependencies[0].relation == "dep"


def test_a_sentence_may_lack_a_parse():
    assert only(ENTITIES).tokens == ()


def test_tokens_are_read_without_a_parse():
    assert only(OTHER_TOKENS + SPLIT_TOKENS).words == ("Raf", "binds", "Ras")


def test_only_wanted_views_are_built():
    data = corpus(sentence(OTHER + SPLIT + OTHER_TOKENS + SPLIT_TOKENS))
    (example,) = parse(data, views=["sentence.other"])
    assert list(example.views) == ["sentence.other"]


def test_broken_parses_that_nobody_wants_do_no_harm():
    (example,) = parse(corpus(sentence(OTHER + SPLIT + SPLIT_TOKENS)), views=["sentence"])
    assert list(example.views) == ["sentence"]


def test_attributes_without_a_place_become_metadata():
    data = corpus('<document id="d0" origId="77">\n', sentence(more=' seqId="s4"'), "</document>\n")
    (example,) = parse(data)
    expected = (("document", "d0"), ("document.origId", "77"), ("seqId", "s4"))
    assert example.view("sentence").metadata == expected


def test_metadata_ends_with_the_document():
    data = corpus('<document id="d0"></document>', sentence())
    assert parse(data)[0].view("sentence").metadata == ()


def test_id_and_line_come_from_the_sentence():
    (example,) = parse(corpus("\n\n", sentence(name="S.7")))
    assert (example.id, example.label, example.origin.line) == ("S.7", None, 4)


def test_unknown_elements_and_attributes_are_passed_over():
    body = '<analyses x="1"><bracketing string="(S x)">text<a/></bracketing></analyses>'
    assert only(body + ENTITIES).entities == only(ENTITIES).entities


def test_blank_text_is_a_sentence():
    assert only("", text="").text == ""


def test_decomposed_letters_stay_decomposed():
    assert only(entity("0-3", "ra\u0308f"), "ra\u0308f").entities[0].spans == ((0, 4),)


def test_offsets_count_characters_beyond_the_basic_plane_once():
    assert only(entity("2-4", "Ras"), "𝒜 Ras").entities[0].spans == ((2, 5),)


def test_escapes_count_as_the_characters_they_stand_for():
    text = only(entity("4-6", "Ras"), "a&lt;&#x10400; Ras").text
    assert text == "a<\U00010400 Ras"


def test_the_declared_encoding_is_used():
    data = "<?xml version='1.0' encoding='iso-8859-1'?>" + sentence("", "Räf")
    (example,) = parse(data.encode("latin-1"))
    assert example.view("sentence").text == "Räf"


def test_a_file_is_recognized_by_its_content():
    data = b"<?xml version='1.0'?>\n<!-- invented -->\n" + corpus(sentence())
    assert len(read(io.BytesIO(data))) == 1


# What is odd, and what is wrong.


@pytest.mark.parametrize(("offsets", "shifted"), [("1-3", False), ("0-2", True), ("2-4", True)])
def test_offsets_that_are_one_character_off_are_corrected_with_a_remark(offsets, shifted):
    examples = parse(corpus(sentence(entity(offsets, "Raf"), ".Raf.")))
    assert examples[0].view("sentence").entities[0].spans == ((1, 4),)
    assert sum(examples.tally.remarks.values()) == shifted


@pytest.mark.parametrize(("offsets", "text"), [("0-2", "..Raf"), ("2-4", "Raf.."), ("1-3", "Raf ")])
def test_other_wrong_offsets_are_errors_at_both_ends_of_the_text(offsets, text):
    data = corpus(sentence(entity(offsets, text.strip(". ")), text))
    if offsets == "1-3":
        assert parse(data)[0].view("sentence").entities[0].spans == ((0, 3),)
    else:
        assert "stands" in problem(data).problem


def test_a_token_that_differs_is_kept_with_a_remark():
    tokens = SPLIT_TOKENS.replace('text="binds"', 'text="bound"')
    examples = parse(corpus(sentence(SPLIT + tokens)))
    assert examples[0].view("sentence").tokens[1] == Token("bound", 4, 9, tag="VBZ")
    assert sum(examples.tally.remarks.values()) == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (entity("0-2", "Ras"), "entity 'e' is 'Ras', but at its offsets stands 'Raf'"),
        (entity("0-1", ""), "entity 'e' is '', but at its offsets stands 'Ra'"),
        (entity("0-13", "Raf"), "the offsets '0-13' do not fit a text of 13 characters"),
        (entity("4-2", "Raf"), "the offsets '4-2' do not fit"),
        (entity("10-12,0-2", "Ras Raf"), "the offsets '10-12,0-2' do not fit"),
        (entity("x", "Raf"), "'x' is not a pair of offsets"),
        (entity("0-2,", "Raf"), "'' is not a pair of offsets"),
        (entity("٠-٢", "Raf"), "is not a pair of offsets"),
        (entity("0-" + "9" * 5000, "Raf"), "is not a pair of offsets"),
        (ENTITIES + entity("0-2", "Raf", "e0"), "the id 'e0' belongs to another entity"),
        ('<entity id="e" text="Raf" />', "the attribute charOffset is missing"),
        ('<entity charOffset="0-2" text="Raf" />', "the attribute id is missing"),
        (ENTITIES + '<pair id="p" e1="e0" e2="e9" interaction="True" />', "no entity 'e9'"),
        (ENTITIES + '<pair id="p" e1="e0" e2="e1" interaction="yes" />', "interaction is 'yes'"),
        (ENTITIES + '<pair id="e0" e1="e0" e2="e1" interaction="True" />', "the id 'e0'"),
        (SPLIT, "there is no tokenization 'split'"),
        (SPLIT.replace("t1=", "t0=") + SPLIT_TOKENS, "the attribute t1 is missing"),
        (SPLIT.replace('"t2"', '"t9"') + SPLIT_TOKENS, "there is no token 't9'"),
        (SPLIT_TOKENS.replace('"t2"', '"t1"'), "the id 't1' belongs to another token"),
        (SPLIT_TOKENS.replace("10-12", "10-13"), "the offsets '10-13' do not fit"),
        (SPLIT_TOKENS.replace("text=", "form="), "the attribute text is missing"),
        (SPLIT_TOKENS + SPLIT_TOKENS, "two tokenizations have the same tokenizer"),
        (SPLIT + OTHER + OTHER + SPLIT_TOKENS + OTHER_TOKENS, "a second parse by 'other'"),
        ('<parse parser="x"></parse>', "the attribute tokenizer is missing"),
        ('<token charOffset="0-2" id="t" text="Raf" />', "a <token> cannot stand here"),
        (sentence(name="inner"), "a <sentence> cannot stand here"),
        ("<parses><parse parser='a' tokenizer='b'><parse/></parse></parses>", "a <parse> cannot"),
    ],
)
def test_a_broken_sentence_is_left_out_and_the_next_is_read(body, message):
    data = corpus(sentence(body, name="bad"), sentence(name="good"))
    examples = parse(data, "collect")
    assert [example.id for example in examples] == ["good"]
    assert message in str(examples.tally.problems[0])


def test_a_problem_has_the_line_and_column_of_its_element():
    found = problem(corpus(sentence(ENTITIES + "  " + entity("0-2", "Ras"))))
    assert (found.line, found.column) == (5, 3)


@pytest.mark.parametrize("attribute", ["id", "text"])
def test_a_sentence_needs_id_and_text(attribute):
    found = problem(corpus("\n", sentence().replace(f"{attribute}=", "x=")))
    assert (found.line, found.problem) == (3, f"the attribute {attribute} is missing")


def test_offsets_in_utf16_units_are_told():
    found = problem(corpus(sentence(entity("3-5", "Ras"), "𝒜 Ras x")))
    assert "UTF-16" in found.hint


def test_offsets_in_bytes_are_told():
    found = problem(corpus(sentence(entity("3-5", "Raf"), "β Raf.")))
    assert "UTF-8 bytes" in found.hint


def test_offsets_that_end_after_the_last_character_are_told():
    assert "end after" in problem(corpus(sentence(entity("0-3", "Raf")))).hint


@pytest.mark.parametrize("line_end", ["", "\n"])
def test_an_id_that_was_used_before_is_an_error(line_end):
    data = corpus(sentence(), sentence()).replace(b"\n", line_end.encode())
    examples = parse(data, "collect")
    assert len(examples) == 1
    assert "was used before" in examples.tally.problems[0].problem


def test_a_wanted_view_that_is_missing_is_an_error_of_the_sentence():
    data = corpus(sentence(name="a"), sentence(OTHER + OTHER_TOKENS + SPLIT + SPLIT_TOKENS))
    found = problem(data, ["sentence.othre"])
    assert found.line == 2
    assert "there is no view 'sentence.othre'" in found.problem


def test_annotation_outside_of_sentences_is_an_error():
    examples = parse(corpus(entity("0-2", "Raf"), sentence()), "collect")
    assert len(examples) == 1
    assert "a <entity> cannot stand here" in examples.tally.problems[0].problem


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"<corpus>\n <sentence id='a' text='<'/></corpus>", (2, 25)),
        (b"<corpus>\n", (2, 1)),
        (b"<corpus></corpus><corpus/>", (1, 18)),
        (b"<corpus>\n\n&nbsp;</corpus>", (3, 1)),
        (b"<corpus>\n<sentence id='a' text='R\xe4f'/></corpus>", (2, 25)),
    ],
)
def test_what_is_not_well_formed_is_located(data, place):
    found = problem(data)
    assert "not well-formed" in found.problem
    assert (found.line, found.column) == place


def test_sentences_before_the_damage_are_read():
    examples = parse(corpus(sentence()) + b"junk", "collect")
    assert len(examples) == 1
    assert examples.tally.skipped == 1


def test_an_unknown_encoding_is_an_error():
    found = problem(b"<?xml version='1.0' encoding='klingon'?><corpus/>")
    assert "encoding" in found.problem


def test_another_kind_of_xml_is_refused():
    assert "the outermost element is <html>" in problem(b"<html></html>").problem


# Hostile files.


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE corpus SYSTEM "corpus.dtd">',
        "<!DOCTYPE corpus>",
        '<!DOCTYPE corpus [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]>',
        '<!DOCTYPE corpus [<!ENTITY a SYSTEM "hostname.txt">]>',
        '<!DOCTYPE corpus [<!ENTITY % a SYSTEM "http://localhost/a.dtd"> %a;]>',
    ],
)
def test_document_types_and_entities_are_refused(declaration):
    found = problem(f'\n{declaration}<corpus><sentence id="a" text="&c;"/></corpus>'.encode())
    assert found.line == 2
    assert "document type" in found.problem


@pytest.mark.parametrize("inside", [True, False])
def test_deep_nesting_does_not_overflow(inside):
    deep = "<a>" * DEPTH + "</a>" * DEPTH
    assert len(parse(corpus(sentence(deep) if inside else deep + sentence()))) == 1


@pytest.mark.parametrize("name", ["a", "token", "document"])
def test_nesting_without_end_is_refused(name, monkeypatch):
    monkeypatch.setattr(xml.XmlCollector, "max_depth", 1000)
    reasons = parse(b"<corpus>" + f"<{name}>".encode() * 3_000, "skip").tally.reasons
    assert any("nested more than" in reason for reason in reasons)


def test_a_tag_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(xml, "MAX_TAG", 1 << 18)

    class Endless(io.RawIOBase):
        served = 0

        def readable(self):
            return True

        def read(self, size=-1):
            start = b'<corpus>\n<sentence id="a" text="' if not self.served else b""
            self.served += 1
            assert self.served < 100, "read too far"
            return start + b"x" * 65_000

    with pytest.raises(ReadError, match="a tag or comment has more than 262,144 bytes") as caught:
        read(Endless(), format="ppi")
    assert caught.value.line == 2


def test_a_sentence_that_is_too_long_is_left_out(monkeypatch):
    monkeypatch.setattr(ppi, "_MAX_BYTES", 1 << 18)
    tokens = "".join(f'<token charOffset="0-2" id="t{i}" text="Raf" />\n' for i in range(20_000))
    body = f'<tokenization tokenizer="split">\n{tokens}</tokenization>\n'
    examples = parse(corpus(sentence(body), sentence(name="after")), "collect")
    assert [example.id for example in examples] == ["after"]
    assert "the sentence has more than" in examples.tally.problems[0].problem
    assert examples.tally.problems[0].line == 2


def test_a_sentence_without_end_is_reported_before_the_end_of_the_file(monkeypatch):
    monkeypatch.setattr(ppi, "_MAX_BYTES", 1 << 18)
    found = problem(b"<corpus>" + sentence("<a/>" * 200_000).encode()[:-20])
    assert "the sentence has more than" in found.problem


def test_a_long_sentence_is_read():
    tokens = "".join(f'<token charOffset="0-2" id="t{i}" text="Raf" />\n' for i in range(30_000))
    body = f'<tokenization tokenizer="split">\n{tokens}</tokenization>\n'
    assert len(only(body).tokens) == 30_000


def test_memory_is_that_of_one_sentence():
    body = "".join(SPLIT + SPLIT_TOKENS)

    def chunks():
        yield b"<corpus>"
        for number in range(100_000):
            yield sentence(body, name=f"s{number}").encode()

    class Stream(io.RawIOBase):
        parts = chunks()
        served = 0

        def readable(self):
            return True

        def read(self, size=-1):
            self.served += 1
            return next(self.parts)

    stream = Stream()
    with iter_read(stream, format="ppi") as examples:
        for _ in range(50):
            next(examples)
    assert stream.served < 1000


def test_the_xml_parser_is_loaded_only_when_needed():
    code = "import sys, kernelwood.io; sys.exit('defusedxml' in sys.modules)"
    assert run_python("-c", code).returncode == 0


@given(
    st.lists(
        st.sampled_from([*"<>/=\"'&; \n", "sentence", "entity", "token", "parse", "corpus"])
        | st.sampled_from([ENTITIES, SPLIT, OTHER, SPLIT_TOKENS, sentence(), "<corpus>"])
        | st.sampled_from([' id="a"', ' text="Raf"', ' charOffset="0-2"', "</sentence>", "<pair"])
    )
)
def test_junk_made_of_the_format_gives_only_read_errors(pieces):
    data = ("<corpus>" + "".join(pieces)).encode()
    assert parse(data, "skip").tally.read >= 0


@given(st.data())
def test_invented_entities_are_read_as_they_were_meant(data):
    alphabet = st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff")
    text = data.draw(st.text(alphabet, min_size=1))
    offsets = sorted(data.draw(st.sets(st.integers(0, len(text)), min_size=2, max_size=6)))
    spans = list(zip(offsets[::2], offsets[1::2], strict=False))
    inclusive = ",".join(f"{start}-{end - 1}" for start, end in spans)
    covered = " ".join(text[start:end] for start, end in spans)

    def escape(raw):
        return "".join(f"&#{ord(character)};" for character in raw)

    found = only(entity(inclusive, escape(covered)), escape(text))
    assert found.entities[0] == Entity("e", "t", tuple(spans), covered)
