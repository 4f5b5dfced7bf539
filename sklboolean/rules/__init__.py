"""Rules: classifiers made of rules, and rules extracted from kernel models."""

from sklboolean.rules._conjunctions import (
    Rule,
    conjunction_weight,
    top_conjunctions,
)
from sklboolean.rules._dnf import DNF
from sklboolean.rules._ensemble import RuleEnsemble
from sklboolean.rules._extraction import extract_dnf
from sklboolean.rules._rule_classifier import RuleClassifier

__all__ = [
    "DNF",
    "Rule",
    "RuleClassifier",
    "RuleEnsemble",
    "conjunction_weight",
    "extract_dnf",
    "top_conjunctions",
]
