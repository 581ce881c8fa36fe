"""Memory and speed of the readers on files of any size: peak memory must not grow with the file.

python benchmarks/streaming.py [--megabytes 100] [--only FORMAT] [--segments] [--json]

With --segments, files are cut into segments of 8 MB, plain and gzip: speed of cutting, and CPU of
reading all segments, each on its own, against one read of the file.

Every format is read twice, a tenth of the size and the whole, from a stream that is made as it is
read. Each run has a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from measure import show_table

from kernelwood.io import cut_inputs, iter_read, read_segments

PROSE = "Raf binds Ras in most of the cells, and the two leave the membrane together. " * 12
# A part of a file; {n} is its number.
PARTS = {
    "penn": "( (S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat{n}))))))\n",
    "kelp": "NUM |BS:text| how many {n} |ES| |BT:tree| (A(B(c))(D(e{n}))) |ET|\n",
    "jsonl": '{{"id":"{n}","views":{{"tree":{{"tree":"(S (NP we) (VP go{n}))"}}}}}}\n',
    "conllu": "# sent_id = {n}\n1\tWe\twe\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n"
    "2\tgo\tgo\tVERB\tVBP\t_\t0\troot\t_\t_\n3\thome{n}\thome\tADV\tRB\t_\t2\tadvmod\t_\t_\n\n",
    "srl": "# sent_id = {n}\n0\tWe\tPRP\t(TOP(S(NP*)\t-\t-\t(ARG0*)\n"
    "1\tgo\tVBP\t(VP*\tgo\tgo.02\t(V*)\n2\thome{n}\tRB\t(ADVP*))))\t-\t-\t(ARG1*)\n\n",
    "penman": "# ::id {n}\n# ::snt We go home.\n(g / go-02\n      :ARG0 (w / we)\n"
    "      :ARG4 (h / home{n}))\n\n",
    "semeval": '{n}\t"The <e1>cat</e1> left the <e2>house{n}</e2>."\n'
    "Entity-Origin(e1,e2)\nComment:\n\n",
    "ppi": '<sentence id="{n}" text="Raf binds Ras."><entity id="{n}a" charOffset="0-2" '
    'text="Raf" type="p"/><entity id="{n}b" charOffset="10-12" text="Ras" type="p"/>'
    '<pair id="{n}p" e1="{n}a" e2="{n}b" interaction="True"/><sentenceanalyses><parses>'
    '<parse parser="split_parse" tokenizer="split"><dependency t1="t2" t2="t1" type="nsubj"/>'
    '<dependency t1="t2" t2="t3" type="dobj"/></parse></parses><tokenizations>'
    '<tokenization tokenizer="split"><token POS="NN" charOffset="0-2" id="t1" text="Raf"/>'
    '<token POS="VBZ" charOffset="4-8" id="t2" text="binds"/>'
    '<token POS="NN" charOffset="10-12" id="t3" text="Ras"/></tokenization></tokenizations>'
    "</sentenceanalyses></sentence>\n",
    "ddi": '<sentence id="{n}" text="Raf binds Ras."><entity id="{n}a" charOffset="0-2" '
    'text="Raf" type="drug"/><entity id="{n}b" charOffset="10-12" text="Ras" type="drug"/>'
    '<pair id="{n}p" e1="{n}a" e2="{n}b" ddi="true" type="int"/></sentence>\n',
    "pubmed": "<PubmedArticle><MedlineCitation><PMID>{n}</PMID><Article><Journal><Title>Letters"
    "</Title></Journal><ArticleTitle>On <i>Raf</i>.</ArticleTitle><Abstract><AbstractText "
    f"Label='AIM'>{PROSE}</AbstractText></Abstract><AuthorList>"
    + "<Author><LastName>Poe</LastName><ForeName>Ann</ForeName></Author>" * 5
    + "</AuthorList></Article><MeshHeadingList>"
    + "<MeshHeading><DescriptorName UI='D1'>Cells</DescriptorName></MeshHeading>" * 8
    + "</MeshHeadingList></MedlineCitation></PubmedArticle>\n",
    "medline": f"PMID- {{n}}\nTI  - On Raf.\nAB  - AIM: {PROSE}\nFAU - Poe, Ann\n\n",
    "jats": "<article><front><article-meta><article-id pub-id-type='pmc'>{n}</article-id>"
    "<title-group><article-title>On Raf</article-title></title-group></article-meta></front><body>"
    + f"<sec><title>Results</title><p>{PROSE} [<xref ref-type='bibr'>1</xref>].</p></sec>" * 10
    + "</body><back><ref-list>"
    + "<ref><name><surname>Poe</surname></name></ref>" * 20
    + "</ref-list></back></article>\n",
    "records": f'{{{{"pmid": {{n}}, "title": "On Raf", "abstract": "{PROSE}", "year": 2001}}}}\n',
    "csv": f'{{n}},On Raf,"{PROSE}",2001\n',
    "tsv": f"{{n}}\tOn Raf\t{PROSE}\t2001\n",
    "spert": '{{"tokens": ["Ann", "lives", "in", "Oslo", "."], "entities": [{{"type": "Peop", '
    '"start": 0, "end": 1}}, {{"type": "Loc", "start": 3, "end": 4}}], "relations": [{{"type": '
    '"Live_In", "head": 0, "tail": 1}}], "orig_id": {n}}},\n',
    "tacred": '{{"id": "{n}", "docid": "{n}", "relation": "no_relation", "token": ["Ann", "is", '
    '"Danish"], "subj_start": 0, "subj_end": 0, "obj_start": 2, "obj_end": 2, "subj_type": "X", '
    '"obj_type": "Y", "stanford_pos": ["NNP", "VBZ", "JJ"], "stanford_head": [3, 3, 0], '
    '"stanford_deprel": ["nsubj", "cop", "ROOT"]}},\n',
    "scierc": '{{"doc_key": "{n}", "sentences": [["Trees", "help", "."], ["They", "do", "."]], '
    '"ner": [[[0, 0, "Method"]], [[3, 3, "Generic"], [4, 4, "Task"]]], '
    '"relations": [[], [[3, 3, 4, 4, "USED-FOR"]]], "clusters": []}}\n',
    "docred": '{{"vertexSet": [[{{"name": "Ann", "sent_id": 0, "pos": [0, 1], "type": "PER"}}], '
    '[{{"name": "Oslo", "sent_id": 0, "pos": [3, 4], "type": "LOC"}}]], "labels": [{{"h": 0, '
    '"t": 1, "r": "P19", "evidence": [0]}}], "title": "{n}", '
    '"sents": [["Ann", "is", "from", "Oslo", "."]]}},\n',
    "labelstudio": '{{"id": {n}, "data": {{"text": "Raf binds Ras."}}, "annotations": [{{"result": '
    '[{{"id": "a", "from_name": "label", "to_name": "text", "type": "labels", "value": {{"start": '
    '0, "end": 3, "text": "Raf", "labels": ["protein"]}}}}, {{"id": "b", "from_name": "label", '
    '"to_name": "text", "type": "labels", "value": {{"start": 10, "end": 13, "text": "Ras", '
    '"labels": ["protein"]}}}}, {{"type": "relation", "from_id": "a", "to_id": "b", "direction": '
    '"right", "labels": ["binds"]}}]}}]}},\n',
    "doccano": '{{"id": {n}, "text": "Raf binds Ras.", "entities": [{{"id": 1, "label": "protein", '
    '"start_offset": 0, "end_offset": 3}}, {{"id": 2, "label": "protein", "start_offset": 10, '
    '"end_offset": 13}}], "relations": [{{"id": 1, "from_id": 1, "to_id": 2, '
    '"type": "binds"}}]}}\n',
    "prodigy": '{{"text": "Raf binds Ras.", "tokens": [{{"text": "Raf", "start": 0, "end": 3, '
    '"id": 0}}, {{"text": "Ras", "start": 10, "end": 13, "id": 1}}], "spans": [{{"start": 0, '
    '"end": 3, "label": "protein"}}, {{"start": 10, "end": 13, "label": "protein"}}], '
    '"relations": [{{"head": 0, "child": 1, "label": "binds"}}], "answer": "accept"}}\n',
}


def abstract() -> tuple[str, list[tuple[int, str, str, str]]]:
    """Return a text of 1,500 characters with 15 mentions: start, text, type and id."""
    words = (
        "The effect of naproxen on ulcers was studied in patients with a TP53 mutation who took "
        "warfarin for at least two weeks before the trial began and had no other disease."
    )
    title, text = "Naproxen and warfarin in patients with ulcers", ""
    while len(text) < 1450:
        text += f"{words} "
    whole = f"{title}\n{text.strip()}"
    ids = {"naproxen": ("Chemical", "MESH:D009288"), "ulcers": ("Disease", "MESH:D014456"),
           "TP53": ("Gene", "7157"), "warfarin": ("Chemical", "MESH:D014859")}  # fmt: skip
    found = [(m.start(), m[0], *ids[m[0]]) for m in re.finditer("|".join(ids), whole)]
    return whole, found[:15]


def biomedical() -> dict[str, str]:
    """Return a document with as many mentions as those of PubTator3 have."""
    text, mentions = abstract()
    title, _, rest = text.partition("\n")
    lines = [f"{{n}}|t|{title}", f"{{n}}|a|{rest}"]
    xml, objects = [], []
    for number, (start, word, kind, one) in enumerate(mentions, start=1):
        lines.append(f"{{n}}\t{start}\t{start + len(word)}\t{word}\t{kind}\t{one}")
        xml.append(
            f'<annotation id="{number}"><infon key="identifier">{one}</infon>'
            f'<infon key="type">{kind}</infon><location offset="{start}" length="{len(word)}"/>'
            f"<text>{word}</text></annotation>"
        )
        objects.append(
            {"id": str(number), "infons": {"identifier": one, "type": kind}, "text": word,
             "locations": [{"offset": start, "length": len(word)}]}
        )  # fmt: skip
    passage = {"offset": 0, "infons": {"type": "abstract"}, "text": text, "annotations": objects}
    document = {"id": "#", "infons": {}, "passages": [passage], "relations": []}
    braces = str.maketrans({"{": "{{", "}": "}}"})
    return {
        "pubtator": "\n".join([*lines, "", ""]),
        "bioc": "<document><id>{n}</id><passage><infon key='type'>abstract</infon>"
        f"<offset>0</offset><text>{text}</text>{''.join(xml)}</passage></document>\n",
        "bioc-json": json.dumps(document).translate(braces).replace("#", "{n}") + ",\n",
    }


PARTS |= biomedical()
AROUND = {
    "spert": ("[\n", '{"tokens": [], "entities": []}]\n'),
    "tacred": (
        "[\n",
        '{"token": ["a"], "subj_start": 0, "subj_end": 0, "obj_start": 0, "obj_end": 0}]\n',
    ),
    "docred": ("[\n", '{"sents": [], "vertexSet": []}]\n'),
    "labelstudio": ("[\n", '{"data": {"text": ""}, "annotations": []}]\n'),
    "bioc": ("<collection><source>x</source>\n", "</collection>\n"),
    "bioc-json": ('{"documents": [\n', '{"id": "last", "passages": []}]}\n'),
    "ppi": ('<corpus source="x"><document id="d">\n', "</document></corpus>\n"),
    "ddi": ('<document id="d">\n', "</document>\n"),
    "pubmed": ("<PubmedArticleSet>\n", "</PubmedArticleSet>\n"),
    "jats": ("<pmc-articleset>\n", "</pmc-articleset>\n"),
    "csv": ("pmid,title,abstract,year\n", ""),
    "tsv": ("pmid\ttitle\tabstract\tyear\n", ""),
}


class Stream(io.RawIOBase):
    """A file of so many bytes that is never anywhere as a whole."""

    def __init__(self, name: str, size: int) -> None:
        self._chunks = self._make(name, size)
        self._rest = b""

    @staticmethod
    def _make(name: str, size: int) -> Iterator[bytes]:
        begin, end = AROUND.get(name, ("", ""))
        yield begin.encode()
        made, number = 0, 0
        while made < size:
            chunk = "".join(PARTS[name].format(n=number + i) for i in range(200)).encode()
            number += 200
            made += len(chunk)
            yield chunk
        yield end.encode()

    def readable(self) -> bool:  # noqa: D102
        return True

    def read(self, size: int = -1) -> bytes:  # noqa: D102
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return b""
            self._rest = chunk
        taken, self._rest = self._rest[:size], self._rest[size:]
        return taken


def run(name: str, megabytes: float) -> dict[str, float]:
    """Read a stream to its end in this process."""
    import resource

    started = time.process_time()
    with iter_read(Stream(name, int(megabytes * 1e6)), format=name) as stream:
        count = sum(1 for _ in stream)
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"examples": count, "seconds": seconds, "peak MB": peak}


def in_new_process(name: str, megabytes: float) -> dict[str, float]:
    command = [sys.executable, __file__, "--run", name, "--megabytes", str(megabytes)]
    finished = subprocess.run(command, capture_output=True, check=True, text=True)
    return json.loads(finished.stdout)


CUT = ("jsonl", "records", "csv", "tsv", "pubmed", "medline", "pubtator", "conllu")
SEGMENT = 8_000_000  # bytes


def cpu(work: Callable[[], Iterable[object]], repeats: int = 3) -> tuple[int, float]:
    """Return the number of results and the least CPU seconds."""
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        count = sum(1 for _ in work())
        seconds.append(time.process_time() - started)
    return count, min(seconds)


def segments(name: str, megabytes: float, folder: Path) -> Iterator[dict[str, object]]:
    """Yield rows for a plain file and a compressed one."""
    for suffix, opened in (("", open), (".gz", gzip.open)):
        path = folder / f"{name}{suffix}"
        with opened(path, "wb") as file:
            shutil.copyfileobj(Stream(name, int(megabytes * 1e6)), file)
        cut = list(cut_inputs(path, name, texts=False, size=SEGMENT))
        n_segments, cutting = cpu(lambda p=path: cut_inputs(p, name, texts=False, size=SEGMENT))
        _, whole = cpu(lambda p=path: iter_read(p, name))
        _, apart = cpu(lambda c=cut: (e for s in c for e in read_segments([s], texts=False)))
        yield {
            "format": f"{name}{suffix}",
            "segments": n_segments,
            "cut, MB/s of CPU": megabytes / cutting,
            "read, s": whole,
            "segments, s": apart,
            "ratio": apart / whole,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--run", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--segments", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.run:
        print(json.dumps(run(options.run, options.megabytes)))
        return
    rows: list[dict[str, object]] = []
    if options.segments:
        with tempfile.TemporaryDirectory() as folder:
            for name in [options.only] if options.only else CUT:
                rows += segments(name, options.megabytes, Path(folder))
        print(json.dumps(rows)) if options.json else show_table("segments", rows, digits=2)
        return
    for name in [options.only] if options.only else PARTS:
        small = in_new_process(name, options.megabytes / 10)
        large = in_new_process(name, options.megabytes)
        rows.append(
            {
                "format": name,
                "examples": large["examples"],
                "MB/s of CPU": options.megabytes / large["seconds"],
                "peak MB, a tenth": small["peak MB"],
                "peak MB, all": large["peak MB"],
            }
        )
    print(json.dumps(rows)) if options.json else show_table(
        f"streams of {options.megabytes:g} MB", rows, digits=1
    )


if __name__ == "__main__":
    main()
