"""Writing sentences and graphs as PENMAN files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kernelwood.errors import StructureError
from kernelwood.io.penman_comments import place_tokens, write_comment
from kernelwood.io.writers import view_to_write, write_each
from kernelwood.structures import Graph, shorten, write_penman
from kernelwood.text import Example, Metadata, Sentence

__all__ = ["penman_text"]


def penman_text(examples: Iterable[Example], *, view: str = "sentence") -> Iterator[str]:
    """Yield comments and graph of each example, and a blank line.

    Written are the metadata, ``::id``, ``::snt`` and ``::tok`` if they are not among them, the
    graph, and alignments; reading gives all of them back. A plain `Graph` has an ``::id`` only.
    If ``::id`` is in the metadata, it gets the identifier of the example. What the format has no
    place for is left out: labels of examples, lemmas and tags, syntax, entities, relations.

    Raises
    ------
    StructureError
        If an example has no graph, the graph cannot be written (see
        `kernelwood.structures.penman_notation`), a comment would not read back, or the tokens
        do not follow one another in the text with only blanks between them.
    """
    return write_each(examples, lambda example: _written(example, view))


def _written(example: Example, view: str) -> str:
    found = view_to_write(example, view, Sentence, Graph)
    if isinstance(found, Graph):
        pairs: Metadata = (("id", example.id),)
        text = write_penman(found)
    elif found.amr is None:
        raise StructureError(
            f"the sentence in view {view!r} has no graph", hint="the format needs its amr"
        )
    else:
        pairs = _metadata(example.id, found)
        text = write_penman(found.amr, dict(found.alignments))
    return "\n".join([*(_comment(*pair) for pair in pairs), text]) + "\n\n"


def _metadata(name: str, sentence: Sentence) -> Metadata:
    """Return the pairs to write, after checking that they hold text and tokens."""
    metadata: Metadata = tuple(
        (key, name if key == "id" and value is not None else value)
        for key, value in sentence.metadata
    )
    keys = {key for key, value in metadata if value is not None}
    if "id" not in keys:
        metadata = (("id", name), *metadata)
    if "tok" not in keys and sentence.tokens:
        metadata += (("tok", " ".join(sentence.words)),)
    if "snt" not in keys and place_tokens(metadata)[0] != sentence.text:
        metadata += (("snt", sentence.text),)
    text, tokens = place_tokens(metadata)
    wanted = [(token.text, token.start, token.end) for token in sentence.tokens]
    if text != sentence.text or [(t.text, t.start, t.end) for t in tokens] != wanted:
        raise StructureError(
            "the text and its tokens are not what ::snt and ::tok can hold",
            hint="tokens follow one another with only blanks between them, and cover the text",
        )
    return metadata


def _comment(key: str, value: str | None) -> str:
    line = write_comment(key, value)
    if line is None:
        raise StructureError(
            f"the comment {shorten(repr((key, value)))} would not read back",
            hint='it is one line; keys have no blanks, values no " ::" unless of snt or tok',
        )
    return line
