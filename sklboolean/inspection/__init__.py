"""What fitted estimators learned: top features, and displays (matplotlib)."""

from sklboolean.inspection._boosting_curve import BoostingCurveDisplay
from sklboolean.inspection._curves import (
    MistakeCurveDisplay,
    PotentialDisplay,
    QueryCurveDisplay,
)
from sklboolean.inspection._model_page import model_page
from sklboolean.inspection._rules import RuleDisplay
from sklboolean.inspection._top_features import top_features
from sklboolean.inspection._weights import CompletionDisplay, WeightsDisplay

__all__ = [
    "BoostingCurveDisplay",
    "CompletionDisplay",
    "MistakeCurveDisplay",
    "PotentialDisplay",
    "QueryCurveDisplay",
    "RuleDisplay",
    "WeightsDisplay",
    "model_page",
    "top_features",
]
