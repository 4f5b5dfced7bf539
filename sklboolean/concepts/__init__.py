"""Learning a single concept: elimination, halving, queries, teachers and examples."""

from sklboolean.concepts._conjunction import ConjunctionClassifier
from sklboolean.concepts._exact_learning import (
    LearnedConjunction,
    learn_conjunction_by_queries,
    learn_conjunction_from_examples,
    learn_conjunction_from_teacher,
    teaching_set,
)
from sklboolean.concepts._halving import HalvingClassifier

__all__ = ["ConjunctionClassifier", "HalvingClassifier", "LearnedConjunction"]
__all__ += ["learn_conjunction_by_queries", "learn_conjunction_from_examples"]
__all__ += ["learn_conjunction_from_teacher", "teaching_set"]
