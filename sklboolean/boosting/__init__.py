"""Boosting by majority: many weak hypotheses, one vote each."""

__all__ = []
