"""Small files of every format, written for fuzzing, and tokens that their readers look for."""

from __future__ import annotations

import io
import zlib

SENTENCE = '{"text":"we go","tokens":[["we",0,2],["go",3,5]],"dependencies":[[1,"nsubj",0]]}'
SEEDS: dict[str, list[str]] = {
    "penn": ["( (S (NP (PRP We)) (VP (VBP go)) ))\n(S (NP Ærø) (VP waits))\n"],
    "kelp": ["NUM |BS:t| how many |ES| |BT:x| (A(B)(Ç)) |ET| |BV:v| a:1.0 |EV|\n"],
    "jsonl": [
        '{"id":"a","label":"N","views":{"tree":{"tree":"(A B Ç)"},"point":[1,2.5]}}\n',
        f'{{"views":{{"sentence":{{"sentence":{SENTENCE}}}}}}}\n',
        '{"labels":["NP","Ann"],"edges":[[0,[1],1.0]],"root":0}\n',
    ],
    "conllu": [
        "# sent_id = 1\n# text = Don't go.\n1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=Yes\n"
        "1\tDo\tdo\tAUX\tVB\t_\t3\taux\t3:aux\t_\n2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_\n"
        "3\tgo\tgo\tVERB\tVB\tMood=Imp\t0\troot\t0:root\tSpaceAfter=No\n"
        "3.1\tyou\tyou\tPRON\tPRP\t_\t_\t_\t3:nsubj\t_\n4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_\n\n",
    ],
    "srl": [
        "# sent_id = a\n0\tWe\tPRP\t(TOP(S(NP*)\t-\t-\t(ARG0*)\n"
        "1\tgo\tVB\t(VP*)\tgo\tgo.01\t(V*)\n2\t.\t.\t*))\t-\t-\t*\n\n",
    ],
    "penman": [
        "# ::id a.1 ::date now\n# ::tok We go\n(g / go-01~e.1\n   :ARG0 (w / we~e.0)\n"
        '   :time (n / name :op1 "x y"))\n\n# ::id a.2\n(c / cat :ARG0-of (s / sleep-01))\n',
    ],
    "ppi": [
        '<corpus source="x"><document id="d"><sentence id="s" text="Raf cuts Ras.">'
        '<entity id="e1" charOffset="0-2" text="Raf" type="p"/>'
        '<entity id="e2" charOffset="9-9,11-11" text="R s" type="p"/>'
        '<pair e1="e1" e2="e2" id="p" interaction="True"/><sentenceanalyses>'
        '<parses><parse parser="split_parse" tokenizer="split">'
        '<dependency id="d1" t1="t2" t2="t1" type="nsubj"/></parse></parses>'
        '<tokenizations><tokenization tokenizer="split">'
        '<token POS="NN" charOffset="0-2" id="t1" text="Raf"/>'
        '<token POS="VB" charOffset="4-7" id="t2" text="cuts"/></tokenization></tokenizations>'
        "</sentenceanalyses></sentence></document></corpus>",
    ],
    "ddi": [
        '<document id="d"><sentence id="d.s0" text="Aspirin cuts warfarin.&#xd;&#xa;">'
        '<entity id="e1" charOffset="0-6" type="drug" text="Aspirin"/>'
        '<entity id="e2" charOffset="13-15;17-20" type="drug" text="war arin"/>'
        '<pair id="p" e1="e1" e2="e2" ddi="true" type="effect"/></sentence></document>',
    ],
    "semeval": [
        '1\t"The <e1>cat</e1> left the <e2>house</e2>."\nEntity-Origin(e1,e2)\nComment: no\n\n'
        '2\t"A <e1>dog</e1> saw a <e2>bird</e2>."\nOther\nComment:\n\n',
    ],
    "pubtator": [
        "27|t|Naproxen and ülcers\n27|a|Naproxen may cause ulcers.\n"
        "27\t20\t28\tNaproxen\tChemical\tMESH:D009288;D1\tx|y\n"
        "27\t39\t45\tulcers\tDisease\tMESH:D014456\n"
        "27\tCID\tMESH:D009288\tMESH:D014456\tNovel\n\n28|t|We go.\n\n",
    ],
    "bioc": [
        '<!DOCTYPE collection SYSTEM "BioC.dtd"><collection><source>x</source><document><id>7</id>'
        '<infon key="year">2020</infon><passage><infon key="type">title</infon><offset>0</offset>'
        '<text>Raf binds Räs.</text><annotation id="1"><infon key="type">Gene</infon>'
        '<infon key="identifier">5894</infon><location offset="0" length="3"/><text>Raf</text>'
        '</annotation><annotation id="2"><infon key="MESH">D1,D2</infon><location offset="10" '
        'length="1"/><location offset="12" length="1"/><text>R s</text></annotation></passage>'
        "<passage><offset>16</offset><sentence><offset>17</offset><text>It does.</text></sentence>"
        '</passage><relation id="R1"><infon key="type">Bind</infon><node refid="1" role="a"/>'
        '<node refid="2" role="b"/></relation><relation id="E1"><node refid="1" role="Trigger"/>'
        '<node refid="E1" role="Cause"/></relation><relation id="R2"><infon key="entity1">5894'
        '</infon><infon key="entity2">D1</infon></relation></document></collection>',
    ],
    "bioc-json": [
        '{"source":"x","infons":{"a":[1]},"documents":[{"id":"7","infons":{"year":2020},"passages":'
        '[{"offset":0,"infons":{"type":"title"},"text":"Raf binds Räs.","annotations":[{"id":"1",'
        '"infons":{"type":"Gene","identifier":"5894","valid":true},"text":"Raf","locations":'
        '[{"offset":0,"length":3}]},{"id":2,"infons":{"MESH":"D1;D2","name":"x|y"},"text":"R s",'
        '"locations":[{"offset":10,"length":1},{"offset":"12","length":"1"}]}]}],"relations":'
        '[{"id":"R1","infons":{"type":"Bind"},"nodes":[{"refid":"1","role":"a"},{"refid":2,'
        '"role":"b"}]},{"id":"R2","infons":{"role1":{"identifier":"5894"},"role2":"Gene|D1"},'
        '"nodes":[]},{"id":"E1","nodes":[{"refid":"1","role":"Trigger"},{"refid":"R1","role":"x"}]}'
        ']},\n{"id": "8", "passages": []}]}',
        '{"id":"7","passages":[{"offset":0,"text":"Raf"}]}\n{"pmid":8,"passages":[]}\n',
    ],
    "chemprot": [
        "27\tT1\tCHEMICAL\t0\t3\tRaf\n27\tT2\tGENE-Y\t10\t13\tRas\n",
        "27\tCPR:4\tY\tINHIBITOR\tArg1:T1\tArg2:T2\n27\tPART-OF\tArg1:T2\tArg2:T1\n",
        "27\tRaf binds Ras now.\tIt does, née.\n28\tNothing\tWe go.\n",
    ],
    "standoff": [
        "T1\tProtein 0 3\tRaf\nT2\tBinding 4 9\tbinds\nT3\tProtein 10 11;12 13\tR s\n"
        "E1\tBinding:T2 Theme:T1 Theme2:T3\nE2\tRegulation:T2 Theme:E1\nM1\tNegation E1\n"
        "R1\tPart Arg1:T1 Arg2:T3\n*\tEquiv T1 T3\n#1\tAnnotatorNotes T1\tnote\n",
    ],
    "pubmed": [
        "<!DOCTYPE PubmedArticleSet PUBLIC 'a' 'b'><PubmedArticleSet><PubmedArticle>"
        "<MedlineCitation><PMID>1</PMID><Article><Journal><Title>J</Title></Journal>"
        "<ArticleTitle>On <i>Raf</i> &alpha;</ArticleTitle><Abstract>"
        "<AbstractText Label='AIM'>We ask <mml:math><mml:mi>x</mml:mi></mml:math>.</AbstractText>"
        "</Abstract><AuthorList><Author/></AuthorList></Article></MedlineCitation><PubmedData>"
        "<ArticleIdList><ArticleId IdType='doi'>10.1/a</ArticleId></ArticleIdList></PubmedData>"
        "</PubmedArticle><DeleteCitation><PMID>2</PMID></DeleteCitation></PubmedArticleSet>",
    ],
    "medline": [
        "PMID- 1\nTI  - On\n      Raf.\nAB  - AIM: We ask.\nLID - 10.1/a [doi]\n\nPMID- 2\n"
    ],
    "jats": [
        "<pmc-articleset><article><front><article-meta><article-id pub-id-type='pmc'>1"
        "</article-id><title-group><article-title>Raf</article-title></title-group><abstract>"
        "<sec><title>Aim</title><p>We ask.</p></sec></abstract></article-meta></front><body><sec>"
        "<title>Results</title><p>Raf [<xref ref-type='bibr'>1</xref>] <list><list-item><p>one</p>"
        "</list-item></list> binds <fig><label>1</label><caption><p>Cap</p></caption></fig>.</p>"
        "</sec></body><back><ref-list/></back></article></pmc-articleset>",
    ],
    "records": [
        '{"pmid": 1, "title": "On Raf", "abstract": "It binds.", "n": [1.5]}\n{"pmid": 2}\n',
        '[{"id": "a", "text": "Raf"}, {"id": "b", "text": "Ras"}]',
    ],
    "csv": ['id,text,year\n1,"Raf, ""binds""\nRas",2001\n2,b,\n', "id;text\n1;Raf\n"],
    "tsv": ['id\ttext\n1\tRaf binds\n2\t"Ras\t"\n'],
}
SEEDS |= {
    "spert": [
        '[{"tokens":["Ann","left","Ærø"],"entities":[{"type":"Peop","start":0,"end":1},'
        '{"type":"Loc","start":2,"end":3}],"relations":[{"type":"Left","head":0,"tail":1}],'
        '"orig_id":7},\n{"tokens":["no"],"entities":[],"relations":[]}]\n',
    ],
    "tacred": [
        '[{"id":"a","docid":"d","relation":"per:origin","token":["Åse","is","Danish"],'
        '"subj_start":0,"subj_end":0,"obj_start":2,"obj_end":2,"subj_type":"PERSON",'
        '"obj_type":"MISC","stanford_pos":["NNP","VBZ","JJ"],"stanford_head":[3,3,0],'
        '"stanford_deprel":["nsubj","cop","ROOT"]}]\n',
    ],
    "scierc": [
        '{"doc_key":"d","sentences":[["Trees","help"],["They","do"]],"ner":[[[0,0,"M"]],'
        '[[2,2,"G"],[3,3,"T"]]],"relations":[[],[[2,2,3,3,"USED-FOR"]]],"clusters":[[[0,0],[2,2]]]}\n',
    ],
    "docred": [
        '[{"vertexSet":[[{"name":"Ann","sent_id":0,"pos":[0,1],"type":"PER"},{"name":"She",'
        '"sent_id":1,"pos":[0,1],"type":"PER"}],[{"name":"Ærø","sent_id":1,"pos":[2,3],"type":"LOC"}]],'
        '"labels":[{"h":0,"t":1,"r":"P19","evidence":[1]}],"title":"Ann",'
        '"sents":[["Ann","writes"],["She","left","Ærø"]]}]\n',
    ],
    "labelstudio": [
        '[{"id":7,"annotations":[{"was_cancelled":false,"result":[{"id":"a","type":"labels",'
        '"score":0.5,"value":{"start":0,"end":3,"text":"Räf","labels":["p"]}},{"id":"b",'
        '"type":"labels","meta":{"text":["Reference: X:1"]},"value":{"start":10,"end":13,'
        '"text":"Ras","labels":["p"]}},{"type":"relation","from_id":"a","to_id":"b",'
        '"direction":"left","labels":["binds"]}]}],"data":{"text":"Räf binds Ras 😀","x":"y"}}]\n',
        '[{"id":5,"text":"Raf","annotation_id":2,"lead_time":1.5,"label":[{"start":0,"end":3,'
        '"text":"Raf","labels":["p"]}]}]\n',
    ],
    "doccano": [
        '{"id":7,"text":"Räf binds Ras","entities":[{"id":1,"label":"p","start_offset":0,'
        '"end_offset":3},{"id":2,"label":"p","start_offset":10,"end_offset":13}],'
        '"relations":[{"id":1,"from_id":1,"to_id":2,"type":"binds"}]}\n'
        '{"id":8,"text":"MEK acts","label":[[0,3,"p"]]}\n',
    ],
    "prodigy": [
        '{"text":"Räf binds Ras","tokens":[{"text":"Räf","start":0,"end":3,"id":0},{"text":"Ras",'
        '"start":10,"end":13,"id":1}],"spans":[{"start":0,"end":3,"label":"p"}],"relations":['
        '{"head":0,"child":1,"head_span":{"start":0,"end":3,"label":"p"},"label":"binds"}],'
        '"answer":"accept","meta":{"a":"b"}}\n{"text":"a","answer":"reject"}\n',
    ],
}
SEEDS |= {
    "claims": [
        '{"id":"c","text":"Räf binds Ras.","entities":[{"id":"a","start":0,"end":3,"type":"p"},'
        '{"id":"b","start":10,"end":13,"text":"Ras"}],"relation":{"type":"binds","first":"a",'
        '"second":"b"},"metadata":{"x":[1]}}\n',
        '{"text":"We go","tokens":[["We",0,2],["go",3,5]],"dependencies":[[1,"nsubj",0]],"tree":'
        '"(S (N We) (V go))","entities":[{"id":"a","start":0,"end":2},{"id":"b","start":3,'
        '"end":5}],"relation":{"type":"x","first":"b","second":"a"}}\n',
    ],
    "triples": [
        '{"id":"a1","text":"Räf binds Ras. MEK-1 acts.","relations":[{"subject":"RÄF","predicate":'
        '"binds","object":{"text":"Ras","type":"p","start":10,"end":13},"score":0.5},'
        '["mek1","x","Ras"]]}\n{"text":"Raf","triples":[["Raf","is","Raf"]]}\n',
        '[{"text":"Ann left.","ents":[{"start_char":0,"end_char":3,"label":"P"},{"start":4,'
        '"end":8}],"relations":[{"dep":0,"dest":1,"relation":"x"}]}]',
    ],
    "rebel": [
        '{"text":"Räf binds Ras.","output":"<s><triplet> Räf <subj> Ras <obj> binds <triplet> Ras '
        '<subj> Räf <obj> of</s>"}\n{"text":"Raf","triplets":[{"head":"Raf","type":"is","tail":'
        '"x"}]}\n',
        '[{"text":"Raf binds Ras.","generated_text":"<triplet> Raf <subj> Ras <obj> binds"}]',
    ],
    "glirel": [
        '{"tokens":["Räf","binds","Ras","."],"text":"Räf binds Ras.","relations":[{"head_pos":'
        '[0,1],"tail_pos":[2,3],"head_text":["Räf"],"tail_text":["Ras"],"label":"binds",'
        '"score":0.5}]}\n{"tokens":["a","b"],"relations":[]}\n',
    ],
    "indra": [
        '[{"type":"Phosphorylation","id":"s","enz":{"name":"RAF1","db_refs":{"TEXT":"Räf"}},"sub":'
        '{"name":"MEK1"},"belief":0.5,"evidence":[{"text":"Räf hits MEK1.","pmid":"7","annotations"'
        ':{"agents":{"coords":[[0,3],[9,13]],"raw_text":["Räf","MEK1"]}}}]},{"type":"Complex",'
        '"members":[{"name":"A"},{"name":"B"},{"name":"C"}],"evidence":[{"text":"A, B and C."}]}]',
    ],
}
TEXT = b"Raf binds Ras now.\n"

