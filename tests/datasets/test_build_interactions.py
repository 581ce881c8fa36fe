from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, strategies as st

from kernelwood.datasets import interactions_path

ROOT = Path(__file__).parent.parent.parent


def load_script() -> ModuleType:
    """Return the script that builds the corpus; it is part of the project, not of the package."""
    path = ROOT / "tools" / "build_interactions.py"
    spec = importlib.util.spec_from_file_location("build_interactions", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


SCRIPT = load_script()


def test_building_gives_the_files_byte_for_byte() -> None:
    folder = interactions_path("train").parent
    there = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert {name: text.encode() for name, text in SCRIPT.build().items()} == there


def test_marks_entities_of_several_words() -> None:
    block = SCRIPT.Block(
        "(S (NP (NN factor@+) (NN Xa@Protein)) (VP (VBZ rests)))", "heads 2:nn 3:nsubj 0:root", []
    )
    assert SCRIPT.make_sentence(block, {})[1] == [("factor_Xa", "Protein", 0, 9)]


def test_numbers_entities_of_the_same_name() -> None:
    mentions = SCRIPT.find_mentions(["Raf", "Raf"], [(0, 3), (4, 7)], ["Protein", "Protein"])
    assert [mention.name for mention in mentions] == ["Raf", "Raf#2"]


@pytest.mark.parametrize("line", ["Eats Raf Ras", "perhaps Binds Raf Ras", "not not Binds Raf Ras"])
def test_refuses_what_is_no_relation(line: str) -> None:
    with pytest.raises(SystemExit, match="is no relation"):
        SCRIPT.read_claim(line)


def test_refuses_a_relation_of_what_is_no_entity() -> None:
    claim = SCRIPT.read_claim("Binds Raf Ras")
    with pytest.raises(SystemExit, match="Raf or Ras is no entity: Raf"):
        SCRIPT.annotate(SCRIPT.Annotation(), [claim], [SCRIPT.Mention("Raf", "Protein", 0, 3)], 0)


def test_refuses_too_few_heads() -> None:
    block = SCRIPT.Block("(S (NP (PRP We)) (VP (VBP go)))", "heads 2:nsubj", [])
    with pytest.raises(SystemExit, match="1 heads for 2 words: We go"):
        SCRIPT.make_sentence(block, {})


@given(st.lists(st.sampled_from(["Raf", "-bound", "(", ")", ",", "/", "can", "not", "60", "%"])))
def test_spelling_finds_every_word_at_its_place(words: list[str]) -> None:
    text, places = SCRIPT.spell(words)
    assert [text[start:end] for start, end in places] == words
