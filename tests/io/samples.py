"""A small valid file of every format of single files, and one whose middle part is broken."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SAMPLES", "Sample"]


@dataclass(frozen=True)
class Sample:
    """What the tests of all formats need to know.

    ``broken`` has one problem, at ``line`` and ``column``; ``n_left`` examples can be read around
    it. With ``lines`` it is three lines, the first and third being whole examples. A ``closed``
    format has an end mark of its own, whose absence is a problem of no example.
    """

    text: str
    n_examples: int
    broken: str
    line: int
    column: int
    n_left: int
    lines: bool = False
    closed: bool = False


SAMPLES = {
    "penn": Sample(
        text="( (S (NP (PRP We))\n     (VP (VBP go)) ))\n\n(S (NP Ærø) (VP waits))\n",
        n_examples=2,
        broken='(S (NP a))\n(S (NP "b" (VP c)) "d)\n(S e)\n',
        line=2,
        column=20,
        n_left=2,
        lines=True,
    ),
    "conllu": Sample(
        text="# sent_id = a\n# text = Dámelo ya\n# newpar\n"
        "1-2\tDámelo\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "1\tDame\tdar\tVERB\tV\tMood=Imp\t0\troot\t0:root|3.1:dep\tGloss=give\n"
        "2\tlo\tél\tPRON\t_\t_\t1\tobj\t_\t_\n"
        "3\tya\tya\tADV\t_\t_\t1\tadvmod\t1:advmod\t_\n"
        "3.1\t_\t_\tVERB\t_\t_\t_\t_\t1:conj\t_\n\n"
        "1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n"
        "2\t!\t!\tPUNCT\t_\t_\t_\t_\t_\t_\n\n",
        n_examples=2,
        broken="1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n\n"
        "1\tb\tb\tX\t_\t_\t2\tdep\t_\t_\n\n"
        "1\tc\tc\tX\t_\t_\t0\troot\t_\t_\n\n",
        line=3,
        column=13,
        n_left=2,
    ),
    "srl": Sample(
        text="# sent_id = s1\n# genre = letter\n"
        "0\tShe\tPRP\t(TOP(S(NP*)\t-\t-\t(ARG0*)\n"
        "1\treads\tVBZ\t(VP*\tread\tread.01\t(V*)\n"
        "2\tlång\tJJ\t(NP*\t-\t-\t(ARG1*\n"
        "3\tnovels\tNNS\t*))))\t-\t-\t*)\n\n"
        "0\tYes\tUH\t(TOP(INTJ*))\t-\t-\n\n",
        n_examples=2,
        broken="0\tYes\tUH\t(TOP*)\t-\t-\n\n"
        "0\tWe\tPRP\t(TOP(S*\t-\t-\n1\tgo\tVBP\t*)))\t-\t-\n\n"
        "0\tNo\tUH\t(TOP*)\t-\t-\n",
        line=4,
        column=10,
        n_left=2,
    ),
    "penman": Sample(
        text="# AMR release; made up\n\n"
        "# ::id a1 ::note ünder test\n# ::snt Raf binds.\n# ::tok Raf binds .\n"
        '(b / bind-01~e.1\n    :ARG0 (p / protein\n        :name (n / name :op1 "Raf"~e.0)))\n\n'
        "# ::id a2\n(g / go-02 :polarity -\n    :ARG0 (w / we :ARG0-of g))\n",
        n_examples=2,
        broken="(a / one)\n(b / two :ARG0)\n(c / three)\n",
        line=2,
        column=15,
        n_left=2,
        lines=True,
    ),
    "ppi": Sample(
        text="""<corpus source="invented">
  <document id="d0" origId="7">
    <sentence id="d0.s0" text="Raf binds Räs.">
      <entity charOffset="0-2" id="d0.s0.e0" text="Raf" type="protein" />
      <entity charOffset="10-12" id="d0.s0.e1" text="Räs" type="protein" />
      <pair e1="d0.s0.e0" e2="d0.s0.e1" id="d0.s0.p0" interaction="True" />
      <sentenceanalyses>
        <parses>
          <parse parser="guess" tokenizer="split"></parse>
          <parse parser="split_parse" tokenizer="split">
            <dependency id="1" t1="t2" t2="t1" type="nsubj" />
            <dependency id="2" t1="t2" t2="t3" type="dobj" />
          </parse>
        </parses>
        <tokenizations>
          <tokenization tokenizer="split">
            <token POS="NN" charOffset="0-2" id="t1" text="Raf" />
            <token POS="VBZ" charOffset="4-8" id="t2" text="binds" />
            <token POS="NN" charOffset="10-12" id="t3" text="Räs" />
            <token POS="." charOffset="13-13" id="t4" text="." />
          </tokenization>
        </tokenizations>
      </sentenceanalyses>
    </sentence>
    <sentence id="d0.s1" text="" />
  </document>
