"""Sentences with the parses that views need."""

from __future__ import annotations

import pytest
from annotated import documents

import kernelwood as kw
from kernelwood.parsing import load_backend
from kernelwood.relations import pair_candidates
from kernelwood.views import VIEWS, make_view


def raw(text, *names, relations=()):
    """Return a document without parses."""
    entities = [
        kw.text.Entity(
            f"T{i}", "protein", ((text.index(name), text.index(name) + len(name)),), name
        )
        for i, name in enumerate(names, start=1)
    ]
    return kw.Document(text, entities, relations)


def corpus():
    """Return a corpus of documents whose sentences have no parses."""
    found = []
    for number in range(8):
        pair = (kw.text.Argument("Arg1", "T1"), kw.text.Argument("Arg2", "T2"))
        text = f"Raf{number} binds Ras{number}. We saw Mek{number} and Erk{number}."
        names = [f"{name}{number}" for name in ("Raf", "Ras", "Mek", "Erk")]
        document = raw(text, *names, relations=[kw.text.Relation("R1", "Binds", pair)])
        found.append(kw.Example(f"doc{number}", views={"document": document}))
    return found


def test_sentences_without_parses_are_parsed_by_the_fast_parser():
    model = kw.RelationExtractor(random_state=0).fit(corpus())
    assert model.parser_ == "biomedical-dependencies"
    assert (model.n_documents_, model.n_sentences_, model.n_candidates_) == (8, 16, 16)


def test_views_of_trees_are_parsed_by_the_grammar():
    model = kw.RelationExtractor(views=["context", "pet"], random_state=0).fit(corpus())
    assert model.parser_ == "biomedical"
    assert not model.dropped_


def test_a_model_keeps_the_parser_of_its_training_corpus():
    model = kw.RelationExtractor(parser="biomedical", random_state=0).fit(corpus())
    model.parser = "auto"  # as models of earlier versions are
    [entry] = corpus()[:1]
    found = model.extract([entry], find_entities=False)  # warns if the parser differs
    assert found.candidates.sentences.sentences[0].tree is not None


def test_every_view_says_what_part_of_a_parse_it_needs():
    needs = {name: row.needs for name, row in VIEWS.items()}
    assert {name for name, need in needs.items() if need == "tree"} == {"tree", "pet", "mct"}
    sentence = kw.Sentence(
        "Raf binds Ras.", entities=[("a", "P", ((0, 3),)), ("b", "P", ((10, 13),))]
    )
    [parsed] = load_backend("biomedical-dependencies").parse([sentence])
    [candidate] = pair_candidates([parsed])
    for name, need in needs.items():
        if need != "tree" and VIEWS[name].subject != "interaction":
            assert make_view(name, candidate)[1] is None


def test_words_alone_need_no_parser():
    model = kw.RelationExtractor(views=["context"], random_state=0).fit(corpus())
    assert model.parser_ == "given"


def test_given_parses_are_kept():
    assert kw.RelationExtractor(random_state=0).fit(documents()).parser_ == "given"


def test_a_parser_that_is_named_parses_all():
    model = kw.RelationExtractor(parser="biomedical", random_state=0).fit(documents())
    assert model.parser_ == "biomedical"


def test_missing_parses_are_warned_of():
    with pytest.warns(UserWarning, match="choose a parser"):
        kw.RelationExtractor(parser="given", random_state=0).fit(corpus())


def test_an_unknown_parser_is_refused():
    with pytest.raises(kw.errors.KernelInputError, match="unknown backend 'biomedicla'"):
        kw.RelationExtractor(parser="biomedicla").fit(corpus())


def test_offsets_are_those_of_the_document():
    model = kw.RelationExtractor(random_state=0).fit(corpus())
    text = "It rained. Foo1 binds Bar2."
    example = kw.Example("new", views={"document": raw(text, "Foo1", "Bar2")})
    [found] = model.predict([example], all=True)
    assert [text[slice(*one.spans[0])] for one in found.participants] == ["Foo1", "Bar2"]
    assert text[slice(*found.sentence)] == "Foo1 binds Bar2."
    assert found.document == "new"


def test_an_empty_document_has_no_relations():
    model = kw.RelationExtractor(random_state=0).fit(corpus())
    assert len(model.extract(["", "  \n"], all=True)) == 0


def test_parses_of_a_file_are_used(tmp_path):
    parsed = tmp_path / "parsed.conllu"
    backend = kw.parsing.load_backend()
    lines = []
    for example in corpus():
        sentences = backend.parse(kw.Document(example.view("document").text).sentences())
        for number, sentence in enumerate(sentences):
            head = f"# newdoc id = {example.id}\n" if number == 0 else ""
            rows = [
                f"{i + 1}\t{token.text}\t_\t_\t_\t_\t{edge.head + 1}\t{edge.relation}\t_\t_"
                for i, (token, edge) in enumerate(
                    zip(sentence.tokens, sentence.dependencies, strict=True)
                )
            ]
            lines.append(head + "\n".join(rows) + "\n\n")
    parsed.write_text("".join(lines), encoding="utf-8")
    model = kw.RelationExtractor(parser=f"conllu:{parsed}", random_state=0).fit(corpus())
    assert model.n_candidates_ == 16
    assert model.parser_.startswith("conllu")


def test_cross_validation_parses_once(monkeypatch):
    calls = []
    backend = kw.parsing.load_backend()

    class Counting:
        name, version = "counting", "1"

        def parse(self, given):
            calls.append(len(given))
            return backend.parse(given)

    monkeypatch.setattr("kernelwood.relations.corpus.load_backend", lambda *_, **__: Counting())
    kw.RelationExtractor(parser="counting", random_state=0).cross_validate(corpus(), n_splits=4)
    assert calls == [16]


def test_pairs_that_always_run_backward_keep_their_roles():
    # "Raf is activated by Mek": Mek is the agent, and always comes second.
    corpus = documents(8, patterns=[1, 4, 5])
    model = kw.RelationExtractor(random_state=0).fit(corpus)
    assert model.classes_.tolist() == ["Activates", "none"]
    [found] = model.predict(documents(1, start=20, patterns=[1]))
    first, second = (one for one in found.participants)
    assert (first.role, second.role) == ("Arg2", "Arg1")
