from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest

import kernelwood as kw
from kernelwood.datasets import interactions_path, load_interactions
from kernelwood.datasets.bundled import Part, Split
from kernelwood.io import Examples
from kernelwood.text import dependencies_of_tree

SPLITS: tuple[Part, ...] = ("train", "test")
TYPES = {"Protein", "Gene", "Chemical", "Complex"}
RELATIONS = {"Activates", "Inhibits", "Phosphorylates", "Regulates", "Binds"}
PHRASES = set(
    "ADJP ADVP CONJP FRAG NP PP PRN PRT S SBAR VP WHADVP WHNP WHPP".split()
)  # all that the corpus uses
TAGS = set(
    "CC CD DT FW IN JJ JJR MD NN NNS PRP PRP$ RB RBR RBS RP TO VB VBD VBG VBN VBP VBZ "
    "WDT WP WP$ WRB . , : -LRB- -RRB-".split()
)


@pytest.fixture(scope="module")
def examples() -> Examples:
    return load_interactions()


@pytest.fixture(scope="module")
def sentences(examples: Examples) -> list[kw.Sentence]:
    return [sentence_of(example) for example in examples]


@pytest.fixture(scope="module")
def documents() -> dict[str, kw.Document]:
    """The documents in brat form, by id."""
    found = {}
    for split in SPLITS:
        for example in kw.read(interactions_path(split, "brat")):
            document = example.views["document"]
            assert isinstance(document, kw.Document)
            found[example.id] = document
    return found


def sentence_of(example: kw.Example) -> kw.Sentence:
    sentence = example.views["sentence"]
    assert isinstance(sentence, kw.Sentence)
    return sentence


def tree_of(sentence: kw.Sentence) -> kw.Tree:
    assert sentence.tree is not None
    return sentence.tree


def document_of(sentence: kw.Sentence) -> str:
    name = dict(sentence.metadata)["document"]
    assert name is not None
    return name


def denied_pairs(sentence: kw.Sentence) -> list[tuple[str, frozenset[str]]]:
    """Return what the sentence denies: a type and the two entities."""
    rows = [(value or "").split() for key, value in sentence.metadata if key == "denied"]
    return [(kind, frozenset(ends)) for kind, *ends in rows]


def joined_pairs(sentence: kw.Sentence) -> list[tuple[str, frozenset[str]]]:
    return [
        (relation.type, frozenset(argument.target for argument in relation.arguments))
        for relation in sentence.relations
    ]


def words_between(sentence: kw.Sentence, relation: kw.text.Relation) -> int:
    entities = {entity.id: entity for entity in sentence.entities}
    first, second = sorted(
        sentence.tokens_of(entities[argument.target]) for argument in relation.arguments
    )
    return second[0] - first[-1] - 1


# What there is.


@pytest.mark.parametrize(("split", "count"), [("train", 225), ("test", 94), ("all", 319)])
def test_parts_have_their_sizes(split: Split, count: int) -> None:
    assert len(load_interactions(split)) == count


def test_all_is_train_and_then_test() -> None:
    both = [*load_interactions("train"), *load_interactions("test")]
    assert list(load_interactions("all")) == both


def test_train_and_test_share_no_document() -> None:
    train, test = (set(kw.evaluate.documents(load_interactions(split))) for split in SPLITS)
    assert train & test == set()


def test_there_are_54_documents(examples: Examples) -> None:
    assert len(set(kw.evaluate.documents(examples))) == 54


def test_ids_name_document_and_sentence(examples: Examples) -> None:
    counts: Counter[str] = Counter()
    for example in examples:
        name = document_of(sentence_of(example))
        assert example.id == f"{name}.s{counts[name]}"
        counts[name] += 1


def test_documents_have_five_or_six_sentences(examples: Examples) -> None:
    assert set(Counter(kw.evaluate.documents(examples)).values()) == {5, 6}


def test_origin_is_the_line_of_the_file() -> None:
    origins = [str(example.origin) for example in load_interactions("test")]
    assert origins == [f"test.jsonl:{line}" for line in range(1, 95)]


def test_no_sentence_occurs_twice(sentences: list[kw.Sentence]) -> None:
    assert len({sentence.text for sentence in sentences}) == len(sentences)


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(ValueError, match="split must be one of train, test, all; got 'dev'"):
        load_interactions("dev")  # type: ignore[arg-type]


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(ValueError, match="form must be one of jsonl, brat; got 'xml'"):
        interactions_path("test", "xml")  # type: ignore[arg-type]


def test_an_unknown_part_has_no_path() -> None:
    with pytest.raises(ValueError, match="part must be train or test; got 'all'"):
        interactions_path("all")  # type: ignore[arg-type]


@pytest.mark.parametrize("split", SPLITS)
def test_path_of_json_lines_reads_like_the_corpus(split: Part) -> None:
    found = [example.views for example in kw.read(interactions_path(split))]
    assert found == [example.views for example in load_interactions(split)]


# Entities and relations.


