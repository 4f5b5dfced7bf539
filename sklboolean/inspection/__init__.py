"""Display classes: pictures of fitted learners; plotting needs matplotlib."""

from sklboolean.inspection._completion import CompletionDisplay
from sklboolean.inspection._mistake_curve import MistakeCurveDisplay
from sklboolean.inspection._potential import PotentialDisplay
from sklboolean.inspection._query_curve import QueryCurveDisplay
from sklboolean.inspection._rules import RuleDisplay
from sklboolean.inspection._weights import WeightsDisplay

__all__ = [
    "CompletionDisplay",
    "MistakeCurveDisplay",
    "PotentialDisplay",
    "QueryCurveDisplay",
    "RuleDisplay",
    "WeightsDisplay",
]
