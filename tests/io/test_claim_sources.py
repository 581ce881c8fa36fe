"""Outputs of other tools as claims."""

from __future__ import annotations

import io
import json

import jsonschema
import pytest
from hypothesis import given, strategies as st

from kernelwood.errors import ReadError, StructureError
from kernelwood.io import CLAIM_SOURCES, Claim, claim_schema, read_claims
from kernelwood.io.formats.claim_sources import record_claims
from kernelwood.io.mentions import MentionFinder

TEXT = "Raf-1 binds Ras. Later, RAF1 was seen near Mek and Ras."


def read(*records, format="triples", errors="raise", **options):
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    return read_claims(io.StringIO(lines), errors, format=format, **options)


def described(claim):
    """Return what a claim says: type, and texts with places of its arguments."""
    if claim.problem:
        return claim.type, claim.problem
    ends = {entity.id: entity for entity in claim.annotated.entities}
    return claim.type, *((ends[end].text, ends[end].start) for end in (claim.first, claim.second))


# Mentions.


@pytest.mark.parametrize(
    ("mention", "places"),
    [
        ("Ras", [(12, 15), (51, 54)]),
        ("Raf-1", [(0, 5)]),  # exact, so RAF1 is not meant
        ("raf 1", [(0, 5), (24, 28)]),
        ("RAF\N{NON-BREAKING HYPHEN}1", [(0, 5), (24, 28)]),
        (" Mek ", [(43, 46)]),
        ("Ra", []),
        ("", []),
        ("-", []),
    ],
)
def test_mentions_are_found(mention, places):
    assert MentionFinder(TEXT).find(mention) == places


def test_letters_that_fold_to_several_have_their_places():
    assert MentionFinder("die Straße hier").find("STRASSE") == [(4, 10)]


@given(st.text(max_size=30), st.data())
def test_what_stands_in_the_text_is_found_there(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    mention = text[start:end]
    found = MentionFinder(text).find(mention)
    boundary = all(
        not (0 < p < len(text) and text[p - 1].isalnum() and text[p].isalnum())
        for p in (start, end)
    )
    if boundary and mention.strip() == mention and any(map(str.isalnum, mention)):
        assert (start, end) in found
    assert all(0 <= a < b <= len(text) for a, b in found)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 4)), max_size=8), st.data())
def test_the_nearest_pair_is_that_of_all_pairs(starts, data):
    """In one sentence of words; spans of a mention do not overlap each other by much."""
    text = "ab " * 30
    spans = sorted({(a, a + 3) for a, _ in starts})
    cut = data.draw(st.integers(0, len(spans)))
    first, second = spans[:cut], spans[cut:]
    found = MentionFinder(text).find_pair(first, second)
    gaps = [max(d - b, a - e) for a, b in first for d, e in second if max(d - b, a - e) >= 0]
    assert (found is None) == (not gaps)
    if found is not None:
        (a, b), (d, e) = found
        assert max(d - b, a - e) == min(gaps)


# Sources.


def test_triples_of_objects_and_arrays():
    rows = [
        {"subject": "Raf-1", "predicate": "binds", "object": "Ras"},
        ["Ras", "near", "Mek"],
        {"head": "Mek", "relation": "near", "tail": "Ras", "score": 0.5},
        {"subject": {"text": "Mek", "start": 43, "end": 46}, "type": "near", "object": "Ras"},
    ]
    found = read({"text": TEXT, "relations": rows})
    assert [described(claim) for claim in found] == [
        ("binds", ("Raf-1", 0), ("Ras", 12)),
        ("near", ("Ras", 51), ("Mek", 43)),  # the one in the same sentence
        ("near", ("Mek", 43), ("Ras", 51)),
        ("near", ("Mek", 43), ("Ras", 51)),
    ]
    assert found[2].given["metadata"] == {"score": 0.5}


def test_triples_of_spacy_llm():
    ents = [
        {"start_char": 0, "end_char": 5, "label": "protein"},
        {"start_char": 12, "end_char": 15, "label": "protein"},
    ]
    relations = [{"dep": 1, "dest": 0, "relation": "binds"}]
    [claim] = read({"text": TEXT, "ents": ents, "relations": relations})
    assert described(claim) == ("binds", ("Ras", 12), ("Raf-1", 0))
    assert {entity.type for entity in claim.annotated.entities} == {"protein"}


@pytest.mark.parametrize(
    "output",
    [
        "<s><triplet> Raf-1 <subj> Ras <obj> binds <subj> Mek <obj> near</s>",
        [{"head": "Raf-1", "type": "binds", "tail": "Ras"},
         {"head": "Raf-1", "type": "near", "tail": "Mek"}],
    ],
)  # fmt: skip
def test_rebel_linearized_and_as_objects(output):
    found = read({"text": TEXT, "triplets": output}, format="rebel")
    assert [described(claim) for claim in found] == [
        ("binds", ("Raf-1", 0), ("Ras", 12)),
        ("near", ("Raf-1", 0), ("Mek", 43)),
    ]