def test_entities_have_the_known_types(sentences: list[kw.Sentence]) -> None:
    assert {entity.type for sentence in sentences for entity in sentence.entities} == TYPES


def test_entities_read_as_the_text_at_their_offsets(sentences: list[kw.Sentence]) -> None:
    for sentence in sentences:
        found = [sentence.text[entity.start : entity.end] for entity in sentence.entities]
        assert found == [entity.text for entity in sentence.entities]


def test_entities_begin_and_end_with_tokens(sentences: list[kw.Sentence]) -> None:
    for sentence in sentences:
        for entity in sentence.entities:
            tokens = [sentence.tokens[index] for index in sentence.tokens_of(entity)]
            assert (tokens[0].start, tokens[-1].end) == (entity.start, entity.end)


def test_entities_do_not_overlap(sentences: list[kw.Sentence]) -> None:
    for sentence in sentences:
        assert all(a.end <= b.start for a, b in pairwise(sentence.entities))


def test_relations_have_the_known_types(sentences: list[kw.Sentence]) -> None:
    assert {relation.type for sentence in sentences for relation in sentence.relations} == RELATIONS


def test_no_two_entities_have_two_relations(sentences: list[kw.Sentence]) -> None:
    for sentence in sentences:
        ends = [pair for _, pair in joined_pairs(sentence)]
        assert len(ends) == len(set(ends))


def test_relations_join_two_different_entities(sentences: list[kw.Sentence]) -> None:
    assert {len(ends) for sentence in sentences for _, ends in joined_pairs(sentence)} == {2}


def test_arguments_of_binding_stand_in_the_order_of_the_text(
    sentences: list[kw.Sentence],
) -> None:
    for sentence in sentences:
        places = {entity.id: entity.start for entity in sentence.entities}
        bound = [relation.arguments for relation in sentence.relations if relation.type == "Binds"]
        assert all(places[a.target] < places[b.target] for a, b in bound)


def test_what_is_denied_is_no_relation(sentences: list[kw.Sentence]) -> None:
    for sentence in sentences:
        assert not set(denied_pairs(sentence)) & set(joined_pairs(sentence))


def test_many_sentences_deny_something(sentences: list[kw.Sentence]) -> None:
    assert sum(bool(denied_pairs(sentence)) for sentence in sentences) == 47


def test_speculation_is_said_of_relations_only(sentences: list[kw.Sentence]) -> None:
    for sentence in sentences:
        ids = {relation.id for relation in sentence.relations}
        assert {(item.type, item.target in ids) for item in sentence.attributes} <= {
            ("Speculation", True)
        }


@pytest.mark.parametrize("split", SPLITS)
def test_speculation_is_in_both_parts(split: Part) -> None:
    found = load_interactions(split)
    assert sum(len(sentence_of(example).attributes) for example in found) >= 10


@pytest.mark.parametrize("split", SPLITS)
def test_a_quarter_to_a_third_of_the_pairs_is_related(split: Part) -> None:
    labels = kw.relations.pair_candidates(load_interactions(split)).labels
    assert 0.25 <= sum(int(label == 1) for label in labels) / len(labels) <= 0.35


@pytest.mark.parametrize("split", SPLITS)
def test_every_type_of_relation_is_in_both_parts(split: Part) -> None:
    found = load_interactions(split)
    assert {r.type for example in found for r in sentence_of(example).relations} == RELATIONS


def test_some_related_entities_are_far_apart(sentences: list[kw.Sentence]) -> None:
    distances = [words_between(s, relation) for s in sentences for relation in s.relations]
    assert sum(distance > 15 for distance in distances) >= 10


def test_some_sentences_have_entities_but_no_relation(sentences: list[kw.Sentence]) -> None:
    assert sum(len(s.entities) > 1 and not s.relations for s in sentences) >= 20


def test_sentences_are_short_and_long(sentences: list[kw.Sentence]) -> None:
    lengths = [len(sentence.tokens) for sentence in sentences]
    assert (min(lengths), max(lengths)) == (5, 41)


def test_test_part_has_words_that_training_lacks() -> None:
    train, test = (
        {
            t.lemma
            for e in load_interactions(split)
            for t in sentence_of(e).tokens
            if t.tag[0] == "V"
        }
        for split in SPLITS
    )
    assert len(test - train) >= 30


# Analyses.


def test_tokens_are_spelled_as_in_the_text(sentences: list[kw.Sentence]) -> None:
    for sentence in sentences:
        found = [sentence.text[token.start : token.end] for token in sentence.tokens]
        assert found == [token.text for token in sentence.tokens]


def test_tokens_cover_all_but_the_blanks(sentences: list[kw.Sentence]) -> None:
    for sentence in sentences:
        assert "".join(sentence.words) == sentence.text.replace(" ", "")


def test_blanks_are_where_they_belong(sentences: list[kw.Sentence]) -> None:
    odd = re.compile(r"\s[,.;)%]|\(\s|\s\s|,\S|\w\(|\)\w")
    assert [sentence.text for sentence in sentences if odd.search(sentence.text)] == []


