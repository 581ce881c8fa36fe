"""``kernelwood convert``."""

from __future__ import annotations

import json
import zipfile

import pytest
from click.testing import CliRunner

import kernelwood as kw
from kernelwood.cli import main
from kernelwood.errors import StructureError
from kernelwood.io import FORMATS, fit_to_format, left_out, read, write

TREES = "(S (NP (PRP we)) (VP (VBP go)))\n(S (NP (PRP they)) (VP (VBP stay)))\n"
LINES = (
    "NUM |BT:a| (A(B)) |ET| |BS:text| how many |ES|\nLOC |BT:a| (A(C)) |ET| |BS:text| where |ES|\n"
)


def convert(*arguments, stdin=None):
    return CliRunner().invoke(main, ["convert", *map(str, arguments)], input=stdin)


@pytest.fixture
def trees(tmp_path):
    path = tmp_path / "in.mrg"
    path.write_text(TREES)
    return path


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "in.klp"
    path.write_text(LINES)
    return path


@pytest.fixture
def sentences(tmp_path):
    sentence = kw.Sentence.from_tree(
        kw.Tree.from_brackets("(S (NP (PRP we)) (VP (VBP go)))"),
        dependencies=[(1, "nsubj", 0), (-1, "root", 1)],
    )
    path = tmp_path / "in.jsonl"
    write([kw.Example("s1", views={"sentence": sentence})], path)
    return path


def test_suffixes_tell_the_formats(trees, tmp_path):
    assert convert(trees, tmp_path / "out.jsonl").exit_code == 0
    assert [dict(e.views) for e in read(tmp_path / "out.jsonl")] == [
        dict(e.views) for e in read(trees)
    ]


def test_the_memory_limit_can_be_set(trees, tmp_path):
    trees.write_text(TREES.replace("we", "we " * 200))
    refused = convert(trees, tmp_path / "out.jsonl", "--memory-limit", "10kB")
    assert refused.exit_code == 1
    assert "more than 10,000 bytes of memory" in refused.output
    assert "give --memory-limit SIZE" in refused.output
    assert convert(trees, tmp_path / "out.jsonl", "--memory-limit", "1GB").exit_code == 0


def test_a_memory_limit_is_a_size(trees, tmp_path):
    refused = convert(trees, tmp_path / "out.jsonl", "--memory-limit", "much")
    assert refused.exit_code == 2
    assert "'much' is not a size such as 500MB or 1GB" in refused.output


def test_a_resumable_run_has_the_memory_limit(trees, tmp_path):
    trees.write_text(TREES.replace("we", "we " * 200))
    out = tmp_path / "out.jsonl"
    assert convert(trees, out, "--resume", "--memory-limit", "10kB").exit_code == 1
    assert convert(trees, tmp_path / "other.jsonl", "--resume").exit_code == 0


def test_formats_can_be_given(trees, tmp_path):
    assert convert(trees, tmp_path / "out.txt", "--from", "penn", "--to", "kelp").exit_code == 0
    assert len(read(tmp_path / "out.txt", format="kelp")) == 2


def test_dashes_are_the_standard_streams():
    result = convert("-", "-", "--to", "penn", stdin=LINES)
    assert result.stdout == "(A B)\n(A C)\n"


def test_a_reader_that_has_seen_enough_is_no_error_to_talk_about(trees, monkeypatch):
    def full(*arguments, **options):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("kernelwood.cli.commands.convert.write", full)
    assert convert(trees, "-", "--to", "kelp").stderr == ""


def test_the_summary_goes_to_standard_error(trees, tmp_path):
    result = convert(trees, tmp_path / "out.klp")
    assert (result.stdout, result.stderr) == ("", "2 read, 2 written, 0 skipped\n")


def test_json_has_the_promised_keys(trees, tmp_path):
    result = convert(trees, tmp_path / "out.klp", "--json")
    assert json.loads(result.stdout) == {
        "format": "kelp", "read": 2, "written": 2, "skipped": 0,
        "reasons": {}, "dropped": {}, "remarks": {}, "files": 1, "ignored": [],
    }  # fmt: skip


