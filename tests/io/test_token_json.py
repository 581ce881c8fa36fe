"""SpERT, TACRED, SciERC and DocRED: relation corpora of tokens in JSON."""

from __future__ import annotations

import io
import json

import pytest
from samples import SAMPLES

from kernelwood.errors import ReadError
from kernelwood.evaluate import documents
from kernelwood.io import read
from kernelwood.relations import pair_candidates
from kernelwood.text import ROOT


def parse(value: object, name: str, errors: str = "raise"):
    text = value if isinstance(value, str) else json.dumps(value)
    return read(io.StringIO(text), format=name, errors=errors)


def sample(name: str, index: int = 0):
    return json.loads(SAMPLES[name].text)[index]


def mentions(annotated):
    return [(entity.type, entity.text) for entity in annotated.entities]


def triples(annotated):
    texts = {entity.id: entity.text for entity in annotated.entities}
    return [
        (relation.type, *(texts[argument.target] for argument in relation.arguments))
        for relation in annotated.relations
    ]


def check_offsets(annotated):
    for entity in annotated.entities:
        assert annotated.text[entity.start : entity.end] == entity.text


class TestSpert:
    def test_entities_and_relations_are_read(self):
        sentence = parse(SAMPLES["spert"].text, "spert")[0].view("sentence")
        assert sentence.text == "Ann left Ærø ."
        assert mentions(sentence) == [("Peop", "Ann"), ("Loc", "Ærø")]
        assert triples(sentence) == [("Left", "Ann", "Ærø")]
        check_offsets(sentence)

    def test_tokens_are_those_of_the_file(self):
        sentence = parse(SAMPLES["spert"].text, "spert")[1].view("sentence")
        assert sentence.words == ("-LRB-", "no")

    def test_original_ids_group_sentences(self):
        sentence = {"tokens": ["a"], "entities": [], "orig_id": "d1"}
        examples = parse([sentence, sentence, {**sentence, "orig_id": 5}], "spert")
        assert documents(examples) == ["d1", "d1", "5"]

    def test_json_lines_are_read_too(self):
        lines = "\n".join(json.dumps(one) for one in json.loads(SAMPLES["spert"].text))
        assert [example.views for example in parse(lines, "spert")] == [
            example.views for example in parse(SAMPLES["spert"].text, "spert")
        ]

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ({"tokens": "Ann"}, "'tokens' must be a list, got the string 'Ann'"),
            ({"tokens": ["a", 1]}, "word 1 of 'tokens' must be a string, got the number 1"),
            ({"entities": [{"type": "x", "start": 3, "end": 3}]}, "entity 0 is the words"),
            ({"entities": [{"type": "x", "start": 0, "end": 9}]}, "there are 4"),
            ({"entities": [{"type": "x", "start": 0.5, "end": 1}]}, "must be an integer"),
            ({"entities": [{"type": 1, "start": 0, "end": 1}]}, "type of entity 0"),
            ({"entities": [7]}, "entity 0 must be an object, got the number 7"),
            ({"relations": [{"type": "x", "head": 0, "tail": 2}]}, "'tail' of relation 0 is 2"),
            ({"relations": [{"type": "x", "head": 0}]}, "relation 0 has no key 'tail'"),
            ({"orig_id": [1]}, "'orig_id' must be a string"),
        ],
    )
    def test_problems_are_named(self, change, problem):
        with pytest.raises(ReadError) as caught:
            parse([{**sample("spert"), **change}], "spert")
        assert problem in str(caught.value)
        assert (caught.value.line, caught.value.column) == (1, 2)


