"""Rules: the conjunctions inside kernel machines, as text and as features."""

from sklboolean.rules.features import ConjunctionFeatures

__all__ = ["ConjunctionFeatures"]
