"""Boosters, with the parameters of their schedules beside their own."""

from sklboolean import BoostByMajority, BoostByMajorityRegressor
from sklboolean.boosting import BoostingSchedule


def scheduled(parameters, kind=BoostingSchedule):
    """Put the parameters of a schedule into one, and leave the others."""
    names = kind().get_params()
    fields = {name: value for name, value in parameters.items() if name in names}
    others = {name: parameters[name] for name in parameters if name not in names}
    return others | {"schedule": kind(**fields)} if fields else others


def make_booster(estimator=None, **parameters):
    return BoostByMajority(estimator, **scheduled(parameters))


def make_regressor(estimator=None, **parameters):
    return BoostByMajorityRegressor(estimator, **scheduled(parameters))
