"""Boosting by majority: many weak hypotheses, one vote each."""

from sklboolean.boosting._boost_by_majority import BoostByMajority
from sklboolean.boosting._boosting import WeakLearnerError
from sklboolean.boosting._conjunction_stump import ConjunctionStump
from sklboolean.boosting._cross_validated_schedule import CrossValidatedSchedule
from sklboolean.boosting._filtering import FilteringBoostByMajority
from sklboolean.boosting._gradient_boosting_classifier import (
    BooleanGradientBoostingClassifier,
)
from sklboolean.boosting._gradient_boosting_regressor import (
    BooleanGradientBoostingRegressor,
)
from sklboolean.boosting._online_boost_by_majority import (
    BitPerceptron,
    OnlineBoostByMajority,
)
from sklboolean.boosting._regression import BoostByMajorityRegressor
from sklboolean.boosting._schedules import BoostingSchedule, FilteringSchedule
from sklboolean.boosting._stump import BooleanStump

__all__ = ["BitPerceptron", "BooleanGradientBoostingClassifier"]
__all__ += ["BooleanGradientBoostingRegressor", "BooleanStump", "BoostByMajority"]
__all__ += ["BoostByMajorityRegressor", "BoostingSchedule", "ConjunctionStump"]
__all__ += ["CrossValidatedSchedule", "FilteringBoostByMajority", "FilteringSchedule"]
__all__ += ["OnlineBoostByMajority", "WeakLearnerError"]
