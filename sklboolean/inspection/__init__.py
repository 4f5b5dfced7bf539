"""Explanations and checks of fitted estimators, doubtful labels, and displays."""

from sklboolean.inspection._bars import DependenceDisplay, RuleDisplay
from sklboolean.inspection._counterfactuals import (
    Counterfactuals,
    counterfactuals,
    robustness,
)
from sklboolean.inspection._curves import (
    BoostingCurveDisplay,
    MistakeCurveDisplay,
    PotentialDisplay,
    QueryCurveDisplay,
    RobustnessDisplay,
)
from sklboolean.inspection._distillation import Distillation, distill
from sklboolean.inspection._explanations import Explanation, ExplanationDisplay, explain
from sklboolean.inspection._find_subgroups import find_subgroups, model_errors
from sklboolean.inspection._label_quality import label_quality
from sklboolean.inspection._model_page import model_page
from sklboolean.inspection._monitor import Drift, monitor
from sklboolean.inspection._monotone import MonotoneCheck, check_monotone
from sklboolean.inspection._shapley_display import ShapleyDisplay
from sklboolean.inspection._shapley_values import ShapleyValues, shapley_values
from sklboolean.inspection._subgroups import Subgroups, SubgroupsDisplay
from sklboolean.inspection._top_features import TopFeaturesDisplay, top_features
from sklboolean.inspection._weights import CompletionDisplay, WeightsDisplay

__all__ = ["BoostingCurveDisplay", "CompletionDisplay", "Counterfactuals"]
__all__ += ["DependenceDisplay", "Distillation", "Drift", "Explanation"]
__all__ += ["ExplanationDisplay", "MonotoneCheck", "check_monotone"]
__all__ += ["MistakeCurveDisplay", "PotentialDisplay", "QueryCurveDisplay"]
__all__ += ["RobustnessDisplay", "RuleDisplay", "ShapleyDisplay", "ShapleyValues"]
__all__ += ["TopFeaturesDisplay", "WeightsDisplay", "counterfactuals", "distill"]
__all__ += ["explain", "label_quality", "model_page", "monitor", "robustness"]
__all__ += ["shapley_values", "top_features"]
__all__ += ["Subgroups", "SubgroupsDisplay", "find_subgroups", "model_errors"]
