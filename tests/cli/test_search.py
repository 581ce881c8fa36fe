"""``kernelwood search``."""

from __future__ import annotations

import json
from functools import partial

import pytest
from cli.questions import TEXTS, an_example
from cli.running import answer, invoke, wrong_data

import kernelwood as kw
from kernelwood.search import SentenceIndex

CODES = ("--by", "codes")  # which are made in no time
CONLLU = """# sent_id = a
# text = Cats chase mice
1\tCats\tcat\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
3\tmice\tmouse\tNOUN\t_\t_\t2\tobj\t_\t_

# sent_id = b
# text = Dogs chase cats
1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\t_

# sent_id = c
# text = It rains
1\tIt\tit\tPRON\t_\t_\t2\tnsubj\t_\t_
2\trains\train\tVERB\t_\t_\t0\troot\t_\t_

"""


run = partial(invoke, "search")
found = partial(answer, "search")


def ids(report):
    return [[match["id"] for match in query["matches"]] for query in report["queries"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("search")


@pytest.fixture(scope="module")
def queries(folder):
    asked = ["who sang the lake", "where is the song of Rome"]
    kw.write([an_example(f"q{i}", text) for i, text in enumerate(asked)], folder / "q.jsonl")
    return folder / "q.jsonl"


@pytest.fixture(scope="module")
def index(corpus, folder):
    path = folder / "index.kw"
    assert run(corpus, *CODES, "--save", path).exit_code == 0
    return path


# What is found.


@pytest.mark.parametrize("by", ["vectors", "codes"])
def test_what_is_found_is_what_the_kernel_says(corpus, queries, examples, by):
    report = found(corpus, queries, "-k", 3, "--by", by)
    kernel = kw.OnView("words", kw.SubsequenceKernel())
    nearest, similarities = kernel.neighbors(kw.read(queries), examples, 3)
    for row, expected in zip(report["queries"], similarities, strict=True):
        assert [m["similarity"] for m in row["matches"]] == pytest.approx(expected.tolist())
    assert [row[0] for row in ids(report)] == [f"s{row[0]}" for row in nearest.tolist()]


def test_vectors_are_the_default(corpus, queries):
    assert found(corpus, queries)["by"] == "vectors"


def test_a_saved_index_gives_the_same(corpus, queries, index):
    one, two = found(corpus, queries, *CODES), found(index, queries)
    assert {**one, "seconds": 0} == {**two, "seconds": 0}


def test_the_same_seed_gives_the_same_bytes(corpus, tmp_path):
    for name, jobs in (("one.kw", 1), ("two.kw", 2)):
        found(corpus, *CODES, "--seed", 3, "--save", tmp_path / name, "--jobs", jobs)
    assert (tmp_path / "one.kw").read_bytes() == (tmp_path / "two.kw").read_bytes()


def test_an_example_of_the_index_does_not_find_itself(index):
    report = found(index, "--id", "s0", "--id", "s9", "-k", 2)
    assert [row["id"] for row in report["queries"]] == ["s0", "s9"]
    assert all(len(row) == 2 for row in ids(report))
    assert "s0" not in ids(report)[0] and "s9" not in ids(report)[1]


def test_ids_and_queries_go_together(index, queries):
    report = found(index, queries, "--id", "s0", "-k", 2)
    assert [(q["id"], len(q["matches"])) for q in report["queries"]] == [
        ("s0", 2), ("q0", 2), ("q1", 2),
    ]  # fmt: skip


def test_more_than_there_is_cannot_be_found(index, queries):
    assert [len(row) for row in ids(found(index, queries, "-k", 99))] == [10, 10]


def test_what_is_shared_is_told(index, queries):
    [first, _] = found(index, queries, "-k", 1, "--explain")["queries"]
    assert "the" in first["matches"][0]["fragments"][0]["text"]


def test_without_a_second_look_similarities_are_estimates(index, queries):
    exact = [
        found(index, queries, "-k", 1, *options)["queries"][0]["matches"][0]["exact"]
        for options in ((), ("--rerank", 0))
    ]
    assert exact == [True, False]


def test_an_index_grows(index, file, tmp_path):
    more = file(an_example("new", "who sang the lake"))
    report = found(index, "--add", more, "--save", tmp_path / "new.kw", "--id", "new", "-k", 1)
    assert report["n_examples"] == 11
    assert found(tmp_path / "new.kw", "--id", "s4", "-k", 10)["n_examples"] == 11


def test_an_index_can_be_written_back(index, file, tmp_path):
    path = tmp_path / "index.kw"
    path.write_bytes(index.read_bytes())
    found(path, "--add", file(an_example("new", "who sang")), "--save", path)
    assert len(kw.load(path)) == 11


def test_duplicates_are_listed(file):
    texts = ["a b c", "x y", "a b c", "a b d"]
    path = file(*(an_example(f"e{i}", text) for i, text in enumerate(texts)))
    report = found(path, *CODES, "--duplicates", "0.99")["duplicates"]
    assert [pair["ids"] for pair in report["pairs"]] == [["e0", "e2"]]
    assert report["groups"] == [["e0", "e2"]]


def test_duplicates_of_many_are_sought_among_neighbors(corpus, monkeypatch):
    options = (corpus, *CODES, "--duplicates", "0.5")
    exact = found(*options)["duplicates"]
    monkeypatch.setattr("kernelwood.cli.commands.search._ALL_PAIRS", 5)
    some = found(*options)["duplicates"]
    assert (exact["all_pairs"], some["all_pairs"]) == (True, False)
    assert some["pairs"] == exact["pairs"]


def test_sentences_are_found_by_their_dependencies(tmp_path):
    (tmp_path / "in.conllu").write_text(CONLLU)
    report = found(tmp_path / "in.conllu", *CODES, "--id", "a", "-k", 1)
    assert report["kernel"] == "OnView('lct', PartialTreeKernel())"
    [query] = report["queries"]
    assert (query["text"], query["matches"][0]["text"]) == ("Cats chase mice", "Dogs chase cats")


def test_queries_may_be_in_another_format(tmp_path, index):
    (tmp_path / "queries").write_text(CONLLU)
    report = found(index, tmp_path / "queries", "--queries-from", "conllu", "-k", 1)
    assert [query["id"] for query in report["queries"]] == ["a", "b", "c"]


def test_an_index_of_sentences_made_elsewhere_is_searched(tmp_path):
    (tmp_path / "in.conllu").write_text(CONLLU)
    sentences = [example.view("sentence") for example in kw.read(tmp_path / "in.conllu")]
    made = SentenceIndex(view="lct", by="codes", random_state=0).fit(sentences)
    kw.save(made, tmp_path / "index.kw")
    report = found(tmp_path / "index.kw", tmp_path / "in.conllu", "--id", "1", "-k", 1)
    assert ids(report) == [["0"], ["0"], ["1"], ["2"]]


def test_an_index_of_structures_made_elsewhere_is_searched(tmp_path, examples, queries):
    words = [example.view("words") for example in examples]
    made = SentenceIndex(kw.SubsequenceKernel(), by="codes", random_state=0).fit(words)
    kw.save(made, tmp_path / "index.kw")
    assert [row[0] for row in ids(found(tmp_path / "index.kw", queries))] == ["3", "7"]


def test_standard_input_is_read(index, queries):
    options = (index, "-", "--from", "jsonl", "-k", 1, "--json")
    report = json.loads(run(*options, stdin=queries.read_text()).stdout)
    assert [query["id"] for query in report["queries"]] == ["q0", "q1"]


# What is shown.


def test_json_has_the_promised_keys(index, queries):
    report = found(index, queries, "--explain")
    assert set(report) == {
        "kernel", "view", "by", "n_examples", "queries", "duplicates", "seconds",
    }  # fmt: skip
    assert set(report["queries"][0]["matches"][0]) == {
        "id", "similarity", "exact", "text", "fragments",
    }  # fmt: skip


def test_the_table_tells_similarities_ids_and_texts(index):
    lines = run(index, "--id", "s0", "-k", 1).stdout.splitlines()
    assert lines[0] == "s0  who wrote the song"
    similarity, name, *text = lines[2].split()
    assert 0 < float(similarity) < 1
    assert TEXTS[int(name[1:])] == " ".join(text)


def test_the_table_tells_what_is_shared(index):
    assert "shares who … the" in run(index, "--id", "s0", "-k", 9, "--explain").stdout


def test_the_table_tells_duplicates(file):
    path = file(*(an_example(f"e{i}", "a b c") for i in range(3)), an_example("x", "y z"))
    shown = run(path, *CODES, "--duplicates", "0.9").stdout
    assert shown.endswith("2 pairs in 1 group\n")


def test_making_an_index_tells_its_size(corpus, tmp_path):
    result = run(corpus, *CODES, "--save", tmp_path / "i.kw")
    assert result.stdout == "10 examples in the index\n"
    assert "OnView('words'" in result.stderr


# What goes wrong.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "no task is given"),
        (("--id", "s0", "-k", 0), "-k"),
        (("--id", "s0", "--by", "magic"), "codes"),
        (("--duplicates", "0"), "--duplicates"),
        (("--save", "."), "folder"),
        (("--id", "s0", "--kernel", "subtree"), "contains sequences"),
    ],
)
def test_wrong_usage_is_told(corpus, options, message):
    result = run(corpus, *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    "option", [("--by", "codes"), ("--decay", 0.5), ("--landmarks", 5), ("--view", "tree")]
)
def test_an_index_is_not_made_again(index, queries, option):
    result = run(index, queries, *option)
    assert (result.exit_code, f"leave out {option[0]}" in result.stderr) == (2, True)


