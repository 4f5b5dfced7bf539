"""Rules: the conjunctions inside kernel machines, as text and as features."""

from sklboolean.rules.conjunctions import (
    Rule,
    conjunction_weight,
    top_conjunctions,
)
from sklboolean.rules.dnf import DNF
from sklboolean.rules.ensemble import RuleEnsemble
from sklboolean.rules.extraction import extract_dnf
from sklboolean.rules.features import ConjunctionFeatures

__all__ = [
    "DNF",
    "ConjunctionFeatures",
    "Rule",
    "RuleEnsemble",
    "conjunction_weight",
    "extract_dnf",
    "top_conjunctions",
]
