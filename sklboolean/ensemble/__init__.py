"""Ensembles: models of different kinds that predict together."""

from sklboolean.ensemble._boolean_ensemble import BooleanEnsembleClassifier

__all__ = ["BooleanEnsembleClassifier"]
