"""The error of model files."""

import pickle

import pytest

from kernelwood.errors import KernelwoodError, ModelFormatError


def test_the_message_tells_file_member_problem_and_hint():
    error = ModelFormatError("it is cut", path="m.kw", member="card.md", hint="fetch it again")
    assert str(error) == "m.kw: card.md: it is cut\n    fetch it again"


def test_what_is_not_known_is_left_out():
    assert str(ModelFormatError("it is cut")) == "it is cut"
    assert str(ModelFormatError("it is cut", path="m.kw")) == "m.kw: it is cut"


@pytest.mark.parametrize("base", [KernelwoodError, ValueError])
def test_it_can_be_caught_as(base):
    assert issubclass(ModelFormatError, base)


def test_it_survives_pickling():
    error = ModelFormatError("it is cut", path="m.kw", member="card.md", hint="fetch it again")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is ModelFormatError
    assert (str(again), vars(again)) == (str(error), vars(error))
