"""Objects shaped like those of Stanza, for tests without its networks."""

from __future__ import annotations

import re
from types import SimpleNamespace as Thing


def word(text, head, relation, **more):
    return Thing(
        **{"text": text, "head": head, "deprel": relation, "lemma": text.lower()},
        **{"upos": "X", "xpos": None, "feats": None, **more},
    )


def token(start, end, *words, text=None):
    return Thing(text=text or words[0].text, start_char=start, end_char=end, words=list(words))


def node(label, *children):
    return Thing(label=label, children=children)


class Pipeline:
    """Parses texts made of the sentences "We go." and "Cannot."; names are "We"."""

    lang = "en"
    processors: dict[str, object] = {}  # noqa: RUF012

    def __init__(self, constituency=None):
        self.constituency = constituency

    def __call__(self, text):
        sentences, names = [], []
        for found in re.finditer(r"\S[^.]*\.", text):
            at = found.start()
            if found[0] == "We go.":
                tokens = [
                    token(at, at + 2, word("We", 2, "nsubj", xpos="PRP")),
                    token(at + 3, at + 5, word("go", 0, "root")),
                    token(at + 5, at + 6, word(".", 2, "punct")),
                ]
                sentences.append(Thing(tokens=tokens, constituency=self.constituency))
                names.append(Thing(type="W", start_char=at, end_char=at + 2))
            else:
                assert found[0] == "Cannot."
                words = [word("Can", 0, "root"), word("not", 1, "advmod")]
                tokens = [
                    token(at, at + 6, *words, text="Cannot"),
                    token(at + 6, at + 7, word(".", 1, "punct")),
                ]
                sentences.append(Thing(tokens=tokens))
        return Thing(sentences=sentences, ents=names)