@pytest.mark.parametrize("last", [0, 1], ids=["exclusive", "inclusive"])
@pytest.mark.parametrize("text", [None, "Raf 1 binds  Ras."])
def test_glirel_by_tokens(last, text):
    tokens = ["Raf", "1", "binds", "Ras", "."]
    row = {"head_pos": [0, 2 - last], "tail_pos": [3, 4 - last], "label": "binds", "score": 0.9}
    row |= {"head_text": ["Raf", "1"], "tail_text": ["Ras"]}
    line = {"tokens": tokens, "relations": [row], **({} if text is None else {"text": text})}
    [claim] = read(line, format="glirel")
    assert described(claim) == ("binds", ("Raf 1", 0), ("Ras", 12 if text is None else 13))
    assert claim.given["metadata"] == {"score": 0.9}


def a_statement(**changes):
    agents = {"raw_text": ["Raf-1", "Mek"], "coords": [[0, 5], [43, 46]]}
    evidence = {"text": TEXT, "source_api": "reach", "annotations": {"agents": agents}}
    raf, mek = {"name": "RAF1", "db_refs": {"TEXT": "Raf-1"}}, {"name": "MAP2K1", "db_refs": {}}
    statement = {"type": "Phosphorylation", "enz": raf, "sub": mek, "id": "x"}
    return {**statement, "evidence": [evidence], **changes}


def test_indra_by_the_annotations_of_the_evidence():
    [claim] = read(a_statement(), format="indra")
    assert described(claim) == ("Phosphorylation", ("Raf-1", 0), ("Mek", 43))
    assert claim.id == "x.e1.r1" and claim.given["metadata"] == {"source_api": "reach"}


def test_indra_by_references_and_names():
    members = [{"name": "RAF1"}, {"name": "H", "db_refs": {"TEXT": "Ras"}}, {"name": "Mek"}]
    statement = {"type": "Complex", "members": members, "evidence": [{"text": TEXT}, {}]}
    found = read(statement, format="indra")
    assert [described(claim)[1:] for claim in found] == [
        (("RAF1", 24), ("Ras", 51)),
        (("RAF1", 24), ("Mek", 43)),
        (("Ras", 51), ("Mek", 43)),
    ]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"evidence": []}, "no evidence with a text"),
        ({"type": "ActiveForm", "enz": None}, "'ActiveForm' has no two participants"),
        ({"type": 3}, "'type' must be a string"),
    ],
)
def test_statements_that_cannot_be_checked_are_named(changes, problem):
    with pytest.raises(ReadError, match=problem):
        read(a_statement(**changes), format="indra")


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("wrap", [list, lambda ones: {"statements": dict(enumerate(ones))}])
def test_a_file_may_be_one_array_or_object(indent, wrap):
    records = [a_statement(id="x"), a_statement(id="y")]
    value = wrap(records)
    text = json.dumps(value, indent=indent or (2 if isinstance(value, dict) else None))
    found = read_claims(io.StringIO(f"\n{text}\n"), format="indra")
    assert [claim.id for claim in found] == ["x.e1.r1", "y.e1.r1"]


def test_an_error_in_an_array_names_the_record():
    text = json.dumps([a_statement(id="x"), {"type": 3}])
    with pytest.raises(ReadError, match=r"record 2: 'type' must be a string"):
        read_claims(io.StringIO(text), format="indra")


# Places.


def test_a_mention_that_is_not_there_cannot_be_checked():
    [claim] = read({"text": TEXT, "relations": [["Raf-1", "binds", "Erk"]]})
    assert claim.problem == "mention not in the text: 'Erk'"
    assert (claim.first, claim.second) == ("Raf-1", "Erk")


def test_overlapping_mentions_cannot_be_checked():
    [claim] = read({"text": "The Ras kinase", "relations": [["Ras", "is", "Ras kinase"]]})
    assert claim.problem == "the two mentions overlap"


def test_offsets_outside_the_text_cannot_be_checked():
    row = {"subject": {"text": "Ras", "start": 3, "end": 99}, "type": "is", "object": "Mek"}
    [claim] = read({"text": TEXT, "relations": [row]})
    assert "stands at [3, 99)" in claim.problem


def test_claims_of_a_text_share_a_document():
    rows = [["Raf-1", "binds", "Ras"], ["Mek", "near", "Raf-1"]]
    one, other = read({"text": TEXT, "relations": rows})
    assert one.annotated is other.annotated and len(one.annotated.entities) == 3


def test_overlapping_mentions_of_two_claims_are_in_two_documents():
    text = "The Ras kinase binds Mek."
    one, other = read(
        {"text": text, "relations": [["Ras", "a", "Mek"], ["Ras kinase", "b", "Mek"]]}
    )
    assert described(one) == ("a", ("Ras", 4), ("Mek", 21))
    assert described(other) == ("b", ("Ras kinase", 4), ("Mek", 21))


