"""Tests of PubMed XML, and of what all XML of articles has in common."""

from __future__ import annotations

import io

import pytest
from article_files import DOCTYPE, named, only

from kernelwood.errors import ReadError
from kernelwood.io import read


def citation(content, id=1, wrapper="PubmedArticle"):
    return (
        f"<{wrapper}><MedlineCitation><PMID Version='1'>{id}</PMID><Article>{content}</Article>"
        f"</MedlineCitation></{wrapper}>"
    )


def pubmed(*articles, root="PubmedArticleSet"):
    return f"{DOCTYPE.format(root)}<{root}>\n" + "\n".join(articles) + f"\n</{root}>\n"


def test_a_citation_is_title_and_abstract():
    made = only(
        pubmed(
            citation(
                "<ArticleTitle>On Raf.</ArticleTitle>"
                "<Abstract><AbstractText>It binds\n   Ras.</AbstractText></Abstract>"
            )
        )
    )
    assert made.text == "On Raf.\n\nIt binds Ras."
    assert named(made) == {"title": "On Raf.", "abstract": "It binds Ras."}


def test_labels_of_sections_are_paragraphs():
    made = only(
        pubmed(
            citation(
                '<Abstract><AbstractText Label="AIM">We ask.</AbstractText>'
                '<AbstractText Label="RESULTS">It binds.</AbstractText></Abstract>'
            )
        )
    )
    assert made.text == "AIM\n\nWe ask.\n\nRESULTS\n\nIt binds."
    assert named(made) == {
        "abstract/AIM": "AIM\n\nWe ask.", "abstract/RESULTS": "RESULTS\n\nIt binds.",
    }  # fmt: skip


def test_inline_markup_is_flattened():
    made = only(
        pubmed(citation("<ArticleTitle>Ca<sup>2+</sup> and <i>ras</i> &lt; 3</ArticleTitle>"))
    )
    assert made.text == "Ca2+ and ras < 3"


def test_formulas_are_left_out_with_a_remark():
    text = pubmed(
        citation("<ArticleTitle>a <mml:math><mml:mi>x</mml:mi></mml:math> b</ArticleTitle>")
    )
    examples = read(io.StringIO(text))
    assert examples[0].view("document").text == "a b"
    assert examples.tally.remarks == {"formulas left out": 1}


def test_ids_journal_and_year_are_metadata():
    text = pubmed(
        "<PubmedArticle><MedlineCitation><PMID>5</PMID><Article><Journal><JournalIssue><PubDate>"
        "<Year>1999</Year></PubDate></JournalIssue><Title>Letters</Title></Journal>"
        "<ArticleTitle>a</ArticleTitle></Article></MedlineCitation><PubmedData><ArticleIdList>"
        '<ArticleId IdType="pubmed">5</ArticleId><ArticleId IdType="pmc">PMC6</ArticleId>'
        '<ArticleId IdType="doi">10.1/a</ArticleId></ArticleIdList><ReferenceList><Reference>'
        '<ArticleIdList><ArticleId IdType="doi">10.1/other</ArticleId></ArticleIdList></Reference>'
        "</ReferenceList></PubmedData></PubmedArticle>"
    )
    kept = {key: value for key, value in only(text).metadata if key != "section"}
    assert kept == {
        "pmid": "5", "pmc": "PMC6", "doi": "10.1/a", "journal": "Letters", "year": "1999",
    }  # fmt: skip


def test_the_id_is_the_first_pmid_not_that_of_a_comment():
    text = pubmed(
        "<PubmedArticle><MedlineCitation><PMID>5</PMID><CommentsCorrectionsList>"
        "<CommentsCorrections><PMID>6</PMID></CommentsCorrections></CommentsCorrectionsList>"
        "<Article><ArticleTitle>a</ArticleTitle></Article><Note><PMID>7</PMID></Note>"
        "</MedlineCitation></PubmedArticle>"
    )
    assert [example.id for example in read(io.StringIO(text))] == ["5"]


def test_authors_keywords_and_other_abstracts_are_not_text():
    text = pubmed(
        citation(
            "<ArticleTitle>a</ArticleTitle><AuthorList><Author><LastName>X</LastName></Author>"
            "</AuthorList><OtherAbstract><AbstractText>autre</AbstractText></OtherAbstract>"
        )
    )
    assert only(text).text == "a"


def test_a_set_of_medline_citations_is_read():
    text = pubmed(
        "<MedlineCitation><PMID>1</PMID><Article><ArticleTitle>a</ArticleTitle></Article>"
        "</MedlineCitation>",
        root="MedlineCitationSet",
    )
    assert [example.id for example in read(io.StringIO(text))] == ["1"]


