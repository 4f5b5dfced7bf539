"""Online linear classifiers, and a halfspace that is consistent or proved absent."""

from sklboolean.linear_model._averaged_perceptron import AveragedPerceptron
from sklboolean.linear_model._consistent_halfspace import ConsistentHalfspace
from sklboolean.linear_model._winnow import Winnow

__all__ = ["AveragedPerceptron", "ConsistentHalfspace", "Winnow"]
