"""From documents to relations, with evidence: the extractor, its recipes and what it returns."""

from __future__ import annotations

from kernelwood.relations.card import card_of
from kernelwood.relations.claims import Claim, read_claims
from kernelwood.relations.extractor import RelationExtractor
from kernelwood.relations.predictions import Case, Participant, Piece, Prediction, Predictions
from kernelwood.relations.recipes import RECIPES, Recipe
from kernelwood.relations.report import report_html, write_report
from kernelwood.relations.scores import RelationScores, RelationValidation
from kernelwood.relations.verdicts import Verdict
from kernelwood.relations.writers import write_predictions

__all__ = [
    "RECIPES",
    "Case",
    "Claim",
    "Participant",
    "Piece",
    "Prediction",
    "Predictions",
    "Recipe",
    "RelationExtractor",
    "RelationScores",
    "RelationValidation",
    "Verdict",
    "card_of",
    "read_claims",
    "report_html",
    "write_predictions",
    "write_report",
]