TOKENS = [
    b"(", b")", b"((((((((", b"\t", b"\n", b"\n\n", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf",
    b'"', b"\\", b"|", b"-1", b"0", b"1-0", b"99999999999999999999", b"1e999", b"NaN", b"_",
    b"*", b"~e.", b"::", b":ARG0-of", b"#", b"<", b">", b"&amp;", b"&x;",
    b"<!DOCTYPE a [<!ENTITY x 'y'>]>", b"<![CDATA[", b"\xf0\x9f\x98\x80", b"e\xcc\x81", b"{",
    b"[", b"null", b"true", b",", b";", b"T1", b"E1", b"|BT|", b"|ET|", b"\x1f\x8b",
    b"PK\x03\x04", b"[" * 5000, b'{"a":' * 5000,
]  # fmt: skip


def parquet_seeds() -> list[bytes]:
    """Return small Parquet tables; none if pyarrow is not installed."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return []
    table = pyarrow.table({"id": [1, 2], "text": ["Raf binds", "Ras"], "n": [0.5, None]})
    made = []
    for compression in ("none", "snappy", "gzip"):
        out = io.BytesIO()
        parquet.write_table(table, out, compression=compression, row_group_size=1)
        made.append(out.getvalue())
    return made


def docbins() -> list[bytes]:
    """Return the content of spaCy files before compression; none without spaCy."""
    try:
        from spacy.tokens import Doc, DocBin, Span
        from spacy.vocab import Vocab
    except ImportError:
        return []
    heads, deps = [1, 1, 1], ["nsubj", "ROOT", "obj"]
    doc = Doc(Vocab(), words=["Raf", "binds", "Ras"], heads=heads, deps=deps)
    doc.ents = [Span(doc, 0, 1, "protein", kb_id="X:1"), Span(doc, 2, 3, "protein")]
    doc.user_data["._.", "rel", None, None] = {(0, 2): {"binds": 0.75}}
    stored = DocBin(docs=[doc, doc], store_user_data=True).to_bytes()
    return [zlib.decompress(stored)]


def seeds() -> dict[str, list[bytes]]:
    """Return the files of every format."""
    made = {name: [text.encode() for text in texts] for name, texts in SEEDS.items()}
    made["parquet"] = parquet_seeds()
    made["spacy"] = docbins()
    made["archives"] = [one for several in made.values() for one in several]
    return {name: several for name, several in made.items() if several}
