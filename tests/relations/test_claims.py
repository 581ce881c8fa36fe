"""Verdicts of an extractor on claims of other tools."""

from __future__ import annotations

import json

import pytest

import kernelwood as kw
from kernelwood.io import Claim
from kernelwood.relations import RelationExtractor, iter_verdicts, map_types
from kernelwood.relations.verification import verify

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


def moved(**changes):
    line = a_line(0)
    line["entities"][0].update(changes)
    return line


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


def test_the_probability_is_that_of_the_claim(extractor):
    claims = [a_claim(0), a_claim(0, first="T2", second="T1"), a_claim(0, kind="binds")]
    forward, backward, other = verify(extractor, claims)
    [prediction] = {
        verdict.prediction.id: verdict.prediction for verdict in verify(extractor, claims)
    }.values()
    assert forward.opinion == "supported"
    assert forward.probability == prediction.probability
    classes = {**prediction.probabilities}
    assert classes.pop(prediction.relation) == forward.probability
    assert other.probability == classes.pop("binds")
    assert classes.pop("none") > 0
    assert [backward.probability] == list(classes.values())
    [unknown] = verify(extractor, [a_claim(0, kind="cuts")])
    assert unknown.probability == 0


def test_probabilities_are_those_of_predictions(extractor):
    claim = a_claim(0)
    [verdict] = verify(extractor, [claim])
    example = kw.Example("a", views={"sentence": claim.annotated})
    [prediction] = extractor.predict([example], all=True)
    assert (verdict.probability, verdict.threshold) == (
        prediction.probability,
        extractor.threshold_,
    )


def test_evidence_comes_with_a_verdict(extractor):
    [verdict] = verify(extractor, [a_claim(0)])
    assert 0 < len(verdict.evidence.supporting) <= extractor.n_evidence


def test_texts_without_a_parse_are_analyzed(words_only):
    assert opinion(words_only, 0, parse=False) == "supported"


def test_entities_of_two_sentences_are_not_judged(words_only):
    line = a_line(0, parse=False, text="Akt was here. Pten was not.")
    line["entities"][1].update(start=14, end=18)
    [verdict] = verify(words_only, [Claim.from_object(line)])
    assert (verdict.opinion, verdict.probability, list(verdict.evidence)) == (
        "not checkable",
        None,
        [],
    )
    assert "different sentences" in verdict.reason


def test_types_that_are_not_judged_are_told():
    extractor = RelationExtractor(types=["protein"], random_state=0, threshold=0.5)
    claim = Claim.from_object(moved(type="city"))
    [verdict] = verify(extractor.fit(list(corpus())), [claim])
    assert verdict.reason == "the model has no candidates with entities of type 'city'"


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
    monkeypatch.setattr("kernelwood.relations.verification._AT_ONCE", 2)
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
    assert (made["verdict"], made["evidence"]) == ("supported", verdict.evidence.to_dict())
    json.dumps(made, allow_nan=False)


def test_a_model_of_events_is_refused():
    events = RelationExtractor(candidates="events")
    with pytest.raises(kw.errors.KernelInputError, match="predicts events"):
        verify(events, [])


# Names of relations.


def claims_of(*kinds):
    return [Claim(kind, kind, "a", "b", kw.text.Document("")) for kind in kinds]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("Binds", "Binds"), ("binds", "Binds"), ("BINDS", "Binds"), ("part_of", "part-of"),
     ("is bound by", "Binds"), ("IS-BOUND-BY", "Binds"), ("other", "other")],
)  # fmt: skip
def test_names_become_types_of_the_model(name, kind):
    mapped = map_types(claims_of(name), ["Binds", "part-of"], {"is bound by": "Binds"})
    assert [claim.type for claim in mapped] == [kind]


def test_types_that_differ_in_case_only_are_kept():
    known = ["binds", "Binds"]
    assert [claim.type for claim in map_types(claims_of(*known), known)] == known


def test_a_claim_with_a_problem_is_not_checkable(extractor):
    claim = Claim("c", "binds", "Raf", "Ras", kw.text.Document("x"), problem="no such mention")
    [verdict] = verify(extractor, [claim])
    assert (verdict.opinion, verdict.reason) == ("not checkable", "no such mention")
