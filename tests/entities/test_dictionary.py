"""Entities by a list of terms."""

from __future__ import annotations

import copy
import gzip
import io
import pickle
import re
import unicodedata

import pytest
from hypothesis import given, strategies as st
from sizes import DEPTH

from kernelwood.arrays import SchemaError
from kernelwood.entities import Dictionary
from kernelwood.entities.dictionary import Term
from kernelwood.errors import ReadError, StructureError
from kernelwood.io.formats.standoff import format_line, parse_line
from kernelwood.persist import State
from kernelwood.persist.checks import check_state
from kernelwood.text import Argument, Attribute, Document, Entity, Event, Relation, tokenize


def spans(terms, text, **options):
    """Return what is found, as text."""
    rows = [(term, "protein") for term in terms]
    return [text[match.start : match.end] for match in Dictionary(rows, **options).matches(text)]


def test_a_term_is_found_with_its_type_and_place():
    [entity] = Dictionary([("Ras", "protein")]).find("Raf binds Ras.")
    assert entity == Entity("T1", "protein", ((10, 13),), "Ras")


def test_the_longest_term_is_taken():
    assert spans(["Sonic", "Sonic hedgehog"], "Sonic hedgehog") == ["Sonic hedgehog"]


def test_the_leftmost_term_is_taken_though_the_next_one_is_longer():
    assert spans(["MAP kinase", "kinase kinase kinase"], "MAP kinase kinase kinase") == [
        "MAP kinase"
    ]


def test_a_shorter_term_is_taken_where_a_longer_one_breaks_off():
    assert spans(["Ras", "Ras guanine exchanger"], "Ras guanine binding") == ["Ras"]


@pytest.mark.parametrize("text", ["Rasta", "xRas", "Ras2", "2Ras", "Ras_1", "Ra\u0301s", "RasΔ"])
def test_a_term_is_not_found_inside_a_word(text):
    assert spans(["Ras"], text) == []


@pytest.mark.parametrize("text", ["(Ras)", "Ras/Raf", "Ras.", "Ras's", "the Ras\n", "“Ras”"])
def test_a_term_is_found_between_signs(text):
    assert spans(["Ras"], text) == ["Ras"]


@pytest.mark.parametrize("text", ["Ras-dependent", "anti-Ras", "p53-Ras-Raf", "non\u2011Ras"])
def test_a_hyphen_ends_a_term_if_a_word_stands_on_its_other_side(text):
    assert spans(["Ras"], text) == ["Ras"]


@pytest.mark.parametrize("text", ["Ras-1", "Ras-β", "Ras-beta", "c-Ras", "4-Ras", "Ras-2a"])
def test_a_hyphen_ends_no_term_if_the_rest_of_a_name_stands_on_its_other_side(text):
    assert spans(["Ras"], text) == []


def test_a_number_in_a_number_is_not_found():
    assert spans(["250"], "1,250.5 and 250") == ["250"]


def test_terms_may_begin_and_end_with_signs():
    assert spans(["Ca2+", "(+)-catechin"], "Ca2+-bound (+)-catechin") == ["Ca2+", "(+)-catechin"]


@pytest.mark.parametrize("text", ["insulin", "Insulin", "INSULIN"])
def test_case_does_not_count_in_long_plain_terms(text):
    assert spans(["insulin"], text) == [text]


@pytest.mark.parametrize(
    ("term", "text"), [("WAS", "was"), ("Was", "was"), ("IMPACT", "impact"), ("mTOR", "MTOR")]
)
def test_case_counts_in_short_terms_and_in_those_with_capitals_inside(term, text):
    assert spans([term], f"{text} {term}") == [term]


def test_case_counts_everywhere_if_it_is_exact():
    assert spans(["insulin"], "Insulin insulin", case="exact") == ["insulin"]


def test_case_counts_nowhere_if_it_is_ignored():
    assert spans(["WAS"], "was", case="ignore") == ["was"]


def test_terms_that_differ_in_case_are_told_apart():
    listed = Dictionary([("AND", "gene"), ("And", "star")], case="exact")
    assert [entity.type for entity in listed.find("And AND and")] == ["star", "gene"]


@pytest.mark.parametrize("term", ["IL-2", "IL 2", "IL2"])
@pytest.mark.parametrize("text", ["IL-2", "IL 2", "IL2", "IL\u20132", "IL\n2"])
def test_hyphens_and_blanks_before_numbers_do_not_count(term, text):
    assert spans([term], f"of {text}, and") == [text]


