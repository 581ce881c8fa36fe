"""spaCy files: what spaCy writes is read, and damaged files are refused."""

from __future__ import annotations

import builtins
import contextlib
import io
import random
import zlib

import pytest
from hypothesis import given, strategies as st

from kernelwood.errors import ReadError, StructureError
from kernelwood.io import Limits, read
from kernelwood.io.formats.spacy_docbin import decode_msgpack
from kernelwood.text import from_spacy

spacy = pytest.importorskip("spacy", reason="pip install 'kernelwood[spacy]'")
srsly = pytest.importorskip("srsly")

from spacy.tokens import Doc, DocBin, Span  # noqa: E402

WORDS = ["Raf", "-", "1", "binds", "Ras", ".", "It", "acts", "."]
SPACES = [False, False, True, True, False, True, True, False, False]


def blank(**parts):
    doc = Doc(spacy.vocab.Vocab(), words=WORDS, spaces=SPACES, **parts)
    doc.ents = [Span(doc, 0, 3, "protein", kb_id="UniProt:P04049"), Span(doc, 4, 5, "protein")]
    return doc


def parsed():
    return blank(
        heads=[3, 0, 0, 3, 3, 3, 7, 7, 7],
        deps=["nsubj", "punct", "dep", "ROOT", "obj", "punct", "nsubj", "ROOT", "punct"],
        tags=["NN", "HYPH", "CD", "VBZ", "NN", ".", "PRP", "VBZ", "."],
        pos=["NOUN", "PUNCT", "NUM", "VERB", "PROPN", "PUNCT", "PRON", "VERB", "PUNCT"],
        lemmas=["Raf", "-", "1", "bind", "Ras", ".", "it", "act", "."],
        morphs=["", "", "", "Number=Sing|Tense=Pres", "", "", "Case=Nom", "", ""],
    )


def stored(*docs, **options):
    return DocBin(docs=docs, **options).to_bytes()


def parse(data: bytes, errors: str = "raise", **options):
    return read(io.BytesIO(data), errors=errors, **options)


def changed(data: bytes, **parts):
    """Return a file with some of its parts replaced."""
    content = srsly.msgpack_loads(zlib.decompress(data))
    return zlib.compress(srsly.msgpack_dumps({**content, **parts}))


def test_documents_are_those_of_the_docs():
    docs = [parsed(), blank(), blank(sent_starts=[True, *[False] * 5, True, False, False])]
    examples = parse(stored(*docs))
    assert [example.view("document") for example in examples] == [from_spacy(doc) for doc in docs]
    assert [example.id for example in examples] == ["stream:1", "stream:2", "stream:3"]


def test_the_parse_is_kept():
    [example] = parse(stored(parsed()))
    first, second = example.view("document").sentences()
    assert [token.lemma for token in second.tokens] == ["it", "act", "."]
    assert [token.features for token in first.tokens][3] == "Number=Sing|Tense=Pres"
    assert (3, "obj", 4) in first.dependencies
    assert [entity.text for entity in first.entities] == ["Raf-1", "Ras"]


def test_references_are_kept():
    [example] = parse(stored(blank()))
    assert [item.value for item in example.view("document").attributes] == ["UniProt:P04049\tRaf-1"]


def test_unknown_spaces_are_blanks():
    doc = Doc(spacy.vocab.Vocab(), words=["Raf", "."])
    assert parse(stored(doc))[0].view("document").text == doc.text == "Raf . "


def test_few_attributes_are_enough():
    [example] = parse(stored(parsed(), attrs=["ENT_IOB", "ENT_TYPE"]))
    document = example.view("document")
    assert ([entity.text for entity in document.entities], document.parse) == (["Raf-1", "Ras"], ())


def test_files_are_recognized_by_name(tmp_path):
    DocBin(docs=[parsed()]).to_disk(tmp_path / "train.spacy")
    assert len(read(tmp_path / "train.spacy")) == len(read(tmp_path)) == 1


def test_no_documents_are_no_examples():
    assert parse(stored()) == []
    assert read(io.BytesIO(b""), format="spacy") == []


class TestRelations:
    @pytest.fixture(autouse=True)
    def extension(self):
        Doc.set_extension("rel", default={}, force=True)
        yield
        Doc.remove_extension("rel")

    def relations(self, rel, **options):
        doc = parsed()
        doc._.rel = rel
        examples = parse(stored(doc, store_user_data=True))
        return examples[0].view("document"), examples.tally.remarks

    def test_pairs_of_tokens_are_relations_of_entities(self):
        document, _ = self.relations({(0, 4): {"binds": 1.0, "cuts": 0.0}, (4, 0): {"binds": 0.0}})
        [relation] = document.relations
        assert relation.type == "binds"
        assert [argument.target for argument in relation.arguments] == ["T1", "T2"]
        assert len(document.parse) == 2

    def test_probabilities_are_attributes(self):
        document, _ = self.relations({(0, 4): {"binds": 0.75, "cuts": 0.25}})
        assert [relation.type for relation in document.relations] == ["binds"]
        assert document.attributes[-1][1:] == ("probability", "R1", "0.75")

    def test_relations_of_other_tokens_are_counted(self):
        document, remarks = self.relations({(0, 1): {"binds": 1.0}})
        assert (document.relations, remarks) == (
            (),
            {"relation of tokens where no entity begins": 1},
        )

    def test_user_data_with_other_types_is_counted(self):
        data = changed(stored(parsed(), store_user_data=True), user_data=[b"\xd4\x05\x01"])
        examples = parse(data)
        assert examples.tally.remarks == {"user data of a document that cannot be read": 1}


