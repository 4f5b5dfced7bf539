"""Boosting by majority: many weak hypotheses, one vote each."""

from sklboolean.boosting.majority import BoostByMajority
from sklboolean.boosting.online import OnlineBoostByMajority
from sklboolean.boosting.regression import BoostByMajorityRegressor
from sklboolean.boosting.stump import BooleanStump

__all__ = [
    "BooleanStump",
    "BoostByMajority",
    "BoostByMajorityRegressor",
    "OnlineBoostByMajority",
]
