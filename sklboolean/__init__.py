"""Learning over Boolean features: exact, readable, fast on bits."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

try:
    from sklboolean._core.show_versions import show_versions
except ModuleNotFoundError as error:
    if not str(error.name).startswith("sklboolean."):
        raise
    raise ImportError(
        "This is the source of sklboolean, without its compiled parts. After "
        "`pip install .` start Python in another folder than that of the source."
    ) from error

if TYPE_CHECKING:  # for editors; Python imports an estimator when it is asked for
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
        SampledCombinationMachine,
    )
    from sklboolean.ensemble import BooleanEnsembleClassifier
    from sklboolean.kernels import (
        BooleanGaussianProcessClassifier,
        BooleanGaussianProcessRegressor,
        BooleanSVC,
        KernelPerceptron,
    )
    from sklboolean.linear_model import AveragedPerceptron, ConsistentHalfspace, Winnow
    from sklboolean.preprocessing import BooleanEncoder, ConjunctionFeatures
    from sklboolean.rules import (
        ConjunctionLogisticRegression,
        ConjunctionRegressor,
        OptimalRuleSet,
        RuleClassifier,
        ScorecardClassifier,
    )

__all__ = ["AveragedPerceptron", "BernoulliMixture", "BooleanEncoder"]
__all__ += ["BooleanEnsembleClassifier", "BooleanGaussianProcessClassifier"]
__all__ += ["BooleanGaussianProcessRegressor", "BooleanSVC", "BooleanStump"]
__all__ += ["BoostByMajority", "BoostByMajorityRegressor", "ChowLiuTree"]
__all__ += ["CombinationMachine", "ConjunctionClassifier", "ConjunctionFeatures"]
__all__ += ["ConjunctionLogisticRegression", "ConjunctionRegressor", "ConjunctionStump"]
__all__ += ["ConsistentHalfspace", "DensityClassifier", "DensityImputer"]
__all__ += ["DensityMixture", "DensityOutlierDetector", "FilteringBoostByMajority"]
__all__ += ["GaussianCombinationMachine", "HalvingClassifier", "KernelPerceptron"]
__all__ += ["OnlineBoostByMajority", "OptimalRuleSet", "QueryByCommittee"]
__all__ += ["RuleClassifier", "SampledCombinationMachine", "ScorecardClassifier"]
__all__ += ["Winnow", "show_versions"]

# The estimators of each package. Importing all of them takes a third of the time that
# scikit-learn takes.
_ESTIMATORS = {
    "active_learning": "QueryByCommittee",
    "boosting": "BooleanStump BoostByMajority BoostByMajorityRegressor "
    "ConjunctionStump FilteringBoostByMajority OnlineBoostByMajority",
    "concepts": "ConjunctionClassifier HalvingClassifier",
    "datasets": "",
    "density": "BernoulliMixture ChowLiuTree CombinationMachine DensityClassifier "
    "DensityImputer DensityMixture DensityOutlierDetector GaussianCombinationMachine "
    "SampledCombinationMachine",
    "ensemble": "BooleanEnsembleClassifier",
    "inspection": "",
    "io": "",
    "kernels": "BooleanGaussianProcessClassifier BooleanGaussianProcessRegressor "
    "BooleanSVC KernelPerceptron",
    "linear_model": "AveragedPerceptron ConsistentHalfspace Winnow",
    "onnx": "",
    "preprocessing": "BooleanEncoder ConjunctionFeatures",
    "rules": "ConjunctionLogisticRegression ConjunctionRegressor OptimalRuleSet "
    "RuleClassifier ScorecardClassifier",
    "theory": "",
}
_HOMES = {name: home for home, names in _ESTIMATORS.items() for name in names.split()}

__version__ = version("sklboolean")


def __getattr__(name):
    if name in _ESTIMATORS:
        return import_module(f"sklboolean.{name}")
    if name in _HOMES:
        return getattr(import_module(f"sklboolean.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'sklboolean' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_ESTIMATORS, *_HOMES})
