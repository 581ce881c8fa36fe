r"""CoNLL-U, the format of Universal Dependencies: one line a word, a blank line after a sentence.

::

    # sent_id = letter-1
    # text = Dámelo ya
    1-2  Dámelo  _    _     _  _  _  _       _  _
    1    Dame    dar  VERB  _  _  0  root    _  _
    2    lo      él   PRON  _  _  1  obj     _  _
    3    ya      ya   ADV   _  _  1  advmod  _  _

The columns ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS and MISC are separated by tabs.
They become the view ``"sentence"``:

====================  ============================================================================
in the file           in the ``Sentence``
====================  ============================================================================
word ``3``            a token; UPOS is its ``pos``, XPOS its ``tag``, FEATS and MISC as written
HEAD and DEPREL       ``dependencies``; a tree or several, several roots are allowed
DEPS                  ``enhanced``, any graph
range ``1-2``         ``multiwords``; the words inside share the characters of the range
empty node ``8.1``    ``empty``
``# sent_id = x``     the id of the example
``# text = x``        the text, which words must follow exactly with only blanks between; without
                      it words are joined by blanks, except after ``SpaceAfter=No``
other comments        ``metadata``: ``("key", "value")``, or ``("all of it", None)`` without ``=``
====================  ============================================================================

``_`` says that something is not known and becomes ``""``. The form of a word is always known, so
there it is an underscore; its lemma, ``_`` again, is one too. In an empty node ``_`` always says
that something is not known.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import IO

from kernelwood.io.atomic import write_text
from kernelwood.io.blocks import Block, Parsed, cut_at_blank_lines, read_blocks
from kernelwood.io.comments import split_comment
from kernelwood.io.conllu_comments import names_other_columns
from kernelwood.io.conllu_writer import conllu_text
from kernelwood.io.source import Item, Source
from kernelwood.text import Example

__all__ = ["conllu_text", "looks_like_conllu", "read_conllu", "write_conllu"]

_FIRST_WORD = re.compile(
    r"(?:1|1-[1-9][0-9]*|0\.1)\t(?:[^\t\n]+\t){5}(?:_|[0-9]+)\t[^\t\n]+\t(?:_|[0-9][^\t\n]*)\t[^\t\n]+"
)
_TEXT = re.compile(r"#\s*text\s*=")


def looks_like_conllu(head: str) -> bool:
    r"""Say whether a file that begins with ``head`` may be CoNLL-U.

    Examples
    --------
    >>> looks_like_conllu("# text = go\n1\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n")
    True
    >>> looks_like_conllu("1 go go VERB")
    False
    """
    has_text = False
    for line in head.split("\n"):
        if line.startswith("#"):
            has_text = has_text or bool(_TEXT.match(line))
        elif line.strip():
            return bool(_FIRST_WORD.fullmatch(line.removesuffix("\r")))
    return has_text


def read_conllu(source: Source, views: tuple[str, ...] | None = None) -> Iterator[Item]:
    """Yield an example with the view ``"sentence"`` for each sentence.

    The identifier is the sent_id, else the stem of the file and the number of the sentence, broken
    ones counted; the origin has the first line of the sentence, comments included. Annotation of
    multiword tokens and empty nodes that has no place in a sentence is left out with a remark.
    """
    # The conllu package is imported only when a file is read.
    from kernelwood.io.conllu_sentence import parse_sentence

    def parse(block: Block) -> Parsed:
        _check_columns(source, block)
        return parse_sentence(block)

    return read_blocks(source, cut_at_blank_lines(source.lines()), parse, views)


def _check_columns(source: Source, block: Block) -> None:
    for line in takewhile(lambda line: line.text.startswith("#"), block):
        if names_other_columns(*split_comment(line.text)):
            raise source.error(
                "this is CoNLL-U Plus with columns of its own",
                line=line.number,
                column=line.text.index("=") + 1 if "=" in line.text else 1,
                snippet=line.text,
                hint="keep the ten columns of CoNLL-U, in their order, and drop this comment",
            )


def write_conllu(
    examples: Iterable[Example],
    path: str | os.PathLike[str] | IO[str],
    view: str = "sentence",
) -> None:
    r"""Write sentences as CoNLL-U; reading them gives the same ids and sentences.

    CoNLL-U holds syntax: tokens, dependencies (basic and enhanced), empty nodes, multiword tokens
    and metadata. What it has no place for is left out: labels, origins, constituency trees, AMR
    graphs, entities, relations, events, attributes, predicates, and where the text begins in its
    document. Dependencies are written in the order of the words.

    Parameters
    ----------
    examples : iterable of Example
        Each has a sentence with tokens in ``view``, and an id of its own.
    path : str, PathLike or text stream
        Replaced only when everything is written; see :func:`kernelwood.io.write`.
    view : str
        Which sentence to write.

    Raises
    ------
    StructureError
        When the file would not read back the same: words that are not in the text one after the
        other, a line break or tab, a word with two heads, heads in a circle.

    Examples
    --------
    >>> import io
    >>> from kernelwood.text import Sentence
    >>> out = io.StringIO()
    >>> sentence = Sentence.from_words(["we", "go"], dependencies=[(1, "nsubj", 0)])
    >>> write_conllu([Example("a", views={"sentence": sentence})], out)
    >>> out.getvalue().splitlines()[2]
    '1\twe\t_\t_\t_\t_\t2\tnsubj\t_\t_'
    """
    write_text(path, conllu_text(examples, view=view))
