"""Learning over Boolean features: exact, readable, fast on bits."""

from importlib import import_module
from importlib.metadata import version

try:
    from sklboolean._core.versions import show_versions
except ModuleNotFoundError as error:
    if not error.name.startswith("sklboolean."):
        raise
    raise ImportError(
        "This is the source of sklboolean, without its compiled parts. After "
        "`pip install .` start Python in another folder than that of the source."
    ) from error
from sklboolean.boosting.majority import BoostByMajority
from sklboolean.boosting.online import OnlineBoostByMajority
from sklboolean.boosting.regression import BoostByMajorityRegressor
from sklboolean.boosting.stump import BooleanStump
from sklboolean.committee.query import QueryByCommittee
from sklboolean.density.combination_machine import CombinationMachine
from sklboolean.density.mixture import BernoulliMixture
from sklboolean.density.tree import ChowLiuTree
from sklboolean.kernels.perceptron import KernelPerceptron
from sklboolean.online.averaged_perceptron import AveragedPerceptron
from sklboolean.online.elimination import ConjunctionClassifier
from sklboolean.online.halfspace import ConsistentHalfspace
from sklboolean.online.halving import HalvingClassifier
from sklboolean.online.winnow import Winnow
from sklboolean.rules.classifier import RuleClassifier
from sklboolean.rules.features import ConjunctionFeatures

__all__ = [
    "AveragedPerceptron",
    "BernoulliMixture",
    "BooleanStump",
    "BoostByMajority",
    "BoostByMajorityRegressor",
    "ChowLiuTree",
    "CombinationMachine",
    "ConjunctionClassifier",
    "ConjunctionFeatures",
    "ConsistentHalfspace",
    "HalvingClassifier",
    "KernelPerceptron",
    "OnlineBoostByMajority",
    "QueryByCommittee",
    "RuleClassifier",
    "Winnow",
    "show_versions",
]

__version__ = version("sklboolean")

# The estimators need the other packages; these come when they are asked for.
_LATER = ("datasets", "inspection", "theory")


def __getattr__(name):
    if name in _LATER:
        return import_module(f"sklboolean.{name}")
    raise AttributeError(f"module 'sklboolean' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LATER})
