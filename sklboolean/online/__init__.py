"""On-line linear learners, learners of one concept, protocols of learning."""

from sklboolean.online.averaged_perceptron import AveragedPerceptron
from sklboolean.online.elimination import ConjunctionClassifier
from sklboolean.online.halfspace import ConsistentHalfspace
from sklboolean.online.halving import HalvingClassifier
from sklboolean.online.protocols import (
    LearnedConjunction,
    learn_conjunction_by_queries,
    learn_conjunction_from_examples,
    learn_conjunction_from_teacher,
    teaching_set,
)
from sklboolean.online.winnow import Winnow

__all__ = [
    "AveragedPerceptron",
    "ConjunctionClassifier",
    "ConsistentHalfspace",
    "HalvingClassifier",
    "LearnedConjunction",
    "Winnow",
    "learn_conjunction_by_queries",
    "learn_conjunction_from_examples",
    "learn_conjunction_from_teacher",
    "teaching_set",
]
