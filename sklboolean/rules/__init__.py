"""Rules: the conjunctions inside kernel machines, as text and as features."""

__all__ = []
