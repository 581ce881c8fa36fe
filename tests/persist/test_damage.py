"""Files of structures and estimators that were damaged or forged: refused, or still sound."""

import hashlib
import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import strategies
from hypothesis import given, settings, strategies as st

import kernelwood as kw
from kernelwood.errors import ModelFormatError
from kernelwood.persist import load, save

sys.path.append(str(Path(__file__).parent))

from fitted import Classifier, add_rows

# Forged numbers give odd results, of which numpy and the kernels warn.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

TREES, SEQUENCES = strategies.sample_trees(4), strategies.sample_sequences(4)
FORESTS = strategies.sample_forests(4)
EXAMPLES = [
    kw.Example(f"x{i}", "ab"[i % 2], {"t": t, "s": s, "f": f} if i else {"t": t, "s": s})
    for i, (t, s, f) in enumerate(zip(TREES, SEQUENCES, FORESTS, strict=True))
]
KERNEL = kw.OnView("t", kw.PartialTreeKernel()) + kw.OnView("s", kw.SubsequenceKernel())
MODELS = {
    "forests": lambda: kw.batch(FORESTS),
    "examples": lambda: kw.batch(EXAMPLES),
    "estimator": lambda: Classifier(KERNEL, class_weight={1: 0.5}).fit(
        EXAMPLES, [x.label for x in EXAMPLES]
    ),
}


@pytest.fixture(scope="module", autouse=True)
def rows():
    with pytest.MonkeyPatch.context() as monkeypatch:
        add_rows(monkeypatch)
        yield


@pytest.fixture(scope="module", params=MODELS)
def saved(request, rows, tmp_path_factory):
    """The bytes of a small model."""
    path = tmp_path_factory.mktemp("saved") / "model.kw"
    save(MODELS[request.param](), path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("damaged") / "model.kw"


def loads_the_same_or_is_refused(path, data, saved):
    """Write bytes to a file; whether it is loaded. Anything but a clear refusal is an error."""
    path.write_bytes(data)
    try:
        model = load(path)
    except ModelFormatError as error:
        assert error.path == str(path)
        return False
    save(model, path)
    assert path.read_bytes() == saved
    return True


def is_refused_or_works(path, manifest, members):
    """Write an archive whose checksums are right, load it, and use what comes out of it."""
    manifest["members"] = {
        name: {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
        for name, data in members.items()
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**members, "manifest.json": json.dumps(manifest)}.items():
            archive.writestr(name, data)
    try:
        model = load(path)
    except ModelFormatError as error:
        assert error.path == str(path)
        return
    if isinstance(model, Classifier):
        assert len(model.predict(EXAMPLES)) == len(EXAMPLES)
    elif isinstance(model, kw.arrays.ForestBatch):
        assert np.isfinite(kw.ForestKernel(normalize=False).gram(model)).all()
    else:
        assert list(kw.batch(list(model), kind=type(model))) == list(model)
    save(model, path)


def unpacked(saved):
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop("manifest.json")), members


# Every byte, which takes minutes, or some of them.
steps = pytest.mark.parametrize("step", [97, pytest.param(1, marks=pytest.mark.slow)])


@steps
@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF], ids=hex)
def test_a_flipped_byte_is_noticed_or_does_not_matter(flip, step, saved, place):
    loaded = 0
    for position in range(flip % step, len(saved), step):
        damaged = bytearray(saved)
        damaged[position] ^= flip
        loaded += loads_the_same_or_is_refused(place, bytes(damaged), saved)
    assert loaded < len(saved) / step / 2


@steps
def test_a_truncated_file_is_refused(step, saved, place):
    assert not any(
        loads_the_same_or_is_refused(place, saved[:length], saved)
        for length in range(0, len(saved), step)
    )


@settings(max_examples=30)
@given(data=st.data())
def test_any_edit_is_noticed_or_does_not_matter(data, saved, place):
    places = st.integers(0, len(saved))
    begin, end = sorted((data.draw(places), data.draw(places)))
    middle = data.draw(st.binary(max_size=8))
    loads_the_same_or_is_refused(place, saved[:begin] + middle + saved[end:], saved)


@given(data=st.data())
def test_members_with_forged_bytes_are_refused_or_work(data, saved, place):
    manifest, members = unpacked(saved)
    for name in data.draw(st.lists(st.sampled_from(sorted(members)), min_size=1, max_size=3)):
        content = bytearray(members[name])
        if content:
            first = 128 if name.endswith(".npy") and len(content) > 128 else 0  # the numbers
            position = data.draw(st.integers(first, len(content) - 1))
            content[position] = data.draw(st.sampled_from([0, 1, 2, 3, 5, 0x22, 0x7F, 0x80, 0xFF]))
        members[name] = bytes(content)
    is_refused_or_works(place, manifest, members)


@settings(max_examples=30)
@given(data=st.data())
def test_members_that_changed_places_are_refused_or_work(data, saved, place):
    manifest, members = unpacked(saved)
    names = [name for name in sorted(members) if name != "card.md"]
    one, other = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(names))
    members[one], members[other] = members[other], members[one]
    is_refused_or_works(place, manifest, members)


_json = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-2, 12), st.floats(), st.text(max_size=3),
        st.builds(lambda n: {"kind": "part", "number": n}, st.integers(0, 12)),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.builds(
            lambda kind, values: {"kind": kind, "values": values},
            st.sampled_from(["tuple", "pairs"]),
            st.lists(inner, max_size=2),
        ),
        st.dictionaries(st.sampled_from(["kind", "values", "number", "name"]), inner, max_size=3),
    ),
    max_leaves=6,
)  # fmt: skip


@given(data=st.data())
def test_any_forged_value_in_the_manifest_is_refused_or_works(data, saved, place):
    manifest, members = unpacked(saved)
    node = data.draw(st.sampled_from([manifest, *manifest["parts"]]))
    # Down to any value inside of parameters, kinds and names included.
    key = data.draw(st.sampled_from(["kind", "parameters", "parameters", "parameters", "arrays"]))
    while isinstance(node[key], (dict, list)) and node[key] and data.draw(st.booleans()):
        node = node[key]
        keys = sorted(node) if isinstance(node, dict) else range(len(node))
        key = data.draw(st.sampled_from(keys))
    node[key] = data.draw(_json)
    is_refused_or_works(place, manifest, members)


@settings(max_examples=30)
@given(data=st.data())
def test_parts_that_changed_places_are_refused_or_work(data, saved, place):
    manifest, members = unpacked(saved)
    parts = manifest["parts"]
    if len(parts) > 1:
        one, other = (data.draw(st.integers(0, len(parts) - 1)) for _ in range(2))
        for field in data.draw(st.sets(st.sampled_from(["kind", "name", "parameters"]))):
            parts[one][field], parts[other][field] = parts[other][field], parts[one][field]
    is_refused_or_works(place, manifest, members)