def test_sentences_begin_upper_case_and_end_in_a_period(sentences: list[kw.Sentence]) -> None:
    assert [s.text for s in sentences if not re.fullmatch(r"[A-Z0-9].*\.", s.text)] == []


def test_leaves_of_trees_are_the_tokens(sentences: list[kw.Sentence]) -> None:
    brackets = {"-LRB-": "(", "-RRB-": ")"}
    for sentence in sentences:
        leaves = [brackets.get(leaf.label, leaf.label) for leaf in tree_of(sentence).leaves()]
        assert leaves == list(sentence.words)


def test_tags_stand_above_the_words(sentences: list[kw.Sentence]) -> None:
    for sentence in sentences:
        above = [
            n.label for n in tree_of(sentence).preorder() if any(c.is_leaf for c in n.children)
        ]
        assert above == [token.tag for token in sentence.tokens]


def test_labels_are_those_of_the_penn_treebank(sentences: list[kw.Sentence]) -> None:
    inner = [n for s in sentences for n in tree_of(s).preorder() if not n.is_leaf]
    tags = {node.label for node in inner if node.children[0].is_leaf}
    assert (tags, {node.label for node in inner} - tags) == (TAGS, PHRASES)


def test_every_tree_is_a_sentence_with_its_period(sentences: list[kw.Sentence]) -> None:
    ends = {(tree_of(s).label, tree_of(s).children[-1].label) for s in sentences}
    assert ends == {("S", ".")}


def test_no_constituent_repeats_the_one_below_it(sentences: list[kw.Sentence]) -> None:
    for sentence in sentences:
        for node in tree_of(sentence).preorder():
            if len(node.children) == 1 and not node.children[0].is_leaf:
                assert node.children[0].label != node.label


def test_every_token_has_one_head(sentences: list[kw.Sentence]) -> None:
    for sentence in sentences:
        dependents = [edge.dependent for edge in sentence.dependencies]
        assert dependents == list(range(len(sentence.tokens)))


def test_dependencies_lead_to_one_root(sentences: list[kw.Sentence]) -> None:
    for sentence in sentences:
        heads = {edge.dependent: edge.head for edge in sentence.dependencies}
        assert list(heads.values()).count(-1) == 1
        for token in heads:
            steps = 0
            while token != -1:
                token, steps = heads[token], steps + 1
                assert steps <= len(heads)


def test_the_root_is_called_root(sentences: list[kw.Sentence]) -> None:
    for sentence in sentences:
        assert [e.head for e in sentence.dependencies if e.relation == "root"] == [-1]


def test_head_rules_agree_with_nearly_all_dependencies(sentences: list[kw.Sentence]) -> None:
    agreed = total = 0
    for sentence in sentences:
        found = set(dependencies_of_tree(tree_of(sentence)))
        agreed += len(found & set(sentence.dependencies))
        total += len(sentence.dependencies)
    assert agreed / total > 0.95


def test_lemmas_are_lower_case_and_never_missing(sentences: list[kw.Sentence]) -> None:
    lemmas = {token.lemma for sentence in sentences for token in sentence.tokens}
    assert all(lemma and lemma == lemma.lower() for lemma in lemmas)


def test_there_are_more_than_sixty_verbs(sentences: list[kw.Sentence]) -> None:
    verbs = {token.lemma for s in sentences for token in s.tokens if token.tag.startswith("VB")}
    assert len(verbs) > 60


# The two forms.


def test_sentences_stand_at_their_start_in_the_document(
    sentences: list[kw.Sentence], documents: dict[str, kw.Document]
) -> None:
    for sentence in sentences:
        text = documents[document_of(sentence)].text
        assert text[sentence.start : sentence.start + len(sentence.text)] == sentence.text


@pytest.mark.parametrize("part", ["entities", "relations", "attributes"])
def test_both_forms_agree_on_the_annotation(
    part: str, examples: Examples, documents: dict[str, kw.Document]
) -> None:
    cut = {
        f"{name}.s{number}": getattr(sentence, part)
        for name, document in documents.items()
        for number, sentence in enumerate(document.sentences())
    }
    assert cut == {example.id: getattr(sentence_of(example), part) for example in examples}


@pytest.mark.parametrize("split", SPLITS)
def test_both_forms_give_the_same_candidates(split: Part) -> None:
    here = kw.relations.pair_candidates(load_interactions(split), labels="directed")
    there = kw.relations.pair_candidates(
        kw.read(interactions_path(split, "brat")),
        labels="directed",
    )
    assert [(c.id, c.label) for c in here] == [(c.id, c.label) for c in there]


@pytest.mark.parametrize("split", SPLITS)
def test_views_of_pairs_need_no_fallback(split: Part) -> None:
    candidates = kw.relations.pair_candidates(load_interactions(split))
    made = candidates.examples("path", "context", "pet")
    assert (made.tally.skipped, made.tally.remarks) == (0, {})