</corpus>
""",
        n_examples=2,
        broken="""<corpus>
  <sentence id="a" text="one" />
  <sentence id="b" text="two">
    <entity charOffset="0-1" id="e" text="two" />
  </sentence>
  <sentence id="c" text="three" />
</corpus>
""",
        line=4,
        column=5,
        n_left=2,
        closed=True,
    ),
    "ddi": Sample(
        text="""<document id="d0">
    <sentence id="d0.s0" text="Aspirin enhances wärfarin.&#xd;&#xa;">
        <entity id="d0.s0.e0" charOffset="0-6"
            type="drug" text="Aspirin"/>
        <entity id="d0.s0.e1" charOffset="17-24"
            type="drug" text="wärfarin"/>
        <pair id="d0.s0.p0" e1="d0.s0.e0"
            e2="d0.s0.e1" ddi="true" type="effect"/>
    </sentence>
    <sentence id="d0.s1" text="We go."/>
</document>
""",
        n_examples=2,
        broken="""<document id="d">
  <sentence id="a" text="one" />
  <sentence id="b" text="two">
    <entity id="e" charOffset="0-2" text="two" type="drug"/>
    <pair id="p" e1="e" e2="x" ddi="false"/>
  </sentence>
  <sentence id="c" text="three" />
</document>
""",
        line=5,
        column=5,
        n_left=2,
        closed=True,
    ),
    "semeval": Sample(
        text='7\t"The <e1>lid</e1> of a <e2>röd pot</e2>\'s rim."\nComponent-Whole(e1,e2)\n'
        'Comment: or its rim\n\n8\t"<e2>Ink</e2> on <e1>paper</e1>"\nOther\nComment:\n\n',
        n_examples=2,
        broken='1\t"A <e1>b</e1> <e2>c</e2>."\n2\t"A <e1>b <e2>c</e2>."\n'
        '3\t"A <e1>b</e1> <e2>c</e2>."\n',
        line=2,
        column=23,
        n_left=2,
        lines=True,
    ),
    "pubtator": Sample(
        text="27|t|Naproxen and ülcers\n27|a|Naproxen may cause ülcers or pain.\n"
        "27\t0\t8\tNaproxen\tChemical\tMESH:D009288\n"
        "27\t20\t28\tNaproxen\tChemical\tMESH:D009288\n"
        "27\t39\t45\tülcers\tDisease\tD014456|D010146\tülcers|pain\n"
        "27\t49\t53\tpain\tDisease\t-1\n"
        "27\tCID\tMESH:D009288\tD014456\tNovel\n\n"
        "28|t|We go.\n28|a|\n",
        n_examples=2,
        broken="1|t|Raf\n1\t0\t3\tRaf\tGene\t-\n\n2|t|Ras\n2\t0\t3\tRaf\tGene\t-\n\n"
        "3|t|MEK\n3\t0\t3\tMEK\tGene\t5604\n",
        line=5,
        column=3,
        n_left=2,
    ),
    "bioc": Sample(
        text="""<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source>made up</source><date>20200101</date><key>none.key</key>
  <document><id>27</id><infon key="journal">J. Made Up</infon>
    <passage>
      <infon key="type">title</infon><offset>0</offset><text>Naproxen &amp; ülcers</text>
      <annotation id="1"><infon key="type">Chemical</infon>
        <infon key="identifier">MESH:D009288</infon>
        <location offset="0" length="8"/><text>Naproxen</text></annotation>
      <annotation id="2"><infon key="type">Disease</infon><infon key="MESH">D014456</infon>
        <location offset="11" length="1"/><location offset="13" length="4"/>
        <text>ü cers</text></annotation>
    </passage>
    <passage>
      <offset>20</offset>
      <sentence><offset>20</offset><text>It may.</text></sentence>
      <sentence><offset>29</offset><text>It does.</text>
        <annotation id="3"><infon key="type">Trigger</infon><infon key="note">sure</infon>
          <location offset="32" length="4"/><text>does</text></annotation>
      </sentence>
    </passage>
    <relation id="R1"><infon key="type">Cause</infon><infon key="probability">0.9</infon>
      <node refid="1" role="Agent"/><node refid="2" role="Effect"/></relation>
    <relation id="R2"><infon key="type">Doing</infon>
      <node refid="3" role="Trigger"/><node refid="1" role="Agent"/></relation>
    <relation id="R3"><infon key="entity1">MESH:D009288</infon>
      <infon key="entity2">D014456</infon><infon key="type">Positive</infon></relation>
  </document>
  <document><id>28</id></document>