class TestTacred:
    def test_the_pair_and_its_relation_are_read(self):
        example = parse(SAMPLES["tacred"].text, "tacred")[0]
        sentence = example.view("sentence")
        assert (example.id, example.label) == ("a1", "per:origin")
        assert mentions(sentence) == [("PERSON", "Åse"), ("NATIONALITY", "Danish")]
        assert triples(sentence) == [("per:origin", "Åse", "Danish")]

    def test_the_parse_is_kept(self):
        sentence = parse(SAMPLES["tacred"].text, "tacred")[0].view("sentence")
        assert [token.tag for token in sentence.tokens] == ["NNP", "VBZ", "JJ"]
        assert sentence.dependencies == ((2, "nsubj", 0), (2, "cop", 1), (ROOT, "ROOT", 2))

    def test_heads_may_be_strings(self):
        changed = {**sample("tacred"), "stanford_head": ["3", "3", "0"]}
        assert parse([changed], "tacred")[0].views == parse([sample("tacred")], "tacred")[0].views

    def test_no_relation_is_a_label_without_a_relation(self):
        example = parse(SAMPLES["tacred"].text, "tacred")[1]
        assert (example.label, example.view("sentence").relations) == ("no_relation", ())

    def test_ends_are_inclusive(self):
        changed = {**sample("tacred"), "obj_start": 1}
        assert parse([changed], "tacred")[0].view("sentence").entities[1].text == "is Danish"

    def test_candidates_are_labeled(self):
        candidates = pair_candidates(parse(SAMPLES["tacred"].text, "tacred"))
        assert [candidate.label for candidate in candidates] == [1, 0]

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ({"obj_end": 3}, "'obj_start' is the words [2, 4), but there are 3"),
            ({"subj_start": None}, "must be an integer"),
            ({"stanford_pos": ["NN"]}, "'stanford_pos' has 1 values for 3 words"),
            ({"stanford_head": [0, 1]}, "'stanford_deprel' has 3 values for 2 words"),
            ({"stanford_head": [9, 3, 0]}, "value 0 of 'stanford_head' is 9"),
            ({"stanford_head": ["x", 3, 0]}, "must be an integer"),
            ({"relation": 3}, "'relation' must be a string"),
        ],
    )
    def test_problems_are_named(self, change, problem):
        with pytest.raises(ReadError) as caught:
            parse([{**sample("tacred"), **change}], "tacred")
        assert problem in str(caught.value)


class TestScierc:
    def document(self, **change):
        made = json.loads(SAMPLES["scierc"].text.splitlines()[0])
        return {**made, **change}

    def test_a_document_has_its_sentences(self):
        example = parse(SAMPLES["scierc"].text, "scierc")[0]
        document = example.view("document")
        assert (example.id, document.text) == ("d1", "Trees help . Kærnels use them")
        first, second = document.sentences()
        assert (first.words, second.words) == (("Trees", "help", "."), ("Kærnels", "use", "them"))

    def test_entities_and_relations_are_read(self):
        document = parse(SAMPLES["scierc"].text, "scierc")[0].view("document")
        assert mentions(document) == [
            ("Method", "Trees"),
            ("Method", "Kærnels"),
            ("Generic", "them"),
        ]
        assert triples(document) == [("USED-FOR", "Kærnels", "them")]
        check_offsets(document)

    def test_relations_reach_their_sentence(self):
        document = parse(SAMPLES["scierc"].text, "scierc")[0].view("document")
        assert [len(sentence.relations) for sentence in document.sentences()] == [0, 1]

    def test_scores_after_the_type_are_ignored(self):
        scored = self.document(ner=[[[0, 0, "Method", 3.1, 0.9]], []], relations=[[], []])
        assert mentions(parse([scored], "scierc")[0].view("document")) == [("Method", "Trees")]

    def test_relations_of_unknown_spans_are_counted(self):
        changed = self.document(relations=[[[0, 0, 1, 1, "X"]], []])
        examples = parse([changed], "scierc")
        assert examples.tally.remarks == {"relation of a span that is not an entity": 1}
        assert examples[0].view("document").relations == ()

    def test_empty_sentences_shift_nothing(self):
        changed = self.document(
            sentences=[["a"], [], ["b"]], ner=[[], [], [[1, 1, "x"]]], relations=[[], [], []]
        )
        document = parse([changed], "scierc")[0].view("document")
        assert mentions(document) == [("x", "b")]
        assert [sentence.text for sentence in document.sentences()] == ["a", "b"]

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ({"sentences": ["Trees"]}, "sentence 0 of 'sentences' must be a list"),
            ({"ner": [[]]}, "'ner' has 1 lists for 2 sentences"),
            ({"ner": [[[0, 0]], []]}, "row 0 of 'ner' of sentence 0 has 2 values, expected 3"),
            ({"ner": [[[0, 6, "x"]], []]}, "the words [0, 7), but there are 6"),
            ({"ner": [["ab"], []]}, "row 0 of 'ner' of sentence 0 must be a list"),
            ({"relations": [[[0, 0, 9, 9, "x"]], []]}, "the words [9, 10)"),
            ({"doc_key": {}}, "'doc_key' must be a string, got an object"),
        ],
    )
    def test_problems_are_named(self, change, problem):
        with pytest.raises(ReadError) as caught:
            parse([self.document(**change)], "scierc")
        assert problem in str(caught.value)


