"""What all formats made of blocks of lines share, and what all writers of ids share."""

import io

import pytest

from kernelwood.errors import StructureError
from kernelwood.io import FORMATS, Source, read
from kernelwood.io.lines import cut_at_blank_lines
from kernelwood.structures import Graph
from kernelwood.text import Document, Entity, Example, Sentence

NAMED_LIKE_THE_SECOND = {
    "conllu": "# sent_id = stream:2\n{0}\n\n{0}\n".format("1\ta" + "\t_" * 8),
    "srl": "# sent_id = stream:2\n{0}\n\n{0}\n".format("0\ta\tX\t*\t-\t-"),
    "penman": "# ::id stream:2\n(a / b)\n\n(a / b)\n",
}


@pytest.mark.parametrize("name", NAMED_LIKE_THE_SECOND)
def test_a_sentence_without_a_name_does_not_get_one_that_is_taken(name):
    examples = read(io.StringIO(NAMED_LIKE_THE_SECOND[name]), format=name, errors="collect")
    assert [example.id for example in examples] == ["stream:2"]
    [problem] = examples.tally.problems
    assert "'stream:2' was used before, on line" in problem.problem


def test_blanks_and_tabs_are_no_line_but_other_spaces_are():
    lines = Source(io.StringIO("a\n \t\nb\n\u00a0\nc\n\n\n")).lines()
    blocks = [[line.text for line in block] for block in cut_at_blank_lines(lines)]
    assert blocks == [["a"], ["b", "\u00a0", "c"]]


NOMINALS = [Entity("e1", "nominal", ((0, 1),), "a"), Entity("e2", "nominal", ((2, 3),), "b")]
WRITABLE = {
    "conllu": {"sentence": Sentence.from_words(["a"])},
    "srl": {"sentence": Sentence.from_words(["a"])},
    "penman": {"sentence": Graph({"a": "b"}, root="a")},
    "semeval": {"sentence": Sentence("a b", entities=NOMINALS)},
    "standoff": {"document": Document("a b")},
}


@pytest.mark.parametrize("name", WRITABLE)
def test_an_id_is_written_once(name):
    [form] = [row for row in FORMATS if row.name == name]
    examples = [Example(number, views=WRITABLE[name]) for number in ("1", "2", "1")]
    written = (form.write or form.write_files)(examples)
    next(written)
    message = "example '1' cannot be written: its id was used before, by example number 1"
    with pytest.raises(StructureError, match=message):
        list(written)
