"""``kernelwood inspect``."""

from __future__ import annotations

import json
import re
import warnings
import zipfile

import pytest
from cli.interactions import a_sentence, some_documents
from cli.running import wrong_data
from click.testing import CliRunner

import kernelwood as kw
from kernelwood.cli import main
from kernelwood.relations import RelationExtractor


def run(*arguments):
    return CliRunner().invoke(main, ["inspect", *map(str, arguments)])


def inspected(path):
    result = run(path, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture
def saved(tmp_path):
    """Save a model, and return its file."""

    def save(model, name="model.kw"):
        kw.save(model, tmp_path / name)
        return tmp_path / name

    return save


@pytest.fixture(scope="module")
def extractor():
    made = RelationExtractor(license="CC0", description="bonds", random_state=0)
    return made.fit(some_documents())


# Models of all kinds.


def test_a_kernel_tells_its_parameters(saved):
    report = inspected(saved(kw.SubsetTreeKernel(decay=0.25)))
    assert (report["kind"], report["model"]) == ("kernel", "subset-tree")
    assert report["parameters"]["decay"] == 0.25


def test_the_version_that_wrote_the_file_is_told(saved):
    assert inspected(saved(kw.SubsetTreeKernel()))["kernelwood"] == kw.__version__


def test_parts_are_named_where_they_are_used(saved):
    report = inspected(saved(kw.OnView("path", kw.SubsequenceKernel(decay=0.5))))
    assert report["parameters"] == {"name": "path", "kernel": "part 0"}
    assert report["parts"][0]["parameters"]["decay"] == 0.5


def test_sizes_are_those_of_the_members(saved):
    path = saved(kw.batch([kw.Sequence(["a", "b"]), kw.Sequence(["c"])]))
    with zipfile.ZipFile(path) as archive:
        sizes = {re.sub(r"\.\w+$", "", i.filename): i.file_size for i in archive.infolist()}
    report = inspected(path)
    assert report["contents"] == {name: sizes[name] for name in report["contents"]}
    assert report["contents"] and report["size"] == path.stat().st_size


def test_an_embedder_is_told(saved):
    words = [kw.Sequence(list(text)) for text in ("abc", "abd", "xyz")]
    embedder = kw.NystromEmbedder(kw.SubsequenceKernel(), n_landmarks=2, random_state=0)
    report = inspected(saved(embedder.fit(words)))
    assert report["model"] == "nystrom-embedder"
    assert report["parameters"]["n_landmarks"] == 2


def test_a_parser_is_told(saved):
    tree = kw.Tree.from_brackets("(S (NP (NN we)) (VP (VB go)))")
    assert inspected(saved(kw.ForestParser().fit([tree])))["kind"] == "parser"


def test_the_table_tells_what_it_is(saved):
    lines = run(saved(0.5 * kw.SubtreeKernel(decay=0.125))).stdout.splitlines()
    assert lines[0].startswith(f"scaled (kernel), saved by kernelwood {kw.__version__}, ")
    assert any("subtree (kernel)" in line and "decay 0.125" in line for line in lines)


def test_the_table_of_many_parts_ends(saved):
    kernels = [kw.SubtreeKernel(decay=1 / n) for n in range(1, 60)]
    shown = run(saved(sum(kernels[1:], start=kernels[0]))).stdout
    assert re.search(r"and \d+ more parts$", shown.strip())


def test_long_values_are_cut(saved):
    shown = run(saved(kw.OnView("v" * 500, kw.SubtreeKernel()))).stdout
    assert max(map(len, shown.splitlines())) < 250


def test_values_do_not_move_the_cursor(saved):
    shown = run(saved(kw.OnView("a\x1b[2Jb\nc", kw.SubtreeKernel()))).stdout
    assert "\x1b" not in shown
    assert "a [2Jb c" in shown


def test_no_class_of_the_file_is_needed(saved, monkeypatch):
    path = saved(kw.SubtreeKernel())
    monkeypatch.setattr("kernelwood.persist.models.MODELS", {})
    assert inspected(path)["model"] == "subtree"


# Extractors.


def test_an_extractor_shows_its_card(saved, extractor):
    card = inspected(saved(extractor))["card"]
    assert card["license"] == "CC0"
    assert card["relations"] == ["binds"]


def test_the_table_of_an_extractor_tells_license_and_relations(saved, extractor):
    shown = run(saved(extractor)).stdout
    assert re.search(r"^license +CC0$", shown, re.MULTILINE)
    assert re.search(r"^relations +binds$", shown, re.MULTILINE)


def test_the_card_comes_without_the_parts(saved, extractor):
    result = run(saved(extractor))
    assert "trained on   8 documents" in result.stdout and "(kernel)" not in result.stdout
    assert "--parts lists them" in result.stderr


def test_the_card_says_how_entities_are_found(saved, extractor):
    assert "entities     of new texts: not by the model;" in run(saved(extractor)).stdout
    learned = RelationExtractor(entities="learn", random_state=0).fit(some_documents())
    shown = run(saved(learned)).stdout
    assert re.search(r"^entities +of new texts: a learned tagger of .*; .* F1 [01]\.", shown, re.M)


@pytest.mark.parametrize("option", ["--parts", "-v"])
def test_parts_of_an_extractor_are_shown_on_request(saved, extractor, option):
    shown = run(saved(extractor), option).stdout
    assert shown.index("trained on") < shown.index("(kernel)")


def test_directions_of_a_card_are_arrows(saved):
    sentences = [a_sentence(p, *ends) for p in (0, 3) for ends in (("Raf", "Ras"), ("Abl", "Src"))]
    turned = [
        sentence.with_parts(
            relations=tuple(
                one._replace(
                    arguments=tuple(
                        kw.text.Argument(role, target)
                        for role, target in zip(("Agent", "Target"), ends, strict=True)
                    )
                )
                for one in sentence.relations
            )
        )
        for sentence in sentences
        for ends in (("e1", "e2"), ("e2", "e1"))
    ]
    documents = [kw.Example(f"d{i}", views={"sentence": s}) for i, s in enumerate(turned)]
    model = RelationExtractor(random_state=0, n_splits=2, blind=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = saved(model.fit(documents))
    assert "classes      binds →, binds ←" in run(path).stdout
    assert inspected(path)["card"]["classes"][:2] == ["binds(e1,e2)", "binds(e2,e1)"]


# What goes wrong.


def test_a_missing_file_is_named(tmp_path):
    assert "nix.kw" in wrong_data(run(tmp_path / "nix.kw"))


def test_a_folder_is_told(tmp_path):
    assert str(tmp_path) in wrong_data(run(tmp_path))


def test_a_file_that_is_no_model_is_told(tmp_path):
    (tmp_path / "model.kw").write_text("no model")
    assert "not a model file" in wrong_data(run(tmp_path / "model.kw"))


def test_a_damaged_file_is_told(saved):
    path = saved(kw.batch([kw.Sequence(["a", "b"])]))
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 0xFF
    path.write_bytes(data)
    assert "model.kw" in wrong_data(run(path))


def test_a_member_that_was_changed_is_told(saved):
    path = saved(kw.batch([kw.Sequence(["a", "b"])]))
    rewrite(path, lambda name, data: data.replace(b"a", b"z") if name.endswith(".txt") else data)
    assert "checksum" in wrong_data(run(path))


def test_a_model_of_a_newer_version_is_told(saved):
    path = saved(kw.SubtreeKernel())
    rewrite(
        path,
        lambda name, data: data.replace(b'"format": 1', b'"format": 99').replace(
            b'"kernelwood": "', b'"kernelwood": "9'
        ),
    )
    told = wrong_data(run(path))
    assert "format 99" in told and "pip install --upgrade kernelwood" in told


def rewrite(path, change):
    """Change the members of an archive."""
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, change(name, data) if name != "card.md" else data)
