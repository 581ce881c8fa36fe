"""Reading claims of other tools."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.io import Claim, read_claims

SENTENCES = [
    ("Akt activates Pten .", [(1, "nsubj", 0), (1, "obj", 2)]),
    ("Akt activates only Pten .", [(1, "nsubj", 0), (1, "obj", 3)]),
]


def a_line(number, *, parse=True, **changes):
    text, edges = SENTENCES[number]
    sentence = kw.Sentence.from_words(text.split(), dependencies=edges)
    places = [token for token in sentence.tokens if token.text in ("Akt", "Pten")]
    line = {
        "text": text,
        "entities": [
            {"id": f"T{n}", "start": place.start, "end": place.end, "type": "protein"}
            for n, place in enumerate(places, start=1)
        ],
        "relation": {"type": "activates", "first": "T1", "second": "T2"},
    }
    if parse:
        line["tokens"] = [[t.text, t.start, t.end] for t in sentence.tokens]
        line["dependencies"] = [list(edge) for edge in sentence.dependencies]
    return {**line, **changes}


def file_of(*lines):
    return io.StringIO("".join(f"{json.dumps(line)}\n" for line in lines))


def refused(line):
    with pytest.raises(kw.errors.ReadError) as caught:
        read_claims(file_of(a_line(0), line))
    assert caught.value.line == 2
    return str(caught.value)


def without(key):
    line = a_line(0)
    del line[key]
    return line


def moved(**changes):
    line = a_line(0)
    line["entities"][0].update(changes)
    return line


def test_a_claim_without_a_parse_is_about_a_document():
    assert isinstance(Claim.from_object(a_line(0, parse=False)).annotated, kw.Document)


def test_a_claim_with_a_parse_is_about_a_sentence():
    assert len(Claim.from_object(a_line(0)).annotated.dependencies) == 2


def test_claims_without_ids_are_called_by_their_lines():
    claims = read_claims(file_of(a_line(0), a_line(1, id="mine")))
    assert [claim.id for claim in claims] == ["stream:1", "mine"]


def test_blank_lines_are_passed_over():
    text = f"\n{json.dumps(a_line(0))}\n\n"
    assert [claim.origin.line for claim in read_claims(io.StringIO(text))] == [2]


def test_an_empty_file_has_no_claims():
    assert read_claims(io.StringIO("")) == []


@pytest.mark.parametrize("key", ["text", "entities", "relation"])
def test_what_is_missing_is_named_with_its_line(key):
    assert f"the claim has no key {key!r}" in refused(without(key))


def test_an_unknown_key_is_refused_with_the_nearest():
    assert "did you mean 'dependencies'" in refused(a_line(0, dependancies=[]))


def test_what_is_no_json_is_refused_with_its_column():
    with pytest.raises(kw.errors.ReadError, match="not valid JSON") as caught:
        read_claims(io.StringIO('{"text": '))
    assert (caught.value.line, caught.value.column) == (1, 10)


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 1), (0, 999)])
def test_offsets_outside_the_text_are_refused(start, end):
    assert f"stands at [{start}, {end}), the text has" in refused(moved(start=start, end=end))


@pytest.mark.parametrize("value", ["0", 1.5, None, True])
def test_offsets_are_whole_numbers(value):
    assert "'start' of entity 0" in refused(moved(start=value))


def test_overlapping_entities_are_refused():
    assert "the entities 'T1' and 'T2' overlap" in refused(moved(end=15))


def test_neighboring_entities_do_not_overlap():
    line = a_line(0)
    line["entities"] += [{"id": "T3", "start": 3, "end": 4}]
    assert len(Claim.from_object(line).annotated.entities) == 3


def test_an_entity_that_reads_otherwise_is_refused():
    assert "reads 'Raf', but at its offsets stands 'Akt'" in refused(moved(text="Raf"))


def test_offsets_in_bytes_are_recognized():
    line = a_line(0, text="β Akt activates Pten .", parse=False)
    line["entities"] = [
        {"id": "T1", "start": 3, "end": 6, "text": "Akt"}, {"id": "T2", "start": 17, "end": 21},
    ]  # fmt: skip
    assert "seem to count UTF-8 bytes" in refused(line)


def test_two_entities_with_one_id_are_refused():
    assert "'T2' is used twice" in refused(moved(id="T2"))


def test_a_relation_of_nobody_is_refused():
    relation = {"type": "binds", "first": "T1", "second": "T9"}
    assert "second 'T9', which is not an entity" in refused(a_line(0, relation=relation))


def test_a_relation_with_itself_is_refused():
    relation = {"type": "binds", "first": "T1", "second": "T1"}
    assert "an entity and itself" in refused(a_line(0, relation=relation))


def test_dependencies_need_tokens():
    assert "no 'tokens'" in refused(without("tokens"))


def test_a_text_that_is_no_string_is_refused():
    assert "'text' must be a string, got the number 7" in refused(a_line(0, text=7))


def test_an_id_that_comes_twice_is_refused():
    with pytest.raises(kw.errors.ReadError, match="was used before, on line 1"):
        read_claims(file_of(a_line(0, id="a"), a_line(1, id="a")))


def test_bad_lines_are_skipped_and_counted():
    claims = read_claims(file_of(a_line(0), moved(end=99), a_line(1)), errors="skip")
    assert (len(claims), claims.tally.skipped, claims.tally.problems) == (2, 1, ())


def test_bad_lines_are_collected_with_their_places():
    [problem] = read_claims(file_of(a_line(0), moved(end=99)), errors="collect").tally.problems
    assert problem.line == 2


def test_another_policy_is_refused():
    with pytest.raises(ValueError, match="errors must be one of"):
        read_claims(io.StringIO(""), errors="ignore")


def test_compressed_claims_are_read(tmp_path):
    import gzip

    path = tmp_path / "claims.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(a_line(0)).encode()))
    assert len(read_claims(path)) == 1


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), st.lists))
def test_any_json_is_a_claim_or_refused(value):
    for line in (value, a_line(0, entities=value), a_line(0, relation=value)):
        read_claims(file_of(line), errors="skip")
