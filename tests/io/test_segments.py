"""Segments: read one by one, they give what a read of the whole input gives."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import tarfile
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import SAMPLES

from kernelwood.errors import ReadError
from kernelwood.io import FORMATS, ChangedError, Limits, Segment, cut_inputs, iter_read
from kernelwood.io import iter_texts, read_segments

PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
SIZES = (1, 7, 40, 150, 1 << 20)
SPLITTABLE = [row.name for row in FORMATS if row.scan is not None]


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


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("name", SAMPLES)
def test_segments_of_samples_give_the_whole(name, packing, tmp_path):
    sample = SAMPLES[name]
    for number, text in enumerate((sample.text, sample.broken)):
        for variant in (text, text.replace("\n", "\r\n"), "\ufeff" + text, text.rstrip("\n")):
            path = tmp_path / f"sample{number}.dat{packing}"
            path.write_bytes(PACKERS[packing](variant.encode()))
            check(path, texts=False, format=name)


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
