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
}
