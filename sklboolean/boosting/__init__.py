"""Boosting by majority: many weak hypotheses, one vote each."""

from sklboolean.boosting.regression import BoostByMajorityRegressor
from sklboolean.boosting.stump import BooleanStump

__all__ = ["BooleanStump", "BoostByMajorityRegressor"]