def test_json_and_the_result_cannot_share_standard_output(trees):
    assert convert(trees, "-", "--to", "kelp", "--json").exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("out.xyz",),
        ("out.klp", "--from", "pen"),
        ("out.klp", "--to", "klp"),
        ("out.klp", "--only", "*.mrg"),
        ("out.klp", "--errors", "collect"),
        ("out.klp", "--view", "path"),
        ("in.mrg",),
        ("-", "--to", "standoff"),
    ],
)
def test_wrong_calls_exit_with_two(trees, arguments, monkeypatch):
    monkeypatch.chdir(trees.parent)
    assert convert("in.mrg", *arguments).exit_code == 2


def test_a_wrong_call_leaves_the_input(trees):
    convert(trees, trees)
    assert trees.read_text() == TREES


def test_a_missing_file_exits_with_one(tmp_path):
    result = convert(tmp_path / "nowhere.mrg", tmp_path / "out.klp")
    assert (result.exit_code, "No such file" in result.stderr) == (1, True)


def test_a_broken_part_exits_with_one_and_writes_nothing(tmp_path):
    (tmp_path / "in.mrg").write_text(TREES + "(S")
    result = convert(tmp_path / "in.mrg", tmp_path / "out.klp")
    assert (result.exit_code, "in.mrg:3:1" in result.stderr) == (1, True)
    assert not (tmp_path / "out.klp").exists()


def test_skipped_parts_are_counted_with_their_reasons(tmp_path):
    (tmp_path / "in.mrg").write_text(TREES + "(S")
    result = convert(tmp_path / "in.mrg", tmp_path / "out.klp", "--errors", "skip")
    assert result.stderr.splitlines() == [
        "2 read, 2 written, 1 skipped",
        "  skipped: 1 × bracket is never closed",
    ]


def test_examples_a_format_cannot_hold_can_be_skipped(tmp_path):
    (tmp_path / "in.mrg").write_text('(S "two words")\n' + TREES)
    result = convert(tmp_path / "in.mrg", tmp_path / "out.klp", "--errors", "skip", "--json")
    report = json.loads(result.stdout)
    assert (report["read"], report["written"], report["skipped"]) == (3, 2, 1)
    assert len(read(tmp_path / "out.klp")) == 2


