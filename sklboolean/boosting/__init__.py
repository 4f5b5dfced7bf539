"""Boosting by majority: many weak hypotheses, one vote each."""

from sklboolean.boosting._boost_by_majority import BoostByMajority
from sklboolean.boosting._online_boost_by_majority import OnlineBoostByMajority
from sklboolean.boosting._regression import BoostByMajorityRegressor
from sklboolean.boosting._stump import BooleanStump

__all__ = [
    "BooleanStump",
    "BoostByMajority",
    "BoostByMajorityRegressor",
    "OnlineBoostByMajority",
]
