"""How a model survives on disk: a zip archive that is read, never run."""

from kernelwood.persist.files import load, save
from kernelwood.persist.models import MODELS, Row, State

__all__ = ["MODELS", "Row", "State", "load", "save"]
