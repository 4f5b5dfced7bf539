"""Boosting by majority: many weak hypotheses, one vote each."""

from sklboolean.boosting.online import OnlineBoostByMajority
from sklboolean.boosting.stump import BooleanStump

__all__ = ["BooleanStump", "OnlineBoostByMajority"]