def test_a_chapter_of_a_book_is_read():
    text = pubmed(
        "<PubmedBookArticle><BookDocument><PMID>1</PMID><Book><BookTitle>Genes</BookTitle></Book>"
        "<ArticleTitle>Raf</ArticleTitle><Abstract><AbstractText>b</AbstractText></Abstract>"
        "</BookDocument></PubmedBookArticle>"
    )
    assert only(text).text == "Genes\n\nRaf\n\nb"


def test_deleted_citations_are_counted():
    text = pubmed("<DeleteCitation><PMID>3</PMID><PMID>4</PMID></DeleteCitation>")
    examples = read(io.StringIO(text))
    assert (len(examples), examples.tally.remarks) == (0, {"deleted citation left out": 1})


def test_citations_without_text_are_counted():
    examples = read(io.StringIO(pubmed(citation(""))))
    assert (len(examples), examples.tally.remarks) == (0, {"article without text was left out": 1})


def test_a_citation_without_a_pmid_costs_no_other():
    bad = "<PubmedArticle><ArticleTitle>a</ArticleTitle></PubmedArticle>"
    text = pubmed(bad, citation("<ArticleTitle>b</ArticleTitle>"))
    examples = read(io.StringIO(text), errors="collect")
    assert [example.id for example in examples] == ["1"]
    assert [(p.problem, p.line) for p in examples.tally.problems] == [
        ("the citation has no PMID", 4)
    ]


def test_repeated_ids_are_refused_with_their_line():
    one = citation("<ArticleTitle>a</ArticleTitle>")
    with pytest.raises(ReadError, match=r":5: the id '1' was used before, on line 4"):
        read(io.StringIO(pubmed(one, one)))


def test_characters_that_the_missing_document_type_names_are_known():
    assert only(pubmed(citation("<ArticleTitle>&alpha;-actin</ArticleTitle>"))).text == "α-actin"


def test_an_unknown_entity_is_an_error_of_its_citation():
    text = pubmed(
        citation("<ArticleTitle>&nosuch; a</ArticleTitle>", 1),
        citation("<ArticleTitle>b</ArticleTitle>", 2),
    )
    examples = read(io.StringIO(text), errors="collect")
    assert [example.id for example in examples] == ["2"]
    assert "the entity &nosuch; is not known" in examples.tally.problems[0].problem


@pytest.mark.parametrize(
    "subset",
    [
        '<!ENTITY a "ha">',
        '<!ENTITY a SYSTEM "other.txt">',
        '<!ENTITY % p SYSTEM "http://example.org/x"> %p;',
    ],
)
@pytest.mark.parametrize("root", ["PubmedArticleSet", "article"])
def test_declared_entities_are_refused(root, subset):
    text = f"<!DOCTYPE {root} [{subset}]><{root}>&a;</{root}>"
    with pytest.raises(ReadError, match="entities of its own"):
        read(io.StringIO(text), "jats" if root == "article" else "pubmed")


@pytest.mark.parametrize("format", ["pubmed", "jats"])
def test_another_root_is_refused(format):
    with pytest.raises(ReadError, match="the outermost element is <html>"):
        read(io.StringIO("<html></html>"), format)


@pytest.mark.parametrize("format", ["pubmed", "jats"])
def test_deep_nesting_is_refused(format):
    root = {"pubmed": "PubmedArticleSet", "jats": "article"}[format]
    with pytest.raises(ReadError, match="nested more than 1,000 deep"):
        read(io.StringIO(f"<{root}>" + "<i>" * 200_000), format)


@pytest.mark.parametrize("format", ["pubmed", "jats"])
def test_an_article_without_end_is_refused_before_it_fills_the_memory(format, monkeypatch):
    monkeypatch.setattr("kernelwood.io.formats.article_xml._MAX_ARTICLE", 100_000)
    root = {"pubmed": "<PubmedArticle><ArticleTitle>", "jats": "<article><body><p>"}[format]
    with pytest.raises(ReadError, match="the article has more than 97"):
        read(io.StringIO(root + "x\n" * 100_000), format)


def test_an_element_inside_a_skipped_one_of_the_same_name_does_not_end_it():
    text = pubmed(
        citation(
            "<KeywordList><KeywordList><b/></KeywordList><ArticleTitle>no</ArticleTitle>"
            "</KeywordList><ArticleTitle>a</ArticleTitle>"
        )
    )
    assert only(text).text == "a"
