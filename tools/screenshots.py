"""Take the pictures of the review pages that the documentation shows.

    python tools/screenshots.py [--out docs/images]

A project of the bundled corpus is taught as it is annotated, and its pages are drawn by Chromium of
the system, driven by Playwright.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Literal

from browser import find
from playwright.sync_api import Page, sync_playwright

from kernelwood.datasets import load_interactions
from kernelwood.web import (
    Project,
    Server,
    Session,
    TypeRow,
    build_project,
    create_review,
    new_token,
)

N_DECISIONS = 200
WIDTH, HEIGHT = 1200, 900
SCHEMES: dict[Literal["light", "dark"], str] = {
    "light": "",
    "dark": "-dark",
}  # and endings of names
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
TYPES = [
    TypeRow("Activates"),
    TypeRow("Inhibits"),
    TypeRow("Binds", True),
    TypeRow("Phosphorylates"),
    TypeRow("Regulates"),
]


def teach(session: Session, answers: list[str]) -> None:
    """Decide candidates as they are annotated, each after the model has learned."""
    for _ in range(N_DECISIONS):
        pick = session.next()
        assert pick is not None
        session.decide([pick.candidate], answers[pick.candidate])
        session.wait()


def answers_of(folder: Path) -> list[str]:
    """Return the annotated class of each candidate; Binds has no direction."""
    with build_project(folder / "answers.kwp", load_interactions()) as project:
        labels = [label or "none" for label in project.candidates.annotation]
    return ["Binds" if label.startswith("Binds(") else label for label in labels]


def draw(page: Page, out: Path, url: str, ending: str) -> None:
    """Write the pictures; their names have an ending for the color scheme."""
    page.goto(url)
    page.wait_for_selector("text=training cases")
    page.screenshot(path=out / f"review-queue{ending}.png")
    base = url.partition("?")[0]
    page.goto(f"{base}documents/3")
    page.wait_for_load_state("networkidle")
    page.screenshot(path=out / f"review-document{ending}.png")
    page.goto(f"{base}facts?low=0.7")
    page.wait_for_selector(".network")
    page.wait_for_load_state("networkidle")
    page.screenshot(path=out / f"review-facts{ending}.png")
    page.goto(f"{base}model")
    page.wait_for_selector(".threshold svg")
    page.screenshot(path=out / f"review-model{ending}.png")


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        answers = answers_of(Path(folder))
        path = Path(folder, "interactions.kwp")
        build_project(path, load_interactions(), annotation=False, types=TYPES).close()
        with Project.open(path) as project, sync_playwright() as playwright:
            session = Session(project, author="Ada").start()
            teach(session, answers)
            token = new_token()
            app = create_review(session, token=token)
            with Server(app, stopping=session.stop) as server:
                browser = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
                for scheme, ending in SCHEMES.items():
                    size = {"width": WIDTH, "height": HEIGHT}
                    page = browser.new_page(viewport=size, color_scheme=scheme)
                    draw(page, out, f"{server.url}/?token={token}", ending)
                browser.close()
            session.close()


if __name__ == "__main__":
    main()
