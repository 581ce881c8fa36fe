"""What ``kernelwood convert`` says when something does not fit, and what it reports as lost."""

from __future__ import annotations

import json
import signal
import sys
import threading
from subprocess import PIPE

import pytest
from click.testing import CliRunner
from processes import start_python, stop, wait_until
from sizes import DEPTH

import kernelwood as kw
from kernelwood.cli import main
from kernelwood.cli.corpus import orderly_end
from kernelwood.cli.messages import in_options
from kernelwood.errors import StructureError
from kernelwood.io import fit_to_format, left_out, read, write

TREE = kw.Tree.from_brackets("(S (NP (PRP we)) (VP (VBP go)))")
ENTITIES = (kw.Entity("e1", "who", ((0, 2),), "we"), kw.Entity("e2", "do", ((3, 5),), "go"))
ARGUMENTS = (kw.Argument("a", "e1"), kw.Argument("b", "e2"))
PARSED = kw.Sentence.from_words(["we", "go"], dependencies=[(1, "nsubj", 0), (-1, "root", 1)])
GRAPH = [(1, "nsubj", 0), (-1, "root", 1), (0, "ref", 1)]


def convert(*arguments):
    return CliRunner().invoke(main, ["convert", *map(str, arguments)])


@pytest.fixture
def file(tmp_path):
    def make(*examples):
        write(examples, tmp_path / "in.jsonl")
        return tmp_path / "in.jsonl"

    return make


def an_example(name="a", **views):
    return kw.Example(name, views=views, origin=kw.Origin("letters.txt", 7))


def test_an_example_that_does_not_fit_says_where_it_is_from(file, tmp_path):
    result = convert(file(an_example(text="we go")), tmp_path / "out.mrg")
    assert "letters.txt:7: example 'a' has no tree: it has text (text)" in result.stderr


def test_so_does_one_that_the_writer_refuses(file, tmp_path):
    result = convert(file(an_example(tree=kw.Tree("two words"))), tmp_path / "out.klp")
    assert "letters.txt:7: " in result.stderr


@pytest.mark.parametrize(
    ("suffix", "names"),
    [("mrg", "grct, lct, loct, cgrct, clct"), ("klp", "words, grct, lct, loct, cgrct, clct")],
)
def test_views_that_can_be_made_are_named(file, tmp_path, suffix, names):
    result = convert(file(an_example(sentence=PARSED)), tmp_path / f"out.{suffix}")
    assert f"with --view NAME: {names}\n" in result.stderr


def test_views_that_cannot_be_made_are_not_named(file, tmp_path):
    result = convert(file(an_example(sentence=kw.Sentence("we go"))), tmp_path / "out.klp")
    assert (result.exit_code, "--view" in result.stderr) == (1, False)


def test_skipping_is_proposed_only_where_something_would_be_left(file, tmp_path):
    good, bad = an_example("good", tree=TREE), an_example("bad", text="we")
    proposed = [
        "--errors skip" in convert(file(*examples), tmp_path / "out.mrg").stderr
        for examples in ([good, bad], [bad, good])
    ]
    assert proposed == [True, False]


def test_a_choice_among_views_is_an_option(file, tmp_path):
    result = convert(file(an_example(one=TREE, two=TREE)), tmp_path / "out.mrg")
    assert "with --view one for example" in result.stderr


def test_a_view_that_is_misspelled_names_one_that_can_be_made(file, tmp_path):
    result = convert(file(an_example(sentence=PARSED)), tmp_path / "out.klp", "--view", "grtc")
    assert "did you mean 'grct'?" in result.stderr


def test_a_view_of_sentences_needs_a_sentence(file, tmp_path):
    result = convert(file(an_example(text="we")), tmp_path / "out.klp", "--view", "grct")
    assert "no view 'grct', and no sentence to make it of" in result.stderr


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("cannot tell; give format= (penn)", "cannot tell; give --to (penn)"),
        ("format='penn' reads it", "--from penn reads it"),
        ('keep it with errors="skip"', "keep it with --errors skip"),
        ("fits only='*.mrg'; it", "fits --only '*.mrg'; it"),
        ("choose one with view=...", "choose one with --view NAME"),
        ("give limits=Limits(ratio=...)", "unpack it yourself first"),
        ("give limits=Limits(line=...)", "give limits=Limits(line=...)"),
    ],
)
def test_messages_speak_of_options(message, shown):
    assert in_options(message) == shown