@pytest.mark.parametrize("text", ["TNF-alpha", "TNFα", "TNF alpha", "TNFalpha", "TNF-α"])
def test_greek_letters_are_the_same_as_their_names(text):
    assert spans(["TNF-α"], text) == [text]


def test_the_micro_sign_is_a_greek_letter():
    assert spans(["μ-opioid"], "\u00b5-opioid") == ["\u00b5-opioid"]


@pytest.mark.parametrize("text", ["IL 2", "IL2", "IL - 2", "TNFα", "TNF-α"])
def test_without_variants_only_the_spelling_of_the_term_is_found(text):
    assert spans(["IL-2", "TNF-alpha"], text, variants=False) == []


def test_blanks_are_the_same_however_many_they_are():
    assert spans(["Sonic hedgehog"], "Sonic \n hedgehog", variants=False) == ["Sonic \n hedgehog"]


def test_accents_are_the_same_composed_or_not():
    text = unicodedata.normalize("NFD", "Ménière disease")
    assert spans(["Ménière disease"], text) == [text]


def test_an_entity_over_two_lines_is_written_in_one():
    assert Dictionary([("Sonic hedgehog", "protein")]).find("Sonic\nhedgehog")[0].text == (
        "Sonic hedgehog"
    )


def test_of_a_term_with_two_types_the_first_counts():
    listed = Dictionary([("Ras", "protein"), ("Ras", "gene")])
    assert [entity.type for entity in listed.find("Ras")] == ["protein"]


def test_terms_that_are_not_taken_are_counted_by_reason():
    rows = [
        ("IL-2", "protein", "a"),
        ("IL2", "gene"),
        ("IL 2", "protein"),
        ("IL-2", "protein", "a"),
    ]
    assert Dictionary(rows).tally.reasons == {
        "term that is listed before with another type": 1,
        "term that is listed before with another id": 1,
        "term that is listed before": 1,
    }


def test_the_length_is_the_number_of_terms_that_can_be_found():
    assert len(Dictionary([("Ras", "protein"), ("Ras", "gene"), ("Raf", "gene")])) == 2


def test_nothing_is_found_without_terms():
    assert Dictionary([]).find("Ras") == []


@pytest.mark.parametrize(
    "row", ["Ras", ("Ras",), ("", "protein"), ("Ras", " "), ("a", "b", "c", "d"), 7]
)
def test_a_row_that_is_none_is_refused_with_its_number(row):
    with pytest.raises(StructureError, match="row 1 of the terms"):
        Dictionary([("Raf", "protein"), row])


def test_a_term_that_is_no_string_is_refused():
    with pytest.raises(StructureError, match="the type in row 0 of the terms must be a string"):
        Dictionary([("Raf", None)])


def test_an_unknown_case_is_refused():
    with pytest.raises(ValueError, match="smart, exact, ignore"):
        Dictionary([], case="lower")


def test_a_text_that_is_no_string_is_refused():
    with pytest.raises(StructureError, match="must be a string, got bytes"):
        Dictionary([("Ras", "protein")]).find(b"Ras")


# Documents


def test_annotation_keeps_what_is_there():
    document = Document(
        "Raf binds Ras",
        [Entity("e1", "gene", ((0, 3),)), Entity("b", "Binding", ((4, 9),))],
        [Relation("r", "self", (Argument("a", "e1"), Argument("b", "e1")))],
        [Event("E1", "Binding", "b", (Argument("Theme", "e1"),))],
        [Attribute("A1", "Negation", "E1")],
        [("source", "own")],
    )
    annotated = Dictionary([("Ras", "protein")]).annotate(document)
    assert annotated.entities[:2] == document.entities
    assert (annotated.relations, annotated.events) == (document.relations, document.events)
    assert (annotated.attributes, annotated.metadata) == (document.attributes, document.metadata)


def test_ids_in_use_are_not_given_again():
    document = Document(
        "Raf binds Ras", [Entity("T2", "gene", ((4, 9),))], attributes=[Attribute("T1", "x", "T2")]
    )
    annotated = Dictionary([("Raf", "protein"), ("Ras", "protein")]).annotate(document)
    assert [entity.id for entity in annotated.entities] == ["T2", "T3", "T4"]


def test_a_term_that_overlaps_an_entity_gives_way_to_a_shorter_one():
    document = Document("Raf kinase kinase", [Entity("T1", "enzyme", ((11, 17),))])
    listed = Dictionary([("Raf kinase kinase", "protein"), ("Raf kinase", "protein")])
    assert listed.annotate(document).entities[1].spans == ((0, 10),)


