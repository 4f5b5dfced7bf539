"""Transformers from data to Boolean features."""

from sklboolean.preprocessing._boolean_encoder import BooleanEncoder
from sklboolean.preprocessing._conjunction_features import ConjunctionFeatures

__all__ = ["BooleanEncoder", "ConjunctionFeatures"]
