"""Segments: read one by one, they give what a read of the whole input gives."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import tarfile
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st
from samples import SAMPLES

from kernelwood.errors import ReadError
from kernelwood.io import (
    ChangedError,
    Limits,
    Segment,
    cut_inputs,
    iter_read,
    iter_texts,
    read_segments,
)

PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
SIZES = (1, 7, 40, 150, 1 << 20)


def outcome(stream):
    """Return all that a stream gives, in order; errors without their places in memory."""
    with stream:
        examples = list(stream)
    tally = stream.tally
    return (
        [(e.id, e.label, e.views, e.origin) for e in examples],
        [str(problem) for problem in tally.problems],
        dict(tally.remarks),
        tally.skipped,
    )


def whole(paths, *, texts, format=None, only=None, limits=None, **options):
    read = iter_texts if texts else iter_read
    return outcome(read(paths, format, "collect", only=only, limits=limits, **options))


def one_by_one(segments, *, texts, limits=None, **options):
    """Read each segment on its own, as a process that got it as JSON."""
    examples, problems, remarks, skipped = [], [], {}, 0
    for segment in segments:
        again = Segment.from_dict(json.loads(json.dumps(segment.to_dict())))
        assert again == segment
        found = outcome(read_segments([again], "collect", texts=texts, limits=limits, **options))
        examples += found[0]
        problems += found[1]
        for reason, count in found[2].items():
            remarks[reason] = remarks.get(reason, 0) + count
        skipped += found[3]
    return examples, problems, remarks, skipped


def check(path, *, texts, sizes=SIZES, format=None, only=None, limits=None, **options):
    """Compare both readings for some sizes; return the largest number of segments."""
    expected = whole(path, texts=texts, format=format, only=only, limits=limits, **options)
    most = 0
    for size in sizes:
        cut = cut_inputs(path, format, texts=texts, size=size, only=only, limits=limits, **options)
        segments = list(cut)
        made = one_by_one(segments, texts=texts, limits=limits, **options)
        assert made == expected, size
        at_once = read_segments(segments, "collect", texts=texts, limits=limits, **options)
        assert outcome(at_once) == expected
        most = max(most, len(segments))
    return most


@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.parametrize("name", SAMPLES)
def test_segments_of_samples_give_the_whole(name, packing, tmp_path):
    sample = SAMPLES[name]
    for number, text in enumerate((sample.text, sample.broken)):
        for variant in (text, text.replace("\n", "\r\n"), "\ufeff" + text, text.rstrip("\n")):
            path = tmp_path / f"sample{number}.dat{packing}"
            path.write_bytes(PACKERS[packing](variant.encode()))
            check(path, texts=False, format=name, sizes=(1, 40))


def parts_of(name, n_parts):
    """Return the parts of a file of a format, with ids of their own; some are broken."""
    prose = 'Raf binds Ræs, "or" not'
    made = []
    for n in range(n_parts):
        made.append(
            {
                "kelp": f"A |BT:tree| (S(NP(we))(VP(go{n}))) |ET|\n",
                "jsonl": f'{{"id": "{n}", "views": {{"text": "{n} Ræf"}}}}\n',
                "records": json.dumps({"text": f"{n} {prose}", "year": n}) + "\n",
                "doccano": json.dumps({"id": n, "text": f"{n} we", "label": [[0, 1, "x"]]}) + "\n",
                "conllu": f"# newdoc id = {n}\n1\tWe{n}\twe\tPRON\t_\t_\t0\troot\t_\t_\n\n",
                "srl": f"# genre = {n}\n\n0\tYes{n}\tUH\t(TOP(INTJ*))\t-\t-\n\n",
                "penman": f"# ::snt We {n}\n\n# ::tok We\n(g / go-02\n\n  :ARG0 (w / we{n}))\n",
                "semeval": f'{n}\t"The <e1>cat</e1> left the <e2>house{n}</e2>."\n'
                "Entity-Origin(e1,e2)\nComment:\n\n",
                "medline": f"PMID- {n}\nTI  - On Raf.\nAB  - We ask\n      {n}.\n\n",
                "pubtator": f"{n}|t|Naproxen {n}\n{n}|a|It may.\n{n}\t0\t8\tNaproxen\tC\tD{n}\n\n",
                "csv": f'{n},"Raf\n""binds"", {n}",a\n' if n % 3 else f"{n},Raf binds,b\n",
                "tsv": f'{n}\tRaf "binds {n}\tb\n' if n % 3 else f'{n}\t"Raf\nx"\tb\n',
                "pubmed": f"<PubmedArticle><MedlineCitation><PMID>{n}</PMID><Article>"
                f"<ArticleTitle>On\n&alpha; {n}</ArticleTitle></Article></MedlineCitation>"
                "</PubmedArticle>\n",
            }[name]
        )
    return made


HEADS = {
    "csv": "pmid,text,kind\n",
    "tsv": "pmid\ttext\tkind\n",
    "pubmed": '<?xml version="1.0"?>\n<!DOCTYPE PubmedArticleSet SYSTEM "x.dtd">\n'
    "<PubmedArticleSet a='b'>",
}
ENDS = {"pubmed": "<DeleteCitation><PMID>9</PMID></DeleteCitation></PubmedArticleSet>\n"}
NOISE = {
    "csv": [
        '7,"never closed\n',
        "only one\n",
        ",,\n",
        '8,"a"b,c\n',
        'x"y,"z\n',
        "\u00a0,\u3000,\n",
    ],
    "tsv": ["only one\n", "\t\t\n", '8\t"a"b\tc\n'],
    "pubmed": [
        "<!-- </PubmedArticle>\n<PubmedArticle> -->\n",
        "<PubmedArticle><MedlineCitation/></PubmedArticle>\n",
        "<Group>\n",
        "</Group>\n",
        "<![CDATA[</PubmedArticle>\n<PubmedArticle>]]>",
        "<PubmedArticle><MedlineCitation><PMID>x</PMID></MedlineCitation>\n<MedlineCitation>"
        "</MedlineCitation>\n</PubmedArticle>\n",
        "& <x>",
    ],
    "conllu": ["# global.columns = ID FORM\n", "1\tx\n\n", "\r\r\n", "  \n"],
    "penman": ["(a / b\n", "# ::id x\n\n", "# no key\n\n", ")\n"],
    "srl": ["# only\n\n", "# sent_id = q\n\n", "x\n"],
}
GENERATED = sorted({"kelp", "jsonl", "records", "doccano", "conllu", "srl", "penman", "semeval",
                    "medline", "pubtator", "csv", "tsv", "pubmed"})  # fmt: skip


@st.composite
def files(draw, name):
    parts = parts_of(name, draw(st.integers(1, 6)))
    noise = ["\n", "\n\n", " \t\n", "\r\n", "\udcff\n", "{\n", "x", *NOISE.get(name, [])]
    for extra in draw(st.lists(st.sampled_from(noise), max_size=2)):
        parts.insert(draw(st.integers(0, len(parts))), extra)
    text = HEADS.get(name, "") + "".join(parts) + ENDS.get(name, "")
    if draw(st.booleans()):
        text = text.rstrip("\n")
    data = text.encode("utf-8", "surrogateescape")
    if draw(st.booleans()):
        data = data.replace(b"\n", b"\r\n")
    return draw(st.sampled_from((b"", b"\xef\xbb\xbf"))) + data


@pytest.mark.parametrize("name", GENERATED)
@given(data=st.data())
def test_segments_of_any_file_give_the_whole(name, data, tmp_path_factory):
    packing = data.draw(st.sampled_from(sorted(PACKERS)))
    path = tmp_path_factory.getbasetemp() / f"any.{name}{packing}"
    content = data.draw(files(name))
    packed = PACKERS[packing](content)
    if packing and data.draw(st.booleans()):
        packed = packed[: data.draw(st.integers(12, len(packed)))]
    path.write_bytes(packed)
    limits = data.draw(st.sampled_from((None, Limits(line=20))))
    sizes = data.draw(st.lists(st.integers(1, 2 * len(content)), min_size=1, max_size=2))
    texts = data.draw(st.booleans()) and name in ("records", "csv", "tsv", "pubmed", "medline")
    check(path, texts=texts, format=name, sizes=sizes, limits=limits)


@pytest.mark.parametrize("name", GENERATED)
def test_a_file_without_problems_is_cut_at_every_part(name, tmp_path):
    path = tmp_path / "all"
    path.write_text(HEADS.get(name, "") + "".join(parts_of(name, 40)) + ENDS.get(name, ""))
    assert check(path, texts=False, format=name, sizes=(1,)) >= 20


def test_a_long_first_record_decides_the_fields_of_all(tmp_path):
    path = tmp_path / "long.jsonl"
    lines = [{"year": 1, "body": "x" * 40_000, "uid": "a"}]
    lines += [{"id": 7, "body": "y" * 10_000, "uid": f"b{n}"} for n in range(20)]
    path.write_text("\n" + "".join(json.dumps(line) + "\n" for line in lines))
    assert check(path, texts=True) > 5
    assert check(path, texts=True, text_field="body", id_field="uid") > 5


def test_objects_that_are_not_lines_are_one_segment(tmp_path):
    path = tmp_path / "array.json"
    path.write_text(json.dumps([{"text": "a"}, {"text": "b"}], indent=1))
    assert check(path, texts=True, sizes=(1,)) == 1


def test_a_table_without_text_column_is_one_segment(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    assert check(path, texts=True, sizes=(1,)) == 1
    assert check(path, texts=True, sizes=(1,), text_field="b") == 2


def test_several_usual_columns_are_remarked_once(tmp_path):
    path = tmp_path / "ids.csv"
    path.write_text("id,pmid,text\n" + "1,2,abc\n" * 20)
    assert check(path, texts=True, sizes=(1,)) > 5


def test_parquet_tables_are_cut_between_row_groups(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"text": [f"Raf {n}" for n in range(10)], "n": list(range(10))})
    path = tmp_path / "table.parquet"
    parquet.write_table(table, path, row_group_size=3)
    assert check(path, texts=True) == 4
    assert check(tmp_path, texts=True) == 4
    assert check(path, texts=True, sizes=(1,), text_field="other") == 1
    segments = list(cut_inputs(path, texts=True, size=1))
    assert [(part.start, part.stop) for part in segments] == [(0, 3), (3, 6), (6, 9), (9, 10)]
    packed = tmp_path / "table.parquet.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert check(packed, texts=True, sizes=(1,)) == 1
    parquet.write_table(table.slice(1), path, row_group_size=3)
    changed(segments[2:3], "its content is not the same")


@pytest.fixture
def corpus(tmp_path):
    """A folder of files of many kinds, some of them broken."""
    folder = tmp_path / "corpus"
    (folder / "sub").mkdir(parents=True)
    files = {
        "a.txt": "Raf binds Ras.",
        "b.txt": "Raf binds Ras.\n",
        "b.ann": "T1\tProtein 0 3\tRaf\n",
        "sub/b.txt": "We go.",
        "c.jsonl": "".join(json.dumps({"text": f"go {n}"}) + "\n" for n in range(5)),
        "sub/c.csv": 'text,year\nRaf,1\n"Ras\n2",3\nx\n',
        "d.xml": HEADS["pubmed"] + "".join(parts_of("pubmed", 3)) + ENDS["pubmed"],
        "e.txt": "<html><p>no</p></html>",
        "f.bin": "\0\1",
        "g.csv.gz": "not packed",
        "h.conllu": "".join(parts_of("conllu", 3)),
        "i.txt": "",
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def archive(folder, kind):
    path = folder.parent / f"corpus.{kind}"
    names = sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
    if kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for name in names:
                packed.write(folder / name, name)
            packed.writestr("../out.txt", "x")
    else:
        with tarfile.open(path, "w:gz" if kind.endswith("gz") else "w") as packed:
            for name in names:
                packed.add(folder / name, name)
            packed.add(folder / "a.txt", "../out.txt")
    return path


@pytest.mark.parametrize("kind", ["folder", "zip", "tar", "tar.gz"])
def test_folders_and_archives_are_cut_as_they_are_read(kind, corpus):
    path = corpus if kind == "folder" else archive(corpus, kind)
    assert check(path, texts=True, sizes=(1, 50, 1 << 20)) > 15
    assert check(path, texts=False, sizes=(1, 1 << 20)) > 4
    assert check(path, texts=True, sizes=(1,), only="*.txt") > 3
    assert check(path, texts=True, sizes=(1,), format="text") > 3


def test_several_inputs_follow_one_another(corpus, tmp_path):
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"")
    broken = tmp_path / "broken.json.gz"
    broken.write_bytes(b"not packed")
    other = tmp_path / "other.jsonl"
    other.write_text("".join(json.dumps({"text": f"go {n}"}) + "\n" for n in range(5)))
    paths = [other, broken, empty, corpus / "e.txt", archive(corpus, "zip")]
    assert check(paths, texts=True, sizes=(1, 30)) > 10


def test_ids_are_qualified_in_folders(corpus):
    read = iter_read(corpus, errors="collect", qualify_ids=True)
    segments = list(cut_inputs(corpus, texts=False, size=1))
    assert outcome(read_segments(segments, "collect", texts=False, qualify_ids=True)) == outcome(
        read
    )


def test_companions_beside_a_file_belong_to_it(corpus):
    path = corpus / "b.txt"
    [segment] = cut_inputs(path, texts=True, size=1)
    assert segment.stop == len("Raf binds Ras.\n") + len("T1\tProtein 0 3\tRaf\n")
    assert check(path, texts=True) == 1
    (corpus / "b.ann").write_text("T1\tProtein 0 3\tRaf\nT2\tProtein 10 13\tRas\n")
    changed([segment], "its content is not the same")


def changed(segments, how, *, texts=True, **options):
    """Check that reading raises, whatever is to become of errors."""
    for errors in ("raise", "skip", "collect"):
        with pytest.raises(ChangedError, match=f"changed since the plan was made: {how}"):
            list(read_segments(segments, errors, texts=texts, **options))


@pytest.mark.parametrize("packing", PACKERS)
def test_every_changed_byte_is_noticed(packing, tmp_path):
    path = tmp_path / f"five.jsonl{packing}"
    content = "".join(json.dumps({"id": n, "text": f"go {n}"}) + "\n" for n in range(5)).encode()
    path.write_bytes(PACKERS[packing](content))
    segments = list(cut_inputs(path, texts=True, size=1))
    assert len(segments) == 5
    for place in range(0, len(content), 3):
        other = bytearray(content)
        other[place] ^= 1
        path.write_bytes(PACKERS[packing](other))
        touched = [part for part in segments if part.start <= place < part.stop]
        changed(touched, ".*")
        # All segments depend on the beginning of the file.
        changed(segments[-1:], ".*")


def test_a_changed_file_is_said_to_be_changed_rather_than_broken(tmp_path):
    path = tmp_path / "two.jsonl"
    path.write_text('{"text": "a"}\n{"text": "b"}\n')
    segments = list(cut_inputs(path, texts=True, size=1 << 20))
    path.write_text('{"text": "a"}\n{"text": "b" \n')
    changed(segments, "its content is not the same")


def test_shorter_longer_and_missing_files_are_errors(tmp_path):
    path = tmp_path / "five.jsonl"
    content = "".join(json.dumps({"id": n, "text": f"go {n}"}) + "\n" for n in range(5)) * 1
    path.write_text(content)
    segments = list(cut_inputs(path, texts=True, size=1))
    path.write_text(content[:-3])
    changed(segments[-1:], "it is shorter")
    path.write_text(content + "\n")
    changed(segments[-1:], "it is longer")
    path.write_text("")
    changed(segments[1:2], "it is shorter")
    path.unlink()
    changed(segments[1:2], "it is missing")
    path.mkdir()
    changed(segments[1:2], ".*")


def test_missing_members_are_errors(corpus):
    segments = list(cut_inputs(corpus, texts=True, size=1))
    (corpus / "sub" / "b.txt").unlink()
    [gone] = [part for part in segments if part.names == ("sub/b.txt",)]
    changed([gone], "there is no file 'sub/b.txt' in it")
    [refused] = [part for part in segments if part.names == ("e.txt",)]
    assert refused.format == ""
    (corpus / "e.txt").write_text("Raf.")
    changed([refused], "its format can be told now")


def test_segments_of_damaged_data_end_with_the_damage(tmp_path):
    path = tmp_path / "cut.jsonl.gz"
    content = "".join(json.dumps({"id": n, "text": f"go {n}"}) + "\n" for n in range(50))
    path.write_bytes(gzip.compress(content.encode())[:-20])
    expected = whole(path, texts=True)
    assert expected[3] == 1
    assert check(path, texts=True, sizes=(1, 100)) > 5


def test_segments_can_be_read_in_any_order(tmp_path):
    path = tmp_path / "many.jsonl.bz2"
    content = "".join(json.dumps({"id": n, "text": f"go {n}"}) + "\n" for n in range(50))
    path.write_bytes(bz2.compress(content.encode()))
    segments = list(cut_inputs(path, texts=True, size=1))
    order = [9, 3, 4, 30, 30, 0, 1]
    made = read_segments([segments[n] for n in order], texts=True)
    assert [example.id for example in made] == [str(n) for n in order]


def test_a_moved_file_keeps_its_ids(tmp_path):
    path = tmp_path / "before.jsonl"
    path.write_text('{"text": "a"}\n{"text": "b"}\n')
    segments = list(cut_inputs(path, texts=True, size=1 << 20))
    path.rename(tmp_path / "after.jsonl")
    moved = [replace(part, path=str(tmp_path / "after.jsonl")) for part in segments]
    assert [example.id for example in read_segments(moved, texts=True)] == ["before:1", "before:2"]


def test_position_and_size_count_the_bytes_of_segments(tmp_path):
    path = tmp_path / "many.jsonl"
    path.write_text('{"text": "a"}\n' * 1000)
    segments = list(cut_inputs(path, texts=True, size=1000))
    with read_segments(segments[2:5], texts=True) as stream:
        assert stream.size == segments[4].stop - segments[2].start
        places = [stream.position for _ in stream]
        assert places == sorted(places)
        assert 0 < places[0] < stream.size == stream.position


def test_repeated_ids_are_found_within_a_segment(tmp_path):
    path = tmp_path / "two.jsonl"
    path.write_text('{"id": 1, "text": "a"}\n' * 2)
    [segment] = cut_inputs(path, texts=True, size=1 << 20)
    with pytest.raises(ReadError, match="was used before, on line 1"):
        list(read_segments([segment], texts=True))
    assert len(list(read_segments(cut_inputs(path, texts=True, size=1), texts=True))) == 2


def test_sizes_are_about_what_is_asked_for(tmp_path):
    path = tmp_path / "many.jsonl"
    path.write_text('{"text": "a line of some length"}\n' * 1000)
    for size in (100, 1000, 5000):
        segments = list(cut_inputs(path, texts=True, size=size))
        lengths = [part.stop - part.start for part in segments]
        assert all(size <= length < 2 * size + 40 for length in lengths[:-1])
        assert [part.start for part in segments[1:]] == [part.stop for part in segments[:-1]]
        assert [part.last for part in segments] == [False] * (len(segments) - 1) + [True]


def test_limits_hold_when_inputs_are_cut(tmp_path):
    path = tmp_path / "large.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "a"}\n' * 1000))
    with pytest.raises(ReadError, match="were unpacked"):
        list(cut_inputs(path, texts=True, size=10, limits=Limits(total_size=500)))


def test_progress_counts_bytes_on_disk(corpus, tmp_path):
    path = tmp_path / "many.jsonl"
    path.write_text('{"text": "a"}\n' * 1000)
    seen = []
    list(
        cut_inputs(
            [path, corpus],
            texts=True,
            size=100,
            progress=lambda done, total: seen.append((done, total)),
        )
    )
    assert all(done <= total for done, total in seen)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == seen[-1][1]


def test_nothing_to_read_is_an_error(corpus, tmp_path):
    with pytest.raises(ReadError, match="none of its 12 files matches"):
        list(cut_inputs(corpus, texts=True, size=1, only="*.nothing"))
    with pytest.raises(ReadError, match="cannot tell the format"):
        list(cut_inputs(corpus / "f.bin", texts=False, size=1))
    with pytest.raises(FileNotFoundError):
        cut_inputs(tmp_path / "none", texts=True, size=1)


def test_arguments_are_checked(corpus, tmp_path):
    for size in (0, -1, 1.5, True, None):
        with pytest.raises(ValueError, match="size must be a positive number of bytes"):
            cut_inputs(corpus, texts=True, size=size)
    with pytest.raises(ValueError, match="only files can be cut into segments"):
        cut_inputs("-", texts=True, size=1)
    with pytest.raises(ValueError, match="no option 'delimiter'"):
        cut_inputs(corpus, "jsonl", texts=False, size=1, delimiter=",")
    with pytest.raises(ValueError, match="only= chooses files"):
        list(cut_inputs(corpus / "a.txt", texts=True, size=1, only="*"))
    with pytest.raises(TypeError, match="expected segments, got dict"):
        read_segments([{}], texts=True)


GOOD = {
    "path": "a.zip", "names": ["x/a.jsonl"], "stem": "x/a", "format": "jsonl", "start": 3,
    "stop": 5, "line": 2, "record": 1, "last": False, "sha256": "0" * 64,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("path", ""), ("path", "a\0b"), ("path", 7), ("path", None), ("names", "ab"),
        ("names", [1]), ("names", ["../a"]), ("names", ["/a"]), ("names", ["a/../b"]),
        ("names", ["C:/a"]), ("names", [""]), ("names", ["a", "b"]), ("names", ["a\\b"]),
        ("names", [["a"]]), ("stem", 1), ("format", "none"), ("format", "penn"), ("format", ""),
        ("start", -1), ("start", 6), ("start", True), ("start", 3.0), ("start", "3"),
        ("stop", 2), ("stop", 2**63), ("line", 0), ("line", 2**70), ("record", -1), ("start", 0),
        ("last", 1), ("last", None), ("sha256", "0" * 63), ("sha256", "G" * 64), ("sha256", None),
        ("more", 1),
    ],
)  # fmt: skip
def test_hostile_values_are_refused(name, value):
    assert Segment.from_dict(GOOD).to_dict() == GOOD
    with pytest.raises(ValueError, match=r"segment"):
        Segment.from_dict({**GOOD, name: value})


def test_missing_values_are_refused():
    for name in GOOD:
        with pytest.raises(ValueError, match=f"'{name}' is missing"):
            Segment.from_dict({key: value for key, value in GOOD.items() if key != name})
    for value in (None, [], "x", 7):
        with pytest.raises(ValueError, match="a segment must be an object"):
            Segment.from_dict(value)


def test_a_stray_carriage_return_is_not_a_blank_line(tmp_path):
    path = tmp_path / "stray.conllu"
    word = "1\tWe\twe\tPRON\t_\t_\t0\troot\t_\t_\n"
    path.write_bytes(f"{word}\r\r\n{word}\n{word}\n".encode() * 5)
    assert check(path, texts=False, sizes=(1,)) > 2


def test_only_the_first_error_of_a_file_suggests_another_format(tmp_path):
    path = tmp_path / "other.dat"
    path.write_text("\n" * 20 + '{"text": "Raf binds Ras."}\n' * 9)
    assert "format='records'" in whole(path, texts=False, format="jsonl")[1][0]
    assert check(path, texts=False, format="jsonl", sizes=(1, 40)) > 2


def test_other_columns_end_a_file_that_is_cut(tmp_path):
    path = tmp_path / "plus.conllu"
    block = "1\tWe\twe\tPRON\t_\t_\t0\troot\t_\t_\n\n"
    path.write_text(block * 6 + "# global.columns = ID FORM\n" + block * 6)
    assert check(path, texts=False, sizes=(1,)) > 2
