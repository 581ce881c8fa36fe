"""``kernelwood extract``."""

from __future__ import annotations

import errno
import json
import os
import zipfile
from functools import partial

import pytest
from cli.interactions import some_documents
from cli.running import answer, invoke, wrong_data

import kernelwood as kw
from kernelwood.relations import RelationExtractor

TEXT = "Raf binds Ras. Mek sits beside Raf.\n"
TERMS = "Raf\tprotein\tDB:1\nRas\tprotein\nMek\tprotein\n"
STANDOFF = "T1\tprotein 0 3\tRaf\nT2\tprotein 10 13\tRas\n"
CONLLU = """# sent_id = 1
1\tRaf\traf\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tbinds\tbind\tVERB\t_\t_\t0\troot\t_\t_
3\tRas\tras\tNOUN\t_\t_\t2\tdobj\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

# sent_id = 2
1\tMek\tmek\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tsits\tsit\tVERB\t_\t_\t0\troot\t_\t_
3\tbeside\tbeside\tADP\t_\t_\t4\tcase\t_\t_
4\tRaf\traf\tNOUN\t_\t_\t2\tprep_beside\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

"""


run = partial(invoke, "extract")
extracted = partial(answer, "extract")


@pytest.fixture(scope="module")
def learned_model(tmp_path_factory):
    """Return the file of an extractor that finds entities by itself."""
    path = tmp_path_factory.mktemp("model") / "learned.kw"
    learned = RelationExtractor(views="context", entities="learn", random_state=0)
    kw.save(learned.fit(some_documents()), path)
    return path


def test_a_model_that_finds_entities_needs_only_a_text(learned_model, tmp_path):
    (tmp_path / "a.txt").write_text("Raf binds Ras.\n", encoding="utf-8")
    report = extracted(learned_model, tmp_path / "a.txt", "--all")
    assert [[one["text"] for one in row["participants"]] for row in report["predictions"]] == [
        ["Raf", "Ras"]
    ]


def test_a_model_that_finds_entities_keeps_those_of_annotation(learned_model, tmp_path):
    (tmp_path / "a.txt").write_text("Raf binds Ras. Mek sits.\n", encoding="utf-8")
    (tmp_path / "a.ann").write_text("T1\tprotein 0 3\tRaf\nT2\tprotein 4 9\tbinds\n")
    report = extracted(learned_model, tmp_path / "a.txt", "--all")
    assert ids(report) == ["a.s0.T1-T2"]


def test_terms_are_added_to_entities_that_the_model_finds(learned_model, tmp_path):
    (tmp_path / "a.txt").write_text("Raf binds Ras.\n", encoding="utf-8")
    (tmp_path / "t.tsv").write_text("binds\tprotein\n", encoding="utf-8")
    report = extracted(learned_model, tmp_path / "a.txt", "--entities", tmp_path / "t.tsv", "--all")
    assert len(report["predictions"]) == 3


def wrong_usage(result):
    assert result.exit_code == 2, result.stderr
    return " ".join(result.stderr.split())


def ids(report):
    return [one["id"] for one in report["predictions"]]


@pytest.fixture(scope="module")
def extractor():
    """Return an extractor that compares words, so that nothing is parsed."""
    return RelationExtractor(views="context", random_state=0).fit(some_documents())