def test_a_term_does_not_reach_over_an_entity_that_is_only_a_hyphen():
    document = Document("IL-2", [Entity("T1", "sign", ((2, 3),))])
    assert len(Dictionary([("IL-2", "protein")]).annotate(document).entities) == 1


def test_an_id_of_a_database_becomes_a_normalization():
    annotated = Dictionary([("Ras", "protein", "DB:1")]).annotate(Document("Ras"))
    assert annotated.attributes == (Attribute("N1", "Reference", "T1", "DB:1\tRas"),)


def test_what_is_added_can_be_written_as_standoff():
    annotated = Dictionary([("a Ras", "protein", "DB:1")]).annotate(Document("A\nRas a Ras"))
    parts = [*annotated.entities, *annotated.attributes]
    assert [parse_line(format_line(part)) for part in parts] == parts


# Files


def read(text, **options):
    return Dictionary.read(io.StringIO(text), **options)


def test_a_file_has_terms_types_and_perhaps_ids():
    assert read("Ras\tprotein\nRaf\tgene\tDB:1\n").terms == (
        Term("Ras", "protein"),
        Term("Raf", "gene", "DB:1"),
    )


def test_comments_blank_lines_and_the_header_are_passed_over():
    text = "# terms\n\nTerm\tType\tID\nRas\tprotein\n \t\n# more\nRaf\tgene\t\n"
    assert [term.term for term in read(text).terms] == ["Ras", "Raf"]


def test_a_term_that_looks_like_a_header_is_one_further_down():
    assert len(read("Ras\tprotein\nterm\ttype\n")) == 2


def test_a_compressed_file_with_windows_line_ends_is_read(tmp_path):
    path = tmp_path / "terms.tsv.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfRas\tprotein\r\n"))
    assert Dictionary.read(path).terms == (Term("Ras", "protein"),)


def test_options_are_those_of_the_dictionary():
    assert read("WAS\tgene\n", case="ignore", variants=False).find("was")[0].type == "gene"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Ras", "expected 2 or 3 columns, found 1"),
        ("Ras\ta\tb\tc", "expected 2 or 3 columns, found 4"),
        ("\tprotein", "the term is empty"),
        ("Ras\t\tDB:1", "the type is empty"),
    ],
)
def test_a_broken_line_is_named(line, problem):
    with pytest.raises(ReadError, match=re.escape(problem)) as raised:
        read(f"Raf\tprotein\n{line}\n")
    assert (raised.value.path, raised.value.line) == ("<stream>", 2)


def test_a_line_that_is_not_utf_8_is_named():
    with pytest.raises(ReadError, match="not valid UTF-8") as raised:
        Dictionary.read(io.BytesIO(b"Raf\tprotein\nR\xe9f\tprotein\n"))
    assert raised.value.line == 2


def test_a_file_without_terms_is_refused():
    with pytest.raises(ReadError, match="the file has no terms"):
        read("# nothing yet\n")


def test_a_missing_file_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        Dictionary.read(tmp_path / "none.tsv")


# Saving

ROWS = [("Raf-1", "protein", "DB:1"), ("insulin", "hormone"), ("Raf1", "gene"), ("WAS", "gene")]


def same(a, b):
    return (a.terms, a.case, a.variants, a.tally) == (b.terms, b.case, b.variants, b.tally)


@pytest.mark.parametrize("rows", [ROWS, []])
def test_a_saved_dictionary_comes_back(rows):
    listed = Dictionary(rows, case="exact", variants=False)
    assert same(Dictionary._from_saved(*listed._to_saved()), listed)


def test_a_dictionary_that_comes_back_remembers_what_it_refused():
    listed = Dictionary(ROWS)
    assert Dictionary._from_saved(*listed._to_saved()).tally.skipped == 1


def test_a_copy_finds_the_same():
    text = "Insulin and raf1 and Raf1"
    assert copy.deepcopy(Dictionary(ROWS)).find(text) == Dictionary(ROWS).find(text)


def test_a_dictionary_goes_to_another_process():
    assert same(pickle.loads(pickle.dumps(Dictionary(ROWS))), Dictionary(ROWS))


@pytest.mark.parametrize(
    "change",
    [
        lambda p, t, a: p.pop("case"),
        lambda p, t, a: p.update(case="lower"),
        lambda p, t, a: p.update(variants=1),
        lambda p, t, a: p.update(refused={"a": -1}),
        lambda p, t, a: p.update(refused=[]),
        lambda p, t, a: t.pop("ids"),
        lambda p, t, a: t["ids"].append("x"),
        lambda p, t, a: a.update(x=1),
    ],
)
def test_damaged_parts_are_refused(change):
    parts = Dictionary(ROWS)._to_saved()
    change(*parts)
    with pytest.raises(SchemaError):
        check_state(Dictionary, State(*parts))