def test_the_corpus_is_not_overwritten(corpus):
    assert run(corpus, "--save", corpus).exit_code == 2


def test_only_one_can_be_standard_input():
    assert run("-", "-", "--from", "jsonl").exit_code == 2


@pytest.mark.parametrize("name", ["nix.jsonl", "nix.kw"])
def test_a_missing_file_is_named(tmp_path, name):
    assert name in wrong_data(run(tmp_path / name, "--id", "a"))


def test_missing_queries_are_named(index, tmp_path):
    assert "nix.jsonl" in wrong_data(run(index, tmp_path / "nix.jsonl"))


def test_a_missing_folder_is_told_before_the_work(tmp_path):
    result = run(tmp_path / "nix.jsonl", "--save", tmp_path / "nowhere" / "i.kw")
    assert "nowhere" in wrong_data(result)


def test_what_is_no_index_is_told(tmp_path):
    kw.save(kw.SubsequenceKernel(), tmp_path / "k.kw")
    assert "contains a SubsequenceKernel" in wrong_data(run(tmp_path / "k.kw", "--id", "a"))


def test_a_file_that_is_no_model_is_told(tmp_path):
    (tmp_path / "i.kw").write_text("my notes")
    assert "i.kw" in wrong_data(run(tmp_path / "i.kw", "--id", "a"))