@pytest.fixture(scope="module")
def model(extractor, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.kw"
    kw.save(extractor, path)
    return path


@pytest.fixture(scope="module")
def parsing_model(tmp_path_factory):
    """Return the file of an extractor that compares dependency paths."""
    path = tmp_path_factory.mktemp("model") / "parsing.kw"
    kw.save(RelationExtractor(views="path", random_state=0).fit(some_documents()), path)
    return path


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.fixture
def terms(tmp_path):
    path = tmp_path / "terms.tsv"
    path.write_text(TERMS, encoding="utf-8")
    return path


# Where texts and entities come from.


def test_what_is_found_is_what_the_library_finds(extractor, model, text, terms):
    found = extractor.extract(TEXT, dictionary=kw.Dictionary.read(terms))
    [one] = extracted(model, text, "--entities", terms)["predictions"]
    assert (one["document"], one["type"], one["probability"]) == (
        "a",
        "binds",
        found[0].probability,
    )


def test_references_of_terms_are_kept(model, text, terms):
    [one] = extracted(model, text, "--entities", terms)["predictions"]
    assert "DB:1" in one["participants"][0]["reference"]


def test_plain_texts_have_no_labels(model, text, terms):
    [one] = extracted(model, text, "--entities", terms)["predictions"]
    assert "label" not in one


def test_annotation_beside_a_text_gives_entities(model, text):
    text.with_suffix(".ann").write_text(STANDOFF)
    report = extracted(model, text)
    assert (ids(report), report["n_entities"]) == (["a.s0.T1-T2"], 2)


def test_terms_are_added_to_annotation(model, text, terms):
    text.with_suffix(".ann").write_text(STANDOFF)
    assert extracted(model, text, "--entities", terms)["n_entities"] == 4


def test_capitals_matter_as_asked(model, terms):
    stdin = "RAF binds RAS."
    counts = [
        extracted(model, "-", "--entities", terms, "--case", case, stdin=stdin)["n_entities"]
        for case in ("smart", "ignore")
    ]
    assert counts == [0, 2]


def test_standard_input_is_a_text(model, terms):
    assert ids(extracted(model, "-", "--entities", terms, stdin=TEXT)) == ["stdin.s0.T1-T2"]


def test_a_text_in_place_of_a_file_is_noticed(model):
    message = wrong_usage(run(model, "Raf binds Ras."))
    assert "there is no file 'Raf binds Ras.'" in message
    assert 'echo "TEXT" | kernelwood extract MODEL -' in message


def test_folders_are_read_with_the_paths_of_their_texts_as_names(model, tmp_path, terms):
    for name in ("x/a", "y/a"):
        (tmp_path / "in" / name).parent.mkdir(parents=True)
        (tmp_path / "in" / f"{name}.txt").write_text(TEXT)
    report = extracted(model, tmp_path / "in", "--entities", terms)
    assert [one["document"] for one in report["predictions"]] == ["x/a", "y/a"]


def test_archives_are_read(model, tmp_path, terms):
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.writestr("a.txt", TEXT)
        archive.writestr("a.ann", STANDOFF)
    assert extracted(model, tmp_path / "in.zip")["n_relations"] == 1


def test_several_texts_are_read_in_order(model, tmp_path, terms):
    paths = [tmp_path / f"{name}.txt" for name in "ba"]
    for path in paths:
        path.write_text(TEXT)
    report = extracted(model, *paths, "--entities", terms)
    assert [one["document"] for one in report["predictions"]] == ["b", "a"]


def test_two_texts_of_one_name_are_refused(model, tmp_path, text, terms):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "a.txt").write_text(TEXT)
    result = run(model, text, tmp_path / "b" / "a.txt", "--entities", terms)
    assert "two texts have the name 'a'" in wrong_data(result)


def test_offsets_are_those_of_the_file(model, tmp_path, terms):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfOld \xce\xb2.\r\n\r\nRaf binds Ras.")
    [one] = extracted(model, tmp_path / "a.txt", "--entities", terms)["predictions"]
    assert [part["spans"] for part in one["participants"]] == [[[10, 13]], [[20, 23]]]


# Formats.


def test_standoff_has_all_entities_and_the_relations(model, text, terms, tmp_path):
    run(model, text, "--entities", terms, "-o", tmp_path / "out.ann")
    [example] = kw.read(tmp_path / "out.ann")
    document = example.view("document")
    assert document.text == TEXT
    assert (len(document.entities), len(document.relations)) == (4, 1)
    assert "probability" in document.attributes[-1].value


def test_texts_without_relations_are_in_the_folder_too(model, tmp_path, terms):
    (tmp_path / "in").mkdir()
    for name, content in (("a", TEXT), ("b", "Nothing here."), ("c", "")):
        (tmp_path / "in" / f"{name}.txt").write_text(content)
    run(model, tmp_path / "in", "--entities", terms, "-o", tmp_path / "out.ann")
    assert sorted(path.name for path in (tmp_path / "out.ann").iterdir()) == [
        "a.ann", "a.txt", "annotation.conf", "b.ann", "b.txt", "c.ann", "c.txt", "visual.conf",
    ]  # fmt: skip