# Against brute force

GREEK = {"alpha": "α", "beta": "β"}
words = st.sampled_from(["a", "Ab", "abc", "IL", "il", "2", "12", "α", "beta", "alpha", "é", "x_y"])
joints = st.sampled_from(["", " ", "  ", "-", " - ", "\n", ".", "+", "'s "])


@st.composite
def phrases(draw, max_size):
    parts = draw(st.lists(st.tuples(words, joints), min_size=1, max_size=max_size))
    return "".join(part for pair in parts for part in pair).strip()


def spelled(text, variants):
    """Return a text such that alike spellings are equal, a bar between pieces."""
    text = unicodedata.normalize("NFC", text)
    text = re.sub(r"\s+", " ", text)
    if not variants:
        return text
    for name, letter in GREEK.items():
        text = text.replace(name, letter)
    text = re.sub(r"([α-ω])", r"|\1|", text)
    text = re.sub(r"(?<=[^\W\d_])(?=[0-9])|(?<=[0-9])(?=[^\W\d_])", "|", text)
    text = re.sub(r"(?<=[^\W_]|\|)[ -](?=[^\W_]|\|)", "|", text.replace("||", "|"))
    return re.sub(r"\|+", "|", text).strip("|")


def open_places(text):
    """Return the places where a term may begin, and those where it may end."""
    begins, ends = set(), set()
    for token in tokenize(text):
        begins.add(token.start)
        ends.add(token.end)
        for hyphen in re.finditer("-", token.text):
            left = token.text[: hyphen.start()].rpartition("-")[2]
            right = token.text[hyphen.end() :].partition("-")[0]
            if left and right:
                if is_word(left):
                    begins.add(token.start + hyphen.end())
                if is_word(right) and re.match("(?!alpha|beta)[a-zA-Zé]", right):
                    ends.add(token.start + hyphen.start())
    return begins, ends


def is_word(part):
    for name, letter in GREEK.items():
        part = part.replace(name, letter)
    return len(part) > 1 and re.search("[a-zA-Zé]", part) is not None


def brute_force(terms, text, case, variants):
    known = [(spelled(term, variants), place) for place, term in enumerate(terms)]
    if case == "ignore":
        known = [(term.casefold(), place) for term, place in known]
    begins, ends = open_places(text)
    found, start = [], 0
    while start < len(text):
        for end in sorted(ends, reverse=True) if start in begins else ():
            here = spelled(text[start:end], variants) if start < end else None
            if here is not None and case == "ignore":
                here = here.casefold()
            first = [place for term, place in known if term == here]
            if first:
                found.append((start, end, first[0]))
                start = end - 1
                break
        start += 1
    return found


@given(
    st.lists(phrases(max_size=3).filter(bool), min_size=1, max_size=6),
    phrases(max_size=12),
    st.sampled_from(["exact", "ignore"]),
    st.booleans(),
)
def test_the_same_is_found_as_by_trying_every_place(terms, text, case, variants):
    listed = Dictionary([(term, f"t{i}") for i, term in enumerate(terms)], case=case,
                        variants=variants)  # fmt: skip
    found = [(match.start, match.end, int(match.term.type[1:])) for match in listed.matches(text)]
    assert found == brute_force(terms, text, case, variants)


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=4), st.text())
def test_any_term_is_found_in_any_text_that_it_stands_alone_in(terms, before):
    listed = Dictionary([(term, "x") for term in terms])
    for term in terms:
        text = f"{before} {term}"
        room = [(0, len(before))] if before else []
        assert any(match.end == len(text.rstrip()) for match in listed.matches(text, room))


@given(phrases(max_size=12), st.data())
def test_nothing_is_found_in_what_is_taken(text, data):
    place = st.integers(0, len(text))
    pairs = data.draw(st.lists(st.tuples(place, place), max_size=3))
    taken = [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]
    listed = Dictionary([(word, "x") for word in ("a", "Ab", "IL-2", "abc alpha", "12", "é")])
    for match in listed.matches(text, taken):
        assert all(match.end <= start or end <= match.start for start, end in taken)


def test_a_term_of_very_many_words_does_no_harm():
    term = "a " * DEPTH + "b"
    listed = copy.copy(Dictionary([(term, "x"), ("b", "x")]))
    assert [match.end - match.start for match in listed.matches(f"{term} b")] == [len(term), 1]
