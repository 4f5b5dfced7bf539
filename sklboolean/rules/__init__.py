"""Rules: the conjunctions inside kernel machines, as text and as features."""

from sklboolean.rules.features import ConjunctionFeatures

__all__ = ["ConjunctionFeatures"]
from sklboolean.rules.conjunctions import (
    Rule,
    conjunction_weight,
    top_conjunctions,
)

__all__ = ["Rule", "conjunction_weight", "top_conjunctions"]