class TestDocred:
    def test_clusters_are_mentions(self):
        document = parse(SAMPLES["docred"].text, "docred")[0].view("document")
        assert mentions(document) == [("PER", "Ann"), ("PER", "She"), ("LOC", "Ærø")]
        check_offsets(document)

    def test_a_relation_holds_between_mentions_of_one_sentence(self):
        document = parse(SAMPLES["docred"].text, "docred")[0].view("document")
        assert triples(document) == [("P19", "She", "Ærø")]
        assert [len(sentence.relations) for sentence in document.sentences()] == [0, 1]

    def test_relations_across_sentences_are_counted(self):
        changed = sample("docred")
        del changed["vertexSet"][0][1]
        examples = parse([changed], "docred")
        assert examples.tally.remarks == {"relation between concepts that share no sentence": 1}

    def test_titles_are_metadata_and_may_repeat(self):
        examples = parse([sample("docred"), sample("docred")], "docred")
        assert [example.id for example in examples] == ["stream:1", "stream:2"]
        assert examples[0].view("document").metadata == (("title", "Ann"),)

    @pytest.mark.parametrize(
        ("change", "problem"),
        [
            ({"labels": [{"h": 0, "t": 2, "r": "P1"}]}, "label 0 names entity 2, there are 2"),
            ({"labels": [{"h": 0, "t": 1}]}, "label 0 has no key 'r'"),
            ({"vertexSet": [[{"sent_id": 2, "pos": [0, 1]}]]}, "'sent_id' of cluster 0, mention 0"),
            ({"vertexSet": [[{"sent_id": 0, "pos": [0, 4]}]]}, "which has 3 words"),
            ({"vertexSet": [[{"sent_id": 0, "pos": [0]}]]}, "has 1 numbers, expected 2"),
        ],
    )
    def test_problems_are_named(self, change, problem):
        with pytest.raises(ReadError) as caught:
            parse([{**sample("docred"), "labels": [], **change}], "docred")
        assert problem in str(caught.value)


@pytest.mark.parametrize("name", ["spert", "tacred", "scierc", "docred"])
def test_views_that_are_not_wanted_are_left_out(name):
    examples = read(io.StringIO(SAMPLES[name].text), format=name, views=())
    assert [dict(example.views) for example in examples] == [{}, {}]


@pytest.mark.parametrize("name", ["spert", "tacred", "scierc", "docred"])
@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_files_are_recognized(name, suffix, tmp_path):
    path = tmp_path / f"corpus{suffix}"
    path.write_text(SAMPLES[name].text, encoding="utf-8")
    assert len(read(path)) == SAMPLES[name].n_examples
    assert len(read(tmp_path)) == SAMPLES[name].n_examples
