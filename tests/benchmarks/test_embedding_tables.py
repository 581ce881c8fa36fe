"""Rows of the tables on embeddings, from what their programs print."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks" / "papers"))

from tables import question_clusters, question_networks, sentence_pairs

PAPERS = Path(__file__).parents[2] / "benchmarks" / "papers"
TABLES = (sentence_pairs.TABLE, question_clusters.TABLE, question_networks.TABLE)


def test_programs_exist_and_know_their_arguments() -> None:
    for table in TABLES:
        text = (PAPERS / table.program).read_text(encoding="utf-8")
        assert all(f'"{argument}"' in text for argument in table.arguments)


def test_pairs_have_models_landmarks_and_held_out_pairs() -> None:
    figure = {"Pearson": 0.25, "95 %": "0.100 to 0.400"}
    found = {
        "209 pairs of questions, parsed by a parser": [
            {"model": "PTK, tuned on these pairs, as in the paper", **figure},
            {"model": "bag of words: words", **figure},
        ],
        "landmarks among the 418 sentences, 5 seeds": [
            {"kernel": "PTK", "factor": "1", "landmarks": 300, "products": "0", "published": None},
            {"kernel": "PTK", "factor": "2", "landmarks": 300, "products": "1", "published": 0.1},
            {"kernel": "PTK", "factor": "2", "landmarks": 418, "products": "2", "published": None},
        ],
        "kernel ridge regression on pairs, 10 folds": [
            {"regression on": "SPTK itself, without learning", **figure},
            {"regression on": "PairKernel, sum", **figure},
        ],
    }
    rows = sentence_pairs.TABLE.rows(found)
    assert [(row.ours, row.published) for row in rows] == [
        ("0.250 (0.100 to 0.400)", "0.202"),
        ("0.250 (0.100 to 0.400)", ""),
        ("1", "0.189"),
        ("2", ""),
        ("0.250 (0.100 to 0.400)", ""),
    ]
    assert rows[-1].setting == "learned, held-out pairs: PairKernel, sum"


def test_clusters_have_the_differences_of_every_k() -> None:
    curve = [
        {"K": 6, "bag of words": "43.1 ± 0.8", "CSPTK": "44.6 ± 1.2", "Nyström-500": "41.2 ± 2.9"},
        {"K": 10, "bag of words": "45.6 ± 1.5", "CSPTK": "45.1 ± 1.0", "Nyström-500": "45.1 ± 1.6"},
    ]
    rows = question_clusters.TABLE.rows({"clusters, purity in %": curve, "runs": []})
    assert [row.ours for row in rows[:2]] == ["-0.5 to +1.5", "-3.4 to +0.0"]
    assert len(rows) == 2 + 6 and rows[2].ours == "43.1 ± 0.8"


def test_networks_stand_beside_the_linear_model_of_kelp() -> None:
    row = {
        "kernel": "SPTK", "landmarks": 500, "linear SVM": "90.3 ± 0.3", "network": "93.5 ± 1.0",
        "KeLP, linear": 90, "exact KernelSVC, C 10": 89.8,
    }  # fmt: skip
    rows = question_networks.TABLE.rows({"curve": [row]})
    assert [(made.ours, made.published) for made in rows] == [
        ("93.5 ± 1.0", ""), ("90.3 ± 0.3", "90 (KeLP)"), ("89.8", ""),
    ]  # fmt: skip