def test_an_unknown_id_is_told(index):
    assert "no example 's00'; did you mean 's0'?" in wrong_data(run(index, "--id", "s00"))


def test_an_empty_corpus_is_told(tmp_path):
    (tmp_path / "in.jsonl").write_text("")
    assert "no examples" in wrong_data(run(tmp_path / "in.jsonl", "--duplicates", "0.9"))


def test_queries_without_the_view_are_told(index, file):
    path = file(kw.Example("a", views={"tree": kw.Tree.from_brackets("(S a)")}), name="q.jsonl")
    assert "no view 'words'" in wrong_data(run(index, path))


def test_examples_without_views_are_told(file):
    path = file(kw.Example("a", views={"text": "we go"}))
    assert "--view" in wrong_data(run(path, "--id", "a"))


# Sentences.


@pytest.fixture(scope="module")
def parsed(tmp_path_factory):
    """Return a corpus of sentences that the bundled parser has parsed."""
    path = tmp_path_factory.mktemp("parsed") / "in.jsonl"
    texts = ["Raf binds Ras.", "Mek was activated by Raf in all cells.", "We thank our colleagues."]
    sentences = kw.parsing.load_backend().parse([kw.Sentence(text) for text in texts])
    kw.write([kw.Example(f"s{i}", views={"sentence": s}) for i, s in enumerate(sentences)], path)
    return path


@pytest.mark.parametrize("view", ["words", "tree", "lct"])
def test_a_sentence_is_parsed_and_searched(parsed, view):
    report = answer("search", parsed, "Raf binds Ras.", "--view", view)
    [query] = report["queries"]
    assert (query["id"], query["text"]) == ("sentence", "Raf binds Ras.")
    assert query["matches"][0]["id"] == "s0"
    assert query["matches"][0]["similarity"] == pytest.approx(1)


def test_an_index_is_searched_by_a_sentence(parsed, tmp_path):
    answer("search", parsed, "--view", "words", "--save", tmp_path / "index.kw")
    report = answer("search", tmp_path / "index.kw", "Raf binds Erk.", "-k", 1)
    assert [match["id"] for match in report["queries"][0]["matches"]] == ["s0"]


def test_each_sentence_of_a_text_is_a_query(parsed):
    report = answer("search", parsed, "Raf binds Ras. We thank our colleagues.", "--view", "words")
    found = [(query["id"], query["matches"][0]["id"]) for query in report["queries"]]
    assert found == [("sentence 1", "s0"), ("sentence 2", "s2")]


@pytest.mark.parametrize("name", ["my corpus.conllu", "my corpus.jsonl.gz", "corpus"])
def test_a_missing_file_is_no_sentence(parsed, name):
    assert f"{name}: No such file" in wrong_data(run(parsed, name, "--view", "words"))


def test_a_view_that_a_sentence_lacks_is_told(file):
    tree = kw.Tree.from_brackets("(S (NP we) (VP go))")
    corpus = file(*(kw.Example(f"s{i}", views={"mine": tree}) for i in range(3)))
    message = wrong_data(run(corpus, "--json", "we go home", "--view", "mine"))
    assert (
        "the view 'mine', which cannot be made from a sentence (views of sentences: words"
        in message
    )


def test_the_parser_of_sentences_is_checked_first(parsed):
    result = run(parsed, "Raf binds Ras.", "--parser", "spicy")
    assert result.exit_code == 2 and "did you mean 'spacy'?" in result.stderr
