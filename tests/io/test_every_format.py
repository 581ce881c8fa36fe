"""What every format of single files owes its users; a new one adds a row to samples.py."""

from __future__ import annotations

import gzip
import io

import pytest
from hypothesis import given, strategies as st
from samples import SAMPLES

from kernelwood.errors import ReadError
from kernelwood.io import FORMATS, iter_read, read, write
from kernelwood.io.formats.table import formats_by_content

# What the formats are made of, and what damage is likely to hit.
MARKS = '()|BETSQGVD:<>,&%" \n\\{}[]'

every_format = pytest.mark.parametrize("name", list(SAMPLES))


def parse(text: str | bytes, name: str, errors: str = "raise"):
    data = text.encode() if isinstance(text, str) else text
    return read(io.BytesIO(data), format=name, errors=errors)


def contents(examples):
    return [(example.label, dict(example.views)) for example in examples]


def test_every_format_has_a_sample():
    assert set(SAMPLES) == {row.name for row in FORMATS if not row.companions and not row.binary}


def test_every_option_has_a_line_of_help():
    assert all(text and "\n" not in text for row in FORMATS for text in row.options.values())


@every_format
def test_the_sample_is_read_whole(name):
    examples = parse(SAMPLES[name].text, name)
    assert len(examples) == examples.tally.read == SAMPLES[name].n_examples


@every_format
def test_only_its_own_sample_is_recognized(name):
    found = formats_by_content(SAMPLES[name].text.encode())
    assert [row.name for row in found] == [name]


@every_format
def test_windows_line_ends_make_no_difference(name):
    text = SAMPLES[name].text
    assert contents(parse(text.replace("\n", "\r\n"), name)) == contents(parse(text, name))


@every_format
def test_a_byte_order_mark_makes_no_difference(name):
    text = SAMPLES[name].text
    assert contents(parse("\ufeff" + text, name)) == contents(parse(text, name))


@every_format
def test_blank_lines_make_no_difference(name):
    text = SAMPLES[name].text
    assert contents(parse(f"\n \t\n{text}\n\n", name)) == contents(parse(text, name))


@every_format
def test_a_missing_last_line_end_makes_no_difference(name):
    text = SAMPLES[name].text
    assert contents(parse(text.rstrip("\n"), name)) == contents(parse(text, name))


@every_format
def test_an_empty_file_gives_no_examples(name):
    assert parse(b"", name) == []


@every_format
def test_the_problem_is_located(name):
    sample = SAMPLES[name]
    with pytest.raises(ReadError) as caught:
        parse(sample.broken, name)
    assert (caught.value.line, caught.value.column) == (sample.line, sample.column)


@every_format
def test_columns_are_the_same_with_a_mark_and_windows_line_ends(name):
    sample = SAMPLES[name]
    with pytest.raises(ReadError) as caught:
        parse("\ufeff" + sample.broken.replace("\n", "\r\n"), name)
    assert (caught.value.line, caught.value.column) == (sample.line, sample.column)


@every_format
def test_skipping_drops_only_the_broken_part(name):
    examples = parse(SAMPLES[name].broken, name, "skip")
    assert len(examples) == examples.tally.read == SAMPLES[name].n_left


@every_format
def test_skipping_counts_the_broken_part(name):
    tally = parse(SAMPLES[name].broken, name, "skip").tally
    assert (tally.skipped, sum(tally.reasons.values()), tally.problems) == (1, 1, ())


@every_format
def test_collecting_keeps_the_error(name):
    sample = SAMPLES[name]
    (problem,) = parse(sample.broken, name, "collect").tally.problems
    assert (problem.path, problem.line, problem.column) == ("<stream>", sample.line, sample.column)


@every_format
def test_bytes_that_are_not_utf8_cost_one_part(name):
    if not SAMPLES[name].lines:
        pytest.skip("the parts of this format are not lines")
    text = SAMPLES[name].broken.splitlines(keepends=True)
    data = text[0].encode() + b"\xff" + text[0].encode() + text[2].encode()
    examples = parse(data, name, "collect")
    assert len(examples) == 2
    assert [problem.line for problem in examples.tally.problems] == [2]


@every_format
def test_identifiers_are_unique_and_origins_have_lines(name):
    examples = parse(SAMPLES[name].text, name)
    assert len({example.id for example in examples}) == len(examples)
    assert all(example.origin.line >= 1 for example in examples)


@every_format
def test_what_is_written_reads_back(name):
    if next(row for row in FORMATS if row.name == name).write is None:
        pytest.skip("this format is read only")
    examples = parse(SAMPLES[name].text, name)
    out = io.StringIO()
    write(examples, out, format=name)
    assert contents(parse(out.getvalue(), name)) == contents(examples)


@every_format
def test_reading_is_lazy(name):
    sample = SAMPLES[name].text.encode()

    def pieces():
        yield sample * 20_000
        raise AssertionError("read too far")

    class Stream(io.RawIOBase):
        chunks = pieces()
        rest = b""

        def readable(self):
            return True

        def read(self, size=-1):
            self.rest = self.rest or next(self.chunks)
            taken, self.rest = self.rest[:size], self.rest[size:]
            return taken

    with iter_read(Stream(), format=name) as stream:
        next(stream)
        assert stream.tally.read == 1


@every_format
@given(data=st.binary(max_size=200), errors=st.sampled_from(["raise", "skip", "collect"]))
def test_junk_gives_only_read_errors(name, data, errors):
    try:
        examples = parse(data, name, errors)
    except ReadError as problem:
        assert errors == "raise" or data.startswith(b"\x1f\x8b")
        assert problem.path == "<stream>"
    else:
        assert errors != "raise" or examples.tally.skipped == 0


@every_format
@given(data=st.data())
def test_damaged_files_give_only_read_errors(name, data):
    valid = SAMPLES[name].text.encode() * 2
    damaged = bytearray(valid)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(damaged)))
        length = data.draw(st.integers(0, 8))
        damaged[start : start + length] = data.draw(
            st.binary(max_size=4) | st.text(MARKS, max_size=6).map(str.encode)
        )
    assert parse(bytes(damaged), name, "skip").tally.skipped >= 0
    try:
        parse(bytes(damaged), name)
    except ReadError as problem:
        assert problem.line is not None or damaged.startswith(b"\x1f\x8b")


@every_format
@given(data=st.data())
def test_damaged_gzip_gives_only_read_errors(name, data):
    packed = bytearray(gzip.compress(SAMPLES[name].text.encode(), mtime=0))
    place = data.draw(st.integers(2, len(packed) - 1))
    packed[place:] = data.draw(st.binary(max_size=8)) + packed[place + 1 :]
    try:
        parse(bytes(packed), name)
    except ReadError as problem:
        assert problem.path == "<stream>"


@every_format
def test_every_cut_of_the_sample_is_an_error_or_complete(name):
    data = SAMPLES[name].text.encode()
    for cut in range(len(data)):
        examples = parse(data[:cut], name, "skip")
        limit = SAMPLES[name].n_examples + SAMPLES[name].closed
        assert len(examples) + examples.tally.skipped <= limit
