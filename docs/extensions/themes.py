"""Pictures in the colors of the theme: ``name-dark.png`` is shown in the dark one, if it exists."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from docutils.transforms import Transform


def add_dark_pictures(document: nodes.document, folder: Path) -> None:
    """Put the dark picture behind each picture of a page in a folder, each with its class."""
    for light in list(document.findall(nodes.image)):
        path = PurePosixPath(light["uri"])
        path = path.with_name(f"{path.stem}-dark{path.suffix}")
        if (folder / path).is_file():
            dark = light.deepcopy()
            dark["uri"] = str(path)
            light["classes"].append("only-light")
            dark["classes"].append("only-dark")
            light.parent.insert(light.parent.index(light) + 1, dark)


class _DarkPictures(Transform):
    default_priority = 400  # before Sphinx collects the images of a page

    def apply(self, **options: Any) -> None:
        add_dark_pictures(self.document, Path(self.document["source"]).parent)


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.add_transform(_DarkPictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
