"""Question classification beside KeLP's figures, and what hashing saves."""

from __future__ import annotations

from typing import Any

from tables import Row, Table

SHOWN = (137, 1000)  # numbers of references of forests


def rows(found: dict[str, list[dict[str, Any]]]) -> list[Row]:
    """Return the rows of machines, of forests with two numbers of references, and of neighbors."""
    made = []
    for one in found.get("machines", ()):
        weight = "" if one["class weight"] == "none" else ", balanced classes"
        published = "" if one["KeLP"] is None else f"{one['KeLP']:.1f}"
        made.append(
            Row(
                f"{one['kernel']}, C = {one['C']:g}{weight}",
                "accuracy, %",
                f"{one['accuracy']:.1f}",
                published,
                headline=bool(published),
            )
        )
    for one in found.get("forests", ()):
        if one["M"] in SHOWN:
            setting = (
                f"hash forest, {one['kernel']}, {one['method']}, subsets of {one['subsets']}, "
                f"references by {one['references']}, M = {one['M']:,}"
            )
            ours = f"{one['accuracy']:.1f} ± {one['±']:.1f}, {one['times fewer']:.1f} times fewer"
            made.append(Row(setting, "accuracy, %; kernel evaluations", ours))
    for one in found.get("neighbors", ()):
        bits = "exact" if one["bits"] is None else f"{one['bits']} bits"
        ours = f"{one['accuracy']:.1f} ± {one['±']:.1f}, {one['of N^1.6']:.2f} of N^1.6"
        setting = f"8 neighbors, SST, {bits}, candidates: {one['candidates']}"
        made.append(Row(setting, "accuracy, %; kernel evaluations", ours))
    return made


TABLE = Table(
    name="questions",
    paper="",
    number="",
    topic="question classification, beside KeLP",
    program="questions.py",
    arguments=(),
    data=(
        "question-classification/train_5500.coarse.klp.gz",
        "question-classification/TREC_10.coarse.klp.gz",
    ),
    protocol=(
        "Six classes are learned from 5,452 questions and tested on 500, with grammatical relation "
        "centered trees. Published: accuracy of KeLP's support vector machines with the same "
        "kernels, parameters and C = 3. A question is 0.2 points. Settings of forests were chosen "
        "on splits of the 5,452 (`--parts choice`); their evaluations are compared with those of "
        "PTK, C = 10. ± is the deviation over five seeds."
    ),
    rows=rows,
    page="experiments/questions.md",
)