</collection>
""",
        n_examples=2,
        broken="""<collection>
  <document><id>a</id><passage><offset>0</offset><text>one</text></passage></document>
  <document><id>b</id><passage><offset>0</offset><text>two</text>
    <annotation id="1"><location offset="1" length="2"/><text>tw</text></annotation>
  </passage></document>
  <document><id>c</id></document>
</collection>
""",
        line=4,
        column=5,
        n_left=2,
        closed=True,
    ),
    "bioc-json": Sample(
        text="""{"source": "made up", "date": "", "key": "", "infons": {"a": ["b", 1]},
 "documents": [
  {"id": "27", "infons": {"journal": "J. Made Up", "year": 2020}, "passages": [
    {"offset": 0, "infons": {"type": "title"}, "text": "Naproxen & ülcers", "annotations": [
      {"id": "1", "infons": {"type": "Chemical", "identifier": "MESH:D009288", "name": "Aleve"},
       "text": "Naproxen", "locations": [{"offset": 0, "length": 8}]},
      {"id": "2", "infons": {"type": "Disease", "MESH": "D014456", "valid": true, "n": null},
       "text": "ülcers", "locations": [{"offset": 11, "length": 6}]}]},
    {"offset": 18, "infons": {"type": "abstract"}, "text": "It does."}],
   "relations": [{"id": "R1", "infons": {"type": "Association", "score": "0.9",
     "role1": {"identifier": "MESH:D009288", "type": "Chemical"},
     "role2": {"identifier": "D014456"}}, "nodes": [{"refid": "0", "role": "0"}]}]},
  {"id": "28", "passages": []}
]}
""",
        n_examples=2,
        broken="""{"documents": [
  {"id": "a", "passages": []},
  {"id": "b", "passages": [{"text": "two"}]},
  {"id": "c", "passages": []}
]}
""",
        line=3,
        column=3,
        n_left=2,
        closed=True,
    ),
    "kelp": Sample(
        text="NUM |BS:text| how many |ES| |BT:tree| (A(B)(Ç)) |ET|\n\nLOC |BT:tree| (A(D)) |ET|\n",
        n_examples=2,
        broken="A |BT:t| (A(B)) |ET|\nB |BT:t| (A(B) |ET|\nC |BT:t| (A) |ET|\n",
        line=2,
        column=10,
        n_left=2,
        lines=True,
    ),
    "jsonl": Sample(
        text='{"id": "a", "label": "NUM", "views": {"text": "how many"}}\n\n'
        '{"views": {"tree": {"tree": "(A B Ç)"}, "point": [1, 2.5]}}\n',
        n_examples=2,
        broken='{"views": {"t": "a"}}\n{"views": {"t" "b"}}\n{"views": {}}\n',
        line=2,
        column=16,
        n_left=2,
        lines=True,
    ),
    "spert": Sample(
        text='[{"tokens": ["Ann", "left", "Ærø", "."], "entities": [{"type": "Peop", "start": 0, '
        '"end": 1}, {"type": "Loc", "start": 2, "end": 3}], "relations": [{"type": "Left", '
        '"head": 0, "tail": 1}], "orig_id": 7},\n'
        ' {"tokens": ["-LRB-", "no"], "entities": [], "relations": []}]\n',
        n_examples=2,
        broken='[{"tokens": ["a"], "entities": []},\n'
        ' {"tokens": ["b"], "entities": [{"type": "x", "start": 1, "end": 2}]},\n'
        ' {"tokens": ["c"], "entities": []}]\n',
        line=2,
        column=2,
        n_left=2,
        closed=True,
    ),
    "tacred": Sample(
        text='[{"id": "a1", "docid": "d", "relation": "per:origin", "token": ["Åse", "is", '
        '"Danish"], "subj_start": 0, "subj_end": 0, "obj_start": 2, "obj_end": 2, "subj_type": '
        '"PERSON", "obj_type": "NATIONALITY", "stanford_pos": ["NNP", "VBZ", "JJ"], '
        '"stanford_head": [3, 3, 0], "stanford_deprel": ["nsubj", "cop", "ROOT"]},\n'
        ' {"id": "a2", "relation": "no_relation", "token": ["We", "go"], "subj_start": 0, '
        '"subj_end": 0, "obj_start": 1, "obj_end": 1, "subj_type": "X", "obj_type": "Y"}]\n',
        n_examples=2,
        broken='{"token": ["a", "b"], "subj_start": 0, "subj_end": 0, "obj_start": 1, '
        '"obj_end": 1}\n'
        '{"token": ["a", "b"], "subj_start": 0, "subj_end": 0, "obj_start": 1, "obj_end": 2}\n'
        '{"token": ["a", "b"], "subj_start": 1, "subj_end": 1, "obj_start": 0, "obj_end": 0}\n',
        line=2,
        column=1,
        n_left=2,
        lines=True,
        closed=True,
    ),
    "scierc": Sample(
        text='{"doc_key": "d1", "sentences": [["Trees", "help", "."], ["Kærnels", "use", "them"]], '
        '"ner": [[[0, 0, "Method"]], [[3, 3, "Method"], [5, 5, "Generic"]]], "relations": '
        '[[], [[3, 3, 5, 5, "USED-FOR"]]], "clusters": [[[0, 0], [5, 5]]]}\n'
        '{"doc_key": "d2", "sentences": [["No", "entities"]], "ner": [[]], "relations": [[]]}\n',
        n_examples=2,
        broken='{"doc_key": "a", "sentences": [["a"]]}\n'
        '{"doc_key": "b", "sentences": [["a"]], "ner": [[[0, 1, "x"]]]}\n'
        '{"doc_key": "c", "sentences": [["a"]]}\n',
        line=2,
        column=1,
        n_left=2,
        lines=True,
    ),
    "docred": Sample(
        text='[{"vertexSet": [[{"name": "Ann", "sent_id": 0, "pos": [0, 1], "type": "PER"}, '
        '{"name": "She", "sent_id": 1, "pos": [0, 1], "type": "PER"}], '
        '[{"name": "Ærø", "sent_id": 1, "pos": [3, 4], "type": "LOC"}]], '
        '"labels": [{"h": 0, "t": 1, "r": "P19", "evidence": [1]}], "title": "Ann", '
        '"sents": [["Ann", "writes", "."], ["She", "is", "from", "Ærø", "."]]},\n'
        ' {"title": "Nobody", "vertexSet": [], "sents": [["Nobody", "came"]]}]\n',
        n_examples=2,
        broken='[{"title": "a", "sents": [["a"]], "vertexSet": []},\n'
        '{"title": "b", "sents": [["a"]], "vertexSet": [[{"sent_id": 0, "pos": [0, 2]}]]},\n'
        '{"title": "c", "sents": [["a"]], "vertexSet": []}]\n',
        line=2,
        column=1,
        n_left=2,
        closed=True,
    ),
    "labelstudio": Sample(
        text='[{"id": 7, "annotations": [{"id": 70, "was_cancelled": false, "result": ['
        '{"id": "a", "from_name": "label", "to_name": "text", "type": "labels", "score": 0.5, '
        '"value": {"start": 0, "end": 3, "text": "Räf", "labels": ["protein"]}}, '
        '{"id": "b", "from_name": "label", "to_name": "text", "type": "labels", '
        '"meta": {"text": ["Reference: UniProt:P01112\\tRas", "sure?"]}, '
        '"value": {"start": 10, "end": 13, "text": "Ras", "labels": ["protein"]}}, '
        '{"type": "relation", "from_id": "a", "to_id": "b", "direction": "right", '
        '"labels": ["binds"]}]}], "data": {"text": "Räf binds Ras.", "source": "invented"}},\n'
        ' {"id": 8, "annotations": [{"result": []}], "data": {"text": "We go."}}]\n',
        n_examples=2,
        broken='[{"data": {"text": "a"}, "annotations": [{"result": []}]},\n'
        '{"data": {"text": "b"}, "annotations": [{"result": [{"id": "r", "type": "labels", '
        '"value": {"start": 0, "end": 2}}]}]},\n'
        '{"data": {"text": "c"}, "annotations": [{"result": []}]}]\n',
        line=2,
        column=1,
        n_left=2,
        closed=True,
    ),
    "doccano": Sample(
        text='{"id": 7, "text": "Räf binds Ras.", "pmid": "123", "Comments": [], "entities": ['
        '{"id": 1, "label": "protein", "start_offset": 0, "end_offset": 3}, '
        '{"id": 2, "label": "protein", "start_offset": 10, "end_offset": 13}], '
        '"relations": [{"id": 1, "from_id": 1, "to_id": 2, "type": "binds"}]}\n'
        '{"id": 8, "text": "MEK acts.", "label": [[0, 3, "protein"]]}\n',
        n_examples=2,
        broken='{"text": "a", "label": []}\n{"text": "b", "label": [[0, 2, "x"]]}\n'
        '{"text": "c", "label": []}\n',
        line=2,
        column=1,
        n_left=2,
        lines=True,
    ),
    "prodigy": Sample(
        text='{"text": "Räf binds Ras.", "tokens": [{"text": "Räf", "start": 0, "end": 3, '
        '"id": 0}, '
        '{"text": "binds", "start": 4, "end": 9, "id": 1}, '
        '{"text": "Ras", "start": 10, "end": 13, "id": 2}], "spans": [{"start": 0, "end": 3, '
        '"token_start": 0, "token_end": 0, "label": "protein"}], "relations": [{"head": 0, '
        '"child": 2, "head_span": {"start": 0, "end": 3, "label": "protein"}, '
        '"child_span": {"start": 10, "end": 13, "label": "protein"}, "label": "binds"}], '
        '"meta": {"document": "d"}, "answer": "accept"}\n'
        '{"text": "We go.", "answer": "accept", "meta": {"document": "e"}}\n',
        n_examples=2,
        broken='{"text": "a", "spans": []}\n{"text": "b", "spans": [{"start": 0, "end": 2}]}\n'
        '{"text": "c", "spans": []}\n',
        line=2,
        column=1,
        n_left=2,
        lines=True,
    ),
    "pubmed": Sample(
        text="<!DOCTYPE PubmedArticleSet PUBLIC '-//NLM//DTD' 'https://dtd.example/a.dtd'>\n"
        "<PubmedArticleSet>\n<PubmedArticle><MedlineCitation><PMID>1</PMID><Article>"
        "<ArticleTitle>Ærø &amp; <i>Raf</i></ArticleTitle><Abstract>"
        '<AbstractText Label="AIM">We ask.</AbstractText></Abstract></Article></MedlineCitation>'
        "</PubmedArticle>\n<PubmedArticle><MedlineCitation><PMID>2</PMID><Article>"
        "<ArticleTitle>Ras</ArticleTitle></Article></MedlineCitation></PubmedArticle>\n"
        "</PubmedArticleSet>\n",
        n_examples=2,
        broken="<PubmedArticleSet>\n<PubmedArticle><PMID>1</PMID><ArticleTitle>a</ArticleTitle>"
        "</PubmedArticle>\n <PubmedArticle><ArticleTitle>b</ArticleTitle></PubmedArticle>\n"
        "<PubmedArticle><PMID>3</PMID><ArticleTitle>c</ArticleTitle></PubmedArticle>\n"
        "</PubmedArticleSet>\n",
        line=3,
        column=2,
        n_left=2,
        closed=True,
    ),
    "medline": Sample(
        text="PMID- 1\nTI  - Ærø and\n      Raf.\nAB  - AIM: We ask.\n\nPMID- 2\nTI  - Ras\n",
        n_examples=2,
        broken="PMID- 1\nTI  - a\n\nPMID- 2\nTitle\n\nPMID- 3\nTI  - c\n",
        line=5,
        column=1,
        n_left=2,
    ),
    "jats": Sample(
        text='<pmc-articleset>\n<article article-type="a"><front><article-meta>'
        '<article-id pub-id-type="pmc">1</article-id><title-group><article-title>Ærø'
        "</article-title></title-group></article-meta></front><body><sec><title>Results</title>"
        '<p>Raf [<xref ref-type="bibr">1</xref>].</p></sec></body></article>\n'
        "<article><body><p>Ras</p></body></article>\n</pmc-articleset>\n",
        n_examples=2,
        broken="<pmc-articleset>\n<article><body><p>a</p></body></article>\n"
        "<article><body><p>b</p></body></article>\n<article></body></article>\n"
        "</pmc-articleset>\n",
        line=4,
        column=12,
        n_left=2,
        closed=True,
    ),
    "records": Sample(
        text='{"pmid": 1, "abstract": "Ærø", "year": 2001}\n\n{"pmid": 2, "abstract": "Ras"}\n',
        n_examples=2,
        broken='{"id": 1, "text": "a"}\n{"id": 2, "text" "b"}\n{"id": 3, "text": "c"}\n',
        line=2,
        column=18,
        n_left=2,
        lines=True,
    ),
    "csv": Sample(
        text='id,text,year\n1,"Ærø, and ""Raf""",2001\n2,"Ras binds",2002\n',
        n_examples=2,
        broken="id,text\n1,a\n2,b,c\n3,d\n",
        line=3,
        column=1,
        n_left=2,
    ),
    "tsv": Sample(
        text='id\ttext\n1\tÆrø, and Raf\n2\t"Ras ""binds"""\n',
        n_examples=2,
        broken="id\ttext\n1\ta\n2\n3\td\n",
        line=3,
        column=1,
        n_left=2,
    ),
}
