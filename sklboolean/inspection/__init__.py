"""Display classes that plot fitted estimators. Plotting needs matplotlib."""

from sklboolean.inspection._curves import (
    MistakeCurveDisplay,
    PotentialDisplay,
    QueryCurveDisplay,
)
from sklboolean.inspection._rules import RuleDisplay
from sklboolean.inspection._weights import CompletionDisplay, WeightsDisplay

__all__ = [
    "CompletionDisplay",
    "MistakeCurveDisplay",
    "PotentialDisplay",
    "QueryCurveDisplay",
    "RuleDisplay",
    "WeightsDisplay",
]
