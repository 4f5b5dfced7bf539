"""Rules: the conjunctions inside kernel machines, as text and as features."""

from sklboolean.rules.conjunctions import (
    Rule,
    conjunction_weight,
    top_conjunctions,
)
from sklboolean.rules.features import ConjunctionFeatures

__all__ = ["ConjunctionFeatures", "Rule", "conjunction_weight", "top_conjunctions"]
