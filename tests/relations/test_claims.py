"""Claims of other tools, and what an extractor thinks of them."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given, strategies as st

import kernelwood as kw
from kernelwood.io import Claim, read_claims
from kernelwood.relations import RelationExtractor, iter_verdicts
from kernelwood.relations.verdicts import verify

NAMES = ["Raf", "Ras", "Mek", "Erk", "Sos", "Grb", "Src", "Abl"]
# Words with places for two proteins, dependencies, and the relation with its direction.
PATTERNS = [
    ("{} activates {} .", [(1, "nsubj", 0), (1, "obj", 2)], "activates", True),
    ("{} activates only {} .", [(1, "nsubj", 0), (1, "obj", 3)], "activates", True),
    ("{} is activated by {} .", [(2, "nsubjpass", 0), (2, "agent", 4)], "activates", False),
    ("{} was activated by {} .", [(2, "nsubjpass", 0), (2, "agent", 4)], "activates", False),
    ("{} binds {} .", [(1, "nsubj", 0), (1, "obj", 2)], "binds", True),
    ("{} binds only {} .", [(1, "nsubj", 0), (1, "obj", 3)], "binds", True),
    ("{} and {} are old .", [(4, "nsubj", 0), (0, "conj", 2)], None, True),
    ("{} and {} were seen .", [(4, "nsubjpass", 0), (0, "conj", 2)], None, True),
]


def parsed(pattern, first, second):
    """Return a sentence with two entities, parsed, without its relation."""
    words = pattern[0].format(first, second).split()
    sentence = kw.Sentence.from_words(words, dependencies=pattern[1])
    places = [sentence.tokens[words.index(name)] for name in (first, second)]
    entities = [
        kw.text.Entity(f"T{n}", "protein", ((place.start, place.end),), place.text)
        for n, place in enumerate(places, start=1)
    ]
    return sentence.with_parts(entities=entities)


def corpus():
    for d in range(8):
        for p, pattern in enumerate(PATTERNS):
            sentence = parsed(pattern, NAMES[d], NAMES[(d + p + 1) % 8 or 7 - d])
            _, _, kind, forward = pattern
            ends = [kw.text.Argument("Agent", "T1"), kw.text.Argument("Target", "T2")]
            if not forward:
                ends = [kw.text.Argument("Agent", "T2"), kw.text.Argument("Target", "T1")]
            relations = [kw.text.Relation("R1", kind, tuple(ends))] if kind else []
            views = {"sentence": sentence.with_parts(relations=relations)}
            yield kw.Example(f"d{d}.s{p}", views=views)


@pytest.fixture(scope="module")
def extractor():
    return RelationExtractor(random_state=0, threshold=0.5).fit(list(corpus()))


@pytest.fixture(scope="module")
def words_only():
    """Return an extractor that needs no parser."""
    made = RelationExtractor(views="context", random_state=0, threshold=0.5)
    return made.fit(list(corpus()))


def a_line(pattern, *, kind="activates", first="T1", second="T2", parse=True, **changes):
    sentence = parsed(PATTERNS[pattern], "Akt", "Pten")
    line = {
        "text": sentence.text,
        "entities": [
            {"id": e.id, "start": e.start, "end": e.end, "type": e.type} for e in sentence.entities
        ],
        "relation": {"type": kind, "first": first, "second": second},
    }
    if parse:
        line["tokens"] = [[t.text, t.start, t.end] for t in sentence.tokens]
        line["dependencies"] = [list(edge) for edge in sentence.dependencies]
    return {**line, **changes}


def a_claim(*arguments, **options):
    return Claim.from_object(a_line(*arguments, **options))


def opinion(extractor, *arguments, **options):
    [verdict] = verify(extractor, [a_claim(*arguments, **options)])
    return verdict.opinion


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


# Reading.


def test_a_claim_without_a_parse_is_about_a_document():
    assert isinstance(a_claim(0, parse=False).annotated, kw.Document)


def test_a_claim_with_a_parse_is_about_a_sentence():
    assert len(a_claim(0).annotated.dependencies) == 2


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
    assert "'T2' is given twice" in refused(moved(id="T2"))


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


# Verdicts.


def test_what_the_model_sees_too_is_supported(extractor):
    assert opinion(extractor, 0) == "supported"


def test_what_the_model_does_not_see_is_unsupported(extractor):
    assert opinion(extractor, 6) == "unsupported"


def test_another_relation_is_named(extractor):
    [verdict] = verify(extractor, [a_claim(4)])
    assert (verdict.opinion, verdict.to_dict()["other"]["type"]) == ("other", "binds")


def test_the_direction_counts(extractor):
    assert opinion(extractor, 0, first="T2", second="T1") == "other"


def test_a_passive_turns_the_direction(extractor):
    assert opinion(extractor, 2, first="T2", second="T1") == "supported"


def test_the_other_direction_is_told(extractor):
    [verdict] = verify(extractor, [a_claim(2)])
    assert verdict.to_dict()["other"] == {"type": "activates", "first": "T2", "second": "T1"}


def test_without_direction_both_orders_are_supported(extractor):
    claims = [a_claim(4, kind="binds"), a_claim(4, kind="binds", first="T2", second="T1")]
    assert [verdict.opinion for verdict in verify(extractor, claims)] == ["supported"] * 2


def test_a_relation_that_was_not_learned_is_told(extractor):
    [verdict] = verify(extractor, [a_claim(0, kind="cuts")])
    assert (verdict.opinion, verdict.reason) == (
        "other", "the model does not know 'cuts'; it knows activates, binds",
    )  # fmt: skip


def test_a_model_of_one_class_supports_any_type():
    extractor = RelationExtractor(labels="binary", random_state=0, threshold=0.5)
    assert opinion(extractor.fit(list(corpus())), 0, kind="cuts") == "supported"


def test_scores_are_those_of_predictions(extractor):
    claim = a_claim(0)
    [verdict] = verify(extractor, [claim])
    example = kw.Example("a", views={"sentence": claim.annotated})
    [prediction] = extractor.predict([example], all=True)
    assert (verdict.score, verdict.threshold) == (prediction.score, extractor.threshold_)


def test_evidence_comes_with_a_verdict(extractor):
    [verdict] = verify(extractor, [a_claim(0)])
    assert len(verdict.evidence) == extractor.n_evidence


def test_texts_without_a_parse_are_analyzed(words_only):
    assert opinion(words_only, 0, parse=False) == "supported"


def test_entities_of_two_sentences_are_not_judged(words_only):
    line = a_line(0, parse=False, text="Akt was here. Pten was not.")
    line["entities"][1].update(start=14, end=18)
    [verdict] = verify(words_only, [Claim.from_object(line)])
    assert (verdict.opinion, verdict.score, verdict.evidence) == ("unsupported", None, ())
    assert "different sentences" in verdict.reason


def test_types_that_are_not_judged_are_told():
    extractor = RelationExtractor(types=["protein"], random_state=0, threshold=0.5)
    claim = Claim.from_object(moved(type="city"))
    [verdict] = verify(extractor.fit(list(corpus())), [claim])
    assert verdict.reason == "the model judges no entities of type 'city'"


def test_verdicts_stand_in_the_order_of_claims(extractor):
    claims = [a_claim(p, id=f"c{p}") for p in (6, 0, 4, 0)]
    claims[3] = a_claim(0, id="again", first="T2", second="T1")
    verdicts = verify(extractor, claims)
    assert [verdict.claim.id for verdict in verdicts] == ["c6", "c0", "c4", "again"]
    assert [verdict.opinion for verdict in verdicts] == [
        "unsupported", "supported", "other", "other",
    ]  # fmt: skip


def test_claims_of_one_text_are_read_once(extractor, monkeypatch):
    sizes = []
    predict = type(extractor).predict

    def watched(self, documents, **options):
        sizes.append(len(documents))
        return predict(self, documents, **options)

    monkeypatch.setattr(type(extractor), "predict", watched)
    verify(extractor, [a_claim(0), a_claim(0, kind="binds"), a_claim(1)])
    assert sizes == [2]


def test_claims_are_judged_as_they_come(extractor, monkeypatch):
    monkeypatch.setattr("kernelwood.relations.verdicts._AT_ONCE", 2)
    taken = []

    def claims():
        for p in (0, 1, 4, 5):
            taken.append(p)
            yield a_claim(p)

    next(iter_verdicts(extractor, claims()))
    assert taken == [0, 1]


def test_what_is_written_is_the_claim_with_the_verdict(extractor):
    line = a_line(0, id="mine", metadata={"tool": 7})
    [verdict] = verify(extractor, [Claim.from_object(line)])
    made = verdict.to_dict(evidence=verdict.evidence)
    assert {key: made[key] for key in line} == line
    assert (made["verdict"], len(made["evidence"])) == ("supported", 3)
    json.dumps(made, allow_nan=False)


def test_a_model_of_events_is_refused():
    events = RelationExtractor(candidates="events")
    with pytest.raises(kw.errors.KernelInputError, match="judges events"):
        verify(events, [])
