"""Display classes: pictures of fitted learners; plotting needs matplotlib."""

from sklboolean.inspection.completion import CompletionDisplay
from sklboolean.inspection.query_curve import QueryCurveDisplay
from sklboolean.inspection.rules import RuleDisplay
from sklboolean.inspection.weights import WeightsDisplay

__all__ = ["CompletionDisplay", "QueryCurveDisplay", "RuleDisplay", "WeightsDisplay"]
