"""A small valid file of every format of single files, and one whose middle part is broken."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BINARY", "SAMPLES", "Sample"]

BINARY = {"parquet"}  # formats whose files are not text; they have tests of their own


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
