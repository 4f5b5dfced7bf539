"""Ensembles: models of different kinds that predict together."""

from sklboolean.ensemble._boolean_ensemble import BooleanEnsembleClassifier
from sklboolean.ensemble._boolean_ensemble_regressor import BooleanEnsembleRegressor

__all__ = ["BooleanEnsembleClassifier", "BooleanEnsembleRegressor"]
