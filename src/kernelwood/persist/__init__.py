"""How a model survives on disk: a zip archive that is read, never run."""

from kernelwood.persist.files import contents, load, save
from kernelwood.persist.models import MODELS, Row, State

__all__ = ["MODELS", "Row", "State", "contents", "load", "save"]