def column(data: bytes, name: str, values):
    """Return a file whose tokens have other values of an attribute."""
    import numpy as np

    content = srsly.msgpack_loads(zlib.decompress(data))
    tokens = np.frombuffer(content["tokens"], dtype="uint64").reshape(-1, len(content["attrs"]))
    tokens = tokens.copy()
    place = content["attrs"].index(spacy.attrs.IDS[name])
    tokens[:, place] = np.array(values, dtype="int64").astype("uint64")
    return changed(data, tokens=tokens.tobytes("C"))


@pytest.mark.parametrize(
    ("name", "values", "problem"),
    [
        ("HEAD", [100, 0, 0, 0, 0, 0, 0, 0, 0], "a head is not a token of the document"),
        ("HEAD", [-1, 0, 0, 0, 0, 0, 0, 0, 0], "a head is not a token of the document"),
        ("HEAD", [1, -1, 0, 0, 0, 0, 0, 0, 0], "the heads form a cycle"),
        ("POS", [5] * 9, "a part of speech is not one of spaCy's"),
        ("ORTH", [12345678901] * 9, "a string of ORTH is missing"),
    ],
)
def test_wrong_numbers_are_errors_of_their_document(name, values, problem):
    data = column(stored(parsed()), name, values)
    with pytest.raises(ReadError) as caught:
        parse(data)
    assert caught.value.problem == f"document 1: {problem}"


@pytest.mark.parametrize(
    "parts",
    [
        {"tokens": b"123"},
        {"tokens": b""},
        {"spaces": b"\1"},
        {"lengths": b"\xff" * 4},
        {"lengths": b"\x7f" * 8},
        {"attrs": [10**6]},
        {"attrs": []},
        {"strings": [1]},
        {"strings": None},
    ],
)
def test_wrong_sizes_are_errors_of_the_file(parts):
    with pytest.raises(ReadError, match="not a DocBin"):
        parse(changed(stored(parsed()), **parts))


@pytest.mark.parametrize("data", [b"x\x9cnothing", zlib.compress(b"\xc1"), zlib.compress(b"\x93")])
def test_other_files_are_refused(data):
    with pytest.raises(ReadError, match=r"not a DocBin|cut off"):
        parse(data)


def test_arrays_in_maps_stay_maps():
    array = {b"nd": True, b"type": "|O", b"kind": b"O", b"shape": (1,), b"data": b"x"}
    assert decode_msgpack(srsly.msgpack_dumps(array)) == array


def test_a_file_that_is_cut_off_is_refused():
    with pytest.raises(ReadError, match="the file is cut off"):
        parse(stored(parsed())[:-5])


def test_limits_apply():
    bomb = zlib.compress(bytes(100 << 20))
    with pytest.raises(ReadError, match="more than 300 times as much"):
        parse(bomb)
    with pytest.raises(ReadError, match="the limit is total_size"):
        parse(stored(parsed()), limits=Limits(total_size=100))


def test_spacy_must_be_installed(monkeypatch):
    plain = builtins.__import__

    def refuse(name, *rest):
        if name.partition(".")[0] == "spacy":
            raise ImportError(name)
        return plain(name, *rest)

    data = stored(parsed())
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ReadError, match=r"pip install 'kernelwood\[spacy\]'"):
        parse(data)


def test_damaged_content_gives_only_read_errors():
    rng = random.Random(7)
    content = zlib.decompress(stored(parsed(), store_user_data=True))
    for _ in range(300):
        made = bytearray(content)
        for _ in range(rng.randrange(1, 4)):
            made[rng.randrange(len(made))] = rng.randrange(256)
        read(io.BytesIO(zlib.compress(bytes(made))), format="spacy", errors="skip")


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(max_size=300),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=40), inner),
    max_leaves=20,
)


def as_tuples(value):
    if isinstance(value, list):
        return tuple(map(as_tuples, value))
    if isinstance(value, dict):
        return {key: as_tuples(one) for key, one in value.items()}
    return value


@given(values)
def test_the_decoder_reads_what_srsly_writes(value):
    try:
        data = srsly.msgpack_dumps(value)
    except UnicodeEncodeError:
        return
    assert decode_msgpack(data) == as_tuples(value)


@given(st.binary(max_size=40))
def test_the_decoder_gives_only_its_own_error(data):
    with contextlib.suppress(StructureError):
        decode_msgpack(data)


@pytest.mark.parametrize(
    "data",
    [b"\x91" * 100_000, b"\xdd\xff\xff\xff\xff", b"\xdf\x7f\xff\xff\xff", b"\xc6\xff\xff\xff\xff"],
)
def test_large_claims_are_refused(data):
    with pytest.raises(StructureError):
        decode_msgpack(data)