def test_json_lines_have_evidence_on_request(model, text, terms, tmp_path):
    run(model, text, "--entities", terms, "-o", tmp_path / "out.jsonl", "--evidence", 2)
    [line] = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    sides = [case["supports"] for case in json.loads(line)["evidence"]["cases"]]
    assert sides.count(True) == 2 and sides.count(False) <= 2


def test_a_table_shows_relations(model, text, terms):
    shown = run(model, text, "--entities", terms).stdout
    assert "a:0-13 " in shown and "Raf – Ras" in shown and "training case" not in shown


def test_relations_are_shown_with_evidence_on_request(model, text, terms):
    shown = run(model, text, "--entities", terms, "--evidence", 1).stdout
    assert "[Raf] binds [Ras]." in shown and "for binds: 1 training case\n" in shown
    assert "1 relation among 2 candidates in 1 document" in shown


@pytest.mark.parametrize("size", [1, 20])
def test_the_size_of_batches_changes_nothing(model, tmp_path, terms, monkeypatch, size):
    (tmp_path / "in").mkdir()
    for i in range(5):
        (tmp_path / "in" / f"{i}.txt").write_text(TEXT)
    run(model, tmp_path / "in", "--entities", terms, "-o", tmp_path / "whole.jsonl")
    monkeypatch.setattr("kernelwood.relations.prediction_stream._CHARACTERS", size)
    run(model, tmp_path / "in", "--entities", terms, "-o", tmp_path / "parts.jsonl")
    assert (tmp_path / "whole.jsonl").read_bytes() == (tmp_path / "parts.jsonl").read_bytes()


def test_texts_are_judged_as_they_are_read(model, tmp_path, terms, monkeypatch):
    sizes = []
    extract = RelationExtractor.extract

    def watched(self, texts, **options):
        sizes.append(len(texts))
        return extract(self, texts, **options)

    (tmp_path / "in").mkdir()
    for i in range(5):
        (tmp_path / "in" / f"{i}.txt").write_text(TEXT)
    monkeypatch.setattr("kernelwood.relations.prediction_stream._CHARACTERS", 2 * len(TEXT))
    monkeypatch.setattr(RelationExtractor, "extract", watched)
    extracted(model, tmp_path / "in", "--entities", terms)
    assert sizes == [2, 2, 1]


# Parsers.


def test_the_bundled_grammar_parses_by_default(parsing_model, text, terms):
    result = run(parsing_model, text, "--entities", terms)
    assert result.exit_code == 0
    assert "made by biomedical" in result.stderr


def test_given_parses_are_used(parsing_model, text, terms, tmp_path):
    (tmp_path / "a.conllu").write_text(CONLLU)
    options = ("--entities", terms, "--parses", tmp_path / "a.conllu")
    result = run(parsing_model, text, *options, "--json")
    assert result.stderr == ""
    assert ids(json.loads(result.stdout)) == ["a.s0.T1-T2"]


def test_parses_of_several_texts_are_told_by_their_names(parsing_model, tmp_path, terms):
    (tmp_path / "in").mkdir()
    for name in "ab":
        (tmp_path / "in" / f"{name}.txt").write_text(TEXT)
    parses = "".join(f"# newdoc id = {name}\n{CONLLU}" for name in "ab")
    (tmp_path / "all.conllu").write_text(parses.replace("= 2", "= 4", 1).replace("= 1", "= 3", 1))
    options = ("--entities", terms, "--parses", tmp_path / "all.conllu")
    assert extracted(parsing_model, tmp_path / "in", *options)["n_relations"] == 2


def test_parses_may_be_in_a_folder(parsing_model, text, terms, tmp_path):
    (tmp_path / "parses").mkdir()
    (tmp_path / "parses" / "a.conllu").write_text(CONLLU)
    options = ("--entities", terms, "--parses", tmp_path / "parses")
    assert extracted(parsing_model, text, *options)["n_relations"] == 1


