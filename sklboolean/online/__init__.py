"""On-line linear learners: additive and multiplicative updates in one loop."""

from sklboolean.online.averaged_perceptron import AveragedPerceptron
from sklboolean.online.winnow import Winnow

__all__ = ["AveragedPerceptron", "Winnow"]
