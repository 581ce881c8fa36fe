"""Relations in bags and data frames of Dask: the same rows as from all texts at once."""

from __future__ import annotations

import pickle

import pytest
from scale.shared_work import TERMS, extractor, model

import kernelwood as kw
from kernelwood.datasets import load_interactions
from kernelwood.errors import KernelInputError
from kernelwood.scale import collections, extract_bag, extract_column

dask = pytest.importorskip("dask")
pandas = pytest.importorskip("pandas")
pytest.importorskip("dask.bag")
pytest.importorskip("dask.dataframe")

# The model is small, and has learned from other parses.
pytestmark = [
    pytest.mark.filterwarnings("ignore:drift"),
    pytest.mark.filterwarnings("ignore:the model was trained on parses"),
]
NAMES = [name for name, _ in TERMS]
without_entities = pytest.mark.filterwarnings("ignore:the input has no entities")
VERBS = ("binds", "activates", "does not bind", "inhibits")
TEXTS = [f"Here {NAMES[n % 4]} {VERBS[n % 3]} {NAMES[(n + 1) % 4]}." for n in range(11)]


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="sync"):
        yield


def rows(texts, **options):
    found = extractor().extract(texts, dictionary=dict(TERMS), **options)
    return [one.to_dict() for one in found]


@pytest.mark.parametrize("partitions", [1, 3, 11])
def test_texts_in_a_bag(partitions):
    bag = dask.bag.from_sequence(TEXTS, npartitions=partitions)
    found = extract_bag(extractor(), bag, dictionary=dict(TERMS), all=True)
    assert found.npartitions == partitions
    assert found.compute() == rows(TEXTS, all=True)
    assert len(found.compute()) >= len(TEXTS)


def test_only_relations_are_returned_by_default():
    bag = dask.bag.from_sequence(TEXTS, npartitions=2)
    found = extract_bag(model(), bag, dictionary=list(TERMS)).compute()
    assert found == rows(TEXTS)
    assert 0 < len(found) < len(rows(TEXTS, all=True))


def test_examples_documents_and_texts_keep_their_order():
    examples = list(load_interactions("test")[:20])
    mixed = [*examples, kw.Document("No names."), "No names either."]
    bag = dask.bag.from_sequence(mixed, npartitions=4).filter(lambda one: True)
    found = extract_bag(extractor(), bag, all=True).compute()
    assert found == [one.to_dict() for one in extractor().extract(mixed, all=True)]


@pytest.mark.parametrize("all", [False, True])
def test_a_column_of_texts(all):
    table = pandas.DataFrame({"text": TEXTS, "pmid": range(100, 100 + len(TEXTS)), "rest": 0})
    frame = dask.dataframe.from_pandas(table, npartitions=3)
    options = {"dictionary": dict(TERMS), "all": all}
    whole = extractor().extract(TEXTS, **options).to_pandas()
    found = extract_column(extractor(), frame, "text", **options)
    assert list(found.columns) == list(whole.columns)
    computed = found.compute().reset_index(drop=True)
    pandas.testing.assert_frame_equal(computed, whole, check_dtype=False)
    assert computed.dtypes.to_dict() == found.dtypes.to_dict()
    named = extract_column(model(), frame, "text", "pmid", **options).compute()
    assert set(named.document) <= {str(n) for n in table.pmid}
    assert named.text1.tolist() == whole.text1.tolist()


@without_entities
def test_the_columns_do_not_depend_on_what_is_found():
    table = pandas.DataFrame({"text": ["No names.", "None."]})
    found = extract_column(extractor(), dask.dataframe.from_pandas(table, npartitions=2), "text")
    computed = found.compute()
    assert len(computed) == 0
    assert computed.dtypes.to_dict() == found.dtypes.to_dict()


@without_entities
def test_the_model_is_in_the_graph_once_and_loaded_once(monkeypatch):
    loads = []
    read = collections._from_path
    monkeypatch.setattr(collections, "_from_path", lambda path: loads.append(path) or read(path))
    monkeypatch.setattr(collections, "_latest_model", None)
    bag = dask.bag.from_sequence(TEXTS, npartitions=11)
    found = extract_bag(extractor(), bag)
    size = model().stat().st_size
    assert size < len(pickle.dumps(dict(found.dask))) < 2 * size
    found.compute()
    assert len(loads) == 1


@without_entities
def test_strings_are_texts_even_if_files_have_such_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Raf.jsonl").write_text("not a corpus")
    bag = dask.bag.from_sequence(["Raf.jsonl"], npartitions=1)
    assert extract_bag(extractor(), bag).compute() == []


@without_entities
def test_wrong_values_are_named(tmp_path):
    frame = dask.dataframe.from_pandas(pandas.DataFrame({"text": ["a", None], "id": [None, 1]}), 1)
    with pytest.raises(KernelInputError, match="no column 'abstract'; columns: text, id"):
        extract_column(extractor(), frame, "abstract")
    with pytest.raises(KernelInputError, match="row 1: the text in the column 'text' is missing"):
        extract_column(extractor(), frame, "text").compute()
    with pytest.raises(KernelInputError, match="row 0: the id in the column 'id' is missing"):
        extract_column(extractor(), frame, "text", "id").compute()
    frame["id"] = 1
    with pytest.raises(KernelInputError, match="row 0: the text in the column 'id' is a int"):
        extract_column(extractor(), frame, "id").compute()
    bag = dask.bag.from_sequence(["a", 3], npartitions=2)
    with pytest.raises(KernelInputError, match="item 1 of the bag is a int"):
        extract_bag(extractor(), bag).compute()
    with pytest.raises(KernelInputError, match="give the terms themselves"):
        extract_bag(extractor(), bag, dictionary=kw.Dictionary.of(dict(TERMS)))
    kw.save(kw.SubsetTreeKernel(), tmp_path / "kernel.kw")
    with pytest.raises(KernelInputError, match="is a SubsetTreeKernel, not a RelationExtractor"):
        extract_column(tmp_path / "kernel.kw", frame, "text")


def test_a_missing_package_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "dask.dataframe", None)
    with pytest.raises(ImportError, match=r"kernelwood\[dask\]"):
        extract_column(extractor(), None, "text")
