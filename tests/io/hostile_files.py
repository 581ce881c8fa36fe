"""Files made to cost more than their size, for every format."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain, count, product
from string import ascii_letters

# Format -> (what comes first, what is repeated, what comes last); %d is a number that grows, %s a
# short word that is always another.
REPEATED: dict[str, dict[str, tuple[str, str, str]]] = {
    "penn": {
        "lines with open brackets": ("", "(a\n", ""),
        "open brackets": ("", "(", ""),
        "open brackets with labels": ("", "(a%d ", ""),
        "tiny trees": ("", "(a)\n", ""),
        "tiny trees on one line": ("", "(a)", ""),
        "closing brackets": ("(a", ")", ""),
        "one wide tree": ("(a", " b%d", ")"),
        "open quotes": ("", '("\n', ""),
        "words": ("", "a\n", ""),
    },
    "conllu": {
        "columns": ("1\ta", "\t_", "\n"),
        "words of one sentence": ("", "%d\ta\t_\t_\t_\t_\t0\tx\t_\t_\n", "\n"),
        "tiny lines of one sentence": ("", "1\n", ""),
        "tiny sentences": ("", "1\n\n", ""),
        "features": ("1\ta\t_\t_\t_\t", "a%d=b|", "\t0\tx\t_\t_\n"),
        "dependencies": ("1\ta\t_\t_\t_\t_\t0\tx\t", "0:x|", "\t_\n"),
        "comments": ("", "#a%d = b\n", "1\ta\t_\t_\t_\t_\t0\tx\t_\t_\n"),
    },
    "srl": {
        "open brackets of a tree": ("0\tw\tN\t", "(a", "*\t-\t-\n"),
        "open roles": ("0\tw\tN\t*\t-\tw.01\t", "(a", "*\n"),
        "columns": ("0\tw\tN\t*\t-\t-", "\t*", "\n"),
        "words of one sentence": ("", "0\tw\tN\t*\t-\t-\n", "\n"),
        "tiny lines of one sentence": ("", "0\n", ""),
        "tiny sentences": ("", "0\n\n", ""),
        "comments": ("", "#a%d\n", "0\tw\tN\t*\t-\t-\n"),
    },
    "penman": {
        "lines with open brackets": ("", "(a\n", ""),
        "nested graphs": ("", "(a%d / b :c ", ""),
        "many attributes": ("(a / b", " :c %d", ")\n"),
        "tiny graphs": ("", "(a / b)\n\n", ""),
        "comments with keys": ("", "# ::k%d v\n", "(a / b)\n"),
        "keys of one comment": ("# ", "::k%d ", "\n(a / b)\n"),
        "tokens": ("# ::tok ", "a ", "\n(a / b)\n"),
        "lines of a graph": ("(a / b\n", ":c 1\n", ")\n"),
        "quotes": ('(a / "', '\\" ', "\n"),
    },
    "ppi": {
        "nested elements": ("<corpus>", "<a>", ""),
        "empty sentences": ("<corpus><document>", '<sentence id="%d" text="a"/>', ""),
        "tokens": (
            '<corpus><document><sentence id="s" text="a"><tokenization tokenizer="t">',
            '<token id="%d" charOffset="0-0" text="a"/>',
            "</tokenization></sentence></document></corpus>",
        ),
        "entities": (
            '<corpus><document><sentence id="s" text="a">',
            '<entity id="%d" charOffset="0-0" text="a" type="b"/>',
            "</sentence></document></corpus>",
        ),
        "empty elements": ('<corpus><document><sentence id="s" text="a">', "<entity/>", ""),
        "attributes": ("<corpus><document ", 'a%d="" ', "></document></corpus>"),
        "offsets": (
            '<corpus><document><sentence id="s" text="a"><entity id="e" text="a" charOffset="',
            "0-0,",
            '"/></sentence></document></corpus>',
        ),
    },
    "ddi": {
        "nested elements": ("<document>", "<a>", ""),
        "empty sentences": ('<document id="d">', '<sentence id="%d" text="a"/>', ""),
        "pairs": (
            '<document id="d"><sentence id="s" text="a">',
            '<pair id="%d" e1="e" e2="e" ddi="true"/>',
            "</sentence></document>",
        ),
    },
    "semeval": {
        "tokens": ('1\t"<e1>a</e1> <e2>b</e2>', " <", '"\nOther\n\n'),
        "tiny parts": ("", "1\n\n", ""),
        "numbered parts": ("", '%d\t"<e1>a</e1> <e2>b</e2>"\nOther\n\n', ""),
        "tags": ('1\t"', "<e1>", '"\n'),
    },
    "pubtator": {
        "titles": ("", "%d|t|a\n", ""),
        "mentions": ("1|t|a\n", "1\t0\t1\ta\tG\t-\n", ""),
        "ids of a mention": ("1|t|a\n1\t0\t1\ta\tG\t", "%d;", "\n"),
        "relations": ("1|t|a\n1\t0\t1\ta\tG\tx\n", "1\tr\tx\tx\n", ""),
        "words": ("", "a\n", ""),
    },
    "bioc": {
        "nested elements": ("<collection><document>", "<a>", ""),
        "documents": ("<collection>", "<document><id>%d</id></document>", "</collection>"),
        "annotations": ("<collection><document><id>1</id>", "<annotation/>", ""),
        "nodes": ("<collection><document><relation>", "<node/>", ""),
        "infons": ("<collection><document>", '<infon key="%d">a</infon>', ""),
        "passages": (
            "<collection><document><id>1</id>",
            "<passage><offset>0</offset><text>a</text></passage>",
            "</document></collection>",
        ),
    },
    "bioc-json": {
        "open brackets": ('{"documents":[', "[", ""),
        "open objects": ('{"documents":[', '{"a":', ""),
        "documents": ('{"documents":[', '{"id":"%d","passages":[]},', ""),
        "passages": ('{"id":"1","passages":[', '{"offset":0,"text":"a"},', '{"offset":0}]}'),
        "junk": ('{"documents":[{"id":"1"', "}%d", ""),
        "annotations": (
            '{"id":"1","passages":[{"offset":0,"text":"a","annotations":[',
            '{"id":"a","locations":[]},',
            '{"id":"b"}]}]}',
        ),
    },
    "kelp": {
        "lines": ("", "|\n", ""),
        "open brackets": ("|BT:t| ", "(a", " |ET|\n"),
        "features": ("|BV:v| ", "a%d:1 ", "|EV|\n"),
        "numbers": ("|BDV:v| ", "1 ", "|EDV|\n"),
        "views": ("", "|BS:a%d| a |ES| ", "\n"),
        "labels": ("", "a%d ", "|BS:t| a |ES|\n"),
        "tiny examples": ("", "a |BS:t| a |ES|\n", ""),
    },
    "jsonl": {
        "open brackets": ('{"views":', "[", ""),
        "open objects": ('{"views":', '{"a":', ""),
        "numbers": ('{"views":{"a":[', "1,", "1]}}\n"),
        "empty lists": ('{"views":{"a":[', "[],", "[]]}}\n"),
        "empty objects": ('{"views":{"a":[', "{},", "{}]}}\n"),
        "keys": ('{"views":{"a":{"vector":{', '"%d":1,', '"a":1}}}}\n'),
        "repeated keys": ('{"views":{', '"a":1,', '"a":1}}\n'),
        "tiny lines": ("", "{\n", ""),
        "tiny examples": ("", '{"views":{}}\n', ""),
        "tree": ('{"views":{"t":{"tree":"', "(a", '"}}}\n'),
        "digits": ('{"views":{"a":[', "9", "]}}\n"),
        "escapes": ('{"views":{"a":"', "\\u0061", '"}}\n'),
        "tokens": (
            '{"views":{"s":{"sentence":{"text":"a","tokens":[',
            '["a",0,1],',
            '["a",0,1]]}}}}\n',
        ),
    },
    "spert": {
        "junk": ('[{"tokens":[]', "}%d", ""),
        "tokens": ('[{"entities":[],"relations":[],"tokens":[', '"a",', '"a"]}]'),
        "tiny objects": ("[", "{},", "{}]"),
        "brackets": ("[", "[],", "[]]"),
        "entities": ('[{"tokens":["a"],"relations":[],"entities":[', "{},", "{}]}]"),
    },
    "tacred": {"tiny objects": ("[", "{},", "{}]"), "tokens": ('[{"token":[', '"a",', '"a"]}]')},
    "scierc": {
        "tiny lines": ("", "{}\n", ""),
        "sentences": ('{"sentences":[', '["a"],', '["a"]]}\n'),
        "entities": ('{"doc_key":"d","sentences":[["a"]],"ner":[[', '[0,0,"a"],', '[0,0,"a"]]]}\n'),
    },
    "docred": {
        "tiny objects": ("[", "{},", "{}]"),
        "mentions": (
            '[{"title":"a","sents":[["a"]],"vertexSet":[[',
            '{"name":"a","sent_id":0,"pos":[0,1],"type":"a"},',
            '{"name":"a","sent_id":0,"pos":[0,1],"type":"a"}]]}]',
        ),
        "clusters": ('[{"title":"a","sents":[["a"]],"vertexSet":[', "[],", "[]]}]"),
    },
    "labelstudio": {
        "junk": ('[{"id":1', "}%d", ""),
        "tasks": ("[", '{"data":{"text":"a"}},', '{"data":{"text":"a"}}]'),
        "results": ('[{"data":{"text":"a"},"annotations":[{"result":[', "{},", "{}]}]}]"),
    },
    "doccano": {
        "tiny lines": ("", '{"text":"a"}\n', ""),
        "labels": ('{"text":"a","label":[', '[0,1,"a"],', '[0,1,"a"]]}\n'),
        "broken lines": ("", "{\n", ""),
    },
    "prodigy": {
        "tiny lines": ("", '{"text":"a"}\n', ""),
        "tokens": ('{"text":"a","tokens":[', '{"start":0,"end":1},', '{"start":0,"end":1}]}\n'),
        "broken lines": ("", "(a\n", ""),
    },
    "pubmed": {
        "nested elements": ("<PubmedArticleSet><PubmedArticle>", "<a>", ""),
        "articles": (
            "<PubmedArticleSet>",
            "<PubmedArticle><PMID>%d</PMID></PubmedArticle>",
            "</PubmedArticleSet>",
        ),
        "abstracts": (
            "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article><Abstract>",
            "<AbstractText Label='A%d'>a</AbstractText>",
            "</Abstract></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>",
        ),
    },
    "medline": {
        "fields": ("PMID- 1\n", "AB  - a\n", ""),
        "continued lines": ("PMID- 1\nAB  - a\n", "      a\n", ""),
        "tiny citations": ("", "PMID- %d\n\n", ""),
        "labels": ("PMID- 1\nAB  - ", "A: b. ", "\n"),
        "words": ("", "a\n", ""),
    },
    "jats": {
        "nested sections": ("<article><body>", "<sec><title>a</title><p>b", ""),
        "sections": ("<article><body>", "<sec><title>a%d</title><p>b</p></sec>", ""),
        "articles": ("<pmc-articleset>", "<article/>", "</pmc-articleset>"),
        "captions": ("<article><body><sec><p>", "<fig><caption><p>a</p></caption></fig>", ""),
    },
    "records": {
        "tiny records": ("", '{"text":"a"}\n', ""),
        "records of an array": ("[", '{"text":"a"},', '{"text":"a"}]'),
        "junk": ("[", '"a",', ""),
        "fields": ('{"text":"a"', ',"a%d":1', "}\n"),
        "backslashes": ('{"text":"a', "\\", '"}\n'),
    },
    "csv": {
        "columns": ("id,text", ",a%d", "\n"),
        "fields of a record": ("id,text\n1,a", ",b", "\n"),
        "tiny records": ("id,text\n", "1\n", ""),
        "records": ("id,text\n", "%d,a\n", ""),
        "quotation marks": ("id,text\n1,", '"', "\n"),
        "lines of a field": ('id,text\n1,"', "a\n", '"\n'),
    },
    "tsv": {
        "columns": ("id\ttext", "\ta%d", "\n"),
        "tiny records": ("id\ttext\n", "1\n", ""),
        "records": ("id\ttext\n", "%d\ta\n", ""),
    },
    "text": {"tokens": ("", "a.\n", ""), "letters": ("", "a", "")},
    "standoff": {
        "entities": ("", "T%d\tA 0 1\tR\n", ""),
        "spans": ("T1\tA 0 1", ";0 1", "\tR\n"),
        "arguments": ("T1\tA 0 1\tR\nE1\tA:T1", " x:T1", "\n"),
        "members": ("T1\tA 0 1\tR\n*\tEquiv", " T1", "\n"),
        "comments": ("", "#\n", ""),
        "words": ("", "a\n", ""),
    },
    "chemprot": {
        "words": ("", "a%d\n", ""),
        "rows of one document": ("", "27\tT%d\tG\t0\t3\tRaf\n", ""),
        "columns": ("27", "\ta", "\n"),
    },
    "claims": {
        "broken lines": ("", "A\n", ""),
        "entities": ('{"text":"a","entities":[', '{"id":"%d","start":0,"end":1},', "{}]}\n"),
        "open objects": ("", '{"a":', ""),
    },
    "triples": {
        "triples": ('{"text":"a b","relations":[', '["a","x","b"],', '["a","x","b"]]}\n'),
        "frequent mentions": (
            f'{{"text":"{"a b " * 1000}","relations":[',
            '["a","x%d","b"],',
            '["a","x","b"]]}\n',
        ),
        "other mentions": (
            f'{{"text":"{"a" * 400_000}","relations":[',
            '["a%d","x","b%d"],',
            '["a","x","b"]]}\n',
        ),
        "tokens of a text": ('{"relations":[["a","x","b"]],"text":"a b', " ;", '"}\n'),
        "broken lines": ("", "(a\n", ""),
    },
    "rebel": {
        "triplets": ('{"text":"a b","output":"', "<triplet> a <subj> b <obj> c ", '"}\n'),
        "tokens of a text": (
            '{"output":"<triplet> A <subj> b <obj> c","text":"A. b',
            " &amp;",
            '"}\n',
        ),
    },
    "glirel": {
        "relations": (
            '{"tokens":["a","b"],"relations":[',
            '{"head_pos":[0,1],"tail_pos":[1,2],"label":"x"},',
            '{"head_pos":[0,1],"tail_pos":[1,2],"label":"x"}]}\n',
        ),
        "tokens": ('{"relations":[],"tokens":[', '"a",', '"a"]}\n'),
        "broken lines": ("", "\n{", ""),
    },
    "indra": {
        "participants": (
            '[{"type":"Complex","evidence":[{"text":"A and C."}],"members":[',
            '{"name":"C"},',
            '{"name":"A"}]}]',
        ),
        "complexes": (
            "[",
            '{"type":"Complex","evidence":[{"text":"A"}],"members":['
            + ",".join(['{"name":"A"}'] * 10)
            + "]},",
            "{}]",
        ),
        "evidence": (
            '[{"type":"A","enz":{"name":"A"},"sub":{"name":"B"},"evidence":[',
            '{"text":"A B"},',
            '{"text":"A B"}]}]',
        ),
    },
}


_ROW = "1\ta\t_\t_\t_\t_\t0\tx\t_\t_\n"
_DOCRED = '{"name":"a","sent_id":0,"pos":[0,1],"type":"a"}'
_ENTITY = '<entity id="e" charOffset="0-0" text="a" type="b"/>'
_MORE: dict[str, dict[str, tuple[str, str, str]]] = {
    "penn": {
        "other trees": ("", "(%s)\n", ""),
        "good and broken trees": ("", "(a\n(b)\n", ""),
        "blank lines": ("", "\n", "(a)\n"),
    },
    "conllu": {
        "small sentences": ("", f"{_ROW}\n", ""),
        "repeated ids": ("", f"# sent_id = a\n{_ROW}\n", ""),
        "empty nodes": (_ROW, "1.%d\ta\t_\t_\t_\t_\t_\t_\t0:x\t_\n", "\n"),
        "blank lines": ("", "\n", _ROW),
    },
    "srl": {
        "small sentences": ("", "0\tw\tN\t*\t-\t-\n\n", ""),
        "blank lines": ("", "\n", "0\tw\tN\t*\t-\t-\n"),
    },
    "penman": {
        "nodes": ("", "(a)\n", ""),
        "other nodes": ("", "(%s)\n", ""),
        "constants": ("", "(%s :b c)\n", ""),
        "broken graphs": ("", "(a b)\n", ""),
        "good and broken graphs": ("", "(a b)\n(a)\n", ""),
        "graphs with comments": ("", "#::a\n(a)\n", ""),
        "repeated ids": ("", "# ::id a\n(a)\n", ""),
        "reentrancies": ("(a / b", " :c a", ")\n"),
        "inverted roles": ("(a / b", " :c%d-of a", ")\n"),
        "alignments": ("# ::tok a\n(a / b", " :c~%d d~0", ")\n"),
        "blank lines": ("", "\n", "(a)\n"),
    },
    "ppi": {
        "pairs": (
            f'<corpus><document><sentence id="s" text="a">{_ENTITY}',
            '<pair id="%d" e1="e" e2="e" interaction="True"/>',
            "</sentence></document></corpus>",
        ),
        "repeated ids": ("<corpus><document>", '<sentence id="s" text="a"/>', ""),
    },
    "ddi": {"repeated ids": ('<document id="d">', '<sentence id="s" text="a"/>', "")},
    "semeval": {
        "repeated parts": ("", '1\t"<e1>a</e1> <e2>b</e2>"\nOther\n\n', ""),
        "blank lines": ("", "\n", ""),
    },
    "pubtator": {
        "repeated titles": ("", "1|t|a\n\n", ""),
        "pairs of mentions": (
            "1|t|a\n",
            "1\t0\t1\ta\tG\tx\n1\t0\t1\ta\tG\ty\n",
            "1\tr\tx\ty\n",
        ),
        "blank lines": ("", "\n", "1|t|a\n"),
    },
    "bioc": {
        "relations": (
            "<collection><document><id>1</id>",
            '<relation id="%d"><node refid="a" role="b"/></relation>',
            "</document></collection>",
        ),
        "repeated ids": ("<collection>", "<document><id>1</id></document>", "</collection>"),
    },
    "bioc-json": {
        "repeated ids": ('{"documents":[', '{"id":"1","passages":[]},', "{}]}"),
        "relations": (
            '{"id":"1","passages":[],"relations":[',
            '{"id":"a","nodes":[{"refid":"a","role":"b"}]},',
            "{}]}",
        ),
    },
    "kelp": {
        "other examples": ("", "%s |BS:t| a |ES|\n", ""),
        "trees": ("", "|BT:t|(%s)|ET|\n", ""),
        "good and broken lines": ("", "|\n" * 9 + "a |BS:t| a |ES|\n", ""),
        "blank lines": ("", "\n", "a |BS:t| a |ES|\n"),
        "letters": ("|BS:t| ", "a", " |ES|\n"),
    },
    "jsonl": {
        "repeated ids": ("", '{"id":"a","views":{}}\n', ""),
        "views": ('{"views":{', '"%s":"",', '"":""}}\n'),
        "texts": ("", '{"views":{"%s":""}}\n', ""),
        "sequence": ('{"views":{"a":{"sequence":[', '"",', '""]}}}\n'),
        "graph": ('{"views":{"a":{"graph":{"nodes":[', '"",', '""]}}}}\n'),
        "forest": ('{"views":{"a":{"forest":{"edges":[],"root":0,"labels":[', '"",', '""]}}}}\n'),
        "entities": (
            '{"views":{"a":{"document":{"text":"a","entities":[',
            '["%d","",[[0,1]]],',
            '["","",[[0,1]]]]}}}}\n',
        ),
        "blank lines": ("", "\n", '{"views":{}}\n'),
    },
    "spert": {
        "sentences": ("[", '{"tokens":["a"],"entities":[],"relations":[]},', "{}]"),
        "relations": (
            '[{"tokens":["a"],"entities":[{"type":"a","start":0,"end":1}],"relations":[',
            '{"type":"a","head":0,"tail":0},',
            '{"type":"a","head":0,"tail":0}]}]',
        ),
    },
    "tacred": {
        "sentences": (
            "[",
            '{"token":["a"],"subj_start":0,"subj_end":0,"obj_start":0,"obj_end":0},',
            "{}]",
        ),
    },
    "scierc": {
        "documents": ("", '{"doc_key":"%s","sentences":[["a"]]}\n', ""),
        "relations": (
            '{"doc_key":"d","sentences":[["a"]],"ner":[[[0,0,"a"]]],"relations":[[',
            '[0,0,0,0,"a"],',
            '[0,0,0,0,"a"]]]}\n',
        ),
    },
    "docred": {
        "documents": ("[", '{"title":"%s","sents":[["a"]],"vertexSet":[]},', "{}]"),
        "labels": (
            f'[{{"title":"a","sents":[["a"]],"vertexSet":[[{_DOCRED}],[{_DOCRED}]],"labels":[',
            '{"h":0,"t":1,"r":"a"},',
            '{"h":0,"t":1,"r":"a"}]}]',
        ),
    },
    "labelstudio": {
        "regions": (
            '[{"data":{"text":"a"},"annotations":[{"result":[',
            '{"id":"%d","type":"labels","value":{"start":0,"end":1,"labels":["a"]}},',
            "{}]}]}]",
        ),
    },
    "doccano": {
        "relations": (
            '{"text":"a","entities":[{"id":1,"label":"a","start_offset":0,"end_offset":1}],'
            '"relations":[',
            '{"id":%d,"from_id":1,"to_id":1,"type":"a"},',
            '{"id":0,"from_id":1,"to_id":1,"type":"a"}]}\n',
        ),
    },
    "prodigy": {
        "spans": (
            '{"text":"a","spans":[',
            '{"start":0,"end":1,"label":"a"},',
            '{"start":0,"end":1,"label":"a"}]}\n',
        ),
    },
    "pubmed": {
        "repeated ids": (
            "<PubmedArticleSet>",
            "<PubmedArticle><PMID>1</PMID></PubmedArticle>",
            "</PubmedArticleSet>",
        ),
    },
    "medline": {
        "citations": ("", "PMID- %s\nTI  - a\n\n", ""),
        "repeated ids": ("", "PMID- 1\nTI  - a\n\n", ""),
        "blank lines": ("", "\n", "PMID- 1\n"),
    },
    "jats": {
        "elements of a paragraph": ("<article><body><sec><p>", "<b>a</b>", "</p></sec></body>"),
        "letters": ("<article><body><p>", "a ", "</p></body></article>"),
    },
    "records": {
        "repeated ids": ("", '{"id":1,"text":"a"}\n', ""),
        "blank lines": ("", "\n", '{"text":"a"}\n'),
    },
    "csv": {
        "repeated ids": ("id,text\n", "1,a\n", ""),
        "texts": ("text\n", "a\n", ""),
        "quoted texts": ("text\n", '"a"\n', ""),
        "blank lines": ("text\n", "\n", "a\n"),
        "letters": ("text\n", "a", "\n"),
    },
    "tsv": {"texts": ("text\n", "a\n", ""), "blank lines": ("text\n", "\n", "a\n")},
    "text": {"blank lines": ("", "\n", ""), "brackets": ("", "(", "")},
    "standoff": {
        "relations": ("T1\tA 0 1\tR\n", "R%d\tA Arg1:T1 Arg2:T1\n", ""),
        "events": ("T1\tA 0 1\tR\n", "E%d\tA:T1\n", ""),
        "attributes": ("T1\tA 0 1\tR\n", "A%d\tN T1\n", ""),
        "notes": ("T1\tA 0 1\tR\n", "#%d\tN T1\ta\n", ""),
        "repeated ids": ("", "T1\tA 0 1\tR\n", ""),
        "blank lines": ("", "\n", ""),
    },
    "chemprot": {"other documents": ("", "%d\tT1\tG\t0\t3\tRaf\n", "")},
    "claims": {
        "claims": (
            "",
            '{"text":"ab","entities":[{"id":"a","start":0,"end":1},{"id":"b","start":1,"end":2}],'
            '"relation":{"type":"a","first":"a","second":"b"}}\n',
            "",
        ),
    },
    "triples": {
        "records": ("", '{"text":"a b","relations":[["a","x","b"]]}\n', ""),
        "repeated ids": ("", '{"id":1,"text":"a b","relations":[["a","x","b"]]}\n', ""),
    },
    "rebel": {
        "records": ("", '{"text":"a b","output":"<triplet>a<subj>b<obj>c"}\n', ""),
        "marks": ('{"text":"a b","output":"', "<obj>", '"}\n'),
    },
    "glirel": {"records": ("", '{"tokens":["a"],"relations":[]}\n', "")},
    "indra": {"statements": ("[", '{"type":"A"},', "{}]")},
}
for _form, _files in _MORE.items():
    REPEATED[_form] |= _files

# Format -> (what comes first, what is repeated, what comes between, what is repeated as often, what
# comes last).
TWICE: dict[str, dict[str, tuple[str, str, str, str, str]]] = {
    "penn": {
        "nested trees": ("", "(a ", "b", ")", "\n"),
        "nested brackets": ("", "(", "b", ")", "\n"),
        "nested lines": ("", "(a\n", "b", ")\n", "\n"),
    },
    "srl": {"nested constituents": ("0\tw\tN\t", "(a", "*", ")", "\t-\t-\n")},
    "penman": {"nested graphs that end": ("", "(a :b ", "(c", ")", ")\n")},
    "ppi": {"nested elements that end": ("<corpus>", "<a>", "", "</a>", "</corpus>")},
    "bioc": {
        "nested text": (
            "<collection><document><id>1</id><passage><offset>0</offset><text>",
            "<a>",
            "b",
            "</a>",
            "</text></passage></document></collection>",
        ),
    },
    "bioc-json": {"nested lists": ('{"documents":[', "[", "", "]", "]}")},
    "kelp": {"nested trees": ("|BT:t| ", "(a", "(b)", ")", " |ET|\n")},
    "jsonl": {
        "nested lists": ('{"views":{"a":', "[", "", "]", "}}\n"),
        "nested objects": ('{"views":{"a":', '{"a":', "1", "}", "}}\n"),
        "nested tree": ('{"views":{"a":{"tree":"', "(a", "(b)", ")", '"}}}\n'),
    },
    "spert": {"nested lists": ("[", "[", "", "]", "]")},
    "docred": {
        "pairs of mentions": (
            '[{"title":"a","sents":[["a"]],"labels":[{"h":0,"t":1,"r":"a"}],"vertexSet":[['
            + _DOCRED,
            "," + _DOCRED,
            "],[" + _DOCRED,
            "," + _DOCRED,
            "]]}]",
        ),
    },
    "records": {"nested lists": ('{"text":"a","b":', "[", "", "]", "}\n")},
    "labelstudio": {"nested lists": ('[{"data":', "[", "", "]", "}]")},
    "jats": {
        "nested sections that end": ("<article><body>", "<sec><p>a</p>", "", "</sec>", "</body>"),
    },
    "pubmed": {
        "nested titles": (
            "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article>"
            "<ArticleTitle>",
            "<i>",
            "a",
            "</i>",
            "</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>",
        ),
    },
    "claims": {"nested lists": ('{"text":', "[", "", "]", "}\n")},
    "triples": {"nested lists": ('{"text":"a","relations":', "[", "", "]", "}\n")},
    "indra": {"nested lists": ("[", "[", "", "]", "]")},
}


def hostile_names(form: str) -> list[str]:
    """Return the names of the files of a format."""
    return [*REPEATED.get(form, ()), *TWICE.get(form, ())]


def hostile_file(form: str, name: str, size: int) -> bytes:
    """Return the file of that name, of about ``size`` bytes."""
    if name in TWICE.get(form, ()):
        before, piece, middle, other, after = TWICE[form][name]
        n_pieces = max(0, size - len(before + middle + after)) // len(piece + other)
        return (before + piece * n_pieces + middle + other * n_pieces + after).encode()
    before, piece, after = REPEATED[form][name]
    room = max(0, size - len(before) - len(after))
    if "%d" not in piece and "%s" not in piece:
        return (before + piece * (room // len(piece.encode())) + after).encode()
    return b"".join([before.encode(), *_numbered(piece, room), after.encode()])


def _numbered(piece: str, room: int) -> Iterator[bytes]:
    n_places = piece.count("%d") + piece.count("%s")
    numbers: Iterable[object] = count()
    if "%s" in piece:  # words of three letters, then numbers
        words = map("".join, product(ascii_letters, repeat=3))
        numbers = chain(words, map(str, count()))
    for number in numbers:
        made = (piece % ((number,) * n_places)).encode()
        room -= len(made)
        if room < 0:
            return
        yield made


def hostile_archives(size: int) -> dict[str, bytes]:
    """Return archives of about ``size`` bytes with very many files."""
    import tarfile
    import zipfile

    def packed(content: bytes) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for number in range(size // (110 + len(content))):
                archive.writestr(f"{number}.mrg", content)
        return out.getvalue()

    bundle = io.BytesIO()
    with tarfile.open(fileobj=bundle, mode="w") as archive:
        for number in range(size // 512):
            archive.addfile(tarfile.TarInfo(f"{number}.mrg"))
    files = {"empty files": packed(b""), "trees": packed(b"(a)"), "broken files": packed(b"(")}
    return files | {
        "files of a tar": bundle.getvalue(),
        "tar, packed": gzip.compress(bundle.getvalue()),
    }


def hostile_docbins(size: int) -> dict[str, bytes]:
    """Return compressed spaCy files, of which the content has about ``size`` bytes."""
    import msgpack

    many = size // 3
    values = {
        "lists": [[]] * size,
        "strings": ["a"] * (size // 2),
        "keys": {f"{number}": 0 for number in range(size // 8)},
        "documents": {"tokens": [b""] * many, "lengths": b"", "strings": [], "attrs": []},
    }
    nested: dict[str, bytes] = {"depth": zlib.compress(b"\x91" * size)}
    return nested | {name: zlib.compress(msgpack.packb(value)) for name, value in values.items()}


def hostile_tables(size: int) -> dict[str, bytes]:
    """Return Parquet tables of at most ``size`` bytes that stand for far more."""
    import pyarrow
    from pyarrow import parquet

    def written(table: pyarrow.Table, **options: object) -> bytes:
        out = io.BytesIO()
        parquet.write_table(table, out, compression="zstd", **options)
        return out.getvalue()

    long = pyarrow.table({"text": pyarrow.array(["a" * 200_000] * 2000).dictionary_encode()})
    rows = pyarrow.table({"text": ["a"] * 300_000})
    columns = pyarrow.table({f"c{number}": ["a"] for number in range(3000)})
    groups = pyarrow.table({"text": ["a"] * 2000})
    made = {
        "long texts": written(long),
        "rows": written(rows),
        "columns": written(columns),
        "row groups": written(groups, row_group_size=1),
    }
    return {name: data for name, data in made.items() if len(data) <= size}
