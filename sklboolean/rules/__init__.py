"""Rules: classifiers made of rules, and rules extracted from fitted models."""

from sklboolean.rules._conjunction_logistic_regression import (
    ConjunctionLogisticRegression,
)
from sklboolean.rules._conjunction_regressor import ConjunctionRegressor
from sklboolean.rules._extraction import extract_dnf
from sklboolean.rules._optimal_rule_set import OptimalRuleSet
from sklboolean.rules._rule_classifier import RuleClassifier
from sklboolean.rules._rule_set import DNF, RuleEnsemble
from sklboolean.rules._rules import Rule, RuleList
from sklboolean.rules._scorecard_classifier import ScorecardClassifier
from sklboolean.rules._top_conjunctions import conjunction_weight, top_conjunctions

__all__ = ["DNF", "ConjunctionLogisticRegression", "ConjunctionRegressor"]
__all__ += ["OptimalRuleSet", "Rule", "RuleClassifier", "RuleEnsemble", "RuleList"]
__all__ += ["ScorecardClassifier", "conjunction_weight", "extract_dnf"]
__all__ += ["top_conjunctions"]