def test_ids_used_twice_can_be_skipped(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text('{"id": "same", "views": {"text": "x"}}\n')
    result = convert(tmp_path, tmp_path / "out.ndjson", "--errors", "skip", "--json")
    assert json.loads(result.stdout)["written"] == 1


def test_a_file_is_not_replaced_by_nothing(tmp_path, trees):
    (tmp_path / "out.amr").write_text("old")
    result = convert(trees, tmp_path / "out.klp", "--view", "nothing", "--errors", "skip")
    assert (result.exit_code, "no output: all 2 examples were skipped" in result.stderr) == (
        1,
        True,
    )
    assert not (tmp_path / "out.klp").exists()


def test_an_empty_file_becomes_an_empty_file(tmp_path):
    (tmp_path / "in.mrg").write_text("")
    assert convert(tmp_path / "in.mrg", tmp_path / "out.klp").exit_code == 0
    assert (tmp_path / "out.klp").read_text() == ""


def test_archives_are_converted_and_what_is_ignored_is_named(tmp_path):
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        for name in ("train/a.mrg", "test/b.mrg", "train/notes"):
            archive.writestr(name, TREES)
    result = convert(tmp_path / "in.zip", tmp_path / "out.jsonl", "--only", "train/*")
    assert result.stderr.splitlines() == [
        "2 read, 2 written, 0 skipped",
        "  1 file not read: train/notes",
    ]


def test_an_interrupted_run_leaves_nothing(tmp_path, trees, monkeypatch):
    def interrupted(stream):
        yield from stream
        raise KeyboardInterrupt

    monkeypatch.setattr("kernelwood.cli.commands.convert.tracked", interrupted)
    result = convert(trees, tmp_path / "out.klp")
    assert result.exit_code == 130
    assert [path.name for path in tmp_path.iterdir()] == ["in.mrg"]


def test_a_view_of_the_file_can_be_chosen(lines, tmp_path):
    convert(lines, tmp_path / "out.jsonl", "--view", "text")
    assert [dict(e.views) for e in read(tmp_path / "out.jsonl")] == [
        {"text": "how many"},
        {"text": "where"},
    ]


def test_a_view_can_be_made_of_sentences(sentences, tmp_path):
    result = convert(sentences, tmp_path / "out.klp", "--view", "words", "--view", "loct")
    assert result.exit_code == 0, result.stderr
    assert list(read(tmp_path / "out.klp")[0].views) == ["words", "loct"]


def test_a_view_nobody_has_names_the_nearest(lines, tmp_path):
    result = convert(lines, tmp_path / "out.jsonl", "--view", "texts")
    assert (result.exit_code, "'text'" in result.stderr) == (1, True)


@pytest.mark.parametrize("suffix", ["mrg", "conllu", "srl", "klp", "jsonl"])
def test_a_sentence_with_a_tree_fits_many_formats(sentences, tmp_path, suffix):
    result = convert(sentences, tmp_path / f"out.{suffix}")
    assert result.exit_code == 0, result.stderr
    assert len(read(tmp_path / f"out.{suffix}")) == 1


def test_a_tree_becomes_a_sentence(trees, tmp_path):
    assert convert(trees, tmp_path / "out.conllu").exit_code == 0
    assert read(tmp_path / "out.conllu")[0].view("sentence").words == ("we", "go")


GRAPH = kw.Graph({"b": "bind-01"}, [], "b")
TREE = kw.Tree("S", [kw.Tree("we")])
SENTENCE = kw.Sentence.from_words(["we"])


@pytest.mark.parametrize(
    ("format", "views", "problem"),
    [
        ("penn", {"text": "we"}, r"no tree: it has text \(text\)"),
        ("penn", {"sentence": SENTENCE}, "no tree"),
        ("penn", {"a": TREE, "b": TREE}, "several views of the kind Tree: a, b"),
        ("penman", {"sentence": SENTENCE, "tree": TREE}, "no graph"),
        ("conllu", {"graph": GRAPH}, "no sentence"),
        ("semeval", {"tree": TREE}, "no sentence"),
        ("standoff", {"v": (1.0,)}, r"no document: it has v \(vector\)"),
        ("kelp", {"sentence": SENTENCE}, "no view for KeLP"),
        ("kelp", {}, "it has no views"),
    ],
)
def test_what_does_not_fit_says_what_is_there(format, views, problem):
    with pytest.raises(StructureError, match=f"example 'x' has {problem}|{problem}"):
        fit_to_format(kw.Example("x", views=views), format)


@pytest.mark.parametrize(
    ("format", "views", "kept"),
    [
        ("penn", {"tree": TREE, "other": TREE}, ["tree"]),
        ("penn", {"parse": TREE, "text": "we"}, ["tree"]),
        ("penman", {"graph": GRAPH}, ["sentence"]),
        ("penman", {"sentence": SENTENCE.with_parts(amr=GRAPH)}, ["sentence"]),
        ("standoff", {"document": kw.Document("we"), "sentence": SENTENCE}, ["document"]),
        ("standoff", {"sentence": SENTENCE}, ["sentence"]),
        ("kelp", {"sentence": SENTENCE, "text": "we", "v": (1.0,)}, ["text", "v"]),
        ("jsonl", {"sentence": SENTENCE, "text": "we"}, ["sentence", "text"]),
    ],
)
def test_what_fits_is_kept(format, views, kept):
    made = fit_to_format(kw.Example("x", "LABEL", views), format)
    assert (made.label, list(made.views)) == ("LABEL", kept)


# Messages.

PARSE = kw.Tree.from_brackets("(S (NP (PRP we)) (VP (VBP go)))")
ENTITIES = (
    kw.text.Entity("e1", "who", ((0, 2),), "we"),
    kw.text.Entity("e2", "do", ((3, 5),), "go"),
)
ARGUMENTS = (kw.text.Argument("a", "e1"), kw.text.Argument("b", "e2"))
PARSED = kw.Sentence.from_words(["we", "go"], dependencies=[(1, "nsubj", 0), (-1, "root", 1)])
EDGES = [(1, "nsubj", 0), (-1, "root", 1), (0, "ref", 1)]


def an_example(name="a", **views):
    return kw.Example(name, views=views, origin=kw.text.Origin("letters.txt", 7))


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
    assert f"with --view: {names}\n" in result.stderr


def test_views_that_cannot_be_made_are_not_named(file, tmp_path):
    result = convert(file(an_example(sentence=kw.Sentence("we go"))), tmp_path / "out.klp")
    assert (result.exit_code, "--view" in result.stderr) == (1, False)


def test_skipping_is_proposed_only_where_something_would_be_left(file, tmp_path):
    good, bad = an_example("good", tree=PARSE), an_example("bad", text="we")
    proposed = [
        "--errors skip" in convert(file(*examples), tmp_path / "out.mrg").stderr
        for examples in ([good, bad], [bad, good])
    ]
    assert proposed == [True, False]


def test_a_choice_among_views_is_an_option(file, tmp_path):
    result = convert(file(an_example(one=PARSE, two=PARSE)), tmp_path / "out.mrg")
    assert "with --view one for example" in result.stderr


def test_a_view_that_is_misspelled_names_one_that_can_be_made(file, tmp_path):
    result = convert(file(an_example(sentence=PARSED)), tmp_path / "out.klp", "--view", "grtc")
    assert "did you mean 'grct'?" in result.stderr


def test_a_view_of_sentences_needs_a_sentence(file, tmp_path):
    result = convert(file(an_example(text="we")), tmp_path / "out.klp", "--view", "grct")
    assert "no view 'grct', and no sentence to make it from" in result.stderr


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
    assert "b.jsonl:1: the id 'same' occurs twice" in result.stderr


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
    whole = kw.Document(text, [kw.text.Entity("T1", "Protein", ((0, 3),), "Raf")])
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
        ("conllu", an_example(sentence=kw.Sentence.from_tree(PARSE)), ["tree"]),
        ("conllu", an_example(tree=PARSE), ["tree"]),
        ("conllu", an_example(sentence=PARSED.with_parts(dependencies=EDGES)),
         ["dependencies that are not a tree, which became enhanced ones"]),
        ("srl", an_example(tree=PARSE), []),
        ("srl", an_example(sentence=PARSED), ["dependencies"]),
        ("srl", an_example(sentence=kw.Sentence("Go!", [("Go", 0, 2), ("!", 2, 3)])),
         ["the text between words"]),
        ("penn", an_example(tree=PARSE), []),
        ("penn", an_example(sentence=kw.Sentence.from_tree(PARSE, entities=ENTITIES)),
         ["entities"]),
        ("kelp", kw.Example("a", "L", {"sentence": PARSED, "text": "we go"}),
         ["the view sentence"]),
        ("kelp", an_example(sentence=kw.Sentence.from_tree(PARSE)), []),
        ("standoff", an_example(document=kw.Document("we")), []),
        ("standoff",
         an_example(sentence=kw.Sentence("we go", entities=ENTITIES, relations=(
             kw.text.Relation("r1", "x", ARGUMENTS, False),))),
         ["negative relations"]),
        ("penman", an_example(sentence=kw.Sentence("go", amr=kw.Graph({"g": "go-01"}, [], "g"))),
         []),
    ],
)  # fmt: skip
def test_what_has_no_place_is_named(format, example, lost):
    assert left_out(example, format) == lost


