"""Boosting over Boolean features."""

from sklboolean.boosting.stump import BooleanStump

__all__ = ["BooleanStump"]