@pytest.mark.parametrize("folder", [True, False])
def test_a_missing_parse_is_named(parsing_model, text, terms, tmp_path, folder):
    path = tmp_path / "parses"
    if folder:
        path.mkdir()
    else:
        path.write_text(f"# newdoc id = other\n{CONLLU}")
    message = wrong_data(run(parsing_model, text, "--entities", terms, "--parses", path))
    assert "no parse of 'a'" in message


def test_parses_of_another_text_are_refused(parsing_model, tmp_path, terms):
    (tmp_path / "b.txt").write_text("Raf saw Ras.")
    (tmp_path / "a.conllu").write_text(CONLLU)
    options = ("--entities", terms, "--parses", tmp_path / "a.conllu")
    assert "is not in the document" in wrong_data(run(parsing_model, tmp_path / "b.txt", *options))


class Namer:
    """A parser that takes capitals for names."""

    name, version, entities = "namer", "1", True

    def parse(self, sentences):
        return [
            s.with_parts(entities=[
                (f"N{s.start + t.start}", "name", [(t.start, t.end)], t.text)
                for t in s.tokens if t.text[0].isupper()
            ])
            for s in sentences
        ]  # fmt: skip


def test_names_that_a_parser_finds_are_entities(model, text, tmp_path, monkeypatch):
    monkeypatch.setattr("kernelwood.parsing.load_backend", lambda name, entities: Namer())
    report = extracted(model, text, "--ner", "--parser", "spacy", "-o", tmp_path / "out.ann")
    [example] = kw.read(tmp_path / "out.ann")
    document = example.view("document")
    assert (report["n_entities"], len(document.entities), len(document.relations)) == (4, 4, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ner"], "--ner needs --parser spacy"),
        (["--ner", "--parser", "biomedical"], "does not recognize entities"),
        (["--parser", "spicy"], "did you mean 'spacy'?"),
        (["--parser", "spacy", "--parses", "a.conllu"], "leave out --parser"),
        (["--ner", "--parses", "a.conllu"], "leave out --ner"),
        (["-", "-"], "only one file"),
        (["-o", "out.doc"], "must end in one of .jsonl, .tsv, .ann"),
    ],
)
def test_wrong_usage_is_explained(model, text, options, message):
    assert message in wrong_usage(run(model, text, *options))


# Wrong data.


def test_without_entities_the_ways_to_get_them_are_told(model, text, tmp_path):
    (tmp_path / "out.jsonl").write_text("old")
    message = wrong_data(run(model, text, "-o", tmp_path / "out.jsonl"))
    assert all(way in message for way in ("--entities", ".ann", "--ner"))
    assert (tmp_path / "out.jsonl").read_text() == "old"


def test_a_list_of_which_no_term_occurs_is_named(model, text, terms, tmp_path):
    (tmp_path / "swapped.tsv").write_text("protein\tRaf\nhormone\tRas\n")
    result = run(model, text, "--entities", tmp_path / "swapped.tsv")
    assert (
        "warning: no term of the list (such as 'protein') occurs in the texts; its first column is "
        "the term, its second the type"
    ) in result.stderr
    assert "warning" not in run(model, text, "--entities", terms).stderr


def test_every_written_file_is_named(model, text, terms, tmp_path):
    names = [tmp_path / name for name in ("a.tsv", "r.html", "f.tsv")]
    options = (
        f"{flag}={name}" for flag, name in zip(("--out", "--report", "--facts"), names, strict=True)
    )
    shown = run(model, text, "--entities", terms, *options).stderr.splitlines()
    assert [line.rpartition(" ")[2] for line in shown[-3:]] == [str(names[n]) for n in (0, 2, 1)]


def test_texts_of_a_report_have_their_entities(model, tmp_path, terms):
    (tmp_path / "a.txt").write_text("Raf is a kinase.\n")
    out = tmp_path / "r.html"
    assert run(model, tmp_path / "a.txt", "--entities", terms, "--report", out).exit_code == 0
    assert ">Raf</mark>" in out.read_text()


