"""The public names of the package: editors and Python read this list."""

from sklboolean import (
    active_learning as active_learning,
    boosting as boosting,
    concepts as concepts,
    datasets as datasets,
    density as density,
    ensemble as ensemble,
    inspection as inspection,
    io as io,
    kernels as kernels,
    linear_model as linear_model,
    onnx as onnx,
    preprocessing as preprocessing,
    rules as rules,
    theory as theory,
)
from sklboolean._core.show_versions import show_versions as show_versions
from sklboolean.active_learning import QueryByCommittee as QueryByCommittee
from sklboolean.boosting import (
    BooleanGradientBoostingClassifier as BooleanGradientBoostingClassifier,
    BooleanGradientBoostingRegressor as BooleanGradientBoostingRegressor,
    BooleanStump as BooleanStump,
    BoostByMajority as BoostByMajority,
    BoostByMajorityRegressor as BoostByMajorityRegressor,
    ConjunctionStump as ConjunctionStump,
    FilteringBoostByMajority as FilteringBoostByMajority,
    OnlineBoostByMajority as OnlineBoostByMajority,
)
from sklboolean.concepts import (
    ConjunctionClassifier as ConjunctionClassifier,
    HalvingClassifier as HalvingClassifier,
)
from sklboolean.density import (
    BernoulliMixture as BernoulliMixture,
    ChowLiuTree as ChowLiuTree,
    CombinationMachine as CombinationMachine,
    DensityClassifier as DensityClassifier,
    DensityImputer as DensityImputer,
    DensityMixture as DensityMixture,
    DensityOutlierDetector as DensityOutlierDetector,
    GaussianCombinationMachine as GaussianCombinationMachine,
    SampledCombinationMachine as SampledCombinationMachine,
)
from sklboolean.ensemble import (
    BooleanEnsembleClassifier as BooleanEnsembleClassifier,
    BooleanEnsembleRegressor as BooleanEnsembleRegressor,
)
from sklboolean.kernels import (
    BooleanGaussianProcessClassifier as BooleanGaussianProcessClassifier,
    BooleanGaussianProcessRegressor as BooleanGaussianProcessRegressor,
    BooleanSVC as BooleanSVC,
    KernelPerceptron as KernelPerceptron,
)
from sklboolean.linear_model import (
    AveragedPerceptron as AveragedPerceptron,
    ConsistentHalfspace as ConsistentHalfspace,
    Winnow as Winnow,
)
from sklboolean.preprocessing import (
    BooleanEncoder as BooleanEncoder,
    ConjunctionFeatures as ConjunctionFeatures,
)
from sklboolean.rules import (
    ConjunctionLogisticRegression as ConjunctionLogisticRegression,
    ConjunctionRegressor as ConjunctionRegressor,
    OptimalRuleSet as OptimalRuleSet,
    RuleClassifier as RuleClassifier,
    ScorecardClassifier as ScorecardClassifier,
)

__version__: str
