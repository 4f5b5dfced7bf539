"""Display classes: pictures of fitted learners; plotting needs matplotlib."""

from sklboolean.inspection.completion import CompletionDisplay
from sklboolean.inspection.mistake_curve import MistakeCurveDisplay
from sklboolean.inspection.potential import PotentialDisplay
from sklboolean.inspection.query_curve import QueryCurveDisplay
from sklboolean.inspection.rules import RuleDisplay
from sklboolean.inspection.weights import WeightsDisplay

__all__ = [
    "CompletionDisplay",
    "MistakeCurveDisplay",
    "PotentialDisplay",
    "QueryCurveDisplay",
    "RuleDisplay",
    "WeightsDisplay",
]