def test_what_is_lost_is_reported(file, tmp_path):
    path = file(an_example("a", sentence=PARSED), an_example("b", sentence=PARSED))
    report = json.loads(convert(path, tmp_path / "out.srl", "--json").stdout)
    assert report["remarks"] == {"srl cannot store dependencies": 2}


@pytest.mark.parametrize("edges", [EDGES, [(1, "x", 0), (0, "y", 1)]])
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
    for _ in range(100_000):
        tree = kw.Tree("X", [tree])
    assert fit_to_format(an_example(tree=tree), "conllu").view("sentence").words == ("word",)


def test_a_tree_is_a_text_for_standoff(file, tmp_path):
    assert (
        convert(file(an_example(tree=PARSE)), tmp_path / "out", "--to", "standoff").exit_code == 0
    )
    assert read(tmp_path / "out")[0].view("document").text == "we go"


def test_help_names_the_formats():
    shown = "".join(convert("--help").stdout.split())
    assert "|".join(row.name for row in FORMATS) in shown


def test_an_unset_variable_does_not_convert_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.mrg").write_text("(S (NP we))")
    assert convert("", "out.jsonl").exit_code == 1


# Candidates.

RAF = kw.text.Entity("e1", "protein", ((0, 3),), "Raf")
RAS = kw.text.Entity("e2", "protein", ((10, 13),), "Ras")
MEK = kw.text.Entity("e3", "kinase", ((18, 21),), "Mek")


