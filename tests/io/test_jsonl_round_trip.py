"""JSON lines lose nothing: any example, written and read, is the same again."""

from __future__ import annotations

import io

from hypothesis import given, strategies as st
from sentence_strategies import documents, sentences
from strategies import forests, sequences, trees

from kernelwood.io import read, write_jsonl
from kernelwood.structures import Graph
from kernelwood.text import Example, Origin


def parse(text):
    return read(io.BytesIO(text.encode()), format="jsonl")


def written(*examples):
    out = io.StringIO()
    write_jsonl(examples, out)
    return out.getvalue()


# What is written as UTF-8 has no lone surrogates.
texts = st.text(max_size=10)
numbers = st.floats(allow_nan=False, allow_infinity=False)
simple_labels = texts | st.integers() | numbers
any_label = (
    simple_labels
    | st.none()
    | st.lists(simple_labels | st.tuples(texts, st.integers() | numbers), max_size=3).map(tuple)
)


@st.composite
def graphs(draw):
    ids = draw(st.lists(texts | st.integers(), unique=True, max_size=4))
    ends = st.sampled_from(ids) if ids else st.nothing()
    edges = draw(st.lists(st.tuples(ends, texts, ends), max_size=4)) if ids else []
    return Graph({name: draw(texts) for name in ids}, edges, draw(st.none() | ends))


any_view = st.one_of(
    texts,
    trees(of=texts),
    sequences(of=texts),
    graphs(),
    forests(),
    sentences(of=texts, labels=texts, max_tokens=3),
    documents(of=texts, labels=texts, max_words=3),
    st.lists(numbers, max_size=4).map(tuple),
    st.dictionaries(texts, numbers, max_size=4),
)


places = st.none() | st.integers(1)
origins = st.builds(Origin, texts, places, places, places)
any_example = st.builds(
    Example, texts, any_label, st.dictionaries(texts, any_view, max_size=3), origins
)


@given(st.lists(any_example, max_size=3, unique_by=lambda example: example.id))
def test_what_is_written_reads_back(examples):
    again = parse(written(*examples))
    assert list(again) == examples
    assert [type(example.label) for example in again] == [
        type(example.label) for example in examples
    ]


@given(st.lists(any_example, max_size=2, unique_by=lambda example: example.id))
def test_writing_what_was_read_gives_the_same_lines(examples):
    text = written(*examples)
    assert written(*parse(text)) == text
