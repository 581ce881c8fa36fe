"""Small projects for tests, built once and copied."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from kernelwood.datasets import load_interactions
from kernelwood.relations import NONE
from kernelwood.web import Project, Session, build_project

N_SENTENCES = 60


@cache
def _built(**options):
    folder = Path(mkdtemp(prefix="kernelwood-projects-"))
    path = folder / "small.kwp"
    documents = load_interactions("test")[:N_SENTENCES]
    build_project(path, documents, **options).close()
    return path


def small_project(folder, *, name="small.kwp", learn_annotation=False, held_out=0.0):
    """Return the path of a new project with about 60 annotated sentences."""
    path = Path(folder) / name
    shutil.copy(_built(held_out=held_out), path)
    with Project.open(path) as project:
        project.set("learn_annotation", learn_annotation)
    return path


@contextmanager
def session_of(path, **options):
    """Open a project and learn in the background until the block ends."""
    with Project.open(path) as project:
        session = Session(project, author="tester", **options).start()
        try:
            yield session
        finally:
            session.close()


def true_label(project, row):
    """Return the annotated class of a candidate."""
    return project.candidates.annotation[row] or NONE


def teach(session, n, *, wait=True):
    """Decide the next candidates as they are annotated, each after the model has learned."""
    rows = []
    assert not wait or session.wait(60)  # for the first model
    for _ in range(n):
        pick = session.next()
        rows.append(pick.candidate)
        session.decide([pick.candidate], true_label(session.project, pick.candidate))
        if wait:
            assert session.wait(60)
    return rows
