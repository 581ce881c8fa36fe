"""All kinds of inputs."""

from __future__ import annotations

from fuzz import folders, models, other_files, projects, readers, requests
from fuzz.kinds import Kind


def every_kind(only: list[str] | None = None) -> list[Kind]:
    """Return the kinds whose names begin with one of some words; all without words."""
    packages = (models, readers, other_files, folders, projects, requests)
    made = [kind for package in packages for kind in package.kinds()]
    if only is None:
        return made
    return [kind for kind in made if any(kind.name.startswith(one) for one in only)]


def find_kind(name: str) -> Kind:
    """Return the kind with a name."""
    return next(kind for kind in every_kind() if kind.name == name)