def test_the_lines_of_a_file_are_quoted_as_they_are(tmp_path):
    (tmp_path / "in.mrg").write_text("(S (NP format=...)))")
    result = convert(tmp_path / "in.mrg", tmp_path / "out.klp")
    assert "(S (NP format=...)))" in result.stderr


@pytest.fixture
def alike(tmp_path):
    folder = tmp_path / "alike"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.jsonl").write_text('{"id": "same", "views": {"text": "x"}}\n')
    return folder


def test_ids_used_twice_lead_to_the_option_that_helps(alike, tmp_path):
    result = convert(alike, tmp_path / "out.jsonl")
    assert (result.exit_code, "--qualify-ids" in result.stderr) == (1, True)
    assert "b.jsonl:1: the id 'same' was used before" in result.stderr


def test_qualified_ids_are_unique(alike, tmp_path):
    assert convert(alike, tmp_path / "out.jsonl", "--qualify-ids").exit_code == 0
    assert [example.id for example in read(tmp_path / "out.jsonl")] == ["a:same", "b:same"]


def test_formats_that_do_not_check_ids_are_protected_too(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.srl").write_text("# sent_id = same\n0\twe\tPRP\t*\t-\t-\n\n")
    assert convert(folder, tmp_path / "out.srl").exit_code == 1


@pytest.fixture
def document(tmp_path):
    text = "Raf binds Ras. It was seen."
    whole = kw.Document(text, [kw.Entity("T1", "Protein", ((0, 3),), "Raf")])
    write([kw.Example("d", views={"document": whole})], tmp_path / "in.jsonl")
    return tmp_path / "in.jsonl"


def test_documents_can_be_cut_into_sentences(document, tmp_path):
    assert convert(document, tmp_path / "out.conllu", "--sentences").exit_code == 0
    assert [
        (example.id, example.view("sentence").text) for example in read(tmp_path / "out.conllu")
    ] == [("d.s0", "Raf binds Ras."), ("d.s1", "It was seen.")]


def test_sentences_of_documents_keep_their_annotation(document, tmp_path):
    convert(document, tmp_path / "out.jsonl", "--sentences")
    assert read(tmp_path / "out.jsonl")[0].view("sentence").entities[0].text == "Raf"


def test_views_are_made_of_the_sentences_of_documents(document, tmp_path):
    result = convert(document, tmp_path / "out.klp", "--sentences", "--view", "words")
    assert (result.exit_code, len(read(tmp_path / "out.klp"))) == (0, 2)


def test_documents_that_do_not_fit_lead_to_that_option(document, tmp_path):
    assert "--sentences" in convert(document, tmp_path / "out.conllu").stderr


def test_cutting_leaves_sentences_alone(file, tmp_path):
    convert(file(an_example(sentence=PARSED)), tmp_path / "out.conllu", "--sentences")
    assert [example.id for example in read(tmp_path / "out.conllu")] == ["a"]


@pytest.mark.parametrize(
    ("format", "example", "lost"),
    [
        ("jsonl", kw.Example("a", "L", {"sentence": PARSED}), []),
        ("conllu", kw.Example("a", "L", {"sentence": PARSED}), ["labels"]),
        ("conllu", an_example(sentence=PARSED, other=PARSED.with_parts()), ["the view other"]),
        ("conllu", an_example(sentence=kw.Sentence.from_tree(TREE)), ["tree"]),
        ("conllu", an_example(tree=TREE), ["tree"]),
        ("conllu", an_example(sentence=PARSED.with_parts(dependencies=GRAPH)),
         ["dependencies that are no tree, which became enhanced ones"]),
        ("srl", an_example(tree=TREE), []),
        ("srl", an_example(sentence=PARSED), ["dependencies"]),
        ("srl", an_example(sentence=kw.Sentence("Go!", [("Go", 0, 2), ("!", 2, 3)])),
         ["the text between words"]),
        ("penn", an_example(tree=TREE), []),
        ("penn", an_example(sentence=kw.Sentence.from_tree(TREE, entities=ENTITIES)),
         ["entities"]),
        ("kelp", kw.Example("a", "L", {"sentence": PARSED, "text": "we go"}),
         ["the view sentence"]),
        ("kelp", an_example(sentence=kw.Sentence.from_tree(TREE)), []),
        ("standoff", an_example(document=kw.Document("we")), []),
        ("standoff",
         an_example(sentence=kw.Sentence("we go", entities=ENTITIES, relations=(
             kw.Relation("r1", "x", ARGUMENTS, False),))),
         ["relations that do not hold"]),
        ("penman", an_example(sentence=kw.Sentence("go", amr=kw.Graph({"g": "go-01"}, [], "g"))),
         []),
    ],
)  # fmt: skip
def test_what_has_no_place_is_named(format, example, lost):
    assert left_out(example, format) == lost


def test_what_is_lost_is_reported(file, tmp_path):
    path = file(an_example("a", sentence=PARSED), an_example("b", sentence=PARSED))
    report = json.loads(convert(path, tmp_path / "out.srl", "--json").stdout)
    assert report["remarks"] == {"srl has no place for dependencies": 2}


@pytest.mark.parametrize("edges", [GRAPH, [(1, "x", 0), (0, "y", 1)]])
def test_dependencies_that_are_no_tree_are_written_as_enhanced_ones(edges):
    sentence = kw.Sentence.from_words(["we", "go"], dependencies=edges)
    made = fit_to_format(an_example(sentence=sentence), "conllu").view("sentence")
    assert (made.dependencies, made.enhanced) == ((), sentence.dependencies)


def test_dependencies_that_are_a_tree_stay_what_they_are():
    assert fit_to_format(an_example(sentence=PARSED), "conllu").view("sentence") == PARSED


@pytest.mark.parametrize("format", ["conllu", "srl", "standoff"])
def test_a_tree_that_is_not_over_words_is_no_sentence(format):
    tree = kw.Tree.from_brackets("(go (we POS##PRP SYNT##nsubj) POS##VB)")
    with pytest.raises(StructureError, match="not one over words: 'POS##VB' stands beside"):
        fit_to_format(an_example(tree=tree), format)


def test_a_deep_tree_over_words_is_a_sentence():
    tree = kw.Tree("word")
    for _ in range(DEPTH):
        tree = kw.Tree("X", [tree])
    assert fit_to_format(an_example(tree=tree), "conllu").view("sentence").words == ("word",)


def test_a_tree_is_a_text_for_standoff(file, tmp_path):
    assert convert(file(an_example(tree=TREE)), tmp_path / "out", "--to", "standoff").exit_code == 0
    assert read(tmp_path / "out")[0].view("document").text == "we go"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
def test_a_request_to_end_leaves_nothing_half_written(tmp_path):
    command = ["-m", "kernelwood", "convert", "-", tmp_path / "out.jsonl", "--from", "penn"]
    process = start_python(*command, stdin=PIPE)
    process.stdin.write("(S (NP we) (VP go))\n" * 10_000)
    process.stdin.flush()
    wait_until(lambda: any(tmp_path.iterdir()), process)
    assert stop(process, signal.SIGTERM).returncode == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def test_signals_are_as_before_afterwards(file, tmp_path):
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        convert(file(an_example(tree=TREE)), tmp_path / "out.mrg")
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_other_threads_leave_signals_alone():
    failures = []

    def run():
        try:
            with orderly_end():
                pass
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert failures == []


def test_help_names_the_formats():
    shown = " ".join(convert("--help").stdout.split())
    assert "penn, conllu, srl, penman, ppi, semeval, standoff, kelp, jsonl" in shown


def test_an_unset_variable_does_not_convert_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.mrg").write_text("(S (NP we))")
    assert convert("", "out.jsonl").exit_code == 1