@pytest.fixture
def pairs(tmp_path):
    sentence = kw.Sentence.from_words(
        ["Raf", "binds", "Ras", "and", "Mek"],
        dependencies=[(1, "nsubj", 0), (1, "dobj", 2)],
        entities=[RAF, RAS, MEK],
        relations=[
            kw.text.Relation(
                "p1", "binds", (kw.text.Argument("", "e2"), kw.text.Argument("", "e1"))
            )
        ],
    )
    path = tmp_path / "in.jsonl"
    kw.write([kw.Example("s1", views={"sentence": sentence})], path)
    return path


def converted(pairs, *options):
    out = pairs.parent / "out.jsonl"
    result = convert(pairs, out, *options)
    assert result.exit_code == 0, result.output
    return kw.read(out)


def test_pairs_are_written_with_their_paths(pairs):
    examples = converted(pairs, "--candidates", "pairs")
    assert [(example.id, example.label) for example in examples] == [
        ("s1.e1-e2", 1),
        ("s1.e1-e3", 0),
        ("s1.e2-e3", 0),
    ]
    assert examples[0].view("path").edges == ("", "nsubj-of", "dobj")


def test_views_types_and_labels_can_be_chosen(pairs):
    options = ["--view", "context", "--view", "loct", "--type", "protein", "--labels", "directed"]
    [example] = converted(pairs, "--candidates", "pairs", *options)
    assert list(example.views) == ["context", "loct"]
    assert example.label == "binds(e2,e1)"


def test_fallbacks_and_dropped_candidates_are_reported(pairs):
    out = pairs.parent / "out.jsonl"
    report = json.loads(convert(pairs, out, "--candidates", "pairs", "--json").output)
    assert (report["read"], report["written"]) == (1, 3)
    assert report["remarks"] == {"path: no path": 2}
    far = convert(pairs, out, "--candidates", "pairs", "--view", "pet", "--view", "path")
    assert far.exit_code == 1
    assert "3 × pet: the sentence has no constituency tree" in far.output


def test_a_file_is_kept_when_all_candidates_are_dropped(pairs):
    out = pairs.parent / "out.jsonl"
    out.write_text("what was there before")
    result = convert(pairs, out, "--candidates", "pairs", "--view", "pet")
    assert (result.exit_code, out.read_text()) == (1, "what was there before")


def test_events_are_written_with_their_walks(pairs):
    trigger = kw.text.Entity("t", "Binding", ((4, 9),), "binds")
    theme = kw.text.Event("E1", "Binding", "t", (kw.text.Argument("Theme", "e2"),))
    [example] = kw.read(pairs)
    sentence = example.view("sentence").with_parts(entities=[RAF, RAS, trigger], events=[theme])
    kw.write([kw.Example("s1", views={"sentence": sentence})], pairs)
    examples = converted(pairs, "--candidates", "events")
    assert [example.id for example in examples if example.label == 1] == ["s1.t(e2)"]
    assert "trigger-path" in examples[0].views


def test_views_of_candidates_need_candidates(pairs):
    result = convert(pairs, pairs.parent / "out.jsonl", "--view", "path")
    assert result.exit_code == 2
    assert "--candidates" in result.output


def test_unknown_views_are_a_wrong_call(pairs):
    result = convert(pairs, pairs.parent / "o.jsonl", "--candidates", "pairs", "--view", "paht")
    assert result.exit_code == 2
    assert "did you mean 'path'" in result.output
