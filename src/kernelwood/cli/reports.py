"""HTML reports that commands write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelwood.cli.console import note, one_name
from kernelwood.text import Example, annotated_view

if TYPE_CHECKING:
    from kernelwood.relations import (
        DocumentPredictions,
        Prediction,
        RelationExtractor,
        RelationScores,
        RelationValidation,
    )


def is_report(path: str | None) -> bool:
    """Return whether the name of an output file is that of a report."""
    return path is not None and Path(path).suffix.lower() == ".html"


class Report:
    """A report that is collected while a command runs, in bounded memory.

    Parameters
    ----------
    path : str
        Output file.
    title : str
        Title of the page.
    """

    def __init__(self, path: str, title: str) -> None:
        from kernelwood.relations import ReportContents

        self.path, self.title, self.contents = path, title, ReportContents()

    @classmethod
    def of(cls, options: dict[str, Any], what: str, sources: Sequence[str]) -> Report | None:
        """Return the report that options ask for, if they do."""
        path = options["out"] if is_report(options.get("out")) else options["report"]
        names = [Path(name).name or name for name in sources]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return None if path is None else cls(path, f"{what} {', '.join(names[:3])}{more}")

    def collected(self, results: Iterable[DocumentPredictions]) -> Iterator[DocumentPredictions]:
        """Yield predictions, which are added to the report."""
        for one in results:
            self.contents.add(one.predictions, {one.id: one.annotated})
            yield one

    def add(self, predictions: Iterable[Prediction], documents: Iterable[Example]) -> None:
        """Add the predictions for annotated documents."""
        self.contents.add(predictions, {one.id: annotated_view(one) for one in documents})

    def write(
        self,
        extractor: RelationExtractor | None = None,
        scores: RelationScores | RelationValidation | None = None,
    ) -> None:
        """Write the report, completely or not at all."""
        from kernelwood.relations import write_report

        write_report(
            self.path,
            title=self.title,
            predictions=self.contents,
            extractor=extractor,
            scores=scores,
        )
        note(f"report: {one_name(self.path)}")