def test_a_type_is_given_to_mentions_without_one():
    row = {"subject": "Ras", "subject_type": "gene", "predicate": "binds", "object": "Mek"}
    [claim] = read({"text": TEXT, "relations": [row]}, entity_type="protein")
    assert {e.text: e.type for e in claim.annotated.entities} == {"Ras": "gene", "Mek": "protein"}


def test_ids_are_those_of_records_with_a_number():
    rows = [["Ras", "binds", "Mek"], ["Mek", "binds", "Ras"]]
    found = read({"id": 7, "text": TEXT, "relations": rows}, {"text": TEXT, "relations": rows[:1]})
    assert [claim.id for claim in found] == ["7.r1", "7.r2", "stream:2.r1"]


def test_a_broken_relation_leaves_the_others():
    rows = [["Ras", "binds"], ["Mek", "binds", "Ras"], {"subject": "Mek"}]
    found = read({"text": TEXT, "relations": rows}, errors="collect")
    assert [claim.type for claim in found] == ["binds"]
    assert [problem.line for problem in found.tally.problems] == [1, 1]


def test_found_claims_are_claims():
    rows = [["Raf-1", "binds", "Ras"], ["Mek", "near", "Raf-1"]]
    for claim in read({"text": TEXT, "relations": rows}):
        jsonschema.validate(claim.given, claim_schema())
        again = Claim.from_object(claim.given)
        assert described(again) == described(claim)


def test_an_unknown_source_is_refused():
    with pytest.raises(ValueError, match="format must be one of claims, triples"):
        read({}, format="rebels")


# Anything else.

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 99) | st.just(0.5) | st.text(max_size=5)
    | st.sampled_from(["Ras", "Mek", TEXT, "<triplet> Ras <subj> Mek <obj> x"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([
        "text", "relations", "triplets", "subject", "predicate", "object", "head", "tail", "type",
        "tokens", "head_pos", "tail_pos", "label", "head_text", "enz", "sub", "evidence",
        "annotations", "agents", "raw_text", "coords", "members", "db_refs", "TEXT", "name", "ents",
        "dep", "dest", "start", "end", "id",
    ]), inner, max_size=6),
    max_leaves=30,
)  # fmt: skip


@pytest.mark.parametrize("name", CLAIM_SOURCES)
@given(value=VALUES)
def test_any_value_gives_claims_or_our_errors(name, value):
    try:
        records = CLAIM_SOURCES[name](value)
    except StructureError:
        return
    for record in records:
        for made in record_claims(record, "x"):
            assert isinstance(made, (Claim, StructureError))
            if isinstance(made, Claim) and not made.problem:
                assert described(Claim.from_object(made.given)) == described(made)


# The schema.

CLAIM = {
    "id": "c1",
    "text": "Raf binds Ras.",
    "entities": [
        {"id": "T1", "start": 0, "end": 3, "type": "protein", "text": "Raf"},
        {"id": "T2", "start": 10, "end": 13},
    ],
    "relation": {"type": "binds", "first": "T1", "second": "T2"},
    "tokens": [["Raf", 0, 3], ["binds", 4, 9], ["Ras", 10, 13], [".", 13, 14]],
    "dependencies": [[1, "nsubj", 0], [1, "obj", 2]],
    "tree": "(S (NN Raf) (VBZ binds) (NN Ras) (. .))",
    "metadata": {"anything": [1]},
}


def paths(value, path=()):
    """Yield the path of every part of a value."""
    yield path
    if isinstance(value, (dict, list)):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(child, (*path, key))


def changed(path, change):
    copy = json.loads(json.dumps(CLAIM))
    if not path:
        return change(copy)
    owner = copy
    for key in path[:-1]:
        owner = owner[key]
    if change is None:
        del owner[path[-1]]
    else:
        owner[path[-1]] = change(owner[path[-1]])
    return copy


def accepted(value):
    try:
        Claim.from_object(value)
    except StructureError:
        return False
    return True


def test_the_schema_is_a_schema_and_accepts_the_claim():
    jsonschema.Draft202012Validator.check_schema(claim_schema())
    jsonschema.validate(CLAIM, claim_schema())
    assert accepted(CLAIM)


@pytest.mark.parametrize("path", list(paths(CLAIM)), ids=str)
@pytest.mark.parametrize(
    "change",
    [None, lambda v: None, lambda v: {}, lambda v: [], lambda v: -1, lambda v: [*v, 7]
     if isinstance(v, list) else {**v, "new": 1} if isinstance(v, dict) else True],
    ids=["removed", "null", "object", "array", "number", "added"],
)  # fmt: skip
def test_the_schema_refuses_only_what_the_reader_refuses(path, change):
    """And what the schema accepts, the reader refuses for places and references only."""
    if not path and change is None:
        return
    value = changed(path, change)
    valid = jsonschema.Draft202012Validator(claim_schema()).is_valid(value)
    if accepted(value):
        assert valid
    elif valid:
        with pytest.raises(StructureError) as caught:
            Claim.from_object(value)
        assert "must be a string" not in str(caught.value)
        assert "unknown key" not in str(caught.value) and "has no key" not in str(caught.value)
