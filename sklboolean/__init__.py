"""Learning over Boolean features: exact, readable, fast on bits."""

from importlib import import_module
from importlib.metadata import version

try:
    from sklboolean._core.show_versions import show_versions
except ModuleNotFoundError as error:
    if not error.name.startswith("sklboolean."):
        raise
    raise ImportError(
        "This is the source of sklboolean, without its compiled parts. After "
        "`pip install .` start Python in another folder than that of the source."
    ) from error
from sklboolean.active_learning import QueryByCommittee
from sklboolean.boosting import (
    BooleanStump,
    BoostByMajority,
    BoostByMajorityRegressor,
    ConjunctionStump,
    FilteringBoostByMajority,
    OnlineBoostByMajority,
)
from sklboolean.concepts import ConjunctionClassifier, HalvingClassifier
from sklboolean.density import (
    BernoulliMixture,
    ChowLiuTree,
    CombinationMachine,
    DensityClassifier,
    DensityImputer,
    DensityMixture,
    DensityOutlierDetector,
    GaussianCombinationMachine,
)
from sklboolean.kernels import BooleanSVC, KernelPerceptron
from sklboolean.linear_model import AveragedPerceptron, ConsistentHalfspace, Winnow
from sklboolean.preprocessing import BooleanEncoder, ConjunctionFeatures
from sklboolean.rules import (
    ConjunctionLogisticRegression,
    ConjunctionRegressor,
    RuleClassifier,
)

__all__ = [
    "AveragedPerceptron",
    "BernoulliMixture",
    "BooleanEncoder",
    "BooleanSVC",
    "BooleanStump",
    "BoostByMajority",
    "BoostByMajorityRegressor",
    "ChowLiuTree",
    "CombinationMachine",
    "ConjunctionClassifier",
    "ConjunctionFeatures",
    "ConjunctionLogisticRegression",
    "ConjunctionRegressor",
    "ConjunctionStump",
    "ConsistentHalfspace",
    "DensityClassifier",
    "DensityImputer",
    "DensityMixture",
    "DensityOutlierDetector",
    "FilteringBoostByMajority",
    "GaussianCombinationMachine",
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
_LATER = ("datasets", "inspection", "onnx", "theory")


def __getattr__(name):
    if name in _LATER:
        return import_module(f"sklboolean.{name}")
    raise AttributeError(f"module 'sklboolean' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LATER})
