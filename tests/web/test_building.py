"""Building projects from texts and annotated corpora."""

from __future__ import annotations

import sqlite3
from collections import Counter

import numpy as np
import pytest

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.entities import Dictionary
from kernelwood.errors import ReadError
from kernelwood.relations import pair_candidates
from kernelwood.text import Argument, Attribute, Entity, Relation
from kernelwood.web import building
from kernelwood.web.building import VIEWS, build_project, read_types
from kernelwood.web.project import Project, ProjectError, TypeRow

NAMES = Dictionary([("Raf", "protein", "UniProt:P04049"), ("Ras", "protein"), ("Mek", "protein")])


@pytest.fixture
def texts(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("Raf binds Ras. It rains.\n", encoding="utf-8")
    (folder / "b.txt").write_text("Mek – not Raf – binds Ras.\n", encoding="utf-8")
    return folder


def annotated(name, text, relations, roles=("Arg1", "Arg2")):
    """Return a document with the names as entities and (type, first word, second word)."""
    words = [word for word in ("Raf", "Ras", "Mek") if word in text]
    entities = [
        Entity(f"T{n}", "protein", ((text.index(word), text.index(word) + 3),), word)
        for n, word in enumerate(words)
    ]
    ids = {entity.text: entity.id for entity in entities}
    made = [
        Relation(f"R{n}", kind, (Argument(roles[0], ids[one]), Argument(roles[1], ids[other])))
        for n, (kind, one, other) in enumerate(relations)
    ]
    return kw.Example(name, views={"document": kw.Document(text, entities, made)})


def names(project):
    return [row.name for row in project.documents()]


# Texts.


def test_texts_of_a_folder_get_entities_and_parses(tmp_path, texts):
    with build_project(tmp_path / "a.kwp", texts, entities=NAMES) as project:
        assert [name.removesuffix(".txt") for name in names(project)] == ["a", "b"]
        assert project.document_text(0) == "Raf binds Ras. It rains.\n"
        assert len(project.candidates) == 1 + 3
        assert project.candidates.annotation == [None] * 4
        assert project.types() == []
        document = project.document(0)
        assert [one.value for one in document.attributes] == ["UniProt:P04049\tRaf"]
        assert project.views().views and set(project.views().views) == set(VIEWS)


def test_all_sentences_are_stored_and_those_with_pairs_parsed(tmp_path, texts):
    with build_project(tmp_path / "a.kwp", texts, entities=NAMES) as project:
        parsed = [
            bool(project.sentence(number)[1].dependencies) for number in range(project.n_sentences)
        ]
        assert project.sentence_texts()[:2] == ["Raf binds Ras.", "It rains."]
        assert parsed == [True, False, True]


def test_texts_without_entities_are_refused(tmp_path, texts):
    with pytest.raises(ProjectError, match=r"no entities(.|\n)*--entities"):
        build_project(tmp_path / "a.kwp", texts)
    with pytest.raises(ProjectError, match="2 entities were found, but"):
        build_project(tmp_path / "a.kwp", [kw.Document("Raf. Ras.")], entities=NAMES)
    (tmp_path / "empty").mkdir()
    with pytest.raises((ProjectError, ReadError)):
        build_project(tmp_path / "a.kwp", [], entities=NAMES)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["empty", "texts"]


def test_documents_of_the_same_name_get_a_number(tmp_path, texts):
    sources = [texts / "a.txt", texts / "a.txt", texts / "b.txt", texts / "a.txt"]
    with build_project(tmp_path / "a.kwp", sources, entities=NAMES) as project:
        first, second, _, third = names(project)
        assert second == f"{first}~2" and third == f"{first}~3"
        assert len(set(project.candidates.names)) == len(project.candidates)


def test_options_of_readers_are_passed_on(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("pmid,abstract\n7,Raf binds Ras.\n", encoding="utf-8")
    options = {"text_field": "abstract", "id_field": "pmid", "entities": NAMES}
    with build_project(tmp_path / "a.kwp", table, **options) as project:
        assert names(project) == ["7"]


def test_files_that_cannot_be_read_are_errors_or_skipped(tmp_path, texts):
    (texts / "c.txt").write_text("<html><p>Raf binds Ras.</p></html>", encoding="utf-8")
    with pytest.raises(ReadError, match="HTML"):
        build_project(tmp_path / "a.kwp", texts, entities=NAMES)
    with build_project(tmp_path / "a.kwp", texts, entities=NAMES, errors="skip") as project:
        assert len(names(project)) == 2
        assert sum(project.settings()["building"]["skipped"].values()) == 1


def test_a_model_finds_entities_and_is_stored(tmp_path):
    extractor = kw.RelationExtractor(entities="learn", random_state=0)
    extractor.fit(load_interactions("train")[:80])
    path = tmp_path / "a.kwp"
    text = kw.Document("RAK2 activates TORP1, and KSR1 binds MEK1.")
    build_project(path, [text], extractor=extractor).close()
    with Project.open(path) as project:
        assert len(project.candidates) >= 1
        assert [row.name for row in project.types()] == list(extractor.relations_)
        prior = project.prior_model()
        assert prior.relations_ == extractor.relations_
        assert project.prior_model() is prior
        assert project.prior().startswith(b"PK")


def test_characters_that_are_not_valid_are_refused(tmp_path):
    document = kw.Document("Raf binds Ras \ud800.")
    with pytest.raises(ProjectError, match="not valid Unicode"):
        build_project(tmp_path / "a.kwp", [document], entities=NAMES)
    assert list(tmp_path.iterdir()) == []


# Annotated corpora.


def test_annotation_is_that_of_pair_candidates(tmp_path):
    documents = load_interactions("test")
    reference = pair_candidates(documents, labels="directed")
    with build_project(tmp_path / "a.kwp", documents) as project:
        symmetric = {row.name for row in project.types() if row.symmetric}
        assert symmetric == {"Binds"}  # which the corpus annotates in text order
        expected = ["Binds" if label.startswith("Binds(") else label for label in reference.labels]
        assert project.candidates.annotation == expected
        for row in (0, 100, 456):
            assert project.candidate(row).sentence.text == reference[row].sentence.text
            assert project.candidate(row).entities == reference[row].entities
        groups = reference.groups()
        found = [project.documents()[number].name for number in project.candidates.document]
        assert found == groups
        counts = Counter(groups)
        for row in project.documents():
            assert row.n_candidates == counts[row.name]


@pytest.mark.parametrize(
    ("roles", "n_forward", "n_backward", "symmetric"),
    [
        (("Arg1", "Arg2"), 5, 0, True),
        (("Arg1", "Arg2"), 4, 0, False),  # too few to tell
        (("Arg1", "Arg2"), 5, 1, False),
        (("Agent", "Target"), 5, 0, False),  # named: the order has a meaning
    ],
)
def test_types_that_never_run_against_the_text_are_symmetric(
    tmp_path, roles, n_forward, n_backward, symmetric
):
    documents = []
    for number in range(n_forward + n_backward):
        ends = ("T1", "T2") if number < n_forward else ("T2", "T1")
        arguments = tuple(Argument(role, end) for role, end in zip(roles, ends, strict=True))
        entities = [Entity("T1", "protein", ((0, 3),)), Entity("T2", "protein", ((10, 13),))]
        document = kw.Document("Raf meets Ras.", entities, [Relation("R1", "Meets", arguments)])
        documents.append(kw.Example(f"d{number}", views={"document": document}))
    with build_project(tmp_path / "a.kwp", documents) as project:
        [row] = project.types()
        assert row.symmetric is symmetric


def test_views_are_those_of_the_library(tmp_path):
    documents = load_interactions("test")[:20]
    reference = pair_candidates(documents).viewed(*VIEWS).table
    with build_project(tmp_path / "a.kwp", documents) as project:
        table = project.views()
        for row in range(len(reference)):
            for name in VIEWS:
                assert table[row].view(name) == reference[row].view(name)


def test_small_chunks_give_the_same_project(tmp_path, monkeypatch):
    documents = load_interactions("test")[:30]
    monkeypatch.setattr(building, "_CHUNK", 1)
    with build_project(tmp_path / "a.kwp", documents) as small:
        monkeypatch.setattr(building, "_CHUNK", 10**9)
        with build_project(tmp_path / "b.kwp", documents) as large:
            for name in ("names", "annotation"):
                assert getattr(small.candidates, name) == getattr(large.candidates, name)
            for name in ("sentence", "document", "first", "second", "group"):
                np.testing.assert_array_equal(
                    getattr(small.candidates, name), getattr(large.candidates, name)
                )
            assert small.documents() == large.documents()
            assert all(
                one == other for one, other in zip(small.views(), large.views(), strict=True)
            )


def test_sentences_of_a_document_are_joined(tmp_path):
    documents = load_interactions("test")
    with build_project(tmp_path / "a.kwp", documents) as project:
        row = project.documents()[0]
        texts = [project.sentence(one)[1].text for one in project.sentence_numbers(row.number)]
        assert project.document_text(row.number) == "\n".join(texts)
        document = project.document(row.number)
        for entity in document.entities:
            assert document.text[entity.start : entity.end] == entity.text


def test_sentences_of_which_only_the_file_is_known_are_documents(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text(
        '1\t"The <e1>key</e1> lies in a <e2>box</e2>."\nContent-Container(e1,e2)\nComment:\n\n'
        '2\t"A <e1>ship</e1> saw the <e2>coast</e2>."\nOther\nComment:\n\n',
        encoding="utf-8",
    )
    with build_project(tmp_path / "a.kwp", file, format="semeval") as project:
        assert names(project) == ["1", "2"]
        assert project.candidates.annotation == ["Content-Container(e1,e2)", "none"]
        assert project.types() == [TypeRow("Content-Container")]


def test_clashing_ids_of_joined_sentences_are_renamed(tmp_path):
    examples = []
    for number in range(2):
        [sentence] = kw.Document(
            "Raf binds Ras.",
            [Entity("T1", "protein", ((0, 3),), "Raf"), Entity("T2", "protein", ((10, 13),))],
            attributes=[Attribute("N1", "Reference", "T1", f"X:{number}")],
        ).sentences()
        examples.append(kw.Example(f"d.s{number}", views={"sentence": sentence}))
    with build_project(tmp_path / "a.kwp", examples) as project:
        assert names(project) == ["d"]
        document = project.document(0)
        assert [entity.id for entity in document.entities] == ["T1", "T2", "d.s1.T1", "d.s1.T2"]
        assert [(one.target, one.value) for one in document.attributes] == [
            ("T1", "X:0"),
            ("d.s1.T1", "X:1"),
        ]
        assert project.entity_ids(0)[1, 0] == "d.s1.T1"


def test_types_have_direction_if_their_roles_differ(tmp_path):
    documents = [
        annotated("a", "Raf binds Ras.", [("Binds", "Ras", "Raf")], ("", "")),
        annotated("b", "Mek activates Ras.", [("Activates", "Ras", "Mek")], ("Agent", "Target")),
        annotated("c", "Mek sees Raf.", []),
    ]
    with build_project(tmp_path / "a.kwp", documents) as project:
        assert project.types() == [
            TypeRow("Binds", True),
            TypeRow("Activates", False, "", ("Agent", "Target")),
        ]
        assert project.candidates.annotation == ["Binds", "Activates(e2,e1)", "none"]


def test_declared_types_take_precedence(tmp_path):
    documents = [annotated("a", "Raf binds Ras.", [("Binds", "Ras", "Raf")])]
    types = [TypeRow("Other"), TypeRow("Binds", True, "a contact")]
    with build_project(tmp_path / "a.kwp", documents, types=types) as project:
        assert project.types() == types
        assert project.candidates.annotation == ["Binds"]


def test_annotation_can_be_ignored_or_demanded(tmp_path):
    related = [annotated("a", "Raf binds Ras.", [("Binds", "Raf", "Ras")])]
    unrelated = [annotated("a", "Raf binds Ras.", [])]
    with build_project(tmp_path / "a.kwp", related, annotation=False) as project:
        assert project.candidates.annotation == [None] and project.types() == []
    with build_project(tmp_path / "b.kwp", unrelated) as project:
        assert project.candidates.annotation == [None]
    with build_project(tmp_path / "c.kwp", unrelated, annotation=True) as project:
        assert project.candidates.annotation == ["none"]


def test_held_out_documents_are_whole_and_drawn_by_the_seed(tmp_path):
    documents = load_interactions("test")

    def held(name, seed):
        with build_project(tmp_path / name, documents, held_out=0.3, seed=seed) as project:
            rows = project.documents()
            chosen = [row.number for row in rows if row.held_out]
            np.testing.assert_array_equal(
                project.candidates.held_out, np.isin(project.candidates.document, chosen)
            )
            assert len(chosen) == round(0.3 * len(rows))
            return chosen

    assert held("a.kwp", 1) == held("b.kwp", 1) != held("c.kwp", 2)


@pytest.mark.parametrize("fraction", [-0.1, 1.0, "x"])
def test_fractions_of_held_out_documents_are_checked(tmp_path, fraction):
    with pytest.raises(ProjectError, match="fraction"):
        build_project(tmp_path / "a.kwp", load_interactions("test")[:5], held_out=fraction)


def test_documents_without_annotation_cannot_be_held_out(tmp_path, texts):
    with pytest.raises(ProjectError, match="annotated"):
        build_project(tmp_path / "a.kwp", texts, entities=NAMES, held_out=0.5)
    documents = [annotated("a", "Raf binds Ras.", [("Binds", "Raf", "Ras")])]
    with pytest.raises(ProjectError, match="of 1 documents"):
        build_project(tmp_path / "a.kwp", documents, held_out=0.5)
    assert not list(tmp_path.glob("*.kwp*"))


def test_limits_of_candidates_are_counted(tmp_path):
    documents = load_interactions("test")[:30]
    with build_project(tmp_path / "a.kwp", documents, max_distance=2, max_entities=3) as project:
        reference = pair_candidates(documents, max_distance=2, max_entities=3)
        assert len(project.candidates) == len(reference)
        assert project.settings()["building"]["dropped"] == dict(reference.dropped)


# The file.


def test_existing_files_are_kept(tmp_path, texts):
    path = tmp_path / "a.kwp"
    build_project(path, texts, entities=NAMES).close()
    before = path.read_bytes()
    with pytest.raises(ProjectError, match="exists"):
        build_project(path, texts, entities=NAMES)
    with pytest.raises(ProjectError, match="folder"):
        build_project(texts, texts, entities=NAMES)
    with pytest.raises(ProjectError, match="folder does not exist"):
        build_project(tmp_path / "no" / "a.kwp", texts, entities=NAMES)
    assert path.read_bytes() == before


def test_a_project_is_replaced_on_request(tmp_path, texts):
    path = tmp_path / "a.kwp"
    with build_project(path, texts, entities=NAMES) as project:
        project.decide([0], "none", author="ann")
        with pytest.raises(ProjectError, match="in use"):
            build_project(path, texts, entities=NAMES, overwrite=True)
    with build_project(path, texts / "b.txt", entities=NAMES, overwrite=True) as project:
        assert len(names(project)) == 1 and project.current() == {}


def test_journals_of_an_earlier_file_are_not_applied(tmp_path, texts):
    """A file that was deleted without its journal must not come back in a new one."""
    path = tmp_path / "a.kwp"
    build_project(path, texts, entities=NAMES).close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("INSERT INTO settings VALUES ('old', '1')")
    journal = (tmp_path / "a.kwp-wal").read_bytes()
    connection.close()
    path.unlink()
    (tmp_path / "a.kwp-wal").write_bytes(journal)
    with build_project(path, texts, entities=NAMES) as project:
        assert "old" not in project.settings()


@pytest.mark.parametrize("failure", [KeyboardInterrupt, RuntimeError, OSError(28, "full")])
@pytest.mark.parametrize("stage", ["reading", "parsing", "saving"])
def test_an_interrupted_call_leaves_no_file(tmp_path, texts, failure, stage):
    def interrupt(name, done, total):
        if name == stage:
            raise failure

    expected = (KeyboardInterrupt, RuntimeError, OSError, ProjectError)
    with pytest.raises(expected):
        build_project(tmp_path / "a.kwp", texts, entities=NAMES, progress=interrupt)
    assert [file.name for file in tmp_path.iterdir()] == ["texts"]


def test_progress_is_reported(tmp_path, texts):
    seen = []
    build_project(
        tmp_path / "a.kwp", texts, entities=NAMES, progress=lambda *step: seen.append(step)
    ).close()
    assert seen == [
        ("reading", 1, None),
        ("reading", 2, None),
        ("parsing", 2, 2),
        ("saving", 0, None),
        ("saving", 1, 1),
    ]


def test_settings_are_stored(tmp_path, texts):
    with build_project(
        tmp_path / "a.kwp", texts, entities=NAMES, settings={"order": "random"}
    ) as project:
        assert project.settings()["order"] == "random"


def test_the_same_call_gives_the_same_contents(tmp_path, texts):
    dumps = []
    for name in ("a.kwp", "b.kwp"):
        build_project(tmp_path / name, texts, entities=NAMES).close()
        connection = sqlite3.connect(tmp_path / name)
        dumps.append(list(connection.iterdump()))
        connection.close()
    assert dumps[0] == dumps[1]


# Types.


def test_types_are_read_from_toml(tmp_path):
    file = tmp_path / "types.toml"
    file.write_text(
        '[[type]]\nname = "Binds"\nsymmetric = true\n'
        '[[type]]\nname = "Acts"\ndescription = "d"\nroles = ["A", "B"]\n',
        encoding="utf-8",
    )
    assert read_types(file) == [TypeRow("Binds", True), TypeRow("Acts", False, "d", ("A", "B"))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[type]", "not valid TOML"),
        ("type = " + "[" * 20_000, "not valid TOML: nested too deeply"),
        ("a = 1", "tables"),
        ("type = 3", "tables"),
        ("", "tables"),
        ('[[type]]\nname = "A"\ncolor = "red"', "unknown key 'color'"),
        ('[[type]]\nname = "A"\nsymmetric = "yes"', "true or false"),
        ('[[type]]\nname = "A"\nroles = ["x"]', "two names"),
        ('[[type]]\nname = "A"\nroles = [1, 2]', "text"),
        ('[[type]]\nname = "none"', "cannot be the name"),
        ("[[type]]\nname = 3", "text"),
        ("[[type]]", "characters"),
        ('[[type]]\nname = "A"\n[[type]]\nname = "A"', "twice"),
    ],
)
def test_other_files_of_types_are_refused(tmp_path, text, said):
    file = tmp_path / "types.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ProjectError, match=said) as caught:
        read_types(file)
    assert "types.toml" in str(caught.value)