def test_texts_that_begin_with_a_bracket_are_read(model, tmp_path, terms):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("( Text ) Raf binds Ras.")
    (tmp_path / "in" / "b.txt").write_text("(-)-Raf binds Ras.")
    found = extracted(model, tmp_path / "in", "--entities", terms, "--all")
    assert [row["document"] for row in found["predictions"]] == ["a", "b"]


def test_line_ends_are_one_blank_in_the_table(model, tmp_path, terms):
    (tmp_path / "a.txt").write_bytes(b"Raf\r\nbinds Ras.\r\n")
    assert "Raf binds Ras." in run(model, tmp_path / "a.txt", "--entities", terms, "--all").stdout


def test_terms_that_are_not_in_the_text_are_no_error(model, text, tmp_path):
    (tmp_path / "terms.tsv").write_text("Xyz\tprotein\n")
    assert extracted(model, text, "--entities", tmp_path / "terms.tsv")["n_relations"] == 0


def test_a_bad_line_of_terms_is_named(model, text, tmp_path):
    (tmp_path / "terms.tsv").write_text("Raf\tprotein\nRas\n")
    message = wrong_data(run(model, text, "--entities", tmp_path / "terms.tsv"))
    assert "terms.tsv:2:1: expected 2 or 3 columns" in message


@pytest.mark.parametrize("content", ["", " \n\n "])
def test_an_empty_text_has_no_relations(model, tmp_path, terms, content):
    (tmp_path / "a.txt").write_text(content)
    assert extracted(model, tmp_path / "a.txt", "--entities", terms)["n_candidates"] == 0


def test_a_long_single_line_is_read(model, tmp_path, terms):
    (tmp_path / "a.txt").write_text("Raf binds Ras. " * 20 + "Then " + f"{'in' * 25} " * 105_000)
    report = extracted(model, tmp_path / "a.txt", "--entities", terms)
    assert report["n_relations"] == 20


def test_a_missing_text_is_named(model, tmp_path, terms):
    message = wrong_data(run(model, tmp_path / "none.txt", "--entities", terms))
    assert "none.txt: No such file" in message


def test_a_text_that_is_not_utf8_is_refused_or_skipped(model, text, tmp_path, terms):
    (tmp_path / "bad.txt").write_bytes(b"Raf \xff Ras")
    options = (text, tmp_path / "bad.txt", "--entities", terms)
    assert "bad.txt:1" in wrong_data(run(model, *options))
    report = extracted(model, *options, "--errors", "skip")
    assert (report["n_documents"], sum(report["skipped"].values())) == (1, 1)


def test_entities_outside_the_text_are_refused_with_their_line(model, text):
    text.with_suffix(".ann").write_text(f"{STANDOFF}T3\tprotein 990 993\tMek\n")
    assert "a.ann:3" in wrong_data(run(model, text))


def test_overlapping_entities_are_judged(model, text):
    text.with_suffix(".ann").write_text(f"{STANDOFF}T3\tprotein 0 9\tRaf binds\n")
    assert extracted(model, text)["n_candidates"] == 3


def test_types_that_were_not_seen_in_training_are_judged(model, text, tmp_path):
    (tmp_path / "terms.tsv").write_text("Raf\tplanet\nRas\tplanet\n")
    assert extracted(model, text, "--entities", tmp_path / "terms.tsv")["n_candidates"] == 1


@pytest.mark.parametrize("name", ["out.jsonl", "out.tsv", "out.ann"])
def test_a_full_disk_leaves_nothing_behind(model, text, terms, tmp_path, monkeypatch, name):
    def full(number):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    (tmp_path / "new").mkdir()
    result = run(model, text, "--entities", terms, "-o", tmp_path / "new" / name)
    assert "No space left" in wrong_data(result)
    assert list((tmp_path / "new").iterdir()) == []


def test_an_interruption_leaves_nothing_behind(model, text, terms, tmp_path, monkeypatch):
    def interrupted(self, texts, **options):
        raise KeyboardInterrupt

    (tmp_path / "new").mkdir()
    monkeypatch.setattr(RelationExtractor, "extract", interrupted)
    result = run(model, text, "--entities", terms, "-o", tmp_path / "new" / "out.ann")
    assert (result.exit_code, list((tmp_path / "new").iterdir())) == (130, [])
